//! A folder of its own for each started program: home, temporary files, report. Gone afterwards.

use std::io;
use std::path::{Path, PathBuf};

use crate::scratch::{KEPT, OwnFolder, PRIVATE_PREFIX};

/// A private folder that goes away with its owner.
#[derive(Debug)]
pub(crate) struct Private {
    folder: OwnFolder,
}

impl Private {
    pub(crate) fn new() -> io::Result<Private> {
        let folder = OwnFolder::new(PRIVATE_PREFIX)?;
        for name in ["home", "report", "tmp"] {
            std::fs::create_dir(folder.path.join(name))?;
        }
        Ok(Private { folder })
    }

    /// Puts what programs that ran before left in their home and temporary folders back there.
    pub(crate) fn bring(&self, kept: &Path) {
        for name in KEPT {
            let (from, to) = (kept.join(name), self.folder.path.join(name));
            if from.is_dir() {
                let _ = std::fs::remove_dir_all(&to);
                let _ = std::fs::rename(from, to);
            }
        }
    }

    /// Puts what a program left in its home and temporary folders aside for the next one.
    pub(crate) fn keep(&self, kept: &Path) {
        if std::fs::create_dir_all(kept).is_ok() {
            for name in KEPT {
                let _ = std::fs::rename(self.folder.path.join(name), kept.join(name));
            }
        }
    }

    /// Returns the folder that holds the others.
    pub(crate) fn path(&self) -> &Path {
        &self.folder.path
    }

    /// Returns the home folder of the program.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path.join("home")
    }

    /// Returns the folder for what passes between us and the program.
    pub(crate) fn report(&self) -> PathBuf {
        self.folder.path.join("report")
    }

    /// Returns the folder for temporary files, where `/tmp` is not the program's own.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.path.join("tmp")
    }
}
