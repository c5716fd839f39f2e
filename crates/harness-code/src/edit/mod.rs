//! A change to text as a value: splices, whole definitions, and the diff a person reads. Nothing is written here.

mod companions;
mod definition;
mod indent;

use std::ops::Range;
use std::time::Duration;

use similar::{Algorithm, TextDiff};

use crate::path::RelPath;

pub use companions::with_companions;
pub use definition::{add_definition, replace_definition};

/// One splice: the bytes of `range` in the content of `path` become `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub path: RelPath,
    /// The bytes that go; empty for an insertion.
    pub range: Range<usize>,
    /// What comes in their place.
    pub text: String,
}

/// Why an edit cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditProblem {
    /// The range is not inside the content or cuts a character.
    #[error("the change reaches outside the text at {0:?}")]
    OutOfRange(Range<usize>),
    /// Two edits want the same bytes.
    #[error("two changes overlap at {0:?}")]
    Overlap(Range<usize>),
    /// There is no definition of this name.
    #[error("there is no definition named `{0}`")]
    NoSuchDefinition(String),
    /// Several definitions have this name.
    #[error("`{name}` is defined {} times, at lines {}", lines.len(), listed(lines))]
    Ambiguous {
        /// The name asked for.
        name: String,
        /// Where the definitions are.
        lines: Vec<u32>,
    },
    /// The new code is empty.
    #[error("the new code is empty")]
    Empty,
}

fn listed(lines: &[u32]) -> String {
    lines
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns `content` with all `edits` made at once. Ranges refer to `content` as it is; paths are not looked at.
pub fn apply(content: &str, edits: &[Edit]) -> Result<String, EditProblem> {
    let mut order: Vec<&Edit> = edits.iter().collect();
    order.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut result = String::with_capacity(
        content.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>(),
    );
    let mut done = 0;
    for edit in order {
        let range = edit.range.clone();
        if range.start > range.end || content.get(range.clone()).is_none() {
            return Err(EditProblem::OutOfRange(range));
        }
        if range.start < done {
            return Err(EditProblem::Overlap(range));
        }
        result.push_str(&content[done..range.start]);
        result.push_str(&edit.text);
        done = range.end;
    }
    result.push_str(&content[done..]);
    Ok(result)
}

/// Lines of unchanged text around a change, as `diff -u` and `git diff` have it.
const CONTEXT: usize = 3;

/// A diff that takes longer than this is finished with a coarser answer.
const DIFF_TIME: Duration = Duration::from_secs(1);

/// Returns the unified diff from `before` to `after`; `None` means that there is no such file. Empty when nothing changed.
pub fn unified_diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    // Only this ends a line: a lone carriage return is part of one.
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.unwrap_or_default().split_inclusive('\n').collect();
    let name = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(DIFF_TIME)
        .newline_terminated(true)
        .diff_slices(&old, &new)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&name("a", before), &name("b", after))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn edit(range: Range<usize>, text: &str) -> Edit {
        Edit {
            path: RelPath::parse("a.py").unwrap(),
            range,
            text: text.to_string(),
        }
    }

    #[test]
    fn edits_are_made_at_once_and_in_any_order() {
        assert_eq!(
            apply(
                "abcdef",
                &[edit(4..5, "E"), edit(0..1, "A"), edit(2..2, "-")]
            )
            .unwrap(),
            "Ab-cdEf"
        );
        assert_eq!(
            apply("abc", &[edit(0..2, ""), edit(1..3, "")]),
            Err(EditProblem::Overlap(1..3))
        );
        assert_eq!(
            apply("é", &[edit(1..2, "")]),
            Err(EditProblem::OutOfRange(1..2))
        );
        assert_eq!(
            apply("a", &[edit(0..9, "")]),
            Err(EditProblem::OutOfRange(0..9))
        );
    }

    #[test]
    fn diffs_read_like_git() {
        expect![[r#"
            --- a/a.py
            +++ b/a.py
            @@ -1,2 +1,2 @@
             a
            -b
            +c
        "#]]
        .assert_eq(&unified_diff("a.py", Some("a\nb\n"), Some("a\nc\n")));
        expect![[r#"
            --- /dev/null
            +++ b/a.py
            @@ -0,0 +1 @@
            +x
            \ No newline at end of file
        "#]]
        .assert_eq(&unified_diff("a.py", None, Some("x")));
        expect![[r#"
            --- a/a.py
            +++ /dev/null
            @@ -1 +0,0 @@
            -x
        "#]]
        .assert_eq(&unified_diff("a.py", Some("x\n"), None));
        assert_eq!(unified_diff("a.py", Some("x"), Some("x")), "");
    }
}
