//! The fix rung: a certain change, no model. All of it or nothing; the tests have the last word.

use std::fmt::Display;

use harness_code::edit::{self, ChangeSet, Edit, FileChange};
use harness_code::fix::Proposal;
use harness_code::path::RelPath;
use harness_code::tree::SourceTree;
use harness_hands::door::protected;

use crate::guard;
use crate::history::Refusal;
use crate::plan::FixPlan;
use crate::run::event::EventKind;
use crate::run::evidence::{self, Verdict};
use crate::run::result::Stopped;
use crate::run::session::{Ending, Session};
use crate::run::trial::{Trial, moved};

/// A fix that was not enough.
pub(super) struct Tried {
    /// The trial, in which the next rung goes on.
    pub(super) trial: Trial,
    /// What it showed, for the next rung's prompt.
    pub(super) learned: String,
}

/// Tries the plan's fix, if it has one. `None` means that the run goes on with the next rung.
pub(super) fn perform(session: &mut Session<'_>, tried: &mut Option<Tried>) -> Option<Ending> {
    let proposal = match session.plan.certain_fix()? {
        FixPlan::Certain(proposal) => Proposal {
            summary: format!(
                "{}{}",
                proposal.summary,
                left_in_documents(&session.tree, proposal)
            ),
            ..proposal.clone()
        },
        FixPlan::Refused(reason) => {
            let reason = reason.clone();
            session.refuse(&Refusal::new("fix.refused", reason.clone(), ""));
            return Some(Ending::new(
                Stopped::Stuck,
                format!("nothing was changed: {reason}"),
            ));
        }
    };
    let set = match change_set(session, &proposal) {
        Ok(set) => set,
        Err(refusal) => {
            session.refuse(&refusal);
            return None;
        }
    };
    session.tell(
        EventKind::Fixed,
        "this needs no model",
        [
            ("kind", proposal.kind.into()),
            ("names", proposal.names.clone().into()),
        ],
    );
    if session.read_only() {
        let moved = moved(session, &set);
        if let Some(refusal) = refusal(session, &set.files, &moved) {
            session.refuse(&refusal);
            let summary = format!("nothing would be changed: {}", refusal.reason);
            return Some(Ending::new(Stopped::Stuck, summary));
        }
        let is_whole = moved.len() == 2 * set.moves.len();
        let mut files = set.files;
        files.retain(|change| moved.iter().all(|one| one.path != change.path));
        files.extend(moved);
        // In the order of a run that writes.
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let set = ChangeSet::from(files);
        // A file that is no text cannot be kept for later, and the others without it are another change.
        let changes = match is_whole {
            true => session.proposed(&set),
            false => Vec::new(),
        };
        let summary = format!(
            "{} (read-only: this is what would change)",
            proposal.summary
        );
        return Some(Ending {
            diff: set.diff(),
            changes,
            ..Ending::new(Stopped::Done, summary)
        });
    }
    let mut trial = match Trial::open(session) {
        Ok(trial) => trial,
        Err(ending) => return Some(*ending),
    };
    if let Err(refusal) = trial.apply_certain(session, &set) {
        session.refuse(&refusal);
        let summary = format!("nothing was changed: {}", refusal.reason);
        return Some(trial.take_back(session, Stopped::Stuck, summary));
    }
    settle(session, trial, &proposal, tried)
}

/// Files for people that may name what is renamed, by their endings.
const DOCUMENTS: [&str; 5] = ["md", "rst", "txt", "adoc", "org"];
/// Documents that are named at most; the others are counted.
const MOST_DOCUMENTS: usize = 3;

