//! pytest run for real, where an interpreter with pytest is at hand (the test command makes one).
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out projects on the disk"
)]

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::suite::{Runner as Framework, Suite};
use harness_hands::permit::{Access, Project};
use harness_hands::process::runner::RunnerOptions;
use harness_hands::suite::{self, Outcome, Selection, SuiteReport};

#[path = "../../../tests/support/skip.rs"]
mod skip;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// The interpreter with pytest that the test command makes.
fn interpreter() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let python = workspace.join("target/test-venv/bin/python");
    let found = python.exists().then_some(python);
    if found.is_none() {
        skip::skip("target/test-venv has no interpreter with pytest; the test command makes it");
    }
    found
}

fn run(folder: &Path, arguments: &[&str], selection: &Selection) -> Option<SuiteReport> {
    run_with(folder, arguments, selection, RunnerOptions::default())
}

fn run_with(
    folder: &Path,
    arguments: &[&str],
    selection: &Selection,
    options: RunnerOptions,
) -> Option<SuiteReport> {
    let python = interpreter()?.display().to_string();
    let mut command = vec![python.clone(), "-m".to_string(), "pytest".to_string()];
    command.extend(arguments.iter().map(ToString::to_string));
    let suite = Suite {
        runner: Framework::Pytest,
        command,
        interpreter: Some(python),
        interpreter_why: None,
        missing: Vec::new(),
        folder: None,
        why: String::new(),
    };
    let project = Project::open(folder, None, Access::Writing).unwrap();
    let project = project.with_runner_options(options);
    Some(suite::run(
        project.runner().unwrap(),
        &suite,
        selection,
        &AtomicBool::new(false),
    ))
}

const MIXED: &str = "
import pytest

@pytest.fixture
def broken():
    raise RuntimeError('no fixture')

@pytest.fixture
def late():
    yield 1
    raise RuntimeError('too late')

def add(a, b):
    return a - b

@pytest.mark.parametrize('a', [0, 1])
def test_add(a):
    assert add(a, a) == 2 * a

def test_error(broken):
    pass

def test_late(late):
    assert late == 1

@pytest.mark.skip
def test_later():
    assert False

@pytest.mark.xfail
def test_known():
    assert False

class TestInner:
    def test_good(self):
        assert True
";

#[test]
fn results_are_counted_by_test() {
    let folder = project(&[("tests/test_mixed.py", MIXED)]);
    let Some(report) = run(folder.path(), &[], &Selection::All) else {
        return;
    };
    assert_eq!(report.outcome, Outcome::Ran, "{report:#?}");
    let counts = (
        report.passed,
        report.failed,
        report.errors,
        report.skipped,
        report.collected,
    );
    assert_eq!(counts, (2, 1, 2, 2, 7), "{report:#?}");
    assert_eq!(
        report.passed_ids,
        [
            "tests/test_mixed.py::TestInner::test_good",
            "tests/test_mixed.py::test_add[0]"
        ]
    );
    let shown = "tests/test_mixed.py::test_add[1] (tests/test_mixed.py:18): assert 0 == (2 * 1)\n +  where 0 = add(1, 1)";
    assert_eq!(report.failures[0].shown(), shown);
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["tests"], "no litter");
}

#[test]
fn some_tests_run_alone() {
    let folder = project(&[
        ("tests/test_mixed.py", MIXED),
        ("test_more.py", "def test_add():\n    pass\n"),
    ]);
    for (name, passed) in [
        ("tests/test_mixed.py::test_add[0]", 1),
        ("tests.test_mixed.TestInner", 1),
        ("tests/test_mixed.py", 2),
        ("test_add", 2),
    ] {
        let Some(report) = run(folder.path(), &[], &Selection::Some(vec![name.into()])) else {
            return;
        };
        assert_eq!(
            (report.outcome, report.passed),
            (Outcome::Ran, passed),
            "{name}: {report:#?}"
        );
    }
    let Some(report) = run(
        folder.path(),
        &[],
        &Selection::Some(vec!["tests/gone.py".into()]),
    ) else {
        return;
    };
    assert_eq!(report.passed, 0);
    assert_ne!(report.outcome, Outcome::Ran, "{report:#?}");
}

#[test]
fn settings_that_cut_a_run_short_do_not() {
    let settings = "[pytest]\naddopts = -x --lf --tb=no -p no:terminal\n";
    let folder = project(&[
        (
            "test_a.py",
            "def test_bad():\n    assert 0\n\ndef test_good():\n    pass\n",
        ),
        ("test_b.py", "import gone_for_good\n"),
        ("pytest.ini", settings),
    ]);
    let Some(report) = run(folder.path(), &[], &Selection::All) else {
        return;
    };
    let counts = (report.passed, report.failed, report.errors);
    assert_eq!(
        (report.outcome, counts),
        (Outcome::Ran, (1, 1, 1)),
        "{report:#?}"
    );
    assert!(!folder.path().join(".pytest_cache").exists());
}

