//! Quoted texts and error messages, looked for in the source. A message is cut into runs of words, because programs fill in the rest.

use aho_corasick::{AhoCorasick, MatchKind};
use rayon::prelude::*;

use crate::mention::project::PlaceId;
use crate::parallel::side_by_side;
use crate::request::written::Written;
use crate::request::zone::Zone;
use crate::symbols::Definition;
use crate::tree::SourceTree;

/// A piece of a quoted text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Phrase {
    pub(crate) text: String,
    pub(crate) zone: Zone,
    /// Comes from an error message.
    pub(crate) error: bool,
}

/// Where a phrase stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct PhraseHit {
    pub(crate) phrase: u32,
    pub(crate) place: PlaceId,
    pub(crate) line: u32,
}

/// Words a piece of a message has: two are said by chance, four rarely survive what a program fills in.
const RUN: usize = 3;

/// More pieces than this come from pasted logs, which say little.
const MOST_PHRASES: usize = 400;

/// How often one phrase is noted in one file.
const MOST_PER_FILE: usize = 3;

/// Returns the pieces of what is quoted in the task, each once.
fn phrases(written: &Written) -> Vec<Phrase> {
    let mut phrases: Vec<Phrase> = Vec::new();
    let mut push = |text: String, zone: Zone, error: bool| {
        if phrases.len() < MOST_PHRASES && !phrases.iter().any(|known| known.text == text) {
            phrases.push(Phrase { text, zone, error });
        }
    };
    for (_, message) in &written.errors {
        for run in runs(message) {
            push(run, Zone::Trace, true);
        }
    }
    for quotation in &written.quotations {
        let text = quotation.text.trim();
        let words = text.split_whitespace().count();
        if words >= RUN {
            for run in runs(text) {
                push(run, quotation.zone, false);
            }
        } else if words == 2 {
            push(text.to_owned(), quotation.zone, false);
        } else if text.len() > 2 && text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            // A single word is only looked for as the whole of a string.
            push(format!("'{text}'"), quotation.zone, false);
            push(format!("\"{text}\""), quotation.zone, false);
        }
    }
    phrases
}

/// Returns all runs of three words that hold nothing a program fills in.
fn runs(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let fixed = |word: &&str| -> bool {
        !word.contains([
            '\'', '"', '`', '{', '}', '%', '<', '>', '(', ')', '=', '/', '\\',
        ]) && !word.contains(|c: char| c.is_ascii_digit())
    };
    words
        .windows(RUN)
        .filter(|run| run.iter().all(fixed))
        .map(|run| {
            run.join(" ")
                .trim_end_matches(['.', ',', ':', ';'])
                .to_owned()
        })
        .collect()
}

/// The phrases of a task, ready to be looked for.
pub(crate) struct Phrases {
    /// What is looked for.
    pub(crate) list: Vec<Phrase>,
    searcher: Option<AhoCorasick>,
}

impl Phrases {
    pub(crate) fn of(written: &Written) -> Phrases {
        let list = phrases(written);
        let patterns = list.iter().map(|phrase| phrase.text.as_str());
        let built = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(patterns);
        Phrases {
            searcher: built.ok().filter(|_| !list.is_empty()),
            list,
        }
    }

    /// Looks for the phrases in every source file, which is read again for it.
    pub(crate) fn find(&self, tree: &SourceTree) -> Vec<PhraseHit> {
        if self.searcher.is_none() {
            return Vec::new();
        }
        let files = tree
            .files()
            .par_iter()
            .enumerate()
            .filter(|(_, file)| file.language.is_source());
        let found = files.flat_map_iter(|(at, file)| {
            let found = match tree.text(&file.path) {
                Ok(text) => self.find_in(text.content(), &file.facts.definitions),
                // A file that went away meanwhile holds nothing.
                Err(_) => Vec::new(),
            };
            found.into_iter().map(move |found| found.at(at as u32))
        });
        side_by_side(|| found.collect())
    }

    /// Looks for the phrases in one file, whose number is not known yet.
    pub(crate) fn find_in(&self, content: &str, definitions: &[Definition]) -> Vec<PhraseHit> {
        let mut found: Vec<PhraseHit> = Vec::new();
        let Some(searcher) = &self.searcher else {
            return found;
        };
        let (mut line, mut counted) = (1u32, 0usize);
        for hit in searcher.find_overlapping_iter(content) {
            let phrase = hit.pattern().as_u32();
            if found.iter().filter(|known| known.phrase == phrase).count() >= MOST_PER_FILE {
                continue;
            }
            let at = hit.start();
            // Hits come in the order of their ends; a start may lie a little before the one counted last.
            if at >= counted {
                line += memchr::memchr_iter(b'\n', &content.as_bytes()[counted..at]).count() as u32;
                counted = at;
            }
            let around = definitions
                .iter()
                .enumerate()
                .filter(|(_, d)| d.kind.is_function() && d.span().contains(&at))
                .min_by_key(|(_, d)| d.span().start);
            found.push(PhraseHit {
                phrase,
                place: PlaceId {
                    file: 0,
                    definition: around.map(|(at, _)| at as u32),
                },
                line,
            });
        }
        found
    }
}

impl PhraseHit {
    /// The same in the file of this number.
    pub(crate) fn at(self, file: u32) -> PhraseHit {
        let place = PlaceId { file, ..self.place };
        PhraseHit { place, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_where_a_program_fills_in() {
        assert_eq!(
            runs("cannot open file 'x' for reading it."),
            ["cannot open file", "for reading it"]
        );
        assert_eq!(runs("too short"), Vec::<String>::new());
    }
}
