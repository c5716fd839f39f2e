//! One reply, carried out: the action it holds becomes words for the model, a refusal, or the end of the run.

use harness_code::edit::ChangeSet;

use crate::action::Action;
use crate::history::Refusal;
use crate::plan::{Plan, Spot};
use crate::question::Question;
use crate::reply::Reading;
use crate::run::context::Context;
use crate::run::event::EventKind;
use crate::run::evidence::{NO_NEW_TEST, TESTS_FAILING, Verdict};
use crate::run::form;
use crate::run::log::Log;
use crate::run::mend;
use crate::run::places;
use crate::run::prompt::said::{self, said, tests_said};
use crate::run::removal;
use crate::run::result::Stopped;
use crate::run::staged::{Staged, summary};
use crate::run::trial::staging::{refusal, tell_trying};
use crate::run::work::{Places, Work};
use crate::tool::{change, look as tools};
use harness_code::request::kind::Kind;

/// What one turn came to.
pub(super) enum TurnOutcome {
    /// The run goes on with these words to the model; whether they are news.
    Say { words: String, new: bool },
    /// A part is done; these words ask for the next one.
    Next(String),
    /// A draft was tried, failed and was taken back; these words say why.
    Failed(String),
    /// The action was refused.
    Refused(Refusal),
    /// The run ends.
    End(Stopped, String),
}

/// Returns the refusal of an action that was carried out before, on the same state.
pub(super) fn repeated(action: &Action) -> TurnOutcome {
    let reason = format!(
        "the same {} brought nothing before and nothing has changed since: do something else",
        action.tool()
    );
    TurnOutcome::Refused(Refusal::new("repeat.same_action", reason, action.path()))
}

/// Carries the action of a reply out.
pub(super) fn act(work: &mut Work<'_>, log: &mut Log<'_>, reading: &Reading) -> TurnOutcome {
    let Some(action) = &reading.action else {
        return unread(reading, || work.places.focus(&work.plan));
    };
    match action {
        action if action.changes_files() => try_change(work, log, action),
        Action::Run { .. } => run_tests(work, log),
        Action::Done { summary } => finish(work, log, summary),
        Action::Ask { question } => ask(work.context, log, question),
        action => look(work.context, log, work.trial.staged(), action),
    }
}

/// Carries the action of a reply out in a run that may not write.
pub(super) fn act_read_only(
    context: &Context<'_>,
    log: &mut Log<'_>,
    plan: &Plan,
    reading: &Reading,
) -> TurnOutcome {
    let said = reading.prose.trim();
    match &reading.action {
        None if !said.is_empty() && reading.unknown_tool.is_none() && reading.problem.is_none() => {
            TurnOutcome::End(Stopped::Done, reading.prose.clone())
        }
        None => unread(reading, || Places::of(plan).focus(plan)),
        Some(action) if action.needs_writing() => TurnOutcome::Refused(read_only_refusal(action)),
        Some(Action::Done { summary }) => TurnOutcome::End(Stopped::Done, summary.clone()),
        Some(Action::Ask { question }) => ask(context, log, question),
        Some(action) => look(context, log, &Staged::default(), action),
    }
}

/// Tells what a looking action brought.
fn tell_seen(log: &mut Log<'_>, action: &Action, words: &str) {
    let text = format!("{} brought {} lines", action.tool(), words.lines().count());
    let data = [
        ("action", action.tool().into()),
        ("result", words.to_owned().into()),
    ];
    log.tell(EventKind::Action, &text, data);
}

/// A reply without an action is to be said better.
fn unread(reading: &Reading, focus: impl FnOnce() -> Option<Spot>) -> TurnOutcome {
    if let Some(tool) = &reading.unknown_tool {
        let reason = said("unknown action", &[("tool", tool)]);
        return TurnOutcome::Refused(Refusal::new("reply.unknown_tool", reason, ""));
    }
    if let Some(problem) = &reading.problem {
        return TurnOutcome::Refused(Refusal::new("reply.malformed", problem.clone(), ""));
    }
    let focus = focus();
    let name = focus.as_ref().map_or("", |spot| &spot.name);
    let (words, new) = (said::unread(name), false);
    TurnOutcome::Say { words, new }
}

