//! `<file>.bak`: the bytes from before the run's first edit, beside the file. Never over one that
//! is there, never through a link.

use std::io;

use harness_code::path::RelPath;

use crate::door::folder::Folder;

/// How many numbered names are tried before giving up; nobody keeps a thousand copies on purpose.
const NAMES: u32 = 1000;

/// Returns the first free name for a backup of `path`: `.bak`, then `.bak.1` and so on.
pub(crate) fn free_name(folder: &Folder, path: &RelPath) -> io::Result<String> {
    let plain = format!("{}.bak", path.file_name());
    if folder.metadata(&plain)?.is_none() {
        return Ok(plain);
    }
    for number in 1..NAMES {
        let name = format!("{plain}.{number}");
        if folder.metadata(&name)?.is_none() {
            return Ok(name);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        "there are too many backup copies already",
    ))
}
