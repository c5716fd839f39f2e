//! Reads files of a project: regular ones only, following no link, waiting for nothing, never more than the limit.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::path::RelPath;
use crate::tree::{LARGEST_SOURCE, TreeError};

/// Reads a regular file inside `root`, following no link in any part of its path.
pub fn read_inside(root: &Path, path: &RelPath) -> Result<Vec<u8>, TreeError> {
    let folder_is_real = path.parent().is_none_or(|parent| {
        let folder = parent.under(root);
        folder.canonicalize().is_ok_and(|real| real == folder)
    });
    if !folder_is_real {
        return Err(TreeError::NotAFile(path.clone()));
    }
    read_regular(&path.under(root), path)
}

/// Reads a regular file whose folder is known to be inside the project.
pub(super) fn read_regular(full: &Path, path: &RelPath) -> Result<Vec<u8>, TreeError> {
    let unreadable = |source| TreeError::Unreadable {
        path: path.clone(),
        source,
    };
    let file = open_without_waiting(full).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => TreeError::NotAFile(path.clone()),
        _ => unreadable(source),
    })?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(TreeError::NotAFile(path.clone()));
    }
    if metadata.len() > LARGEST_SOURCE {
        return Err(TreeError::TooLarge(path.clone()));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
    // A file that grows while it is read must not fill the memory.
    file.take(LARGEST_SOURCE + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_SOURCE {
        return Err(TreeError::TooLarge(path.clone()));
    }
    Ok(bytes)
}

/// Opens for reading; a FIFO does not block and a link is not followed.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> std::io::Result<File> {
    if path.symlink_metadata()?.file_type().is_file() {
        return File::open(path);
    }
    Err(std::io::ErrorKind::NotFound.into())
}
