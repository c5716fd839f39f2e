//! The work rung: the model writes, guards and tests judge, until the evidence says it is done.

use crate::model::{Model, ModelError};
use crate::run::conversation::{Conversation, Engine, attempt, engine_ended, turns};
use crate::run::red_tests;
use crate::run::result::Stopped;
use crate::run::session::{Ending, Session, first_line};
use crate::run::talk;
use crate::run::trial::Trial;
use crate::run::under_test;
use crate::task::kind::Kind;

/// Does the task of a session.
pub(super) fn perform(
    session: &mut Session<'_>,
    model: &mut dyn Model,
    begun: &mut Option<Trial>,
) -> Ending {
    if session.read_only() {
        return propose(session, model);
    }
    // Nobody waits for tests only to learn that there is no engine.
    match talk::meet(session, model) {
        Ok(card) => with_engine(session, Engine::Ready { model, card }, begun),
        Err(error) => without_engine(session, &error, begun),
    }
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
    session.engine_hint = Some(failed.hint);
    if failed.stopped != Stopped::Engine {
        // The prompt may not be sent, or the user said stop.
        return Ending::new(failed.stopped, failed.summary).with_engine_hint(session);
    }
    with_engine(session, Engine::Missing(failed.summary), begun)
}

fn with_engine(
    session: &mut Session<'_>,
    mut engine: Engine<'_>,
    begun: &mut Option<Trial>,
) -> Ending {
    let mut trial = match Trial::resume(session, begun) {
        Ok(trial) => trial,
        Err(ending) => return *ending,
    };
    trial.baseline(session);
    if session.cancel.stopped() {
        return trial.take_back(session, Stopped::Interrupted, "interrupted".to_owned());
    }
    if session.plan.is_about_red_tests() {
        return red_tests::perform(session, &mut engine, trial).with_engine_hint(session);
    }
    under_test::show(session, &trial);
    trial.remember_shown(session);
    let steps = session.options.steps;
    let ended = attempt(session, &mut engine, &mut trial, steps);
    end(session, trial, ended).with_engine_hint(session)
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
    let opened = talk::meet(session, model)
        .and_then(|card| Conversation::open(session, model, card, "", true));
    let (stopped, summary) = match opened {
        Ok(mut open) => turns(session, &mut open, None, &mut None, session.options.steps),
        Err(error) => engine_ended(session, &error),
    };
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
