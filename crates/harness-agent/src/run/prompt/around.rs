//! What stands around a piece of code, as the model is shown it: the file that something new goes into, the calls of
//! what is written anew.

use std::collections::HashSet;
use std::fmt::Write as _;

use harness_code::language::Language;
use harness_code::report::facts;
use harness_code::symbols::Import;
use harness_code::tree::{SourceFile, SourceTree};

use crate::plan::{NewDefinition, Spot};
use crate::run::prompt::said::said;

/// A file up to this many bytes is shown whole.
const SHORT_FILE: usize = 1_200;
/// Of a longer file the first lines of so many definitions are shown.
const MOST_HEADS: usize = 24;
/// Calls that are shown: enough to see what goes in and what is done with the result.
const MOST_USES: usize = 2;
/// A longer line tells a small model nothing more.
const LONGEST_LINE: usize = 120;

/// Returns the file that a new definition goes into: whole where it is short, else its imports and first lines.
pub(in crate::run) fn home(tree: &SourceTree, new: &NewDefinition) -> String {
    if new.in_new_file {
        let head = said("new file", &[("path", new.path.as_str())]);
        return head + &beside(tree, new);
    }
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
        Some((class, _)) => match Language::of(&new.path) {
            Language::Go => said("method of", &[("class", class)]) + " ",
            Language::Rust => said("impl of", &[("class", class)]) + " ",
            _ => said("into class", &[("class", class)]) + " ",
        },
        None => String::new(),
    };
    format!("{place}{} has:\n```{language}\n{code}\n```", new.path)
}

/// Files beside a new one that are told of, and names of each.
const MOST_BESIDE: usize = 6;
const MOST_NAMES: usize = 8;

