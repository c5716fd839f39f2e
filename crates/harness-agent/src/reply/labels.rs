//! Labelled lines: `Action:`, `Path:`, `Find:`, `Replace:`, `Append:`, `Summary:` and kin, bold or numbered.

use super::Found;
use super::text::fences;
use crate::action::{Action, Hunk};

/// The labels that mean something, in the words models use for them.
const LABELS: &[(&str, Label)] = &[
    ("action", Label::Action),
    ("tool", Label::Action),
    ("path", Label::Path),
    ("file", Label::Path),
    ("find", Label::Find),
    ("search", Label::Find),
    ("old", Label::Find),
    ("replace", Label::Replace),
    ("replace with", Label::Replace),
    ("new", Label::Replace),
    ("append", Label::Append),
    ("content", Label::Content),
    ("code", Label::Content),
    ("name", Label::Name),
    ("definition", Label::Name),
    ("line", Label::Name),
    ("query", Label::Query),
    ("tests", Label::Query),
    ("question", Label::Query),
    ("summary", Label::Summary),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Action,
    Path,
    Find,
    Replace,
    Append,
    Content,
    Name,
    Query,
    Summary,
}

/// Returns the first word of every label.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let labels = LABELS.iter();
    labels.filter_map(|(label, _)| label.split(' ').next())
}

pub(super) fn read(reply: &str) -> Found {
    let parts = parts(reply);
    let mut found = Found::default();
    let mut wishes: Vec<&[(Label, String)]> = Vec::new();
    let mut start = 0;
    for at in 1..=parts.len() {
        // Every `Action:` begins a new wish, and so does a path after a passage; a path in front of the first one
        // belongs to it.
        let has = |wanted: Label| parts[start..at].iter().any(|(label, _)| *label == wanted);
        let begins = at == parts.len()
            || (parts[at].0 == Label::Action && has(Label::Action))
            || (parts[at].0 == Label::Path && has(Label::Replace));
        if begins && at <= parts.len() && start < at {
            wishes.push(&parts[start..at]);
            start = at;
        }
    }
    for wish in wishes {
        match wished(reply, wish) {
            Wish::Action(action) => found.actions.push(action),
            Wish::Unknown(tool) => found.unknown_tool = found.unknown_tool.or(Some(tool)),
            Wish::Half(problem) => found.problem = found.problem.or(Some(problem)),
            Wish::None => {}
        }
    }
    if !found.actions.is_empty() {
        found.unknown_tool = None;
    }
    found.actions = together(found.actions);
    found
}

/// Puts passages of one file that follow each other into one patch: they are one change.
fn together(actions: Vec<Action>) -> Vec<Action> {
    let mut all: Vec<Action> = Vec::new();
    for action in actions {
        match (all.last_mut(), action) {
            (
                Some(Action::Patch { path, hunks }),
                Action::Patch {
                    path: same,
                    hunks: more,
                },
            ) if *path == same || same.is_empty() => hunks.extend(more),
            (_, action) => all.push(action),
        }
    }
    all
}

/// Returns every passage of a wish with what replaces it.
fn hunks(parts: &[(Label, String)]) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let mut old = None;
    for (label, text) in parts {
        match label {
            Label::Find => old = Some(code(text)),
            Label::Replace => hunks.extend(old.take().map(|old| Hunk::new(old, code(text)))),
            _ => {}
        }
    }
    hunks
}

/// What one group of labelled lines asks for.
enum Wish {
    Action(Action),
    Unknown(String),
    Half(String),
    None,
}

