//! What the best-matching functions call, and which definitions bear the task's words as their name.

use rustc_hash::FxHashMap;

use crate::locate::index::Index;
use crate::locate::query::{Part, Query};
use crate::locate::words::each_word;
use crate::mention::project::Project;
use crate::tree::SourceTree;

/// Functions whose calls are followed.
const FOLLOWED: usize = 20;

/// A called name that more places define than this leads nowhere.
const MOST_PLACES: usize = 8;

/// Follows the calls of the functions that match the task best, among tests or among all other files.
///
/// Returns how much reaches each file.
pub(crate) fn calls(
    tree: &SourceTree,
    project: &Project<'_>,
    query: &Query,
    index: &Index,
    tests: bool,
) -> FxHashMap<u32, f32> {
    let weights = query.weights(Part::All);
    let mut best: Vec<(f32, u32, u32)> = Vec::new();
    for (at, file) in tree.files().iter().enumerate() {
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
    let mut reached: FxHashMap<u32, f32> = FxHashMap::default();
    for (score, at, definition) in best {
        let facts = &tree.files()[at as usize].facts;
        let Some(definition) = facts.definitions.get(definition as usize) else {
            continue;
        };
        for &call in &definition.calls {
            let places = project.named(facts.names.get(call));
            let places: Vec<u32> = places
                .iter()
                .map(|place| place.file)
                .filter(|&file| !tree.files()[file as usize].test && file != at)
                .collect();
            if places.is_empty() || places.len() > MOST_PLACES {
                continue;
            }
            for &file in &places {
                *reached.entry(file).or_default() += score / most / places.len() as f32;
            }
        }
    }
    reached
}

/// How well the names of a file's definitions are told by the task: all words of a name said, rare names counting more.
///
/// Returns the best and the sum of the best three, for the whole task and for its title.
pub(crate) fn names_told(project: &Project<'_>, query: &Query, index: &Index, at: u32) -> [f32; 4] {
    let numbers = |word: &str| index.numbers.get(word).copied();
    let all = query.weights(Part::All);
    let title = query.weights(Part::Title);
    let mut scores: [Vec<f32>; 2] = [Vec::new(), Vec::new()];
    for definition in &project.file(at).facts.definitions {
        let mut words = Vec::new();
        let mut whole = true;
        each_word(definition.name(), |word| match numbers(word) {
            Some(number) => words.push(number),
            None => whole = false,
        });
        if !whole || words.is_empty() {
            continue;
        }
        let namesakes = project.named(definition.name()).len().max(1) as f32;
        for (scores, weights) in scores.iter_mut().zip([&all, &title]) {
            let told = words.iter().all(|&word| weights[word] > 0.0);
            let score: f32 = words
                .iter()
                .map(|&word| weights[word].min(2.0) * index.rarity[word])
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
