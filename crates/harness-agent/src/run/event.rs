//! What a run tells while it goes on. Listeners hear it; they cannot change it, only stop the run.

use std::time::Instant;

use harness_code::edit::FileChange;
use harness_hands::lock::Holder;
use harness_hands::suite::running::Running;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use strum::IntoStaticStr;

use crate::question::Question;

/// What kind of progress an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum EventKind {
    /// The run began.
    Started,
    /// The place was found.
    Located,
    /// The user must choose.
    Question,
    /// A certain fix was found without a model.
    Fixed,
    /// The engine was looked at.
    Engine,
    /// A prompt went out.
    Sent,
    /// A reply came in.
    Reply,
    /// The reply was understood as an action.
    Action,
    /// Something was refused.
    Refused,
    /// A file was written.
    Wrote,
    /// Tests begin, ran, or one of them takes long.
    Tests,
    /// Changes were taken back.
    Undone,
    /// The run ended.
    Finished,
}

impl EventKind {
    /// Returns the word that callers see.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One piece of progress.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// What kind it is.
    pub kind: EventKind,
    /// Its facts.
    pub data: Map<String, Value>,
    /// Seconds since the run began.
    pub seconds: f64,
    /// The same as one sentence for a person.
    pub text: String,
}

/// A proven change that waits for the user's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposal<'a> {
    /// What the run would say of it.
    pub summary: &'a str,
    /// The change as a unified diff.
    pub diff: &'a str,
    /// The files that it changes.
    pub files: &'a [FileChange],
}

/// What becomes of a change that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is written.
    Keep,
    /// It is not.
    Drop,
    /// These files are to be as the user made them. That is guarded and tested like any change, then shown again.
    Edit(Vec<FileChange>),
}

/// Hears of a run's progress and answers its questions.
pub trait Listener: Send {
    /// Hears one event.
    fn event(&mut self, event: &Event);

    /// Hears that a reply is coming: how many pieces of it, about a token each, have come so far.
    fn hearing(&mut self, pieces: u64) {
        let _ = pieces;
    }

    /// Hears the words of an answer as the model writes them. The result holds them again, with what was checked beside.
    fn answer(&mut self, piece: &str) {
        let _ = piece;
    }

    /// Says whether a change is kept, where the options ask for that; `None` means that nobody can say.
    fn decide(&mut self, proposal: &Proposal<'_>) -> Option<Decision> {
        let _ = proposal;
        None
    }

    /// Says whether the user has had enough of what the run could leave out; `None` means that nobody can say so.
    fn skips(&mut self) -> Option<bool> {
        None
    }

    /// Answers a question; `None` means that nobody can, and the run stops with it.
    fn question(&mut self, question: &Question) -> Option<String>;
}

/// Tells a listener of progress in something that began at a moment.
pub(crate) fn tell<const N: usize>(
    listener: &mut dyn Listener,
    began: Instant,
    kind: EventKind,
    text: &str,
    data: [(&str, Value); N],
) {
    let data = data.map(|(name, value)| (name.to_owned(), value));
    listener.event(&Event {
        kind,
        data: data.into_iter().collect(),
        seconds: began.elapsed().as_secs_f64(),
        text: text.to_owned(),
    });
}

/// Tells that somebody else holds the project and is waited for.
pub(crate) fn tell_waiting(listener: &mut dyn Listener, began: Instant, holder: &Holder) {
    let text = format!("waiting for {holder}");
    let data = [("waits_for", json!(holder.run))];
    tell(listener, began, EventKind::Started, &text, data);
}

/// Tells that a test takes long while it runs.
pub(crate) fn tell_running(listener: &mut dyn Listener, began: Instant, running: &Running) {
    let (test, seconds) = (&running.test, running.seconds);
    let text = format!("{test} has been running for {seconds} s");
    let data = [
        ("running", json!(test)),
        ("running_seconds", json!(seconds)),
    ];
    tell(listener, began, EventKind::Tests, &text, data);
}

/// A listener that hears nothing and answers nothing.
#[derive(Debug, Default)]
pub struct Nobody;

impl Listener for Nobody {
    fn event(&mut self, _event: &Event) {}

    fn question(&mut self, _question: &Question) -> Option<String> {
        None
    }
}
