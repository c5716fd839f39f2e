//! What happened in a run: its steps, refusals, events and costs, and the record of them. Whoever listens is told at
//! once.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use harness_hands::lock::{Holder, Waiting};
use harness_hands::permit::Project;
use harness_hands::suite::running::Running;
use serde_json::{Value, json};

use crate::goal::Goal;
use crate::history::{History, Refusal, Step};
use crate::model::ModelError;
use crate::plan::{LONGEST_TASK, Plan, Spot};
use crate::question::Question;
use crate::record::{self, Record, RecordedChange};
use crate::run::context::Context;
use crate::run::ending::{Ended, Ending};
use crate::run::event::{EventKind, Listener, tell, tell_running, tell_waiting};
use crate::run::result::{RunResult, Stopped, Usage};
use crate::secret;

/// The longest result of one step that is kept, in characters.
const LONGEST_RESULT: usize = 2_000;

/// What happened in a run.
pub(super) struct Log<'a> {
    pub(super) listener: &'a mut dyn Listener,
    pub(super) history: History,
    pub(super) usage: Usage,
    pub(super) record: Record,
    project: &'a Project,
    began: Instant,
}

impl<'a> Log<'a> {
    /// Begins with nothing.
    pub(super) fn new(
        listener: &'a mut dyn Listener,
        project: &'a Project,
        record: Record,
    ) -> Log<'a> {
        Log {
            listener,
            history: History::default(),
            usage: Usage::default(),
            record,
            project,
            began: Instant::now(),
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

    /// Returns what tells of a test that runs long.
    pub(super) fn of_running(&mut self) -> impl FnMut(&Running) {
        |running| tell_running(self.listener, self.began, running)
    }

    /// Does what may have to wait for another run, and tells when it does.
    pub(super) fn of_waiting<T>(
        &mut self,
        patience: Duration,
        cancel: &AtomicBool,
        wait: impl FnOnce(&mut Waiting<'_>) -> T,
    ) -> T {
        let mut on_wait = |holder: &Holder| tell_waiting(self.listener, self.began, holder);
        wait(&mut Waiting {
            patience,
            cancel,
            on_wait: &mut on_wait,
        })
    }

    /// Tells that the run began and where it will look.
    pub(super) fn tell_start(&mut self, context: &Context<'_>, plan: &Plan) {
        let (kind, rung) = (plan.task.kind_name(), plan.rung.name());
        let files = context.tree().files().len();
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
        let run = context.run.as_str().to_owned();
        let text = plan.task.text();
        let recorded = self.record.start(self.project, plan, context.options);
        self.warn_once_if_unrecorded(recorded);
        self.tell(
            EventKind::Started,
            &format!("read {read}; this is {what}"),
            [
                ("run", run.into()),
                ("kind", kind.into()),
                ("rung", rung.into()),
            ],
        );
        let length = text.chars().count();
        if length > LONGEST_TASK {
            let text = format!(
                "the task has {length} characters: a model is shown {LONGEST_TASK} of them, its beginning and its end"
            );
            self.tell(EventKind::Started, &text, []);
        }
        self.tell_places(plan);
    }

    /// Tells where the run looks.
    pub(super) fn tell_places(&mut self, plan: &Plan) {
        let spots = plan.spots();
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
        let recorded = self.record.turn(self.project, &step);
        self.warn_once_if_unrecorded(recorded);
        self.history.push(step);
    }

    /// Tells of a record that cannot be written, once; the run itself goes on.
    fn warn_once_if_unrecorded(&mut self, recorded: Result<(), String>) {
        if let Err(error) = recorded {
            self.record.give_up();
            self.tell(
                EventKind::Refused,
                &format!("no trace is kept: {error}"),
                [],
            );
        }
    }

    /// Returns how an attempt ends whose engine failed; keeps a refusal to send in the history.
    pub(super) fn engine_failed(&mut self, error: &ModelError) -> Ended {
        if let ModelError::NotSent { rule, message, .. } = error {
            self.refuse(&Refusal::new(rule, message.clone(), ""));
        }
        error.into()
    }

    /// Ends the run and returns its result.
    pub(super) fn end(mut self, context: &Context<'_>, plan: &Plan, ending: Ending) -> RunResult {
        let ok = ending.stopped == Stopped::Done;
        let (steps, refusals) = std::mem::take(&mut self.history).into_parts();
        let goals = match ending.goals.is_empty() {
            true => redacted(Goal::all_of(&plan.task, ok, first_line(&ending.summary))),
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
            run_id: context.run.as_str().to_owned(),
            tests: ending.tests,
            diff: ending.diff,
            usage: std::mem::take(&mut self.usage),
            hint: match ending.stopped {
                Stopped::Question if ending.hint.is_empty() => "answer it in the task".to_owned(),
                _ => ending.hint,
            },
            commit: None,
            known: ending.known,
        };
        let fields = json!({
            "ok": result.ok,
            "stopped": result.stopped,
            "goals": result.goals,
            "writes": result.writes,
            "tests": result.tests,
            "summary": result.summary,
        });
        let result = with_proposal_kept(context, plan, result, &ending.changes);
        // A read-only run left nothing changed.
        let changes = match context.read_only() {
            true => &[],
            false => &*ending.changes,
        };
        let recorded = self.record.end(self.project, fields, changes);
        self.warn_once_if_unrecorded(recorded);
        let text = first_line(&result.summary).to_owned();
        self.tell(
            EventKind::Finished,
            &text,
            [("ok", ok.into()), ("stopped", result.stopped.name().into())],
        );
        result
    }
}

/// Keeps what a dry run would have changed, so that it can be applied; the user's own folder holds it.
fn with_proposal_kept(
    context: &Context<'_>,
    plan: &Plan,
    mut result: RunResult,
    changes: &[RecordedChange],
) -> RunResult {
    let is_proposal = result.ok && !result.diff.is_empty() && !changes.is_empty();
    if context.read_only()
        && is_proposal
        && !context.options.keep_no_record
        && record::keep_proposal(context.project, context.run, plan.task.text(), changes)
    {
        result.hint = format!("`harness apply {}` writes it", context.run);
    }
    result
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::run::scripted_tests::{Came, PRICING, Scene, Stage, TEST_PRICING};

    fn began(task: &str) -> Came<()> {
        let stage = Stage::new(&[PRICING, TEST_PRICING], task);
        stage.play(|scene| scene.log.tell_start(scene.context, scene.plan))
    }

    fn step(result: &str) -> Step {
        Step {
            number: 1,
            action: "read".to_owned(),
            path: PRICING.0.to_owned(),
            result: result.to_owned(),
            refused: String::new(),
            seconds: 0.0,
            tokens: 0,
        }
    }

    #[test]
    fn a_run_begins_with_what_it_read_and_where_it_looks() {
        let came = began("fix discount in pricing.py");
        assert_eq!(
            came.told(EventKind::Started),
            ["read 2 files; this is a fix task"]
        );
        assert_eq!(
            came.told(EventKind::Located),
            ["looking at discount (pricing.py:1)"]
        );
    }

    #[test]
    fn every_kind_of_task_is_told_in_its_words() {
        let told = |task: &str| began(task).told(EventKind::Started)[0].to_owned();
        let tasks = [
            "what does discount do?",
            "add a function tax to pricing.py",
            "write tests for discount in pricing.py",
            "rename discount to rebate",
        ];
        expect![[r#"
            read 2 files; this is a question
            read 2 files; this is an add task
            read 2 files; this is a task about tests
            read 2 files; this is a rename task"#]]
        .assert_eq(&tasks.map(told).join("\n"));
    }

    #[test]
    fn who_gives_a_task_that_no_model_is_shown_whole_hears_it() {
        let task = format!("fix discount in pricing.py. {}", "Tea. ".repeat(2_000));
        let came = began(&task);
        expect!["the task has 10028 characters: a model is shown 6000 of them, its beginning and its end"].assert_eq(came.told(EventKind::Started)[1]);
    }

    #[test]
    fn questions_are_answered_by_number_or_not_at_all() {
        let question = Question::new("which one?", ["old".to_owned(), "new".to_owned()]);
        let answered = |words: &[&str]| {
            let stage = Stage::pricing().answers(words.iter().copied());
            let came = stage.play(|scene| scene.log.ask(&question));
            assert_eq!(came.told(EventKind::Question), ["which one?"]);
            came.value
        };
        assert_eq!(answered(&["2"]).as_deref(), Some("new"));
        assert_eq!(answered(&[" "]), None);
        assert_eq!(answered(&[]), None);
    }

    #[test]
    fn a_refusal_is_told_in_a_line_and_kept_whole() {
        let reason = "the path leads outside\nname a file of the project";
        let refusal = Refusal::new("path.outside", reason, "../secrets");
        let came = Stage::pricing().play(|scene| scene.log.refuse(&refusal));
        assert_eq!(
            came.told(EventKind::Refused),
            ["refused: the path leads outside"]
        );
        assert_eq!(came.refusals[0].reason, reason);
    }

    #[test]
    fn a_prompt_that_was_not_sent_is_a_refusal_too() {
        let error = ModelError::NotSent {
            rule: "send.secret",
            message: "the prompt holds a key".to_owned(),
            hint: "take it out".to_owned(),
        };
        let came = Stage::pricing().play(|scene| scene.log.engine_failed(&error));
        assert_eq!(came.value.stopped, Stopped::Refused);
        assert_eq!(came.rules(), ["send.secret"]);
    }

    #[test]
    fn a_step_keeps_no_secret_and_no_more_than_its_share() {
        let key = ["AKIA", "IOSFODNN7EXAMPLQ"].concat();
        let long = format!("aws = {key}\n{}", "x".repeat(LONGEST_RESULT));
        let came = Stage::pricing().play(|scene| scene.log.push(step(&long)));
        let result = &came.steps[0].result;
        assert!(!result.contains(&key), "{result}");
        assert!(result.starts_with("aws = [redacted:"), "{result}");
        assert!(result.chars().count() <= LONGEST_RESULT + 40);
    }

    #[test]
    fn a_record_that_cannot_be_written_is_told_once_and_stops_nothing() {
        let mut stage = Stage::pricing();
        stage.options.keep_no_record = false;
        stage.options.record = Some(stage.options.project.clone());
        let came = stage.play(|scene: &mut Scene<'_, '_>| {
            scene.log.push(step("first"));
            scene.log.push(step("second"));
        });
        let told = came.told(EventKind::Refused);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("no trace is kept: "), "{told:?}");
        assert_eq!(came.steps.len(), 2);
    }

    #[test]
    fn how_long_the_tests_took_is_told_where_it_is_worth_a_word() {
        let told = |last: Option<u64>| tests_begin("the tests", last.map(Duration::from_millis)).0;
        assert_eq!(told(None), "running the tests");
        assert_eq!(told(Some(300)), "running the tests");
        assert_eq!(told(Some(12_400)), "running the tests (12 s last time)");
    }
}
