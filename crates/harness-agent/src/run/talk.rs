//! The conversation: grows at its end only, one request a turn, its cost counted.

use std::time::Instant;

use crate::model::usual;
use crate::model::{Card, Hearing, Message, Model, ModelError, Reply, Request, Role, Shape};
use crate::reply;
use crate::run::context::Context;
use crate::run::event::EventKind;
use crate::run::log::Log;
use crate::run::prompt::{self, Opened, said};
use crate::run::room::{MOST_WINDOW, Room};

/// The least window worth asking for, in tokens.
const LEAST_WINDOW: u32 = 4_096;

/// A conversation with a model.
pub(super) struct Talk<'m> {
    model: &'m mut dyn Model,
    card: Card,
    messages: Vec<Message>,
    window: u32,
    room: Room,
    /// Messages at the front that stay as they are.
    opening: usize,
    /// Stop reading once the reply holds a closed block that differs from this code.
    pub(super) stop_after_block: Option<String>,
    /// Whether words are asked for, which the user may read while they come.
    pub(super) answers: bool,
    /// How the next reply should look.
    pub(super) shape: Shape,
    /// What the first prompt kept back, to be shown with the first failure.
    pub(super) held_back: Option<String>,
    /// How freely the next reply is drawn, and from which seed.
    drawing: (f32, u64),
}

/// The likeliest reply.
const LIKELIEST: (f32, u64) = (0.0, 1);
/// Free enough that drafts differ, tame enough that they parse.
const FREER: f32 = 0.8;

/// Returns the room that a conversation with this model may have at most.
pub(super) fn most_room(card: &Card, max_tokens: u32) -> Room {
    Room::new(card.window.clamp(1024, MOST_WINDOW), max_tokens)
}

/// What one turn brought.
pub(super) struct ModelTurn {
    pub(super) reply: Reply,
    pub(super) seconds: f64,
}

/// A passage so often in a row is no sentence any more.
const MOST_REPEATS: usize = 5;
/// The longest passage that is looked for, in lines.
const LONGEST_REPEAT: usize = 12;

/// Returns whether a reply says the same lines over and over at its end.
fn loops(said: &str) -> bool {
    let lines: Vec<&str> = said
        .lines()
        .rev()
        .take(LONGEST_REPEAT * MOST_REPEATS)
        .collect();
    (1..=LONGEST_REPEAT).any(|length| {
        let needed = length * MOST_REPEATS;
        let passage = lines.get(..length).unwrap_or_default();
        // Short lines, such as closing brackets and rows of a table, do stand in rows.
        let weighs = passage.iter().map(|line| line.trim().len()).sum::<usize>() >= 12;
        lines.len() >= needed
            && weighs
            && lines[..needed].chunks(length).all(|chunk| chunk == passage)
    })
}

/// A line longer than this may be one that never ends, in bytes.
const LONG_LINE: usize = 240;
/// The longest passage that is looked for inside a line, and how often in a row it is too often.
const LONGEST_STUTTER: usize = 40;
const MOST_STUTTERS: usize = 6;

/// Returns whether the last line of a reply says the same over and over at its end.
fn stutters(said: &str) -> bool {
    let line = said.rsplit('\n').next().unwrap_or_default().as_bytes();
    line.len() > LONG_LINE
        && (2..=LONGEST_STUTTER).any(|length| {
            let end = &line[line.len() - length * MOST_STUTTERS..];
            let passage = &end[..length];
            // Rules of dashes and rows of zeros are lines like others.
            passage.iter().any(|byte| *byte != passage[0])
                && end.chunks(length).all(|chunk| chunk == passage)
        })
}

/// A reply is known to be words and no action after so many bytes, or a line.
const TELLING_START: usize = 24;

/// How much of an answer was passed on while it came.
struct Spoken {
    passes: bool,
    begun: bool,
    passed: usize,
}

impl Spoken {
    fn new(passes: bool) -> Spoken {
        Spoken {
            passes,
            begun: false,
            passed: 0,
        }
    }

    /// Returns what was added to a reply that is an answer; an action is not read aloud.
    fn new_words<'s>(&mut self, said: &'s str) -> Option<&'s str> {
        if !self.passes {
            return None;
        }
        if !self.begun {
            let start = after_thinking(said)?.trim_start();
            let is_told = start.len() >= TELLING_START || start.contains('\n');
            if !is_told && !reply::begins_as_prose(start) {
                return None;
            }
            self.passes = !start.starts_with(['{', '[', '<'])
                && !start.starts_with("```")
                && reply::read(start).action.is_none();
            self.begun = true;
            self.passed = said.len() - start.len();
            if !self.passes {
                return None;
            }
        }
        let new = said.get(self.passed..)?;
        self.passed = said.len();
        Some(new)
    }
}

/// Returns what follows the thinking that a reply begins with; nothing while that goes on.
fn after_thinking(said: &str) -> Option<&str> {
    let start = said.trim_start();
    match start.strip_prefix("<think>") {
        Some(thinking) => thinking.split_once("</think>").map(|(_, rest)| rest),
        None if "<think>".starts_with(start) => None,
        None => Some(start),
    }
}

