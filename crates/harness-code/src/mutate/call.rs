//! Calls: arguments swapped, missing or too many, a call around a value too many or too few.

use ruff_python_ast::{Expr, ExprCall};

use crate::mutate::bytes;
use crate::mutate::site::{Found, Node, Role};

/// Calls that are often forgotten around a value, with how often.
const WRAPPERS: &[(&str, f32)] = &[
    ("len", 0.1),
    ("list", 0.14),
    ("sorted", 0.12),
    ("str", 0.12),
    ("int", 0.12),
    ("set", 0.08),
    ("abs", 0.1),
    ("tuple", 0.08),
    ("float", 0.06),
    ("reversed", 0.08),
    ("dict", 0.06),
    ("bool", 0.06),
    ("sum", 0.06),
    ("max", 0.05),
    ("min", 0.05),
    ("iter", 0.03),
    ("repr", 0.05),
    ("enumerate", 0.06),
    ("round", 0.04),
];

/// Methods that are often forgotten on a value.
const SUFFIXES: &[(&str, f32)] = &[
    (".strip()", 0.12),
    (".lower()", 0.12),
    (".copy()", 0.14),
    (".upper()", 0.05),
    (".items()", 0.12),
    (".keys()", 0.05),
    (".values()", 0.1),
    (".rstrip()", 0.06),
    (".lstrip()", 0.05),
    (".split()", 0.05),
    (".encode()", 0.04),
    (".decode()", 0.04),
];

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    let Node::Expr(expr, role) = node else {
        return;
    };
    if let Expr::Call(call) = expr {
        arguments(call, found);
        unwrapped(call, found);
    }
    let fits = matches!(
        expr,
        Expr::Name(_)
            | Expr::Attribute(_)
            | Expr::Call(_)
            | Expr::Subscript(_)
            | Expr::BinOp(_)
            | Expr::Generator(_)
    );
    let weight = match role {
        Role::Result => 1.2,
        Role::Assigned | Role::Iterated => 1.0,
        Role::Argument | Role::Compared => 0.8,
        Role::Index | Role::Bound | Role::Clause | Role::Condition => 0.4,
        Role::Callee | Role::Other => 0.0,
    };
    let code = found.code(*expr);
    // It stands for nothing but itself: no call of it was forgotten.
    let fits = fits && code != "NotImplemented";
    if !fits || weight == 0.0 || code.contains('\n') {
        return;
    }
    for (wrapper, prior) in WRAPPERS {
        if !code.starts_with(&format!("{wrapper}(")) {
            found.add(
                "call missing",
                prior * weight,
                bytes(*expr),
                format!("{wrapper}({code})"),
            );
        }
    }
    let owner = found.atom(expr);
    for (suffix, prior) in SUFFIXES {
        if !code.ends_with(suffix) {
            found.add(
                "call missing",
                prior * weight,
                bytes(*expr),
                format!("{owner}{suffix}"),
            );
        }
    }
    // One-argument functions of the file, applied to what is passed on as it is.
    if matches!(expr, Expr::Name(_))
        && matches!(role, Role::Result | Role::Assigned | Role::Argument)
    {
        let single = |callable: &&crate::mutate::sight::Callable| callable.parameters.len() == 1;
        let names: Vec<String> = found
            .sight
            .callables
            .iter()
            .filter(single)
            .map(|known| known.name.clone())
            .take(6)
            .collect();
        let own = found.sight.attributes.contains_key("self");
        for name in names {
            let method = own && !found.sight.globals.contains(&name);
            let text = if method {
                format!("self.{name}({code})")
            } else {
                format!("{name}({code})")
            };
            found.add("call missing", 0.05, bytes(*expr), text);
        }
    }
    if matches!(expr, Expr::Attribute(_))
        && matches!(
            role,
            Role::Result | Role::Assigned | Role::Condition | Role::Clause
        )
    {
        found.add("call missing", 0.2, bytes(*expr), format!("{code}()"));
    }
    if matches!(role, Role::Result | Role::Assigned) && !matches!(expr, Expr::Generator(_)) {
        found.add(
            "call missing",
            0.06,
            bytes(*expr),
            format!("max(0, {code})"),
        );
        found.add(
            "call missing",
            0.06,
            bytes(*expr),
            format!("{owner} or None"),
        );
        found.add("call missing", 0.05, bytes(*expr), format!("[{code}]"));
    }
}

fn arguments(call: &ExprCall, found: &mut Found<'_>) {
    let args = &call.arguments.args;
    let plain = !args.iter().any(|arg| matches!(arg, Expr::Starred(_)));
    if plain {
        for index in 0..args.len().saturating_sub(1) {
            for other in index + 1..args.len().min(index + 3) {
                let (Some(one), Some(two)) = (args.get(index), args.get(other)) else {
                    continue;
                };
                let middle = found
                    .content
                    .get(bytes(one).end..bytes(two).start)
                    .unwrap_or_default();
                let text = format!("{}{middle}{}", found.code(two), found.code(one));
                found.add(
                    "arguments swapped",
                    0.45,
                    bytes(one).start..bytes(two).end,
                    text,
                );
            }
        }
    }
    for (index, arg) in args.iter().enumerate() {
        let range = bytes(arg);
        let range = match (
            index.checked_sub(1).and_then(|before| args.get(before)),
            args.get(index + 1),
        ) {
            (Some(before), _) => bytes(before).end..range.end,
            (None, Some(next)) => range.start..bytes(next).start,
            (None, None) => range,
        };
        let prior = if args.len() == 1 { 0.12 } else { 0.2 };
        found.add("argument too many", prior, range, "");
    }
    for keyword in &call.arguments.keywords {
        let start = bytes(keyword).start;
        let before = found.content.get(..start).unwrap_or_default().trim_end();
        let from = if before.ends_with(',') {
            before.len() - 1
        } else {
            start
        };
        found.add("argument too many", 0.2, from..bytes(keyword).end, "");
    }
    missing(call, found);
}

