//! The way through the code: `return` and `yield`, `break` and `continue`, `if` and `while`, `elif` and `else`.

use ruff_python_ast::{Expr, Stmt};

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node};

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    match node {
        Node::Stmt(stmt) => statement(stmt, found),
        Node::Expr(expr @ Expr::Yield(inner), _) => {
            if let Some(value) = &inner.value {
                let code = found.code(value.as_ref()).to_owned();
                found.add("yield", 0.5, bytes(*expr), format!("yield from {code}"));
            }
        }
        Node::Expr(expr @ Expr::YieldFrom(inner), _) => {
            let code = found.code(inner.value.as_ref()).to_owned();
            found.add("yield", 0.5, bytes(*expr), format!("yield {code}"));
        }
        Node::Expr(expr @ Expr::Await(inner), _) => {
            let code = found.code(inner.value.as_ref());
            found.add("await", 0.2, bytes(*expr), code);
        }
        Node::Body(body, block) if block.of_function => last_value(body, found),
        _ => {}
    }
}

fn statement(stmt: &Stmt, found: &mut Found<'_>) {
    let range = bytes(stmt);
    match stmt {
        Stmt::Return(inner) => {
            if let Some(value) = &inner.value {
                let code = found.code(value.as_ref()).to_owned();
                found.add("yield", 0.12, range.clone(), format!("yield {code}"));
                found.add("yield", 0.06, range.clone(), format!("yield from {code}"));
                found.gut("result", 0.05, range, "return");
                for (constant, prior) in [
                    ("True", 0.06),
                    ("False", 0.06),
                    ("None", 0.05),
                    ("0", 0.05),
                    ("[]", 0.04),
                    ("''", 0.03),
                ] {
                    found.gut("result", prior, bytes(value.as_ref()), constant);
                }
                // The result itself, negated or turned into truth.
                if matches!(
                    value.as_ref(),
                    Expr::Compare(_)
                        | Expr::Call(_)
                        | Expr::Name(_)
                        | Expr::BoolOp(_)
                        | Expr::Attribute(_)
                ) {
                    found.add(
                        "negation",
                        0.3,
                        bytes(value.as_ref()),
                        format!("not {}", found.atom(value)),
                    );
                }
            } else {
                for name in found.sight.locals.clone().iter().take(8) {
                    found.add("result", 0.2, range.clone(), format!("return {name}"));
                }
            }
        }
        Stmt::Expr(inner) => match inner.value.as_ref() {
            Expr::Yield(_) => {
                if let Some(code) = found.code(inner).strip_prefix("yield ") {
                    found.add("yield", 0.2, range, format!("return {code}"));
                }
            }
            Expr::YieldFrom(_) => {
                if let Some(code) = found.code(inner).strip_prefix("yield from ") {
                    found.add("yield", 0.2, range, format!("return {code}"));
                }
            }
            Expr::Call(_) => {
                let code = found.code(inner).to_owned();
                found.add(
                    "return missing",
                    0.25,
                    range.clone(),
                    format!("return {code}"),
                );
                found.add("yield", 0.15, range.clone(), format!("yield from {code}"));
                found.add("await", 0.05, range, format!("await {code}"));
            }
            _ => {}
        },
        Stmt::Break(_) => {
            found.add("break", 0.5, range.clone(), "continue");
            found.add("break", 0.15, range.clone(), "return");
            found.add("break", 0.25, range, "pass");
        }
        Stmt::Continue(_) => {
            found.add("break", 0.5, range.clone(), "break");
            found.add("break", 0.1, range.clone(), "return");
            found.add("break", 0.25, range, "pass");
        }
        Stmt::Pass(_) => {
            found.add("break", 0.2, range.clone(), "continue");
            found.add("break", 0.2, range.clone(), "break");
            found.add("break", 0.1, range.clone(), "raise");
            for result in found.sight.results.clone() {
                found.add("result", 0.15, range.clone(), format!("return {result}"));
            }
        }
        Stmt::Raise(_) => {
            found.gut("exception", 0.05, range.clone(), "pass");
            found.gut("exception", 0.05, range, "return None");
        }
        Stmt::If(inner) => {
            let start = range.start;
            if found.content.get(start..start + 2) == Some("if")
                && inner.elif_else_clauses.is_empty()
            {
                found.add("if/while", 0.25, start..start + 2, "while");
            }
            for clause in &inner.elif_else_clauses {
                let at = bytes(clause).start;
                if clause.test.is_some() {
                    found.add("elif", 0.35, at..at + 4, "if");
                } else if found.content.get(at..at + 4) == Some("else") {
                    for condition in found.sight.conditions.clone().iter().take(6) {
                        found.add("elif", 0.06, at..at + 4, format!("elif {condition}"));
                    }
                }
            }
        }
        Stmt::While(_) => {
            let start = range.start;
            found.add("if/while", 0.3, start..start + 5, "if");
        }
        Stmt::Assert(_) => found.gut("statement", 0.1, range, "pass"),
        Stmt::Assign(inner) => {
            if let [Expr::Name(name)] = inner.targets.as_slice() {
                let code = found.code(inner.value.as_ref()).to_owned();
                if name.id.as_str() == "_" || found.sight.uses.get(name.id.as_str()) == Some(&1) {
                    found.add("return missing", 0.3, range, format!("return {code}"));
                }
            }
        }
        _ => {}
    }
}

/// A function whose last statement computes something that nobody gets.
fn last_value(body: &[Stmt], found: &mut Found<'_>) {
    let Some(last) = body.last() else { return };
    let Some((lines, indent)) = found.whole_lines(last) else {
        return;
    };
    if matches!(last, Stmt::Return(_) | Stmt::Raise(_)) {
        return;
    }
    let newline = found.newline();
    for name in found.sight.locals.clone().iter().take(8) {
        let text = format!("{indent}return {name}{newline}");
        found.add("return missing", 0.3, lines.end..lines.end, text);
    }
    found.add(
        "return missing",
        0.2,
        lines.end..lines.end,
        format!("{indent}return self{newline}"),
    );
}
