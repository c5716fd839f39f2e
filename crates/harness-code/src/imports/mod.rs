//! Who imports whom inside the project: resolved links, targets that are missing, and circles.

pub mod circle;
mod python;

use rustc_hash::FxHashMap;

use crate::language::Language;
use crate::path::RelPath;
use crate::symbols::{Import, ImportTime};
use crate::tree::{SourceFile, SourceTree};

/// The imports between the files of a project. Files are numbered as in [`SourceTree::files`].
#[derive(Debug)]
pub struct ImportGraph {
    links: Vec<Vec<Link>>,
    importers: Vec<Vec<u32>>,
    missing: Vec<Missing>,
}

/// One file imports another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The file that is imported.
    pub to: u32,
    /// The line of the statement, from 1.
    pub line: u32,
    /// Position of the statement in the importer's [`crate::symbols::Facts::imports`].
    pub import: u32,
    /// When the import runs.
    pub when: ImportTime,
}

/// An import of a module that should be in the project and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The file that imports it.
    pub file: u32,
    /// The line of the statement, from 1.
    pub line: u32,
    /// The module as written, dots included.
    pub module: String,
}

impl ImportGraph {
    /// Resolves every import of the project.
    pub fn of(tree: &SourceTree) -> ImportGraph {
        let resolver = Resolver::of(tree);
        let mut links: Vec<Vec<Link>> = Vec::with_capacity(tree.files().len());
        let mut importers: Vec<Vec<u32>> = vec![Vec::new(); tree.files().len()];
        let mut missing = Vec::new();
        for (from, file) in tree.files().iter().enumerate() {
            let mut found: Vec<Link> = Vec::new();
            for (number, import) in file.facts.imports.iter().enumerate() {
                let before = found.len();
                let outcome = resolver.targets(file, import, &mut |to| {
                    if to != from as u32 {
                        found.push(Link {
                            to,
                            line: import.line,
                            import: number as u32,
                            when: import.when,
                        });
                    }
                });
                if outcome == Outcome::Missing && found.len() == before {
                    let module = format!("{}{}", ".".repeat(import.level.into()), import.module);
                    missing.push(Missing {
                        file: from as u32,
                        line: import.line,
                        module,
                    });
                }
            }
            let mut targets: Vec<u32> = found.iter().map(|link| link.to).collect();
            targets.sort_unstable();
            targets.dedup();
            for to in targets.into_iter() {
                if let Some(known) = importers.get_mut(to as usize) {
                    known.push(from as u32);
                }
            }
            links.push(found);
        }
        ImportGraph {
            links,
            importers,
            missing,
        }
    }

    /// Returns what a file imports from the project, in source order.
    pub fn links(&self, file: usize) -> &[Link] {
        self.links.get(file).map_or(&[], Vec::as_slice)
    }

    /// Returns the files that import a file, each once, in order.
    pub fn importers(&self, file: usize) -> &[u32] {
        self.importers.get(file).map_or(&[], Vec::as_slice)
    }

    /// Returns the imports whose module should be in the project and is not.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Returns the groups of files that import each other in a circle while they start, the largest first.
    pub fn circles(&self, tree: &SourceTree) -> Vec<circle::Circle> {
        circle::circles(self, tree)
    }
}

/// What became of one import statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It leads to files of the project.
    Inside,
    /// It leads to something installed, or nothing is known of it.
    Outside,
    /// It names a place in the project where nothing is.
    Missing,
}

/// Finds the file behind an import.
pub struct Resolver<'a> {
    tree: &'a SourceTree,
    by_path: FxHashMap<&'a str, u32>,
    python: python::Roots,
}

impl<'a> Resolver<'a> {
    /// Prepares to resolve the imports of a project.
    pub fn of(tree: &'a SourceTree) -> Resolver<'a> {
        let numbered = tree.files().iter().enumerate();
        let by_path: FxHashMap<&str, u32> = numbered
            .map(|(at, file)| (file.path.as_str(), at as u32))
            .collect();
        let python = python::Roots::of(tree, &by_path);
        Resolver {
            tree,
            by_path,
            python,
        }
    }

    /// Returns the file that a Python module name leads to from `from`, such as `a/b/__init__.py` for `a.b`.
    pub fn python_module(&self, from: &RelPath, module: &str, level: u8) -> Option<&'a SourceFile> {
        let at = python::module(self, from, module, level).file()?;
        self.tree.files().get(at as usize)
    }

    /// Returns the dotted name by which a Python file is imported, such as `a.b` for `src/a/b/__init__.py`.
    pub fn python_name(&self, path: &RelPath) -> Option<String> {
        self.python.name(path)
    }

    fn targets(&self, file: &SourceFile, import: &Import, found: &mut dyn FnMut(u32)) -> Outcome {
        match file.language {
            Language::Python => python::targets(self, file, import, found),
            Language::Rust
            | Language::JavaScript
            | Language::TypeScript
            | Language::Tsx
            | Language::Go
            | Language::Java
            | Language::C
            | Language::Cpp
            | Language::Ruby
            | Language::CSharp
            | Language::Php
            | Language::Shell
            | Language::Prose
            | Language::Config
            | Language::Other => Outcome::Outside,
        }
    }

