//! Tests that change their mind: a verdict that changed is looked at again on both states before it counts.

use harness_code::edit::FileChange;

use std::collections::BTreeSet;

use harness_hands::suite::SuiteReport;

/// More changed verdicts than this are not all looked at again: it would cost as much as the whole suite.
pub(super) const MOST: usize = 40;

/// How often a verdict that changed is looked at again on the new state. One that holds by chance half of the time
/// passes this and the first run in one of eight cases.
pub(super) const ROUNDS: usize = 2;

/// The same for all tests where the change itself asks for something that differs from run to run.
pub(super) const ROUNDS_BY_CHANCE: usize = 6;

/// Words of code whose value differs from run to run.
const CHANCE: [&str; 22] = [
    "random",
    "randint",
    "randrange",
    "choice",
    "shuffle",
    "rand",
    "secrets",
    "urandom",
    "getrandom",
    "uuid4",
    "uuid1",
    "time",
    "time_ns",
    "monotonic",
    "perf_counter",
    "now",
    "utcnow",
    "getpid",
    "hash",
    "id",
    "Instant",
    "SystemTime",
];

/// Returns whether a change brings something whose value differs from run to run.
pub(super) fn may_act_by_chance(change: &FileChange) -> bool {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| CHANCE.contains(word))
            .map(str::to_owned)
            .collect()
    };
    let known = words(change.old_text());
    let is_code = change.language().is_source();
    is_code
        && words(change.new_text())
            .iter()
            .any(|word| !known.contains(word))
}

/// Returns the tests whose verdict differs between two reports.
pub(super) fn changed(before: &SuiteReport, after: &SuiteReport) -> Vec<String> {
    let turned = |failing: &SuiteReport, passing: &SuiteReport| -> BTreeSet<String> {
        let passed: BTreeSet<&String> = passing.passed_ids.iter().collect();
        let red = failing.failures.iter().map(|failure| &failure.id);
        red.filter(|id| passed.contains(id)).cloned().collect()
    };
    let (fixed, broken) = (turned(before, after), turned(after, before));
    fixed.into_iter().chain(broken).collect()
}

/// Returns the tests that passed or failed.
pub(super) fn judged(report: &SuiteReport) -> Vec<String> {
    let failed = report.failures.iter().map(|failure| &failure.id);
    report.passed_ids.iter().chain(failed).cloned().collect()
}

/// Returns those of the tests that said something else when they were run again.
pub(super) fn unsteady(tests: &[String], first: &SuiteReport, again: &SuiteReport) -> Vec<String> {
    let passes = |report: &SuiteReport, id: &String| report.passed_ids.contains(id);
    let ran_again =
        |id: &&String| passes(again, id) || again.failures.iter().any(|failure| &failure.id == *id);
    tests
        .iter()
        .filter(ran_again)
        .filter(|id| passes(first, id) != passes(again, id))
        .cloned()
        .collect()
}
