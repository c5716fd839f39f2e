//! The work rung: the model writes, guards and tests judge, until the evidence says it is done.

use std::collections::HashSet;

use harness_code::path::RelPath;
use harness_code::tree::SourceTree;

use crate::action::Action;
use crate::history::Step;
use crate::model::{Finish, Model, ModelError, Shape};
use crate::plan::Rung;
use crate::reply;
use crate::run::act::{Outcome, act, repeated};
use crate::run::cut::{CONTINUE, Cut};
use crate::run::event::EventKind;
use crate::run::form;
use crate::run::prompt::{self, Opening, capped};
use crate::run::result::Stopped;
use crate::run::search::Search;
use crate::run::session::{Ending, Session, first_line};
use crate::run::talk::{self, Talk, Turn};
use crate::run::telling::failure_to_show;
use crate::run::trial::Trial;
use crate::task::kind::Kind;

/// Turns without anything new after which a run is stuck (CONTRACT, A run).
const MOST_IDLE: u32 = 3;
/// Drafts that are drawn from the same prompt before a failed one goes back with its message, and again after that.
/// Measured on twenty one-line bugs with a model of 135 million parameters: the likeliest reply fixed 9; four more from
/// the same prompt made it 15; its own traceback shown first made it 9, and four more from there 11.
const MORE_DRAFTS: u32 = 3;
/// What small models do wrong by chance, and right in the next draw.
const REDRAWN: [&str; 4] = [
    "draft.no_change",
    "draft.syntax",
    "draft.unresolved",
    SAME_AGAIN,
];
const SAME_AGAIN: &str = "repeat.same_action";
/// The longest observation, in characters.
const LONGEST_OBSERVATION: usize = 6_000;
/// Files that hold the house rules of a project, first wins.
const RULE_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];

