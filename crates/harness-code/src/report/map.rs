//! The map: what is where, short enough for a model. A project or folder gives its files, a file its outline.

use std::fmt::Write;

use crate::path::RelPath;
use crate::report::{clipped, counted};
use crate::symbols::{Definition, DefinitionKind};
use crate::text::line_start;
use crate::tree::{SourceFile, SourceTree};

/// Returns a map of a file, a folder or (`None`) the project, in at most `longest` characters.
///
/// `None` when there is nothing at `place`.
pub fn map(tree: &SourceTree, place: Option<&RelPath>, longest: usize) -> Option<String> {
    if let Some(file) = place.and_then(|path| tree.file(path)) {
        return Some(outline(file, longest));
    }
    let inside = |file: &&SourceFile| place.is_none_or(|folder| file.path.starts_with(folder));
    let files: Vec<&SourceFile> = tree.files().iter().filter(inside).collect();
    if files.is_empty() && place.is_some() {
        return None;
    }
    // With what the files define when that fits, else only the files, else only the folders.
    let sources: Vec<&SourceFile> = files
        .iter()
        .copied()
        .filter(|file| file.language.is_source())
        .collect();
    let shown = if sources.is_empty() { &files } else { &sources };
    let rich = listed(shown, true);
    if rich.len() <= longest {
        return Some(rich);
    }
    let plain = listed(shown, false);
    if plain.len() <= longest {
        return Some(plain);
    }
    Some(folders(place, shown, longest))
}

fn listed(files: &[&SourceFile], with_names: bool) -> String {
    let mut text = String::new();
    for file in files {
        let _ = write!(text, "{}", file.path);
        if file.lines > 0 {
            let _ = write!(text, " ({})", counted(file.lines.into(), "line"));
        }
        let names: Vec<&str> = outer(file).map(|d| d.name()).take(12).collect();
        if with_names && !names.is_empty() {
            let _ = write!(text, ": {}", clipped(&names.join(", "), 160));
        }
        text.push('\n');
    }
    text
}

fn outer(file: &SourceFile) -> impl Iterator<Item = &Definition> {
    file.facts
        .definitions
        .iter()
        .filter(|d| d.parent.is_none() && d.kind != DefinitionKind::Variable)
}

/// Each folder directly below `place` with what is in it, and the files directly in it.
fn folders(place: Option<&RelPath>, files: &[&SourceFile], longest: usize) -> String {
    let prefix = place.map_or(String::new(), |folder| format!("{folder}/"));
    let mut rows: Vec<(String, u64, u64)> = Vec::new();
    for file in files {
        let rest = file
            .path
            .as_str()
            .strip_prefix(&prefix)
            .unwrap_or(file.path.as_str());
        let name = match rest.split_once('/') {
            Some((folder, _)) => format!("{prefix}{folder}/"),
            None => file.path.to_string(),
        };
        // Files are sorted, so those of one folder follow each other.
        match rows.last_mut() {
            Some(row) if row.0 == name => {
                row.1 += 1;
                row.2 += u64::from(file.lines);
            }
            Some(_) | None => rows.push((name, 1, u64::from(file.lines))),
        }
    }
    let mut text = String::new();
    for (at, (name, files, lines)) in rows.iter().enumerate() {
        let line = match name.ends_with('/') {
            true => format!(
                "{name} ({}, {})\n",
                counted(*files, "file"),
                counted(*lines, "line")
            ),
            false => format!("{name} ({})\n", counted(*lines, "line")),
        };
        if text.len() + line.len() + 40 > longest {
            let _ = writeln!(text, "... and {} more", rows.len() - at);
            break;
        }
        text.push_str(&line);
    }
    text
}

/// Every definition of a file with its line; the deepest are left out first when there is too little room.
fn outline(file: &SourceFile, longest: usize) -> String {
    for detail in [Detail::Everything, Detail::NoVariables, Detail::OuterOnly] {
        let text = outlined(file, detail);
        if text.len() <= longest {
            return text;
        }
    }
    let text = outlined(file, Detail::OuterOnly);
    let cut = text.floor_char_boundary(longest.saturating_sub(20).min(text.len()));
    format!("{}... and more\n", &text[..line_start(&text, cut)])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Everything,
    NoVariables,
    OuterOnly,
}

fn outlined(file: &SourceFile, detail: Detail) -> String {
    let mut text = format!("{} ({})\n", file.path, counted(file.lines.into(), "line"));
    if let Some(doc) = &file.facts.doc {
        let _ = writeln!(text, "{}", clipped(doc, 120));
    }
    let mut depths: Vec<usize> = Vec::with_capacity(file.facts.definitions.len());
    for definition in &file.facts.definitions {
        let depth = definition
            .parent
            .and_then(|at| depths.get(at as usize))
            .map_or(0, |depth| depth + 1);
        depths.push(depth);
        let is_shown = match detail {
            Detail::Everything => true,
            Detail::NoVariables => definition.kind != DefinitionKind::Variable,
            Detail::OuterOnly => definition.kind != DefinitionKind::Variable && depth == 0,
        };
        if is_shown {
            let _ = writeln!(
                text,
                "{}{} {}",
                "  ".repeat(depth),
                definition.line,
                clipped(&definition.signature, 100)
            );
        }
    }
    text
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out a project in a temporary folder"
)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fs;

    #[track_caller]
    fn check(place: &str, longest: usize, expected: &Expect) {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            (
                "shop/order.py",
                "\"\"\"One order.\"\"\"\nLIMIT = 3\n\nclass Order:\n    def total(self): pass\n\ndef load(path): pass\n",
            ),
            ("shop/price.py", "def tax(x): pass\n"),
            ("web/app.js", "function start() {}\n"),
            ("README.md", "hi"),
        ];
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let place = RelPath::parse(place).ok();
        expected.assert_eq(
            &map(&tree, place.as_ref(), longest).unwrap_or_else(|| "nothing there".to_string()),
        );
    }

    #[test]
    fn more_room_shows_more() {
        check(
            "",
            1000,
            &expect![[r#"
                shop/order.py (7 lines): Order, load
                shop/price.py (1 line): tax
                web/app.js (1 line): start
            "#]],
        );
        check(
            "",
            110,
            &expect![[r#"
                shop/order.py (7 lines): Order, load
                shop/price.py (1 line): tax
                web/app.js (1 line): start
            "#]],
        );
        check(
            "",
            80,
            &expect![[r#"
                shop/order.py (7 lines)
                shop/price.py (1 line)
                web/app.js (1 line)
            "#]],
        );
        check(
            "shop",
            1000,
            &expect![[r#"
                shop/order.py (7 lines): Order, load
                shop/price.py (1 line): tax
            "#]],
        );
        check(
            "shop/order.py",
            1000,
            &expect![[r#"
            shop/order.py (7 lines)
            One order.
            2 LIMIT = 3
            4 class Order
              5 def total(self)
            7 def load(path)
        "#]],
        );
        check(
            "shop/order.py",
            60,
            &expect![[r#"
            shop/order.py (7 lines)
            One order.
            ... and more
        "#]],
        );
        check("nowhere", 1000, &expect!["nothing there"]);
    }
}
