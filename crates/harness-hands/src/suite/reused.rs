//! A process that answers one line for each line it is asked, behind the walls of a scratch copy.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::process::platform::Tree;
use crate::process::private::Private;
use crate::process::runner::{Job, Runner};
use crate::suite::tried::QuickError;

/// A running process; it ends with its owner.
#[derive(Debug)]
pub(super) struct Process {
    tree: Tree,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    _private: Private,
}

impl Process {
    /// Starts a program and waits for its first line.
    pub(super) fn start(
        runner: &Runner,
        job: &Job<'_>,
        private: Private,
        patience: Duration,
        cancel: &AtomicBool,
    ) -> Result<Process, QuickError> {
        let mut tree = runner.start(job, &private)?;
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
        // In one piece: written bit by bit, a request costs a call of the system for each word.
        self.requests.write_all(format!("{request}\n").as_bytes())?;
        self.requests.flush()?;
        self.line(patience, cancel)
    }

    /// Reads one line, giving up after `patience` or when somebody wants it stopped.
    fn line(&mut self, patience: Duration, cancel: &AtomicBool) -> Result<String, QuickError> {
        let start = Instant::now();
        let mut line = Vec::new();
        loop {
            if self.answers.buffer().is_empty() {
                let is_ready = has_answer(self.answers.get_ref());
                if cancel.load(Ordering::Relaxed) {
                    return Err(QuickError::Interrupted);
                }
                if start.elapsed() > patience {
                    return Err(QuickError::Broken("it takes too long".to_string()));
                }
                if !is_ready {
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

/// Waits a moment for an answer, no longer than somebody who wants it stopped should wait to be heard.
#[cfg(unix)]
fn has_answer(answers: &ChildStdout) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    const LOOK_AGAIN: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };
    let mut watched = [PollFd::new(answers, PollFlags::IN)];
    poll(&mut watched, Some(&LOOK_AGAIN)).is_ok_and(|ready| ready > 0)
}

/// Where processes cannot fork, nobody starts one.
#[cfg(not(unix))]
fn has_answer(_answers: &ChildStdout) -> bool {
    true
}

impl Drop for Process {
    fn drop(&mut self) {
        self.tree.end();
    }
}
