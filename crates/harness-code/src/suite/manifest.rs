//! Values of the files in which Python projects describe themselves.

use std::sync::LazyLock;

use regex::Regex;
use ruff_python_ast::{Expr, ExprCall, Stmt};
use toml::{Table, Value};

use crate::language::python;

pub(crate) fn inside<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let value = table.get(first)?;
    if rest.is_empty() {
        Some(value)
    } else {
        inside(value.as_table()?, rest)
    }
}

pub(crate) fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the names of the values in a part of a file of sections.
pub(crate) fn keys(text: &str, section: &str) -> Vec<String> {
    let start = format!("[{section}]");
    let lines = text.lines().skip_while(|line| line.trim_end() != start);
    let lines = lines.skip(1).take_while(|line| !line.starts_with('['));
    let names = lines.filter(|line| !line.starts_with([' ', '\t', '#', ';']));
    let names = names.filter_map(|line| line.split_once(['=', ':']));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

/// Returns the lines of a value in a file of sections, as `setup.cfg` and `tox.ini` are, without the comments in them.
pub(crate) fn ini(text: &str, section: &str, key: &str) -> Vec<String> {
    let lines = ini_whole(text, section, key).into_iter();
    let said = lines.filter_map(|line| Some(line.split(" #").next()?.trim().to_owned()));
    said.collect()
}

/// Returns the lines of a value in a file of sections, whatever stands in them.
pub(crate) fn ini_whole(text: &str, section: &str, key: &str) -> Vec<String> {
    let (mut is_inside, mut is_value, mut found) = (false, false, Vec::new());
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t']);
        let trimmed = line.trim_start();
        // A value goes on behind them.
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.split(']').next())
        {
            (is_inside, is_value) = (name == section, false);
        } else if is_inside && !is_indented {
            let (name, value) = line
                .split_once('=')
                .or(line.split_once(':'))
                .unwrap_or((line, ""));
            is_value = name.trim() == key;
            found.extend(is_value.then(|| value.trim().to_owned()));
        } else if is_value {
            found.push(line.trim().to_owned());
        }
    }
    found
}

/// Returns a distribution's name in the one spelling that indexes use.
pub(crate) fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

/// Returns the distribution that a requirement names.
pub(crate) fn distribution(text: &str) -> Option<String> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[|[<>=!~@(,]|$)").ok()
    });
    let name = NAME.as_ref()?.captures(text)?.get(1)?.as_str();
    Some(normal(name.trim_end_matches('.')))
}

/// Reads the call of `setup` in a `setup.py`, with the statements around it.
pub(crate) fn with_setup<T>(text: &str, read: impl FnOnce(&[Stmt], &ExprCall) -> T) -> Option<T> {
    let is_setup = |call: &&ExprCall| match &*call.func {
        // Also where it was imported as `_setup`.
        Expr::Name(name) => name.id.trim_start_matches('_') == "setup",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "setup",
        _ => false,
    };
    python::with_module(text, |module| {
        let statements = module.suite().iter().filter_map(Stmt::as_expr_stmt);
        let mut calls = statements.filter_map(|statement| statement.value.as_call_expr());
        Some(read(module.suite(), calls.find(is_setup)?))
    })
    .flatten()
}

/// Returns the texts of a list in Python code.
pub(crate) fn texts(value: &Expr) -> Vec<String> {
    let one = |value: &Expr| match value {
        Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
        _ => None,
    };
    match value {
        Expr::List(list) => list.elts.iter().filter_map(one).collect(),
        Expr::Tuple(tuple) => tuple.elts.iter().filter_map(one).collect(),
        other => one(other).into_iter().collect(),
    }
}