impl<'m> Talk<'m> {
    /// Opens a conversation with its first messages.
    pub(super) fn open(
        context: &Context<'_>,
        log: &mut Log<'_>,
        (model, card): (&'m mut dyn Model, Card),
        opened: Opened,
    ) -> Result<Talk<'m>, ModelError> {
        let messages = opened.messages;
        if !opened.left_out.is_empty() {
            let what = opened.left_out.join(", ");
            let text = format!("left out of the prompt for lack of room: {what}");
            log.tell(EventKind::Engine, &text, [("left_out", what.into())]);
        }
        let opening: usize = messages.iter().map(|message| message.content.len()).sum();
        // About three bytes a token is on the safe side; every turn may add a reply and an observation.
        let turns = context.options.steps.min(6);
        let wanted = u32::try_from(opening / 3)
            .unwrap_or(u32::MAX)
            .saturating_add(turns * (context.options.max_tokens + 600));
        let window = wanted
            .next_multiple_of(1024)
            .clamp(LEAST_WINDOW, MOST_WINDOW)
            .min(card.window.max(1024));
        let cancel = context.cancel;
        let mut tell = |words: &str| log.tell(EventKind::Engine, words, []);
        model.prepare(window, &mut tell, cancel)?;
        Ok(Talk {
            model,
            card,
            opening: messages.len(),
            messages,
            window,
            room: Room::new(window, context.options.max_tokens),
            stop_after_block: None,
            answers: false,
            shape: Shape::Words,
            held_back: opened.held_back,
            drawing: LIKELIEST,
        })
    }

    /// Sends the conversation and adds the reply to it.
    pub(super) fn turn(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
    ) -> Result<ModelTurn, ModelError> {
        self.make_fit(log)?;
        let request = Request {
            messages: self.messages.clone(),
            max_tokens: self.room.reply(),
            window: self.window,
            temperature: self.drawing.0,
            seed: self.drawing.1,
            shape: self.shape,
        };
        let characters = request.characters();
        let (step, most) = (log.history.next_number(), context.options.steps);
        let host = &self.card.host;
        let (name, leaves) = (host.name.clone(), !host.this_machine);
        let first = log.usage.model_calls == 0;
        let last = usual::last_seconds(&self.card);
        let last = last.map(|last| format!(" ({last} s last time)"));
        let last = last.unwrap_or_default();
        let text = format!("step {step} of {most}: asking {}{last}", self.card.model);
        let data = [
            ("characters", characters.into()),
            ("host", name.clone().into()),
        ];
        log.tell(EventKind::Sent, &text, data);
        log.record.prompt(&self.messages);
        let began = Instant::now();
        let mut said = String::new();
        let mut pieces = 0;
        let stop_after_block = self.stop_after_block.as_deref();
        let mut spoken = Spoken::new(self.answers);
        let listener = &mut *log.listener;
        let mut hear = |piece: &str| {
            said.push_str(piece);
            pieces += 1;
            listener.hearing(pieces);
            if let Some(words) = spoken.new_words(&said) {
                listener.answer(words);
            }
            // Small models do not know when to stop: the block that was asked for is all that counts.
            let is_there =
                |shown: &str| piece.contains(['`', '\n']) && reply::has_whole_block(&said, shown);
            if stop_after_block.is_some_and(is_there)
                || (piece.contains('\n') && loops(&said))
                || stutters(&said)
            {
                Hearing::Enough
            } else {
                Hearing::On
            }
        };
        let reply = self.model.reply(&request, &mut hear, context.cancel);
        // What the outbound check refused never left; anything else did, whatever came back.
        let left = leaves && !matches!(reply, Err(ModelError::NotSent { .. }));
        if first && left {
            let text = format!("{characters} characters went to {name}");
            log.tell(
                EventKind::Sent,
                &text,
                [("characters", characters.into()), ("host", name.into())],
            );
        }
        let reply = reply?;
        self.room.learn(&self.messages, reply.prompt_tokens);
        let seconds = began.elapsed().as_secs_f64();
        usual::remember(&self.card, seconds);
        self.count(log, &reply, characters);
        tell_reply(log, &reply, &format!("step {step} of {most}"), seconds);
        log.record.reply(&reply.text);
        self.messages.push(Message {
            role: Role::Assistant,
            content: reply.text.clone(),
        });
        Ok(ModelTurn { reply, seconds })
    }

    /// Adds up what a reply cost, and tells what the engine has to say.
    fn count(&self, log: &mut Log<'_>, reply: &Reply, characters: u64) {
        let usage = &mut log.usage;
        usage.model_calls += 1;
        usage.prompt_tokens += reply.prompt_tokens;
        usage.reply_tokens += reply.reply_tokens;
        usage.characters_sent += characters;
        usage.sent_to.clone_from(&self.card.host.name);
        if let Some(notice) = &reply.notice {
            log.tell(EventKind::Engine, notice, []);
        }
    }

