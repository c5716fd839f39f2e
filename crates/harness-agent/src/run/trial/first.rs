//! Where a suite is slow, the tests that matter come first: those that are red, and those whose file imports what is
//! changed. A change that leaves the first red or breaks one of the others need not wait for the rest.

use std::collections::BTreeSet;

use harness_code::imports::ImportGraph;
use harness_code::path::RelPath;
use harness_code::tree::SourceTree;
use harness_hands::scratch::Scratch;
use harness_hands::suite::{Selection, SuiteReport};

use super::Trial;
use crate::plan::Plan;
use crate::plan::lies_in;
use crate::run::context::Context;
use crate::run::event::EventKind;
use crate::run::evidence::{self, TESTS_FAILING, Verdict};
use crate::run::flaky;
use crate::run::log::Log;

/// Seconds from which on a suite is slow.
const SLOW: f64 = 5.0;

/// More tests than this are no short look.
const MOST: usize = 40;

/// The tests that run first.
#[derive(Debug, Default, PartialEq, Eq)]
struct FirstTests {
    red: Vec<String>,
    /// Those that passed and whose file imports what is changed.
    touching: Vec<String>,
}

impl Trial {
    /// Runs the tests that matter alone. Says whether that settles it: one of them broke, or all that were red still are
    /// and that is what the change is judged by. What the other tests say is not known then.
    pub(super) fn settled_by_few(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        version: &Scratch,
    ) -> bool {
        let Some(before) = self.before.as_ref() else {
            return false;
        };
        let changed: Vec<RelPath> = self.staged.paths().cloned().collect();
        let first = FirstTests::of(before, context.whole_tree(), &changed);
        // What is to stay in any case must have seen all tests.
        let Some(first) = first.filter(|_| !context.options.keep) else {
            return false;
        };
        tell(log, &first, before, &changed);
        let chosen = Selection::Some(first.all());
        let seen = self.run_in(context, log, version, (&chosen, &self.watch(context)));
        let before = self.before.as_ref();
        let Some(report) = before.and_then(|before| first.merged(before, seen)) else {
            return false;
        };
        if report
            .failures
            .iter()
            .any(|failure| first.touching.contains(&failure.id))
        {
            // Whether it broke by chance is a question to all tests, where the change may act by chance.
            let changes = self.staged.changes();
            if changes.iter().any(flaky::may_act_by_chance) || self.leaves_files(version) {
                return false;
            }
            self.after = Some(report);
            self.look_again(context, log, version);
        } else {
            self.after = Some(report);
        }
        self.trace_red(context, log, plan);
        let verdict = self.verdict(context, plan);
        self.is_partial = match &verdict {
            Verdict::Worse(_) => true,
            Verdict::Unfinished { rule, .. } => {
                *rule == TESTS_FAILING && !self.meets_something(context, plan)
            }
            _ => false,
        };
        if self.is_partial {
            let text = match verdict {
                Verdict::Worse(_) => "a test broke: the others need not run".to_owned(),
                _ => format!("still red: {0} of {0}", first.red.len()),
            };
            log.tell(EventKind::Tests, &text, []);
        }
        self.is_partial
    }
}

impl FirstTests {
    /// Returns those of a slow suite; nothing where all of its tests matter, or none.
    fn of(before: &SuiteReport, tree: &SourceTree, changed: &[RelPath]) -> Option<FirstTests> {
        if before.seconds < SLOW || evidence::unusable(before).is_some() {
            return None;
        }
        let red: Vec<String> = before.failures.iter().map(|one| one.id.clone()).collect();
        if red.len() > MOST {
            return None;
        }
        let files = test_files(tree, changed);
        let touches = |id: &&String| files.iter().any(|file| lies_in(id, file));
        let touching = before.passed_ids.iter().filter(touches);
        let touching: Vec<String> = touching.take(MOST + 1).cloned().collect();
        // So many are the suite itself, or nearly so.
        let is_short = touching.len() <= MOST && 2 * touching.len() <= before.passed_ids.len();
        let first = FirstTests {
            red,
            touching: if is_short { touching } else { Vec::new() },
        };
        (first != FirstTests::default()).then_some(first)
    }

    fn all(&self) -> Vec<String> {
        self.red.iter().chain(&self.touching).cloned().collect()
    }

    /// Returns the report of the state before with these tests as they are now, where each of them ran, and one broke or
    /// all that were red still are.
    fn merged(&self, before: &SuiteReport, seen: SuiteReport) -> Option<SuiteReport> {
        let failed = |id: &String| seen.failures.iter().any(|failure| failure.id == *id);
        let passed = |id: &String| seen.passed_ids.contains(id);
        let ran = |id: &String| failed(id) || passed(id);
        let broken = self.touching.iter().filter(|id| failed(id)).count();
        let stays_red = !self.red.is_empty() && self.red.iter().all(failed);
        let is_whole = evidence::unusable(&seen).is_none() && self.all().iter().all(ran);
        if !is_whole || broken == 0 && !stays_red {
            return None;
        }
        let mended = self.red.iter().filter(|id| passed(id));
        let known = before.passed_ids.iter().filter(|id| !failed(id));
        let mut passed_ids: Vec<String> = known.chain(mended).cloned().collect();
        passed_ids.sort();
        let (was, is) = (before.failures.len(), seen.failures.len());
        Some(SuiteReport {
            passed: (before.passed + was as u32).saturating_sub(is as u32),
            failed: (before.failed + is as u32).saturating_sub(was as u32),
            errors: before.errors,
            skipped: before.skipped,
            collected: before.collected,
            passed_ids,
            ..seen
        })
    }
}

