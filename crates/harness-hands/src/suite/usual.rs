//! How long tests may run: their limits, from how long they usually take. That is remembered between runs, in the user's
//! cache; what hung is remembered while this process lives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use harness_code::suite::Suite;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::process::runner::Runner;
use crate::suite::{Outcome, SuiteReport};

/// The least that a test may take: what loads data or starts a server fits into it on a busy machine.
const LEAST: f64 = 10.0;
/// The same while the project's tests never ran to their end: nobody knows yet which of them are slow.
const FIRST: f64 = 30.0;
/// How much longer than usual something may take.
const TIMES: f64 = 10.0;
/// What a further test may take that hangs in a definition that one hung in already.
const AGAIN: f64 = 2.0;
/// The least that a whole suite of a foreign runner may take: it may have to build everything anew.
const LEAST_SUITE: Duration = Duration::from_secs(120);
/// Shorter ones keep the least limit however long they take.
const WORTH_KEEPING: f64 = LEAST / TIMES;
/// From here on a test is told as slow: a person who waits for it notices.
const SLOW: f64 = 1.0;
/// Slow tests that are told.
const MOST_SLOW: usize = 5;
/// Slow tests that are remembered, the slowest ones: a line each keeps the file small.
const MOST_TESTS: usize = 400;
/// Projects that are remembered at once; one that shares its place with another takes it over.
const PLACES: u8 = 255;
/// Projects in which something hung lately.
const MOST_PROJECTS: usize = 32;
/// How long it is remembered that something hung: longer than a run, and not for good in a server.
const LATELY: Duration = Duration::from_secs(15 * 60);

/// A definition that tests hung in: its file and its name.
pub(super) type Definition = (String, String);

/// What a run showed that matters to the next one.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Tests that passed, and how long they took.
    pub(super) passed: Vec<(String, f64)>,
    /// Definitions that tests hung in.
    pub(super) definitions: Vec<Definition>,
    /// How long all tests took, where all of them ran.
    pub(super) whole: Option<f64>,
}

impl Seen {
    /// Returns the tests that a person would call slow, the slowest first.
    pub(super) fn slowest(&self) -> Vec<(String, f64)> {
        let slow = self.passed.iter().filter(|(_, seconds)| *seconds >= SLOW);
        let mut slow: Vec<(String, f64)> = slow.cloned().collect();
        slow.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        slow.truncate(MOST_SLOW);
        slow
    }
}

/// The limits of single tests, as the script reads them.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TestLimits {
    /// A test that nothing is known of, in seconds.
    each: f64,
    /// A test that hangs where another one hung.
    again: f64,
    /// Tests that may take longer.
    tests: BTreeMap<String, f64>,
    /// Where tests hung.
    hung: Vec<Definition>,
    /// Where the calls of a test go that only its process could be ended with.
    stack: Option<PathBuf>,
}

impl TestLimits {
    /// Returns limits for tries: most take moments, and one that hangs is tried no longer than needed.
    pub(super) fn for_tries(each: Duration) -> TestLimits {
        TestLimits {
            each: each.as_secs_f64(),
            again: each.as_secs_f64(),
            tests: BTreeMap::new(),
            hung: Vec::new(),
            stack: None,
        }
    }
}

/// How long the tests of a project usually take.
#[derive(Debug)]
pub(super) struct Usual {
    cache: Cache,
    name: String,
    known: Known,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Known {
    /// The project and its test command.
    of: String,
    /// All tests together, for the limit of a foreign runner.
    suite: f64,
    /// All tests together, when they ran last.
    #[serde(default)]
    last: f64,
    /// Those that take long.
    tests: BTreeMap<String, f64>,
}

/// Where tests of a project hung.
#[derive(Debug)]
struct Hung {
    of: String,
    last: Instant,
    definitions: Vec<Definition>,
}

static HUNG: Mutex<Vec<Hung>> = Mutex::new(Vec::new());

impl Usual {
    /// Returns what is known of a project's tests.
    pub(super) fn of(project: &Path, suite: &Suite) -> Usual {
        Usual::in_cache(Cache::of_user("tests"), project, suite)
    }

