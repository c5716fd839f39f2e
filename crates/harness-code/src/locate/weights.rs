//! What each signal is worth: one table for files, one for definitions. `bench/locate/fit.py` fits and measures them.

use rustc_hash::FxHashMap;

use crate::mention::project::PlaceId;

/// The signals of all candidates: a column a signal, a value a candidate.
pub struct Signals {
    /// What is ranked.
    pub candidates: Vec<PlaceId>,
    /// Name and values.
    pub columns: Vec<(&'static str, Vec<f32>)>,
}

/// How the values of a signal are made comparable between projects and tasks.
#[derive(Clone, Copy)]
pub(crate) enum Scale {
    /// As a share of the best candidate's.
    Share,
    /// `ln(1 + value)`.
    Log,
    /// As they are.
    Plain,
}

/// A row of a table: the signal, its scale, its weight.
pub(crate) type Weight = (&'static str, Scale, f32);

use Scale::{Log, Plain, Share};

/// What speaks for a file.
pub(crate) const FILES: &[Weight] = &[
    // Its best four chunks (functions, classes) by BM25, its best one, the best one for the title and for code.
    ("chunk_four", Share, 1.23),
    ("chunk_best", Share, 1.22),
    ("chunk_title", Share, 1.19),
    ("chunk_code", Share, 0.98),
    // The whole file by BM25 for the title, and its comments and docstrings.
    ("text_title", Share, 1.18),
    ("doc", Share, 1.06),
    // Words that stand next to each other, and whole identifiers, that the task writes too.
    ("pairs", Share, 0.85),
    ("names", Share, 0.89),
    // Its name: all words of it are in the task, the task writes it as one word.
    ("stem_words", Log, 0.76),
    ("stem_said", Log, 0.58),
    // What the task gives: its path, a dotted text that ends as its path does (by hand: neutral where it was measured, and all
    // there is where no word of the task stands in the file), the end of a traceback.
    ("path", Log, 0.81),
    ("path_end", Log, 0.3),
    ("last_frame", Log, 1.41),
    // A definition in it is named in a sentence, or is the hook behind an operator or method that the task uses (by hand too).
    ("named", Log, 0.85),
    ("hook", Log, 0.1),
    // The best match among the files that import it.
    ("importer", Plain, 1.07),
    // It lies in a folder of documentation, examples or tools; the logarithm of its lines.
    ("aside", Plain, -0.64),
    ("lines", Plain, 0.09),
];

/// What speaks for a definition.
pub(crate) const DEFINITIONS: &[Weight] = &[
    // How far its file's score is behind the best file's, and its place among the definitions of its file by BM25.
    ("file_gap", Plain, 0.67),
    ("own_place", Plain, 0.89),
    // What stands in the class around it, by BM25.
    ("class_text", Share, 0.54),
    // The words of the task in its comments and docstring; how much of the task it covers with its class and path.
    ("doc", Share, -0.51),
    ("coverage", Share, 1.02),
    ("pairs", Share, 1.38),
    // The task writes its name as one word, or says the words of its name.
    ("said", Log, 1.05),
    ("told", Log, 0.59),
    // The class around it is named in a sentence; a traceback ends in it; it is a hook behind an operator or method.
    ("class_named", Log, 1.47),
    ("last_frame", Log, 1.32),
    ("hook", Log, 0.11),
    // The logarithm of its lines; it is a class.
    ("lines", Plain, 0.42),
    ("is_class", Plain, -0.95),
];

impl Signals {
    pub(crate) fn new(candidates: Vec<PlaceId>) -> Signals {
        Signals {
            candidates,
            columns: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, name: &'static str, value: impl FnMut(&PlaceId) -> f32) {
        let values = self.candidates.iter().map(value).collect();
        self.columns.push((name, values));
    }

    /// Returns the candidates by their weighed sum, best first.
    pub(crate) fn ranked(&self, table: &[Weight]) -> Vec<(PlaceId, f32)> {
        let columns: FxHashMap<&str, &Vec<f32>> = self
            .columns
            .iter()
            .map(|(name, values)| (*name, values))
            .collect();
        let mut scores = vec![0f32; self.candidates.len()];
        for (name, scale, weight) in table {
            let Some(values) = columns.get(name) else {
                continue;
            };
            let most = values.iter().copied().fold(1e-6, f32::max);
            for (score, &value) in scores.iter_mut().zip(*values) {
                *score += weight
                    * match scale {
                        Share => value / most,
                        Log => value.ln_1p(),
                        Plain => value,
                    };
            }
        }
        let mut ranked: Vec<(PlaceId, f32)> = self.candidates.iter().copied().zip(scores).collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        ranked
    }
}

#[cfg(test)]
pub(crate) fn names(table: &[Weight]) -> Vec<&'static str> {
    table.iter().map(|(name, ..)| *name).collect()
}
