//! Text search and globs over the files of a project.

use globset::{GlobBuilder, GlobMatcher};
use memchr::memmem::Finder;
use rayon::prelude::*;

use crate::parallel::side_by_side;
use crate::path::RelPath;
use crate::text::line_start;
use crate::tree::{SourceFile, SourceTree};

/// What to look for.
#[derive(Debug, Clone)]
pub struct Query {
    /// The text, or the pattern when `regex` is set.
    pub text: String,
    /// Whether `text` is a regular expression.
    pub regex: bool,
    /// Whether upper and lower case are told apart.
    pub case_sensitive: bool,
    /// Only files whose path matches this glob, such as `src/**/*.py`.
    pub glob: Option<String>,
    /// Only files in this folder, or this file.
    pub within: Option<RelPath>,
    /// At most this many hits.
    pub most: usize,
}

impl Query {
    /// Looks for `text` as it is, with at most 200 hits.
    pub fn literal(text: &str) -> Query {
        Query {
            text: text.to_string(),
            regex: false,
            case_sensitive: true,
            glob: None,
            within: None,
            most: 200,
        }
    }
}

/// One line that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The file.
    pub path: RelPath,
    /// The line, from 1.
    pub line: u32,
    /// The line itself without its ending, shortened when it is very long.
    pub text: String,
}

/// Why a query cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryProblem {
    /// There is nothing to look for.
    #[error("the search text is empty")]
    Empty,
    /// The regular expression is not one.
    #[error("`{pattern}` is not a regular expression: {reason}")]
    Pattern {
        /// What was given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The glob is not one.
    #[error("`{0}` is not a glob")]
    Glob(String),
}

/// Longer lines are cut around the match: minified files have lines of a megabyte.
const LONGEST_LINE: usize = 300;

/// Returns the lines that match, in the order of paths and lines.
pub fn search(tree: &SourceTree, query: &Query) -> Result<Vec<Hit>, QueryProblem> {
    if query.text.is_empty() {
        return Err(QueryProblem::Empty);
    }
    let matcher = Matcher::new(query)?;
    let glob = query.glob.as_deref().map(glob_matcher).transpose()?;
    let wanted = |file: &&SourceFile| {
        file.language.is_text()
            && query
                .within
                .as_ref()
                .is_none_or(|within| file.path.starts_with(within))
            && glob
                .as_ref()
                .is_none_or(|glob| glob.is_match(file.path.as_str()))
    };
    let files: Vec<&SourceFile> = tree.files().iter().filter(wanted).collect();
    let hits = files
        .par_iter()
        .map(|file| matcher.hits(tree, file, query.most));
    let found: Vec<Vec<Hit>> = side_by_side(|| hits.collect());
    Ok(found.into_iter().flatten().take(query.most).collect())
}

/// Returns the files whose path matches a glob such as `src/**/*.py`; a pattern without a slash matches names anywhere.
pub fn glob<'a>(tree: &'a SourceTree, pattern: &str) -> Result<Vec<&'a SourceFile>, QueryProblem> {
    let matcher = glob_matcher(pattern)?;
    Ok(tree
        .files()
        .iter()
        .filter(|file| matcher.is_match(file.path.as_str()))
        .collect())
}

fn glob_matcher(pattern: &str) -> Result<GlobMatcher, QueryProblem> {
    let pattern = pattern.replace('\\', "/");
    let pattern = pattern.strip_prefix("./").unwrap_or(&pattern);
    let anywhere = if pattern.contains('/') {
        pattern.to_string()
    } else {
        format!("**/{pattern}")
    };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|_| QueryProblem::Glob(pattern.to_string()))
}

enum Matcher {
    Literal(Box<Finder<'static>>),
    Pattern(regex::Regex),
}

impl Matcher {
    fn new(query: &Query) -> Result<Matcher, QueryProblem> {
        if !query.regex && query.case_sensitive {
            return Ok(Matcher::Literal(Box::new(
                Finder::new(&query.text).into_owned(),
            )));
        }
        let pattern = if query.regex {
            query.text.clone()
        } else {
            regex::escape(&query.text)
        };
        let built = regex::RegexBuilder::new(&pattern)
            .case_insensitive(!query.case_sensitive)
            .multi_line(true)
            .build();
        built
            .map(Matcher::Pattern)
            .map_err(|problem| QueryProblem::Pattern {
                pattern: query.text.clone(),
                reason: problem
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim()
                    .to_string(),
            })
    }

