//! Many tries a second: one changed file, the same tests, in a scratch copy, by a process that has
//! imported everything else already.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use harness_code::path::RelPath;
use harness_code::suite::Suite;
use serde::{Deserialize, Serialize};

use crate::process::platform::Tree;
use crate::process::private::Private;
use crate::process::runner::{Job, Reach, Runner, RunnerError};
use crate::scratch::{Scratch, ScratchError};
use crate::suite::interpreter::{Interpreter, Unusable};
use crate::suite::python::{self, Mode};
use crate::suite::{Outcome, Selection, SuiteReport};

const SCRIPT: &str = include_str!("worker.py");

/// Each changed file has a process of its own; a search that looks at more of them takes turns.
const PROCESSES: usize = 3;

/// Learning what to import runs the tests once.
const LEARNING: Duration = Duration::from_secs(60);

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
    processes: Vec<Process>,
}

#[derive(Debug)]
struct Process {
    changed: RelPath,
    tree: Tree,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    _private: Private,
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
        let runner = runner.for_copy(scratch.root());
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
        let answer = self.processes[at].ask(limit, cancel);
        self.scratch.put(path, &old)?;
        if answer.is_err() {
            // It is in an unknown state; the next try starts a new one.
            self.processes.remove(at);
        }
        let reply = answer?;
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
            .position(|process| process.changed == *path)
        {
            return Ok(at);
        }
        if self.processes.len() >= PROCESSES {
            self.processes.remove(0);
        }
        let process = self.start_process(path, cancel)?;
        self.processes.push(process);
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
        };
        let place = private.report();
        let (script, settings) = (place.join("worker.py"), place.join("config.json"));
        std::fs::write(place.join("report.py"), python::SCRIPT)?;
        std::fs::write(&script, SCRIPT)?;
        std::fs::write(
            &settings,
            serde_json::to_vec(&config).map_err(std::io::Error::from)?,
        )?;
        let mut environment = self.interpreter.environment(&self.runner, &private);
        // Threads do not survive a fork, and many tries run at once.
        let single = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"];
        environment.extend(single.map(|name| (name, "1".into())));
        let job = Job {
            program: &self.interpreter.executable,
            arguments: vec![script.into_os_string(), settings.into_os_string()],
            folder: &folder,
            environment,
            reach: Reach::Project {
                readable: self.interpreter.reads(),
                writable: Vec::new(),
            },
            limits: self.runner.limits(),
        };
        let mut tree = self.runner.start(&job, &private)?;
        let gone = || WorkerError::Broken("it has no streams".to_string());
        let requests = tree.keeper().stdin.take().ok_or_else(gone)?;
        let answers = BufReader::new(tree.keeper().stdout.take().ok_or_else(gone)?);
        let mut process = Process {
            changed: path.clone(),
            tree,
            requests,
            answers,
            _private: private,
        };
        process.line(LEARNING + Duration::from_secs(30), cancel)?;
        Ok(process)
    }
}

impl Process {
    fn ask(&mut self, limit: Duration, cancel: &AtomicBool) -> Result<Reply, WorkerError> {
        let request = serde_json::json!({ "seconds": limit.as_secs_f64() });
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        let line = self.line(limit + Duration::from_secs(10), cancel)?;
        serde_json::from_str(&line).map_err(|error| WorkerError::Broken(error.to_string()))
    }

    /// Reads one line, giving up after `patience` or when somebody wants it stopped.
    fn line(&mut self, patience: Duration, cancel: &AtomicBool) -> Result<String, WorkerError> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        // How often somebody who wants it stopped is heard.
        const LOOK_AGAIN: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 50_000_000,
        };
        let start = Instant::now();
        let mut line = Vec::new();
        loop {
            if self.answers.buffer().is_empty() {
                let mut watched = [PollFd::new(self.answers.get_ref(), PollFlags::IN)];
                let ready = poll(&mut watched, Some(&LOOK_AGAIN)).unwrap_or(0);
                if cancel.load(Ordering::Relaxed) {
                    return Err(WorkerError::Interrupted);
                }
                if start.elapsed() > patience {
                    return Err(WorkerError::Broken("it takes too long".to_string()));
                }
                if ready == 0 {
                    continue;
                }
            }
            let part = self.answers.fill_buf()?;
            if part.is_empty() {
                return Err(WorkerError::Broken("it went away".to_string()));
            }
            let (taken, ended) = match part.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (part.len(), false),
            };
            line.extend_from_slice(&part[..taken]);
            self.answers.consume(taken);
            if ended {
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.tree.end();
    }
}
