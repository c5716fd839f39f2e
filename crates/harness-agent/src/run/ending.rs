//! How attempts and runs end, before that becomes a result.

use crate::goal::Goal;
use crate::model::ModelError;
use crate::plan::Plan;
use crate::record::RecordedChange;
use crate::run::result::{Stopped, Tests};

/// A change that was not kept: to be read, and to be applied later.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempt {
    pub(super) patch: String,
    /// None of them where one cannot be kept for later: the others without it are another change.
    pub(super) changes: Vec<RecordedChange>,
}

impl Attempt {
    /// Returns whether nothing would change.
    pub(super) fn is_empty(&self) -> bool {
        self.patch.is_empty()
    }
}

/// How a run ends.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    pub(super) stopped: Stopped,
    pub(super) summary: String,
    pub(super) hint: String,
    pub(super) writes: Vec<String>,
    pub(super) diff: String,
    pub(super) tests: Option<Tests>,
    /// What was left changed, for the record; of a read-only run, what would be.
    pub(super) changes: Vec<RecordedChange>,
    /// What became of each thing that the task asks for; empty means that all of it ended alike.
    pub(super) goals: Vec<Goal>,
    /// What is known without a model, where none could answer; the summary ends with it.
    pub(super) known: String,
}

impl Ending {
    /// Returns an ending that changed nothing.
    pub(super) fn new(stopped: Stopped, summary: impl Into<String>) -> Ending {
        Ending {
            stopped,
            summary: summary.into(),
            hint: String::new(),
            writes: Vec::new(),
            diff: String::new(),
            tests: None,
            changes: Vec::new(),
            goals: Vec::new(),
            known: String::new(),
        }
    }

    /// Returns the ending with a hint before its own: where the attempt lies is told beside what to do about the engine.
    pub(super) fn with_hint(mut self, hint: &str) -> Ending {
        let hints = [hint, &self.hint].into_iter();
        let hints: Vec<&str> = hints.filter(|hint| !hint.is_empty()).collect();
        self.hint = hints.join("; ");
        self
    }
}

/// How an attempt ends, before what it proved is kept and the rest taken back.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) stopped: Stopped,
    pub(super) summary: String,
    /// What the user can do about it.
    pub(super) hint: String,
    /// What a read-only run would change.
    pub(super) proposed: Attempt,
    /// What became of each goal, where the attempt had several.
    pub(super) goals: Vec<Goal>,
    /// Drafts were tried: what they broke, and a test that hangs, is told with it.
    pub(super) is_of_drafts: bool,
    /// The plan by which what is staged was judged, where that is another one than the run's.
    pub(super) judged_by: Option<Box<Plan>>,
    /// What is known without a model, where none could answer; the summary ends with it.
    pub(super) known: String,
}

impl Ended {
    /// Returns an end about which nothing needs to be done.
    pub(super) fn new(stopped: Stopped, summary: impl Into<String>) -> Ended {
        Ended {
            stopped,
            summary: summary.into(),
            hint: String::new(),
            proposed: Attempt::default(),
            goals: Vec::new(),
            is_of_drafts: false,
            judged_by: None,
            known: String::new(),
        }
    }

    /// Returns the end of an attempt that the user stopped.
    pub(super) fn interrupted() -> Ended {
        Ended::new(Stopped::Interrupted, "interrupted")
    }

    /// Returns the end with a hint.
    pub(super) fn hinting(self, hint: impl Into<String>) -> Ended {
        let hint = hint.into();
        Ended { hint, ..self }
    }
}

impl From<&ModelError> for Ended {
    fn from(error: &ModelError) -> Ended {
        match error {
            ModelError::Unusable { message, hint, .. } => {
                Ended::new(Stopped::Engine, message).hinting(hint)
            }
            ModelError::NotSent { message, hint, .. } => {
                Ended::new(Stopped::Refused, message).hinting(hint)
            }
            ModelError::Interrupted => Ended::interrupted(),
        }
    }
}
