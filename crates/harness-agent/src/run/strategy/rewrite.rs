//! One definition, written anew by the model in one block: what small models do best.

use crate::plan::{Plan, Rung};
use crate::run::context::Context;
use crate::run::form;
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::strategy::{Outcome, Strategy, tool_loop};

/// A conversation about one definition.
pub(super) struct Rewrite;

impl Strategy for Rewrite {
    fn suits(&self, context: &Context<'_>, plan: &Plan) -> bool {
        !context.read_only() && plan.rung == Rung::Rewrite
    }

    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        if let Err(ended) = resources.begin_work(context, log, plan) {
            return Outcome::Ended(ended);
        }
        if let Ok(ready) = resources.engine(context, log) {
            let fitting = form::fitting(context, plan, &ready.card);
            if fitting.rung != plan.rung {
                return Outcome::Replanned(Box::new(fitting));
            }
        }
        tool_loop::converse(context, log, plan, resources)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::config::Form;
    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{MENDED, PRICING, RIGHT, Stage, TEST_PRICING, WRONG, diff};

    #[test]
    fn one_definition_that_fits_a_reply_is_written_anew() {
        assert!(Stage::pricing().suits(&Rewrite));
        assert!(!Stage::pricing().read_only().suits(&Rewrite));
        let unnamed = Stage::new(&[PRICING, TEST_PRICING], "round the prices in pricing.py");
        assert!(!unnamed.suits(&Rewrite));
        let question = Stage::new(&[PRICING], "what does discount do?");
        assert!(!question.suits(&Rewrite));
    }

    #[test]
    fn a_draft_that_turns_the_red_test_green_is_the_end() {
        let came = Stage::pricing().replies([RIGHT]).attempt(&Rewrite);
        expect!["ended, done: changed `discount` in pricing.py: 1 test passes; test_pricing.T.test_discount failed before"].assert_eq(&came.outcome());
        assert_eq!(came.staged, MENDED);
        assert_eq!(came.actions(), ["edit"]);
        assert_eq!(came.requests.len(), 1);
    }

    #[test]
    fn nothing_is_written_to_disk_by_an_attempt() {
        let stage = Stage::pricing().replies([RIGHT]);
        stage.attempt(&Rewrite);
        assert_eq!(stage.on_disk("pricing.py"), PRICING.1);
    }

    #[test]
    fn after_a_wrong_draft_another_is_drawn_from_the_same_prompt() {
        let came = Stage::pricing().replies([WRONG, RIGHT]).attempt(&Rewrite);
        assert_eq!(came.staged, MENDED);
        let [first, second] = &came.requests[..] else {
            panic!("{:?}", came.asked());
        };
        assert_eq!(first.messages, second.messages);
        assert_eq!((first.temperature, second.temperature), (0.0, 0.8));
    }

    #[test]
    fn drafts_that_break_what_passed_are_taken_back() {
        let tests = TEST_PRICING.1.replace(
            "class T(unittest.TestCase):\n",
            "class T(unittest.TestCase):\n    def test_nothing_off(self):\n        self.assertEqual(discount(200, 0), 200)\n\n",
        );
        let stage = Stage::new(
            &[PRICING, (TEST_PRICING.0, &tests)],
            "fix discount in pricing.py",
        );
        let worse = "```python\ndef discount(total, percent):\n    return 180\n```";
        let came = stage.steps(1).replies([worse]).attempt(&Rewrite);
        expect!["gave up, steps: not finished within 1 steps"].assert_eq(&came.outcome());
        assert_eq!(came.staged, "");
        assert!(
            came.steps[0]
                .result
                .starts_with("That made the tests worse and was taken back: ")
        );
    }

    #[test]
    fn it_gives_up_when_the_steps_are_spent() {
        let came = Stage::pricing().steps(2).replies([WRONG]).attempt(&Rewrite);
        expect!["gave up, steps: not finished within 2 steps"].assert_eq(&came.outcome());
        assert_eq!(came.staged, "");
        assert_eq!(came.requests.len(), 2);
    }

