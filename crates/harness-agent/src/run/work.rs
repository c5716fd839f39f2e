//! The work rung: the model writes, guards and tests judge, until the evidence says it is done.

use std::collections::HashSet;

use harness_code::path::RelPath;
use harness_code::tree::SourceTree;

use crate::action::Action;
use crate::guard::{self, Change, Facts};
use crate::history::{Refusal, Step};
use crate::model::{Finish, Model, ModelError};
use crate::plan::Rung;
use crate::reply::{self, Reading};
use crate::run::cut::{CONTINUE, Cut};
use crate::run::event::EventKind;
use crate::run::evidence::Verdict;
use crate::run::prompt::{self, Opening, capped};
use crate::run::result::Stopped;
use crate::run::search::Search;
use crate::run::session::{Ending, Session, first_line};
use crate::run::talk::Talk;
use crate::run::telling::{failure_to_show, summary};
use crate::run::trial::{self, Trial};
use crate::task::kind::Kind;
use crate::tool::{change, look as tools};

/// Turns without anything new after which a run is stuck (CONTRACT, A run).
const MOST_IDLE: u32 = 3;
/// Drafts that are drawn once more from a prompt that holds the failing message already.
const MORE_DRAFTS: u32 = 3;
/// The longest observation, in characters.
const LONGEST_OBSERVATION: usize = 6_000;
/// Files that hold the house rules of a project, first wins.
const RULE_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];

/// What one turn came to.
enum Outcome {
    /// The run goes on with these words to the model; whether they are news.
    Say { words: String, new: bool },
    /// A draft was tried, failed and was taken back; these words say why.
    Failed(String),
    /// The action was refused.
    Refused(Refusal),
    /// The run ends.
    End(Stopped, String),
}

/// Does the task of a session.
pub(super) fn perform(session: &mut Session<'_>, model: &mut dyn Model) -> Ending {
    if session.read_only() {
        return propose(session, model);
    }
    let mut trial = match Trial::open(session) {
        Ok(trial) => trial,
        Err(ending) => return *ending,
    };
    trial.baseline(session);
    if session.cancel.stopped() {
        return trial.take_back(session, Stopped::Interrupted, "interrupted".to_owned());
    }
    let failure = failure_to_show(session, &trial);
    let mut search = Search::begin(session, &trial);
    let ended = turns(session, model, &failure, Some(&mut trial), &mut search);
    let ended = last_resort(session, &mut trial, search, ended);
    end(session, trial, ended).with_engine_hint(session)
}

/// Does the task of a session whose engine cannot be had: a search may still find the fix.
pub(super) fn without_engine(session: &mut Session<'_>, error: &ModelError) -> Ending {
    let failed = session.engine_failed(error);
    if session.read_only() || session.task.kind != Kind::Fix {
        return failed;
    }
    let mut trial = match Trial::open(session) {
        Ok(trial) => trial,
        Err(ending) => return *ending,
    };
    trial.baseline(session);
    let search = Search::begin(session, &trial);
    session.engine_hint = Some(failed.hint);
    let ended = last_resort(
        session,
        &mut trial,
        search,
        (failed.stopped, failed.summary),
    );
    end(session, trial, ended).with_engine_hint(session)
}

/// Where the model did not finish, what the search finds may.
fn last_resort(
    session: &mut Session<'_>,
    trial: &mut Trial,
    search: Option<Search>,
    ended: (Stopped, String),
) -> (Stopped, String) {
    let Some(mut search) = search else {
        return ended;
    };
    let unfinished = matches!(ended.0, Stopped::Engine | Stopped::Steps | Stopped::Stuck);
    if !unfinished || session.cancel.stopped() {
        return ended;
    }
    if ended.0 == Stopped::Engine {
        let text = format!("no engine ({}): trying small changes", first_line(&ended.1));
        session.tell(EventKind::Engine, &text, []);
    }
    search.wait_all(session);
    match search.take(session, trial) {
        Some(summary) => {
            session.engine_hint = None;
            (Stopped::Done, summary)
        }
        None => ended,
    }
}

