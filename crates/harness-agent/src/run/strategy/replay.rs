//! Replay: what a run recorded, applied and judged again, without a model.

use harness_code::edit::{ChangeSet, FileChange};
use harness_code::path::RelPath;
use harness_code::text::Text;
use harness_hands::journal;

use crate::history::{Refusal, Step};
use crate::plan::Plan;
use crate::record::{Past, RecordedChange};
use crate::run::context::Context;
use crate::run::ending::Ended;
use crate::run::evidence::Verdict;
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::result::Stopped;
use crate::run::staged::summary;
use crate::run::strategy::{Outcome, Strategy};

/// The changes of a run of the past, made again.
pub(super) struct Replay;

impl Strategy for Replay {
    fn suits(&self, context: &Context<'_>, _plan: &Plan) -> bool {
        context.past.is_some()
    }

    /// Applies what was recorded and judges it as if it were new.
    fn attempt(
        &self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        resources: &mut Resources,
    ) -> Outcome {
        match context.past {
            Some(past) => {
                let made = make_again(past, context, log, plan, resources);
                Outcome::Ended(made.unwrap_or_else(|ended| ended))
            }
            None => Outcome::Passed,
        }
    }
}

fn make_again(
    past: &Past,
    context: &Context<'_>,
    log: &mut Log<'_>,
    plan: &Plan,
    resources: &mut Resources,
) -> Result<Ended, Ended> {
    let (verb, done) = match past.is_new {
        true => ("apply", "applied"),
        false => ("replay", "replayed"),
    };
    let refused = |log: &mut Log<'_>, refusal: Refusal| {
        log.refuse(&refusal);
        let hint = hint(&refusal, &past.run, verb);
        Ended::new(Stopped::Stuck, refusal.reason).hinting(hint)
    };
    let draft = draft(context, past).map_err(|refusal| refused(log, refusal))?;
    let trial = resources.trial(context, log, plan)?;
    // Another run may have had the project meanwhile.
    self::draft(context, past).map_err(|refusal| refused(log, refusal))?;
    trial.baseline(context, log);
    if context.cancel.stopped() {
        return Err(Ended::interrupted());
    }
    if let Err(refusal) = trial.apply(context, log, plan, &draft) {
        log.refuse(&refusal);
        return Err(Ended::new(Stopped::Stuck, refusal.reason));
    }
    let verdict = trial.judge(context, log, plan);
    if context.cancel.stopped() {
        return Err(Ended::interrupted());
    }
    let run = &past.run;
    let (stopped, words) = match verdict {
        Verdict::Proven(proof) => {
            let summary = summary(&draft.files, &proof);
            (Stopped::Done, format!("{done} {run}: {summary}"))
        }
        Verdict::Worse(reason) => (Stopped::Broke, reason),
        Verdict::Unverified(reason) | Verdict::Unfinished { reason, .. } => {
            (Stopped::Stuck, reason)
        }
    };
    let first = draft.files.first().map(|change| change.path.to_string());
    log.push(Step {
        number: log.history.next_number(),
        action: verb.to_owned(),
        path: first.unwrap_or_default(),
        result: words.clone(),
        refused: String::new(),
        seconds: 0.0,
        tokens: 0,
    });
    Ok(Ended::new(stopped, words))
}

/// Works out the draft of a recorded run: only on the bytes that the run began with.
fn draft(context: &Context<'_>, past: &Past) -> Result<ChangeSet, Refusal> {
    let mut draft = ChangeSet::default();
    for RecordedChange {
        path,
        before,
        after,
    } in &past.changes
    {
        let bad = |reason: String| Refusal::new("replay.differs", reason, path.as_str());
        let path = RelPath::parse(path)
            .map_err(|_| bad(format!("the record names `{path}`, which is no path here")))?;
        let door = context.project.door();
        let now = door.find(&path).map_err(|error| bad(error.to_string()))?;
        let content = match &now {
            Some(bytes) => Some(
                Text::decode(bytes)
                    .map(Text::into_content)
                    .map_err(|_| bad(format!("`{path}` is not text")))?,
            ),
            None => None,
        };
        if content == *after {
            let reason = format!("`{path}` is already as run {} left it", past.run);
            return Err(Refusal::new("replay.done", reason, path.as_str()));
        }
        if now.as_deref().map(journal::digest) != *before {
            return Err(bad(format!(
                "`{path}` is not what it was when run {} began",
                past.run
            )));
        }
        draft.files.push(FileChange {
            path,
            before: content,
            after: after.clone(),
        });
    }
    Ok(draft)
}

