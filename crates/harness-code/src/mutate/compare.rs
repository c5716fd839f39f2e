//! Comparisons: the wrong one, the wrong side of a boundary, identity for equality.

use ruff_python_ast::{CmpOp, Expr};

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node};

/// What could have been meant instead, with how often it is.
fn others(op: CmpOp) -> &'static [(&'static str, f32)] {
    match op {
        CmpOp::Lt => &[
            ("<=", 0.9),
            (">", 0.5),
            (">=", 0.3),
            ("!=", 0.2),
            ("==", 0.1),
        ],
        CmpOp::LtE => &[
            ("<", 0.9),
            (">=", 0.5),
            (">", 0.3),
            ("==", 0.2),
            ("!=", 0.1),
        ],
        CmpOp::Gt => &[
            (">=", 0.9),
            ("<", 0.5),
            ("<=", 0.3),
            ("!=", 0.2),
            ("==", 0.1),
        ],
        CmpOp::GtE => &[
            (">", 0.9),
            ("<=", 0.5),
            ("<", 0.3),
            ("==", 0.2),
            ("!=", 0.1),
        ],
        CmpOp::Eq => &[
            ("!=", 0.7),
            ("in", 0.25),
            ("is", 0.15),
            (">=", 0.3),
            ("<=", 0.3),
            (">", 0.2),
            ("<", 0.2),
        ],
        CmpOp::NotEq => &[
            ("==", 0.7),
            ("not in", 0.2),
            ("is not", 0.15),
            (">", 0.3),
            ("<", 0.3),
            (">=", 0.2),
            ("<=", 0.2),
        ],
        CmpOp::Is => &[("is not", 0.7), ("==", 0.3)],
        CmpOp::IsNot => &[("is", 0.7), ("!=", 0.3)],
        CmpOp::In => &[("not in", 0.7), ("==", 0.25)],
        CmpOp::NotIn => &[("in", 0.7), ("!=", 0.25)],
    }
}

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    let Node::Expr(Expr::Compare(compare), _) = node else {
        return;
    };
    let mut left = compare.left.as_ref();
    for (op, right) in compare.ops.iter().zip(&compare.comparators) {
        if let Some(range) = found.between(left, right, op.as_str()) {
            for (other, prior) in others(*op) {
                found.add("comparison", *prior, range.clone(), *other);
            }
        }
        // Equality with what only identity tells apart, and the other way round, is above; truth for `None` is here.
        if compare.ops.len() == 1 && matches!(right, Expr::NoneLiteral(_)) {
            let (yes, no) = (
                found.code(left).to_owned(),
                format!("not {}", found.atom(left)),
            );
            let (same, other) = match op {
                CmpOp::Is | CmpOp::Eq => (no, yes),
                _ => (yes, no),
            };
            found.add("truth for None", 0.35, bytes(compare), same);
            found.add("truth for None", 0.1, bytes(compare), other);
        }
        left = right;
    }
    if let ([op], [right]) = (compare.ops.as_ref(), compare.comparators.as_ref())
        && matches!(op, CmpOp::In | CmpOp::NotIn)
    {
        let text = format!(
            "{} {} {}",
            found.atom(right),
            op.as_str(),
            found.atom(&compare.left)
        );
        found.add("operand order", 0.2, bytes(compare), text);
    }
    // One more comparison in a chain than there should be.
    if let (Some(first), true) = (compare.comparators.first(), compare.ops.len() > 1) {
        let whole = bytes(compare);
        found.add("condition", 0.15, bytes(first).end..whole.end, "");
        found.add("condition", 0.15, whole.start..bytes(first).start, "");
    }
}
