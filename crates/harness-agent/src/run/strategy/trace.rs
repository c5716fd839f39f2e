//! The code under test: what a red test runs, most suspect first. A test alone shows a model nothing to change.

use harness_code::path::RelPath;
use harness_code::text::Text;
use harness_code::tree;
use harness_hands::suite::Failure;
use harness_hands::suite::tried;

use crate::plan::{self, Plan, Spot, lies_in};
use crate::run::context::Context;
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::search::blame::{self, Hints};
use crate::run::strategy::{Outcome, Strategy};
use crate::run::trial::Trial;
use harness_code::request::kind::Kind;

/// Places that the model is shown.
const MOST_SPOTS: usize = 3;
/// Passing tests of the same file that are watched too: what they run as well is less suspect.
const MOST_PASSING: usize = 24;

/// The plan of a task that names red tests, and no code, turned to what those tests run.
pub(super) struct Trace;

impl Strategy for Trace {
    fn suits(&self, context: &Context<'_>, plan: &Plan) -> bool {
        let mut first = plan.spots().iter().take(1);
        let names_code =
            first.any(|spot| !tree::is_test(&spot.path)) && !plan.mentions().definitions.is_empty();
        !context.read_only()
            && plan.task.kind() == Kind::Fix
            && plan.names_tests()
            && !names_code
            && !plan.is_traced()
    }

    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        let trial = match resources.begin_work(context, log, plan) {
            Ok(trial) => trial,
            Err(ended) => return Outcome::Ended(ended),
        };
        let failures = trial.now().map_or(&[][..], |now| &now.failures);
        let mut named = failures.iter().filter(|one| plan.names_test(&one.id));
        let Some(failure) = named.next().cloned() else {
            return Outcome::Replanned(Box::new(plan.traced()));
        };
        let spots = spots(context, log, trial, &failure);
        if spots.is_empty() {
            return Outcome::Replanned(Box::new(plan.traced()));
        }
        let next = plan.about_code(spots, context.options.max_tokens);
        log.tell_places(&next);
        Outcome::Replanned(Box::new(next))
    }
}

/// Returns the code that a red test runs, most suspect first.
pub(super) fn spots(
    context: &Context<'_>,
    log: &mut Log<'_>,
    trial: &Trial,
    failure: &Failure,
) -> Vec<Spot> {
    let mut spots = suspects(context, log, trial, failure);
    if spots.is_empty() {
        spots.extend(failing_place(context, failure));
        spots.extend(spoken_of(context, failure));
    }
    spots.truncate(MOST_SPOTS);
    spots
}

/// What the test ran, judged by what passing tests of its file run too.
fn suspects(
    context: &Context<'_>,
    log: &mut Log<'_>,
    trial: &Trial,
    failure: &Failure,
) -> Vec<Spot> {
    let passed = trial.now().map_or(&[][..], |now| &now.passed_ids);
    let around = around(&failure.id).to_owned();
    let near = passed.iter().filter(|id| self::around(id) == around);
    let mut tests = vec![failure.id.clone()];
    tests.extend(near.take(MOST_PASSING).cloned());
    let lines = trial.lines_run(context, log, tests);
    let traces: Vec<tried::Trace> = lines
        .into_iter()
        .map(|(test, lines)| tried::Trace {
            failing: test == failure.id,
            test,
            lines,
        })
        .collect();
    let scope = RelPath::parse(&context.options.scope).ok();
    let hints = Hints {
        named: &[],
        failures: std::slice::from_ref(failure),
        scope: scope.as_ref(),
    };
    let read = |path: &RelPath| -> Option<Text> { context.tree().text(path).ok() };
    let (found, _) = blame::suspects(&read, &traces, &hints);
    let spot = |one: &blame::Suspect| {
        plan::definition(context.tree(), &one.path, &one.name, *one.rows.start())
    };
    found.iter().take(MOST_SPOTS).filter_map(spot).collect()
}

