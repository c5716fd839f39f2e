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

#[cfg(test)]
mod tests {
    use harness_code::path::RelPath;
    use harness_hands::suite::Failure;

    use super::*;

    fn report(passed: &[&str], failed: &[&str]) -> SuiteReport {
        let failure = |id: &&str| Failure {
            id: (*id).to_owned(),
            ..Failure::default()
        };
        SuiteReport {
            passed_ids: passed.iter().map(|id| (*id).to_owned()).collect(),
            failures: failed.iter().map(failure).collect(),
            ..SuiteReport::default()
        }
    }

    fn change(path: &str, before: &str, after: &str) -> FileChange {
        FileChange {
            path: RelPath::parse(path).unwrap(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        }
    }

    #[test]
    fn verdicts_that_turned_in_either_way_are_looked_at_again() {
        let before = report(&["a", "steady"], &["b", "red"]);
        let after = report(&["b", "steady", "new"], &["a", "red"]);
        assert_eq!(changed(&before, &after), ["b", "a"]);
    }

    #[test]
    fn a_test_that_did_not_run_again_has_not_turned() {
        let before = report(&["left_out"], &[]);
        assert_eq!(changed(&before, &report(&[], &[])), [""; 0]);
        let tests = ["left_out".to_owned()];
        assert_eq!(unsteady(&tests, &before, &report(&[], &[])), [""; 0]);
    }

    #[test]
    fn a_test_that_says_something_else_again_is_unsteady_whatever_it_said_first() {
        let tests = ["up", "down", "steady"].map(str::to_owned);
        let first = report(&["down", "steady"], &["up"]);
        let again = report(&["up", "steady"], &["down"]);
        assert_eq!(unsteady(&tests, &first, &again), ["up", "down"]);
    }

    #[test]
    fn passed_and_failed_tests_are_judged() {
        assert_eq!(judged(&report(&["a"], &["b"])), ["a", "b"]);
    }

    #[test]
    fn only_a_change_that_brings_chance_in_acts_by_chance() {
        let draws = "def pick(xs):\n    return random.choice(xs)\n";
        let plain = "def pick(xs):\n    return xs[0]\n";
        assert!(may_act_by_chance(&change("pick.py", plain, draws)));
        assert!(!may_act_by_chance(&change("pick.py", draws, plain)));
        let moved = format!("\n{draws}");
        assert!(!may_act_by_chance(&change("pick.py", draws, &moved)));
        let named = plain.replace("pick", "pick_timely");
        assert!(!may_act_by_chance(&change("pick.py", plain, &named)));
        assert!(!may_act_by_chance(&change("notes.md", plain, draws)));
    }
}
