//! The remote engine: any chat-completions host, hosted or on this machine.

mod complaint;
mod dialect;
#[cfg(test)]
mod leaving_tests;
mod sse;
#[cfg(test)]
mod tests;
mod told;

use std::time::{Duration, Instant};

use harness_hands::cache::Cache;
use serde_json::{Map, Value, json};

use crate::cancel::Cancel;
use crate::env::Environment;
use crate::model::address::{Address, Defaults};
use crate::model::card::{self, Facts};
use crate::model::gather::Gather;
use crate::model::http::{Answer, Call, Client, Limits, Route, Trouble};
use crate::model::remote::dialect::{Dialect, Refusal};
use crate::model::remote::told::{entries, is_tiny, learn_properties, window_in};
use crate::model::trouble::{Backoff, after_colon, said, sleep, unusable};
use crate::model::{
    Abilities, Card, Heard, Host, Model, ModelError, Reply, Request, Role, Shape, outbound, proxy,
    shape, twice_if_empty,
};
use crate::options::{DEFAULT_MODEL, shown};

/// An address without port uses its scheme's own; without scheme it is encrypted.
const USUAL: Defaults = Defaults {
    port: None,
    secure: true,
};
/// The window that is assumed where the server does not say: hosted models have at least this.
const UNKNOWN_WINDOW: u32 = 32_768;
/// How often a server that is still loading its model is asked again.
const LOADING_PAUSE: Duration = Duration::from_millis(500);

/// A model behind a chat-completions host.
#[derive(Debug)]
pub struct Remote {
    client: Client,
    base: Address,
    token: Option<String>,
    model: String,
    max_send: u64,
    first_pause: Duration,
    cache: Cache,
    known: Option<Known>,
    /// A host on another machine has not been asked about its model yet.
    curious: bool,
    dialect: Dialect,
}

/// What was found out about the host.
#[derive(Clone, Debug)]
struct Known {
    card: Card,
    route: Route,
}

impl Remote {
    /// Returns the engine for a model; connects to nothing yet.
    pub fn new(model: &str, environment: &Environment) -> Result<Remote, ModelError> {
        Remote::with_limits(model, environment, Limits::USUAL)
    }

