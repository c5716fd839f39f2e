//! A read-only run: the model writes as if it might, writes are refused, and what they would have done is shown.

use crate::plan::Plan;
use crate::reply::Reading;
use crate::run::act::{self, TurnOutcome};
use crate::run::context::Context;
use crate::run::conversation::{Conversation, ReplyHandler};
use crate::run::ending::{Attempt, Ended};
use crate::run::form::{self, Known};
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::result::Stopped;
use crate::run::strategy::{Outcome, Strategy};

/// A conversation in which nothing is written.
pub(super) struct Propose;

impl Strategy for Propose {
    fn suits(&self, context: &Context<'_>, plan: &Plan) -> bool {
        context.read_only() && plan.task.kind().writes()
    }

    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        let steps = resources.steps;
        let ready = match resources.engine(context, log) {
            Ok(ready) => ready,
            Err(ended) => return Outcome::Ended(ended),
        };
        let plan = form::fitting(context, plan, &ready.card);
        let known = Known::default();
        let opened = form::of_work(context, &plan, &ready.card, &known);
        let model = (ready.model, ready.card);
        let mut proposing = Proposing {
            context,
            plan: &plan,
            proposed: Attempt::default(),
        };
        let mut conversation = match Conversation::open(context, log, &plan, model, opened) {
            Ok(conversation) => conversation,
            Err(error) => return Outcome::Ended(log.engine_failed(&error)),
        };
        conversation.stop_after_block(form::stop_after_block(context, &plan));
        let ended = conversation.hold(context, log, &mut proposing, steps);
        let proposed = proposing.proposed;
        let is_unfinished = matches!(ended.stopped, Stopped::Steps | Stopped::Stuck);
        let ended = match is_unfinished && !proposed.is_empty() {
            true => Ended::new(
                Stopped::Done,
                "this is what would change; the run is read-only",
            ),
            false => ended,
        };
        Outcome::Ended(Ended { proposed, ..ended })
    }
}

/// Replies of a run that may not write.
struct Proposing<'r> {
    context: &'r Context<'r>,
    plan: &'r Plan,
    /// What would change by the last write that was refused because the run is read-only, on the bytes that it was made
    /// from: who saves a file after that finds it refused by `apply`.
    proposed: Attempt,
}

impl ReplyHandler for Proposing<'_> {
    fn carry_out(&mut self, log: &mut Log<'_>, reading: &Reading) -> TurnOutcome {
        let writing = reading.action.iter().find(|action| action.needs_writing());
        let draft = writing.and_then(|action| act::refused_draft(self.context, self.plan, action));
        if let Some(draft) = draft {
            self.proposed = Attempt {
                patch: draft.diff(),
                changes: self.context.proposed(&draft),
            };
        }
        act::act_read_only(self.context, log, self.plan, reading)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{MENDED, PRICING, RIGHT, Stage, WRONG};

    fn stage() -> Stage {
        Stage::pricing().read_only()
    }

    #[test]
    fn it_suits_tasks_that_would_write_in_a_run_that_may_not() {
        assert!(stage().suits(&Propose));
        assert!(!Stage::pricing().suits(&Propose));
        let question = Stage::new(&[PRICING], "what does discount do?").read_only();
        assert!(!question.suits(&Propose));
    }

    #[test]
    fn what_was_refused_is_shown_once_the_model_is_done() {
        let stage = stage().replies([RIGHT, "It takes the percents of the total."]);
        let came = stage.attempt(&Propose);
        expect!["ended, done: It takes the percents of the total."].assert_eq(&came.outcome());
        let proposed = &came.ended().proposed;
        assert_eq!(proposed.patch, MENDED);
        assert_eq!(proposed.changes.len(), 1);
        assert_eq!(came.rules(), ["write.read_only"]);
        assert_eq!(stage.on_disk("pricing.py"), PRICING.1);
    }

    #[test]
    fn no_test_is_run() {
        let came = stage().replies([RIGHT, "So."]).attempt(&Propose);
        assert_eq!(came.told(EventKind::Tests), [""; 0]);
    }

    #[test]
    fn the_last_of_several_drafts_is_the_one_that_is_shown() {
        let came = stage().replies([WRONG, RIGHT, "So."]).attempt(&Propose);
        assert_eq!(came.ended().proposed.patch, MENDED);
    }

    #[test]
    fn a_model_that_comes_to_no_end_has_proposed_something_all_the_same() {
        let stuck = stage().replies([RIGHT]).attempt(&Propose);
        expect!["ended, done: this is what would change; the run is read-only"]
            .assert_eq(&stuck.outcome());
        let spent = stage().steps(1).replies([RIGHT]).attempt(&Propose);
        assert_eq!(spent.outcome(), stuck.outcome());
        assert_eq!(spent.ended().proposed.patch, MENDED);
    }

    #[test]
    fn without_a_draft_the_end_is_told_as_it_is() {
        let look = "Action: read\nPath: pricing.py\n";
        let came = stage().steps(1).replies([look]).attempt(&Propose);
        expect!["ended, steps: not finished within 1 steps"].assert_eq(&came.outcome());
    }

    #[test]
    fn what_a_guard_refuses_is_not_proposed() {
        let stub = "```python\ndef discount(total, percent):\n    # rest of the code\n    ...\n```";
        let came = stage().replies([stub, "So."]).attempt(&Propose);
        assert_eq!(came.ended().proposed.patch, "");
    }

    #[test]
    fn without_an_engine_it_ends() {
        let came = stage().without_engine().attempt(&Propose);
        expect![[r#"
            ended, engine: no model server answers
            hint: start one"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn an_engine_that_goes_leaves_the_draft() {
        let came = stage()
            .replies([RIGHT])
            .without_engine_after(1)
            .attempt(&Propose);
        expect![[r#"
            ended, engine: no model server answers
            hint: start one"#]]
        .assert_eq(&came.outcome());
        assert_eq!(came.ended().proposed.patch, MENDED);
    }

    #[test]
    fn who_stops_it_ends_it() {
        let stage = stage().replies([RIGHT]).stopped_at(EventKind::Refused);
        let came = stage.attempt(&Propose);
        expect!["ended, interrupted: interrupted"].assert_eq(&came.outcome());
        assert_eq!(came.requests.len(), 1);
    }
}
