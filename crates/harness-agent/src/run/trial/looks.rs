//! What a verdict hangs on: the suite on what is staged, and the dearer looks where the cheaper ones leave it open.

use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::suite::Runner as Framework;
use harness_code::tree;
use harness_hands::scratch::{Scratch, Touch};
use harness_hands::suite::{Selection, SuiteReport, Watch};

use crate::guard;
use crate::plan::Plan;
use crate::run::context::Context;
use crate::run::event::EventKind;
use crate::run::evidence::{self, Evidence};
use crate::run::log::Log;
use crate::run::probe::returning_nothing;
use crate::run::trial::{Trial, not_started, tell_tests};
use crate::run::{coverage, flaky};
use harness_code::request::kind::Kind;

/// Endings of files that tests leave and clear away, and that nobody misses.
const LEFTOVERS: [&str; 4] = ["log", "tmp", "temp", "pid"];

impl Trial {
    /// Runs the suite on a version and looks at all that the verdict hangs on. The dearer looks come only where the
    /// cheaper ones leave the verdict open.
    pub(super) fn observe(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        version: &Scratch,
    ) {
        if self.settled_by_few(context, log, plan, version) {
            return;
        }
        let watch = self.watch(context);
        let report = self.run_in(context, log, version, (&Selection::All, &watch));
        tell_tests(log, "after the change", &report);
        let is_usable = evidence::unusable(&report).is_none();
        self.after = Some(report);
        if !is_usable {
            return;
        }
        self.touched = version.touched();
        for (path, touch) in &mut self.touched {
            let left = path.under(version.root()).symlink_metadata();
            if *touch == Touch::Changed && left.is_ok_and(|left| left.len() == 0) {
                // Emptied is as good as gone.
                *touch = Touch::Removed;
            }
        }
        self.observed.rewritten = self.rewritten(context);
        if let Some(suite) = &self.suite {
            let changed: Vec<RelPath> = self.staged.paths().cloned().collect();
            let reports: Vec<&SuiteReport> = self.before.iter().chain(&self.after).collect();
            let tree = context.whole_tree();
            self.observed.run_by_name = coverage::run_by_name(suite, &changed);
            self.observed.uncovered = coverage::uncovered(suite, tree, &reports, &changed);
        }
        self.look_again(context, log, version);
        self.trace_red(context, log, plan);
        if self.meets_something(context, plan) {
            self.look_without_new_tests(context, log, plan);
        }
        if self.meets_something(context, plan) {
            self.look_whether_reached(context, log, plan, version);
        }
        if self.meets_something(context, plan) {
            self.look_whether_tested(context, log, plan);
        }
    }

    /// Says whether something that the task asks for is met by what is staged, as far as was looked.
    pub(super) fn meets_something(&self, context: &Context<'_>, plan: &Plan) -> bool {
        let goals = self.with_evidence(context, plan, |evidence| evidence.goals());
        goals.iter().any(|goal| goal.met)
    }

    /// Runs new tests once more against a function that returns nothing: one of them must notice.
    fn look_whether_tested(&mut self, context: &Context<'_>, log: &mut Log<'_>, plan: &Plan) {
        let asked = self.with_evidence(context, plan, |evidence| evidence.new_tests());
        let Some((tests, targets)) = asked else {
            return;
        };
        for target in targets {
            let text = context.whole_tree().text(&target.path);
            let mutant = text
                .ok()
                .and_then(|text| returning_nothing(text.content(), &target.name));
            let Some(mutant) = mutant.filter(|_| !context.cancel.stopped()) else {
                continue;
            };
            let Ok(mut version) = self.version(context, |_| true) else {
                return;
            };
            if version.put(&target.path, mutant.as_bytes()).is_err() {
                return;
            }
            let chosen = Selection::Some(tests.clone());
            let report = self.run_in(context, log, &version, (&chosen, &Watch::default()));
            if tests.iter().all(|id| report.passed_ids.contains(id)) {
                self.observed.untested = Some(target.name);
                return;
            }
        }
    }

    /// Finds tests that turned green because they no longer run what the task names.
    fn look_whether_reached(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        version: &Scratch,
    ) {
        let turned = self.with_evidence(context, plan, |evidence| evidence.turned());
        let (Some((tests, old, new)), Some(base)) = (turned, &self.base) else {
            return;
        };
        let is_watched = matches!(
            self.suite.as_ref().map(|suite| suite.runner),
            Some(Framework::Pytest | Framework::Unittest)
        );
        if tests.is_empty() || !is_watched || context.cancel.stopped() {
            return;
        }
        let (chosen, watch) = (Selection::Some(tests.clone()), Watch::lines());
        let before = self.run_in(context, log, base, (&chosen, &watch));
        let after = self.run_in(context, log, version, (&chosen, &watch));
        self.observed.unreached =
            Evidence::unreached(&tests, (&old, &before.lines), (&new, &after.lines));
    }

