//! The shape that a reply is asked for in: words, one object held to a schema, or calls in the model's own form.

use serde_json::{Value, json};

/// How a reply should look. A server that cannot do it answers in words, and words are always understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Plain words: fenced code, or the lines of an action.
    #[default]
    Words,
    /// One action as a JSON object.
    Object,
    /// Looking and finishing as calls in the model's own form; code still comes in a fence, for small models write
    /// bad code inside of JSON.
    Calls,
}

/// Returns the schema of one action.
pub(crate) fn schema() -> Value {
    let word = json!({"type": "string"});
    json!({
        "type": "object",
        "properties": {
            "tool": {"enum": ["edit", "patch", "read", "search", "map", "run", "ask", "done"]},
            "path": word,
            "name": word,
            "content": word,
            "old": word,
            "new": word,
            "query": word,
            "question": word,
            "summary": word,
        },
        "required": ["tool"],
        "additionalProperties": false,
    })
}

/// Returns the looking and finishing actions as functions that a model can call.
pub(crate) fn tools() -> Value {
    let tool = |name: &str, about: &str, fields: &[&str], needed: &[&str]| {
        let properties: serde_json::Map<String, Value> = fields
            .iter()
            .map(|field| ((*field).to_owned(), json!({"type": "string"})))
            .collect();
        json!({
            "type": "function",
            "function": {
                "name": name,
                "description": about,
                "parameters": {"type": "object", "properties": properties, "required": needed},
            },
        })
    };
    json!([
        tool(
            "read",
            "show a file, or one definition of it",
            &["path", "name"],
            &["path"]
        ),
        tool(
            "search",
            "find words in the project",
            &["query", "path"],
            &["query"]
        ),
        tool("map", "list the project's definitions", &["path"], &[]),
        tool("run", "run the project's tests", &[], &[]),
        tool("ask", "ask the user", &["question"], &["question"]),
        tool("done", "finish", &["summary"], &["summary"]),
    ])
}
