//! What one run knows while it goes on, and how that becomes its result.

use std::cell::OnceCell;
use std::path::Path;
use std::time::{Duration, Instant};

use harness_code::edit::{ChangeSet, FileChange};
use harness_code::fix::Installed;
use harness_code::path::RelPath;
use harness_code::suite::Suite;
use harness_code::tree::SourceTree;
use harness_hands::journal::{self, RunId};
use harness_hands::lock::{Holder, Waiting};
use harness_hands::permit::Project;
use harness_hands::scratch::Scratch;
use harness_hands::suite::running::Running;
use harness_hands::suite::{Selection, SuiteReport, Watch, last_time, run_watched};
use harness_hands::transaction::{Transaction, WriteError};
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::config::UserConfig;
use crate::env::Environment;
use crate::guard::GuardContext;
use crate::history::{History, Refusal, Step};
use crate::model::ModelError;
use crate::options::AgentOptions;
use crate::plan::fix::installed;
use crate::plan::{LONGEST_TASK, Plan, Spot};
use crate::record::{self, Record, RecordedChange};
use crate::run::Order;
use crate::run::event::{EventKind, Listener, tell, tell_running, tell_waiting};
use crate::run::result::{RunResult, Stopped, Tests, Usage};
use crate::secret;
use crate::suite;
use crate::task::Task;
use crate::task::goal::Goal;
use crate::task::question::Question;

/// The longest result of one step that is kept, in characters.
const LONGEST_RESULT: usize = 2_000;

/// How a run ends, as the rung that ended it says.
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
}

impl Ending {
    /// Returns an ending that changed nothing.
    pub(super) fn new(stopped: Stopped, summary: impl Into<String>) -> Ending {
        let (summary, hint, diff) = (summary.into(), String::new(), String::new());
        Ending {
            stopped,
            summary,
            hint,
            writes: Vec::new(),
            diff,
            tests: None,
            changes: Vec::new(),
            goals: Vec::new(),
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

impl From<Ended> for Ending {
    fn from(ended: Ended) -> Ending {
        Ending::new(ended.stopped, ended.summary).with_hint(&ended.hint)
    }
}

/// How an attempt ends, before what it proved is kept and the rest taken back.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) stopped: Stopped,
    pub(super) summary: String,
    /// What to do about an engine that failed.
    pub(super) hint: String,
}

impl Ended {
    /// Returns an end about which nothing needs to be done.
    pub(super) fn new(stopped: Stopped, summary: impl Into<String>) -> Ended {
        Ended {
            stopped,
            summary: summary.into(),
            hint: String::new(),
        }
    }
}

/// One run under way.
pub(super) struct Session<'a> {
    pub(super) options: &'a AgentOptions,
    pub(super) environment: &'a Environment,
    pub(super) config: &'a UserConfig,
    pub(super) listener: &'a mut dyn Listener,
    pub(super) cancel: &'a Cancel,
    pub(super) project: Project,
    pub(super) tree: SourceTree,
    pub(super) task: Task,
    pub(super) plan: Plan,
    pub(super) history: History,
    pub(super) usage: Usage,
    pub(super) run: RunId,
    pub(super) record: Record,
    /// Files that the user wants shown whole.
    pub(super) files: Vec<RelPath>,
    installed: OnceCell<Installed>,
    suite: OnceCell<Option<Suite>>,
    /// The whole project, when the run keeps to a part of it.
    whole: OnceCell<Option<SourceTree>>,
    began: Instant,
}

impl<'a> Session<'a> {
    /// Begins a run.
    pub(super) fn new(
        order: &'a mut Order<'_>,
        project: Project,
        tree: SourceTree,
        task: Task,
        plan: Plan,
    ) -> Session<'a> {
        let run = RunId::new();
        let record = Record::open(
            order.options,
            run.as_str(),
            order.environment.home.as_deref(),
        );
        Session {
            options: order.options,
            environment: order.environment,
            config: order.config,
            listener: &mut *order.listener,
            cancel: order.cancel,
            project,
            tree,
            task,
            plan,
            history: History::default(),
            usage: Usage::default(),
            run,
            record,
            files: Vec::new(),
            installed: OnceCell::new(),
            suite: OnceCell::new(),
            whole: OnceCell::new(),
            began: Instant::now(),
        }
    }

    /// Returns whether files may not change in this run.
    pub(super) fn read_only(&self) -> bool {
        self.project.writer().is_none()
    }

    /// Returns where the packages of the project's interpreter are; looked up once.
    pub(super) fn installed(&self) -> &Installed {
        self.installed
            .get_or_init(|| installed(self.whole_tree(), self.environment))
    }

    /// Returns the whole project: a scope limits what may change and what is hidden is not shown to a model, but tests
    /// and imports lead to both.
    pub(super) fn whole_tree(&self) -> &SourceTree {
        let read = || {
            let limited = !self.options.scope.is_empty() || self.tree.lacks_hidden();
            limited.then(|| SourceTree::read(self.tree.root(), None).ok())?
        };
        self.whole.get_or_init(read).as_ref().unwrap_or(&self.tree)
    }

