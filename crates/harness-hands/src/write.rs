//! One file, whole or not at all: a temporary file in the same folder, synced, then renamed.
//! Bytes are written as they are given; mode, owner and extended attributes are kept.

use std::fs::File;
use std::io::{self, Write};

use crate::door::Metadata;
use crate::door::folder::Folder;
use crate::fault;

/// What the new file takes over.
pub(crate) enum Place<'a> {
    /// The name must be free; the mode is the given one, less what the user masks.
    New {
        /// Permission bits before the user's mask.
        mode: u32,
    },
    /// The name belongs to this file, which must still be the one that was looked at.
    Over {
        /// The file as it was opened.
        file: &'a File,
        /// What was known of it then.
        seen: &'a Metadata,
    },
    /// The name must be free; the mode is exactly the given one.
    Exact {
        /// Permission bits.
        mode: u32,
    },
}

/// Puts a file in its place. After an error the old file is there, or none was, and the temporary
/// file is gone; after a kill it may be left under the name `temp`.
pub(crate) fn put(
    folder: &Folder,
    name: &str,
    temp: &str,
    bytes: &[u8],
    place: &Place<'_>,
) -> io::Result<()> {
    let mode = match place {
        Place::New { mode } => *mode,
        Place::Over { .. } | Place::Exact { .. } => 0o600,
    };
    let file = folder.create_new(temp, mode)?;
    let done = fill(&file, bytes, place).and_then(|()| settle(folder, name, temp, place));
    if done.is_err() {
        // The error that matters is the first one.
        let _ = folder.remove(temp);
        return done;
    }
    folder.sync()
}

fn fill(mut file: &File, bytes: &[u8], place: &Place<'_>) -> io::Result<()> {
    // In two pieces, so that a test can end the process between them.
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    file.write_all(first)?;
    fault::step()?;
    file.write_all(rest)?;
    fault::step()?;
    match place {
        Place::New { .. } => {}
        Place::Over { file: old, seen } => look_like(file, old, seen)?,
        Place::Exact { mode } => set_mode(file, *mode)?,
    }
    fault::step()?;
    file.sync_all()
}

fn settle(folder: &Folder, name: &str, temp: &str, place: &Place<'_>) -> io::Result<()> {
    match place {
        Place::New { .. } | Place::Exact { .. } => folder.rename_new(temp, folder, name),
        Place::Over { seen, .. } => {
            let now = folder.metadata(name)?;
            let unchanged = now.is_some_and(|now| {
                (now.identity, now.bytes, now.modified)
                    == (seen.identity, seen.bytes, seen.modified)
            });
            if !unchanged {
                return Err(io::Error::new(
                    io::ErrorKind::StaleNetworkFileHandle,
                    CHANGED,
                ));
            }
            folder.rename_over(temp, name)
        }
    }
}

const CHANGED: &str = "the file was changed by someone else at this moment";

/// Says whether an error of [`put`] means that somebody else wrote the file meanwhile.
pub(crate) fn is_changed_meanwhile(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::StaleNetworkFileHandle
        || error.kind() == io::ErrorKind::AlreadyExists
}

#[cfg(unix)]
fn look_like(new: &File, old: &File, seen: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let mine = new.metadata()?;
    let mut mode = seen.mode;
    if (mine.uid(), mine.gid()) != seen.owner {
        let owner = rustix::fs::Uid::from_raw(seen.owner.0);
        let group = rustix::fs::Gid::from_raw(seen.owner.1);
        let both = rustix::fs::fchown(new, Some(owner), Some(group));
        if both.is_err() {
            // Only root may give files away. A file that is now ours must not run as somebody else.
            let _ = rustix::fs::fchown(new, None, Some(group));
            mode &= 0o777;
        }
    }
    keep_attributes(new, old);
    set_mode(new, mode)
}

#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Copies extended attributes (access lists among them) as far as the system lets us.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn keep_attributes(new: &File, old: &File) {
    // Larger lists and values exist only in theory; Linux allows 64 KiB of each.
    let mut names = vec![0u8; 64 * 1024];
    let Ok(length) = rustix::fs::flistxattr(old, &mut names[..]) else {
        return;
    };
    let mut value = vec![0u8; 64 * 1024];
    for name in names[..length]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        if let Ok(size) = rustix::fs::fgetxattr(old, name, &mut value[..]) {
            let _ =
                rustix::fs::fsetxattr(new, name, &value[..size], rustix::fs::XattrFlags::empty());
        }
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
fn keep_attributes(_new: &File, _old: &File) {}

#[cfg(not(unix))]
fn look_like(new: &File, old: &File, _seen: &Metadata) -> io::Result<()> {
    new.set_permissions(old.metadata()?.permissions())
}

#[cfg(not(unix))]
fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}
