//! Names that every module of a project has besides Python's own: declared to its linters, or put there while it runs.

use ruff_python_ast::Expr;

use super::finding::{Search, is_quoted};
use crate::path::RelPath;
use crate::text::is_among;
use crate::tree::SourceTree;

/// Files in which a project declares names to its linters, as TOML.
const TABLES: [&str; 3] = ["pyproject.toml", "ruff.toml", ".ruff.toml"];
/// The same, as lines of `key = a, b`.
const LINES: [&str; 5] = ["setup.cfg", "tox.ini", ".flake8", ".pylintrc", "pylintrc"];

/// The names that the project's linters are told to take for builtins.
pub(crate) fn declared(tree: &SourceTree) -> Vec<String> {
    let text = |name: &str| {
        let path = RelPath::parse(name).ok()?;
        Some(tree.text(&path).ok()?.into_content())
    };
    let mut names: Vec<String> = Vec::new();
    for content in TABLES.iter().filter_map(|name| text(name)) {
        if let Ok(table) = content.parse::<toml::Table>() {
            from_table(&table, 0, &mut names);
        }
    }
    for content in LINES.iter().filter_map(|name| text(name)) {
        from_lines(&content, &mut names);
    }
    names
}

fn is_key(key: &str) -> bool {
    matches!(
        key,
        "builtins" | "additional-builtins" | "additional_builtins"
    )
}

/// Linters keep their settings at most a few tables deep.
const DEEPEST: u32 = 5;

fn from_table(table: &toml::Table, depth: u32, names: &mut Vec<String>) {
    for (key, value) in table {
        match value {
            toml::Value::Array(values) if is_key(key) => {
                let texts = values.iter().filter_map(toml::Value::as_str);
                names.extend(texts.map(str::to_string));
            }
            toml::Value::String(text) if is_key(key) => names.extend(split(text)),
            toml::Value::Table(inner) if depth < DEEPEST => from_table(inner, depth + 1, names),
            _ => {}
        }
    }
}

fn from_lines(content: &str, names: &mut Vec<String>) {
    let mut inside = false;
    for line in content.lines() {
        let goes_on = line.starts_with([' ', '\t']);
        if !goes_on {
            inside = false;
        }
        match line.split_once(['=', ':']) {
            Some((key, value)) if !goes_on => {
                inside = is_key(key.trim());
                if inside {
                    names.extend(split(value));
                }
            }
            _ if inside => names.extend(split(line)),
            _ => {}
        }
    }
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split([',', ' ', '\t'])
        .filter(|name| !name.is_empty())
        .map(str::to_string)
}

impl Search<'_, '_> {
    /// Whether some file of the project puts a name among the builtins: `builtins.name = ...`, or by a string.
    pub(crate) fn is_added_builtin(&self, name: &str) -> bool {
        let may_add = |text: &str| {
            text.contains(name) && (text.contains("__builtin") || text.contains("builtins"))
        };
        let ids = self.program.sources.where_text(may_add).into_iter();
        let mut files = ids.filter_map(|id| self.program.file(id));
        files.any(|file| {
            let mut stores = file.scopes.stores.iter();
            let is_set = stores.any(|store| {
                store.node.attr.as_str() == name
                    && matches!(store.node.value.as_ref(), Expr::Name(owner) if is_among("builtins __builtin__ __builtins__", &owner.id))
            });
            is_set || is_quoted(&file, name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_every_tool_are_read() {
        let mut names = Vec::new();
        from_lines(
            "[flake8]\nmax-line-length = 100\nbuiltins = _, ngettext\n    Route\nignore =\n    E1\n[x]\nadditional-builtins: foo\n",
            &mut names,
        );
        assert_eq!(names, ["_", "ngettext", "Route", "foo"]);
        let table =
            "[tool.ruff]\nbuiltins = ['a']\n[tool.pylint.variables]\nadditional-builtins = 'b,c'\n";
        let mut names = Vec::new();
        from_table(&table.parse().unwrap(), 0, &mut names);
        names.sort();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
