//! Constants and bounds: off by one, the wrong sign, zero for one, the wrong word.

use ruff_python_ast::{Expr, Number};

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node, Role};

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    let Node::Expr(expr, role) = node else {
        return;
    };
    match expr {
        Expr::NumberLiteral(literal) => number(expr, &literal.value, *role, found),
        Expr::StringLiteral(literal) => {
            words(expr, *role, found);
            // Two texts with nothing between them: a comma is easily forgotten.
            let parts: Vec<usize> = literal.value.iter().map(|part| bytes(part).end).collect();
            for end in parts.iter().rev().skip(1) {
                found.add("comma missing", 0.25, *end..*end, ",");
            }
        }
        Expr::NoneLiteral(_) if matches!(role, Role::Result | Role::Assigned | Role::Argument) => {
            for (other, prior) in [
                ("[]", 0.15),
                ("{}", 0.12),
                ("0", 0.15),
                ("''", 0.12),
                ("False", 0.15),
                ("True", 0.1),
                ("()", 0.05),
            ] {
                found.add("constant", prior, bytes(*expr), other);
            }
            if *role == Role::Result {
                for name in found.sight.locals.clone() {
                    found.add("result", 0.1, bytes(*expr), name);
                }
            }
        }
        Expr::List(list) if list.elts.is_empty() => {
            for (other, prior) in [
                ("[[]]", 0.2),
                ("{}", 0.15),
                ("set()", 0.15),
                ("None", 0.12),
                ("()", 0.06),
                ("''", 0.05),
            ] {
                found.add("constant", prior, bytes(*expr), other);
            }
            if *role == Role::Result {
                for name in found.sight.parameters.clone() {
                    found.add("result", 0.12, bytes(*expr), format!("[{name}]"));
                    found.add("result", 0.1, bytes(*expr), name);
                }
            }
        }
        Expr::Dict(dict) if dict.items.is_empty() => {
            for (other, prior) in [("[]", 0.15), ("set()", 0.15), ("None", 0.1)] {
                found.add("constant", prior, bytes(*expr), other);
            }
        }
        Expr::Name(_)
        | Expr::Attribute(_)
        | Expr::Call(_)
        | Expr::BinOp(_)
        | Expr::Subscript(_) => {
            off_by_one(expr, *role, found);
        }
        _ => {}
    }
}

fn number(expr: &Expr, value: &Number, role: Role, found: &mut Found<'_>) {
    let range = bytes(expr);
    match value {
        Number::Int(int) => {
            let Some(value) = int.as_i64() else { return };
            let near = if value.abs() <= 2 { 0.6 } else { 0.4 };
            let mut others: Vec<(i64, f32)> = vec![
                (value.saturating_add(1), near),
                (value.saturating_sub(1), near),
            ];
            if value != 0 {
                others.push((-value, 0.3));
                others.push((0, 0.25));
            }
            if value != 1 {
                others.push((1, 0.25));
            }
            if value > 2 {
                others.extend([(value.saturating_mul(2), 0.08), (value / 2, 0.08)]);
                others.extend([(value.saturating_mul(10), 0.1), (value / 10, 0.1)]);
                others.extend([
                    (value.saturating_add(2), 0.08),
                    (value.saturating_sub(2), 0.08),
                ]);
            }
            if matches!(
                value,
                60 | 100 | 1000 | 1024 | 24 | 12 | 7 | 365 | 3600 | 16 | 8 | 10 | 32 | 64
            ) {
                for known in [
                    60, 100, 1000, 1024, 24, 12, 7, 365, 3600, 16, 8, 10, 2, 32, 64,
                ] {
                    others.push((known, 0.07));
                }
            }
            // The minus of `-1` stands before the literal: the new number goes in brackets of its own.
            for (other, prior) in others {
                found.add("constant", prior, range.clone(), other.to_string());
            }
            if role != Role::Index && role != Role::Bound {
                for name in found.sight.parameters.clone() {
                    found.add("name for constant", 0.08, range.clone(), name);
                }
                found.add("constant", 0.12, range.clone(), "None");
            }
            if role == Role::Assigned {
                found.add("initial value", 0.2, range.clone(), "float('inf')");
                found.add("initial value", 0.2, range.clone(), "float('-inf')");
                found.add("initial value", 0.1, range.clone(), "''");
                found.add("initial value", 0.1, range.clone(), "[]");
                found.add("initial value", 0.1, range, "1.0");
            }
        }
        Number::Float(value) => {
            for (other, prior) in [
                (value + 1.0, 0.25),
                (value - 1.0, 0.25),
                (-value, 0.3),
                (value * 2.0, 0.2),
                (value / 2.0, 0.2),
                (value * 10.0, 0.2),
                (value / 10.0, 0.2),
                (value * 100.0, 0.1),
                (value / 100.0, 0.1),
            ] {
                if other.is_finite() {
                    found.add("constant", prior, range.clone(), format!("{other:?}"));
                }
            }
        }
        Number::Complex { .. } => {}
    }
}

