//! The local engine: a model server with Ollama's API, on this machine or where `OLLAMA_HOST` points.

mod complaint;
mod facts;
#[cfg(test)]
mod knowing_tests;
#[cfg(test)]
mod tests;
mod words;

use std::time::Duration;

use harness_hands::cache::Cache;
use serde_json::{Map, Value, json};

use crate::cancel::Cancel;
use crate::env::Environment;
use crate::model::address::{Address, Defaults};
use crate::model::card::{self, Facts};
use crate::model::gather::{Flow, Gather};
use crate::model::http::{Answer, Call, Client, Limits, Route, Trouble};
use crate::model::local::facts::{entry_for, learn, model_names, model_sizes};
use crate::model::local::words::{finished, flattened, take};
use crate::model::trouble::{Backoff, after_colon, said, unusable};
use crate::model::{
    Abilities, Card, Heard, Host, Model, ModelError, Reply, Request, Shape, outbound, shape,
    twice_if_empty,
};
use crate::options::shown;

/// Where Ollama listens unless told otherwise.
const USUAL: Defaults = Defaults {
    port: Some(11434),
    secure: false,
};
/// The window that is assumed where the server does not say: every model of the last years has it.
const UNKNOWN_WINDOW: u32 = 32_768;
/// How long the server keeps the model loaded after a call: tests run between two calls of a run.
const KEEP_ALIVE: &str = "30m";
/// No text or code in use has more characters a token; fewer tokens than that means that the prompt was cut.
const MOST_CHARACTERS_PER_TOKEN: u64 = 8;

/// A model behind Ollama's API.
#[derive(Debug)]
pub struct Local {
    client: Client,
    model: String,
    max_send: u64,
    first_pause: Duration,
    cache: Cache,
    known: Option<Known>,
    /// A server on another machine has not been asked about its model yet.
    curious: bool,
    window: Option<u32>,
    speech: Speech,
}

/// What was found out about the server and the model.
#[derive(Clone, Debug)]
struct Known {
    card: Card,
    route: Route,
    /// Whether the model may think, where the server says so.
    thinks: Option<bool>,
    /// The window that the model is loaded with right now.
    loaded: Option<u32>,
    /// Whether the server has it on disk alone.
    is_cold: bool,
}

/// How the server wants to be spoken to; learned from its refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Speech {
    chat: bool,
    think: bool,
    careful: bool,
    /// Replies may be held to a schema, or come as calls.
    shapes: bool,
}

impl Local {
    /// Returns the engine for a model; connects to nothing yet.
    pub fn new(model: &str, environment: &Environment) -> Result<Local, ModelError> {
        Local::with_limits(model, environment, Limits::USUAL)
    }

    pub(crate) fn with_limits(
        model: &str,
        environment: &Environment,
        limits: Limits,
    ) -> Result<Local, ModelError> {
        let written = environment.local_host.as_deref().unwrap_or("127.0.0.1");
        let address = Address::read(written, USUAL).map_err(|bad| {
            unusable(
                format!("OLLAMA_HOST cannot be used: {}", bad.message),
                bad.hint,
            )
        })?;
        Ok(Local {
            client: Client::new(address, None, limits),
            model: model.to_owned(),
            max_send: outbound::limit(environment.max_send.as_deref())?,
            first_pause: Duration::from_millis(500),
            cache: Cache::of_user(card::FOLDER),
            known: None,
            curious: false,
            window: None,
            speech: Speech {
                chat: true,
                think: true,
                careful: true,
                shapes: true,
            },
        })
    }

