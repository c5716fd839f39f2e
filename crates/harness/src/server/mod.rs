//! The loopback server: HTTP in, the same calls as the command line, the same JSON out. Async lives here only.

mod answer;
mod body;
mod chat;
mod connection;
mod doorkeeper;
mod log;
mod models;
mod openapi;
mod page;
mod past;
mod peer;
mod reports;
mod routes;
mod stream;
mod table;
mod tasks;
mod wire;
mod work;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use harness_agent::{Agent, AgentOptions, secret};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::exit::Exit;
use crate::runtime::{self, Clients};
use crate::server::connection::Bounds;
use crate::server::routes::ROUTES;
use crate::server::table::{BodyForm, Route};
use crate::server::work::Queue;
use crate::show::text::{self, Complaint};

/// The port when none is named.
pub(crate) const DEFAULT_PORT: u16 = 8090;

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The project and the settings of every run.
    pub agent: AgentOptions,
    /// The port; 0 picks a free one.
    pub port: u16,
    /// The bearer token that clients must send, when one is required.
    pub token: Option<String>,
}

/// Returns every route.
pub fn routes() -> Vec<RouteListed> {
    let fields = |form: &BodyForm| {
        let schema = (form.schema)();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let names = schema["properties"].as_object().into_iter().flatten();
        let shown = names.map(
            |(name, _)| match required.contains(&Value::from(name.as_str())) {
                true => name.to_owned(),
                false => format!("{name}?"),
            },
        );
        shown.collect()
    };
    let listed = |route: &Route| RouteListed {
        method: route.method.to_string(),
        path: route.path,
        about: route.about,
        fields: route.body.as_ref().map(fields).unwrap_or_default(),
    };
    ROUTES.iter().map(listed).collect()
}

/// Returns the status that a body alone brings a request to a route: 200, or 400 with a reason. Never panics.
pub fn judge(path: &str, bytes: &[u8]) -> u16 {
    let route = ROUTES.iter().find(|route| route.path == path);
    let form = route.and_then(|route| route.body.as_ref());
    let checked = body::parse(bytes).and_then(|fields| match form {
        Some(form) => (form.check)(fields),
        None => Ok(()),
    });
    checked.map_or_else(|problem| problem.status.as_u16(), |()| 200)
}

/// One route, for the reference.
#[derive(Clone, Debug)]
pub struct RouteListed {
    /// The method.
    pub method: String,
    /// The path.
    pub path: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The fields of its body, optional ones with a question mark.
    pub fields: Vec<String>,
}

/// What every request shares.
#[derive(Debug)]
struct Server {
    /// The agent of every request, but for the settings that a request brings.
    agent: Agent,
    port: u16,
    token: Option<String>,
    /// What only our own page knows.
    page_token: String,
    queue: Queue,
    /// What it can be asked.
    routes: &'static [Route],
}

impl Server {
    fn options(&self) -> &AgentOptions {
        self.agent.options()
    }
}

/// Serves until a signal comes.
pub fn serve(options: ServeOptions) -> Result<Exit, Complaint> {
    let exit = runtime::block_on(Clients::Many, listen(options));
    log::settle();
    exit
}

async fn listen(options: ServeOptions) -> Result<Exit, Complaint> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => Complaint::usage(
                format!("port {} is in use", options.port),
                "name another with --port, or --port 0 for a free one",
            ),
            _ => Complaint::usage(
                format!("cannot listen on port {}: {error}", options.port),
                "name another with --port",
            ),
        })?;
    let port = listener
        .local_addr()
        .map_or(options.port, |address| address.port());
    let mode = if options.agent.allow_writes {
        "writes allowed"
    } else {
        "read-only"
    };
    text::result(&format!("listening on http://127.0.0.1:{port}"));
    text::notice(&format!(
        "project {} ({mode}); Ctrl-C stops",
        options.agent.project.display()
    ));
    let page_token = secret::unguessable()
        .ok_or_else(|| Complaint::usage("this machine gives no random numbers", "try again"))?;
    let server = Server {
        agent: Agent::new(options.agent),
        port,
        token: options.token,
        page_token,
        queue: Queue::default(),
        routes: ROUTES,
    };
    let server = Arc::new(server);
    let router = routes::router(Arc::clone(&server));
    connection::accept(listener, server, router, Bounds::default()).await;
    Ok(Exit::Done)
}
