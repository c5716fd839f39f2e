//! The kinds of tasks.

use strum::IntoStaticStr;

/// What a task asks for.
#[derive(Clone, Copy, Debug, Eq, Hash, IntoStaticStr, PartialEq)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// Wants an answer, never a change.
    Question,
    /// Something behaves wrongly and should not.
    Fix,
    /// A name or a place of something should be another one.
    Rename,
    /// Something new should exist.
    Add,
    /// Tests should be written or changed.
    Tests,
    /// Any other change of code that works.
    Change,
}

impl Kind {
    /// Returns whether a task of this kind changes files.
    pub fn writes(self) -> bool {
        match self {
            Kind::Question => false,
            Kind::Fix | Kind::Rename | Kind::Add | Kind::Tests | Kind::Change => true,
        }
    }

    /// Returns the word that people and programs are shown.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
