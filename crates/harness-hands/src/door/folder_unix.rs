//! A folder held open on Unix: names are looked up beneath it, links are never followed.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use harness_code::path::RelPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::door::{DoorError, Kind, Metadata, Trespass, plain_file};
use crate::fault;

/// A folder held open, so that nobody can swap it while it is used.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

impl Folder {
    /// Opens a folder by its path on this machine.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder {
            fd: rustix::fs::open(path, FOLDER, Mode::empty())?,
        })
    }

    /// Returns a second handle to the same folder.
    pub(crate) fn again(&self) -> io::Result<Folder> {
        Ok(Folder {
            fd: self.fd.try_clone()?,
        })
    }

    /// Opens a folder beneath this one, refusing links on the way.
    pub(crate) fn enter(&self, path: &RelPath) -> Result<Folder, DoorError> {
        #[cfg(target_os = "linux")]
        if let Some(opened) = self.enter_at_once(path) {
            return opened.map_err(|error| self.explain(path, error));
        }
        self.enter_by_steps(path)
            .map_err(|error| self.explain(path, error))
    }

    /// One system call that cannot be raced; `None` where the kernel does not know it.
    #[cfg(target_os = "linux")]
    fn enter_at_once(&self, path: &RelPath) -> Option<io::Result<Folder>> {
        use rustix::fs::ResolveFlags;
        use rustix::io::Errno;
        // A rename elsewhere in the tree while the kernel walks makes it ask for another try.
        const TRIES: u32 = 16;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..TRIES {
            match rustix::fs::openat2(&self.fd, path.as_str(), FOLDER, Mode::empty(), resolve) {
                Ok(fd) => return Some(Ok(Folder { fd })),
                Err(Errno::AGAIN | Errno::INTR) => {}
                // Old kernels, and filters that pretend to be one.
                Err(Errno::NOSYS | Errno::PERM) => return None,
                Err(error) => return Some(Err(error.into())),
            }
        }
        None
    }

    /// The same by one step a folder: each is opened beneath the one before, without links.
    fn enter_by_steps(&self, path: &RelPath) -> io::Result<Folder> {
        let mut here = self.again()?;
        for part in path.parts() {
            here = Folder {
                fd: rustix::fs::openat(&here.fd, part, FOLDER, Mode::empty())?,
            };
        }
        Ok(here)
    }

    /// Finds which part of the path was no folder, so that the refusal names the true reason.
    fn explain(&self, path: &RelPath, error: io::Error) -> DoorError {
        let Ok(mut here) = self.again() else {
            return DoorError::from_io(path, error);
        };
        for part in path.parts() {
            match here.metadata(part) {
                Ok(Some(found)) if found.kind == Kind::Folder => {}
                Ok(Some(found)) if found.kind == Kind::Link => return Trespass::link(path).into(),
                Ok(Some(found)) => {
                    let found = found.kind.noun();
                    return DoorError::Kind {
                        path: path.to_string(),
                        found,
                        wanted: "a folder",
                    };
                }
                Ok(None) => {
                    return DoorError::Missing {
                        path: path.to_string(),
                    };
                }
                Err(_) => return DoorError::from_io(path, error),
            }
            match rustix::fs::openat(&here.fd, part, FOLDER, Mode::empty()) {
                Ok(fd) => here = Folder { fd },
                Err(_) => return DoorError::from_io(path, error),
            }
        }
        DoorError::from_io(path, error)
    }

    /// Returns what is known of a name, links unfollowed, or `None` when nothing has it.
    pub(crate) fn metadata(&self, name: &str) -> io::Result<Option<Metadata>> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(metadata_of(&stat))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a plain file for reading; never waits on a pipe, never follows a link.
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
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let fd = match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(rustix::io::Errno::LOOP) => return Err(Trespass::link(path).into()),
            Err(error) => return Err(broken(error.into())),
        };
        // Asked again of what was really opened: the name may have been swapped in between.
        let opened = metadata_of(&rustix::fs::fstat(&fd).map_err(|error| broken(error.into()))?);
        plain_file(&opened, path)?;
        Ok((File::from(fd), opened))
    }

    /// Makes a new file that nobody else has; the user's mask takes its part of `mode`.
    pub(crate) fn create_new(&self, name: &str, mode: u32) -> io::Result<File> {
        fault::step()?;
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat(&self.fd, name, flags, raw(mode))?;
        fault::passed();
        Ok(File::from(fd))
    }

    /// Opens a file for reading and writing, making it when it is not there; the owner's only.
    pub(crate) fn open_or_create(&self, name: &str) -> io::Result<File> {
        fault::step()?;
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let fd = rustix::fs::openat(&self.fd, name, flags, raw(0o600))?;
        let file = File::from(fd);
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a plain file",
            ));
        }
        if found.nlink() > 1 {
            // Another name of it may lie outside of the project: that one keeps its bytes.
            rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?;
            return self.create_new(name, 0o600);
        }
        Ok(file)
    }

    /// Makes a folder; one that is there already is an error.
    pub(crate) fn make_folder(&self, name: &str, mode: u32) -> io::Result<()> {
        fault::step()?;
        rustix::fs::mkdirat(&self.fd, name, raw(mode))?;
        fault::passed();
        Ok(())
    }

    /// Gives a file another name, replacing what has that name.
    pub(crate) fn rename_over(&self, from: &str, to: &str) -> io::Result<()> {
        fault::step()?;
        rustix::fs::renameat(&self.fd, from, &self.fd, to)?;
        fault::passed();
        Ok(())
    }

    /// Gives a file another name in any folder, refusing when something has that name already.
    pub(crate) fn rename_new(&self, from: &str, folder: &Folder, to: &str) -> io::Result<()> {
        fault::step()?;
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        {
            use rustix::fs::RenameFlags;
            use rustix::io::Errno;
            match rustix::fs::renameat_with(&self.fd, from, &folder.fd, to, RenameFlags::NOREPLACE)
            {
                // Some file systems do not know the flag.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                done => {
                    done?;
                    fault::passed();
                    return Ok(());
                }
            }
        }
        // A second name fails when the name is taken, and is as whole as a rename.
        match rustix::fs::linkat(&self.fd, from, &folder.fd, to, AtFlags::empty()) {
            Ok(()) => rustix::fs::unlinkat(&self.fd, from, AtFlags::empty())?,
            Err(rustix::io::Errno::EXIST) => return Err(rustix::io::Errno::EXIST.into()),
            // No links on this file system either: look, then rename.
            Err(_) => {
                if folder.metadata(to)?.is_some() {
                    return Err(rustix::io::Errno::EXIST.into());
                }
                rustix::fs::renameat(&self.fd, from, &folder.fd, to)?;
            }
        }
        fault::passed();
        Ok(())
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        fault::passed();
        rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?;
        fault::passed();
        Ok(())
    }

    /// Removes an empty folder.
    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        fault::passed();
        rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?;
        fault::passed();
        Ok(())
    }

    /// Makes names that were given or taken away survive a power cut.
    pub(crate) fn sync(&self) -> io::Result<()> {
        fault::step()?;
        match rustix::fs::fsync(&self.fd) {
            // Some file systems cannot sync a folder; there is nothing better to call.
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOTSUP) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the names in this folder that are valid text.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().to_str()
                && name != "."
                && name != ".."
            {
                names.push(name.to_string());
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

fn raw(mode: u32) -> Mode {
    Mode::from_bits_truncate(mode as rustix::fs::RawMode)
}

fn metadata_of(stat: &rustix::fs::Stat) -> Metadata {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    };
    Metadata {
        kind,
        bytes: u64::try_from(stat.st_size).unwrap_or(0),
        mode: u32::try_from(wide(stat.st_mode) & 0o7777).unwrap_or(0),
        modified: i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec),
        identity: (wide(stat.st_dev), wide(stat.st_ino)),
        owner: (stat.st_uid, stat.st_gid),
    }
}

/// The platforms differ in how wide these numbers are.
fn wide<Number: TryInto<u64>>(number: Number) -> u64 {
    number.try_into().unwrap_or(0)
}
