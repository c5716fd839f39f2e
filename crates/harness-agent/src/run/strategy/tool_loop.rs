//! Turn by turn: the model lists the places first where code cannot tell them, then looks and changes one thing a reply.

use crate::plan::{Plan, Rung};
use crate::run::context::Context;
use crate::run::conversation::Conversation;
use crate::run::editing::Editing;
use crate::run::ending::Ended;
use crate::run::form::{self, Known};
use crate::run::log::Log;
use crate::run::prompt::failure_to_show;
use crate::run::resources::{Ready, Resources};
use crate::run::result::Stopped;
use crate::run::search::Search;
use crate::run::strategy::{Outcome, Strategy};
use crate::run::work::Work;

/// A conversation with tools.
pub(super) struct ToolLoop;

impl Strategy for ToolLoop {
    fn suits(&self, context: &Context<'_>, plan: &Plan) -> bool {
        // A question that was answered and is still open is for the model.
        !context.read_only() && plan.task.kind().writes() && plan.rung != Rung::Rewrite
    }

    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        match resources.begin_work(context, log, plan) {
            Ok(_) => converse(context, log, plan, resources),
            Err(ended) => Outcome::Ended(ended),
        }
    }
}

/// Holds a conversation that changes code, with a search beside it.
pub(super) fn converse(
    context: &Context<'_>,
    log: &mut Log<'_>,
    plan: &Plan,
    resources: &mut Resources,
) -> Outcome {
    let steps = resources.steps;
    if let Some(trial) = &mut resources.trial {
        // Before the prompt is made: what somebody saves while an engine starts is not what the model was shown.
        trial.remember_shown(context, plan.spots());
        resources.search = Search::begin(context, plan, trial);
    }
    let (model, card, trial, search) = match resources.engine(context, log) {
        Ok(Ready {
            model,
            card,
            trial: Some(trial),
            search,
        }) => (model, card, trial, search),
        Ok(_) => return Outcome::Passed,
        Err(missing) => return given_up(missing),
    };
    let known = Known {
        failure: failure_to_show(context, plan, trial),
        learned: plan.learned.clone(),
    };
    let opened = form::of_work(context, plan, &card, &known);
    let lists = form::lists_places(context, plan, &card);
    let is_tiny = card.abilities.tiny;
    let opened = Conversation::open(context, log, plan, (model, card), opened);
    let mut conversation = match opened {
        Ok(conversation) => conversation,
        Err(error) => return given_up(log.engine_failed(&error)),
    };
    conversation.stop_after_block(form::stop_after_block(context, plan));
    let work = Work::new(context, plan, trial, search);
    let mut editing = Editing::new(work, lists, is_tiny);
    let ended = conversation.hold(context, log, &mut editing, steps);
    let ended = editing.or_proven(log, ended);
    given_up(Ended {
        judged_by: Some(Box::new(editing.work.plan)),
        ..ended
    })
}

