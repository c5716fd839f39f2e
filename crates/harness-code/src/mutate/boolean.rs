//! Conditions: `and` for `or`, a negation too many or too few, a clause too many or too few.

use ruff_python_ast::{BoolOp, Expr, UnaryOp};

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node, Role};

/// More clauses than this that could have been forgotten are guesses.
const MOST_ADDED: usize = 12;

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    match node {
        Node::Expr(expr, role) => {
            operators(expr, found);
            if matches!(role, Role::Condition) {
                condition(expr, found);
            }
            if matches!(role, Role::Clause) && !is_not(expr) && !matches!(expr, Expr::Compare(_)) {
                found.add(
                    "negation",
                    0.3,
                    bytes(*expr),
                    format!("not {}", found.atom(expr)),
                );
            }
        }
        Node::Loop(part) => {
            for test in &part.ifs {
                let start = bytes(test).start;
                let before = found.content.get(..start).and_then(|text| text.rfind("if"));
                if let Some(before) = before {
                    found.gut("condition", 0.2, before..bytes(test).end, "");
                }
            }
            if part.ifs.is_empty() {
                let target = found.code(&part.target).to_owned();
                let end = bytes(&part.iter).end;
                found.add("condition", 0.12, end..end, format!(" if {target}"));
                found.add(
                    "condition",
                    0.08,
                    end..end,
                    format!(" if {target} is not None"),
                );
            }
        }
        _ => {}
    }
}

fn is_not(expr: &Expr) -> bool {
    matches!(expr, Expr::UnaryOp(unary) if unary.op == UnaryOp::Not)
}

fn operators(expr: &Expr, found: &mut Found<'_>) {
    match expr {
        Expr::BoolOp(boolean) => {
            let (this, other) = match boolean.op {
                BoolOp::And => ("and", "or"),
                BoolOp::Or => ("or", "and"),
            };
            for pair in boolean.values.windows(2) {
                let [left, right] = pair else { continue };
                if let Some(range) = found.between(left, right, this) {
                    found.add("and/or", 0.7, range, other);
                }
            }
            for (index, value) in boolean.values.iter().enumerate() {
                let rest: Vec<String> = boolean
                    .values
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != index)
                    .map(|(_, value)| found.atom(value))
                    .collect();
                let joined = rest.join(&format!(" {this} "));
                found.add("condition", 0.3, bytes(boolean), joined);
                if !is_not(value) && matches!(value, Expr::Compare(_)) {
                    found.add(
                        "negation",
                        0.12,
                        bytes(value),
                        format!("not {}", found.atom(value)),
                    );
                }
            }
            if boolean.values.len() == 3
                && let [first, second, third] = boolean.values.as_slice()
            {
                let (first, second, third) =
                    (found.atom(first), found.atom(second), found.atom(third));
                found.add(
                    "and/or",
                    0.15,
                    bytes(boolean),
                    format!("{first} {this} ({second} {other} {third})"),
                );
                found.add(
                    "and/or",
                    0.15,
                    bytes(boolean),
                    format!("({first} {this} {second}) {other} {third}"),
                );
            }
            // Mixed operators whose brackets are missing.
            if let [left, Expr::BoolOp(inner)] = boolean.values.as_slice()
                && let Some((head, tail)) = inner.values.split_first()
            {
                let tail: Vec<String> = tail.iter().map(|value| found.atom(value)).collect();
                let text = format!(
                    "({} {this} {}) {other} {}",
                    found.atom(left),
                    found.atom(head),
                    tail.join(&format!(" {other} "))
                );
                found.add("brackets", 0.3, bytes(boolean), text);
            }
            if let [Expr::BoolOp(inner), right] = boolean.values.as_slice()
                && let Some((last, head)) = inner.values.split_last()
            {
                let head: Vec<String> = head.iter().map(|value| found.atom(value)).collect();
                let text = format!(
                    "{} {other} ({} {this} {})",
                    head.join(&format!(" {other} ")),
                    found.atom(last),
                    found.atom(right)
                );
                found.add("brackets", 0.3, bytes(boolean), text);
            }
        }
        Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => {
            found.add(
                "negation",
                0.6,
                bytes(expr),
                found.code(unary.operand.as_ref()),
            );
        }
        Expr::BooleanLiteral(literal) => {
            let other = if literal.value { "False" } else { "True" };
            found.add("constant", 0.55, bytes(expr), other);
        }
        Expr::If(ternary) => {
            let (body, orelse) = (
                found.code(ternary.body.as_ref()),
                found.code(ternary.orelse.as_ref()),
            );
            let test = found.code(ternary.test.as_ref());
            found.add(
                "arms swapped",
                0.4,
                bytes(expr),
                format!("{orelse} if {test} else {body}"),
            );
            found.gut("condition", 0.1, bytes(expr), body);
            found.gut("condition", 0.1, bytes(expr), orelse);
        }
        _ => {}
    }
}

fn condition(expr: &Expr, found: &mut Found<'_>) {
    if !is_not(expr) {
        let prior = if matches!(expr, Expr::Compare(_)) {
            0.15
        } else {
            0.5
        };
        found.add(
            "negation",
            prior,
            bytes(expr),
            format!("not {}", found.atom(expr)),
        );
    }
    let code = found.code(expr);
    let mut clauses: Vec<(String, f32)> = Vec::new();
    for other in &found.sight.conditions {
        if other != code {
            clauses.push((other.clone(), 0.1));
        }
    }
    for name in &found.sight.locals {
        clauses.push((name.clone(), 0.12));
        clauses.push((format!("not {name}"), 0.08));
        clauses.push((format!("{name} is not None"), 0.06));
        clauses.push((format!("{name} is None"), 0.06));
    }
    for attribute in found
        .sight
        .attributes
        .get("self")
        .into_iter()
        .flatten()
        .take(6)
    {
        clauses.push((format!("self.{attribute}"), 0.04));
        clauses.push((format!("not self.{attribute}"), 0.04));
    }
    let atom = found.atom(expr);
    if matches!(expr, Expr::BooleanLiteral(_)) {
        for (clause, _) in clauses.iter().take(MOST_ADDED) {
            found.add("condition", 0.3, bytes(expr), clause.clone());
        }
        return;
    }
    for (clause, prior) in clauses.into_iter().take(MOST_ADDED * 3) {
        found.add(
            "condition",
            prior,
            bytes(expr),
            format!("{atom} and {clause}"),
        );
        found.add(
            "condition",
            prior * 0.9,
            bytes(expr),
            format!("{atom} or {clause}"),
        );
        found.add(
            "condition",
            prior * 0.5,
            bytes(expr),
            format!("{clause} and {atom}"),
        );
    }
    found.gut("condition", 0.05, bytes(expr), "True");
    found.gut("condition", 0.05, bytes(expr), "False");
}