#[test]
fn what_is_no_pass_is_none() {
    for (name, text, outcome) in [
        (
            "early exit",
            "import os\ndef test_a():\n    pass\ndef test_b():\n    os._exit(0)\n",
            Outcome::NoReport,
        ),
        (
            "exit while collecting",
            "import os\nos._exit(0)\n",
            Outcome::NoReport,
        ),
        (
            "forked child goes on",
            "import os\ndef test_a():\n    if os.fork():\n        os._exit(0)\n",
            Outcome::NoReport,
        ),
        ("nothing to run", "x = 1\n", Outcome::NoTests),
        (
            "stop in the middle",
            "import pytest\ndef test_a():\n    pytest.exit('enough', returncode=0)\ndef test_b():\n    assert 0\n",
            Outcome::NoReport,
        ),
        (
            "stop from within",
            "import pytest\npytest.exit('enough', returncode=0)\n",
            Outcome::Ran,
        ),
        (
            "only skipped",
            "import pytest\n@pytest.mark.skip\ndef test_a():\n    pass\n",
            Outcome::Ran,
        ),
    ] {
        let folder = project(&[("test_x.py", text)]);
        let Some(report) = run(folder.path(), &[], &Selection::All) else {
            return;
        };
        assert_eq!(
            (report.outcome, report.passed.min(1)),
            (outcome, u32::from(name == "early exit")),
            "{name}: {report:#?}"
        );
    }
    let folder = project(&[
        ("test_x.py", "def test_a():\n    pass\n"),
        ("pytest.ini", "[pytest]\naddopts = --no-such-option\n"),
    ]);
    let Some(report) = run(folder.path(), &[], &Selection::All) else {
        return;
    };
    assert_eq!(report.outcome, Outcome::CouldNotStart, "{report:#?}");
    assert!(
        report.output_tail.contains("no-such-option"),
        "{}",
        report.output_tail
    );
}

#[test]
fn workers_of_the_project_still_report() {
    let folder = project(&[(
        "test_x.py",
        "import pytest\n@pytest.mark.parametrize('n', range(20))\ndef test_n(n):\n    assert n != 7\n",
    )]);
    let Some(report) = run(folder.path(), &["-p", "xdist", "-n", "2"], &Selection::All) else {
        return;
    };
    if report.output_tail.contains("No module named 'xdist'") {
        return skip::skip("target/test-venv has no pytest-xdist; the test command installs it");
    }
    assert_eq!(
        (report.outcome, report.passed, report.failed),
        (Outcome::Ran, 19, 1),
        "{report:#?}"
    );
}

const HANGING: &str = "
import pytest, time
from count import count

@pytest.fixture(scope='module')
def server():
    time.sleep(4715)

@pytest.fixture
def late():
    yield
    count(1)

@pytest.mark.parametrize('n', [0, 1])
def test_count(n):
    assert count(n) == n

def test_setup(server):
    pass

def test_setup_again(server):
    pass

def test_teardown(late):
    pass

def test_swallows():
    while True:
        try:
            sum(range(9))
        except BaseException:
            pass

def test_good():
    pass
";

/// Tests, fixtures, imports: each that hangs is red with its place, and the others run.
#[test]
fn what_hangs_is_red_and_the_others_run() {
    let count = "def count(n):\n    while n:\n        pass\n    return n\n";
    let folder = project(&[
        ("test_x.py", HANGING),
        ("test_y.py", "while True:\n    pass\n"),
        ("count.py", count),
    ]);
    let options = RunnerOptions {
        each_test: Some(Duration::from_secs(1)),
        ..RunnerOptions::default()
    };
    let Some(report) = run_with(folder.path(), &[], &Selection::All, options) else {
        return;
    };
    assert_eq!(report.outcome, Outcome::Ran, "{report:#?}");
    let shown: Vec<String> = report
        .failures
        .iter()
        .map(|failure| failure.shown())
        .collect();
    assert_eq!(
        shown,
        [
            "test_y.py (test_y.py:1): hung at test_y.py:1 (`while True:`) after 3 s",
            "test_x.py::test_count[1] (count.py:2): hung at count.py:2 (`while n:`) after 1 s",
            "test_x.py::test_setup (test_x.py:7): hung at test_x.py:7 (`time.sleep(4715)`) after 3 s",
            "test_x.py::test_setup_again (test_x.py:7): Hung: hung at test_x.py:7 (`time.sleep(4715)`) after 3 s",
            "test_x.py::test_teardown (count.py:2): hung at count.py:2 (`while n:`) after 1 s",
            "test_x.py::test_swallows (test_x.py:28): hung at test_x.py:28 (`while True:`) after 1 s",
        ]
    );
    assert_eq!(
        report.passed_ids,
        ["test_x.py::test_count[0]", "test_x.py::test_good"]
    );
}