    fn in_cache(cache: Cache, project: &Path, suite: &Suite) -> Usual {
        let of = format!("{} {}", project.display(), suite.command.join(" "));
        let place = blake3::hash(of.as_bytes()).as_bytes()[0] % PLACES;
        let name = format!("{place}.json");
        let known = cache
            .get(&name)
            .and_then(|text| serde_json::from_str::<Known>(&text).ok())
            .filter(|known| known.of == of)
            .unwrap_or_else(|| Known {
                of,
                ..Known::default()
            });
        Usual { cache, name, known }
    }

    /// Returns the limits of single tests.
    pub(super) fn limits(&self, runner: &Runner, stack: &Path) -> TestLimits {
        let most = runner.limits().time.as_secs_f64();
        let settled = runner.each_test().map(|limit| limit.as_secs_f64());
        let usual = self.known.tests.iter();
        let tests = usual
            .filter(|_| settled.is_none())
            .map(|(id, seconds)| (id.clone(), (seconds * TIMES).clamp(LEAST, most.max(LEAST))))
            .collect();
        let least = if self.last().is_none() { FIRST } else { LEAST };
        let hung = HUNG.lock().unwrap_or_else(PoisonError::into_inner);
        let hung = hung
            .iter()
            .find(|hung| hung.of == self.known.of && hung.last.elapsed() < LATELY);
        TestLimits {
            each: settled.unwrap_or(least).min(most),
            again: AGAIN,
            tests,
            hung: hung
                .map(|hung| hung.definitions.clone())
                .unwrap_or_default(),
            stack: Some(stack.to_path_buf()),
        }
    }

    /// Returns how long the whole suite of a foreign runner may take.
    pub(super) fn suite_limit(&self, most: Duration) -> Duration {
        if self.known.suite <= 0.0 {
            return most;
        }
        let wanted = Duration::from_secs_f64((self.known.suite * TIMES).min(1e9));
        wanted.max(LEAST_SUITE).min(most)
    }

