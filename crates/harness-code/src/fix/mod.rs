//! Certain repairs: proposed when exactly one answer can be right, asked about or refused otherwise.
//!
//! A fix takes the project and gives edits; it never writes. One file a kind.

mod declared;
mod exports;
mod finding;
mod go_imports;
mod import_name;
mod installed;
mod lineage;
mod members;
mod missing_import;
mod misspelled;
mod program;
mod remove;
mod rename;
mod resolved;
mod unknown_attribute;
mod unknown_keyword;
mod unknown_name;
mod values;

use std::collections::BTreeMap;

use crate::edit::Edit;
use crate::path::RelPath;
use crate::text::{line_end, line_start};

pub use finding::MisspellingRequest;
pub use go_imports::go_imports;
pub use installed::Installed;
pub use misspelled::misspelled;
pub use remove::{RemovalRequest, removed};
pub use rename::{rename, rename_all};

/// A change that is certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// `misspelled_name`, `rename`, `removal`, `missing_import` or `moved_import`.
    pub kind: &'static str,
    /// What changes in the text of files.
    pub edits: Vec<Edit>,
    /// Files that get another path, from and to.
    pub moves: Vec<(RelPath, RelPath)>,
    /// One sentence for a person.
    pub summary: String,
    /// The names that must resolve afterwards.
    pub names: Vec<String>,
}

impl Proposal {
    /// Returns the edits of each file.
    pub fn by_file(&self) -> BTreeMap<&RelPath, Vec<Edit>> {
        let mut files: BTreeMap<&RelPath, Vec<Edit>> = BTreeMap::new();
        for edit in &self.edits {
            files.entry(&edit.path).or_default().push(edit.clone());
        }
        files
    }
}

/// What a fix has to know beside the project's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Nothing outside this folder may change.
    pub scope: Option<RelPath>,
    /// Where installed packages are.
    pub installed: Installed,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: RelPath,
    /// The line, from 1.
    pub line: u32,
    /// The line's text, trimmed.
    pub text: String,
}

/// What a fix has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Exactly one change can be right.
    Certain(Proposal),
    /// Several can; a person has to choose.
    Ask {
        /// The question.
        text: String,
        /// At most four, the likeliest first.
        options: Vec<String>,
    },
    /// What was asked for would break something or cannot be done whole.
    Refuse {
        /// Why.
        reason: String,
        /// Where.
        places: Vec<Place>,
    },
    /// There is nothing that this fix could do.
    Nothing,
}

/// The place of a byte offset.
pub(crate) fn place(path: &RelPath, content: &str, offset: usize) -> Place {
    let before = content.get(..offset).unwrap_or(content);
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
    let at = before.len();
    let text = &content[line_start(content, at)..line_end(content, at)];
    Place {
        path: path.clone(),
        line: u32::try_from(line).unwrap_or(u32::MAX),
        text: text.trim().to_string(),
    }
}

#[cfg(test)]
mod tests;
