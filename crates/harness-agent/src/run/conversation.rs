//! The conversation with the model: one request a turn, until its replies come to an end. What a reply does is carried out
//! by a handler; here are cut replies, repeats, idle turns, drafts from the same prompt, and the menu.

use std::collections::HashSet;

use crate::action::Action;
use crate::history::Step;
use crate::model::{Card, Finish, Model, ModelError, Shape};
use crate::plan::{Plan, Rung};
use crate::reply::{self, Reading};
use crate::run::act::{Outcome, repeated};
use crate::run::context::Context;
use crate::run::cut::Cut;
use crate::run::ending::Ended;
use crate::run::event::EventKind;
use crate::run::log::{Log, first_line};
use crate::run::prompt::Opened;
use crate::run::prompt::said::{self, said};
use crate::run::result::Stopped;
use crate::run::talk::{Talk, Turn};
use harness_code::request::kind::Kind;

/// Turns without anything new after which a run is stuck.
const MOST_IDLE: u32 = 3;
/// Drafts that are drawn from the same prompt before a failed one goes back with its message, and again after that.
/// Measured on twenty one-line bugs with a model of 135 million parameters: the likeliest reply fixed 9; four more from
/// the same prompt made it 15; its own traceback shown first made it 9, and four more from there 11.
const MORE_DRAFTS: u32 = 3;
/// What small models do wrong by chance, and right in the next draw.
const REDRAWN: [&str; 4] = [
    "draft.no_change",
    "draft.syntax",
    "draft.unresolved",
    SAME_AGAIN,
];
const SAME_AGAIN: &str = "repeat.same_action";

/// Carries out what replies ask for.
pub(super) trait ReplyHandler {
    /// Carries out a reply that is a list of places, where one was asked for.
    fn take_list(&mut self, log: &mut Log<'_>, reading: &Reading) -> Option<Outcome> {
        let _ = (log, reading);
        None
    }

    /// Carries a reply out; the same on the same state is not brought here again.
    fn carry_out(&mut self, log: &mut Log<'_>, reading: &Reading) -> Outcome;

    /// Returns what tells one state of the code from another.
    fn fingerprint(&self) -> String {
        String::new()
    }

    /// Returns what was proven beside the model, whose last draft may have failed.
    fn proven_beside(&mut self, log: &mut Log<'_>, draft_failed: bool) -> Option<String> {
        let _ = (log, draft_failed);
        None
    }

    /// Hears that the model is told of a turn that ended no part of the work.
    fn goes_on(&mut self, number: u32) {
        let _ = number;
    }
}

/// How a conversation stands.
#[derive(Default)]
struct Progress {
    /// What was done, and on which state.
    seen: HashSet<String>,
    /// Turns in a row that brought nothing new.
    idle: u32,
    /// A reply that came in pieces.
    cut: Cut,
    /// What a draft came to that the model was not told, because another one was drawn from the same prompt.
    untold: Option<String>,
    knows_menu: bool,
}

impl Progress {
    /// Notes an action on a state. Returns whether it is another one than before.
    fn is_new(&mut self, state: &str, action: &Action) -> bool {
        self.seen.insert(format!("{state}{action:?}"))
    }

    /// Notes that a turn brought something, or nothing.
    fn count(&mut self, is_news: bool) {
        self.idle = if is_news { 0 } else { self.idle + 1 };
    }

    /// Returns how the conversation ends where too many turns brought nothing.
    fn stuck(&self, last: &str) -> Option<Ended> {
        let last = first_line(last);
        let words = format!("{MOST_IDLE} turns in a row brought nothing new; the last: {last}");
        (self.idle >= MOST_IDLE).then(|| Ended::new(Stopped::Stuck, words))
    }

    /// Keeps what a draft came to, where another one is drawn instead of telling it. What tests said of a draft tells more
    /// than why another one was refused.
    fn keep_untold(&mut self, draws: bool, words: &str, tells_most: bool, is_same: bool) {
        let kept = self.untold.take();
        let tells_more = tells_most || kept.is_none() && !is_same;
        self.untold = match (draws, tells_more) {
            (false, _) => None,
            (true, true) => Some(words.to_owned()),
            (true, false) => kept,
        };
    }