fn wished(reply: &str, parts: &[(Label, String)]) -> Wish {
    let value = |label: Label| {
        parts
            .iter()
            .find(|(known, _)| *known == label)
            .map(|(_, text)| text.as_str())
    };
    let word = |label: Label| value(label).map(bare).unwrap_or_default();
    let block = |label: Label| value(label).map(code).unwrap_or_default();
    let says_action = value(Label::Action).is_some();
    // Without the word `Action:` only a passage with its place is certain enough.
    let patches = value(Label::Find).is_some() && value(Label::Replace).is_some();
    let appends = value(Label::Append).is_some();
    if !says_action && !patches && !appends {
        return Wish::None;
    }
    let tool = word(Label::Action).to_ascii_lowercase();
    let tool = tool
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next()
        .unwrap_or_default();
    let path = word(Label::Path);
    let action = match tool {
        "done" | "finish" => Action::Done {
            summary: value(Label::Summary).unwrap_or_default().trim().to_owned(),
        },
        _ if patches => Action::Patch {
            path,
            hunks: hunks(parts),
        },
        _ if appends => Action::Patch {
            path,
            hunks: vec![Hunk::new("", block(Label::Append))],
        },
        "read" | "open" | "view" => Action::Read {
            path,
            place: word(Label::Name),
        },
        "search" | "grep" => Action::Search {
            query: word(Label::Query),
            path,
        },
        "map" | "list" => Action::Map { path },
        "run" | "test" => {
            let tests = word(Label::Query)
                .split_whitespace()
                .map(str::to_owned)
                .collect();
            Action::Run { tests }
        }
        "ask" => Action::Ask {
            question: value(Label::Query).unwrap_or_default().trim().to_owned(),
        },
        "edit" | "write" | "create" | "patch" | "replace" => {
            let content = value(Label::Content)
                .map(code)
                .or_else(|| fences(reply).into_iter().next().map(|fence| fence.body));
            let Some(content) = content else {
                let problem = "the action has no code: write `Find:` with the old lines and `Replace:` with the new ones, or the whole definition in one fenced block";
                return Wish::Half(problem.to_owned());
            };
            Action::Edit {
                path,
                name: word(Label::Name),
                content,
            }
        }
        "" => return Wish::None,
        other => return Wish::Unknown(other.to_owned()),
    };
    Wish::Action(action)
}

/// Returns the labelled parts of a reply: a label and all lines up to the next one.
fn parts(reply: &str) -> Vec<(Label, String)> {
    let mut parts: Vec<(Label, String)> = Vec::new();
    let mut fenced = false;
    for line in reply.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        // Inside a fence every line is code, whatever it looks like.
        match labelled(line).filter(|_| !fenced) {
            Some((label, rest)) => parts.push((
                label,
                if rest.is_empty() {
                    String::new()
                } else {
                    format!("{rest}\n")
                },
            )),
            None => {
                if let Some((_, text)) = parts.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    parts
}

fn labelled(line: &str) -> Option<(Label, &str)> {
    let (head, rest) = line.split_once(':')?;
    // A label stands at the margin; indented words with a colon are code.
    if head.starts_with([' ', '\t']) || head.len() > 30 {
        return None;
    }
    let head = head.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, '.' | ')' | '-' | '#' | ' ')
    });
    let head = head
        .trim_matches(|c| matches!(c, '*' | '_' | '`' | ' '))
        .to_ascii_lowercase();
    let label = LABELS.iter().find(|(word, _)| *word == head)?.1;
    Some((label, rest.trim_start_matches('*').trim()))
}

/// Returns a value as one bare word or line: quotes, bold and back-ticks off.
fn bare(text: &str) -> String {
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    if line.trim_start().starts_with("```") {
        // The value was left out; what follows is the code.
        return String::new();
    }
    line.trim()
        .trim_matches(|c| matches!(c, '`' | '*' | '"' | '\''))
        .trim()
        .to_owned()
}

/// Returns a value as code: the body of its fence, or its own lines.
fn code(text: &str) -> String {
    if let Some(fence) = fences(text).into_iter().next() {
        return fence.body;
    }
    let trimmed = text.trim_start_matches('\n').trim_end();
    if trimmed.is_empty() {
        String::new()
    } else {
        format!("{trimmed}\n")
    }
}
