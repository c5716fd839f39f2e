//! Replies that change code: each is carried out on the trial, the places of a list are gone through one after the other,
//! and a model that has proven its change is asked once what of the task is left.

use harness_code::edit::ChangeSet;
use harness_code::path::RelPath;

use crate::action::Action;
use crate::plan::Place;
use crate::reply::Reading;
use crate::run::act::{TurnOutcome, act, go_on};
use crate::run::conversation::ReplyHandler;
use crate::run::ending::Ended;
use crate::run::evidence::Verdict;
use crate::run::log::Log;
use crate::run::places::{self, LEAST_STEPS, Listed};
use crate::run::prompt::{self, said::said};
use crate::run::removal;
use crate::run::result::Stopped;
use crate::run::staged::Staged;
use crate::run::work::Work;

/// Failing tests that the model is shown when it is asked what is left.
const MOST_RED: usize = 3;

/// What replies that change code are carried out on.
pub(super) struct Editing<'r> {
    pub(super) work: Work<'r>,
    listing: Listing,
    /// Lists that were begun: the same action counts as another one behind each.
    lists: u32,
    /// What was proven before the model was asked what is left.
    proven: Option<Proven>,
    /// The model is known to be very small: it is asked for no lists.
    is_tiny: bool,
}

/// A state that is proven.
struct Proven {
    staged: Staged,
    summary: String,
    /// Tests that failed as before and were asked about.
    red: usize,
    /// What is left, by the model's answer.
    left: Vec<Place>,
}

/// Whether the model is to list places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listing {
    /// It is not.
    No,
    /// It may list places instead of writing one.
    Offered,
    /// It was asked which places must change.
    First,
    /// It named some that are not there, and was asked again.
    Again,
    /// It lists no more for now; all of its places are being written.
    Written,
    /// It was asked what is left.
    Review,
    /// It named what is not there, and was asked again.
    ReviewAgain,
    /// It said that nothing is left.
    Over,
}