    /// Returns tests, settings and code that running the change rewrote, and other files of the project that it removed,
    /// where running the state before did not. Nothing is held against the change while that was not tried.
    pub(super) fn rewritten(&self, context: &Context<'_>) -> Vec<RelPath> {
        if self.before.is_none() {
            return Vec::new();
        }
        let before = self.base.as_ref().map(Scratch::touched).unwrap_or_default();
        let is_leftover = |path: &RelPath| {
            let ending = path.as_str().rsplit('.').next().unwrap_or_default();
            LEFTOVERS.contains(&ending) || context.whole_tree().file(path).is_none()
        };
        let counts = |path: &RelPath, touch: Touch| {
            let is_code = Language::of(path).is_source() || tree::is_test(path);
            match touch {
                Touch::Added => is_code,
                Touch::Changed => is_code || guard::decides_tests(path),
                Touch::Removed => is_code || guard::decides_tests(path) || !is_leftover(path),
            }
        };
        self.touched
            .iter()
            .filter(|(path, touch)| counts(path, **touch) && !before.contains_key(*path))
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// Says whether running the change leaves files behind that running the state before does not.
    pub(super) fn leaves_files(&self, version: &Scratch) -> bool {
        let base = self.base.as_ref();
        let before = base.map(Scratch::touched).unwrap_or_default();
        let outside = base.map(Scratch::left_outside).unwrap_or_default();
        let touched = version.touched();
        touched.keys().any(|path| !before.contains_key(path))
            || !version.left_outside().is_subset(&outside)
    }

    /// Runs tests whose verdict changed again on both states, to know which of them say another thing each time.
    pub(super) fn look_again(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        version: &Scratch,
    ) {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return;
        };
        let changes = self.staged.changes();
        let by_chance = changes.iter().any(flaky::may_act_by_chance);
        let mut tests = flaky::changed(before, after);
        tests.truncate(flaky::MOST);
        // A change that asks for the time or for a random number may spoil any test in any run, and one that leaves
        // files behind may in the next.
        let any_test = by_chance || self.leaves_files(version);
        if any_test {
            tests = Vec::new();
        }
        let rounds = match by_chance {
            true => flaky::ROUNDS_BY_CHANCE,
            false => flaky::ROUNDS,
        };
        if (tests.is_empty() && !any_test) || context.cancel.stopped() {
            return;
        }
        let chosen = match tests.is_empty() {
            true => Selection::All,
            false => Selection::Some(tests.clone()),
        };
        let looked_at = |report: &SuiteReport| match tests.is_empty() {
            true => flaky::judged(report),
            false => tests.clone(),
        };
        let mut unsteady_after = Vec::new();
        for _ in 0..rounds {
            let again = self.run_in(context, log, version, (&chosen, &Watch::default()));
            unsteady_after.extend(flaky::unsteady(&looked_at(after), after, &again));
            if !unsteady_after.is_empty() || context.cancel.stopped() {
                break;
            }
        }
        let mut unsteady_before = Vec::new();
        let suspects = match tests.is_empty() {
            true => unsteady_after.clone(),
            false => tests.clone(),
        };
        if let Some(base) = self.base.as_ref().filter(|_| !suspects.is_empty()) {
            let chosen = Selection::Some(suspects.clone());
            // What is unsteady or red now is excused only when it was unsteady before, which chance may hide once.
            let is_open = |id: &String, round: usize| {
                let is_red = before.passed_ids.contains(id) && !after.passed_ids.contains(id);
                unsteady_after.contains(id) || (is_red && round < flaky::ROUNDS)
            };
            for round in 0..flaky::ROUNDS_BY_CHANCE {
                let known = |id: &String| unsteady_before.contains(id);
                let is_over = !suspects.iter().any(|id| is_open(id, round) && !known(id));
                if (round > 0 && is_over) || context.cancel.stopped() {
                    break;
                }
                let again = self.run_in(context, log, base, (&chosen, &Watch::default()));
                unsteady_before.extend(flaky::unsteady(&suspects, before, &again));
            }
        }
        self.observed.unsteady_before = unsteady_before;
        self.observed.unsteady_after = unsteady_after;
        let names = self.observed.unsteady();
        if !names.is_empty() {
            let text = format!("passes and fails by chance: {}", names.join(", "));
            log.tell(EventKind::Tests, &text, [("flaky", names.into())]);
        }
    }

