//! A file that is no Python gets another name: certain where nothing in the project speaks of it.

use crate::fix::{Answer, Proposal};
use crate::language::Language;
use crate::path::RelPath;
use crate::request::rename::Rename;
use crate::text::whole_words;
use crate::tree::SourceTree;

/// Renames the file that a request names by its path; nothing where it names none, or where others speak of the file.
pub(super) fn rename(tree: &SourceTree, request: &Rename) -> Option<Answer> {
    let written = RelPath::parse(&request.old).ok()?;
    let path = match tree.file(&written) {
        Some(file) => &file.path,
        None => tree.ending_with(written.as_str())?,
    };
    if matches!(Language::of(path), Language::Python) {
        return None;
    }
    let new = match (request.new.contains('/'), path.parent()) {
        (false, Some(folder)) => folder.join(&request.new).ok()?,
        (true, _) | (false, None) => RelPath::parse(&request.new).ok()?,
    };
    if tree.file(&new).is_some() {
        return Some(Answer::Refuse {
            reason: format!("`{new}` exists already"),
            places: Vec::new(),
        });
    }
    let stem = path.stem();
    let speaks = |content: &str| {
        let mut stems = whole_words(content, stem);
        whole_words(content, path.file_name()).next().is_some()
            || stems.any(|at| content[..at].ends_with('/'))
    };
    let mut others = tree.files().iter().filter(|file| file.path != *path);
    let is_spoken_of = others.any(|file| {
        let text = tree.text(&file.path);
        text.is_ok_and(|text| speaks(text.content()))
    });
    Some(match is_spoken_of {
        true => Answer::Nothing,
        false => Answer::Certain(Proposal {
            kind: "rename",
            edits: Vec::new(),
            moves: vec![(path.clone(), new.clone())],
            summary: format!("renamed `{path}` to `{new}`: 1 file moved"),
            names: Vec::new(),
        }),
    })
}
