//! What a request brings, over HTTP and as the arguments of a tool: settings for one call.

use harness_agent::{Agent, AgentOptions};
use schemars::JsonSchema;
use serde::Deserialize;

/// What `brief` and `layout` take.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportInput {
    /// A subfolder of the project to stay inside.
    pub(crate) scope: Option<String>,
}

/// What `route` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouteInput {
    /// What should be done, in a sentence.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) task: String,
    /// A subfolder of the project to stay inside.
    pub(crate) scope: Option<String>,
}

/// What `run` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunInput {
    /// What should be done, in a sentence that names a file or a function.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) task: String,
    #[serde(flatten)]
    pub(crate) settings: ModelInput,
    /// Show what would change and change nothing.
    pub(crate) dry_run: Option<bool>,
}

/// What `undo` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UndoInput {
    /// The run to take back; without it the latest that changed something.
    pub(crate) run: Option<String>,
}

/// Settings of what calls a model.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ModelInput {
    /// A subfolder of the project to stay inside.
    pub(crate) scope: Option<String>,
    /// The model, when it is not the one that the server was started with.
    pub(crate) model: Option<String>,
    /// Skills to load, when the task should not pick them.
    pub(crate) skills: Option<Vec<String>>,
    /// The most model turns.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub(crate) steps: Option<u32>,
    /// The longest reply, in tokens.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub(crate) max_tokens: Option<u32>,
}

impl ModelInput {
    /// Returns the server's settings with these in their place.
    pub(crate) fn settle(self, options: &AgentOptions) -> AgentOptions {
        let options = options.clone();
        AgentOptions {
            scope: self.scope.unwrap_or(options.scope),
            model: self.model.unwrap_or(options.model),
            skills: self.skills.unwrap_or(options.skills),
            steps: self.steps.unwrap_or(options.steps),
            max_tokens: self.max_tokens.unwrap_or(options.max_tokens),
            ..options
        }
    }
}

/// Returns the server's agent, inside a subfolder where one is named.
pub(crate) fn in_scope(agent: &Agent, scope: Option<String>) -> Agent {
    let options = agent.options().clone();
    agent.with_options(AgentOptions {
        scope: scope.unwrap_or(options.scope),
        ..options
    })
}
