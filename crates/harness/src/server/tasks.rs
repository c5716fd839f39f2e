//! Questions and tasks: one answer each, when it is done.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use harness_agent::{Agent, AgentOptions, RunResult};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::request::{ModelInput, RunInput};
use crate::server::Server;
use crate::server::answer::{Document, Problem};
use crate::server::body::Fields;
use crate::server::peer::Peer;
use crate::server::work::{self, Job, Lane, MayWrite, Work};

/// What `/v1/ask` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskBody {
    /// What you would like to know.
    #[schemars(regex(pattern = r"\S"))]
    task: String,
    #[serde(flatten)]
    settings: ModelInput,
}

/// `POST /v1/ask`.
pub(super) async fn ask(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    Fields(body): Fields<AskBody>,
) -> Result<Document<RunResult>, Problem> {
    let job = Job {
        lane: Lane::Reading,
        task: body.task,
        work: Work::Ask(agent(&server, body.settings)?),
    };
    work::result(&server, &peer, job).await
}

/// `POST /v1/run`.
pub(super) async fn run(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    _: MayWrite,
    Fields(body): Fields<RunInput>,
) -> Result<Document<RunResult>, Problem> {
    let is_dry = body.dry_run.unwrap_or_default();
    let agent = agent(&server, body.settings)?;
    let agent = agent.with_options(AgentOptions {
        allow_writes: !is_dry,
        ..agent.options().clone()
    });
    let job = Job {
        lane: if is_dry { Lane::Reading } else { Lane::Writing },
        task: body.task,
        work: Work::Run(agent),
    };
    work::result(&server, &peer, job).await
}

/// Returns the agent for the settings of a request, checked before it waits for its turn.
fn agent(server: &Server, settings: ModelInput) -> Result<Agent, Problem> {
    let mut options = settings.settle(server.options());
    // A server that may not write leaves no trace in the project either.
    options.keep_no_record |= !server.options().allow_writes && options.record.is_none();
    options.check()?;
    Ok(server.agent.with_options(options))
}
