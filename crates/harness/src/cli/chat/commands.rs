//! The `/` commands of a conversation: shortcuts to what the program does elsewhere, and settings for what comes next.

use std::path::PathBuf;

use harness_agent::AgentOptions;
use harness_agent::dialogue::{self, Meaning};
use serde::Serialize;
use serde_json::json;

use crate::cli::chat::Chat;
use crate::cli::progress::Progress;
use crate::cli::{outcome, pager};
use crate::exit::Exit;
use crate::show::json;
use crate::show::text::{self, Complaint};

/// A command: its name, what follows it, what it does.
pub(super) struct SlashCommand {
    pub(super) name: &'static str,
    takes: &'static str,
    about: &'static str,
}

const fn command(name: &'static str, takes: &'static str, about: &'static str) -> SlashCommand {
    SlashCommand { name, takes, about }
}

/// Every command, in the order that `/help` shows them.
pub(super) const COMMANDS: &[SlashCommand] = &[
    command("undo", "", "take the last change back"),
    command("diff", "", "show the last change again"),
    command("tests", "[TEST]", "run the project's tests"),
    command("file", "PATH", "show a file to the model"),
    command("model", "NAME", "use another model"),
    command("brief", "", "what the project is"),
    command("route", "TASK", "what would happen to a task"),
    command("help", "", "this list"),
    command("quit", "", "leave; Ctrl-D does too"),
];

/// How the conversation goes on.
pub(super) enum After {
    /// With the next line.
    Stay(Exit),
    /// Not at all.
    Leave,
}

impl Chat<'_> {
    /// Carries out a command; its `/` is gone.
    pub(super) fn command(&mut self, words: &str) -> Result<After, Complaint> {
        let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let rest = rest.trim();
        let width = text::width();
        let words = match name {
            "quit" | "exit" | "q" => return Ok(After::Leave),
            "undo" => return self.turn("undo", "harness").map(After::Stay),
            "tests" => return self.tests(rest).map(After::Stay),
            "diff" if self.arguments.common.json => self.diff.clone(),
            "diff" if !self.diff.is_empty() => {
                pager::diff(&self.diff, self.paging());
                return Ok(After::Stay(Exit::Done));
            }
            "diff" => "nothing was changed yet".to_owned(),
            "help" | "?" => help(),
            "file" if rest.is_empty() => self.files(),
            "file" => {
                self.change(|options| options.files.push(PathBuf::from(rest)))?;
                format!("the model is shown {rest} from here on")
            }
            "model" if rest.is_empty() => self.options().model.clone(),
            "model" => {
                self.change(|options| options.model = rest.to_owned())?;
                format!("{rest} is used from here on")
            }
            "brief" => self.dialogue.agent().brief()?.render_for_person(width),
            "route" if rest.is_empty() => {
                return Err(Complaint::usage(
                    "the task is missing",
                    "/route rename a to b",
                ));
            }
            "route" => match dialogue::read(self.dialogue.said(), rest) {
                Meaning::Task(task) => self.dialogue.agent().route(&task)?.render(width),
                Meaning::Reply(_) => "nothing would be done".to_owned(),
                Meaning::Undo(run) => match run {
                    Some(run) => format!("{run} would be taken back"),
                    None => "the last change would be taken back".to_owned(),
                },
            },
            _ => {
                let message = format!("there is no command `/{name}`");
                return Err(Complaint::usage(message, "/help lists them"));
            }
        };
        match self.arguments.common.json {
            // A program reads one JSON document a line, whatever it said.
            true => print_line(&json!({"command": name, "text": words})),
            false => text::result(&words),
        }
        Ok(After::Stay(Exit::Done))
    }

    fn options(&self) -> &AgentOptions {
        self.dialogue.agent().options()
    }

    fn files(&self) -> String {
        let files = self.options().files.iter();
        let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
        match files.as_slice() {
            [] => "no file is shown on its own; /file PATH adds one".to_owned(),
            files => files.join("\n"),
        }
    }

    /// Changes a setting for what comes next, where it can be used.
    fn change(&mut self, change: impl FnOnce(&mut AgentOptions)) -> Result<(), Complaint> {
        let agent = self.dialogue.agent();
        let mut options = agent.options().clone();
        change(&mut options);
        options.check()?;
        let agent = agent.with_options(options);
        self.dialogue.change_agent(agent);
        Ok(())
    }

    fn tests(&mut self, chosen: &str) -> Result<Exit, Complaint> {
        let tests: Vec<String> = chosen.split_whitespace().map(str::to_owned).collect();
        let running = self.interrupts.run();
        let mut progress = Progress::new(&self.arguments.common, &running.cancel);
        let agent = self.dialogue.agent();
        let result = agent.test(&tests, &mut progress, &running.cancel);
        drop(running);
        drop(progress.end());
        let result = result?;
        match self.arguments.common.json {
            true => print_line(&result),
            false => text::result(&text::test_result(&result)),
        }
        Ok(outcome::exit_of_tests(&result))
    }
}

fn print_line<T: Serialize>(value: &T) {
    text::bytes(json::line(value).as_bytes());
}

fn help() -> String {
    let row = |command: &SlashCommand| {
        let words = format!("/{} {}", command.name, command.takes);
        format!("{words:<14} {}\n", command.about)
    };
    let mut list: String = COMMANDS.iter().map(row).collect();
    list.push_str("A line that ends in \\ goes on in the next.\n");
    list
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_fits_a_narrow_terminal() {
        for line in super::help().lines() {
            assert!(line.chars().count() <= 44, "{line}");
        }
    }
}
