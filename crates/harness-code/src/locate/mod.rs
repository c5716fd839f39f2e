//! A sentence in, ranked files and definitions out, each with its reasons. No model, no index on disk: one pass over the source.

mod definitions;
mod history;
mod index;
mod meaning;
mod note;
mod paths;
mod query;
mod reasons;
mod scan;
mod signals;
mod spread;
mod weigh;
mod words;

use std::sync::LazyLock;

use crate::locate::index::Index;
use crate::locate::reasons::Reasons;
use crate::locate::signals::Inputs;
use crate::locate::spread::Spread;
use crate::mention::Mentions;
use crate::mention::project::Project;
use crate::path::RelPath;
use crate::tree::SourceTree;

pub use history::{Change, History};
pub use note::Noted;
pub use signals::{Candidate, Signals};
pub use weigh::{
    BEST_DEFINITION, Features, Table, add_file_scores, first_impression, with_best_definitions,
};

/// What is wanted of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocateOptions<'h> {
    /// Whether test files may be found too.
    pub include_tests: bool,
    /// Earlier changes of the project, when the caller has them. The shipped tables were learned without.
    pub history: Option<&'h History>,
}

/// Where a task is most likely about, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Located {
    /// Files.
    pub files: Vec<FileHit>,
    /// Functions, methods, and classes that have none.
    pub definitions: Vec<DefinitionHit>,
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FileHit {
    /// Where it is.
    pub path: RelPath,
    /// One for the best, less for the others.
    pub score: f64,
    /// What speaks for it.
    pub why: String,
}

/// A definition that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinitionHit {
    /// The file it is in.
    pub path: RelPath,
    /// Its name with the definitions around it.
    pub name: String,
    /// Its line, from 1.
    pub line: u32,
    /// One for the best, less for the others.
    pub score: f64,
    /// What speaks for it.
    pub why: String,
}

/// Hits that are returned: more than any screen or prompt shows.
const MOST_HITS: usize = 50;

/// What the signals of files are worth.
static FILES: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("files.table")));
/// What the signals of definitions are worth.
static DEFINITIONS: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("definitions.table")));

/// Returns what the task names in `tree`, and ranks nothing.
pub fn mentioned(tree: &SourceTree, noted: &Noted) -> Mentions {
    Mentions::read_in(
        &noted.text,
        &Project::of(tree),
        &noted.phrases,
        &noted.found,
    )
}

/// Ranks the files and definitions of `tree` by how likely the task is about them; also returns what the task names.
pub fn locate(
    tree: &SourceTree,
    noted: &Noted,
    options: &LocateOptions<'_>,
) -> (Mentions, Located) {
    let search = Search::of(tree, noted, *options);
    let spread = search.spread();
    let inputs = search.inputs(&spread);
    let signals = Signals::of(&inputs);
    let kept = first_impression(&signals);
    let places: Vec<usize> = kept.iter().map(|&(at, _)| at).collect();
    let features = Features::of(&signals, &places, &[]);
    let ranked = ranking(&signals, &features, &FILES);
    let files: Vec<(u32, f32)> = ranked
        .iter()
        .map(|&(candidate, score)| (candidate.file, score))
        .collect();
    let mut within = definitions::signals(&inputs, &impressions(&signals, &kept));
    add_file_scores(&mut within, &files);
    let every: Vec<usize> = (0..within.candidates.len()).collect();
    let features = Features::of(&within, &every, &[]);
    let ranked_definitions = ranking(&within, &features, &DEFINITIONS);
    let best = ranked_definitions
        .iter()
        .map(|&(candidate, score)| (candidate.file, score));
    let files = with_best_definitions(&files, best, BEST_DEFINITION);
    let reasons = Reasons::of(&inputs);
    let located = Located {
        files: file_hits(tree, &reasons, &files),
        definitions: definition_hits(tree, &reasons, &ranked_definitions),
    };
    (search.mentions, located)
}

