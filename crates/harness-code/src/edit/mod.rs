//! A change to text as a value: splices, whole definitions, and the diff a person reads. Nothing is written here.

mod change;
mod companions;
mod definition;
mod impl_block;
mod imports;
mod indent;
mod order;

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{
    Algorithm, DiffOp, DiffTag, capture_diff_slices, capture_diff_slices_deadline, group_diff_ops,
};

use crate::language::Language;
use crate::path::RelPath;
use crate::text::{line_end, line_start};

pub use change::{ChangeSet, FileChange};
pub use companions::with_companions;
pub use definition::{add_definition, documentation, overloads, replace_definition};
pub use impl_block::is_of_trait;
pub use imports::{is_only_imports, with_trait_blocks, without_repeated_imports};
pub use order::above_what_needs_them;

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

/// Returns the bytes to cut so that a definition is gone: its whole lines, comments right above it, and the blank lines
/// that set it apart. Returns nothing where something else stands on its lines.
pub fn lines_of(language: Language, content: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let is_comment = |line: &str| match language {
        Language::Python | Language::Ruby | Language::Shell => {
            line.starts_with('#') && !line.starts_with("#!")
        }
        _ => line.starts_with("//") && !line.starts_with("//!"),
    };
    let mut start = line_start(content, span.start);
    let behind = content[span.end..].lines().next().unwrap_or_default();
    let behind = behind.trim_start();
    if !content[start..span.start].trim().is_empty() || !(behind.is_empty() || is_comment(behind)) {
        return None;
    }
    while start > 0 {
        let above = line_start(content, start - 1);
        if !is_comment(content[above..start].trim()) {
            break;
        }
        start = above;
    }
    let end = line_end(content, span.end);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let next = content[end..].lines().find(|line| !line.trim().is_empty());
    let own = content[start..].lines().next().map_or(0, indent);
    // The last of a block takes the blank lines above with it.
    if next.is_none_or(|next| indent(next) < own) {
        let above = content[..start].trim_end().len();
        let line = content[above..start].find('\n').map_or(0, |at| at + 1);
        return Some(if above == 0 { 0 } else { above + line }..end);
    }
    let blank = content[end..].split_inclusive('\n');
    let blank = blank.take_while(|line| line.trim().is_empty());
    Some(start..end + blank.map(str::len).sum::<usize>())
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

/// Returns a text with a change that was made to an earlier form of it, `base`, unless both changed the same lines or
/// lines next to each other.
pub fn rebased(base: &str, changed: &str, now: &str) -> Option<String> {
    let old: Vec<&str> = base.split_inclusive('\n').collect();
    let hunks = |text: &str| -> Vec<(Range<usize>, String)> {
        let new: Vec<&str> = text.split_inclusive('\n').collect();
        capture_diff_slices(Algorithm::Myers, &old, &new)
            .iter()
            .filter(|op| op.tag() != DiffTag::Equal)
            .map(|op| (op.old_range(), new[op.new_range()].concat()))
            .collect()
    };
    let mut both = hunks(changed);
    both.extend(hunks(now));
    both.sort_by_key(|(lines, _)| (lines.start, lines.end));
    both.dedup();
    if both.windows(2).any(|pair| pair[0].0.end >= pair[1].0.start) {
        return None;
    }
    let mut result = String::new();
    let mut done = 0;
    for (lines, text) in both {
        result.push_str(&old[done..lines.start].concat());
        result.push_str(&text);
        done = lines.end;
    }
    result.push_str(&old[done..].concat());
    Some(result)
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
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.unwrap_or_default().split_inclusive('\n').collect();
    let old_name = if before.is_some() {
        format!("a/{path}")
    } else {
        "/dev/null".to_string()
    };
    let new_name = if after.is_some() {
        format!("b/{path}")
    } else {
        "/dev/null".to_string()
    };
    let mut diff = format!("--- {old_name}\n+++ {new_name}\n");
    let ops = capture_diff_slices_deadline(
        Algorithm::Myers,
        &old,
        &new,
        Some(Instant::now() + DIFF_TIME),
    );
    for hunk in group_diff_ops(ops, CONTEXT) {
        push_hunk(&mut diff, &hunk, &old, &new);
    }
    diff
}

fn push_hunk(diff: &mut String, hunk: &[DiffOp], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return;
    };
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    diff.push_str(&format!(
        "@@ -{} +{} @@\n",
        hunk_range(&old_range),
        hunk_range(&new_range)
    ));
    for op in hunk {
        if op.tag() == DiffTag::Equal {
            old[op.old_range()]
                .iter()
                .for_each(|line| push_line(diff, ' ', line));
            continue;
        }
        old[op.old_range()]
            .iter()
            .for_each(|line| push_line(diff, '-', line));
        new[op.new_range()]
            .iter()
            .for_each(|line| push_line(diff, '+', line));
    }
}

fn hunk_range(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        length => format!("{},{length}", range.start + 1),
    }
}

fn push_line(diff: &mut String, sign: char, line: &str) {
    diff.push(sign);
    diff.push_str(line);
    if !line.ends_with('\n') {
        diff.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_an_earlier_text_is_kept_where_both_can_stand() {
        let base = "import a\n\n\ndef f():\n    return 1\n";
        let changed = base.replace("return 1", "return b.c");
        let now = base.replace("import a\n", "import a\nimport b\n");
        let both = now.replace("return 1", "return b.c");
        assert_eq!(rebased(base, &changed, &now), Some(both.clone()));
        assert_eq!(rebased(base, &now, &changed), Some(both.clone()));
        // What both brought is there once.
        assert_eq!(rebased(base, &both, &now), Some(both));
        assert_eq!(rebased(base, &changed, base), Some(changed.clone()));
        let other = base.replace("return 1", "return 2");
        assert_eq!(rebased(base, &changed, &other), None);
        assert_eq!(rebased("a", "b", "a\nc"), None);
    }

    #[test]
    fn a_definition_goes_with_its_comment_and_the_blank_lines_that_set_it_apart() {
        let text = "import re\n\n\nclass A:\n    def f(self):\n        pass\n\n    # Why.\n    def g(self):\n        pass\n\n\ndef h():\n    pass\n";
        let cut = |code: &str| {
            let start = text.find(code).unwrap();
            let range = lines_of(Language::Python, text, &(start..start + code.len())).unwrap();
            format!("{}{}", &text[..range.start], &text[range.end..])
        };
        let f = "    def f(self):\n        pass\n\n";
        let g = "\n    # Why.\n    def g(self):\n        pass\n";
        assert_eq!(cut("def f(self):\n        pass"), text.replace(f, ""));
        assert_eq!(cut("def g(self):\n        pass"), text.replace(g, ""));
        assert_eq!(
            cut("def h():\n    pass"),
            text.replace("\n\ndef h():\n    pass\n", "")
        );
        let lines = |language, text: &str, span| lines_of(language, text, &span);
        assert_eq!(
            lines(Language::Python, "def h():\n    pass", 0..17),
            Some(0..17)
        );
        // What only looks like a comment stays, and so does what shares its lines.
        let text = "#include <a.h>\nint f() { return 1; }\n";
        assert_eq!(lines(Language::C, text, 15..36), Some(15..37));
        assert_eq!(lines(Language::Python, "a = 1; b(2)\n", 0..5), None);
    }
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
