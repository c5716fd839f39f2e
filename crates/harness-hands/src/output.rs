//! A file that the user named for a result: whole or not at all, wherever it lies. No run is given one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file of `--output`.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    kind: Target,
}

/// What has the name already.
#[derive(Debug)]
enum Target {
    /// Nothing, a file or a link: the new file takes the name.
    Name { folder: PathBuf },
    /// A device or a pipe, which is written to as a shell does.
    Stream,
}

impl OutputFile {
    /// Finds out whether a result can be written there, before there is one. Leaves nothing behind.
    pub fn open(path: &Path) -> io::Result<OutputFile> {
        let found = fs::symlink_metadata(path).ok();
        if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
            return Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                "it is a folder",
            ));
        }
        // Links in there lead to what the system has open, and must not be replaced.
        let of_system = path.starts_with("/dev") || path.starts_with("/proc");
        let is_plain = found.is_none_or(|found| found.is_file() || found.is_symlink());
        let kind = if of_system || !is_plain {
            Target::Stream
        } else {
            let folder = match path.parent() {
                Some(folder) if folder != Path::new("") => folder.to_owned(),
                _ => PathBuf::from("."),
            };
            let (trial, _) = temporary(&folder)?;
            fs::remove_file(trial)?;
            Target::Name { folder }
        };
        Ok(OutputFile {
            path: path.to_owned(),
            kind,
        })
    }

    /// Writes the result.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let Target::Name { folder } = &self.kind else {
            return OpenOptions::new()
                .write(true)
                .open(&self.path)?
                .write_all(bytes);
        };
        let (temp, file) = temporary(folder)?;
        let done = fill(&file, bytes, &self.path).and_then(|()| fs::rename(&temp, &self.path));
        if done.is_err() {
            // The error that matters is the first one.
            drop(fs::remove_file(&temp));
        }
        done
    }
}

fn fill(mut file: &File, bytes: &[u8], over: &Path) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Ok(before) = fs::symlink_metadata(over)
        && before.is_file()
    {
        file.set_permissions(before.permissions())?;
    }
    file.sync_all()
}

/// Makes a file with a name that nobody has.
fn temporary(folder: &Path) -> io::Result<(PathBuf, File)> {
    // Leftovers of processes that were killed are few.
    const TRIES: u32 = 100;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    for number in 0..TRIES {
        let name = format!(".harness-{}-{number}.tmp", std::process::id());
        let path = folder.join(name);
        match options.open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::OutputFile;

    #[test]
    fn a_result_replaces_what_was_there_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        for text in ["one", "two"] {
            let output = OutputFile::open(&path).unwrap();
            output.write(text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_known_before_there_is_a_result() {
        let folder = tempfile::tempdir().unwrap();
        OutputFile::open(folder.path()).unwrap_err();
        OutputFile::open(&folder.path().join("nosuch/result.json")).unwrap_err();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_a_device_is_written_to_and_a_mode_is_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (theirs, link) = (folder.path().join("theirs"), folder.path().join("link"));
        std::fs::write(&theirs, "theirs").unwrap();
        symlink(&theirs, &link).unwrap();
        OutputFile::open(&link).unwrap().write(b"ours").unwrap();
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
        assert_eq!(std::fs::read_to_string(&link).unwrap(), "ours");
        let null = std::path::Path::new("/dev/null");
        OutputFile::open(null).unwrap().write(b"ours").unwrap();
        assert!(!std::fs::symlink_metadata(null).unwrap().is_file());
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&theirs, private).unwrap();
        OutputFile::open(&theirs).unwrap().write(b"ours").unwrap();
        let mode = std::fs::metadata(&theirs).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