    /// Returns how long all tests took when they ran last, where that is known.
    pub(super) fn last(&self) -> Option<Duration> {
        let seconds = Some(self.known.last).filter(|seconds| *seconds > 0.0);
        seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    /// Returns whether a time differs so much from the last one that a person would say another number.
    fn is_news(&self, seconds: f64) -> bool {
        (seconds - self.known.last).abs() >= 0.5
    }

    /// Remembers what a run showed.
    pub(super) fn keep(mut self, seen: Seen) {
        self.keep_hung(seen.definitions);
        let before = self.known.clone();
        for (id, seconds) in seen.passed {
            if seconds >= WORTH_KEEPING {
                self.known.tests.insert(id, seconds);
            } else {
                self.known.tests.remove(&id);
            }
        }
        while self.known.tests.len() > MOST_TESTS {
            let shortest = self.known.tests.iter().min_by(|a, b| a.1.total_cmp(b.1));
            let Some(id) = shortest.map(|(id, _)| id.clone()) else {
                break;
            };
            self.known.tests.remove(&id);
        }
        if let Some(seconds) = seen.whole.filter(|seconds| self.is_news(*seconds)) {
            self.known.last = seconds;
        }
        if self.known != before {
            self.write();
        }
    }

    /// Remembers how long a whole suite of a foreign runner took. One quick run, with nothing to build, makes the next
    /// limit no narrower than half.
    pub(super) fn keep_suite(mut self, report: &SuiteReport) {
        if report.outcome == Outcome::Ran {
            self.known.suite = report.seconds.max(self.known.suite / 2.0);
            self.known.last = report.seconds;
            self.write();
        }
    }

    fn write(&self) {
        if let Ok(text) = serde_json::to_string(&self.known) {
            self.cache.put(&self.name, &text);
        }
    }

    fn keep_hung(&self, definitions: Vec<Definition>) {
        if definitions.is_empty() {
            return;
        }
        let mut all = HUNG.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|hung| hung.of == self.known.of);
        let earlier = at.map(|at| all.remove(at));
        let mut found = earlier.map(|hung| hung.definitions).unwrap_or_default();
        found.extend(definitions);
        found.sort();
        found.dedup();
        if all.len() >= MOST_PROJECTS {
            all.remove(0);
        }
        all.push(Hung {
            of: self.known.of.clone(),
            last: Instant::now(),
            definitions: found,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::runner::RunnerOptions;
    use crate::process::sandbox::Sandbox;
    use harness_code::suite::Runner as Framework;

    fn suite() -> Suite {
        Suite {
            runner: Framework::Cargo,
            command: vec!["cargo".to_owned(), "test".to_owned()],
            interpreter: None,
            interpreter_why: None,
            missing: Vec::new(),
            folder: None,
            why: String::new(),
        }
    }

    fn ran(seconds: f64) -> SuiteReport {
        SuiteReport {
            seconds,
            ..SuiteReport::empty(Outcome::Ran, String::new(), Sandbox::None)
        }
    }

    #[test]
    fn slow_tests_are_told_slowest_first() {
        let seconds = [("b", 1.0), ("quick", 0.9), ("a", 1.0), ("c", 30.0)];
        let passed = seconds.map(|(id, seconds)| (id.to_owned(), seconds));
        let seen = Seen {
            passed: passed.to_vec(),
            ..Seen::default()
        };
        let told = seen.slowest();
        let names: Vec<&str> = told.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(names, ["c", "a", "b"]);
    }

    #[test]
    fn slow_tests_may_take_ten_times_their_usual_time() {
        let folder = tempfile::tempdir().unwrap();
        let usual = || Usual::in_cache(Cache::at(folder.path()), folder.path(), &suite());
        let limits = |each_test| {
            let options = RunnerOptions {
                each_test,
                ..RunnerOptions::default()
            };
            let runner = Runner::new(folder.path(), options);
            usual().limits(&runner, Path::new("stack"))
        };
        let seen = |passed: &[(&str, f64)]| Seen {
            passed: passed
                .iter()
                .map(|(id, seconds)| ((*id).to_owned(), *seconds))
                .collect(),
            definitions: vec![("shop.py".to_owned(), "count".to_owned())],
            whole: None,
        };
        assert_eq!(limits(None).each, 30.0);
        let first = seen(&[("quick", 0.2), ("slow", 4.0), ("slowest", 100.0)]);
        usual().keep(first);
        let expected = [("slow".to_owned(), 40.0), ("slowest".to_owned(), 600.0)];
        assert_eq!(limits(None).tests, BTreeMap::from(expected));
        assert_eq!(
            limits(None).hung,
            [("shop.py".to_owned(), "count".to_owned())]
        );
        let whole = Seen {
            whole: Some(105.0),
            ..Seen::default()
        };
        usual().keep(whole);
        assert_eq!(limits(None).each, 10.0);
        usual().keep(seen(&[("slow", 0.5)]));
        assert!(!limits(None).tests.contains_key("slow"));
        let settled = limits(Some(Duration::from_secs(3)));
        assert_eq!((settled.each, settled.tests.len()), (3.0, 0));
    }

    #[test]
    fn the_last_time_of_all_tests_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let usual = || Usual::in_cache(Cache::at(folder.path()), folder.path(), &suite());
        assert_eq!(usual().last(), None);
        let whole = |seconds| Seen {
            whole: Some(seconds),
            ..Seen::default()
        };
        usual().keep(whole(12.0));
        // A few tests, or nearly the same time, is no news.
        usual().keep(Seen::default());
        usual().keep(whole(12.3));
        assert_eq!(usual().last(), Some(Duration::from_secs(12)));
        usual().keep_suite(&ran(3.0));
        assert_eq!(usual().last(), Some(Duration::from_secs(3)));
    }

    #[test]
    fn a_foreign_suite_may_take_ten_times_its_usual_time() {
        let folder = tempfile::tempdir().unwrap();
        let usual = || Usual::in_cache(Cache::at(folder.path()), folder.path(), &suite());
        let limit = |most| usual().suite_limit(Duration::from_secs(most)).as_secs();
        assert_eq!(limit(600), 600);
        usual().keep_suite(&ran(20.0));
        assert_eq!((limit(600), limit(90)), (200, 90));
        usual().keep_suite(&ran(1.0));
        assert_eq!(limit(600), 120);
        let late = SuiteReport {
            outcome: Outcome::TimedOut,
            ..ran(500.0)
        };
        usual().keep_suite(&late);
        assert_eq!(limit(600), 120);
    }
}
