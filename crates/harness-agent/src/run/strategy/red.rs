//! "Fix the failing tests": the suite says what the task is. One red test after the other, most telling first; what is
//! proven stays, and the next one is looked at with it in place.

use std::collections::BTreeSet;

use harness_code::path::RelPath;
use harness_code::tree;
use harness_hands::suite::{Failure, SuiteReport};

use crate::goal::Goal;
use crate::plan::Plan;
use crate::run::context::Context;
use crate::run::conversation::out_of_steps;
use crate::run::ending::Ended;
use crate::run::event::EventKind;
use crate::run::evidence::{Verdict, has_passed, unusable};
use crate::run::log::{Log, first_line};
use crate::run::resources::Resources;
use crate::run::result::Stopped;
use crate::run::staged::summary;
use crate::run::strategy::{Outcome, Strategy, pursue, trace};
use crate::run::trial::Trial;
use harness_code::request::Request;
use harness_code::request::kind::Kind;

/// The least steps that one red test gets before the next has its turn.
const LEAST_STEPS: u32 = 3;
/// Names of red tests that are told at once.
const MOST_TOLD: usize = 3;

/// One goal a red test, as many as can be met.
pub(super) struct RedTests;

impl Strategy for RedTests {
    fn suits(&self, context: &Context<'_>, plan: &Plan) -> bool {
        !context.read_only() && plan.is_about_red_tests()
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
        let mut red = match red_tests(plan, trial) {
            Ok(red) => red,
            Err(ended) => return Outcome::Ended(ended),
        };
        tell(log, &red);
        let ended = one_by_one(context, log, plan, resources, &mut red);
        Outcome::Ended(match &mut resources.trial {
            Some(trial) => end((context, log, plan), trial, &red, ended),
            None => Ended::new(Stopped::Stuck, ended.summary),
        })
    }
}

/// Makes one red test after the other the goal. Returns how the last one ended that was not met.
fn one_by_one(
    context: &Context<'_>,
    log: &mut Log<'_>,
    plan: &Plan,
    resources: &mut Resources,
    red: &mut Vec<Failure>,
) -> Ended {
    // What could not be mended, by its cause: others of the same cause are not tried.
    let mut given_up: BTreeSet<String> = BTreeSet::new();
    let mut ended = Ended::new(Stopped::Done, "");
    let mut mended = context.with_changes(&[]);
    while let Some(trial) = &mut resources.trial
        && let Some((first, next)) = next(red, trial, &given_up)
    {
        let spent = log.history.next_number() - 1;
        let left = context.options.steps.saturating_sub(spent);
        let steps = (left / open(red, trial).max(1)).max(LEAST_STEPS).min(left);
        if steps == 0 && resources.has_engine() {
            return out_of_steps(context);
        }
        let Some(trial) = &mut resources.trial else {
            break;
        };
        // What was written for another test does not wait for this one's names.
        trial.forget_waiting();
        let goal = about(&mended, log, plan, trial, (red, &next));
        resources.steps = steps;
        let (_, one) = pursue(&mended, log, goal, resources);
        let Some(trial) = &mut resources.trial else {
            return one;
        };
        if one.stopped == Stopped::Done {
            if !settle(plan, trial, red) {
                given_up.insert(cause(&first));
            }
            mended = context.with_changes(&trial.staged().changes());
            continue;
        }
        given_up.insert(cause(&first));
        ended = one;
        let has_failed = ended.stopped == Stopped::Engine && resources.has_engine();
        let is_over = matches!(
            ended.stopped,
            Stopped::Interrupted | Stopped::Refused | Stopped::Busy
        );
        if has_failed || is_over {
            break;
        }
    }
    ended
}

