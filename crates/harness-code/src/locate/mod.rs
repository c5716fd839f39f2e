//! A sentence in, ranked files and definitions out, each with its reasons. No model, no index on disk: one pass over the source.

mod definitions;
mod files;
mod hooks;
mod index;
mod occurrences;
mod query;
mod reasons;
mod scan;
mod vocabulary;
mod weights;
mod words;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::locate::hooks::{Hook, hooks};
use crate::locate::index::Index;
use crate::locate::query::QueryWords;
use crate::locate::reasons::Reasons;
use crate::mention::Mentions;
use crate::mention::project::Project;
use crate::path::RelPath;
use crate::request::written::Written;
use crate::tree::SourceTree;

pub use crate::mention::project::PlaceId;
pub use occurrences::TaskOccurrences;
pub use weights::Signals;
pub use words::stems;

/// What is wanted of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocateOptions {
    /// Whether test files may be found too.
    pub include_tests: bool,
}

/// Where a task is most likely about, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Located {
    /// Files.
    pub files: Vec<FileHit>,
    /// Functions, methods, and classes that have none.
    pub definitions: Vec<DefinitionHit>,
}

/// A file that the task may be about.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "PlannedFile")]
pub struct FileHit {
    /// The file.
    #[schemars(with = "String")]
    pub path: RelPath,
    /// How likely it is; only the order means something.
    pub score: f64,
    /// What speaks for it.
    pub why: String,
}

/// A definition that the task may be about.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "PlannedDefinition")]
pub struct DefinitionHit {
    /// The file.
    #[schemars(with = "String")]
    pub path: RelPath,
    /// The definition, as `Class.name`.
    pub name: String,
    /// Its first line.
    pub line: u32,
    /// How likely it is; only the order means something.
    pub score: f64,
    /// What speaks for it.
    pub why: String,
}

/// Hits that are returned: more than any screen or prompt shows.
const MOST_HITS: usize = 50;

/// Files whose definitions are ranked.
const FILES_LOOKED_INTO: usize = 50;

/// Returns what the task names in `tree`, and ranks nothing.
pub fn mentioned(tree: &SourceTree, occurrences: &TaskOccurrences) -> Mentions {
    occurrences.mentions(&Project::of(tree))
}

/// Ranks the files and definitions of `tree` by how likely the task is about them; also returns what the task names.
pub fn locate(
    tree: &SourceTree,
    occurrences: &TaskOccurrences,
    options: LocateOptions,
) -> (Mentions, Located) {
    let project = Project::of(tree);
    let mentions = occurrences.mentions(&project);
    let located = with_inputs(tree, occurrences, &project, &mentions, options, |inputs| {
        let files = files::signals(inputs).ranked(weights::FILES);
        let looked_into = &files[..files.len().min(FILES_LOOKED_INTO)];
        let definitions = definitions::signals(inputs, looked_into).ranked(weights::DEFINITIONS);
        let reasons = Reasons::of(inputs);
        Located {
            files: file_hits(tree, &reasons, &files),
            definitions: definition_hits(tree, &reasons, &definitions),
        }
    });
    (mentions, located)
}

/// Returns the raw signals of files and of definitions, for fitting what they are worth.
pub fn signals(
    tree: &SourceTree,
    occurrences: &TaskOccurrences,
    options: LocateOptions,
) -> (Signals, Signals) {
    let project = Project::of(tree);
    let mentions = occurrences.mentions(&project);
    with_inputs(tree, occurrences, &project, &mentions, options, |inputs| {
        let files = files::signals(inputs);
        let ranked = files.ranked(weights::FILES);
        let looked_into = &ranked[..ranked.len().min(FILES_LOOKED_INTO)];
        let definitions = definitions::signals(inputs, looked_into);
        (files, definitions)
    })
}

/// What signals are read from.
struct Inputs<'a, 't> {
    tree: &'t SourceTree,
    project: &'a Project<'t>,
    query: &'a QueryWords,
    index: &'a Index<'a>,
    mentions: &'a Mentions,
    written: &'a Written,
    hooks: &'a FxHashMap<PlaceId, Hook>,
    include_tests: bool,
}

fn with_inputs<T>(
    tree: &SourceTree,
    occurrences: &TaskOccurrences,
    project: &Project<'_>,
    mentions: &Mentions,
    options: LocateOptions,
    then: impl FnOnce(&Inputs<'_, '_>) -> T,
) -> T {
    then(&Inputs {
        tree,
        project,
        query: &occurrences.query,
        index: &Index::of(
            tree,
            &occurrences.files,
            &occurrences.query,
            occurrences.names.len(),
        ),
        mentions,
        hooks: &hooks(&occurrences.request, project),
        written: occurrences.request.written(),
        include_tests: options.include_tests,
    })
}

/// Scores as people read them: one for the best, a third for a score that is one lower.
fn shown(score: f32, best: f32) -> f64 {
    (f64::from(score - best).exp() * 1000.0).round() / 1000.0
}

fn file_hits(tree: &SourceTree, reasons: &Reasons<'_>, ranked: &[(PlaceId, f32)]) -> Vec<FileHit> {
    let best = ranked.first().map_or(0.0, |first| first.1);
    let hits = ranked
        .iter()
        .take(MOST_HITS)
        .map(|&(place, score)| FileHit {
            path: tree.files()[place.file as usize].path.clone(),
            score: shown(score, best),
            why: reasons.of_file(place.file),
        });
    hits.collect()
}

fn definition_hits(
    tree: &SourceTree,
    reasons: &Reasons<'_>,
    ranked: &[(PlaceId, f32)],
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