    /// Makes room in the window: old observations are left out first.
    fn make_fit(&mut self, log: &mut Log<'_>) -> Result<(), ModelError> {
        match self.room.make_fit(&mut self.messages, self.opening) {
            Ok(false) => {}
            Ok(true) => {
                log.usage.masked += 1;
                let text = "the window is full: old observations are left out from here on";
                log.tell(EventKind::Engine, text, []);
            }
            Err(_) => {
                return Err(ModelError::unusable(
                    format!(
                        "the window of {} tokens is too small for this conversation",
                        self.window
                    ),
                    "use a model with a larger window, or ask for less at once",
                ));
            }
        }
        Ok(())
    }

    /// Takes the last reply out of the conversation, so that another one is drawn from the same prompt.
    pub(super) fn draw_again(&mut self, seed: u32) {
        take_last_reply(&mut self.messages);
        self.drawing = (FREER, u64::from(seed));
    }

    /// Adds what we say to the model.
    pub(super) fn say(&mut self, words: &str) {
        self.drawing = LIKELIEST;
        let most = self.room.observation(&self.messages[..self.opening]);
        self.messages.push(Message {
            role: Role::User,
            content: prompt::shortened(words, most),
        });
    }
}

fn tell_reply(log: &mut Log<'_>, reply: &Reply, step: &str, seconds: f64) {
    let tokens = reply.reply_tokens;
    let unit = if tokens == 1 { "token" } else { "tokens" };
    let text = format!("{step}: {tokens} {unit} in {seconds:.1} s");
    let words = reply.text.clone();
    let data = [("tokens", tokens.into()), ("result", words.into())];
    log.tell(EventKind::Reply, &text, data);
}

/// Takes the last reply out, with all pieces of one that was cut.
fn take_last_reply(messages: &mut Vec<Message>) {
    while let Some(last) = messages.last()
        && (last.role == Role::Assistant || last.content == said::go_on())
    {
        messages.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, Role, Spoken, loops, said, stutters, take_last_reply};

    #[test]
    fn the_pieces_of_a_reply_go_together() {
        let message = |role, content: &str| Message {
            role,
            content: content.to_owned(),
        };
        let opening = [
            message(Role::User, "example"),
            message(Role::Assistant, "its reply"),
            message(Role::User, "the task"),
        ];
        let mut messages = opening.to_vec();
        messages.push(message(Role::Assistant, "a half"));
        messages.push(message(Role::User, said::go_on()));
        messages.push(message(Role::Assistant, "the other"));
        take_last_reply(&mut messages);
        assert_eq!(messages, opening);
        take_last_reply(&mut messages);
        assert_eq!(messages, opening);
    }

    #[test]
    fn words_are_passed_on_and_actions_are_not() {
        let heard = |pieces: &[&str]| {
            let (mut spoken, mut said, mut heard) =
                (Spoken::new(true), String::new(), String::new());
            for piece in pieces {
                said.push_str(piece);
                heard.push_str(spoken.new_words(&said).unwrap_or_default());
            }
            heard
        };
        let words = [
            "\n",
            "It is ",
            "computed in `total`",
            ", see",
            " cart.py:3.",
        ];
        assert_eq!(heard(&words), words.concat().trim_start());
        let action = ["{\"tool\": \"read\", ", "\"path\": \"cart.py\"}"];
        assert_eq!(heard(&action), "");
        assert_eq!(heard(&["Action: read\nPath: cart.py\n", "more"]), "");
        let code = ["`total`", " adds the prices up", ", see cart.py:3."];
        assert_eq!(heard(&code), code.concat());
        let thought = ["<thi", "nk>Hm, ", "so.</think>\n", "\nIt", " adds."];
        assert_eq!(heard(&thought), "It adds.");
    }

    #[test]
    fn the_first_word_is_passed_on_at_once_unless_it_may_begin_an_action() {
        let first = |said: &str| Spoken::new(true).new_words(said).map(str::to_owned);
        for word in ["It", "The", "Yes, ", "Discounts "] {
            assert_eq!(first(word).as_deref(), Some(word));
        }
        for word in [
            "Act", "Action", "Read ", "c", "class ", "1", "`", "**", "```", "",
        ] {
            assert_eq!(first(word), None, "{word}");
        }
    }

    #[test]
    fn a_line_that_never_ends_is_noticed() {
        let start = "return re.sub(r\"[^a-z]\", \"\", text).lower() in (";
        assert!(stutters(&format!("x = 1\n{start}{}", "c-".repeat(120))));
        assert!(stutters(&format!(
            "{start}{}",
            "text.lstrip() + ".repeat(20)
        )));
        assert!(!stutters(&format!("{start}{}", "c-".repeat(20))));
        assert!(!stutters(&"-".repeat(400)));
        assert!(!stutters(&format!("{}\n{start}", "c-".repeat(200))));
    }

    #[test]
    fn a_reply_that_goes_round_in_circles_is_noticed() {
        let block = "A:\n```python\ndef f():\n    return 1\n```\n\n";
        assert!(loops(&format!("Sure.\n{}", block.repeat(5))));
        assert!(!loops(&format!("Sure.\n{}", block.repeat(4))));
        assert!(!loops(&"        1,\n".repeat(9)));
        assert!(loops(&"the same sentence\n".repeat(5)));
        assert!(!loops(""));
    }
}