/// Returns what a conversation came to: where it did not finish, another strategy may.
fn given_up(ended: Ended) -> Outcome {
    let ended = Ended {
        is_of_drafts: true,
        ..ended
    };
    // A question of the model's own that nobody answered is no end either.
    match ended.stopped {
        Stopped::Engine | Stopped::Steps | Stopped::Stuck | Stopped::Question => {
            Outcome::GaveUp(ended)
        }
        _ => Outcome::Ended(ended),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{MENDED, PRICING, Stage, TEST_PRICING, WRONG, diff};

    /// Names the file and no definition.
    const TASK: &str = "fix the percents in pricing.py";
    const PATCH: &str = "Action: patch\nPath: pricing.py\nFind:\n```\n    return total - percent\n```\nReplace:\n```\n    return total - total * percent / 100\n```\n";

    fn stage() -> Stage {
        Stage::new(&[PRICING, TEST_PRICING], TASK)
    }

    #[test]
    fn what_is_not_one_definition_is_worked_on_turn_by_turn() {
        assert!(stage().suits(&ToolLoop));
        assert!(!stage().read_only().suits(&ToolLoop));
        assert!(!Stage::pricing().suits(&ToolLoop));
        assert!(Stage::pricing().suits_as(&ToolLoop, Plan::turn_by_turn));
        let question = Stage::new(&[PRICING], "what does discount do?");
        assert!(!question.suits(&ToolLoop));
    }

    #[test]
    fn it_looks_then_changes_until_the_tests_pass() {
        let stage = stage().replies(["Action: read\nPath: test_pricing.py\n", PATCH]);
        let came = stage.attempt(&ToolLoop);
        expect!["ended, done: changed `discount` in pricing.py: 1 test passes; test_pricing.T.test_discount failed before"].assert_eq(&came.outcome());
        assert_eq!(came.staged, MENDED);
        assert_eq!(came.actions(), ["read", "patch"]);
        assert!(came.asked()[1].contains("self.assertEqual(discount(200, 10), 180)"));
    }

    #[test]
    fn places_that_the_model_lists_are_asked_for_one_after_the_other() {
        let shop = "def price(net):\n    return net\n\n\ndef label(net):\n    return str(net)\n";
        let tests = "import unittest\n\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_label(self):\n        self.assertEqual(shop.label(2), '2')\n";
        let task = "prices in shop.py should be rounded to whole numbers everywhere";
        let stage = Stage::new(&[("shop.py", shop), ("test_shop.py", tests)], task);
        let came = stage
            .replies([
                "shop.py: price: round it\nshop.py: label: show it rounded",
                "```python\ndef price(net):\n    return round(net)\n```",
                "```python\ndef label(net):\n    return str(round(net))\n```",
                "nothing",
            ])
            .attempt(&ToolLoop);
        expect!["ended, done: changed `price`, `label` in shop.py: 1 test passes; it did not fail before"].assert_eq(&came.outcome());
        let after = shop.replace("return net", "return round(net)");
        let after = after.replace("str(net)", "str(round(net))");
        assert_eq!(came.staged, diff("shop.py", shop, &after));
        let asked = came.asked();
        assert!(asked[0].contains("First list every place that must change"));
        expect![[r#"
            Now `price` in shop.py: round it

            shop.py, line 1:
            ```python
            def price(net):
                return net
            ```

            Write the whole new code of `price` in one fenced block and nothing else."#]]
        .assert_eq(asked[1]);
        expect![[r#"
            Now `label` in shop.py: show it rounded

            shop.py, line 5:
            ```python
            def label(net):
                return str(net)
            ```

            Write the whole new code of `label` in one fenced block and nothing else."#]]
        .assert_eq(asked[2]);
        assert!(asked[3].contains("What of the task is not done yet?"));
        assert!(asked[3].contains(came.staged.trim_end()));
    }

    #[test]
    fn done_is_refused_before_anything_changed() {
        let stage = stage().replies(["Action: done\nSummary: all well\n", PATCH]);
        let came = stage.attempt(&ToolLoop);
        assert_eq!(came.rules(), ["finish.nothing_changed"]);
        assert_eq!(came.staged, MENDED);
    }

    #[test]
    fn what_the_user_answers_goes_to_the_model() {
        let asks = "Action: ask\nQuestion: in percent?\n";
        let came = stage()
            .answers(["yes"])
            .replies([asks, PATCH])
            .attempt(&ToolLoop);
        assert_eq!(came.asked()[1], "The user answers: yes");
        assert_eq!(came.staged, MENDED);
        let came = stage().replies([asks, PATCH]).attempt(&ToolLoop);
        expect!["gave up, question: in percent?"].assert_eq(&came.outcome());
    }

    #[test]
    fn it_gives_up_after_three_turns_that_bring_nothing() {
        let came = stage().replies(["Hm."]).attempt(&ToolLoop);
        expect!["gave up, stuck: 3 turns in a row brought nothing new; the last: No action could be read from that. Write the whole new code of the definition in one fenced block."].assert_eq(&came.outcome());
        assert_eq!(came.requests.len(), 3);
    }

    #[test]
    fn it_gives_up_when_the_steps_are_spent() {
        let came = stage().steps(1).replies([WRONG]).attempt(&ToolLoop);
        expect!["gave up, steps: not finished within 1 steps"].assert_eq(&came.outcome());
        assert_eq!(came.staged, "");
    }

    #[test]
    fn without_an_engine_a_fix_is_left_to_others() {
        let came = stage().without_engine().attempt(&ToolLoop);
        expect![[r#"
            gave up, engine: no model server answers
            hint: start one"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn an_end_says_by_which_plan_it_was_judged() {
        let came = stage().replies([PATCH]).attempt(&ToolLoop);
        let judged_by = came.ended().judged_by.as_deref();
        assert_eq!(judged_by.map(|plan| plan.task.text()), Some(TASK));
    }

    #[test]
    fn who_stops_it_while_the_tests_run_asks_no_model() {
        let came = stage().stopped_at(EventKind::Tests).attempt(&ToolLoop);
        expect!["ended, interrupted: interrupted"].assert_eq(&came.outcome());
        assert_eq!(came.requests, []);
    }
}
