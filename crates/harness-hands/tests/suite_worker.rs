//! The reused test process: right verdicts, many a second, the project untouched.
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
use harness_hands::suite::worker::Worker;
use harness_hands::suite::{Outcome, Selection};

#[path = "../../../tests/support/skip.rs"]
mod skip;

/// Long enough for a machine that is busy with other things, in milliseconds.
const LIMIT: u64 = 30_000;

const MODULE: &str = "from base import LIMIT\n\ndef clamp(n):\n    return min(n, LIMIT)\n";
const TESTS: &str = "import unittest\nfrom app import clamp\n\nclass T(unittest.TestCase):\n    def test_low(self):\n        self.assertEqual(clamp(1), 1)\n    def test_high(self):\n        self.assertEqual(clamp(11), 10)\n";

fn check(suite: &Suite, selection: &[&str], more: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let own = [
        ("base.py", "LIMIT = 10\n"),
        ("app.py", MODULE),
        ("tests/__init__.py", ""),
        ("tests/test_app.py", TESTS),
    ];
    for (name, text) in own.iter().chain(more) {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let cancel = AtomicBool::new(false);
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let scratch = runner.scratch(project.door()).unwrap();
    let selection = Selection::Some(selection.iter().map(ToString::to_string).collect());
    let mut worker = Worker::start(runner, suite, scratch, &selection, &cancel).unwrap();
    let path = RelPath::parse("app.py").unwrap();
    let mut attempt = |text: &str, limit: u64| {
        let report = worker
            .try_change(
                &path,
                text.as_bytes(),
                Duration::from_millis(limit),
                &cancel,
            )
            .unwrap();
        (report.outcome, report.passed, report.failed, report.errors)
    };
    assert_eq!(attempt(MODULE, LIMIT), (Outcome::Ran, 2, 0, 0));
    assert_eq!(
        attempt(&MODULE.replace("min", "max"), LIMIT),
        (Outcome::Ran, 0, 2, 0)
    );
    assert_eq!(
        attempt("def clamp(n):\n    return 10\n", LIMIT),
        (Outcome::Ran, 1, 1, 0)
    );
    assert_eq!(
        attempt("def clamp(n):\n    while True: pass\n", 300).0,
        Outcome::TimedOut
    );
    assert_eq!(
        attempt("import os\nos._exit(0)\n", LIMIT).0,
        Outcome::NoReport
    );
    assert_eq!(attempt("def clamp(n:\n", LIMIT).1, 0);
    assert_eq!(attempt(MODULE, LIMIT), (Outcome::Ran, 2, 0, 0));
    for n in 8..12 {
        let text = MODULE.replace("LIMIT)", &format!("{n})"));
        let good = attempt(&text, LIMIT) == (Outcome::Ran, 2, 0, 0);
        assert_eq!(good, n == 10);
    }
    assert_eq!(
        std::fs::read_to_string(folder.path().join("app.py")).unwrap(),
        MODULE
    );
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
fn unittest_tries_are_judged_quickly() {
    check(
        &suite(Framework::Unittest, "python3", "unittest"),
        &["tests.test_app.T.test_low", "tests.test_app.T.test_high"],
        &[],
    );
}

#[test]
fn pytest_tries_are_judged_quickly() {
    let workspace = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    let python = workspace.join("target/test-venv/bin/python");
    if !python.exists() {
        return skip::skip(
            "target/test-venv has no interpreter with pytest; the test command makes it",
        );
    }
    let suite = suite(Framework::Pytest, &python.display().to_string(), "pytest");
    check(&suite, &["tests/test_app.py"], &[]);
    // What the changed file is imported by before any test is collected is made anew too.
    let early = "import app\n\ndef pytest_configure(config):\n    app.clamp(0)\n";
    check(
        &suite,
        &["tests/test_app.py"],
        &[("tests/conftest.py", early)],
    );
}
