//! Unified diffs. Line numbers are ignored: models get them wrong, the words around the change decide.

use super::Found;
use crate::action::{Action, Hunk};

pub(super) fn read(reply: &str) -> Found {
    let mut actions: Vec<Action> = Vec::new();
    let mut path = String::new();
    let mut old_path = String::new();
    let mut hunk: Option<Hunk> = None;
    let mut lines = reply.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("--- ")
            && lines.peek().is_some_and(|next| next.starts_with("+++ "))
        {
            close(&mut actions, &path, &mut hunk);
            old_path = file_name(name);
        } else if let Some(name) = line.strip_prefix("+++ ")
            && hunk
                .as_ref()
                .is_none_or(|hunk| hunk.old.is_empty() && hunk.new.is_empty())
        {
            let new_path = file_name(name);
            path = if new_path == "/dev/null" {
                old_path.clone()
            } else {
                new_path
            };
        } else if line.starts_with("@@") {
            close(&mut actions, &path, &mut hunk);
            hunk = Some(Hunk {
                old: String::new(),
                new: String::new(),
            });
        } else if let Some(open) = &mut hunk {
            if line.starts_with("```") {
                close(&mut actions, &path, &mut hunk);
            } else {
                take(open, line);
            }
        }
    }
    close(&mut actions, &path, &mut hunk);
    Found {
        actions,
        unknown_tool: None,
    }
}

fn take(hunk: &mut Hunk, line: &str) {
    let (sign, rest) = match line.chars().next() {
        Some(sign @ ('+' | '-' | ' ')) => (sign, &line[1..]),
        Some('\\') => return,
        // Models drop the blank in front of empty and of unchanged lines.
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

fn close(actions: &mut Vec<Action>, path: &str, hunk: &mut Option<Hunk>) {
    let Some(hunk) = hunk.take() else { return };
    if hunk.old == hunk.new {
        return;
    }
    if let Some(Action::Patch { path: last, hunks }) = actions.last_mut()
        && last == path
    {
        hunks.push(hunk);
        return;
    }
    actions.push(Action::Patch {
        path: path.to_owned(),
        hunks: vec![hunk],
    });
}

fn file_name(text: &str) -> String {
    let name = text.split('\t').next().unwrap_or_default().trim();
    name.strip_prefix("a/")
        .or_else(|| name.strip_prefix("b/"))
        .unwrap_or(name)
        .to_owned()
}
