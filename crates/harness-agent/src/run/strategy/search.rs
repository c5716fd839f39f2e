//! Small changes, tried by code with the tests as judge: where the model did not finish, or cannot be had.

use crate::plan::Plan;
use crate::run::context::Context;
use crate::run::ending::Ended;
use crate::run::event::EventKind;
use crate::run::log::{Log, first_line};
use crate::run::resources::Resources;
use crate::run::result::Stopped;
use crate::run::strategy::{Outcome, Strategy};
use harness_code::request::kind::Kind;

/// A search to its end.
pub(super) struct SmallChanges;

impl Strategy for SmallChanges {
    fn suits(&self, context: &Context<'_>, plan: &Plan) -> bool {
        !context.read_only() && plan.task.kind() == Kind::Fix
    }

    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        let Resources {
            trial: Some(trial),
            search: Some(search),
            gave_up: Some(gave_up),
            ..
        } = resources
        else {
            // It begins beside a conversation, where it makes sense at all.
            return Outcome::Passed;
        };
        if trial.is_left_open() || context.cancel.stopped() {
            return Outcome::Passed;
        }
        if gave_up.stopped == Stopped::Engine {
            let why = first_line(&gave_up.summary);
            let text = format!("no engine ({why}): trying small changes");
            log.tell(EventKind::Engine, &text, []);
        }
        let plan = gave_up.judged_by.as_deref().unwrap_or(plan);
        search.wait_all(context, log);
        match search.take(context, log, plan, trial) {
            Some(summary) => Outcome::Ended(Ended {
                judged_by: gave_up.judged_by.clone(),
                ..Ended::new(Stopped::Done, summary)
            }),
            None => Outcome::Passed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::scripted_tests::{Came, PRICING, Stage, diff};
    use crate::run::strategy::rewrite::Rewrite;

    const LARGER: &str = "def larger(a, b):\n    return a if a < b else b\n";
    const TEST_LARGER: &str = "import unittest\n\nfrom larger import larger\n\n\nclass T(unittest.TestCase):\n    def test_larger(self):\n        self.assertEqual(larger(2, 1), 2)\n        self.assertEqual(larger(1, 3), 3)\n";

    /// A bug that one small change mends.
    fn stage() -> Stage {
        let files = [("larger.py", LARGER), ("test_larger.py", TEST_LARGER)];
        Stage::new(&files, "fix larger in larger.py")
    }

    /// Lets a conversation begin a search and give up, and then the search go on.
    fn after_giving_up(stage: &Stage, between: impl FnOnce(&Context<'_>)) -> Came<Outcome> {
        stage.play(|scene| {
            match scene.attempt(&Rewrite) {
                Outcome::GaveUp(ended) => scene.resources.gave_up = Some(ended),
                other => return other,
            }
            between(scene.context);
            scene.attempt(&SmallChanges)
        })
    }

    #[test]
    fn fixes_are_searched_for_where_files_may_change() {
        assert!(Stage::pricing().suits(&SmallChanges));
        assert!(!Stage::pricing().read_only().suits(&SmallChanges));
        let change = Stage::new(&[PRICING], "make discount in pricing.py round its result");
        assert!(!change.suits(&SmallChanges));
    }

    #[test]
    fn a_small_change_is_found_without_an_engine() {
        let came = after_giving_up(&stage().searching().without_engine(), |_| {});
        // Others would pass too, and are told; the likeliest is taken.
        let summary = "changed `larger` in larger.py: 1 test passes; test_larger.T.test_larger failed before; found by trying small changes (comparison, line 2)";
        assert_eq!(came.ended().stopped, Stopped::Done);
        assert!(
            came.ended().summary.starts_with(summary),
            "{}",
            came.outcome()
        );
        let after = LARGER.replace("a < b", "a > b");
        assert_eq!(came.staged, diff("larger.py", LARGER, &after));
        assert!(
            came.told(EventKind::Engine)
                .contains(&"no engine (no model server answers): trying small changes")
        );
    }

    #[test]
    fn a_small_change_is_found_where_the_model_did_not_finish() {
        let wrong = "```python\ndef larger(a, b):\n    return b\n```";
        let stage = stage().searching().steps(1).replies([wrong]);
        let came = after_giving_up(&stage, |_| {});
        assert_eq!(came.ended().stopped, Stopped::Done, "{}", came.outcome());
        let judged_by = came.ended().judged_by.as_deref();
        let task = judged_by.map(|plan| plan.task.text());
        assert_eq!(task, Some("fix larger in larger.py"));
    }

    #[test]
    fn it_passes_where_no_small_change_does() {
        let files = [
            ("total.py", "def total(cart):\n    return None\n"),
            (
                "test_total.py",
                "import unittest\n\nfrom total import total\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([('tea', 3), ('milk', 4)]), {'tea': 3, 'milk': 4})\n",
            ),
        ];
        let stage = Stage::new(&files, "fix total in total.py");
        let came = after_giving_up(&stage.searching().without_engine(), |_| {});
        assert_eq!(came.outcome(), "passed");
        assert_eq!(came.staged, "");
    }

    #[test]
    fn it_passes_where_the_user_wants_no_search() {
        let came = after_giving_up(&stage().without_engine(), |_| {});
        assert_eq!(came.outcome(), "passed");
    }

    #[test]
    fn it_passes_where_no_conversation_came_before() {
        let came = stage().searching().attempt(&SmallChanges);
        assert_eq!(came.outcome(), "passed");
    }

    #[test]
    fn it_passes_where_the_user_stopped_the_run() {
        let stage = stage().searching().without_engine();
        let came = after_giving_up(&stage, |context| context.cancel.stop());
        assert_eq!(came.outcome(), "passed");
        let told = came.told(EventKind::Engine);
        let begun = told
            .iter()
            .any(|text| text.contains("trying small changes"));
        assert!(!begun, "{told:?}");
    }
}
