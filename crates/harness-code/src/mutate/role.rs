//! What a piece of code is for, and where statements stand.

use std::ops::Range;

use ruff_python_ast::{ExceptHandler, Stmt};

use crate::scope::bytes;

/// What an expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpressionRole {
    /// Decides: `if`, `while`, a filter, a ternary.
    Condition,
    /// One part of a condition.
    Clause,
    /// An index.
    Index,
    /// A bound of a slice.
    Bound,
    /// An argument of a call.
    Argument,
    /// What is returned or yielded.
    Result,
    /// What a loop goes over.
    Iterated,
    /// What a name is set to.
    Assigned,
    /// A side of a comparison.
    Compared,
    /// What is called.
    Callee,
    /// Anything else.
    Other,
}

impl ExpressionRole {
    /// Returns the role that the table of operators names so.
    pub(super) fn named(name: &str) -> Option<ExpressionRole> {
        Some(match name {
            "condition" => ExpressionRole::Condition,
            "clause" => ExpressionRole::Clause,
            "index" => ExpressionRole::Index,
            "bound" => ExpressionRole::Bound,
            "argument" => ExpressionRole::Argument,
            "result" => ExpressionRole::Result,
            "iterated" => ExpressionRole::Iterated,
            "assigned" => ExpressionRole::Assigned,
            "compared" => ExpressionRole::Compared,
            "callee" => ExpressionRole::Callee,
            "other" => ExpressionRole::Other,
            _ => return None,
        })
    }
}

/// Where statements stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Inside of a loop of this function.
    pub(super) in_loop: bool,
    /// Directly the body of a loop.
    pub(super) of_loop: bool,
    /// Directly the body of the function.
    pub(super) of_function: bool,
}

/// Returns the statements that lead to the definition with this span, outermost first.
pub(super) fn path_to<'a>(body: &'a [Stmt], span: &Range<usize>) -> Option<Vec<&'a Stmt>> {
    for stmt in body {
        let range = bytes(stmt);
        if range.start > span.start || range.end < span.end {
            continue;
        }
        let is_definition = matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
        if is_definition && range == *span {
            return Some(vec![stmt]);
        }
        let mut inner = Vec::new();
        bodies(stmt, &mut |body| inner.push(body));
        if let Some(mut path) = inner.into_iter().find_map(|body| path_to(body, span)) {
            path.insert(0, stmt);
            return Some(path);
        }
    }
    None
}

/// Calls `each` with every block directly inside of a statement.
pub(super) fn bodies<'a>(stmt: &'a Stmt, each: &mut dyn FnMut(&'a [Stmt])) {
    match stmt {
        Stmt::FunctionDef(inner) => each(&inner.body),
        Stmt::ClassDef(inner) => each(&inner.body),
        Stmt::If(inner) => {
            each(&inner.body);
            inner
                .elif_else_clauses
                .iter()
                .for_each(|clause| each(&clause.body));
        }
        Stmt::For(inner) => {
            each(&inner.body);
            each(&inner.orelse);
        }
        Stmt::While(inner) => {
            each(&inner.body);
            each(&inner.orelse);
        }
        Stmt::With(inner) => each(&inner.body),
        Stmt::Try(inner) => {
            each(&inner.body);
            for ExceptHandler::ExceptHandler(handler) in &inner.handlers {
                each(&handler.body);
            }
            each(&inner.orelse);
            each(&inner.finalbody);
        }
        Stmt::Match(inner) => inner.cases.iter().for_each(|case| each(&case.body)),
        _ => {}
    }
}
