//! What a quick try is asked and what it comes to, on every platform.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::process::runner::RunnerError;
use crate::scratch::ScratchError;

/// Which tests a try runs, and for how long.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// The failing tests, run first; all must pass.
    pub first: &'a [String],
    /// Tests that were red before and do not count.
    pub red: &'a [String],
    /// Tests to run before the other ones, likeliest to fail first.
    pub near: &'a [String],
    /// Whether the rest of the suite is run too.
    pub rest: bool,
    /// How long the failing tests may take, in time of the processor.
    pub limit: Duration,
    /// How long they may wait beside that, for a sleep or a busy machine.
    pub waiting: Duration,
    /// How long the rest may take.
    pub rest_limit: Duration,
}

/// What one try came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Tried {
    /// Everything that ran passed.
    Passed {
        /// How many tests ran.
        tests: u32,
        /// How long it took, in time of the processor.
        seconds: f64,
    },
    /// This test failed.
    Failed {
        /// Its id.
        test: String,
        /// Whether the failing tests passed already, and it broke another one.
        broke: bool,
        /// How long it took, in time of the processor.
        seconds: f64,
    },
    /// The tests did not end in time, or the process died.
    Lost,
    /// The change shows only where everything is imported anew.
    Stale(String),
}

/// The lines that one test runs, by file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The test.
    pub test: String,
    /// Whether it is one of the failing ones.
    pub failing: bool,
    /// The lines by file, relative to the project.
    pub lines: BTreeMap<String, Vec<u32>>,
}

/// Why there are no quick tries; the suite can still be run the long way.
#[derive(Debug, thiserror::Error)]
pub enum QuickError {
    /// Only Python suites have one, and only where processes can fork.
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
