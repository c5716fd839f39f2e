//! The project's tests on their own, run as a run would: in the sandbox, on a private version of the project. Nothing is
//! judged and nothing is kept.

use std::time::Instant;

use harness_code::suite::{PREPARED, Runner, Suite};
use harness_hands::permit::{Access, Project};
use harness_hands::suite::running::Running;
use harness_hands::suite::{Outcome, Selection, SuiteReport, Watch, last_time, run_watched};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cancel::Cancel;
use crate::config::UserConfig;
use crate::options::{AgentOptions, OptionsError, shown};
use crate::run::event::{EventKind, Listener, tell, tell_running};
use crate::run::log::tests_begin;
use crate::run::result::{Counts, FailedTest, Stopped};
use crate::run::why;

/// Failures that a result holds; the rest is counted.
const MOST_FAILURES: usize = 50;

/// What the project's tests said.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TestResult {
    /// Whether at least one test passed and none failed.
    pub ok: bool,
    /// The closing sentence.
    pub summary: String,
    /// `done` when the tests said something, `stuck` when they could not, `interrupted` when somebody stopped them.
    pub stopped: Stopped,
    /// The command that ran them.
    pub command: String,
    /// Why that command, and that interpreter.
    pub why: String,
    /// How many there were, and how they ended.
    pub tests: Counts,
    /// Tests that were skipped or expected to fail.
    pub skipped: u32,
    /// Those that did not pass, in the order they ran, and code that did not compile.
    pub failures: Vec<FailedTest>,
    /// How long it took.
    pub seconds: f64,
    /// Tests that took longest, the slowest first, where their runner tells: from one second on, at most five.
    pub slowest: Vec<SlowTest>,
    /// Which sandbox held them.
    pub sandbox: String,
    /// What to do next where the tests could not run or some failed; empty otherwise.
    pub hint: String,
}

/// A test that takes long.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SlowTest {
    /// Its id, as its runner spells it.
    pub id: String,
    /// How long it took.
    pub seconds: f64,
}

impl TestResult {
    fn without_tests(summary: &str, hint: &str) -> TestResult {
        TestResult {
            ok: false,
            summary: summary.to_owned(),
            stopped: Stopped::Stuck,
            command: String::new(),
            why: String::new(),
            tests: Counts::default(),
            skipped: 0,
            failures: Vec::new(),
            seconds: 0.0,
            slowest: Vec::new(),
            sandbox: String::new(),
            hint: hint.to_owned(),
        }
    }

    fn of(report: &SuiteReport, suite: &Suite) -> TestResult {
        let failed = report.failed + report.errors;
        let problem = why::unusable(report);
        let stopped = match (&report.outcome, &problem) {
            (Outcome::Interrupted, _) => Stopped::Interrupted,
            (_, Some(_)) => Stopped::Stuck,
            (_, None) => Stopped::Done,
        };
        // Without its runner a suite is run by unittest, as far as that goes.
        let is_without_runner =
            suite.runner == Runner::Pytest && suite.missing.iter().any(|name| name == "pytest");
        let lacking = match why::lacking(report) {
            None if is_without_runner => Some("`pytest` is not installed".to_owned()),
            Some(lacking) if is_without_runner && !lacking.contains("`pytest`") => {
                Some(format!("`pytest` is not installed, and {lacking}"))
            }
            lacking => lacking,
        };
        let refused = report
            .refused
            .first()
            .and_then(|first| first.file.as_deref());
        let is_told = matches!(report.outcome, Outcome::NoReport | Outcome::CouldNotStart)
            && why::sign(&report.output_tail).is_some();
        let hint = match &problem {
            Some((_, "")) if refused.is_some() => {
                let file = refused.unwrap_or_default();
                format!("`harness run \"fix the error in {file}\"` works on it")
            }
            // Nothing else than the code can be mended.
            Some((_, "")) if is_told => String::new(),
            Some((_, "")) => "`harness doctor` looks at how the tests are run".to_owned(),
            Some((_, hint)) => to_install(hint, report, suite),
            None if lacking.is_some() => to_install(why::PREPARE, report, suite),
            None if failed > 0 => {
                "`harness run \"fix the failing tests\"` works on them".to_owned()
            }
            None => String::new(),
        };
        let lacking = lacking.map_or(String::new(), |lacking| format!("; {lacking}"));
        let counted = format!("{} passed, {failed} failed{lacking}", report.passed);
        TestResult {
            ok: problem.is_none() && failed == 0 && report.passed > 0,
            summary: problem
                .as_ref()
                .map_or(counted, |(reason, _)| reason.clone()),
            stopped,
            command: suite.command.join(" "),
            why: suite.reason(),
            tests: Counts::from(report),
            skipped: report.skipped,
            failures: report
                .failures
                .iter()
                .chain(&report.refused)
                .take(MOST_FAILURES)
                .map(FailedTest::from)
                .collect(),
            seconds: report.seconds,
            slowest: report
                .slowest
                .iter()
                .map(|(id, seconds)| SlowTest {
                    id: id.clone(),
                    seconds: *seconds,
                })
                .collect(),
            sandbox: report.sandbox.to_string(),
            hint,
        }
    }
}

/// Returns what to type where packages are missing. What `prepare` could not know of is named: nothing is installed that
/// no file of the project asks for.
fn to_install(hint: &str, report: &SuiteReport, suite: &Suite) -> String {
    let is_prepared = suite.interpreter_why.as_deref() == Some(PREPARED);
    let mut names: Vec<&str> = report.lacking.keys().map(String::as_str).collect();
    names.extend(report.missing_dependency.as_deref());
    names.sort_unstable();
    names.dedup();
    match (&suite.interpreter, names.is_empty()) {
        (Some(python), false) if is_prepared && hint == why::PREPARE => {
            let names = names.join(" ");
            format!(
                "no file of the project asks for it: `{python} -m pip install {names}` adds it where it was prepared, if that is what its package is called"
            )
        }
        _ => hint.to_owned(),
    }
}

