//! A conversation with a model server on this machine or another one: finding out about it, the outbound check, tries
//! and waits. How a server is spoken to is a `Protocol`.

pub(crate) mod reply;

use std::time::{Duration, Instant};

use harness_hands::cache::Cache;
use serde_json::Value;

use crate::cancel::Cancel;
use crate::env::Environment;
use crate::model::address::Address;
use crate::model::card::{self, Facts};
use crate::model::chat::reply::{Cut, Incoming};
use crate::model::http::{Call, Client, Head, HostAddress, Trouble};
use crate::model::trouble::{Backoff, said, sleep};
use crate::model::{
    Abilities, Card, Heard, Host, Model, ModelError, Reply, Request, TINY_PARAMETERS, outbound,
    twice_if_empty,
};
use crate::options::shown;

/// The window that is assumed where the server does not say: every model of the last years has it.
pub(crate) const UNKNOWN_WINDOW: u32 = 32_768;
/// The names of other models that a message shows.
const MOST_NAMES: usize = 8;

/// How a kind of server is spoken to. What one server minds is learned from its refusals.
pub(crate) trait Protocol: Send {
    /// What facts of a server are kept under: two protocols ask the same server for different ones.
    const NAME: &str;

    /// Whether we choose the window that a model is loaded with.
    const CHOOSES_WINDOW: bool;

    /// Returns the path that prompts are posted to, by the path of the server's base address.
    fn path(&self, base: &str) -> String;

    /// Returns what stands in the way of a prompt to another machine, before anybody is called.
    fn missing_for_another_machine(&self, address: &str) -> Option<ModelError> {
        let _ = address;
        None
    }

    /// Returns the token that every request carries.
    fn token(&self) -> Option<&str> {
        None
    }

    /// Returns what every prompt is sent as.
    fn body(&self, request: &Request, known: &KnownModel, window: u32) -> Value;

