//! Text for people: clean of control characters, quiet when a pipe closes. The one place that prints.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
#[cfg(unix)]
use std::os::fd::AsFd as Stream;
#[cfg(windows)]
use std::os::windows::io::AsHandle as Stream;
use std::sync::LazyLock;

use anstream::AutoStream;
use harness_agent::env::Environment;
use harness_agent::{RunResult, Stopped, TestResult};
use unicode_width::UnicodeWidthStr;

use crate::exit::Exit;
use crate::show::answer::{Abilities, AnswerLayout};
use crate::show::{workflow, wrap};

/// Something the user must hear: what is wrong, then what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// How the program ends.
    pub exit: Exit,
    /// What is wrong, lowercase, no full stop.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// The option or field that is wrong, where one is.
    pub param: Option<String>,
}

impl Complaint {
    /// Returns a complaint about how the program was called.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Complaint {
        Complaint {
            exit: Exit::Usage,
            message: message.into(),
            hint: hint.into(),
            param: None,
        }
    }

    /// Returns a complaint with which the program ends in another way.
    pub fn ending(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Complaint {
        Complaint {
            exit,
            ..Complaint::usage(message, hint)
        }
    }

    /// Returns the same complaint with the option or field that is wrong.
    #[must_use]
    pub fn about(self, param: impl Into<String>) -> Complaint {
        Complaint {
            param: Some(param.into()),
            ..self
        }
    }
}

impl From<harness_agent::OptionsError> for Complaint {
    fn from(error: harness_agent::OptionsError) -> Complaint {
        Complaint::usage(error.message, error.hint).about(error.field)
    }
}

/// Returns the first line of a text, no longer than so many characters.
pub(crate) fn first_line(text: &str, most: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(most).collect()
}

/// Returns text without anything that a terminal would obey: control characters and direction overrides become `�`.
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if obeyed(c) { '\u{fffd}' } else { c })
        .collect()
}

fn obeyed(c: char) -> bool {
    let layout = matches!(c, '\n' | '\t');
    // Overrides and isolates reorder what is shown; source code has been hidden with them.
    let reorders = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !layout) || reorders
}

/// Returns text as it is printed to a terminal of this width, or unchanged where there is none.
fn for_reader(text: &str, is_terminal: bool) -> String {
    match is_terminal {
        true => wrap::wrapped(&clean(text), columns()),
        false => clean(text),
    }
}

/// Prints a result on stdout, on a terminal broken between words. A closed pipe ends quietly: nobody is left to read.
pub fn result(text: &str) {
    unbroken_result(&for_reader(text, io::stdout().is_terminal()));
}

/// Prints a result on stdout that is to be copied: its lines are left as they are.
pub fn unbroken_result(text: &str) {
    let mut out = io::stdout().lock();
    let newline = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let text = clean(text);
    let text = disarmed(&text, *STDOUT_IS_READ);
    drop(write!(out, "{text}{newline}").and_then(|()| out.flush()));
}

/// An answer that is printed on the terminal of stdout while its words come.
pub(crate) struct SpokenAnswer {
    layout: AnswerLayout,
    spoken: String,
}

impl SpokenAnswer {
    /// Returns an answer of which nothing is printed yet.
    pub(crate) fn new() -> SpokenAnswer {
        let has_colour = has_colour();
        // Old consoles of Windows show neither colours nor movements.
        let moves_cursor = !is_dumb_terminal() && (has_colour || !cfg!(windows));
        let abilities = Abilities {
            has_colour,
            moves_cursor,
        };
        SpokenAnswer {
            layout: AnswerLayout::new(abilities),
            spoken: String::new(),
        }
    }

    /// Returns whether nothing was said yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.spoken.is_empty()
    }

    /// Prints the next words, at once.
    pub(crate) fn say(&mut self, words: &str) {
        self.spoken.push_str(words);
        bytes(self.layout.piece(&clean(words), columns()).as_bytes());
    }

    /// Ends the line that the last words stand on.
    pub(crate) fn end_line(&mut self) {
        let end = self.layout.end();
        if !end.is_empty() {
            bytes(end.as_bytes());
        }
    }

    /// Returns everything that was said, as the model wrote it.
    pub(crate) fn into_words(self) -> String {
        self.spoken
    }
}

