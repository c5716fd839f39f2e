//! What happened before, over HTTP: the latest runs, and one of them taken back or, where it only proposed something, written.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use harness_agent::{OptionsError, RunResult};
use harness_hands::permit::{Access, Project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::request::UndoInput;
use crate::server::Server;
use crate::server::answer::{Document, Problem};
use crate::server::body::Fields;
use crate::server::peer::Peer;
use crate::server::work::{self, Job, Lane, MayWrite, Work};
use crate::show::json::PastRun;

/// How many runs are listed: what a person looks through.
const LISTED: usize = 50;

/// What `/v1/runs` answers.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Runs")]
pub(super) struct PastRuns {
    runs: Vec<PastRun>,
}

/// `GET /v1/runs`.
pub(super) async fn runs(State(server): State<Arc<Server>>) -> Result<Document<PastRuns>, Problem> {
    let root = server.options().project.clone();
    let runs = work::blocking(move || {
        let project = Project::open(&root, None, Access::ReadOnly);
        let runs = project.and_then(|project| project.runs());
        let unreadable = |error| OptionsError::unreadable("project", error);
        Ok(runs.map_err(unreadable)?)
    })
    .await?;
    let runs = runs.into_iter().take(LISTED).map(PastRun::from).collect();
    Ok(Document(PastRuns { runs }))
}

/// `POST /v1/undo`.
pub(super) async fn undo(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    _: MayWrite,
    Fields(body): Fields<UndoInput>,
) -> Result<Document<RunResult>, Problem> {
    let work = Work::Undo(server.agent.clone(), body.run);
    work::result(&server, &peer, writing(work)).await
}

/// What `/v1/apply` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplyBody {
    /// The run whose change is to be written.
    run: String,
}

/// `POST /v1/apply`.
pub(super) async fn apply(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    _: MayWrite,
    Fields(body): Fields<ApplyBody>,
) -> Result<Document<RunResult>, Problem> {
    let work = Work::Apply(server.agent.clone(), body.run);
    work::result(&server, &peer, writing(work)).await
}

fn writing(work: Work) -> Job {
    Job {
        lane: Lane::Writing,
        task: String::new(),
        work,
    }
}
