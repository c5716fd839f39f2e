//! Code that was left out: a comment that stands for the rest is not the rest.

use super::{GuardInput, added_lines};
use crate::history::Refusal;

/// What models write where they leave code out.
const WORDS: [&str; 14] = [
    "rest of the code",
    "rest of code",
    "rest of the function",
    "rest of the file",
    "rest of the class",
    "rest unchanged",
    "rest remains",
    "remains unchanged",
    "remaining code",
    "existing code",
    "code unchanged",
    "same as before",
    "unchanged code",
    "previous code",
];

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let change = input.change;
    let lines = |content: &str| content.lines().count();
    let shrinks = change
        .before
        .as_deref()
        .is_some_and(|before| lines(before) > lines(change.new_text()));
    let line = added_lines(change)
        .into_iter()
        .find(|line| stands_for_code(line, shrinks))?;
    let reason =
        format!("`{line}` leaves code out: write the whole definition, without placeholders");
    Some(Refusal::new("draft.elided", reason, change.path.as_str()))
}

fn stands_for_code(line: &str, shrinks: bool) -> bool {
    let Some(comment) = ["#", "//", "/*", "--"]
        .iter()
        .find_map(|sign| line.strip_prefix(sign))
    else {
        return false;
    };
    let comment = comment.trim().to_ascii_lowercase();
    let dots = ["...", "…"]
        .iter()
        .any(|dots| comment.starts_with(dots) || comment.ends_with(dots));
    let only_dots = dots && comment.trim_matches(['.', '…', ' ']).is_empty();
    let says_so = WORDS.iter().any(|words| comment.contains(words));
    // People write such words too; with dots, or where lines went missing, they stand for code.
    (says_so && (dots || shrinks)) || (only_dots && shrinks)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    const WHOLE: &str = "def f():\n    a = 1\n    b = 2\n    return a + b\n";

    #[test]
    fn a_placeholder_for_code_is_refused() {
        for line in [
            "# ... rest of the code unchanged",
            "# rest of the function",
            "# ...",
            "# … existing code …",
        ] {
            let after = format!("def f():\n    a = 2\n    {line}\n");
            assert_eq!(
                verdict(super::check, "x", &change("a.py", WHOLE, &after)),
                "draft.elided",
                "{line}"
            );
        }
    }

    #[test]
    fn a_comment_of_a_person_passes() {
        let after = format!("# Keeps the existing code path for old callers.\n{WHOLE}");
        assert_eq!(
            verdict(super::check, "x", &change("a.py", WHOLE, &after)),
            "ok"
        );
        let there = "def f():\n    # ... rest of the code\n    a = 1\n    return a\n";
        let after = there.replace("a = 1", "a = 2");
        assert_eq!(
            verdict(super::check, "x", &change("a.py", there, &after)),
            "ok"
        );
    }
}
