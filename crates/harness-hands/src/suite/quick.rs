//! Many tries a second: every test is collected once, then each try is a fork in which only the
//! code of the changed function is exchanged. Its verdicts sort suspects; the suite has the last word.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_code::suite::Suite;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::process::private::Private;
use crate::process::runner::{Job, Reach, Runner};
use crate::scratch::Scratch;
use crate::suite::interpreter::{Interpreter, Unusable};
use crate::suite::python::{self, Mode};
use crate::suite::reused::Process;
use crate::suite::tried::{QuickError, Trace, Tried, Wanted};
use crate::suite::usual::TestLimits;

/// The script that answers, and what it loads from its own folder beside the scripts of a suite.
const SCRIPTS: [(&str, &str); 2] = [
    ("quick.py", include_str!("quick.py")),
    ("pieces.py", include_str!("pieces.py")),
];

/// Collecting the tests of a large project takes its time.
const COLLECTING: Duration = Duration::from_secs(60);

/// A file whose import hangs is given up after three times this.
const IMPORT: Duration = Duration::from_secs(3);

/// How long a failing test is followed that may never end: long enough to see every line of its loop.
const TRACED: f64 = 2.0;
/// The same once one did not end: the next one likely hangs in the same place.
const TRACED_AGAIN: f64 = 0.3;

/// A test process with everything collected.
#[derive(Debug)]
pub struct Quick {
    scratch: Scratch,
    process: Process,
    known: Vec<RelPath>,
}

#[derive(Serialize)]
struct Config<'a> {
    mode: Mode,
    arguments: Vec<String>,
    folder: &'a Path,
    root: &'a Path,
    limits: TestLimits,
}

#[derive(Deserialize)]
struct Reply {
    lines: Vec<Line>,
    ended: String,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Stale {
        why: String,
    },
    Rest {},
    End {
        passed: bool,
        test: String,
        ran: u32,
        cpu: f64,
    },
    Lines {
        test: String,
        failing: bool,
        lines: BTreeMap<String, Vec<u32>>,
    },
}

impl Quick {
    /// Collects every test of a scratch copy, which is taken over. Where processes cannot fork, a search does without.
    pub fn start(
        runner: &Runner,
        suite: &Suite,
        scratch: Scratch,
        cancel: &AtomicBool,
    ) -> Result<Quick, QuickError> {
        let unsupported = QuickError::Unsupported(suite.runner.name());
        let mode = python::mode(suite)
            .filter(|mode| cfg!(unix) && *mode != Mode::Script)
            .ok_or(unsupported)?;
        let runner = runner.in_scratch(&scratch);
        let private = Private::new()?;
        let program = Path::new(suite.python());
        let asked = Interpreter::of(&runner, program, &private, cancel);
        let interpreter = asked.map_err(|error| match error {
            Unusable::Interrupted => QuickError::Interrupted,
            Unusable::Runner(_) | Unusable::Broken { .. } => QuickError::Broken(error.to_string()),
        })?;
        let mode = match mode {
            Mode::Pytest if !interpreter.has_pytest => Mode::Unittest,
            Mode::Pytest | Mode::Unittest | Mode::Script => mode,
        };
        let root = runner.project();
        let folder = suite.place(root);
        let place = private.report();
        let (arguments, _) = python::arguments(suite, mode, &[], &folder, &place.join("cache"));
        let config = Config {
            mode,
            arguments,
            folder: &folder,
            root,
            limits: TestLimits::for_tries(IMPORT),
        };
        for (name, text) in SCRIPTS.iter().chain(&python::SCRIPTS) {
            std::fs::write(place.join(name), text)?;
        }
        let settings = place.join("config.json");
        let text = serde_json::to_vec(&config).map_err(std::io::Error::from)?;
        std::fs::write(&settings, text)?;
        let mut environment = interpreter.environment(&runner, &private);
        // Threads do not survive a fork, and many tries run at once.
        let single = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"];
        environment.extend(single.map(|name| (name, "1".into())));
        let job = Job {
            program: &interpreter.executable,
            arguments: vec![
                place.join(SCRIPTS[0].0).into_os_string(),
                settings.into_os_string(),
            ],
            folder: &folder,
            environment,
            reach: Reach::Project {
                readable: interpreter.reads(),
                writable: Vec::new(),
            },
            limits: runner.limits(),
        };
        let process = Process::start(&runner, &job, private, COLLECTING, cancel)?;
        let known = Vec::new();
        Ok(Quick {
            scratch,
            process,
            known,
        })
    }

    /// Ends the process and gives the scratch copy back.
    pub fn into_scratch(self) -> Scratch {
        self.scratch
    }

    /// Runs the tests on the code as it is.
    pub fn run(&mut self, wanted: &Wanted<'_>, cancel: &AtomicBool) -> Result<Tried, QuickError> {
        self.judge(None, wanted, cancel)
    }

