//! Calls in tags: `<function=patch><parameter=path>…`, `<invoke name="patch"><parameter name="path">…`, `<read><path>…`.

use serde_json::{Map, Value};

use super::Found;
use super::json::read_call;

/// Tags that are a tool's own name, with the fields as tags inside.
const TOOLS: [&str; 16] = [
    "read",
    "read_file",
    "search",
    "grep",
    "map",
    "list",
    "patch",
    "replace",
    "str_replace",
    "edit",
    "write",
    "write_file",
    "run",
    "ask",
    "done",
    "finish",
];

pub(super) fn read(reply: &str) -> Found {
    let mut found = Found::default();
    let mut rest = reply;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let Some((head, inside)) = rest.split_once('>') else {
            break;
        };
        let head = head.trim();
        let name = head
            .strip_prefix("function=")
            .or_else(|| head.strip_prefix("invoke name="))
            .or_else(|| head.strip_prefix("tool_call name="))
            .map(|name| name.trim_matches(['"', '\'', ' ']))
            .or_else(|| TOOLS.contains(&head).then_some(head));
        let Some(name) = name.filter(|name| !name.is_empty() && name.len() < 40) else {
            continue;
        };
        let ends = [
            "</function>",
            "</invoke>",
            "</tool_call>",
            &format!("</{name}>"),
        ]
        .iter()
        .filter_map(|end| inside.find(end))
        .min();
        let is_plain_tag = TOOLS.contains(&head);
        let body = match ends {
            Some(end) => &inside[..end],
            None if is_plain_tag => continue,
            None => inside,
        };
        let fields = fields(body);
        // A tool's name in angle brackets is only a call when fields stand inside it.
        if is_plain_tag && fields.is_empty() {
            continue;
        }
        let mut call = Map::new();
        call.insert("tool".to_owned(), Value::String(name.to_owned()));
        call.insert("arguments".to_owned(), Value::Object(fields));
        read_call(&call, &mut found);
        rest = &inside[ends.unwrap_or(inside.len())..];
    }
    found
}

/// Returns the fields of a call: each a tag of its own.
fn fields(body: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut rest = body;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let Some((head, inside)) = rest.split_once('>') else {
            break;
        };
        let head = head.trim();
        let name = head
            .strip_prefix("parameter=")
            .or_else(|| head.strip_prefix("parameter name="))
            .map(|name| name.trim_matches(['"', '\'', ' ']));
        let (name, close) = match name {
            Some(name) => (name, "</parameter>".to_owned()),
            None => (head, format!("</{head}>")),
        };
        let is_name = !name.is_empty()
            && name.len() < 40
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let Some(end) = inside.find(&close).filter(|_| is_name) else {
            continue;
        };
        let text = &inside[..end];
        let text = text.strip_prefix('\n').unwrap_or(text);
        fields.insert(name.to_owned(), Value::String(text.to_owned()));
        rest = &inside[end + close.len()..];
    }
    fields
}
