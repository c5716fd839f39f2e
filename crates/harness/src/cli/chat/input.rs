//! Where the lines of a conversation come from: an editor on a terminal, plain lines from anything else.

use std::cell::OnceCell;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use harness_agent::dialogue::Said;
use harness_code::tree::SourceTree;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::cli::chat::commands::COMMANDS;
use crate::cli::chat::interrupt::{AtPrompt, Interrupts};
use crate::show::text::{self, Complaint};

/// The longest line that is read: a pasted report, not a wrong file.
const LONGEST_LINE: u64 = 8 * 1024 * 1024;
/// Candidates that a completion lists at most.
const MOST_CANDIDATES: usize = 100;

/// What was read.
pub(super) enum Line {
    /// Some words.
    Words(String),
    /// The end.
    Left,
}

/// Where lines come from.
pub(super) enum Input {
    /// A terminal that can move its cursor.
    Edited(Box<Editor<Words, MemHistory>>),
    /// A pipe, a file, or a terminal that only prints.
    Plain {
        /// Whether somebody sits there and waits to be asked.
        prompts: bool,
    },
}

impl Input {
    /// Opens what standard input is. What the user said before can be called up again.
    pub(super) fn open(project: &Path, said: &[Said]) -> Input {
        let dumb = text::is_dumb_terminal();
        let prompts = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let is_edited = prompts && std::io::stdout().is_terminal() && !dumb;
        let editor = is_edited.then(|| editor(project, said)).flatten();
        editor.map_or(Input::Plain { prompts }, |editor| {
            Input::Edited(Box::new(editor))
        })
    }

    /// Returns whether a person edits the lines.
    pub(super) fn is_edited(&self) -> bool {
        matches!(self, Input::Edited(_))
    }

    /// Reads the next line.
    pub(super) fn next(&mut self, interrupts: &Interrupts) -> Result<Line, Complaint> {
        match self {
            Input::Edited(editor) => edited(editor, interrupts),
            Input::Plain { prompts } => plain(*prompts),
        }
    }
}

fn editor(project: &Path, said: &[Said]) -> Option<Editor<Words, MemHistory>> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .auto_add_history(true)
        .build();
    let history = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history).ok()?;
    editor.set_helper(Some(Words {
        project: project.to_owned(),
        known: OnceCell::new(),
    }));
    for said in said.iter().filter(|said| said.by_user) {
        // A line that cannot be called up again is no loss.
        drop(editor.add_history_entry(text::clean(&said.text)));
    }
    Some(editor)
}

/// Ctrl-C clears the line; on an empty one it leaves when it is pressed again.
fn edited(
    editor: &mut Editor<Words, MemHistory>,
    interrupts: &Interrupts,
) -> Result<Line, Complaint> {
    interrupts.new_line();
    loop {
        match editor.readline("> ") {
            Ok(line) => return Ok(Line::Words(line.replace("\\\n", "\n"))),
            Err(ReadlineError::Interrupted) => match interrupts.at_prompt() {
                AtPrompt::Stay => {}
                AtPrompt::Leave => return Ok(Line::Left),
            },
            Err(ReadlineError::Eof) => return Ok(Line::Left),
            Err(ReadlineError::Signal(_)) => {}
            Err(error) => {
                let message = format!("the terminal cannot be read: {error}");
                return Err(Complaint::usage(message, "pipe the lines in instead"));
            }
        }
    }
}

fn plain(prompts: bool) -> Result<Line, Complaint> {
    if prompts {
        drop(write!(std::io::stderr(), "> "));
        drop(std::io::stderr().flush());
    }
    let mut bytes = Vec::new();
    let stdin = std::io::stdin().lock();
    let read = stdin.take(LONGEST_LINE).read_until(b'\n', &mut bytes);
    let unreadable = |message: String| Complaint::usage(message, "write lines of UTF-8 text");
    match read {
        Ok(0) => return Ok(Line::Left),
        Ok(_) if bytes.last() != Some(&b'\n') && bytes.len() as u64 == LONGEST_LINE => {
            return Err(unreadable("a line is longer than 8 MiB".to_owned()));
        }
        Ok(_) => {}
        Err(error) => {
            return Err(unreadable(format!(
                "standard input cannot be read: {error}"
            )));
        }
    }
    let line = String::from_utf8(bytes);
    let line = line.map_err(|_| unreadable("standard input is not valid UTF-8".to_owned()))?;
    Ok(Line::Words(line.trim_start_matches('\u{feff}').to_owned()))
}

/// Completes commands, files and names; read from the project at the first Tab.
pub(super) struct Words {
    project: PathBuf,
    known: OnceCell<Vec<String>>,
}

impl Words {
    fn known(&self) -> &[String] {
        self.known.get_or_init(|| {
            let Ok(tree) = SourceTree::read(&self.project, None) else {
                return Vec::new();
            };
            let files = tree.files().iter().map(|file| file.path.to_string());
            let mut words: Vec<String> = files.collect();
            words.extend(tree.definitions().map(|(_, one)| one.qualified.to_string()));
            // What would not be printed as it is cannot be offered.
            words.retain(|word| text::clean(word) == *word);
            words.sort();
            words.dedup();
            words
        })
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..position).unwrap_or_default();
        let start = before.rfind([' ', '\t', '`', '"']).map_or(0, |at| at + 1);
        let word = &before[start..];
        if start == 0 && word.starts_with('/') {
            let commands = COMMANDS.iter().map(|command| format!("/{}", command.name));
            let fitting = commands.filter(|command| command.starts_with(word));
            return Ok((start, fitting.collect()));
        }
        if word.is_empty() {
            return Ok((start, Vec::new()));
        }
        let known = self.known().iter();
        let fitting = known.filter(|known| known.starts_with(word));
        Ok((start, fitting.take(MOST_CANDIDATES).cloned().collect()))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Validator for Words {
    /// A line that ends in a backslash goes on in the next.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match context.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Helper for Words {}
