//! Where processes cannot fork there are no quick tries: a search does without.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_code::suite::Suite;

use crate::process::runner::Runner;
use crate::scratch::{Scratch, ScratchError};
use crate::suite::tried::{Trace, Tried, Wanted};

/// Why there are no quick tries.
#[derive(Debug, thiserror::Error)]
pub enum QuickError {
    /// This platform cannot fork.
    #[error("`{0}` has no reused test process")]
    Unsupported(&'static str),
    /// The scratch copy cannot be written.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
}

/// A test process with everything collected.
#[derive(Debug)]
pub struct Quick {
    scratch: Scratch,
}

impl Quick {
    /// Says that there are no quick tries here.
    pub fn start(
        _runner: &Runner,
        suite: &Suite,
        _scratch: Scratch,
        _cancel: &AtomicBool,
    ) -> Result<Quick, QuickError> {
        Err(QuickError::Unsupported(suite.runner.name()))
    }

    /// Ends the process and gives the scratch copy back.
    pub fn into_scratch(self) -> Scratch {
        self.scratch
    }

    /// Says that there are no quick tries here.
    pub fn run(&mut self, _: &Wanted<'_>, _: &AtomicBool) -> Result<Tried, QuickError> {
        Err(QuickError::Unsupported("python"))
    }

    /// Says that there are no quick tries here.
    pub fn try_change(
        &mut self,
        _path: &RelPath,
        _content: &[u8],
        _wanted: &Wanted<'_>,
        _cancel: &AtomicBool,
    ) -> Result<Tried, QuickError> {
        Err(QuickError::Unsupported("python"))
    }

    /// Says that there are no quick tries here.
    pub fn trace(
        &mut self,
        _first: &[String],
        _red: &[String],
        _limit: Duration,
        _cancel: &AtomicBool,
    ) -> Result<Vec<Trace>, QuickError> {
        Err(QuickError::Unsupported("python"))
    }

    /// Says that there are no quick tries here.
    pub fn trace_change(
        &mut self,
        _path: &RelPath,
        _content: &[u8],
        _tests: &[String],
        _limit: Duration,
        _cancel: &AtomicBool,
    ) -> Result<Vec<Trace>, QuickError> {
        Err(QuickError::Unsupported("python"))
    }
}
