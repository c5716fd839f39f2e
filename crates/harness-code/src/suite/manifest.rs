//! Values of the files in which Python projects describe themselves.

use std::sync::LazyLock;

use regex::Regex;
use ruff_python_ast::Expr;
use toml::{Table, Value};

pub(super) fn inside<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let value = table.get(first)?;
    if rest.is_empty() {
        Some(value)
    } else {
        inside(value.as_table()?, rest)
    }
}

pub(super) fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the names of the values in a part of a file of sections.
pub(super) fn keys(text: &str, section: &str) -> Vec<String> {
    let start = format!("[{section}]");
    let lines = text.lines().skip_while(|line| line.trim_end() != start);
    let lines = lines.skip(1).take_while(|line| !line.starts_with('['));
    let names = lines.filter(|line| !line.starts_with([' ', '\t', '#', ';']));
    let names = names.filter_map(|line| line.split_once(['=', ':']));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

/// Returns the lines of a value in a file of sections, as `setup.cfg` and `tox.ini` are.
pub(super) fn ini(text: &str, section: &str, key: &str) -> Vec<String> {
    let (mut is_inside, mut is_value, mut found) = (false, false, Vec::new());
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t']);
        let line = line.split(" #").next().unwrap_or_default();
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
pub(super) fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

/// Returns the distribution that a requirement names.
pub(super) fn distribution(text: &str) -> Option<String> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[|[<>=!~@(,]|$)").ok()
    });
    let name = NAME.as_ref()?.captures(text)?.get(1)?.as_str();
    Some(normal(name.trim_end_matches('.')))
}

/// Returns the texts of a list in Python code.
pub(super) fn texts(value: &Expr) -> Vec<String> {
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
