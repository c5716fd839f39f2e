//! Examples in docstrings: code that doctest runs in a namespace of its own above the module's.

use std::ops::Range;

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::Source;

/// The examples of one docstring as one program, with the way back to the file.
#[derive(Debug)]
pub(crate) struct Examples {
    /// The program.
    pub code: String,
    /// For each line of it: where it starts in the program and in the file.
    lines: Vec<(usize, usize)>,
}

impl Examples {
    /// The bytes in the file for bytes of the program, when they lie on one line.
    pub(crate) fn in_file(&self, span: Range<usize>) -> Option<Range<usize>> {
        let line = self
            .lines
            .iter()
            .rev()
            .find(|(start, _)| *start <= span.start)?;
        let start = span.start - line.0 + line.1;
        Some(start..start + span.len())
    }
}

/// Collects the examples of every docstring of a file.
pub(crate) fn examples(source: &Source) -> Vec<Examples> {
    let mut found = Vec::new();
    if source.content().contains(">>>") {
        in_body(source.content(), source.body(), 0, &mut found);
    }
    found
}

fn in_body(content: &str, body: &[Stmt], depth: u32, found: &mut Vec<Examples>) {
    if let Some(Stmt::Expr(first)) = body.first()
        && let Expr::StringLiteral(text) = first.value.as_ref()
        && let Some(text) = text.as_single_part_string()
    {
        found.extend(in_docstring(content, text));
    }
    // Doctest does not look into functions. Deeper than Python allows blocks to nest there is nothing real.
    if depth > 100 {
        return;
    }
    for statement in body {
        match statement {
            Stmt::FunctionDef(node) => in_body(
                content,
                node.body.get(..1).unwrap_or_default(),
                depth + 101,
                found,
            ),
            Stmt::ClassDef(node) => in_body(content, &node.body, depth + 1, found),
            Stmt::If(node) => in_body(content, &node.body, depth + 1, found),
            Stmt::Try(node) => in_body(content, &node.body, depth + 1, found),
            _ => {}
        }
    }
}

fn in_docstring(content: &str, text: &ast::StringLiteral) -> Option<Examples> {
    let range: Range<usize> = text.content_range().into();
    let raw = content.get(range.clone())?;
    // With escapes the bytes of the file are not the bytes that doctest sees.
    if !raw.contains(">>>") || raw != text.as_str() {
        return None;
    }
    let mut examples = Examples {
        code: String::new(),
        lines: Vec::new(),
    };
    let mut example: Vec<(usize, &str)> = Vec::new();
    let mut indent = 0;
    let mut at = range.start;
    for line in raw.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let shown = line.trim_end_matches(['\n', '\r']);
        let trimmed = shown.trim_start_matches(' ');
        let here = shown.len() - trimmed.len();
        let continues = !example.is_empty() && here == indent && is_prompt(trimmed, "...");
        if is_prompt(trimmed, ">>>") {
            examples.take(&mut example);
            indent = here;
        } else if !continues {
            examples.take(&mut example);
            continue;
        }
        let skipped = (here + 4).min(shown.len());
        example.push((start + skipped, &shown[skipped..]));
    }
    examples.take(&mut example);
    (!examples.code.is_empty()).then_some(examples)
}

fn is_prompt(line: &str, prompt: &str) -> bool {
    line == prompt
        || line
            .strip_prefix(prompt)
            .is_some_and(|rest| rest.starts_with(' '))
}

impl Examples {
    /// Adds one example unless it is no Python.
    fn take(&mut self, example: &mut Vec<(usize, &str)>) {
        if example.is_empty() {
            return;
        }
        let code: String = example.iter().flat_map(|(_, line)| [line, "\n"]).collect();
        if ruff_python_parser::parse_module(&code).is_ok() {
            for (at, line) in example.iter() {
                self.lines.push((self.code.len(), *at));
                self.code.push_str(line);
                self.code.push('\n');
            }
        }
        example.clear();
    }
}
