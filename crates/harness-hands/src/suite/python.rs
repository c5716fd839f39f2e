//! Python suites: our own script runs pytest or unittest with the project's interpreter and writes
//! a report, a line a test. Only a report with its last line counts.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Duration;

use harness_code::suite::{Runner as Framework, Suite};
use serde::{Deserialize, Serialize};

use crate::process::private::Private;
use crate::process::runner::{Job, Reach, Runner, RunnerError};
use crate::suite::interpreter::{Interpreter, Unusable};
use crate::suite::running::{Follower, LOOK_AGAIN, Running};
use crate::suite::select::WantedTests;
use crate::suite::usual::{Seen, TestLimits, Usual};
use crate::suite::{
    Failure, Lines, Outcome, Selection, SuiteReport, Verdict, Watch, select, shown_path,
};

/// The script that runs the tests, and what it loads from its own folder.
pub(super) const SCRIPTS: [(&str, &str); 2] = [
    ("report.py", include_str!("report.py")),
    ("watchdog.py", include_str!("watchdog.py")),
];

/// Each is a test that could be ended only together with its process; more than a few have one reason.
const MOST_PROCESSES: u32 = 20;

/// No honest report of a suite is larger; a runaway one must not fill our memory.
const REPORT_LIMIT: u64 = 256 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    Pytest,
    Unittest,
    Script,
}

#[derive(Serialize)]
struct Config<'a> {
    mode: Mode,
    arguments: Vec<String>,
    selection: Vec<String>,
    report: &'a Path,
    folder: &'a Path,
    root: &'a Path,
    modules: &'a [String],
    lines: bool,
    limits: TestLimits,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Collected { count: u32 },
    Test(Box<TestLine>),
    Modules { files: BTreeMap<String, String> },
    Lines { id: String, files: Lines },
    End { exit: i32 },
    Refused {},
}

#[derive(Deserialize)]
struct TestLine {
    id: String,
    outcome: String,
    message: String,
    traceback: String,
    file: Option<String>,
    line: Option<u32>,
    stage: String,
    #[serde(default)]
    seconds: f64,
    hung: Option<f64>,
    definition: Option<(String, String)>,
}

/// Says whether a suite is a Python script of the project, such as Django's `manage.py test`.
fn is_script(suite: &Suite) -> bool {
    let is_python =
        suite.interpreter.is_some() && suite.command.first() == suite.interpreter.as_ref();
    is_python
        && suite
            .command
            .get(1)
            .is_some_and(|script| script.ends_with(".py"))
}

pub(super) fn run(
    runner: &Runner,
    suite: &Suite,
    selection: &Selection,
    watch: &Watch,
    cancel: &AtomicBool,
    tell: &mut dyn FnMut(&Running),
) -> SuiteReport {
    let private = match Private::new() {
        Ok(private) => private,
        Err(error) => {
            let error = RunnerError::Private(error);
            return SuiteReport::could_not_start(error.to_string(), runner.sandbox());
        }
    };
    let program = Path::new(suite.python());
    let interpreter = match Interpreter::of(runner, program, &private, cancel) {
        Ok(interpreter) => interpreter,
        Err(Unusable::Interrupted) => {
            return SuiteReport::empty(Outcome::Interrupted, String::new(), runner.sandbox());
        }
        Err(error) => {
            return SuiteReport::could_not_start(error.to_string(), runner.sandbox());
        }
    };
    let python = Python {
        runner,
        suite,
        interpreter,
        private,
        watch,
    };
    match mode(suite).unwrap_or(Mode::Unittest) {
        Mode::Pytest if !python.interpreter.has_pytest => {
            python.without_pytest(selection, cancel, tell)
        }
        mode => python.run(mode, selection, cancel, tell),
    }
}

