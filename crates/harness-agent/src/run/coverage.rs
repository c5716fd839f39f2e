//! Do the tests that ran speak of what is changed? Told from files, ids and the command, never by running anything.

use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::suite::{Runner as Framework, Suite};
use harness_code::symbols::Definition;
use harness_code::text::whole_words;
use harness_code::tree::{self, SourceFile, SourceTree};
use harness_hands::suite::SuiteReport;

use crate::plan::lies_in;

/// Returns why the tests that ran say nothing of a changed file: they are of another language or package, or those that
/// use it are not among them.
pub(super) fn uncovered(
    suite: &Suite,
    tree: &SourceTree,
    reports: &[&SuiteReport],
    changed: &[RelPath],
) -> Option<String> {
    let is_code = |path: &&RelPath| Language::of(path).is_source() && !tree::is_test(path);
    let mut code = changed.iter().filter(is_code);
    code.find_map(|path| {
        other_language(suite, tree, path)
            .or_else(|| other_package(suite, tree, path))
            .or_else(|| its_tests_left_out(tree, reports, path))
    })
}

fn other_language(suite: &Suite, tree: &SourceTree, path: &RelPath) -> Option<String> {
    let language = Language::of(path);
    let mut tests = tree.files().iter().filter(|file| file.test);
    // Rust keeps tests inside of its code.
    let has_tests = language == Language::Rust || tests.any(|file| file.language == language);
    let (runner, name) = (suite.runner.name(), language.name());
    (!suite.runner.runs(language) && has_tests)
        .then(|| format!("{runner} ran, which runs no tests of {name}; `{path}` is {name}"))
}

/// A package inside of the one whose tests run has tests of its own, unless the command says that it runs those too.
fn other_package(suite: &Suite, tree: &SourceTree, path: &RelPath) -> Option<String> {
    const TOGETHER: [&str; 6] = ["workspace", "-ws", "lerna", "turbo", "nx ", "-r "];
    let name = match suite.runner {
        Framework::Npm | Framework::Pnpm | Framework::Yarn | Framework::Bun => "package.json",
        Framework::Cargo => "Cargo.toml",
        _ => return None,
    };
    let words = command(suite);
    if TOGETHER.iter().any(|word| words.contains(word)) {
        return None;
    }
    let mut folder = path.parent();
    while let Some(here) = folder.filter(|here| Some(here) != suite.folder.as_ref()) {
        let manifest = here.join(name).ok()?;
        if tree.file(&manifest).is_some() {
            return Some(format!(
                "`{path}` belongs to `{manifest}`, whose tests did not run"
            ));
        }
        folder = here.parent();
    }
    None
}

fn its_tests_left_out(
    tree: &SourceTree,
    reports: &[&SuiteReport],
    path: &RelPath,
) -> Option<String> {
    let has_ids = reports.iter().any(|report| !report.passed_ids.is_empty());
    if Language::of(path) != Language::Python || !has_ids || path.stem() == "__init__" {
        return None;
    }
    let ran = |file: &SourceFile| {
        reports.iter().any(|report| {
            let failed = report.failures.iter().map(|failure| &failure.id);
            let mut ids = report.passed_ids.iter().chain(failed);
            ids.any(|id| lies_in(id, &file.path))
        })
    };
    // A folder of tests also holds benchmarks and helpers, which no runner collects.
    let has_tests = |file: &SourceFile| {
        let mut names = file.facts.definitions.iter().map(Definition::name);
        let stem = file.path.stem();
        // `conftest.py` holds what tests are given.
        stem != "conftest"
            && (names.any(|name| name.starts_with("test") || name.starts_with("Test"))
                || stem.starts_with("test")
                || stem.ends_with("test"))
    };
    let uses = |file: &&SourceFile| {
        let text = tree.text(&file.path).ok();
        file.test
            && has_tests(file)
            && file.language == Language::Python
            && text.is_some_and(|text| imports(text.content(), path.stem()))
    };
    let using: Vec<&SourceFile> = tree.files().iter().filter(uses).collect();
    let first = using
        .first()
        .filter(|_| !using.iter().any(|file| ran(file)))?;
    Some(format!(
        "`{}`, which tests `{path}`, is not among the tests that ran",
        first.path
    ))
}

/// Says whether Python code imports a module of this name, or from one.
fn imports(text: &str, stem: &str) -> bool {
    let lines = text.lines().map(str::trim_start);
    let mut lines = lines.filter(|line| line.starts_with("from ") || line.starts_with("import "));
    lines.any(|line| whole_words(line, stem).next().is_some())
}