impl<'r> Editing<'r> {
    /// Begins to carry replies out. `lists` says whether the model is asked for the places first.
    pub(super) fn new(work: Work<'r>, lists: bool, is_tiny: bool) -> Editing<'r> {
        Editing {
            work,
            listing: if lists { Listing::First } else { Listing::No },
            lists: 0,
            proven: None,
            is_tiny,
        }
    }

    /// Goes back to what was proven before the model was asked what is left, where nothing better came of that.
    pub(super) fn or_proven(&mut self, log: &mut Log<'_>, ended: Ended) -> Ended {
        let Work {
            context,
            plan,
            trial,
            ..
        } = &mut self.work;
        let is_over = matches!(ended.stopped, Stopped::Done | Stopped::Interrupted);
        // What was written for tests that fail all the same is not kept.
        let is_in_vain = |proven: &Proven| proven.red > 0 && trial.still_red().len() >= proven.red;
        let proven = self.proven.take();
        let Some(proven) = proven.filter(|proven| !is_over || is_in_vain(proven)) else {
            return ended;
        };
        if ended.stopped == Stopped::Interrupted {
            return ended;
        }
        trial.go_back_to(proven.staged);
        match trial.settled_verdict(context, log, plan) {
            Verdict::Proven(_) => match trial.note_left(context, plan, &proven.left) {
                Some(why) => Ended::new(Stopped::Stuck, why),
                None => Ended::new(Stopped::Done, proven.summary),
            },
            Verdict::Worse(_) | Verdict::Unfinished { .. } | Verdict::Unverified(_) => {
                match ended.stopped {
                    Stopped::Done => Ended::new(Stopped::Stuck, "what was proven is not any more"),
                    _ => ended,
                }
            }
        }
    }

    /// Turns to the first of the places. A draft that did not do alone may do together with the others.
    fn begin_list(&mut self, log: &mut Log<'_>, places: Vec<Place>) -> Option<TurnOutcome> {
        self.listing = Listing::Written;
        self.lists += 1;
        if let Some(proven) = &mut self.proven {
            proven.left.extend(places.iter().cloned());
        }
        let work = &mut self.work;
        work.plan = work.plan.with_listed_places();
        work.places.follow(places);
        match places::next_listed(work) {
            None if removal::may_be_taken(work).is_empty() => None,
            None => Some(go_on(work, log, &ChangeSet::default())),
            Some(words) => Some(TurnOutcome::Next(words)),
        }
    }

    /// Asks what is left once all listed places are written and proven, or where tests beside those that pass now fail
    /// as before.
    fn review(&mut self, log: &Log<'_>, outcome: TurnOutcome) -> TurnOutcome {
        let Work {
            context,
            plan,
            trial,
            ..
        } = &self.work;
        let has_steps = log.history.next_number() < context.options.steps;
        let may_ask = self.proven.is_none()
            && self.listing != Listing::Over
            && has_steps
            && !plan.blames_tests();
        match outcome {
            TurnOutcome::End(Stopped::Done, summary) if may_ask && !self.is_tiny => {
                let failing = trial.still_red();
                let red = failing.iter().take(MOST_RED).map(|failure| failure.shown());
                let red = red.collect::<Vec<_>>().join("\n");
                if self.listing != Listing::Written && red.is_empty() {
                    return TurnOutcome::End(Stopped::Done, summary);
                }
                self.listing = Listing::Review;
                let words = prompt::review(&trial.staged().diff(), trial.has_suite(), &red);
                self.proven = Some(Proven {
                    staged: trial.staged().clone(),
                    summary,
                    red: failing.len(),
                    left: Vec::new(),
                });
                TurnOutcome::Next(words)
            }
            outcome => outcome,
        }
    }
}

impl ReplyHandler for Editing<'_> {
    fn take_list(&mut self, log: &mut Log<'_>, reading: &Reading) -> Option<TurnOutcome> {
        let asked = self.listing;
        if matches!(asked, Listing::No | Listing::Over) {
            return None;
        }
        let is_review = matches!(asked, Listing::Review | Listing::ReviewAgain);
        let is_again = matches!(asked, Listing::Again | Listing::ReviewAgain);
        let is_free = matches!(asked, Listing::Offered | Listing::Written);
        if is_free && reading.action.is_some() {
            return None;
        }
        self.listing = match (is_free, is_review) {
            (true, _) => asked,
            (false, true) => Listing::Over,
            (false, false) => Listing::No,
        };
        let is_done = matches!(reading.action, Some(Action::Done { .. }));
        if reading.action.is_some() && !(is_review && is_done) {
            return None;
        }
        let Work {
            context,
            plan,
            trial,
            ..
        } = &self.work;
        let mut orders = plan.task.orders().into_iter();
        let with_tests = orders.any(|order| order.wants_test());
        let is_staged = |path: &RelPath, name: &str| trial.place(context, path, name).is_some();
        match places::read(context.tree(), &reading.prose, with_tests, &is_staged) {
            Listed::Places(places) => self.begin_list(log, places),
            Listed::Problems(_, places) if !places.is_empty() && is_again => {
                self.begin_list(log, places)
            }
            Listed::Problems(words, _) if !is_again && asked != Listing::Written => {
                self.listing = match is_review {
                    true => Listing::ReviewAgain,
                    false => Listing::Again,
                };
                Some(TurnOutcome::Next(said(
                    "places again",
                    &[("problems", &words)],
                )))
            }
            Listed::Problems(..) | Listed::Nothing if is_review => {
                let summary = self.proven.take().map(|proven| proven.summary);
                Some(TurnOutcome::End(Stopped::Done, summary.unwrap_or_default()))
            }
            Listed::Problems(..) | Listed::Nothing => None,
        }
    }

    fn carry_out(&mut self, log: &mut Log<'_>, reading: &Reading) -> TurnOutcome {
        let outcome = act(&mut self.work, log, reading);
        match reading.action {
            Some(_) => self.review(log, outcome),
            None => outcome,
        }
    }

    fn fingerprint(&self) -> String {
        format!("{} {}", self.lists, self.work.trial.fingerprint())
    }

    /// The model had its turn, and need not have another one where the search has found the fix.
    fn proven_beside(&mut self, log: &mut Log<'_>, draft_failed: bool) -> Option<String> {
        let work = &mut self.work;
        let search = work.search.as_mut()?;
        if draft_failed {
            search.wait_beside(work.context, log);
        }
        let is_worth_it = draft_failed || search.has_found();
        let mut take = || search.take(work.context, log, &work.plan, work.trial);
        is_worth_it.then(&mut take).flatten()
    }

