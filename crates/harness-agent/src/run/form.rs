//! The form a model is asked in: chosen from where the task leads and what the engine can do.

use harness_code::path::RelPath;
use harness_code::suite::Runner;
use harness_code::tree::SourceTree;

use crate::config::Form;
use crate::model::{Card, Shape};
use crate::plan::{self, Plan, Rung};
use crate::run::context::Context;
use crate::run::places;
use crate::run::prompt::{self, Opened, Opening};
use crate::run::talk;
use crate::run::work::Work;
use harness_code::request::kind::Kind;

/// What is known of the code beside the code itself, for the first prompt.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// How a test fails.
    pub(super) failure: String,
    /// What was found out by what did not do.
    pub(super) learned: String,
}

/// Returns a plan in a form that this model can follow: nothing is written anew in one reply where the user wants
/// otherwise, or where it does not fit.
pub(super) fn fitting(context: &Context<'_>, plan: &Plan, card: &Card) -> Plan {
    let room = talk::most_room(card, context.options.max_tokens);
    let wanted = matches!(context.config.form, None | Some(Form::Fenced));
    let first = plan.spots().first();
    let fits = || first.is_some_and(|spot| plan::fits_reply(spot, room.reply()));
    match wanted && (plan.new_definition().is_some() || fits()) {
        false if plan.rung == Rung::Rewrite => plan.turn_by_turn(),
        _ => plan.clone(),
    }
}

/// Returns whether the model is asked for the places before anything else.
pub(super) fn lists_places(context: &Context<'_>, plan: &Plan, card: &Card) -> bool {
    let shape = shape(context, plan, card);
    !context.read_only() && places::are_asked_for(context, plan, card, shape)
}

/// Returns the first request of work on code, and the shape of the replies to it.
pub(super) fn of_work(
    context: &Context<'_>,
    plan: &Plan,
    card: &Card,
    known: &Known,
) -> (Opened, Shape) {
    let shape = shape(context, plan, card);
    let tree = context.tree();
    // Advice costs a very small model more than it helps it (6 of 20 bugs with, 7 without); what the user names is kept.
    let is_tiny = card.abilities.tiny;
    let skills = match is_tiny && context.options.skills.is_empty() {
        true => Vec::new(),
        false => plan.load_skills(tree),
    };
    let opening = Opening {
        plan,
        tree,
        skills: &skills,
        rules: &house_rules(tree),
        files: context.files,
        context: &context.options.context,
        failure: &known.failure,
        learned: &known.learned,
        read_only: context.read_only(),
        answers: false,
        framework: &framework(context),
        object: shape == Shape::Object,
        tiny: is_tiny,
        lists: lists_places(context, plan, card),
    };
    let room = talk::most_room(card, context.options.max_tokens);
    (prompt::opening(&opening, room.opening()), shape)
}

/// Returns the first request of a question, with what is known to its answer.
pub(super) fn of_question(
    context: &Context<'_>,
    plan: &Plan,
    card: &Card,
    learned: &str,
) -> (Opened, Shape) {
    let tree = context.tree();
    let opening = Opening {
        plan,
        tree,
        skills: &plan.load_skills(tree),
        rules: &house_rules(tree),
        files: context.files,
        context: &context.options.context,
        failure: "",
        learned,
        read_only: true,
        answers: true,
        framework: "",
        object: false,
        tiny: false,
        lists: false,
    };
    let room = talk::most_room(card, context.options.max_tokens);
    let opened = prompt::opening(&opening, room.opening());
    (opened, Shape::Words)
}

/// Files that hold the house rules of a project, first wins.
const RULE_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];

/// Returns the house rules of a project, or nothing.
fn house_rules(tree: &SourceTree) -> String {
    let text = |name: &&str| Some(tree.text(&RelPath::parse(name).ok()?).ok()?.into_content());
    RULE_FILES.iter().find_map(text).unwrap_or_default()
}

/// Returns how replies should look. A whole definition always comes in a fence: that is what small models do best.
fn shape(context: &Context<'_>, plan: &Plan, card: &Card) -> Shape {
    match context.config.form {
        Some(Form::Json) => Shape::Object,
        Some(Form::Fenced | Form::Actions) => Shape::Words,
        None if plan.rung == Rung::Loop && card.abilities.tools => Shape::Calls,
        None => Shape::Words,
    }
}

/// Returns the words that ask for the tests of a new definition once that is written.
pub(super) fn tests_next(work: &mut Work<'_>) -> Option<String> {
    if work.plan.rung != Rung::Rewrite {
        return None;
    }
    let (tree, framework) = (work.context.tree(), framework(work.context));
    let name = &work.plan.new_definition()?.name;
    let home = work.places.turn_to_tests(&work.plan, tree)?;
    Some(prompt::tests_next(tree, home, &framework, name))
}

/// Returns the code that one block is asked for in place of, where one is: behind that block nothing is waited for.
pub(super) fn stop_after_block(context: &Context<'_>, plan: &Plan) -> Option<String> {
    if plan.rung == Rung::Rewrite && plan.new_definition().is_some() {
        return Some(String::new());
    }
    let one = plan.rung == Rung::Rewrite && matches!(plan.task.kind(), Kind::Fix | Kind::Change);
    let spot = plan.spots().first().filter(|_| one)?;
    let text = context.tree().text(&spot.path).ok()?;
    text.content().get(spot.span.clone()).map(str::to_owned)
}

/// Returns what runs the project's Python tests, in a word; without any the standard library does.
pub(super) fn framework(context: &Context<'_>) -> String {
    match context.suite().map(|suite| suite.runner) {
        Some(Runner::Pytest) => "pytest".to_owned(),
        Some(Runner::Unittest) | None => "unittest".to_owned(),
        Some(_) => String::new(),
    }
}
