//! Unified diffs. Line numbers are ignored: models get them wrong, the words around the change decide.

use super::Found;
use crate::action::{Action, Hunk};

pub(super) fn read(reply: &str) -> Found {
    let mut parts: Vec<Part> = Vec::new();
    let mut inside = false;
    let mut lines = reply.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("--- ")
            && lines.peek().is_some_and(|next| next.starts_with("+++ "))
        {
            let old_path = file_name(name);
            let new_path = lines
                .next()
                .map(|next| file_name(&next[4..]))
                .unwrap_or_default();
            parts.push(Part::of(&old_path, &new_path));
            inside = false;
        } else if line.starts_with("@@") {
            if parts.is_empty() {
                parts.push(Part::of("", ""));
            }
            if let Some(part) = parts.last_mut() {
                part.hunks.push(Hunk {
                    under: heading(line),
                    ..Hunk::new("", "")
                });
            }
            inside = true;
        } else if line.starts_with("diff --git ") || line.trim_start().starts_with("```") {
            inside = false;
        } else if inside && let Some(hunk) = parts.last_mut().and_then(|part| part.hunks.last_mut())
        {
            take(hunk, line);
        }
    }
    let changes: Vec<Action> = parts.into_iter().filter_map(Part::into_action).collect();
    Found {
        actions: Action::together(changes).into_iter().collect(),
        ..Found::default()
    }
}

/// What a diff says of one file.
struct Part {
    path: String,
    is_new: bool,
    goes: bool,
    hunks: Vec<Hunk>,
}

impl Part {
    fn of(old: &str, new: &str) -> Part {
        let goes = new == "/dev/null";
        Part {
            path: if goes { old } else { new }.to_owned(),
            is_new: old == "/dev/null",
            goes,
            hunks: Vec::new(),
        }
    }

    fn into_action(self) -> Option<Action> {
        let Part {
            path,
            is_new,
            goes,
            mut hunks,
        } = self;
        if goes {
            return Some(Action::Remove { path });
        }
        hunks.iter_mut().for_each(end_at_words);
        hunks.retain(|hunk| hunk.old != hunk.new);
        let adds_only = hunks.iter().all(|hunk| hunk.old.trim().is_empty());
        if is_new && adds_only && !hunks.is_empty() {
            let content = hunks.into_iter().map(|hunk| hunk.new).collect();
            let name = String::new();
            return Some(Action::Edit {
                path,
                name,
                content,
            });
        }
        (!hunks.is_empty()).then_some(Action::Patch { path, hunks })
    }
}

/// Takes one line of a hunk in; models drop the blank in front of empty and of unchanged lines.
pub(super) fn take(hunk: &mut Hunk, line: &str) {
    let (sign, rest) = match line.chars().next() {
        Some(sign @ ('+' | '-' | ' ')) => (sign, &line[1..]),
        Some('\\') => return,
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

/// Takes empty lines off the end of a hunk: they stand between it and what comes after it in the reply.
pub(super) fn end_at_words(hunk: &mut Hunk) {
    while hunk.old.ends_with("\n\n") && hunk.new.ends_with("\n\n") {
        hunk.old.pop();
        hunk.new.pop();
    }
}

/// Returns the words behind the second `@@`: the line that the change stands below.
pub(super) fn heading(line: &str) -> String {
    let rest = line.trim_start_matches('@');
    let words = match rest.split_once("@@") {
        Some((_, words)) => words,
        // An envelope has its heading right behind its only `@@`.
        None if rest.trim_start().starts_with(['-', '+', '.']) => "",
        None => rest,
    };
    words.trim().to_owned()
}

fn file_name(text: &str) -> String {
    let name = text
        .split('\t')
        .next()
        .unwrap_or_default()
        .trim()
        .trim_matches('"');
    name.strip_prefix("a/")
        .or_else(|| name.strip_prefix("b/"))
        .unwrap_or(name)
        .to_owned()
}
