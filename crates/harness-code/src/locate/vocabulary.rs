//! The words of a task, numbered, and the identifiers of a project cut into them. Each identifier is cut once and remembered.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

use crate::locate::words::{each_part, everyday};

/// What is looked for in a project, by number.
pub(crate) struct Vocabulary {
    /// Stems.
    words: FxHashMap<String, u16>,
    /// Whole identifiers that the task writes as code.
    names: FxHashMap<String, u16>,
    /// Every word of the task as it is written.
    as_written: FxHashMap<String, u16>,
    /// Two words of the task that stand next to each other.
    pub(crate) pairs: FxHashMap<(u16, u16), u16>,
}

/// Stands for a word that is not in the vocabulary.
pub(crate) const OTHER: u16 = u16::MAX;
/// Stands for a word that is read over.
pub(crate) const EVERYDAY: u16 = u16::MAX - 1;

impl Vocabulary {
    /// Numbers words (stems), whole names and pairs of words in the order given.
    pub(crate) fn new(
        words: &[String],
        names: &[String],
        pairs: &[(u16, u16)],
        as_written: &[String],
    ) -> Vocabulary {
        let number = |texts: &[String]| -> FxHashMap<String, u16> {
            (0..EVERYDAY)
                .zip(texts)
                .map(|(at, text)| (text.clone(), at))
                .collect()
        };
        let mut numbered: FxHashMap<String, u16> =
            everyday().map(|word| (word.to_owned(), EVERYDAY)).collect();
        numbered.extend(number(words));
        Vocabulary {
            words: numbered,
            names: number(names),
            as_written: number(as_written),
            pairs: (0..EVERYDAY)
                .zip(pairs)
                .map(|(at, &pair)| (pair, at))
                .collect(),
        }
    }

    /// How many words there are as they are written.
    pub(crate) fn count_as_written(&self) -> usize {
        self.as_written.len()
    }
}

/// What one identifier holds of the vocabulary.
#[derive(Clone, Copy, Default)]
pub(crate) struct Identifier {
    /// Where its words begin in [`IdentifierCache::words`].
    first: u32,
    /// How many of them are kept there: none when no word of it is in the vocabulary.
    pub(crate) found: u16,
    /// Words in it, in the vocabulary or not.
    pub(crate) length: u16,
    /// Its number among the whole names.
    pub(crate) name: Option<u16>,
    /// Its number among the words as they are written.
    pub(crate) as_written: Option<u16>,
    /// Whether it has a word that is neither in the vocabulary nor read over.
    pub(crate) other: bool,
}

/// Identifiers that are remembered; past that they are forgotten at once, so that memory stays small.
const MOST_IDENTIFIERS: usize = 1 << 15;

/// The same identifiers come again and again in a project: each is cut into words once.
///
/// They are kept by their hash alone. Two of the same hash would be counted as one, which does no harm and hardly happens.
#[derive(Default)]
pub(crate) struct IdentifierCache {
    identifiers: FxHashMap<u64, Identifier>,
    words: Vec<u16>,
    buffer: String,
}

impl IdentifierCache {
    /// Returns what `identifier` holds of the vocabulary.
    pub(crate) fn identifier(&mut self, identifier: &str, vocabulary: &Vocabulary) -> Identifier {
        let mut hasher = FxHasher::default();
        hasher.write(identifier.as_bytes());
        let hash = hasher.finish();
        match self.identifiers.get(&hash) {
            Some(token) => *token,
            None => self.cut(hash, identifier, vocabulary),
        }
    }

    #[cold]
    fn cut(&mut self, hash: u64, identifier: &str, vocabulary: &Vocabulary) -> Identifier {
        if self.identifiers.len() >= MOST_IDENTIFIERS {
            self.identifiers.clear();
            self.words.clear();
        }
        let first = self.words.len();
        let words = &mut self.words;
        each_part(identifier, &mut self.buffer, &mut |word| {
            words.push(vocabulary.words.get(word).copied().unwrap_or(OTHER));
        });
        let own = &words[first..];
        let length = own.len().min(usize::from(u16::MAX)) as u16;
        let other = own.contains(&OTHER);
        if own.iter().all(|&word| word >= EVERYDAY) {
            words.truncate(first);
        }
        let token = Identifier {
            first: first as u32,
            found: (words.len() - first).min(usize::from(u16::MAX)) as u16,
            length,
            name: vocabulary.names.get(identifier).copied(),
            as_written: vocabulary.as_written.get(identifier).copied(),
            other,
        };
        self.identifiers.insert(hash, token);
        token
    }

    pub(crate) fn words(&self, token: Identifier) -> &[u16] {
        let first = token.first as usize;
        &self.words[first..first + usize::from(token.found)]
    }

    /// Calls `each` with the words of `name` that are in the vocabulary.
    pub(crate) fn each(&mut self, name: &str, vocabulary: &Vocabulary, each: impl FnMut(u16)) {
        let token = self.identifier(name, vocabulary);
        let words = self.words(token).iter().copied();
        words.filter(|&word| word < EVERYDAY).for_each(each);
    }
}