/// Returns how our script runs a suite, when it is one of Python's.
pub(super) fn mode(suite: &Suite) -> Option<Mode> {
    match suite.runner {
        Framework::Pytest => Some(Mode::Pytest),
        Framework::Unittest => Some(Mode::Unittest),
        Framework::Other | Framework::Make if is_script(suite) => Some(Mode::Script),
        Framework::Other
        | Framework::Cargo
        | Framework::Go
        | Framework::Npm
        | Framework::Pnpm
        | Framework::Yarn
        | Framework::Bun
        | Framework::Maven
        | Framework::Gradle
        | Framework::Phpunit
        | Framework::Rspec
        | Framework::Rake
        | Framework::Ctest
        | Framework::Dotnet
        | Framework::Make => None,
    }
}

struct Python<'a> {
    runner: &'a Runner,
    suite: &'a Suite,
    interpreter: Interpreter,
    private: Private,
    watch: &'a Watch,
}

impl Python<'_> {
    /// Tests that are unittest classes run without pytest too; others say what they miss.
    fn without_pytest(
        &self,
        selection: &Selection,
        cancel: &AtomicBool,
        tell: &mut dyn FnMut(&Running),
    ) -> SuiteReport {
        let report = self.run(Mode::Unittest, selection, cancel, tell);
        let says_something = report.outcome == Outcome::Ran && report.passed + report.failed > 0;
        let was_stopped = matches!(report.outcome, Outcome::Interrupted | Outcome::TimedOut);
        if says_something || was_stopped {
            return report;
        }
        let words = format!(
            "pytest is not installed in `{}`",
            self.interpreter.executable.display()
        );
        // What unittest says of tests that are not its own is no failure of them.
        SuiteReport {
            missing_dependency: Some("pytest".to_string()),
            seconds: report.seconds,
            restored: report.restored,
            ..SuiteReport::could_not_start(words, report.sandbox)
        }
    }

    fn run(
        &self,
        mode: Mode,
        selection: &Selection,
        cancel: &AtomicBool,
        tell: &mut dyn FnMut(&Running),
    ) -> SuiteReport {
        let report = self.try_run(mode, selection, cancel, tell);
        report.unwrap_or_else(|error| {
            SuiteReport::could_not_start(error.to_string(), self.runner.sandbox())
        })
    }

    /// Runs one process to its end and reads along meanwhile. Listeners are told in the thread that asked.
    fn process(
        &self,
        job: &Job<'_>,
        follower: &mut Follower,
        cancel: &AtomicBool,
        tell: &mut dyn FnMut(&Running),
    ) -> Result<SuiteReport, RunnerError> {
        let (sender, ended) = mpsc::channel();
        let finished = std::thread::scope(|scope| {
            scope.spawn(move || sender.send(self.runner.run(job, &self.private, cancel)));
            loop {
                match ended.recv_timeout(LOOK_AGAIN) {
                    Ok(finished) => return Some(finished),
                    Err(mpsc::RecvTimeoutError::Disconnected) => return None,
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        follower.look().iter().for_each(&mut *tell);
                    }
                }
            }
        });
        let gone = || RunnerError::Private(std::io::ErrorKind::BrokenPipe.into());
        Ok(SuiteReport::of_process(&finished.ok_or_else(gone)??))
    }

    fn try_run(
        &self,
        mode: Mode,
        selection: &Selection,
        cancel: &AtomicBool,
        tell: &mut dyn FnMut(&Running),
    ) -> Result<SuiteReport, RunnerError> {
        let root = self.runner.project();
        let folder = self.suite.place(root);
        let wanted = match select::read_all(selection, &folder) {
            Ok(wanted) => wanted,
            Err(trespass) => {
                let (words, sandbox) = (trespass.sentence, self.runner.sandbox());
                return Ok(SuiteReport::empty(Outcome::NoTests, words, sandbox));
            }
        };
        let place = self.private.report();
        let report = place.join("report.jsonl");
        let (arguments, chosen) =
            arguments(self.suite, mode, &wanted, &folder, &place.join("cache"));
        let stack = place.join("stack.txt");
        let usual = Usual::of(self.runner.origin(), self.suite);
        let config = Config {
            mode,
            arguments,
            selection: chosen,
            report: &report,
            folder: &folder,
            root,
            modules: &self.watch.modules,
            lines: self.watch.lines,
            limits: usual.limits(self.runner, &stack),
        };
        let settings = place.join("config.json");
        let text = serde_json::to_vec(&config).map_err(std::io::Error::from)?;
        for (name, script) in SCRIPTS {
            std::fs::write(place.join(name), script)?;
        }
        std::fs::write(&settings, text)?;
        // A second try must not read what the first wrote.
        for left in [&report, &stack] {
            let _ = std::fs::remove_file(left);
        }
        let script = place.join("report.py").into_os_string();
        let mut job = Job {
            program: &self.interpreter.executable,
            arguments: vec![script, settings.into_os_string()],
            folder: &folder,
            environment: self.interpreter.environment(self.runner, &self.private),
            reach: Reach::Project {
                readable: self.interpreter.reads(),
                writable: Vec::new(),
            },
            limits: self.runner.limits(),
        };
        let mut follower = Follower::new(report.clone());
        let mut answer = self.process(&job, &mut follower, cancel, tell)?;
        for _ in 1..MOST_PROCESSES {
            let ended_by_us = std::fs::metadata(&stack).is_ok_and(|found| found.len() > 0);
            let spent = Duration::from_secs_f64(answer.seconds);
            job.limits.time = self.runner.limits().time.saturating_sub(spent);
            if !ended_by_us || answer.outcome != Outcome::NoReport || job.limits.time.is_zero() {
                break;
            }
            // It goes on with the tests that are left.
            let before = (answer.seconds, std::mem::take(&mut answer.restored));
            answer = self.process(&job, &mut follower, cancel, tell)?;
            answer.seconds += before.0;
            answer.restored.extend(before.1);
        }
        let mut seen = read_report(&report, root, mode, &mut answer);
        let is_whole = *selection == Selection::All && answer.outcome == Outcome::Ran;
        seen.whole = is_whole.then_some(answer.seconds);
        answer.slowest = seen.slowest();
        usual.keep(seen);
        Ok(answer)
    }
}