fn words(expr: &Expr, role: Role, found: &mut Found<'_>) {
    let (code, range) = (found.code(expr), bytes(expr));
    let Some(quote) = code.chars().next_back().filter(|c| *c == '"' || *c == '\'') else {
        return;
    };
    let Some(start) = code.find(quote) else {
        return;
    };
    let Some(inner) = code.get(start + 1..code.len() - 1) else {
        return;
    };
    if code.contains('\n') || code.len() > 60 || code.get(start..start + 3) == Some("\"\"\"") {
        return;
    }
    let prefix = code.get(..start).unwrap_or_default();
    let mut put = |text: String, prior: f32| {
        found.add(
            "word",
            prior,
            range.clone(),
            format!("{prefix}{quote}{text}{quote}"),
        );
    };
    if inner.is_empty() {
        for other in [" ", ",", ", ", "\\n", "_", "-", "0"] {
            put(other.to_owned(), 0.2);
        }
    } else {
        if inner.trim() != inner {
            put(inner.trim().to_owned(), 0.25);
        }
        put(String::new(), 0.15);
        if inner.len() <= 3 {
            put(format!("{inner} "), 0.25);
            put(format!(" {inner}"), 0.2);
            for (one, other) in [
                ("_", "-"),
                ("-", "_"),
                (".", ","),
                (",", "."),
                (",", ";"),
                (";", ","),
                (":", "="),
                ("=", ":"),
                ("/", "\\\\"),
                ("\\n", " "),
                (" ", "\\n"),
                ("&", "?"),
                ("?", "&"),
                ("r", "w"),
                ("r", "rb"),
                ("w", "a"),
                ("w", "wb"),
                ("0", " "),
                (" ", "0"),
                (" ", "_"),
                (" ", "-"),
                ("+", "-"),
                ("-", "+"),
                (" ", ""),
            ] {
                if inner == one {
                    put(other.to_owned(), 0.3);
                }
            }
        }
        let (lower, upper) = (inner.to_lowercase(), inner.to_uppercase());
        if lower != inner {
            put(lower, 0.2);
        }
        if upper != inner && inner.len() < 12 {
            put(upper, 0.12);
        }
        if let Some(shorter) = inner.get(1..) {
            put(shorter.to_owned(), 0.12);
        }
        if let Some(shorter) = inner.get(..inner.len() - 1) {
            put(shorter.to_owned(), 0.12);
        }
        if !inner.ends_with('s') {
            put(format!("{inner}s"), 0.1);
        }
        for (one, other) in [
            ("%s", "%r"),
            ("%d", "%s"),
            ("%s", "%d"),
            ("%02d", "%d"),
            ("%d", "%02d"),
            ("{}", "{!r}"),
            ("%Y", "%y"),
            ("%m", "%M"),
            ("%M", "%m"),
            ("%H", "%I"),
            ("+", "*"),
            ("*", "+"),
            ("\\d", "\\w"),
            ("\\w", "\\S"),
            ("_", "-"),
            ("-", "_"),
            (", ", ","),
            (",", ", "),
            ("^", ""),
            ("$", ""),
        ] {
            // Names with a meaning of their own are spelt as they are.
            if inner.len() > 1 && !inner.starts_with("__") && inner.contains(one) {
                put(inner.replacen(one, other, 1), 0.2);
            }
        }
        if prefix.contains('r') {
            put(format!("^{inner}"), 0.15);
            put(format!("{inner}$"), 0.15);
        }
    }
    // A word that could be a name is never mistaken for a sentence.
    let sentence = |text: &str| text.contains(' ');
    for other in found.sight.strings.clone() {
        if other != code && (sentence(inner) || inner.len() < 2 || !sentence(&other)) {
            found.add("word", 0.22, range.clone(), other);
        }
    }
    if matches!(
        role,
        Role::Argument | Role::Compared | Role::Index | Role::Result
    ) {
        for name in found.sight.parameters.clone() {
            found.add("name for constant", 0.12, range.clone(), name);
        }
    }
}

fn off_by_one(expr: &Expr, role: Role, found: &mut Found<'_>) {
    let prior = match role {
        Role::Bound => 0.45,
        Role::Index => 0.35,
        Role::Compared => 0.22,
        Role::Argument => 0.25,
        Role::Result => 0.2,
        Role::Assigned => 0.15,
        Role::Condition | Role::Clause | Role::Iterated | Role::Callee | Role::Other => return,
    };
    let code = found.code(expr);
    if code.contains('\n') {
        return;
    }
    // `a + 1` made `a + 2` is the constant's business.
    let ends_in_number = matches!(expr, Expr::BinOp(binary) if matches!(binary.right.as_ref(), Expr::NumberLiteral(_)));
    if ends_in_number {
        return;
    }
    let length = matches!(expr, Expr::Call(call) if matches!(call.func.as_ref(), Expr::Name(name) if name.id == "len"));
    let prior = if length { prior * 1.5 } else { prior };
    found.add("off by one", prior, bytes(expr), format!("{code} - 1"));
    found.add("off by one", prior, bytes(expr), format!("{code} + 1"));
}