/// Keeps what is proven and takes everything else back.
fn end(session: &mut Session<'_>, trial: Trial, ended: (Stopped, String)) -> Ending {
    match ended {
        (Stopped::Done, summary) => trial.keep(session, summary),
        (stopped, summary) => {
            // A run that only made things worse says so.
            let broke = trial
                .broke
                .clone()
                .filter(|_| matches!(stopped, Stopped::Steps | Stopped::Stuck));
            match broke {
                Some(words) => {
                    let summary = format!("the change was taken back: {}", first_line(&words));
                    trial.take_back(session, Stopped::Broke, summary)
                }
                None => trial.take_back(session, stopped, summary),
            }
        }
    }
}

/// A read-only run: writes are refused, what they would have done is shown.
fn propose(session: &mut Session<'_>, model: &mut dyn Model) -> Ending {
    let (stopped, summary) = turns(session, model, "", None, &mut None);
    let diff = std::mem::take(&mut session.proposal);
    let proposed = stopped != Stopped::Done
        && !diff.is_empty()
        && matches!(stopped, Stopped::Steps | Stopped::Stuck);
    let stopped = if proposed { Stopped::Done } else { stopped };
    let summary = if proposed {
        "this is what would change; the run is read-only".to_owned()
    } else {
        summary
    };
    Ending {
        diff,
        ..Ending::new(stopped, summary)
    }
    .with_engine_hint(session)
}

/// Takes turns until one ends the run.
fn turns(
    session: &mut Session<'_>,
    model: &mut dyn Model,
    failure: &str,
    mut trial: Option<&mut Trial>,
    search: &mut Option<Search>,
) -> (Stopped, String) {
    let skills = session.plan.load_skills(&session.tree);
    let messages = prompt::opening(&Opening {
        task: &session.task,
        plan: &session.plan,
        tree: &session.tree,
        skills: &skills,
        rules: &house_rules(&session.tree),
        context: &session.options.context,
        failure,
        learned: &session.learned,
        read_only: trial.is_none(),
        answers: false,
    });
    let mut talk = match Talk::open(session, model, messages) {
        Ok(talk) => talk,
        Err(error) => return engine(session, &error),
    };
    let mut seen: HashSet<String> = HashSet::new();
    let mut idle = 0;
    let mut cut = Cut::default();
    for number in 1..=session.options.steps {
        let turn = match talk.turn(session) {
            Ok(turn) => turn,
            Err(error) => return engine(session, &error),
        };
        let text = cut.whole(&turn.reply.text);
        if turn.reply.finish == Finish::Length && cut.may_go_on(&text) {
            session.push(Step {
                number,
                action: "reply".to_owned(),
                path: String::new(),
                result: CONTINUE.to_owned(),
                refused: String::new(),
                seconds: turn.seconds,
                tokens: turn.reply.reply_tokens,
            });
            if session.cancel.stopped() {
                return (Stopped::Interrupted, "interrupted".to_owned());
            }
            talk.say(CONTINUE);
            continue;
        }
        let reading = reply::read(&text);
        let mut step = Step {
            number,
            action: reading
                .action
                .as_ref()
                .map_or("reply", Action::tool)
                .to_owned(),
            path: reading
                .action
                .as_ref()
                .map(|action| action.path().to_owned())
                .unwrap_or_default(),
            result: String::new(),
            refused: String::new(),
            seconds: turn.seconds,
            tokens: turn.reply.reply_tokens,
        };
        if let Some(action) = &reading.action {
            let text = format!("step {number}: {} {}", action.tool(), action.path());
            session.tell(
                EventKind::Action,
                text.trim_end(),
                [
                    ("action", action.tool().into()),
                    ("path", action.path().into()),
                ],
            );
        }
        let state = state_of(session, &trial);
        let again = reading
            .action
            .as_ref()
            .is_some_and(|action| !seen.insert(format!("{state}{action:?}")));
        let outcome = if again {
            repeated(&reading)
        } else {
            act(session, &reading, trial.as_deref_mut(), search)
        };
        let failed = matches!(outcome, Outcome::Failed(_));
        let words = match outcome {
            Outcome::Failed(words) => {
                idle = 0;
                step.result.clone_from(&words);
                words
            }
            Outcome::Say { words, new } => {
                idle = if new { 0 } else { idle + 1 };
                step.result.clone_from(&words);
                words
            }
            Outcome::Refused(refusal) => {
                idle += 1;
                step.refused.clone_from(&refusal.rule);
                step.result.clone_from(&refusal.reason);
                session.refuse(&refusal);
                format!("Refused: {}", refusal.reason)
            }
            Outcome::End(stopped, summary) => {
                step.result.clone_from(&summary);
                session.push(step);
                return (stopped, summary);
            }
        };
        session.push(step);
        if session.cancel.stopped() {
            return (Stopped::Interrupted, "interrupted".to_owned());
        }
        if let (Some(trial), Some(search), true) = (trial.as_deref_mut(), &mut *search, failed) {
            search.wait_beside(session);
            if let Some(summary) = search.take(session, trial) {
                return (Stopped::Done, summary);
            }
        }
        if idle >= MOST_IDLE {
            return (
                Stopped::Stuck,
                format!(
                    "{MOST_IDLE} turns in a row brought nothing new; the last: {}",
                    first_line(&words)
                ),
            );
        }
        let rewrites = session.plan.rung == Rung::Rewrite && session.task.kind == Kind::Fix;
        if rewrites && failed && (2..2 + MORE_DRAFTS).contains(&number) {
            talk.draw_again(number);
            continue;
        }
        let leftovers = reading.leftovers.join(", ");
        let more = if leftovers.is_empty() {
            String::new()
        } else {
            format!("\nNot done this turn: {leftovers}.")
        };
        let menu = if number == 1 && session.plan.rung == Rung::Rewrite {
            format!("\n\n{}", prompt::MENU.trim_end())
        } else {
            String::new()
        };
        let words = capped(&words, LONGEST_OBSERVATION);
        talk.say(&format!("{words}{more}{menu}"));
    }
    (
        Stopped::Steps,
        format!("not finished within {} steps", session.options.steps),
    )
}

