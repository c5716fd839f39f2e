//! A draft may not import what is nowhere: not in the project, not in the standard library, not installed.

use std::collections::HashSet;

use harness_code::edit::FileChange;
use harness_code::imports::Resolver;
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::scope::{Depth, ImportBinding, Source};
use harness_code::stdlib;
use harness_code::tree::SourceTree;

use super::{GuardContext, GuardInput};
use crate::history::Refusal;

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let GuardInput { change, facts, .. } = *input;
    if change.language() != Language::Python {
        return None;
    }
    let before = Source::parse(change.before.clone().unwrap_or_default());
    let before = before.scopes(Depth::Names);
    let known: HashSet<(u32, &str, Option<&str>)> = before.imports.iter().map(key).collect();
    let after = Source::parse(change.new_text().to_owned());
    let after = after.scopes(Depth::Names);
    let mut new = after
        .imports
        .iter()
        .filter(|import| !known.contains(&key(import)))
        // Whoever guards an import knows that it may fail.
        .filter(|import| {
            !import.guard.catches_import_error()
                && !import.guard.catches_all()
                && !import.guard.for_type_checkers()
        })
        .peekable();
    new.peek()?;
    let resolver = facts.resolver()?;
    let missing = new.find_map(|import| missing(change, facts, resolver, import))?;
    let path = &change.path;
    let reason = format!(
        "`{missing}`, which `{path}` would import, is nowhere: use what the project and the standard library have"
    );
    Some(Refusal::new("draft.missing_import", reason, path.as_str()))
}

fn key<'a>(import: &ImportBinding<'a>) -> (u32, &'a str, Option<&'a str>) {
    (import.level, import.module, import.member)
}

/// Returns what an import asks for and nothing has, or nothing.
fn missing(
    change: &FileChange,
    facts: &GuardContext<'_>,
    resolver: &Resolver<'_>,
    import: &ImportBinding<'_>,
) -> Option<String> {
    let level = u8::try_from(import.level).unwrap_or(u8::MAX);
    let shown = format!("{}{}", ".".repeat(usize::from(level)), import.module);
    let module = |dotted: &str| {
        let file = resolver.python_module(&change.path, dotted, level);
        file.filter(|file| !facts.goes(&file.path))
    };
    let Some(file) = module(import.module) else {
        return (!may_exist(change, facts, resolver, import)).then_some(shown);
    };
    let member = import.member.filter(|member| *member != "*")?;
    let dotted = |tail: &str| match import.module {
        "" => tail.to_owned(),
        module => format!("{module}.{tail}"),
    };
    let is_module = module(&dotted(member)).is_some();
    let names = &file.facts.names;
    let stars = file
        .facts
        .imports
        .iter()
        .any(|import| import.names.iter().any(|name| &*name.name == "*"));
    let has = names.contains(member)
        || stars
        || names.contains("__getattr__")
        || names.contains("globals")
        || file.facts.broken
        || file
            .facts
            .definitions
            .iter()
            .any(|known| known.name() == member);
    let folder = file.path.folder();
    let submodule = [
        format!("{folder}/{member}.py"),
        format!("{folder}/{member}/__init__.py"),
    ];
    let of_package = |path: &RelPath| {
        file.path.stem() == "__init__" && submodule.iter().any(|module| module == path.as_str())
    };
    // What this run or this very change added is not in the tree yet.
    let mut added = facts.beside.iter().chain(std::iter::once(change));
    let added = added.any(|other| {
        other.path == file.path && other.new_text().contains(member)
            || of_package(&other.path) && !facts.goes(&other.path)
    });
    (!is_module && !has && !added).then(|| format!("{shown}.{member}"))
}

/// Returns whether a module that the project's files do not give may still be there.
fn may_exist(
    change: &FileChange,
    facts: &GuardContext<'_>,
    resolver: &Resolver<'_>,
    import: &ImportBinding<'_>,
) -> bool {
    let first = import.module.split('.').next().unwrap_or_default();
    let parts: Vec<&str> = import
        .module
        .split('.')
        .filter(|part| !part.is_empty())
        .collect();
    let tail = parts.join("/");
    // A file that this run or this change adds, a folder without `__init__.py`, or a compiled module.
    let in_project = |path: &str| {
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let stem = stem.split(".cpython").next().unwrap_or(stem);
        stem == tail
            || stem.ends_with(&format!("/{tail}"))
            || path.starts_with(&format!("{tail}/"))
            || path.contains(&format!("/{tail}/"))
    };
    let files = facts.tree.map_or(&[][..], SourceTree::files);
    let files = files.iter().map(|file| &file.path);
    let mut paths = files.chain(facts.beside.iter().map(|other| &other.path));
    let known = paths.any(|path| in_project(path.as_str()) && !facts.goes(path));
    if import.level > 0 {
        return tail.is_empty() || known;
    }
    // A package of the project has only what its folder holds, unless it puts other folders beside it.
    let package = resolver.python_module(&change.path, first, 0);
    if package.is_some_and(|package| !package.facts.names.contains("__path__")) {
        return known;
    }
    // Nothing known about installed packages at all: then any may be.
    stdlib::is_module(first)
        || known
        || facts.installed.roots.is_empty()
        || facts
            .installed
            .top_levels()
            .iter()
            .any(|name| name == first)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict_in};

    const FILES: &[(&str, &str)] = &[
        ("shop/__init__.py", ""),
        ("shop/pricing.py", "def total():\n    return 1\n"),
        (
            "shop/report.py",
            "import os\n\n\ndef lines():\n    return []\n",
        ),
    ];

    #[track_caller]
    fn check(import: &str, expected: &str) {
        let before = FILES[2].1;
        let after = format!("{import}\n{before}");
        assert_eq!(
            verdict_in(
                FILES,
                super::check,
                "x",
                &change("shop/report.py", before, &after)
            ),
            expected,
            "{import}"
        );
    }

    #[test]
    fn what_is_nowhere_is_refused() {
        for import in [
            "import shop_utils",
            "import pandas",
            "from shop.prices import total",
            "from shop.pricing import totals",
            "from .prices import total",
            "from . import prices",
        ] {
            check(import, "draft.missing_import");
        }
    }

    #[test]
    fn what_is_there_passes() {
        for import in [
            "import math",
            "import os.path",
            "import numpy as np",
            "from shop.pricing import total",
            "from .pricing import total",
            "from . import pricing",
            "import shop.pricing",
            "try:\n    import pandas\nexcept ImportError:\n    pandas = None",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas",
        ] {
            check(import, "ok");
        }
    }

    #[test]
    fn an_import_that_stood_there_is_not_the_change_s_fault() {
        let before = "import pandas\n";
        let after = "import pandas\nx = 1\n";
        assert_eq!(
            verdict_in(
                FILES,
                super::check,
                "x",
                &change("shop/report.py", before, after)
            ),
            "ok"
        );
    }
}
