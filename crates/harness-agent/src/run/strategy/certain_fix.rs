//! A certain change, without a model.

use std::fmt::Display;

use harness_code::edit::{self, ChangeSet, Edit, FileChange};
use harness_code::fix::Proposal;
use harness_code::path::RelPath;
use harness_code::tree::SourceTree;

use crate::history::Refusal;
use crate::plan::{FixPlan, Plan};
use crate::run::context::Context;
use crate::run::ending::{Attempt, Ended};
use crate::run::event::EventKind;
use crate::run::evidence::{self, Verdict};
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::result::Stopped;
use crate::run::strategy::{Outcome, Strategy};
use crate::run::trial::Trial;
use crate::run::trial::staging::{moved, refusal};

/// A certain change without a model: all of it or nothing.
pub(super) struct CertainFix;

impl Strategy for CertainFix {
    fn suits(&self, _context: &Context<'_>, plan: &Plan) -> bool {
        plan.certain_fix().is_some()
    }

    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        let proposal = match plan.certain_fix() {
            Some(FixPlan::Certain(proposal)) => with_documents(context.tree(), proposal),
            Some(FixPlan::Refused(reason)) => {
                log.refuse(&Refusal::new("fix.refused", reason.clone(), ""));
                return stuck(format!("nothing was changed: {reason}"));
            }
            None => return Outcome::Passed,
        };
        let set = match change_set(context, &proposal) {
            Ok(set) => set,
            Err(refusal) => {
                log.refuse(&refusal);
                let next = plan.without_fix(plan.learned.clone());
                return Outcome::Replanned(Box::new(next));
            }
        };
        log.tell(
            EventKind::Fixed,
            "this needs no model",
            [
                ("kind", proposal.kind.into()),
                ("names", proposal.names.clone().into()),
            ],
        );
        if context.read_only() {
            return shown(context, log, plan, (&proposal, set));
        }
        let trial = match resources.trial(context, log, plan) {
            Ok(trial) => trial,
            Err(ended) => return Outcome::Ended(ended),
        };
        if let Err(refusal) = trial.apply_certain(context, plan, &set) {
            log.refuse(&refusal);
            return stuck(format!("nothing was changed: {}", refusal.reason));
        }
        settle(context, log, plan, trial, &proposal)
    }
}

fn stuck(summary: String) -> Outcome {
    Outcome::Ended(Ended::new(Stopped::Stuck, summary))
}

/// Returns what a read-only run would change.
fn shown(
    context: &Context<'_>,
    log: &mut Log<'_>,
    plan: &Plan,
    (proposal, set): (&Proposal, ChangeSet),
) -> Outcome {
    let moved = moved(context, &set);
    if let Some(refusal) = refusal(context, plan, &set.files, &moved) {
        log.refuse(&refusal);
        return stuck(format!("nothing would be changed: {}", refusal.reason));
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
        true => context.proposed(&set),
        false => Vec::new(),
    };
    let summary = format!(
        "{} (read-only: this is what would change)",
        proposal.summary
    );
    Outcome::Ended(Ended {
        proposed: Attempt {
            patch: set.diff(),
            changes,
        },
        ..Ended::new(Stopped::Done, summary)
    })
}

/// Returns a fix whose summary names the documents that it leaves as they are.
fn with_documents(tree: &SourceTree, proposal: &Proposal) -> Proposal {
    Proposal {
        summary: [&*proposal.summary, &left_in_documents(tree, proposal)].concat(),
        ..proposal.clone()
    }
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

/// Runs the suite once; where it is not green, the state before is measured too. The tests have the last word.
fn settle(
    context: &Context<'_>,
    log: &mut Log<'_>,
    plan: &Plan,
    trial: &mut Trial,
    proposal: &Proposal,
) -> Outcome {
    let ended = |stopped, summary: String| Outcome::Ended(Ended::new(stopped, summary));
    let verdict = trial.judge(context, log, plan);
    if context.cancel.stopped() {
        return Outcome::Ended(Ended::interrupted());
    }
    let said = &proposal.summary;
    if !trial.has_suite() {
        return ended(Stopped::Done, format!("{said}; the project has no tests"));
    }
    if let Verdict::Unverified(reason) = &verdict {
        return stuck(format!(
            "unverified: {reason}; the fix was taken back: {said}"
        ));
    }
    let green = trial.after().filter(|report| {
        let none_red = report.failed + report.errors == 0 && report.passed > 0;
        evidence::unusable(report).is_none() && none_red
    });
    if let Some(green) = green {
        let words = format!("{said}; {}", evidence::tests_pass(green.passed));
        return ended(Stopped::Done, words);
    }
    // What was red before does not undo a right fix; what the fix broke takes it back.
    match trial.compare_with_before(context, log, plan) {
        Verdict::Proven(words) => ended(Stopped::Done, format!("{said}; {words}")),
        Verdict::Worse(words) => {
            let summary = format!("the fix was taken back, it made the tests worse: {words}");
            ended(Stopped::Broke, summary)
        }
        Verdict::Unfinished { reason, .. } | Verdict::Unverified(reason) => {
            log.refuse(&Refusal::new("fix.not_enough", reason.clone(), ""));
            let learned = format!("{said} was tried and taken back: {reason}");
            trial.drop_all(log);
            Outcome::Replanned(Box::new(plan.without_fix(learned)))
        }
    }
}

/// Returns what the fix would make of the project.
fn change_set(context: &Context<'_>, proposal: &Proposal) -> Result<ChangeSet, Refusal> {
    let change = |(path, edits): (&RelPath, Vec<Edit>)| {
        let refused = |error: &dyn Display| {
            Refusal::new("write.changed_meanwhile", error.to_string(), path.as_str())
        };
        let text = context.whole_tree().text(path);
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
