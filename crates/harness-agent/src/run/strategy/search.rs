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