fn missing(call: &ExprCall, found: &mut Found<'_>) {
    let callee = match call.func.as_ref() {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return,
    };
    let given = call.arguments.args.len() + call.arguments.keywords.len();
    let end = bytes(call).end.saturating_sub(1);
    let comma = if given == 0 { "" } else { ", " };
    let known = found
        .sight
        .callables
        .iter()
        .find(|known| known.name == callee)
        .cloned();
    if let Some(known) = &known {
        for parameter in known
            .parameters
            .iter()
            .skip(call.arguments.args.len())
            .take(6)
        {
            let named = call.arguments.keywords.iter().any(|keyword| {
                keyword
                    .arg
                    .as_ref()
                    .is_some_and(|arg| arg.as_str() == parameter)
            });
            if named {
                continue;
            }
            if found.sight.locals.contains(parameter) {
                found.add(
                    "argument missing",
                    0.4,
                    end..end,
                    format!("{comma}{parameter}={parameter}"),
                );
            }
            if found
                .sight
                .attributes
                .get("self")
                .is_some_and(|own| own.contains(parameter))
            {
                found.add(
                    "argument missing",
                    0.25,
                    end..end,
                    format!("{comma}{parameter}=self.{parameter}"),
                );
            }
            for value in ["True", "False", "None"] {
                found.add(
                    "argument missing",
                    0.1,
                    end..end,
                    format!("{comma}{parameter}={value}"),
                );
            }
        }
    }
    if given < 4 {
        let prior = if known.is_some() { 0.15 } else { 0.1 };
        for name in found.sight.locals.clone().iter().take(8) {
            found.add(
                "argument missing",
                prior,
                end..end,
                format!("{comma}{name}"),
            );
            if let Some(first) = call.arguments.args.first() {
                let start = bytes(first).start;
                found.add(
                    "argument missing",
                    prior * 0.5,
                    start..start,
                    format!("{name}, "),
                );
            }
        }
    }
    for (wanted, extra, prior) in EXTRAS {
        if *wanted == callee {
            let text = if given == 0 {
                extra.to_string()
            } else {
                format!(", {extra}")
            };
            found.add("argument missing", *prior, end..end, text);
        }
    }
}

/// Arguments that are often forgotten, by what is called.
const EXTRAS: &[(&str, &str, f32)] = &[
    ("sorted", "reverse=True", 0.5),
    ("sort", "reverse=True", 0.5),
    ("get", "0", 0.3),
    ("get", "None", 0.1),
    ("get", "[]", 0.2),
    ("get", "''", 0.15),
    ("get", "{}", 0.15),
    ("pop", "0", 0.35),
    ("pop", "None", 0.3),
    ("split", "','", 0.1),
    ("split", "None, 1", 0.2),
    ("split", "1", 0.3),
    ("rsplit", "1", 0.3),
    ("range", "-1", 0.15),
    ("enumerate", "1", 0.35),
    ("enumerate", "start=1", 0.1),
    ("round", "2", 0.25),
    ("round", "0", 0.05),
    ("int", "2", 0.05),
    ("int", "16", 0.1),
    ("zip", "strict=True", 0.02),
    ("replace", "1", 0.2),
    ("strip", "'\\n'", 0.1),
    ("rstrip", "'\\n'", 0.1),
    ("sum", "0", 0.02),
    ("next", "None", 0.3),
    ("getattr", "None", 0.3),
    ("join", "''", 0.01),
    ("open", "'w'", 0.1),
    ("max", "default=None", 0.2),
    ("max", "default=0", 0.2),
    ("min", "default=None", 0.2),
    ("min", "default=0", 0.2),
    ("max", "key=len", 0.1),
    ("dumps", "sort_keys=True", 0.1),
    ("wraps", "func", 0.1),
    ("decode", "'utf-8'", 0.1),
    ("encode", "'utf-8'", 0.1),
    ("sub", "count=1", 0.15),
    ("groupby", "key=len", 0.02),
    ("splitlines", "True", 0.3),
    ("islice", "1", 0.05),
    ("product", "repeat=2", 0.05),
    ("cycle", "", 0.0),
];

/// A call around a value that should stand there as it is, and a method called on it.
fn unwrapped(call: &ExprCall, found: &mut Found<'_>) {
    let whole = bytes(call);
    for argument in call.arguments.args.iter().take(2) {
        if !matches!(argument, Expr::Starred(_)) {
            found.add("call too many", 0.2, whole.clone(), found.atom(argument));
        }
    }
    match call.func.as_ref() {
        Expr::Attribute(attribute) => {
            found.add(
                "call too many",
                0.2,
                whole.clone(),
                found.code(attribute.value.as_ref()),
            );
            if call.arguments.args.is_empty() && call.arguments.keywords.is_empty() {
                found.add("call too many", 0.12, whole, found.code(attribute));
            }
        }
        Expr::Name(name)
            if call.arguments.args.is_empty() && call.arguments.keywords.is_empty() =>
        {
            found.add("call too many", 0.06, whole, name.id.to_string());
        }
        _ => {}
    }
}
