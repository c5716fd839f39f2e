//! The layout: what makes a project hard to read, worst first, with one suggested next move.

use std::collections::BTreeMap;
use std::fmt::Write;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::report::finding::{self, Finding, FindingKind};
use crate::report::{clipped, counted};
use crate::symbols::{Definition, DefinitionKind};
use crate::tree::{SourceFile, SourceTree};

/// How a project is laid out and what is wrong with it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Layout {
    /// What makes it hard to read, worst first.
    pub findings: Vec<Finding>,
    /// The one thing to do next; empty when nothing was found.
    pub next: String,
    /// Its folders with their sizes.
    pub tree: Vec<Folder>,
}

/// One folder of the project.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Folder {
    /// The folder, `.` for the project itself.
    pub path: String,
    /// Source files in it and below.
    pub files: u64,
    /// Their lines.
    pub lines: u64,
}

/// At most this many findings of one kind: the rest say the same again.
const PER_KIND: usize = 25;

impl Folder {
    /// Returns its last part, indented by how deep it is.
    fn label(&self) -> String {
        let depth = if self.path == "." {
            0
        } else {
            self.path.matches('/').count() + 1
        };
        format!(
            "{}{}",
            "  ".repeat(depth),
            self.path.rsplit('/').next().unwrap_or(&self.path)
        )
    }
}

impl Layout {
    /// Looks a project over.
    pub fn of(tree: &SourceTree) -> Layout {
        let mut findings = finding::all(tree);
        findings.sort_by(|a, b| {
            b.weight
                .cmp(&a.weight)
                .then(a.kind.cmp(&b.kind))
                .then(a.path.cmp(&b.path))
                .then(a.line.cmp(&b.line))
        });
        let mut seen: FxHashMap<FindingKind, usize> = FxHashMap::default();
        findings.retain(|finding| {
            let count = seen.entry(finding.kind).or_default();
            *count += 1;
            *count <= PER_KIND
        });
        let next = findings
            .first()
            .map_or(String::new(), |worst| next_move(tree, worst));
        Layout {
            findings,
            next,
            tree: folders(tree),
        }
    }

    /// Returns the layout for a person, `width` columns wide.
    pub fn render_for_person(&self, width: usize) -> String {
        let width = width.clamp(40, 120);
        let mut text = String::new();
        let rows: Vec<(String, &Folder)> = self
            .tree
            .iter()
            .take(SHOWN_FOLDERS)
            .map(|folder| (folder.label(), folder))
            .collect();
        let longest = rows
            .iter()
            .map(|(label, _)| label.chars().count())
            .max()
            .unwrap_or(0);
        let column = longest.min(width / 2);
        for (label, folder) in rows {
            let sizes = format!(
                "{:>13} in {}",
                counted(folder.lines, "line"),
                counted(folder.files, "file")
            );
            let _ = writeln!(text, "  {:<column$}  {sizes}", clipped(&label, column));
        }
        if self.tree.len() > SHOWN_FOLDERS {
            let _ = writeln!(
                text,
                "  … and {}",
                counted((self.tree.len() - SHOWN_FOLDERS) as u64, "more folder")
            );
        }
        if self.findings.is_empty() {
            text.push_str("\nnothing stands out\n");
            return text;
        }
        text.push_str("\nwhat makes it hard to read, worst first\n");
        for finding in self.findings.iter().take(SHOWN_FINDINGS) {
            let _ = writeln!(text, "  {}:{}", finding.path, finding.line);
            let _ = writeln!(text, "      {}: {}", finding.kind.name(), finding.text);
        }
        if self.findings.len() > SHOWN_FINDINGS {
            let _ = writeln!(
                text,
                "  … and {}",
                counted(
                    (self.findings.len() - SHOWN_FINDINGS) as u64,
                    "more finding"
                )
            );
        }
        let _ = writeln!(text, "\nnext: {}", self.next);
        text
    }
}

/// A screen holds about this many folders and findings together.
const SHOWN_FOLDERS: usize = 14;
const SHOWN_FINDINGS: usize = 12;

fn folders(tree: &SourceTree) -> Vec<Folder> {
    let mut sizes: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for file in tree.sources() {
        // Two levels show the shape; deeper ones are counted in them.
        let mut holders = vec![".".to_string()];
        let parts: Vec<&str> = file
            .path
            .folder()
            .split('/')
            .filter(|part| !part.is_empty())
            .collect();
        holders.extend((1..=parts.len().min(2)).map(|depth| parts[..depth].join("/")));
        for holder in holders {
            let size = sizes.entry(holder).or_default();
            size.0 += 1;
            size.1 += u64::from(file.lines);
        }
    }
    sizes
        .into_iter()
        .map(|(path, (files, lines))| Folder { path, files, lines })
        .collect()
}

