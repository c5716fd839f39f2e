//! What a client may attach to a conversation: the brief, the latest runs, and what each of them changed.

use harness_agent::{Agent, AgentOptions};
use harness_hands::journal::RunId;
use harness_hands::permit::{Access, Project};
use harness_hands::runs::RunRecord;
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::show::json::{self as shapes, PastRun};
use crate::show::text;

const BRIEF: &str = "harness://brief";
const RUNS: &str = "harness://runs";
/// How many runs are listed; older ones are found by name.
const LISTED: usize = 10;
const WIDTH: usize = 100;

/// Returns what can be read.
pub(super) fn list(options: &AgentOptions) -> Vec<Resource> {
    let brief = Resource::new(BRIEF, "brief")
        .with_description("What the project is, on one screen")
        .with_mime_type("text/plain");
    let runs = Resource::new(RUNS, "runs")
        .with_description("The latest runs in this project")
        .with_mime_type("application/json");
    let diffs = latest(options)
        .into_iter()
        .filter(|run| !run.files.is_empty());
    let diffs = diffs.map(|run| {
        Resource::new(
            format!("{RUNS}/{}/diff", run.id),
            format!("diff of {}", run.id),
        )
        .with_description(text::first_line(&run.task, 80))
        .with_mime_type("text/x-diff")
    });
    [brief, runs].into_iter().chain(diffs).collect()
}

/// Returns the addresses that have a name in them.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let diff = ResourceTemplate::new("harness://runs/{run}/diff", "diff of a run")
        .with_description("What a run changed, as a unified diff")
        .with_mime_type("text/x-diff");
    vec![diff]
}

/// Reads one.
pub(super) fn read(agent: &Agent, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (text, kind) = match uri {
        BRIEF => {
            let brief = agent.brief();
            let brief =
                brief.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            (brief.render_for_person(WIDTH), "text/plain")
        }
        RUNS => {
            let runs: Vec<_> = latest(agent.options())
                .into_iter()
                .map(PastRun::from)
                .collect();
            (shapes::document(&json!({"runs": runs})), "application/json")
        }
        _ => (
            diff(agent.options(), uri).ok_or_else(|| unknown(uri))?,
            "text/x-diff",
        ),
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Runs blocking code beside the async thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorData> + Send + 'static,
) -> Result<T, ErrorData> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|_| {
        let message = "ended without a result; this is a defect of harness: please report it";
        Err(ErrorData::internal_error(message, None))
    })
}

fn diff(options: &AgentOptions, uri: &str) -> Option<String> {
    let name = uri
        .strip_prefix(RUNS)?
        .strip_prefix('/')?
        .strip_suffix("/diff")?;
    let wanted = RunId::parse(name)?;
    let project = open(options)?;
    let runs = project.runs().ok()?;
    let run = runs.into_iter().find(|run| run.id == wanted)?;
    project.run_diff(&run.id).ok()
}

fn latest(options: &AgentOptions) -> Vec<RunRecord> {
    let runs = open(options).and_then(|project| project.runs().ok());
    let mut runs = runs.unwrap_or_default();
    runs.truncate(LISTED);
    runs
}

fn open(options: &AgentOptions) -> Option<Project> {
    Project::open(&options.project, None, Access::ReadOnly).ok()
}

fn unknown(uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(200).collect();
    ErrorData::resource_not_found(format!("there is no resource `{shown}`"), None)
}
