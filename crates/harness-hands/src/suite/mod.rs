//! Runs the project's tests, all or some, and reads what the runner itself reports of each.
//! Prose is for people: no count comes from it.

mod gotest;
mod interpreter;
mod jest;
mod junit;
mod libtest;
mod python;
pub mod quick;
mod reused;
mod ruby;
pub mod running;
mod select;
mod tap;
mod tool;
pub mod tried;
mod usual;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::suite::Suite;

use crate::process::output::Output;
use crate::process::runner::Runner;
use crate::process::sandbox::Sandbox;
use crate::process::{Ended, Finished};
use crate::suite::running::Running;
use crate::suite::usual::Usual;

/// Which tests to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// These: ids, files, classes or names as the runner, a person or a model writes them.
    Some(Vec<String>),
}

/// What else to find out while tests run. Only Python's tell; other tools say nothing of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    /// Modules of the project: which files they were imported from.
    pub modules: Vec<String>,
    /// Which lines of the project each test runs.
    pub lines: bool,
}

impl Watch {
    /// Returns that the lines that run are watched, and nothing else.
    pub fn lines() -> Watch {
        Watch {
            modules: Vec::new(),
            lines: true,
        }
    }
}

/// Lines that ran, by file: relative to the project, with forward slashes.
pub type Lines = BTreeMap<String, Vec<u32>>;

/// The failure of a test command that ends with an error though no test failed.
pub const COMMAND: &str = "the test command";
/// What stands behind the name of a package whose tests could not be built.
pub const UNBUILT: &str = " [build failed]";

/// Whether the tests said anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outcome {
    /// They ran to the end and reported.
    Ran,
    /// They could not be started.
    CouldNotStart,
    /// They outlasted their limit.
    TimedOut,
    /// They ran, and there were none.
    NoTests,
    /// They ended without a report: a crash, an early exit, a runner that gives none.
    #[default]
    NoReport,
    /// Somebody stopped them.
    Interrupted,
}

/// A test that did not pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// The runner's own name of the test.
    pub id: String,
    /// What went wrong, in a line or two.
    pub message: String,
    /// The way there, shortened.
    pub traceback: String,
    /// The file of the last line in the project, with forward slashes, relative where it can be.
    pub file: Option<String>,
    /// That line.
    pub line: Option<u32>,
    /// How long it ran before it was ended, when it did not end by itself.
    pub hung: Option<Duration>,
}

impl Failure {
    /// Returns the failure for a person or a model: name, place, message.
    pub fn shown(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!(" ({file}:{line})"),
            (Some(file), None) => format!(" ({file})"),
            (None, _) => String::new(),
        };
        format!("{}{place}: {}", self.id, self.message)
    }
}

/// What the tests said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuiteReport {
    /// Whether they said anything.
    pub outcome: Outcome,
    /// How many passed.
    pub passed: u32,
    /// How many failed.
    pub failed: u32,
    /// How many could not even be judged: broken imports, broken fixtures.
    pub errors: u32,
    /// How many were skipped or expected to fail.
    pub skipped: u32,
    /// How many there were.
    pub collected: u32,
    /// Those that did not pass, in the order they ran.
    pub failures: Vec<Failure>,
    /// What a compiler refused, so that tests could not run. These are no tests and are not counted.
    pub refused: Vec<Failure>,
    /// The ids of those that passed, sorted.
    pub passed_ids: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// Those that took longest, the slowest first, with their seconds, where a report tells.
    pub slowest: Vec<(String, f64)>,
    /// The walls they ran behind.
    pub sandbox: Sandbox,
    /// The end of what was printed.
    pub output_tail: String,
    /// A package that is not installed and without which nothing passed.
    pub missing_dependency: Option<String>,
    /// Packages that are not installed and that files of tests could not be read without, with how many of those.
    pub lacking: BTreeMap<String, u32>,
    /// Paths of git and the harness that the tests had changed and that were put back.
    pub restored: Vec<String>,
    /// Watched modules that were imported from outside the project, with the file they came from.
    pub imported_elsewhere: BTreeMap<String, String>,
    /// The lines that each test ran, where that was watched.
    pub lines: BTreeMap<String, Lines>,
}

/// How much of what is told of one failure is kept.
const LONGEST_TRACEBACK: usize = 8000;

/// How much of the output is kept for people.
const TAIL: usize = 16 * 1024;

impl SuiteReport {
    /// A report of tests that never ran.
    fn empty(outcome: Outcome, words: String, sandbox: Sandbox) -> SuiteReport {
        SuiteReport {
            outcome,
            output_tail: words,
            sandbox,
            ..SuiteReport::default()
        }
    }

