//! The one flag that stops a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that stops a run soon, with files whole. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the run to stop.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns whether the run was asked to stop.
    pub fn stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns the flag itself, for the hands that watch it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
