//! What a sentence names: paths, definitions, test ids, tracebacks, quotations, resolved against a project.
//! Likeness is no name: what only resembles something is for `locate`.

mod near;
pub(crate) mod phrase;
pub(crate) mod project;
mod resolve;

pub use crate::mention::near::{NearMiss, near_miss};
use crate::mention::phrase::{Phrase, PhraseHit, Phrases};
use crate::mention::project::{PlaceId, Project};
use crate::path::RelPath;
use crate::request::Request;
use crate::request::zone::Zone;
use crate::tree::SourceTree;

/// What a task names in a project.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// Files named by path or module.
    pub paths: Vec<RelPath>,
    /// Definitions named so that few others can be meant.
    pub definitions: Vec<NamedDefinition>,
    /// Tests named by id.
    pub tests: Vec<TestId>,
    /// Frames of tracebacks that lie in the project, outermost first.
    pub frames: Vec<Frame>,
    /// Quoted texts and error messages that stand in the source.
    pub literals: Vec<Literal>,
    /// Errors that the task quotes, wherever they come from.
    pub errors: Vec<QuotedError>,
    /// Names that the task writes as code, resolved or not, each once.
    pub identifiers: Vec<String>,
    pub(crate) clues: Vec<Clue>,
}

/// A definition that the task names.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct NamedDefinition {
    /// The file it is in.
    pub path: RelPath,
    /// The name with the definitions around it.
    pub qualified: String,
    /// Its line, from 1.
    pub line: u32,
}

/// A test named by its id.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct TestId {
    /// The file it is in.
    pub path: RelPath,
    /// What follows the first `::`.
    pub name: String,
}

/// A frame of a traceback.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Frame {
    /// The file of the project.
    pub path: RelPath,
    /// The line that the task gives; the file may have changed since.
    pub line: u32,
    /// The function's name, empty when the frame gives none.
    pub function: String,
}

/// A quoted text that stands in the source.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Literal {
    /// What was found.
    pub text: String,
    /// Where it stands.
    pub path: RelPath,
    /// The line, from 1.
    pub line: u32,
}

/// An error quoted in the task.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct QuotedError {
    /// The name of the exception.
    pub kind: String,
    /// What it said.
    pub message: String,
}

/// One reason to look at a place, with how many other places share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clue {
    pub(crate) place: PlaceId,
    pub(crate) kind: ClueKind,
    pub(crate) zone: Zone,
    /// One when only this place can be meant, a third when it is one of three.
    pub(crate) share: f32,
}

/// How a place is named; sure ways come first.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum ClueKind {
    /// A path.
    Path,
    /// A frame of a traceback; the last one of the project.
    LastFrame,
    /// `Class.method`, `module.function`.
    Qualified,
    /// A test id.
    Test,
    /// A name that looks like code, or stands in it.
    Defined,
    /// A dotted module.
    Module,
    /// A quoted text or error message.
    Literal,
    /// A frame of a traceback further out.
    Frame,
    /// An import in the task's code.
    Import,
    /// A plain word that is also a name.
    Plain,
}

impl Mentions {
    /// Looks up what a request names in `tree`.
    pub fn of(request: &Request, tree: &SourceTree) -> Mentions {
        let written = request.written();
        let phrases = Phrases::of(written);
        let found = phrases.find(tree);
        resolve::resolve(written, &Project::of(tree), &phrases.list, &found)
    }

    /// Looks up what a request names in a project in which its phrases were looked for already.
    pub(crate) fn in_project(
        request: &Request,
        project: &Project<'_>,
        phrases: &[Phrase],
        found: &[PhraseHit],
    ) -> Mentions {
        resolve::resolve(request.written(), project, phrases, found)
    }

    /// Says whether the task names a place to work at: a file, a definition, a test, a traceback, a quoted text.
    pub fn names_a_place(&self) -> bool {
        !self.paths.is_empty()
            || !self.definitions.is_empty()
            || !self.tests.is_empty()
            || !self.frames.is_empty()
            || !self.literals.is_empty()
    }
}
