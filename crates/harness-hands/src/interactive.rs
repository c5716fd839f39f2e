//! Programs of the user's own that take the terminal over: the editor and the pager. Only the user's environment names
//! them, and nothing of a project.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

/// Opens texts in an editor and returns them as they were saved. They lie in a private folder that goes again; each keeps
/// the end of its name, by which editors know a language.
pub fn edit(editor: &[String], files: &[(&str, &str)]) -> io::Result<Vec<String>> {
    let mut folder = tempfile::Builder::new();
    #[cfg(unix)]
    let private = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o700);
    #[cfg(unix)]
    folder.permissions(private);
    let folder = folder.prefix("harness-edit-").tempdir()?;
    let mut places: Vec<PathBuf> = Vec::new();
    for (number, (path, text)) in files.iter().enumerate() {
        let name = path.rsplit('/').next().unwrap_or(path);
        // Two files of one name are two.
        let own = folder.path().join(number.to_string());
        fs::create_dir(&own)?;
        let place = own.join(name);
        fs::write(&place, text)?;
        places.push(place);
    }
    let (program, words) = program(editor)?;
    let ended = Command::new(program).args(words).args(&places).status()?;
    succeeded(program, ended)?;
    places.iter().map(fs::read_to_string).collect()
}

/// Shows a text in a pager. One that is closed before the end is as good as one that was read.
pub fn page(pager: &[String], text: &str) -> io::Result<()> {
    let (program, words) = program(pager)?;
    let mut reader = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .spawn()?;
    let written = match reader.stdin.take() {
        Some(mut input) => input.write_all(text.as_bytes()),
        None => Ok(()),
    };
    let ended = reader.wait()?;
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        // A shell says by 126 and 127 that there is no such program.
        _ if matches!(ended.code(), Some(126 | 127)) => succeeded(program, ended),
        _ => Ok(()),
    }
}

fn program(command: &[String]) -> io::Result<(&str, &[String])> {
    match command.split_first() {
        Some((program, words)) => Ok((program, words)),
        None => Err(io::Error::other("no program is named")),
    }
}

fn succeeded(program: &str, ended: ExitStatus) -> io::Result<()> {
    match ended.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("`{program}` ended with {ended}"))),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{edit, page};

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script, "editor"].map(str::to_owned).to_vec()
    }

    #[test]
    fn each_text_comes_back_as_it_was_saved() {
        let files = [("shop/a.py", "one\n"), ("tests/a.py", "two\n")];
        let editor = shell("for file; do case $file in *a.py) echo more >> \"$file\";; esac; done");
        assert_eq!(
            edit(&editor, &files).unwrap(),
            ["one\nmore\n", "two\nmore\n"]
        );
    }

    #[test]
    fn an_editor_that_fails_changes_nothing() {
        let failed = edit(&shell("exit 3"), &[("a.py", "one")]).unwrap_err();
        assert!(failed.to_string().contains("`sh` ended with"), "{failed}");
        assert!(edit(&["no-such-editor".to_owned()], &[("a.py", "")]).is_err());
        assert!(edit(&[], &[("a.py", "")]).is_err());
    }

    #[test]
    fn a_pager_may_be_closed_early() {
        let long = "a line\n".repeat(100_000);
        page(&shell("head -1 > /dev/null"), &long).unwrap();
        assert!(page(&shell("no-such-pager"), &long).is_err());
    }
}
