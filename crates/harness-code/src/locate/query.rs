//! The words of a task with the weight each passage gives them. Knows nothing of the project.

use rustc_hash::FxHashMap;

use crate::locate::words::{each_word, is_everyday};
use crate::request::Request;
use crate::request::written::Name;
use crate::request::zone::Zone;
use crate::text::identifiers;

/// The words of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryWords {
    /// Stems.
    pub(crate) words: Vec<String>,
    /// Each word as the task first writes it, lowercase.
    pub(crate) shown: Vec<String>,
    /// How often each word stands in each kind of passage, in the order of `Zone`.
    counts: Vec<[u16; 5]>,
    /// Two words that stand next to each other in sentences.
    pub(crate) pairs: Vec<(u16, u16)>,
    /// Whole runs of letters, lowercase, with the weightiest passage they stand in.
    pub(crate) runs: FxHashMap<String, Zone>,
}

/// Which part of the task a score is made from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TaskPart {
    All,
    Title,
    Code,
}

/// Longer tasks add nothing but logs.
const MOST_WORDS: usize = 600;

/// Pairs of words that are looked for; the first ones are said first.
const MOST_PAIRS: usize = 400;

/// The piece of `token` that a stem was taken from.
fn as_written(token: &str, stem: &str) -> String {
    let lower = token.to_lowercase();
    let Some(start) = lower.find(stem) else {
        return stem.to_owned();
    };
    let rest = &lower[start + stem.len()..];
    let tail = rest
        .find(|c: char| !c.is_ascii_lowercase())
        .unwrap_or(rest.len());
    // An ending is short; more than that is the next word of an identifier.
    if tail <= 4 {
        lower[start..start + stem.len() + tail].to_owned()
    } else {
        stem.to_owned()
    }
}

impl QueryWords {
    pub(crate) fn of(request: &Request) -> QueryWords {
        let mut query = QueryWords::default();
        let mut known: FxHashMap<String, usize> = FxHashMap::default();
        for passage in request.passages() {
            let mut before: Option<u16> = None;
            let tokens = request.tokens_of(passage.text).map(|token| token.text);
            for token in tokens.filter(|token| !token.contains("://")) {
                for run in identifiers(token) {
                    let zone = query.runs.entry(run.to_lowercase()).or_insert(passage.zone);
                    *zone = passage.zone.max(*zone);
                }
                each_word(token, |word| {
                    if is_everyday(word) {
                        return;
                    }
                    let at = match known.get(word) {
                        Some(&at) => at,
                        None if query.words.len() < MOST_WORDS => {
                            known.insert(word.to_owned(), query.words.len());
                            query.words.push(word.to_owned());
                            query.shown.push(as_written(token, word));
                            query.counts.push([0; 5]);
                            query.words.len() - 1
                        }
                        None => return,
                    };
                    let count = &mut query.counts[at][passage.zone as usize];
                    *count = count.saturating_add(1);
                    if let Some(before) = before.replace(at as u16) {
                        query.pair(before, at as u16, passage.zone);
                    }
                });
            }
        }
        query
    }

    fn pair(&mut self, one: u16, other: u16, zone: Zone) {
        let told = matches!(zone, Zone::Title | Zone::Prose | Zone::Inline);
        let new = one != other && !self.pairs.contains(&(one, other));
        if told && new && self.pairs.len() < MOST_PAIRS {
            self.pairs.push((one, other));
        }
    }

    /// Returns the whole names of a request that are worth looking for as they are written.
    pub(crate) fn names(request: &Request) -> Vec<String> {
        let told = |name: &&Name| name.codelike || name.zone == Zone::Inline;
        let parts = request
            .written()
            .names
            .iter()
            .filter(told)
            .flat_map(|name| name.text.split('.'));
        let mut names: Vec<String> = parts
            .filter(|part| part.len() > 2)
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns how much each word counts for this part of the task.
    pub(crate) fn weights(&self, part: TaskPart) -> Vec<f32> {
        let some = |count: u16| (1.0 + f32::from(count)).ln();
        let weigh = |&[code, trace, prose, inline, title]: &[u16; 5]| match part {
            TaskPart::All => {
                3.0 * some(title)
                    + some(prose)
                    + some(inline)
                    + 0.5 * some(code)
                    + 0.1 * some(trace)
            }
            TaskPart::Title => some(title),
            TaskPart::Code => some(code) + some(inline) + some(trace),
        };
        self.counts.iter().map(weigh).collect()
    }
}
