//! The conversation with the model about one thing: what it is told, what its replies come to, until it is proven or
//! given up. A search goes on beside it.

use std::collections::HashSet;

use harness_code::edit::ChangeSet;
use harness_code::path::RelPath;
use harness_code::tree::SourceTree;

use crate::action::Action;
use crate::history::Step;
use crate::model::{Card, Finish, Model, ModelError, Shape};
use crate::plan::{Place, Rung};
use crate::reply::{self, Reading};
use crate::run::act::{Outcome, act, go_on, refused_draft, repeated};
use crate::run::cut::{CONTINUE, Cut};
use crate::run::event::EventKind;
use crate::run::evidence::Verdict;
use crate::run::form;
use crate::run::places::{self, LEAST_STEPS, Listed};
use crate::run::prompt::{self, Opening, capped};
use crate::run::removal;
use crate::run::result::Stopped;
use crate::run::search::Search;
use crate::run::session::{Ended, Session, first_line};
use crate::run::staged::Staged;
use crate::run::talk::{self, Talk, Turn};
use crate::run::telling::failure_to_show;
use crate::run::trial::{Attempt, Trial};
use crate::task::kind::Kind;

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
/// Failing tests that the model is shown when it is asked what is left.
const MOST_RED: usize = 3;
/// The longest observation, in characters.
const LONGEST_OBSERVATION: usize = 6_000;
/// Files that hold the house rules of a project, first wins.
const RULE_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];

/// The model of a run, or why there is none.
pub(super) enum Engine<'m> {
    /// A model that has said what it is.
    Ready {
        model: &'m mut dyn Model,
        card: Card,
    },
    /// Nothing can be asked; a search may still find a fix.
    Missing(Ended),
}

/// Works on what the plan is about, with the model and with a search, until it is proven or given up.
pub(super) fn attempt(
    session: &mut Session<'_>,
    engine: &mut Engine<'_>,
    trial: &mut Trial,
    learned: &str,
    steps: u32,
) -> Ended {
    let mut search = Search::begin(session, trial);
    let ended = match engine {
        Engine::Missing(ended) => ended.clone(),
        Engine::Ready { model, card } => {
            let failure = failure_to_show(session, trial);
            let known = (&*failure, learned);
            match Conversation::open(session, *model, card.clone(), known, false) {
                Ok(mut open) => {
                    let ended = turns(session, &mut open, Some(trial), &mut search, steps);
                    open.or_proven(session, trial, ended)
                }
                Err(error) => session.engine_failed(&error),
            }
        }
    };
    last_resort(session, trial, search, ended)
}

/// Where the model did not finish, what the search finds may.
fn last_resort(
    session: &mut Session<'_>,
    trial: &mut Trial,
    search: Option<Search>,
    ended: Ended,
) -> Ended {
    let Some(mut search) = search else {
        return ended;
    };
    // A question of the model's own that nobody answered is no end either.
    let unfinished = matches!(
        ended.stopped,
        Stopped::Engine | Stopped::Steps | Stopped::Stuck | Stopped::Question
    );
    if !unfinished || trial.is_left_open() || session.cancel.stopped() {
        return ended;
    }
    if ended.stopped == Stopped::Engine {
        let why = first_line(&ended.summary);
        let text = format!("no engine ({why}): trying small changes");
        session.tell(EventKind::Engine, &text, []);
    }
    search.wait_all(session);
    let found = search.take(session, trial);
    found.map_or(ended, |summary| Ended::new(Stopped::Done, summary))
}

/// A conversation and what it has come to.
pub(super) struct Conversation<'m> {
    talk: Talk<'m>,
    /// How replies should look.
    shape: Shape,
    /// Whether the server can hold a reply to a schema.
    schema: bool,
    /// What was done, and on which state.
    seen: HashSet<String>,
    /// Turns in a row that brought nothing new.
    idle: u32,
    knows_menu: bool,
    cut: Cut,
    listing: Listing,
    /// The model is known to be very small: it is asked for code alone.
    tiny: bool,
    /// Changes are tried, not only shown.
    writes: bool,
    /// What would change by the last write that was refused because the run is read-only, on the bytes that it was made
    /// from: who saves a file after that finds it refused by `apply`.
    pub(super) proposed: Attempt,
    /// What a draft came to that the model was not told, because another one was drawn from the same prompt.
    untold: Option<String>,
    /// What was proven before the model was asked what is left.
    proven: Option<Proven>,
}