    fn know(&mut self, cancel: &Cancel) -> Result<Known, ModelError> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let route = self
            .client
            .look(cancel)
            .map_err(|trouble| self.broken(&trouble))?;
        let host = Host {
            name: self.client.address().name(),
            this_machine: route.this_machine(),
        };
        let card = Card {
            model: self.model.clone(),
            host,
            window: UNKNOWN_WINDOW,
            abilities: Abilities::default(),
        };
        let mut known = Known {
            card,
            route,
            thinks: None,
            loaded: None,
            is_cold: false,
        };
        if known.route.this_machine() {
            self.probe(&mut known, cancel)?;
        } else {
            // Another machine hears nothing of us before the outbound check let a prompt pass.
            let name = card::by_host(&known.card.host.name, &self.model);
            match card::recall(&self.cache, &name) {
                Some(facts) => learn(&mut known, &facts, self.client.address()),
                None => self.curious = true,
            }
        }
        self.known = Some(known.clone());
        Ok(known)
    }

    /// Asks the server about the model. Only a server that cannot be reached is an error here.
    fn probe(&self, known: &mut Known, cancel: &Cancel) -> Result<(), ModelError> {
        let listed = self
            .ask_about(&known.route, "/api/tags", None, cancel)
            .map_err(|trouble| self.broken(&trouble))?;
        let digest = listed
            .as_ref()
            .and_then(|listed| entry_for(listed, &self.model))
            .and_then(|entry| entry.get("digest"))
            .and_then(Value::as_str);
        let name = digest.and_then(card::by_digest);
        let kept = name
            .as_ref()
            .and_then(|name| card::recall(&self.cache, name));
        let facts = match kept {
            Some(facts) => Some(facts),
            None => {
                let facts = self.ask_to_show(&known.route, cancel)?;
                if let (Some(name), Some(facts)) = (&name, &facts) {
                    card::keep(&self.cache, name, facts);
                }
                facts
            }
        };
        if let Some(facts) = facts {
            learn(known, &facts, self.client.address());
        }
        if let Ok(Some(running)) = self.ask_about(&known.route, "/api/ps", None, cancel) {
            known.loaded = entry_for(&running, &self.model)
                .and_then(|entry| entry.get("context_length"))
                .and_then(Value::as_u64)
                .and_then(|tokens| u32::try_from(tokens).ok());
            known.is_cold = entry_for(&running, &self.model).is_none();
        }
        Ok(())
    }

    fn ask_to_show(&self, route: &Route, cancel: &Cancel) -> Result<Option<Facts>, ModelError> {
        let body = json!({ "model": self.model }).to_string();
        let shown = self
            .ask_about(route, "/api/show", Some(&body), cancel)
            .map_err(|trouble| self.broken(&trouble))?;
        Ok(shown.as_ref().map(facts::read))
    }

    /// Asks a server on another machine about its model, once it has taken a prompt; for the runs to come.
    fn look_around(&mut self, route: &Route, cancel: &Cancel) {
        if !self.curious {
            return;
        }
        self.curious = false;
        let facts = self
            .ask_to_show(route, cancel)
            .ok()
            .flatten()
            .unwrap_or_default();
        let name = card::by_host(&self.client.address().name(), &self.model);
        card::keep(&self.cache, &name, &facts);
    }

    /// Returns the JSON that a route of the server answers with; `None` where it has no such route.
    fn ask_about(
        &self,
        route: &Route,
        path: &str,
        body: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Option<Value>, Trouble> {
        let call = Call {
            route: path,
            body,
            token: None,
            patience: self.client.limits().probe,
        };
        let mut answer = self.client.call(route, call, cancel)?;
        if answer.head.status != 200 {
            return Ok(None);
        }
        match answer.whole() {
            Ok(text) => Ok(serde_json::from_str(&text).ok()),
            Err(Trouble::Interrupted) => Err(Trouble::Interrupted),
            Err(_) => Ok(None),
        }
    }

    /// Makes one model call and returns the reply, or an empty one when the model said nothing.
    fn once(
        &mut self,
        request: &Request,
        heard: &mut Heard<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        let known = self.know(cancel)?;
        let window = *self
            .window
            .get_or_insert_with(|| window_for(request, &known));
        let mut backoff = Backoff::new(self.first_pause);
        loop {
            let body = self.body(request, &known, window).to_string();
            if !known.card.host.this_machine {
                outbound::check(request, &body, self.max_send)?;
            }
            let path = if self.speech.chat {
                "/api/chat"
            } else {
                "/api/generate"
            };
            let call = Call {
                route: path,
                body: Some(&body),
                token: None,
                patience: self.client.limits().first,
            };
            let answer = match self.client.call(&known.route, call, cancel) {
                Ok(answer) => answer,
                Err(trouble) if trouble.may_pass() && backoff.wait(None, cancel)? => continue,
                Err(trouble) => {
                    // The numbers behind the name may have changed: look again next time.
                    self.known = None;
                    return Err(self.broken(&trouble));
                }
            };
            if answer.head.status == 200 {
                let reply = self.read(answer, request, window, heard)?;
                self.look_around(&known.route, cancel);
                return Ok(reply);
            }
            self.refused(answer, &known, &mut backoff, cancel)?;
        }
    }

    fn body(&self, request: &Request, known: &Known, window: u32) -> Value {
        let mut body = Map::new();
        body.insert("model".to_owned(), self.model.clone().into());
        if self.speech.chat {
            let messages = request.messages.iter();
            let messages =
                messages.map(|one| json!({ "role": one.role.name(), "content": one.content }));
            body.insert("messages".to_owned(), messages.collect());
        } else {
            let (system, prompt) = flattened(request);
            body.insert("system".to_owned(), system.into());
            body.insert("prompt".to_owned(), prompt.into());
        }
        body.insert("stream".to_owned(), true.into());
        if self.speech.think && known.thinks == Some(true) {
            // This family cannot stop thinking; it can think little.
            let little = if self.model.contains("gpt-oss") {
                json!("low")
            } else {
                json!(false)
            };
            body.insert("think".to_owned(), little);
        }
        body.insert("keep_alive".to_owned(), KEEP_ALIVE.into());
        if self.speech.careful {
            // Newer servers then refuse a prompt that does not fit instead of cutting it without a word.
            body.insert("truncate".to_owned(), false.into());
            body.insert("shift".to_owned(), false.into());
        }
        match request.shape {
            Shape::Object if self.speech.shapes => {
                body.insert("format".to_owned(), shape::schema());
            }
            Shape::Calls if self.speech.shapes => {
                body.insert("tools".to_owned(), shape::tools());
            }
            Shape::Words | Shape::Object | Shape::Calls => {}
        }
        body.insert(
            "options".to_owned(),
            json!({
                "num_ctx": window,
                "num_predict": request.max_tokens,
                "temperature": request.temperature,
                "seed": request.seed,
            }),
        );
        Value::Object(body)
    }

    /// Decides what a refusal means: speak otherwise and go on, wait and go on, or give up with a sentence.
    fn refused(
        &mut self,
        mut answer: Answer,
        known: &Known,
        backoff: &mut Backoff,
        cancel: &Cancel,
    ) -> Result<(), ModelError> {
        let status = answer.head.status;
        let page = answer.beginning();
        if cancel.stopped() {
            return Err(ModelError::Interrupted);
        }
        let sentence = said(&page);
        let small = sentence.to_ascii_lowercase();
        let name = self.client.address().name();
        match status {
            400 if self.speech.think && small.contains("think") => self.speech.think = false,
            400 if self.speech.shapes && (small.contains("tools") || small.contains("format")) => {
                self.speech.shapes = false;
            }
            400 if self.speech.careful
                && (small.contains("unknown field") || small.contains("truncate\"")) =>
            {
                self.speech.careful = false;
            }
            400 | 413 | 500
                if small.contains("context")
                    && (small.contains("exceed") || small.contains("length")) =>
            {
                return Err(unusable(
                    format!(
                        "the prompt is longer than the model's window{}",
                        after_colon(&sentence)
                    ),
                    "narrow the task with --scope, or use a model with a larger window",
                ));
            }
            404 if names_model(&small, &self.model) => {
                return Err(self.no_such_model(known, cancel));
            }
            404 | 405 | 501 if self.speech.chat => self.speech.chat = false,
            401 | 403 => {
                return Err(unusable(
                    format!(
                        "the model server at `{name}` does not let us in{}",
                        after_colon(&sentence)
                    ),
                    "sign in with `ollama signin`, or choose a model that runs on this machine",
                ));
            }
            500 if small.contains("memory") => {
                return Err(unusable(
                    format!(
                        "the model server cannot load `{}`{}",
                        shown(&self.model),
                        after_colon(&sentence)
                    ),
                    "choose a smaller model with --model, or close other programs",
                ));
            }
            408 | 429 | 500..=599 if backoff.wait(answer.head.retry_after, cancel)? => {}
            _ => {
                return Err(unusable(
                    format!(
                        "the model server at `{name}` answered with status {status}{}",
                        after_colon(&sentence)
                    ),
                    "look into the server's log; `harness doctor` shows what it says about itself",
                ));
            }
        }
        Ok(())
    }

    fn read(
        &mut self,
        mut answer: Answer,
        request: &Request,
        window: u32,
        heard: &mut Heard<'_>,
    ) -> Result<Reply, ModelError> {
        let limits = self.client.limits();
        let mut gather = Gather::new(request.max_tokens, heard);
        let mut flow = Flow::More;
        let mut last = Value::Null;
        while flow == Flow::More || gather.lingers() {
            let line = match answer.line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(_) if flow == Flow::Enough => break,
                Err(trouble) => return Err(self.cut_off(&trouble)),
            };
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            let text = text.strip_prefix("data:").unwrap_or(text).trim();
            if text.is_empty() || text == "[DONE]" {
                continue;
            }
            let piece = match serde_json::from_str::<Value>(text) {
                Ok(piece) => piece,
                // An answer in one piece may be spread over lines.
                Err(error) if error.is_eof() && gather.is_empty() => {
                    let rest = answer.whole().map_err(|trouble| self.cut_off(&trouble))?;
                    serde_json::from_str(&format!("{text}\n{rest}")).map_err(|_| self.garbled())?
                }
                Err(_) => return Err(self.garbled()),
            };
            if let Some(error) = piece.get("error") {
                return Err(self.failed_midway(&said(&error.to_string())));
            }
            flow = take(&piece, &mut gather);
            answer.wait_for(limits.between);
            if piece.get("done").and_then(Value::as_bool) == Some(true) {
                last = piece;
                break;
            }
        }
        if last.is_null() && flow == Flow::More && gather.is_empty() {
            return Err(self.garbled());
        }
        if last.is_null() && flow == Flow::More {
            return Err(self.cut_off(&Trouble::Broken));
        }
        Ok(finished(&last, gather, flow, request, window))
    }

    fn no_such_model(&self, known: &Known, cancel: &Cancel) -> ModelError {
        let listed = self.ask_about(&known.route, "/api/tags", None, cancel);
        let there = listed.ok().flatten().map(|listed| model_names(&listed));
        self.missing(&there.unwrap_or_default())
    }

    /// Returns the names of the models that the server has.
    pub(crate) fn list(&self, cancel: &Cancel) -> Result<Vec<String>, ModelError> {
        let models = self.sizes(cancel)?.into_iter();
        Ok(models.map(|(name, _)| name).collect())
    }

    /// Returns the models that the server has with the bytes of their weights, where it tells them.
    pub(crate) fn sizes(&self, cancel: &Cancel) -> Result<Vec<(String, Option<u64>)>, ModelError> {
        let listed = self
            .client
            .look(cancel)
            .and_then(|route| self.ask_about(&route, "/api/tags", None, cancel))
            .map_err(|trouble| self.broken(&trouble))?;
        Ok(listed
            .map(|listed| model_sizes(&listed))
            .unwrap_or_default())
    }

    /// Returns the window that the model is loaded with right now.
    pub(crate) fn loaded(&mut self, cancel: &Cancel) -> Option<u32> {
        self.know(cancel).ok()?.loaded
    }

    /// Returns the server's version, where it says one.
    pub(crate) fn version(&self, cancel: &Cancel) -> Option<String> {
        let route = self.client.look(cancel).ok()?;
        let told = self
            .ask_about(&route, "/api/version", None, cancel)
            .ok()??;
        told.get("version")?.as_str().map(shown)
    }
}

