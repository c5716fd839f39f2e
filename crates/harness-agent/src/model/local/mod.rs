//! The local engine: a model server with Ollama's API, on this machine or where `OLLAMA_HOST` points.

mod facts;
#[cfg(test)]
mod knowing_tests;
#[cfg(test)]
mod tests;

use harness_hands::cache::Cache;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::env::Environment;
use crate::model::address::{Address, Defaults};
use crate::model::card::{self, Facts};
use crate::model::chat::reply::Incoming;
use crate::model::chat::{ChatClient, Failure, KnownModel, Next, Protocol, RefusedPrompt, Server};
use crate::model::http::{Client, Limits, Trouble};
use crate::model::local::facts::{entries, entry_for};
use crate::model::trouble::after_colon;
use crate::model::{ModelError, Request, Role, Shape, shape};
use crate::options::shown;

/// Where Ollama listens unless told otherwise.
const USUAL: Defaults = Defaults {
    port: Some(11434),
    secure: false,
};
/// How long the server keeps the model loaded after a call: tests run between two calls of a run.
const KEEP_ALIVE: &str = "30m";

/// A model behind Ollama's API.
pub(crate) type Local = ChatClient<Ollama>;

/// Ollama's API: one JSON a line. Says what the server can do, as far as its refusals taught us.
#[derive(Debug)]
pub(crate) struct Ollama {
    /// It has the route for conversations.
    chat_api: bool,
    /// It may be told to think or not.
    think: bool,
    /// It may be told to refuse a prompt that does not fit instead of cutting it.
    no_truncate: bool,
    /// It holds replies to a schema, and takes tools.
    shapes: bool,
}

impl Local {
    /// Returns the engine for a model; connects to nothing yet.
    pub(crate) fn new(model: &str, environment: &Environment) -> Result<Local, ModelError> {
        Local::with_limits(model, environment, Limits::USUAL)
    }

    pub(crate) fn with_limits(
        model: &str,
        environment: &Environment,
        limits: Limits,
    ) -> Result<Local, ModelError> {
        let written = environment.local_host.as_deref().unwrap_or("127.0.0.1");
        let base = Address::read(written, USUAL).map_err(|bad| {
            ModelError::unusable(
                format!("OLLAMA_HOST cannot be used: {}", bad.message),
                bad.hint,
            )
        })?;
        let protocol = Ollama {
            chat_api: true,
            think: true,
            no_truncate: true,
            shapes: true,
        };
        let client = Client::new(base, None, limits);
        ChatClient::over(client, protocol, model, environment)
    }

    /// Returns the server's version, where it says one.
    pub(crate) fn version(&self, cancel: &Cancel) -> Option<String> {
        let told = self.ask("/api/version", cancel)?;
        told.get("version")?.as_str().map(shown)
    }
}

impl Protocol for Ollama {
    const NAME: &str = "ollama";
    const CHOOSES_WINDOW: bool = true;

    fn path(&self, base: &str) -> String {
        let route = if self.chat_api { "chat" } else { "generate" };
        format!("{base}/api/{route}")
    }

    fn body(&self, request: &Request, known: &KnownModel, window: u32) -> Value {
        let model = &known.card.model;
        let mut body = json!({
            "model": model,
            "stream": true,
            "keep_alive": KEEP_ALIVE,
            "options": {
                "num_ctx": window,
                "num_predict": request.max_tokens,
                "temperature": request.temperature,
                "seed": request.seed,
            },
        });
        if self.chat_api {
            let messages = request.messages.iter();
            body["messages"] = messages
                .map(|one| json!({ "role": one.role.name(), "content": one.content }))
                .collect();
        } else {
            let (system, prompt) = flattened(request);
            body["system"] = system.into();
            body["prompt"] = prompt.into();
        }
        if self.think && known.thinks == Some(true) {
            // This family cannot stop thinking; it can think little.
            let is_stubborn = model.contains("gpt-oss");
            body["think"] = if is_stubborn {
                json!("low")
            } else {
                json!(false)
            };
        }
        if self.no_truncate {
            // Newer servers then refuse a prompt that does not fit instead of cutting it without a word.
            body["truncate"] = false.into();
            body["shift"] = false.into();
        }
        match request.shape {
            Shape::Object if self.shapes => body["format"] = shape::schema(),
            Shape::Calls if self.shapes => body["tools"] = shape::tools(),
            Shape::Words | Shape::Object | Shape::Calls => {}
        }
        body
    }

