//! A private copy of a project outside of it, to try things on. Gone with its owner.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use harness_code::path::RelPath;

use crate::door::{Door, reason};

/// Folders that are not copied: records, installed packages, caches and what is built anew.
const LEFT_OUT: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".harness",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "node_modules",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
    "target",
    ".gradle",
];

/// A larger project is tried in place or not at all: a copy would take longer than it saves.
const LARGEST: u64 = 1024 * 1024 * 1024;

/// How copies are called, so that those of a killed process can be found and removed.
const PREFIX: &str = "harness-scratch-";

/// A copy this old belongs to nobody: no run takes a day.
const FORGOTTEN: Duration = Duration::from_secs(24 * 3600);

/// A private copy of a project.
#[derive(Debug)]
pub struct Scratch {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// The project is too large to be copied.
    #[error("the project has more than {} MB and is not copied", LARGEST / 1024 / 1024)]
    TooLarge,
    /// The system said no.
    #[error("cannot copy `{path}`: {}", reason(.source))]
    Disk {
        /// What was copied.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Scratch {
    /// Copies a project. Links that stay inside are made again, others are left out.
    pub(crate) fn copy(door: &Door) -> Result<Scratch, ScratchError> {
        sweep();
        let broken = |source: io::Error| ScratchError::Disk {
            path: door.root().display().to_string(),
            source,
        };
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir()
            .map_err(broken)?;
        // The same name as the project's: some tests look at it.
        let name = door.root().file_name().unwrap_or("project".as_ref());
        let root = folder.path().canonicalize().map_err(broken)?.join(name);
        let mut room = LARGEST;
        copy_folder(door.root(), &root, &mut room)?;
        Ok(Scratch {
            _folder: folder,
            root,
        })
    }

    /// Returns the folder of the copy.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Puts bytes into a file of the copy, making it and its folders when they are not there.
    pub fn put(&self, path: &RelPath, bytes: &[u8]) -> Result<(), ScratchError> {
        let full = path.under(&self.root);
        let broken = |source: io::Error| ScratchError::Disk {
            path: path.to_string(),
            source,
        };
        if let Some(parent) = full.parent() {
            std::fs::create_dir_all(parent).map_err(broken)?;
        }
        // A new file each time: tests may have made a link of the old one.
        let _ = std::fs::remove_file(&full);
        std::fs::write(&full, bytes).map_err(broken)
    }

    /// Removes a file of the copy.
    pub fn remove(&self, path: &RelPath) -> Result<(), ScratchError> {
        std::fs::remove_file(path.under(&self.root)).map_err(|source| ScratchError::Disk {
            path: path.to_string(),
            source,
        })
    }
}

fn copy_folder(from: &Path, to: &Path, room: &mut u64) -> Result<(), ScratchError> {
    let broken = |source: io::Error| ScratchError::Disk {
        path: from.display().to_string(),
        source,
    };
    std::fs::create_dir_all(to).map_err(broken)?;
    for entry in std::fs::read_dir(from).map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(broken)?);
        let (source, target) = (entry.path(), to.join(&name));
        if kind.is_dir() {
            let is_environment = source.join("pyvenv.cfg").is_file();
            if !is_environment && !LEFT_OUT.iter().any(|left| name == *left) {
                copy_folder(&source, &target, room)?;
            }
        } else if kind.is_file() {
            copy_file(&source, &target, room)?;
        } else if kind.is_symlink() {
            copy_link(&source, &target);
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, room: &mut u64) -> Result<(), ScratchError> {
    let copied = match std::fs::copy(from, to) {
        Ok(copied) => copied,
        // Unreadable for us is unreadable for the tests: they see what they would see.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => 0,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(source) => {
            return Err(ScratchError::Disk {
                path: from.display().to_string(),
                source,
            });
        }
    };
    *room = room.checked_sub(copied).ok_or(ScratchError::TooLarge)?;
    Ok(())
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) {
    let Ok(target) = std::fs::read_link(from) else {
        return;
    };
    let steps_back = target
        .components()
        .any(|part| part == std::path::Component::ParentDir);
    if target.is_relative() && !steps_back {
        let _ = std::os::unix::fs::symlink(target, to);
    }
}

#[cfg(not(unix))]
fn copy_link(_from: &Path, _to: &Path) {}

/// Removes copies that a killed process left behind.
fn sweep() {
    for entry in std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten()
        .flatten()
    {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let age = entry.metadata().and_then(|found| found.modified()).ok();
        let age = age.and_then(|then| SystemTime::now().duration_since(then).ok());
        if is_ours && age.is_some_and(|age| age > FORGOTTEN) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_holds_the_sources_and_goes_away() {
        let project = tempfile::tempdir().unwrap();
        for name in [
            "src/a.py",
            ".git/config",
            "src/__pycache__/a.pyc",
            "env/pyvenv.cfg",
            "env/x.py",
        ] {
            let path = project.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let scratch = Scratch::copy(&Door::open(project.path()).unwrap()).unwrap();
        let root = scratch.root().to_path_buf();
        assert_eq!(
            std::fs::read_to_string(root.join("src/a.py")).unwrap(),
            "src/a.py"
        );
        assert!(
            !root.join(".git").exists()
                && !root.join("env").exists()
                && !root.join("src/__pycache__").exists()
        );
        scratch
            .put(&RelPath::parse("src/a.py").unwrap(), b"new")
            .unwrap();
        assert_eq!(
            std::fs::read_to_string(project.path().join("src/a.py")).unwrap(),
            "src/a.py"
        );
        drop(scratch);
        assert!(!root.exists());
    }
}