    /// Finds out which lines those tests ran before the change that were red and still do not pass.
    pub(super) fn trace_red(&mut self, context: &Context<'_>, log: &mut Log<'_>, plan: &Plan) {
        let (Some(before), Some(after), Some(base)) = (&self.before, &self.after, &self.base)
        else {
            return;
        };
        let red = self.with_evidence(context, plan, |evidence| evidence.untraced(before, after));
        if red.is_empty() || context.cancel.stopped() {
            return;
        }
        let report = self.run_in(context, log, base, (&Selection::Some(red), &Watch::lines()));
        self.observed.lines = report.lines;
    }

    /// Judges the tests that were there before once more without what the run adds to the tests.
    fn look_without_new_tests(&mut self, context: &Context<'_>, log: &mut Log<'_>, plan: &Plan) {
        let is_fix = plan.task.kind() == Kind::Fix;
        let task = plan.task.clone();
        // Data that the task does not name is what tests compare with, for all we know.
        let is_data =
            |path: &RelPath| is_fix && !Language::of(path).is_source() && !task.names_path(path);
        let is_test =
            |path: &RelPath| tree::is_test(path) || guard::decides_tests(path) || is_data(path);
        if self.before.is_none() || !self.staged.paths().any(is_test) {
            return;
        }
        let is_asked = |path: &RelPath| plan.task.asks_to_change_test(path);
        if matches!(plan.task.kind(), Kind::Rename) || self.staged.paths().any(is_asked) {
            // Tests that use the old name, or were asked to say another thing, cannot run without their part of it.
            return;
        }
        let report = match self.version(context, |path| !is_test(path)) {
            Ok(version) => {
                self.run_in(context, log, &version, (&Selection::All, &Watch::default()))
            }
            Err(error) => not_started(context, &error),
        };
        tell_tests(log, "without the new tests", &report);
        self.observed.without_new_tests = Some(report);
    }

    /// Returns what is watched while tests judge: whether they import the project's own copy of what is changed.
    pub(super) fn watch(&self, context: &Context<'_>) -> Watch {
        Watch {
            modules: self.changed_modules(context),
            lines: false,
        }
    }

