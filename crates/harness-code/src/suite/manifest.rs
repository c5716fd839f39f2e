//! Values of the files in which Python projects describe themselves.

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
