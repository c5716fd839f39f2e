//! Whole lines: one too many, two in the wrong order, one in the wrong block, one that is missing.

use std::ops::Range;

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

use crate::mutate::kind::MutationKind;
use crate::mutate::piece::Found;
use crate::mutate::role::{Block, bodies};
use crate::scope::bytes;
use crate::text::line_start;

/// Suspects statements in a row.
pub(super) fn body(body: &[Stmt], block: Block, found: &mut Found<'_>) {
    for (index, stmt) in body.iter().enumerate() {
        drop_one(body, stmt, found);
        if let Some(next) = body.get(index + 1) {
            swap(stmt, next, found);
            indent(stmt, next, found);
        }
        dedent(stmt, found);
        if let Some(before) = index.checked_sub(1).and_then(|at| body.get(at)) {
            reset_in_loop(before, stmt, found);
        }
        if block.of_loop && index == 0 {
            set_before_loop(body, found);
        }
    }
    let Some(last) = body.last() else { return };
    let leaves = matches!(last, Stmt::Return(_) | Stmt::Raise(_));
    let shape = match block {
        Block { of_loop: true, .. } => "last line of a round",
        _ if leaves || matches!(last, Stmt::Break(_) | Stmt::Continue(_)) => return,
        Block { in_loop: true, .. } => "last line in a loop",
        Block {
            of_function: true, ..
        } => "last line",
        _ => return,
    };
    if let Some(piece) = found.line(shape, last, true) {
        found.suspect(piece);
    }
}

/// Suspects that lines are missing at the beginning of a function.
pub(super) fn function(function: &StmtFunctionDef, found: &mut Found<'_>) {
    let Some(first) = function.body.iter().find(|stmt| !is_docstring(stmt)) else {
        return;
    };
    let name = function.name.as_str();
    let is_recursive = found.sight.uses.contains_key(name);
    let shapes = [
        (true, "first line"),
        (is_recursive, "first line of a recursion"),
        (name == "__init__", "first line of __init__"),
    ];
    for (_, shape) in shapes.iter().filter(|(applies, _)| *applies) {
        if let Some(piece) = found.line(shape, first, false) {
            found.suspect(piece);
        }
    }
}

fn is_docstring(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Expr(inner) if matches!(inner.value.as_ref(), Expr::StringLiteral(_)))
}

/// How far around a statement its like is looked for, in bytes: about a function.
const AROUND: usize = 2_000;

/// Returns whether a statement stands in its neighbourhood once more.
fn stands_twice(found: &Found<'_>, stmt: &Stmt) -> bool {
    let place = bytes(stmt);
    let from = found
        .content
        .floor_char_boundary(place.start.saturating_sub(AROUND));
    let until = found
        .content
        .ceil_char_boundary(found.content.len().min(place.end + AROUND));
    let near = found.content.get(from..until).unwrap_or_default();
    near.matches(found.code(stmt)).count() > 1
}

fn drop_one(body: &[Stmt], stmt: &Stmt, found: &mut Found<'_>) -> Option<()> {
    if is_docstring(stmt) {
        return None;
    }
    let (lines, indent) = found.whole_lines(stmt)?;
    let text = if body.len() == 1 {
        format!("{indent}pass{}", found.newline())
    } else {
        String::new()
    };
    let follows_itself = body
        .windows(2)
        .any(|pair| bytes(&pair[1]) == bytes(stmt) && found.code(&pair[0]) == found.code(stmt));
    let (kind, prior) = match stmt {
        _ if follows_itself => (MutationKind::StatementSurplus, 0.9),
        // One that stands there twice, such as an accumulator set again in its loop, may be one too many; without any
        // other its work is lost.
        Stmt::Assign(_) | Stmt::Expr(_) if stands_twice(found, stmt) => {
            (MutationKind::StatementSurplus, 0.25)
        }
        Stmt::Assign(_) | Stmt::Expr(_) => (MutationKind::Statement, 0.12),
        Stmt::AugAssign(_) | Stmt::Delete(_) | Stmt::Break(_) | Stmt::Continue(_) => {
            (MutationKind::StatementSurplus, 0.2)
        }
        // The body without its condition is a condition too many; the whole of it is a branch.
        Stmt::If(inner) if inner.elif_else_clauses.is_empty() => (MutationKind::Branch, 0.12),
        Stmt::Return(_)
        | Stmt::Raise(_)
        | Stmt::For(_)
        | Stmt::While(_)
        | Stmt::Try(_)
        | Stmt::With(_) => (MutationKind::Statement, 0.06),
        _ => return None,
    };
    found.add(kind, prior, lines, text);
    if kind != MutationKind::StatementSurplus {
        found.last_is_destructive();
    }
    Some(())
}