/// Returns the id of what a test lies in: its class, or its file.
fn around(id: &str) -> &str {
    let end = id.rfind([':', '.']).unwrap_or(0);
    &id[..end]
}

/// The place where the test stopped, where that is code.
fn failing_place(context: &Context<'_>, failure: &Failure) -> Option<Spot> {
    let path = RelPath::parse(failure.file.as_deref()?).ok()?;
    let line = failure.line.filter(|_| !tree::is_test(&path))?;
    plan::around(context.tree(), &path, line)
}

/// Returns the lines of a test that has a sentence for a name: `suite > counts words`, `test.counts words`.
fn told_by_title(text: &str, id: &str) -> Option<String> {
    let title = id.rsplit(" > ").next().unwrap_or(id);
    let title = title.split_once('.').map_or(title, |(_, title)| title);
    let quoted = |line: &&str| {
        ['"', '\'', '`']
            .iter()
            .any(|quote| line.contains(&format!("{quote}{title}{quote}")))
    };
    let mut lines = text.lines().skip_while(|line| !quoted(line));
    let first = lines.next()?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let inside = |line: &&str| {
        let begins = line.trim_start().starts_with(char::is_alphabetic);
        indent(line) > indent(first) || !begins
    };
    let rest = lines.take_while(inside);
    let lines: Vec<&str> = std::iter::once(first).chain(rest).collect();
    Some(lines.join("\n"))
}