/// Returns the refusal of an action in a read-only run.
pub(super) fn read_only_refusal(action: &Action) -> Refusal {
    let reason = format!(
        "this run is read-only: {} is refused; say in words what you would change",
        action.tool()
    );
    Refusal::new("write.read_only", reason, action.path())
}

/// Returns what an action of a read-only run would change: that is worth showing, as long as it may be at all.
pub(super) fn refused_draft(
    context: &Context<'_>,
    plan: &Plan,
    action: &Action,
) -> Option<ChangeSet> {
    let draft = change::proposed(
        context.tree(),
        context.project.door(),
        &|path| Staged::default().read(context.project.door(), path),
        Places::of(plan).focus(plan).as_ref(),
        action,
    )
    .ok()?;
    refusal(context, plan, &draft.files, &[])
        .is_none()
        .then_some(draft)
}

fn try_change(work: &mut Work<'_>, log: &mut Log<'_>, action: &Action) -> TurnOutcome {
    let (context, staged) = (work.context, work.trial.staged());
    let door = context.project.door();
    let proposed = change::proposed(
        context.tree(),
        door,
        &|path| staged.read(door, path),
        work.places.focus(&work.plan).as_ref(),
        action,
    );
    let draft = match proposed {
        Ok(draft) => change::with_package_files(draft, context.whole_tree()),
        // What was written for another place of the list may have covered this one.
        Err(refusal)
            if refusal.rule == "draft.no_change"
                && work.plan.is_listed()
                && !staged.changes().is_empty() =>
        {
            return go_on(work, log, &ChangeSet::default());
        }
        Err(refusal) => return TurnOutcome::Refused(refusal),
    };
    let draft = mend::mended(work, log, draft);
    let outcome = try_draft(work, log, &draft);
    log.record.stands(work.trial.standing(&draft));
    outcome
}

/// Applies a draft and judges it.
fn try_draft(work: &mut Work<'_>, log: &mut Log<'_>, draft: &ChangeSet) -> TurnOutcome {
    let may_go = removal::may_be_taken(work);
    let (context, plan) = (work.context, &work.plan);
    let applied = work.trial.apply_allowing(context, plan, draft, &may_go);
    if let Err(refusal) = applied {
        work.trial.set_aside(&refusal, draft);
        let later = places::postponed(work, &refusal);
        return later.map_or(TurnOutcome::Refused(refusal), TurnOutcome::Next);
    }
    tell_trying(log, draft);
    work.trial.apply_waiting(context, log, plan);
    go_on(work, log, draft)
}

/// Turns to the next place of the list, or judges what there is.
pub(super) fn go_on(work: &mut Work<'_>, log: &mut Log<'_>, draft: &ChangeSet) -> TurnOutcome {
    if let Some(words) = places::next_listed(work) {
        return TurnOutcome::Next(words);
    }
    let context = work.context;
    let written = work.trial.staged().clone();
    let is_whole_fix = removal::is_whole_fix(work);
    let went = removal::take_away(work, log);
    let mut verdict = work.trial.judge(context, log, &work.plan);
    let is_needed = match (&verdict, is_whole_fix) {
        // Where no test was red for it, a green suite does not show that it may go.
        (Verdict::Proven(_), true) => !work.trial.has_mended(context, &work.plan),
        (Verdict::Unfinished { .. }, true) | (Verdict::Worse(_), _) => true,
        _ => false,
    };
    if went && is_needed {
        // It was needed after all.
        work.trial.go_back_to(written);
        if is_whole_fix {
            let (words, new) = (said("needed", &[]), false);
            return TurnOutcome::Say { words, new };
        }
        verdict = work.trial.judge(context, log, &work.plan);
    }
    if context.cancel.stopped() {
        return TurnOutcome::End(Stopped::Interrupted, "interrupted".to_owned());
    }
    if let Some(search) = work.search
        && !matches!(verdict, Verdict::Proven(_))
    {
        draft.files.iter().for_each(|change| search.learn(change));
    }
    match verdict {
        Verdict::Proven(proof) => {
            // A draft that passes wins, unless the search found the same with far less.
            if let Some(outcome) = try_smaller(work, log, draft) {
                return outcome;
            }
            let changes = work.trial.staged().changes();
            TurnOutcome::End(Stopped::Done, summary(&changes, &proof))
        }
        Verdict::Worse(words) => worse(work, log, draft, words),
        Verdict::Unfinished { rule, reason } => unfinished(work, log, draft, (rule, &reason)),
        Verdict::Unverified(reason) => {
            TurnOutcome::End(Stopped::Stuck, format!("unverified: {reason}"))
        }
    }
}

