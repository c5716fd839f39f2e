//! Existing tests stay as they are, unless the task is about tests or names them.

use harness_code::suite::weaken;
use harness_code::tree;

use super::{Change, Facts};
use crate::history::Refusal;
use crate::task::Task;
use crate::task::kind::Kind;

pub(super) fn check(change: &Change, task: &Task, _facts: &Facts<'_>) -> Option<Refusal> {
    let about_tests =
        matches!(task.kind, Kind::Tests | Kind::Rename) || task.names_path(&change.path);
    if !tree::is_test(&change.path) || about_tests {
        return None;
    }
    let path = &change.path;
    let touched = match &change.before {
        Some(before) => weaken::weakened(change.language, before, &change.after)?,
        // A new one reaches every test beside it.
        None if path.file_name() == "conftest.py" => "conftest".to_owned(),
        None => return None,
    };
    let reason = format!(
        "`{touched}` in `{path}` belongs to the existing tests: leave them as they are and change the code they check"
    );
    Some(Refusal::new("draft.test_weakened", reason, path.as_str()))
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
    fn a_task_about_tests_may_change_them() {
        check("write tests for f", &SUITE.replace('2', "3"), "ok");
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
