//! Editor settings, written on the user's own word: a closed list of files and nothing else. Models
//! never get here: a [`Settings`] is not a [`crate::permit::Writer`], and no run is given one.

use std::io;
use std::path::Path;

use harness_code::path::RelPath;
use harness_code::text::is_among;

use crate::backup;
use crate::door::folder::Folder;
use crate::door::protected::is_backup;
use crate::door::{Door, DoorError, reason};
use crate::write::{self, Place};

/// Every file that may be written here, each read by one editor. All other paths are refused.
pub const FILES: &str = "\
    .vscode/tasks.json .vscode/mcp.json .zed/tasks.json .zed/settings.json .cursor/mcp.json \
    .cursor/rules/harness.mdc .windsurf/rules/harness.md .continue/models/harness.yaml \
    .continue/mcpServers/harness.yaml .helix/config.toml .junie/mcp/mcp.json \
    .clinerules/harness.md .nvim.lua .dir-locals-2.el .run/harness-brief.run.xml \
    .run/harness-ask.run.xml .run/harness-run.run.xml .run/harness-serve.run.xml";

/// Why a settings file was not read or written. The file is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The path gave no file, or goes through a link.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// The path is on no list.
    #[error("`{0}` is not a settings file of an editor that is known here")]
    Unknown(RelPath),
    /// Somebody else wrote the file at the same moment; theirs is kept.
    #[error("`{0}` was changed by someone else at this moment")]
    ChangedMeanwhile(RelPath),
    /// The system said no.
    #[error("cannot write `{path}`: {}", reason(.source))]
    Disk {
        /// The path that was to change.
        path: RelPath,
        /// What the system said.
        source: io::Error,
    },
}

/// Whether the bytes from before are kept beside the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// As `<file>.bak`, or the next free number.
    Backup,
    /// They are kept already.
    Nothing,
}

/// A backup copy beside a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// Its file name.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// The permission to write the settings files of editors in one project, given to a person.
#[derive(Debug)]
pub struct Settings {
    door: Door,
}

impl Settings {
    /// Opens a project folder for its editor settings.
    pub fn open(project: &Path) -> Result<Settings, DoorError> {
        Ok(Settings {
            door: Door::open(project)?,
        })
    }

    /// Returns the project folder, absolute and free of links.
    pub fn root(&self) -> &Path {
        self.door.root()
    }

