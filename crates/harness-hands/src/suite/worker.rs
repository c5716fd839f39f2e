//! Many tries a second: one changed file, the same tests, in a scratch copy, by a process that has
//! imported everything else already.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_code::suite::Suite;
use serde::{Deserialize, Serialize};

use crate::process::private::Private;
use crate::process::runner::{Runner, RunnerError};
use crate::scratch::{Scratch, ScratchError};
use crate::suite::interpreter::{Interpreter, Unusable};
use crate::suite::python::{self, Mode};
use crate::suite::reused::{Process, Start};
use crate::suite::usual::TestLimits;
use crate::suite::{Outcome, Selection, SuiteReport};

const SCRIPT: &str = include_str!("worker.py");

/// Each changed file has a process of its own; a search that looks at more of them takes turns.
const PROCESSES: usize = 3;

/// Learning what to import runs the tests once.
const LEARNING: Duration = Duration::from_secs(60);

/// A test that hangs is given up after this: those of a search take moments.
const EACH: Duration = Duration::from_secs(2);

/// Why there are no quick tries; the suite can still be run the long way.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Only Python suites have a worker.
    #[error("`{0}` has no reused test process")]
    Unsupported(&'static str),
    /// The tests that were chosen cannot be read.
    #[error("{0}")]
    Selection(String),
    /// The process did not start or went away.
    #[error("the test process does not answer: {0}")]
    Broken(String),
    /// The scratch copy cannot be written.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl From<RunnerError> for WorkerError {
    fn from(error: RunnerError) -> WorkerError {
        WorkerError::Broken(error.to_string())
    }
}

impl From<std::io::Error> for WorkerError {
    fn from(error: std::io::Error) -> WorkerError {
        WorkerError::Broken(error.to_string())
    }
}

/// Tries changes on a scratch copy.
#[derive(Debug)]
pub struct Worker {
    runner: Runner,
    scratch: Scratch,
    suite: Suite,
    interpreter: Interpreter,
    mode: Mode,
    selection: Selection,
    processes: Vec<(RelPath, Process)>,
}

#[derive(Serialize)]
struct Config<'a> {
    mode: Mode,
    arguments: Vec<String>,
    selection: Vec<String>,
    folder: &'a Path,
    root: &'a Path,
    changed: &'a Path,
    learn_seconds: f64,
    limits: TestLimits,
}

#[derive(Deserialize)]
struct Reply {
    lines: Vec<String>,
    in_time: bool,
    seconds: f64,
}

impl Worker {
    /// Prepares tries of the chosen tests on a scratch copy, which the worker takes over.
    pub fn start(
        runner: &Runner,
        suite: &Suite,
        scratch: Scratch,
        selection: &Selection,
        cancel: &AtomicBool,
    ) -> Result<Worker, WorkerError> {
        let unsupported = WorkerError::Unsupported(suite.runner.name());
        let mode = python::mode(suite)
            .filter(|mode| *mode != Mode::Script)
            .ok_or(unsupported)?;
        let runner = runner.in_scratch(&scratch);
        let private = Private::new()?;
        let program = suite
            .interpreter
            .clone()
            .unwrap_or_else(|| "python3".to_string());
        let asked = Interpreter::of(&runner, Path::new(&program), &private, cancel);
        let interpreter = asked.map_err(|error| match error {
            Unusable::Interrupted => WorkerError::Interrupted,
            Unusable::Runner(_) | Unusable::Broken { .. } => WorkerError::Broken(error.to_string()),
        })?;
        let mode = if mode == Mode::Pytest && !interpreter.has_pytest {
            Mode::Unittest
        } else {
            mode
        };
        let (suite, selection) = (suite.clone(), selection.clone());
        Ok(Worker {
            runner,
            scratch,
            suite,
            interpreter,
            mode,
            selection,
            processes: Vec::new(),
        })
    }

    /// Returns the scratch copy that changes are tried on.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Tries one change: writes the file into the copy, runs the tests, puts the old file back.
    pub fn try_change(
        &mut self,
        path: &RelPath,
        content: &[u8],
        limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<SuiteReport, WorkerError> {
        let old = std::fs::read(path.under(self.scratch.root()))?;
        // What is imported beforehand is learned from the file as it is.
        let at = self.process_for(path, cancel)?;
        self.scratch.put(path, content)?;
        let root = self.runner.project().to_path_buf();
        let request = serde_json::json!({ "seconds": limit.as_secs_f64() });
        let patience = limit + Duration::from_secs(10);
        let answer = self.processes[at].1.ask(&request, patience, cancel);
        self.scratch.put(path, &old)?;
        if answer.is_err() {
            // It is in an unknown state; the next try starts a new one.
            self.processes.remove(at);
        }
        let reply: Reply = serde_json::from_str(&answer?)
            .map_err(|error| WorkerError::Broken(error.to_string()))?;
        let mut report =
            SuiteReport::empty(Outcome::NoReport, String::new(), self.runner.sandbox());
        report.seconds = reply.seconds;
        if !reply.in_time {
            report.outcome = Outcome::TimedOut;
        }
        python::read_lines(
            reply.lines.iter().map(|line| line.as_bytes().to_vec()),
            &root,
            self.mode,
            &mut report,
        );
        Ok(report)
    }

    fn process_for(&mut self, path: &RelPath, cancel: &AtomicBool) -> Result<usize, WorkerError> {
        if let Some(at) = self
            .processes
            .iter()
            .position(|(changed, _)| changed == path)
        {
            return Ok(at);
        }
        if self.processes.len() >= PROCESSES {
            self.processes.remove(0);
        }
        let process = self.start_process(path, cancel)?;
        self.processes.push((path.clone(), process));
        Ok(self.processes.len() - 1)
    }

    fn start_process(&self, path: &RelPath, cancel: &AtomicBool) -> Result<Process, WorkerError> {
        let private = Private::new()?;
        let root = self.runner.project();
        let folder = match &self.suite.folder {
            Some(folder) => folder.under(root),
            None => root.to_path_buf(),
        };
        let cache = private.report().join("cache");
        let (arguments, selection) =
            python::arguments(&self.suite, self.mode, &self.selection, &folder, &cache)
                .map_err(WorkerError::Selection)?;
        let changed = path.under(root);
        let config = Config {
            mode: self.mode,
            arguments,
            selection,
            folder: &folder,
            root,
            changed: &changed,
            learn_seconds: LEARNING.as_secs_f64(),
            limits: TestLimits::for_tries(EACH),
        };
        let start = Start {
            runner: &self.runner,
            interpreter: &self.interpreter,
            folder: &folder,
            script: ("worker.py", SCRIPT),
            beside: &[],
            patience: LEARNING + Duration::from_secs(30),
        };
        Process::start(&start, private, &config, cancel)
    }
}