fn hint(refusal: &Refusal, run: &str, verb: &str) -> String {
    if refusal.rule == "replay.done" {
        return format!("take it back first with `harness undo {run}`");
    }
    format!("bring the files back to what they were, then {verb}")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{Came, MENDED, PRICING, Stage, TEST_PRICING};

    fn after() -> String {
        PRICING.1.replace("- percent", "- total * percent / 100")
    }

    /// A run that made one change.
    fn past(path: &str, before: Option<&str>, after: Option<&str>) -> Past {
        Past {
            run: "r1".to_owned(),
            task: "fix discount in pricing.py".to_owned(),
            changes: vec![RecordedChange {
                path: path.to_owned(),
                before: before.map(|text| journal::digest(text.as_bytes())),
                after: after.map(str::to_owned),
            }],
            is_new: false,
        }
    }

    fn made(mut stage: Stage, past: Past) -> Came<Outcome> {
        stage.past = Some(past);
        stage.attempt(&Replay)
    }

    fn mended() -> Past {
        past("pricing.py", Some(PRICING.1), Some(&after()))
    }

    #[test]
    fn what_a_run_made_is_made_and_judged_again_without_a_model() {
        let came = made(Stage::pricing().without_engine(), mended());
        expect!["ended, done: replayed r1: changed `discount` in pricing.py: 1 test passes; test_pricing.T.test_discount failed before"].assert_eq(&came.outcome());
        assert_eq!(came.staged, MENDED);
        assert_eq!(
            (came.actions(), came.steps[0].path.as_str()),
            (vec!["replay"], "pricing.py")
        );
        assert_eq!(came.requests, []);
    }

    #[test]
    fn what_was_proposed_is_applied() {
        let proposed = Past {
            is_new: true,
            ..mended()
        };
        let came = made(Stage::pricing(), proposed);
        expect!["ended, done: applied r1: changed `discount` in pricing.py: 1 test passes; test_pricing.T.test_discount failed before"].assert_eq(&came.outcome());
        assert_eq!(came.actions(), ["apply"]);
    }

    #[test]
    fn it_suits_runs_that_make_another_one_again() {
        let mut stage = Stage::pricing();
        assert!(!stage.suits(&Replay));
        assert_eq!(stage.attempt(&Replay).outcome(), "passed");
        stage.past = Some(mended());
        assert!(stage.suits(&Replay));
    }

    #[test]
    fn what_breaks_tests_now_is_the_end() {
        let broken = "def discount(total, percent):\n    return percent\n";
        let tests = "import unittest\n\nfrom pricing import discount\n\n\nclass T(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(discount(200, 20), 180)\n";
        let stage = Stage::new(
            &[PRICING, ("test_pricing.py", tests)],
            "fix discount in pricing.py",
        );
        let came = made(stage, past("pricing.py", Some(PRICING.1), Some(broken)));
        expect![[r#"
            ended, broke: test_pricing.T.test_discount passed before and fails now
            test_pricing.T.test_discount (test_pricing.py:8): AssertionError: 20 != 180"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn what_proves_nothing_is_stuck() {
        let same = "def discount(total, percent):\n    return total - 1 * percent\n";
        let came = made(
            Stage::pricing(),
            past("pricing.py", Some(PRICING.1), Some(same)),
        );
        expect![[r#"
            ended, stuck: no test passes yet
            test_pricing.T.test_discount (test_pricing.py:8): AssertionError: 190 != 180"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn other_bytes_than_the_run_began_with_are_left_alone() {
        let came = made(
            Stage::pricing(),
            past("pricing.py", Some("x = 1\n"), Some("x = 2\n")),
        );
        expect![[r#"
            ended, stuck: `pricing.py` is not what it was when run r1 began
            hint: bring the files back to what they were, then replay"#]]
        .assert_eq(&came.outcome());
        assert_eq!(came.rules(), ["replay.differs"]);
        assert_eq!(came.told(EventKind::Tests), [""; 0]);
        let gone = made(
            Stage::pricing(),
            past("cart.py", Some("x = 1\n"), Some("x = 2\n")),
        );
        assert_eq!(gone.rules(), ["replay.differs"]);
    }

    #[test]
    fn what_is_there_already_is_not_made_twice() {
        let came = made(Stage::pricing(), past("pricing.py", None, Some(PRICING.1)));
        expect![[r#"
            ended, stuck: `pricing.py` is already as run r1 left it
            hint: take it back first with `harness undo r1`"#]]
        .assert_eq(&came.outcome());
        assert_eq!(came.rules(), ["replay.done"]);
    }

    #[test]
    fn a_record_cannot_lead_out_of_the_project() {
        let came = made(
            Stage::pricing(),
            past("../pricing.py", None, Some("x = 1\n")),
        );
        expect![[r#"
            ended, stuck: the record names `../pricing.py`, which is no path here
            hint: bring the files back to what they were, then replay"#]]
        .assert_eq(&came.outcome());
    }

    #[test]
    fn what_a_guard_refuses_is_refused_again() {
        let tests = TEST_PRICING.1.replace("180", "190");
        let past = past("test_pricing.py", Some(TEST_PRICING.1), Some(&tests));
        let came = made(Stage::pricing(), past);
        expect!["ended, stuck: `T.test_discount` in `test_pricing.py` belongs to the existing tests: leave them as they are and change the code they check"].assert_eq(&came.outcome());
    }

    #[test]
    fn who_stops_it_while_the_tests_run_changes_nothing() {
        let stage = Stage::pricing().stopped_at(EventKind::Tests);
        let came = made(stage, mended());
        expect!["ended, interrupted: interrupted"].assert_eq(&came.outcome());
        assert_eq!(came.staged, "");
    }
}