    fn take(&self, piece: &Value, reply: &mut Incoming<'_>) {
        let message = piece.get("message").unwrap_or(piece);
        let word = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            // Every call comes whole.
            reply.call(reply.next_call(), call);
        }
        reply.think(word("thinking"));
        let content = word("content");
        // Without the route for conversations the words stand elsewhere.
        reply.say(if content.is_empty() {
            word("response")
        } else {
            content
        });
        if piece.get("done").and_then(Value::as_bool) == Some(true) {
            let count = |key: &str| piece.get(key).and_then(Value::as_u64);
            reply.count(count("prompt_eval_count"), count("eval_count"));
            reply.finish(piece.get("done_reason").and_then(Value::as_str));
            reply.done();
        }
    }

    fn refused(&mut self, refusal: &RefusedPrompt<'_>) -> Next {
        let status = refusal.head.status;
        let small = refusal.sentence.to_ascii_lowercase();
        let colon = after_colon(refusal.sentence);
        let names = |word: &str| small.contains(word);
        let name = refusal.base.name();
        match status {
            400 if self.think && names("think") => self.think = false,
            400 if self.shapes && (names("tools") || names("format")) => self.shapes = false,
            400 if self.no_truncate && (names("unknown field") || names("truncate\"")) => {
                self.no_truncate = false;
            }
            400 | 413 | 500 if names("context") && (names("exceed") || names("length")) => {
                return Next::GiveUp(ModelError::unusable(
                    format!("the prompt is longer than the model's window{colon}"),
                    "narrow the task with --scope, or use a model with a larger window",
                ));
            }
            // It speaks of the model and not of the route.
            404 if names("model") || names(&refusal.model.to_ascii_lowercase()) => {
                return Next::UnknownModel;
            }
            404 | 405 | 501 if self.chat_api => self.chat_api = false,
            401 | 403 => {
                return Next::GiveUp(ModelError::unusable(
                    format!("the model server at `{name}` does not let us in{colon}"),
                    "sign in with `ollama signin`, or choose a model that runs on this machine",
                ));
            }
            500 if names("memory") => {
                return Next::GiveUp(ModelError::unusable(
                    format!(
                        "the model server cannot load `{}`{colon}",
                        shown(refusal.model)
                    ),
                    "choose a smaller model with --model, or close other programs",
                ));
            }
            _ => {
                let error = ModelError::unusable(
                    format!("the model server at `{name}` answered with status {status}{colon}"),
                    "look into the server's log; `harness doctor` shows what it says about itself",
                );
                return match status {
                    408 | 429 | 500..=599 => Next::Wait(error),
                    _ => Next::GiveUp(error),
                };
            }
        }
        Next::Again
    }

    fn probe(
        &mut self,
        server: &Server<'_>,
        cache: &Cache,
        known: &mut KnownModel,
    ) -> Result<(), Trouble> {
        let model = known.card.model.clone();
        let listed = server.ask("/api/tags", None)?;
        let digest = listed
            .as_ref()
            .and_then(|listed| entry_for(listed, &model)?.get("digest")?.as_str());
        let name = digest.and_then(card::by_digest);
        let kept = name.as_ref().and_then(|name| card::recall(cache, name));
        let facts = match kept {
            Some(facts) => Some(facts),
            None => {
                let facts = self.facts(server, &model)?;
                if let (Some(name), Some(facts)) = (&name, &facts) {
                    card::keep(cache, name, facts);
                }
                facts
            }
        };
        if let Some(facts) = facts {
            known.learn(&facts);
        }
        if let Ok(Some(running)) = server.ask("/api/ps", None) {
            let entry = entry_for(&running, &model);
            known.loaded = entry
                .and_then(|entry| entry.get("context_length")?.as_u64())
                .and_then(|tokens| u32::try_from(tokens).ok());
            known.is_cold = entry.is_none();
        }
        Ok(())
    }

    fn facts(&self, server: &Server<'_>, model: &str) -> Result<Option<Facts>, Trouble> {
        let shown = server.ask("/api/show", Some(&json!({ "model": model })))?;
        Ok(shown.as_ref().map(facts::read))
    }

    fn models(&self, server: &Server<'_>) -> Result<Vec<(String, Option<u64>)>, Trouble> {
        let listed = server.ask("/api/tags", None)?.unwrap_or_default();
        let entry = |entry: &Value| {
            let name = entry.get("name")?.as_str()?.to_owned();
            Some((name, entry.get("size").and_then(Value::as_u64)))
        };
        Ok(entries(&listed).filter_map(entry).collect())
    }

    fn explain(&self, address: &str, failure: &Failure<'_>) -> ModelError {
        let server = format!("the model server at `{address}`");
        let (message, hint) = match failure {
            Failure::Unanswered(Trouble::Refused | Trouble::UnknownHost | Trouble::Unreachable) => {
                (
                    format!("no model server answers at `{address}`"),
                    "start it with `ollama serve`, or set OLLAMA_HOST to where it runs",
                )
            }
            Failure::Unanswered(Trouble::Silent(seconds)) => (
                format!("{server} said nothing for {seconds} seconds"),
                "see whether it is busy with `ollama ps`, or choose a smaller model with --model",
            ),
            Failure::Unanswered(trouble) => (
                format!("{server} cannot be used: {trouble}"),
                "check that OLLAMA_HOST is the address of a model server, and look into its log",
            ),
            Failure::BrokenOff(Trouble::Silent(seconds)) => (
                format!(
                    "{server} stopped in the middle of a reply and said nothing for {seconds} seconds"
                ),
                "look into the server's log, then try again",
            ),
            Failure::BrokenOff(trouble) => (
                format!("the reply from `{address}` broke off: {trouble}"),
                "look into the server's log, then try again",
            ),
            Failure::Failed(sentence) => (
                format!("{server} failed{}", after_colon(sentence)),
                "look into the server's log, or choose a smaller model with --model",
            ),
            Failure::Garbled => (
                format!("what `{address}` answered is not what a model server sends"),
                "check that OLLAMA_HOST is the address of a server with Ollama's API",
            ),
            Failure::UnknownModel { model, others, .. } => {
                return ModelError::unusable(
                    format!("{server} does not have `{model}`"),
                    format!("get it with `ollama pull {model}`{others}"),
                );
            }
        };
        ModelError::unusable(message, hint)
    }
}

/// Returns the conversation for a server without chat: the rules, then the talk with a name before each turn.
fn flattened(request: &Request) -> (String, String) {
    let mut system = String::new();
    let mut prompt = String::new();
    let alone = request
        .messages
        .iter()
        .filter(|one| one.role != Role::System)
        .count()
        == 1;
    for message in &request.messages {
        match message.role {
            Role::System => system.push_str(&message.content),
            Role::User if alone => prompt.push_str(&message.content),
            Role::User => prompt.push_str(&format!("User: {}\n\n", message.content)),
            Role::Assistant => prompt.push_str(&format!("Assistant: {}\n\n", message.content)),
        }
    }
    if !alone {
        prompt.push_str("Assistant:");
    }
    (system, prompt)
}
