//! Definitions that would be gone, though the task does not speak of them.

use std::collections::BTreeSet;

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::scope::{Depth, Guard, Source};
use harness_code::symbols::{self, Definition};

use super::GuardInput;
use crate::history::Refusal;
use crate::plan::Spot;

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let GuardInput {
        change,
        task,
        facts,
    } = *input;
    let before = change.before.as_deref()?;
    let after = symbols::definitions(change.language(), change.new_text());
    let known = symbols::definitions(change.language(), before);
    let is_local = |old: &Definition| {
        let holder = old.parent.and_then(|at| known.get(at as usize));
        holder.is_some_and(|holder| holder.kind.is_function())
    };
    // What a Python file newly imports others may import from it as before; whether the import leads anywhere is asked
    // elsewhere. In other languages an import gives nothing on.
    let imported = match change.language() {
        Language::Python => &imported(change.new_text()) - &imported(before),
        _ => BTreeSet::new(),
    };
    let is_imported = |old: &Definition| old.parent.is_none() && imported.contains(old.name());
    let lost: Vec<String> = known
        .iter()
        // A function inside another is its own affair.
        .filter(|old| !is_local(old) && !is_imported(old))
        // One that moved out of or into a class, or was asked away, is not lost.
        .filter(|old| {
            // A member goes with what it belongs to.
            let mut parts = old.qualified.split('.');
            !after.iter().any(|new| new.name() == old.name())
                && !parts.any(|part| task.speaks_of(part))
        })
        .filter(|old| {
            let is_it = |spot: &Spot| {
                let rest = old.qualified.strip_prefix(spot.name.as_str());
                let is_inside = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
                spot.path == change.path && is_inside
            };
            !facts.may_go.iter().any(is_it)
        })
        .filter(|old| !facts.beside.iter().any(|other| has_it(other, change, old)))
        .map(|old| format!("`{}`", old.qualified))
        .collect();
    if lost.is_empty() {
        return None;
    }
    let (names, path) = (lost.join(", "), &change.path);
    let reason = format!(
        "{names} would be gone from `{path}`: change only the definition that the task is about"
    );
    Some(Refusal::new("draft.lost", reason, path.as_str()))
}

/// Returns the names that a Python file gets from others wherever it is imported.
fn imported(text: &str) -> BTreeSet<String> {
    let source = Source::parse(text.to_owned());
    let scopes = source.scopes(Depth::Names);
    let imports = scopes.imports.iter();
    let always = imports.filter(|import| import.scope == 0 && import.guard == Guard::default());
    always.map(|import| import.bound(text).to_owned()).collect()
}

/// Says whether another file of the same Go package brings a definition, which may then stand in no other: neither file
/// is only for some platforms or for tests.
fn has_it(other: &FileChange, change: &FileChange, old: &Definition) -> bool {
    let is_built = |one: &FileChange| {
        let conditions = ["//go:build", "// +build"];
        let mut lines = one.new_text().lines();
        one.path.stem().split('_').count() == 1
            && !lines.any(|line| conditions.iter().any(|word| line.starts_with(word)))
    };
    change.language() == Language::Go
        && !matches!(old.name(), "init" | "_")
        && is_built(change)
        && is_built(other)
        && other.path != change.path
        && other.path.folder() == change.path.folder()
        && Language::of(&other.path) == Language::Go
        && other.brings(&old.qualified)
}

#[cfg(test)]
mod tests {
    use harness_code::fix::Installed;
    use harness_code::request::Request;

    use super::super::GuardContext;
    use super::super::testing::{change, verdict};
    use super::*;

    const TWO: &str = "def f():\n    return 1\n\n\ndef g():\n    return 2\n";

    #[test]
    fn a_definition_may_not_vanish() {
        let after = "def f():\n    return 3\n";
        assert_eq!(
            verdict(check, "fix f", &change("a.py", TWO, after)),
            "draft.lost"
        );
    }

    #[test]
    fn a_function_inside_another_may_go() {
        let before = "def f():\n    def inner():\n        return 1\n\n    return inner()\n";
        let after = "def f():\n    return 2\n";
        assert_eq!(
            verdict(check, "fix g", &change("a.py", before, after)),
            "ok"
        );
    }

    #[test]
    fn what_is_imported_instead_is_not_lost() {
        let told = |after: &str| verdict(check, "fix f", &change("a.py", TWO, after));
        assert_eq!(
            told("from b import g\n\n\ndef f():\n    return g()\n"),
            "ok"
        );
        assert_eq!(
            told("from b import (\n    h as g,\n)\n\n\ndef f():\n    return g()\n"),
            "ok"
        );
        for after in [
            "from b import h\n\n\ndef f():\n    return h()\n",
            "def f():\n    from b import g\n    return g()\n",
            "if TYPE_CHECKING:\n    from b import g\n\n\ndef f():\n    return 1\n",
        ] {
            assert_eq!(told(after), "draft.lost", "{after}");
        }
        // Elsewhere other files could no longer import it from here.
        let script = "export function g(x) {\n  return x;\n}\n";
        let imported = "import { g } from \"./b.js\";\n";
        assert_eq!(
            verdict(check, "fix f", &change("a.js", script, imported)),
            "draft.lost"
        );
        // What stands in for an import that may fail.
        let import = "try:\n    from b import g\nexcept ImportError:\n    pass\n\n\n";
        let (before, after) = (
            format!("{import}{TWO}"),
            format!("{import}def f():\n    return 1\n"),
        );
        assert_eq!(
            verdict(check, "fix f", &change("a.py", &before, &after)),
            "draft.lost"
        );
    }

    #[test]
    fn what_the_task_names_may_go() {
        let after = "def f():\n    return 1\n";
        assert_eq!(
            verdict(check, "remove `g` from a.py", &change("a.py", TWO, after)),
            "ok"
        );
        assert_eq!(
            verdict(check, "fix f", &change("a.py", TWO, &TWO.replace('1', "3"))),
            "ok"
        );
    }

    #[test]
    fn what_another_file_of_a_go_package_brings_may_go() {
        let (code, rest) = ("var Wrong = 1\n", "func f() {}\n");
        let gone = change(
            "a/id.go",
            &format!("package a\n\n{code}\n{rest}"),
            &format!("package a\n\n{rest}"),
        );
        let installed = Installed::default();
        let refused = |path: &str, before: &str| {
            let beside = [change(path, before, &format!("package a\n\n{code}"))];
            let facts = GuardContext {
                beside: &beside,
                ..GuardContext::of(None, &installed)
            };
            let input = GuardInput {
                change: &gone,
                task: &Request::read("faster f"),
                facts: &facts,
            };
            check(&input).is_some()
        };
        assert!(!refused("a/error.go", ""));
        for path in ["b/error.go", "a/error_test.go", "a/error_windows.go"] {
            assert!(refused(path, ""), "{path}");
        }
        assert!(refused("a/error.go", &format!("package a\n\n{code}")));
    }
}
