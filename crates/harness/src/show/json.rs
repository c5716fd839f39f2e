//! JSON for programs: the same shape on the command line, over HTTP and in Python.

use harness_hands::runs::RunRecord;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::show::text::{self, Complaint};

/// Returns one JSON document, ending in a newline, with every control character escaped.
pub fn document<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|error| {
        // Only a map with keys that are no strings could fail, and no value of ours has one.
        json!({"error": {"message": error.to_string()}}).to_string()
    });
    format!("{}\n", escaped(&text))
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // JSON leaves these raw inside strings; a terminal would obey some of them.
        if matches!(c, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
            safe.push_str(&format!("\\u{:04x}", c as u32));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Returns one JSON document on one line, with every control character escaped.
pub fn line<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    format!("{}\n", escaped(&text))
}

/// Prints one JSON document on stdout.
pub fn print<T: Serialize>(value: &T) {
    text::bytes(document(value).as_bytes());
}

/// What is remembered of a run.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct PastRun {
    run: String,
    at: String,
    task: String,
    outcome: String,
    summary: String,
    files: Vec<String>,
    #[schemars(with = "Option<Map<String, Value>>")]
    tests: Value,
    undoes: Option<String>,
    undone: bool,
}

impl From<RunRecord> for PastRun {
    fn from(run: RunRecord) -> PastRun {
        PastRun {
            run: run.id.to_string(),
            at: run.at,
            task: run.task,
            outcome: run.outcome,
            summary: run.summary,
            files: run.files.iter().map(ToString::to_string).collect(),
            tests: run.tests,
            undoes: run.undoes.map(|run| run.to_string()),
            undone: run.undone,
        }
    }
}

/// Returns what the command line prints in place of a result.
pub(crate) fn bad_input(complaint: &Complaint) -> Value {
    error("invalid_request_error", "bad_input", complaint)
}

/// Returns the error shape of every door.
pub fn error(kind: &str, code: &str, complaint: &Complaint) -> Value {
    json!({"error": {
        "message": complaint.message,
        "type": kind,
        "code": code,
        "param": complaint.param,
        "hint": complaint.hint,
    }})
}

#[cfg(test)]
mod tests {
    use super::document;

    #[test]
    fn control_characters_are_escaped_and_read_back() {
        let text = document(&"a\u{1b}\u{9b}\u{202e}\u{7f}b");
        assert_eq!(text, "\"a\\u001b\\u009b\\u202e\\u007fb\"\n");
        assert_eq!(
            serde_json::from_str::<String>(&text).unwrap(),
            "a\u{1b}\u{9b}\u{202e}\u{7f}b"
        );
    }
}
