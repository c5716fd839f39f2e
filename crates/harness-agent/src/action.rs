//! One thing the model asks for. What it means, not how it was written; carrying it out is a tool's work.

/// A passage to find and what to put there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hunk {
    /// The text as it should stand in the file; empty means at its end.
    pub old: String,
    /// The text to put there.
    pub new: String,
    /// The line that the change stands below, as diffs give it; empty where it is not said.
    pub under: String,
}

impl Hunk {
    /// Returns a passage and what to put there.
    pub fn new(old: impl Into<String>, new: impl Into<String>) -> Hunk {
        Hunk {
            old: old.into(),
            new: new.into(),
            under: String::new(),
        }
    }
}

/// One thing the model asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Show a file, or the part around a line or definition.
    Read {
        /// The file, as the model wrote it.
        path: String,
        /// A line number or a definition's name.
        place: String,
    },
    /// Look for text.
    Search {
        /// What to look for.
        query: String,
        /// The folder or file to look in; empty means everywhere.
        path: String,
    },
    /// Show what is where.
    Map {
        /// The folder; empty means the whole project.
        path: String,
    },
    /// Replace passages of one file.
    Patch {
        /// The file; empty where the reply did not name one.
        path: String,
        /// What to replace with what.
        hunks: Vec<Hunk>,
    },
    /// Replace or add a whole definition, or a whole file.
    Edit {
        /// The file; empty where the reply did not name one.
        path: String,
        /// The definition; empty where the reply did not name one.
        name: String,
        /// The new code.
        content: String,
    },
    /// Remove a file.
    Remove {
        /// The file.
        path: String,
    },
    /// Move a file, and replace passages of it.
    Move {
        /// The file.
        path: String,
        /// Where it goes.
        to: String,
        /// What to replace with what.
        hunks: Vec<Hunk>,
    },
    /// Changes of several files that one patch makes together: all of them or none.
    Several {
        /// The changes, in order.
        parts: Vec<Action>,
    },
    /// Run the project's tests.
    Run {
        /// Test ids or files; empty means all.
        tests: Vec<String>,
    },
    /// Ask the user.
    Ask {
        /// The question.
        question: String,
    },
    /// Say that the task is finished.
    Done {
        /// The model's own sentence; quoted, never trusted.
        summary: String,
    },
}

impl Action {
    /// Returns the tool's name.
    pub fn tool(&self) -> &'static str {
        match self {
            Action::Read { .. } => "read",
            Action::Search { .. } => "search",
            Action::Map { .. } => "map",
            Action::Patch { .. }
            | Action::Remove { .. }
            | Action::Move { .. }
            | Action::Several { .. } => "patch",
            Action::Edit { .. } => "edit",
            Action::Run { .. } => "run",
            Action::Ask { .. } => "ask",
            Action::Done { .. } => "done",
        }
    }

    /// Returns the path it names, or nothing.
    pub fn path(&self) -> &str {
        match self {
            Action::Read { path, .. }
            | Action::Search { path, .. }
            | Action::Map { path }
            | Action::Patch { path, .. }
            | Action::Edit { path, .. }
            | Action::Remove { path }
            | Action::Move { path, .. } => path,
            Action::Several { parts } => parts.first().map_or("", Action::path),
            Action::Run { .. } | Action::Ask { .. } | Action::Done { .. } => "",
        }
    }

    /// Returns whether it would change a file or start a program.
    pub(crate) fn needs_writing(&self) -> bool {
        self.changes_files() || matches!(self, Action::Run { .. })
    }

    /// Returns whether it would change a file.
    pub(crate) fn changes_files(&self) -> bool {
        matches!(
            self,
            Action::Patch { .. }
                | Action::Edit { .. }
                | Action::Remove { .. }
                | Action::Move { .. }
                | Action::Several { .. }
        )
    }

    /// Returns several changes as one, or the only one as it is.
    pub fn together(mut parts: Vec<Action>) -> Option<Action> {
        match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(Action::Several { parts }),
        }
    }
}
