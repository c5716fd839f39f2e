//! One HTTP call to a model server, read line by line. Says what went wrong as a value; knows no chat.

use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, RustlsConnector};
use ureq::{Agent, BodyReader, Proxy};

use crate::cancel::Cancel;
use crate::model::address::{Address, LookUp, is_loopback};
use crate::model::wire::{PinnedResolver, SocketConnector, Wire};
use crate::options::shown;

/// The longest line that is read. A whole reply in one piece is far smaller; a longer line is a broken server.
const LONGEST_LINE: usize = 8 << 20;
/// The most bytes of an error page that are looked at: the sentence is in its first lines.
const LONGEST_ERROR: usize = 64 << 10;

/// How long silence may last. There is no limit on the whole: a slow model is slow, not broken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Until a connection stands.
    pub(crate) connect: Duration,
    /// Until the first piece of a reply: a large model may be read from disk, and a long prompt be worked through.
    pub(crate) first: Duration,
    /// Between two pieces of a reply.
    pub(crate) between: Duration,
    /// For a question about the server itself, which no model works on.
    pub(crate) probe: Duration,
}

impl Limits {
    /// The limits for people. 30 minutes: 8,000 tokens of prompt at 5 tokens a second, the slowest laptop we know of.
    pub(crate) const USUAL: Limits = Limits {
        connect: Duration::from_secs(10),
        first: Duration::from_secs(30 * 60),
        between: Duration::from_secs(3 * 60),
        probe: Duration::from_secs(10),
    };
}

/// What went wrong before an answer was whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    /// Nothing listens there.
    #[error("nothing listens there")]
    Refused,
    /// The host's name leads nowhere.
    #[error("the name leads nowhere")]
    UnknownHost,
    /// The network has no way there, or no connection came about in time.
    #[error("no connection came about")]
    Unreachable,
    /// The connection ended before the answer did.
    #[error("the connection ended too early")]
    Broken,
    /// The server said nothing for this many seconds.
    #[error("it said nothing for {0} seconds")]
    Silent(u64),
    /// The connection could not be encrypted, or the certificate is not trusted.
    #[error("the connection could not be secured ({0})")]
    Tls(String),
    /// The socket led to another machine than was judged.
    #[error("the address changed to another machine")]
    Elsewhere,
    /// The proxy did not let us through.
    #[error("the proxy refused ({0})")]
    Proxy(String),
    /// What came is not HTTP, or not a text.
    #[error("the answer cannot be read ({0})")]
    Garbled(String),
    /// The user stopped it.
    #[error("stopped")]
    Interrupted,
}

impl Trouble {
    /// Returns whether asking again may help and nothing was heard yet.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Trouble::Broken)
    }
}

/// Where a call goes, judged before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostAddress {
    addresses: Vec<SocketAddr>,
    proxied: bool,
}

impl HostAddress {
    /// Returns whether every number behind the name is this machine and no proxy is between.
    pub(crate) fn this_machine(&self) -> bool {
        !self.proxied
            && !self.addresses.is_empty()
            && self.addresses.iter().all(|one| is_loopback(one.ip()))
    }
}

/// What is asked of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    /// The path at the host.
    pub(crate) path: &'a str,
    /// The JSON to post; none asks with GET.
    pub(crate) body: Option<&'a str>,
    /// The bearer token.
    pub(crate) token: Option<&'a str>,
    /// How long the server may be silent before its first line.
    pub(crate) patience: Duration,
}

/// Makes calls to one server.
#[derive(Debug)]
pub(crate) struct Client {
    address: Address,
    limits: Limits,
    wire: Arc<Wire>,
    direct: Agent,
    proxied: Option<Agent>,
}

impl Client {
    /// Returns a client for a server; the proxy is used only for hosts that are not this machine.
    pub(crate) fn new(address: Address, proxy: Option<Proxy>, limits: Limits) -> Client {
        let wire = Arc::new(Wire::default());
        let direct = agent(&wire, None);
        let proxied = proxy.map(|proxy| agent(&wire, Some(proxy)));
        Client {
            address,
            limits,
            wire,
            direct,
            proxied,
        }
    }