/// Returns the files of tests that import a changed file, or the package that hands it on.
fn test_files(tree: &SourceTree, changed: &[RelPath]) -> Vec<RelPath> {
    let graph = ImportGraph::of(tree);
    let file = |at: u32| tree.files().get(at as usize);
    let mut open: Vec<usize> = changed
        .iter()
        .filter_map(|path| tree.position(path))
        .collect();
    let mut found: BTreeSet<RelPath> = BTreeSet::new();
    let mut seen: BTreeSet<usize> = open.iter().copied().collect();
    while let Some(at) = open.pop() {
        for (importer, file) in graph
            .importers(at)
            .iter()
            .filter_map(|at| Some((*at, file(*at)?)))
        {
            if file.test {
                found.insert(file.path.clone());
            } else if file.path.stem() == "__init__" && seen.insert(importer as usize) {
                open.push(importer as usize);
            }
        }
    }
    let tests = changed
        .iter()
        .filter(|path| harness_code::tree::is_test(path));
    found.extend(tests.cloned());
    found.into_iter().collect()
}

fn tell(log: &mut Log<'_>, first: &FirstTests, before: &SuiteReport, changed: &[RelPath]) {
    let red = match first.red.len() {
        0 => String::new(),
        1 => "the red test".to_owned(),
        many => format!("the {many} red tests"),
    };
    let stems: Vec<&str> = changed.iter().map(RelPath::stem).take(2).collect();
    let touching = match first.touching.len() {
        0 => String::new(),
        1 => format!("the test that touches {}", stems.join(" and ")),
        many => format!("the {many} tests that touch {}", stems.join(" and ")),
    };
    let parts: Vec<String> = [red, touching]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let (all, seconds) = (before.collected, before.seconds);
    let text = format!(
        "running {} first (all {all} take about {seconds:.0} s)",
        parts.join(" and ")
    );
    let data = [("begins", true.into()), ("last_seconds", seconds.into())];
    log.tell(EventKind::Tests, &text, data);
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

    fn names(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the project of a test is a temporary folder"
    )]
    fn first_of(before: &SuiteReport) -> Option<(Vec<String>, Vec<String>)> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("shop/__init__.py", "from shop.pricing import total\n"),
            ("shop/pricing.py", "def total(): pass\n"),
            ("shop/report.py", "import shop.pricing\n"),
            ("tests/test_pricing.py", "from shop.pricing import total\n"),
            ("tests/test_shop.py", "from shop import total\n"),
            ("tests/test_report.py", "import shop.report\n"),
        ] {
            let place = folder.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let changed = [RelPath::parse("shop/pricing.py").unwrap()];
        let first = FirstTests::of(before, &tree, &changed)?;
        Some((first.red, first.touching))
    }

    #[test]
    fn slow_suites_begin_with_the_red_tests_and_those_that_import_what_changed() {
        let (pricing, shop) = (
            "tests/test_pricing.py::test_a",
            "tests/test_shop.py::test_b",
        );
        let far = [
            "tests/test_report.py::test_c",
            "tests/test_report.py::test_d",
        ];
        let passed: Vec<&str> = [pricing, shop].into_iter().chain(far).collect();
        let red = ["tests/test_report.py::test_e"];
        assert_eq!(
            first_of(&report(&passed, &red, 60.0)),
            Some((names(&red), names(&[pricing, shop])))
        );
        assert_eq!(first_of(&report(&passed, &red, 1.0)), None);
        assert_eq!(first_of(&report(&far, &[], 60.0)), None);
        // Half of all tests and more are no short look.
        assert_eq!(first_of(&report(&[pricing, shop, far[0]], &[], 60.0)), None);
    }

    #[test]
    fn one_that_passes_or_did_not_run_asks_for_all() {
        let before = report(&["a"], &["b", "c"], 60.0);
        let first = FirstTests {
            red: names(&["b", "c"]),
            touching: Vec::new(),
        };
        let seen = |report| first.merged(&before, report);
        assert_eq!(seen(report(&["b"], &["c"], 1.0)), None);
        assert_eq!(seen(report(&[], &["c"], 1.0)), None);
        let both = seen(report(&[], &["b", "c"], 1.0)).unwrap();
        assert_eq!((both.passed, both.failed, both.seconds), (1, 2, 1.0));
        assert_eq!(both.passed_ids, ["a"]);
    }

    #[test]
    fn one_that_breaks_settles_it() {
        let before = report(&["a", "d", "e"], &["b"], 60.0);
        let first = FirstTests {
            red: names(&["b"]),
            touching: names(&["d", "e"]),
        };
        let seen = |passed: &[&str], failed: &[&str]| {
            let merged = first.merged(&before, report(passed, failed, 1.0))?;
            Some((merged.passed, merged.failed, merged.passed_ids.join(" ")))
        };
        assert_eq!(seen(&["b", "d"], &["e"]), Some((3, 1, "a b d".to_owned())));
        assert_eq!(seen(&["d"], &["b", "e"]), Some((2, 2, "a d".to_owned())));
        assert_eq!(seen(&["b", "d", "e"], &[]), None);
        assert_eq!(seen(&["b"], &["e"]), None);
    }
}
