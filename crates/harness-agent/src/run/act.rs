//! One reply, carried out: the action it holds becomes words for the model, a refusal, or the end of the run.

use harness_code::edit::ChangeSet;

use crate::action::Action;
use crate::history::Refusal;
use crate::reply::Reading;
use crate::run::event::EventKind;
use crate::run::evidence::{NO_NEW_TEST, TESTS_FAILING, Verdict};
use crate::run::fix;
use crate::run::form;
use crate::run::mend;
use crate::run::places;
use crate::run::removal;
use crate::run::result::Stopped;
use crate::run::search::Search;
use crate::run::session::Session;
use crate::run::staged::Staged;
use crate::run::staged::summary;
use crate::run::trial::Trial;
use crate::task::kind::Kind;
use crate::tool::{change, look as tools};

/// What one turn came to.
pub(super) enum Outcome {
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

pub(super) fn repeated(reading: &Reading) -> Outcome {
    let tool = reading.action.as_ref().map_or("reply", Action::tool);
    let reason = format!(
        "the same {tool} brought nothing before and nothing has changed since: do something else"
    );
    Outcome::Refused(Refusal::new(
        "repeat.same_action",
        reason,
        reading.action.as_ref().map_or("", |action| action.path()),
    ))
}

/// Carries the action of a reply out.
pub(super) fn act(
    session: &mut Session<'_>,
    reading: &Reading,
    trial: Option<&mut Trial>,
    search: &mut Option<Search>,
) -> Outcome {
    let Some(action) = &reading.action else {
        return unread(session, reading, trial.is_none());
    };
    match (action, trial) {
        (action, None) if action.needs_writing() => Outcome::Refused(read_only_refusal(action)),
        (action, Some(trial)) if action.changes_files() => {
            try_change(session, action, trial, search)
        }
        (Action::Run { .. }, Some(trial)) => run_tests(session, trial),
        (Action::Done { summary }, Some(trial)) => finish(session, trial, summary),
        (Action::Done { summary }, None) => Outcome::End(Stopped::Done, summary.clone()),
        (Action::Ask { question }, _) => ask(session, question),
        (action, trial) => match look(session, trial.map(|trial| trial.staged()), action) {
            Ok(words) => {
                tell_seen(session, action, &words);
                Outcome::Say { words, new: true }
            }
            Err(refusal) => Outcome::Refused(refusal),
        },
    }
}

/// Tells what a looking action brought.
pub(super) fn tell_seen(session: &mut Session<'_>, action: &Action, words: &str) {
    let text = format!("{} brought {} lines", action.tool(), words.lines().count());
    let data = [
        ("action", action.tool().into()),
        ("result", words.to_owned().into()),
    ];
    session.tell(EventKind::Action, &text, data);
}

/// A reply without an action: the answer of a read-only run, else something to be said better.
fn unread(session: &Session<'_>, reading: &Reading, read_only: bool) -> Outcome {
    if let Some(tool) = &reading.unknown_tool {
        let reason = format!(
            "there is no action `{tool}`: use read, search, map, patch, edit, run, ask or done"
        );
        return Outcome::Refused(Refusal::new("reply.unknown_tool", reason, ""));
    }
    if let Some(problem) = &reading.problem {
        return Outcome::Refused(Refusal::new("reply.malformed", problem.clone(), ""));
    }
    if read_only && !reading.prose.trim().is_empty() {
        return Outcome::End(Stopped::Done, reading.prose.clone());
    }
    let wanted = match session.plan.focus() {
        Some(spot) if !spot.name.is_empty() => format!("`{}`", spot.name),
        _ => "the definition".to_owned(),
    };
    let words = format!(
        "No action could be read from that. Write the whole new code of {wanted} in one fenced block."
    );
    Outcome::Say { words, new: false }
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
pub(super) fn refused_draft(session: &Session<'_>, action: &Action) -> Option<ChangeSet> {
    let draft = change::proposed(
        &session.tree,
        session.project.door(),
        &|path| Staged::default().read(session.project.door(), path),
        session.plan.focus().as_ref(),
        action,
    )
    .ok()?;
    fix::refusal(session, &draft.files, &[])
        .is_none()
        .then_some(draft)
}

fn try_change(
    session: &mut Session<'_>,
    action: &Action,
    trial: &mut Trial,
    search: &mut Option<Search>,
) -> Outcome {
    let proposed = change::proposed(
        &session.tree,
        session.project.door(),
        &|path| trial.staged().read(session.project.door(), path),
        session.plan.focus().as_ref(),
        action,
    );
    let draft = match proposed {
        Ok(draft) => change::with_package_files(draft, session.whole_tree()),
        // What was written for another place of the list may have covered this one.
        Err(refusal)
            if refusal.rule == "draft.no_change"
                && session.plan.is_listed()
                && !trial.staged().changes().is_empty() =>
        {
            return go_on(session, &ChangeSet::default(), trial, search);
        }
        Err(refusal) => return Outcome::Refused(refusal),
    };
    let draft = mend::mended(session, trial, draft);
    let outcome = try_draft(session, &draft, trial, search);
    session.record.stands(trial.standing(&draft));
    outcome
}

/// Applies a draft and judges it.
fn try_draft(
    session: &mut Session<'_>,
    draft: &ChangeSet,
    trial: &mut Trial,
    search: &mut Option<Search>,
) -> Outcome {
    let may_go = removal::may_be_taken(session, trial);
    if let Err(refusal) = trial.apply_allowing(session, draft, &may_go) {
        trial.set_aside(&refusal, draft);
        let later = places::postponed(session, trial, &refusal);
        return later.map_or(Outcome::Refused(refusal), Outcome::Next);
    }
    trial.apply_waiting(session);
    go_on(session, draft, trial, search)
}

/// Turns to the next place of the list, or judges what there is.
pub(super) fn go_on(
    session: &mut Session<'_>,
    draft: &ChangeSet,
    trial: &mut Trial,
    search: &mut Option<Search>,
) -> Outcome {
    if let Some(words) = places::next_listed(session, trial) {
        return Outcome::Next(words);
    }
    let written = trial.staged().clone();
    let is_whole_fix = removal::is_whole_fix(session);
    let went = removal::take_away(session, trial);
    let mut verdict = trial.judge(session);
    let is_needed = match (&verdict, is_whole_fix) {
        // Where no test was red for it, a green suite does not show that it may go.
        (Verdict::Proven(_), true) => !trial.has_mended(session),
        (Verdict::Unfinished { .. }, true) | (Verdict::Worse(_), _) => true,
        _ => false,
    };
    if went && is_needed {
        // It was needed after all.
        trial.go_back_to(written);
        if is_whole_fix {
            let words = "No red test passes without that, so it was put back.".to_owned();
            return Outcome::Say { words, new: false };
        }
        verdict = trial.judge(session);
    }
    if session.cancel.stopped() {
        return Outcome::End(Stopped::Interrupted, "interrupted".to_owned());
    }
    if let Some(search) = search
        && !matches!(verdict, Verdict::Proven(_))
    {
        draft.files.iter().for_each(|change| search.learn(change));
    }
    match verdict {
        Verdict::Proven(proof) => {
            // A draft that passes wins, unless the search found the same with far less.
            if let Some(search) = search
                && let Some(outcome) = try_smaller(session, draft, trial, search)
            {
                return outcome;
            }
            let changes = trial.staged().changes();
            Outcome::End(Stopped::Done, summary(&changes, &proof))
        }
        Verdict::Worse(words) => worse(session, trial, draft, words),
        Verdict::Unfinished { rule, reason } => unfinished(session, trial, draft, rule, &reason),
        Verdict::Unverified(reason) => {
            Outcome::End(Stopped::Stuck, format!("unverified: {reason}"))
        }
    }
}

/// Goes on after a draft by which tests fail that passed.
fn worse(
    session: &mut Session<'_>,
    trial: &mut Trial,
    draft: &ChangeSet,
    words: String,
) -> Outcome {
    // Callers of something that changed are changed next.
    if let Some(words) = places::next(session, trial, "Written. This must change with it.") {
        return Outcome::Next(words);
    }
    trial.broke = Some(words.clone());
    // Of several places one may be wrong and the others right: what is written stays until all of it is judged.
    if session.plan.is_listed() || session.plan.place().is_some() {
        let words = format!("Written, and now tests fail that passed before: {words}");
        return match places::repair(session, trial, &words, true) {
            Some(words) => Outcome::Next(words),
            None => Outcome::Say { words, new: true },
        };
    }
    trial.put_back(session, draft);
    Outcome::Failed(format!(
        "That made the tests worse and was taken back: {words}"
    ))
}

/// Goes on after a draft that makes nothing worse and is not all of it.
fn unfinished(
    session: &mut Session<'_>,
    trial: &mut Trial,
    draft: &ChangeSet,
    rule: &str,
    reason: &str,
) -> Outcome {
    if session.task.kind == Kind::Fix && !trial.is_best() && !session.plan.is_listed() {
        // Drafts of a fix are alternatives: each starts from the code as it was, or where a part is done.
        trial.put_back(session, draft);
        return Outcome::Failed(format!("That was not it and was taken back: {reason}"));
    }
    if rule == NO_NEW_TEST
        && let Some(words) = form::tests_next(session)
    {
        return Outcome::Next(words);
    }
    let words = format!("Written. {reason}");
    let next = places::next(session, trial, &words);
    let may_repair = session.plan.is_listed() && rule == TESTS_FAILING;
    let next = match next {
        None if may_repair => places::repair(session, trial, &words, false),
        next => next,
    };
    match next {
        Some(words) => Outcome::Next(words),
        None => Outcome::Say { words, new: true },
    }
}

/// Puts a far smaller change of the search in the place of a draft that passes. Returns nothing where the draft stays.
fn try_smaller(
    session: &mut Session<'_>,
    draft: &ChangeSet,
    trial: &mut Trial,
    search: &mut Search,
) -> Option<Outcome> {
    let mut files = draft.files.iter();
    if draft.files.is_empty() || !files.all(|change| search.smaller_than(change)) {
        return None;
    }
    trial.put_back(session, draft);
    if let Some(summary) = search.take(session, trial) {
        return Some(Outcome::End(Stopped::Done, summary));
    }
    if let Err(refusal) = trial.apply(session, draft) {
        return Some(Outcome::Refused(refusal));
    }
    if matches!(trial.judge(session), Verdict::Proven(_)) {
        return None;
    }
    trial.put_back(session, draft);
    let words = "That passed once and not again; it was taken back.".to_owned();
    Some(Outcome::Say { words, new: true })
}

fn run_tests(session: &mut Session<'_>, trial: &mut Trial) -> Outcome {
    let words = match trial.check(session) {
        None => "this project has no tests".to_owned(),
        Some(report) => match crate::run::evidence::unusable(report) {
            Some(problem) => problem,
            None => {
                let failing: Vec<String> = report
                    .failures
                    .iter()
                    .take(3)
                    .map(|failure| failure.shown())
                    .collect();
                format!(
                    "{} passed, {} failed\n{}",
                    report.passed,
                    report.failed + report.errors,
                    failing.join("\n")
                )
            }
        },
    };
    Outcome::Say { words, new: true }
}

fn finish(session: &mut Session<'_>, trial: &mut Trial, said: &str) -> Outcome {
    match trial.settled_verdict(session) {
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
            Outcome::End(Stopped::Done, format!("done: {proof}{words}"))
        }
        Verdict::Worse(reason) => Outcome::Refused(Refusal::new(TESTS_FAILING, reason, "")),
        Verdict::Unfinished { rule, reason } => Outcome::Refused(Refusal::new(rule, reason, "")),
        Verdict::Unverified(reason) => {
            Outcome::End(Stopped::Stuck, format!("unverified: {reason}"))
        }
    }
}

fn ask(session: &mut Session<'_>, question: &str) -> Outcome {
    let question = crate::task::question::Question::new(question, []);
    match session.ask(&question) {
        Some(answer) => Outcome::Say {
            words: format!("The user answers: {answer}"),
            new: true,
        },
        None if session.cancel.stopped() => {
            Outcome::End(Stopped::Interrupted, "interrupted".to_owned())
        }
        None => Outcome::End(Stopped::Question, question.render()),
    }
}

/// Carries a looking action out.
pub(super) fn look(
    session: &Session<'_>,
    staged: Option<&Staged>,
    action: &Action,
) -> Result<String, Refusal> {
    let door = session.project.door();
    let nothing = Staged::default();
    let staged = staged.unwrap_or(&nothing);
    match action {
        Action::Read { path, place } => {
            let contents = |path: &_| staged.read(door, path);
            tools::read(&session.tree, door, &contents, path, place)
        }
        Action::Search { query, path } => {
            let drafts = staged.changes();
            tools::find(&session.tree, door, &drafts, query, path)
        }
        Action::Map { path } => tools::map(&session.tree, door, path),
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
