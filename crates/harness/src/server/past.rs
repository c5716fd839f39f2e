//! What happened before, over HTTP: the latest runs, and one of them taken back or, where it only proposed something, written.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use harness_agent::{Nobody, OptionsError};
use harness_hands::permit::{Access, Project};
use serde_json::{Value, json};

use crate::server::answer::{Problem, answer};
use crate::server::fields::Fields;
use crate::server::peer::Peer;
use crate::server::work::{self, Job, Lane, Work};
use crate::server::{Server, body, table};
use crate::show::json;

/// How many runs are listed: what a person looks through.
const LISTED: usize = 50;

/// `GET /v1/runs`.
pub(super) async fn runs(State(server): State<Arc<Server>>) -> Result<Response, Problem> {
    let root = server.agent.project.clone();
    let runs = work::blocking(move || {
        let project = Project::open(&root, None, Access::ReadOnly);
        let runs = project.and_then(|project| project.runs());
        runs.map_err(|error| {
            work::options_problem(OptionsError {
                field: "project",
                message: error.to_string(),
                hint: "check the folder and its permissions".to_owned(),
            })
        })
    })
    .await?;
    let runs: Vec<Value> = runs.iter().take(LISTED).map(json::run_record).collect();
    Ok(answer(StatusCode::OK, &json!({"runs": runs})))
}

/// `POST /v1/undo`.
pub(super) async fn undo(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let run = named_run(&server, "/v1/undo", &headers, request).await?;
    let work = Work::Undo(server.agent.clone(), run);
    perform(&server, &peer, work).await
}

/// `POST /v1/apply`.
pub(super) async fn apply(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let run = named_run(&server, "/v1/apply", &headers, request).await?;
    let work = Work::Apply(server.agent.clone(), run.unwrap_or_default());
    perform(&server, &peer, work).await
}

/// Returns the run that a request names, where files may change.
async fn named_run(
    server: &Server,
    path: &str,
    headers: &HeaderMap,
    request: Body,
) -> Result<Option<String>, Problem> {
    if !server.agent.allow_writes {
        return Err(work::writes_disabled());
    }
    let object = body::object(headers, request).await?;
    let mut fields = Fields::check(table::shape(path), object)?;
    Ok(fields.text("run"))
}

async fn perform(server: &Arc<Server>, peer: &Peer, work: Work) -> Result<Response, Problem> {
    let job = Job {
        lane: Lane::Writing,
        task: String::new(),
        work,
    };
    let result = work::perform(server, peer, job, Nobody).await?;
    work::result_answer(&result)
}
