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
pub(super) fn change_set(context: &Context<'_>, proposal: &Proposal) -> Result<ChangeSet, Refusal> {
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
    use expect_test::expect;

    use super::*;
    use crate::run::scripted_tests::{Came, PRICING, Stage, TEST_PRICING, diff};

    const TASK: &str = "rename discount to rebate in pricing.py";
    /// Passes before and after a rename that reaches it.
    const GREEN: (&str, &str) = (
        "test_pricing.py",
        "import unittest\n\nfrom pricing import discount\n\n\nclass T(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(discount(200, 20), 180)\n",
    );
    /// A misspelled name, and a test that fails by more than that.
    const MISSPELLED: (&str, &str) = (
        "pricing.py",
        "def discount(total, percent):\n    return totl - percent\n",
    );
    const MISSPELLED_TASK: &str = "fix the NameError in pricing.py";

    fn renamed() -> [String; 2] {
        let test = GREEN.1.replace("discount(", "rebate(");
        let test = test.replace("def test_rebate", "def test_discount");
        [
            diff(
                PRICING.0,
                PRICING.1,
                &PRICING.1.replace("discount", "rebate"),
            ),
            diff(
                GREEN.0,
                GREEN.1,
                &test.replace("import discount", "import rebate"),
            ),
        ]
    }

    fn attempt(files: &[(&str, &str)], task: &str) -> Came<Outcome> {
        Stage::new(files, task).attempt(&CertainFix)
    }

    #[test]
    fn it_suits_where_exactly_one_change_can_be_right() {
        assert!(Stage::new(&[PRICING], TASK).suits(&CertainFix));
        assert!(Stage::new(&[PRICING], TASK).read_only().suits(&CertainFix));
        assert!(Stage::new(&[MISSPELLED], MISSPELLED_TASK).suits(&CertainFix));
        assert!(!Stage::pricing().suits(&CertainFix));
        let tried = |plan: &Plan| plan.without_fix("it was tried".to_owned());
        assert!(!Stage::new(&[PRICING], TASK).suits_as(&CertainFix, tried));
    }

    #[test]
    fn a_rename_that_keeps_the_tests_green_is_done_without_a_model() {
        let stage = Stage::new(&[PRICING, GREEN], TASK).without_engine();
        let came = stage.attempt(&CertainFix);
        expect!["ended, done: renamed `discount` to `rebate`: 3 places in 2 files; 1 test passes"]
            .assert_eq(&came.outcome());
        assert_eq!(came.staged, renamed().concat());
        assert_eq!(came.requests, []);
        assert_eq!(stage.on_disk("pricing.py"), PRICING.1);
    }

    #[test]
    fn a_project_without_tests_is_said_to_have_none() {
        let came = attempt(&[PRICING], TASK);
        expect!["ended, done: renamed `discount` to `rebate`: 1 place in 1 file; the project has no tests"].assert_eq(&came.outcome());
    }

    #[test]
    fn documents_that_still_have_the_old_name_are_told() {
        let came = attempt(&[PRICING, ("README.md", "Call `discount`.\n")], TASK);
        expect!["ended, done: renamed `discount` to `rebate`: 1 place in 1 file (README.md still says `discount`); the project has no tests"].assert_eq(&came.outcome());
        assert_eq!(came.staged, renamed()[0]);
    }

    #[test]
    fn a_test_that_was_red_before_does_not_undo_a_rename() {
        let red = "\n    def test_free(self):\n        self.assertEqual(discount(200, 100), 0)\n";
        let tests = [GREEN.1, red].concat();
        let came = attempt(&[PRICING, (GREEN.0, &tests)], TASK);
        expect!["ended, done: renamed `discount` to `rebate`: 4 places in 2 files; 1 test passes; 1 failed before and still does (test_pricing.T.test_free)"].assert_eq(&came.outcome());
        assert_ne!(came.staged, "");
    }

    #[test]
    fn a_read_only_run_shows_what_would_change_and_runs_no_test() {
        let came = Stage::new(&[PRICING, GREEN], TASK)
            .read_only()
            .attempt(&CertainFix);
        expect!["ended, done: renamed `discount` to `rebate`: 3 places in 2 files (read-only: this is what would change)"].assert_eq(&came.outcome());
        let proposed = &came.ended().proposed;
        assert_eq!(proposed.patch, renamed().concat());
        let paths = proposed.changes.iter().map(|change| change.path.as_str());
        assert_eq!(paths.collect::<Vec<_>>(), ["pricing.py", "test_pricing.py"]);
        assert_eq!(came.told(EventKind::Tests), [""; 0]);
        assert_eq!(came.staged, "");
    }

    #[test]
    fn what_would_break_something_is_refused_with_the_reason() {
        let both = format!("{}\n\ndef rebate(total):\n    return total\n", PRICING.1);
        let came = attempt(&[("pricing.py", &both)], TASK);
        expect!["ended, stuck: nothing was changed: `rebate` exists there already (pricing.py:5)"]
            .assert_eq(&came.outcome());
        assert_eq!(came.rules(), ["fix.refused"]);
        assert_eq!(came.staged, "");
    }

    #[test]
    fn a_fix_that_breaks_tests_is_the_end_and_says_so() {
        let by_text = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_text(self):\n        with open('pricing.py') as code:\n            self.assertIn('def disc' + 'ount', code.read())\n";
        let came = attempt(&[PRICING, ("test_pricing.py", by_text)], TASK);
        expect![[r#"
            ended, broke: the fix was taken back, it made the tests worse: test_pricing.T.test_text passed before and fails now
            test_pricing.T.test_text (test_pricing.py:7): AssertionError: 'def discount' not found in 'def rebate(total, percent):\n    return total - percent\n'"#]].assert_eq(&came.outcome());
    }

    #[test]
    fn a_fix_that_is_not_enough_is_told_to_whoever_comes_next() {
        let came = attempt(&[MISSPELLED, TEST_PRICING], MISSPELLED_TASK);
        expect!["replanned, fix: pricing.py:1"].assert_eq(&came.outcome());
        expect![[r#"
            `totl` is now `total` in pricing.py was tried and taken back: no test passes yet
            test_pricing.T.test_discount (test_pricing.py:8): AssertionError: 190 != 180"#]]
        .assert_eq(&came.next_plan().learned);
        assert!(came.next_plan().certain_fix().is_none());
        assert_eq!(came.rules(), ["fix.not_enough"]);
        assert_eq!(came.staged, "");
    }

    #[test]
    fn a_file_that_is_no_longer_there_makes_a_plan_without_the_fix() {
        let stage = Stage::new(&[PRICING, GREEN], TASK);
        let came = stage.play(|scene| {
            stage.remove("pricing.py");
            scene.attempt(&CertainFix)
        });
        expect!["replanned, fix: pricing.py:1 discount, pricing.py:1"].assert_eq(&came.outcome());
        assert!(came.next_plan().certain_fix().is_none());
        assert_eq!(came.rules(), ["write.changed_meanwhile"]);
    }

    #[test]
    fn who_stops_it_keeps_nothing() {
        let stage = Stage::new(&[PRICING, GREEN], TASK).stopped_at(EventKind::Fixed);
        let came = stage.attempt(&CertainFix);
        expect!["ended, interrupted: interrupted"].assert_eq(&came.outcome());
    }

    #[test]
    fn without_a_fix_there_is_nothing_to_do() {
        let came = Stage::pricing().attempt(&CertainFix);
        assert_eq!(came.outcome(), "passed");
    }

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
