//! What a conversation works on while it changes code: the plan, the place at hand, the trial and the search beside it.

use std::collections::VecDeque;

use harness_code::path::RelPath;
use harness_code::tree::SourceTree;

use crate::plan::{Place, Plan, Spot};
use crate::run::context::Context;
use crate::run::search::Search;
use crate::run::trial::Trial;

/// What a conversation works on.
pub(super) struct Work<'r> {
    pub(super) context: &'r Context<'r>,
    /// What is asked for. The model's list of places makes a new one.
    pub(super) plan: Plan,
    pub(super) places: Places,
    pub(super) trial: &'r mut Trial,
    /// Small changes that are tried beside the model, where that makes sense.
    pub(super) search: &'r mut Option<Search>,
}

impl<'r> Work<'r> {
    /// Begins with the plan's own places.
    pub(super) fn new(
        context: &'r Context<'r>,
        plan: &Plan,
        trial: &'r mut Trial,
        search: &'r mut Option<Search>,
    ) -> Work<'r> {
        Work {
            context,
            plan: plan.clone(),
            places: Places::of(plan),
            trial,
            search,
        }
    }
}

/// A place is asked for again this often.
const MOST_REPAIRS: usize = 2;

/// Where a task with several places is.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// The place that the model was last asked for.
    current: Option<Spot>,
    /// The file that it was last asked for tests in.
    tests_home: Option<RelPath>,
    /// Places of the model's list that are still to be written.
    waiting: VecDeque<Place>,
    /// The one that was last taken from them.
    taken: Option<Place>,
    /// Those that were put behind the others.
    postponed: Vec<Place>,
    /// Definitions that should go by the list.
    removals: Vec<Spot>,
    /// Places that were asked for again because a test failed by them.
    repaired: Vec<Spot>,
}

impl Places {
    /// Returns where a plan begins.
    pub(super) fn of(plan: &Plan) -> Places {
        Places {
            tests_home: plan.tests_home().cloned(),
            ..Places::default()
        }
    }

    /// Returns the place that the model was last asked for.
    pub(super) fn current(&self) -> Option<&Spot> {
        self.current.as_ref()
    }

    /// Turns to a place: a reply that names none is about it.
    pub(super) fn turn_to(&mut self, spot: Spot) {
        (self.tests_home, self.current) = (None, Some(spot));
    }

    /// Returns what a reply means that names no place: the place that was asked for, or where new code goes.
    pub(super) fn focus(&self, plan: &Plan) -> Option<Spot> {
        match (&self.tests_home, &self.current, plan.new_definition()) {
            (Some(path), _, _) => Some(Spot::nowhere_yet(path, "")),
            (None, Some(current), _) => Some(current.clone()),
            (None, None, Some(new)) => Some(Spot::nowhere_yet(&new.path, &new.name)),
            (None, None, None) => plan.spots().first().cloned(),
        }
    }

    /// Turns to the tests of a new definition, which is there now, unless that was done.
    pub(super) fn turn_to_tests(&mut self, plan: &Plan, tree: &SourceTree) -> Option<&RelPath> {
        if self.tests_home.is_some() {
            return None;
        }
        self.tests_home = plan.home_of_new_tests(tree);
        self.tests_home.as_ref()
    }

    /// Goes through the places of a list, one after the other; code takes away what should go.
    pub(super) fn follow(&mut self, places: Vec<Place>) {
        let (going, staying): (Vec<Place>, Vec<Place>) = places.into_iter().partition(Place::goes);
        self.removals = going.into_iter().map(|place| place.spot).collect();
        self.waiting = staying.into();
        self.taken = None;
        self.postponed.clear();
    }

    /// Returns the definitions that should go by the list.
    pub(super) fn removals(&self) -> &[Spot] {
        &self.removals
    }

    /// Forgets what should go: it was tried.
    pub(super) fn forget_removals(&mut self) {
        self.removals.clear();
    }

    /// Says whether nothing of a list was or will be written, and something goes.
    pub(super) fn only_removes(&self) -> bool {
        self.waiting.is_empty() && self.taken.is_none() && !self.removals.is_empty()
    }

    /// Takes the next place of the list.
    pub(super) fn take(&mut self) -> Option<Place> {
        let next = self.waiting.pop_front()?;
        self.taken = Some(next.clone());
        Some(next)
    }

    /// Puts the place at hand behind all others, once. Returns whether there are others.
    pub(super) fn postpone(&mut self) -> bool {
        let Some(place) = self.taken.take() else {
            return false;
        };
        let may_wait = !self.waiting.is_empty() && !self.postponed.contains(&place);
        if may_wait {
            self.postponed.push(place.clone());
            self.waiting.push_back(place);
        }
        may_wait
    }

