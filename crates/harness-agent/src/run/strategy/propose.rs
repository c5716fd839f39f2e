//! A read-only run: the model writes as if it might, writes are refused, and what they would have done is shown.

use crate::plan::Plan;
use crate::reply::Reading;
use crate::run::act::{self, Outcome as Turn};
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
    fn carry_out(&mut self, log: &mut Log<'_>, reading: &Reading) -> Turn {
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
