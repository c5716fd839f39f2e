//! Code does the same whether a test looks or not.

use super::{GuardInput, added_lines};
use crate::history::Refusal;
use harness_code::tree;

/// What code asks to know whether a test runs it, and what it would reach for to turn one.
const SIGNS: [&str; 8] = [
    "PYTEST_CURRENT_TEST",
    "PYTEST_VERSION",
    "NODE_TEST_CONTEXT",
    "JEST_WORKER_ID",
    "\"pytest\" in sys.modules",
    "'pytest' in sys.modules",
    "\"unittest\" in sys.modules",
    "'unittest' in sys.modules",
];
/// Parts of test frameworks that are given another value.
const TURNED: [&str; 4] = [
    "TestCase.assert",
    "assert.strictEqual =",
    "assert.equal =",
    "pytest.raises =",
];

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let GuardInput { change, task, .. } = *input;
    let path = &change.path;
    let is_code = change.language().is_source() && !tree::is_test(path);
    if !is_code || task.speaks_of("pytest") || task.speaks_of("unittest") {
        return None;
    }
    let lines = added_lines(change);
    let sign = SIGNS.iter().chain(&TURNED).find(|sign| {
        let turns = TURNED.contains(sign);
        lines
            .iter()
            .any(|line| line.contains(**sign) && (!turns || line.contains('=')))
    })?;
    let reason = format!("`{path}` would behave differently under test (`{sign}`): leave that out");
    Some(Refusal::new("draft.test_aware", reason, path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    #[test]
    fn code_does_not_look_for_tests() {
        let rule = |task: &str, path: &str, line: &str| {
            verdict(
                super::check,
                task,
                &change(path, "a = 1\n", &format!("a = 1\n{line}\n")),
            )
        };
        let asks = "if os.environ.get('PYTEST_CURRENT_TEST'): b = 2";
        assert_eq!(rule("fix f", "a.py", asks), "draft.test_aware");
        assert_eq!(
            rule("fix f", "a.py", "unittest.TestCase.assertEqual = f"),
            "draft.test_aware"
        );
        assert_eq!(rule("fix f", "tests/test_a.py", asks), "ok");
        assert_eq!(rule("skip it under pytest", "a.py", asks), "ok");
        assert_eq!(rule("fix f", "a.py", "b = 2"), "ok");
    }
}
