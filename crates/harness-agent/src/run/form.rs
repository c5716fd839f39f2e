//! The form a model is asked in: chosen from where the task leads and what the engine can do.

use harness_code::suite::Runner;

use crate::config::Form;
use crate::model::{Card, Shape};
use crate::plan::{self, Rung};
use crate::run::prompt;
use crate::run::room::Room;
use crate::run::session::Session;
use crate::task::kind::Kind;

/// Settles whether one definition is written anew: not where the user wants otherwise, nor where it does not fit.
pub(super) fn settle(session: &mut Session<'_>, room: &Room) {
    let wanted = matches!(session.config.form, None | Some(Form::Fenced));
    let fits = match session.plan.new_definition() {
        Some(_) => true,
        None => session
            .plan
            .spots()
            .first()
            .is_some_and(|spot| plan::fits_reply(spot, room.reply())),
    };
    if session.plan.rung == Rung::Rewrite && !(wanted && fits) {
        session.plan.rung = Rung::Loop;
    }
}

/// Returns how replies should look. A whole definition always comes in a fence: that is what small models do best.
pub(super) fn shape(session: &Session<'_>, card: &Card) -> Shape {
    match session.config.form {
        Some(Form::Json) => Shape::Object,
        Some(Form::Fenced | Form::Actions) => Shape::Words,
        None if session.plan.rung == Rung::Loop && card.abilities.tools => Shape::Calls,
        None => Shape::Words,
    }
}

/// Returns the words that ask for the tests of a new definition once that is written.
pub(super) fn tests_next(session: &mut Session<'_>) -> Option<String> {
    if session.plan.rung != Rung::Rewrite {
        return None;
    }
    let framework = framework(session);
    let name = session.plan.new_definition()?.name.clone();
    let home = session.plan.turn_to_tests(&session.tree)?.clone();
    Some(prompt::tests_next(&session.tree, &home, &framework, &name))
}

/// Returns the code that one block is asked for instead of, where one is.
pub(super) fn block_instead_of(session: &Session<'_>) -> Option<String> {
    if session.plan.rung == Rung::Rewrite && session.plan.new_definition().is_some() {
        return Some(String::new());
    }
    let one =
        session.plan.rung == Rung::Rewrite && matches!(session.task.kind, Kind::Fix | Kind::Change);
    let spot = session.plan.spots().first().filter(|_| one)?;
    let text = session.tree.text(&spot.path).ok()?;
    text.content().get(spot.span.clone()).map(str::to_owned)
}

/// Returns what runs the project's Python tests, in a word; without any the standard library does.
pub(super) fn framework(session: &Session<'_>) -> String {
    match session.suite().map(|suite| suite.runner) {
        Some(Runner::Pytest) => "pytest".to_owned(),
        Some(Runner::Unittest) | None => "unittest".to_owned(),
        Some(_) => String::new(),
    }
}
