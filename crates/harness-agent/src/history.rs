//! What happened in a run, in order: its steps and what was refused. The result and the record show it.

use schemars::JsonSchema;
use serde::Serialize;

/// One turn of a run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Step {
    /// Its place in the run, from 1.
    pub number: u32,
    /// What was asked for: a tool's name, `plan` for a list of places, or `reply` where nothing could be read from it.
    pub action: String,
    /// The file it concerned, or nothing.
    pub path: String,
    /// What came of it, capped.
    pub result: String,
    /// The rule that refused it, or nothing.
    pub refused: String,
    /// How long it took.
    pub seconds: f64,
    /// Tokens of the model's reply.
    pub tokens: u64,
}

/// Something the harness stopped, and why.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Refusal {
    /// A stable id such as `path.outside`.
    pub rule: String,
    /// One sentence that says what to do instead.
    pub reason: String,
    /// The step it belongs to; 0 before the first.
    pub step: u32,
    /// The file it concerned, or nothing.
    pub path: String,
}

impl Refusal {
    /// Returns a refusal that belongs to no step yet.
    pub fn new(rule: &str, reason: impl Into<String>, path: impl Into<String>) -> Refusal {
        Refusal {
            rule: rule.to_owned(),
            reason: reason.into(),
            step: 0,
            path: path.into(),
        }
    }
}

/// The steps and refusals of a run, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    steps: Vec<Step>,
    refusals: Vec<Refusal>,
}

impl History {
    /// Returns the number that the next step will have.
    pub(crate) fn next_number(&self) -> u32 {
        u32::try_from(self.steps.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// Adds a step.
    pub(crate) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Adds a refusal to the step that is under way.
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        let step = self.next_number();
        self.refusals.push(Refusal { step, ..refusal });
    }

    /// Ends the run: gives the steps and refusals away.
    pub(crate) fn into_parts(self) -> (Vec<Step>, Vec<Refusal>) {
        (self.steps, self.refusals)
    }
}
