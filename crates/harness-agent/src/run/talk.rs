//! The conversation: grows at its end only, one request a turn, its cost counted.

use std::time::Instant;

use crate::model::{Card, Message, Model, ModelError, Reply, Request, Role};
use crate::run::event::EventKind;
use crate::run::session::Session;

/// The least window worth asking for, in tokens.
const LEAST_WINDOW: u32 = 4_096;
/// The most that a run asks for: more costs memory that small machines do not have.
const MOST_WINDOW: u32 = 16_384;

/// A conversation with a model.
pub(super) struct Talk<'m> {
    model: &'m mut dyn Model,
    card: Card,
    messages: Vec<Message>,
    window: u32,
    /// How freely the next reply is drawn, and from which seed.
    drawing: (f32, u64),
}

/// The likeliest reply.
const LIKELIEST: (f32, u64) = (0.0, 1);
/// Free enough that drafts differ, tame enough that they parse.
const FREER: f32 = 0.8;

/// What one turn brought.
pub(super) struct Turn {
    pub(super) reply: Reply,
    pub(super) seconds: f64,
}

impl<'m> Talk<'m> {
    /// Opens a conversation with its first messages.
    pub(super) fn open(
        session: &mut Session<'_>,
        model: &'m mut dyn Model,
        messages: Vec<Message>,
    ) -> Result<Talk<'m>, ModelError> {
        let card = model.card(session.cancel)?;
        let host = card.host.name.clone();
        session.tell(
            EventKind::Engine,
            &format!("using {} at {host}", card.model),
            [
                ("model", card.model.clone().into()),
                ("host", host.into()),
                ("window", card.window.into()),
            ],
        );
        let opening: usize = messages.iter().map(|message| message.content.len()).sum();
        // About three bytes a token is on the safe side; every turn may add a reply and an observation.
        let turns = session.options.steps.min(6);
        let wanted = u32::try_from(opening / 3)
            .unwrap_or(u32::MAX)
            .saturating_add(turns * (session.options.max_tokens + 600));
        let window = wanted
            .next_multiple_of(1024)
            .clamp(LEAST_WINDOW, MOST_WINDOW)
            .min(card.window.max(1024));
        let cancel = session.cancel;
        let mut tell = |words: &str| session.tell(EventKind::Engine, words, []);
        model.prepare(window, &mut tell, cancel)?;
        Ok(Talk {
            model,
            card,
            messages,
            window,
            drawing: LIKELIEST,
        })
    }

    /// Sends the conversation and adds the reply to it.
    pub(super) fn turn(&mut self, session: &mut Session<'_>) -> Result<Turn, ModelError> {
        let request = Request {
            messages: self.messages.clone(),
            max_tokens: session.options.max_tokens,
            window: self.window,
            temperature: self.drawing.0,
            seed: self.drawing.1,
        };
        let characters = request.characters();
        let (step, most) = (session.history.next_number(), session.options.steps);
        let host = &self.card.host;
        let (name, leaves) = (host.name.clone(), !host.this_machine);
        let first = session.usage.model_calls == 0;
        let text = format!("step {step} of {most}: asking {}", self.card.model);
        let data = [
            ("characters", characters.into()),
            ("host", name.clone().into()),
        ];
        session.tell(EventKind::Sent, &text, data);
        session.record.prompt(&self.messages);
        let began = Instant::now();
        let reply = self.model.reply(&request, &mut |_| {}, session.cancel);
        // What the outbound check refused never left; anything else did, whatever came back.
        let left = leaves && !matches!(reply, Err(ModelError::NotSent { .. }));
        if first && left {
            let text = format!("{characters} characters went to {name}");
            session.tell(
                EventKind::Sent,
                &text,
                [("characters", characters.into()), ("host", name.into())],
            );
        }
        let reply = reply?;
        let seconds = began.elapsed().as_secs_f64();
        session.usage.model_calls += 1;
        session.usage.prompt_tokens += reply.prompt_tokens;
        session.usage.reply_tokens += reply.reply_tokens;
        session.usage.characters_sent += characters;
        session.usage.sent_to.clone_from(&self.card.host.name);
        if let Some(notice) = &reply.notice {
            session.tell(EventKind::Engine, notice, []);
        }
        let tokens = reply.reply_tokens;
        let text = format!("step {step} of {most}: {tokens} tokens in {seconds:.1} s");
        session.tell(
            EventKind::Reply,
            &text,
            [
                ("tokens", tokens.into()),
                ("result", reply.text.clone().into()),
            ],
        );
        session.record.reply(&reply.text);
        self.messages.push(Message {
            role: Role::Assistant,
            content: reply.text.clone(),
        });
        Ok(Turn { reply, seconds })
    }

    /// Takes the last reply out of the conversation, so that another one is drawn from the same prompt.
    pub(super) fn draw_again(&mut self, seed: u32) {
        if self
            .messages
            .last()
            .is_some_and(|last| last.role == Role::Assistant)
        {
            self.messages.pop();
        }
        self.drawing = (FREER, u64::from(seed));
    }

    /// Adds what we say to the model.
    pub(super) fn say(&mut self, words: &str) {
        self.drawing = LIKELIEST;
        self.messages.push(Message {
            role: Role::User,
            content: words.to_owned(),
        });
    }
}
