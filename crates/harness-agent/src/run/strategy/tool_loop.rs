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
