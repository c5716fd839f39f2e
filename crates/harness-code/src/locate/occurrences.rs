//! Where the words of a task stand in a project, noted while it is read: the source is gone over once. Counts only; judges nothing.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::hidden::Hidden;
use crate::language::Language;
use crate::locate::index::FileWords;
use crate::locate::query::QueryWords;
use crate::locate::scan::count;
use crate::locate::vocabulary::{IdentifierCache, Vocabulary};
use crate::mention::Mentions;
use crate::mention::phrase::{Phrase, PhraseHit, Phrases};
use crate::mention::project::Project;
use crate::parallel::side_by_side;
use crate::path::RelPath;
use crate::request::Request;
use crate::symbols::Facts;
use crate::tree::{NEVER, SourceTree, TreeError};

/// What the files of a project say of one task.
pub struct TaskOccurrences {
    pub(crate) request: Request,
    pub(crate) query: QueryWords,
    pub(crate) names: Vec<String>,
    as_written: Vec<String>,
    pub(crate) phrases: Vec<Phrase>,
    pub(crate) found: Vec<PhraseHit>,
    /// One entry a file of the tree; `None` for files that are not source.
    pub(crate) files: Vec<Option<FileWords>>,
}

/// What one file says of the task.
type FileOccurrences = (FileWords, Vec<PhraseHit>);

impl TaskOccurrences {
    /// Reads a project, or the part of it below `scope`, and notes what it says of a request.
    pub fn read(
        root: &Path,
        scope: Option<&RelPath>,
        request: &Request,
    ) -> Result<(SourceTree, TaskOccurrences), TreeError> {
        TaskOccurrences::read_hiding(root, scope, Hidden::default(), &NEVER, request)
    }

    /// Reads a project as [`TaskOccurrences::read`] does, without the files that are hidden, unless it is stopped.
    pub fn read_hiding(
        root: &Path,
        scope: Option<&RelPath>,
        hidden: Hidden,
        stop: &AtomicBool,
        request: &Request,
    ) -> Result<(SourceTree, TaskOccurrences), TreeError> {
        let search = Search::of(request);
        let (tree, found) = SourceTree::read_hiding(root, scope, hidden, stop, |_, reading| {
            search.read_file(reading.language, reading.content, reading.facts)
        })?;
        Ok((tree, search.gathered(found)))
    }

    /// Notes what a project that was read before says of a request; its source is read again.
    pub fn of(tree: &SourceTree, request: &Request) -> TaskOccurrences {
        let search = Search::of(request);
        let found = tree.files().par_iter().map(|file| {
            if !file.language.is_source() {
                return None;
            }
            // A file that went away meanwhile is no candidate.
            let text = tree.text(&file.path).ok()?;
            Some(search.read_file(file.language, text.content(), &file.facts))
        });
        let found = side_by_side(|| found.collect());
        search.gathered(found)
    }
}

impl TaskOccurrences {
    /// Returns the request whose words they are.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns what the request names in the project.
    pub(crate) fn mentions(&self, project: &Project<'_>) -> Mentions {
        Mentions::in_project(&self.request, project, &self.phrases, &self.found)
    }

    /// Returns the words of the task as it writes them, each once.
    pub fn words(&self) -> &[String] {
        &self.as_written
    }

    /// Returns the files of `tree` in which a word of the task stands as it is written; `None` for any other word.
    pub fn files_with<'t>(&self, tree: &'t SourceTree, word: &str) -> Option<Vec<&'t RelPath>> {
        let number = self
            .as_written
            .iter()
            .position(|as_written| as_written == word)? as u16;
        let holds = |words: &FileWords| words.counts.as_written.binary_search(&number).is_ok();
        let files = tree.files().iter().zip(&self.files);
        Some(
            files
                .filter(|(_, words)| words.as_ref().is_some_and(holds))
                .map(|(file, _)| &file.path)
                .collect(),
        )
    }
}

/// More different words than this come from pasted logs.
const MOST_AS_WRITTEN: usize = 2000;

fn as_written(request: &Request) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let words = request.identifiers();
    words
        .filter(|word| seen.insert(*word))
        .take(MOST_AS_WRITTEN)
        .map(str::to_owned)
        .collect()
}

/// What is looked for while files are read.
struct Search {
    request: Request,
    query: QueryWords,
    names: Vec<String>,
    as_written: Vec<String>,
    phrases: Phrases,
    vocabulary: Vocabulary,
    /// One for each thread that reads, handed on from file to file.
    caches: Mutex<Vec<IdentifierCache>>,
}

impl Search {
    fn of(request: &Request) -> Search {
        let query = QueryWords::of(request);
        let names = QueryWords::names(request);
        let phrases = Phrases::of(request.written());
        let as_written = as_written(request);
        let vocabulary = Vocabulary::new(&query.words, &names, &query.pairs, &as_written);
        Search {
            request: request.clone(),
            query,
            names,
            as_written,
            phrases,
            vocabulary,
            caches: Mutex::default(),
        }
    }

    fn read_file(&self, language: Language, content: &str, facts: &Facts) -> FileOccurrences {
        let caches = || self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cache = caches().pop().unwrap_or_default();
        let counts = count(&self.vocabulary, &mut cache, language, content, facts);
        let words = FileWords::of(counts, &self.vocabulary, &mut cache, facts);
        caches().push(cache);
        (words, self.phrases.find_in(content, &facts.definitions))
    }

    fn gathered(self, all: Vec<Option<FileOccurrences>>) -> TaskOccurrences {
        let mut found = Vec::new();
        let mut files = Vec::with_capacity(all.len());
        for (at, of_file) in all.into_iter().enumerate() {
            let Some((words, own)) = of_file else {
                files.push(None);
                continue;
            };
            found.extend(own.into_iter().map(|found| found.at(at as u32)));
            files.push(Some(words));
        }
        TaskOccurrences {
            request: self.request,
            query: self.query,
            names: self.names,
            as_written: self.as_written,
            phrases: self.phrases.list,
            found,
            files,
        }
    }
}