    fn next(&self, content: &str, from: usize) -> Option<usize> {
        match self {
            Matcher::Literal(finder) => finder
                .find(content.as_bytes().get(from..)?)
                .map(|at| from + at),
            Matcher::Pattern(pattern) => pattern.find_at(content, from).map(|found| found.start()),
        }
    }

    fn hits(&self, tree: &SourceTree, file: &SourceFile, most: usize) -> Vec<Hit> {
        let Ok(text) = tree.text(&file.path) else {
            return Vec::new();
        };
        let content = text.content();
        let mut hits = Vec::new();
        let (mut from, mut line, mut counted) = (0usize, 1u32, 0usize);
        while hits.len() < most {
            let Some(at) = self.next(content, from) else {
                break;
            };
            line += memchr::memchr_iter(b'\n', &content.as_bytes()[counted..at]).count() as u32;
            let start = line_start(content, at);
            let end = content[at..]
                .find('\n')
                .map_or(content.len(), |newline| at + newline);
            counted = at;
            hits.push(Hit {
                path: file.path.clone(),
                line,
                text: shown(&content[start..end], at - start),
            });
            if end >= content.len() {
                break;
            }
            from = end + 1;
        }
        hits
    }
}

/// Returns the line, or the part around the match of a very long one.
fn shown(line: &str, at: usize) -> String {
    let line = line.trim_end_matches('\r');
    if line.len() <= LONGEST_LINE {
        return line.to_string();
    }
    let start = line.floor_char_boundary(at.saturating_sub(LONGEST_LINE / 3).min(line.len()));
    let end = line.floor_char_boundary((start + LONGEST_LINE).min(line.len()));
    let lead = if start > 0 { "…" } else { "" };
    let trail = if end < line.len() { "…" } else { "" };
    format!("{lead}{}{trail}", &line[start..end])
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out a project in a temporary folder"
)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &Query, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("a.py"), "one = 1\r\nTwo = one\r\n").unwrap();
        std::fs::write(folder.path().join("src/b.md"), "one\n\none and one").unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let hits = search(&tree, query).unwrap();
        let seen: Vec<String> = hits
            .iter()
            .map(|hit| format!("{}:{}:{}", hit.path, hit.line, hit.text))
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn each_matching_line_is_one_hit() {
        check(
            &Query::literal("one"),
            &[
                "a.py:1:one = 1",
                "a.py:2:Two = one",
                "src/b.md:1:one",
                "src/b.md:3:one and one",
            ],
        );
        check(
            &Query {
                case_sensitive: false,
                ..Query::literal("two")
            },
            &["a.py:2:Two = one"],
        );
        check(
            &Query {
                regex: true,
                ..Query::literal("^one$")
            },
            &["src/b.md:1:one"],
        );
        check(
            &Query {
                glob: Some("*.py".into()),
                most: 1,
                ..Query::literal("one")
            },
            &["a.py:1:one = 1"],
        );
        check(
            &Query {
                within: RelPath::parse("src").ok(),
                ..Query::literal("1")
            },
            &[],
        );
    }

    #[test]
    fn bad_patterns_are_named() {
        let query = Query {
            regex: true,
            ..Query::literal("(")
        };
        let folder = tempfile::tempdir().unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        assert_eq!(
            search(&tree, &query).unwrap_err().to_string(),
            "`(` is not a regular expression: error: unclosed group"
        );
        assert_eq!(
            search(&tree, &Query::literal("")).unwrap_err(),
            QueryProblem::Empty
        );
        assert_eq!(
            glob(&tree, "[").unwrap_err(),
            QueryProblem::Glob("[".into())
        );
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_match() {
        let line = format!("{}needle{}", "é".repeat(1000), "x".repeat(1000));
        let cut = shown(&line, 2000);
        assert!(cut.contains("needle") && cut.len() < 400);
    }
}
