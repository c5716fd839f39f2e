//! The files of a project, found once and read in parallel. Facts are kept; source is read again on demand.

mod open;
mod walk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::hidden::{Hidden, Why};
use crate::language::Language;
use crate::parallel::side_by_side;
use crate::path::RelPath;
use crate::symbols::{self, Definition, Facts, Reading};
use crate::text::{Text, is_among};
pub use crate::tree::open::read_inside;
use crate::tree::open::read_regular;
use crate::tree::walk::{MOST_FILES, find};

/// A larger source file is listed but not read: no person wrote it, and no model can be shown it.
/// The largest module of CPython's standard library has 0.7 MB.
pub(crate) const LARGEST_SOURCE: u64 = 2 * 1024 * 1024;

/// For readers that nobody stops.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// The files of one project, or of one folder in it.
#[derive(Clone, Debug)]
pub struct SourceTree {
    root: PathBuf,
    files: Vec<SourceFile>,
    hidden: Hidden,
    /// Whether files of the project are not among `files` because they are hidden.
    lacks_hidden: bool,
    /// Texts that stand in for what is on disk.
    laid_over: BTreeMap<RelPath, String>,
}

/// One file of the project.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Where it is, from the project folder.
    pub path: RelPath,
    /// What it is written in.
    pub language: Language,
    /// Its size on disk; 0 for files that are not source.
    pub bytes: u64,
    /// Its lines; 0 for files that are not source.
    pub lines: u32,
    /// Whether it holds tests or helps them.
    pub test: bool,
    /// Whether a tool wrote it, as its head says.
    pub generated: bool,
    /// What was read from it; empty for files that are not source or could not be read.
    pub facts: Arc<Facts>,
}

/// Why a project or a file of it cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The project folder is not there or is no folder.
    #[error("`{0}` is not a folder")]
    NotAFolder(String),
    /// The scope is not a folder of the project.
    #[error("the scope `{0}` is not a folder of the project")]
    NoSuchScope(RelPath),
    /// The folder holds more files than a project does.
    #[error("`{0}` holds more than {MOST_FILES} files; choose a folder inside of it")]
    TooManyFiles(String),
    /// There is no such regular file in the project.
    #[error("`{0}` is not a file of the project")]
    NotAFile(RelPath),
    /// The file is too large to be worked on.
    #[error("`{0}` is larger than {limit} MB", limit = LARGEST_SOURCE / 1024 / 1024)]
    TooLarge(RelPath),
    /// The file holds no text.
    #[error("`{0}` is not text")]
    NotText(RelPath),
    /// The caller stopped it.
    #[error("stopped while the project was read")]
    Stopped,
    /// The system refused.
    #[error("cannot read `{path}`: {source}")]
    Unreadable {
        /// The file.
        path: RelPath,
        /// What the system said.
        source: std::io::Error,
    },
}

impl SourceTree {
    /// Reads the project at `root`, or the part of it below `scope`.
    pub fn read(root: &Path, scope: Option<&RelPath>) -> Result<SourceTree, TreeError> {
        SourceTree::read_with(root, scope, |_, _| ()).map(|(tree, _)| tree)
    }

    /// Lists the project's files without looking into them: no facts, no lines, nothing parsed.
    ///
    /// Enough for what reads texts itself, such as a rename by name; most of the cost of [`SourceTree::read`] is saved.
    pub fn list(root: &Path) -> Result<SourceTree, TreeError> {
        let root = real_folder(root)?;
        let files = found(&root, &root)?.into_par_iter().map(|path| {
            let language = Language::of(&path);
            let unnamed = language == Language::Other && path.extension().is_none();
            if unnamed {
                // Only its first line says what a script is written in.
                return read_file(&root, path, &NEVER, &|_, _| ()).0;
            }
            SourceFile {
                language,
                bytes: 0,
                lines: 0,
                test: is_test(&path),
                generated: false,
                facts: Arc::default(),
                path,
            }
        });
        Ok(SourceTree {
            files: side_by_side(|| files.collect()),
            root,
            hidden: Hidden::default(),
            lacks_hidden: false,
            laid_over: BTreeMap::new(),
        })
    }

