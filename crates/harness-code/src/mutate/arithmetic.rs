//! Operators between values: the wrong one, operands in the wrong order, one operand too many; augmented assignments too.

use ruff_python_ast::{Expr, Operator, Stmt, UnaryOp};

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node, Role};

/// What could have been meant instead, with how often it is.
fn others(op: Operator) -> &'static [(&'static str, f32)] {
    match op {
        Operator::Add => &[
            ("-", 0.7),
            ("*", 0.35),
            ("|", 0.08),
            ("/", 0.08),
            ("%", 0.06),
        ],
        Operator::Sub => &[
            ("+", 0.7),
            ("/", 0.15),
            ("*", 0.15),
            ("%", 0.1),
            ("^", 0.04),
            ("&", 0.04),
        ],
        Operator::Mult => &[
            ("/", 0.5),
            ("+", 0.35),
            ("**", 0.3),
            ("//", 0.2),
            ("-", 0.1),
            ("%", 0.08),
        ],
        Operator::Div => &[("//", 0.6), ("*", 0.5), ("%", 0.2), ("-", 0.1), ("+", 0.08)],
        Operator::FloorDiv => &[("/", 0.6), ("%", 0.4), ("*", 0.3), ("-", 0.1)],
        Operator::Mod => &[("//", 0.4), ("/", 0.2), ("*", 0.1), ("-", 0.1), ("+", 0.08)],
        Operator::Pow => &[("*", 0.5), ("^", 0.1), ("+", 0.06)],
        Operator::BitAnd => &[
            ("|", 0.6),
            ("^", 0.35),
            ("-", 0.1),
            ("and", 0.15),
            ("%", 0.05),
        ],
        Operator::BitOr => &[
            ("&", 0.6),
            ("^", 0.35),
            ("+", 0.1),
            ("or", 0.15),
            ("-", 0.1),
        ],
        Operator::BitXor => &[("&", 0.6), ("|", 0.5), ("**", 0.3), ("-", 0.1)],
        Operator::LShift => &[(">>", 0.7), ("*", 0.1)],
        Operator::RShift => &[("<<", 0.7), ("//", 0.1), ("&", 0.05)],
        Operator::MatMult => &[("*", 0.5)],
    }
}

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    match node {
        Node::Expr(expr @ Expr::BinOp(binary), role) => {
            let (left, right) = (binary.left.as_ref(), binary.right.as_ref());
            if matches!(
                (left, binary.op),
                (Expr::StringLiteral(_) | Expr::FString(_), Operator::Mod)
            ) {
                return;
            }
            let text_joined =
                |side: &Expr| matches!(side, Expr::StringLiteral(_) | Expr::FString(_));
            let joins = text_joined(left) || text_joined(right);
            if let Some(range) = found.between(left, right, binary.op.as_str())
                && !joins
            {
                for (other, prior) in others(binary.op) {
                    found.add("operator", *prior, range.clone(), *other);
                }
            }
            let turned = match binary.op {
                Operator::Sub | Operator::Div | Operator::FloorDiv | Operator::Mod => 0.4,
                Operator::Pow | Operator::LShift | Operator::RShift | Operator::MatMult => 0.3,
                Operator::Add => 0.2,
                Operator::Mult | Operator::BitAnd | Operator::BitOr | Operator::BitXor => 0.03,
            };
            let text = format!(
                "{} {} {}",
                found.atom(right),
                binary.op.as_str(),
                found.atom(left)
            );
            found.add("operand order", turned, bytes(*expr), text);
            let constant = |side: &Expr| matches!(side, Expr::NumberLiteral(_));
            let needless = if constant(right) { 0.55 } else { 0.2 };
            found.add("operand too many", needless, bytes(*expr), found.atom(left));
            let needless = if constant(left) { 0.4 } else { 0.15 };
            found.add(
                "operand too many",
                needless,
                bytes(*expr),
                found.atom(right),
            );
            if let Expr::BinOp(inner) = left
                && *role != Role::Callee
            {
                // `a - b * c` written without the brackets it needs, and the other way round.
                let text = format!(
                    "{} {} ({} {} {})",
                    found.atom(&inner.left),
                    inner.op.as_str(),
                    found.code(inner.right.as_ref()),
                    binary.op.as_str(),
                    found.code(right)
                );
                found.add("brackets", 0.25, bytes(*expr), text);
            }
            if let Expr::BinOp(inner) = right {
                let text = format!(
                    "({} {} {}) {} {}",
                    found.code(left),
                    binary.op.as_str(),
                    found.code(inner.left.as_ref()),
                    inner.op.as_str(),
                    found.atom(&inner.right)
                );
                found.add("brackets", 0.25, bytes(*expr), text);
            }
        }
        Node::Expr(expr @ Expr::UnaryOp(unary), _) => {
            if matches!(unary.op, UnaryOp::USub | UnaryOp::Invert) {
                found.add(
                    "sign",
                    0.4,
                    bytes(*expr),
                    found.code(unary.operand.as_ref()),
                );
            }
        }
        Node::Expr(expr @ (Expr::Name(_) | Expr::Attribute(_) | Expr::Call(_)), role) => {
            if matches!(
                role,
                Role::Argument | Role::Result | Role::Assigned | Role::Index
            ) {
                found.add(
                    "sign",
                    0.06,
                    bytes(*expr),
                    format!("-{}", found.code(*expr)),
                );
            }
        }
        Node::Stmt(Stmt::AugAssign(assign)) => {
            let (target, value) = (assign.target.as_ref(), assign.value.as_ref());
            let written = format!("{}=", assign.op.as_str());
            if let Some(range) = found.between(target, value, &written) {
                for (other, prior) in others(assign.op) {
                    if !matches!(*other, "and" | "or") {
                        found.add(
                            "augmented assignment",
                            *prior,
                            range.clone(),
                            format!("{other}="),
                        );
                    }
                }
                found.add("augmented assignment", 0.35, range, "=");
            }
            if assign.op == Operator::Add {
                let (target, value) = (found.code(target).to_owned(), found.atom(value));
                found.add(
                    "operand order",
                    0.12,
                    bytes(assign),
                    format!("{target} = {value} + {target}"),
                );
            }
        }
        Node::Stmt(Stmt::Assign(assign)) => {
            let [target @ (Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_))] =
                assign.targets.as_slice()
            else {
                return;
            };
            if let Some(range) = found.between(target, assign.value.as_ref(), "=") {
                for (other, prior) in [("+=", 0.25), ("-=", 0.1), ("*=", 0.08), ("|=", 0.05)] {
                    found.add("augmented assignment", prior, range.clone(), other);
                }
            }
        }
        _ => {}
    }
}
