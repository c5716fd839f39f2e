//! Where a suite is slow, the tests that are red come first: a change that leaves them red need not wait for the rest.

use harness_hands::scratch::Scratch;
use harness_hands::suite::{Selection, SuiteReport, Watch};

use super::Trial;
use crate::run::event::EventKind;
use crate::run::evidence::{self, Verdict};
use crate::run::session::Session;

/// Seconds from which on a suite is slow.
const SLOW: f64 = 5.0;

/// More red tests than this are no short look.
const MOST: usize = 40;

impl Trial {
    /// Runs the red tests alone. Says whether that settles it: all of them are as red as before, and that is what the
    /// change is judged by. What the other tests say is not known then.
    pub(super) fn stays_red(
        &mut self,
        session: &mut Session<'_>,
        version: &Scratch,
        watch: &Watch,
    ) -> bool {
        // What is to stay in any case must have seen all tests.
        let red = self.before.as_ref().and_then(red_of_slow);
        let Some(red) = red.filter(|_| !session.options.keep) else {
            return false;
        };
        tell(session, &red, self.before.as_ref());
        let first = self.run_in(session, version, &Selection::Some(red.clone()), watch);
        let Some(report) = self
            .before
            .as_ref()
            .and_then(|before| with_red(before, first, &red))
        else {
            return false;
        };
        self.after = Some(report);
        self.trace_red(session);
        let is_failing = |verdict| {
            matches!(
                verdict,
                Verdict::Unfinished {
                    rule: "finish.tests_failing",
                    ..
                }
            )
        };
        self.red_alone = is_failing(self.verdict(session)) && !self.meets_something(session);
        if self.red_alone {
            let text = format!("still red: {} of {}", red.len(), red.len());
            session.tell(EventKind::Tests, &text, []);
        }
        self.red_alone
    }
}

/// Returns the red tests of a slow suite.
fn red_of_slow(before: &SuiteReport) -> Option<Vec<String>> {
    let is_slow = before.seconds >= SLOW && evidence::unusable(before).is_none();
    let red: Vec<String> = before.failures.iter().map(|one| one.id.clone()).collect();
    (is_slow && (1..=MOST).contains(&red.len())).then_some(red)
}

/// Returns the report of the state before with the red tests as they are now, where each of them ran and none passed.
fn with_red(before: &SuiteReport, first: SuiteReport, red: &[String]) -> Option<SuiteReport> {
    let is_red = |id: &String| first.failures.iter().any(|failure| failure.id == *id);
    let is_whole = evidence::unusable(&first).is_none() && red.iter().all(is_red);
    is_whole.then(|| SuiteReport {
        passed: before.passed,
        failed: before.failed,
        errors: before.errors,
        skipped: before.skipped,
        collected: before.collected,
        passed_ids: before.passed_ids.clone(),
        ..first
    })
}

fn tell(session: &mut Session<'_>, red: &[String], before: Option<&SuiteReport>) {
    let (all, seconds) = before.map_or((0, 0.0), |before| (before.collected, before.seconds));
    let first = match red.len() {
        1 => "the red test".to_owned(),
        many => format!("the {many} red tests"),
    };
    let text = format!("running {first} first (all {all} take about {seconds:.0} s)");
    let data = [("begins", true.into()), ("last_seconds", seconds.into())];
    session.tell(EventKind::Tests, &text, data);
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness_hands::process::sandbox::Sandbox;
    use harness_hands::suite::{Failure, Outcome};

    fn report(passed: &[&str], failed: &[&str], seconds: f64) -> SuiteReport {
        let failure = |id: &&str| Failure {
            id: (*id).to_owned(),
            message: String::new(),
            traceback: String::new(),
            file: None,
            line: None,
            hung: None,
        };
        SuiteReport {
            outcome: Outcome::Ran,
            passed: passed.len() as u32,
            failed: failed.len() as u32,
            collected: (passed.len() + failed.len()) as u32,
            passed_ids: passed.iter().map(|id| (*id).to_owned()).collect(),
            failures: failed.iter().map(failure).collect(),
            seconds,
            ..SuiteReport::could_not_start(String::new(), Sandbox::None)
        }
    }

    #[test]
    fn only_slow_suites_have_their_red_tests_first() {
        let red = |seconds, failed: &[&str]| red_of_slow(&report(&["a"], failed, seconds));
        assert_eq!(
            red(60.0, &["b", "c"]),
            Some(vec!["b".to_owned(), "c".to_owned()])
        );
        assert_eq!(red(1.0, &["b"]), None);
        assert_eq!(red(60.0, &[]), None);
    }

    #[test]
    fn one_that_passes_or_did_not_run_asks_for_all() {
        let before = report(&["a"], &["b", "c"], 60.0);
        let red = ["b".to_owned(), "c".to_owned()];
        let seen = |first| with_red(&before, first, &red);
        assert_eq!(seen(report(&["b"], &["c"], 1.0)), None);
        assert_eq!(seen(report(&[], &["c"], 1.0)), None);
        let both = seen(report(&[], &["b", "c"], 1.0)).unwrap();
        assert_eq!((both.passed, both.failed, both.seconds), (1, 2, 1.0));
        assert_eq!(both.passed_ids, ["a"]);
    }
}
