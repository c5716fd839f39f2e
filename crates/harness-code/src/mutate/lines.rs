//! Whole lines: one too many, two in the wrong order, one in the wrong block, one that is missing.

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

use crate::mutate::bytes;
use crate::mutate::kind::MutationKind;
use crate::mutate::piece::Found;
use crate::mutate::role::{Block, bodies};

/// Suspects statements in a row.
pub(super) fn body(body: &[Stmt], block: Block, found: &mut Found<'_>) {
    for (index, stmt) in body.iter().enumerate() {
        drop_one(body, stmt, found);
        if let Some(next) = body.get(index + 1) {
            swap(stmt, next, found);
            indent(stmt, next, found);
        }
        dedent(stmt, found);
        reset(stmt, index, body, block, found);
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

fn drop_one(body: &[Stmt], stmt: &Stmt, found: &mut Found<'_>) {
    if is_docstring(stmt) {
        return;
    }
    let Some((lines, indent)) = found.whole_lines(stmt) else {
        return;
    };
    let text = if body.len() == 1 {
        format!("{indent}pass{}", found.newline())
    } else {
        String::new()
    };
    let follows_itself = body
        .windows(2)
        .any(|pair| bytes(&pair[1]) == bytes(stmt) && found.code(&pair[0]) == found.code(stmt));
    if follows_itself {
        found.add(MutationKind::StatementSurplus, 0.9, lines, text);
        return;
    }
    match stmt {
        // One that stands there twice, such as an accumulator set again in its loop, may be one too many; without any
        // other its work is lost.
        Stmt::Assign(_) | Stmt::Expr(_) if stands_twice(found, stmt) => {
            found.add(MutationKind::StatementSurplus, 0.25, lines, text);
        }
        Stmt::Assign(_) | Stmt::Expr(_) => {
            found.add(MutationKind::Statement, 0.12, lines, text);
            found.last_is_destructive();
        }
        Stmt::AugAssign(_) | Stmt::Delete(_) | Stmt::Break(_) | Stmt::Continue(_) => {
            found.add(MutationKind::StatementSurplus, 0.2, lines, text);
        }
        // The body without its condition is a condition too many; the whole of it is a branch.
        Stmt::If(inner) if inner.elif_else_clauses.is_empty() => {
            found.add(MutationKind::Branch, 0.12, lines, text);
            found.last_is_destructive();
        }
        Stmt::Return(_)
        | Stmt::Raise(_)
        | Stmt::For(_)
        | Stmt::While(_)
        | Stmt::Try(_)
        | Stmt::With(_) => {
            found.add(MutationKind::Statement, 0.06, lines, text);
            found.last_is_destructive();
        }
        _ => {}
    }
}

fn swap(one: &Stmt, other: &Stmt, found: &mut Found<'_>) {
    if is_docstring(one) {
        return;
    }
    let (Some((first, _)), Some((second, _))) = (found.whole_lines(one), found.whole_lines(other))
    else {
        return;
    };
    let (Some(top), Some(middle), Some(bottom)) = (
        found.content.get(first.clone()),
        found.content.get(first.end..second.start),
        found.content.get(second.clone()),
    ) else {
        return;
    };
    if !bottom.ends_with('\n') {
        return;
    }
    let prior = if matches!(other, Stmt::Return(_)) {
        0.08
    } else {
        0.25
    };
    found.add(
        MutationKind::StatementOrder,
        prior,
        first.start..second.end,
        format!("{bottom}{middle}{top}"),
    );
}

/// The statement behind a block belongs into it.
fn indent(block: &Stmt, next: &Stmt, found: &mut Found<'_>) {
    let mut inner: Vec<&[Stmt]> = Vec::new();
    bodies(block, &mut |body| {
        if !body.is_empty() {
            inner.push(body);
        }
    });
    let Some(last) = inner.last().and_then(|body| body.last()) else {
        return;
    };
    if matches!(block, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
        return;
    }
    let (Some((_, deep)), Some((lines, shallow))) =
        (found.whole_lines(last), found.whole_lines(next))
    else {
        return;
    };
    if let Some(text) = moved(found, &lines, shallow, deep) {
        found.add(MutationKind::Indentation, 0.35, lines, text);
    }
}

/// The last statement of a block belongs behind it.
fn dedent(block: &Stmt, found: &mut Found<'_>) {
    if matches!(block, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
        return;
    }
    let mut inner: Vec<&[Stmt]> = Vec::new();
    bodies(block, &mut |body| {
        if !body.is_empty() {
            inner.push(body);
        }
    });
    let Some([_, .., last]) = inner.last() else {
        return;
    };
    let (Some((_, shallow)), Some((lines, deep))) =
        (found.whole_lines(block), found.whole_lines(last))
    else {
        return;
    };
    if let Some(text) = moved(found, &lines, deep, shallow) {
        found.add(MutationKind::Indentation, 0.4, lines, text);
    }
}

fn moved(
    found: &Found<'_>,
    lines: &std::ops::Range<usize>,
    from: &str,
    to: &str,
) -> Option<String> {
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

/// Moves a plain statement to the beginning of a loop, in front of it or behind it: an accumulator in the wrong place.
fn reset(stmt: &Stmt, index: usize, body: &[Stmt], block: Block, found: &mut Found<'_>) {
    if let Stmt::For(_) | Stmt::While(_) = stmt {
        // What is set just before a loop may have to be set anew in each round.
        let Some(before @ Stmt::Assign(_)) = index.checked_sub(1).and_then(|at| body.get(at))
        else {
            return;
        };
        let mut first = None;
        bodies(stmt, &mut |inner| first = first.or(inner.first()));
        let Some(first) = first else { return };
        let (Some((lines, shallow)), Some((inner, deep)), Some((whole, _))) = (
            found.whole_lines(before),
            found.whole_lines(first),
            found.whole_lines(stmt),
        ) else {
            return;
        };
        let (Some(text), Some(head), Some(tail)) = (
            moved(found, &lines, shallow, deep),
            found.content.get(lines.end..inner.start),
            found.content.get(inner.start..whole.end),
        ) else {
            return;
        };
        found.add(
            MutationKind::ResetInLoop,
            0.2,
            lines.start..whole.end,
            format!("{head}{text}{tail}"),
        );
        return;
    }
    if block.of_loop && index == 0 && body.len() > 1 && matches!(stmt, Stmt::Assign(_)) {
        // And what is set first in each round may belong before the loop: its header stands one line above.
        let Some((lines, deep)) = found.whole_lines(stmt) else {
            return;
        };
        let header = found
            .content
            .get(..lines.start)
            .map(str::trim_end)
            .and_then(|text| {
                let start = text.rfind('\n').map_or(0, |at| at + 1);
                let line = text.get(start..)?;
                let indent = line.get(..line.len() - line.trim_start().len())?;
                let word = line.trim_start();
                let is_loop = word.starts_with("for ") || word.starts_with("while ");
                is_loop.then_some((start, indent))
            });
        let Some((start, shallow)) = header else {
            return;
        };
        if let (Some(text), Some(head)) = (
            moved(found, &lines, deep, shallow),
            found.content.get(start..lines.start),
        ) {
            found.add(
                MutationKind::ResetInLoop,
                0.3,
                start..lines.end,
                format!("{text}{head}"),
            );
        }
    }
}