/// A state that is proven.
struct Proven {
    staged: Staged,
    summary: String,
    /// Tests that failed as before and were asked about.
    red: usize,
    /// What is left, by the model's answer.
    left: Vec<Place>,
}

/// Whether the model is to list places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listing {
    /// It is not.
    No,
    /// It may list places instead of writing one.
    Offered,
    /// It was asked which places must change.
    First,
    /// It named some that are not there, and was asked again.
    Again,
    /// It lists no more for now; all of its places are being written.
    Written,
    /// It was asked what is left.
    Review,
    /// It named what is not there, and was asked again.
    ReviewAgain,
    /// It said that nothing is left.
    Over,
}

/// What a turn comes to for the model.
struct Heard {
    words: String,
    /// A draft was tried and failed.
    failed: bool,
    /// A part is done, and the words ask for the next.
    next: bool,
    /// Another draft is drawn from the same prompt.
    draws: bool,
}

/// Takes turns until one ends the conversation.
pub(super) fn turns(
    session: &mut Session<'_>,
    open: &mut Conversation<'_>,
    mut trial: Option<&mut Trial>,
    search: &mut Option<Search>,
    steps: u32,
) -> Ended {
    for number in 1..=steps {
        let turn = match open.talk.turn(session) {
            Ok(turn) => turn,
            Err(error) => return session.engine_failed(&error),
        };
        let text = open.cut.whole(&turn.reply.text);
        if turn.reply.finish == Finish::Length && open.cut.may_go_on(&text) {
            let step = step_of(session, None, &turn);
            session.push(Step {
                result: CONTINUE.to_owned(),
                ..step
            });
            if session.cancel.stopped() {
                return interrupted();
            }
            open.talk.say(CONTINUE);
            continue;
        }
        open.cut = Cut::default();
        let reading = reply::read(&text);
        let mut step = step_of(session, reading.action.as_ref(), &turn);
        let outcome = open.act(session, &reading, trial.as_deref_mut(), search);
        let heard = match open.hear(session, outcome, number, &mut step) {
            Ok(heard) => heard,
            Err(ended) => {
                session.push(step);
                return ended;
            }
        };
        session.push(step);
        if session.cancel.stopped() {
            return interrupted();
        }
        let proven = trial
            .as_deref_mut()
            .and_then(|trial| proven_by_search(session, trial, search, heard.failed));
        if let Some(summary) = proven {
            return Ended::new(Stopped::Done, summary);
        }
        if open.idle >= MOST_IDLE {
            let last = first_line(&heard.words);
            let words = format!("{MOST_IDLE} turns in a row brought nothing new; the last: {last}");
            return Ended::new(Stopped::Stuck, words);
        }
        open.go_on(session, number, &reading, heard);
    }
    out_of_steps(session)
}

pub(super) fn out_of_steps(session: &Session<'_>) -> Ended {
    let steps = session.options.steps;
    Ended::new(Stopped::Steps, format!("not finished within {steps} steps"))
}

fn interrupted() -> Ended {
    Ended::new(Stopped::Interrupted, "interrupted")
}

/// Returns what the search has proven by now: the model had its turn, and need not have another one.
fn proven_by_search(
    session: &mut Session<'_>,
    trial: &mut Trial,
    search: &mut Option<Search>,
    failed: bool,
) -> Option<String> {
    let search = search.as_mut()?;
    if failed {
        search.wait_beside(session);
    }
    let worth = failed || search.has_found();
    worth.then(|| search.take(session, trial)).flatten()
}

