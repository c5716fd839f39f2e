//! What a project says of a task, noted while it is read: the source is gone over once. Notes only; judges nothing.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::hidden::Hidden;
use crate::language::Language;
use crate::locate::index::FileWords;
use crate::locate::query::Query;
use crate::locate::scan::count;
use crate::locate::vocabulary::{TokenCache, Vocabulary};
use crate::mention::Mentions;
use crate::mention::phrase::{Found, Phrase, Phrases};
use crate::mention::project::Project;
use crate::parallel::side_by_side;
use crate::path::RelPath;
use crate::request::Request;
use crate::symbols::Facts;
use crate::tree::{NEVER, SourceTree, TreeError};

/// What the files of a project say of one task.
pub struct Noted {
    pub(crate) request: Request,
    pub(crate) query: Query,
    pub(crate) names: Vec<String>,
    spoken: Vec<String>,
    pub(crate) phrases: Vec<Phrase>,
    pub(crate) found: Vec<Found>,
    /// One entry a file of the tree; `None` for files that are not source.
    pub(crate) files: Vec<Option<FileWords>>,
}

/// What one file says of the task.
type FileNotes = (FileWords, Vec<Found>);

impl Noted {
    /// Reads a project, or the part of it below `scope`, and notes what it says of a request.
    pub fn read(
        root: &Path,
        scope: Option<&RelPath>,
        request: &Request,
    ) -> Result<(SourceTree, Noted), TreeError> {
        Noted::read_hiding(root, scope, Hidden::default(), &NEVER, request)
    }

    /// Reads a project as [`Noted::read`] does, without the files that are hidden, unless it is stopped.
    pub fn read_hiding(
        root: &Path,
        scope: Option<&RelPath>,
        hidden: Hidden,
        stop: &AtomicBool,
        request: &Request,
    ) -> Result<(SourceTree, Noted), TreeError> {
        let sought = Sought::of(request);
        let (tree, notes) = SourceTree::read_hiding(root, scope, hidden, stop, |_, reading| {
            sought.note(reading.language, reading.content, reading.facts)
        })?;
        Ok((tree, sought.noted(notes)))
    }

    /// Notes what a project that was read before says of a request; its source is read again.
    pub fn of(tree: &SourceTree, request: &Request) -> Noted {
        let sought = Sought::of(request);
        let notes = tree.files().par_iter().map(|file| {
            if !file.language.is_source() {
                return None;
            }
            // A file that went away meanwhile is no candidate.
            let text = tree.text(&file.path).ok()?;
            Some(sought.note(file.language, text.content(), &file.facts))
        });
        let notes = side_by_side(|| notes.collect());
        sought.noted(notes)
    }
}

impl Noted {
    /// Returns what the request names in the project.
    pub(crate) fn mentions(&self, project: &Project<'_>) -> Mentions {
        Mentions::in_project(&self.request, project, &self.phrases, &self.found)
    }

    /// Returns the words of the task as it writes them, each once.
    pub fn spoken(&self) -> &[String] {
        &self.spoken
    }

    /// Returns the files of `tree` in which a word of the task stands as it is written; `None` for any other word.
    pub fn holding<'t>(&self, tree: &'t SourceTree, word: &str) -> Option<Vec<&'t RelPath>> {
        let number = self.spoken.iter().position(|spoken| spoken == word)? as u16;
        let holds = |words: &FileWords| words.counts.spoken.binary_search(&number).is_ok();
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
const MOST_SPOKEN: usize = 2000;

fn spoken(request: &Request) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let words = request.identifiers();
    words
        .filter(|word| seen.insert(*word))
        .take(MOST_SPOKEN)
        .map(str::to_owned)
        .collect()
}

/// What is looked for while files are read.
struct Sought {
    request: Request,
    query: Query,
    names: Vec<String>,
    spoken: Vec<String>,
    phrases: Phrases,
    vocabulary: Vocabulary,
    /// One for each thread that reads, handed on from file to file.
    caches: Mutex<Vec<TokenCache>>,
}

impl Sought {
    fn of(request: &Request) -> Sought {
        let query = Query::of(request);
        let names = Query::names(request);
        let phrases = Phrases::of(request.written());
        let spoken = spoken(request);
        let vocabulary = Vocabulary::new(&query.words, &names, &query.pairs, &spoken);
        Sought {
            request: request.clone(),
            query,
            names,
            spoken,
            phrases,
            vocabulary,
            caches: Mutex::default(),
        }
    }

    fn note(&self, language: Language, content: &str, facts: &Facts) -> FileNotes {
        let caches = || self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cache = caches().pop().unwrap_or_default();
        let counts = count(&self.vocabulary, &mut cache, language, content, facts);
        let words = FileWords::of(counts, &self.vocabulary, &mut cache, facts);
        caches().push(cache);
        (words, self.phrases.find_in(content, &facts.definitions))
    }

    fn noted(self, notes: Vec<Option<FileNotes>>) -> Noted {
        let mut found = Vec::new();
        let mut files = Vec::with_capacity(notes.len());
        for (at, notes) in notes.into_iter().enumerate() {
            let Some((words, own)) = notes else {
                files.push(None);
                continue;
            };
            found.extend(own.into_iter().map(|found| found.at(at as u32)));
            files.push(Some(words));
        }
        Noted {
            request: self.request,
            query: self.query,
            names: self.names,
            spoken: self.spoken,
            phrases: self.phrases.list,
            found,
            files,
        }
    }
}
