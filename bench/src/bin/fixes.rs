//! Answers the questions of `bench/fixes.py`: one JSON object a line in, one out. Only for measuring.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use harness_code::edit::{Edit, apply};
use harness_code::fix::{Answer, Installed, MisspellingRequest, Surroundings, misspelled, rename};
use harness_code::path::RelPath;
use harness_code::request::Request;
use harness_code::request::rename::{Doubts, Rename};
use harness_code::scope::unresolved;
use harness_code::tree::SourceTree;
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let answer = match question["do"].as_str() {
            Some("unresolved") => answer_unresolved(&question),
            Some("misspelled") => answer_misspelled(&question),
            Some("rename") => answer_rename(&question),
            Some("read_rename") => {
                let task = question["task"].as_str().unwrap_or_default();
                json!({"readings": format!("{:?}", Request::read(task).rename())})
            }
            _ => json!({"error": "unknown question"}),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer_unresolved(question: &Value) -> Value {
    let code = question["code"].as_str().unwrap_or_default();
    let Ok(path) = RelPath::parse("code.py") else {
        return json!({ "names": [] });
    };
    let found = unresolved(&path, code);
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

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_string)
        .collect()
}

fn paths(value: &Value) -> Vec<RelPath> {
    strings(value)
        .iter()
        .filter_map(|path| RelPath::parse(path).ok())
        .collect()
}

fn answer_misspelled(question: &Value) -> Value {
    let root = question["root"].as_str().unwrap_or_default();
    let tree = match SourceTree::read(Path::new(root), None) {
        Ok(tree) => tree,
        Err(problem) => return json!({"error": problem.to_string()}),
    };
    let request = MisspellingRequest {
        files: paths(&question["files"]),
        names: strings(&question["names"]),
        installed: Installed {
            roots: strings(&question["installed"])
                .into_iter()
                .map(PathBuf::from)
                .collect(),
        },
        ..MisspellingRequest::default()
    };
    shown(&tree, &misspelled(&tree, &request))
}

fn answer_rename(question: &Value) -> Value {
    let root = question["root"].as_str().unwrap_or_default();
    let tree = match SourceTree::read(Path::new(root), None) {
        Ok(tree) => tree,
        Err(problem) => return json!({"error": problem.to_string()}),
    };
    let text = |key: &str| question[key].as_str().unwrap_or_default().to_string();
    let number = |key: &str| {
        question[key]
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
    };
    let request = Rename {
        old: text("old"),
        new: text("new"),
        file: RelPath::parse(&text("file")).ok(),
        class_is_guess: false,
        class: question["class"].as_str().map(str::to_string),
        line: number("line"),
        column: number("column"),
        in_comments: question["in_comments"].as_bool().unwrap_or_default(),
        doubts: match question["doubts"].as_str() {
            Some("include") => Doubts::Include,
            Some("leave") => Doubts::Leave,
            _ => Doubts::Ask,
        },
    };
    let installed = strings(&question["installed"]).into_iter();
    let surroundings = Surroundings {
        scope: None,
        installed: Installed {
            roots: installed.map(PathBuf::from).collect(),
        },
    };
    shown(&tree, &rename(&tree, &request, &surroundings))
}

/// An answer as JSON, with the new texts of the changed files.
fn shown(tree: &SourceTree, answer: &Answer) -> Value {
    match answer {
        Answer::Certain(proposal) => {
            let mut files = serde_json::Map::new();
            for edit in &proposal.edits {
                if files.contains_key(edit.path.as_str()) {
                    continue;
                }
                let own: Vec<Edit> = proposal
                    .edits
                    .iter()
                    .filter(|other| other.path == edit.path)
                    .cloned()
                    .collect();
                let text = tree
                    .text(&edit.path)
                    .map(|text| text.into_content())
                    .unwrap_or_default();
                let after = apply(&text, &own).unwrap_or_else(|problem| problem.to_string());
                files.insert(edit.path.to_string(), Value::String(after));
            }
            let moves: Vec<Value> = proposal
                .moves
                .iter()
                .map(|(from, to)| json!([from.as_str(), to.as_str()]))
                .collect();
            json!({"answer": "certain", "kind": proposal.kind, "files": files, "moves": moves, "summary": proposal.summary, "names": proposal.names})
        }
        Answer::Ask { text, options } => json!({"answer": "ask", "text": text, "options": options}),
        Answer::Refuse { reason, places } => {
            let places: Vec<String> = places
                .iter()
                .map(|place| format!("{}:{}", place.path, place.line))
                .collect();
            json!({"answer": "refuse", "reason": reason, "places": places})
        }
        Answer::Nothing => json!({"answer": "nothing"}),
    }
}