    /// Returns the names by which tests import the files that are changed.
    fn changed_modules(&self, context: &Context<'_>) -> Vec<String> {
        let tree = context.whole_tree();
        let is_package = |folder: &RelPath| {
            let file = folder.join("__init__.py");
            file.is_ok_and(|file| tree.file(&file).is_some())
        };
        let paths = self.staged.paths();
        paths
            .filter(|path| Language::of(path) == Language::Python && !tree::is_test(path))
            .map(|path| {
                let mut parts = match path.stem() {
                    "__init__" => Vec::new(),
                    stem => vec![stem.to_owned()],
                };
                let mut folder = path.parent();
                while let Some(here) = folder.filter(&is_package) {
                    parts.push(here.file_name().to_owned());
                    folder = here.parent();
                }
                parts.reverse();
                parts.join(".")
            })
            .filter(|name| !name.is_empty())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use harness_code::edit::FileChange;

    use super::*;
    use crate::run::evidence::Verdict;
    use crate::run::scripted_tests::{PRICING, Stage, TEST_PRICING, change};

    const TASK: &str = "fix discount in pricing.py";

    fn mended() -> String {
        let percents = "total - total * percent / 100";
        PRICING.1.replace("total - percent", percents)
    }

    /// Returns the mended code with a line more in the function.
    fn with_line(line: &str) -> FileChange {
        let after = mended().replace("percent):\n", &format!("percent):\n    {line}\n"));
        let after = format!("import os\n\n\n{after}");
        change(PRICING.0, Some(PRICING.1), Some(&after))
    }

    /// Stages changes of a project without guards and judges them.
    fn verdict(stage: &Stage, files: &[FileChange]) -> String {
        let came = stage.play(|scene| {
            let (context, plan) = (scene.context, scene.plan);
            let opened = Trial::open(context, scene.log, plan);
            let mut trial = opened.unwrap_or_else(|ended| panic!("{ended:?}"));
            trial.baseline(context, scene.log);
            for file in files {
                let after = file.after.clone().map(String::into_bytes);
                let set = trial.staged.set(context.project.door(), &file.path, after);
                set.unwrap();
            }
            match trial.judge(context, scene.log, plan) {
                Verdict::Proven(words) => format!("proven: {words}"),
                Verdict::Unfinished { rule, reason } => format!("{rule}: {reason}"),
                other => panic!("{other:?}"),
            }
        });
        came.value
    }

    /// Returns the project whose discount is wrong, with more files.
    fn pricing(more: &[(&str, &str)]) -> Stage {
        Stage::new(&[&[PRICING, TEST_PRICING], more].concat(), TASK)
    }

    #[test]
    fn a_file_that_is_emptied_when_the_change_runs_is_as_good_as_gone() {
        let stage = pricing(&[("kept.txt", "1\n")]);
        let came = verdict(&stage, &[with_line("open('kept.txt', 'w').close()")]);
        expect!["finish.rewrites: running the change rewrites or removes `kept.txt`: change the code instead"].assert_eq(&came);
    }

    #[test]
    fn what_running_the_project_does_to_files_anyway_is_not_held_against_a_change() {
        let line = "    open('kept.py', 'a').write('# more\\n')\n    return";
        let code = PRICING.1.replace("    return", line);
        let stage = Stage::new(
            &[("pricing.py", &code), TEST_PRICING, ("kept.py", "x = 1\n")],
            TASK,
        );
        let after = code.replace("total - percent", "total - total * percent / 100");
        let came = verdict(&stage, &[change("pricing.py", Some(&code), Some(&after))]);
        expect!["proven: 1 test passes; test_pricing.T.test_discount failed before"]
            .assert_eq(&came);
    }

    #[test]
    fn tests_that_pass_by_being_changed_prove_nothing() {
        let test = TEST_PRICING.1.replace("180", "190");
        let other = PRICING.1.replace("return total", "return  total");
        let changes = [
            change(PRICING.0, Some(PRICING.1), Some(&other)),
            change(TEST_PRICING.0, Some(TEST_PRICING.1), Some(&test)),
        ];
        expect![[r#"
            finish.hangs_on_new_tests: the tests pass only beside what this run adds to them: change the code, not what surrounds it
            the test still fails: try another change
            test_pricing.T.test_discount (test_pricing.py:8): AssertionError: 190 != 180"#]].assert_eq(&verdict(&pricing(&[]), &changes));
    }

    #[test]
    fn new_tests_must_notice_when_the_code_returns_nothing() {
        let code = format!("{}\n\ndef half(total):\n    return total / 2\n", mended());
        let files = [("pricing.py", &*code), TEST_PRICING];
        let stage = Stage::new(&files, "add tests for half in pricing.py");
        let test = |check: &str| {
            let text = TEST_PRICING.1.replace("discount", "half");
            let text = text.replace("self.assertEqual(half(200, 10), 180)", check);
            verdict(&stage, &[change("test_half.py", None, Some(&text))])
        };
        expect!["finish.no_new_test: the new tests pass even when `half` returns nothing: check what it returns"].assert_eq(&test("half(10)"));
        expect!["proven: 2 tests pass"].assert_eq(&test("self.assertEqual(half(10), 5)"));
    }

    #[test]
    fn the_first_tests_of_a_project_must_notice_too() {
        let stage = Stage::new(&[PRICING], "add tests for discount in pricing.py");
        let test = |code: &str| verdict(&stage, &[change(TEST_PRICING.0, None, Some(code))]);
        let blind = TEST_PRICING.1.replace(
            "self.assertEqual(discount(200, 10), 180)",
            "discount(200, 10)",
        );
        expect!["finish.no_new_test: the new tests pass even when `discount` returns nothing: check what it returns"].assert_eq(&test(&blind));
        expect!["proven: 1 test passes"].assert_eq(&test(&TEST_PRICING.1.replace("180", "190")));
    }

    #[test]
    fn a_test_that_no_longer_reaches_what_the_task_names_is_not_mended() {
        let cart =
            "from pricing import discount\n\n\ndef due(total):\n    return discount(total, 10)\n";
        let test = "import unittest\n\nfrom cart import due\n\n\nclass T(unittest.TestCase):\n    def test_due(self):\n        self.assertEqual(due(200), 180)\n";
        let files = [PRICING, ("cart.py", cart), ("test_cart.py", test)];
        let stage = Stage::new(&files, TASK);
        let around = cart.replace("discount(total, 10)", "total - total / 10");
        let touched = PRICING.1.replace("total - percent", "total - percent - 0");
        let changes = [
            change("cart.py", Some(cart), Some(&around)),
            change(PRICING.0, Some(PRICING.1), Some(&touched)),
        ];
        expect!["finish.unreached: test_cart.T.test_due passes, but no longer runs what the task names: change that, not what leads to it"].assert_eq(&verdict(&stage, &changes));
    }

    #[test]
    fn a_test_that_was_unsteady_before_is_not_held_against_a_change() {
        let odd = "import os\nimport unittest\n\n\nclass T(unittest.TestCase):\n    def test_odd(self):\n        n = len(open('n.txt').read()) if os.path.exists('n.txt') else 0\n        open('n.txt', 'a').write('.')\n        self.assertEqual(n % 2, len(open('pricing.py').read()) > 70)\n";
        let stage = pricing(&[("test_odd.py", odd)]);
        let mended = change(PRICING.0, Some(PRICING.1), Some(&mended()));
        expect!["proven: 1 test passes; test_pricing.T.test_discount failed before; 1 failed before and still does (test_odd.T.test_odd)"].assert_eq(&verdict(&stage, &[mended]));
    }
}