/// Everything that running the tests needs.
pub(crate) struct SuiteOrder<'a> {
    pub(crate) options: &'a AgentOptions,
    pub(crate) config: &'a UserConfig,
    /// How the project's tests are run, when it has any.
    pub(crate) suite: Option<Suite>,
    /// The tests that are wanted; none means all.
    pub(crate) tests: &'a [String],
    pub(crate) listener: &'a mut dyn Listener,
    pub(crate) cancel: &'a Cancel,
}

/// Runs the project's tests, all or some.
pub(crate) fn perform(order: SuiteOrder<'_>) -> Result<TestResult, OptionsError> {
    let checked = order.options.check()?;
    for test in order.tests {
        check_name(test)?;
    }
    let access = match order.options.allow_writes {
        true => Access::Writing,
        false => Access::ReadOnly,
    };
    let project = Project::open(&checked.project, None, access)
        .map_err(|error| OptionsError::unreadable("project", error))?
        .with_runner_options(super::runner_options(order.options, order.config));
    let Some(runner) = project.runner() else {
        return Ok(TestResult::without_tests(
            "a read-only run starts no program",
            "permit writes to run the tests",
        ));
    };
    let Some(suite) = &order.suite else {
        return Ok(TestResult::without_tests(
            "no way to run the project's tests was found",
            "name the command in the user's config (`[[project]] tests`)",
        ));
    };
    let selection = match order.tests {
        [] => Selection::All,
        tests => Selection::Some(tests.to_vec()),
    };
    let (listener, began) = (order.listener, Instant::now());
    let last = match selection {
        Selection::All => last_time(runner, suite),
        Selection::Some(_) => None,
    };
    let (text, data) = tests_begin(&suite.command.join(" "), last);
    tell(listener, began, EventKind::Started, &text, data);
    let report = match runner.trial(project.door(), None) {
        Ok(version) => {
            let runner = runner.in_scratch(&version);
            let mut tell = |running: &Running| tell_running(listener, began, running);
            let (watch, flag) = (Watch::default(), order.cancel.flag());
            run_watched(&runner, suite, &selection, &watch, &flag, &mut tell)
        }
        Err(error) => SuiteReport::could_not_start(error.to_string(), runner.sandbox()),
    };
    let result = TestResult::of(&report, suite);
    let data = [("result", Value::from(report.output_tail))];
    tell(listener, began, EventKind::Finished, &result.summary, data);
    Ok(result)
}

/// Refuses what can be no name of a test, before anything runs.
fn check_name(test: &str) -> Result<(), OptionsError> {
    let is_name =
        !test.trim().is_empty() && !test.starts_with('-') && !test.chars().any(char::is_control);
    match is_name {
        true => Ok(()),
        false => {
            let message = format!("`{}` names no test", shown(test));
            let hint = "give a test id, a test file or a test name";
            Err(OptionsError::new("tests", message, hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness_hands::process::sandbox::Sandbox;
    use harness_hands::suite::Failure;

    #[track_caller]
    fn check(said: &str, refused: Vec<Failure>, summary: &str, hint: &str, failures: &[&str]) {
        let mut report = SuiteReport::could_not_start(said.to_owned(), Sandbox::None);
        report.outcome = Outcome::NoReport;
        report.refused = refused;
        let suite = Suite {
            runner: Runner::Make,
            command: vec!["make".to_owned()],
            interpreter: None,
            interpreter_why: None,
            missing: Vec::new(),
            folder: None,
            why: String::new(),
        };
        let result = TestResult::of(&report, &suite);
        let places = result.failures.iter();
        let places = places.map(|one| format!("{:?}:{:?}", one.path, one.line));
        assert_eq!((&*result.summary, &*result.hint), (summary, hint));
        assert_eq!(places.collect::<Vec<_>>(), failures);
    }

    #[test]
    fn code_that_does_not_compile_is_told_with_its_place() {
        let refused = Failure {
            id: "a.c [build failed]".to_owned(),
            message: "error: 'total' undeclared".to_owned(),
            traceback: String::new(),
            file: Some("a.c".to_owned()),
            line: Some(1),
            hung: None,
        };
        check(
            "a.c:1:25: error: 'total' undeclared\n",
            vec![refused],
            "the code does not compile: a.c:1: error: 'total' undeclared",
            "`harness run \"fix the error in a.c\"` works on it",
            &["Some(\"a.c\"):Some(1)"],
        );
        check(
            "/usr/bin/ld: a.c:(.text+0x5): undefined reference to `total'\n",
            Vec::new(),
            "the tests gave no report: a.c:(.text+0x5): undefined reference to `total'",
            "",
            &[],
        );
        let hint = "`harness doctor` looks at how the tests are run";
        let summary = "the tests gave no report: all is well";
        check("all is well\n", Vec::new(), summary, hint, &[]);
    }

    #[test]
    fn an_option_is_no_test() {
        for word in ["-h", "", " ", "--rootdir=/", "a\nb"] {
            let error = check_name(word).unwrap_err();
            assert_eq!(error.field, "tests", "{word}");
        }
        for word in ["test_x", "tests/test_a.py::T::test_x[1]", "a.b.C"] {
            assert_eq!(check_name(word), Ok(()), "{word}");
        }
    }
}
