//! Calls in JSON: bare, fenced, in `<tool_call>` tags, or in the shapes of native tool calls.

use serde_json::{Map, Value};

use super::Found;
use crate::action::{Action, Hunk};

pub(super) fn read(reply: &str) -> Found {
    let mut found = Found::default();
    let text = without_code(reply);
    for value in objects(&text) {
        collect(&value, &mut found);
    }
    let looks_like_call = [
        "\"tool\"",
        "\"action\"",
        "\"tool_calls\"",
        "\"arguments\"",
        "'tool'",
    ]
    .iter()
    .any(|key| text.contains(key) && text.contains('{'));
    if found.is_empty() && looks_like_call && text.trim_start().starts_with(['{', '[', '<', '`']) {
        let example = r#"{"tool": "read", "path": "the/file.py"}"#;
        found.problem = Some(format!(
            "the call is not whole JSON: write it on one line, like {example}"
        ));
    }
    found
}

/// Returns a reply without its blocks of program code: what looks like a call there is data of that program.
fn without_code(reply: &str) -> String {
    const CALLS: [&str; 7] = [
        "",
        "json",
        "jsonc",
        "tool_call",
        "tool_code",
        "tool",
        "text",
    ];
    let mut text = String::with_capacity(reply.len());
    let mut skipping: Option<&str> = None;
    for line in reply.split_inclusive('\n') {
        let marker = line.trim_start();
        match skipping {
            Some(fence) => {
                if marker.trim_end().starts_with(fence)
                    && marker.trim().chars().all(|c| fence.starts_with(c))
                {
                    skipping = None;
                }
            }
            None => {
                let fence = ["```", "~~~"]
                    .into_iter()
                    .find(|fence| marker.starts_with(fence));
                let info = fence.map(|fence| marker.trim_start_matches(fence).trim());
                let language = info.map(|info| {
                    info.split_whitespace()
                        .next()
                        .unwrap_or_default()
                        .to_ascii_lowercase()
                });
                match language {
                    Some(language) if !CALLS.contains(&language.as_str()) => skipping = fence,
                    Some(_) | None => text.push_str(line),
                }
            }
        }
    }
    text
}

/// Returns every top-level JSON object or array of objects in a text, whatever stands around it.
fn objects(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) {
        let rest = &text[start..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let strict = match stream.next() {
            Some(Ok(value)) => Some((value, stream.byte_offset())),
            Some(Err(_)) | None => None,
        };
        // Only what says that it is a call is worth reading leniently.
        let head = &rest[..rest.floor_char_boundary(200.min(rest.len()))];
        let says_so = ["tool", "action", "name", "function"]
            .iter()
            .any(|key| head.contains(key));
        let read = strict.or_else(|| says_so.then(|| super::lenient::value(rest)).flatten());
        match read {
            Some((value, length)) if value.is_object() || value.is_array() => {
                at = start + length.max(1);
                values.push(value);
            }
            _ => at = start + 1,
        }
    }
    values
}

fn collect(value: &Value, found: &mut Found) {
    match value {
        Value::Array(items) => items
            .iter()
            .filter(|item| item.is_object())
            .for_each(|item| collect(item, found)),
        Value::Object(call) => match call.get("tool_calls") {
            Some(calls) => collect(calls, found),
            None => read_call(call, found),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) fn read_call(call: &Map<String, Value>, found: &mut Found) {
    let inner = call
        .get("function")
        .and_then(Value::as_object)
        .unwrap_or(call);
    let name = ["tool", "name", "action", "tool_name", "function"]
        .iter()
        .find_map(|key| inner.get(*key)?.as_str());
    let Some(name) = name else { return };
    let nested = ["arguments", "args", "parameters", "input", "params"]
        .iter()
        .find_map(|key| match inner.get(*key)? {
            Value::Object(fields) => Some(fields.clone()),
            // Chat servers send the arguments as a string of JSON.
            Value::String(text) => serde_json::from_str(text).ok(),
            _ => None,
        });
    // `edit` carries a definition's name in the same key that other shapes use for the tool's.
    let fields = nested.unwrap_or_else(|| inner.clone());
    match action(name, &fields, inner.contains_key("tool")) {
        Some(action) => found.actions.push(action),
        None if looks_like_tool(name, call) => found.unknown_tool = Some(name.to_owned()),
        None => {}
    }
}

/// An object with a `name` may be data; one that says `tool` or has arguments is a call.
fn looks_like_tool(name: &str, call: &Map<String, Value>) -> bool {
    let says_so = [
        "tool",
        "tool_name",
        "arguments",
        "parameters",
        "function",
        "action",
    ]
    .iter()
    .any(|key| call.contains_key(*key));
    says_so && name.len() < 40
}

fn action(name: &str, fields: &Map<String, Value>, name_is_free: bool) -> Option<Action> {
    let text = |keys: &[&str]| -> String {
        keys.iter()
            .find_map(|key| fields.get(*key)?.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let path = || text(&["path", "file", "file_path", "filename", "filePath"]);
    let action = match name.to_ascii_lowercase().as_str() {
        "read" | "read_file" | "open" | "view" => Action::Read {
            path: path(),
            place: place(fields),
        },
        "search" | "grep" | "find" | "search_files" => Action::Search {
            query: text(&["query", "pattern", "text", "q"]),
            path: path(),
        },
        "map" | "list" | "ls" | "tree" | "list_files" => Action::Map { path: path() },
        "patch" | "replace" | "str_replace" | "replace_in_file" | "search_replace" => {
            Action::Patch {
                path: path(),
                hunks: vec![Hunk::new(
                    text(&[
                        "old",
                        "old_string",
                        "old_str",
                        "oldString",
                        "search",
                        "find",
                    ]),
                    text(&[
                        "new",
                        "new_string",
                        "new_str",
                        "newString",
                        "replace",
                        "replacement",
                    ]),
                )],
            }
        }
        "edit" | "write" | "write_file" | "write_to_file" | "create" | "create_file" => {
            Action::Edit {
                path: path(),
                name: if name_is_free {
                    text(&["name", "definition", "symbol"])
                } else {
                    text(&["definition", "symbol"])
                },
                content: text(&["content", "code", "text", "new"]),
            }
        }
        "run" | "test" | "run_tests" | "tests" => Action::Run {
            tests: list(fields.get("tests")),
        },
        "ask" | "question" => Action::Ask {
            question: text(&["question", "text"]),
        },
        "done" | "finish" | "submit" | "attempt_completion" => Action::Done {
            summary: text(&["summary", "message", "text"]),
        },
        _ => return None,
    };
    Some(action)
}

fn place(fields: &Map<String, Value>) -> String {
    ["name", "line", "place", "start", "start_line", "query"]
        .iter()
        .find_map(|key| match fields.get(*key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
        .unwrap_or_default()
}

fn list(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}