    /// Returns the server's address.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the limits on silence.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Judges where a call would go. Connects to nothing.
    pub(crate) fn look(&self, cancel: &Cancel) -> Result<HostAddress, Trouble> {
        let direct = match self.address.look_up(cancel) {
            Ok(addresses) => HostAddress {
                addresses,
                proxied: false,
            },
            Err(LookUp::Interrupted) => return Err(Trouble::Interrupted),
            // Behind a proxy names are often known to the proxy alone.
            Err(LookUp::Unknown) if self.proxied.is_some() => HostAddress {
                addresses: Vec::new(),
                proxied: true,
            },
            Err(LookUp::Unknown) => return Err(Trouble::UnknownHost),
        };
        if direct.this_machine() || self.proxied.is_none() {
            return Ok(direct);
        }
        Ok(HostAddress {
            proxied: true,
            ..direct
        })
    }

    /// Makes one call along a judged route and returns the answer's head; its lines follow.
    pub(crate) fn call(
        &self,
        route: &HostAddress,
        call: Call<'_>,
        cancel: &Cancel,
    ) -> Result<Response, Trouble> {
        self.wire.set_cancel(cancel);
        self.wire.set_patience(call.patience);
        self.wire.set_connect_limit(self.limits.connect);
        self.wire.require_loopback(route.this_machine());
        self.wire.pin(&self.address.host, &route.addresses);
        let agent = match (&self.proxied, route.proxied) {
            (Some(proxied), true) => proxied,
            (Some(_) | None, _) => &self.direct,
        };
        let url = self.address.url_of(call.path);
        let trouble = |error: ureq::Error| self.trouble(error, call.patience, cancel);
        let bearer = call.token.map(|token| format!("Bearer {token}"));
        let headers = bearer.iter().map(|bearer| ("authorization", bearer));
        let response = match call.body {
            Some(body) => headers
                .fold(agent.post(&url), |request, (name, value)| {
                    request.header(name, value)
                })
                .content_type("application/json")
                .send(body),
            None => headers
                .fold(agent.get(&url), |request, (name, value)| {
                    request.header(name, value)
                })
                .call(),
        };
        let response = response.map_err(trouble)?;
        let header = |name: &str| {
            response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        let head = Head {
            status: response.status().as_u16(),
            content_type: header("content-type")
                .unwrap_or_default()
                .to_ascii_lowercase(),
            retry_after: header("retry-after").and_then(|value| value.trim().parse::<u64>().ok()),
            location: header("location"),
        };
        let reader = response
            .into_body()
            .into_with_config()
            .limit(u64::MAX)
            .reader();
        let reader = BufReader::with_capacity(16 << 10, reader);
        Ok(Response {
            head,
            reader,
            wire: Arc::clone(&self.wire),
            patience: call.patience,
            cancel: cancel.clone(),
        })
    }

    fn trouble(&self, error: ureq::Error, patience: Duration, cancel: &Cancel) -> Trouble {
        if cancel.stopped() {
            return Trouble::Interrupted;
        }
        match error {
            ureq::Error::Io(error) => io_trouble(&error, patience),
            ureq::Error::HostNotFound => Trouble::UnknownHost,
            ureq::Error::ConnectionFailed => Trouble::Unreachable,
            ureq::Error::Timeout(_) => Trouble::Silent(patience.as_secs()),
            ureq::Error::Tls(why) => Trouble::Tls(why.to_owned()),
            ureq::Error::Rustls(why) => Trouble::Tls(shown(&why.to_string())),
            ureq::Error::ConnectProxyFailed(why) => Trouble::Proxy(shown(&why)),
            other => Trouble::Garbled(shown(&other.to_string())),
        }
    }
}

fn agent(wire: &Arc<Wire>, proxy: Option<Proxy>) -> Agent {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        // We judge every redirect ourselves: prompts and tokens must not travel to another host.
        .max_redirects(0)
        .proxy(proxy)
        .tls_config(tls)
        .user_agent(concat!("harness/", env!("CARGO_PKG_VERSION")))
        .accept("*/*")
        .build();
    let connector =
        ().chain(ConnectProxyConnector::default())
            .chain(SocketConnector(Arc::clone(wire)))
            .chain(RustlsConnector::default());
    Agent::with_parts(config, connector, PinnedResolver(Arc::clone(wire)))
}

fn io_trouble(error: &io::Error, patience: Duration) -> Trouble {
    // Layers above wrap an error in another; the innermost one knows.
    if let Some(inner) = error.get_ref() {
        if let Some(ureq::Error::Io(inner)) = inner.downcast_ref::<ureq::Error>() {
            return io_trouble(inner, patience);
        }
        if let Some(ureq::Error::Rustls(why)) = inner.downcast_ref::<ureq::Error>() {
            return Trouble::Tls(shown(&why.to_string()));
        }
        if let Some(why) = inner.downcast_ref::<rustls::Error>() {
            return Trouble::Tls(shown(&why.to_string()));
        }
        if let Some(inner) = inner.downcast_ref::<io::Error>() {
            return io_trouble(inner, patience);
        }
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Trouble::Refused,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Trouble::Silent(patience.as_secs()),
        io::ErrorKind::PermissionDenied => Trouble::Elsewhere,
        io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::AddrNotAvailable
        | io::ErrorKind::NetworkDown => Trouble::Unreachable,
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::NotConnected => Trouble::Broken,
        _ => Trouble::Garbled(shown(&error.to_string())),
    }
}

/// The head of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The status code.
    pub(crate) status: u16,
    /// The kind of text, in small letters; empty where none is said.
    pub(crate) content_type: String,
    /// The seconds the server asks us to wait.
    pub(crate) retry_after: Option<u64>,
    /// Where it points us to.
    pub(crate) location: Option<String>,
}

