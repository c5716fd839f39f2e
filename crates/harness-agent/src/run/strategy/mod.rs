//! Ways to meet what a plan asks for. Each is a file here and a line in the list, and works on one goal with what is staged
//! already; what is proven is kept, and all else taken back, once a run ends.

mod answer;
mod certain_fix;
mod clarify;
mod propose;
mod red_tests;
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
const STRATEGIES: [&dyn Strategy; 10] = [
    &replay::Replay,
    &certain_fix::CertainFix,
    &clarify::Clarify,
    &answer::Answer,
    &propose::Propose,
    &red_tests::RedTests,
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
                left = STRATEGIES.iter();
            }
        }
    }
    let nothing = || Ended::new(Stopped::Stuck, "nothing can be done about this");
    (plan, resources.gave_up.take().unwrap_or_else(nothing))
}
