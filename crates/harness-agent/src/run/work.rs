//! The work rung: the model writes, guards and tests judge, until the evidence says it is done.

use crate::model::{Model, ModelError};
use crate::run::conversation::{Conversation, Engine, attempt, turns};
use crate::run::fix::Tried;
use crate::run::red_tests;
use crate::run::result::Stopped;
use crate::run::session::{Ended, Ending, Session, first_line};
use crate::run::talk;
use crate::run::trial::{Attempt, Trial};
use crate::run::under_test;
use crate::task::kind::Kind;

/// Does the task of a session.
pub(super) fn perform(
    session: &mut Session<'_>,
    model: &mut dyn Model,
    tried: &mut Option<Tried>,
) -> Ending {
    if session.read_only() {
        return propose(session, model);
    }
    // Nobody waits for tests only to learn that there is no engine.
    match talk::meet(session, model) {
        Ok(card) => with_engine(session, Engine::Ready { model, card }, tried),
        Err(error) => without_engine(session, &error, tried),
    }
}

/// Does the task of a session whose engine cannot be had: a search may still find the fix.
pub(super) fn without_engine(
    session: &mut Session<'_>,
    error: &ModelError,
    tried: &mut Option<Tried>,
) -> Ending {
    let failed = session.engine_failed(error);
    // Anything but a missing engine is that the prompt may not be sent, or that the user said stop.
    let may_search = failed.stopped == Stopped::Engine && session.task.kind == Kind::Fix;
    if session.read_only() || !may_search {
        return failed.into();
    }
    with_engine(session, Engine::Missing(failed), tried)
}

fn with_engine(
    session: &mut Session<'_>,
    mut engine: Engine<'_>,
    tried: &mut Option<Tried>,
) -> Ending {
    let (mut trial, learned) = match tried.take() {
        Some(tried) => (tried.trial, tried.learned),
        None => match Trial::open(session) {
            Ok(trial) => (trial, String::new()),
            Err(ending) => return *ending,
        },
    };
    trial.baseline(session);
    if session.cancel.stopped() {
        return trial.take_back(session, Stopped::Interrupted, "interrupted".to_owned());
    }
    if session.plan.is_about_red_tests() {
        return red_tests::perform(session, &mut engine, trial, &learned);
    }
    under_test::show(session, &trial);
    trial.remember_shown(session);
    let steps = session.options.steps;
    let ended = attempt(session, &mut engine, &mut trial, &learned, steps);
    let hint = ended.hint.clone();
    end(session, trial, ended).with_hint(&hint)
}

/// Keeps what is proven and takes everything else back.
fn end(session: &mut Session<'_>, trial: Trial, ended: Ended) -> Ending {
    // A run that only made things worse says so.
    let may_have_broken = matches!(ended.stopped, Stopped::Steps | Stopped::Stuck);
    match (ended.stopped, &trial.broke) {
        (Stopped::Done, _) => trial.keep(session, ended.summary),
        (_, Some(words)) if may_have_broken => {
            let summary = format!("the change was taken back: {}", first_line(words));
            trial.take_back(session, Stopped::Broke, summary)
        }
        (stopped, _) => {
            let summary = with_hang(&trial, ended.summary);
            trial.take_back(session, stopped, summary)
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
    let opened = talk::meet(session, model)
        .and_then(|card| Conversation::open(session, model, card, ("", ""), true));
    let mut open = match opened {
        Ok(open) => open,
        Err(error) => return session.engine_failed(&error).into(),
    };
    let ended = turns(session, &mut open, None, &mut None, session.options.steps);
    let Attempt { patch, changes } = open.proposed;
    let is_unfinished = matches!(ended.stopped, Stopped::Steps | Stopped::Stuck);
    let ended = match is_unfinished && !patch.is_empty() {
        true => Ended::new(
            Stopped::Done,
            "this is what would change; the run is read-only",
        ),
        false => ended,
    };
    Ending {
        diff: patch,
        changes,
        ..Ending::from(ended)
    }
}
