//! `chat`: a conversation on a terminal, or line by line from a pipe. What a message means is decided in the engine.

mod commands;
mod input;
mod interrupt;

use harness_agent::{Agent, AgentOptions, Dialogue, RunResult};

use crate::cli::args::ChatArguments;
use crate::cli::chat::commands::After;
use crate::cli::chat::input::{Input, Line};
use crate::cli::chat::interrupt::Interrupts;
use crate::cli::pager::Paging;
use crate::cli::progress::Progress;
use crate::cli::{outcome, settings};
use crate::exit::Exit;
use crate::show::json;
use crate::show::text::{self, Complaint};

/// A conversation under way.
struct Chat<'a> {
    arguments: &'a ChatArguments,
    dialogue: Dialogue,
    interrupts: Interrupts,
    /// The last change that was shown.
    diff: String,
}

/// Talks until there is nothing more to read.
pub(super) fn chat(arguments: &ChatArguments, program: &str) -> Result<Exit, Complaint> {
    let common = &arguments.common;
    let folder = arguments.folder.as_deref();
    let options = AgentOptions {
        confirm: arguments.ask,
        files: arguments.file.clone(),
        ..settings::options(folder, common, Some(&arguments.model))?
    };
    settings::warn_of_width(&options.project, common, true);
    // A folder that is not there is told before the first word.
    let checked = options.check()?;
    let agent = Agent::new(options);
    let dialogue = match arguments.resume {
        true => Dialogue::resumed(agent)?,
        false => agent.converse().kept(),
    };
    let mut input = Input::open(&checked.project, dialogue.said());
    let mut chat = Chat {
        arguments,
        dialogue,
        interrupts: Interrupts::default(),
        diff: String::new(),
    };
    if input.is_edited() {
        chat.interrupts.lines_are_edited();
    }
    chat.interrupts.hear();
    if input.is_edited() && !common.quiet {
        chat.greet();
    }
    chat.talk(&mut input, program)
}

impl Chat<'_> {
    fn greet(&self) {
        let said = self.dialogue.said();
        let model = &self.dialogue.agent().options().model;
        text::notice(&format!(
            "harness chat, {model}. Say what to change or ask; /help lists commands, /quit leaves."
        ));
        if self.arguments.resume {
            let turns = said.len() / 2;
            let word = if turns == 1 { "turn" } else { "turns" };
            text::notice(&format!("taking up a conversation of {turns} {word}"));
            if let Some(last) = said.last() {
                let line = last.text.lines().next().unwrap_or_default();
                text::notice(&format!("last: {line}"));
            }
        }
    }

    /// Reads and answers until the end. A script is told by the exit code how its last line went.
    fn talk(&mut self, input: &mut Input, program: &str) -> Result<Exit, Complaint> {
        let mut exit = Exit::Done;
        loop {
            let line = match input.next(&self.interrupts)? {
                Line::Words(line) => line,
                Line::Left if input.is_edited() => return Ok(Exit::Done),
                Line::Left => return Ok(exit),
            };
            let words = line.trim();
            if words.is_empty() {
                continue;
            }
            let done = match words.strip_prefix('/') {
                Some(command) => self.command(command),
                None => self.turn(words, program).map(After::Stay),
            };
            // One wrong line does not end a conversation.
            exit = match done {
                Ok(After::Stay(exit)) => exit,
                Ok(After::Leave) => return Ok(Exit::Done),
                Err(complaint) => {
                    if self.arguments.common.json {
                        let kind = "invalid_request_error";
                        let error = json::error(kind, "bad_input", &complaint);
                        text::bytes(json::line(&error).as_bytes());
                    }
                    text::complaint(program, &complaint);
                    complaint.exit
                }
            };
        }
    }

    /// Returns whether long diffs are read in a pager.
    fn paging(&self) -> Paging {
        Paging::unless(self.arguments.no_pager)
    }

    /// Does what a message asks for and shows what came of it.
    fn turn(&mut self, message: &str, program: &str) -> Result<Exit, Complaint> {
        let common = &self.arguments.common;
        let running = self.interrupts.run();
        let progress = Progress::new(common, &running.cancel);
        let mut progress = progress.with_paging(self.paging());
        let result = self.dialogue.say(message, &mut progress, &running.cancel);
        drop(running);
        let shown = progress.end();
        let result: RunResult = result?;
        if !result.diff.is_empty() {
            self.diff.clone_from(&result.diff);
        }
        let paging = self.paging();
        Ok(outcome::show_turn(&result, common, program, &shown, paging))
    }
}