/// Returns the red tests that the task means; where there are none, how the run ends.
fn red_tests(plan: &Plan, trial: &Trial) -> Result<Vec<Failure>, Ended> {
    let unverified = |words: &str| Err(Ended::new(Stopped::Stuck, format!("unverified: {words}")));
    let Some(before) = trial.before() else {
        return unverified(
            "no way to run the project's tests was found; name the command in the user's config (`[[project]] tests`)",
        );
    };
    if let Some(problem) = unusable(before) {
        return unverified(&problem);
    }
    let meant = |failure: &&Failure| plan.means_test(&failure.id);
    let mut red: Vec<Failure> = before.failures.iter().filter(meant).cloned().collect();
    red.sort_by_key(telling);
    if !red.is_empty() {
        return Ok(red);
    }
    if before.failed + before.errors > 0 && before.failures.is_empty() {
        return unverified("the tests do not say which of them failed");
    }
    // Skipped, expected to fail or not there at all is not passed.
    let passed = before.passed_ids.iter();
    let passed = passed.filter(|id| plan.means_test(id)).count();
    let is_named = plan.names_tests() || !plan.mentions().paths.is_empty();
    match before.failures.first() {
        Some(other) => unverified(&format!(
            "nothing that the task names fails; {} does",
            other.id
        )),
        None if before.passed == 0 => unverified("no test ran and passed"),
        None if is_named && passed == 0 => unverified("the tests that the task names did not run"),
        None => {
            let tests = if before.passed == 1 {
                "test passes"
            } else {
                "tests pass"
            };
            let words = format!("nothing fails: {} {tests}", before.passed);
            Err(Ended::new(Stopped::Done, words))
        }
    }
}

/// Returns how much a failure tells, the most first: what cannot even be imported hides others, a place in the code says
/// more than one in the test.
fn telling(failure: &Failure) -> u8 {
    const BROKEN: [&str; 4] = [
        "ImportError",
        "ModuleNotFoundError",
        "SyntaxError",
        "IndentationError",
    ];
    let path = failure.file.as_deref().map(RelPath::parse);
    let in_code = path.is_some_and(|path| path.is_ok_and(|path| !tree::is_test(&path)));
    match failure {
        _ if BROKEN.iter().any(|name| failure.message.contains(name)) => 0,
        _ if failure.hung.is_some() => 3,
        _ if in_code => 1,
        _ => 2,
    }
}

/// Returns what tells two causes apart: the line of code where a test stopped and what it said, or the test itself.
fn cause(failure: &Failure) -> String {
    match (&failure.file, failure.line) {
        (Some(file), Some(line)) if telling(failure) < 2 => {
            format!("{file}:{line}: {}", first_line(&failure.message))
        }
        _ => failure.id.clone(),
    }
}

fn passes(trial: &Trial, report: Option<&SuiteReport>, id: &String) -> bool {
    report.is_some_and(|report| has_passed(trial.before(), report, id))
}

/// Returns the next red test to work on, as it failed first and as it fails now.
fn next(red: &[Failure], trial: &Trial, given_up: &BTreeSet<String>) -> Option<(Failure, Failure)> {
    let now = trial.now()?;
    let mut open = red.iter().filter(|one| !passes(trial, Some(now), &one.id));
    let open = open.find(|one| !given_up.contains(&cause(one)))?;
    let as_now = now.failures.iter().find(|failure| failure.id == open.id);
    Some((open.clone(), as_now.unwrap_or(open).clone()))
}

/// Returns how many causes are left.
fn open(red: &[Failure], trial: &Trial) -> u32 {
    let open = red
        .iter()
        .filter(|one| !passes(trial, trial.now(), &one.id));
    let causes: BTreeSet<String> = open.map(cause).collect();
    u32::try_from(causes.len()).unwrap_or(u32::MAX)
}