    /// Returns whether the menu is due, which is told once.
    fn needs_menu(&mut self) -> bool {
        !std::mem::replace(&mut self.knows_menu, true)
    }
}

/// What a turn comes to for the model.
struct Told {
    words: String,
    /// A draft was tried and failed.
    failed: bool,
    /// A part is done, and the words ask for the next.
    next: bool,
    /// Another draft is drawn from the same prompt.
    draws: bool,
}

/// A conversation with a model.
pub(super) struct Conversation<'m> {
    talk: Talk<'m>,
    /// How replies should look.
    shape: Shape,
    /// Whether the server can hold a reply to a schema.
    has_schema: bool,
    /// The model is known to be very small: it is asked for code alone.
    is_tiny: bool,
    rung: Rung,
    /// Drafts are alternatives, of which several may be drawn from one prompt.
    has_alternatives: bool,
    progress: Progress,
}

impl<'m> Conversation<'m> {
    /// Opens a conversation about a plan, in this shape.
    pub(super) fn open(
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        (model, card): (&'m mut dyn Model, Card),
        (opened, shape): (Opened, Shape),
    ) -> Result<Conversation<'m>, ModelError> {
        let (has_schema, is_tiny) = (card.abilities.schema, card.abilities.tiny);
        let mut talk = Talk::open(context, log, (model, card), opened)?;
        talk.shape = shape;
        talk.answers = plan.rung == Rung::Answer;
        Ok(Conversation {
            talk,
            shape,
            has_schema,
            is_tiny,
            rung: plan.rung,
            has_alternatives: plan.rung == Rung::Rewrite && plan.task.kind() == Kind::Fix,
            progress: Progress::default(),
        })
    }

    /// Stops reading a reply once it holds a closed block that differs from this code.
    pub(super) fn stop_after_block(&mut self, shown: Option<String>) {
        self.talk.stop_after_block = shown;
    }

    /// Takes turns until one ends the conversation.
    pub(super) fn hold(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        handler: &mut dyn ReplyHandler,
        steps: u32,
    ) -> Ended {
        for number in 1..=steps {
            let masked = log.usage.masked;
            let turn = match self.talk.turn(context, log) {
                Ok(turn) => turn,
                Err(error) => return log.engine_failed(&error),
            };
            if log.usage.masked > masked {
                // What was left out may be read again.
                self.progress.seen.clear();
            }
            let text = self.progress.cut.whole(&turn.reply.text);
            // An answer that was cut is an answer.
            let is_cut = turn.reply.finish == Finish::Length && self.rung != Rung::Answer;
            if is_cut && self.progress.cut.may_go_on(&text) {
                let step = step_of(log, None, &turn);
                log.push(Step {
                    result: said::go_on().to_owned(),
                    ..step
                });
                if context.cancel.stopped() {
                    return Ended::interrupted();
                }
                self.talk.say(said::go_on());
                continue;
            }
            self.progress.cut = Cut::default();
            let reading = reply::read(&text);
            let mut step = step_of(log, reading.action.as_ref(), &turn);
            let outcome = self.carry_out(log, &reading, handler);
            let is_answer = matches!(outcome, Outcome::End(Stopped::Done, _));
            if self.rung == Rung::Answer && (is_answer || reading.action.is_none()) {
                step.action = "answer".to_owned();
            }
            let told = self.told(log, outcome, number, &mut step);
            log.push(step);
            let told = match told {
                Ok(told) => told,
                Err(ended) => return ended,
            };
            if context.cancel.stopped() {
                return Ended::interrupted();
            }
            if let Some(summary) = handler.proven_beside(log, told.failed) {
                return Ended::new(Stopped::Done, summary);
            }
            // A question costs no tests: its steps are limit enough.
            let stuck = self.progress.stuck(&told.words);
            if let Some(ended) = stuck.filter(|_| self.rung != Rung::Answer) {
                return ended;
            }
            self.go_on(number, &reading, told, handler);
        }
        out_of_steps(context)
    }

    /// Carries a reply out; the same on the same state is refused.
    fn carry_out(
        &mut self,
        log: &mut Log<'_>,
        reading: &Reading,
        handler: &mut dyn ReplyHandler,
    ) -> Outcome {
        if let Some(outcome) = handler.take_list(log, reading) {
            return outcome;
        }
        let Some(action) = &reading.action else {
            return handler.carry_out(log, reading);
        };
        let number = log.history.next_number();
        let text = format!("step {number}: {} {}", action.tool(), action.path());
        let data = [
            ("action", action.tool().into()),
            ("path", action.path().into()),
        ];
        // Looks for an answer tell what they brought.
        if self.rung != Rung::Answer {
            log.tell(EventKind::Action, text.trim_end(), data);
        }
        match self.progress.is_new(&handler.fingerprint(), action) {
            true => handler.carry_out(log, reading),
            false => repeated(action),
        }
    }

