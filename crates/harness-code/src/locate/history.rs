//! The history of a project as a value handed in: what earlier changes said, and which files they touched.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::locate::query::{Part, Query};
use crate::locate::words::each_word;
use crate::path::RelPath;

/// Earlier changes of a project, the newest first. Only changes that led to the present state belong in it.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The changes.
    pub changes: Vec<Change>,
}

/// One change of the past.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// What its author said of it, in a line.
    pub message: String,
    /// The files it touched.
    pub paths: Vec<RelPath>,
}

/// A change that touches more files than this says little about each.
const MOST_PATHS: usize = 12;
/// Changes that are followed: those that speak of the same things.
const FOLLOWED: usize = 40;

impl History {
    /// Returns, for each file, how much the changes that touched it speak of the task's words.
    pub(crate) fn speaks_of(&self, query: &Query) -> FxHashMap<&RelPath, f32> {
        let weights = query.weights(Part::All);
        let numbers: FxHashMap<&str, usize> = query
            .words
            .iter()
            .enumerate()
            .map(|(at, word)| (word.as_str(), at))
            .collect();
        let told: Vec<FxHashSet<usize>> = self
            .changes
            .iter()
            .map(|change| {
                let mut words = FxHashSet::default();
                each_word(&change.message, |word| {
                    words.extend(numbers.get(word).copied());
                });
                words
            })
            .collect();
        let mut with = vec![0f32; query.words.len()];
        for &word in told.iter().flatten() {
            with[word] += 1.0;
        }
        let total = self.changes.len() as f32;
        let rarity = |word: usize| (1.0 + (total - with[word] + 0.5) / (with[word] + 0.5)).ln();
        let mut scored: Vec<(f32, &Change)> = told
            .iter()
            .zip(&self.changes)
            .filter(|(_, change)| change.paths.len() <= MOST_PATHS)
            .map(|(words, change)| {
                let said: f32 = words.iter().map(|&word| weights[word] * rarity(word)).sum();
                (said, change)
            })
            .filter(|(said, _)| *said > 0.0)
            .collect();
        // The order of equal ones is that of the history: the newest first.
        scored.sort_by(|one, other| other.0.total_cmp(&one.0));
        scored.truncate(FOLLOWED);
        let most = scored.first().map_or(1.0, |first| first.0);
        let mut reached: FxHashMap<&RelPath, f32> = FxHashMap::default();
        for (said, change) in scored {
            let share = (said / most).powi(2) / (change.paths.len() as f32).sqrt();
            for path in &change.paths {
                *reached.entry(path).or_default() += share;
            }
        }
        reached
    }

    /// Returns how often each file was touched by the changes, the newer ones counting more.
    pub(crate) fn touched(&self) -> FxHashMap<&RelPath, f32> {
        let mut touched: FxHashMap<&RelPath, f32> = FxHashMap::default();
        let total = self.changes.len().max(1) as f32;
        for (age, change) in self.changes.iter().enumerate() {
            let fresh = 1.0 - age as f32 / total;
            for path in change.paths.iter().take(MOST_PATHS) {
                *touched.entry(path).or_default() += fresh;
            }
        }
        touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_speak_of_the_task_lead_to_their_files() {
        let change = |message: &str, paths: &[&str]| Change {
            message: message.to_owned(),
            paths: paths
                .iter()
                .map(|path| RelPath::parse(path).unwrap())
                .collect(),
        };
        let history = History {
            changes: vec![
                change("Round the tax half up", &["money.py"]),
                change("Reword the readme", &["README.md"]),
                change("Tax tables for 2020", &["tables.py", "money.py"]),
            ],
        };
        let reached = history.speaks_of(&Query::read("tax is rounded the wrong way"));
        let of = |path: &str| {
            let path = RelPath::parse(path).unwrap();
            reached.get(&path).copied().unwrap_or(0.0)
        };
        assert!(of("money.py") > of("tables.py"));
        assert_eq!(of("README.md"), 0.0);
        assert!(history.touched()[&RelPath::parse("money.py").unwrap()] > 1.0);
    }
}