    fn goes_on(&mut self, number: u32) {
        let steps = self.work.context.options.steps;
        let may_list = steps > number + LEAST_STEPS && !self.is_tiny;
        if self.listing == Listing::No && may_list {
            self.listing = Listing::Offered;
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::run::event::EventKind;
    use crate::run::scripted_tests::{Came, Stage, diff, shown};
    use crate::run::strategy::Outcome;

    const SHOP: (&str, &str) = (
        "shop.py",
        "def price(net):\n    return net\n\n\ndef label(net):\n    return str(net)\n",
    );
    const TEST_SHOP: (&str, &str) = (
        "test_shop.py",
        "import unittest\n\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_label(self):\n        self.assertEqual(shop.label(2), '2')\n",
    );
    const TASK: &str = "prices in shop.py should be rounded to whole numbers everywhere";
    const LIST: &str = "shop.py: price: round it\nshop.py: label: show it rounded";
    const PRICE: &str = "```python\ndef price(net):\n    return round(net)\n```";
    const LABEL: &str = "```python\ndef label(net):\n    return str(round(net))\n```";

    fn came(replies: &[&str]) -> Came<Outcome> {
        Stage::new(&[SHOP, TEST_SHOP], TASK)
            .replies(replies.iter().copied())
            .play(|scene| scene.pursue())
    }

    fn both() -> String {
        let after = SHOP.1.replace("return net", "return round(net)");
        diff(
            SHOP.0,
            SHOP.1,
            &after.replace("str(net)", "str(round(net))"),
        )
    }

    #[test]
    fn a_list_that_names_what_is_not_there_is_asked_for_again_once() {
        let wrong = "shop.py: prise: round it\nshop.py: label: show it rounded";
        let came = came(&[wrong, LIST, PRICE, LABEL, "nothing"]);
        expect![[r#"
            There is no `prise` in shop.py; it has price, label.
            List every place again, one a line, as `path: name: what changes there`, with `new` before the name of what is not there yet."#]].assert_eq(came.asked()[1]);
        assert_eq!(came.staged, both());
    }

    #[test]
    fn what_can_be_found_of_a_list_is_written_where_it_stays_wrong() {
        let wrong = "shop.py: prise: round it\nshop.py: label: show it rounded";
        let came = came(&[wrong, wrong, LABEL, "nothing"]);
        expect!["ended, done: changed `label` in shop.py: 1 test passes; it did not fail before"]
            .assert_eq(&shown(&came.value));
        let after = SHOP.1.replace("str(net)", "str(round(net))");
        assert_eq!(came.staged, diff(SHOP.0, SHOP.1, &after));
    }

    #[test]
    fn code_in_place_of_a_list_is_taken_as_it_comes() {
        let whole = "```python\ndef price(net):\n    return round(net)\n\n\ndef label(net):\n    return str(round(net))\n```";
        let came = came(&[whole, "nothing"]);
        assert_eq!(came.staged, both());
    }

    #[test]
    fn a_model_that_sees_something_left_writes_that_too() {
        let came = came(&[
            "shop.py: price: round it",
            PRICE,
            "shop.py: label: show it rounded",
            LABEL,
            "nothing",
        ]);
        assert!(came.asked()[2].contains("What of the task is not done yet?"));
        expect!["ended, done: changed `price`, `label` in shop.py: 1 test passes; it did not fail before"].assert_eq(&shown(&came.value));
        assert_eq!(came.staged, both());
    }

    #[test]
    fn what_is_left_and_makes_it_worse_is_dropped_and_the_rest_kept() {
        let worse = "```python\ndef label(net):\n    return net\n```";
        let came = came(&[
            "shop.py: price: round it",
            PRICE,
            "shop.py: label: leave it a number",
            worse,
        ]);
        expect!["ended, done: changed `price` in shop.py: 1 test passes; it did not fail before"]
            .assert_eq(&shown(&came.value));
        let after = SHOP.1.replace("return net", "return round(net)");
        assert_eq!(came.staged, diff(SHOP.0, SHOP.1, &after));
    }

    #[test]
    fn a_place_that_makes_it_worse_is_repaired_with_the_failure() {
        let worse = "```python\ndef label(net):\n    return round(net)\n```";
        let came = came(&[LIST, PRICE, worse, LABEL, "nothing"]);
        expect![[r#"
            Written, and now tests fail that passed before: test_shop.T.test_label passed before and fails now
            test_shop.T.test_label (test_shop.py:8): AssertionError: 2 != '2'

            shop.py, line 5:
            ```python
            def label(net):
                return round(net)
            ```

            Write the whole new code of `label` in one fenced block and nothing else."#]].assert_eq(came.asked()[3]);
        assert_eq!(came.staged, both());
    }

    #[test]
    fn an_engine_that_goes_away_leaves_what_was_proven() {
        let stage = Stage::new(&[SHOP, TEST_SHOP], TASK)
            .replies(["shop.py: price: round it", PRICE])
            .without_engine_after(2);
        let came = stage.play(|scene| scene.pursue());
        expect!["ended, done: changed `price` in shop.py: 1 test passes; it did not fail before"]
            .assert_eq(&shown(&came.value));
        assert!(came.staged.contains("return round(net)"));
        assert_eq!(came.told(EventKind::Undone).len(), 0);
    }

    #[test]
    fn steps_that_end_before_the_list_does_leave_it_undone() {
        let list = format!("shop.py: new total: add them up\n{LIST}");
        let total = "```python\ndef total(nets):\n    return round(sum(nets))\n```";
        let stage = Stage::new(&[SHOP, TEST_SHOP], TASK).steps(4);
        let stage = stage.replies([&list, total, PRICE, "Well."]);
        let came = stage.play(|scene| scene.pursue());
        expect!["ended, steps: not finished within 4 steps"].assert_eq(&shown(&came.value));
    }
}
