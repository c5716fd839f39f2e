//! What a model or a person wrote as a path, read strictly. Knows nothing of what is on the disk.

use std::path::Path;

use harness_code::path::{PathProblem, RelPath};

use crate::door::{NAME, OUTSIDE, Trespass};

/// The longest name that common file systems take, in bytes.
const NAME_LIMIT: usize = 255;

/// The longest path, in bytes. Systems take four times that, behind the project's own; nobody means more.
const PATH_LIMIT: usize = 1024;

/// Names that are devices on Windows, whatever their extension: a file made elsewhere with such a
/// name cannot be checked out there.
const RESERVED: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];

/// Reads a path as it was asked for: relative to the project, or absolute and inside it.
/// Everything that could mean another place, here or on another platform, is refused.
pub(crate) fn parse_request(text: &str, root: &Path) -> Result<RelPath, Trespass> {
    let text = text.trim();
    let relative = strip_root(text, root).unwrap_or(text);
    let is_home = relative == "~" || relative.starts_with("~/") || relative.starts_with("~\\");
    if is_home {
        return Err(outside(text));
    }
    let path = RelPath::parse(relative).map_err(|problem| match problem {
        PathProblem::Absolute(_) | PathProblem::Leaves(_) => outside(text),
        PathProblem::Empty | PathProblem::Control(_) => Trespass::new(
            NAME,
            text.escape_debug(),
            format!("{problem}; name a file of the project"),
        ),
    })?;
    // The problem types may grow; an absolute path must never come through as a relative one.
    if relative.starts_with(['/', '\\']) {
        return Err(outside(text));
    }
    check_names(&path)?;
    Ok(path)
}

/// Refuses parts of a path that another platform would read as something else.
pub fn check_names(path: &RelPath) -> Result<(), Trespass> {
    if path.as_str().len() > PATH_LIMIT {
        let shown: String = path.as_str().chars().take(60).collect();
        let sentence = format!(
            "`{}…` has {} characters, more than {PATH_LIMIT}; use a shorter path",
            shown.escape_debug(),
            path.as_str().len()
        );
        return Err(Trespass::new(NAME, shown.escape_debug(), sentence));
    }
    for part in path.parts() {
        let problem = if part.contains(':') {
            "has a colon, which is a drive or a stream on Windows"
        } else if part.ends_with(['.', ' ']) {
            "ends in a dot or a space, which Windows drops"
        } else if is_reserved(part) {
            "is the name of a device on Windows"
        } else if part.len() > NAME_LIMIT {
            "is too long for a file name"
        } else if part.chars().any(is_invisible) {
            "holds an invisible character"
        } else if cfg!(windows) && part.contains(['<', '>', '"', '|', '?', '*']) {
            "holds a character that Windows does not take"
        } else {
            continue;
        };
        let shown: String = part.chars().take(60).collect();
        let sentence = format!("`{}` {problem}; use another name", shown.escape_debug());
        return Err(Trespass::new(NAME, path, sentence));
    }
    Ok(())
}

fn outside(text: &str) -> Trespass {
    let shown: String = text.chars().take(200).collect();
    let sentence = format!(
        "`{}` lies outside the project folder; use a path relative to it",
        shown.escape_debug()
    );
    Trespass::new(OUTSIDE, shown.escape_debug(), sentence)
}

/// Makes an absolute path inside the project relative. By whole parts: `/a/bc` is not in `/a/b`.
fn strip_root<'a>(text: &'a str, root: &Path) -> Option<&'a str> {
    let root = root.to_str()?;
    let root = root.strip_prefix(r"\\?\").unwrap_or(root);
    let start = text.get(..root.len())?;
    let same = if cfg!(windows) {
        start
            .replace('/', "\\")
            .eq_ignore_ascii_case(&root.replace('/', "\\"))
    } else {
        start == root
    };
    let rest = text.get(root.len()..)?;
    // Exactly one separator: `//etc` behind the root must not become a relative path by accident.
    (same && root.len() > 1)
        .then(|| rest.strip_prefix(['/', '\\']))
        .flatten()
}

fn is_reserved(part: &str) -> bool {
    let stem = part
        .split('.')
        .next()
        .unwrap_or(part)
        .trim_end()
        .to_ascii_lowercase();
    let numbered = ["com", "lpt"].iter().any(|device| {
        stem.strip_prefix(device).is_some_and(|number| {
            let mut digits = number.chars();
            matches!(digits.next(), Some('1'..='9' | '¹' | '²' | '³')) && digits.next().is_none()
        })
    });
    numbered || RESERVED.contains(&stem.as_str())
}