/// Definitions that the text of the test names, in the order it does.
fn spoken_of(context: &Context<'_>, failure: &Failure) -> Vec<Spot> {
    let tree = context.tree();
    let id = failure.id.split('[').next().unwrap_or(&failure.id);
    let name = id.rsplit([':', '.', ' ']).next().unwrap_or(id);
    let mut tests = tree.files().iter().filter(|file| file.test);
    let text = tests.find_map(|file| {
        let text = tree.text(&file.path).ok()?;
        let mut own = file.facts.definitions.iter();
        let own = own.find(|one| one.name() == name);
        match own {
            Some(own) => text.content().get(own.span()).map(str::to_owned),
            None => told_by_title(text.content(), id)
                .or_else(|| lies_in(id, &file.path).then(|| text.into_content())),
        }
    });
    let text = text.unwrap_or_default();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut spots: Vec<Spot> = Vec::new();
    for word in words.filter(|word| word.len() > 2) {
        let mut found = tree
            .definitions()
            .filter(|(file, one)| !file.test && one.kind.is_function() && one.name() == word);
        // A name that several things have says little.
        let (Some((file, one)), None) = (found.next(), found.next()) else {
            continue;
        };
        let spot = plan::definition(tree, &file.path, &one.qualified, one.line);
        let is_new = |spot: &Spot| !spots.contains(spot);
        spots.extend(spot.filter(is_new));
    }
    spots
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{PRICING, Stage, TEST_PRICING, place_shown};

    const TASK: &str = "fix test_discount in test_pricing.py";

    fn stage() -> Stage {
        Stage::new(&[PRICING, TEST_PRICING], TASK)
    }

    #[test]
    fn it_suits_fixes_that_name_a_test_and_no_code() {
        assert!(stage().suits(&Trace));
        assert!(!stage().read_only().suits(&Trace));
        assert!(!Stage::pricing().suits(&Trace));
        let both = "fix discount in pricing.py, test_discount in test_pricing.py fails";
        assert!(!Stage::new(&[PRICING, TEST_PRICING], both).suits(&Trace));
        let traced = |plan: &Plan| plan.about_code(Vec::new(), 700);
        assert!(!stage().suits_as(&Trace, traced));
    }

    #[test]
    fn the_plan_turns_to_the_code_that_the_test_runs() {
        let came = stage().attempt(&Trace);
        expect!["replanned, rewrite: pricing.py:1 discount"].assert_eq(&came.outcome());
        assert_eq!(
            came.told(EventKind::Located),
            ["looking at discount (pricing.py:1)"]
        );
        assert_eq!(came.requests, []);
    }

    #[test]
    fn what_passing_tests_run_too_is_less_suspect() {
        let shop = "def helper(number):\n    return number\n\n\ndef double(number):\n    return helper(number) * 3\n";
        let tests = "import unittest\n\nfrom shop import double, helper\n\n\nclass T(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n\n    def test_helper(self):\n        self.assertEqual(helper(2), 2)\n";
        let files = [("shop.py", shop), ("test_shop.py", tests)];
        let came = Stage::new(&files, "fix test_double in test_shop.py").attempt(&Trace);
        expect!["replanned, rewrite: shop.py:5 double, shop.py:1 helper"]
            .assert_eq(&came.outcome());
    }

    #[test]
    fn the_code_is_looked_for_without_an_engine_too() {
        let came = stage().without_engine().attempt(&Trace);
        expect!["replanned, rewrite: pricing.py:1 discount"].assert_eq(&came.outcome());
    }

    #[test]
    fn the_places_stay_where_the_named_test_is_green() {
        let green = TEST_PRICING.1.replace("180", "190");
        let stage = Stage::new(&[PRICING, (TEST_PRICING.0, &green)], TASK);
        let came = stage.attempt(&Trace);
        assert_eq!(came.outcome(), "replanned, loop: test_pricing.py:1");
        assert!(came.next_plan().is_traced(), "it would be traced again");
    }

    #[test]
    fn the_places_stay_where_the_test_runs_no_code_of_the_project() {
        let alone = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(1, 2)\n";
        let stage = Stage::new(&[PRICING, (TEST_PRICING.0, alone)], TASK);
        let came = stage.attempt(&Trace);
        assert_eq!(came.outcome(), "replanned, loop: test_pricing.py:1");
        assert!(came.next_plan().is_traced(), "it would be traced again");
    }

    #[test]
    fn who_stops_it_while_the_tests_run_ends_it() {
        let came = stage().stopped_at(EventKind::Tests).attempt(&Trace);
        expect!["ended, interrupted: interrupted"].assert_eq(&came.outcome());
    }

    #[test]
    fn a_test_that_cannot_be_watched_is_read_for_the_names_in_it() {
        let tests = "def test_discount():\n    assert discount(200, 10) == 180\n";
        let stage = Stage::new(&[PRICING, ("test_pricing.py", tests)], TASK);
        let came = stage.play(|scene| {
            let failure = Failure {
                id: "test_pricing.py::test_discount".to_owned(),
                message: String::new(),
                traceback: String::new(),
                file: None,
                line: None,
                hung: None,
            };
            spoken_of(scene.context, &failure)
        });
        let shown: Vec<String> = came.value.iter().map(place_shown).collect();
        assert_eq!(shown, ["pricing.py:1 discount"]);
    }

    #[test]
    fn a_test_is_found_by_its_sentence() {
        let text = "describe('sum', () => {\n  test('adds', () => {\n    sum(1);\n  });\n  test('negates', () => {\n    neg(1);\n  });\n});\n";
        let adds = told_by_title(text, "sum > adds").unwrap();
        assert!(adds.contains("sum(1)") && !adds.contains("neg"), "{adds}");
        let one = "test('adds', () => { sum(1); });\ntest('negates', () => { neg(2); });\n";
        assert_eq!(
            told_by_title(one, "test.negates").unwrap(),
            "test('negates', () => { neg(2); });"
        );
        assert_eq!(told_by_title(text, "sum > other"), None);
    }

    #[test]
    fn tests_lie_in_classes_and_files() {
        assert_eq!(around("tests/test_a.py::T::test_b"), "tests/test_a.py::T:");
        assert_eq!(around("tests.test_a.T.test_b"), "tests.test_a.T");
        assert_eq!(around("test_b"), "");
    }
}
