//! Rust's modules inside a project: `mod`, `use crate::`, `self::`, `super::`, and the crates of a workspace.

use crate::imports::{Outcome, Resolver};
use crate::path::{RelPath, within};
use crate::symbols::Import;
use crate::tree::{SourceFile, SourceTree};

/// One crate of the project.
#[derive(Debug)]
pub(super) struct Crate {
    /// The name as code writes it.
    name: String,
    /// Its source folder, ending in a slash.
    source: String,
}

/// Returns the crates of a project, deepest folder first.
pub(super) fn crates(tree: &SourceTree) -> Vec<Crate> {
    let manifests = tree
        .files()
        .iter()
        .filter(|file| file.path.file_name() == "Cargo.toml");
    let mut crates: Vec<Crate> = manifests
        .filter_map(|file| {
            let text = tree.text(&file.path).ok()?;
            let manifest: toml::Table = text.content().parse().ok()?;
            let name = manifest.get("package")?.get("name")?.as_str()?;
            let name = name.replace('-', "_");
            let source = within(file.path.folder(), "src/");
            Some(Crate { name, source })
        })
        .collect();
    crates.sort_by_key(|known| std::cmp::Reverse(known.source.len()));
    crates
}

/// Calls `found` for the file that `import` leads to.
pub(super) fn targets(
    resolver: &Resolver<'_>,
    file: &SourceFile,
    import: &Import,
    found: &mut dyn FnMut(u32),
) -> Outcome {
    let own = resolver
        .crates
        .iter()
        .find(|known| file.path.as_str().starts_with(&known.source));
    let mut parts: Vec<&str> = import.module.split("::").collect();
    let name = import.names.first().map_or("", |name| &*name.name);
    let Some(first) = parts.first().copied() else {
        return Outcome::Outside;
    };
    let (source, mut way): (&str, Vec<&str>) = match first {
        "crate" => (own.map_or("", |own| &own.source), Vec::new()),
        // `use super::*` stands in nearly every test module and means the file itself.
        "super" if name == "*" && parts.len() == 1 => return Outcome::Outside,
        "self" | "super" => {
            let source = own.map_or("", |own| own.source.as_str());
            let mut here = module_path(&file.path, source);
            while parts.first() == Some(&"super") {
                here.pop();
                parts.remove(0);
            }
            if first == "super" {
                parts.insert(0, "self");
            }
            (source, here)
        }
        other => match resolver.crates.iter().find(|known| known.name == other) {
            Some(known) => (&known.source, Vec::new()),
            None => return Outcome::Outside,
        },
    };
    way.extend(parts.iter().skip(1));
    if !matches!(name, "" | "*" | "self") {
        way.push(name);
    }
    match longest(resolver, source, &way) {
        Some(target) => {
            found(target);
            Outcome::Inside
        }
        None => Outcome::Outside,
    }
}

/// Returns the module that a file is, from the root of its crate.
fn module_path<'p>(path: &'p RelPath, source: &str) -> Vec<&'p str> {
    let inside = path.as_str().strip_prefix(source).unwrap_or(path.as_str());
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut parts: Vec<&str> = inside.split('/').collect();
    if matches!(parts.last(), Some(&"mod" | &"lib" | &"main")) {
        parts.pop();
    }
    parts
}

/// Returns the file of the longest part of `way` that is a module.
fn longest(resolver: &Resolver<'_>, source: &str, way: &[&str]) -> Option<u32> {
    for length in (1..=way.len()).rev() {
        let stem = format!("{source}{}", way[..length].join("/"));
        let file = resolver
            .number(&format!("{stem}.rs"))
            .or_else(|| resolver.number(&format!("{stem}/mod.rs")));
        if file.is_some() {
            return file;
        }
    }
    resolver
        .number(&format!("{source}lib.rs"))
        .or_else(|| resolver.number(&format!("{source}main.rs")))
}
