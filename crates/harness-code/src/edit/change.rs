//! A change of files as a value: each as it is and as it would be. Whoever makes one gives this shape.

use super::unified_diff;
use crate::language::Language;
use crate::path::RelPath;
use crate::symbols::{self, Definition};

/// One file as it is and as it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: RelPath,
    /// Its text now; none for a new file.
    pub before: Option<String>,
    /// Its text afterwards; none for a file that goes.
    pub after: Option<String>,
}

impl FileChange {
    /// Returns what it is written in.
    pub fn language(&self) -> Language {
        Language::of(&self.path)
    }

    /// Returns the text now; of a new file, nothing.
    pub fn old_text(&self) -> &str {
        self.before.as_deref().unwrap_or_default()
    }

    /// Returns the text afterwards; of a file that goes, nothing.
    pub fn new_text(&self) -> &str {
        self.after.as_deref().unwrap_or_default()
    }

    /// Returns the definitions that are new by their names.
    pub fn brought(&self) -> Vec<Definition> {
        let known = symbols::definitions(self.language(), self.old_text());
        let mut new = symbols::definitions(self.language(), self.new_text());
        new.retain(|one| known.iter().all(|old| old.qualified != one.qualified));
        new
    }

    /// Says whether a definition of this qualified name is new.
    pub fn brings(&self, qualified: &str) -> bool {
        self.brought()
            .iter()
            .any(|one| *one.qualified == *qualified)
    }

    /// Returns the definitions that are new or others than before.
    pub fn altered(&self) -> Vec<Definition> {
        let (before, after) = (self.old_text(), self.new_text());
        let known = symbols::definitions(self.language(), before);
        let mut new = symbols::definitions(self.language(), after);
        new.retain(|one| {
            let same = |old: &Definition| {
                old.qualified == one.qualified && before.get(old.span()) == after.get(one.span())
            };
            !known.iter().any(same)
        });
        new
    }

    /// Says whether there are more definitions than before.
    pub fn adds_definition(&self) -> bool {
        let count = |text: &str| symbols::definitions(self.language(), text).len();
        count(self.new_text()) > self.before.as_deref().map_or(0, count)
    }

    /// Returns the change as a unified diff.
    pub fn diff(&self) -> String {
        let (before, after) = (self.before.as_deref(), self.after.as_deref());
        unified_diff(self.path.as_str(), before, after)
    }
}

/// Files that change together: all of them, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// Each file once.
    pub files: Vec<FileChange>,
    /// Files that get another path once they are changed, from and to, with whatever bytes they have.
    pub moves: Vec<(RelPath, RelPath)>,
}

impl From<Vec<FileChange>> for ChangeSet {
    fn from(files: Vec<FileChange>) -> ChangeSet {
        let moves = Vec::new();
        ChangeSet { files, moves }
    }
}

impl ChangeSet {
    /// Returns what changes in the text of files as a unified diff.
    pub fn diff(&self) -> String {
        self.files.iter().map(FileChange::diff).collect()
    }
}