fn swap(one: &Stmt, other: &Stmt, found: &mut Found<'_>) -> Option<()> {
    if is_docstring(one) {
        return None;
    }
    let (first, _) = found.whole_lines(one)?;
    let (second, _) = found.whole_lines(other)?;
    let top = found.content.get(first.clone())?;
    let middle = found.content.get(first.end..second.start)?;
    let bottom = found.content.get(second.clone())?;
    if !bottom.ends_with('\n') {
        return None;
    }
    let prior = if matches!(other, Stmt::Return(_)) {
        0.08
    } else {
        0.25
    };
    let (lines, text) = (first.start..second.end, format!("{bottom}{middle}{top}"));
    found.add(MutationKind::StatementOrder, prior, lines, text);
    Some(())
}

/// Returns the last block of a statement that defines nothing.
fn last_block(stmt: &Stmt) -> Option<&[Stmt]> {
    let mut last = None;
    bodies(stmt, &mut |body| {
        last = Some(body).filter(|body| !body.is_empty()).or(last)
    });
    last.filter(|_| !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)))
}

/// The statement behind a block belongs into it.
fn indent(block: &Stmt, next: &Stmt, found: &mut Found<'_>) -> Option<()> {
    let (_, deep) = found.whole_lines(last_block(block)?.last()?)?;
    let (lines, shallow) = found.whole_lines(next)?;
    let text = moved(found, &lines, shallow, deep)?;
    found.add(MutationKind::Indentation, 0.35, lines, text);
    Some(())
}

/// The last statement of a block belongs behind it.
fn dedent(block: &Stmt, found: &mut Found<'_>) -> Option<()> {
    let [_, .., last] = last_block(block)? else {
        return None;
    };
    let (_, shallow) = found.whole_lines(block)?;
    let (lines, deep) = found.whole_lines(last)?;
    let text = moved(found, &lines, deep, shallow)?;
    found.add(MutationKind::Indentation, 0.4, lines, text);
    Some(())
}

fn moved(found: &Found<'_>, lines: &Range<usize>, from: &str, to: &str) -> Option<String> {
    let text = found.content.get(lines.clone())?;
    if text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    text.split_inclusive('\n')
        .map(|line| match line.strip_prefix(from) {
            Some(rest) => Some(format!("{to}{rest}")),
            None => line.trim().is_empty().then(|| line.to_owned()),
        })
        .collect()
}

/// What is set just before a loop may have to be set anew in each round: an accumulator in the wrong place.
fn reset_in_loop(before: &Stmt, stmt: &Stmt, found: &mut Found<'_>) -> Option<()> {
    let (Stmt::Assign(_), Stmt::For(_) | Stmt::While(_)) = (before, stmt) else {
        return None;
    };
    let mut first = None;
    bodies(stmt, &mut |inner| first = first.or(inner.first()));
    let (lines, shallow) = found.whole_lines(before)?;
    let (inner, deep) = found.whole_lines(first?)?;
    let (whole, _) = found.whole_lines(stmt)?;
    let text = moved(found, &lines, shallow, deep)?;
    let head = found.content.get(lines.end..inner.start)?;
    let tail = found.content.get(inner.start..whole.end)?;
    let (lines, text) = (lines.start..whole.end, format!("{head}{text}{tail}"));
    found.add(MutationKind::ResetInLoop, 0.2, lines, text);
    Some(())
}

/// And what is set first in each round may belong before the loop: its header stands one line above.
fn set_before_loop(body: &[Stmt], found: &mut Found<'_>) -> Option<()> {
    let [first @ Stmt::Assign(_), _, ..] = body else {
        return None;
    };
    let (lines, deep) = found.whole_lines(first)?;
    let above = found.content.get(..lines.start)?.trim_end();
    let start = line_start(above, above.len());
    let word = above.get(start..)?.trim_start();
    if !word.starts_with("for ") && !word.starts_with("while ") {
        return None;
    }
    let shallow = above.get(start..above.len() - word.len())?;
    let text = moved(found, &lines, deep, shallow)?;
    let head = found.content.get(start..lines.start)?;
    let (lines, text) = (start..lines.end, format!("{text}{head}"));
    found.add(MutationKind::ResetInLoop, 0.3, lines, text);
    Some(())
}