/// Returns the plan in which one red test is the task, beside those that pass by now.
fn about(
    context: &Context<'_>,
    log: &mut Log<'_>,
    plan: &Plan,
    trial: &Trial,
    (red, next): (&[Failure], &Failure),
) -> Plan {
    let spots = trace::spots(context, log, trial, next);
    let mended = red.iter().filter(|one| passes(trial, trial.now(), &one.id));
    let blamed = mended.chain([next]).map(|one| one.id.clone()).collect();
    let goal = plan.about_tests(one_red_test(), blamed);
    let goal = goal.about_code(spots, context.options.max_tokens);
    let text = format!("working on {}", next.id);
    let data = [("test", next.id.clone().into())];
    log.tell(EventKind::Located, &text, data);
    log.tell_places(&goal);
    log.record.plan(&goal);
    goal
}

/// The task of one red test. Its id is no part of the words: a test may be called "how to remove test data".
fn one_red_test() -> Request {
    Request::read("make the failing test pass").with_kind(Kind::Fix)
}

/// Keeps what is proven in mind: the next red test is worked on with it in place. Says whether more passes than before.
fn settle(plan: &Plan, trial: &mut Trial, red: &mut Vec<Failure>) -> bool {
    // Tests that an import hid, and tests that pass by chance, may be red only now.
    let seen = trial.after().map_or(&[][..], |after| &after.failures);
    let is_new = |one: &&Failure| !red.iter().any(|known| known.id == one.id);
    let late = seen.iter().filter(is_new);
    let late: Vec<Failure> = late
        .filter(|one| plan.means_test(&one.id))
        .cloned()
        .collect();
    red.extend(late);
    let goals = goals(red, trial, trial.after());
    trial.remember(goals)
}

fn goals(red: &[Failure], trial: &Trial, after: Option<&SuiteReport>) -> Vec<Goal> {
    let unsteady = trial.unsteady();
    let goal = |one: &Failure| {
        let is_steady = !unsteady.contains(&one.id);
        let met = is_steady && passes(trial, after, &one.id);
        let now = after.and_then(|after| after.failures.iter().find(|now| now.id == one.id));
        Goal {
            text: format!("{} passes", one.id),
            met,
            why: match (met, is_steady) {
                (true, _) => "it failed before and passes now".to_owned(),
                (false, false) => "it passes only sometimes".to_owned(),
                (false, true) => first_line(&now.unwrap_or(one).message).to_owned(),
            },
        }
    };
    red.iter().map(goal).collect()
}

/// Judges the whole once more.
fn end(
    (context, log, plan): (&Context<'_>, &mut Log<'_>, &Plan),
    trial: &mut Trial,
    red: &[Failure],
    ended: Ended,
) -> Ended {
    if open(red, trial) > 0 {
        let stopped = match ended.stopped {
            Stopped::Done => Stopped::Stuck,
            stopped => stopped,
        };
        return Ended {
            goals: goals(red, trial, None),
            ..Ended::new(stopped, ended.summary).hinting(ended.hint)
        };
    }
    let blamed = red.iter().map(|one| one.id.clone()).collect();
    let plan = plan.about_tests(one_red_test(), blamed);
    let goals = goals(red, trial, trial.now());
    match trial.settled_verdict(context, log, &plan) {
        Verdict::Proven(proof) => Ended {
            goals,
            judged_by: Some(Box::new(plan)),
            ..Ended::new(Stopped::Done, summary(&trial.staged().changes(), &proof))
        },
        Verdict::Worse(reason)
        | Verdict::Unverified(reason)
        | Verdict::Unfinished { reason, .. } => {
            trial.forget_part();
            Ended::new(Stopped::Stuck, reason).hinting(ended.hint)
        }
    }
}

