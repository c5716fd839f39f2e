//! Answers the questions of `bench/edits/run.py`: one JSON object a line in, one out. Only for measuring.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use harness_agent::action::{Action, Hunk};
use harness_agent::draft::{self, Files};
use harness_agent::{Refusal, guard, reply};
use harness_code::language::Language;
use harness_code::passage;
use harness_code::path::RelPath;
use harness_code::request::Request;
use harness_code::symbols;
use harness_code::tree::SourceTree;
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let text = |key: &str| question[key].as_str().unwrap_or_default().to_owned();
        let answer = match question["do"].as_str() {
            // One search/replace pair against one file.
            Some("replace") => {
                let language = RelPath::parse(&text("path"))
                    .map_or(Language::Other, |path| Language::of(&path));
                let all = question["all"] == Value::Bool(true);
                let (content, old, new) = (text("content"), text("old"), text("new"));
                let result = if all {
                    passage::replace_all(&content, &old, &new)
                } else {
                    passage::replace_in(language, &content, &old, &new)
                };
                match result {
                    Ok(text) => json!({ "text": text }),
                    Err(problem) => json!({ "error": problem.to_string() }),
                }
            }
            Some("places") => {
                let places = passage::places(&text("content"), &text("old"));
                let pairs: Vec<[usize; 2]> = places
                    .iter()
                    .map(|place| [place.start, place.end])
                    .collect();
                json!({ "places": pairs })
            }
            // A whole reply, read and applied to files.
            Some("reply") => applied(&question, &text("reply")),
            Some("path") => {
                let strings = |key: &str| -> Vec<String> {
                    let items = question[key].as_array().cloned().unwrap_or_default();
                    items
                        .iter()
                        .filter_map(|item| item.as_str().map(str::to_owned))
                        .collect()
                };
                let (lines, known) = (strings("lines"), strings("known"));
                let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                json!({ "path": reply::path_above(&lines, &known) })
            }
            Some("comments") => comments(std::path::Path::new(&text("folder"))),
            _ => json!({"error": "unknown question"}),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// Puts one comment into every Python file of a folder, in three places, and asks the guards.
fn comments(folder: &std::path::Path) -> Value {
    let Ok(tree) = SourceTree::read(folder, None) else {
        return json!({"error": "not a folder"});
    };
    let (mut files, mut edits, mut refusals) = (0, 0, Vec::new());
    for file in tree
        .files()
        .iter()
        .filter(|file| file.language == Language::Python)
    {
        let Ok(text) = tree.text(&file.path) else {
            continue;
        };
        files += 1;
        for after in commented(text.content()) {
            edits += 1;
            let task = Request::read("add a remark to the code");
            let refusal = guard::refusal_of(&tree, &task, &file.path, text.content(), &after);
            refusals.extend(
                refusal.map(|refusal| json!([file.path.as_str(), refusal.rule, refusal.reason])),
            );
        }
    }
    json!({ "files": files, "edits": edits, "refusals": refusals })
}

/// Returns a file with a comment above its first definition, inside it, and at its end.
fn commented(content: &str) -> Vec<String> {
    let ending = harness_code::text::line_ending(content).as_str();
    let mut results = vec![format!("{content}{ending}# looked at{ending}")];
    let definitions = symbols::definitions(Language::Python, content);
    let function = definitions.iter().find(|known| known.kind.is_function());
    let before = function.map(|known| known.span().start);
    // The last line of a function is code of its body; above it a comment of the same depth may stand.
    let inside = function.and_then(|known| content[..known.span().end].trim_end().rfind('\n'));
    for at in [before, inside.map(|newline| newline + 1)]
        .into_iter()
        .flatten()
    {
        let start = content[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = content[start..].lines().next().unwrap_or_default();
        let indent = &line[..line.len() - line.trim_start().len()];
        let with = format!(
            "{}{indent}# looked at{ending}{}",
            &content[..start],
            &content[start..]
        );
        // Inside a text that spans lines it would not be a comment.
        if symbols::syntax_errors(Language::Python, &with)
            == symbols::syntax_errors(Language::Python, content)
            && symbols::definitions(Language::Python, &with).len() == definitions.len()
        {
            results.push(with);
        }
    }
    results
}

struct Map(BTreeMap<String, String>);

impl Files for Map {
    fn open(&self, path: &str) -> Result<(RelPath, Option<String>), Refusal> {
        let path = if path.is_empty() { "file" } else { path };
        let path = RelPath::parse(path)
            .map_err(|problem| Refusal::new("path.bad", problem.to_string(), path))?;
        // A single file stands for whatever name the reply gives it.
        let content = match self.0.get("*") {
            Some(only) => Some(only.clone()),
            None => self.0.get(path.as_str()).cloned(),
        };
        Ok((path, content))
    }

    fn ending_with(&self, _path: &str) -> Option<RelPath> {
        None
    }

    fn home_of(&self, _name: &str) -> Option<RelPath> {
        None
    }
}

fn applied(question: &Value, text: &str) -> Value {
    let empty = serde_json::Map::new();
    let files = question["files"].as_object().unwrap_or(&empty);
    let files: BTreeMap<String, String> = files
        .iter()
        .map(|(path, content)| {
            (
                path.clone(),
                content.as_str().unwrap_or_default().to_owned(),
            )
        })
        .collect();
    let reading = reply::read(text);
    let Some(action) = reading.action else {
        let error = reading.problem.unwrap_or_else(|| "no action".to_owned());
        return json!({ "error": error });
    };
    let focus = RelPath::parse("file").ok().map(|path| draft::Focus {
        path,
        name: String::new(),
    });
    match draft::drafted(&Map(files), focus.as_ref(), &action) {
        Ok(drafts) => {
            let after: serde_json::Map<String, Value> = drafts
                .files
                .into_iter()
                .map(|draft| (draft.path.to_string(), draft.after.into()))
                .collect();
            json!({ "after": after, "hunks": hunks(&action) })
        }
        Err(refusal) => json!({ "error": refusal.reason, "hunks": hunks(&action) }),
    }
}

/// Returns what a reply wants replaced: path, old and new of each passage.
fn hunks(action: &Action) -> Vec<Value> {
    let shown = |path: &str, hunks: &[Hunk]| -> Vec<Value> {
        hunks
            .iter()
            .map(|hunk| json!([path, hunk.old, hunk.new]))
            .collect()
    };
    match action {
        Action::Several { parts } => parts.iter().flat_map(hunks).collect(),
        Action::Patch { path, hunks } | Action::Move { path, hunks, .. } => shown(path, hunks),
        Action::Edit { path, content, .. } => shown(path, &[Hunk::new("", content.clone())]),
        Action::Remove { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Map { .. }
        | Action::Run { .. }
        | Action::Ask { .. }
        | Action::Done { .. } => Vec::new(),
    }
}
