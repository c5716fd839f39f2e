//! `--output FILE`: the result in a file beside what is printed. Looked at before the work begins, written after it.

use std::path::Path;

use harness_hands::output::OutputFile;
use serde::Serialize;

use crate::cli::args::{Command, CommonArguments};
use crate::exit::Exit;
use crate::show::json;
use crate::show::text::Complaint;

/// Finds out whether the result of a command can be written where the user wants it.
pub(super) fn check(command: &Command, path: &Path) -> Result<(), Complaint> {
    let is_lasting = matches!(
        command,
        Command::Chat(_) | Command::Serve(_) | Command::Mcp(_) | Command::Acp(_)
    );
    if is_lasting {
        let hint = "`run`, `ask` and the commands that print a result have it";
        let message = "`--output` is for commands that end with a result";
        return Err(Complaint::usage(message, hint).about("output"));
    }
    if path.as_os_str() == "-" {
        let hint = "`--json` prints the result on stdout; `./-` is a file of that name";
        let message = "`--output` takes a file, and `-` is none";
        return Err(Complaint::usage(message, hint).about("output"));
    }
    let opened = OutputFile::open(path).map_err(|error| unwritable(path, &error));
    opened.map(drop)
}

/// Writes a value where the user wants it, as JSON.
pub(super) fn write<T: Serialize>(common: &CommonArguments, value: &T) -> Result<(), Complaint> {
    write_text(common, || json::document(value))
}

/// Writes a text where the user wants the result.
pub(super) fn write_text(
    common: &CommonArguments,
    document: impl FnOnce() -> String,
) -> Result<(), Complaint> {
    match &common.output {
        Some(path) => write_to(path, &document()),
        None => Ok(()),
    }
}

/// Writes a text to a file.
pub(super) fn write_to(path: &Path, document: &str) -> Result<(), Complaint> {
    let written = OutputFile::open(path).and_then(|file| file.write(document.as_bytes()));
    written.map_err(|error| Complaint {
        exit: Exit::Failed,
        ..unwritable(path, &error)
    })
}

fn unwritable(path: &Path, error: &std::io::Error) -> Complaint {
    let message = format!("cannot write `{}`: {error}", path.display());
    let hint = "name a file in a folder that is there and may be written";
    Complaint::usage(message, hint).about("output")
}
