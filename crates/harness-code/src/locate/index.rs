//! The words of a task counted in every file of a project, and BM25 scores made from them.

use rustc_hash::FxHashMap;

use crate::locate::query::QueryWords;
use crate::locate::scan::{Chunk, Counts};
use crate::locate::vocabulary::{IdentifierCache, Vocabulary};
use crate::symbols::Facts;
use crate::tree::SourceTree;

/// Counts of the task's words in each source file.
pub(crate) struct Index<'n> {
    /// One entry a file of the tree; `None` for files that are not source.
    pub(crate) files: &'n [Option<FileWords>],
    /// Inverse document frequency of each word, name and pair of words among the files that are no tests.
    pub(crate) idf: Vec<f32>,
    pub(crate) name_idf: Vec<f32>,
    pub(crate) pair_idf: Vec<f32>,
    /// The number of each word.
    pub(crate) numbers: FxHashMap<&'n str, usize>,
    average_length: f32,
    average_doc_length: f32,
    average_chunk_length: f32,
}

/// The counts of one file. Only what occurs has an entry.
pub(crate) struct FileWords {
    pub(crate) counts: Counts,
    pub(crate) words: Box<[WordCount]>,
    /// Whole names of the task, and pairs of its words, with how often each occurs.
    pub(crate) names: Box<[(u16, u16)]>,
    pub(crate) pairs: Box<[(u16, u16)]>,
}

/// How often a word occurs in a file.
#[derive(Clone, Copy, Default)]
pub(crate) struct WordCount {
    pub(crate) word: u16,
    total: u16,
    /// In comments and documentation.
    doc: u16,
    /// In names of definitions.
    names: u16,
}

/// BM25's k1 and b for whole files. The usual values.
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// The same for chunks: a word that a chunk says once is nearly all it can say of it, and a long chunk says something of
/// everything.
const CHUNK_K1: f32 = 0.6;
const CHUNK_B: f32 = 0.9;
/// What a word is worth in the documentation of a chunk, and in its name, beside one in its code.
const CHUNK_DOC: f32 = 2.0;
const CHUNK_NAME: f32 = 5.0;

impl<'n> Index<'n> {
    /// Weighs what was counted in the files of `tree`; `names` are the whole names that were looked for.
    pub(crate) fn of(
        tree: &SourceTree,
        files: &'n [Option<FileWords>],
        query: &'n QueryWords,
        names: usize,
    ) -> Index<'n> {
        let mut with_word = vec![0u32; query.words.len()];
        let mut with_name = vec![0u32; names];
        let mut with_pair = vec![0u32; query.pairs.len()];
        let (mut count, mut chunks) = (0u32, 0u32);
        let (mut length, mut doc_length) = (0f64, 0f64);
        let counted = tree.files().iter().zip(files);
        for file in counted.filter_map(|(file, words)| words.as_ref().filter(|_| !file.test)) {
            count += 1;
            length += f64::from(file.counts.length);
            doc_length += f64::from(file.counts.doc_length);
            chunks += file.counts.all_chunks;
            for entry in &file.words {
                with_word[usize::from(entry.word)] += 1;
            }
            for &(name, _) in &file.names {
                with_name[usize::from(name)] += 1;
            }
            for &(pair, _) in &file.pairs {
                with_pair[usize::from(pair)] += 1;
            }
        }
        let idf = |with: &[u32]| with.iter().map(|&with| idf(with, count)).collect();
        let mean = |sum: f64, count: u32| (sum / f64::from(count.max(1))).max(1.0) as f32;
        let words = query.words.iter().map(String::as_str);
        Index {
            numbers: words.zip(0..).collect(),
            idf: idf(&with_word),
            name_idf: idf(&with_name),
            pair_idf: idf(&with_pair),
            average_length: mean(length, count),
            average_doc_length: mean(doc_length, count),
            average_chunk_length: mean(length, chunks),
            files,
        }
    }

    /// Scores the whole text of a file.
    pub(crate) fn whole(&self, file: &FileWords, weights: &[f32]) -> f32 {
        let value = |count: &WordCount| {
            f32::from(count.total) + f32::from(count.doc) * 0.5 + f32::from(count.names) * 2.0
        };
        self.bm25(
            file,
            weights,
            file.counts.length as f32 / self.average_length,
            value,
        )
    }

    /// Scores comments and documentation.
    pub(crate) fn doc(&self, file: &FileWords, weights: &[f32]) -> f32 {
        let length = file.counts.doc_length as f32 / self.average_doc_length;
        self.bm25(file, weights, length, |count| f32::from(count.doc))
    }

    fn bm25(
        &self,
        file: &FileWords,
        weights: &[f32],
        length: f32,
        value: impl Fn(&WordCount) -> f32,
    ) -> f32 {
        let long = K1 * (B * length + 1.0 - B);
        let score = |count: &WordCount| {
            let (word, value) = (usize::from(count.word), value(count));
            weights[word] * self.idf[word] * value * (K1 + 1.0) / (value + long)
        };
        file.words.iter().map(score).sum()
    }

    /// Scores one chunk. A word counts by its frequency among files.
    pub(crate) fn chunk(&self, chunk: &Chunk, weights: &[f32]) -> f32 {
        let length = chunk.length as f32 / self.average_chunk_length;
        let long = CHUNK_K1 * (CHUNK_B * length + 1.0 - CHUNK_B);
        let mut sum = 0.0;
        for hits in &chunk.hits {
            let word = usize::from(hits.word);
            let own = if chunk.named.contains(&hits.word) {
                CHUNK_NAME
            } else {
                0.0
            };
            let value = f32::from(hits.code) + f32::from(hits.doc) * CHUNK_DOC + own;
            sum += weights[word] * self.idf[word] * value * (CHUNK_K1 + 1.0) / (value + long);
        }
        sum
    }
}

