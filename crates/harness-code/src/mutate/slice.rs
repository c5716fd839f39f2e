//! Indexes and slices: the wrong end, a bound too many or too few, the wrong direction; `range` too.

use ruff_python_ast::{Expr, UnaryOp};

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node, Role};

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    let Node::Expr(expr, role) = node else {
        return;
    };
    match expr {
        Expr::Slice(slice) => {
            let range = bytes(*expr);
            let code = |bound: &Option<Box<Expr>>| {
                bound
                    .as_ref()
                    .map(|bound| found.code(bound.as_ref()).to_owned())
                    .unwrap_or_default()
            };
            let (lower, upper, step) = (code(&slice.lower), code(&slice.upper), code(&slice.step));
            let mut forms: Vec<(String, f32)> = Vec::new();
            match (lower.is_empty(), upper.is_empty()) {
                (true, true) => forms.extend([
                    ("1:".into(), 0.3),
                    (":-1".into(), 0.3),
                    ("::-1".into(), 0.4),
                ]),
                (false, true) => {
                    forms.extend([
                        (format!(":{lower}"), 0.5),
                        (":".into(), 0.2),
                        (format!("{lower}:-1"), 0.2),
                    ]);
                    forms.extend([
                        (format!("{lower} + 1:"), 0.3),
                        (format!("{lower} - 1:"), 0.3),
                        (format!("-{lower}:"), 0.25),
                    ]);
                }
                (true, false) => {
                    forms.extend([
                        (format!("{upper}:"), 0.5),
                        (":".into(), 0.2),
                        (format!("1:{upper}"), 0.25),
                    ]);
                    forms.extend([
                        (format!(":{upper} + 1"), 0.3),
                        (format!(":{upper} - 1"), 0.3),
                        (format!(":-{upper}"), 0.2),
                    ]);
                }
                (false, false) => {
                    forms.extend([
                        (format!("{lower}:"), 0.4),
                        (format!(":{upper}"), 0.4),
                        (format!("{upper}:{lower}"), 0.2),
                    ]);
                    forms.extend([
                        (format!("{lower} + 1:{upper}"), 0.25),
                        (format!("{lower}:{upper} - 1"), 0.25),
                        (format!("{lower}:{upper} + 1"), 0.25),
                    ]);
                    forms.push((format!("{lower}:{lower} + {upper}"), 0.2));
                }
            }
            if step.is_empty() {
                if !(lower.is_empty() && upper.is_empty()) {
                    forms.push((format!("{lower}:{upper}:-1"), 0.1));
                }
                forms.push((format!("{lower}:{upper}:2"), 0.05));
            } else {
                forms.push((format!("{lower}:{upper}"), 0.3));
                for (text, _) in &mut forms {
                    if text.matches(':').count() == 1 && !text.ends_with(&upper) {
                        text.push_str(&format!(":{step}"));
                    }
                }
            }
            for (text, prior) in forms {
                found.add("slice", prior, range.clone(), text);
            }
        }
        Expr::NumberLiteral(_) if *role == Role::Index => {
            let other = match found.code(*expr) {
                "0" => "-1",
                "1" => "0",
                _ => "0",
            };
            found.add("index", 0.5, bytes(*expr), other);
        }
        Expr::UnaryOp(unary) if *role == Role::Index && unary.op == UnaryOp::USub => {
            for (other, prior) in [("0", 0.5), ("-2", 0.3), ("1", 0.2)] {
                found.add("index", prior, bytes(*expr), other);
            }
        }
        Expr::Name(_) | Expr::BinOp(_) if *role == Role::Index => {
            found.add(
                "index",
                0.12,
                bytes(*expr),
                format!("-{}", found.atom(expr)),
            );
            found.add("index", 0.1, bytes(*expr), "-1");
            found.add("index", 0.1, bytes(*expr), "0");
        }
        Expr::Subscript(subscript) => {
            let value = found.code(subscript.value.as_ref()).to_owned();
            let prior = if matches!(subscript.slice.as_ref(), Expr::Slice(_)) {
                0.3
            } else {
                0.15
            };
            found.add("index too many", prior, bytes(*expr), value);
            if let Expr::Tuple(pair) = subscript.slice.as_ref()
                && let [one, other] = pair.elts.as_slice()
            {
                let text = format!("{}, {}", found.code(other), found.code(one));
                found.add("operand order", 0.4, bytes(subscript.slice.as_ref()), text);
            }
            // Two indexes in a row, turned round.
            if let Expr::Subscript(inner) = subscript.value.as_ref() {
                let (one, other) = (
                    found.code(inner.slice.as_ref()),
                    found.code(subscript.slice.as_ref()),
                );
                let text = format!("{}[{other}][{one}]", found.code(inner.value.as_ref()));
                found.add("operand order", 0.3, bytes(*expr), text);
            }
        }
        Expr::Name(_) | Expr::Call(_) | Expr::Attribute(_) => {
            let code = found.code(*expr);
            let prior = match role {
                Role::Iterated => 0.2,
                Role::Result | Role::Assigned | Role::Argument => 0.1,
                _ => return,
            };
            for (suffix, weight) in [
                ("[1:]", 1.0),
                ("[:-1]", 1.0),
                ("[::-1]", 0.9),
                ("[0]", 0.8),
                ("[-1]", 0.6),
                ("[1]", 0.5),
                ("[:]", 0.5),
            ] {
                found.add(
                    "slice",
                    prior * weight,
                    bytes(*expr),
                    format!("{code}{suffix}"),
                );
            }
        }
        _ => {}
    }
}