    /// Reads the project and lets `look` see every source file while its syntax tree exists.
    ///
    /// Returns one value a file, in the order of [`SourceTree::files`]; `None` for files that are not source.
    pub fn read_with<T: Send>(
        root: &Path,
        scope: Option<&RelPath>,
        look: impl Fn(&RelPath, &Reading<'_>) -> T + Sync,
    ) -> Result<(SourceTree, Vec<Option<T>>), TreeError> {
        SourceTree::read_hiding(root, scope, Hidden::default(), &NEVER, look)
    }

    /// Reads the project as [`SourceTree::read_with`] does, without the files that are hidden, unless it is stopped.
    pub fn read_hiding<T: Send>(
        root: &Path,
        scope: Option<&RelPath>,
        hidden: Hidden,
        stop: &AtomicBool,
        look: impl Fn(&RelPath, &Reading<'_>) -> T + Sync,
    ) -> Result<(SourceTree, Vec<Option<T>>), TreeError> {
        let root = real_folder(root)?;
        let top = match scope {
            Some(scope) => scope_folder(&root, scope)?,
            None => root.clone(),
        };
        let mut paths = found(&root, &top)?;
        let all = paths.len();
        paths.retain(|path| hidden.why(path).is_none());
        let lacks_hidden = paths.len() < all;
        let read = paths.into_par_iter();
        let read = read.map(|path| read_file(&root, path, stop, &look));
        let (files, looked) = side_by_side(|| read.unzip());
        if stop.load(Ordering::Relaxed) {
            return Err(TreeError::Stopped);
        }
        let tree = SourceTree {
            root,
            files,
            hidden,
            lacks_hidden,
            laid_over: BTreeMap::new(),
        };
        Ok((tree, looked))
    }

    /// Hides files that hold credentials from here on, but for those that are named: they are not listed and their text
    /// is not given out.
    pub fn hide_credentials(&mut self, named: &[RelPath]) {
        self.hidden = std::mem::take(&mut self.hidden).with_credentials(named);
        let hidden = &self.hidden;
        self.files.retain(|file| hidden.why(&file.path).is_none());
    }

    /// Returns why a path is hidden, when it is.
    pub fn hides(&self, path: &RelPath) -> Option<Why> {
        self.hidden.why(path)
    }

    /// Returns whether the user's list keeps files of the project out of this tree.
    pub fn lacks_hidden(&self) -> bool {
        self.lacks_hidden
    }

    /// Returns the project folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns all files, sorted by path.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Returns the files that are source code.
    pub fn sources(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.language.is_source())
    }

    /// Returns the one file whose path ends with these parts; none where several do.
    pub fn ending_with(&self, parts: &str) -> Option<&RelPath> {
        let tail = format!("/{}", parts.replace('\\', "/").trim_start_matches("./"));
        let mut meant = self
            .files()
            .iter()
            .map(|file| &file.path)
            .filter(|known| known.as_str().ends_with(&tail));
        let found = meant.next()?;
        meant.next().is_none().then_some(found)
    }

    /// Returns the file at this path.
    pub fn file(&self, path: &RelPath) -> Option<&SourceFile> {
        self.position(path).map(|at| &self.files[at])
    }

    /// Returns where in [`SourceTree::files`] this path is.
    pub fn position(&self, path: &RelPath) -> Option<usize> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok()
    }

    /// Returns the same project with these texts in place of what is on disk.
    pub fn with_texts(&self, texts: impl IntoIterator<Item = (RelPath, String)>) -> SourceTree {
        let mut tree = self.clone();
        for (path, content) in texts {
            let file = file_of(path.clone(), &content);
            match tree.files.binary_search_by(|known| known.path.cmp(&path)) {
                Ok(at) => tree.files[at] = file,
                Err(at) => tree.files.insert(at, file),
            }
            tree.laid_over.insert(path, content);
        }
        tree
    }

    /// Reads the text of a file again from disk.
    pub fn text(&self, path: &RelPath) -> Result<Text, TreeError> {
        if self.hides(path).is_some() {
            return Err(TreeError::NotAFile(path.clone()));
        }
        if let Some(content) = self.laid_over.get(path) {
            return Ok(Text::new(content.as_str()));
        }
        let bytes = read_inside(&self.root, path)?;
        Text::from_bytes(bytes).map_err(|_| TreeError::NotText(path.clone()))
    }

    /// Returns every definition with its file.
    pub fn definitions(&self) -> impl Iterator<Item = (&SourceFile, &Definition)> {
        self.files.iter().flat_map(|file| {
            file.facts
                .definitions
                .iter()
                .map(move |definition| (file, definition))
        })
    }
}

fn found(root: &Path, top: &Path) -> Result<Vec<RelPath>, TreeError> {
    find(root, top).ok_or_else(|| TreeError::TooManyFiles(top.display().to_string()))
}

fn real_folder(root: &Path) -> Result<PathBuf, TreeError> {
    let not_a_folder = || TreeError::NotAFolder(root.display().to_string());
    let real = root.canonicalize().map_err(|_| not_a_folder())?;
    if real.is_dir() {
        Ok(real)
    } else {
        Err(not_a_folder())
    }
}

fn scope_folder(root: &Path, scope: &RelPath) -> Result<PathBuf, TreeError> {
    let no_such_scope = || TreeError::NoSuchScope(scope.clone());
    let real = scope
        .under(root)
        .canonicalize()
        .map_err(|_| no_such_scope())?;
    // A link that leads out of the project is no scope of it, and one that leads elsewhere inside would
    // give files paths that they do not have.
    if real.is_dir() && real == scope.under(root) {
        Ok(real)
    } else {
        Err(no_such_scope())
    }
}

