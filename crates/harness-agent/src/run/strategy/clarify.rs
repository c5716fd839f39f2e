//! Asks the user what only the user can say, before anything else costs time.

use harness_code::locate::TaskOccurrences;

use crate::plan::Plan;
use crate::run::context::Context;
use crate::run::ending::Ended;
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::result::Stopped;
use crate::run::strategy::{Outcome, Strategy};

/// A question whose answer makes another plan.
pub(super) struct Clarify;

impl Strategy for Clarify {
    fn suits(&self, context: &Context<'_>, plan: &Plan) -> bool {
        plan.open_question(context.read_only()).is_some()
    }

    /// The answer becomes part of the task; without one, or with the word to stop, the run ends here.
    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        _resources: &mut Resources,
    ) -> Outcome {
        let Some(question) = plan.open_question(context.read_only()) else {
            return Outcome::Passed;
        };
        let answer = log.ask(question);
        let answer = answer.filter(|answer| !answer.eq_ignore_ascii_case("stop"));
        let Some(answer) = answer else {
            return Outcome::Ended(match context.cancel.stopped() {
                true => Ended::interrupted(),
                false => Ended::new(Stopped::Question, question.render()).hinting(question.hint()),
            });
        };
        let task = plan.task.with_answer(&answer);
        let (tree, options) = (context.tree(), context.options);
        let occurrences = TaskOccurrences::of(tree, &task);
        let next = Plan::make(&task, tree, &occurrences, options, context.environment);
        Outcome::Replanned(Box::new(next.following(plan, question.clone())))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{PRICING, Stage, TEST_PRICING};
    use harness_code::request::kind::Kind;

    const CART: (&str, &str) = ("cart.py", "def discount(cart):\n    return cart\n");

    fn vague() -> Stage {
        Stage::new(&[PRICING, CART], "fix the bug")
    }

    #[test]
    fn it_asks_where_a_task_names_no_place_and_several_may_be_meant() {
        assert!(vague().suits(&Clarify));
        assert!(!Stage::pricing().suits(&Clarify));
        let one_file = Stage::new(&[PRICING], "fix the bug");
        assert!(!one_file.suits(&Clarify));
    }

    #[test]
    fn it_asks_which_test_is_red_only_where_none_may_be_run() {
        let red = || Stage::new(&[PRICING, CART, TEST_PRICING], "fix the failing tests");
        assert!(red().read_only().suits(&Clarify));
        assert!(!red().suits(&Clarify));
    }

    #[test]
    fn the_answer_becomes_part_of_the_task() {
        let came = vague()
            .answers(["discount in pricing.py"])
            .attempt(&Clarify);
        expect!["replanned, rewrite: pricing.py:1 discount, pricing.py:1"]
            .assert_eq(&came.outcome());
        let next = came.next_plan();
        assert_eq!(next.task.text(), "fix the bug\ndiscount in pricing.py");
        assert_eq!(next.task.kind(), Kind::Fix);
    }

    #[test]
    fn a_number_stands_for_an_option() {
        let came = vague().answers(["1"]).attempt(&Clarify);
        expect![[r#"
            fix the bug
            discount in cart.py"#]]
        .assert_eq(came.next_plan().task.text());
    }

    #[test]
    fn the_same_is_not_asked_twice() {
        let stage = vague().answers(["somewhere", "elsewhere"]);
        let came = stage.play(|scene| {
            let Outcome::Replanned(next) = scene.attempt(&Clarify) else {
                panic!("the user answers");
            };
            Clarify.suits(scene.context, &next)
        });
        assert!(!came.value);
        assert_eq!(came.told(EventKind::Question).len(), 1);
    }

    #[test]
    fn what_was_found_out_before_holds_on() {
        let stage = vague().answers(["discount in pricing.py"]);
        let came = stage.play(|scene| {
            let plan = scene.plan.without_fix("a rename did not do".to_owned());
            Clarify.attempt(scene.context, scene.log, &plan, scene.resources)
        });
        assert_eq!(came.next_plan().learned, "a rename did not do");
    }

    #[test]
    fn without_an_answer_the_run_ends_with_the_question() {
        let came = vague().attempt(&Clarify);
        expect![[r#"
            ended, question: "fix the bug" names no file and no function; which one is it about?
              1. discount in cart.py
              2. discount in pricing.py
              3. cart.py
              4. pricing.py
            hint: name one of these in the task, or answer with its number"#]]
        .assert_eq(&came.outcome());
        assert_eq!(came.requests, []);
    }

    #[test]
    fn stop_is_no_answer() {
        let came = vague().answers(["Stop"]).attempt(&Clarify);
        assert_eq!(came.ended().stopped, Stopped::Question);
    }

    #[test]
    fn who_stops_the_run_at_the_question_is_not_asked_in_the_result() {
        let came = vague().stopped_at(EventKind::Question).attempt(&Clarify);
        expect!["ended, interrupted: interrupted"].assert_eq(&came.outcome());
    }

    #[test]
    fn it_passes_where_nothing_is_open() {
        let came = Stage::pricing().attempt(&Clarify);
        assert_eq!(came.outcome(), "passed");
    }
}
