//! A misspelled name that a red test stops at: what Python says of it makes certain what was meant.

use harness_code::edit::{ChangeSet, FileChange};
use harness_code::fix::{Proposal, Surroundings};
use harness_code::path::RelPath;
use harness_code::request::kind::Kind;
use harness_hands::suite::Failure;

use crate::history::Refusal;
use crate::plan::{Plan, fix};
use crate::run::context::Context;
use crate::run::ending::Ended;
use crate::run::event::EventKind;
use crate::run::evidence::Verdict;
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::result::Stopped;
use crate::run::strategy::certain_fix::change_set;
use crate::run::strategy::{Outcome, Strategy};
use crate::run::trial::Trial;

/// The name that Python cannot resolve, put right without a model.
pub(super) struct Misspelling;

impl Strategy for Misspelling {
    fn suits(&self, context: &Context<'_>, plan: &Plan) -> bool {
        let is_untried = plan.learned.is_empty();
        let is_fix = plan.task.kind() == Kind::Fix && plan.names_tests();
        !context.read_only() && is_fix && is_untried
    }

    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        let trial = match resources.begin_work(context, log, plan) {
            Ok(trial) => trial,
            Err(ended) => return Outcome::Ended(ended),
        };
        let failures = trial.now().map_or(&[][..], |now| &now.failures);
        let mut named = failures.iter().filter(|one| plan.names_test(&one.id));
        let Some((proposal, set)) = named.find_map(|one| certain(context, trial, one)) else {
            return Outcome::Passed;
        };
        let (kind, names) = (proposal.kind.into(), proposal.names.clone().into());
        let data = [("kind", kind), ("names", names)];
        log.tell(EventKind::Fixed, "this needs no model", data);
        let said = proposal.summary;
        let not_enough = match trial.apply(context, log, plan, &set) {
            Err(refusal) => refusal,
            Ok(()) => match trial.judge(context, log, plan) {
                Verdict::Proven(words) => {
                    let summary = format!("{said}; {words}");
                    return Outcome::Ended(Ended::new(Stopped::Done, summary));
                }
                Verdict::Worse(reason)
                | Verdict::Unfinished { reason, .. }
                | Verdict::Unverified(reason) => {
                    trial.put_back(log, &set);
                    Refusal::new("fix.not_enough", reason, "")
                }
            },
        };
        if context.cancel.stopped() {
            return Outcome::Ended(Ended::interrupted());
        }
        log.refuse(&not_enough);
        let learned = format!("{said} was tried and taken back: {}", not_enough.reason);
        Outcome::Replanned(Box::new(plan.without_fix(learned)))
    }
}

