//! Would a change to a test file take something from the tests that are there? New tests may come, all else stays.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use crate::language::{Language, python};
use crate::symbols;
use crate::symbols::code::python_tokens;
use crate::text::is_among;

/// Names that change which tests run, or how.
const SETTINGS: &str = "\
    pytestmark collect_ignore collect_ignore_glob pytest_plugins __test__ __all__";

/// Functions that run around every test of their file or class.
const AROUND: &str = "\
    setUp tearDown setUpClass tearDownClass setUpModule tearDownModule setup_method \
    teardown_method setup_function setup_module setup_class load_tests";

/// Returns what a change of a test file takes away or turns, as it is written there; nothing when it only adds tests.
pub fn weakened(language: Language, before: &str, after: &str) -> Option<String> {
    if language == Language::Python && same_code(before, after) {
        return None;
    }
    if !language.is_source() {
        // Data that tests read: whatever changes, their verdict may.
        return (before != after).then(|| first_difference(before, after));
    }
    let new = symbols::definitions(language, after);
    let old = symbols::definitions(language, before);
    // A class around the tests changes when one is added; its functions are looked at one by one.
    let touched = old.iter().find(|known| {
        let same = new.iter().any(|other| {
            other.qualified == known.qualified
                && after.get(other.span()) == before.get(known.span())
        });
        known.kind.is_function() && !same
    });
    if let Some(known) = touched {
        return Some(known.qualified.to_string());
    }
    // Of a class its first line and what stands above it count: a decorator may skip all of its tests.
    let head = |content: &str, one: &symbols::Definition| -> String {
        let text = content.get(one.header_start()..).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default().trim_end();
        format!("{:?}{line}", one.decorators)
    };
    let dressed = old.iter().find(|known| {
        !known.kind.is_function()
            && !new.iter().any(|other| {
                other.qualified == known.qualified && head(after, other) == head(before, known)
            })
    });
    if let Some(known) = dressed {
        return Some(known.qualified.to_string());
    }
    let count = |all: &[symbols::Definition], name: &str| {
        all.iter().filter(|one| &*one.qualified == name).count()
    };
    let turned = new.iter().find(|other| {
        let is_new = count(&new, &other.qualified) > count(&old, &other.qualified);
        // Defined a second time, the first is never run.
        let hides = is_new && count(&old, &other.qualified) > 0;
        let around = is_new
            && (is_among(AROUND, other.name())
                || is_among(SETTINGS, other.name())
                || other.name().starts_with("pytest_")
                || other.decorators.iter().any(|text| text.contains("autouse")));
        hides || around
    });
    if let Some(other) = turned {
        return Some(other.qualified.to_string());
    }
    if let Some(line) = lost_line(before, after) {
        return Some(line);
    }
    if language == Language::Python {
        return new_statement(before, after);
    }
    None
}

/// Returns whether two Python texts differ in comments and blanks only.
fn same_code(before: &str, after: &str) -> bool {
    let tokens = |content: &str| -> Vec<String> {
        let tokens = python_tokens(content).into_iter();
        tokens.map(|one| one.text).collect()
    };
    let (old, new) = (tokens(before), tokens(after));
    old == new && !old.is_empty()
}

/// Returns the first line that no longer stands in its old order; comments may change.
fn lost_line(before: &str, after: &str) -> Option<String> {
    let mut rest = after.lines().map(str::trim_end);
    let mut old = before
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty());
    let gone = old.find(|line| !rest.any(|new| new == *line))?;
    Some(gone.trim().to_owned())
}

fn first_difference(before: &str, after: &str) -> String {
    let pairs = before.lines().zip(after.lines());
    let changed = pairs
        .into_iter()
        .find(|(old, new)| old != new)
        .map(|(old, _)| old);
    let line = changed
        .or_else(|| before.lines().next_back())
        .unwrap_or("it");
    line.trim().chars().take(60).collect()
}

