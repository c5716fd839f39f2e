//! What the best-matching functions call, and which definitions bear the task's words as their name.

use rustc_hash::FxHashMap;

use crate::locate::index::Index;
use crate::locate::query::{Part, Query};
use crate::locate::words::identifiers;
use crate::mention::project::{Place, Project};
use crate::mention::{Clue, ClueKind};
use crate::symbols::DefinitionKind;
use crate::tree::SourceTree;

/// A name that this many places share leads nowhere.
const LEAST_SHARE: f32 = 0.2;

/// Functions whose calls are followed.
const FOLLOWED: usize = 20;

/// A called name that more places define than this leads nowhere.
const MOST_PLACES: usize = 8;

/// What reaches each place by calls: a value a file, and a value a definition.
#[derive(Default)]
pub(crate) struct Reached {
    pub(crate) files: FxHashMap<u32, f32>,
    pub(crate) definitions: FxHashMap<Place, f32>,
}

impl Reached {
    pub(crate) fn file(&self, at: u32) -> f32 {
        self.files.get(&at).copied().unwrap_or(0.0)
    }

    pub(crate) fn definition(&self, place: Place) -> f32 {
        self.definitions.get(&place).copied().unwrap_or(0.0)
    }
}

/// Where calls lead from what the task speaks of.
pub(crate) struct Spread {
    /// From the functions that match the task best.
    pub(crate) called: Reached,
    /// From the tests that match it best.
    pub(crate) tested: Reached,
    /// From the definitions that the task names.
    pub(crate) named: Reached,
    /// From the classes that the task names to those they build on.
    pub(crate) bases: Reached,
}

impl Spread {
    pub(crate) fn of(
        tree: &SourceTree,
        project: &Project<'_>,
        query: &Query,
        index: &Index<'_>,
        clues: &[Clue],
    ) -> Spread {
        let walk = Walk { tree, project };
        let (named, bases) = walk.named_definitions(clues);
        Spread {
            called: walk.best_functions(query, index, false),
            tested: walk.best_functions(query, index, true),
            named,
            bases,
        }
    }
}

struct Walk<'a, 't> {
    tree: &'t SourceTree,
    project: &'a Project<'t>,
}

impl Walk<'_, '_> {
    /// Follows the calls of the functions that match the task best, among tests or among all other files.
    fn best_functions(&self, query: &Query, index: &Index<'_>, tests: bool) -> Reached {
        let weights = query.weights(Part::All);
        let mut best: Vec<(f32, u32, u32)> = Vec::new();
        for (at, file) in self.tree.files().iter().enumerate() {
            let Some(words) = index.files[at].as_ref().filter(|_| file.test == tests) else {
                continue;
            };
            for chunk in &words.counts.chunks {
                let Some(definition) = chunk.definition else {
                    continue;
                };
                let score = index.chunk(chunk, &chunk.named, &weights);
                if score > 0.0 {
                    best.push((score, at as u32, definition));
                }
            }
        }
        best.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        best.truncate(FOLLOWED);
        let most = best.first().map_or(1.0, |first| first.0);
        let mut reached = Reached::default();
        for (score, file, definition) in best {
            let place = Place {
                file,
                definition: Some(definition),
            };
            self.calls(place, score / most, &mut reached);
        }
        reached
    }

    /// Follows the calls and the bases of the definitions that the task names.
    fn named_definitions(&self, clues: &[Clue]) -> (Reached, Reached) {
        let mut meant: FxHashMap<Place, f32> = FxHashMap::default();
        for clue in clues {
            let by_name = matches!(
                clue.kind,
                ClueKind::Qualified | ClueKind::Defined | ClueKind::LastFrame | ClueKind::Frame
            );
            if by_name && clue.place.definition.is_some() && clue.share > LEAST_SHARE {
                let most = meant.entry(clue.place).or_default();
                *most = most.max(clue.share);
            }
        }
        let mut order: Vec<(Place, f32)> = meant.into_iter().collect();
        order.sort_by_key(|entry| entry.0);
        let (mut calls, mut bases) = (Reached::default(), Reached::default());
        for (place, share) in order {
            self.calls(place, share, &mut calls);
            let class = self
                .project
                .definition(place)
                .filter(|definition| definition.kind == DefinitionKind::Class);
            let written = class.and_then(|class| class.signature.split_once('('));
            for base in identifiers(written.map_or("", |(_, bases)| bases)) {
                self.lead(place, base, share, &mut bases);
            }
        }
        (calls, bases)
    }

    fn calls(&self, from: Place, share: f32, reached: &mut Reached) {
        let names = &self.project.file(from.file).facts.names;
        let calls = self.project.definition(from).map(|from| &from.calls);
        for &call in calls.into_iter().flatten() {
            self.lead(from, names.get(call), share, reached);
        }
    }

    /// Adds `share` to the places, tests aside, that define `name`, when they are few. A class is entered by its `__init__`.
    fn lead(&self, from: Place, name: &str, share: f32, reached: &mut Reached) {
        let places: Vec<Place> = self
            .project
            .named(name)
            .iter()
            .copied()
            .filter(|place| !self.project.file(place.file).test && *place != from)
            .collect();
        if places.is_empty() || places.len() > MOST_PLACES {
            return;
        }
        let share = share / places.len() as f32;
        for place in places {
            if place.file != from.file {
                *reached.files.entry(place.file).or_default() += share;
            }
            let entered = self
                .project
                .class_member(place, "__init__")
                .unwrap_or(place);
            *reached.definitions.entry(entered).or_default() += share;
        }
    }
}

/// How well the names of a file's definitions are told by the task: all words of a name said, rare names counting more.
///
/// Returns the best and the sum of the best three, for the whole task and for its title.
pub(crate) fn names_told(
    project: &Project<'_>,
    index: &Index<'_>,
    [all, title]: [&[f32]; 2],
    at: u32,
) -> [f32; 4] {
    let definitions = &project.file(at).facts.definitions;
    let told = index.files[at as usize]
        .as_ref()
        .map_or(&[][..], |words| &words.told);
    let mut scores: [Vec<f32>; 2] = [Vec::new(), Vec::new()];
    for (definition, words) in told {
        let name = definitions[*definition as usize].name();
        let namesakes = project.named(name).len().max(1) as f32;
        for (scores, weights) in scores.iter_mut().zip([all, title]) {
            let weight = |word: &u16| weights[usize::from(*word)];
            let told = words.iter().all(|word| weight(word) > 0.0);
            let score: f32 = words
                .iter()
                .map(|word| weight(word).min(2.0) * index.rarity[usize::from(*word)])
                .sum();
            if told {
                scores.push(score / namesakes.sqrt());
            }
        }
    }
    let [all, title] = scores.map(|mut scores| {
        scores.sort_by(|one, other| other.total_cmp(one));
        (
            scores.first().copied().unwrap_or(0.0),
            scores.iter().take(3).sum::<f32>(),
        )
    });
    [all.0, all.1, title.0, title.1]
}