/// Goes on after a draft by which tests fail that passed.
fn worse(work: &mut Work<'_>, log: &mut Log<'_>, draft: &ChangeSet, words: String) -> TurnOutcome {
    // Callers of something that changed are changed next.
    if let Some(words) = places::next(
        work,
        &said("written", &[("what", &said("must change too", &[]))]),
    ) {
        return TurnOutcome::Next(words);
    }
    work.trial.broke = Some(words.clone());
    // Of several places one may be wrong and the others right: what is written stays until all of it is judged.
    if work.plan.is_listed() || work.places.current().is_some() {
        let words = said("worse and kept", &[("what", &words)]);
        return match places::repair(work, &words, true) {
            Some(words) => TurnOutcome::Next(words),
            None => TurnOutcome::Say { words, new: true },
        };
    }
    work.trial.put_back(log, draft);
    TurnOutcome::Failed(said("worse", &[("what", &words)]))
}

/// Goes on after a draft that makes nothing worse and is not all of it.
fn unfinished(
    work: &mut Work<'_>,
    log: &mut Log<'_>,
    draft: &ChangeSet,
    (rule, reason): (&str, &str),
) -> TurnOutcome {
    let is_listed = work.plan.is_listed();
    if work.plan.task.kind() == Kind::Fix && !work.trial.is_best() && !is_listed {
        // Drafts of a fix are alternatives: each starts from the code as it was, or where a part is done.
        work.trial.put_back(log, draft);
        return TurnOutcome::Failed(said("not it", &[("what", reason)]));
    }
    if rule == NO_NEW_TEST
        && let Some(words) = form::tests_next(work)
    {
        return TurnOutcome::Next(words);
    }
    let words = said("written", &[("what", reason)]);
    let next = places::next(work, &words);
    let may_repair = is_listed && rule == TESTS_FAILING;
    let next = match next {
        None if may_repair => places::repair(work, &words, false),
        next => next,
    };
    match next {
        Some(words) => TurnOutcome::Next(words),
        None => TurnOutcome::Say { words, new: true },
    }
}

/// Puts a far smaller change of the search in the place of a draft that passes. Returns nothing where the draft stays.
fn try_smaller(work: &mut Work<'_>, log: &mut Log<'_>, draft: &ChangeSet) -> Option<TurnOutcome> {
    let (context, plan, trial) = (work.context, &work.plan, &mut *work.trial);
    let search = work.search.as_mut()?;
    let mut files = draft.files.iter();
    if draft.files.is_empty() || !files.all(|change| search.smaller_than(change)) {
        return None;
    }
    trial.put_back(log, draft);
    if let Some(summary) = search.take(context, log, plan, trial) {
        return Some(TurnOutcome::End(Stopped::Done, summary));
    }
    if let Err(refusal) = trial.apply(context, log, plan, draft) {
        return Some(TurnOutcome::Refused(refusal));
    }
    if matches!(trial.judge(context, log, plan), Verdict::Proven(_)) {
        return None;
    }
    trial.put_back(log, draft);
    let (words, new) = (said("passed once", &[]), true);
    Some(TurnOutcome::Say { words, new })
}

fn run_tests(work: &mut Work<'_>, log: &mut Log<'_>) -> TurnOutcome {
    let words = tests_said(work.trial.check(work.context, log));
    TurnOutcome::Say { words, new: true }
}

fn finish(work: &mut Work<'_>, log: &mut Log<'_>, said: &str) -> TurnOutcome {
    let verdict = work.trial.settled_verdict(work.context, log, &work.plan);
    match verdict {
        Verdict::Proven(proof) => {
            let quoted: String = said
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(200)
                .collect();
            let words = if quoted.is_empty() {
                String::new()
            } else {
                format!("; the model says: \"{quoted}\"")
            };
            TurnOutcome::End(Stopped::Done, format!("done: {proof}{words}"))
        }
        Verdict::Worse(reason) => TurnOutcome::Refused(Refusal::new(TESTS_FAILING, reason, "")),
        Verdict::Unfinished { rule, reason } => {
            TurnOutcome::Refused(Refusal::new(rule, reason, ""))
        }
        Verdict::Unverified(reason) => {
            TurnOutcome::End(Stopped::Stuck, format!("unverified: {reason}"))
        }
    }
}