/// An answer whose lines are still coming. Dropping it ends the connection, and with it the model's work.
pub(crate) struct Response {
    /// Its head.
    pub(crate) head: Head,
    reader: BufReader<BodyReader<'static>>,
    wire: Arc<Wire>,
    patience: Duration,
    cancel: Cancel,
}

impl Response {
    /// Says how long the server may be silent from now on.
    pub(crate) fn wait_for(&mut self, patience: Duration) {
        self.patience = patience;
        self.wire.set_patience(patience);
    }

    /// Returns the next line without its ending; `None` at the end. The last line needs no ending.
    pub(crate) fn line(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.reader).take(LONGEST_LINE as u64 + 1);
        let read = bounded.read_until(b'\n', &mut line);
        read.map_err(|error| self.trouble(&error))?;
        if line.len() > LONGEST_LINE {
            return Err(too_long("a line"));
        }
        if line.pop_if(|last| *last == b'\n').is_some() {
            line.pop_if(|last| *last == b'\r');
            return Ok(Some(line));
        }
        // Where the end of the connection ends the answer, a stop looks like the end.
        if self.cancel.stopped() {
            return Err(Trouble::Interrupted);
        }
        Ok((!line.is_empty()).then_some(line))
    }

    /// Returns the rest as text, up to a limit. For answers in one piece.
    pub(crate) fn whole(&mut self) -> Result<String, Trouble> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader)
            .take(LONGEST_LINE as u64 + 1)
            .read_to_end(&mut bytes);
        read.map_err(|error| self.trouble(&error))?;
        if self.cancel.stopped() {
            return Err(Trouble::Interrupted);
        }
        if bytes.len() > LONGEST_LINE {
            return Err(too_long("an answer"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the beginning of an error page; whatever breaks while it is read, what was read is enough.
    pub(crate) fn beginning(&mut self) -> String {
        let mut bytes = Vec::new();
        let mut bounded = (&mut self.reader).take(LONGEST_ERROR as u64);
        drop(bounded.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn trouble(&self, error: &io::Error) -> Trouble {
        if self.cancel.stopped() {
            return Trouble::Interrupted;
        }
        io_trouble(error, self.patience)
    }
}

fn too_long(what: &str) -> Trouble {
    Trouble::Garbled(format!("{what} of more than {} MB", LONGEST_LINE >> 20))
}
