//! Existing tests and what they compare with stay as they are, unless changing them is what the task asks for.

use harness_code::fix;
use harness_code::path::RelPath;
use harness_code::suite::weaken;
use harness_code::tree;

use super::{Change, Facts};
use crate::history::Refusal;
use crate::task::Task;
use crate::task::kind::Kind;

pub(super) fn check(change: &Change, task: &Task, _facts: &Facts<'_>) -> Option<Refusal> {
    let path = &change.path;
    if !(tree::is_test(path) || decides_tests(path)) || task.asks_to_change_test(path) {
        return None;
    }
    let touched = match &change.before {
        Some(before) => {
            let touched = |before: &str| weaken::weakened(change.language, before, &change.after);
            let mut renamed = renamed(before, task).into_iter();
            // Without what the task renames nothing else may differ.
            if renamed.any(|before| touched(&before).is_none()) {
                return None;
            }
            touched(before)?
        }
        // A new one reaches every test beside it.
        None if path.file_name() == "conftest.py" => "conftest".to_owned(),
        None => return None,
    };
    let reason = format!(
        "`{touched}` in `{path}` belongs to the existing tests: leave them as they are and change the code they check"
    );
    Some(Refusal::new("draft.test_weakened", reason, path.as_str()))
}

/// Folders of data that tests compare with, wherever they lie.
const DATA_FOLDERS: [&str; 9] = [
    "fixtures",
    "testdata",
    "test_data",
    "golden",
    "goldens",
    "snapshots",
    "__snapshots__",
    "expected",
    "cassettes",
];
/// Words in the name of such a file.
const DATA_NAMES: [&str; 4] = ["expected", "golden", "snapshot", "fixture"];
/// Endings of such files.
const DATA_ENDINGS: [&str; 4] = [".snap", ".golden", ".approved", ".expected"];
/// Files by which test runners are told what to do.
const SETTINGS: [&str; 9] = [
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    "entry_points.txt",
    "noxfile.py",
];

/// Says whether a file decides what tests say though it is none: data they compare with, settings of their runner.
pub(crate) fn decides_tests(path: &RelPath) -> bool {
    let name = path.file_name();
    let words = name.split(['.', '-', '_']);
    let folder = path.parent();
    let in_data = folder.is_some_and(|folder| {
        let mut parts = folder.parts();
        parts.any(|part| DATA_FOLDERS.contains(&part))
    });
    let is_data = !harness_code::language::Language::of(path).is_source();
    SETTINGS.contains(&name)
        || name.ends_with(".pth")
        || path.as_str().contains(".egg-info/")
        || path.as_str().contains(".dist-info/")
        || DATA_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || (is_data && (in_data || words.into_iter().any(|word| DATA_NAMES.contains(&word))))
}

/// Returns a test as it reads once what the task renames has its new name, for each way to read the task.
fn renamed(before: &str, task: &Task) -> Vec<String> {
    if task.kind != Kind::Rename {
        return Vec::new();
    }
    let last = |name: &str| {
        let name = name.strip_suffix(".py").unwrap_or(name);
        name.rsplit(['.', '/']).next().unwrap_or(name).to_owned()
    };
    let readings = fix::read_rename(&task.text);
    let readings = readings.iter();
    readings
        .map(|request| with_new_name(before, &last(&request.old), &last(&request.new)))
        .collect()
}

/// Returns a text with a new name wherever the old one stands as a whole word.
fn with_new_name(before: &str, old: &str, new: &str) -> String {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut text = String::with_capacity(before.len());
    let mut rest = before;
    while let Some(at) = rest.find(old).filter(|_| !old.is_empty()) {
        let behind = &rest[at + old.len()..];
        text.push_str(&rest[..at]);
        let stands_alone = !text.chars().next_back().is_some_and(part_of_name)
            && !behind.chars().next().is_some_and(part_of_name);
        text.push_str(if stands_alone { new } else { old });
        rest = behind;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    const SUITE: &str = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n";

    #[track_caller]
    fn check(task: &str, after: &str, expected: &str) {
        assert_eq!(
            verdict(super::check, task, &change("tests/test_a.py", SUITE, after)),
            expected
        );
    }

    #[test]
    fn an_existing_test_may_not_change() {
        check(
            "fix f",
            &SUITE.replace("assertEqual(f(1), 2)", "assertTrue(f(1))"),
            "draft.test_weakened",
        );
        check("fix f", "import unittest\n", "draft.test_weakened");
        let skipped = SUITE.replace(
            "    def test_a",
            "    @unittest.skip('later')\n    def test_a",
        );
        check("fix f", &skipped, "draft.test_weakened");
    }

    #[test]
    fn a_new_test_may_come() {
        let more = "\n    def test_b(self):\n        self.assertEqual(f(2), 3)\n";
        check("add f and a test", &format!("{SUITE}{more}"), "ok");
    }

    #[test]
    fn only_a_task_that_asks_for_it_may_change_them() {
        let turned = SUITE.replace('2', "3");
        check("update the tests of f", &turned, "ok");
        check("change tests/test_a.py to expect 3", &turned, "ok");
        check("write tests for f", &turned, "draft.test_weakened");
        let measure = "fix f so that tests/test_a.py passes";
        check(measure, &turned, "draft.test_weakened");
        check("rename f to g", &SUITE.replace("f(1)", "g(1)"), "ok");
        check("rename f to g", &turned, "draft.test_weakened");
        let moved = SUITE.replace("unittest", "unittests");
        check("rename lib/unittest.py to lib/unittests.py", &moved, "ok");
    }

    #[test]
    fn what_tests_compare_with_stays() {
        for path in [
            "testdata/expected.json",
            "fixtures/a.json",
            "shop/__snapshots__/a.snap",
            "golden/report.txt",
        ] {
            let changed = change(path, "{\"total\": 12}\n", "{\"total\": 7}\n");
            let rule = |task: &str| verdict(super::check, task, &changed);
            assert_eq!(rule("fix f"), "draft.test_weakened", "{path}");
            assert_eq!(rule(&format!("update {path}")), "ok", "{path}");
        }
        let code = change("shop/fixtures.py", "A = 1\n", "A = 2\n");
        assert_eq!(verdict(super::check, "change A", &code), "ok");
    }

    #[test]
    fn code_is_not_a_test() {
        let changed = SUITE.replace('2', "3");
        assert_eq!(
            verdict(super::check, "fix f", &change("shop/a.py", SUITE, &changed)),
            "ok"
        );
    }
}