/// Sums what occurs, each by its inverse document frequency and the logarithm of its count.
pub(crate) fn weighed(counts: &[(u16, u16)], idf: &[f32]) -> f32 {
    counts
        .iter()
        .map(|&(number, times)| idf[usize::from(number)] * (1.0 + f32::from(times)).ln())
        .sum()
}

/// Inverse document frequency of what `with` of `all` have.
pub(crate) fn idf(with: u32, all: u32) -> f32 {
    let (with, all) = (with as f32, all as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln().max(0.0)
}

impl FileWords {
    pub(crate) fn of(
        counts: Counts,
        vocabulary: &Vocabulary,
        cache: &mut IdentifierCache,
        facts: &Facts,
    ) -> FileWords {
        let mut words: Vec<WordCount> = Vec::new();
        for hits in counts.chunks.iter().flat_map(|chunk| &chunk.hits) {
            words.push(WordCount {
                word: hits.word,
                total: hits.code.saturating_add(hits.doc),
                doc: hits.doc,
                names: 0,
            });
        }
        for definition in &facts.definitions {
            cache.each(definition.name(), vocabulary, |word| {
                words.push(WordCount {
                    word,
                    names: 1,
                    ..WordCount::default()
                });
            });
        }
        words.sort_unstable_by_key(|count| count.word);
        words.dedup_by(|next, sum| {
            let same = next.word == sum.word;
            if same {
                sum.total = sum.total.saturating_add(next.total);
                sum.doc = sum.doc.saturating_add(next.doc);
                sum.names = sum.names.saturating_add(next.names);
            }
            same
        });
        FileWords {
            names: summed(counts.chunks.iter().flat_map(|chunk| &chunk.names)),
            pairs: summed(counts.chunks.iter().flat_map(|chunk| &chunk.pairs)),
            words: words.into(),
            counts,
        }
    }
}

fn summed<'c>(counts: impl Iterator<Item = &'c (u16, u16)>) -> Box<[(u16, u16)]> {
    let mut counts: Vec<(u16, u16)> = counts.copied().collect();
    counts.sort_unstable();
    counts.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        if same {
            sum.1 = sum.1.saturating_add(next.1);
        }
        same
    });
    counts.into()
}
