//! Common tasks as prompts, for clients that show them as commands.

use rmcp::model::{
    ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role,
};

/// One prompt: a sentence with holes, and the tool that is to be given it.
struct Template {
    name: &'static str,
    about: &'static str,
    /// The holes, each with what belongs there.
    arguments: &'static [(&'static str, &'static str)],
    tool: &'static str,
    task: &'static str,
    writes: bool,
}

const TEMPLATES: &[Template] = &[
    Template {
        name: "explain",
        about: "Explain a function, class or file",
        arguments: &[("name", "the function, class or file")],
        tool: "ask",
        task: "what does {name} do, and who uses it?",
        writes: false,
    },
    Template {
        name: "find",
        about: "Find where something is done",
        arguments: &[("what", "what is done there")],
        tool: "ask",
        task: "where is {what}?",
        writes: false,
    },
    Template {
        name: "fix_failing_tests",
        about: "Make the failing tests pass",
        arguments: &[],
        tool: "run",
        task: "fix the failing tests",
        writes: true,
    },
    Template {
        name: "fix",
        about: "Fix a function",
        arguments: &[
            ("name", "the function and its file"),
            ("wrong", "what is wrong with it"),
        ],
        tool: "run",
        task: "fix {name}: {wrong}",
        writes: true,
    },
    Template {
        name: "rename",
        about: "Rename something everywhere",
        arguments: &[("old", "the name now"), ("new", "the new name")],
        tool: "run",
        task: "rename {old} to {new}",
        writes: true,
    },
    Template {
        name: "write_tests",
        about: "Write tests for a function or class",
        arguments: &[("name", "the function or class")],
        tool: "run",
        task: "write tests for {name}",
        writes: true,
    },
];

impl Template {
    fn shown(&self) -> Prompt {
        let argument = |(name, about): &(&str, &str)| {
            PromptArgument::new(*name)
                .with_description(*about)
                .with_required(true)
        };
        let arguments = self.arguments.iter().map(argument).collect();
        Prompt::new(self.name, Some(self.about), Some(arguments))
    }

    fn filled(&self, values: &JsonObject) -> Result<GetPromptResult, ErrorData> {
        let mut task = self.task.to_owned();
        for (name, about) in self.arguments {
            let value = values.get(*name).and_then(|value| value.as_str());
            let Some(value) = value.filter(|value| !value.trim().is_empty()) else {
                let message = format!("`{name}` is missing: {about}");
                return Err(ErrorData::invalid_params(message, None));
            };
            task = task.replace(&format!("{{{name}}}"), value.trim());
        }
        let words = format!(
            "Call the tool `{}` of harness with exactly this: {task}",
            self.tool
        );
        let message = PromptMessage::new_text(Role::User, words);
        Ok(GetPromptResult::new(vec![message]).with_description(self.about))
    }
}

fn offered(allow_writes: bool) -> impl Iterator<Item = &'static Template> {
    let may = move |template: &&Template| allow_writes || !template.writes;
    TEMPLATES.iter().filter(may)
}

/// Returns the prompts that a server offers.
pub(super) fn list(allow_writes: bool) -> Vec<Prompt> {
    offered(allow_writes).map(Template::shown).collect()
}

/// Returns one with its holes filled.
pub(super) fn get(
    name: &str,
    values: &JsonObject,
    allow_writes: bool,
) -> Result<GetPromptResult, ErrorData> {
    let Some(template) = offered(allow_writes).find(|template| template.name == name) else {
        let shown: String = name.chars().take(100).collect();
        return Err(ErrorData::invalid_params(
            format!("there is no prompt `{shown}`"),
            None,
        ));
    };
    template.filled(values)
}
