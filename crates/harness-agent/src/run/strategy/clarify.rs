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