    /// Returns the report of tests that could not be started, with the reason.
    pub fn could_not_start(words: String, sandbox: Sandbox) -> SuiteReport {
        SuiteReport::empty(Outcome::CouldNotStart, words, sandbox)
    }

    /// What is known before the report is read: how the process ended and what it printed.
    fn of_process(finished: &Finished) -> SuiteReport {
        let outcome = match finished.ended {
            Ended::TimedOut => Outcome::TimedOut,
            Ended::Interrupted => Outcome::Interrupted,
            Ended::Exit(_) | Ended::Signal(_) | Ended::Lost => Outcome::NoReport,
        };
        let seconds = finished.seconds;
        let words = tail(&finished.stdout, &finished.stderr);
        let restored = finished
            .restored
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        SuiteReport {
            seconds,
            restored,
            ..SuiteReport::empty(outcome, words, finished.sandbox)
        }
    }

    /// Returns how long the tests took, without those that did not end by themselves.
    pub fn seconds_that_ended(&self) -> f64 {
        let hung: Duration = self
            .failures
            .iter()
            .filter_map(|failure| failure.hung)
            .sum();
        (self.seconds - hung.as_secs_f64()).max(0.0)
    }

    /// Counts one test.
    fn count(&mut self, verdict: Verdict, failure: Failure) {
        match verdict {
            Verdict::Passed => {
                self.passed += 1;
                self.passed_ids.push(failure.id);
            }
            Verdict::Skipped => self.skipped += 1,
            Verdict::Failed => {
                self.failed += 1;
                self.failures.push(failure);
            }
            Verdict::Error => {
                self.errors += 1;
                self.failures.push(failure);
            }
        }
    }

    /// Closes a report that came to its end.
    fn complete(&mut self) {
        let judged = self.passed + self.failed + self.errors + self.skipped;
        self.collected = self.collected.max(judged);
        self.outcome = if judged == 0 {
            Outcome::NoTests
        } else {
            Outcome::Ran
        };
        // A name that several tests share passes when all of them do.
        let failures = &self.failures;
        let fails = |id: &String| failures.iter().any(|failure| failure.id == *id);
        self.passed_ids.retain(|id| !fails(id));
        self.passed_ids.sort();
    }
}

/// What happened to one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Error,
    Skipped,
}

impl Verdict {
    /// Reads the word of a report in which all but two words mean that a test did not run.
    fn of_status(status: &str) -> Verdict {
        match status {
            "passed" => Verdict::Passed,
            "failed" => Verdict::Failed,
            _ => Verdict::Skipped,
        }
    }
}

fn tail(stdout: &Output, stderr: &Output) -> String {
    let (out, err) = (stdout.end(TAIL), stderr.end_with_errors(TAIL));
    match (out.trim().is_empty(), err.trim().is_empty()) {
        (_, true) => out,
        (true, false) => err,
        (false, false) => format!("{out}\n{err}"),
    }
}

/// Returns a path as the report shows it: relative to the project where it lies inside.
fn shown_path(path: &str, root: &Path) -> String {
    let relative = Path::new(path)
        .strip_prefix(root)
        .map(|path| path.display().to_string());
    relative
        .unwrap_or_else(|_| path.to_string())
        .replace('\\', "/")
}

/// Returns as much of what is told of a failure as is kept.
fn clipped(text: &str) -> String {
    text.chars().take(LONGEST_TRACEBACK).collect()
}

/// Returns the first line of a text that says something.
fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let told = lines.find(|line| !line.is_empty());
    told.unwrap_or_default().to_owned()
}

/// Returns the first line of a file that a text names: `at x (/project/a.test.js:7:5)`.
fn line_in(text: &str, file: &str) -> Option<u32> {
    let (_, rest) = text.split_once(&format!("{file}:"))?;
    rest.split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// Returns how long all tests of a project took when they ran last, where that is known.
pub fn last_time(runner: &Runner, suite: &Suite) -> Option<Duration> {
    Usual::of(runner.origin(), suite).last()
}

/// Runs the tests. Whatever happens is in the report; there is no error beside it.
pub fn run(
    runner: &Runner,
    suite: &Suite,
    selection: &Selection,
    cancel: &AtomicBool,
) -> SuiteReport {
    let watch = Watch::default();
    run_watched(runner, suite, selection, &watch, cancel, &mut |_| {})
}

/// Runs the tests, finds out more about them on the way, and tells of each that takes long while it runs, where the
/// runner tells us.
pub fn run_watched(
    runner: &Runner,
    suite: &Suite,
    selection: &Selection,
    watch: &Watch,
    cancel: &AtomicBool,
    tell: &mut dyn FnMut(&Running),
) -> SuiteReport {
    if python::mode(suite).is_some() {
        return python::run(runner, suite, selection, watch, cancel, tell);
    }
    tool::run(runner, suite, selection, cancel)
}
