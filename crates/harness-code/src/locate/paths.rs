//! What the path of a file shares with the task.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::locate::query::Part;
use crate::locate::signals::{Candidate, Inputs, Signals};
use crate::locate::words::each_word;
use crate::mention::passage::Zone;

impl Signals {
    /// How the words of the path, and the name of the file itself, are told by the task.
    pub(crate) fn path(&mut self, inputs: &Inputs<'_, '_>) {
        let all = inputs.query.weights(Part::All);
        let title = inputs.query.weights(Part::Title);
        let numbers: FxHashMap<&str, usize> = inputs
            .query
            .words
            .iter()
            .enumerate()
            .map(|(at, word)| (word.as_str(), at))
            .collect();
        let mut words_of: FxHashMap<u32, Vec<Option<usize>>> = FxHashMap::default();
        let mut stem_words_of: FxHashMap<u32, Vec<Option<usize>>> = FxHashMap::default();
        let mut in_paths = vec![0f32; inputs.query.words.len()];
        for &Candidate { file: at, .. } in &self.candidates {
            let path = &inputs.tree.files()[at as usize].path;
            let mut words = Vec::new();
            each_word(path.folder(), |word| words.push(numbers.get(word).copied()));
            let mut stem = Vec::new();
            each_word(path.stem(), |word| stem.push(numbers.get(word).copied()));
            if path.file_name() == "__init__.py" {
                stem.clear();
                each_word(path.folder().rsplit('/').next().unwrap_or(""), |word| {
                    stem.push(numbers.get(word).copied());
                });
            }
            let mut seen: FxHashSet<usize> = FxHashSet::default();
            for word in words.iter().chain(&stem).flatten() {
                if seen.insert(*word) {
                    in_paths[*word] += 1.0;
                }
            }
            words_of.insert(at, words);
            stem_words_of.insert(at, stem);
        }
        let total = self.candidates.len() as f32;
        let rarity: Vec<f32> = in_paths
            .iter()
            .map(|with| (1.0 + (total - with + 0.5) / (with + 0.5)).ln())
            .collect();
        let path_score = |at: u32, weights: &[f32]| {
            let mut seen: FxHashSet<usize> = FxHashSet::default();
            let stem = stem_words_of[&at].iter().flatten().map(|&word| (word, 1.0));
            let folder = words_of[&at].iter().flatten().map(|&word| (word, 0.5));
            stem.chain(folder)
                .filter(|(word, _)| seen.insert(*word))
                .map(|(word, place)| place * weights[word].min(2.0) * rarity[word])
                .sum::<f32>()
        };
        self.add("path", |at| path_score(at, &all));
        self.add("path_title", |at| path_score(at, &title));
        let share = |at: u32, weights: &[f32]| {
            let stem = &stem_words_of[&at];
            let found = stem
                .iter()
                .flatten()
                .filter(|&&word| weights[word] > 0.0)
                .count();
            if stem.is_empty() {
                0.0
            } else {
                found as f32 / stem.len() as f32
            }
        };
        self.add("stem_share", |at| share(at, &all));
        self.add("stem_share_title", |at| share(at, &title));
        // The file's own name as one word of the task: `diffsettings`, `L031`.
        let runs = &inputs.query.runs;
        let mut namesakes: FxHashMap<String, f32> = FxHashMap::default();
        let own_name = |at: u32| {
            let path = &inputs.tree.files()[at as usize].path;
            let name = if path.file_name() == "__init__.py" {
                path.folder().rsplit('/').next().unwrap_or("")
            } else {
                path.stem()
            };
            name.trim_matches('_').to_lowercase()
        };
        for &Candidate { file: at, .. } in &self.candidates {
            *namesakes.entry(own_name(at)).or_default() += 1.0;
        }
        let exact = |at: u32, wanted: fn(Zone) -> bool| {
            let name = own_name(at);
            let said = runs.get(&name).is_some_and(|&zone| wanted(zone));
            if said && name.len() > 2 {
                1.0 / namesakes[&name]
            } else {
                0.0
            }
        };
        self.add("stem_said", |at| exact(at, |_| true));
        self.add("stem_said_title", |at| {
            exact(at, |zone| zone == Zone::Title)
        });
        self.add("stem_rarity", |at| {
            let stem = &stem_words_of[&at];
            let whole = !stem.is_empty() && stem.iter().all(Option::is_some);
            if whole {
                stem.iter()
                    .flatten()
                    .map(|&word| inputs.index.rarity[word] * all[word].min(2.0))
                    .sum()
            } else {
                0.0
            }
        });
    }
}
