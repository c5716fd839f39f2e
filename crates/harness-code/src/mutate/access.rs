//! Ways into a mapping or an object: `d[k]`, `d.get(k)`, `setdefault`; exceptions that are caught for each other.

use ruff_python_ast::{ExceptHandler, Expr, ExprContext, Stmt};

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node};

/// Exceptions that are taken for each other.
const CAUGHT: &[&str] = &[
    "KeyError",
    "IndexError",
    "ValueError",
    "TypeError",
    "AttributeError",
    "LookupError",
    "Exception",
    "OSError",
    "StopIteration",
    "ZeroDivisionError",
    "ImportError",
    "UnicodeDecodeError",
    "OverflowError",
];

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    match node {
        Node::Expr(expr @ Expr::Subscript(subscript), _) if subscript.ctx == ExprContext::Load => {
            if matches!(subscript.slice.as_ref(), Expr::Slice(_)) {
                return;
            }
            let (owner, key) = (
                found.code(subscript.value.as_ref()),
                found.code(subscript.slice.as_ref()),
            );
            found.add("access", 0.15, bytes(*expr), format!("{owner}.get({key})"));
            for (default, prior) in [("0", 0.12), ("[]", 0.08), ("''", 0.06), ("{}", 0.06)] {
                found.add(
                    "default missing",
                    prior,
                    bytes(*expr),
                    format!("{owner}.get({key}, {default})"),
                );
            }
            found.add(
                "default missing",
                0.06,
                bytes(*expr),
                format!("{owner}.setdefault({key}, [])"),
            );
        }
        Node::Expr(expr @ Expr::Call(call), _) => {
            let Expr::Attribute(attribute) = call.func.as_ref() else {
                return;
            };
            let (owner, args) = (found.code(attribute.value.as_ref()), &call.arguments.args);
            match (attribute.attr.as_str(), args.as_ref()) {
                ("get" | "setdefault" | "pop", [key, ..]) => {
                    let key = found.code(key).to_owned();
                    found.add("access", 0.25, bytes(*expr), format!("{owner}[{key}]"));
                    if let Some(default) = args.get(1) {
                        let default = found.code(default).to_owned();
                        for method in ["get", "setdefault", "pop"] {
                            found.add(
                                "access",
                                0.2,
                                bytes(*expr),
                                format!("{owner}.{method}({key}, {default})"),
                            );
                        }
                    }
                }
                ("append", [value]) => {
                    let value = found.code(value).to_owned();
                    found.add(
                        "access",
                        0.2,
                        bytes(*expr),
                        format!("{owner}.insert(0, {value})"),
                    );
                    found.add(
                        "access",
                        0.2,
                        bytes(*expr),
                        format!("{owner}.append(list({value}))"),
                    );
                    found.add(
                        "access",
                        0.15,
                        bytes(*expr),
                        format!("{owner}.append({value}.copy())"),
                    );
                    found.add("access", 0.15, bytes(*expr), format!("{owner} += {value}"));
                }
                _ => {}
            }
        }
        Node::Stmt(Stmt::Assign(assign)) => {
            if let [target @ Expr::Subscript(subscript)] = assign.targets.as_slice()
                && !matches!(subscript.slice.as_ref(), Expr::Slice(_))
            {
                let (owner, key) = (
                    found.code(subscript.value.as_ref()),
                    found.code(subscript.slice.as_ref()),
                );
                let value = found.code(assign.value.as_ref());
                let (value, target) = (value.to_owned(), found.code(target).to_owned());
                found.add(
                    "access",
                    0.15,
                    bytes(assign),
                    format!("{owner}.setdefault({key}, {value})"),
                );
                found.add(
                    "access",
                    0.12,
                    bytes(assign),
                    format!("{owner}.setdefault({key}, []).append({value})"),
                );
                found.add(
                    "access",
                    0.1,
                    bytes(assign),
                    format!("{target} = {owner}.get({key}, 0) + {value}"),
                );
            }
        }
        Node::Handler(ExceptHandler::ExceptHandler(handler)) => {
            let Some(caught) = handler.type_.as_deref() else {
                return;
            };
            let code = found.code(caught);
            for other in CAUGHT.iter().filter(|other| !code.contains(**other)) {
                found.add("exception", 0.15, bytes(caught), *other);
                if !code.starts_with('(') {
                    found.add(
                        "exception",
                        0.2,
                        bytes(caught),
                        format!("({code}, {other})"),
                    );
                } else if let Some(inner) = code.strip_suffix(')') {
                    found.add(
                        "exception",
                        0.2,
                        bytes(caught),
                        format!("{}, {other})", inner.trim_end_matches([',', ' '])),
                    );
                }
            }
        }
        Node::Stmt(Stmt::Raise(raise)) => {
            let raised = match raise.exc.as_deref() {
                Some(Expr::Call(call)) => call.func.as_ref(),
                Some(other) => other,
                None => return,
            };
            let code = found.code(raised);
            if CAUGHT.contains(&code) {
                for other in CAUGHT.iter().filter(|other| **other != code) {
                    found.add("exception", 0.15, bytes(raised), *other);
                }
            }
        }
        _ => {}
    }
}