impl<'m> Conversation<'m> {
    /// Opens a conversation in the form that task and engine ask for, with how tests fail and what was learned before.
    pub(super) fn open(
        session: &mut Session<'_>,
        model: &'m mut dyn Model,
        card: Card,
        (failure, learned): (&str, &str),
        read_only: bool,
    ) -> Result<Conversation<'m>, ModelError> {
        let room = talk::most_room(&card, session.options.max_tokens);
        form::settle(session, &room);
        let shape = form::shape(session, &card);
        let framework = form::framework(session);
        let lists = !read_only && places::are_asked_for(session, &card, shape);
        // Advice costs a very small model more than it helps it (6 of 20 bugs with, 7 without); what the user names is
        // kept.
        let skills = if card.abilities.tiny && session.options.skills.is_empty() {
            Vec::new()
        } else {
            session.plan.load_skills(&session.tree)
        };
        let opening = Opening {
            task: &session.task,
            plan: &session.plan,
            tree: &session.tree,
            skills: &skills,
            rules: &house_rules(&session.tree),
            files: &session.files,
            context: &session.options.context,
            failure,
            learned,
            read_only,
            answers: false,
            framework: &framework,
            object: shape == Shape::Object,
            tiny: card.abilities.tiny,
            lists,
        };
        let opened = prompt::opening(&opening, room.opening());
        let (schema, tiny) = (card.abilities.schema, card.abilities.tiny);
        let mut talk = Talk::open(session, model, card, opened)?;
        talk.shape = shape;
        talk.block_instead_of = form::block_instead_of(session);
        Ok(Conversation {
            talk,
            shape,
            schema,
            seen: HashSet::new(),
            idle: 0,
            knows_menu: false,
            cut: Cut::default(),
            listing: if lists { Listing::First } else { Listing::No },
            tiny,
            writes: !read_only,
            proposed: Attempt::default(),
            untold: None,
            proven: None,
        })
    }

    /// Goes back to what was proven before the model was asked what is left, where nothing better came of that.
    fn or_proven(&mut self, session: &mut Session<'_>, trial: &mut Trial, ended: Ended) -> Ended {
        let is_over = matches!(ended.stopped, Stopped::Done | Stopped::Interrupted);
        // What was written for tests that fail all the same is not kept.
        let is_in_vain = |proven: &Proven| proven.red > 0 && trial.still_red().len() >= proven.red;
        let proven = self.proven.take();
        let Some(proven) = proven.filter(|proven| !is_over || is_in_vain(proven)) else {
            return ended;
        };
        if ended.stopped == Stopped::Interrupted {
            return ended;
        }
        trial.go_back_to(proven.staged);
        match trial.settled_verdict(session) {
            Verdict::Proven(_) => match trial.note_left(session, &proven.left) {
                Some(why) => Ended::new(Stopped::Stuck, why),
                None => Ended::new(Stopped::Done, proven.summary),
            },
            Verdict::Worse(_) | Verdict::Unfinished { .. } | Verdict::Unverified(_) => {
                match ended.stopped {
                    Stopped::Done => Ended::new(Stopped::Stuck, "what was proven is not any more"),
                    _ => ended,
                }
            }
        }
    }

    /// Takes up a list of places where one was asked for and no code came instead.
    fn take_list(
        &mut self,
        session: &mut Session<'_>,
        reading: &Reading,
        trial: &mut Trial,
    ) -> Option<Outcome> {
        let asked = self.listing;
        if matches!(asked, Listing::No | Listing::Over) {
            return None;
        }
        let is_review = matches!(asked, Listing::Review | Listing::ReviewAgain);
        let is_again = matches!(asked, Listing::Again | Listing::ReviewAgain);
        let is_free = matches!(asked, Listing::Offered | Listing::Written);
        if is_free && reading.action.is_some() {
            return None;
        }
        self.listing = match (is_free, is_review) {
            (true, _) => asked,
            (false, true) => Listing::Over,
            (false, false) => Listing::No,
        };
        let is_done = matches!(reading.action, Some(Action::Done { .. }));
        if reading.action.is_some() && !(is_review && is_done) {
            return None;
        }
        let mut orders = session.task.orders().into_iter();
        let with_tests = orders.any(|order| order.wants_test());
        let is_staged = |path: &RelPath, name: &str| trial.place(session, path, name).is_some();
        match places::read(&session.tree, &reading.prose, with_tests, &is_staged) {
            Listed::Places(places) => self.begin_list(session, places, trial),
            Listed::Problems(_, places) if !places.is_empty() && is_again => {
                self.begin_list(session, places, trial)
            }
            Listed::Problems(words, _) if !is_again && asked != Listing::Written => {
                self.listing = match is_review {
                    true => Listing::ReviewAgain,
                    false => Listing::Again,
                };
                Some(Outcome::Next(prompt::places_again(&words)))
            }
            Listed::Problems(..) | Listed::Nothing if is_review => {
                let summary = self.proven.take().map(|proven| proven.summary);
                Some(Outcome::End(Stopped::Done, summary.unwrap_or_default()))
            }
            Listed::Problems(..) | Listed::Nothing => None,
        }
    }

    /// Turns to the first of the places. A draft that did not do alone may do together with the others.
    fn begin_list(
        &mut self,
        session: &mut Session<'_>,
        places: Vec<Place>,
        trial: &mut Trial,
    ) -> Option<Outcome> {
        self.listing = Listing::Written;
        self.seen.clear();
        if let Some(proven) = &mut self.proven {
            proven.left.extend(places.iter().cloned());
        }
        session.plan.list_places(places);
        match places::next_listed(session, trial) {
            None if removal::may_be_taken(session, trial).is_empty() => None,
            None => Some(go_on(session, &ChangeSet::default(), trial, &mut None)),
            Some(words) => Some(Outcome::Next(words)),
        }
    }

    /// Asks what is left once all listed places are written and proven, or where tests beside those that pass now fail
    /// as before.
    fn review(&mut self, session: &Session<'_>, trial: &Trial, outcome: Outcome) -> Outcome {
        let has_steps = session.history.next_number() < session.options.steps;
        let may_ask = self.proven.is_none()
            && self.listing != Listing::Over
            && has_steps
            && !session.plan.is_about_red_tests();
        match outcome {
            Outcome::End(Stopped::Done, summary) if may_ask && !self.tiny => {
                let failing = trial.still_red();
                let red = failing.iter().take(MOST_RED).map(|failure| failure.shown());
                let red = red.collect::<Vec<_>>().join("\n");
                if self.listing != Listing::Written && red.is_empty() {
                    return Outcome::End(Stopped::Done, summary);
                }
                self.listing = Listing::Review;
                let words = prompt::review(&trial.staged().diff(), trial.has_suite(), &red);
                self.proven = Some(Proven {
                    staged: trial.staged().clone(),
                    summary,
                    red: failing.len(),
                    left: Vec::new(),
                });
                Outcome::Next(words)
            }
            outcome => outcome,
        }
    }

    /// Carries a reply out; the same on the same state is refused.
    fn act(
        &mut self,
        session: &mut Session<'_>,
        reading: &Reading,
        mut trial: Option<&mut Trial>,
        search: &mut Option<Search>,
    ) -> Outcome {
        let listed = trial
            .as_deref_mut()
            .and_then(|trial| self.take_list(session, reading, trial));
        if let Some(outcome) = listed {
            return outcome;
        }
        let Some(action) = &reading.action else {
            return act(session, reading, trial, search);
        };
        let number = session.history.next_number();
        let text = format!("step {number}: {} {}", action.tool(), action.path());
        let data = [
            ("action", action.tool().into()),
            ("path", action.path().into()),
        ];
        session.tell(EventKind::Action, text.trim_end(), data);
        let state = trial.as_ref().map(|trial| trial.fingerprint());
        let is_new = self
            .seen
            .insert(format!("{}{action:?}", state.unwrap_or_default()));
        if is_new
            && trial.is_none()
            && action.needs_writing()
            && let Some(draft) = refused_draft(session, action)
        {
            self.proposed = Attempt {
                patch: draft.diff(),
                changes: session.proposed(&draft),
            };
        }
        let outcome = match is_new {
            true => act(session, reading, trial.as_deref_mut(), search),
            false => repeated(reading),
        };
        match trial {
            Some(trial) => self.review(session, trial, outcome),
            None => outcome,
        }
    }

    /// Writes down what came of a turn; returns how the run ends where it does.
    fn hear(
        &mut self,
        session: &mut Session<'_>,
        outcome: Outcome,
        number: u32,
        step: &mut Step,
    ) -> Result<Heard, Ended> {
        let failed = matches!(outcome, Outcome::Failed(_));
        let next = matches!(outcome, Outcome::Next(_));
        let spoilt = matches!(&outcome, Outcome::Refused(refusal) if REDRAWN.contains(&refusal.rule.as_str()));
        // Small models also repeat the code as it was, or break it; saying so does not help them, another draw does.
        let draws = draws_again(session, number) && (failed || spoilt);
        // A model that writes the same again is certain: it is told what came of it.
        let untold = match &outcome {
            Outcome::Refused(refusal) if refusal.rule == SAME_AGAIN && !self.tiny => {
                self.untold.take()
            }
            _ => None,
        };
        let draws = draws && untold.is_none();
        let words = match outcome {
            Outcome::Next(words) => {
                self.idle = 0;
                let is_list = step.action == "reply";
                step.result = if is_list { "Read." } else { "Written." }.to_owned();
                if is_list {
                    step.action = "plan".to_owned();
                }
                words
            }
            Outcome::Failed(words) => {
                self.idle = 0;
                step.result.clone_from(&words);
                words
            }
            Outcome::Say { words, new } => {
                self.idle = if new { 0 } else { self.idle + 1 };
                step.result.clone_from(&words);
                words
            }
            Outcome::Refused(refusal) => {
                // Different drafts from one prompt are one turn of the conversation; the same again is nothing new.
                self.idle += u32::from(!draws || refusal.rule == SAME_AGAIN);
                step.refused.clone_from(&refusal.rule);
                step.result.clone_from(&refusal.reason);
                session.refuse(&refusal);
                untold.unwrap_or_else(|| format!("Refused: {}", refusal.reason))
            }
            Outcome::End(stopped, summary) => {
                step.result.clone_from(&summary);
                return Err(Ended::new(stopped, summary));
            }
        };
        // What tests said of a draft tells more than why another one was refused.
        let is_told = failed || self.untold.is_none() && step.refused != SAME_AGAIN;
        self.untold = (draws && is_told)
            .then(|| words.clone())
            .or_else(|| self.untold.take().filter(|_| draws));
        Ok(Heard {
            words,
            failed,
            next,
            draws,
        })
    }

    /// Says what the model is told next, or draws again from the same prompt.
    fn go_on(&mut self, session: &Session<'_>, number: u32, reading: &Reading, heard: Heard) {
        if heard.draws {
            self.talk.draw_again(number);
            return;
        }
        if heard.next {
            // What is asked for next is another piece of code.
            self.talk.block_instead_of = self.talk.block_instead_of.take().map(|_| String::new());
            self.talk.say(&heard.words);
            return;
        }
        if let Some(shown) = self.talk.held_back.take() {
            let words = capped(&heard.words, LONGEST_OBSERVATION);
            self.talk.say(&format!("{}\n\n{shown}", words.trim_end()));
            return;
        }
        let told_menu = std::mem::replace(&mut self.knows_menu, true);
        let menu = !told_menu && session.plan.rung == Rung::Rewrite;
        let may_list = session.options.steps > number + LEAST_STEPS && !self.tiny;
        if self.listing == Listing::No && may_list && self.writes {
            self.listing = Listing::Offered;
        }
        // A reply that could not be read is asked for again in a form that cannot be missed, where the server can hold it.
        let unread = reading.action.is_none() && session.plan.rung == Rung::Loop;
        self.talk.shape = match unread && self.schema {
            true => Shape::Object,
            false => self.shape,
        };
        self.talk
            .say(&observation(&heard.words, &reading.leftovers, menu));
    }
}

