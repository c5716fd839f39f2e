//! Python suites run for real: counts, ids, tracebacks, and every way a suite can lie or misbehave.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out projects on the disk, and a broken bench ends them"
)]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::suite::{Runner as Framework, Suite};
use harness_hands::permit::{Access, Project};
use harness_hands::process::Limits;
use harness_hands::process::runner::RunnerOptions;
use harness_hands::suite::{self, Outcome, Selection, SuiteReport};

#[cfg(target_os = "linux")]
#[path = "../../../tests/support/marked.rs"]
mod marked;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn unittest() -> Suite {
    Suite {
        runner: Framework::Unittest,
        command: ["python3", "-m", "unittest", "discover"]
            .map(str::to_string)
            .to_vec(),
        interpreter: Some("python3".to_string()),
        interpreter_why: None,
        missing: Vec::new(),
        folder: None,
        why: String::new(),
    }
}

fn run(folder: &Path, suite: &Suite, selection: &Selection) -> SuiteReport {
    run_for(folder, suite, selection, Duration::from_secs(300))
}

fn run_for(folder: &Path, suite: &Suite, selection: &Selection, time: Duration) -> SuiteReport {
    let project = Project::open(folder, None, Access::Writing).unwrap();
    let limits = Limits {
        time,
        ..Limits::default()
    };
    let project = project.with_runner_options(RunnerOptions {
        limits,
        ..RunnerOptions::default()
    });
    suite::run(
        project.runner().unwrap(),
        suite,
        selection,
        &AtomicBool::new(false),
    )
}

const MIXED: &str = "
import unittest

class T(unittest.TestCase):
    def test_good(self):
        self.assertEqual(1, 1)
    def test_bad(self):
        self.assertEqual(1, 2)
    def test_broken(self):
        raise KeyError('x')
    @unittest.skip('later')
    def test_later(self):
        pass
    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)
";

#[test]
fn unittest_results_are_counted_by_test() {
    let folder = project(&[("test_mixed.py", MIXED)]);
    let report = run(folder.path(), &unittest(), &Selection::All);
    assert_eq!(report.outcome, Outcome::Ran, "{report:#?}");
    let counts = (
        report.passed,
        report.failed,
        report.errors,
        report.skipped,
        report.collected,
    );
    assert_eq!(counts, (1, 2, 1, 1, 5), "{report:#?}");
    assert_eq!(report.passed_ids, ["test_mixed.T.test_good"]);
    let bad = &report.failures[0];
    assert_eq!(
        bad.shown(),
        "test_mixed.T.test_bad (test_mixed.py:8): AssertionError: 1 != 2"
    );
    assert!(
        bad.traceback.contains("self.assertEqual(1, 2)"),
        "{}",
        bad.traceback
    );
    // No litter.
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["test_mixed.py"]);
}

#[test]
fn some_tests_run_alone() {
    let folder = project(&[
        ("tests/test_mixed.py", MIXED),
        ("tests/test_other.py", MIXED),
    ]);
    let suite = Suite {
        command: ["python3", "-m", "unittest", "discover", "-s", "tests"]
            .map(str::to_string)
            .to_vec(),
        ..unittest()
    };
    for name in [
        "tests/test_mixed.py::T::test_good",
        "tests.test_mixed.T.test_good",
        "test_mixed.T.test_good",
    ] {
        let report = run(
            folder.path(),
            &suite,
            &Selection::Some(vec![name.to_string()]),
        );
        assert_eq!(
            report.passed_ids,
            ["test_mixed.T.test_good"],
            "{name}: {report:#?}"
        );
        assert_eq!(report.collected, 1);
    }
    let report = run(
        folder.path(),
        &suite,
        &Selection::Some(vec!["tests/test_other.py".into()]),
    );
    assert_eq!(report.collected, 5, "{report:#?}");
    let report = run(
        folder.path(),
        &suite,
        &Selection::Some(vec!["--help".into()]),
    );
    assert_eq!(report.outcome, Outcome::NoTests, "{report:#?}");
}

fn one_test(body: &str) -> String {
    let body = body.replace('\n', "\n        ");
    format!(
        "import os, sys, time, unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n    def test_b(self):\n        {body}\n    def test_c(self):\n        pass\n"
    )
}

