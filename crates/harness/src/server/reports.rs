//! What needs no model: whether the server is up, and what the project is.

use std::sync::Arc;

use axum::extract::State;
use harness_agent::{Engine, Route};
use harness_code::report::brief::Brief;
use harness_code::report::layout::Layout;
use schemars::JsonSchema;
use serde::Serialize;

use crate::request::{ReportInput, RouteInput, in_scope};
use crate::server::answer::{Document, Problem};
use crate::server::body::Fields;
use crate::server::{Server, work};

/// The columns of the text beside the data.
const WIDTH: usize = 80;

/// What `/health` answers.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Health {
    #[schemars(extend("const" = true))]
    ok: bool,
    #[schemars(extend("const" = "ok"))]
    status: &'static str,
    version: &'static str,
    project: String,
    allow_writes: bool,
    #[schemars(extend("enum" = Engine::ALL.map(Engine::name)))]
    engine: &'static str,
    model: String,
    routes: Vec<String>,
    runs: RunCounts,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(inline)]
struct RunCounts {
    running: usize,
    waiting: usize,
}

/// `GET /health`.
pub(super) async fn health(State(server): State<Arc<Server>>) -> Document<Health> {
    let routes = server.routes.iter();
    let routes = routes.map(|route| format!("{} {}", route.method, route.path));
    Document(Health {
        ok: true,
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        project: server.options().project.to_string_lossy().into_owned(),
        allow_writes: server.options().allow_writes,
        engine: server.options().engine.name(),
        model: server.options().model.clone(),
        routes: routes.collect(),
        runs: RunCounts {
            running: server.queue.running_now(),
            waiting: server.queue.waiting_now(),
        },
    })
}

/// What `/v1/brief` answers.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct BriefReply {
    brief: String,
    data: Brief,
}

/// `POST /v1/brief`.
pub(super) async fn brief(
    State(server): State<Arc<Server>>,
    Fields(input): Fields<ReportInput>,
) -> Result<Document<BriefReply>, Problem> {
    let agent = in_scope(&server.agent, input.scope);
    work::blocking(move || {
        let data = agent.brief()?;
        let brief = data.render_for_person(WIDTH);
        Ok(Document(BriefReply { brief, data }))
    })
    .await
}

/// What `/v1/layout` answers.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct LayoutReply {
    layout: String,
    data: Layout,
}

/// `POST /v1/layout`.
pub(super) async fn layout(
    State(server): State<Arc<Server>>,
    Fields(input): Fields<ReportInput>,
) -> Result<Document<LayoutReply>, Problem> {
    let agent = in_scope(&server.agent, input.scope);
    work::blocking(move || {
        let data = agent.layout()?;
        let layout = data.render_for_person(WIDTH);
        Ok(Document(LayoutReply { layout, data }))
    })
    .await
}

/// What `/v1/route` answers.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct RouteReply {
    route: String,
    data: Route,
}

/// `POST /v1/route`.
pub(super) async fn route(
    State(server): State<Arc<Server>>,
    Fields(input): Fields<RouteInput>,
) -> Result<Document<RouteReply>, Problem> {
    let agent = in_scope(&server.agent, input.scope);
    work::blocking(move || {
        let data = agent.route(&input.task)?;
        let route = data.render(WIDTH);
        Ok(Document(RouteReply { route, data }))
    })
    .await
}
