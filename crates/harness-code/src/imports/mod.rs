//! Who imports whom inside the project: resolved links, targets that are missing, and circles.

mod by_path;
pub mod circle;
pub(crate) mod python;
mod rust;

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
    missing: Vec<MissingModule>,
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
pub struct MissingModule {
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
                    missing.push(MissingModule {
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
    pub fn missing(&self) -> &[MissingModule] {
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
    /// Files of languages other than Python by their last part.
    by_name: FxHashMap<&'a str, Vec<u32>>,
    python: python::Roots,
    crates: Vec<rust::Crate>,
    /// Go's module paths with their folders.
    go_modules: Vec<(String, String)>,
}

impl<'a> Resolver<'a> {
    /// Prepares to resolve the imports of a project.
    pub fn of(tree: &'a SourceTree) -> Resolver<'a> {
        let numbered = tree.files().iter().enumerate();
        let by_path: FxHashMap<&str, u32> = numbered
            .map(|(at, file)| (file.path.as_str(), at as u32))
            .collect();
        let mut by_name: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        for (at, file) in tree.files().iter().enumerate() {
            if file.language.is_source() && file.language != Language::Python {
                by_name
                    .entry(file.path.file_name())
                    .or_default()
                    .push(at as u32);
            }
        }
        Resolver {
            tree,
            python: python::Roots::of(tree, &by_path),
            crates: rust::crates(tree),
            go_modules: go_modules(tree),
            by_path,
            by_name,
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
            Language::Rust => rust::targets(self, file, import, found),
            Language::JavaScript
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
            | Language::Other => by_path::targets(self, file, import, found),
        }
    }

    /// Returns the file whose path ends with these parts, when there is only one.
    fn ending_with(&self, tail: &str) -> Option<u32> {
        let tail = tail.trim_start_matches("./");
        let name = tail.rsplit('/').next().unwrap_or(tail);
        let ends = |at: &&u32| {
            let path = self
                .tree
                .files()
                .get(**at as usize)
                .map_or("", |file| file.path.as_str());
            path.strip_suffix(tail)
                .is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let mut found = self.by_name.get(name)?.iter().filter(ends);
        let first = found.next()?;
        found.next().is_none().then_some(*first)
    }

    fn number(&self, path: &str) -> Option<u32> {
        self.by_path.get(path).copied()
    }
}

/// Returns the module path and folder of every `go.mod`, the longest path first.
fn go_modules(tree: &SourceTree) -> Vec<(String, String)> {
    let manifests = tree
        .files()
        .iter()
        .filter(|file| file.path.file_name() == "go.mod");
    let mut modules: Vec<(String, String)> = manifests
        .filter_map(|file| {
            let text = tree.text(&file.path).ok()?;
            let module = text
                .content()
                .lines()
                .find_map(|line| line.trim().strip_prefix("module "))?;
            Some((
                module.trim().trim_matches('"').to_string(),
                file.path.folder().to_string(),
            ))
        })
        .collect();
    modules.sort_by_key(|module| std::cmp::Reverse(module.0.len()));
    modules
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SourceTree) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        (folder, tree)
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let (_folder, tree) = tree(files);
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
    fn what_lies_in_the_project_s_own_folder_is_found_by_a_dot() {
        check(
            &[
                ("__init__.py", "from . import a, fast, parts, gone\n"),
                ("a.py", ""),
                ("fast.pyx", ""),
                ("parts/b.py", ""),
            ],
            &["__init__.py:1 -> a.py"],
        );
    }

    #[test]
    fn compiled_modules_are_not_missing() {
        check(
            &[
                ("p/__init__.py", "from . import fast\nfrom .fast import f\n"),
                ("p/a.py", "from . import fast\n"),
                ("p/fast.pyx", ""),
            ],
            &[],
        );
    }

    #[cfg(feature = "grammar")]
    #[test]
    fn scripts_find_each_other_by_path() {
        check(
            &[
                (
                    "src/a.ts",
                    "import { x } from './b';\nimport c from \"./c.js\";\nimport './gone';\nimport r from 'react';\nimport '@/d';\n",
                ),
                ("src/b.tsx", "import { y } from './a';\n"),
                ("src/c.ts", ""),
                ("src/d/index.js", ""),
            ],
            &[
                "src/a.ts:1 -> src/b.tsx",
                "src/a.ts:2 -> src/c.ts",
                "src/a.ts:5 -> src/d/index.js",
                "src/b.tsx:1 -> src/a.ts",
                "src/a.ts:3 lacks ./gone",
                "circle of 2: src/a.ts:1 (x) -> src/b.tsx:1 (y)",
            ],
        );
    }

    #[cfg(feature = "grammar")]
    #[test]
    fn rust_modules_and_workspace_crates() {
        check(
            &[
                ("a/Cargo.toml", "[package]\nname = \"my-a\"\n"),
                ("a/src/lib.rs", "pub mod price;\nmod deep;\n"),
                (
                    "a/src/price.rs",
                    "use crate::deep::inner::f;\nmod tests { use super::*; }\n",
                ),
                ("a/src/deep/mod.rs", "mod inner;\n"),
                (
                    "a/src/deep/inner.rs",
                    "use super::super::price::Money;\nuse std::fs;\n",
                ),
                ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
                (
                    "b/src/main.rs",
                    "use my_a::price::{self, Money};\nfn main() {}\n",
                ),
            ],
            &[
                "a/src/deep/inner.rs:1 -> a/src/price.rs",
                "a/src/deep/mod.rs:1 -> a/src/deep/inner.rs",
                "a/src/lib.rs:1 -> a/src/price.rs",
                "a/src/lib.rs:2 -> a/src/deep/mod.rs",
                "a/src/price.rs:1 -> a/src/deep/inner.rs",
                "b/src/main.rs:1 -> a/src/price.rs",
                "b/src/main.rs:1 -> a/src/price.rs",
            ],
        );
    }

    #[cfg(feature = "grammar")]
    #[test]
    fn other_languages_find_theirs() {
        check(
            &[
                ("go.mod", "module example.com/shop\n"),
                (
                    "main.go",
                    "package main\nimport \"example.com/shop/price\"\nimport \"fmt\"\n",
                ),
                ("price/sum.go", "package price\n"),
                ("price/sum_test.go", "package price\n"),
            ],
            &["main.go:2 -> price/sum.go"],
        );
        check(
            &[
                (
                    "src/main/java/shop/App.java",
                    "import shop.price.Money;\nimport static shop.price.Money.of;\nimport java.util.List;\n",
                ),
                ("src/main/java/shop/price/Money.java", ""),
            ],
            &[
                "src/main/java/shop/App.java:1 -> src/main/java/shop/price/Money.java",
                "src/main/java/shop/App.java:2 -> src/main/java/shop/price/Money.java",
            ],
        );
        check(
            &[
                (
                    "src/a.c",
                    "#include \"a.h\"\n#include <string.h>\n#include \"util/b.h\"\n",
                ),
                ("src/a.h", ""),
                ("include/util/b.h", ""),
                ("string.h", ""),
            ],
            &["src/a.c:1 -> src/a.h", "src/a.c:3 -> include/util/b.h"],
        );
        check(
            &[
                (
                    "bin/x.rb",
                    "require_relative '../lib/shop'\nrequire 'shop/price'\nrequire 'json'\n",
                ),
                ("lib/shop.rb", ""),
                ("lib/shop/price.rb", ""),
            ],
            &[
                "bin/x.rb:1 -> lib/shop.rb",
                "bin/x.rb:2 -> lib/shop/price.rb",
            ],
        );
        check(
            &[
                (
                    "src/App.php",
                    "<?php\nuse Shop\\Price\\Money;\nrequire __DIR__ . '/util.php';\n",
                ),
                ("src/Price/Money.php", ""),
                ("src/util.php", ""),
            ],
            &[
                "src/App.php:2 -> src/Price/Money.php",
                "src/App.php:3 -> src/util.php",
            ],
        );
        check(
            &[("run.sh", ". ./lib/a.sh\n"), ("lib/a.sh", "")],
            &["run.sh:1 -> lib/a.sh"],
        );
    }

    #[test]
    fn names_and_files_of_modules() {
        let (_folder, tree) = tree(&[
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
        let (_folder, tree) = tree(&files);
        assert!(ImportGraph::of(&tree).circles(&tree).is_empty());
    }
}
