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
