//! The remote engine: any chat-completions host, hosted or on this machine.

mod dialect;
#[cfg(test)]
mod leaving_tests;
#[cfg(test)]
mod tests;
mod told;

use std::time::Duration;

use harness_hands::cache::Cache;
use serde_json::{Value, json};

use crate::env::Environment;
use crate::model::address::{Address, Defaults};
use crate::model::card::Facts;
use crate::model::chat::reply::Incoming;
use crate::model::chat::{ChatClient, Failure, KnownModel, Next, Protocol, RefusedPrompt, Server};
use crate::model::http::{Client, Limits, Trouble};
use crate::model::remote::dialect::{Advice, Dialect};
use crate::model::remote::told::{entries, is_tiny, learn_properties, window_in, words};
use crate::model::trouble::after_colon;
use crate::model::{ModelError, Request, Role, Shape, proxy, shape};
use crate::options::{DEFAULT_MODEL, shown};

/// An address without port uses its scheme's own; without scheme it is encrypted.
const USUAL: Defaults = Defaults {
    port: None,
    secure: true,
};
/// How often a server that is still loading its model is asked again.
const LOADING_PAUSE: Duration = Duration::from_millis(500);

/// A model behind a chat-completions host.
pub(crate) type Remote = ChatClient<Completions>;

/// The chat-completions protocol: a stream of events.
#[derive(Debug)]
pub(crate) struct Completions {
    token: Option<String>,
    dialect: Dialect,
}

impl Remote {
    /// Returns the engine for a model; connects to nothing yet.
    pub(crate) fn new(model: &str, environment: &Environment) -> Result<Remote, ModelError> {
        Remote::with_limits(model, environment, Limits::USUAL)
    }

