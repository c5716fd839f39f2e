//! A task that asks for tests alone leaves the code as it is: tests say what it does.

use harness_code::tree;

use super::GuardInput;
use crate::history::Refusal;
use harness_code::request::kind::Kind;

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let GuardInput { change, task, .. } = *input;
    let is_code = change.language().is_source() && !tree::is_test(&change.path);
    // Rust keeps tests behind the code of the same file.
    let code = |text: &str| {
        text.split("#[cfg(test)]")
            .next()
            .map(str::trim_end)
            .map(str::to_owned)
    };
    let is_same = change.before.as_deref().and_then(code) == code(change.new_text());
    if task.kind() != Kind::Tests || !is_code || is_same || task.orders().len() > 1 {
        return None;
    }
    let path = &change.path;
    let reason = format!("the task asks for tests: leave `{path}` as it is");
    Some(Refusal::new("draft.changes_code", reason, path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    #[test]
    fn code_stays_where_only_tests_are_asked_for() {
        let rule = |task: &str, path: &str| {
            verdict(super::check, task, &change(path, "a = 1\n", "a = 2\n"))
        };
        assert_eq!(rule("write tests for f", "shop/a.py"), "draft.changes_code");
        assert_eq!(rule("write tests for f", "tests/test_a.py"), "ok");
        assert_eq!(rule("write tests for f", "README.md"), "ok");
        assert_eq!(
            rule("write tests for f and fix what they find", "shop/a.py"),
            "ok"
        );
        assert_eq!(rule("fix f", "shop/a.py"), "ok");
        let rust = "fn f() {}\n";
        let inline =
            format!("{rust}\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn g() {{}}\n}}\n");
        let inside = change("src/lib.rs", rust, &inline);
        assert_eq!(verdict(super::check, "write tests for f", &inside), "ok");
    }
}