/// Returns whether a draft that does not do is followed by another from the same prompt.
fn draws_again(session: &Session<'_>, number: u32) -> bool {
    let rewrites = session.plan.rung == Rung::Rewrite && session.task.kind == Kind::Fix;
    let told = MORE_DRAFTS + 1;
    rewrites && ((1..told).contains(&number) || (told + 1..=told + MORE_DRAFTS).contains(&number))
}

/// Returns the step of a turn, before anything came of it.
fn step_of(session: &Session<'_>, action: Option<&Action>, turn: &Turn) -> Step {
    Step {
        number: session.history.next_number(),
        action: action.map_or("reply", Action::tool).to_owned(),
        path: action
            .map(|action| action.path().to_owned())
            .unwrap_or_default(),
        result: String::new(),
        refused: String::new(),
        seconds: turn.seconds,
        tokens: turn.reply.reply_tokens,
    }
}

/// Returns what the model is told of a turn: what came of it, what was left, and once the other actions it has.
fn observation(words: &str, leftovers: &[String], menu: bool) -> String {
    let mut told = capped(words, LONGEST_OBSERVATION);
    if !leftovers.is_empty() {
        told.push_str(&format!("\nNot done this turn: {}.", leftovers.join(", ")));
    }
    if menu {
        told.push_str(&format!("\n\n{}", prompt::MENU.trim_end()));
    }
    told
}

/// Returns the house rules of a project, or nothing.
pub(super) fn house_rules(tree: &SourceTree) -> String {
    let text = |name: &&str| Some(tree.text(&RelPath::parse(name).ok()?).ok()?.into_content());
    RULE_FILES.iter().find_map(text).unwrap_or_default()
}
