//! Every route in one table: the router, `/health`, `Allow` and the OpenAPI document are made from it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware;
use axum::routing::{MethodFilter, on};
use harness_agent::RunResult;
use serde_json::{Map, Value};

use crate::request::{ReportInput, RouteInput, RunInput, UndoInput};
use crate::server::answer::{Document, Problem};
use crate::server::chat::{ChatBody, ChatCompletion, WholeChat};
use crate::server::models::Models;
use crate::server::past::{ApplyBody, PastRuns};
use crate::server::reports::{BriefReply, Health, LayoutReply, RouteReply};
use crate::server::table::{Answer, Route, body, schema};
use crate::server::tasks::AskBody;
use crate::server::{
    Server, chat, doorkeeper, models, openapi, page, past, reports, stream, tasks,
};

/// Every route, in the order that `/health` and the reference show them.
pub(super) const ROUTES: &[Route] = &[
    Route {
        method: Method::GET,
        path: "/health",
        about: "whether the server is up, and how it was started; never calls the engine",
        handler: |method| on(method, reports::health),
        body: None,
        answer: Answer::Json(schema::<Health>),
        problems: &[],
    },
    Route {
        method: Method::GET,
        path: "/v1/models",
        about: "the configured model first, then those that the engine lists within 2 s",
        handler: |method| on(method, models::models),
        body: None,
        answer: Answer::Json(schema::<Models>),
        problems: &[],
    },
    Route {
        method: Method::POST,
        path: "/v1/brief",
        about: "what the project is",
        handler: |method| on(method, reports::brief),
        body: body::<ReportInput>(),
        answer: Answer::Json(schema::<BriefReply>),
        problems: &[422],
    },
    Route {
        method: Method::POST,
        path: "/v1/layout",
        about: "what makes the project hard to read, worst first",
        handler: |method| on(method, reports::layout),
        body: body::<ReportInput>(),
        answer: Answer::Json(schema::<LayoutReply>),
        problems: &[422],
    },
    Route {
        method: Method::POST,
        path: "/v1/route",
        about: "what would happen to a task, without doing it",
        handler: |method| on(method, reports::route),
        body: body::<RouteInput>(),
        answer: Answer::Json(schema::<RouteReply>),
        problems: &[422],
    },
    Route {
        method: Method::POST,
        path: "/v1/ask",
        about: "answers a question; never changes files",
        handler: |method| on(method, tasks::ask),
        body: body::<AskBody>(),
        answer: Answer::Json(schema::<RunResult>),
        problems: &[409, 422, 429, 502],
    },
    Route {
        method: Method::POST,
        path: "/v1/run",
        about: "does a task; 403 unless the server was started with --allow-writes",
        handler: |method| on(method, tasks::run),
        body: body::<RunInput>(),
        answer: Answer::Json(schema::<RunResult>),
        problems: &[409, 422, 429, 502],
    },
    Route {
        method: Method::POST,
        path: "/v1/chat/completions",
        about: "the same behind the chat-completions protocol; a task that writes is 403 on a read-only server",
        handler: |method| on(method, chat::completions),
        body: body::<WholeChat>(),
        answer: Answer::Json(schema::<ChatCompletion>),
        problems: &[409, 429, 502],
    },
    Route {
        method: Method::GET,
        path: "/v1/runs",
        about: "the latest runs of the project, newest first",
        handler: |method| on(method, past::runs),
        body: None,
        answer: Answer::Json(schema::<PastRuns>),
        problems: &[],
    },
    Route {
        method: Method::POST,
        path: "/v1/undo",
        about: "takes a run back, byte for byte; 403 unless the server was started with --allow-writes",
        handler: |method| on(method, past::undo),
        body: body::<UndoInput>(),
        answer: Answer::Json(schema::<RunResult>),
        problems: &[409, 429],
    },
    Route {
        method: Method::POST,
        path: "/v1/apply",
        about: "writes what a dry run or a run that took its change back proposed; 403 unless the server was started with --allow-writes",
        handler: |method| on(method, past::apply),
        body: body::<ApplyBody>(),
        answer: Answer::Json(schema::<RunResult>),
        problems: &[409, 429],
    },
    Route {
        method: Method::GET,
        path: "/v1/stream/models",
        about: "the same as `/v1/models`, for editors whose base address is `/v1/stream`",
        handler: |method| on(method, models::models),
        body: None,
        answer: Answer::Json(schema::<Models>),
        problems: &[],
    },
    Route {
        method: Method::POST,
        path: "/v1/stream/chat/completions",
        about: "the same as `/v1/chat/completions`; with `stream` true as `chat.completion.chunk` events: progress as `reasoning_content` while it works, the reply, `[DONE]`",
        handler: |method| on(method, stream::completions),
        body: body::<ChatBody>(),
        answer: Answer::JsonOrEvents(schema::<ChatCompletion>),
        problems: &[409, 429, 502],
    },
    Route {
        method: Method::GET,
        path: "/v1/openapi.json",
        about: "this description",
        handler: |method| on(method, openapi),
        body: None,
        answer: Answer::Json(schema::<Map<String, Value>>),
        problems: &[],
    },
    Route {
        method: Method::GET,
        path: "/",
        about: "a page for people: ask; with --allow-writes also preview, run, keep and undo; project, mode, the last runs",
        handler: |method| on(method, page::page),
        body: None,
        answer: Answer::Html,
        problems: &[],
    },
];

/// Returns the router with the doorkeeper in front of every route, known or not.
pub(super) fn router(server: Arc<Server>) -> Router {
    let routes = ROUTES.iter().fold(Router::new(), |router, route| {
        match MethodFilter::try_from(route.method.clone()) {
            Ok(method) => router.route(route.path, (route.handler)(method)),
            // Every method of the table is one.
            Err(_) => router,
        }
    });
    routes
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&server),
            doorkeeper::keep,
        ))
        .with_state(server)
}

async fn openapi(State(server): State<Arc<Server>>) -> Document<Value> {
    Document(openapi::document(server.routes))
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
        allowed.push(route.method.as_str());
        if route.method == Method::GET {
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
