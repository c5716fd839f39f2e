//! Search/replace blocks: `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`, with the file's path above.

use super::Found;
use super::text::path_alone;
use crate::action::{Action, Hunk};

/// What a whole block looks like, for the answer to one that is not whole.
const WHOLE: &str =
    "write `<<<<<<< SEARCH`, the old lines, `=======`, the new lines, `>>>>>>> REPLACE`";

pub(super) fn read(reply: &str) -> Found {
    let mut patches: Vec<Action> = Vec::new();
    let mut path = String::new();
    let mut lines = reply.lines();
    while let Some(line) = lines.next() {
        match marker(line) {
            Some(Marker::Search) => match block(&mut lines) {
                Ok(hunk) => add(&mut patches, &path, hunk),
                Err(problem) => return Found::problem(problem),
            },
            // A divider may be a heading's underline, but an end without a beginning is a broken block.
            Some(Marker::Replace) if line.contains("REPLACE") => {
                return Found::problem(format!("a block ends that never began: {WHOLE}"));
            }
            Some(Marker::Broken) => {
                return Found::problem(format!(
                    "the first line of the block is not whole: {WHOLE}"
                ));
            }
            Some(Marker::Divider | Marker::Replace) | None => {
                // Inside a fence the path is often the first line; the fence's own line is no path.
                if let Some(named) = path_alone(line.trim_start_matches('`')) {
                    path = named;
                }
            }
        }
    }
    Found {
        actions: Action::together(patches).into_iter().collect(),
        ..Found::default()
    }
}

fn block<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Result<Hunk, String> {
    let (mut old, mut new) = (String::new(), String::new());
    let mut divided = false;
    for line in lines {
        match marker(line) {
            Some(Marker::Divider) if !divided => divided = true,
            Some(Marker::Replace) if divided => return Ok(Hunk::new(told_lines(&old), new)),
            Some(Marker::Replace) => {
                return Err(format!("the block has no `=======`: {WHOLE}"));
            }
            Some(Marker::Divider) => {
                return Err(format!(
                    "the block has a second `=======`; one that belongs to the text is written `\\=======`: {WHOLE}"
                ));
            }
            Some(Marker::Search | Marker::Broken) => {
                return Err(format!("a block begins before the last one ends: {WHOLE}"));
            }
            None => {
                let words = line.trim();
                if divided && (words.starts_with(":start_line:") || words.starts_with(":end_line:"))
                {
                    return Err(format!("`{words}` stands among the new lines: {WHOLE}"));
                }
                let side = if divided { &mut new } else { &mut old };
                side.push_str(
                    line.strip_prefix('\\')
                        .filter(|rest| is_escaped(rest))
                        .unwrap_or(line),
                );
                side.push('\n');
            }
        }
    }
    // A reply that was cut in the middle of its block says nothing certain.
    Err(format!("the block never ends: {WHOLE}"))
}

/// Returns whether a line says with a back-slash in front that it is text and no sign of the form.
fn is_escaped(rest: &str) -> bool {
    rest.starts_with(":start_line:") || rest.starts_with(":end_line:") || marker(rest).is_some()
}

/// Takes off the line numbers that some prompts ask for above the old lines.
fn told_lines(old: &str) -> String {
    let mut rest = old;
    while let Some((line, after)) = rest.split_once('\n') {
        let words = line.trim();
        let told = words.starts_with(":start_line:") || words.starts_with(":end_line:");
        let rule = rest.len() < old.len() && words.len() >= 5 && words.chars().all(|c| c == '-');
        if !told && !rule {
            break;
        }
        rest = after;
    }
    rest.to_owned()
}

fn add(patches: &mut Vec<Action>, path: &str, hunk: Hunk) {
    if let Some(Action::Patch { path: last, hunks }) = patches.last_mut()
        && last == path
    {
        hunks.push(hunk);
        return;
    }
    patches.push(Action::Patch {
        path: path.to_owned(),
        hunks: vec![hunk],
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    Search,
    Divider,
    Replace,
    Broken,
}

/// Five to nine of the same sign, then one of the words.
fn marker(line: &str) -> Option<Marker> {
    let line = line.trim();
    let sign = line.chars().next().filter(|c| "<=>".contains(*c))?;
    let count = line.chars().take_while(|c| *c == sign).count();
    let rest = line.get(count..).unwrap_or_default().trim();
    if !(5..=9).contains(&count) {
        return None;
    }
    let is_one = |words: &[&str]| words.iter().any(|word| rest.eq_ignore_ascii_case(word));
    match sign {
        // One stray sign after the word is a slip that many models make.
        '<' if is_one(&["SEARCH", "ORIGINAL", "HEAD", "SEARCH>", ""]) => Some(Marker::Search),
        '<' if rest.to_ascii_uppercase().starts_with("SEARCH>") => Some(Marker::Broken),
        '=' if rest.is_empty() => Some(Marker::Divider),
        '>' if is_one(&["REPLACE", "UPDATED", ""]) => Some(Marker::Replace),
        _ => None,
    }
}