/// Prints exact bytes on stdout: JSON, completions, manual pages.
pub fn bytes(text: &[u8]) {
    let mut out = io::stdout().lock();
    let text = match std::str::from_utf8(text) {
        Ok(text) if *STDOUT_IS_READ => Cow::Owned(workflow::document(text).into_bytes()),
        _ => Cow::Borrowed(text),
    };
    drop(out.write_all(&text).and_then(|()| out.flush()));
}

/// Prints one line of progress or notice on stderr, on a terminal broken between words.
pub fn notice(text: &str) {
    unbroken_notice(&for_reader(text, io::stderr().is_terminal()));
}

/// Prints what was not written for a reader on stderr: the output of programs, diffs, log lines.
pub fn unbroken_notice(text: &str) {
    let text = clean(text);
    let text = disarmed(&text, *STDERR_IS_READ);
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Prints a command for GitHub Actions on stderr: stdout is the result's.
pub(crate) fn workflow_command(line: &str) {
    drop(writeln!(io::stderr().lock(), "{}", clean(line)));
}

/// Returns text in which a workflow of GitHub Actions finds no command: what a model or a file says is printed too. The
/// two streams are read apart, so a word that stops commands on one of them would not come in time on the other.
fn disarmed(text: &str, is_read: bool) -> Cow<'_, str> {
    match is_read {
        true => Cow::Owned(workflow::text(text)),
        false => Cow::Borrowed(text),
    }
}

/// Whether a workflow may read what is printed. What goes into a file stays as it is: that may be a patch.
static STDOUT_IS_READ: LazyLock<bool> = LazyLock::new(|| is_read(&io::stdout()));
static STDERR_IS_READ: LazyLock<bool> = LazyLock::new(|| is_read(&io::stderr()));

fn is_read(stream: &impl Stream) -> bool {
    #[cfg(unix)]
    let copy = stream.as_fd().try_clone_to_owned();
    #[cfg(windows)]
    let copy = stream.as_handle().try_clone_to_owned();
    let about = copy.and_then(|copy| File::from(copy).metadata());
    !about.is_ok_and(|about| about.is_file()) && Environment::read().workflow.is_some()
}

/// Prints a complaint on stderr: what is wrong, then the hint.
pub fn complaint(program: &str, complaint: &Complaint) {
    let mut text = format!("{program}: {}", complaint.message);
    if !complaint.hint.is_empty() {
        text.push_str(&format!("\nhint: {}", complaint.hint));
    }
    notice(&text);
}

/// Prints what to do next on stderr, where there is something to say.
pub fn hint(hint: &str) {
    if !hint.is_empty() {
        notice(&format!("hint: {hint}"));
    }
}

/// Returns whether the terminal can only print: no cursor to move, no single keys to read.
pub(crate) fn is_dumb_terminal() -> bool {
    Environment::read().dumb_terminal
}

/// Returns the width to lay tables and paragraphs out for: the terminal's, else 80; very long lines are hard to read.
pub fn width() -> usize {
    columns().min(120)
}

/// Returns the columns of the terminal, else 80.
fn columns() -> usize {
    terminal_size::terminal_size()
        .map_or(80, |(columns, _)| usize::from(columns.0))
        .max(20)
}

/// Goals beyond this are only counted.
const MOST_GOALS: usize = 8;

/// Returns what is done and what is not, for a task that asks for several things.
fn goals(result: &RunResult) -> String {
    let goals = &result.goals;
    if goals.len() < 2 || !goals.iter().any(|goal| goal.met) {
        return String::new();
    }
    let line = |goal: &harness_agent::Goal| match goal.met {
        true => format!("done: {}\n", goal.text),
        false => format!("not done: {} ({})\n", goal.text, goal.why),
    };
    let mut text: String = goals.iter().take(MOST_GOALS).map(line).collect();
    if goals.len() > MOST_GOALS {
        text.push_str(&format!("and {} more\n", goals.len() - MOST_GOALS));
    }
    text
}

