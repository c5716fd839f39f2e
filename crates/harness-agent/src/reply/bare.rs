//! Code without a fence: whole definitions at the margin, with or without words around them.

use harness_code::language::Language;
use harness_code::symbols;

use super::Found;
use crate::action::Action;

/// What the first line of a definition begins with, in languages that models answer in.
const BEGINNINGS: [&str; 5] = ["def ", "async def ", "class ", "@", "import "];

/// Lines that are tried as the end of the code; words behind it are few.
const MOST_TRIES: usize = 40;

pub(super) fn read(reply: &str) -> Found {
    let lines: Vec<&str> = reply.lines().collect();
    let begins = |line: &str| {
        BEGINNINGS.iter().any(|word| line.starts_with(word))
            || (line.starts_with("from ") && line.contains(" import "))
    };
    let Some(first) = lines.iter().position(|line| begins(line)) else {
        return Found::default();
    };
    let whole = (first + 1..=lines.len())
        .rev()
        .take(MOST_TRIES)
        .map(|end| lines[first..end].join("\n"))
        .find(|code| {
            symbols::parses(Language::Python, code)
                && !symbols::definitions(Language::Python, code).is_empty()
        });
    let action = whole.map(|code| Action::Edit {
        path: String::new(),
        name: String::new(),
        content: format!("{}\n", code.trim_end()),
    });
    Found {
        actions: action.into_iter().collect(),
        ..Found::default()
    }
}
