//! What stands around a piece of code, as the model is shown it: the file that something new goes into, the calls of
//! what is written anew.

use std::fmt::Write as _;

use harness_code::report::facts;
use harness_code::tree::SourceTree;

use crate::plan::{NewDefinition, Spot};

/// A file up to this many bytes is shown whole.
const SHORT_FILE: usize = 1_200;
/// Of a longer file the first lines of so many definitions are shown.
const MOST_HEADS: usize = 24;
/// Calls that are shown: enough to see what goes in and what is done with the result.
const MOST_USES: usize = 2;
/// A longer line tells a small model nothing more.
const LONGEST_LINE: usize = 120;

/// Returns the file that a new definition goes into: whole where it is short, else its imports and first lines.
pub(super) fn home(tree: &SourceTree, new: &NewDefinition) -> String {
    let Ok(text) = tree.text(&new.path) else {
        return String::new();
    };
    let content = text.content().replace("\r\n", "\n");
    let language = tree
        .file(&new.path)
        .map(|file| file.language.name().to_ascii_lowercase())
        .unwrap_or_default();
    let code = if content.len() <= SHORT_FILE {
        content.trim_end().to_owned()
    } else {
        heads(tree, new, &content)
    };
    let place = match new.name.rsplit_once('.') {
        Some((class, _)) => format!("It goes into the class {class}. "),
        None => String::new(),
    };
    format!("{place}{} has:\n```{language}\n{code}\n```", new.path)
}

/// Returns the imports of a file and the first line of each definition; of a class that gets something new, all of them.
fn heads(tree: &SourceTree, new: &NewDefinition, content: &str) -> String {
    let lines: Vec<&str> = content.lines().collect();
    let class = new.name.rsplit_once('.').map(|(class, _)| class);
    let definitions = tree
        .file(&new.path)
        .map_or(&[][..], |file| &file.facts.definitions);
    let first = definitions.iter().map(|one| one.line as usize).min();
    let before = &lines[..first.unwrap_or(1).saturating_sub(1).min(lines.len())];
    let imports = before
        .iter()
        .filter(|line| line.starts_with("import ") || line.starts_with("from "));
    let mut shown: String = imports.map(|line| format!("{line}\n")).collect();
    let wanted = definitions.iter().filter(|one| {
        let parent = one.qualified.rsplit_once('.').map(|(parent, _)| parent);
        parent.is_none() || parent == class
    });
    for one in wanted.take(MOST_HEADS) {
        if let Some(line) = lines.get(one.line as usize - 1) {
            let _ = writeln!(shown, "{}", cut(line));
        }
    }
    shown.trim_end().to_owned()
}

/// Returns the lines that call a definition, or nothing.
pub(super) fn uses(tree: &SourceTree, spot: &Spot) -> String {
    let name = spot.name.rsplit('.').next().unwrap_or(&spot.name);
    let found = facts::uses(tree, &spot.path, name, MOST_USES);
    let lines: Vec<String> = found
        .iter()
        .map(|one| format!("{}, line {}: `{}`", one.path, one.line, cut(&one.code)))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("Called in {}", lines.join("\nand in "))
}

fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(LONGEST_LINE.min(line.len()))]
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay files out")]
mod tests {
    use harness_code::path::RelPath;

    use super::*;

    #[test]
    fn a_long_home_is_shown_by_its_first_lines() {
        let folder = tempfile::tempdir().unwrap();
        let filler: String = (0..80).map(|n| format!("    value_{n} = {n}\n")).collect();
        let text = format!(
            "\"\"\"A cart.\"\"\"\n\nimport json\n\n\nclass Cart:\n    def total(self):\n        return 1\n\n\ndef load(path):\n{filler}    return path\n"
        );
        std::fs::write(folder.path().join("cart.py"), text).unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let new = |name: &str| NewDefinition {
            path: RelPath::parse("cart.py").unwrap(),
            name: name.to_owned(),
            with_test: false,
        };
        let shown = home(&tree, &new("save"));
        assert_eq!(
            shown,
            "cart.py has:\n```python\nimport json\nclass Cart:\ndef load(path):\n```"
        );
        let shown = home(&tree, &new("Cart.clear"));
        assert_eq!(
            shown,
            "It goes into the class Cart. cart.py has:\n```python\nimport json\nclass Cart:\n    def total(self):\ndef load(path):\n```"
        );
    }
}