/// Returns what a person reads after a run: the summary, the diff, the tests, how to take it back.
pub(crate) fn run_result(result: &RunResult) -> String {
    let mut text = format!("{}\n", result.summary.trim_end());
    if let Some(tests) = &result.tests {
        let counts = |counts: &harness_agent::Counts| {
            format!("{} passed, {} failed", counts.passed, counts.failed)
        };
        let before = tests.before.as_ref().map(counts);
        let after = tests.after.as_ref().map(counts);
        match (before, after) {
            (Some(before), Some(after)) => {
                // A change that was taken back is not what stands now.
                let stays = result.ok || !result.writes.is_empty();
                let when = if stays { "now" } else { "with the change" };
                text.push_str(&format!("tests: {before} before; {after} {when}\n"));
            }
            (None, Some(after)) => text.push_str(&format!("tests: {after}\n")),
            (Some(before), None) => text.push_str(&format!("tests: {before} before the change\n")),
            (None, None) => {}
        }
    }
    text.push_str(&goals(result));
    if !result.writes.is_empty() && !result.diff.is_empty() {
        let is_told = |path: &String| result.summary.contains(path.as_str());
        if !result.writes.iter().all(is_told) {
            text.push_str(&format!("changed: {}\n", result.writes.join(", ")));
        }
        text.push_str(&format!(
            "take it back with: harness undo {}\n",
            result.run_id
        ));
    }
    text
}

/// Returns what a person reads after the tests ran: the counts, then what failed.
pub(crate) fn test_result(result: &TestResult) -> String {
    let mut text = match result.stopped {
        Stopped::Done => format!("{} ({:.1} s)\n", result.summary, result.seconds),
        // Why there is no verdict is told on stderr.
        _ => String::new(),
    };
    for failure in &result.failures {
        let place = match (&failure.path, failure.line) {
            (Some(path), Some(line)) => format!(" ({path}:{line})"),
            (Some(path), None) => format!(" ({path})"),
            (None, _) => String::new(),
        };
        text.push_str(&format!(
            "failed: {}{place}: {}\n",
            failure.id, failure.message
        ));
    }
    for slow in &result.slowest {
        text.push_str(&format!("slow: {} ({:.1} s)\n", slow.id, slow.seconds));
    }
    text
}

/// Returns whether a text leaves no room for a prompt below it.
pub(crate) fn is_longer_than_screen(text: &str) -> bool {
    let Some((_, rows)) = terminal_size::terminal_size() else {
        return false;
    };
    let columns = columns();
    let shown = text
        .lines()
        .map(|line| line.width().div_ceil(columns).max(1));
    shown.sum::<usize>() + 2 > usize::from(rows.0)
}

/// Prints a diff on stdout, coloured where the terminal has colour.
pub fn diff(text: &str) {
    let mut out = AutoStream::auto(io::stdout().lock());
    drop(out.write_all(coloured_diff(text).as_bytes()));
}

/// Returns a diff as stdout shows it: coloured where the terminal has colour.
pub(crate) fn coloured_diff(text: &str) -> String {
    let has_colour = has_colour();
    let coloured = |line: &str| {
        let colour = match line.as_bytes().first() {
            Some(b'+') => "\u{1b}[32m",
            Some(b'-') => "\u{1b}[31m",
            Some(b'@') => "\u{1b}[36m",
            _ => "",
        };
        match colour.is_empty() || !has_colour {
            true => format!("{line}\n"),
            false => format!("{colour}{line}\u{1b}[0m\n"),
        }
    };
    clean(text).lines().map(coloured).collect()
}

/// Returns whether stdout shows colour.
pub(crate) fn has_colour() -> bool {
    let choice = AutoStream::choice(&io::stdout());
    choice != anstream::ColorChoice::Never
}

/// Returns whether a question can be put to a person here.
pub(crate) fn person_present() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a person for a yes on stderr; anything else is a no.
pub(crate) fn agreed(question: &str) -> bool {
    let mut out = io::stderr();
    drop(write!(out, "{question} [y/N] ").and_then(|()| out.flush()));
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    read.is_ok() && matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        assert_eq!(
            clean("a\u{1b}[31mb\rc\u{7}\u{9b}d\u{202e}e\tf\n"),
            "a\u{fffd}[31mb\u{fffd}c\u{fffd}\u{fffd}d\u{fffd}e\tf\n"
        );
    }
}
