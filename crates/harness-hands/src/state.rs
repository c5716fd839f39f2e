//! The harness's own folder in a project, `.harness/`: made when first needed, the user's only,
//! and unseen by git.

use std::io;

use harness_code::path::RelPath;

use crate::door::folder::Folder;
use crate::door::{Door, DoorError, Kind, Trespass};
use crate::write::{self, Place};

/// The name of the folder.
pub(crate) const STATE_FOLDER: &str = ".harness";

/// Everything is ignored but the project's skills, which are meant to be shared.
const IGNORE: &[u8] = b"*\n!skills/\n!skills/**\n";

/// Opens the state folder, making it first when it is not there.
pub(crate) fn open(door: &Door) -> Result<Folder, DoorError> {
    let path = path("")?;
    let root = door.folder_of(&path)?;
    let broken = |error: io::Error| DoorError::from_io(&path, error);
    match root.make_folder(STATE_FOLDER, 0o700) {
        Ok(()) => root.sync().map_err(broken)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(broken(error)),
    }
    let folder = door.enter(&path)?;
    if folder.metadata(".gitignore").map_err(broken)?.is_none() {
        match write::put(
            &folder,
            ".gitignore",
            ".gitignore.new",
            IGNORE,
            &Place::New { mode: 0o644 },
        ) {
            // Another run made it at the same moment, or left its draft behind.
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(broken(error)),
        }
    }
    Ok(folder)
}

/// Opens the state folder only when it is there.
pub(crate) fn find(door: &Door) -> Result<Option<Folder>, DoorError> {
    match door.enter(&path("")?) {
        Ok(folder) => Ok(Some(folder)),
        Err(DoorError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens a folder inside `parent`, making it first when it is not there.
pub(crate) fn subfolder(parent: &Folder, name: &str) -> Result<Folder, DoorError> {
    let here = path(name)?;
    let broken = |error: io::Error| DoorError::from_io(&here, error);
    match parent.make_folder(name, 0o700) {
        Ok(()) => parent.sync().map_err(broken)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let kind = parent
                .metadata(name)
                .map_err(broken)?
                .map(|found| found.kind);
            match kind {
                Some(Kind::Folder) => {}
                Some(Kind::Link) => return Err(Trespass::link(&here).into()),
                Some(Kind::File | Kind::Special) | None => return Err(broken(error)),
            }
        }
        Err(error) => return Err(broken(error)),
    }
    let name = RelPath::parse(name).map_err(|_| DoorError::Missing {
        path: here.to_string(),
    })?;
    parent.enter(&name)
}

/// Returns the path of something in the state folder, for messages and for the door.
pub(crate) fn path(name: &str) -> Result<RelPath, DoorError> {
    let text = if name.is_empty() {
        STATE_FOLDER.to_string()
    } else {
        format!("{STATE_FOLDER}/{name}")
    };
    RelPath::parse(&text).map_err(|_| DoorError::Missing { path: text })
}
