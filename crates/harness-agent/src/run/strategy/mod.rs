//! Ways to meet what a plan asks for. Each is a file here and a line in the list, and works on one goal with what is staged
//! already; what is proven is kept, and all else taken back, once a run ends.

mod answer;
mod certain_fix;
mod clarify;
mod misspelling;
mod propose;
mod red;
mod replay;
mod rewrite;
mod search;
mod tool_loop;
mod trace;

use crate::plan::Plan;
use crate::run::context::Context;
use crate::run::ending::Ended;
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::result::Stopped;

/// A way to meet what a plan asks for.
pub(super) trait Strategy {
    /// Says whether it may meet this plan.
    fn suits(&self, context: &Context<'_>, plan: &Plan) -> bool;

    /// Tries to meet the plan.
    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome;
}

/// What a strategy came to.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The goal is met, or nothing else can meet it.
    Ended(Ended),
    /// The next strategy may meet it; without one it ends like this.
    GaveUp(Ended),
    /// Nothing was there to do.
    Passed,
    /// More is known now: all of them look at this plan.
    Replanned(Box<Plan>),
}

/// Tried in this order: what was done before and what is certain first, what the user knows, then what a model can do.
const STRATEGIES: [&dyn Strategy; 11] = [
    &replay::Replay,
    &certain_fix::CertainFix,
    &clarify::Clarify,
    &answer::Answer,
    &propose::Propose,
    &red::RedTests,
    &misspelling::Misspelling,
    &trace::Trace,
    &rewrite::Rewrite,
    &tool_loop::ToolLoop,
    &search::SmallChanges,
];

/// Goes through the strategies until one ends the goal. Returns how, and the plan that was followed last.
pub(super) fn pursue(
    context: &Context<'_>,
    log: &mut Log<'_>,
    plan: Plan,
    resources: &mut Resources,
) -> (Plan, Ended) {
    resources.gave_up = None;
    let pursued = one_after_the_other(context, log, plan, resources);
    // It ends with its goal: it would run beside whatever comes next.
    resources.search = None;
    pursued
}

