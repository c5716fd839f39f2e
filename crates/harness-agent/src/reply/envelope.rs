//! Apply-patch envelopes: `*** Begin Patch`, `*** Update File: …`, hunks after `@@`, `*** End Patch`.

use super::Found;
use super::diff::{end_at_words, heading, take};
use crate::action::{Action, Hunk};

enum Part {
    Update {
        path: String,
        to: String,
        hunks: Vec<Hunk>,
    },
    Add {
        path: String,
        content: String,
    },
    Remove {
        path: String,
    },
}

pub(super) fn read(reply: &str) -> Found {
    let Some(start) = reply.find("*** Begin Patch") else {
        return Found::default();
    };
    let mut parts: Vec<Part> = Vec::new();
    for line in reply[start..].lines().skip(1) {
        let path = |words: &str| Some(line.trim().strip_prefix(words)?.trim().to_owned());
        if line.trim().starts_with("*** End Patch") {
            break;
        } else if let Some(path) = path("*** Update File:") {
            let (to, hunks) = (String::new(), Vec::new());
            parts.push(Part::Update { path, to, hunks });
        } else if let Some(path) = path("*** Add File:") {
            let content = String::new();
            parts.push(Part::Add { path, content });
        } else if let Some(path) = path("*** Delete File:") {
            parts.push(Part::Remove { path });
        } else if let Some(target) = path("*** Move to:") {
            if let Some(Part::Update { to, .. }) = parts.last_mut() {
                *to = target;
            }
        } else if line.starts_with("*** End of File") {
            continue;
        } else if line.starts_with("*** ") {
            return Found::problem(format!(
                "`{}` is no line of a patch: write `*** Update File: path`, then `@@`, then lines with ` `, `-` or `+` in front",
                line.trim()
            ));
        } else if let Some(part) = parts.last_mut() {
            part.take(line);
        }
    }
    let actions: Vec<Action> = parts.into_iter().filter_map(Part::into_action).collect();
    Found {
        actions: Action::together(actions).into_iter().collect(),
        ..Found::default()
    }
}

impl Part {
    fn take(&mut self, line: &str) {
        match self {
            Part::Add { content, .. } => {
                content.push_str(line.strip_prefix('+').unwrap_or(line));
                content.push('\n');
            }
            Part::Update { hunks, .. } if line.starts_with("@@") => hunks.push(Hunk {
                under: heading(line),
                ..Hunk::new("", "")
            }),
            Part::Update { hunks, .. } => {
                if hunks.is_empty() {
                    hunks.push(Hunk::new("", ""));
                }
                if let Some(hunk) = hunks.last_mut() {
                    take(hunk, line);
                }
            }
            Part::Remove { .. } => {}
        }
    }

    fn into_action(self) -> Option<Action> {
        match self {
            Part::Add { path, content } => Some(Action::Edit {
                path,
                name: String::new(),
                content,
            }),
            Part::Remove { path } => Some(Action::Remove { path }),
            Part::Update {
                path,
                to,
                mut hunks,
            } => {
                hunks.iter_mut().for_each(end_at_words);
                hunks.retain(|hunk| hunk.old != hunk.new);
                match (to.is_empty(), hunks.is_empty()) {
                    (false, _) => Some(Action::Move { path, to, hunks }),
                    (true, false) => Some(Action::Patch { path, hunks }),
                    (true, true) => None,
                }
            }
        }
    }
}