    /// Writes down what came of a turn; returns how the conversation ends where it does.
    fn told(
        &mut self,
        log: &mut Log<'_>,
        outcome: Outcome,
        number: u32,
        step: &mut Step,
    ) -> Result<Told, Ended> {
        let failed = matches!(outcome, Outcome::Failed(_));
        let next = matches!(outcome, Outcome::Next(_));
        let refused = match &outcome {
            Outcome::Refused(refusal) => refusal.rule.as_str(),
            _ => "",
        };
        let is_same = refused == SAME_AGAIN;
        // Small models also repeat the code as it was, or break it; saying so does not help them, another draw does.
        let may_draw = self.draws_again(number) && (failed || REDRAWN.contains(&refused));
        // A model that writes the same again is certain: it is told what came of it.
        let untold = match is_same && !self.is_tiny {
            true => self.progress.untold.take(),
            false => None,
        };
        let draws = may_draw && untold.is_none();
        let words = match outcome {
            Outcome::Next(words) => {
                self.progress.count(true);
                let is_list = step.action == "reply";
                step.result = if is_list { "Read." } else { "Written." }.to_owned();
                if is_list {
                    step.action = "plan".to_owned();
                }
                words
            }
            Outcome::Failed(words) => {
                self.progress.count(true);
                step.result.clone_from(&words);
                words
            }
            Outcome::Say { words, new } => {
                self.progress.count(new);
                step.result.clone_from(&words);
                words
            }
            Outcome::Refused(refusal) => {
                // Different drafts from one prompt are one turn of the conversation; the same again is nothing new.
                if !draws || is_same {
                    self.progress.count(false);
                }
                step.refused.clone_from(&refusal.rule);
                step.result.clone_from(&refusal.reason);
                log.refuse(&refusal);
                untold.unwrap_or_else(|| said("refused", &[("reason", &refusal.reason)]))
            }
            Outcome::End(stopped, summary) => {
                step.result.clone_from(&summary);
                return Err(Ended::new(stopped, summary));
            }
        };
        self.progress.keep_untold(draws, &words, failed, is_same);
        Ok(Told {
            words,
            failed,
            next,
            draws,
        })
    }

    /// Returns whether a draft that does not do is followed by another from the same prompt.
    fn draws_again(&self, number: u32) -> bool {
        let told = MORE_DRAFTS + 1;
        let draws = [1..told, told + 1..told + 1 + MORE_DRAFTS];
        self.has_alternatives && draws.iter().any(|turns| turns.contains(&number))
    }

    /// Says what the model is told next, or draws again from the same prompt.
    fn go_on(
        &mut self,
        number: u32,
        reading: &Reading,
        told: Told,
        handler: &mut dyn ReplyHandler,
    ) {
        if told.draws {
            self.talk.draw_again(number);
            return;
        }
        if told.next {
            // What is asked for next is another piece of code.
            let stops = self.talk.stop_after_block.is_some();
            self.talk.stop_after_block = stops.then(String::new);
            self.talk.say(&told.words);
            return;
        }
        if let Some(shown) = self.talk.held_back.take() {
            self.talk.say(&said::with_held_back(&told.words, &shown));
            return;
        }
        let menu = self.progress.needs_menu() && self.rung == Rung::Rewrite;
        handler.goes_on(number);
        // A reply that could not be read is asked for again in a form that cannot be missed, where the server can hold it.
        let unread = reading.action.is_none() && self.rung == Rung::Loop;
        self.talk.shape = match unread && self.has_schema {
            true => Shape::Object,
            false => self.shape,
        };
        match self.rung {
            Rung::Answer => self.talk.say(&told.words),
            _ => self
                .talk
                .say(&said::observation(&told.words, &reading.leftovers, menu)),
        }
    }
}

/// Returns the end of an attempt that took all of its steps.
pub(super) fn out_of_steps(context: &Context<'_>) -> Ended {
    let steps = context.options.steps;
    Ended::new(Stopped::Steps, format!("not finished within {steps} steps"))
}

/// Returns the step of a turn, before anything came of it.
fn step_of(log: &Log<'_>, action: Option<&Action>, turn: &Turn) -> Step {
    Step {
        number: log.history.next_number(),
        action: action.map_or("reply", Action::tool).to_owned(),
        path: action.map_or("", Action::path).to_owned(),
        result: String::new(),
        refused: String::new(),
        seconds: turn.seconds,
        tokens: turn.reply.reply_tokens,
    }
}
