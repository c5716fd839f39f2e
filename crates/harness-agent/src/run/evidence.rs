//! Is it done? Judged from what is on disk and what tests that really ran say, never from what the model says.

use harness_code::symbols;
use harness_hands::suite::{Outcome, SuiteReport};

use crate::guard::Change;
use crate::plan::Plan;
use crate::task::Task;
use crate::task::kind::Kind;

/// What the finish rule is asked about.
pub(super) struct Evidence<'a> {
    pub(super) task: &'a Task,
    pub(super) plan: &'a Plan,
    /// Every file that differs from what it was before the run.
    pub(super) changes: &'a [Change],
    /// Whether the project has a suite at all.
    pub(super) has_suite: bool,
    pub(super) before: Option<&'a SuiteReport>,
    pub(super) after: Option<&'a SuiteReport>,
}

/// What the evidence says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is done; the words say what proves it.
    Proven(String),
    /// Tests that passed fail now.
    Worse(String),
    /// Nothing is worse, but something is missing.
    Unfinished { rule: &'static str, reason: String },
    /// The suite says nothing: it could not start, took too long, or has no tests.
    Unverified(String),
}

impl Evidence<'_> {
    /// Judges.
    pub(super) fn verdict(&self) -> Verdict {
        if self.changes.is_empty() {
            return unfinished(
                "finish.nothing_changed",
                "nothing is changed yet: write the changed definition",
            );
        }
        if !self.has_suite {
            return match self.asked_for() {
                Some(missing) => missing,
                None => Verdict::Proven("the project has no tests; the change parses".to_owned()),
            };
        }
        let Some(after) = self.after else {
            return Verdict::Unverified("the tests have not run".to_owned());
        };
        if let Some(problem) = unusable(after) {
            return Verdict::Unverified(problem);
        }
        if let Some(broken) = self.broken(after) {
            return Verdict::Worse(broken);
        }
        if let Some(missing) = self.asked_for() {
            return missing;
        }
        match self.still_failing(after) {
            Some(reason) => unfinished("finish.tests_failing", &reason),
            None => Verdict::Proven(self.proof(after)),
        }
    }

    /// Returns the tests that passed before and do not pass now.
    fn broken(&self, after: &SuiteReport) -> Option<String> {
        let before = self.before?;
        // Renamed and moved tests have new ids; a rename is judged by what passes.
        let gone = |id: &String| {
            !after.passed_ids.contains(id)
                && (self.task.kind != Kind::Rename || failing(after, id))
                && !renumbered(before, after, id)
        };
        let broken: Vec<&String> = before.passed_ids.iter().filter(|id| gone(id)).collect();
        if broken.is_empty() && after.failed + after.errors <= before.failed + before.errors {
            return None;
        }
        let names: Vec<&str> = broken.iter().map(|id| id.as_str()).take(3).collect();
        let detail = after
            .failures
            .iter()
            .find(|failure| broken.contains(&&failure.id))
            .or(after.failures.first());
        let message = detail.map(|failure| failure.shown()).unwrap_or_default();
        Some(format!(
            "{} passed before and fails now\n{message}",
            if names.is_empty() {
                "a test".to_owned()
            } else {
                names.join(", ")
            }
        ))
    }

    /// Returns what the task asked for and is not on disk.
    fn asked_for(&self) -> Option<Verdict> {
        let code_changed = self
            .changes
            .iter()
            .any(|change| !harness_code::tree::is_test(&change.path));
        match self.task.kind {
            Kind::Tests => self.missing_test(),
            Kind::Add => {
                let missing = self.missing_names();
                if !missing.is_empty() {
                    return Some(unfinished(
                        "finish.not_added",
                        &format!("`{}` is not there yet: add it", missing.join("`, `")),
                    ));
                }
                self.task
                    .wants_test()
                    .then(|| self.missing_test())
                    .flatten()
            }
            Kind::Fix | Kind::Change => (!code_changed).then(|| {
                unfinished(
                    "finish.nothing_changed",
                    "the code itself is not changed yet: change the definition, not its tests",
                )
            }),
            Kind::Rename | Kind::Question => None,
        }
    }

    /// Returns what is missing of the new tests that were asked for.
    fn missing_test(&self) -> Option<Verdict> {
        let collected = |report: Option<&SuiteReport>| report.map_or(0, |report| report.collected);
        if self.has_suite && collected(self.after) <= collected(self.before) {
            return Some(unfinished(
                NO_NEW_TEST,
                "no new test ran: add one that the suite finds",
            ));
        }
        self.new_failure().map(|shown| {
            unfinished(
                "finish.new_test_fails",
                &format!("a new test fails: write what the code does\n{shown}"),
            )
        })
    }

    /// Returns a test that fails now and was not there before.
    fn new_failure(&self) -> Option<String> {
        let (before, after) = (self.before, self.after?);
        let known = |id: &str| {
            before.is_some_and(|before| {
                failing(before, id) || before.passed_ids.iter().any(|passed| passed == id)
            })
        };
        let new = after.failures.iter().find(|failure| !known(&failure.id))?;
        Some(new.shown())
    }

    /// Returns the names that an `add` task writes like code and that stand nowhere in what was changed.
    fn missing_names(&self) -> Vec<String> {
        let names = self.task.code_names();
        let known = |name: &str| {
            let last = name.rsplit('.').next().unwrap_or(name);
            self.plan
                .mentions()
                .definitions
                .iter()
                .any(|hit| hit.qualified.ends_with(last))
                || self
                    .plan
                    .mentions()
                    .paths
                    .iter()
                    .any(|path| path.as_str().ends_with(name))
        };
        let wanted = names
            .into_iter()
            .filter(|name| !known(name) && !name.contains('/') && !name.ends_with(".py"));
        let there = |name: &str| {
            let last = name.rsplit('.').next().unwrap_or(name);
            self.changes.iter().any(|change| {
                symbols::read(change.language, &change.after)
                    .names
                    .contains(last)
                    || change.after.contains(last)
            })
        };
        wanted
            .filter(|name| !there(name))
            .map(str::to_owned)
            .collect()
    }

    /// Returns why a fix is not one yet: the tests that the task blames still fail.
    fn still_failing(&self, after: &SuiteReport) -> Option<String> {
        if self.task.kind != Kind::Fix {
            return None;
        }
        let touches = |text: &str| {
            self.changes
                .iter()
                .any(|change| text.contains(change.path.file_name()) || names_changed(change, text))
        };
        let blamed = after.failures.iter().find(|failure| {
            let by_name = self.plan.names_test(&failure.id);
            let was_red = self
                .before
                .is_none_or(|before| failing(before, &failure.id));
            by_name || (!self.plan.names_tests() && was_red && touches(&failure.traceback))
        })?;
        Some(format!(
            "the test still fails: try another change\n{}",
            blamed.shown()
        ))
    }

    fn proof(&self, after: &SuiteReport) -> String {
        let fixed: Vec<&str> = self.before.map_or(Vec::new(), |before| {
            before
                .failures
                .iter()
                .filter(|failure| after.passed_ids.contains(&failure.id))
                .map(|failure| failure.id.as_str())
                .collect()
        });
        let red = after.failed + after.errors;
        let mut words = match fixed.as_slice() {
            [] if self.task.kind == Kind::Fix => {
                format!("{} tests pass; none of them failed before", after.passed)
            }
            [] => format!("{} tests pass", after.passed),
            [one] => format!("{} tests pass; {one} failed before", after.passed),
            [one, rest @ ..] => format!(
                "{} tests pass; {one} and {} more failed before",
                after.passed,
                rest.len()
            ),
        };
        if red > 0 {
            let named: Vec<&str> = after
                .failures
                .iter()
                .take(RED_NAMED)
                .map(|failure| failure.id.as_str())
                .collect();
            words.push_str(&format!("; {red} failed before and still do"));
            if !named.is_empty() {
                let more = if after.failures.len() > RED_NAMED {
                    ", ..."
                } else {
                    ""
                };
                words.push_str(&format!(" ({}{more})", named.join(", ")));
            }
        }
        words
    }
}

