//! Tries in a process that has collected everything: right verdicts, and honest where it cannot know.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out projects on the disk, and a broken bench ends them"
)]
#![cfg(unix)]

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_code::suite::{Runner as Framework, Suite};
use harness_hands::permit::{Access, Project};
use harness_hands::suite::quick::{Quick, Tried, Wanted};

const MODULE: &str = "from base import LIMIT\nimport functools\n\ndef clamp(n):\n    return max(n, LIMIT)\n\ndef early(n):\n    return n + 1\n\nTABLE = early(1)\n\nclass Box:\n    size = 3\n\n    @functools.lru_cache(None)\n    def half(self, n=2):\n        def inner():\n            return self.size * n\n        return inner()\n";
const TESTS: &str = "import unittest\nfrom app import clamp, Box, TABLE\n\nclass T(unittest.TestCase):\n    def test_low(self):\n        self.assertEqual(clamp(1), 1)\n    def test_high(self):\n        self.assertEqual(clamp(11), 10)\n    def test_box(self):\n        self.assertEqual(Box().half(), 6)\n    def test_table(self):\n        self.assertEqual(TABLE, 2)\n";

fn check(suite: &Suite, id: impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("base.py", "LIMIT = 10\n"),
        ("app.py", MODULE),
        ("tests/__init__.py", ""),
        ("tests/test_app.py", TESTS),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let cancel = AtomicBool::new(false);
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let scratch = runner.scratch(project.door()).unwrap();
    let mut quick = Quick::start(runner, suite, scratch, &cancel).unwrap();
    let path = RelPath::parse("app.py").unwrap();
    let first = [id("test_low"), id("test_high")];
    let wanted = Wanted {
        first: &first,
        red: &[],
        near: &[],
        rest: true,
        limit: Duration::from_secs(20),
        rest_limit: Duration::from_secs(20),
    };
    let fails = |name: &str, broke| (id(name), broke);
    let failure = |tried: Tried| match tried {
        Tried::Failed { test, broke, .. } => (test, broke),
        other => (format!("{other:?}"), false),
    };
    assert_eq!(
        failure(quick.run(&wanted, &cancel).unwrap()),
        fails("test_low", false)
    );
    let mut attempt = |from: &str, to: &str| {
        let text = MODULE.replace("max(n", "min(n").replace(from, to);
        quick
            .try_change(&path, text.as_bytes(), &wanted, &cancel)
            .unwrap()
    };
    assert!(matches!(attempt("x", "x"), Tried::Passed { tests: 4, .. }));
    assert_eq!(failure(attempt("LIMIT)", "3)")), fails("test_high", false));
    // A nested function behind a cache, and lines that move everything below.
    assert_eq!(
        failure(attempt("self.size * n", "self.size + n")),
        fails("test_box", true)
    );
    let longer = "    n = n\n    return min";
    assert!(matches!(
        attempt("    return min", longer),
        Tried::Passed { .. }
    ));
    // What ran while the tests were collected, defaults and class bodies need a new import.
    for (from, to) in [("n + 1", "n + 2"), ("n=2", "n=3"), ("size = 3", "size = 4")] {
        assert!(matches!(attempt(from, to), Tried::Stale(_)), "{to}");
    }
    assert_eq!(
        attempt("return min(n, LIMIT)", "import os; os._exit(0)"),
        Tried::Lost
    );
    assert!(matches!(attempt("x", "x"), Tried::Passed { tests: 4, .. }));

    let traces = quick
        .trace(&first[..1], &first[1..], Duration::from_secs(20), &cancel)
        .unwrap();
    let failing: Vec<_> = traces.iter().filter(|trace| trace.failing).collect();
    assert_eq!(failing.len(), 1);
    assert_eq!(failing[0].lines["app.py"], [4, 5]);
    assert!(
        traces
            .iter()
            .any(|trace| !trace.failing && trace.test == id("test_box"))
    );
    let now = std::fs::read_to_string(folder.path().join("app.py")).unwrap();
    assert_eq!(now, MODULE);
}

fn suite(runner: Framework, python: &str, module: &str) -> Suite {
    Suite {
        runner,
        command: [python, "-m", module].map(str::to_string).to_vec(),
        interpreter: Some(python.to_string()),
        folder: None,
        why: String::new(),
    }
}

#[test]
fn unittest_is_collected_once() {
    check(&suite(Framework::Unittest, "python3", "unittest"), |name| {
        format!("tests.test_app.T.{name}")
    });
}

#[test]
fn pytest_is_collected_once() {
    let workspace = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    let python = workspace.join("target/test-venv/bin/python");
    if python.exists() {
        let python = python.display().to_string();
        check(&suite(Framework::Pytest, &python, "pytest"), |name| {
            format!("tests/test_app.py::T::{name}")
        });
    }
}