fn tell(log: &mut Log<'_>, red: &[Failure]) {
    let names: Vec<&str> = red
        .iter()
        .take(MOST_TOLD)
        .map(|one| one.id.as_str())
        .collect();
    let more = match red.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let fail = if red.len() == 1 {
        "test fails"
    } else {
        "tests fail"
    };
    let text = format!("{} {fail}: {}{more}", red.len(), names.join(", "));
    log.tell(EventKind::Tests, &text, [("failed", red.len().into())]);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;

    use super::*;
    use crate::run::scripted_tests::{PRICING, RIGHT, Stage, TEST_PRICING, diff};

    const TASK: &str = "fix the failing tests";
    /// Two functions that are wrong.
    const SHOP: (&str, &str) = (
        "shop.py",
        "def double(number):\n    return number * 3\n\n\ndef negate(number):\n    return number\n",
    );
    const TEST_SHOP: (&str, &str) = (
        "test_shop.py",
        "import unittest\n\nfrom shop import double, negate\n\n\nclass T(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n\n    def test_negate(self):\n        self.assertEqual(negate(2), -2)\n",
    );
    const DOUBLE: &str = "```python\ndef double(number):\n    return number * 2\n```";
    const NEGATE: &str = "```python\ndef negate(number):\n    return -number\n```";

    fn stage() -> Stage {
        Stage::new(&[SHOP, TEST_SHOP], TASK)
    }

    #[test]
    fn it_suits_tasks_about_whatever_is_red() {
        assert!(stage().suits(&RedTests));
        assert!(!stage().read_only().suits(&RedTests));
        assert!(!Stage::pricing().suits(&RedTests));
    }

    #[test]
    fn one_red_test_after_the_other_is_worked_on_with_the_last_in_place() {
        let came = stage().replies([DOUBLE, NEGATE]).attempt(&RedTests);
        expect![[r#"
            ended, done: changed `double`, `negate` in shop.py: 2 tests pass; test_shop.T.test_double and 1 more failed before
            met: test_shop.T.test_double passes (it failed before and passes now)
            met: test_shop.T.test_negate passes (it failed before and passes now)"#]].assert_eq(&came.outcome());
        let after = SHOP
            .1
            .replace("* 3", "* 2")
            .replace("return number\n", "return -number\n");
        assert_eq!(came.staged, diff("shop.py", SHOP.1, &after));
        assert_eq!(came.requests.len(), 2);
        let located = came.told(EventKind::Located);
        expect![[r#"
            working on test_shop.T.test_double
            looking at double (shop.py:1)
            working on test_shop.T.test_negate
            looking at negate (shop.py:5)"#]]
        .assert_eq(&located.join("\n"));
        assert!(came.asked()[1].contains("def negate(number):"));
    }

    #[test]
    fn what_cannot_be_mended_does_not_take_the_others_with_it() {
        let same = "```python\ndef negate(number):\n    return number + 0\n```";
        let came = stage().steps(6).replies([DOUBLE, same]).attempt(&RedTests);
        let after = SHOP.1.replace("* 3", "* 2");
        assert_eq!(came.staged, diff("shop.py", SHOP.1, &after));
        expect![[r#"
            ended, stuck: 3 turns in a row brought nothing new; the last: Refused: the same edit brought nothing before and nothing has changed since: do something else
            open: test_shop.T.test_double passes (AssertionError: 6 != 4)
            open: test_shop.T.test_negate passes (AssertionError: 2 != -2)"#]].assert_eq(&came.outcome());
    }

    #[test]
    fn the_steps_are_shared_by_the_causes_that_are_left() {
        let same = "```python\ndef double(number):\n    return number * 3 + 0\n```";
        let came = stage().steps(6).replies([same]).attempt(&RedTests);
        assert_eq!(came.ended().stopped, Stopped::Steps);
        assert_eq!(came.requests.len(), 6);
        let last = came.asked()[3];
        assert!(last.contains("def negate(number):"), "{last}");
    }

    #[test]
    fn it_ends_well_where_nothing_fails() {
        let right = SHOP
            .1
            .replace("* 3", "* 2")
            .replace("return number\n", "return -number\n");
        let came = Stage::new(&[("shop.py", &right), TEST_SHOP], TASK).attempt(&RedTests);
        expect!["ended, done: nothing fails: 2 tests pass"].assert_eq(&came.outcome());
        assert_eq!(came.requests, []);
    }

    #[test]
    fn it_says_so_where_tests_cannot_be_run() {
        let came = Stage::new(&[PRICING], TASK).attempt(&RedTests);
        expect!["ended, stuck: unverified: no way to run the project's tests was found; name the command in the user's config (`[[project]] tests`)"].assert_eq(&came.outcome());
    }

    #[test]
    fn other_red_tests_are_not_those_that_the_task_names() {
        let green = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1, 1)\n";
        let task = "fix the failing tests in test_other.py";
        let files = [PRICING, TEST_PRICING, ("test_other.py", green)];
        let came = Stage::new(&files, task).attempt(&RedTests);
        expect!["ended, stuck: unverified: nothing that the task names fails; test_pricing.T.test_discount does"].assert_eq(&came.outcome());
    }

    #[test]
    fn without_an_engine_the_first_red_test_is_the_last() {
        let came = stage().without_engine().attempt(&RedTests);
        expect![[r#"
            ended, engine: no model server answers
            hint: start one
            open: test_shop.T.test_double passes (AssertionError: 6 != 4)
            open: test_shop.T.test_negate passes (AssertionError: 2 != -2)"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn an_engine_that_fails_is_not_asked_about_the_next_one() {
        let came = stage()
            .replies([DOUBLE])
            .without_engine_after(1)
            .attempt(&RedTests);
        expect![[r#"
            ended, engine: no model server answers
            hint: start one
            open: test_shop.T.test_double passes (AssertionError: 6 != 4)
            open: test_shop.T.test_negate passes (AssertionError: 2 != -2)"#]]
        .assert_eq(&came.outcome());
        assert_eq!(came.requests.len(), 2);
    }

    #[test]
    fn who_stops_it_stops_all_of_it() {
        let stage = stage().replies([DOUBLE]).stopped_at(EventKind::Sent);
        let came = stage.attempt(&RedTests);
        expect![[r#"
            ended, interrupted: interrupted
            open: test_shop.T.test_double passes (AssertionError: 6 != 4)
            open: test_shop.T.test_negate passes (AssertionError: 2 != -2)"#]]
        .assert_eq(&came.outcome());
        let came = Stage::pricing()
            .replies([RIGHT])
            .stopped_at(EventKind::Tests);
        expect!["ended, interrupted: interrupted"].assert_eq(&came.attempt(&RedTests).outcome());
    }

    fn failure(id: &str, message: &str, place: Option<(&str, u32)>, hung: bool) -> Failure {
        Failure {
            id: id.to_owned(),
            message: message.to_owned(),
            traceback: String::new(),
            file: place.map(|(file, _)| file.to_owned()),
            line: place.map(|(_, line)| line),
            hung: hung.then_some(Duration::from_secs(10)),
        }
    }

    #[test]
    fn what_tells_most_comes_first() {
        let mut red = [
            failure("hangs", "", Some(("shop/a.py", 1)), true),
            failure("asserts", "1 != 2", Some(("tests/test_a.py", 3)), false),
            failure("stops", "TypeError", Some(("shop/a.py", 3)), false),
            failure("unknown", "boom", None, false),
            failure(
                "breaks",
                "ImportError: no b",
                Some(("tests/test_b.py", 1)),
                false,
            ),
        ];
        red.sort_by_key(telling);
        let order: Vec<&str> = red.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(order, ["breaks", "stops", "asserts", "unknown", "hangs"]);
    }

    #[test]
    fn tests_that_stop_alike_have_one_cause() {
        let code = |id: &str, message: &str| failure(id, message, Some(("shop/a.py", 3)), false);
        assert_eq!(
            cause(&code("a", "TypeError: x")),
            cause(&code("b", "TypeError: x"))
        );
        assert_ne!(
            cause(&code("a", "TypeError: x")),
            cause(&code("b", "KeyError: y"))
        );
        let test = |id: &str| failure(id, "1 != 2", Some(("tests/test_a.py", 3)), false);
        assert_ne!(cause(&test("a")), cause(&test("b")));
    }
}
