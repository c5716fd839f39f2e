//! A folder where the platform has no lookup beneath a descriptor (Windows): every step of a path
//! is looked at, redirections are refused, and what was opened is looked at again.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use harness_code::path::RelPath;

use crate::door::{DoorError, Kind, Metadata, Trespass, plain_file};
use crate::fault;

/// A folder, known by its path.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        if !std::fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Folder {
            path: path.to_path_buf(),
        })
    }

    pub(crate) fn again(&self) -> io::Result<Folder> {
        Ok(Folder {
            path: self.path.clone(),
        })
    }

    pub(crate) fn enter(&self, path: &RelPath) -> Result<Folder, DoorError> {
        let mut here = self.path.clone();
        for part in path.parts() {
            here.push(part);
            let found = std::fs::symlink_metadata(&here)
                .map_err(|error| DoorError::from_io(path, error))?;
            match metadata_of(&found).kind {
                Kind::Folder => {}
                Kind::Link => return Err(Trespass::link(path).into()),
                other @ (Kind::File | Kind::Special) => {
                    let found = other.noun();
                    return Err(DoorError::Kind {
                        path: path.to_string(),
                        found,
                        wanted: "a folder",
                    });
                }
            }
        }
        Ok(Folder { path: here })
    }

    pub(crate) fn metadata(&self, name: &str) -> io::Result<Option<Metadata>> {
        match std::fs::symlink_metadata(self.path.join(name)) {
            Ok(found) => Ok(Some(metadata_of(&found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn open_file(
        &self,
        name: &str,
        path: &RelPath,
    ) -> Result<(File, Metadata), DoorError> {
        let broken = |error: io::Error| DoorError::from_io(path, error);
        let Some(seen) = self.metadata(name).map_err(broken)? else {
            return Err(DoorError::Missing {
                path: path.to_string(),
            });
        };
        plain_file(&seen, path)?;
        let file = File::open(self.path.join(name)).map_err(broken)?;
        let opened = metadata_of(&file.metadata().map_err(broken)?);
        plain_file(&opened, path)?;
        Ok((file, opened))
    }

    pub(crate) fn create_new(&self, name: &str, _mode: u32) -> io::Result<File> {
        fault::step()?;
        OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.path.join(name))
    }

    pub(crate) fn open_or_create(&self, name: &str) -> io::Result<File> {
        fault::step()?;
        let path = self.path.join(name);
        if let Some(found) = self.metadata(name)?
            && found.kind != Kind::File
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a plain file",
            ));
        }
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
    }

    pub(crate) fn make_folder(&self, name: &str, _mode: u32) -> io::Result<()> {
        fault::step()?;
        std::fs::create_dir(self.path.join(name))
    }

    pub(crate) fn rename_over(&self, from: &str, to: &str) -> io::Result<()> {
        fault::step()?;
        std::fs::rename(self.path.join(from), self.path.join(to))
    }

    pub(crate) fn rename_new(&self, from: &str, folder: &Folder, to: &str) -> io::Result<()> {
        fault::step()?;
        // A second name fails when the name is taken; where the disk has no such names, look first.
        let (from, to) = (self.path.join(from), folder.path.join(to));
        match std::fs::hard_link(&from, &to) {
            Ok(()) => std::fs::remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if std::fs::symlink_metadata(&to).is_ok() => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            Err(_) => std::fs::rename(from, to),
        }
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fault::passed();
        std::fs::remove_file(self.path.join(name))
    }

    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        fault::passed();
        std::fs::remove_dir(self.path.join(name))
    }

    /// The platform keeps names safe by itself.
    pub(crate) fn sync(&self) -> io::Result<()> {
        fault::step()
    }

    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

fn metadata_of(found: &std::fs::Metadata) -> Metadata {
    let kind = if found.file_type().is_symlink() {
        Kind::Link
    } else if found.is_dir() {
        Kind::Folder
    } else if found.is_file() {
        Kind::File
    } else {
        Kind::Special
    };
    let modified = found
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Metadata {
        kind,
        bytes: found.len(),
        mode: 0,
        modified: modified.map_or(0, |time| i128::try_from(time.as_nanos()).unwrap_or(0)),
        identity: (0, 0),
        owner: (0, 0),
    }
}
