//! Lines that are missing: a step of a loop, a guard for the empty case, a copy, a call, what `__init__` should keep.

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

use crate::mutate::site::{Found, Node};

pub(super) fn suspect(node: &Node<'_>, found: &mut Found<'_>) {
    match node {
        Node::Function(function) => beginning(function, found),
        Node::Body(body, block) => {
            if block.of_loop {
                rounds(body, found);
            }
            if block.in_loop
                && !block.of_loop
                && let Some(last) = body.last()
                && !matches!(
                    last,
                    Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return(_) | Stmt::Raise(_)
                )
            {
                behind(last, &["break", "continue"], 0.15, found);
            }
            if block.of_function
                && let Some(last) = body.last()
                && !matches!(last, Stmt::Return(_) | Stmt::Raise(_))
            {
                let calls: Vec<String> = found
                    .sight
                    .plain_methods
                    .iter()
                    .map(|name| format!("self.{name}()"))
                    .collect();
                let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
                behind(last, &calls, 0.12, found);
            }
        }
        _ => {}
    }
}

fn behind(stmt: &Stmt, lines: &[&str], prior: f32, found: &mut Found<'_>) {
    let Some((span, indent)) = found.whole_lines(stmt) else {
        return;
    };
    let ended = found
        .content
        .get(..span.end)
        .is_some_and(|text| text.ends_with('\n'));
    let newline = found.newline();
    for line in lines {
        let text = if ended {
            format!("{indent}{line}{newline}")
        } else {
            format!("{newline}{indent}{line}")
        };
        found.add("line missing", prior, span.end..span.end, text);
    }
}

fn before(stmt: &Stmt, line: &str, prior: f32, found: &mut Found<'_>) {
    if let Some((span, indent)) = found.whole_lines(stmt) {
        let text = format!("{indent}{line}{}", found.newline());
        found.add("line missing", prior, span.start..span.start, text);
    }
}

/// What a round of a loop forgot.
fn rounds(body: &[Stmt], found: &mut Found<'_>) {
    let Some(last) = body.last() else { return };
    let mut lines: Vec<(String, f32)> = Vec::new();
    for name in &found.sight.locals {
        let compared = |condition: &&String| {
            condition
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == name)
        };
        let in_condition = found
            .sight
            .conditions
            .iter()
            .any(|condition| compared(&condition));
        if !in_condition {
            continue;
        }
        let asked_in = |word: &str| {
            found
                .sight
                .conditions
                .iter()
                .any(|condition| condition.contains(&format!("{word} {name}")))
        };
        if asked_in("in") {
            for item in found.sight.locals.iter().filter(|item| *item != name) {
                lines.push((format!("{name}.add({item})"), 0.2));
                lines.push((format!("{name}.append({item})"), 0.12));
            }
        } else {
            let known = found.sight.changed.contains(name);
            let prior = if known { 0.08 } else { 0.2 };
            lines.push((format!("{name} += 1"), prior));
            lines.push((format!("{name} -= 1"), prior));
        }
    }
    for (line, prior) in lines.into_iter().take(24) {
        behind(last, &[&line], prior, found);
    }
}

/// What stands before everything else.
fn beginning(function: &StmtFunctionDef, found: &mut Found<'_>) {
    let is_docstring = |stmt: &&Stmt| matches!(stmt, Stmt::Expr(inner) if matches!(inner.value.as_ref(), Expr::StringLiteral(_)));
    let Some(first) = function.body.iter().find(|stmt| !is_docstring(stmt)) else {
        return;
    };
    let name = function.name.as_str();
    let parameters = found.sight.parameters.clone();
    if name == "__init__" {
        for parameter in &parameters {
            let prior = if found.sight.uses.contains_key(parameter) {
                0.1
            } else {
                0.5
            };
            let line = format!("self.{parameter} = {parameter}");
            before(first, &line, prior, found);
        }
        before(first, "super().__init__()", 0.12, found);
    }
    for parameter in found.sight.optional.clone() {
        for empty in ["[]", "{}", "''", "0", "set()"] {
            let line = format!("{parameter} = {empty} if {parameter} is None else {parameter}");
            before(first, &line, 0.15, found);
        }
    }
    let mut results = found.sight.results.clone();
    for common in ["None", "[]", "0", "False", "True", "''", "1", "{}"] {
        if !results.iter().any(|known| known == common) {
            results.push(common.to_owned());
        }
    }
    let newline_indent = |found: &Found<'_>| {
        found
            .whole_lines(first)
            .map(|(_, indent)| indent.to_owned())
    };
    let Some(indent) = newline_indent(found) else {
        return;
    };
    let step = if indent.contains('\t') { "\t" } else { "    " };
    let recursive = function_calls_itself(name, found);
    for parameter in parameters.iter().take(3) {
        let prior = if recursive { 0.15 } else { 0.06 };
        for result in results.iter().take(8) {
            for test in [format!("not {parameter}"), format!("{parameter} is None")] {
                let line = format!("if {test}:{}{indent}{step}return {result}", found.newline());
                before(first, &line, prior, found);
            }
        }
        for other in parameters
            .iter()
            .filter(|other| *other != parameter)
            .take(2)
        {
            for result in ["True", "False", "0"] {
                let line = format!(
                    "if {parameter} == {other}:{}{indent}{step}return {result}",
                    found.newline()
                );
                before(first, &line, prior * 0.5, found);
            }
        }
        if found.sight.changed.contains(parameter) {
            for copy in [
                format!("list({parameter})"),
                format!("dict({parameter})"),
                format!("{parameter}.copy()"),
            ] {
                before(first, &format!("{parameter} = {copy}"), 0.2, found);
            }
        }
        for change in [".strip()", ".lower()"] {
            before(
                first,
                &format!("{parameter} = {parameter}{change}"),
                0.05,
                found,
            );
        }
        for call in ["abs", "list", "str", "int"] {
            before(
                first,
                &format!("{parameter} = {call}({parameter})"),
                0.04,
                found,
            );
        }
    }
}

fn function_calls_itself(name: &str, found: &Found<'_>) -> bool {
    found.sight.uses.contains_key(name)
}