fn read_file<T>(
    root: &Path,
    path: RelPath,
    stop: &AtomicBool,
    look: &(impl Fn(&RelPath, &Reading<'_>) -> T + Sync),
) -> (SourceFile, Option<T>) {
    let language = Language::of(&path);
    let test = is_test(&path);
    let mut file = SourceFile {
        path,
        language,
        bytes: 0,
        lines: 0,
        test,
        generated: false,
        facts: Arc::default(),
    };
    let full = file.path.under(root);
    // A file without an extension may be a script; a directory of data has extensions.
    let may_be_source =
        language.is_source() || (language == Language::Other && file.path.extension().is_none());
    // Who stopped it waits for the end, not for the rest.
    let may_be_source = may_be_source && !stop.load(Ordering::Relaxed);
    let read = if may_be_source {
        read_regular(&full, &file.path).ok()
    } else {
        None
    };
    let Some(bytes) = read else {
        if may_be_source {
            file.bytes = full.symlink_metadata().map_or(0, |metadata| metadata.len());
        }
        return (file, None);
    };
    file.bytes = bytes.len() as u64;
    if !language.is_source() && !bytes.starts_with(b"#!") {
        return (file, None);
    }
    let Ok(text) = Text::from_bytes(bytes) else {
        return (file, None);
    };
    let content = text.content();
    file.language = language.refined(content);
    if !file.language.is_source() {
        return (file, None);
    }
    file.lines = count_lines(content);
    file.generated = is_generated(content);
    let (facts, looked) =
        symbols::read_with(file.language, content, |reading| look(&file.path, reading));
    file.facts = Arc::new(facts);
    (file, Some(looked))
}

/// Returns a file of which only the text is known.
fn file_of(path: RelPath, content: &str) -> SourceFile {
    let language = Language::of(&path).refined(content);
    SourceFile {
        test: is_test(&path),
        bytes: content.len() as u64,
        lines: count_lines(content),
        generated: is_generated(content),
        facts: Arc::new(symbols::read_with(language, content, |_| ()).0),
        language,
        path,
    }
}

fn count_lines(content: &str) -> u32 {
    let ended = memchr::memchr_iter(b'\n', content.as_bytes()).count();
    let unended = usize::from(!content.is_empty() && !content.ends_with('\n'));
    u32::try_from(ended + unended).unwrap_or(u32::MAX)
}

/// What tools write at the head of the files they make.
const GENERATED_MARKS: &str = "\
    @generated|DO NOT EDIT|Do not edit|Code generated by|utomatically generated|utogenerated|\
    uto-generated";

/// Says whether the first lines say that a tool wrote the file.
fn is_generated(content: &str) -> bool {
    // A tool says so at once; further down the words may be about something else.
    let head = &content[..content.floor_char_boundary(content.len().min(500))];
    let comments = head.lines().take(8).filter(|line| {
        line.trim_start()
            .starts_with(['#', '/', '*', '"', '\'', '-', '<'])
    });
    comments
        .into_iter()
        .any(|line| GENERATED_MARKS.split('|').any(|mark| line.contains(mark)))
}

/// Folders whose files show or build the project and are seldom what is wrong with it.
const ASIDE: &str = "\
    doc docs example examples tutorial tutorials benchmark benchmarks asv_bench tools scripts \
    script bin build_tools extras ci .github galleries release maint_tools setup.py externals \
    extern packages vendored";

/// Says whether a file shows or builds the project rather than being it, from its path alone.
pub fn is_aside(path: &RelPath) -> bool {
    path.parts().any(|part| is_among(ASIDE, part))
}

/// Says whether a file holds tests or helps them, from its path alone.
pub fn is_test(path: &RelPath) -> bool {
    let in_test_folder = path.parent().is_some_and(|folder| {
        folder.parts().any(|part| matches!(part, "tests" | "test" | "__tests__"))
            // Deeper down these are words of the product.
            || matches!(folder.parts().next(), Some("testing" | "spec" | "specs"))
    });
    let name = path.file_name();
    let stem = path.stem();
    in_test_folder
        || name == "conftest.py"
        || stem.starts_with("test_") && Language::of(path).is_source()
        || stem.ends_with("_test") && Language::of(path).is_source()
        || stem.ends_with("_spec") && Language::of(path) == Language::Ruby
        || stem.ends_with(".test")
        || stem.ends_with(".spec")
        || (stem.ends_with("Test") || stem.ends_with("Tests"))
            && matches!(
                Language::of(path),
                Language::Java | Language::CSharp | Language::Php
            )
        || matches!(name, "tests.py" | "test.py")
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests;
