//! A limit for the whole run: when it is over, the run is stopped as if the user had done it, and says why.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::cancel::Cancel;
use crate::run::ending::Ending;
use crate::run::result::Stopped;

/// Watches the clock for as long as the run lives.
pub(super) struct TimeLimit {
    seconds: u32,
    is_over: Arc<AtomicBool>,
    watcher: Option<(Sender<()>, JoinHandle<()>)>,
}

impl TimeLimit {
    /// Starts the clock, where there is a limit.
    pub(super) fn start(seconds: Option<u32>, cancel: &Cancel) -> TimeLimit {
        let is_over = Arc::new(AtomicBool::new(false));
        let watcher = seconds.map(|seconds| {
            let (ended, wait) = mpsc::channel::<()>();
            let (cancel, is_over) = (cancel.clone(), Arc::clone(&is_over));
            let limit = Duration::from_secs(u64::from(seconds));
            let thread = std::thread::spawn(move || {
                if wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    is_over.store(true, Ordering::SeqCst);
                    cancel.stop();
                }
            });
            (ended, thread)
        });
        TimeLimit {
            seconds: seconds.unwrap_or_default(),
            is_over,
            watcher,
        }
    }

    /// Stops the clock and returns the ending; one that the clock brought about says so.
    pub(super) fn settle(mut self, ending: Ending) -> Ending {
        if let Some((ended, thread)) = self.watcher.take() {
            drop(ended);
            drop(thread.join());
        }
        if ending.stopped != Stopped::Interrupted || !self.is_over.load(Ordering::SeqCst) {
            return ending;
        }
        let unit = if self.seconds == 1 {
            "second"
        } else {
            "seconds"
        };
        let summary = format!("the limit of {} {unit} is over", self.seconds);
        let hint = "give it longer with --seconds, or ask for less at once".to_owned();
        Ending {
            stopped: Stopped::Steps,
            summary,
            hint: match ending.hint.as_str() {
                "" => hint,
                told => format!("{hint}; {told}"),
            },
            known: String::new(),
            ..ending
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends a run of this kind whose limit is over.
    fn ended_late(ending: Ending) -> Ending {
        let cancel = Cancel::default();
        let limit = TimeLimit::start(Some(0), &cancel);
        while !cancel.stopped() {
            std::thread::yield_now();
        }
        limit.settle(ending)
    }

    #[test]
    fn a_run_that_the_clock_stopped_says_so() {
        let ending = ended_late(Ending::new(Stopped::Interrupted, "interrupted"));
        assert_eq!(ending.stopped, Stopped::Steps);
        assert_eq!(ending.summary, "the limit of 0 seconds is over");
        assert_eq!(
            ending.hint,
            "give it longer with --seconds, or ask for less at once"
        );
    }

    #[test]
    fn where_the_attempt_lies_is_told_beside_the_limit() {
        let stopped = Ending::new(Stopped::Interrupted, "interrupted");
        let ending = ended_late(stopped.with_hint("`harness apply 1` writes it"));
        assert!(
            ending.hint.ends_with("; `harness apply 1` writes it"),
            "{}",
            ending.hint
        );
    }

    #[test]
    fn what_was_proven_in_the_last_moment_counts() {
        let ending = ended_late(Ending::new(Stopped::Done, "changed `f` in a.py"));
        assert_eq!(ending.stopped, Stopped::Done);
        assert_eq!(ending.summary, "changed `f` in a.py");
    }

    #[test]
    fn a_run_that_the_user_stopped_does_not_blame_the_clock() {
        for seconds in [None, Some(3600)] {
            let cancel = Cancel::default();
            let limit = TimeLimit::start(seconds, &cancel);
            cancel.stop();
            let ending = limit.settle(Ending::new(Stopped::Interrupted, "interrupted"));
            assert_eq!(ending.stopped, Stopped::Interrupted);
            assert_eq!(ending.summary, "interrupted");
        }
    }

    #[test]
    fn a_run_that_ends_in_time_is_not_stopped_later() {
        let cancel = Cancel::default();
        let limit = TimeLimit::start(Some(3600), &cancel);
        limit.settle(Ending::new(Stopped::Done, "done"));
        assert!(!cancel.stopped());
    }
}
