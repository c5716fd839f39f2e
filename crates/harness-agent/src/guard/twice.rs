//! One name is defined once: a second definition hides the first, or leaves it standing where it was to be changed.

use std::collections::BTreeMap;

use harness_code::language::Language;
use harness_code::symbols::{self, Definition};

use super::GuardInput;
use crate::history::Refusal;

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let change = input.change;
    let old = counts(change.language(), change.old_text());
    let new = counts(change.language(), change.new_text());
    let twice = new
        .iter()
        .find(|(name, count)| **count > 1 && **count > old.get(*name).copied().unwrap_or(0))?;
    let (name, path) = (twice.0, &change.path);
    let reason = format!(
        "`{name}` would be defined twice in `{path}`: replace the definition that is there"
    );
    Some(Refusal::new("draft.defined_twice", reason, path.as_str()))
}

/// Counts the functions and classes of each name, where a language takes the last one of a name.
fn counts(language: Language, content: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    // Others know overloads, several blocks of one type, or declarations beside definitions.
    let once = matches!(
        language,
        Language::Python | Language::JavaScript | Language::Go | Language::Rust | Language::Ruby
    );
    for one in symbols::definitions(language, content) {
        let counted = one.kind.is_function() && !is_meant_twice(language, content, &one);
        if once && counted {
            *counts.entry(one.qualified.to_string()).or_default() += 1;
        }
    }
    counts
}

/// Overloads, setters and branches define a name again on purpose.
fn is_meant_twice(language: Language, content: &str, one: &Definition) -> bool {
    if !one.decorators.is_empty() {
        return true;
    }
    let start = one.header_start();
    let line = content[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = content[line..start].chars().count();
    let levels = one.qualified.matches('.').count();
    match language {
        // Deeper than its class says: inside `if`, `try` or a function.
        Language::Python => indent > levels * 4 && indent > 0,
        // Blocks of several types may stand in one file, and `cfg` chooses among functions.
        Language::Rust | Language::Go => indent > 0 || content[..line].trim_end().ends_with(']'),
        _ => indent > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    #[track_caller]
    fn check(path: &str, before: &str, after: &str, expected: &str) {
        let found = verdict(super::check, "fix f", &change(path, before, after));
        assert_eq!(found, expected, "{after}");
    }

    #[test]
    fn a_second_definition_is_refused() {
        let one = "def f():\n    return 1\n";
        check(
            "a.py",
            one,
            &format!("{one}\n\n{one}"),
            "draft.defined_twice",
        );
        check("a.py", one, "def f():\n    return 2\n", "ok");
        let class = "class A:\n    def f(self):\n        return 1\n";
        let again = format!("{class}\n    def f(self):\n        return 2\n");
        check("a.py", class, &again, "draft.defined_twice");
        let rust = "fn f() -> u8 {\n    1\n}\n";
        check(
            "a.rs",
            rust,
            &format!("{rust}\n{rust}"),
            "draft.defined_twice",
        );
    }

    #[test]
    fn what_is_meant_twice_passes() {
        let setter = "class A:\n    @property\n    def f(self):\n        return 1\n";
        let both = format!("{setter}\n    @f.setter\n    def f(self, x):\n        pass\n");
        check("a.py", setter, &both, "ok");
        let branch = "try:\n    from b import f\nexcept ImportError:\n    def f():\n        pass\n";
        check(
            "a.py",
            "",
            &format!("{branch}\n\nif x:\n    def f():\n        pass\n"),
            "ok",
        );
        let twice = "def f():\n    return 1\n\n\ndef f():\n    return 2\n";
        check("a.py", twice, &format!("{twice}\n\nX = 1\n"), "ok");
    }
}
