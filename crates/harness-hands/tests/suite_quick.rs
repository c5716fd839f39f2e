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
use harness_hands::suite::quick::Quick;
use harness_hands::suite::tried::{Tried, Wanted};
use harness_hands::suite::{Outcome, Selection};

#[path = "../../../tests/support/skip.rs"]
mod skip;

const MODULE: &str = "from base import LIMIT\nimport functools\n\ndef clamp(n):\n    return max(n, LIMIT)\n\ndef early(n):\n    return n + 1\n\nTABLE = early(1)\n\nclass Box:\n    size = 3\n\n    @functools.lru_cache(None)\n    def half(self, n=2):\n        def inner():\n            return self.size * n\n        return inner()\n";
const TESTS: &str = "import unittest\nfrom app import clamp, Box, TABLE\n\nclass T(unittest.TestCase):\n    def test_low(self):\n        self.assertEqual(clamp(1), 1)\n    def test_high(self):\n        self.assertEqual(clamp(11), 10)\n    def test_box(self):\n        self.assertEqual(Box().half(), 6)\n    def test_table(self):\n        self.assertEqual(TABLE, 2)\n";

fn laid_out(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn check(suite: &Suite, id: impl Fn(&str) -> String) {
    let folder = laid_out(&[
        ("base.py", "LIMIT = 10\n"),
        ("app.py", MODULE),
        ("tests/__init__.py", ""),
        ("tests/test_app.py", TESTS),
    ]);
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
        waiting: Duration::from_secs(5),
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
    // What a test runs once a change is made.
    let around = MODULE.replace("return max(n, LIMIT)", "return Box().half(n)");
    let traces = quick
        .trace_change(&path, around.as_bytes(), &first[..1], wanted.limit, &cancel)
        .unwrap();
    assert_eq!(traces.len(), 1);
    assert_eq!(traces[0].lines["app.py"], [4, 5, 15, 17, 18, 19]);
    let now = std::fs::read_to_string(folder.path().join("app.py")).unwrap();
    assert_eq!(now, MODULE);
}

fn suite(runner: Framework, python: &str, module: &str) -> Suite {
    Suite {
        runner,
        command: [python, "-m", module].map(str::to_string).to_vec(),
        interpreter: Some(python.to_string()),
        interpreter_why: None,
        missing: Vec::new(),
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

/// The interpreter with pytest that the test command makes.
fn pytest() -> Option<Suite> {
    let workspace = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)?;
    let python = workspace.join("target/test-venv/bin/python");
    if !python.exists() {
        skip::skip("target/test-venv has no interpreter with pytest; the test command makes it");
        return None;
    }
    let name = python.display().to_string();
    Some(suite(Framework::Pytest, &name, "pytest"))
}

#[test]
fn pytest_is_collected_once() {
    if let Some(suite) = pytest() {
        check(&suite, |name| format!("tests/test_app.py::T::{name}"));
    }
}

/// Everything that decides a verdict without being the body of the test.
const ODD: &str = r#"
import unittest, warnings, logging
import pytest
from app import clamp

SEEN = []

@pytest.fixture
def breaks_before():
    raise ValueError("before")

@pytest.fixture
def breaks_after():
    yield 1
    raise ValueError("after")

@pytest.fixture(params=[1, 2, 3])
def number(request):
    return request.param

def test_passes(shared): assert shared == ["shared"]
def test_fails(): assert clamp(1) == 2
def test_setup(breaks_before): pass
def test_teardown(breaks_after): assert breaks_after
def test_param(number): assert number < 3
@pytest.mark.parametrize("n, want", [(1, 1), (11, 10), (12, 12)])
def test_table(n, want): assert clamp(n) == want
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.xfail(strict=True)
def test_unexpected(): pass
@pytest.mark.xfail(raises=KeyError)
def test_other_error(): raise ValueError("not that one")
@pytest.mark.skip
def test_skipped(): assert False
def test_skips_itself(): pytest.skip("not here")
def test_state_one():
    SEEN.append(1)
    assert SEEN == [1]
def test_state_two():
    SEEN.append(2)
    assert SEEN[-1] == 2
def test_captured(capsys, capfd):
    print("x")
def test_printed(capsys):
    print("x")
    assert capsys.readouterr().out == "x\n"
def test_logged(caplog):
    logging.getLogger("a").warning("heard")
    assert "heard" in caplog.text
def test_warned(): warnings.warn("an error here", DeprecationWarning)
def test_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("app.clamp", lambda n: 7)
    import app
    assert app.clamp(1) == 7 and not list(tmp_path.iterdir())
def test_hooked(): pass

class Old(unittest.TestCase):
    @classmethod
    def setUpClass(cls): cls.ready = True
    def test_ready(self): self.assertTrue(self.ready)
    def test_wrong(self): self.assertEqual(clamp(1), 2)
    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertLess(n, 2)
    @unittest.expectedFailure
    def test_foreseen(self): self.fail("as foreseen")
    @unittest.expectedFailure
    def test_not_foreseen(self): pass
    def tearDown(self):
        if "ready" in self.id(): self.ready = False

class Torn(unittest.TestCase):
    def setUp(self): raise ValueError("before")
    def test_never(self): pass
"#;

const HOOKS: &str = r#"
import pytest

@pytest.fixture(scope="session", autouse=True)
def shared():
    kept = ["shared"]
    yield kept
    kept.clear()

def pytest_runtest_setup(item):
    if item.name == "test_hooked":
        pytest.fail("the project's own hook says no")
"#;

#[test]
fn a_try_judges_each_test_as_pytest_does() {
    let Some(suite) = pytest() else {
        return;
    };
    let folder = laid_out(&[
        ("app.py", "def clamp(n):\n    return min(n, 10)\n"),
        ("pytest.ini", "[pytest]\nfilterwarnings = error\n"),
        ("tests/conftest.py", HOOKS),
        ("tests/test_odd.py", ODD),
    ]);
    let cancel = AtomicBool::new(false);
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let report = harness_hands::suite::run(runner, &suite, &Selection::All, &cancel);
    assert_eq!(report.outcome, Outcome::Ran, "{}", report.output_tail);
    let scratch = runner.scratch(project.door()).unwrap();
    let mut quick = Quick::start(runner, &suite, scratch, &cancel).unwrap();
    let failing: Vec<String> = report
        .failures
        .iter()
        .map(|failure| failure.id.clone())
        .collect();
    assert!(
        failing.len() > 10 && report.passed_ids.len() > 10,
        "{report:?}"
    );
    let mut alone = |id: &String| {
        let wanted = Wanted {
            first: std::slice::from_ref(id),
            red: &[],
            near: &[],
            rest: false,
            limit: Duration::from_secs(20),
            waiting: Duration::from_secs(5),
            rest_limit: Duration::from_secs(20),
        };
        match quick.run(&wanted, &cancel).unwrap() {
            Tried::Passed { .. } => true,
            Tried::Failed { test, .. } => {
                assert_eq!(&test, id);
                false
            }
            other => panic!("{id}: {other:?}"),
        }
    };
    for id in &report.passed_ids {
        assert!(alone(id), "{id} passes under pytest");
    }
    for id in &failing {
        assert!(!alone(id), "{id} fails under pytest");
    }
    // All of them in one try: nothing that passes is said to fail, whatever ran before it.
    let wanted = Wanted {
        first: &report.passed_ids[..1],
        red: &failing,
        near: &[],
        rest: true,
        limit: Duration::from_secs(20),
        waiting: Duration::from_secs(5),
        rest_limit: Duration::from_secs(20),
    };
    let tried = quick.run(&wanted, &cancel).unwrap();
    let others = report.collected - u32::try_from(failing.len()).unwrap();
    assert!(
        matches!(tried, Tried::Passed { tests, .. } if tests == others),
        "{tried:?}"
    );
}

/// A test that never ends is followed for a moment, and a change that leaves it so costs no more than its limit.
#[test]
fn a_test_that_hangs_costs_little() {
    const COUNT: &str =
        "def count(n):\n    total = 0\n    while n:\n        total += 1\n    return total\n";
    const TEST: &str = "import unittest\nfrom count import count\n\nclass T(unittest.TestCase):\n    def test_hangs(self):\n        self.assertEqual(count(3), 3)\n    def test_none(self):\n        self.assertEqual(count(0), 0)\n";
    let folder = laid_out(&[("count.py", COUNT), ("test_count.py", TEST)]);
    let cancel = AtomicBool::new(false);
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let scratch = runner.scratch(project.door()).unwrap();
    let suite = Suite {
        runner: Framework::Unittest,
        command: ["python3", "-m", "unittest", "discover"]
            .map(str::to_string)
            .to_vec(),
        interpreter: Some("python3".to_string()),
        interpreter_why: None,
        missing: Vec::new(),
        folder: None,
        why: String::new(),
    };
    let mut quick = Quick::start(runner, &suite, scratch, &cancel).unwrap();
    let first = ["test_count.T.test_hangs".to_string()];
    let traces = quick
        .trace(&first, &first, Duration::from_secs(60), &cancel)
        .unwrap();
    // The lines of the loop are known, and the other test was looked at too.
    let lines: Vec<_> = traces
        .iter()
        .map(|trace| (trace.failing, trace.lines["count.py"].clone()))
        .collect();
    assert_eq!(lines, [(true, vec![1, 2, 3, 4]), (false, vec![1, 2, 3, 5])]);
    let wanted = Wanted {
        first: &first,
        red: &first,
        near: &[],
        rest: true,
        limit: Duration::from_millis(200),
        waiting: Duration::from_secs(1),
        rest_limit: Duration::from_secs(5),
    };
    let path = RelPath::parse("count.py").unwrap();
    let mut attempt = |from: &str, to: &str| {
        let text = COUNT.replace(from, to);
        quick
            .try_change(&path, text.as_bytes(), &wanted, &cancel)
            .unwrap()
    };
    assert_eq!(attempt("total += 1", "total += 2"), Tried::Lost);
    let sleeps = "__import__('time').sleep(4716)";
    assert_eq!(attempt("total += 1", sleeps), Tried::Lost);
    let mended = "total += 1\n        n -= 1";
    assert!(matches!(
        attempt("total += 1", mended),
        Tried::Passed { tests: 2, .. }
    ));
}
