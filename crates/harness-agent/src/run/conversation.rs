//! The conversation with the model: one request a turn, until its replies come to an end. What a reply does is carried out
//! by a handler; here are cut replies, repeats, idle turns, drafts from the same prompt, and the menu.

use std::collections::HashSet;

use crate::action::Action;
use crate::history::Step;
use crate::model::{Card, Finish, Model, ModelError, Shape};
use crate::plan::{Plan, Rung};
use crate::reply::{self, Reading};
use crate::run::act::{TurnOutcome, repeated};
use crate::run::context::Context;
use crate::run::cut::CutReply;
use crate::run::ending::Ended;
use crate::run::event::EventKind;
use crate::run::log::{Log, first_line};
use crate::run::prompt::Opened;
use crate::run::prompt::said::{self, said};
use crate::run::result::Stopped;
use crate::run::talk::{ModelTurn, Talk};
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
    fn take_list(&mut self, log: &mut Log<'_>, reading: &Reading) -> Option<TurnOutcome> {
        let _ = (log, reading);
        None
    }

    /// Carries a reply out; the same on the same state is not brought here again.
    fn carry_out(&mut self, log: &mut Log<'_>, reading: &Reading) -> TurnOutcome;

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
    cut: CutReply,
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
            let Some(text) = self.whole_reply(log, &turn) else {
                match context.cancel.stopped() {
                    true => return Ended::interrupted(),
                    false => continue,
                }
            };
            let reading = reply::read(&text);
            let mut step = step_of(log, reading.action.as_ref(), &turn);
            let outcome = self.carry_out(log, &reading, handler);
            let is_answer = matches!(outcome, TurnOutcome::End(Stopped::Done, _));
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

    /// Returns a reply with the pieces that came before it; nothing where it was cut and its rest is asked for.
    fn whole_reply(&mut self, log: &mut Log<'_>, turn: &ModelTurn) -> Option<String> {
        let text = self.progress.cut.whole(&turn.reply.text);
        // An answer that was cut is an answer.
        let is_cut = turn.reply.finish == Finish::Length && self.rung != Rung::Answer;
        if !(is_cut && self.progress.cut.may_go_on(&text)) {
            self.progress.cut = CutReply::default();
            return Some(text);
        }
        let step = step_of(log, None, turn);
        log.push(Step {
            result: said::go_on().to_owned(),
            ..step
        });
        self.talk.say(said::go_on());
        None
    }

    /// Carries a reply out; the same on the same state is refused.
    fn carry_out(
        &mut self,
        log: &mut Log<'_>,
        reading: &Reading,
        handler: &mut dyn ReplyHandler,
    ) -> TurnOutcome {
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
        outcome: TurnOutcome,
        number: u32,
        step: &mut Step,
    ) -> Result<Told, Ended> {
        let failed = matches!(outcome, TurnOutcome::Failed(_));
        let next = matches!(outcome, TurnOutcome::Next(_));
        let refused = match &outcome {
            TurnOutcome::Refused(refusal) => refusal.rule.as_str(),
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
            TurnOutcome::Next(words) => {
                self.progress.count(true);
                let is_list = step.action == "reply";
                step.result = if is_list { "Read." } else { "Written." }.to_owned();
                if is_list {
                    step.action = "plan".to_owned();
                }
                words
            }
            TurnOutcome::Failed(words) => {
                self.progress.count(true);
                step.result.clone_from(&words);
                words
            }
            TurnOutcome::Say { words, new } => {
                self.progress.count(new);
                step.result.clone_from(&words);
                words
            }
            TurnOutcome::Refused(refusal) => {
                // Different drafts from one prompt are one turn of the conversation; the same again is nothing new.
                if !draws || is_same {
                    self.progress.count(false);
                }
                step.refused.clone_from(&refusal.rule);
                step.result.clone_from(&refusal.reason);
                log.refuse(&refusal);
                untold.unwrap_or_else(|| said("refused", &[("reason", &refusal.reason)]))
            }
            TurnOutcome::End(stopped, summary) => {
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
fn step_of(log: &Log<'_>, action: Option<&Action>, turn: &ModelTurn) -> Step {
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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use expect_test::expect;

    use super::*;
    use crate::history::Refusal;
    use crate::run::form::{self, Known};
    use crate::run::scripted_tests::{CUT, Came, RIGHT, Scene, Stage, WRONG, end_shown};

    const LOOK: &str = "Action: read\nPath: pricing.py\n";
    const FIND: &str = "Action: search\nQuery: discount\n";
    const MAP: &str = "Action: map\n";

    /// Carries replies out by a list, and keeps what it was given.
    #[derive(Default)]
    struct Listed {
        outcomes: VecDeque<TurnOutcome>,
        /// What a reply that was taken for a list comes to.
        list: Option<TurnOutcome>,
        carried: Vec<String>,
        /// Whether each reply finds the code in another state.
        moves: bool,
        /// The turns that the model was told of.
        told_of: Vec<u32>,
        /// What was proven beside, and whether it heard of a draft that failed.
        proven: Option<String>,
        heard_of_failures: Vec<bool>,
    }

    impl ReplyHandler for Listed {
        fn take_list(&mut self, _log: &mut Log<'_>, _reading: &Reading) -> Option<TurnOutcome> {
            self.list.take()
        }

        fn carry_out(&mut self, _log: &mut Log<'_>, reading: &Reading) -> TurnOutcome {
            self.carried.push(match &reading.action {
                Some(action) => action.tool().to_owned(),
                None => reading.prose.clone(),
            });
            self.outcomes.pop_front().unwrap_or_else(idle)
        }

        fn fingerprint(&self) -> String {
            let state = if self.moves { self.carried.len() } else { 0 };
            state.to_string()
        }

        fn proven_beside(&mut self, _log: &mut Log<'_>, draft_failed: bool) -> Option<String> {
            self.heard_of_failures.push(draft_failed);
            self.proven.take()
        }

        fn goes_on(&mut self, number: u32) {
            self.told_of.push(number);
        }
    }

    fn idle() -> TurnOutcome {
        TurnOutcome::Say {
            words: "nothing there".to_owned(),
            new: false,
        }
    }

    fn news() -> TurnOutcome {
        TurnOutcome::Say {
            words: "a file".to_owned(),
            new: true,
        }
    }

    fn failed(words: &str) -> TurnOutcome {
        TurnOutcome::Failed(words.to_owned())
    }

    fn end() -> TurnOutcome {
        TurnOutcome::End(Stopped::Done, "it is done".to_owned())
    }

    fn carrying(outcomes: impl IntoIterator<Item = TurnOutcome>) -> Listed {
        Listed {
            outcomes: outcomes.into_iter().collect(),
            ..Listed::default()
        }
    }

    /// Turn by turn, in which every reply is told of.
    fn by_turns() -> Stage {
        Stage::new(
            &[("pricing.py", "def discount(total):\n    return total\n")],
            "fix the percents in pricing.py",
        )
    }

    /// Holds a conversation; what the first prompt keeps back is told with the first failure.
    fn held_with(stage: &Stage, handler: &mut Listed, back: Option<&str>) -> Came<Ended> {
        stage.play(
            |Scene {
                 context,
                 log,
                 plan,
                 resources,
             }| {
                let Ok(ready) = resources.engine(context, log) else {
                    panic!("no engine");
                };
                let (mut opened, shape) =
                    form::of_work(context, plan, &ready.card, &Known::default());
                opened.held_back = back.map(str::to_owned);
                let model = (ready.model, ready.card);
                let opened = Conversation::open(context, log, plan, model, (opened, shape));
                let mut conversation = opened.expect("a conversation");
                conversation.hold(context, log, handler, context.options.steps)
            },
        )
    }

    fn held(stage: &Stage, handler: &mut Listed) -> Came<Ended> {
        held_with(stage, handler, None)
    }

    #[test]
    fn what_left_the_window_may_be_looked_at_again() {
        // Each is about a quarter of the longest prompt.
        let code = "x = 1\n".repeat(900);
        let seen = || TurnOutcome::Say {
            words: format!("pricing.py:\n```python\n{code}```"),
            new: true,
        };
        let stage = by_turns().replies([LOOK, FIND, MAP, "Action: read\nPath: a.py\n", LOOK]);
        let mut handler = carrying([seen(), seen(), seen(), seen(), end()]);
        let came = held(&stage, &mut handler);
        assert!(came.requests.len() > 4, "{}", came.requests.len());
        assert_eq!(came.rules(), [""; 0]);
        assert_eq!(handler.carried, ["read", "search", "map", "read", "read"]);
    }

    /// Returns how many messages each request had more than the first.
    fn growth(came: &Came<Ended>) -> Vec<usize> {
        let first = came.requests[0].messages.len();
        let requests = came.requests.iter();
        requests
            .map(|request| request.messages.len() - first)
            .collect()
    }

    #[test]
    fn the_same_on_the_same_state_is_refused_and_soon_stuck() {
        let mut handler = carrying([news(), news(), news(), news()]);
        let came = held(&by_turns().replies([LOOK]), &mut handler);
        assert_eq!(handler.carried, ["read"]);
        assert_eq!(came.rules(), ["repeat.same_action"; 3]);
        expect!["stuck: 3 turns in a row brought nothing new; the last: Refused: the same read brought nothing before and nothing has changed since: do something else"].assert_eq(&end_shown(&came.value));
    }

    #[test]
    fn the_same_on_another_state_is_another_action() {
        let mut handler = Listed {
            moves: true,
            ..carrying([news(), news(), end()])
        };
        let came = held(&by_turns().replies([LOOK]), &mut handler);
        assert_eq!(handler.carried, ["read"; 3]);
        assert_eq!(came.rules(), [""; 0]);
        assert_eq!(end_shown(&came.value), "done: it is done");
    }

    #[test]
    fn three_turns_in_a_row_that_bring_nothing_are_the_end() {
        let came = held(&by_turns().replies([LOOK, FIND, MAP]), &mut carrying([]));
        expect!["stuck: 3 turns in a row brought nothing new; the last: nothing there"]
            .assert_eq(&end_shown(&came.value));
        assert_eq!(came.requests.len(), 3);
    }

    #[test]
    fn anything_new_makes_the_idle_turns_forgotten() {
        let outcomes = [idle(), idle(), news(), idle(), idle(), end()];
        let stage = by_turns().replies(["One.", "Two.", "Three.", "Four.", "Five.", "Six."]);
        let came = held(&stage, &mut carrying(outcomes));
        assert_eq!(end_shown(&came.value), "done: it is done");
    }

    #[test]
    fn an_action_is_told_with_its_number_and_a_reply_without_one_is_not() {
        let came = held(
            &by_turns().replies(["Hm.", LOOK]),
            &mut carrying([news(), end()]),
        );
        assert_eq!(came.told(EventKind::Action), ["step 2: read pricing.py"]);
        assert_eq!(came.actions(), ["reply", "read"]);
        let results: Vec<&str> = came.steps.iter().map(|step| step.result.as_str()).collect();
        assert_eq!(results, ["a file", "it is done"]);
    }

    #[test]
    fn three_more_drafts_are_drawn_before_a_failure_is_told_and_again_after_that() {
        let draft = |number: u32| {
            format!("```python\ndef discount(total, percent):\n    return {number}\n```")
        };
        let drafts: Vec<String> = (1..=9).map(draft).collect();
        let stage = Stage::pricing()
            .steps(9)
            .replies(drafts.iter().map(String::as_str));
        let words: Vec<String> = (1..=9)
            .map(|number| format!("draft {number} failed"))
            .collect();
        let mut handler = carrying(words.iter().map(|words| failed(words)));
        let came = held(&stage, &mut handler);
        assert_eq!(growth(&came), [0, 0, 0, 0, 2, 2, 2, 2, 4]);
        let asked = came.asked();
        assert!(asked[4].starts_with("draft 4 failed"), "{}", asked[4]);
        assert!(asked[8].starts_with("draft 8 failed"), "{}", asked[8]);
        assert_eq!(handler.heard_of_failures, [true; 9]);
        assert_eq!(handler.told_of, [4, 8, 9]);
    }

    #[test]
    fn the_menu_of_actions_is_shown_once() {
        let draft = |number: u32| {
            format!("```python\ndef discount(total, percent):\n    return {number}\n```")
        };
        let drafts: Vec<String> = (1..=9).map(draft).collect();
        let stage = Stage::pricing()
            .steps(9)
            .replies(drafts.iter().map(String::as_str));
        let came = held(&stage, &mut carrying((1..=9).map(|_| failed("no"))));
        let last = came.requests.last().expect("a request");
        let told = last.messages.iter().map(|message| &message.content);
        let menus = told.filter(|words| words.contains("Instead of code you may reply"));
        assert_eq!(menus.count(), 1);
        // The first prompt of a conversation with tools has the actions.
        let came = held(
            &by_turns().replies([LOOK, FIND]),
            &mut carrying([news(), end()]),
        );
        assert_eq!(came.asked()[1], "a file");
    }

    #[test]
    fn each_draw_has_a_seed_of_its_own_and_what_is_told_begins_with_the_likeliest() {
        let drafts = [RIGHT, WRONG, "Three.", "Four.", "Five."];
        let outcomes = [failed("1"), failed("2"), failed("3"), failed("4"), end()];
        let came = held(&Stage::pricing().replies(drafts), &mut carrying(outcomes));
        let drawn: Vec<(f32, u64)> = came
            .requests
            .iter()
            .map(|request| (request.temperature, request.seed))
            .collect();
        assert_eq!(drawn, [(0.0, 1), (0.8, 1), (0.8, 2), (0.8, 3), (0.0, 1)]);
    }

    #[test]
    fn a_model_that_writes_the_same_again_is_told_what_came_of_it() {
        let stage = Stage::pricing().replies([WRONG, WRONG, RIGHT]);
        let came = held(&stage, &mut carrying([failed("180 is not 210"), end()]));
        assert_eq!(growth(&came), [0, 0, 2]);
        let told = came.asked()[2];
        assert!(told.starts_with("180 is not 210"), "{told}");
        assert_eq!(came.rules(), ["repeat.same_action"]);
    }

    #[test]
    fn a_very_small_model_that_writes_the_same_again_draws_on() {
        let mut stage = Stage::pricing().replies([WRONG, WRONG, RIGHT]);
        stage.abilities.tiny = true;
        let came = held(&stage, &mut carrying([failed("180 is not 210"), end()]));
        assert_eq!(growth(&came), [0, 0, 0]);
    }

    #[test]
    fn what_tests_said_of_a_draft_is_kept_before_why_another_was_refused() {
        let refused = Refusal::new("draft.syntax", "line 2 is no Python", "pricing.py");
        let three = "```python\ndef discount(total, percent):\n    return 3\n```";
        let stage = Stage::pricing().replies([WRONG, three, WRONG, RIGHT]);
        let outcomes = [
            failed("180 is not 210"),
            TurnOutcome::Refused(refused),
            end(),
        ];
        let came = held(&stage, &mut carrying(outcomes));
        let told = came.asked()[3];
        assert!(told.starts_with("180 is not 210"), "{told}");
    }

    #[test]
    fn a_refusal_is_told_at_once_where_drafts_are_no_alternatives() {
        let refused = Refusal::new("draft.syntax", "line 2 is no Python", "pricing.py");
        let stage = by_turns().replies([WRONG, RIGHT]);
        let came = held(
            &stage,
            &mut carrying([TurnOutcome::Refused(refused), end()]),
        );
        assert_eq!(came.asked()[1], "Refused: line 2 is no Python");
        assert_eq!(came.steps[0].refused, "draft.syntax");
    }

    #[test]
    fn a_reply_that_was_cut_is_asked_for_on_and_carried_out_whole() {
        let (begin, rest) = RIGHT.split_at(RIGHT.find("percent /").unwrap());
        let begin = format!("{begin}{CUT}");
        let stage = Stage::pricing().replies([begin.as_str(), rest]);
        let mut handler = carrying([end()]);
        let came = held(&stage, &mut handler);
        assert_eq!(handler.carried, ["edit"]);
        expect![
            "Your reply was cut. Continue exactly where it stopped, without repeating anything."
        ]
        .assert_eq(came.asked()[1]);
        assert_eq!(came.actions(), ["reply", "edit"]);
    }

    #[test]
    fn a_cut_reply_whose_next_piece_brings_nothing_is_taken_as_it_is() {
        let begin = format!("```python\ndef discount(total, percent):\n    return total\n{CUT}");
        let stage = by_turns().replies([begin.as_str(), CUT, LOOK]);
        let mut handler = carrying([news(), end()]);
        held(&stage, &mut handler);
        assert_eq!(handler.carried, ["edit", "read"]);
    }

    #[test]
    fn drafts_that_came_in_pieces_go_together_when_another_is_drawn() {
        let begin = format!("```python\ndef discount(total, percent):\n    return total\n{CUT}");
        let stage = Stage::pricing().replies([begin.as_str(), "    # all\n```", RIGHT]);
        let came = held(&stage, &mut carrying([failed("no"), end()]));
        assert_eq!(growth(&came), [0, 2, 0]);
    }

    #[test]
    fn the_next_part_is_asked_for_without_a_word_on_the_last() {
        let mut handler = carrying([
            TurnOutcome::Next("Now `tax`.".to_owned()),
            TurnOutcome::Next("Now its tests.".to_owned()),
            end(),
        ]);
        let stage = Stage::pricing().replies(["pricing.py: tax: add it", RIGHT, WRONG]);
        let came = held(&stage, &mut handler);
        assert_eq!(came.asked()[1..], ["Now `tax`.", "Now its tests."]);
        assert_eq!(came.actions(), ["plan", "edit", "edit"]);
        let results: Vec<&str> = came.steps.iter().map(|step| step.result.as_str()).collect();
        assert_eq!(results, ["Read.", "Written.", "it is done"]);
        assert_eq!(handler.told_of, [0_u32; 0]);
    }

    #[test]
    fn a_list_is_taken_before_anything_is_carried_out() {
        let mut handler = Listed {
            list: Some(TurnOutcome::Next("Now `tax`.".to_owned())),
            ..carrying([end()])
        };
        held(&by_turns().replies([LOOK, FIND]), &mut handler);
        assert_eq!(handler.carried, ["search"]);
    }

    #[test]
    fn what_the_first_prompt_kept_back_is_told_with_the_first_failure() {
        let stage = by_turns().replies([LOOK, FIND, MAP]);
        let mut handler = carrying([failed("180 is not 210"), failed("181 is not 210"), end()]);
        let came = held_with(&stage, &mut handler, Some("the code"));
        assert_eq!(
            came.asked()[1..],
            ["180 is not 210\n\nthe code", "181 is not 210"]
        );
    }

    #[test]
    fn actions_that_were_left_over_are_told() {
        let several = format!("{LOOK}\n{FIND}");
        let stage = by_turns().replies([several.as_str(), MAP]);
        let came = held(&stage, &mut carrying([news(), end()]));
        expect![[r#"
            a file
            Not done this turn: search."#]]
        .assert_eq(came.asked()[1]);
    }

    #[test]
    fn a_reply_that_cannot_be_read_is_asked_for_as_an_object_once() {
        let mut stage = by_turns().replies(["Hm.", LOOK, FIND]);
        stage.abilities.schema = true;
        let came = held(&stage, &mut carrying([idle(), news(), end()]));
        let shapes: Vec<Shape> = came.requests.iter().map(|request| request.shape).collect();
        assert_eq!(shapes, [Shape::Words, Shape::Object, Shape::Words]);
        let came = held(
            &by_turns().replies(["Hm.", LOOK]),
            &mut carrying([idle(), end()]),
        );
        assert_eq!(came.requests[1].shape, Shape::Words);
    }

    #[test]
    fn what_was_proven_beside_ends_the_conversation() {
        let mut handler = Listed {
            proven: Some("a small change passes".to_owned()),
            ..carrying([failed("no")])
        };
        let came = held(&by_turns().replies([LOOK]), &mut handler);
        assert_eq!(end_shown(&came.value), "done: a small change passes");
        assert_eq!(handler.heard_of_failures, [true]);
    }

    #[test]
    fn steps_that_are_spent_and_an_engine_that_fails_are_ends() {
        let stage = by_turns().steps(2).replies([LOOK, FIND]);
        let came = held(&stage, &mut carrying([news(), news()]));
        assert_eq!(end_shown(&came.value), "steps: not finished within 2 steps");
        let stage = by_turns().replies([LOOK]).without_engine_after(1);
        let came = held(&stage, &mut carrying([news()]));
        expect![[r#"
            engine: no model server answers
            hint: start one"#]]
        .assert_eq(&end_shown(&came.value));
    }

    #[test]
    fn who_stops_it_at_a_turn_ends_it_there() {
        let stage = by_turns().replies([LOOK]).stopped_at(EventKind::Action);
        let came = held(&stage, &mut carrying([news()]));
        assert_eq!(end_shown(&came.value), "interrupted: interrupted");
        // What came of the turn is still in the history.
        assert_eq!(came.actions(), ["read"]);
        let begin = format!("```python\ndef discount(total):\n{CUT}");
        let stage = by_turns()
            .replies([begin.as_str()])
            .stopped_at(EventKind::Reply);
        let came = held(&stage, &mut carrying([]));
        assert_eq!(end_shown(&came.value), "interrupted: interrupted");
        assert_eq!(came.requests.len(), 1);
    }
}