    /// Reads a settings file; `None` when it is not there.
    pub fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>, SettingsError> {
        check(path)?;
        match self.door.read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(DoorError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the backup copies beside a settings file.
    pub fn copies(&self, path: &RelPath) -> Result<Vec<Copy>, SettingsError> {
        check(path)?;
        let folder = match self.door.folder_of(path) {
            Ok(folder) => folder,
            Err(DoorError::Missing { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut names = folder.names().map_err(|error| disk(path, error))?;
        names.retain(|name| is_copy_of(name, path));
        names.sort_by_key(|name| (name.len(), name.clone()));
        let copies = names.into_iter().filter_map(|name| {
            // A copy that cannot be read is nobody's original.
            let bytes = folder.read(&name, path).ok()?;
            Some(Copy { name, bytes })
        });
        Ok(copies.collect())
    }

    /// Makes a settings file that is not there, and the folders it needs.
    pub fn create(&self, path: &RelPath, bytes: &[u8]) -> Result<(), SettingsError> {
        check(path)?;
        let folder = self.make_folders(path)?;
        let place = Place::New { mode: 0o666 };
        put(&folder, path, path.file_name(), bytes, &place)
    }

    /// Replaces a settings file that must still hold `before`. Returns the name of the copy that was made.
    pub fn replace(
        &self,
        path: &RelPath,
        before: &[u8],
        after: &[u8],
        keep: Keep,
    ) -> Result<Option<String>, SettingsError> {
        check(path)?;
        let folder = self.door.folder_of(path)?;
        let (file, seen) = folder.open_file(path.file_name(), path)?;
        let now = folder.read(path.file_name(), path)?;
        if now != before {
            return Err(SettingsError::ChangedMeanwhile(path.clone()));
        }
        let copy = match keep {
            Keep::Backup => {
                let name = backup::free_name(&folder, path).map_err(|error| disk(path, error))?;
                let place = Place::Exact { mode: seen.mode };
                put(&folder, path, &name, before, &place)?;
                Some(name)
            }
            Keep::Nothing => None,
        };
        let place = Place::Over {
            file: &file,
            seen: &seen,
        };
        put(&folder, path, path.file_name(), after, &place)?;
        Ok(copy)
    }

    /// Removes a settings file that must still hold `before`, and the folders that are empty then.
    pub fn remove(&self, path: &RelPath, before: &[u8]) -> Result<(), SettingsError> {
        check(path)?;
        let folder = self.door.folder_of(path)?;
        if folder.read(path.file_name(), path)? != before {
            return Err(SettingsError::ChangedMeanwhile(path.clone()));
        }
        folder
            .remove(path.file_name())
            .and_then(|()| folder.sync())
            .map_err(|error| disk(path, error))?;
        let mut empty = path.parent();
        while let Some(here) = empty {
            let above = self.door.folder_of(&here)?;
            // A folder that holds something stays, and so do those above it.
            if above.remove_folder(here.file_name()).is_err() {
                break;
            }
            empty = here.parent();
        }
        Ok(())
    }

    /// Removes one backup copy of a settings file.
    pub fn remove_copy(&self, path: &RelPath, copy: &Copy) -> Result<(), SettingsError> {
        check(path)?;
        let folder = self.door.folder_of(path)?;
        let same = is_copy_of(&copy.name, path)
            && folder
                .read(&copy.name, path)
                .is_ok_and(|now| now == copy.bytes);
        if !same {
            return Err(SettingsError::ChangedMeanwhile(path.clone()));
        }
        folder
            .remove(&copy.name)
            .and_then(|()| folder.sync())
            .map_err(|error| disk(path, error))
    }

    fn make_folders(&self, path: &RelPath) -> Result<Folder, SettingsError> {
        let Some(parent) = path.parent() else {
            return Ok(self.door.folder_of(path)?);
        };
        match self.door.enter(&parent) {
            Ok(folder) => return Ok(folder),
            Err(DoorError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let above = self.make_folders(&parent)?;
        match above.make_folder(parent.file_name(), 0o777) {
            Ok(()) => above.sync().map_err(|error| disk(path, error))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(disk(path, error)),
        }
        Ok(self.door.enter(&parent)?)
    }
}

fn check(path: &RelPath) -> Result<(), SettingsError> {
    if is_among(FILES, path.as_str()) {
        return Ok(());
    }
    Err(SettingsError::Unknown(path.clone()))
}

fn is_copy_of(name: &str, path: &RelPath) -> bool {
    let ending = name.strip_prefix(path.file_name());
    ending.is_some_and(|ending| ending.starts_with(".bak")) && is_backup(name)
}

fn put(
    folder: &Folder,
    path: &RelPath,
    name: &str,
    bytes: &[u8],
    place: &Place<'_>,
) -> Result<(), SettingsError> {
    let temp = format!(".harness-{}-{}.tmp", std::process::id(), path.stem());
    write::put(folder, name, &temp, bytes, place).map_err(|error| disk(path, error))
}

fn disk(path: &RelPath, source: io::Error) -> SettingsError {
    let path = path.clone();
    if write::is_changed_meanwhile(&source) {
        return SettingsError::ChangedMeanwhile(path);
    }
    SettingsError::Disk { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rel(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    #[test]
    fn only_listed_files_can_be_written() {
        let project = tempfile::tempdir().unwrap();
        let settings = Settings::open(project.path()).unwrap();
        for path in [".vscode/settings.json", "src/a.py", ".git/config", ".env"] {
            let refused = settings.create(&rel(path), b"x");
            assert!(matches!(refused, Err(SettingsError::Unknown(_))), "{path}");
        }
        assert!(std::fs::read_dir(project.path()).unwrap().next().is_none());
    }

    #[test]
    fn a_file_is_made_replaced_and_removed_with_its_folders() {
        let project = tempfile::tempdir().unwrap();
        let settings = Settings::open(project.path()).unwrap();
        let path = rel(".continue/models/harness.yaml");
        assert_eq!(settings.read(&path).unwrap(), None);
        settings.create(&path, b"one").unwrap();
        let copy = settings
            .replace(&path, b"one", b"two", Keep::Backup)
            .unwrap();
        assert_eq!(copy.as_deref(), Some("harness.yaml.bak"));
        let copies = settings.copies(&path).unwrap();
        assert_eq!(copies[0].bytes, b"one");
        let stale = settings.replace(&path, b"one", b"three", Keep::Backup);
        assert!(matches!(stale, Err(SettingsError::ChangedMeanwhile(_))));
        settings.remove_copy(&path, &copies[0]).unwrap();
        settings.remove(&path, b"two").unwrap();
        assert!(std::fs::read_dir(project.path()).unwrap().next().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        let project = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), project.path().join(".vscode")).unwrap();
        std::fs::write(elsewhere.path().join("lua"), b"theirs").unwrap();
        let lua = elsewhere.path().join("lua");
        std::os::unix::fs::symlink(&lua, project.path().join(".nvim.lua")).unwrap();
        let settings = Settings::open(project.path()).unwrap();
        settings
            .create(&rel(".vscode/tasks.json"), b"x")
            .unwrap_err();
        settings.read(&rel(".nvim.lua")).unwrap_err();
        settings
            .replace(&rel(".nvim.lua"), b"theirs", b"x", Keep::Nothing)
            .unwrap_err();
        assert_eq!(std::fs::read(&lua).unwrap(), b"theirs");
        assert!(!elsewhere.path().join("tasks.json").exists());
    }
}