    #[test]
    fn it_gives_up_when_the_engine_fails_in_the_middle() {
        let stage = Stage::pricing().replies([WRONG]).without_engine_after(1);
        let came = stage.attempt(&Rewrite);
        expect![[r#"
            gave up, engine: no model server answers
            hint: start one"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn without_an_engine_a_fix_is_left_to_others_and_anything_else_ends() {
        let fix = Stage::pricing().without_engine().attempt(&Rewrite);
        expect![[r#"
            gave up, engine: no model server answers
            hint: start one"#]]
        .assert_eq(&fix.outcome());
        assert_eq!(fix.told(EventKind::Tests).len(), 2, "{:?}", fix.told);
        let task = "make discount in pricing.py round its result";
        let change = Stage::new(&[PRICING, TEST_PRICING], task).without_engine();
        assert!(change.suits(&Rewrite));
        let change = change.attempt(&Rewrite);
        expect![[r#"
            ended, engine: no model server answers
            hint: start one"#]]
        .assert_eq(&change.outcome());
        // Nobody waits for tests only to learn that there is no engine.
        assert_eq!(change.told(EventKind::Tests), [""; 0]);
    }

    #[test]
    fn a_form_without_whole_definitions_makes_another_plan() {
        let mut stage = Stage::pricing();
        stage.config.form = Some(Form::Actions);
        let came = stage.attempt(&Rewrite);
        expect!["replanned, loop: pricing.py:1 discount, pricing.py:1"].assert_eq(&came.outcome());
        assert_eq!(came.requests, []);
    }

    #[test]
    fn who_stops_it_while_the_tests_run_asks_no_model() {
        let came = Stage::pricing()
            .stopped_at(EventKind::Tests)
            .attempt(&Rewrite);
        expect!["ended, interrupted: interrupted"].assert_eq(&came.outcome());
        assert_eq!(came.requests, []);
    }

    #[test]
    fn who_stops_it_at_a_reply_keeps_nothing() {
        let stage = Stage::pricing().replies([WRONG]);
        let came = stage.stopped_at(EventKind::Reply).attempt(&Rewrite);
        expect!["ended, interrupted: interrupted"].assert_eq(&came.outcome());
        assert_eq!(came.requests.len(), 1);
    }

    #[test]
    fn the_tests_of_a_new_definition_are_asked_for_once_it_is_there() {
        let tests = "import unittest\n\nfrom pricing import discount\n\n\nclass T(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(discount(200, 20), 180)\n";
        let task = "add a function tax(total) to pricing.py that returns a fifth of the total, with a test";
        let stage = Stage::new(&[PRICING, ("test_pricing.py", tests)], task);
        let came = stage
            .replies([
                "```python\ndef tax(total):\n    return total / 5\n```",
                "```python\nfrom pricing import tax\n\n\nclass TestTax(unittest.TestCase):\n    def test_tax(self):\n        self.assertEqual(tax(100), 20)\n```",
            ])
            .attempt(&Rewrite);
        expect!["ended, done: changed `tax` in pricing.py, `TestTax`, `TestTax.test_tax` in test_pricing.py: 2 tests pass"].assert_eq(&came.outcome());
        let code = [PRICING.1, "\n\ndef tax(total):\n    return total / 5\n"].concat();
        let imported = "import discount\nfrom pricing import tax\n";
        let tested = tests.replace("import discount\n", imported);
        let tested = [&*tested, "\n\nclass TestTax(unittest.TestCase):\n    def test_tax(self):\n        self.assertEqual(tax(100), 20)\n"].concat();
        let staged = [
            diff("pricing.py", PRICING.1, &code),
            diff("test_pricing.py", tests, &tested),
        ];
        assert_eq!(came.staged, staged.concat());
        expect![[r#"
            Written. Now write the tests of `tax`: the imports they need and whole test functions in one fenced block, and nothing else.
            The tests go into test_pricing.py (unittest), which begins:
            ```python
            import unittest

            from pricing import discount


            class T(unittest.TestCase):
                def test_discount(self):
                    self.assertEqual(discount(200, 20), 180)
            ```"#]].assert_eq(came.asked()[1]);
    }
}