impl Model for Local {
    fn card(&mut self, cancel: &Cancel) -> Result<Card, ModelError> {
        Ok(self.know(cancel)?.card)
    }

    /// Tells that the first reply waits for the weights. The server loads them by itself.
    fn prepare(
        &mut self,
        window: u32,
        tell: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<(), ModelError> {
        let known = self.know(cancel)?;
        let wanted = window.min(known.card.window);
        let is_small = known.loaded.is_some_and(|loaded| loaded < wanted);
        if known.card.host.this_machine && (known.is_cold || is_small) {
            let name = shown(&self.model);
            tell(&format!("the server loads {name} before it answers"));
        }
        if let Some(known) = &mut self.known {
            // It is loaded once.
            known.is_cold = false;
            known.loaded = known.loaded.filter(|_| !is_small);
        }
        Ok(())
    }

    fn reply(
        &mut self,
        request: &Request,
        heard: &mut Heard<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        twice_if_empty(request, |request| self.once(request, heard, cancel))
    }
}

fn window_for(request: &Request, known: &Known) -> u32 {
    let wanted = request.window.min(known.card.window).max(1);
    // A model that is loaded with a larger window already would be loaded anew for a smaller one.
    match known.loaded {
        Some(loaded) if loaded >= wanted => loaded,
        Some(_) | None => wanted,
    }
}

/// Whether a refusal speaks of the model and not of the route.
fn names_model(small: &str, model: &str) -> bool {
    small.contains("model") || small.contains(&model.to_ascii_lowercase())
}
