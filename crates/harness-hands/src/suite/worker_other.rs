//! Where processes cannot be forked there are no quick tries; the suite is run the long way.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_code::suite::Suite;

use crate::process::runner::Runner;
use crate::scratch::Scratch;
use crate::suite::{Selection, SuiteReport};

/// Why there are no quick tries.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// This platform cannot fork.
    #[error("`{0}` has no reused test process")]
    Unsupported(&'static str),
}

/// Tries changes on a scratch copy.
#[derive(Debug)]
pub struct Worker {
    scratch: Scratch,
}

impl Worker {
    /// Says that there are no quick tries here.
    pub fn start(
        _runner: &Runner,
        suite: &Suite,
        _scratch: Scratch,
        _selection: &Selection,
        _cancel: &AtomicBool,
    ) -> Result<Worker, WorkerError> {
        Err(WorkerError::Unsupported(suite.runner.name()))
    }

    /// Returns the scratch copy that changes are tried on.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Says that there are no quick tries here.
    pub fn try_change(
        &mut self,
        _path: &RelPath,
        _content: &[u8],
        _limit: Duration,
        _cancel: &AtomicBool,
    ) -> Result<SuiteReport, WorkerError> {
        Err(WorkerError::Unsupported("python"))
    }
}
