//! A file that parsed must still parse; a new one must parse at all.

use harness_code::symbols;

use super::GuardInput;
use crate::history::Refusal;

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let change = input.change;
    let parses = |content: &str| symbols::parses(change.language(), content);
    let parsed_before = change.before.as_deref().is_none_or(parses);
    if !parsed_before || parses(change.new_text()) {
        return None;
    }
    let path = &change.path;
    let reason = format!(
        "`{path}` would not parse any more: write the whole definition again, complete and correctly indented"
    );
    Some(Refusal::new("draft.syntax", reason, path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    #[test]
    fn what_parsed_must_still_parse() {
        let whole = "def f():\n    pass\n";
        assert_eq!(
            verdict(super::check, "x", &change("a.py", whole, "def f(:\n")),
            "draft.syntax"
        );
        assert_eq!(
            verdict(
                super::check,
                "x",
                &change("a.py", whole, "def f():\n    return 1\n")
            ),
            "ok"
        );
    }

    #[test]
    fn a_file_that_was_broken_already_may_stay_so() {
        assert_eq!(
            verdict(
                super::check,
                "x",
                &change("a.py", "def f(:\n", "# why\ndef f(:\n")
            ),
            "ok"
        );
    }

    #[test]
    fn a_file_in_no_language_is_not_parsed() {
        assert_eq!(
            verdict(super::check, "x", &change("notes.txt", "a", "def f(:")),
            "ok"
        );
    }
}