#[test]
fn an_early_exit_is_no_pass() {
    for body in [
        "os._exit(0)",
        "os.kill(os.getpid(), 9)",
        "import ctypes\nctypes.string_at(0)",
    ] {
        let folder = project(&[("test_x.py", &one_test(body))]);
        let report = run(folder.path(), &unittest(), &Selection::All);
        assert_eq!(report.outcome, Outcome::NoReport, "{body}: {report:#?}");
        assert!(
            report.output_tail.contains("test_x.T.test_a"),
            "{}",
            report.output_tail
        );
    }
    let folder = project(&[("test_x.py", "import os\nos._exit(0)\n")]);
    assert_eq!(
        run(folder.path(), &unittest(), &Selection::All).outcome,
        Outcome::NoReport
    );
}

#[test]
fn no_tests_are_no_pass() {
    let folder = project(&[("app.py", "x = 1\n")]);
    let report = run(folder.path(), &unittest(), &Selection::All);
    assert_eq!(
        (report.outcome, report.collected),
        (Outcome::NoTests, 0),
        "{report:#?}"
    );
}

#[test]
fn a_suite_without_its_runner_has_no_failures_of_another() {
    let environment = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(environment.path())
        .status();
    assert!(made.unwrap().success());
    let programs = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    let python = environment.path().join(programs).display().to_string();
    let suite = Suite {
        runner: Framework::Pytest,
        command: [&*python, "-m", "pytest"].map(String::from).to_vec(),
        interpreter: Some(python),
        ..unittest()
    };
    let folder = project(&[("test_x.py", "import pytest\n\n\ndef test_a():\n    pass\n")]);
    let report = run(folder.path(), &suite, &Selection::All);
    assert_eq!(
        (report.missing_dependency.as_deref(), report.errors),
        (Some("pytest"), 0),
        "{report:#?}"
    );
    assert!(report.failures.is_empty(), "{report:#?}");
}