/// Returns the arguments of the runner, and the tests that are chosen by name.
pub(super) fn arguments(
    suite: &Suite,
    mode: Mode,
    wanted: &[WantedTests],
    folder: &Path,
    cache: &Path,
) -> (Vec<String>, Vec<String>) {
    let command = &suite.command;
    match mode {
        Mode::Pytest => {
            let mut arguments = after(command, "pytest");
            arguments.extend(PYTEST.split_ascii_whitespace().map(String::from));
            arguments.push(format!("cache_dir={}", cache.display()));
            arguments.extend(select::for_pytest(wanted, folder));
            (arguments, Vec::new())
        }
        Mode::Unittest => (after(command, "unittest"), select::for_unittest(wanted)),
        Mode::Script => {
            let mut arguments: Vec<String> = command.iter().skip(1).cloned().collect();
            arguments.extend(select::for_unittest(wanted));
            (arguments, Vec::new())
        }
    }
}

/// Everything runs, whatever the project's own settings cut short; the cache is not theirs.
const PYTEST: &str = "\
    -q --color=no --tb=short --maxfail=0 --continue-on-collection-errors -p no:randomly -o";

/// Returns the arguments behind the name of the module that runs the tests.
fn after(command: &[String], module: &str) -> Vec<String> {
    match command.iter().position(|word| word == module) {
        Some(at) => command[at + 1..].to_vec(),
        None => Vec::new(),
    }
}

/// Reads the report. What was written before a crash is read too, but then nothing counts as run.
fn read_report(path: &Path, root: &Path, mode: Mode, answer: &mut SuiteReport) -> Seen {
    let Ok(file) = std::fs::File::open(path) else {
        return Seen::default();
    };
    let lines = BufReader::new(file.take(REPORT_LIMIT))
        .split(b'\n')
        .map_while(Result::ok);
    read_lines(lines, root, mode, answer)
}

