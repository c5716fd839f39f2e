//! The command line: reads the words, calls the agent, shows what came of it.

mod agent;
pub mod args;
mod chat;
mod clean;
mod complete;
mod config;
mod editors;
mod generated;
mod list;
mod models;
mod one_key;
mod outcome;
mod output;
mod pager;
mod past;
mod prepare;
mod progress;
mod protocols;
mod reach;
mod reports;
mod settings;
mod usage;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use crate::cli::args::{Arguments, Command, CommonArguments};
use crate::exit::Exit;
use crate::show::annotations::{self, Annotation};
use crate::show::text::Complaint;
use crate::show::{json, text};

/// Runs the program with these words (the first names it) and returns its exit code.
pub fn main(words: impl IntoIterator<Item = OsString>) -> Exit {
    let words: Vec<OsString> = words.into_iter().collect();
    if complete::answered(&words) {
        return Exit::Done;
    }
    let program = program_name(words.first());
    let wants_json = words
        .iter()
        .skip(1)
        .take_while(|word| *word != "--")
        .any(|word| word == "--json");
    let exit = match read(&words, &program) {
        Ok(Some((arguments, output))) => perform(arguments, output, &program),
        Ok(None) => Ok(Exit::Done),
        Err(complaint) => Err(complaint),
    };
    exit.unwrap_or_else(|complaint| {
        if wants_json {
            json::print(&json::bad_input(&complaint));
        }
        text::complaint(&program, &complaint);
        let note = Annotation::error("harness", &complaint.message);
        annotations::print(Path::new("."), &[note]);
        complaint.exit
    })
}

/// Returns the name the user started us by: `python -m harness` names itself so in usage lines.
fn program_name(first: Option<&OsString>) -> String {
    match first.and_then(|word| word.to_str()) {
        Some(word) if word.ends_with("-m harness") => word.to_owned(),
        _ => "harness".to_owned(),
    }
}

/// Reads the words, and the file for the result that is among them; `None` means that they asked for text that has been
/// printed.
fn read(
    words: &[OsString],
    program: &str,
) -> Result<Option<(Arguments, Option<PathBuf>)>, Complaint> {
    let mut command = Arguments::command().bin_name(program);
    let matches = match command.try_get_matches_from_mut(words) {
        Ok(matches) => matches,
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                // A closed pipe ends quietly, as everywhere.
                drop(error.print());
                return Ok(None);
            }
            _ => {
                return Err(usage::complaint(
                    &error,
                    program,
                    named_command(&command, words),
                ));
            }
        },
    };
    let arguments = Arguments::from_arg_matches(&matches)
        .map_err(|error| usage::complaint(&error, program, named_command(&command, words)))?;
    let output = matches
        .subcommand()
        .and_then(|(_, words)| words.try_get_one::<PathBuf>("output").ok().flatten());
    Ok(Some((arguments, output.cloned())))
}

/// Returns the command that the words name, where they name one.
fn named_command<'c>(command: &'c clap::Command, words: &[OsString]) -> Option<&'c str> {
    let first = words
        .iter()
        .skip(1)
        .find(|word| !word.to_string_lossy().starts_with('-'))?;
    let found = command
        .get_subcommands()
        .find(|one| *first == *one.get_name());
    found.map(clap::Command::get_name)
}

fn perform(
    arguments: Arguments,
    output: Option<PathBuf>,
    program: &str,
) -> Result<Exit, Complaint> {
    let Some(command) = arguments.command else {
        text::result(&list::commands(program));
        return Ok(Exit::Done);
    };
    if let Some(path) = &output {
        output::check(&command, path)?;
    }
    carry_out(command, program).inspect_err(|complaint| {
        // What went wrong with the file itself is told on stderr.
        if let Some(path) = output.filter(|_| complaint.param.as_deref() != Some("output")) {
            let told = json::document(&json::bad_input(complaint));
            drop(output::write_to(&path, &told));
        }
    })
}

fn carry_out(command: Command, program: &str) -> Result<Exit, Complaint> {
    match command {
        Command::Brief(arguments) => reports::brief(&arguments),
        Command::Layout(arguments) => reports::layout(&arguments),
        Command::Route(arguments) => reports::route(&arguments),
        Command::Ask(arguments) => agent::ask(&arguments, program),
        Command::Run(arguments) => agent::run(&arguments, program),
        Command::Test(arguments) => agent::test(&arguments, program),
        Command::Chat(arguments) => chat::chat(&arguments, program),
        Command::Serve(arguments) => agent::serve(&arguments),
        Command::Mcp(arguments) => protocols::mcp(&arguments),
        Command::Acp(arguments) => protocols::acp(&arguments),
        Command::Editors(arguments) => editors::editors(&arguments),
        Command::Undo(arguments) => past::undo(&arguments),
        Command::Last(arguments) => past::last(&arguments),
        Command::Apply(arguments) => agent::apply(&arguments, program),
        Command::Prepare(arguments) => prepare::prepare(&arguments, program),
        Command::Clean(arguments) => clean::clean(&arguments),
        Command::Replay(arguments) => agent::replay(&arguments, program),
        Command::Models(arguments) => models::models(&arguments),
        Command::Doctor(arguments) => past::doctor(&arguments),
        Command::Config(arguments) => config::config(&arguments),
        Command::Help(arguments) => config::help(&arguments, program),
        Command::Completions(arguments) => generated::completions(&arguments),
        Command::Man(arguments) => generated::man(&arguments),
    }
}

/// Prints a value as JSON, or as the text that `words` makes of it, and writes it where `--output` says. Returns that all is done.
fn show<T: serde::Serialize>(
    common: &CommonArguments,
    value: &T,
    words: impl FnOnce() -> String,
) -> Result<Exit, Complaint> {
    if common.json {
        json::print(value);
    } else {
        text::result(&words());
    }
    output::write(common, value)?;
    Ok(Exit::Done)
}