/// Returns what the files beside a new one define: what it may use.
fn beside(tree: &SourceTree, new: &NewDefinition) -> String {
    let is_near = |file: &&SourceFile| file.path.parent() == new.path.parent() && !file.test;
    let told = |file: &SourceFile| {
        let definitions = file.facts.definitions.iter();
        let top = definitions.filter(|one| !one.qualified.contains('.'));
        let names: Vec<&str> = top.map(|one| one.name()).take(MOST_NAMES).collect();
        (!names.is_empty()).then(|| format!("\n{}: {}", file.path, names.join(", ")))
    };
    let files = tree.sources().filter(is_near).filter_map(told);
    let files: String = files.take(MOST_BESIDE).collect();
    match files.as_str() {
        "" => String::new(),
        files => format!(" {}", said("beside it", &[("files", files)])),
    }
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

/// A longer body holds more than its documentation tells.
const LONGEST_BLANK: usize = 8;

/// Returns a short Python function without its body: its first lines and its documentation.
pub(in crate::run) fn blank(tree: &SourceTree, spot: &Spot) -> Option<String> {
    let file = tree.file(&spot.path)?;
    if file.language != Language::Python {
        return None;
    }
    let text = tree.text(&spot.path).ok()?;
    let code = text.content().get(spot.span.clone())?.replace("\r\n", "\n");
    let lines: Vec<&str> = code.trim_end().lines().collect();
    let opens = |line: &&str| line.trim_start().starts_with("\"\"\"");
    let first = lines.iter().position(opens)?;
    let header = lines[..first].iter().all(|line| !line.trim().is_empty());
    let ends = |line: &&str, opening: bool| {
        let line = line.trim_end();
        let rest = if opening {
            line.trim_start().strip_prefix("\"\"\"")
        } else {
            Some(line)
        };
        rest.is_some_and(|rest| rest.ends_with("\"\"\""))
    };
    let last = (first..lines.len()).find(|&at| ends(&lines[at], at == first))?;
    let body = lines.len() - last - 1;
    // A whole file may begin with its documentation: that is no function.
    let plain = first > 0 && header && lines[first - 1].trim_end().ends_with(':');
    if !plain || first > 3 || !(1..=LONGEST_BLANK).contains(&body) {
        return None;
    }
    if leans_on_others(file, spot, &lines[last + 1..]) {
        return None;
    }
    let indent: String = lines[first]
        .chars()
        .take_while(|c| c.is_whitespace())
        .collect();
    let kept = lines[..=last].join("\n");
    Some(format!("```python\n{kept}\n{indent}...\n```"))
}

/// Returns whether a body names what its documentation cannot tell of: the object it belongs to, something else of the
/// file, something imported.
fn leans_on_others(file: &SourceFile, spot: &Spot, body: &[&str]) -> bool {
    let others = file.facts.definitions.iter().map(|one| &*one.qualified);
    let others = others.filter(|name| !name.contains('.') && *name != spot.name);
    let imported = file.facts.imports.iter().flat_map(bound);
    let outside: HashSet<&str> = others.chain(imported).chain(["self", "cls"]).collect();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    body.iter()
        .flat_map(|line| line.split(|c: char| !is_name(c)))
        .any(|word| outside.contains(word))
}

/// Returns the names that an import gives to its file.
fn bound(import: &Import) -> Vec<&str> {
    let taken = import.names.iter();
    let mut names: Vec<&str> = taken
        .map(|one| one.alias.as_deref().unwrap_or(&one.name))
        .collect();
    if names.is_empty() {
        let first = import.module.split('.').next().unwrap_or_default();
        names.push(import.alias.as_deref().unwrap_or(first));
    }
    names
}

/// Returns the lines that call a definition, or nothing.
pub(in crate::run) fn uses(tree: &SourceTree, spot: &Spot) -> String {
    let name = spot.name.rsplit('.').next().unwrap_or(&spot.name);
    let found = facts::uses(tree, &spot.path, name, MOST_USES);
    let lines: Vec<String> = found
        .iter()
        .map(|one| format!("{}, line {}: `{}`", one.path, one.line, cut(&one.code)))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    said("called in", &[("lines", &lines.join("\nand in "))])
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
    fn a_short_function_is_shown_without_its_body() {
        let folder = tempfile::tempdir().unwrap();
        let text = "def twice(x):\n    \"\"\"Return two times x.\"\"\"\n    return x * 3\n\n\ndef bare(x):\n    return x\n\n\ndef told(x):\n    \"\"\"Return x.\n\n    Always.\n    \"\"\"\n    return -x\n\n\nSCALE = 3\n\n\ndef scaled(x):\n    \"\"\"Return x, scaled.\"\"\"\n    return x * SCALE\n\n\nfrom math import sqrt as root\n\n\ndef rooted(x):\n    \"\"\"Return the root of x.\"\"\"\n    return root(x)\n";
        std::fs::write(folder.path().join("a.py"), text).unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let path = RelPath::parse("a.py").unwrap();
        let shown = |name: &str| {
            let file = tree.file(&path).unwrap();
            let one = file
                .facts
                .definitions
                .iter()
                .find(|one| one.name() == name)
                .unwrap();
            let spot = Spot {
                path: path.clone(),
                name: name.to_owned(),
                line: one.line,
                span: one.span(),
            };
            blank(&tree, &spot)
        };
        assert_eq!(
            shown("twice").unwrap(),
            "```python\ndef twice(x):\n    \"\"\"Return two times x.\"\"\"\n    ...\n```"
        );
        assert!(
            shown("told")
                .unwrap()
                .contains("Always.\n    \"\"\"\n    ...\n")
        );
        assert_eq!(shown("bare"), None);
        assert_eq!(shown("scaled"), None);
        assert_eq!(shown("rooted"), None);
        std::fs::write(folder.path().join("b.py"), "\"\"\"A module.\"\"\"\nx = 1\n").unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let file = Spot {
            path: RelPath::parse("b.py").unwrap(),
            name: String::new(),
            line: 1,
            span: 0..22,
        };
        assert_eq!(blank(&tree, &file), None);
    }

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
            in_new_file: false,
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
        let file = NewDefinition {
            path: RelPath::parse("tax.py").unwrap(),
            in_new_file: true,
            ..new("vat")
        };
        let shown = home(&tree, &file);
        assert_eq!(
            shown,
            "tax.py is a new file. Beside it:\ncart.py: Cart, load"
        );
    }
}