/// The rule for tests that were asked for and have not come.
pub(super) const NO_NEW_TEST: &str = "finish.no_new_test";

/// How many tests that were red already a summary names; more would bury what was done.
const RED_NAMED: usize = 3;

fn unfinished(rule: &'static str, reason: &str) -> Verdict {
    Verdict::Unfinished {
        rule,
        reason: reason.to_owned(),
    }
}

fn failing(report: &SuiteReport, id: &str) -> bool {
    report.failures.iter().any(|failure| failure.id == id)
}

/// Returns whether a case of a test only has another name now: some are named after their place in a set, or after the
/// address of an object. Then as many cases of its test pass as before.
fn renumbered(before: &SuiteReport, after: &SuiteReport, id: &str) -> bool {
    let Some((test, _)) = id.split_once('[') else {
        return false;
    };
    let of_test = |id: &str| id.split_once('[').is_some_and(|(base, _)| base == test);
    let passing = |report: &SuiteReport| report.passed_ids.iter().filter(|id| of_test(id)).count();
    !failing(after, id) && passing(after) >= passing(before)
}

/// Returns whether a text speaks of a definition that a change touched.
fn names_changed(change: &Change, text: &str) -> bool {
    let old = change.before.as_deref().unwrap_or_default();
    let before = symbols::definitions(change.language, old);
    symbols::definitions(change.language, &change.after)
        .iter()
        .any(|new| {
            let same = before.iter().any(|known| {
                known.qualified == new.qualified
                    && old.get(known.span()) == change.after.get(new.span())
            });
            !same && text.contains(new.name())
        })
}

/// Returns why a report proves nothing, or nothing when it does.
pub(super) fn unusable(report: &SuiteReport) -> Option<String> {
    if let Some(name) = &report.missing_dependency {
        return Some(format!("the tests need `{name}`, which is not installed"));
    }
    match report.outcome {
        Outcome::Ran if report.collected == 0 => Some("no tests ran".to_owned()),
        Outcome::Ran => None,
        Outcome::NoTests => Some("no tests ran".to_owned()),
        Outcome::CouldNotStart => Some("the tests could not start".to_owned()),
        Outcome::TimedOut => Some("the tests took too long".to_owned()),
        Outcome::NoReport => Some("the tests gave no report".to_owned()),
        Outcome::Interrupted => Some("the tests were interrupted".to_owned()),
    }
}