fn engine(session: &mut Session<'_>, error: &ModelError) -> (Stopped, String) {
    let ending = session.engine_failed(error);
    session.engine_hint = Some(ending.hint);
    (ending.stopped, ending.summary)
}

/// What the files are now, as far as this run changed them.
fn state_of(session: &Session<'_>, trial: &Option<&mut Trial>) -> String {
    trial
        .as_ref()
        .map(|trial| trial.fingerprint(session))
        .unwrap_or_default()
}

fn repeated(reading: &Reading) -> Outcome {
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

fn act(
    session: &mut Session<'_>,
    reading: &Reading,
    trial: Option<&mut Trial>,
    search: &mut Option<Search>,
) -> Outcome {
    let Some(action) = &reading.action else {
        return unread(session, reading, trial.is_none());
    };
    match (action, trial) {
        (action, None) if action.needs_writing() => refuse_read_only(session, action),
        (action, Some(trial)) if action.changes_files() => {
            try_change(session, action, trial, search)
        }
        (Action::Run { .. }, Some(trial)) => run_tests(session, trial),
        (Action::Done { summary }, Some(trial)) => finish(session, trial, summary),
        (Action::Done { summary }, None) => Outcome::End(Stopped::Done, summary.clone()),
        (Action::Ask { question }, _) => ask(session, question),
        (action, _) => match look(session, action) {
            Ok(words) => Outcome::Say { words, new: true },
            Err(refusal) => Outcome::Refused(refusal),
        },
    }
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
    let what = session
        .plan
        .spots()
        .first()
        .map(|spot| spot.name.as_str())
        .filter(|name| !name.is_empty());
    let wanted = what.map_or("the definition".to_owned(), |name| format!("`{name}`"));
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

fn refuse_read_only(session: &mut Session<'_>, action: &Action) -> Outcome {
    // What it would have changed is worth showing, as long as it may be at all.
    let proposed = change::proposed(
        &session.tree,
        session.project.door(),
        session.plan.spots().first(),
        action,
    );
    if let Ok(draft) = proposed {
        let facts = Facts {
            tree: Some(session.whole_tree()),
            installed: session.installed(),
            beside: &draft.changes,
        };
        let refused = |change: &Change| guard::refusal(change, &session.task, &facts).is_some();
        if !draft.changes.iter().any(refused) {
            session.proposal = draft.changes.iter().map(trial::diff_of).collect();
        }
    }
    Outcome::Refused(read_only_refusal(action))
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
        session.plan.spots().first(),
        action,
    );
    let draft = match proposed {
        Ok(draft) => draft,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    if let Err(refusal) = trial.apply(session, &draft) {
        return Outcome::Refused(refusal);
    }
    let verdict = trial.judge(session);
    if session.cancel.stopped() {
        return Outcome::End(Stopped::Interrupted, "interrupted".to_owned());
    }
    if let Some(search) = search
        && !matches!(verdict, Verdict::Proven(_))
    {
        draft.changes.iter().for_each(|change| search.learn(change));
    }
    match verdict {
        Verdict::Proven(proof) => {
            // A draft that passes wins, unless the search found the same with far less.
            if let Some(search) = search
                && draft
                    .changes
                    .iter()
                    .all(|change| search.smaller_than(change))
            {
                trial.put_back(session, &draft);
                if let Some(summary) = search.take(session, trial) {
                    return Outcome::End(Stopped::Done, summary);
                }
                if let Err(refusal) = trial.apply(session, &draft) {
                    return Outcome::Refused(refusal);
                }
                if !matches!(trial.judge(session), Verdict::Proven(_)) {
                    trial.put_back(session, &draft);
                    let words = "That passed once and not again; it was taken back.".to_owned();
                    return Outcome::Say { words, new: true };
                }
            }
            Outcome::End(Stopped::Done, summary(&draft.changes, &proof))
        }
        Verdict::Worse(words) => {
            trial.put_back(session, &draft);
            trial.broke = Some(words.clone());
            Outcome::Failed(format!(
                "That made the tests worse and was taken back: {words}"
            ))
        }
        Verdict::Unfinished { reason, .. } => {
            if session.task.kind == Kind::Fix {
                // Drafts of a fix are alternatives: each starts from the code as it was.
                trial.put_back(session, &draft);
                return Outcome::Failed(format!("That was not it and was taken back: {reason}"));
            }
            Outcome::Say {
                words: format!("Written. {reason}"),
                new: true,
            }
        }
        Verdict::Unverified(reason) => {
            Outcome::End(Stopped::Stuck, format!("unverified: {reason}"))
        }
    }
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
    match trial.verdict(session) {
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
        Verdict::Worse(reason) => {
            Outcome::Refused(Refusal::new("finish.tests_failing", reason, ""))
        }
        Verdict::Unfinished { rule, reason } => Outcome::Refused(Refusal::new(rule, reason, "")),
        Verdict::Unverified(reason) => {
            Outcome::End(Stopped::Stuck, format!("unverified: {reason}"))
        }
    }
}

fn ask(session: &mut Session<'_>, question: &str) -> Outcome {
    let question = crate::task::question::Question::new(question, []);
    session.tell(
        EventKind::Question,
        &question.text,
        [("question", question.render().into())],
    );
    match session
        .listener
        .question(&question)
        .and_then(|words| question.answer(&words))
    {
        Some(answer) => Outcome::Say {
            words: format!("The user answers: {answer}"),
            new: true,
        },
        None => Outcome::End(Stopped::Question, question.render()),
    }
}

/// Carries a looking action out.
pub(super) fn look(session: &Session<'_>, action: &Action) -> Result<String, Refusal> {
    let door = session.project.door();
    match action {
        Action::Read { path, place } => tools::read(door, path, place),
        Action::Search { query, path } => tools::find(&session.tree, door, query, path),
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

/// Returns the house rules of a project, or nothing.
pub(super) fn house_rules(tree: &SourceTree) -> String {
    let text = |name: &&str| Some(tree.text(&RelPath::parse(name).ok()?).ok()?.into_content());
    RULE_FILES.iter().find_map(text).unwrap_or_default()
}
