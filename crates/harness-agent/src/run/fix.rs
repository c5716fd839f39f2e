//! The fix rung: a certain change, no model. All of it or nothing; the tests have the last word.

use harness_code::edit;
use harness_code::fix::Proposal;
use harness_code::language::Language;

use crate::guard::Change;
use crate::history::Refusal;
use crate::plan::FixPlan;
use crate::run::event::EventKind;
use crate::run::evidence::{self, Verdict};
use crate::run::result::Stopped;
use crate::run::session::{Ending, Session};
use crate::run::staged;
use crate::run::trial::Trial;

/// Tries the plan's fix, if it has one. `None` means that the run goes on with the next rung.
pub(super) fn perform(session: &mut Session<'_>) -> Option<Ending> {
    let proposal = match session.plan.certain_fix()? {
        FixPlan::Certain(proposal) => proposal.clone(),
        FixPlan::Refused(reason) => {
            let reason = reason.clone();
            session.refuse(&Refusal::new("fix.refused", reason.clone(), ""));
            return Some(Ending::new(
                Stopped::Stuck,
                format!("nothing was changed: {reason}"),
            ));
        }
    };
    let changes = match changes(session, &proposal) {
        Ok(changes) => changes,
        Err(refusal) => {
            session.refuse(&refusal);
            return None;
        }
    };
    session.tell(
        EventKind::Fixed,
        &proposal.summary,
        [
            ("kind", proposal.kind.into()),
            ("names", proposal.names.clone().into()),
        ],
    );
    if session.read_only() {
        let diff = changes.iter().map(staged::diff_of).collect();
        let summary = format!(
            "{} (read-only: this is what would change)",
            proposal.summary
        );
        return Some(Ending {
            diff,
            ..Ending::new(Stopped::Done, summary)
        });
    }
    let mut trial = match Trial::open(session) {
        Ok(trial) => trial,
        Err(ending) => return Some(*ending),
    };
    if let Err(refusal) = trial.apply_all(session, &changes, &proposal.moves) {
        session.refuse(&refusal);
        let summary = format!("nothing was changed: {}", refusal.reason);
        return Some(trial.take_back(session, Stopped::Stuck, summary));
    }
    settle(session, trial, &proposal)
}

/// Runs the suite once; where it is not green, the state before is measured too.
fn settle(session: &mut Session<'_>, mut trial: Trial, proposal: &Proposal) -> Option<Ending> {
    let verdict = trial.judge(session);
    if session.cancel.stopped() {
        return Some(trial.take_back(session, Stopped::Interrupted, "interrupted".to_owned()));
    }
    let said = &proposal.summary;
    if !trial.has_suite() {
        return Some(trial.keep(session, format!("{said}; the project has no tests")));
    }
    let green = trial.after().is_some_and(|report| {
        let none_red = report.failed + report.errors == 0 && report.passed > 0;
        evidence::unusable(report).is_none() && none_red
    });
    let green = green && !matches!(verdict, Verdict::Unverified(_));
    if green {
        let passed = trial.after().map_or(0, |report| report.passed);
        return Some(trial.keep(session, format!("{said}; {passed} tests pass")));
    }
    if let Verdict::Unverified(reason) = &verdict {
        let summary = format!("unverified: {reason}; the fix was taken back: {said}");
        return Some(trial.take_back(session, Stopped::Stuck, summary));
    }
    // What was red before does not undo a right fix; what the fix broke takes it back.
    match trial.compare_with_before(session) {
        Verdict::Proven(words) => Some(trial.keep(session, format!("{said}; {words}"))),
        Verdict::Worse(words) => {
            let summary = format!("the fix was taken back, it made the tests worse: {words}");
            Some(trial.take_back(session, Stopped::Broke, summary))
        }
        Verdict::Unfinished { reason, .. } | Verdict::Unverified(reason) => {
            session.refuse(&Refusal::new("fix.not_enough", reason.clone(), ""));
            session.learned = format!("{said} was tried and taken back: {reason}");
            drop(trial.take_back(session, Stopped::Stuck, String::new()));
            None
        }
    }
}

/// Returns what the fix would make of each file.
fn changes(session: &Session<'_>, proposal: &Proposal) -> Result<Vec<Change>, Refusal> {
    let mut paths: Vec<_> = proposal
        .edits
        .iter()
        .map(|edit| edit.path.clone())
        .collect();
    paths.sort();
    paths.dedup();
    let change = |path| {
        let text = session
            .tree
            .text(&path)
            .map_err(|error| Refusal::new("fix.unreadable", error.to_string(), path.as_str()))?;
        let edits: Vec<_> = proposal
            .edits
            .iter()
            .filter(|edit| edit.path == path)
            .cloned()
            .collect();
        let after = edit::apply(text.content(), &edits)
            .map_err(|error| Refusal::new("fix.unplaced", error.to_string(), path.as_str()))?;
        let before = Some(text.into_content());
        Ok(Change {
            language: Language::of(&path),
            path,
            before,
            after,
        })
    };
    paths.into_iter().map(change).collect()
}
