//! Apply-patch envelopes: `*** Begin Patch`, `*** Update File: …`, hunks after `@@`, `*** End Patch`.

use super::Found;
use crate::action::{Action, Hunk};

enum Part {
    Update { path: String, hunks: Vec<Hunk> },
    Add { path: String, content: String },
}

pub(super) fn read(reply: &str) -> Found {
    let Some(start) = reply.find("*** Begin Patch") else {
        return Found::default();
    };
    let mut parts: Vec<Part> = Vec::new();
    for line in reply[start..].lines().skip(1) {
        if line.starts_with("*** End Patch") {
            break;
        } else if let Some(path) = line.strip_prefix("*** Update File:") {
            parts.push(Part::Update {
                path: path.trim().to_owned(),
                hunks: Vec::new(),
            });
        } else if let Some(path) = line.strip_prefix("*** Add File:") {
            parts.push(Part::Add {
                path: path.trim().to_owned(),
                content: String::new(),
            });
        } else if let Some(part) = parts.last_mut() {
            take(part, line);
        }
    }
    Found {
        actions: parts.into_iter().filter_map(into_action).collect(),
        unknown_tool: None,
    }
}

fn take(part: &mut Part, line: &str) {
    match part {
        Part::Add { content, .. } => {
            content.push_str(line.strip_prefix('+').unwrap_or(line));
            content.push('\n');
        }
        Part::Update { hunks, .. } => {
            if line.starts_with("@@") || hunks.is_empty() {
                hunks.push(Hunk {
                    old: String::new(),
                    new: String::new(),
                });
            }
            let Some(hunk) = hunks.last_mut() else { return };
            if line.starts_with("@@") || line.starts_with("*** ") {
                return;
            }
            let (sign, rest) = match line.chars().next() {
                Some(sign @ ('+' | '-' | ' ')) => (sign, &line[1..]),
                Some(_) | None => (' ', line),
            };
            if sign != '+' {
                hunk.old.push_str(rest);
                hunk.old.push('\n');
            }
            if sign != '-' {
                hunk.new.push_str(rest);
                hunk.new.push('\n');
            }
        }
    }
}

fn into_action(part: Part) -> Option<Action> {
    match part {
        Part::Add { path, content } => Some(Action::Edit {
            path,
            name: String::new(),
            content,
        }),
        Part::Update { path, mut hunks } => {
            hunks.retain(|hunk| hunk.old != hunk.new);
            (!hunks.is_empty()).then_some(Action::Patch { path, hunks })
        }
    }
}
