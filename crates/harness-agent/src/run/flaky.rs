//! Tests that change their mind: a verdict that changed is looked at again on both states before it counts.

use std::collections::BTreeSet;

use harness_hands::suite::SuiteReport;

/// More changed verdicts than this are no flaky tests; running them again would only cost time.
pub(super) const MOST: usize = 40;

/// Returns the tests whose verdict differs between two reports.
pub(super) fn changed(before: &SuiteReport, after: &SuiteReport) -> Vec<String> {
    let failing = |report: &SuiteReport| -> BTreeSet<String> {
        report
            .failures
            .iter()
            .map(|failure| failure.id.clone())
            .collect()
    };
    let passing =
        |report: &SuiteReport| -> BTreeSet<String> { report.passed_ids.iter().cloned().collect() };
    let (red_before, red_after) = (failing(before), failing(after));
    let fixed = passing(after)
        .intersection(&red_before)
        .cloned()
        .collect::<Vec<_>>();
    let broken = passing(before)
        .intersection(&red_after)
        .cloned()
        .collect::<Vec<_>>();
    fixed.into_iter().chain(broken).collect()
}

/// Returns those of the tests that said something else when they were run again.
pub(super) fn fickle(tests: &[String], first: &SuiteReport, again: &SuiteReport) -> Vec<String> {
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

/// Takes tests out of a report: they count neither for nor against the change.
pub(super) fn leave_out(report: &mut SuiteReport, tests: &[String]) {
    let passed = report.passed_ids.len();
    report.passed_ids.retain(|id| !tests.contains(id));
    let fewer = passed - report.passed_ids.len();
    report.passed = report
        .passed
        .saturating_sub(u32::try_from(fewer).unwrap_or(u32::MAX));
    let failing = report.failures.len();
    report
        .failures
        .retain(|failure| !tests.contains(&failure.id));
    let mut fewer = u32::try_from(failing - report.failures.len()).unwrap_or(u32::MAX);
    let failed = report.failed.min(fewer);
    report.failed -= failed;
    fewer -= failed;
    report.errors = report.errors.saturating_sub(fewer);
}
