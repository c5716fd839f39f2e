//! The shapes of statements: what is returned, raised and caught, assigned, and which way the code goes.

use ruff_python_ast::{Expr, Stmt, StmtAssign, StmtAugAssign, StmtIf, StmtRaise, StmtReturn};

use crate::mutate::piece::Found;
use crate::mutate::table;
use crate::scope::bytes;

/// Suspects one statement.
pub(super) fn suspect(stmt: &Stmt, found: &mut Found<'_>) {
    let shape = match stmt {
        Stmt::Return(inner) => return returned(inner, found),
        Stmt::Expr(inner) => {
            let value = match inner.value.as_ref() {
                Expr::Yield(inner) => inner.value.as_deref(),
                Expr::YieldFrom(inner) => Some(inner.value.as_ref()),
                Expr::Call(_) => return found.suspect(found.piece("call statement", stmt)),
                _ => None,
            };
            if let Some(value) = value {
                found.suspect(
                    found
                        .piece("yield statement", stmt)
                        .codes(&[("value", value)]),
                );
            }
            return;
        }
        Stmt::Break(_) => "break",
        Stmt::Continue(_) => "continue",
        Stmt::Pass(_) => "pass",
        Stmt::Assert(_) => "assert",
        Stmt::Raise(inner) => return raised(inner, found),
        Stmt::If(inner) => return branches(inner, found),
        Stmt::Assign(inner) => return assigned(inner, found),
        Stmt::AugAssign(inner) => return augmented(inner, found),
        _ => return,
    };
    found.suspect(found.piece(shape, stmt));
}

/// Suspects what a handler catches.
pub(super) fn caught(type_: &Expr, found: &mut Found<'_>) {
    let code = found.code(type_);
    let inner = code
        .trim_start_matches('(')
        .trim_end_matches([')', ',', ' ']);
    let others = table::families("exceptions").iter().flatten();
    let others = others
        .filter(|other| !code.contains(other.as_str()))
        .cloned();
    found.suspect(
        found
            .piece("caught", type_)
            .text("inner", inner)
            .set("exception", others),
    );
}

fn raised(raise: &StmtRaise, found: &mut Found<'_>) {
    found.suspect(found.piece("raise", raise));
    let class = match raise.exc.as_deref() {
        Some(Expr::Call(call)) => call.func.as_ref(),
        Some(other) => other,
        None => return,
    };
    let others = table::alternatives("exceptions", found.code(class));
    found.suspect(
        found
            .piece("raised", class)
            .set("exception", others.into_iter().flatten()),
    );
}

fn returned(inner: &StmtReturn, found: &mut Found<'_>) {
    let Some(value) = inner.value.as_deref() else {
        return found.suspect(found.piece("bare return", inner));
    };
    let piece = found.piece("return", inner).codes(&[("value", value)]);
    // The result itself may have to be negated.
    let is_truth = matches!(
        value,
        Expr::Compare(_) | Expr::Call(_) | Expr::Name(_) | Expr::BoolOp(_) | Expr::Attribute(_)
    );
    found.suspect(if is_truth {
        piece.codes(&[("truth", value)])
    } else {
        piece
    });
}

fn keyword(word: &'static str, start: usize, found: &mut Found<'_>) {
    let range = start..start + word.len();
    if found.content.get(range.clone()) == Some(word) {
        found.suspect(found.span(word, range.clone()).at("keyword", range));
    }
}

fn branches(inner: &StmtIf, found: &mut Found<'_>) {
    for clause in &inner.elif_else_clauses {
        let word = if clause.test.is_some() {
            "elif"
        } else {
            "else"
        };
        keyword(word, bytes(clause).start, found);
    }
}

fn assigned(inner: &StmtAssign, found: &mut Found<'_>) {
    let [target] = inner.targets.as_slice() else {
        return;
    };
    let value = inner.value.as_ref();
    if let Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) = target {
        let op = found.between(target, value, "=");
        found.suspect(found.piece("assign", inner).maybe_at("op", op));
    }
    match target {
        Expr::Name(name) => {
            let id = name.id.as_str();
            if id == "_" || found.sight.uses.get(id) == Some(&1) {
                found.suspect(found.piece("unused", inner).codes(&[("value", value)]));
            }
        }
        Expr::Subscript(item) if !item.slice.is_slice_expr() => {
            let piece = found
                .piece("stored item", inner)
                .codes(&[("target", target)]);
            let piece = piece.codes(&[("owner", &item.value), ("key", &item.slice)]);
            found.suspect(piece.codes(&[("value", value)]));
        }
        _ => {}
    }
}

fn augmented(inner: &StmtAugAssign, found: &mut Found<'_>) {
    let (target, value) = (inner.target.as_ref(), inner.value.as_ref());
    let operator = inner.op.as_str();
    let op = found.between(target, value, &format!("{operator}="));
    let sign = op.clone().map(|op| op.start..op.start + operator.len());
    found.suspect(found.piece("augmented", inner).maybe_at("op", op));
    found.suspect(
        found
            .piece(format!("operator {operator}"), inner)
            .maybe_at("op", sign),
    );
    let piece = found.piece(format!("augmented {operator}"), inner);
    found.suspect(piece.codes(&[("target", target), ("value", value)]));
}
