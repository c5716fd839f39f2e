//! Answers the questions of `bench/fixes.py`: one JSON object a line in, one out. Only for measuring.

use std::io::{BufRead, Write};

use harness_code::scope::{Context, unresolved};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let answer = match question["do"].as_str() {
            Some("unresolved") => answer_unresolved(&question),
            _ => json!({"error": "unknown question"}),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer_unresolved(question: &Value) -> Value {
    let code = question["code"].as_str().unwrap_or_default();
    let doctests = question["doctests"].as_bool().unwrap_or_default();
    let context = Context {
        doctests,
        ..Context::default()
    };
    let found = unresolved(code, &context);
    let place = |at: usize| {
        let before = &code[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, column)
    };
    let names: Vec<Value> = found
        .iter()
        .map(|one| {
            let (line, column) = place(one.span.start);
            json!([one.name, line, column, one.bound_elsewhere, one.doubtful])
        })
        .collect();
    json!({ "names": names })
}