    /// Tries one change: the file as it would be, put back afterwards.
    pub fn try_change(
        &mut self,
        path: &RelPath,
        content: &[u8],
        wanted: &Wanted<'_>,
        cancel: &AtomicBool,
    ) -> Result<Tried, QuickError> {
        self.with_change(path, content, |quick, old| {
            quick.judge(Some((path, old)), wanted, cancel)
        })
    }

    /// Does something with a file as it would be, and puts back what it was.
    fn with_change<T>(
        &mut self,
        path: &RelPath,
        content: &[u8],
        attempt: impl FnOnce(&mut Quick, &[u8]) -> Result<T, QuickError>,
    ) -> Result<T, QuickError> {
        let old = std::fs::read(path.under(self.scratch.root()))?;
        self.scratch.put(path, content)?;
        let done = attempt(self, &old);
        self.scratch.put(path, &old)?;
        done
    }

    fn judge(
        &mut self,
        changed: Option<(&RelPath, &[u8])>,
        wanted: &Wanted<'_>,
        cancel: &AtomicBool,
    ) -> Result<Tried, QuickError> {
        let mut request = json!({
            "kind": "try",
            "first": wanted.first,
            "red": wanted.red,
            "near": wanted.near,
            "rest": wanted.rest,
            "cpu": wanted.limit.as_secs_f64(),
            // A sleeping test is cut off too, later: the machine may be busy.
            "seconds": wanted.limit.as_secs_f64() * 3.0 + wanted.waiting.as_secs_f64(),
            "rest_seconds": wanted.rest_limit.as_secs_f64(),
        });
        if let Some((path, old)) = changed {
            request["path"] = json!(path.under(self.scratch.root()));
            if !self.known.contains(path) {
                request["old"] = json!(String::from_utf8_lossy(old));
                self.known.push(path.clone());
            }
        }
        let patience = wanted.limit * 3 + wanted.rest_limit + Duration::from_secs(15);
        let reply = self.reply(&request, patience, cancel)?;
        let reached_rest = reply.lines.iter().any(|line| matches!(line, Line::Rest {}));
        let verdict = reply.lines.into_iter().find_map(|line| match line {
            Line::Stale { why } => Some(Tried::Stale(why)),
            Line::End {
                passed: true,
                ran,
                cpu,
                ..
            } => Some(Tried::Passed {
                tests: ran,
                seconds: cpu,
            }),
            Line::End { test, cpu, .. } => Some(Tried::Failed {
                test,
                broke: reached_rest,
                seconds: cpu,
            }),
            Line::Rest {} | Line::Lines { .. } => None,
        });
        Ok(verdict
            .filter(|_| reply.ended == "told")
            .unwrap_or(Tried::Lost))
    }

    /// Tells which lines the failing tests run, and the others as far as time allows.
    pub fn trace(
        &mut self,
        first: &[String],
        red: &[String],
        limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Vec<Trace>, QuickError> {
        self.traces(&trace_request(first, red, limit), limit, cancel)
    }

    /// Tells which lines these tests run once a change is made: the file as it would be, put back afterwards. The change
    /// was tried before. Functions that it does not touch keep the lines that they had.
    pub fn trace_change(
        &mut self,
        path: &RelPath,
        content: &[u8],
        tests: &[String],
        limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Vec<Trace>, QuickError> {
        let mut request = trace_request(tests, &[], limit);
        request["path"] = json!(path.under(self.scratch.root()));
        self.with_change(path, content, |quick, _| {
            quick.traces(&request, limit, cancel)
        })
    }

    fn traces(
        &mut self,
        request: &serde_json::Value,
        limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Vec<Trace>, QuickError> {
        let reply = self.reply(request, limit + Duration::from_secs(10), cancel)?;
        let trace = |line| match line {
            Line::Lines {
                test,
                failing,
                lines,
            } => Some(Trace {
                test,
                failing,
                lines,
            }),
            Line::Stale { .. } | Line::Rest {} | Line::End { .. } => None,
        };
        Ok(reply.lines.into_iter().filter_map(trace).collect())
    }

    fn reply(
        &mut self,
        request: &serde_json::Value,
        patience: Duration,
        cancel: &AtomicBool,
    ) -> Result<Reply, QuickError> {
        let line = self.process.ask(request, patience, cancel)?;
        serde_json::from_str(&line).map_err(|error| QuickError::Broken(error.to_string()))
    }
}

fn trace_request(first: &[String], red: &[String], limit: Duration) -> serde_json::Value {
    json!({
        "kind": "trace",
        "first": first,
        "red": red,
        "seconds": limit.as_secs_f64(),
        "rest_seconds": 0.0,
        "each": TRACED,
        "each_again": TRACED_AGAIN,
    })
}
