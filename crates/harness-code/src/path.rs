//! A path inside the project, with forward slashes on every platform. Knows nothing of the disk.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path relative to the project folder: never absolute, never leaving it, forward slashes only.
///
/// ```
/// use harness_code::path::RelPath;
/// assert_eq!(RelPath::parse("./src\\app.py").unwrap().as_str(), "src/app.py");
/// assert!(RelPath::parse("../other").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(Box<str>);

/// Why a text is no path inside the project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// Nothing is left to name a file or folder.
    #[error("the path is empty")]
    Empty,
    /// It starts at the root of a disk or share.
    #[error("`{0}` is an absolute path; use one relative to the project folder")]
    Absolute(String),
    /// Its `..` parts lead out of the project.
    #[error("`{0}` leaves the project folder")]
    Leaves(String),
    /// It holds a character that no file system call takes.
    #[error("`{0}` holds a control character")]
    Control(String),
}

impl RelPath {
    /// Reads a path as people and models write it: `./a/b`, `a\b`, `a//b`, `a/../b`.
    pub fn parse(text: &str) -> Result<RelPath, PathProblem> {
        if let Some(clean) = already_clean(text) {
            return Ok(RelPath(clean.into()));
        }
        if text.chars().any(|c| c.is_control()) {
            return Err(PathProblem::Control(text.escape_debug().to_string()));
        }
        let slashed = text.replace('\\', "/");
        if slashed.starts_with('/') || has_drive(&slashed) {
            return Err(PathProblem::Absolute(text.to_string()));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in slashed.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err(PathProblem::Leaves(text.to_string()));
                    }
                }
                name => parts.push(name),
            }
        }
        // `./c:/x` comes to a drive once its dot is gone.
        match parts.first() {
            None => Err(PathProblem::Empty),
            Some(first) if has_drive(first) => Err(PathProblem::Absolute(text.to_string())),
            Some(_) => Ok(RelPath(parts.join("/").into())),
        }
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the file name without its last extension.
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 => &name[..dot],
            Some(_) | None => name,
        }
    }

    /// Returns what follows the last dot of the file name; `.gitignore` has none.
    pub fn extension(&self) -> Option<&str> {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 && dot + 1 < name.len() => Some(&name[dot + 1..]),
            Some(_) | None => None,
        }
    }

    /// Returns the folder that holds this path, or `None` directly under the project.
    pub fn parent(&self) -> Option<RelPath> {
        self.0
            .rfind('/')
            .map(|slash| RelPath(self.0[..slash].into()))
    }

    /// Returns the folder as text, empty directly under the project.
    pub fn folder(&self) -> &str {
        folder_of(&self.0)
    }

    /// Appends `more`, which may step back with `..` as long as it stays inside the project.
    pub fn join(&self, more: &str) -> Result<RelPath, PathProblem> {
        let more_slashed = more.replace('\\', "/");
        if more_slashed.starts_with('/') || has_drive(&more_slashed) {
            return Err(PathProblem::Absolute(more.to_string()));
        }
        RelPath::parse(&format!("{}/{more_slashed}", self.0))
    }

    /// Says whether this path is `folder` or lies beneath it, by whole parts.
    pub fn starts_with(&self, folder: &RelPath) -> bool {
        match self.0.strip_prefix(&*folder.0) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// Returns the parts from the outermost folder to the file name.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// Returns the path on disk below `root`.
    pub fn under(&self, root: &std::path::Path) -> std::path::PathBuf {
        let mut full = root.to_path_buf();
        full.extend(self.parts());
        full
    }
}

/// Says whether a path begins with a drive letter, as on Windows.
fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Most paths come from our own walk and need no work.
fn already_clean(text: &str) -> Option<&str> {
    let plain = !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'.'))
        && !text.starts_with('/')
        && !text.ends_with('/')
        && !text.contains("//")
        && text.split('/').all(|part| part != "." && part != "..");
    plain.then_some(text)
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl AsRef<str> for RelPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for RelPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RelPath {
    type Error = PathProblem;
    fn try_from(text: String) -> Result<RelPath, PathProblem> {
        RelPath::parse(&text)
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> String {
        path.0.into()
    }
}

/// Returns the folder that a path lies in, as text; empty for the project's own.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..slash])
}

/// Returns the path of what lies in a folder; the project's own folder is empty.
pub(crate) fn within(folder: &str, rest: &str) -> String {
    match (folder.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => format!("{folder}/{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let got = RelPath::parse(text)
            .map(|p| p.as_str().to_string())
            .map_err(|e| e.to_string());
        assert_eq!(got, expected.map(str::to_string).map_err(str::to_string));
    }

    #[test]
    fn paths_as_people_write_them() {
        check("a/b.py", Ok("a/b.py"));
        check("./a/b.py", Ok("a/b.py"));
        check("a\\b.py", Ok("a/b.py"));
        check("a//b/./c/", Ok("a/b/c"));
        check("a/../b", Ok("b"));
        check("grüße/ä b.py", Ok("grüße/ä b.py"));
        check("a...b", Ok("a...b"));
    }

    #[test]
    fn paths_that_are_refused() {
        check("", Err("the path is empty"));
        check(".", Err("the path is empty"));
        check("a/..", Err("the path is empty"));
        check(
            "/etc/passwd",
            Err("`/etc/passwd` is an absolute path; use one relative to the project folder"),
        );
        check(
            "C:\\x",
            Err("`C:\\x` is an absolute path; use one relative to the project folder"),
        );
        check(
            "c:x",
            Err("`c:x` is an absolute path; use one relative to the project folder"),
        );
        check(
            "\\\\server\\share",
            Err("`\\\\server\\share` is an absolute path; use one relative to the project folder"),
        );
        check("../x", Err("`../x` leaves the project folder"));
        check("a/../../x", Err("`a/../../x` leaves the project folder"));
        check("a\0b", Err("`a\\0b` holds a control character"));
        check("a\nb", Err("`a\\nb` holds a control character"));
    }

    #[test]
    fn parts_of_a_path() {
        let path = RelPath::parse("src/app/main.test.py").unwrap();
        assert_eq!(path.file_name(), "main.test.py");
        assert_eq!(path.stem(), "main.test");
        assert_eq!(path.extension(), Some("py"));
        assert_eq!(path.parent().unwrap().as_str(), "src/app");
        assert_eq!(path.join("../x.py").unwrap().as_str(), "src/app/x.py");
        assert!(path.join("/etc").is_err());
        assert!(path.starts_with(&RelPath::parse("src/app").unwrap()));
        assert!(!path.starts_with(&RelPath::parse("src/ap").unwrap()));
        assert_eq!(RelPath::parse(".gitignore").unwrap().extension(), None);
        assert_eq!(RelPath::parse("x").unwrap().parent(), None);
    }

    #[test]
    fn a_drive_behind_a_dot_is_a_drive() {
        for text in ["./c:/x", "a/../c:/x", ".\\c:\\x"] {
            let absolute = matches!(RelPath::parse(text), Err(PathProblem::Absolute(_)));
            assert!(absolute, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_parses_stays_inside(text in "[a./\\\\:é\\x00-\\x20]{0,24}") {
            if let Ok(path) = RelPath::parse(&text) {
                prop_assert!(!path.as_str().is_empty());
                prop_assert!(path.parts().all(|p| !p.is_empty() && p != "." && p != ".."));
                prop_assert_eq!(RelPath::parse(path.as_str()).unwrap(), path);
            }
        }
    }
}
