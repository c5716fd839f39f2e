//! The runtimes of this process: shared by whoever uses the same weights, and kept between runs while somebody asks.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::model::on_device::Running;

/// Keeps runtimes of the on-device engine warm: none is ended before the last of these is dropped.
/// A server holds one for its life, so that the second request need not load the model again.
#[derive(Debug)]
pub struct Warmth(());

#[derive(Debug)]
struct Hearth {
    /// How many want runtimes to stay.
    keepers: usize,
    kept: Vec<Arc<Running>>,
    all: Vec<Weak<Running>>,
}

static HEARTH: Mutex<Hearth> = Mutex::new(Hearth {
    keepers: 0,
    kept: Vec::new(),
    all: Vec::new(),
});

impl Warmth {
    /// Keeps what is started from now on.
    pub fn new() -> Warmth {
        HEARTH
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .keepers += 1;
        Warmth(())
    }
}

impl Default for Warmth {
    fn default() -> Warmth {
        Warmth::new()
    }
}

impl Drop for Warmth {
    fn drop(&mut self) {
        let mut hearth = HEARTH.lock().unwrap_or_else(PoisonError::into_inner);
        hearth.keepers = hearth.keepers.saturating_sub(1);
        let cold = if hearth.keepers == 0 {
            std::mem::take(&mut hearth.kept)
        } else {
            Vec::new()
        };
        // Ending a process takes a moment; nobody should wait for the lock meanwhile.
        drop(hearth);
        drop(cold);
    }
}

/// Remembers a runtime that was started.
pub(super) fn remember(running: &Arc<Running>) {
    let mut hearth = HEARTH.lock().unwrap_or_else(PoisonError::into_inner);
    hearth.all.retain(|one| one.strong_count() > 0);
    hearth.all.push(Arc::downgrade(running));
    if hearth.keepers > 0 {
        // Of the same weights only the newest is kept: its window was needed.
        let before = std::mem::take(&mut hearth.kept);
        let (old, others): (Vec<_>, Vec<_>) = before
            .into_iter()
            .partition(|one| one.weights == running.weights);
        hearth.kept = others;
        hearth.kept.push(Arc::clone(running));
        drop(hearth);
        drop(old);
    }
}

/// Returns a runtime of this process that serves the same weights with a window that is large enough.
pub(super) fn shared(weights: &Path, window: u32) -> Option<Arc<Running>> {
    let all: Vec<Arc<Running>> = {
        let hearth = HEARTH.lock().unwrap_or_else(PoisonError::into_inner);
        hearth.all.iter().filter_map(Weak::upgrade).collect()
    };
    all.into_iter()
        .find(|one| one.weights == weights && one.window >= window && one.ended().is_none())
}
