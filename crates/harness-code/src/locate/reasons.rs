//! Why a file or definition was found, in a few words a person can check.

use rustc_hash::FxHashMap;

use crate::locate::Inputs;
use crate::locate::query::TaskPart;
use crate::mention::project::PlaceId;
use crate::mention::{Clue, ClueKind};

/// Reasons that are given for one hit.
const MOST_REASONS: usize = 3;

/// Words that are shown of those that a hit shares with the task.
const MOST_WORDS: usize = 4;

/// What is needed to say why.
pub(crate) struct Reasons<'a> {
    inputs: &'a Inputs<'a, 'a>,
    by_file: FxHashMap<u32, Vec<&'a Clue>>,
    weights: Vec<f32>,
}

impl<'a> Reasons<'a> {
    pub(crate) fn of(inputs: &'a Inputs<'a, 'a>) -> Reasons<'a> {
        let mut by_file: FxHashMap<u32, Vec<&Clue>> = FxHashMap::default();
        for clue in &inputs.mentions.clues {
            by_file.entry(clue.place.file).or_default().push(clue);
        }
        Reasons {
            inputs,
            by_file,
            weights: inputs.query.weights(TaskPart::All),
        }
    }

    /// Says what speaks for a file.
    pub(crate) fn of_file(&self, file: u32) -> String {
        let clues = self.by_file.get(&file).map_or(&[][..], Vec::as_slice);
        let mut reasons = self.named(clues.iter().copied());
        let words = self.inputs.index.files[file as usize].as_ref();
        let words = words.into_iter().flat_map(|words| &words.words);
        reasons.extend(self.rarest(words.map(|count| usize::from(count.word))));
        finish(&reasons)
    }

    /// Says what speaks for a definition.
    pub(crate) fn of_definition(&self, place: PlaceId) -> String {
        let clues = self.by_file.get(&place.file);
        let clues = clues.into_iter().flatten().copied();
        let mut reasons = self.named(clues.filter(|clue| clue.place == place));
        if let Some(hook) = self.inputs.hooks.get(&place) {
            reasons.push(format!("may be what `{}` runs", hook.written));
        }
        let file = self.inputs.index.files[place.file as usize].as_ref();
        let chunk = file.and_then(|words| {
            words
                .counts
                .chunks
                .iter()
                .find(|chunk| chunk.definition == place.definition)
        });
        reasons.extend(
            chunk.and_then(|chunk| {
                self.rarest(chunk.hits.iter().map(|hits| usize::from(hits.word)))
            }),
        );
        finish(&reasons)
    }

    fn named<'c>(&self, clues: impl Iterator<Item = &'c Clue>) -> Vec<String> {
        let mut clues: Vec<&Clue> = clues.collect();
        clues.sort_by(|one, other| {
            one.kind
                .cmp(&other.kind)
                .then(other.share.total_cmp(&one.share))
        });
        let mut reasons: Vec<String> = Vec::new();
        for clue in clues {
            let name = self
                .inputs
                .project
                .definition(clue.place)
                .map(|definition| &*definition.qualified);
            let reason = match (clue.kind, name) {
                (ClueKind::Path, _) => "the task gives its path".to_owned(),
                (ClueKind::Test, _) => "the task names a test in it".to_owned(),
                (ClueKind::LastFrame, _) => "the traceback ends here".to_owned(),
                (ClueKind::Frame, _) => "the traceback passes through".to_owned(),
                (ClueKind::Module, _) => "the task names the module".to_owned(),
                (ClueKind::Import, _) => "the task imports it".to_owned(),
                (ClueKind::Literal, _) => "holds a text that the task quotes".to_owned(),
                (ClueKind::Qualified | ClueKind::Defined | ClueKind::Plain, Some(name)) => {
                    format!("defines `{name}`")
                }
                (ClueKind::Qualified | ClueKind::Defined | ClueKind::Plain, None) => continue,
            };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
            if reasons.len() == MOST_REASONS - 1 {
                break;
            }
        }
        reasons
    }

    /// The rarest words that are shared with the task.
    fn rarest(&self, words: impl Iterator<Item = usize>) -> Option<String> {
        let mut words: Vec<usize> = words.filter(|&word| self.weights[word] > 0.0).collect();
        let worth = |word: usize| self.weights[word] * self.inputs.index.idf[word];
        words.sort_by(|&one, &other| worth(other).total_cmp(&worth(one)).then(one.cmp(&other)));
        words.truncate(MOST_WORDS);
        let shown: Vec<&str> = words
            .iter()
            .map(|&word| self.inputs.query.shown[word].as_str())
            .collect();
        (!shown.is_empty()).then(|| format!("speaks of {}", shown.join(", ")))
    }
}

fn finish(reasons: &[String]) -> String {
    if reasons.is_empty() {
        "near what the task is about".to_owned()
    } else {
        reasons.join("; ")
    }
}
