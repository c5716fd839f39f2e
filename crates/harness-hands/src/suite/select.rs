//! Which tests were asked for, in the words that each runner understands. What a model writes here
//! becomes an argument of a program, so nothing but names of tests in the project gets through.

use std::path::Path;

use crate::door::{Trespass, request};
use crate::suite::Selection;

/// A test as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WantedTests {
    /// A file or folder, and the parts within it.
    Place { path: String, parts: Vec<String> },
    /// Names joined by dots, of which some may be a path.
    Dotted(Vec<String>),
}

/// Reads the tests that are wanted, none of them where all are.
pub(crate) fn read_all(selection: &Selection, root: &Path) -> Result<Vec<WantedTests>, Trespass> {
    match selection {
        Selection::All => Ok(Vec::new()),
        Selection::Some(tests) => tests.iter().map(|test| read(test, root)).collect(),
    }
}

/// Reads one test as it was asked for.
fn read(text: &str, root: &Path) -> Result<WantedTests, Trespass> {
    let text = text.trim();
    let (place, inner) = text
        .split_once("::")
        .map_or((text, None), |(place, inner)| (place, Some(inner)));
    let parts: Vec<String> = inner.map(split_parts).unwrap_or_default();
    let is_place = inner.is_some()
        || place.contains(['/', '\\'])
        || root.join(place).exists()
        || place.ends_with(".py");
    if is_place {
        let path = request::parse_request(place, root)?;
        let is_option = path.as_str().starts_with('-');
        if is_option || parts.iter().any(|part| part.chars().any(char::is_control)) {
            return Err(unreadable(text));
        }
        return Ok(WantedTests::Place {
            path: path.to_string(),
            parts,
        });
    }
    let names: Vec<String> = place.split('.').map(str::to_string).collect();
    let is_name = |name: &String| {
        let plain = |character: char| character.is_alphanumeric() || character == '_';
        !name.is_empty() && name.chars().all(plain)
    };
    if names.iter().all(is_name) {
        Ok(WantedTests::Dotted(names))
    } else {
        Err(unreadable(text))
    }
}

/// Parameters in brackets may hold anything, also the separator.
fn split_parts(inner: &str) -> Vec<String> {
    let (names, parameters) = inner.find('[').map_or((inner, ""), |at| inner.split_at(at));
    let mut parts: Vec<String> = names.split("::").map(str::to_string).collect();
    if let Some(last) = parts.last_mut() {
        last.push_str(parameters);
    }
    parts
}

fn unreadable(text: &str) -> Trespass {
    let shown: String = text.escape_debug().take(100).collect();
    let sentence = format!("`{shown}` names no test; give a test id, a test file or a test name");
    Trespass::new(crate::door::NAME, shown, sentence)
}

/// Returns the arguments that make pytest run these.
pub(crate) fn for_pytest(wanted: &[WantedTests], root: &Path) -> Vec<String> {
    let mut places = Vec::new();
    let mut names = Vec::new();
    for one in wanted {
        match one {
            WantedTests::Place { path, parts } => places.push(joined(path, parts, "::")),
            WantedTests::Dotted(parts) => match as_file(parts, root) {
                Some((file, rest)) => places.push(joined(&file, rest, "::")),
                None => names.push(format!("({})", parts.join(" and "))),
            },
        }
    }
    if !names.is_empty() {
        places.extend(["-k".to_string(), names.join(" or ")]);
    }
    places
}

/// Returns the dotted names that unittest knows these by.
pub(crate) fn for_unittest(wanted: &[WantedTests]) -> Vec<String> {
    let dotted = |one: &WantedTests| match one {
        WantedTests::Place { path, parts } => {
            let module = path.strip_suffix(".py").unwrap_or(path).replace('/', ".");
            joined(&module, parts, ".")
        }
        WantedTests::Dotted(parts) => parts.join("."),
    };
    wanted.iter().map(dotted).collect()
}

fn joined(first: &str, rest: &[String], separator: &str) -> String {
    let rest = rest.iter().map(String::as_str);
    let names: Vec<&str> = std::iter::once(first).chain(rest).collect();
    names.join(separator)
}

/// Finds the file that the first of the names stand for.
fn as_file<'a>(names: &'a [String], root: &Path) -> Option<(String, &'a [String])> {
    for count in (1..=names.len()).rev() {
        let file = format!("{}.py", names[..count].join("/"));
        if root.join(&file).is_file() {
            return Some((file, &names[count..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tests")).unwrap();
        std::fs::write(folder.path().join("tests/test_a.py"), "").unwrap();
        folder
    }

    #[track_caller]
    fn check(text: &str, pytest: &[&str], unittest: &str) {
        let folder = root();
        let wanted = [read(text, folder.path()).unwrap()];
        assert_eq!(for_pytest(&wanted, folder.path()), pytest);
        assert_eq!(for_unittest(&wanted), [unittest]);
    }

    #[test]
    fn every_way_to_name_a_test_is_understood() {
        check("tests/test_a.py", &["tests/test_a.py"], "tests.test_a");
        check(
            "tests/test_a.py::T::test_x",
            &["tests/test_a.py::T::test_x"],
            "tests.test_a.T.test_x",
        );
        check(
            "tests.test_a.T.test_x",
            &["tests/test_a.py::T::test_x"],
            "tests.test_a.T.test_x",
        );
        check("test_x", &["-k", "(test_x)"], "test_x");
        check("T.test_x", &["-k", "(T and test_x)"], "T.test_x");
        check(
            "tests/test_a.py::test_p[a::b]",
            &["tests/test_a.py::test_p[a::b]"],
            "tests.test_a.test_p[a::b]",
        );
    }

    #[test]
    fn what_is_no_test_gets_nowhere() {
        let folder = root();
        for text in [
            "-h",
            "--rootdir=/",
            "../x.py",
            "/etc/passwd::x",
            "a b",
            "",
            "x; rm",
            "-p/evil.py",
            "test_x or 1",
        ] {
            assert!(read(text, folder.path()).is_err(), "{text}");
        }
    }
}
