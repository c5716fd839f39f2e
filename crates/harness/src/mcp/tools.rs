//! The tools: their names, what they take and give back, and which of them a read-only server offers.

use std::sync::Arc;

use harness_agent::{Route, RunResult, TestResult};
use harness_code::report::brief::Brief;
use harness_code::report::layout::Layout;
use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use strum::{IntoStaticStr, VariantArray};

use crate::request::{ModelInput, ReportInput, RouteInput, RunInput, UndoInput};

/// A tool that clients may call; those that only read come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(super) enum ToolName {
    Ask,
    Brief,
    Layout,
    Route,
    Run,
    Tests,
    Undo,
}

impl ToolName {
    /// Returns the word that clients write.
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether it changes files or starts programs.
    pub(super) fn needs_writes(self) -> bool {
        match self {
            ToolName::Ask | ToolName::Brief | ToolName::Layout | ToolName::Route => false,
            ToolName::Run | ToolName::Tests | ToolName::Undo => true,
        }
    }

    fn title(self) -> &'static str {
        match self {
            ToolName::Ask => "Ask about the project",
            ToolName::Brief => "What the project is",
            ToolName::Layout => "What makes the project hard to read",
            ToolName::Route => "What would happen to a task",
            ToolName::Run => "Do a task",
            ToolName::Tests => "Run the tests",
            ToolName::Undo => "Take a run back",
        }
    }

    fn about(self) -> &'static str {
        match self {
            ToolName::Ask => {
                "Answers a question about the project's code with a local model and facts from the code. Never changes files."
            }
            ToolName::Brief => {
                "Tells what the project is: languages, entry points, main modules, how its tests are run. No model, at once."
            }
            ToolName::Layout => {
                "Lists what makes the project hard to read, worst first: import circles, outsized files and functions. No model."
            }
            ToolName::Route => {
                "Tells what a task would do without doing it: its kind, the likeliest files and definitions, a fix that needs no model. No model, at once."
            }
            ToolName::Run => {
                "Does a task in the project: changes code, runs the project's tests in a sandbox, and keeps the change only when they prove it. Name a file or a function in the task. Can be undone."
            }
            ToolName::Tests => {
                "Runs the project's tests, all or some, in a sandbox on a private version of the project."
            }
            ToolName::Undo => {
                "Takes a run back, byte for byte: the latest, or the one that is named. Undoing the undo brings the change back."
            }
        }
    }

    fn annotations(self) -> ToolAnnotations {
        let only_reads = !matches!(self, ToolName::Run | ToolName::Undo);
        // A model may run on another host; the rest stays on this machine.
        let is_open = matches!(self, ToolName::Ask | ToolName::Run);
        ToolAnnotations::with_title(self.title())
            .read_only(only_reads)
            .destructive(!only_reads)
            .idempotent(only_reads)
            .open_world(is_open)
    }

    /// Returns the tool as clients see it.
    pub(super) fn definition(self) -> Tool {
        let (input, output) = match self {
            ToolName::Ask => (input::<AskInput>(), schema_for_output::<RunResult>()),
            ToolName::Brief => (input::<ReportInput>(), schema_for_output::<Brief>()),
            ToolName::Layout => (input::<ReportInput>(), schema_for_output::<Layout>()),
            ToolName::Route => (input::<RouteInput>(), schema_for_output::<Route>()),
            ToolName::Run => (input::<RunInput>(), schema_for_output::<RunResult>()),
            ToolName::Tests => (input::<TestsInput>(), schema_for_output::<TestResult>()),
            ToolName::Undo => (input::<UndoInput>(), schema_for_output::<RunResult>()),
        };
        Tool::new(self.name(), self.about(), input)
            .with_title(self.title())
            .with_raw_output_schema(output)
            .with_annotations(self.annotations())
    }
}

fn input<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    // All of them are objects, which is the one thing that is checked.
    schema_for_input::<T>().unwrap_or_default()
}

/// What `ask` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskInput {
    /// What you would like to know.
    pub(super) question: String,
    #[serde(flatten)]
    pub(super) settings: ModelInput,
}

/// What `tests` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TestsInput {
    /// Test ids, files or names; without them all tests run.
    pub(super) tests: Option<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_it_takes_and_gives() {
        for &tool in ToolName::VARIANTS {
            let definition = tool.definition();
            let output = definition.output_schema.unwrap();
            assert_eq!(output["type"], "object", "{tool:?}");
            assert_eq!(
                definition.input_schema["additionalProperties"], false,
                "{tool:?}"
            );
            let annotations = definition.annotations.unwrap();
            assert!(
                tool.needs_writes() || annotations.read_only_hint == Some(true),
                "{tool:?}"
            );
        }
    }

    #[test]
    fn settings_stand_beside_the_task() {
        let input = serde_json::json!({"task": "fix f", "steps": 3, "scope": "src"});
        let input: RunInput = serde_json::from_value(input).unwrap();
        assert_eq!(
            (input.settings.steps, input.settings.scope.as_deref()),
            (Some(3), Some("src"))
        );
        let unknown = serde_json::json!({"task": "fix f", "python": "/tmp/evil"});
        assert!(serde_json::from_value::<RunInput>(unknown).is_err());
    }
}