    pub(crate) fn with_limits(
        model: &str,
        environment: &Environment,
        limits: Limits,
    ) -> Result<Remote, ModelError> {
        let Some(written) = environment.base_url.as_deref() else {
            return Err(unusable(
                "the remote engine has no base address",
                "set HARNESS_BASE_URL, for example to `https://host/v1`, or use --engine local",
            ));
        };
        let mut base = Address::read(written, USUAL).map_err(|bad| {
            unusable(
                format!("HARNESS_BASE_URL cannot be used: {}", bad.message),
                bad.hint,
            )
        })?;
        // People paste the whole address of the route.
        for route in ["/chat/completions", "/models"] {
            if let Some(path) = base.path.strip_suffix(route) {
                base.path = path.to_owned();
            }
        }
        let token = environment
            .api_key
            .as_deref()
            .map(str::trim)
            .filter(|token| !token.is_empty());
        if token.is_some_and(|token| token.chars().any(|c| !c.is_ascii_graphic())) {
            return Err(unusable(
                "the token has characters that no token has",
                "set HARNESS_API_KEY again, without spaces or line breaks",
            ));
        }
        let proxy = proxy::for_host(&base, environment)?;
        Ok(Remote {
            client: Client::new(
                Address {
                    path: String::new(),
                    ..base.clone()
                },
                proxy,
                limits,
            ),
            base,
            token: token.map(str::to_owned),
            model: model.to_owned(),
            max_send: outbound::limit(environment.max_send.as_deref())?,
            first_pause: Duration::from_millis(500),
            cache: Cache::of_user(card::FOLDER),
            known: None,
            curious: false,
            dialect: Dialect::default(),
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
        let this_machine = route.this_machine();
        if self.token.is_none() && !this_machine {
            return Err(unusable(
                format!("there is no token for `{}`", self.base.name()),
                "set HARNESS_API_KEY (or HF_TOKEN)",
            ));
        }
        let host = Host {
            name: self.base.name(),
            this_machine,
        };
        let card = Card {
            model: self.model.clone(),
            host,
            window: UNKNOWN_WINDOW,
            abilities: Abilities::default(),
        };
        let mut known = Known { card, route };
        if this_machine {
            self.probe(&mut known, cancel)?;
        } else {
            // Another machine hears nothing of us before the outbound check let a prompt pass.
            let name = card::by_host(&self.base.url(""), &self.model);
            match card::recall(&self.cache, &name) {
                Some(facts) => known.card.window = facts.window.unwrap_or(known.card.window),
                None => self.curious = true,
            }
        }
        self.known = Some(known.clone());
        Ok(known)
    }

    /// Asks a server on this machine what it has. Only one that cannot be reached is an error here.
    fn probe(&mut self, known: &mut Known, cancel: &Cancel) -> Result<(), ModelError> {
        let mut listed = self.ask_about(&known.route, &self.below("/models"), cancel)?;
        if listed.is_none() && !self.base.path.ends_with("/v1") {
            listed = self.ask_about(&known.route, &self.below("/v1/models"), cancel)?;
            if listed.is_some() {
                self.dialect.versioned = true;
            }
        }
        let Some(listed) = listed else { return Ok(()) };
        let models = entries(&listed);
        let named =
            |entry: &&Value| entry.get("id").and_then(Value::as_str) == Some(self.model.as_str());
        // The default belongs to the local engine; a server with one model means that one.
        let entry = match (models.iter().find(named), models.as_slice()) {
            (Some(entry), _) => Some(entry),
            (None, [only]) if self.model == DEFAULT_MODEL => Some(only),
            (None, _) => None,
        };
        if let Some(id) = entry
            .and_then(|entry| entry.get("id"))
            .and_then(Value::as_str)
        {
            self.model = id.to_owned();
            known.card.model = id.to_owned();
        }
        let entry = entry.or(models.first()).cloned().unwrap_or_default();
        let maker = entry
            .get("owned_by")
            .and_then(Value::as_str)
            .unwrap_or_default();
        self.dialect.template = matches!(maker, "llamacpp" | "vllm" | "sglang");
        known.card.abilities.schema = self.dialect.template;
        if let Some(window) = window_in(&entry) {
            known.card.window = window;
        }
        known.card.abilities.tiny = is_tiny(&entry);
        if maker == "llamacpp"
            && let Some(properties) =
                self.ask_about(&known.route, &self.beside("/props"), cancel)?
        {
            learn_properties(&mut known.card, &properties);
        }
        Ok(())
    }

    /// Returns the path of a route below the base address.
    fn below(&self, route: &str) -> String {
        format!("{}{route}", self.base.path)
    }

    /// Returns the path of a route that lies beside `/v1`.
    fn beside(&self, route: &str) -> String {
        format!(
            "{}{route}",
            self.base
                .path
                .strip_suffix("/v1")
                .unwrap_or(&self.base.path)
        )
    }

    fn ask_about(
        &self,
        route: &Route,
        path: &str,
        cancel: &Cancel,
    ) -> Result<Option<Value>, ModelError> {
        let call = Call {
            route: path,
            body: None,
            token: self.token.as_deref(),
            patience: self.client.limits().probe,
        };
        let mut answer = match self.client.call(route, call, cancel) {
            Ok(answer) => answer,
            // A server that talks nonsense to this question may still chat.
            Err(Trouble::Garbled(_) | Trouble::Broken) => return Ok(None),
            Err(trouble) => return Err(self.broken(&trouble)),
        };
        if answer.head.status != 200 {
            return Ok(None);
        }
        match answer.whole() {
            Ok(text) => Ok(serde_json::from_str(&text).ok()),
            Err(Trouble::Interrupted) => Err(ModelError::Interrupted),
            Err(_) => Ok(None),
        }
    }

    /// Returns the names of the models that the host lists.
    pub(crate) fn list(&self, cancel: &Cancel) -> Result<Vec<String>, ModelError> {
        let route = self
            .client
            .look(cancel)
            .map_err(|trouble| self.broken(&trouble))?;
        let path = if self.dialect.versioned {
            "/v1/models"
        } else {
            "/models"
        };
        let listed = self.ask_about(&route, &self.below(path), cancel)?;
        let models = listed.as_ref().map(entries).unwrap_or_default();
        Ok(models
            .iter()
            .filter_map(|entry| entry.get("id")?.as_str().map(str::to_owned))
            .collect())
    }

    /// Asks a host on another machine about its model, once it has taken a prompt; for the runs to come.
    fn look_around(&mut self, route: &Route, cancel: &Cancel) {
        if !self.curious {
            return;
        }
        self.curious = false;
        let path = if self.dialect.versioned {
            "/v1/models"
        } else {
            "/models"
        };
        let listed = self
            .ask_about(route, &self.below(path), cancel)
            .ok()
            .flatten();
        let models = listed.as_ref().map(entries).unwrap_or_default();
        let entry = models
            .iter()
            .find(|entry| entry.get("id").and_then(Value::as_str) == Some(&self.model));
        let facts = Facts {
            window: entry.and_then(window_in),
            ..Facts::default()
        };
        card::keep(
            &self.cache,
            &card::by_host(&self.base.url(""), &self.model),
            &facts,
        );
    }

    fn once(
        &mut self,
        request: &Request,
        heard: &mut Heard<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        let known = self.know(cancel)?;
        let mut backoff = Backoff::new(self.first_pause);
        let begun = Instant::now();
        loop {
            let body = self.body(request).to_string();
            if !known.card.host.this_machine {
                outbound::check(request, &body, self.max_send)?;
            }
            let path = self
                .dialect
                .path
                .clone()
                .unwrap_or_else(|| self.below(&self.dialect.route()));
            let token = self.token.as_deref();
            let call = Call {
                route: &path,
                body: Some(&body),
                token,
                patience: self.client.limits().first,
            };
            let mut answer = match self.client.call(&known.route, call, cancel) {
                Ok(answer) => answer,
                Err(trouble) if trouble.may_pass() && backoff.wait(None, cancel)? => continue,
                Err(trouble) => {
                    // The numbers behind the name may have changed: look again next time.
                    self.known = None;
                    return Err(self.broken(&trouble));
                }
            };
            if answer.head.status == 200 {
                let mut gather = Gather::new(request.max_tokens, heard);
                answer.wait_for(self.client.limits().first);
                let end = sse::read(&mut answer, &mut gather, self.client.limits());
                let end = end.map_err(|cut| self.cut_off(&cut))?;
                let reply = end.reply(gather, request);
                drop(answer);
                self.look_around(&known.route, cancel);
                return Ok(reply);
            }
            let loading = answer.head.status == 503 && begun.elapsed() < self.client.limits().first;
            self.refused(&mut answer, loading, &mut backoff, cancel)?;
        }
    }

    fn body(&self, request: &Request) -> Value {
        let mut body = Map::new();
        body.insert("model".to_owned(), self.model.clone().into());
        body.insert("messages".to_owned(), self.messages(request));
        body.insert("stream".to_owned(), self.dialect.stream.into());
        if self.dialect.stream && self.dialect.usage {
            body.insert(
                "stream_options".to_owned(),
                json!({ "include_usage": true }),
            );
        }
        body.insert(self.dialect.length.to_owned(), request.max_tokens.into());
        if self.dialect.temperature {
            body.insert("temperature".to_owned(), json!(request.temperature));
        }
        if self.dialect.seed {
            // Some servers read the seed as 32 bits with a sign.
            body.insert("seed".to_owned(), (request.seed & 0x7fff_ffff).into());
        }
        if self.dialect.template {
            body.insert(
                "chat_template_kwargs".to_owned(),
                json!({ "enable_thinking": false }),
            );
        }
        match request.shape {
            Shape::Object if self.dialect.shapes => {
                let schema = json!({"name": "action", "schema": shape::schema()});
                body.insert(
                    "response_format".to_owned(),
                    json!({"type": "json_schema", "json_schema": schema}),
                );
            }
            Shape::Calls if self.dialect.shapes => {
                body.insert("tools".to_owned(), shape::tools());
            }
            Shape::Words | Shape::Object | Shape::Calls => {}
        }
        Value::Object(body)
    }

    fn messages(&self, request: &Request) -> Value {
        let mut said: Vec<(Role, String)> = Vec::new();
        for message in &request.messages {
            let role = if message.role == Role::System && !self.dialect.system {
                Role::User
            } else {
                message.role
            };
            match said.last_mut() {
                // Templates without rules of their own also want the turns to alternate.
                Some((last, content)) if *last == role && !self.dialect.system => {
                    content.push_str("\n\n");
                    content.push_str(&message.content);
                }
                Some(_) | None => said.push((role, message.content.clone())),
            }
        }
        said.into_iter()
            .map(|(role, content)| json!({ "role": role.name(), "content": content }))
            .collect()
    }

    /// Decides what a refusal means: speak otherwise and go on, wait and go on, or give up with a sentence.
    fn refused(
        &mut self,
        answer: &mut Answer,
        loading: bool,
        backoff: &mut Backoff,
        cancel: &Cancel,
    ) -> Result<(), ModelError> {
        let page = answer.beginning();
        if cancel.stopped() {
            return Err(ModelError::Interrupted);
        }
        let sentence = said(&page);
        let head = &answer.head;
        if loading && page.to_ascii_lowercase().contains("loading") {
            return sleep(LOADING_PAUSE, cancel);
        }
        if let Some(location) = head
            .location
            .as_deref()
            .filter(|_| (300..400).contains(&head.status))
        {
            return self.sent_on(head.status, location);
        }
        match self
            .dialect
            .judge(head.status, &page, self.base.path.ends_with("/v1"))
        {
            Refusal::SpeakOtherwise(dialect) => {
                self.dialect = dialect;
                return Ok(());
            }
            Refusal::Wait if backoff.wait(head.retry_after, cancel)? => return Ok(()),
            Refusal::UnknownModel => return Err(self.no_such_model(&sentence, cancel)),
            Refusal::Wait | Refusal::Final => {}
        }
        let is_too_long = dialect::too_long(head.status, &page);
        Err(self.final_words(head.status, head.retry_after, &sentence, is_too_long))
    }

    /// Returns what a refusal that asking again does not change means for the user.
    fn final_words(
        &self,
        status: u16,
        retry_after: Option<u64>,
        sentence: &str,
        is_too_long: bool,
    ) -> ModelError {
        let name = self.base.name();
        let colon = after_colon(sentence);
        match status {
            401 if self.token.is_none() => unusable(
                format!("`{name}` wants a token{colon}"),
                "set HARNESS_API_KEY (or HF_TOKEN)",
            ),
            401 => unusable(
                format!("`{name}` does not accept the token{colon}"),
                "check HARNESS_API_KEY (or HF_TOKEN): it may be of another service, or revoked",
            ),
            402 => unusable(
                format!("`{name}` wants to be paid first{colon}"),
                "check the account of the service",
            ),
            403 => unusable(
                format!("`{name}` does not allow this{colon}"),
                "check that the token may use this model, and choose another with --model",
            ),
            404 | 405 => unusable(
                format!("there is no chat at `{}`{colon}", shown(&self.base.url(""))),
                "check HARNESS_BASE_URL: it often ends with `/v1`",
            ),
            _ if is_too_long => unusable(
                format!("the prompt is longer than the model's window{colon}"),
                "narrow the task with --scope, or use a model with a larger window",
            ),
            429 => match retry_after {
                Some(seconds) => unusable(
                    format!("`{name}` asks us to wait for {seconds} seconds{colon}"),
                    "wait, then try again; or use a model on this machine",
                ),
                None => unusable(
                    format!("`{name}` has too many requests{colon}"),
                    "wait a little, then try again; or use a model on this machine",
                ),
            },
            500..=599 => unusable(
                format!("`{name}` is in trouble (status {status}){colon}"),
                "try again later; nothing is wrong on this side",
            ),
            status => unusable(
                format!("`{name}` refused the prompt (status {status}){colon}"),
                "check the model with --model, and HARNESS_BASE_URL",
            ),
        }
    }

    /// Follows to another path of the same host, never to another host: prompts and tokens stay where the user sent them.
    fn sent_on(&mut self, status: u16, location: &str) -> Result<(), ModelError> {
        let name = self.base.name();
        let refuse = |target: &str| {
            unusable(
                format!(
                    "`{name}` sends us on to `{}`, which we do not follow",
                    shown(target)
                ),
                "set HARNESS_BASE_URL to the address that is meant",
            )
        };
        let target = if location.starts_with('/') && !location.starts_with("//") {
            Address {
                path: location.trim_end_matches('/').to_owned(),
                ..self.base.clone()
            }
        } else {
            Address::read(location, USUAL).map_err(|_| refuse(location))?
        };
        let same = (target.secure, &target.host, target.port)
            == (self.base.secure, &self.base.host, self.base.port);
        let may_follow = same && matches!(status, 307 | 308) && self.dialect.sent_on < 3;
        if !may_follow {
            return Err(refuse(&target.url("")));
        }
        self.dialect.sent_on += 1;
        self.dialect.path = Some(target.path);
        Ok(())
    }
}

impl Model for Remote {
    fn card(&mut self, cancel: &Cancel) -> Result<Card, ModelError> {
        Ok(self.know(cancel)?.card)
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
