//! The model: a prompt in, a reply and its cost out. A model never sees the project.

pub(crate) mod address;
pub(crate) mod card;
pub(crate) mod chat;
pub mod checkup;
#[cfg(test)]
pub(crate) mod fault_tests;
pub(crate) mod gather;
pub(crate) mod http;
pub(crate) mod local;
pub mod on_device;
pub mod outbound;
pub(crate) mod proxy;
pub(crate) mod remote;
pub mod shape;
pub(crate) mod trouble;
pub(crate) mod usual;
pub(crate) mod wire;

use std::error::Error;

use crate::cancel::Cancel;
use crate::env::Environment;
use crate::options::{AgentOptions, Cause, Engine};

pub use shape::Shape;

/// Returns the model that the settings ask for. Reaches for nothing yet: the first call does.
pub fn open(
    options: &AgentOptions,
    environment: &Environment,
) -> Result<Box<dyn Model>, ModelError> {
    match options.engine {
        Engine::Local => Ok(Box::new(local::Local::new(&options.model, environment)?)),
        Engine::Remote => Ok(Box::new(remote::Remote::new(&options.model, environment)?)),
        Engine::OnDevice => Ok(Box::new(on_device::OnDevice::new(
            &options.model,
            environment,
        )?)),
    }
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// The rules of the conversation.
    System,
    /// Us.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Returns the word that chat servers use.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// What is sent in one model call.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The whole conversation; it only grows at its end, so that the server's prefix cache holds.
    pub messages: Vec<Message>,
    /// The most tokens that the reply may have.
    pub max_tokens: u32,
    /// The window that the whole run needs, in tokens: the same for every call of a run.
    pub window: u32,
    /// How freely to sample; 0 takes the likeliest word.
    pub temperature: f32,
    /// The seed of the sampling, so that drafts differ and runs repeat.
    pub seed: u64,
    /// How the reply should look.
    pub shape: Shape,
}

impl Request {
    /// Returns how many characters the messages have together.
    pub fn characters(&self) -> u64 {
        self.messages
            .iter()
            .map(|message| message.content.chars().count() as u64)
            .sum()
    }
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The reply reached `max_tokens`.
    Length,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The words.
    pub text: String,
    /// Tokens read, as the server counts them; 0 where it does not.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub reply_tokens: u64,
    /// Why it ended.
    pub finish: Finish,
    /// Something the user should hear of, such as a prompt that the server cut.
    pub notice: Option<String>,
}

/// Where prompts go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The address as people know it.
    pub name: String,
    /// Whether it is this machine, by its address and not by its spelling.
    pub this_machine: bool,
}

/// What is known of an engine and its model before the first prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The model's name.
    pub model: String,
    /// Where prompts go.
    pub host: Host,
    /// The longest conversation it can hold, in tokens.
    pub window: u32,
    /// What it can do besides words.
    pub abilities: Abilities,
}

/// What a model and its server can do besides answering in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// The model can think before it answers; we ask it not to.
    pub thinking: bool,
    /// The model has calls of tools in its own form.
    pub tools: bool,
    /// The server can hold a reply to a JSON schema.
    pub schema: bool,
    /// The model is known to be very small: it copies what it is shown rather than change it.
    pub tiny: bool,
}

/// A model with fewer parameters than this is very small.
pub(crate) const TINY_PARAMETERS: u64 = 1_000_000_000;
/// Weights of fewer bytes than this are those of a very small model, however they are packed.
pub(crate) const TINY_BYTES: u64 = 600_000_000;

/// Why a model could not be used. Grouped by what the caller does next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The engine cannot be used: unreachable, no such model, no address or token, a bad reply.
    #[error("{message}")]
    Unusable {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: String,
        /// What lies behind it, where something does.
        #[source]
        cause: Option<Cause>,
    },
    /// The outbound check refused the prompt; nothing left this machine.
    #[error("{message}")]
    NotSent {
        /// A stable id such as `send.secret`.
        rule: &'static str,
        /// What was refused; never the secret itself.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// The user stopped the run.
    #[error("interrupted")]
    Interrupted,
}

impl ModelError {
    /// Returns an error that names what is wrong and what to do.
    pub(crate) fn unusable(message: impl Into<String>, hint: impl Into<String>) -> ModelError {
        ModelError::Unusable {
            message: message.into(),
            hint: hint.into(),
            cause: None,
        }
    }

    /// Returns the same with what lies behind it.
    #[must_use]
    pub(crate) fn because(mut self, error: impl Error + Send + Sync + 'static) -> ModelError {
        if let ModelError::Unusable { cause, .. } = &mut self {
            *cause = Some(Cause::of(error));
        }
        self
    }

    /// Returns what to do about it; nothing after a stop.
    pub fn hint(&self) -> &str {
        match self {
            ModelError::Unusable { hint, .. } | ModelError::NotSent { hint, .. } => hint,
            ModelError::Interrupted => "",
        }
    }
}

/// Whether whoever listens to a reply wants to hear more of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// Go on.
    On,
    /// What was wanted has come; the rest is not waited for.
    Enough,
}

/// Hears a reply piece by piece.
pub type Heard<'a> = dyn FnMut(&str) -> Hearing + 'a;

/// A model that answers prompts.
pub trait Model: Send {
    /// Returns what is known of it; asks the engine the first time.
    fn card(&mut self, cancel: &Cancel) -> Result<Card, ModelError>;

    /// Sends the conversation and returns the whole reply. `heard` is called with each piece as it comes, and may say
    /// that it has heard enough.
    fn reply(
        &mut self,
        request: &Request,
        heard: &mut Heard<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, ModelError>;

    /// Makes itself ready for a conversation of `window` tokens, such as by loading a model, and tells what it does
    /// meanwhile. Most engines have nothing to do: their server is there already.
    fn prepare(
        &mut self,
        window: u32,
        tell: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<(), ModelError> {
        let _ = (window, tell, cancel);
        Ok(())
    }
}

/// Asks, and asks once more when nothing came: a little warmer, for the likeliest word was the end.
pub(crate) fn twice_if_empty(
    request: &Request,
    mut ask: impl FnMut(&Request) -> Result<Reply, ModelError>,
) -> Result<Reply, ModelError> {
    let first = ask(request)?;
    if !first.text.trim().is_empty() {
        return Ok(first);
    }
    let temperature = request.temperature.max(0.3);
    let second = ask(&Request {
        temperature,
        seed: request.seed.wrapping_add(1),
        ..request.clone()
    })?;
    Ok(Reply {
        prompt_tokens: first.prompt_tokens.saturating_add(second.prompt_tokens),
        reply_tokens: first.reply_tokens.saturating_add(second.reply_tokens),
        ..second
    })
}
