//! `--output FILE`: the result in a file beside what is printed. Looked at before the work begins, written after it.

use std::path::Path;

use harness_hands::output::OutputFile;
use serde::Serialize;

use crate::cli::args::{
    AcpArguments, ApplyArguments, AskArguments, ChatArguments, CleanArguments, Command,
    CommonArguments, ConfigArguments, DoctorArguments, EditorsArguments, LastArguments,
    LayoutArguments, McpArguments, ModelsArguments, PrepareArguments, ReplayArguments,
    ReportArguments, RouteArguments, RunArguments, ServeArguments, TestArguments, UndoArguments,
};
use crate::exit::Exit;
use crate::show::json;
use crate::show::text::Complaint;

/// Finds out whether the result of a command can be written where the user wants it. Returns the options that say
/// where, when they do.
pub(super) fn check(command: &Command) -> Result<Option<CommonArguments>, Complaint> {
    let (common, is_lasting) = match command {
        Command::Brief(ReportArguments { common, .. })
        | Command::Layout(LayoutArguments { common, .. })
        | Command::Route(RouteArguments { common, .. })
        | Command::Ask(AskArguments { common, .. })
        | Command::Run(RunArguments { common, .. })
        | Command::Test(TestArguments { common, .. })
        | Command::Editors(EditorsArguments { common, .. })
        | Command::Undo(UndoArguments { common, .. })
        | Command::Last(LastArguments { common, .. })
        | Command::Apply(ApplyArguments { common, .. })
        | Command::Prepare(PrepareArguments { common, .. })
        | Command::Clean(CleanArguments { common, .. })
        | Command::Replay(ReplayArguments { common, .. })
        | Command::Models(ModelsArguments { common, .. })
        | Command::Doctor(DoctorArguments { common, .. })
        | Command::Config(ConfigArguments { common, .. }) => (common, false),
        Command::Chat(ChatArguments { common, .. })
        | Command::Serve(ServeArguments { common, .. })
        | Command::Mcp(McpArguments { common, .. })
        | Command::Acp(AcpArguments { common, .. }) => (common, true),
        Command::Help(_) | Command::Completions(_) | Command::Man(_) => return Ok(None),
    };
    let Some(path) = &common.output else {
        return Ok(None);
    };
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
    OutputFile::open(path).map_err(|error| unwritable(path, &error))?;
    Ok(Some(common.clone()))
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
    let Some(path) = &common.output else {
        return Ok(());
    };
    let written = OutputFile::open(path).and_then(|file| file.write(document().as_bytes()));
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