/// Returns the raw signals of files and of definitions, for learning what they are worth.
pub fn signals(tree: &SourceTree, noted: &Noted, options: LocateOptions<'_>) -> (Signals, Signals) {
    let search = Search::of(tree, noted, options);
    let spread = search.spread();
    let inputs = search.inputs(&spread);
    let signals = Signals::of(&inputs);
    let kept = first_impression(&signals);
    let definitions = definitions::signals(&inputs, &impressions(&signals, &kept));
    (signals, definitions)
}

/// What has to be alive while signals are read.
struct Search<'t, 'h> {
    tree: &'t SourceTree,
    project: Project<'t>,
    noted: &'t Noted,
    index: Index<'t>,
    mentions: Mentions,
    options: LocateOptions<'h>,
}

impl<'t, 'h> Search<'t, 'h> {
    fn of(tree: &'t SourceTree, noted: &'t Noted, options: LocateOptions<'h>) -> Search<'t, 'h> {
        let project = Project::of(tree);
        Search {
            mentions: Mentions::read_in(&noted.text, &project, &noted.phrases, &noted.found),
            index: Index::of(tree, &noted.files, &noted.query.words),
            tree,
            project,
            noted,
            options,
        }
    }

    fn spread(&self) -> Spread {
        Spread::of(
            self.tree,
            &self.project,
            &self.noted.query,
            &self.index,
            &self.mentions.clues,
        )
    }

    fn inputs<'a>(&'a self, spread: &'a Spread) -> Inputs<'a, 't> {
        Inputs {
            tree: self.tree,
            project: &self.project,
            query: &self.noted.query,
            index: &self.index,
            mentions: &self.mentions,
            names: &self.noted.names,
            spread,
            include_tests: self.options.include_tests,
            history: self.options.history,
        }
    }
}

/// Files that look good at first, best first, as shares of the best.
fn impressions(signals: &Signals, kept: &[(usize, f32)]) -> Vec<(u32, f32)> {
    let best = kept.first().map_or(1.0, |first| first.1.max(1e-6));
    kept.iter()
        .map(|&(at, value)| (signals.candidates[at].file, value / best))
        .collect()
}

fn ranking(signals: &Signals, features: &Features, table: &Table) -> Vec<(Candidate, f32)> {
    let scores = table.scores(features);
    let mut ranked: Vec<(Candidate, f32)> = features
        .rows
        .iter()
        .zip(scores)
        .map(|((at, _), score)| (signals.candidates[*at], score))
        .collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    ranked
}

/// Scores as people read them: one for the best, a third for a score that is one lower.
fn shown(score: f32, best: f32) -> f64 {
    (f64::from(score - best).exp() * 1000.0).round() / 1000.0
}

fn file_hits(tree: &SourceTree, reasons: &Reasons<'_>, ranked: &[(u32, f32)]) -> Vec<FileHit> {
    let best = ranked.first().map_or(0.0, |first| first.1);
    let hits = ranked.iter().take(MOST_HITS).map(|&(file, score)| FileHit {
        path: tree.files()[file as usize].path.clone(),
        score: shown(score, best),
        why: reasons.of_file(file),
    });
    hits.collect()
}

fn definition_hits(
    tree: &SourceTree,
    reasons: &Reasons<'_>,
    ranked: &[(Candidate, f32)],
) -> Vec<DefinitionHit> {
    let best = ranked.first().map_or(0.0, |first| first.1);
    let hits = ranked
        .iter()
        .take(MOST_HITS)
        .filter_map(|&(candidate, score)| {
            let file = &tree.files()[candidate.file as usize];
            let definition = file.facts.definitions.get(candidate.definition? as usize)?;
            Some(DefinitionHit {
                path: file.path.clone(),
                name: definition.qualified.to_string(),
                line: definition.line,
                score: shown(score, best),
                why: reasons.of_definition(candidate),
            })
        });
    hits.collect()
}

#[cfg(test)]
mod tests;