    /// Takes the words and counts out of one piece of a reply.
    fn take(&self, piece: &Value, reply: &mut Incoming<'_>);

    /// Decides what a refusal means.
    fn refused(&mut self, refusal: &RefusedPrompt<'_>) -> Next;

    /// Finds out about a server on this machine and its model, before the first prompt.
    fn probe(
        &mut self,
        server: &Server<'_>,
        cache: &Cache,
        known: &mut KnownModel,
    ) -> Result<(), Trouble>;

    /// Returns what a server says of a model.
    fn facts(&self, server: &Server<'_>, model: &str) -> Result<Option<Facts>, Trouble>;

    /// Returns the models that a server lists, with the bytes of their weights where it tells them.
    fn models(&self, server: &Server<'_>) -> Result<Vec<(String, Option<u64>)>, Trouble>;

    /// Returns the message and the hint for what went wrong at a server.
    fn explain(&self, address: &str, failure: &Failure<'_>) -> ModelError;
}

/// What went wrong, before a protocol has words for it.
#[derive(Debug)]
pub(crate) enum Failure<'a> {
    /// No answer came.
    Unanswered(&'a Trouble),
    /// A reply ended too early.
    BrokenOff(&'a Trouble),
    /// The server failed in the middle of a reply, with these words.
    Failed(&'a str),
    /// What came is no reply.
    Garbled,
    /// The server does not have the model; what it has follows.
    UnknownModel {
        model: &'a str,
        sentence: &'a str,
        others: &'a str,
    },
}

/// A refusal: an answer to a prompt whose status is not 200.
#[derive(Debug)]
pub(crate) struct RefusedPrompt<'a> {
    pub(crate) base: &'a Address,
    pub(crate) model: &'a str,
    pub(crate) head: &'a Head,
    pub(crate) page: &'a str,
    /// The sentence on the page.
    pub(crate) sentence: &'a str,
    /// Whether a server may still be waited for that loads its model.
    pub(crate) may_load: bool,
}

/// What follows a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Ask again at once: the protocol has learned something.
    Again,
    /// Ask again after a moment, however often.
    After(Duration),
    /// Wait and ask again; the error ends it where that was done often enough.
    Wait(ModelError),
    /// The server does not have the model.
    UnknownModel,
    /// Asking again will not help.
    GiveUp(ModelError),
}

/// A server that can be asked about itself.
#[derive(Debug)]
pub(crate) struct Server<'a> {
    client: &'a Client,
    route: &'a HostAddress,
    /// The path of its base address.
    pub(crate) base: &'a str,
    token: Option<String>,
    cancel: &'a Cancel,
}

impl Server<'_> {
    /// Returns the JSON that a route below the base address answers with; `None` where there is no such route.
    pub(crate) fn ask(&self, route: &str, body: Option<&Value>) -> Result<Option<Value>, Trouble> {
        self.ask_at(&format!("{}{route}", self.base), body)
    }

    /// The same for a whole path.
    pub(crate) fn ask_at(
        &self,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Option<Value>, Trouble> {
        let body = body.map(Value::to_string);
        let call = Call {
            path,
            body: body.as_deref(),
            token: self.token.as_deref(),
            patience: self.client.limits().probe,
        };
        let mut answer = self.client.call(self.route, call, self.cancel)?;
        if answer.head.status != 200 {
            return Ok(None);
        }
        match answer.whole() {
            Ok(text) => Ok(serde_json::from_str(&text).ok()),
            Err(Trouble::Interrupted) => Err(Trouble::Interrupted),
            Err(_) => Ok(None),
        }
    }
}

/// What was found out about the server and the model.
#[derive(Clone, Debug)]
pub(crate) struct KnownModel {
    pub(crate) card: Card,
    route: HostAddress,
    /// Whether the model may think, where the server says so.
    pub(crate) thinks: Option<bool>,
    /// The window that the model is loaded with right now.
    pub(crate) loaded: Option<u32>,
    /// Whether the server has it on disk alone.
    pub(crate) is_cold: bool,
}

impl KnownModel {
    /// Puts the facts of a model into what is known.
    pub(crate) fn learn(&mut self, facts: &Facts) {
        let card = &mut self.card;
        card.window = facts.window.unwrap_or(card.window);
        if let Some(thinks) = facts.thinks {
            self.thinks = Some(thinks);
            card.abilities.thinking = thinks;
            card.abilities.tools = facts.tools;
            card.abilities.schema = true;
        }
        card.abilities.tiny = facts
            .parameters
            .is_some_and(|count| count < TINY_PARAMETERS);
        if let Some(host) = &facts.elsewhere {
            let host = shown(host.split("://").last().unwrap_or(host));
            card.host = Host {
                name: format!("{host} through {}", card.host.name),
                this_machine: false,
            };
        }
    }
}

/// A model behind a server.
#[derive(Debug)]
pub(crate) struct ChatClient<P> {
    client: Client,
    protocol: P,
    model: String,
    max_send: u64,
    pub(crate) first_pause: Duration,
    pub(crate) cache: Cache,
    known: Option<KnownModel>,
    /// A server on another machine has not been asked about its model yet.
    probe_after_first_reply: bool,
    window: Option<u32>,
}

impl<P: Protocol> ChatClient<P> {
    /// Returns a model behind a server; connects to nothing yet.
    pub(crate) fn over(
        client: Client,
        protocol: P,
        model: &str,
        environment: &Environment,
    ) -> Result<ChatClient<P>, ModelError> {
        Ok(ChatClient {
            client,
            protocol,
            model: model.to_owned(),
            max_send: outbound::limit(environment.max_send.as_deref())?,
            first_pause: Duration::from_millis(500),
            cache: Cache::of_user(card::FOLDER),
            known: None,
            probe_after_first_reply: false,
            window: None,
        })
    }

    /// Returns what is known of server and model; asks those on this machine the first time.
    pub(crate) fn know(&mut self, cancel: &Cancel) -> Result<KnownModel, ModelError> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let route = self.look(cancel)?;
        let this_machine = route.this_machine();
        let missing = self
            .protocol
            .missing_for_another_machine(&self.client.address().name());
        if let Some(missing) = missing.filter(|_| !this_machine) {
            return Err(missing);
        }
        let mut known = KnownModel {
            card: Card {
                model: self.model.clone(),
                host: Host {
                    name: self.client.address().name(),
                    this_machine,
                },
                window: UNKNOWN_WINDOW,
                abilities: Abilities::default(),
            },
            route: route.clone(),
            thinks: None,
            loaded: None,
            is_cold: false,
        };
        if this_machine {
            let server = Server {
                client: &self.client,
                route: &route,
                base: &self.client.address().path,
                token: self.protocol.token().map(str::to_owned),
                cancel,
            };
            let probed = self.protocol.probe(&server, &self.cache, &mut known);
            probed.map_err(|trouble| self.unanswered(&trouble))?;
        } else {
            // Another machine hears nothing of us before the outbound check let a prompt pass.
            match card::recall(&self.cache, &self.name_in_cache()) {
                Some(facts) => known.learn(&facts),
                None => self.probe_after_first_reply = true,
            }
        }
        self.known = Some(known.clone());
        Ok(known)
    }

    /// Judges where calls go.
    fn look(&self, cancel: &Cancel) -> Result<HostAddress, ModelError> {
        let route = self.client.look(cancel);
        route.map_err(|trouble| self.unanswered(&trouble))
    }

    fn server<'a>(&'a self, route: &'a HostAddress, cancel: &'a Cancel) -> Server<'a> {
        Server {
            client: &self.client,
            route,
            base: &self.client.address().path,
            token: self.protocol.token().map(str::to_owned),
            cancel,
        }
    }

    pub(crate) fn name_in_cache(&self) -> String {
        let host = format!("{} {}", P::NAME, self.client.address().url(""));
        card::by_host(&host, &self.model)
    }

    /// Asks a server on another machine about its model, once it has taken a prompt; for the runs to come.
    fn probe_later(&mut self, route: &HostAddress, cancel: &Cancel) {
        if !self.probe_after_first_reply {
            return;
        }
        self.probe_after_first_reply = false;
        let facts = self
            .protocol
            .facts(&self.server(route, cancel), &self.model);
        let facts = facts.ok().flatten().unwrap_or_default();
        card::keep(&self.cache, &self.name_in_cache(), &facts);
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
        let limits = self.client.limits();
        let mut backoff = Backoff::new(self.first_pause);
        let begun = Instant::now();
        loop {
            let body = self.protocol.body(request, &known, window).to_string();
            if !known.card.host.this_machine {
                outbound::check(request, &body, self.max_send)?;
            }
            let call = Call {
                path: &self.protocol.path(&self.client.address().path),
                body: Some(&body),
                token: self.protocol.token(),
                patience: limits.first,
            };
            let mut answer = match self.client.call(&known.route, call, cancel) {
                Ok(answer) => answer,
                Err(trouble) if trouble.may_pass() && backoff.wait(None, cancel)? => continue,
                Err(trouble) => {
                    // The numbers behind the name may have changed: look again next time.
                    self.known = None;
                    return Err(self.unanswered(&trouble));
                }
            };
            if answer.head.status == 200 {
                let mut incoming = Incoming::new(request.max_tokens, heard);
                let whole = incoming.read(&self.protocol, &mut answer, limits);
                whole.map_err(|cut| self.cut(&cut))?;
                drop(answer);
                let chosen = P::CHOOSES_WINDOW.then_some(window);
                let reply = incoming.reply(request, chosen);
                self.probe_later(&known.route, cancel);
                return Ok(reply);
            }
            let page = answer.beginning();
            if cancel.stopped() {
                return Err(ModelError::Interrupted);
            }
            let sentence = said(&page);
            let refusal = RefusedPrompt {
                base: self.client.address(),
                model: &known.card.model,
                head: &answer.head,
                page: &page,
                sentence: &sentence,
                may_load: begun.elapsed() < limits.first,
            };
            match self.protocol.refused(&refusal) {
                Next::Again => {}
                Next::After(pause) => sleep(pause, cancel)?,
                Next::Wait(error) => {
                    if !backoff.wait(answer.head.retry_after, cancel)? {
                        return Err(error);
                    }
                }
                Next::UnknownModel => {
                    let there = self.protocol.models(&self.server(&known.route, cancel));
                    let there = names(there.unwrap_or_default());
                    return Err(self.unknown_model(&known.card.model, &there, &sentence));
                }
                Next::GiveUp(error) => return Err(error),
            }
        }
    }

    fn unanswered(&self, trouble: &Trouble) -> ModelError {
        match trouble {
            Trouble::Interrupted => ModelError::Interrupted,
            trouble => self
                .explain(&Failure::Unanswered(trouble))
                .because(trouble.clone()),
        }
    }

    fn cut(&self, cut: &Cut) -> ModelError {
        match cut {
            Cut::Trouble(Trouble::Interrupted) => ModelError::Interrupted,
            Cut::Trouble(trouble) => self
                .explain(&Failure::BrokenOff(trouble))
                .because(trouble.clone()),
            Cut::Failed(sentence) => self.explain(&Failure::Failed(sentence)),
            Cut::Garbled => self.explain(&Failure::Garbled),
        }
    }

    /// Returns the error of a model that is not among those the server has.
    pub(crate) fn unknown_model(
        &self,
        model: &str,
        there: &[String],
        sentence: &str,
    ) -> ModelError {
        let shown_names = there.iter().take(MOST_NAMES);
        let listed: Vec<String> = shown_names
            .map(|name| format!("`{}`", shown(name)))
            .collect();
        let others = if there.is_empty() {
            String::new()
        } else {
            format!("; it has {}", listed.join(", "))
        };
        self.explain(&Failure::UnknownModel {
            model: &shown(model),
            sentence,
            others: &others,
        })
    }

    fn explain(&self, failure: &Failure<'_>) -> ModelError {
        self.protocol
            .explain(&self.client.address().name(), failure)
    }

    /// Returns the names of the models that the server has.
    pub(crate) fn list(&self, cancel: &Cancel) -> Result<Vec<String>, ModelError> {
        Ok(names(self.sizes(cancel)?))
    }

    /// Returns the models that the server has with the bytes of their weights, where it tells them.
    pub(crate) fn sizes(&self, cancel: &Cancel) -> Result<Vec<(String, Option<u64>)>, ModelError> {
        let route = self.look(cancel)?;
        let listed = self.protocol.models(&self.server(&route, cancel));
        listed.map_err(|trouble| self.unanswered(&trouble))
    }

    /// Returns the JSON that a route of the server answers with, where it does.
    pub(crate) fn ask(&self, route: &str, cancel: &Cancel) -> Option<Value> {
        let judged = self.look(cancel).ok()?;
        self.server(&judged, cancel).ask(route, None).ok()?
    }

    /// Returns the window that the model is loaded with right now.
    pub(crate) fn loaded(&mut self, cancel: &Cancel) -> Option<u32> {
        self.know(cancel).ok()?.loaded
    }
}

impl<P: Protocol> Model for ChatClient<P> {
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

fn window_for(request: &Request, known: &KnownModel) -> u32 {
    let wanted = request.window.min(known.card.window).max(1);
    // A model that is loaded with a larger window already would be loaded anew for a smaller one.
    known.loaded.map_or(wanted, |loaded| loaded.max(wanted))
}

fn names(models: Vec<(String, Option<u64>)>) -> Vec<String> {
    models.into_iter().map(|(name, _)| name).collect()
}