fn ask(context: &Context<'_>, log: &mut Log<'_>, question: &str) -> TurnOutcome {
    let question = Question::new(question, []);
    match log.ask(&question) {
        Some(answer) => TurnOutcome::Say {
            words: said("the user answers", &[("what", &answer)]),
            new: true,
        },
        None if context.cancel.stopped() => {
            TurnOutcome::End(Stopped::Interrupted, "interrupted".to_owned())
        }
        None => TurnOutcome::End(Stopped::Question, question.render()),
    }
}

/// Carries a looking action out, on the project with what is staged in it.
pub(super) fn look(
    context: &Context<'_>,
    log: &mut Log<'_>,
    staged: &Staged,
    action: &Action,
) -> TurnOutcome {
    match seen(context, staged, action) {
        Ok(words) => {
            tell_seen(log, action, &words);
            TurnOutcome::Say { words, new: true }
        }
        Err(refusal) => TurnOutcome::Refused(refusal),
    }
}

fn seen(context: &Context<'_>, staged: &Staged, action: &Action) -> Result<String, Refusal> {
    let (tree, door) = (context.tree(), context.project.door());
    match action {
        Action::Read { path, place } => {
            let contents = |path: &_| staged.read(door, path);
            tools::read(tree, door, &contents, path, place)
        }
        Action::Search { query, path } => {
            let drafts = staged.changes();
            tools::find(tree, door, &drafts, query, path)
        }
        Action::Map { path } => tools::map(tree, door, path),
        Action::Patch { .. }
        | Action::Edit { .. }
        | Action::Remove { .. }
        | Action::Move { .. }
        | Action::Several { .. }
        | Action::Run { .. }
        | Action::Ask { .. }
        | Action::Done { .. } => Err(read_only_refusal(action)),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{
        Came, MENDED, PRICING, RIGHT, Stage, TEST_PRICING, WRONG, diff, shown,
    };
    use crate::run::strategy::Outcome;

    const READ: &str = "Action: read\nPath: test_pricing.py\n";
    const DONE: &str = "Action: done\nSummary: percents are percents now\n";

    /// Plays replies to a fix whose place is one file.
    fn came(replies: &[&str]) -> Came<Outcome> {
        let stage = Stage::new(&[PRICING, TEST_PRICING], "fix the percents in pricing.py");
        played(stage, replies)
    }

    fn played(stage: Stage, replies: &[&str]) -> Came<Outcome> {
        stage
            .replies(replies.iter().copied())
            .play(|scene| scene.pursue())
    }

    #[test]
    fn what_a_look_brings_is_told_to_the_model_and_to_the_user() {
        let came = came(&[READ, RIGHT]);
        assert!(came.asked()[1].contains("self.assertEqual(discount(200, 10), 180)"));
        assert_eq!(
            came.told(EventKind::Action)[0],
            "step 1: read test_pricing.py"
        );
        assert_eq!(came.staged, MENDED);
    }

    #[test]
    fn a_look_beyond_the_project_is_refused() {
        let came = came(&["Action: read\nPath: ../secrets.txt\n", RIGHT]);
        assert_eq!(came.rules(), ["path.outside"]);
        assert_eq!(came.staged, MENDED);
    }

    #[test]
    fn the_tests_run_where_the_model_asks_for_them() {
        let came = came(&["Action: run\n", RIGHT]);
        expect![[r#"
            0 passed, 1 failed
            test_pricing.T.test_discount (test_pricing.py:8): AssertionError: 190 != 180"#]]
        .assert_eq(came.asked()[1]);
    }

    #[test]
    fn a_tool_that_there_is_not_and_half_a_call_are_told() {
        let came = came(&["Action: fly\nPath: pricing.py\n", "Action: read\n", RIGHT]);
        expect![[r#"
            Refused: there is no action `fly`: use read, search, map, patch, edit, run, ask or done
            --
            Refused: the path is empty; name a file of the project"#]]
        .assert_eq(&came.asked()[1..].join("\n--\n"));
        assert_eq!(came.rules(), ["reply.unknown_tool", "path.name"]);
        assert_eq!(came.staged, MENDED);
    }

    #[test]
    fn the_same_look_twice_is_refused_until_something_changes() {
        let came = came(&[READ, READ, RIGHT]);
        assert_eq!(came.rules(), ["repeat.same_action"]);
        assert_eq!(came.staged, MENDED);
    }

    #[test]
    fn a_draft_that_is_not_it_is_taken_back_before_the_next_one() {
        let came = came(&[WRONG, RIGHT]);
        assert!(
            came.asked()[1].contains("210 != 180"),
            "{}",
            came.asked()[1]
        );
        assert_eq!(came.staged, MENDED);
    }

    #[test]
    fn done_counts_only_with_tests_that_say_so() {
        let came = came(&[DONE, RIGHT]);
        assert_eq!(came.rules(), ["finish.nothing_changed"]);
        assert_eq!(came.staged, MENDED);
    }

    #[test]
    fn a_draft_that_breaks_a_test_is_dropped() {
        let half = "def half(total):\n    return total / 2\n";
        let pricing = format!("{}\n\n{half}", PRICING.1);
        let tests = TEST_PRICING
            .1
            .replace("import discount", "import discount, half");
        let tests =
            format!("{tests}\n    def test_half(self):\n        self.assertEqual(half(10), 5)\n");
        let files = [
            ("pricing.py", pricing.as_str()),
            ("test_pricing.py", &tests),
        ];
        let stage = Stage::new(&files, "fix discount in pricing.py");
        let breaks = "```python\ndef half(total):\n    return total\n```";
        let came = played(stage, &[breaks, RIGHT]);
        let tests = came.told(EventKind::Tests);
        assert!(
            tests[3].contains("after the change: 0 passed, 2 failed"),
            "{tests:?}"
        );
        assert_eq!(came.told(EventKind::Undone), ["dropped the change"]);
        let after = pricing.replace("total - percent", "total - total * percent / 100");
        assert_eq!(came.staged, diff("pricing.py", &pricing, &after));
    }

    #[test]
    fn a_run_that_may_not_write_refuses_what_writes_and_shows_it() {
        let stage = Stage::pricing().read_only();
        let came = played(stage, &[RIGHT]);
        assert_eq!(came.rules()[0], "write.read_only");
        expect!["ended, done: this is what would change; the run is read-only"]
            .assert_eq(&shown(&came.value));
        assert_eq!(came.ended().proposed.patch, MENDED);
    }

    #[test]
    fn a_run_that_may_not_write_ends_with_what_the_model_says() {
        let stage = Stage::pricing().read_only();
        let came = played(stage, &["I would divide the percents by a hundred."]);
        expect!["ended, done: I would divide the percents by a hundred."]
            .assert_eq(&shown(&came.value));
        assert_eq!(came.staged, "");
    }

    #[test]
    fn a_question_without_an_answer_ends_the_run_as_one() {
        let asks = "Action: ask\nQuestion: round it up?\n";
        let came = came(&[asks, RIGHT]);
        expect!["ended, question: round it up?"].assert_eq(&shown(&came.value));
        assert_eq!(came.staged, "");
    }

    #[test]
    fn without_tests_that_can_run_nothing_is_proven() {
        let tests = format!("import nowhere_to_be_found\n{}", TEST_PRICING.1);
        let broken = ("test_pricing.py", tests.as_str());
        let stage = Stage::new(&[PRICING, broken], "fix discount in pricing.py");
        let came = played(stage, &[RIGHT]);
        expect!["ended, stuck: unverified: the tests need `nowhere_to_be_found`, which is not installed; `harness prepare` installs what the tests need"].assert_eq(&shown(&came.value));
    }

    #[test]
    fn whoever_stops_a_run_while_a_draft_is_judged_hears_no_more_of_it() {
        let stage = Stage::pricing().stopped_at(EventKind::Reply);
        let came = played(stage, &[RIGHT]);
        expect!["ended, interrupted: interrupted"].assert_eq(&shown(&came.value));
    }
}