#[test]
fn a_missing_package_is_named() {
    let folder = project(&[(
        "test_x.py",
        "import unittest\nimport surely_not_installed\n",
    )]);
    let report = run(folder.path(), &unittest(), &Selection::All);
    assert_eq!(
        report.missing_dependency.as_deref(),
        Some("surely_not_installed"),
        "{report:#?}"
    );
    let folder = project(&[
        ("test_x.py", "import unittest\nimport app.gone\n"),
        ("app/__init__.py", ""),
    ]);
    let report = run(folder.path(), &unittest(), &Selection::All);
    assert_eq!(report.missing_dependency, None, "{report:#?}");
    assert_eq!((report.outcome, report.errors), (Outcome::Ran, 1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_suite_that_hangs_is_ended_with_all_it_started() {
    let word = marked::marker();
    let body = format!(
        "import subprocess\nsubprocess.Popen(['sleep', '{word}'], start_new_session=True)\ntime.sleep(4711)"
    );
    let folder = project(&[("test_x.py", &one_test(&body))]);
    let report = run_for(
        folder.path(),
        &unittest(),
        &Selection::All,
        Duration::from_secs(2),
    );
    assert_eq!(report.outcome, Outcome::TimedOut, "{report:#?}");
    assert_eq!(marked::processes_with(&word), 0);
}

/// Runs tests that may take a second each.
fn run_limited(folder: &Path, suite: &Suite, selection: &Selection) -> SuiteReport {
    let project = Project::open(folder, None, Access::Writing).unwrap();
    let project = project.with_runner_options(RunnerOptions {
        each_test: Some(Duration::from_secs(1)),
        ..RunnerOptions::default()
    });
    let cancel = AtomicBool::new(false);
    suite::run(project.runner().unwrap(), suite, selection, &cancel)
}

const COUNT: &str = "def count(n):\n    total = 0\n    while n:\n        total += one()\n    return total\n\n\ndef one():\n    return 1\n";

/// Runs three tests of which the second hangs: it is red with its place, and the others pass.
fn check_hanging(places: &[(&str, &str)]) {
    for (body, words) in places {
        let folder = project(&[("test_x.py", &one_test(body)), ("count.py", COUNT)]);
        let report = run_limited(folder.path(), &unittest(), &Selection::All);
        assert_eq!(report.outcome, Outcome::Ran, "{body}: {report:#?}");
        let counts = (
            report.passed,
            report.failed,
            report.errors,
            report.collected,
        );
        assert_eq!(counts, (2, 1, 0, 3), "{body}: {report:#?}");
        let failure = &report.failures[0];
        let told = (failure.id.as_str(), failure.message.as_str());
        assert_eq!(told, ("test_x.T.test_b", *words));
        assert_eq!(failure.hung, Some(Duration::from_secs(1)));
        assert!(
            failure.traceback.contains("test_x.py\", line "),
            "{failure:#?}"
        );
    }
}

#[test]
fn a_test_that_hangs_is_red_and_the_others_run() {
    check_hanging(&[
        (
            "from count import count\ncount(3)",
            "hung at count.py:3 (`while n:`) after 1 s",
        ),
        (
            "time.sleep(4713)",
            "hung at test_x.py:7 (`time.sleep(4713)`) after 1 s",
        ),
        (
            "for n in range(2):\n    with self.subTest(n=n):\n        time.sleep(4713)",
            "hung at test_x.py:9 (`time.sleep(4713)`) after 1 s",
        ),
        (
            "import asyncio\nasyncio.run(asyncio.sleep(4713))",
            "hung at test_x.py:8 (`asyncio.run(asyncio.sleep(4713))`) after 1 s",
        ),
    ]);
}

#[test]
fn a_test_that_cannot_be_interrupted_is_ended_with_its_process() {
    check_hanging(&[
        (
            "while True:\n    try:\n        sum(range(9))\n    except BaseException:\n        pass",
            "hung at test_x.py:7 (`while True:`) after 1 s",
        ),
        // The interpreter itself never gets a turn.
        (
            "7 ** (10 ** 9)",
            "hung at test_x.py:7 (`7 ** (10 ** 9)`) after 1 s",
        ),
        // The timer is the test's own.
        (
            "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass",
            "hung at test_x.py:9 (`while True: pass`) after 1 s",
        ),
    ]);
}

/// The way there is in the traceback, so that the definition is blamed; a second test costs no more than it must.
#[test]
fn where_it_hung_is_told_like_an_error() {
    let text = "import unittest\nfrom count import count\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        count(1)\n    def test_b(self):\n        count(2)\n";
    let folder = project(&[("test_x.py", text), ("count.py", COUNT)]);
    let report = run_limited(folder.path(), &unittest(), &Selection::All);
    let shown: Vec<String> = report
        .failures
        .iter()
        .map(|failure| failure.shown())
        .collect();
    let words = "(count.py:3): hung at count.py:3 (`while n:`) after 1 s";
    assert_eq!(
        shown,
        [
            format!("test_x.T.test_a {words}"),
            format!("test_x.T.test_b {words}")
        ]
    );
    let trace = &report.failures[0].traceback;
    assert!(trace.contains("in test_a\n    count(1)\n"), "{trace}");
    assert!(
        trace.contains("count.py\", line ") && !trace.contains("unittest/"),
        "{trace}"
    );
    assert!(report.seconds_that_ended() < report.seconds - 1.9);
}

#[test]
fn what_hangs_around_tests_is_named() {
    let text = "import threading, time, unittest\n\nclass A(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        time.sleep(4714)\n    def test_never(self):\n        pass\n\nclass B(unittest.TestCase):\n    def test_left_running(self):\n        threading.Thread(target=time.sleep, args=(4714,)).start()\n";
    let folder = project(&[
        ("test_x.py", text),
        ("test_y.py", "import time\ntime.sleep(4714)\n"),
    ]);
    let report = run_limited(folder.path(), &unittest(), &Selection::All);
    assert_eq!(report.outcome, Outcome::Ran, "{report:#?}");
    let shown: Vec<String> = report
        .failures
        .iter()
        .map(|failure| failure.shown())
        .collect();
    assert_eq!(
        shown,
        [
            "setUpClass (test_x.A) (test_x.py:6): hung at test_x.py:6 (`time.sleep(4714)`) after 3 s",
            "test_y (test_y.py:2): hung at test_y.py:2 (`time.sleep(4714)`) after 3 s",
        ]
    );
    assert_eq!(report.passed_ids, ["test_x.B.test_left_running"]);
}

#[test]
fn a_test_that_takes_long_is_told_of_while_it_runs() {
    let folder = project(&[("test_x.py", &one_test("time.sleep(4.5)"))]);
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    let mut told = Vec::new();
    let report = suite::run_watched(
        project.runner().unwrap(),
        &unittest(),
        &Selection::All,
        &suite::Watch::default(),
        &AtomicBool::new(false),
        &mut |running| told.push(running.test.clone()),
    );
    assert_eq!(
        (report.outcome, report.passed),
        (Outcome::Ran, 3),
        "{report:#?}"
    );
    assert_eq!(told, ["test_x.T.test_b"]);
}
