//! A folder of its own for each started program: home, temporary files, report. Gone afterwards.

use std::io;
use std::path::{Path, PathBuf};

/// What a program may leave behind outside the project.
pub(crate) const KEPT: [&str; 4] = ["home", "tmp", "stand-in-tmp", "stand-in-var-tmp"];

/// A private folder that goes away with its owner.
#[derive(Debug)]
pub(crate) struct Private {
    _folder: Removed,
    path: PathBuf,
}

/// A temporary folder that is removed even where tests left folders in it that nobody may enter.
#[derive(Debug)]
pub(crate) struct Removed(pub(crate) tempfile::TempDir);

impl Private {
    pub(crate) fn new() -> io::Result<Private> {
        let folder = tempfile::Builder::new().prefix("harness-").tempdir()?;
        // Walls and mounts work on real paths; the temporary folder may be reached by a link.
        let path = folder.path().canonicalize()?;
        for name in ["home", "report", "tmp"] {
            std::fs::create_dir(path.join(name))?;
        }
        Ok(Private {
            _folder: Removed(folder),
            path,
        })
    }

    /// Puts what programs that ran before left in their home and temporary folders back there.
    pub(crate) fn bring(&self, kept: &Path) {
        for name in KEPT {
            let (from, to) = (kept.join(name), self.path.join(name));
            if from.is_dir() {
                let _ = std::fs::remove_dir(&to);
                let _ = std::fs::rename(from, to);
            }
        }
    }

    /// Puts what a program left in its home and temporary folders aside for the next one.
    pub(crate) fn keep(&self, kept: &Path) {
        if std::fs::create_dir_all(kept).is_ok() {
            for name in KEPT {
                let _ = std::fs::rename(self.path.join(name), kept.join(name));
            }
        }
    }

    /// Returns the folder that holds the others.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the home folder of the program.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// Returns the folder for what passes between us and the program.
    pub(crate) fn report(&self) -> PathBuf {
        self.path.join("report")
    }

    /// Returns the folder for temporary files, where `/tmp` is not the program's own.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        // The owner of a folder that nobody may enter may still open it.
        if std::fs::remove_dir_all(self.0.path()).is_err() {
            unlock(self.0.path(), 0);
        }
    }
}

#[cfg(unix)]
fn unlock(folder: &Path, depth: usize) {
    use std::os::unix::fs::PermissionsExt;
    // Deeper trees are left to the system's own cleaning.
    const DEEPEST: usize = 64;
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth < DEEPEST {
            unlock(&entry.path(), depth + 1);
        }
    }
}

#[cfg(not(unix))]
fn unlock(_folder: &Path, _depth: usize) {}
