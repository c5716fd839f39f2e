//! How a project is started: installed commands, modules that run, programs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::imports::Resolver;
use crate::language::Language;
use crate::path::RelPath;
use crate::report::clipped;
use crate::report::manifest::Manifest;
use crate::tree::{SourceFile, SourceTree};

/// One way to start the project.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EntryPoint {
    /// The command, such as `shop` or `python -m shop`.
    pub name: String,
    /// The file it starts in, when that is in the project.
    pub path: Option<RelPath>,
}

/// More entry points than this are a list, not a way in.
const ENTRY_POINTS: usize = 10;

/// Returns the ways to start a project, those nearest to its folder first.
pub(super) fn entry_points(tree: &SourceTree, manifest: &Manifest) -> Vec<EntryPoint> {
    let resolver = Resolver::of(tree);
    let mut found: Vec<EntryPoint> = Vec::new();
    for (name, target) in &manifest.scripts {
        found.push(EntryPoint {
            name: clipped(name, 60),
            path: script_path(tree, &resolver, target),
        });
    }
    for file in tree.sources().filter(|file| !file.test) {
        let name = match (file.language, file.path.file_name()) {
            (Language::Python, "__main__.py") => match resolver.python_name(&file.path) {
                Some(module) => format!("python -m {}", module.trim_end_matches(".__main__")),
                None => continue,
            },
            (Language::Python, "manage.py" | "app.py" | "main.py" | "cli.py")
                if file.path.parts().count() <= 2 =>
            {
                format!("python {}", file.path)
            }
            (Language::Python, _)
                if file.facts.runnable
                    && file.path.parent().is_none()
                    && file.path.file_name() != "setup.py" =>
            {
                format!("python {}", file.path)
            }
            // An example with a folder of its own has a `main.rs` too.
            (Language::Rust, "main.rs") if file.path.parts().all(|part| part != "examples") => {
                cargo_program(file)
            }
            (Language::Go, "main.go") => format!("go run ./{}", file.path.folder()),
            (_, _) => continue,
        };
        let is_known = found
            .iter()
            .any(|entry| entry.path.as_ref() == Some(&file.path));
        if !is_known {
            found.push(EntryPoint {
                name,
                path: Some(file.path.clone()),
            });
        }
    }
    found.sort_by_key(|entry| entry.path.as_ref().map_or(0, |path| path.parts().count()));
    found.truncate(ENTRY_POINTS);
    found
}

fn cargo_program(file: &SourceFile) -> String {
    let package = file
        .path
        .folder()
        .trim_end_matches("src")
        .trim_end_matches('/');
    match package.rsplit('/').next() {
        None | Some("") => "cargo run".to_string(),
        Some(name) => format!("cargo run -p {name}"),
    }
}

/// Returns the file behind `package.module:function` or a path.
fn script_path(tree: &SourceTree, resolver: &Resolver<'_>, target: &str) -> Option<RelPath> {
    let as_path = RelPath::parse(target)
        .ok()
        .and_then(|path| tree.file(&path));
    if let Some(file) = as_path {
        return Some(file.path.clone());
    }
    let module = target.split([':', '[']).next().unwrap_or(target).trim();
    // Any file may ask: the name is absolute.
    let from = RelPath::parse("pyproject.toml").ok()?;
    resolver
        .python_module(&from, module, 0)
        .map(|file| file.path.clone())
}
