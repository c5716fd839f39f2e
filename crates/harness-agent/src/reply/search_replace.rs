//! Search/replace blocks: `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`, with the file's path above.

use super::Found;
use super::text::path_alone;
use crate::action::{Action, Hunk};

pub(super) fn read(reply: &str) -> Found {
    let mut actions: Vec<Action> = Vec::new();
    let mut path = String::new();
    let mut lines = reply.lines();
    while let Some(line) = lines.next() {
        if is_marker(line, '<', &["SEARCH", "ORIGINAL", "HEAD", ""]) {
            let Some(hunk) = block(&mut lines) else { break };
            add(&mut actions, &path, hunk);
        } else if let Some(named) = path_alone(line.trim_start_matches('`')) {
            path = named;
        }
    }
    Found {
        actions,
        unknown_tool: None,
    }
}

fn block<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<Hunk> {
    let mut hunk = Hunk {
        old: String::new(),
        new: String::new(),
    };
    let mut divided = false;
    for line in lines {
        if !divided && is_marker(line, '=', &[""]) {
            divided = true;
        } else if divided && is_marker(line, '>', &["REPLACE", "UPDATED", ""]) {
            return Some(hunk);
        } else {
            let side = if divided {
                &mut hunk.new
            } else {
                &mut hunk.old
            };
            side.push_str(line);
            side.push('\n');
        }
    }
    // A reply that was cut in the middle of its block says nothing certain.
    None
}

fn add(actions: &mut Vec<Action>, path: &str, hunk: Hunk) {
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

/// Five to nine of the same sign, then one of the words.
fn is_marker(line: &str, sign: char, words: &[&str]) -> bool {
    let line = line.trim();
    let count = line.chars().take_while(|c| *c == sign).count();
    let rest = line.get(count..).unwrap_or_default().trim();
    (5..=9).contains(&count) && words.iter().any(|word| rest.eq_ignore_ascii_case(word))
}