fn one_after_the_other(
    context: &Context<'_>,
    log: &mut Log<'_>,
    mut plan: Plan,
    resources: &mut Resources,
) -> (Plan, Ended) {
    let mut left = STRATEGIES.iter();
    while let Some(strategy) = left.next() {
        if !strategy.suits(context, &plan) {
            continue;
        }
        match strategy.attempt(context, log, &plan, resources) {
            Outcome::Ended(ended) => return (plan, ended),
            Outcome::GaveUp(ended) => resources.gave_up = Some(ended),
            Outcome::Passed => {}
            Outcome::Replanned(next) => {
                plan = *next;
                log.record.plan(&plan);
                left = STRATEGIES.iter();
            }
        }
    }
    let nothing = || Ended::new(Stopped::Stuck, "nothing can be done about this");
    (plan, resources.gave_up.take().unwrap_or_else(nothing))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::record::Past;
    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{
        Came, MENDED, PRICING, RIGHT, Stage, TEST_PRICING, WRONG, end_shown,
    };

    fn pursued(stage: &Stage) -> Came<(Plan, Ended)> {
        stage.play(|scene| {
            pursue(
                scene.context,
                scene.log,
                scene.plan.clone(),
                scene.resources,
            )
        })
    }

    #[test]
    fn an_answer_makes_another_plan_and_all_strategies_look_at_it() {
        let cart = ("cart.py", "def discount(cart):\n    return cart\n");
        let stage = Stage::new(&[PRICING, cart, TEST_PRICING], "fix the bug")
            .answers(["discount in pricing.py"])
            .replies([RIGHT]);
        let came = pursued(&stage);
        let (plan, ended) = &came.value;
        expect!["done: changed `discount` in pricing.py: 1 test passes; test_pricing.T.test_discount failed before"].assert_eq(&end_shown(ended));
        assert_eq!(plan.task.text(), "fix the bug\ndiscount in pricing.py");
        assert_eq!(came.staged, MENDED);
    }

    #[test]
    fn every_plan_that_is_gone_by_is_recorded() {
        let task = "fix test_discount in test_pricing.py";
        let mut stage = Stage::new(&[PRICING, TEST_PRICING], task).replies([RIGHT]);
        let record = stage.options.project.with_extension("jsonl");
        stage.options.keep_no_record = false;
        stage.options.record = Some(record.clone());
        stage.play(|scene| {
            scene.log.tell_start(scene.context, scene.plan);
            scene.pursue()
        });
        let lines = std::fs::read_to_string(record).unwrap();
        let plan = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            format!("{}: {}", line["kind"].as_str().unwrap(), line["plan"])
        };
        expect![[r#"
            start: {"rung":"loop","places":[{"path":"test_pricing.py","name":"","line":1}]}
            turn: {"rung":"rewrite","places":[{"path":"pricing.py","name":"discount","line":1}]}"#]]
        .assert_eq(&lines.lines().map(plan).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn an_answer_may_make_it_certain_what_to_do() {
        let cart = ("cart.py", "def discount(cart):\n    return cart\n");
        let stage = Stage::new(&[PRICING, cart], "rename discount to rebate");
        let came = pursued(&stage.answers(["1"]).replies([RIGHT]));
        expect![
            "done: renamed `discount` to `rebate`: 1 place in 1 file; the project has no tests"
        ]
        .assert_eq(&end_shown(&came.value.1));
        expect!["`discount` is defined 2 times; which one is meant?"]
            .assert_eq(&came.told(EventKind::Question).join("\n"));
        assert_eq!(came.requests, []);
    }

    #[test]
    fn a_run_of_the_past_is_made_again_before_anything_is_planned_anew() {
        let mut stage = Stage::new(&[PRICING], "rename discount to rebate in pricing.py");
        stage.past = Some(Past {
            run: "r1".to_owned(),
            task: "rename discount to rebate in pricing.py".to_owned(),
            changes: Vec::new(),
            is_new: false,
        });
        let came = pursued(&stage);
        assert_eq!(came.staged, "");
        assert_eq!(came.actions(), ["replay"]);
    }

    #[test]
    fn what_is_certain_comes_before_what_a_model_can_do() {
        let stage = Stage::new(&[PRICING], "rename discount to rebate in pricing.py");
        let came = pursued(&stage.replies([RIGHT]));
        assert_eq!(came.value.1.stopped, Stopped::Done);
        assert_eq!(came.requests, []);
    }

    #[test]
    fn a_fix_that_was_not_enough_is_told_to_the_model() {
        let misspelled = "def discount(total, percent):\n    return totl - percent\n";
        let files = [("pricing.py", misspelled), TEST_PRICING];
        let stage = Stage::new(&files, "fix the NameError in pricing.py").replies([RIGHT]);
        let came = pursued(&stage);
        assert_eq!(came.value.1.stopped, Stopped::Done);
        let first = came.asked()[0];
        assert!(first.contains("was tried and taken back"), "{first}");
    }

    #[test]
    fn a_named_test_leads_to_the_code_and_the_code_to_a_rewrite() {
        let stage = Stage::new(
            &[PRICING, TEST_PRICING],
            "fix test_discount in test_pricing.py",
        );
        let came = pursued(&stage.replies([RIGHT]));
        let (plan, ended) = &came.value;
        assert_eq!(ended.stopped, Stopped::Done);
        assert!(plan.is_traced());
        assert_eq!(came.staged, MENDED);
        // The tests ran before the change and after it, and not again for the other plan.
        let all = came.told(EventKind::Tests);
        let begun = all
            .iter()
            .filter(|text| text.starts_with("running the tests"));
        assert_eq!(begun.count(), 2, "{all:?}");
    }

    #[test]
    fn the_search_has_its_turn_where_the_model_gave_up() {
        let larger = "def larger(a, b):\n    return a if a < b else b\n";
        let tests = "import unittest\n\nfrom larger import larger\n\n\nclass T(unittest.TestCase):\n    def test_larger(self):\n        self.assertEqual(larger(2, 1), 2)\n        self.assertEqual(larger(1, 3), 3)\n";
        let files = [("larger.py", larger), ("test_larger.py", tests)];
        let stage = Stage::new(&files, "fix larger in larger.py");
        let came = pursued(&stage.searching().without_engine());
        let (_, ended) = &came.value;
        assert_eq!(ended.stopped, Stopped::Done);
        let says_so = ended.summary.contains("found by trying small changes");
        assert!(says_so, "{}", ended.summary);
    }

    #[test]
    fn what_gave_up_last_is_the_end() {
        let came = pursued(&Stage::pricing().steps(2).replies([WRONG]));
        expect!["steps: not finished within 2 steps"].assert_eq(&end_shown(&came.value.1));
        let came = pursued(&Stage::pricing().without_engine());
        expect![[r#"
            engine: no model server answers
            hint: start one"#]]
        .assert_eq(&end_shown(&came.value.1));
    }

    #[test]
    fn what_another_goal_came_to_is_forgotten() {
        let came = Stage::pricing().without_engine().play(|scene| {
            scene.resources.gave_up = Some(Ended::new(Stopped::Steps, "of another goal"));
            let _ = pursue(
                scene.context,
                scene.log,
                scene.plan.clone(),
                scene.resources,
            );
            scene.resources.gave_up.is_some()
        });
        assert!(!came.value);
    }

    #[test]
    fn a_search_ends_with_its_goal() {
        let stage = Stage::pricing().searching().replies([RIGHT]);
        let came = stage.play(|scene| {
            let plan = scene.plan.clone();
            let (_, ended) = pursue(scene.context, scene.log, plan, scene.resources);
            (ended.stopped, scene.resources.search.is_none())
        });
        assert_eq!(came.value, (Stopped::Done, true));
    }

    #[test]
    fn who_stops_the_run_ends_it_whatever_would_come_next() {
        let came = pursued(&Stage::pricing().searching().stopped_at(EventKind::Engine));
        assert_eq!(end_shown(&came.value.1), "interrupted: interrupted");
        assert_eq!(came.requests, []);
    }
}