fn next_move(tree: &SourceTree, worst: &Finding) -> String {
    let file = tree.file(&worst.path);
    match worst.kind {
        FindingKind::Cycle => format!(
            "break the circle at {}:{}: move what both sides need into a module of its own, or import it where it is used",
            worst.path, worst.line
        ),
        FindingKind::OutsizedFile => match file.and_then(largest_class) {
            Some(class) => format!(
                "split {}: move `{}` (line {}) into a file of its own",
                worst.path, class.qualified, class.line
            ),
            None => format!("split {} by what its functions are about", worst.path),
        },
        FindingKind::OutsizedFunction => format!(
            "split the function at {}:{} into named steps",
            worst.path, worst.line
        ),
        FindingKind::FlatFolder => format!(
            "group the files of {} into folders by what they are about",
            worst.path
        ),
        FindingKind::UnusedModule => format!("remove {} or say where it is used", worst.path),
        FindingKind::NoTests => format!("write a first test for {}", worst.path),
        FindingKind::DuplicateModule => {
            format!("give {} a name that says what is in it", worst.path)
        }
    }
}

fn largest_class(file: &SourceFile) -> Option<&Definition> {
    let outer = file
        .facts
        .definitions
        .iter()
        .filter(|d| d.parent.is_none() && d.kind == DefinitionKind::Class);
    outer.max_by_key(|d| d.lines())
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fs;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &Expect) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        expected.assert_eq(&Layout::of(&tree).render_for_person(80));
    }

    #[test]
    fn every_kind_of_finding_names_its_place() {
        let long = "x = 1\n".repeat(900);
        let function = format!("def f():\n{}", "    x = 1\n".repeat(90));
        let flat: Vec<(String, String)> = (0..35)
            .map(|n| (format!("flat/m{n}.py"), "x = 1\n".to_string()))
            .collect();
        let mut files: Vec<(&str, &str)> = vec![
            ("shop/__init__.py", ""),
            ("shop/a.py", "from shop.b import total\n"),
            ("shop/b.py", "from shop.a import price\n"),
            ("shop/long.py", &long),
            ("shop/helpers.py", &function),
            ("other/helpers.py", "def g(): pass\n"),
            ("tests/test_a.py", "from shop import a, b, long\n"),
        ];
        files.extend(
            flat.iter()
                .map(|(name, content)| (name.as_str(), content.as_str())),
        );
        check(
            &files,
            &expect![[r#"
                  .          1,030 lines in 42 files
                    flat        35 lines in 35 files
                    other         1 line in 1 file
                    shop       993 lines in 5 files
                    tests         1 line in 1 file

                what makes it hard to read, worst first
                  shop/a.py:1
                      import circle: shop/a.py takes `total` from shop/b.py; shop/b.py takes `price` from shop/a.py
                  shop/long.py:1
                      outsized file: 900 lines
                  shop/helpers.py:1
                      outsized function: `f` has 91 lines of code
                  flat:1
                      flat folder: 35 source files side by side in one folder
                  shop/helpers.py:1
                      unused module: nothing in the project imports `shop.helpers` (91 lines)
                  other/helpers.py:1
                      duplicate module: 2 modules are called `helpers`: also shop/helpers.py

                next: break the circle at shop/a.py:1: move what both sides need into a module of its own, or import it where it is used
            "#]],
        );
    }

    #[test]
    fn documentation_plugins_and_what_tests_load_by_name_are_no_findings() {
        let documented = format!(
            "def f():\n    \"\"\"Says.\n\n{}    \"\"\"\n    return 1\n",
            "    More.\n".repeat(130)
        );
        let names = ["shop/plugin.py", "shop/loaded.py"];
        let manifest = "[project]\nname = \"shop\"\n[project.entry-points.\"x\"]\np = \"shop.plugin:P\"\nq = \"shop.loaded:Q\"\n";
        check(
            &[
                ("pyproject.toml", manifest),
                ("shop/__init__.py", ""),
                (names[0], &documented),
                (names[1], &documented),
                ("tests/test_all.py", "load(\"plugin\")\nload(\"loaded\")\n"),
            ],
            &expect![[r#"
                  .            272 lines in 4 files
                    shop       270 lines in 3 files
                    tests        2 lines in 1 file

                nothing stands out
            "#]],
        );
    }

    #[test]
    fn a_project_without_tests_or_without_anything() {
        check(
            &[("a.py", "def f(): pass\n")],
            &expect![[r#"
                  .         1 line in 1 file

                what makes it hard to read, worst first
                  a.py:1
                      no tests: no test in the whole project (1 line)

                next: write a first test for a.py
            "#]],
        );
        check(
            &[("README.md", "hi")],
            &expect![[r#"

            nothing stands out
        "#]],
        );
    }
}
