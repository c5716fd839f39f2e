//! A new module may not take the name of another one: imports all over would find it instead.

use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::stdlib;
use harness_code::tree::SourceTree;

use super::GuardInput;
use crate::history::Refusal;

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let GuardInput {
        change,
        task,
        facts,
    } = *input;
    let path = &change.path;
    if change.before.is_some() || change.language() != Language::Python || task.names_path(path) {
        return None;
    }
    let module = module(path)?;
    let name = module.file_name();
    // Deeper down a module has its package in front of its name.
    let found_first = matches!(module.folder(), "" | "src");
    let (rule, hidden) = if found_first && stdlib::is_module(name) {
        ("draft.shadows_standard_library", "the standard library's")
    } else if found_first
        && (name == "pytest" || facts.installed.top_levels().contains(&name.to_owned()))
    {
        ("draft.shadows_package", "the installed")
    } else if facts
        .tree
        .is_some_and(|tree| has_module(tree, &module, path))
    {
        ("draft.shadows_module", "the project's own")
    } else {
        return None;
    };
    let reason = format!("`{path}` would hide {hidden} `{name}`: choose another name");
    Some(Refusal::new(rule, reason, path.as_str()))
}

/// Returns the path of a module without its ending: `shop/cart` for `shop/cart.py` and `shop/cart/__init__.py`.
fn module(path: &RelPath) -> Option<RelPath> {
    match path.file_name() {
        "__init__.py" => path.parent(),
        _ => RelPath::parse(path.as_str().strip_suffix(".py")?).ok(),
    }
}

/// Says whether the project has the module in its other form: a file beside a new package, a folder beside a new file.
fn has_module(tree: &SourceTree, module: &RelPath, new: &RelPath) -> bool {
    if new.file_name() == "__init__.py" {
        let file = RelPath::parse(&format!("{module}.py"));
        return file.is_ok_and(|file| tree.file(&file).is_some());
    }
    let inside = format!("{module}/");
    let mut sources = tree.sources();
    sources.any(|file| file.language == Language::Python && file.path.as_str().starts_with(&inside))
}

#[cfg(test)]
mod tests {
    use harness_code::edit::FileChange;

    use super::super::testing::{change, verdict_in};

    #[test]
    fn a_new_module_may_not_hide_another() {
        let new = |path: &str| FileChange {
            before: None,
            ..change(path, "", "x = 1\n")
        };
        let files = [
            ("shop/orders.py", "A = 1\n"),
            ("tests/test_a.py", "def test_a(): pass\n"),
        ];
        let rule = |change: &FileChange| verdict_in(&files, super::check, "add a helper", change);
        for path in [
            "random.py",
            "src/email.py",
            "json/__init__.py",
            "traceback.py",
            "unittest.py",
            "pprint.py",
            "zoneinfo.py",
        ] {
            assert_eq!(rule(&new(path)), "draft.shadows_standard_library", "{path}");
        }
        assert_eq!(rule(&new("pytest.py")), "draft.shadows_package");
        assert_eq!(rule(&new("numpy/__init__.py")), "draft.shadows_package");
        assert_eq!(
            rule(&new("shop/orders/__init__.py")),
            "draft.shadows_module"
        );
        assert_eq!(rule(&new("tests.py")), "draft.shadows_module");
        assert_eq!(rule(&new("shop/random.py")), "ok");
        assert_eq!(rule(&new("shop/__init__.py")), "ok");
        assert_eq!(rule(&change("random.py", "", "x = 1\n")), "ok");
    }
}
