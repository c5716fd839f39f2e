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
