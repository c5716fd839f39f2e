//! The routes: one function each, from a request to a call of the agent and back.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use harness_agent::{Agent, AgentOptions, Nobody};
use serde_json::json;

use crate::server::answer::{Problem, answer};
use crate::server::fields::Fields;
use crate::server::peer::Peer;
use crate::server::table::{self, ROUTES};
use crate::server::work::{self, Job, Lane, Work};
use crate::server::{Server, body, chat, doorkeeper, models, openapi, page, past, stream};

/// Returns the router with the doorkeeper in front of every route, known or not.
pub(super) fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(page::page))
        .route("/health", get(health))
        .route("/v1/models", get(models::models))
        .route("/v1/openapi.json", get(openapi))
        .route("/v1/brief", post(brief))
        .route("/v1/layout", post(layout))
        .route("/v1/route", post(route))
        .route("/v1/ask", post(ask))
        .route("/v1/run", post(run))
        .route("/v1/chat/completions", post(chat::completions))
        .route("/v1/runs", get(past::runs))
        .route("/v1/undo", post(past::undo))
        .route("/v1/apply", post(past::apply))
        .route("/v1/stream/models", get(models::models))
        .route("/v1/stream/chat/completions", post(stream::completions))
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&server),
            doorkeeper::keep,
        ))
        .with_state(server)
}

async fn not_found() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "not_found",
        "there is no such route",
        "GET /health lists the routes",
    )
}

async fn not_allowed(request: Request) -> Problem {
    let path = request.uri().path();
    let mut allowed: Vec<&str> = Vec::new();
    for route in ROUTES.iter().filter(|route| route.path == path) {
        allowed.push(route.method);
        if route.method == "GET" {
            allowed.push("HEAD");
        }
    }
    let allowed = allowed.join(", ");
    let message = format!("{} is not possible here", request.method());
    Problem {
        header: Some((header::ALLOW, allowed.clone())),
        ..Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            message,
            format!("use {allowed}"),
        )
    }
}

async fn health(State(server): State<Arc<Server>>) -> Response {
    let routes: Vec<String> = ROUTES
        .iter()
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    let value = json!({
        "ok": true,
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "project": server.agent.project.to_string_lossy(),
        "allow_writes": server.agent.allow_writes,
        "engine": server.agent.engine.name(),
        "model": server.agent.model,
        "routes": routes,
        "runs": {"running": server.queue.running_now(), "waiting": server.queue.waiting_now()},
    });
    answer(StatusCode::OK, &value)
}

async fn openapi() -> Response {
    answer(StatusCode::OK, &openapi::document())
}

async fn brief(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let options = report_options(&server, &mut fields("/v1/brief", &headers, request).await?)?;
    work::blocking(move || {
        let brief = Agent::new(options).brief().map_err(work::options_problem)?;
        Ok(answer(
            StatusCode::OK,
            &json!({"brief": brief.render_for_person(80), "data": brief}),
        ))
    })
    .await
}

async fn layout(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let options = report_options(&server, &mut fields("/v1/layout", &headers, request).await?)?;
    work::blocking(move || {
        let layout = Agent::new(options)
            .layout()
            .map_err(work::options_problem)?;
        Ok(answer(
            StatusCode::OK,
            &json!({"layout": layout.render_for_person(80), "data": layout}),
        ))
    })
    .await
}

async fn route(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let mut fields = fields("/v1/route", &headers, request).await?;
    let task = fields.text("task").unwrap_or_default();
    let options = report_options(&server, &mut fields)?;
    work::blocking(move || {
        let plan = Agent::new(options)
            .route(&task)
            .map_err(work::options_problem)?;
        Ok(answer(
            StatusCode::OK,
            &json!({"route": plan.render(80), "data": plan}),
        ))
    })
    .await
}

async fn ask(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let mut fields = fields("/v1/ask", &headers, request).await?;
    let task = fields.text("task").unwrap_or_default();
    let options = run_options(&server, &mut fields)?;
    let job = Job {
        lane: Lane::Reading,
        task,
        work: Work::Ask(options),
    };
    let result = work::perform(&server, &peer, job, Nobody).await?;
    work::result_answer(&result)
}

async fn run(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    if !server.agent.allow_writes {
        return Err(work::writes_disabled());
    }
    let mut fields = fields("/v1/run", &headers, request).await?;
    let task = fields.text("task").unwrap_or_default();
    let dry_run = fields.flag("dry_run");
    let mut options = run_options(&server, &mut fields)?;
    options.allow_writes = !dry_run;
    let lane = if dry_run {
        Lane::Reading
    } else {
        Lane::Writing
    };
    let job = Job {
        lane,
        task,
        work: Work::Run(options),
    };
    let result = work::perform(&server, &peer, job, Nobody).await?;
    work::result_answer(&result)
}

/// Reads the body of a request and checks it against the route's form.
async fn fields(path: &str, headers: &HeaderMap, request: Body) -> Result<Fields, Problem> {
    Fields::check(table::shape(path), body::object(headers, request).await?)
}

fn report_options(server: &Server, fields: &mut Fields) -> Result<AgentOptions, Problem> {
    let mut options = server.agent.clone();
    options.scope = fields.text("scope").unwrap_or(options.scope);
    work::check_options(&options)?;
    Ok(options)
}

fn run_options(server: &Server, fields: &mut Fields) -> Result<AgentOptions, Problem> {
    let mut options = server.agent.clone();
    options.scope = fields.text("scope").unwrap_or(options.scope);
    options.model = fields.text("model").unwrap_or(options.model);
    options.skills = fields.texts("skills").unwrap_or(options.skills);
    options.steps = fields.count("steps").unwrap_or(options.steps);
    options.max_tokens = fields.count("max_tokens").unwrap_or(options.max_tokens);
    // A server that may not write leaves no trace in the project either.
    options.keep_no_record |= !server.agent.allow_writes && options.record.is_none();
    work::check_options(&options)?;
    Ok(options)
}