/// Returns the one change that puts right what a red test stopped at.
fn certain(
    context: &Context<'_>,
    trial: &Trial,
    failure: &Failure,
) -> Option<(Proposal, ChangeSet)> {
    let surroundings = Surroundings {
        scope: RelPath::parse(&context.options.scope).ok(),
        installed: context.installed().clone(),
    };
    let proposal = fix::of_failure(context.whole_tree(), failure, surroundings)?;
    let set = change_set(context, &proposal).ok()?;
    // The whole of a project with a scope was read before anything was staged.
    let is_now = |change: &FileChange| trial.content(context, &change.path) == change.before;
    set.files.iter().all(is_now).then_some((proposal, set))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::run::scripted_tests::{PRICING, Stage, TEST_PRICING, diff};
    use crate::run::strategy::red::RedTests;

    const TASK: &str = "fix test_discount in test_pricing.py";
    /// A misspelled name, and nothing else that is wrong.
    const MISSPELLED: (&str, &str) = (
        "pricing.py",
        "def discount(total, percent):\n    return total - total * precent / 100\n",
    );

    fn stage() -> Stage {
        Stage::new(&[MISSPELLED, TEST_PRICING], TASK)
    }

    fn right() -> String {
        let after = MISSPELLED.1.replace("precent", "percent");
        diff(MISSPELLED.0, MISSPELLED.1, &after)
    }

    #[test]
    fn it_suits_fixes_that_name_a_test() {
        assert!(stage().suits(&Misspelling));
        assert!(!stage().read_only().suits(&Misspelling));
        assert!(!Stage::pricing().suits(&Misspelling));
        let tried = |plan: &Plan| plan.without_fix("it was tried".to_owned());
        assert!(!stage().suits_as(&Misspelling, tried));
    }

    #[test]
    fn the_name_that_the_test_stops_at_is_put_right_without_a_model() {
        for stage in [stage(), stage().without_engine()] {
            let came = stage.attempt(&Misspelling);
            expect!["ended, done: `precent` is now `percent` in pricing.py; 1 test passes; test_pricing.T.test_discount failed before"].assert_eq(&came.outcome());
            assert_eq!(came.staged, right());
            assert_eq!(came.requests, []);
        }
    }

    #[test]
    fn what_is_not_enough_is_taken_back_and_told() {
        let twice = MISSPELLED.1.replace("/ 100", "/ 10");
        let files = [(MISSPELLED.0, &*twice), TEST_PRICING];
        let came = Stage::new(&files, TASK).attempt(&Misspelling);
        assert_eq!(came.staged, "");
        assert_eq!(came.rules(), ["fix.not_enough"]);
        let learned = &came.next_plan().learned;
        assert!(learned.contains("is now `percent`"), "{learned}");
        assert!(learned.contains("taken back"), "{learned}");
    }

    #[test]
    fn what_is_wrong_in_the_test_itself_is_left_alone() {
        let tests = TEST_PRICING.1.replace("discount(200", "discuont(200");
        let files = [PRICING, (TEST_PRICING.0, &tests)];
        let came = Stage::new(&files, TASK).attempt(&Misspelling);
        assert_eq!(came.outcome(), "passed");
        assert_eq!(came.staged, "");
    }

    #[test]
    fn a_test_that_fails_for_another_reason_has_nothing_misspelled() {
        let files = [PRICING, TEST_PRICING];
        let came = Stage::new(&files, TASK).attempt(&Misspelling);
        assert_eq!(came.outcome(), "passed");
    }

    #[test]
    fn of_several_red_tests_each_has_its_name_put_right() {
        let shop = "def double(number):\n    return nubmer * 2\n\n\ndef negate(amount):\n    return -amuont\n";
        let tests = "import unittest\n\nfrom shop import double, negate\n\n\nclass T(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n\n    def test_negate(self):\n        self.assertEqual(negate(2), -2)\n";
        let files = [("shop.py", shop), ("test_shop.py", tests)];
        let stage = Stage::new(&files, "fix the failing tests").without_engine();
        let came = stage.attempt(&RedTests);
        let after = shop.replace("nubmer", "number").replace("amuont", "amount");
        assert_eq!(came.staged, diff("shop.py", shop, &after));
        expect![[r#"
            ended, done: changed `double`, `negate` in shop.py: 2 tests pass; test_shop.T.test_double and 1 more failed before
            met: test_shop.T.test_double passes (it failed before and passes now)
            met: test_shop.T.test_negate passes (it failed before and passes now)"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn what_was_read_before_another_change_of_the_file_is_not_used() {
        let code = |double: &str, negate: &str| {
            format!(
                "def double(number):\n    return {double} * 2\n\n\ndef negate(amount):\n    return -{negate}\n"
            )
        };
        let shop = code("nubmer", "amuont");
        let tests = "import unittest\n\nfrom shop.sums import double, negate\n\n\nclass T(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n\n    def test_negate(self):\n        self.assertEqual(negate(2), -2)\n";
        let files = [("shop/sums.py", &*shop), ("test_sums.py", tests)];
        let mut stage = Stage::new(&files, "fix the failing tests").without_engine();
        stage.options.scope = "shop".to_owned();
        let came = stage.attempt(&RedTests);
        let after = code("number", "amuont");
        assert_eq!(came.staged, diff("shop/sums.py", &shop, &after));
        assert_eq!(came.rules(), [] as [&str; 0]);
    }
}