/// Returns the changed files of code that the command of the suite names: they are its tests, whatever they are called.
pub(super) fn run_by_name(suite: &Suite, changed: &[RelPath]) -> Vec<RelPath> {
    let command = command(suite);
    let words: Vec<&str> = command
        .split(|c: char| c.is_whitespace() || "`\"'".contains(c))
        .map(|word| word.trim_start_matches("./"))
        .collect();
    let folder = suite.folder.as_ref().map(|folder| format!("{folder}/"));
    let is_named = |path: &&RelPath| {
        let path = path.as_str();
        let folder = folder.as_deref();
        let inner = folder.and_then(|folder| path.strip_prefix(folder));
        words.contains(&inner.unwrap_or(path))
    };
    let code = changed.iter().filter(|path| Language::of(path).is_source());
    code.filter(is_named).cloned().collect()
}

/// Returns the command of a suite with what it was told from, which holds what a script runs.
fn command(suite: &Suite) -> String {
    format!("{} {}", suite.command.join(" "), suite.why)
}

#[cfg(test)]
mod tests {
    use harness_hands::process::sandbox::Sandbox;

    use super::*;

    fn suite(runner: Framework, why: &str) -> Suite {
        Suite {
            runner,
            command: vec![runner.name().to_owned(), "test".to_owned()],
            interpreter: None,
            interpreter_why: None,
            missing: Vec::new(),
            folder: None,
            why: why.to_owned(),
        }
    }

    fn paths(names: &[&str]) -> Vec<RelPath> {
        names
            .iter()
            .map(|name| RelPath::parse(name).unwrap())
            .collect()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the project of a test is a temporary folder"
    )]
    fn found(
        suite: &Suite,
        files: &[(&str, &str)],
        passed: &[&str],
        changed: &str,
    ) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let place = folder.path().join(name);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let mut report = SuiteReport::could_not_start(String::new(), Sandbox::None);
        report.passed_ids = passed.iter().map(|id| (*id).to_owned()).collect();
        uncovered(suite, &tree, &[&report], &paths(&[changed]))
    }

    #[test]
    fn tests_of_another_language_say_nothing() {
        let pytest = suite(Framework::Pytest, "");
        let files = [("web/sum.js", ""), ("web/sum.test.js", ""), ("a.py", "")];
        let says = |changed: &str| found(&pytest, &files, &[], changed);
        assert!(
            says("web/sum.js")
                .unwrap()
                .contains("runs no tests of JavaScript")
        );
        assert_eq!(says("a.py"), None);
        assert_eq!(says("web/sum.test.js"), None);
        let untested = [("web/sum.js", ""), ("a.py", "")];
        assert_eq!(found(&pytest, &untested, &[], "web/sum.js"), None);
        assert!(found(&pytest, &[("core/src/lib.rs", "")], &[], "core/src/lib.rs").is_some());
    }

    #[test]
    fn tests_of_the_outer_package_say_nothing_of_an_inner_one() {
        let files = [
            ("package.json", "{}"),
            ("packages/b/package.json", "{}"),
            ("packages/b/sum.js", ""),
            ("a.js", ""),
        ];
        let npm = suite(Framework::Npm, "`package.json` runs `node --test`");
        let words = found(&npm, &files, &[], "packages/b/sum.js").unwrap();
        assert!(
            words.contains("belongs to `packages/b/package.json`"),
            "{words}"
        );
        assert_eq!(found(&npm, &files, &[], "a.js"), None);
        let all = suite(
            Framework::Npm,
            "`package.json` runs `npm test --workspaces`",
        );
        assert_eq!(found(&all, &files, &[], "packages/b/sum.js"), None);
    }

    #[test]
    fn tests_that_import_what_is_changed_are_among_those_that_ran() {
        let pytest = suite(Framework::Pytest, "");
        let files = [
            ("shop/cart.py", ""),
            ("shop/other.py", ""),
            ("tests/test_a.py", "A = 1\n"),
            ("tests/conftest.py", "from shop.other import f\n"),
            ("more/test_cart.py", "from shop.cart import total\n"),
            (
                "tests/benchmark_other.py",
                "from shop.other import f\n\n\ndef speed():\n    f()\n",
            ),
        ];
        let ran = |id: &str, changed: &str| found(&pytest, &files, &[id], changed);
        let words = ran("tests/test_a.py::test_a", "shop/cart.py").unwrap();
        assert!(words.contains("`more/test_cart.py`"), "{words}");
        assert_eq!(ran("more/test_cart.py::test_b", "shop/cart.py"), None);
        assert_eq!(ran("tests/test_a.py::test_a", "shop/other.py"), None);
    }

    #[test]
    fn files_that_the_command_names_are_tests() {
        let npm = suite(
            Framework::Npm,
            "`package.json` runs `node --test ./checks/sum.js`",
        );
        let changed = paths(&["checks/sum.js", "src/sum.js", "package.json"]);
        assert_eq!(run_by_name(&npm, &changed), paths(&["checks/sum.js"]));
    }

    #[test]
    fn imports_are_seen() {
        assert!(imports("from shop.cart import total\n", "cart"));
        assert!(imports("import cart as c\n", "cart"));
        assert!(!imports("cart = 1\nimport carts\n", "cart"));
    }
}