/// Says which documents still have the name that a rename takes away: they are no code and stay as they are.
fn left_in_documents(tree: &SourceTree, proposal: &Proposal) -> String {
    let first = proposal.edits.first().filter(|_| proposal.kind == "rename");
    let old = first.and_then(|edit| {
        let text = tree.text(&edit.path).ok()?;
        Some(text.content().get(edit.range.clone())?.to_owned())
    });
    let Some(old) = old.filter(|old| old.chars().all(|c| c.is_alphanumeric() || c == '_')) else {
        return String::new();
    };
    let files = tree.files().iter().map(|file| &file.path);
    let documents =
        files.filter(|path| path.extension().is_some_and(|one| DOCUMENTS.contains(&one)));
    let names = |path: &&RelPath| {
        let text = tree.text(path);
        text.is_ok_and(|text| names_code(text.content(), &old))
    };
    let found: Vec<&str> = documents.filter(names).map(RelPath::as_str).collect();
    let (shown, rest) = found.split_at(found.len().min(MOST_DOCUMENTS));
    let more = match rest.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let say = if found.len() == 1 { "says" } else { "say" };
    match shown {
        [] => String::new(),
        shown => format!(" ({}{more} still {say} `{old}`)", shown.join(", ")),
    }
}

/// Returns whether a text for people has a name as code: in backticks, behind a dot, or before a bracket. A name that can
/// be no ordinary word counts wherever it stands.
fn names_code(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_odd = name.contains('_') || name.chars().skip(1).any(char::is_uppercase);
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let (before, after) = (before.chars().next_back(), after.chars().next());
        let is_whole = !before.is_some_and(is_word) && !after.is_some_and(is_word);
        let is_code = matches!(before, Some('`' | '.' | ':')) || matches!(after, Some('`' | '('));
        is_whole && (is_odd || is_code)
    })
}

/// Runs the suite once; where it is not green, the state before is measured too.
fn settle(
    session: &mut Session<'_>,
    mut trial: Trial,
    proposal: &Proposal,
    tried: &mut Option<Tried>,
) -> Option<Ending> {
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
        let words = format!("{said}; {}", evidence::tests_pass(passed));
        return Some(trial.keep(session, words));
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
            let learned = format!("{said} was tried and taken back: {reason}");
            trial.drop_all(session);
            *tried = Some(Tried { trial, learned });
            None
        }
    }
}

/// Returns why a run that writes would refuse a change; what may not change is asked about before anything is shown.
pub(super) fn refusal(
    session: &Session<'_>,
    changes: &[FileChange],
    moved: &[FileChange],
) -> Option<Refusal> {
    let mut named = session.plan.mentions().paths.clone();
    named.extend(session.task.written_paths());
    let door = session.project.door();
    let beside = [changes, moved].concat();
    let context = session.guard_context(&beside, &[]);
    let trespass = |change: &FileChange| {
        let allowed = door.within_scope(&change.path);
        let allowed = allowed.and_then(|()| protected::check(door, &change.path, &named));
        allowed.err().map(crate::tool::trespass)
    };
    let refused = changes.iter().find_map(|change| {
        trespass(change).or_else(|| guard::refusal(change, &session.task, &context))
    });
    refused.or_else(|| moved.iter().find_map(trespass))
}

/// Returns what the fix would make of the project.
fn change_set(session: &Session<'_>, proposal: &Proposal) -> Result<ChangeSet, Refusal> {
    let change = |(path, edits): (&RelPath, Vec<Edit>)| {
        let refused = |error: &dyn Display| {
            Refusal::new("write.changed_meanwhile", error.to_string(), path.as_str())
        };
        let text = session.whole_tree().text(path);
        let text = text.map_err(|error| refused(&error))?;
        let after = edit::apply(text.content(), &edits).map_err(|error| refused(&error))?;
        Ok(FileChange {
            path: path.clone(),
            before: Some(text.into_content()),
            after: Some(after),
        })
    };
    let files: Result<_, _> = proposal.by_file().into_iter().map(change).collect();
    let moves = proposal.moves.clone();
    Ok(ChangeSet {
        files: files?,
        moves,
    })
}

#[cfg(test)]
mod tests {
    use super::names_code;

    #[test]
    fn a_name_is_told_from_an_ordinary_word() {
        for text in [
            "use `total`",
            ".. autofunction:: cart.total",
            "total(1)",
            "`cart.total(x)`",
        ] {
            assert!(names_code(text, "total"), "{text}");
        }
        for text in ["the total is right", "total_tax(1)", "subtotal(1)", ""] {
            assert!(!names_code(text, "total"), "{text}");
        }
        assert!(names_code("call line_total for it", "line_total"));
    }
}