    /// Returns what guards know around changes: these come together, and these definitions may go.
    pub(super) fn guard_context<'s>(
        &'s self,
        beside: &'s [FileChange],
        may_go: &'s [Spot],
    ) -> GuardContext<'s> {
        GuardContext {
            tree: Some(self.whole_tree()),
            installed: self.installed(),
            beside,
            may_go,
            resolver: OnceCell::new(),
        }
    }

    /// Tells the listener of progress.
    pub(super) fn tell<const N: usize>(
        &mut self,
        kind: EventKind,
        text: &str,
        data: [(&str, Value); N],
    ) {
        tell(self.listener, self.began, kind, text, data);
    }

    /// Runs the tests of a private version of the project and tells of one that takes long while it runs.
    pub(super) fn run_tests(
        &mut self,
        version: &Scratch,
        suite: &Suite,
        selection: &Selection,
        watch: &Watch,
    ) -> Option<SuiteReport> {
        let runner = self.project.runner()?.in_scratch(version);
        if *selection == Selection::All {
            let last = last_time(&runner, suite);
            let (text, data) = tests_begin("the tests", last);
            self.tell(EventKind::Tests, &text, data);
        }
        let (listener, began) = (&mut *self.listener, self.began);
        let mut tell = |running: &Running| tell_running(listener, began, running);
        let flag = self.cancel.flag();
        Some(run_watched(
            &runner, suite, selection, watch, &flag, &mut tell,
        ))
    }

    /// Takes the project for this run, unless that is read-only. A wait for another run is told when it begins.
    pub(super) fn begin_writing(
        &mut self,
        patience: Duration,
    ) -> Option<Result<Transaction, WriteError>> {
        let writer = self.project.writer()?;
        let flag = self.cancel.flag();
        let (listener, began) = (&mut *self.listener, self.began);
        let mut on_wait = |holder: &Holder| tell_waiting(listener, began, holder);
        let mut waiting = Waiting {
            patience,
            cancel: &flag,
            on_wait: &mut on_wait,
        };
        Some(writer.begin(&self.run, &self.task.text, &mut waiting))
    }

    /// Tells that the run began and where it will look.
    pub(super) fn tell_start(&mut self) {
        let (kind, rung) = (self.plan.kind, self.plan.rung.name());
        let files = self.tree.files().len();
        let read = match files {
            1 => "1 file".to_owned(),
            files => format!("{files} files"),
        };
        let what = match kind {
            "question" => "a question".to_owned(),
            "tests" => "a task about tests".to_owned(),
            kind if kind.starts_with('a') => format!("an {kind} task"),
            kind => format!("a {kind} task"),
        };
        let run = self.run.as_str().to_owned();
        let recorded = self
            .record
            .start(&self.project, &self.task.text, self.options);
        self.heed(recorded);
        self.tell(
            EventKind::Started,
            &format!("read {read}; this is {what}"),
            [
                ("run", run.into()),
                ("kind", kind.into()),
                ("rung", rung.into()),
            ],
        );
        let length = self.task.text.chars().count();
        if length > LONGEST_TASK {
            let text = format!(
                "the task has {length} characters: a model is shown {LONGEST_TASK} of them, its beginning and its end"
            );
            self.tell(EventKind::Started, &text, []);
        }
        self.tell_places();
    }

    /// Tells where the run looks.
    pub(super) fn tell_places(&mut self) {
        let spots = self.plan.spots();
        // A file is named by what is looked at in it.
        let is_told = |file: &Spot| {
            let is_in_it = |spot: &Spot| spot.path == file.path && !spot.name.is_empty();
            file.name.is_empty() && spots.iter().any(is_in_it)
        };
        let spots = spots.iter().filter(|spot| !is_told(spot));
        let spots: Vec<String> = spots.map(described).collect();
        if !spots.is_empty() {
            let text = format!("looking at {}", spots.join(", "));
            self.tell(EventKind::Located, &text, [("places", spots.into())]);
        }
    }

    /// Puts a question to whoever listens; nothing where nobody answers it.
    pub(super) fn ask(&mut self, question: &Question) -> Option<String> {
        let data = [("question", question.render().into())];
        self.tell(EventKind::Question, &question.text, data);
        let words = self.listener.question(question)?;
        question.answer(&words)
    }

    /// Adds a refusal to the history and tells of it.
    pub(super) fn refuse(&mut self, refusal: &Refusal) {
        self.history.refuse(refusal.clone());
        let data = [
            ("rule", refusal.rule.clone().into()),
            ("path", refusal.path.clone().into()),
        ];
        self.tell(
            EventKind::Refused,
            &format!("refused: {}", first_line(&refusal.reason)),
            data,
        );
    }

    /// Adds a step to the history.
    pub(super) fn push(&mut self, step: Step) {
        let result: String = step.result.chars().take(LONGEST_RESULT).collect();
        let step = Step {
            result: secret::redact(&result).into_owned(),
            ..step
        };
        let recorded = self.record.turn(&self.project, &step);
        self.heed(recorded);
        self.history.push(step);
    }

    /// Tells of a record that cannot be written, once; the run itself goes on.
    fn heed(&mut self, recorded: Result<(), String>) {
        if let Err(error) = recorded {
            self.record.give_up();
            self.tell(
                EventKind::Refused,
                &format!("no trace is kept: {error}"),
                [],
            );
        }
    }

    /// Returns how the project's tests are run, when it has any.
    pub(super) fn suite(&self) -> Option<Suite> {
        let find = || {
            suite::of(
                self.whole_tree(),
                self.options,
                self.config,
                self.environment,
            )
        };
        self.suite.get_or_init(find).clone()
    }

    /// Returns how the tests of a copy of the project are run.
    pub(super) fn suite_in(&self, copy: &Path) -> Option<Suite> {
        let tree = SourceTree::read(copy, None).ok()?;
        suite::of(&tree, self.options, self.config, self.environment)
    }

    /// Ends the run and returns its result.
    pub(super) fn end(mut self, ending: Ending) -> RunResult {
        let ok = ending.stopped == Stopped::Done;
        let (steps, refusals) = std::mem::take(&mut self.history).into_parts();
        let goals = match ending.goals.is_empty() {
            true => redacted(self.task.goals(ok, first_line(&ending.summary))),
            false => redacted(ending.goals),
        };
        let result = RunResult {
            ok,
            summary: ending.summary,
            writes: ending.writes,
            steps,
            refusals,
            stopped: ending.stopped,
            goals,
            run_id: self.run.as_str().to_owned(),
            tests: ending.tests,
            diff: ending.diff,
            usage: std::mem::take(&mut self.usage),
            hint: match ending.stopped {
                Stopped::Question if ending.hint.is_empty() => "answer it in the task".to_owned(),
                _ => ending.hint,
            },
            commit: None,
        };
        let fields = json!({
            "ok": result.ok,
            "stopped": result.stopped,
            "goals": result.goals,
            "writes": result.writes,
            "tests": result.tests,
            "summary": result.summary,
        });
        let result = self.with_proposal_kept(result, &ending.changes);
        // A read-only run left nothing changed.
        let changes = match self.read_only() {
            true => &[],
            false => &*ending.changes,
        };
        let recorded = self.record.end(&self.project, fields, changes);
        self.heed(recorded);
        let text = first_line(&result.summary).to_owned();
        self.tell(
            EventKind::Finished,
            &text,
            [("ok", ok.into()), ("stopped", result.stopped.name().into())],
        );
        result
    }

    /// Keeps what a dry run would have changed, so that it can be applied; the user's own folder holds it.
    fn with_proposal_kept(&self, mut result: RunResult, changes: &[RecordedChange]) -> RunResult {
        let is_proposal = result.ok && !result.diff.is_empty() && !changes.is_empty();
        if self.read_only()
            && is_proposal
            && !self.options.keep_no_record
            && record::keep_proposal(&self.project, &self.run, &self.task.text, changes)
        {
            result.hint = format!("`harness apply {}` writes it", self.run);
        }
        result
    }

    /// Returns what a dry run would change as it is kept to be applied: nothing where a file cannot be read any more.
    pub(super) fn proposed(&self, set: &ChangeSet) -> Vec<RecordedChange> {
        let door = self.project.door();
        let recorded = |change: &FileChange| {
            let before = door.find(&change.path).ok()?;
            Some(RecordedChange {
                path: change.path.to_string(),
                before: before.as_deref().map(journal::digest),
                after: change.after.clone(),
            })
        };
        let recorded: Option<Vec<_>> = set.files.iter().map(recorded).collect();
        recorded.unwrap_or_default()
    }

    /// Returns how the run ends when the engine failed; keeps a refusal to send in the history.
    pub(super) fn engine_failed(&mut self, error: &ModelError) -> Ended {
        if let ModelError::NotSent { rule, message, .. } = error {
            self.refuse(&Refusal::new(rule, message.clone(), ""));
        }
        super::engine_ended(error)
    }
}

/// Says that tests begin, and how long all of them took last time.
pub(super) fn tests_begin(
    what: &str,
    last: Option<Duration>,
) -> (String, [(&'static str, Value); 2]) {
    let seconds = last.map(|last| last.as_secs_f64().round());
    let text = match seconds.filter(|seconds| *seconds >= 1.0) {
        Some(seconds) => format!("running {what} ({seconds} s last time)"),
        None => format!("running {what}"),
    };
    (
        text,
        [("begins", true.into()), ("last_seconds", json!(seconds))],
    )
}

/// Returns goals without the secrets that a task may hold.
pub(super) fn redacted(goals: Vec<Goal>) -> Vec<Goal> {
    let goal = |goal: Goal| Goal {
        text: secret::redact(&goal.text).into_owned(),
        why: secret::redact(&goal.why).into_owned(),
        ..goal
    };
    goals.into_iter().map(goal).collect()
}

fn described(spot: &Spot) -> String {
    match spot.name.as_str() {
        "" => spot.path.to_string(),
        name => format!("{name} ({}:{})", spot.path, spot.line),
    }
}

/// Returns the first line of a text.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
