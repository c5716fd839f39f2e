//! Traces: whole lines appended to a file under a lock, readable by the user alone.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::door::{Door, DoorError};
use crate::state;

/// The name of the trace in the state folder.
const TRACE_FILE: &str = "traces.jsonl";
/// The name of what was said in conversations, in the state folder.
const CHAT_FILE: &str = "chat.jsonl";

/// Appends a line to the project's own trace, making the state folder first when it is not there.
pub fn append_in_project(door: &Door, line: &str) -> Result<(), DoorError> {
    append_to_state(door, TRACE_FILE, line)
}

/// Appends a line to what was said in the project's conversations.
pub fn append_chat_in_project(door: &Door, line: &str) -> Result<(), DoorError> {
    append_to_state(door, CHAT_FILE, line)
}

fn append_to_state(door: &Door, name: &str, line: &str) -> Result<(), DoorError> {
    let whole = door.unscoped()?;
    let path = state::path(name)?;
    let folder = state::open(&whole)?;
    let broken = |error: io::Error| DoorError::from_io(&path, error);
    let file = folder.open_or_create(name).map_err(broken)?;
    append_to(file, line).map_err(broken)
}

/// Returns where the project's conversations are kept.
pub fn chat_in_project(door: &Door) -> PathBuf {
    door.root().join(state::STATE_FOLDER).join(CHAT_FILE)
}

/// Returns what was said in the project's conversations; nothing where its state folder leads elsewhere.
pub fn chat_lines(door: &Door) -> Vec<String> {
    let folder = std::fs::symlink_metadata(door.root().join(state::STATE_FOLDER));
    match folder {
        Ok(folder) if folder.is_dir() => lines(&chat_in_project(door)).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Returns where the project's own trace is.
pub fn place_in_project(door: &Door) -> PathBuf {
    door.root().join(state::STATE_FOLDER).join(TRACE_FILE)
}

/// Appends a line to a file that the user named.
pub fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    append_to(
        open(path, options.read(true).append(true).create(true))?,
        line,
    )
}

fn append_to(mut file: File, line: &str) -> io::Result<()> {
    file.lock()?;
    // A process that died in the middle of a line must not spoil the next one.
    let torn = file.seek(SeekFrom::End(0))? > 0 && {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        last != *b"\n"
    };
    let text = format!("{}{line}\n", if torn { "\n" } else { "" });
    file.write_all(text.as_bytes())
}

/// A trace beyond this is not read: no run of a person is that long, in bytes.
const LARGEST: u64 = 1 << 30;

/// Returns the lines of a trace; one that is no text is left out.
pub fn lines(path: &Path) -> io::Result<Vec<String>> {
    let file = open(path, OpenOptions::new().read(true))?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    let line = |line: &[u8]| String::from_utf8(line.to_vec()).ok();
    Ok(bytes
        .split(|byte| *byte == b'\n')
        .filter_map(line)
        .collect())
}

/// Opens a plain file, and nothing else that has this name.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // A link or a pipe planted under this name must not be written through or waited for.
        options
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a plain file",
        ));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::append;

    #[test]
    fn lines_are_whole_after_a_torn_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        append(&path, "{\"n\":1}").unwrap();
        std::fs::write(&path, "{\"n\":1}\n{\"n\"").unwrap();
        append(&path, "{\"n\":3}").unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "{\"n\":1}\n{\"n\"\n{\"n\":3}\n"
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_it_and_links_are_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        append(&path, "x").unwrap();
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(append(&link, "y").is_err());
    }

    #[test]
    fn many_at_once_never_mix_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let line = "x".repeat(9000);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..20).for_each(|_| append(&path, &line).unwrap()));
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 160);
        assert!(text.lines().all(|got| got == line));
    }
}