/// Characters that take no room on the screen: two paths that differ only in them look the same,
/// and some file systems drop them.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &Expect) {
        let answer = match parse_request(text, Path::new("/home/me/project")) {
            Ok(path) => path.to_string(),
            Err(trespass) => format!("{}: {trespass}", trespass.rule),
        };
        expected.assert_eq(&answer);
    }

    #[test]
    fn paths_inside_the_project_are_made_relative() {
        check("src/app.py", &expect!["src/app.py"]);
        check(" ./src//app.py ", &expect!["src/app.py"]);
        check("src\\deep\\app.py", &expect!["src/deep/app.py"]);
        check("src/../lib/a.py", &expect!["lib/a.py"]);
        check("/home/me/project/src/app.py", &expect!["src/app.py"]);
    }

    #[test]
    fn a_path_has_an_end() {
        let long = "a/".repeat(2500) + "b.py";
        let answer = parse_request(&long, Path::new("/home/me/project"));
        let words = answer.unwrap_err().to_string();
        assert!(words.contains("more than 1024"), "{words}");
        assert!(parse_request(&("a/".repeat(400) + "b.py"), Path::new("/p")).is_ok());
    }

    #[test]
    fn paths_that_leave_are_refused() {
        check(
            "../x",
            &expect![
                "path.outside: `../x` lies outside the project folder; use a path relative to it"
            ],
        );
        check(
            "a/../../x",
            &expect![
                "path.outside: `a/../../x` lies outside the project folder; use a path relative to it"
            ],
        );
        check(
            "/etc/passwd",
            &expect![
                "path.outside: `/etc/passwd` lies outside the project folder; use a path relative to it"
            ],
        );
        check(
            "/home/me/project2/x",
            &expect![
                "path.outside: `/home/me/project2/x` lies outside the project folder; use a path relative to it"
            ],
        );
        check(
            "/home/me/project//etc/passwd",
            &expect![
                "path.outside: `/home/me/project//etc/passwd` lies outside the project folder; use a path relative to it"
            ],
        );
        check(
            "/home/me/project/../x",
            &expect![
                "path.outside: `/home/me/project/../x` lies outside the project folder; use a path relative to it"
            ],
        );
        check(
            "~/.ssh/id_rsa",
            &expect![
                "path.outside: `~/.ssh/id_rsa` lies outside the project folder; use a path relative to it"
            ],
        );
        check(
            "C:\\Windows\\x",
            &expect![[
                r"path.outside: `C:\\Windows\\x` lies outside the project folder; use a path relative to it"
            ]],
        );
        check(
            "c:x",
            &expect![
                "path.outside: `c:x` lies outside the project folder; use a path relative to it"
            ],
        );
        check(
            "\\\\server\\share\\x",
            &expect![[
                r"path.outside: `\\\\server\\share\\x` lies outside the project folder; use a path relative to it"
            ]],
        );
    }

    #[test]
    fn names_that_mean_something_elsewhere_are_refused() {
        check(
            "",
            &expect!["path.name: the path is empty; name a file of the project"],
        );
        check(
            "a.py:stream",
            &expect![
                "path.name: `a.py:stream` has a colon, which is a drive or a stream on Windows; use another name"
            ],
        );
        check(
            "src/CON.py",
            &expect!["path.name: `CON.py` is the name of a device on Windows; use another name"],
        );
        check(
            "src/com1",
            &expect!["path.name: `com1` is the name of a device on Windows; use another name"],
        );
        check("common/lpt10.py", &expect!["common/lpt10.py"]);
        check(
            "src./a.py",
            &expect![
                "path.name: `src.` ends in a dot or a space, which Windows drops; use another name"
            ],
        );
        check(
            "a\u{200b}.py",
            &expect![[r"path.name: `a\u{200b}.py` holds an invisible character; use another name"]],
        );
        check(
            "a\0b",
            &expect![[r"path.name: `a\0b` holds a control character; name a file of the project"]],
        );
    }

    /// Works out where a path leads by counting steps, in another way than the code does.
    fn leaves(text: &str) -> bool {
        let text = text.trim().replace('\\', "/");
        let mut depth = 0i64;
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => depth -= 1,
                _ => depth += 1,
            }
            if depth < 0 {
                return true;
            }
        }
        text.starts_with('/')
            || text == "~"
            || text.starts_with("~/")
            || text.get(1..2) == Some(":")
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_accepted_is_a_clean_path_that_stays_inside(
            text in "([a-c.~:/\\\\ ]|\\.\\./|\u{200b}|\u{e9}|/home/me/project/|CON|C:){0,12}"
        ) {
            if let Ok(path) = parse_request(&text, Path::new("/home/me/project")) {
                prop_assert!(!path.as_str().is_empty());
                prop_assert!(path.parts().all(|part| !part.is_empty() && part != "." && part != ".."));
                let clean = !path.as_str().contains(['\\', ':', '\u{200b}']);
                prop_assert!(clean);
                let inner = text.trim().strip_prefix("/home/me/project/").unwrap_or(&text);
                prop_assert!(!leaves(inner), "{text:?} became {path}");
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}") {
            let _ = parse_request(&text, Path::new("/home/me/project"));
        }
    }
}