/// Reads the lines of a report. Returns what is to be known of these tests when they run again.
pub(super) fn read_lines(
    lines: impl Iterator<Item = Vec<u8>>,
    root: &Path,
    mode: Mode,
    answer: &mut SuiteReport,
) -> Seen {
    let mut seen = Seen::default();
    let mut missing = Vec::new();
    let mut exit = None;
    let mut last_words = String::new();
    let (mut to_run, mut ran) = (0, 0);
    for line in lines {
        match serde_json::from_slice::<Line>(&line) {
            Ok(Line::Collected { count }) => {
                answer.collected += count;
                to_run += count;
            }
            Ok(Line::Test(test)) => {
                if test.stage == "collect" {
                    answer.collected += u32::from(mode == Mode::Pytest);
                    missing.extend(
                        missing_module(&test.message).or_else(|| missing_module(&test.traceback)),
                    );
                }
                ran += u32::from(test.stage != "collect");
                last_words.clone_from(&test.id);
                seen.definitions.extend(test.definition.clone());
                if test.outcome == "passed" {
                    seen.passed.push((test.id.clone(), test.seconds));
                }
                count(*test, root, answer);
            }
            Ok(Line::Modules { files }) => {
                let is_inside = |file: &str| Path::new(file).starts_with(root);
                let elsewhere = files.into_iter().filter(|(_, file)| !is_inside(file));
                answer.imported_elsewhere.extend(elsewhere);
            }
            Ok(Line::Lines { id, files }) => drop(answer.lines.insert(id, files)),
            Ok(Line::End { exit: code }) => exit = Some(code),
            Ok(Line::Refused {}) if answer.outcome == Outcome::NoReport => {
                answer.outcome = Outcome::CouldNotStart;
            }
            Ok(Line::Refused {}) => {}
            // A line of a newer or a torn report.
            Err(_) => {}
        }
    }
    let was_stopped = matches!(answer.outcome, Outcome::TimedOut | Outcome::Interrupted);
    match exit {
        // pytest did not understand its arguments or its configuration.
        Some(4) if mode == Mode::Pytest && answer.collected == 0 => {
            answer.outcome = Outcome::CouldNotStart;
        }
        // The runner was told to stop in the middle: what did not run proves nothing.
        Some(_) if mode == Mode::Pytest && ran < to_run => {
            answer
                .output_tail
                .push_str(&format!("\n[stopped after {ran} of {to_run} tests]"));
        }
        Some(_) if !was_stopped => answer.complete(),
        Some(_) | None => {
            if !last_words.is_empty() {
                answer.output_tail.push_str(&format!(
                    "\n[the last test that was reported: {last_words}]"
                ));
            }
        }
    }
    tell_missing(missing, root, answer);
    seen
}

/// Tells which packages are not installed; without the first of them nothing passed, where nothing did.
fn tell_missing(mut missing: Vec<String>, root: &Path, answer: &mut SuiteReport) {
    missing.retain(|module| is_foreign(module, root));
    if answer.passed == 0 {
        let printed = || {
            let module = missing_module(&answer.output_tail)?;
            let is_early = answer.outcome != Outcome::Ran;
            (is_early && is_foreign(&module, root)).then_some(module)
        };
        answer.missing_dependency = missing.first().cloned().or_else(printed);
    }
    for module in missing {
        *answer.lacking.entry(module).or_default() += 1;
    }
}

fn count(test: TestLine, root: &Path, answer: &mut SuiteReport) {
    let verdict = match test.outcome.as_str() {
        "passed" => Verdict::Passed,
        "failed" => Verdict::Failed,
        "skipped" => Verdict::Skipped,
        _ => Verdict::Error,
    };
    let failure = Failure {
        id: test.id,
        message: test.message,
        traceback: test.traceback,
        file: test.file.map(|file| shown_path(&file, root)),
        line: test.line,
        hung: test.hung.map(Duration::from_secs_f64),
    };
    answer.count(verdict, failure);
}

fn missing_module(text: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once("No module named ")?;
    let name: String = rest
        .chars()
        .skip_while(|c| *c == '\'' || *c == '"')
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then_some(name)
}

/// A module that the project itself should have is a fault of the project, not of the machine.
fn is_foreign(module: &str, root: &Path) -> bool {
    let homes: [PathBuf; 4] = [
        root.to_path_buf(),
        root.join("src"),
        root.join("lib"),
        root.join("tests"),
    ];
    !homes
        .iter()
        .any(|home| home.join(module).is_dir() || home.join(format!("{module}.py")).is_file())
}