/// Does the task of a session.
pub(super) fn perform(
    session: &mut Session<'_>,
    model: &mut dyn Model,
    begun: &mut Option<Trial>,
) -> Ending {
    if session.read_only() {
        return propose(session, model);
    }
    let mut trial = match Trial::resume(session, begun) {
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
pub(super) fn without_engine(
    session: &mut Session<'_>,
    error: &ModelError,
    begun: &mut Option<Trial>,
) -> Ending {
    let failed = session.engine_failed(error);
    if session.read_only() || session.task.kind != Kind::Fix {
        return failed;
    }
    let mut trial = match Trial::resume(session, begun) {
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
    // A question of the model's own that nobody answered is no end either.
    let unfinished = matches!(
        ended.0,
        Stopped::Engine | Stopped::Steps | Stopped::Stuck | Stopped::Question
    );
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
            let summary = with_hang(&trial, summary);
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

/// Adds the place of a test that hangs: whoever reads on alone begins there.
fn with_hang(trial: &Trial, summary: String) -> String {
    let failures = trial.before().map_or(&[][..], |before| &before.failures);
    match failures.iter().find(|failure| failure.hung.is_some()) {
        Some(failure) => format!("{summary}; {} {}", failure.id, failure.message),
        None => summary,
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
    let (mut talk, schema) = match begin(session, model, failure, trial.is_none()) {
        Ok(begun) => begun,
        Err(error) => return engine(session, &error),
    };
    let shape = talk.shape;
    let mut seen: HashSet<String> = HashSet::new();
    let mut idle = 0;
    let mut knows_menu = false;
    let mut cut = Cut::default();
    for number in 1..=session.options.steps {
        let turn = match talk.turn(session) {
            Ok(turn) => turn,
            Err(error) => return engine(session, &error),
        };
        let text = cut.whole(&turn.reply.text);
        if turn.reply.finish == Finish::Length && cut.may_go_on(&text) {
            session.push(Step {
                result: CONTINUE.to_owned(),
                ..step_of(number, None, &turn)
            });
            if session.cancel.stopped() {
                return (Stopped::Interrupted, "interrupted".to_owned());
            }
            talk.say(CONTINUE);
            continue;
        }
        let reading = reply::read(&text);
        let mut step = step_of(number, reading.action.as_ref(), &turn);
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
        let state = state_of(&trial);
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
        let spoilt = matches!(&outcome, Outcome::Refused(refusal) if REDRAWN.contains(&refusal.rule.as_str()));
        // Small models also repeat the code as it was, or break it; saying so does not help them, another draw does.
        let draws = draws_again(session, number) && (failed || spoilt);
        let next = matches!(outcome, Outcome::Next(_));
        let words = match outcome {
            Outcome::Next(words) => {
                idle = 0;
                step.result = "Written.".to_owned();
                words
            }
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
                // Different drafts from one prompt are one turn of the conversation; the same again is nothing new.
                idle += u32::from(!draws || refusal.rule == SAME_AGAIN);
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
        // The model had its turn: what the search has proven by now need not wait for another one.
        if let (Some(trial), Some(search)) = (trial.as_deref_mut(), &mut *search) {
            if failed {
                search.wait_beside(session);
            }
            if (failed || search.has_found())
                && let Some(summary) = search.take(session, trial)
            {
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
        if draws {
            talk.draw_again(number);
            continue;
        }
        if next {
            talk.say(&words);
            continue;
        }
        if let Some(shown) = talk.held_back.take() {
            let words = capped(&words, LONGEST_OBSERVATION);
            talk.say(&format!("{}\n\n{shown}", words.trim_end()));
            continue;
        }
        let told_menu = std::mem::replace(&mut knows_menu, true);
        let menu = !told_menu && session.plan.rung == Rung::Rewrite;
        // A reply that could not be read is asked for again in a form that cannot be missed, where the server can hold it.
        let unread = reading.action.is_none() && session.plan.rung == Rung::Loop;
        talk.shape = if unread && schema {
            Shape::Object
        } else {
            shape
        };
        talk.say(&observation(&words, &reading.leftovers, menu));
    }
    (
        Stopped::Steps,
        format!("not finished within {} steps", session.options.steps),
    )
}

/// Returns whether a draft that does not do is followed by another from the same prompt.
fn draws_again(session: &Session<'_>, number: u32) -> bool {
    let rewrites = session.plan.rung == Rung::Rewrite && session.task.kind == Kind::Fix;
    let told = MORE_DRAFTS + 1;
    rewrites && ((1..told).contains(&number) || (told + 1..=told + MORE_DRAFTS).contains(&number))
}

/// Opens the conversation in the form that task and engine ask for. Also returns whether the server can hold a schema.
fn begin<'m>(
    session: &mut Session<'_>,
    model: &'m mut dyn Model,
    failure: &str,
    read_only: bool,
) -> Result<(Talk<'m>, bool), ModelError> {
    let card = talk::meet(session, model)?;
    let room = talk::most_room(&card, session.options.max_tokens);
    form::settle(session, &room);
    let shape = form::shape(session, &card);
    let framework = form::framework(session);
    // Advice costs a very small model more than it helps it (6 of 20 bugs with, 7 without); what the user names is kept.
    let skills = if card.abilities.tiny && session.options.skills.is_empty() {
        Vec::new()
    } else {
        session.plan.load_skills(&session.tree)
    };
    let opening = Opening {
        task: &session.task,
        plan: &session.plan,
        tree: &session.tree,
        skills: &skills,
        rules: &house_rules(&session.tree),
        files: &session.files,
        context: &session.options.context,
        failure,
        learned: &session.learned,
        read_only,
        answers: false,
        framework: &framework,
        object: shape == Shape::Object,
        tiny: card.abilities.tiny,
    };
    let opened = prompt::opening(&opening, room.opening());
    let schema = card.abilities.schema;
    let mut talk = Talk::open(session, model, card, opened)?;
    talk.shape = shape;
    talk.block_instead_of = form::block_instead_of(session);
    Ok((talk, schema))
}

/// Returns the step of a turn, before anything came of it.
fn step_of(number: u32, action: Option<&Action>, turn: &Turn) -> Step {
    Step {
        number,
        action: action.map_or("reply", Action::tool).to_owned(),
        path: action
            .map(|action| action.path().to_owned())
            .unwrap_or_default(),
        result: String::new(),
        refused: String::new(),
        seconds: turn.seconds,
        tokens: turn.reply.reply_tokens,
    }
}

/// Returns what the model is told of a turn: what came of it, what was left, and once the other actions it has.
fn observation(words: &str, leftovers: &[String], menu: bool) -> String {
    let mut told = capped(words, LONGEST_OBSERVATION);
    if !leftovers.is_empty() {
        told.push_str(&format!("\nNot done this turn: {}.", leftovers.join(", ")));
    }
    if menu {
        told.push_str(&format!("\n\n{}", prompt::MENU.trim_end()));
    }
    told
}

fn engine(session: &mut Session<'_>, error: &ModelError) -> (Stopped, String) {
    let ending = session.engine_failed(error);
    session.engine_hint = Some(ending.hint);
    (ending.stopped, ending.summary)
}

/// What the files are now, as far as this run changed them.
fn state_of(trial: &Option<&mut Trial>) -> String {
    trial
        .as_ref()
        .map(|trial| trial.fingerprint())
        .unwrap_or_default()
}

/// Returns the house rules of a project, or nothing.
pub(super) fn house_rules(tree: &SourceTree) -> String {
    let text = |name: &&str| Some(tree.text(&RelPath::parse(name).ok()?).ok()?.into_content());
    RULE_FILES.iter().find_map(text).unwrap_or_default()
}