    fn number(&self, path: &str) -> Option<u32> {
        self.by_path.get(path).copied()
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(files: &[(&str, &str)]) -> SourceTree {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        SourceTree::read(folder.path(), None).unwrap()
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let tree = tree(files);
        let graph = ImportGraph::of(&tree);
        let name = |at: u32| tree.files()[at as usize].path.as_str();
        let mut seen = Vec::new();
        for (from, file) in tree.files().iter().enumerate() {
            seen.extend(
                graph
                    .links(from)
                    .iter()
                    .map(|link| format!("{}:{} -> {}", file.path, link.line, name(link.to))),
            );
        }
        seen.extend(
            graph
                .missing()
                .iter()
                .map(|m| format!("{}:{} lacks {}", name(m.file), m.line, m.module)),
        );
        for circle in graph.circles(&tree) {
            let ways = circle
                .way
                .iter()
                .map(|tie| format!("{}:{} ({})", name(tie.from), tie.line, tie.names.join(", ")));
            seen.push(format!(
                "circle of {}: {}",
                circle.files.len(),
                ways.collect::<Vec<_>>().join(" -> ")
            ));
        }
        assert_eq!(seen, expected);
    }

    #[test]
    fn packages_relative_and_plain_imports() {
        check(
            &[
                ("pkg/__init__.py", "from .a import f\n"),
                (
                    "pkg/a.py",
                    "import os\nfrom . import b\nfrom .sub.c import x\n",
                ),
                (
                    "pkg/b.py",
                    "import pkg.sub.c as c\nfrom pkg import sub, f\n",
                ),
                ("pkg/sub/__init__.py", ""),
                (
                    "pkg/sub/c.py",
                    "from ...pkg import a\nfrom .... import nowhere\n",
                ),
            ],
            &[
                "pkg/__init__.py:1 -> pkg/a.py",
                "pkg/a.py:2 -> pkg/b.py",
                "pkg/a.py:3 -> pkg/sub/c.py",
                "pkg/b.py:1 -> pkg/sub/c.py",
                "pkg/b.py:2 -> pkg/sub/__init__.py",
                "pkg/b.py:2 -> pkg/__init__.py",
                "pkg/sub/c.py:1 -> pkg/a.py",
                "pkg/sub/c.py:2 lacks ....",
                "circle of 4: pkg/a.py:3 (x) -> pkg/sub/c.py:1 (a)",
            ],
        );
    }

    #[test]
    fn src_layouts_scripts_and_namespace_packages() {
        check(
            &[
                ("src/app/__init__.py", ""),
                ("src/app/core.py", "import app.missing\nimport requests\n"),
                (
                    "tests/test_core.py",
                    "from app.core import f\nimport helper\n",
                ),
                ("tests/helper.py", ""),
                (
                    "spaces/one/mod.py",
                    "import spaces.two.mod\nfrom spaces.two import mod\n",
                ),
                ("spaces/two/mod.py", ""),
            ],
            &[
                "spaces/one/mod.py:1 -> spaces/two/mod.py",
                "spaces/one/mod.py:2 -> spaces/two/mod.py",
                "tests/test_core.py:1 -> src/app/core.py",
                "tests/test_core.py:2 -> tests/helper.py",
                "src/app/core.py:1 lacks app.missing",
            ],
        );
    }

    #[test]
    fn a_circle_that_only_types_or_functions_close_is_none() {
        check(
            &[
                ("a.py", "import b\n"),
                (
                    "b.py",
                    "def f():\n    import a\nif TYPE_CHECKING:\n    import a\n",
                ),
            ],
            &["a.py:1 -> b.py", "b.py:2 -> a.py", "b.py:4 -> a.py"],
        );
    }

    #[test]
    fn compiled_modules_are_not_missing() {
        check(
            &[
                ("p/__init__.py", "from . import fast\nfrom .fast import f\n"),
                ("p/fast.pyx", ""),
            ],
            &[],
        );
    }

    #[test]
    fn names_and_files_of_modules() {
        let tree = tree(&[
            ("src/app/__init__.py", ""),
            ("src/app/core.py", ""),
            ("tool.py", ""),
        ]);
        let resolver = Resolver::of(&tree);
        let path = |text| RelPath::parse(text).unwrap();
        assert_eq!(
            resolver.python_name(&path("src/app/core.py")).as_deref(),
            Some("app.core")
        );
        assert_eq!(
            resolver
                .python_name(&path("src/app/__init__.py"))
                .as_deref(),
            Some("app")
        );
        assert_eq!(
            resolver.python_name(&path("tool.py")).as_deref(),
            Some("tool")
        );
        assert_eq!(
            resolver
                .python_module(&path("tool.py"), "app.core", 0)
                .unwrap()
                .path,
            path("src/app/core.py")
        );
        assert!(
            resolver
                .python_module(&path("tool.py"), "app.other", 0)
                .is_none()
        );
    }

    #[test]
    fn a_chain_as_long_as_the_project_does_not_overflow() {
        let files: Vec<(String, String)> = (0..3000)
            .map(|n| (format!("m{n}.py"), format!("import m{}\n", n + 1)))
            .collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        let tree = tree(&files);
        assert!(ImportGraph::of(&tree).circles(&tree).is_empty());
    }
}
