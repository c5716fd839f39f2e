//! Where processes cannot fork there is no reused test process, and nobody starts one.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;

use crate::process::private::Private;
use crate::process::runner::{Job, Runner};
use crate::suite::tried::QuickError;

/// No process.
#[derive(Debug)]
pub(super) struct Process;

impl Process {
    pub(super) fn start(
        _runner: &Runner,
        _job: &Job<'_>,
        _private: Private,
        _patience: Duration,
        _cancel: &AtomicBool,
    ) -> Result<Process, QuickError> {
        Err(QuickError::Unsupported("python"))
    }

    pub(super) fn ask(
        &mut self,
        _request: &Value,
        _patience: Duration,
        _cancel: &AtomicBool,
    ) -> Result<String, QuickError> {
        Err(QuickError::Unsupported("python"))
    }
}