/// Returns the first new statement at the top that is neither a test, an import nor a plain new constant.
fn new_statement(before: &str, after: &str) -> Option<String> {
    let text = |content: &str, statement: &Stmt| {
        let (start, end) = (statement.start().into(), statement.end().into());
        content.get(start..end).unwrap_or_default().to_owned()
    };
    let old: Vec<String> = python::with_module(before, |module| {
        let body = &module.syntax().body;
        body.iter()
            .map(|statement| text(before, statement))
            .collect()
    })?;
    python::with_module(after, |module| {
        let harmless = |statement: &Stmt| match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Import(_) | Stmt::ImportFrom(_) => {
                true
            }
            Stmt::Assign(node) => node.targets.iter().all(|target| match target {
                Expr::Name(name) => {
                    let name = name.id.as_str();
                    let bound = old
                        .iter()
                        .any(|known| known.starts_with(&format!("{name} =")));
                    !is_among(SETTINGS, name) && !bound
                }
                _ => false,
            }),
            _ => false,
        };
        let new = module
            .syntax()
            .body
            .iter()
            .find(|statement| !harmless(statement) && !old.contains(&text(after, statement)))?;
        let line = text(after, new);
        Some(line.lines().next().unwrap_or_default().to_owned())
    })?
}

#[cfg(test)]
mod tests {
    use super::weakened;
    use crate::language::Language;

    const SUITE: &str =
        "import pytest\n\n\nclass TestA:\n    def test_a(self):\n        assert f(1) == 2\n";

    #[track_caller]
    fn check(after: &str, expected: Option<&str>) {
        assert_eq!(
            weakened(Language::Python, SUITE, after).as_deref(),
            expected,
            "{after}"
        );
    }

    #[test]
    fn what_stands_may_not_change() {
        check(&SUITE.replace("== 2", "!= 3"), Some("TestA.test_a"));
        check("import pytest\n", Some("TestA.test_a"));
        let skipped = SUITE.replace("    def", "    @pytest.mark.skip\n    def");
        check(&skipped, Some("TestA.test_a"));
    }

    #[test]
    fn what_turns_tests_off_from_outside_is_found() {
        check(
            &format!("{SUITE}\npytestmark = pytest.mark.skip\n"),
            Some("pytestmark"),
        );
        check(&format!("{SUITE}\ndel TestA\n"), Some("del TestA"));
        let skipped = SUITE.replace("class", "@pytest.mark.skip\nclass");
        check(&skipped, Some("TestA"));
        let unseen = format!("{SUITE}\n    __test__ = False\n");
        check(&unseen, Some("TestA.__test__"));
        let again = format!("{SUITE}\n    def test_a(self):\n        pass\n");
        check(&again, Some("TestA.test_a"));
        let around = format!("{SUITE}\n    def setup_method(self):\n        pytest.skip()\n");
        check(&around, Some("TestA.setup_method"));
        let auto =
            format!("{SUITE}\n\n@pytest.fixture(autouse=True)\ndef quiet():\n    pytest.skip()\n");
        check(&auto, Some("quiet"));
    }

    #[test]
    fn new_tests_imports_constants_and_comments_pass() {
        check(
            &format!("{SUITE}\n    def test_b(self):\n        assert f(2) == 3\n"),
            None,
        );
        check(
            &SUITE.replace("import pytest", "import os\nimport pytest"),
            None,
        );
        check(
            &format!("{SUITE}\n\nCASES = [1]\n\n\ndef test_c():\n    assert f(CASES[0])\n"),
            None,
        );
        check(&format!("# why\n{SUITE}"), None);
        check(
            &SUITE.replace("        assert", "        # why\n        assert"),
            None,
        );
        check(&format!("{SUITE}# end\n"), None);
    }

    #[test]
    fn data_of_tests_stays() {
        assert_eq!(
            weakened(Language::Other, "1\n2\n", "1\n3\n").as_deref(),
            Some("2")
        );
    }
}