    /// Says whether a place that was written may be asked for again, which is noted.
    pub(super) fn may_repair(&mut self, spot: &Spot) -> bool {
        let is_it = |known: &&Spot| known.path == spot.path && known.name == spot.name;
        let count = self.repaired.iter().filter(is_it).count();
        self.repaired.push(spot.clone());
        count < MOST_REPAIRS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::scripted_tests::{PRICING, Stage, TEST_PRICING, path};

    fn spot(name: &str) -> Spot {
        Spot::nowhere_yet(&path("shop.py"), name)
    }

    fn place(name: &str, what: &str) -> Place {
        Place {
            spot: spot(name),
            is_new: false,
            what: what.to_owned(),
        }
    }

    fn following(places: &[(&str, &str)]) -> Places {
        let mut all = Places::default();
        all.follow(
            places
                .iter()
                .map(|(name, what)| place(name, what))
                .collect(),
        );
        all
    }

    /// Returns the names of the places that are still taken.
    fn taken(places: &mut Places) -> Vec<String> {
        std::iter::from_fn(|| places.take())
            .map(|place| place.spot.name)
            .collect()
    }

    /// Makes the plan of a task about the pricing.
    fn plan(task: &str) -> Plan {
        let stage = Stage::new(&[PRICING, TEST_PRICING], task);
        stage.play(|scene| scene.plan.clone()).value
    }

    #[test]
    fn a_reply_without_a_name_is_about_what_was_asked_for_last() {
        let plan = plan("fix discount in pricing.py");
        let mut places = Places::of(&plan);
        assert_eq!(places.focus(&plan).as_ref(), plan.spots().first());
        assert_eq!(places.current(), None);
        places.turn_to(spot("tax"));
        assert_eq!(places.focus(&plan), Some(spot("tax")));
        assert_eq!(places.current(), Some(&spot("tax")));
    }

    #[test]
    fn a_reply_is_about_the_new_definition_where_one_is_asked_for() {
        let plan = plan("add a function tax(total) to pricing.py");
        let focus = Places::of(&plan).focus(&plan);
        assert_eq!(focus, Some(Spot::nowhere_yet(&path("pricing.py"), "tax")));
    }

    #[test]
    fn a_reply_is_about_the_tests_where_those_are_asked_for() {
        let plan = plan("write tests for discount in pricing.py");
        let mut places = Places::of(&plan);
        let home = Spot::nowhere_yet(&path("test_pricing.py"), "");
        assert_eq!(places.focus(&plan), Some(home));
        places.turn_to(spot("tax"));
        assert_eq!(places.focus(&plan), Some(spot("tax")));
    }

    #[test]
    fn the_tests_of_a_new_definition_have_their_turn_once() {
        let stage = Stage::new(
            &[PRICING, TEST_PRICING],
            "add a function tax(total) to pricing.py with a test",
        );
        let came = stage.play(|scene| {
            let mut places = Places::of(scene.plan);
            let tree = scene.context.tree();
            let first = places.turn_to_tests(scene.plan, tree).cloned();
            (
                first,
                places.focus(scene.plan),
                places.turn_to_tests(scene.plan, tree).cloned(),
            )
        });
        let home = path("test_pricing.py");
        let focus = Spot::nowhere_yet(&home, "");
        assert_eq!(came.value, (Some(home), Some(focus), None));
    }

    #[test]
    fn a_new_definition_without_tests_has_no_turn_for_them() {
        let plan = plan("add a function tax(total) to pricing.py");
        let stage = Stage::new(&[PRICING, TEST_PRICING], "");
        let turned = stage.play(|scene| {
            let mut places = Places::of(&plan);
            places.turn_to_tests(&plan, scene.context.tree()).cloned()
        });
        assert_eq!(turned.value, None);
    }

    #[test]
    fn places_are_taken_in_the_order_of_the_list() {
        let mut places = following(&[("price", "round it"), ("label", "show it")]);
        assert_eq!(taken(&mut places), ["price", "label"]);
        assert_eq!(places.removals(), []);
    }

    #[test]
    fn what_should_go_is_not_written() {
        let mut places = following(&[("old", "remove it"), ("label", "remove the tax")]);
        assert_eq!(places.removals(), [spot("old")]);
        assert_eq!(taken(&mut places), ["label"]);
        places.forget_removals();
        assert_eq!(places.removals(), []);
    }

    #[test]
    fn a_list_only_removes_where_nothing_of_it_is_written() {
        let mut places = following(&[("old", "delete this")]);
        assert!(places.only_removes());
        places.forget_removals();
        assert!(!places.only_removes());
        let mut places = following(&[("old", "delete this"), ("label", "show it")]);
        assert!(!places.only_removes());
        taken(&mut places);
        assert!(!places.only_removes());
    }

    #[test]
    fn a_place_is_put_behind_the_others_once() {
        let mut places = following(&[("label", "show it"), ("price", "round it")]);
        assert!(!places.postpone(), "nothing is at hand");
        assert_eq!(places.take(), Some(place("label", "show it")));
        assert!(places.postpone());
        assert!(!places.postpone(), "it is not at hand any more");
        assert_eq!(places.take(), Some(place("price", "round it")));
        assert_eq!(places.take(), Some(place("label", "show it")));
        assert!(!places.postpone(), "nothing comes behind it");
        assert_eq!(places.take(), None);
    }

    #[test]
    fn places_that_wait_for_each_other_come_to_an_end() {
        let mut places = following(&[("label", "show it"), ("price", "round it")]);
        let mut turns = Vec::new();
        while let Some(place) = places.take() {
            turns.push(place.spot.name);
            places.postpone();
        }
        assert_eq!(turns, ["label", "price", "label", "price"]);
    }

    #[test]
    fn another_list_begins_anew() {
        let mut places = following(&[("old", "remove it"), ("label", "show it"), ("price", "x")]);
        places.take();
        places.postpone();
        places.follow(vec![place("label", "show it"), place("tax", "add it")]);
        assert_eq!(places.removals(), []);
        assert_eq!(places.take(), Some(place("label", "show it")));
        assert!(places.postpone());
        assert_eq!(taken(&mut places), ["tax", "label"]);
    }

    #[test]
    fn a_place_is_repaired_twice() {
        let mut places = Places::default();
        let moved = Spot {
            line: 9,
            ..spot("label")
        };
        assert!(places.may_repair(&spot("label")));
        assert!(places.may_repair(&moved));
        assert!(!places.may_repair(&spot("label")));
        assert!(places.may_repair(&spot("price")));
    }
}
