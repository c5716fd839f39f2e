//! Where processes cannot fork there are no quick tries: a search does without.

use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_code::suite::Suite;

use crate::process::runner::Runner;
use crate::scratch::Scratch;
use crate::suite::tried::{Trace, Tried, Wanted};
use crate::suite::worker::WorkerError;

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
    ) -> Result<Quick, WorkerError> {
        Err(WorkerError::Unsupported(suite.runner.name()))
    }

    /// Returns the scratch copy that changes are tried on.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Says that there are no quick tries here.
    pub fn run(&mut self, _: &Wanted<'_>, _: &AtomicBool) -> Result<Tried, WorkerError> {
        Err(WorkerError::Unsupported("python"))
    }

    /// Says that there are no quick tries here.
    pub fn try_change(
        &mut self,
        _path: &RelPath,
        _content: &[u8],
        _wanted: &Wanted<'_>,
        _cancel: &AtomicBool,
    ) -> Result<Tried, WorkerError> {
        Err(WorkerError::Unsupported("python"))
    }

    /// Says that there are no quick tries here.
    pub fn trace(
        &mut self,
        _first: &[String],
        _red: &[String],
        _limit: Duration,
        _cancel: &AtomicBool,
    ) -> Result<Vec<Trace>, WorkerError> {
        Err(WorkerError::Unsupported("python"))
    }

    /// Says that there are no quick tries here.
    pub fn trace_change(
        &mut self,
        _path: &RelPath,
        _content: &[u8],
        _tests: &[String],
        _limit: Duration,
        _cancel: &AtomicBool,
    ) -> Result<Vec<Trace>, WorkerError> {
        Err(WorkerError::Unsupported("python"))
    }

    /// Says that there are no quick tries here.
    pub fn touching(
        &mut self,
        _path: &RelPath,
        _lines: &RangeInclusive<u32>,
        _limit: Duration,
        _cancel: &AtomicBool,
    ) -> Result<Vec<String>, WorkerError> {
        Err(WorkerError::Unsupported("python"))
    }
}
