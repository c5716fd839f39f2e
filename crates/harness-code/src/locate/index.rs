//! The words of a task counted in every file of a project, and how rare each is. Scores text; weighs nothing else.

use rustc_hash::FxHashMap;

use crate::locate::meaning::{Meanings, Wanted};
use crate::locate::scan::{Chunk, Counts};
use crate::symbols::Facts;
use crate::tree::SourceTree;

/// Counts of the task's words in each source file.
pub(crate) struct Index<'n> {
    /// One entry a file of the tree; `None` for files that are not source.
    pub(crate) files: &'n [Option<FileWords>],
    /// How rare each word is among files.
    pub(crate) rarity: Vec<f32>,
    /// The number of each word.
    pub(crate) numbers: FxHashMap<String, usize>,
    average_length: f32,
    average_doc_length: f32,
    average_chunk_length: f32,
}

/// The counts of one file, a value a word.
pub(crate) struct FileWords {
    pub(crate) counts: Counts,
    /// All occurrences.
    pub(crate) total: Vec<u16>,
    /// Occurrences in comments and documentation.
    pub(crate) doc: Vec<u16>,
    /// Definitions whose name holds the word.
    pub(crate) names: Vec<u16>,
    /// Definitions whose whole name the task may tell, by place, with the words of the name.
    pub(crate) told: Vec<(u32, Box<[u16]>)>,
}

/// What a repeated word is worth less (BM25's k1) and how much long texts pay (its b). The usual values.
const REPEAT: f32 = 1.2;
const LENGTH: f32 = 0.75;
/// A word that a chunk says once is nearly all it can say of it, and a long chunk says something of everything.
const CHUNK_REPEAT: f32 = 0.6;
const CHUNK_LENGTH: f32 = 0.9;
/// What a word is worth in the documentation of a chunk, and in its name, beside one in its code.
const CHUNK_DOC: f32 = 2.0;
const CHUNK_NAME: f32 = 5.0;

impl<'n> Index<'n> {
    /// Weighs what was noted in the files of `tree` of the words `known`.
    pub(crate) fn of(
        tree: &SourceTree,
        files: &'n [Option<FileWords>],
        known: &[String],
    ) -> Index<'n> {
        let words = known.len();
        let mut in_files = vec![0u32; words];
        let (mut count, mut chunks) = (0u32, 0u32);
        let (mut length, mut doc_length, mut chunk_length) = (0f64, 0f64, 0f64);
        for (file, entry) in tree.files().iter().zip(files) {
            let Some(entry) = entry else { continue };
            if file.test {
                continue;
            }
            count += 1;
            length += f64::from(entry.counts.length);
            doc_length += f64::from(entry.counts.doc_length);
            for (word, &total) in entry.total.iter().enumerate() {
                in_files[word] += u32::from(total > 0 || entry.names[word] > 0);
            }
            chunks += entry.counts.all_chunks;
            chunk_length += f64::from(entry.counts.length);
        }
        let rare = |all: u32| {
            move |&with: &u32| {
                ((1.0 + (all as f32 - with as f32 + 0.5) / (with as f32 + 0.5)).ln()).max(0.0)
            }
        };
        let mean = |sum: f64, count: u32| (sum / f64::from(count.max(1))).max(1.0) as f32;
        Index {
            numbers: known
                .iter()
                .enumerate()
                .map(|(at, word)| (word.clone(), at))
                .collect(),
            rarity: in_files.iter().map(rare(count)).collect(),
            average_length: mean(length, count),
            average_doc_length: mean(doc_length, count),
            average_chunk_length: mean(chunk_length, chunks),
            files,
        }
    }

    /// Scores the whole text of a file.
    pub(crate) fn whole(&self, file: &FileWords, weights: &[f32]) -> f32 {
        let long = LENGTH * file.counts.length as f32 / self.average_length + 1.0 - LENGTH;
        let value = |word: usize| {
            f32::from(file.total[word])
                + f32::from(file.doc[word]) * 0.5
                + f32::from(file.names[word]) * 2.0
        };
        self.sum(weights, &self.rarity, value, long)
    }

    /// Scores only the presence of rare words, the rarer the more.
    pub(crate) fn rare(&self, file: &FileWords, weights: &[f32]) -> f32 {
        let present = |word: usize| file.total[word] > 0 && weights[word] > 0.0;
        let value = |word: usize| weights[word].min(1.5) * self.rarity[word] * self.rarity[word];
        (0..weights.len())
            .filter(|&word| present(word))
            .map(value)
            .sum()
    }

    /// Scores comments and documentation.
    pub(crate) fn doc(&self, file: &FileWords, weights: &[f32]) -> f32 {
        let long = LENGTH * file.counts.doc_length as f32 / self.average_doc_length + 1.0 - LENGTH;
        self.sum(
            weights,
            &self.rarity,
            |word| f32::from(file.doc[word]),
            long,
        )
    }

    /// Scores the names of definitions.
    pub(crate) fn names(&self, file: &FileWords, weights: &[f32]) -> f32 {
        self.sum(
            weights,
            &self.rarity,
            |word| f32::from(file.names[word]),
            1.0,
        )
    }

    fn sum(&self, weights: &[f32], rarity: &[f32], value: impl Fn(usize) -> f32, long: f32) -> f32 {
        let mut sum = 0.0;
        for (word, &weight) in weights.iter().enumerate() {
            let value = if weight > 0.0 { value(word) } else { 0.0 };
            if value > 0.0 {
                sum += weight * rarity[word] * value * (REPEAT + 1.0) / (value + REPEAT * long);
            }
        }
        sum
    }

    /// Scores one chunk; `named` are the words of its own name. A word is as rare as the files that hold it are few.
    pub(crate) fn chunk(&self, chunk: &Chunk, named: &[u16], weights: &[f32]) -> f32 {
        let long =
            CHUNK_LENGTH * chunk.length as f32 / self.average_chunk_length + 1.0 - CHUNK_LENGTH;
        let mut sum = 0.0;
        for hits in &chunk.hits {
            let word = usize::from(hits.word);
            let own = if named.contains(&hits.word) {
                CHUNK_NAME
            } else {
                0.0
            };
            let value = f32::from(hits.code) + f32::from(hits.doc) * CHUNK_DOC + own;
            sum += weights[word] * self.rarity[word] * value * (CHUNK_REPEAT + 1.0)
                / (value + CHUNK_REPEAT * long);
        }
        sum
    }
}

impl FileWords {
    pub(crate) fn of(
        counts: Counts,
        wanted: &Wanted,
        meanings: &mut Meanings,
        words: usize,
        facts: &Facts,
    ) -> FileWords {
        let mut total = vec![0u16; words];
        let mut doc = vec![0u16; words];
        let mut names = vec![0u16; words];
        for hits in counts.chunks.iter().flat_map(|chunk| &chunk.hits) {
            let word = usize::from(hits.word);
            total[word] = total[word]
                .saturating_add(hits.code)
                .saturating_add(hits.doc);
            doc[word] = doc[word].saturating_add(hits.doc);
        }
        let mut told = Vec::new();
        for (at, definition) in facts.definitions.iter().enumerate() {
            meanings.each(definition.name(), wanted, |word| {
                names[usize::from(word)] = names[usize::from(word)].saturating_add(1);
            });
            let whole = meanings.whole(definition.name(), wanted);
            told.extend(whole.map(|words| (at as u32, words.into())));
        }
        FileWords {
            counts,
            total,
            doc,
            names,
            told,
        }
    }
}
