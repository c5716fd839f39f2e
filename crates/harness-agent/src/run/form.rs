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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::model::{Abilities, Host};
    use crate::run::scripted_tests::{PRICING, Stage, TEST_PRICING};

    const TASK: &str = "prices in pricing.py should be rounded to whole numbers everywhere";
    const ADD: &str = "add a function tax(total) to pricing.py";

    fn card(abilities: Abilities) -> Card {
        Card {
            model: "scripted".to_owned(),
            host: Host {
                name: "scripted".to_owned(),
                this_machine: true,
            },
            window: 8192,
            abilities,
        }
    }

    fn with_tools() -> Card {
        card(Abilities {
            tools: true,
            ..Abilities::default()
        })
    }

    /// Returns the form of a plan in a few words.
    fn shown(stage: &Stage, card: &Card) -> String {
        let came = stage.play(|scene| {
            let plan = fitting(scene.context, scene.plan, card);
            let shape = shape(scene.context, &plan, card);
            format!("{}, {shape:?}", plan.rung.name())
        });
        came.value
    }

    #[test]
    fn a_definition_that_fits_a_reply_is_asked_for_whole() {
        expect!["rewrite, Words"].assert_eq(&shown(&Stage::pricing(), &with_tools()));
    }

    #[test]
    fn a_definition_that_does_not_is_worked_on_turn_by_turn() {
        let long = format!("{}{}", PRICING.1, "    total = total + 1\n".repeat(400));
        let stage = Stage::new(&[("pricing.py", &long)], "fix discount in pricing.py");
        let plain = card(Abilities::default());
        expect!["loop, Words"].assert_eq(&shown(&stage, &plain));
        expect!["loop, Calls"].assert_eq(&shown(&stage, &with_tools()));
    }

    #[test]
    fn the_form_that_the_user_wants_comes_before_all() {
        let mut stage = Stage::pricing();
        let mut as_wanted = |form| {
            stage.config.form = Some(form);
            shown(&stage, &with_tools())
        };
        let shown = [Form::Fenced, Form::Actions, Form::Json].map(&mut as_wanted);
        expect!["rewrite, Words; loop, Words; loop, Object"].assert_eq(&shown.join("; "));
    }

    #[test]
    fn places_are_asked_for_where_a_list_can_be_gone_through() {
        let lists = |stage: &Stage, card: &Card| {
            let came = stage.play(|scene| lists_places(scene.context, scene.plan, card));
            came.value
        };
        let plain = card(Abilities::default());
        let tiny = card(Abilities {
            tiny: true,
            ..Abilities::default()
        });
        let stage = || Stage::new(&[PRICING, TEST_PRICING], TASK);
        assert!(lists(&stage(), &plain));
        assert!(!lists(&stage(), &tiny));
        assert!(!lists(&stage().read_only(), &plain));
        assert!(!lists(&stage().steps(places::LEAST_STEPS - 1), &plain));
        assert!(!lists(&Stage::pricing(), &plain));
    }

    #[test]
    fn nothing_is_waited_for_behind_the_code_that_was_asked_for() {
        let waits_for = |task: &str| {
            let stage = Stage::new(&[PRICING, TEST_PRICING], task);
            let came = stage.play(|scene| stop_after_block(scene.context, scene.plan));
            came.value
        };
        let code = waits_for("fix discount in pricing.py");
        assert_eq!(code.as_deref(), Some(PRICING.1.trim_end()));
        assert_eq!(waits_for(ADD).as_deref(), Some(""));
        assert_eq!(waits_for("what does discount do?"), None);
    }

    #[test]
    fn the_first_file_of_house_rules_counts() {
        let rules = |files: &[(&str, &str)]| {
            let came = Stage::new(files, ADD).play(|scene| house_rules(scene.context.tree()));
            came.value
        };
        let (agents, claude) = (("AGENTS.md", "Use tabs."), ("CLAUDE.md", "Use spaces."));
        assert_eq!(rules(&[PRICING, claude, agents]), "Use tabs.");
        assert_eq!(rules(&[PRICING, claude]), "Use spaces.");
        assert_eq!(rules(&[PRICING]), "");
    }

    #[test]
    fn the_model_is_told_what_the_tests_are_written_with() {
        let told = |files: &[(&str, &str)]| {
            let came = Stage::new(files, ADD).play(|scene| framework(scene.context));
            came.value
        };
        let plain = ("test_pricing.py", "def test_discount():\n    assert True\n");
        let cargo = ("Cargo.toml", "[package]\nname = \"shop\"\n");
        let lib = (
            "src/lib.rs",
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n",
        );
        assert_eq!(told(&[PRICING, TEST_PRICING]), "unittest");
        assert_eq!(told(&[PRICING, plain]), "pytest");
        assert_eq!(told(&[cargo, lib]), "");
        assert_eq!(told(&[PRICING]), "unittest");
    }
}
