//! A process that answers one line for each line it is asked, behind the walls of a scratch copy.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use crate::process::platform::Tree;
use crate::process::private::Private;
use crate::process::runner::{Job, Reach, Runner, RunnerError};
use crate::scratch::ScratchError;
use crate::suite::interpreter::Interpreter;
use crate::suite::python;

/// Why there are no quick tries; the suite can still be run the long way.
#[derive(Debug, thiserror::Error)]
pub enum QuickError {
    /// Only Python suites have one.
    #[error("`{0}` has no reused test process")]
    Unsupported(&'static str),
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

impl From<RunnerError> for QuickError {
    fn from(error: RunnerError) -> QuickError {
        QuickError::Broken(error.to_string())
    }
}

impl From<std::io::Error> for QuickError {
    fn from(error: std::io::Error) -> QuickError {
        QuickError::Broken(error.to_string())
    }
}

/// A running process; it ends with its owner.
#[derive(Debug)]
pub(super) struct Process {
    tree: Tree,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    _private: Private,
}

/// What is started, where, and how long its first line may take.
pub(super) struct Start<'a> {
    pub(super) runner: &'a Runner,
    pub(super) interpreter: &'a Interpreter,
    pub(super) folder: &'a Path,
    /// File names and texts: the script, and what it loads from its own folder.
    pub(super) scripts: [(&'a str, &'a str); 2],
    pub(super) patience: Duration,
}

impl Process {
    /// Starts a script with its settings and waits for its first line.
    pub(super) fn start(
        start: &Start<'_>,
        private: Private,
        config: &impl Serialize,
        cancel: &AtomicBool,
    ) -> Result<Process, QuickError> {
        let Start {
            runner,
            interpreter,
            folder,
            scripts,
            patience,
        } = *start;
        let place = private.report();
        let (program, settings) = (place.join(scripts[0].0), place.join("config.json"));
        for (name, text) in scripts.iter().chain(&python::SCRIPTS) {
            std::fs::write(place.join(name), text)?;
        }
        let text = serde_json::to_vec(config).map_err(std::io::Error::from)?;
        std::fs::write(&settings, text)?;
        let mut environment = interpreter.environment(runner, &private);
        // Threads do not survive a fork, and many tries run at once.
        let single = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"];
        environment.extend(single.map(|name| (name, "1".into())));
        let job = Job {
            program: &interpreter.executable,
            arguments: vec![program.into_os_string(), settings.into_os_string()],
            folder,
            environment,
            reach: Reach::Project {
                readable: interpreter.reads(),
                writable: Vec::new(),
            },
            limits: runner.limits(),
        };
        let mut tree = runner.start(&job, &private)?;
        let gone = || QuickError::Broken("it has no streams".to_string());
        let requests = tree.keeper().stdin.take().ok_or_else(gone)?;
        let answers = BufReader::new(tree.keeper().stdout.take().ok_or_else(gone)?);
        let mut process = Process {
            tree,
            requests,
            answers,
            _private: private,
        };
        process.line(patience, cancel)?;
        Ok(process)
    }

    /// Asks and returns the line that answers.
    pub(super) fn ask(
        &mut self,
        request: &Value,
        patience: Duration,
        cancel: &AtomicBool,
    ) -> Result<String, QuickError> {
        writeln!(self.requests, "{request}")?;
        self.requests.flush()?;
        self.line(patience, cancel)
    }

    /// Reads one line, giving up after `patience` or when somebody wants it stopped.
    fn line(&mut self, patience: Duration, cancel: &AtomicBool) -> Result<String, QuickError> {
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
                    return Err(QuickError::Interrupted);
                }
                if start.elapsed() > patience {
                    return Err(QuickError::Broken("it takes too long".to_string()));
                }
                if ready == 0 {
                    continue;
                }
            }
            let part = self.answers.fill_buf()?;
            if part.is_empty() {
                return Err(QuickError::Broken("it went away".to_string()));
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
