//! A change to text as a value: splices, whole definitions, and the diff a person reads. Nothing is written here.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use crate::language::Language;
use crate::path::RelPath;
use crate::symbols::{self, Definition};
use crate::text::{line_ending, with_line_ending};

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

/// Returns `content` with one whole definition replaced by `code`.
///
/// The definition is named as `Class.method` or by its bare name when that is unique. Its decorators stay when
/// `code` has none, its indentation and the file's line endings are used whatever `code` has.
pub fn replace_definition(
    language: Language,
    content: &str,
    name: &str,
    code: &str,
) -> Result<String, EditProblem> {
    let definitions = symbols::definitions(language, content);
    let definition = find_definition(&definitions, name, code)?;
    if code.trim().is_empty() {
        return Err(EditProblem::Empty);
    }
    let code = with_line_ending(code, crate::text::LineEnding::Lf);
    let keeps_decorators = !brings_decorators(&code);
    let span = definition.span();
    let start = if keeps_decorators {
        definition.header_start()
    } else {
        span.start
    };
    let line_start = content[..span.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let before = &content[line_start..span.start];
    let indent = if before.trim().is_empty() { before } else { "" };
    let body = indented(&code, indent);
    let ending = line_ending(content);
    let mut result = String::with_capacity(content.len() + body.len());
    result.push_str(&content[..start]);
    result.push_str(&with_line_ending(&body, ending));
    result.push_str(&content[span.end..]);
    Ok(result)
}

/// Says whether the code starts with what may stand before a definition; comments aside.
fn brings_decorators(code: &str) -> bool {
    let lines = code.lines().map(str::trim);
    let first = lines
        .filter(|line| !line.is_empty())
        .find(|line| line.starts_with("#[") || !line.starts_with(['#', '/', '*']));
    first.is_some_and(|line| {
        ["@", "#[", "export ", "template"]
            .iter()
            .any(|mark| line.starts_with(mark))
    })
}

fn find_definition<'a>(
    definitions: &'a [Definition],
    name: &str,
    code: &str,
) -> Result<&'a Definition, EditProblem> {
    let name = name.trim();
    let exact: Vec<&Definition> = definitions
        .iter()
        .filter(|d| &*d.qualified == name)
        .collect();
    let found = if exact.is_empty() {
        definitions.iter().filter(|d| d.name() == name).collect()
    } else {
        exact
    };
    match found[..] {
        [] => Err(EditProblem::NoSuchDefinition(name.to_string())),
        [one] => Ok(one),
        _ => {
            // A property and its setter share a name; the decorators of the new code tell which is meant.
            let decorators: Vec<&str> = code
                .lines()
                .map_while(|line| line.trim().strip_prefix('@'))
                .map(str::trim)
                .collect();
            let same: Vec<&&Definition> = found
                .iter()
                .filter(|d| {
                    d.decorators
                        .iter()
                        .map(|text| &**text)
                        .eq(decorators.iter().copied())
                })
                .collect();
            match same[..] {
                [one] => Ok(one),
                _ => Err(EditProblem::Ambiguous {
                    name: name.to_string(),
                    lines: found.iter().map(|d| d.line).collect(),
                }),
            }
        }
    }
}

/// Returns `code` with its own common indentation replaced by `indent`; the first line has none, it continues a line.
fn indented(code: &str, indent: &str) -> String {
    let code = code.trim_end();
    let code = code.trim_start_matches('\n');
    let lines = code.lines().filter(|line| !line.trim().is_empty());
    let common = lines
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let mut result = String::with_capacity(code.len());
    for (number, line) in code.lines().enumerate() {
        if number > 0 {
            result.push('\n');
        }
        if line.trim().is_empty() {
            continue;
        }
        if number > 0 {
            result.push_str(indent);
        }
        result.push_str(line.get(common..).unwrap_or(line));
    }
    result
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
    use expect_test::{Expect, expect};

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

    #[track_caller]
    fn check(before: &str, name: &str, code: &str, after: &Expect) {
        let result = replace_definition(Language::Python, before, name, code);
        after.assert_eq(&result.unwrap_or_else(|problem| problem.to_string()));
    }

    #[test]
    fn a_method_written_flat_takes_its_place_in_the_class() {
        check(
            "class A:\n    x = 1\n\n    @property\n    def f(self):\n        return 1\n\n    def g(self): pass\n",
            "A.f",
            "def f(self):\n    y = 2\n\n    return y\n",
            &expect![[r#"
                class A:
                    x = 1

                    @property
                    def f(self):
                        y = 2

                        return y

                    def g(self): pass
            "#]],
        );
    }

    #[test]
    fn new_decorators_replace_the_old() {
        check(
            "@old\ndef f(): pass\n",
            "f",
            "@new\ndef f():\n    return 2",
            &expect![["@new\ndef f():\n    return 2\n"]],
        );
    }

    #[test]
    fn line_endings_stay() {
        check(
            "def f():\r\n    pass\r\nx = 1\r\n",
            "f",
            "def f():\n    return 2\n",
            &expect![["def f():\r\n    return 2\r\nx = 1\r\n"]],
        );
    }

    #[test]
    fn what_cannot_be_replaced_is_said() {
        check(
            "def f(): pass\n",
            "g",
            "def g(): pass",
            &expect!["there is no definition named `g`"],
        );
        check(
            "def f(): pass\n",
            "f",
            " \n",
            &expect!["the new code is empty"],
        );
        check(
            "class A:\n  def f(): 1\nclass B:\n  def f(): 1\n",
            "f",
            "def f(): 2",
            &expect!["`f` is defined 2 times, at lines 2, 4"],
        );
    }

    #[test]
    fn a_setter_is_told_from_its_property() {
        check(
            "class A:\n    @property\n    def f(self): return 1\n    @f.setter\n    def f(self, x): pass\n",
            "A.f",
            "@f.setter\ndef f(self, x): self.x = x",
            &expect![[
                "class A:\n    @property\n    def f(self): return 1\n    @f.setter\n    def f(self, x): self.x = x\n"
            ]],
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