    pub(crate) fn with_limits(
        model: &str,
        environment: &Environment,
        limits: Limits,
    ) -> Result<Remote, ModelError> {
        let Some(written) = environment.base_url.as_deref() else {
            return Err(ModelError::unusable(
                "the remote engine has no base address",
                "set HARNESS_BASE_URL, for example to `https://host/v1`, or use --engine local",
            ));
        };
        let mut base = Address::read(written, USUAL).map_err(|bad| {
            ModelError::unusable(
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
            return Err(ModelError::unusable(
                "the token has characters that no token has",
                "set HARNESS_API_KEY again, without spaces or line breaks",
            ));
        }
        let proxy = proxy::for_host(&base, environment)?;
        let protocol = Completions {
            token: token.map(str::to_owned),
            dialect: Dialect::default(),
        };
        let client = Client::new(base, proxy, limits);
        ChatClient::over(client, protocol, model, environment)
    }
}

impl Protocol for Completions {
    const NAME: &str = "completions";
    const CHOOSES_WINDOW: bool = false;

    fn path(&self, base: &str) -> String {
        let path = self.dialect.path.clone();
        path.unwrap_or_else(|| format!("{base}{}", self.dialect.below("/chat/completions")))
    }

    fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    fn missing_for_another_machine(&self, address: &str) -> Option<ModelError> {
        self.token.is_none().then(|| {
            ModelError::unusable(
                format!("there is no token for `{address}`"),
                "set HARNESS_API_KEY (or HF_TOKEN)",
            )
        })
    }

    fn body(&self, request: &Request, known: &KnownModel, _window: u32) -> Value {
        let dialect = &self.dialect;
        let mut body = json!({
            "model": known.card.model,
            "messages": self.messages(request),
            "stream": dialect.stream,
        });
        body[dialect.length] = request.max_tokens.into();
        if dialect.stream && dialect.usage {
            body["stream_options"] = json!({ "include_usage": true });
        }
        if dialect.temperature {
            body["temperature"] = json!(request.temperature);
        }
        if dialect.seed {
            // Some servers read the seed as 32 bits with a sign.
            body["seed"] = (request.seed & 0x7fff_ffff).into();
        }
        if dialect.template {
            body["chat_template_kwargs"] = json!({ "enable_thinking": false });
        }
        match request.shape {
            Shape::Object if dialect.shapes => {
                let schema = json!({"name": "action", "schema": shape::schema()});
                body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
            }
            Shape::Calls if dialect.shapes => body["tools"] = shape::tools(),
            Shape::Words | Shape::Object | Shape::Calls => {}
        }
        body
    }

    fn take(&self, piece: &Value, reply: &mut Incoming<'_>) {
        if let Some(usage) = piece.get("usage").filter(|usage| usage.is_object()) {
            let count = |key: &str| usage.get(key).and_then(Value::as_u64);
            reply.count(count("prompt_tokens"), count("completion_tokens"));
        }
        let choices = piece.get("choices").and_then(Value::as_array);
        let Some(choice) = choices.and_then(|choices| choices.first()) else {
            return;
        };
        let message = choice.get("delta").or_else(|| choice.get("message"));
        let message = message.unwrap_or(choice);
        for key in ["reasoning_content", "reasoning"] {
            reply.think(&words(message.get(key)));
        }
        for key in ["content", "text", "refusal"] {
            reply.say(&words(message.get(key)));
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for (place, call) in calls.into_iter().flatten().enumerate() {
            let index = call.get("index").and_then(Value::as_u64);
            reply.call(index.unwrap_or(place as u64), call);
        }
        reply.finish(choice.get("finish_reason").and_then(Value::as_str));
        if choice.get("message").is_some() {
            reply.last_words();
        }
    }

    fn refused(&mut self, refusal: &RefusedPrompt<'_>) -> Next {
        let head = refusal.head;
        let is_loading =
            head.status == 503 && refusal.page.to_ascii_lowercase().contains("loading");
        if is_loading && refusal.may_load {
            return Next::After(LOADING_PAUSE);
        }
        let location = head.location.as_deref();
        if let Some(location) = location.filter(|_| (300..400).contains(&head.status)) {
            return self.sent_on(refusal.base, head.status, location);
        }
        let base_has_version = refusal.base.path.ends_with("/v1");
        match self
            .dialect
            .judge(head.status, refusal.page, base_has_version)
        {
            Advice::SpeakOtherwise(dialect) => {
                self.dialect = dialect;
                Next::Again
            }
            Advice::Wait => Next::Wait(self.final_words(refusal)),
            Advice::UnknownModel => Next::UnknownModel,
            Advice::Final => Next::GiveUp(self.final_words(refusal)),
        }
    }

    fn probe(
        &mut self,
        server: &Server<'_>,
        _cache: &Cache,
        known: &mut KnownModel,
    ) -> Result<(), Trouble> {
        let mut listed = asked(server, server.base, "/models")?;
        if listed.is_none() && !server.base.ends_with("/v1") {
            listed = asked(server, server.base, "/v1/models")?;
            self.dialect.versioned |= listed.is_some();
        }
        let Some(listed) = listed else { return Ok(()) };
        let models = entries(&listed);
        let card = &mut known.card;
        let named = models.iter().find(|entry| id(entry) == Some(&card.model));
        // The default belongs to the local engine; a server with one model means that one.
        let entry = match (named, models.as_slice()) {
            (Some(entry), _) => Some(entry),
            (None, [only]) if card.model == DEFAULT_MODEL => Some(only),
            (None, _) => None,
        };
        if let Some(id) = entry.and_then(id) {
            card.model = id.to_owned();
        }
        let entry = entry.or(models.first()).cloned().unwrap_or_default();
        let maker = entry.get("owned_by").and_then(Value::as_str);
        self.dialect.template = matches!(maker, Some("llamacpp" | "vllm" | "sglang"));
        card.abilities.schema = self.dialect.template;
        card.window = window_in(&entry).unwrap_or(card.window);
        card.abilities.tiny = is_tiny(&entry);
        if maker == Some("llamacpp") {
            let beside = server.base.strip_suffix("/v1").unwrap_or(server.base);
            if let Some(properties) = asked(server, beside, "/props")? {
                learn_properties(card, &properties);
            }
        }
        Ok(())
    }

    fn facts(&self, server: &Server<'_>, model: &str) -> Result<Option<Facts>, Trouble> {
        let listed = asked(server, server.base, &self.dialect.below("/models"))?;
        let models = listed.as_ref().map(entries).unwrap_or_default();
        let entry = models.iter().find(|entry| id(entry) == Some(model));
        Ok(entry.map(|entry| Facts {
            window: window_in(entry),
            ..Facts::default()
        }))
    }

    fn models(&self, server: &Server<'_>) -> Result<Vec<(String, Option<u64>)>, Trouble> {
        let listed = asked(server, server.base, &self.dialect.below("/models"))?;
        let models = listed.as_ref().map(entries).unwrap_or_default();
        let named = models
            .iter()
            .filter_map(|entry| Some((id(entry)?.to_owned(), None)));
        Ok(named.collect())
    }

    fn explain(&self, address: &str, failure: &Failure<'_>) -> ModelError {
        let (message, hint) = match failure {
            Failure::Unanswered(trouble) => match trouble {
                Trouble::Refused | Trouble::UnknownHost | Trouble::Unreachable => (
                    format!("no model server answers at `{address}`: {trouble}"),
                    "check HARNESS_BASE_URL and the network",
                ),
                Trouble::Silent(_) => (
                    format!("`{address}` does not answer: {trouble}"),
                    "try again later, or choose a smaller model with --model",
                ),
                Trouble::Tls(_) => (
                    format!("`{address}` cannot be trusted: {trouble}"),
                    "check the address; a private authority must be among the system's trusted ones",
                ),
                Trouble::Proxy(_) => (
                    format!("`{address}` cannot be reached: {trouble}"),
                    "check HTTPS_PROXY and NO_PROXY",
                ),
                Trouble::Broken
                | Trouble::Elsewhere
                | Trouble::Garbled(_)
                | Trouble::Interrupted => (
                    format!("`{address}` cannot be used: {trouble}"),
                    "check that HARNESS_BASE_URL is the address of a chat-completions server",
                ),
            },
            Failure::BrokenOff(trouble) => (
                format!("the reply from `{address}` broke off: {trouble}"),
                "try again",
            ),
            Failure::Failed(sentence) => (
                format!(
                    "`{address}` failed in the middle of a reply{}",
                    after_colon(sentence)
                ),
                "try again",
            ),
            Failure::Garbled => (
                format!("what `{address}` answered is not what a chat server sends"),
                "check that HARNESS_BASE_URL is the address of a chat-completions server",
            ),
            Failure::UnknownModel {
                model,
                sentence,
                others,
            } => {
                let colon = after_colon(sentence);
                return ModelError::unusable(
                    format!("`{address}` does not have the model `{model}`{colon}"),
                    format!("name another with --model{others}"),
                );
            }
        };
        ModelError::unusable(message, hint)
    }
}

impl Completions {
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

    /// Returns what a refusal that asking again does not change means for the user.
    fn final_words(&self, refusal: &RefusedPrompt<'_>) -> ModelError {
        let name = refusal.base.name();
        let colon = after_colon(refusal.sentence);
        match refusal.head.status {
            401 if self.token.is_none() => ModelError::unusable(
                format!("`{name}` wants a token{colon}"),
                "set HARNESS_API_KEY (or HF_TOKEN)",
            ),
            401 => ModelError::unusable(
                format!("`{name}` does not accept the token{colon}"),
                "check HARNESS_API_KEY (or HF_TOKEN): it may be of another service, or revoked",
            ),
            402 => ModelError::unusable(
                format!("`{name}` wants to be paid first{colon}"),
                "check the account of the service",
            ),
            403 => ModelError::unusable(
                format!("`{name}` does not allow this{colon}"),
                "check that the token may use this model, and choose another with --model",
            ),
            404 | 405 => ModelError::unusable(
                format!(
                    "there is no chat at `{}`{colon}",
                    shown(&refusal.base.url(""))
                ),
                "check HARNESS_BASE_URL: it often ends with `/v1`",
            ),
            status if dialect::too_long(status, refusal.page) => ModelError::unusable(
                format!("the prompt is longer than the model's window{colon}"),
                "narrow the task with --scope, or use a model with a larger window",
            ),
            429 => match refusal.head.retry_after {
                Some(seconds) => ModelError::unusable(
                    format!("`{name}` asks us to wait for {seconds} seconds{colon}"),
                    "wait, then try again; or use a model on this machine",
                ),
                None => ModelError::unusable(
                    format!("`{name}` has too many requests{colon}"),
                    "wait a little, then try again; or use a model on this machine",
                ),
            },
            status @ 500..=599 => ModelError::unusable(
                format!("`{name}` is in trouble (status {status}){colon}"),
                "try again later; nothing is wrong on this side",
            ),
            status => ModelError::unusable(
                format!("`{name}` refused the prompt (status {status}){colon}"),
                "check the model with --model, and HARNESS_BASE_URL",
            ),
        }
    }

    /// Follows to another path of the same host, never to another host: prompts and tokens stay where the user sent them.
    fn sent_on(&mut self, base: &Address, status: u16, location: &str) -> Next {
        let refuse = |target: &str| {
            let (name, target) = (base.name(), shown(target));
            Next::GiveUp(ModelError::unusable(
                format!("`{name}` sends us on to `{target}`, which we do not follow"),
                "set HARNESS_BASE_URL to the address that is meant",
            ))
        };
        let target = if location.starts_with('/') && !location.starts_with("//") {
            Address {
                path: location.trim_end_matches('/').to_owned(),
                ..base.clone()
            }
        } else {
            match Address::read(location, USUAL) {
                Ok(target) => target,
                Err(_) => return refuse(location),
            }
        };
        let same =
            (target.secure, &target.host, target.port) == (base.secure, &base.host, base.port);
        let may_follow = same && matches!(status, 307 | 308) && self.dialect.sent_on < 3;
        if !may_follow {
            return refuse(&target.url(""));
        }
        self.dialect.sent_on += 1;
        self.dialect.path = Some(target.path);
        Next::Again
    }
}

/// Asks a host about itself. One that talks nonsense to this question may still chat.
fn asked(server: &Server<'_>, base: &str, route: &str) -> Result<Option<Value>, Trouble> {
    match server.ask_at(&format!("{base}{route}"), None) {
        Err(Trouble::Garbled(_) | Trouble::Broken) => Ok(None),
        answered => answered,
    }
}

/// Returns the name of a listed model.
fn id(entry: &Value) -> Option<&str> {
    entry.get("id")?.as_str()
}
