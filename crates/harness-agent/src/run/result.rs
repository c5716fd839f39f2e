//! What a run came to: the one shape that command line, HTTP, protocols and Python show.

use harness_hands::suite::{Failure, SuiteReport};
use schemars::JsonSchema;
use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use crate::dialogue::{asked, how_to_undo};
use crate::goal::Goal;
use crate::history::{Refusal, Step};

/// Why a run ended.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, JsonSchema, Serialize, VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Stopped {
    /// The task is finished, and the evidence says so.
    Done,
    /// The user must choose first.
    Question,
    /// The step budget is spent.
    Steps,
    /// Several turns brought nothing new, or nothing could be proven.
    Stuck,
    /// The change made the suite worse and was taken back.
    Broke,
    /// The engine could not be used.
    Engine,
    /// The prompt may not be sent.
    Refused,
    /// Another run holds the project.
    Busy,
    /// The user stopped it.
    Interrupted,
}

impl Stopped {
    /// Returns the word that callers see.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How many tests there were, and how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed or could not run.
    pub failed: u32,
    /// Tests that were found.
    pub collected: u32,
}

impl From<&SuiteReport> for Counts {
    fn from(report: &SuiteReport) -> Counts {
        Counts {
            passed: report.passed,
            failed: report.failed + report.errors,
            collected: report.collected,
        }
    }
}

/// The project's tests, before and after the change.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Tests {
    /// The command that ran them.
    pub command: String,
    /// Why that command, and that interpreter.
    pub why: String,
    /// Before the first write; none when they were not run then.
    pub before: Option<Counts>,
    /// After the last write; none when they were not run then.
    pub after: Option<Counts>,
    /// Which sandbox held them.
    pub sandbox: String,
    /// Tests that passed and failed on the same state.
    pub unsteady: Vec<String>,
    /// Tests that do not pass in the project as the run left it, where that is known.
    #[serde(skip)]
    pub red: Vec<FailedTest>,
}

/// A test that did not pass.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FailedTest {
    /// The runner's own name of the test.
    pub id: String,
    /// What went wrong, in a line or two.
    pub message: String,
    /// The file of the last line in the project.
    pub path: Option<String>,
    /// That line.
    pub line: Option<u32>,
}

impl From<&Failure> for FailedTest {
    fn from(failure: &Failure) -> FailedTest {
        FailedTest {
            id: failure.id.clone(),
            message: failure.message.clone(),
            path: failure.file.clone(),
            line: failure.line,
        }
    }
}

/// What the model cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Usage {
    /// Model calls made.
    pub model_calls: u32,
    /// Tokens read by the model, as the server counts them.
    pub prompt_tokens: u64,
    /// Tokens written by the model.
    pub reply_tokens: u64,
    /// Characters that were sent in prompts.
    pub characters_sent: u64,
    /// The host they were sent to; empty when nothing was sent.
    pub sent_to: String,
    /// How often old observations were masked because the window was full.
    pub masked: u32,
}

impl RunResult {
    /// Returns the result of something that needed no run.
    pub fn said(summary: impl Into<String>) -> RunResult {
        RunResult {
            ok: true,
            summary: summary.into(),
            writes: Vec::new(),
            steps: Vec::new(),
            refusals: Vec::new(),
            stopped: Stopped::Done,
            goals: Vec::new(),
            run_id: String::new(),
            tests: None,
            diff: String::new(),
            usage: Usage::default(),
            hint: String::new(),
            commit: None,
            known: String::new(),
        }
    }

    /// Returns the result of something that was stopped before it began.
    pub(crate) fn interrupted() -> RunResult {
        RunResult {
            ok: false,
            stopped: Stopped::Interrupted,
            ..RunResult::said("interrupted")
        }
    }

    /// Returns what a conversation remembers of it: the summary, and for a change how to take it back.
    pub fn in_words(&self) -> String {
        if self.writes.is_empty() || self.diff.is_empty() {
            return self.said_without_change();
        }
        format!("{}\n\n{}", self.summary, how_to_undo(&self.run_id))
    }

    fn said_without_change(&self) -> String {
        match (self.stopped, self.diff.is_empty()) {
            (Stopped::Question, true) => asked(&self.summary),
            // Whether a change is kept is no part of the task: `apply` writes it.
            (Stopped::Question, false) => format!("{}\n{}", self.summary, self.hint),
            _ => self.summary.clone(),
        }
    }

    /// Returns what a reader of Markdown is shown: the summary, and for a change its diff and how to take it back.
    pub fn in_markdown(&self) -> String {
        if self.writes.is_empty() || self.diff.is_empty() {
            return self.said_without_change();
        }
        // A diff may hold fences of its own.
        let longest = self.diff.lines().map(|line| {
            let line = line.trim_start_matches(['+', '-', ' ']);
            line.len() - line.trim_start_matches('`').len()
        });
        let fence = "`".repeat(longest.max().unwrap_or(0).max(2) + 1);
        let (summary, diff) = (&self.summary, self.diff.trim_end());
        let undo = how_to_undo(&self.run_id);
        format!("{summary}\n\n{fence}diff\n{diff}\n{fence}\n\n{undo}")
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[schemars(rename = "Result")]
pub struct RunResult {
    /// Whether the task is finished.
    pub ok: bool,
    /// The closing sentence; the question and its options when one is open.
    pub summary: String,
    /// Files changed: project-relative, forward slashes, sorted, each once.
    pub writes: Vec<String>,
    /// Every turn, in order.
    pub steps: Vec<Step>,
    /// What the harness stopped, and why.
    pub refusals: Vec<Refusal>,
    /// Why it ended.
    pub stopped: Stopped,
    /// What the task asks for, one by one; `ok` says that all of it is met.
    pub goals: Vec<Goal>,
    /// The run's id, for `undo` and `last`.
    pub run_id: String,
    /// The project's tests; none when they were not run.
    pub tests: Option<Tests>,
    /// The change as a unified diff.
    pub diff: String,
    /// What the model cost.
    pub usage: Usage,
    /// What to do next where the run could not go on or only proposed something; empty otherwise.
    pub hint: String,
    /// The whole name of the commit that holds the change; there only where `run --commit` made one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What is known without a model, where none could answer. The summary ends with it, so it is not sent twice.
    #[serde(skip)]
    pub known: String,
}
