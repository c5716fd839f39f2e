//! Existing tests and what they compare with stay as they are, unless changing them is what the task asks for.

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::request::rename::Rename;
use harness_code::suite::weaken;
use harness_code::symbols;
use harness_code::text::whole_words;
use harness_code::tree;

use super::GuardInput;
use crate::history::Refusal;
use harness_code::request::Request;
use harness_code::request::kind::Kind;

pub(super) fn check(input: &GuardInput<'_, '_>) -> Option<Refusal> {
    let GuardInput { change, task, .. } = *input;
    let path = &change.path;
    if task.asks_to_change_test(path) {
        return None;
    }
    if !(tree::is_test(path) || decides_tests(path)) {
        let touched = inline_test(change).or_else(|| {
            let may_change = task.kind() != Kind::Fix || task.is_about_words();
            changed_example(change).filter(|_| !may_change)
        })?;
        let reason = format!(
            "`{touched}` in `{path}` is a test: leave it as it is and change the code that it checks"
        );
        return Some(Refusal::new("draft.test_weakened", reason, path.as_str()));
    }
    let is_beside = |before: &String| {
        MIXED.contains(&path.file_name())
            && task.names_path(path)
            && of_tests(before) == of_tests(change.new_text())
    };
    if change.before.as_ref().is_some_and(is_beside) {
        return None;
    }
    let touched = match &change.before {
        Some(before) => {
            let touched =
                |before: &str, after: &str| weaken::weakened(change.language(), before, after);
            // Without what the task renames, wherever it was renamed, nothing else may differ.
            let (old, new) = (renamed(before, task), renamed(change.new_text(), task));
            let mut readings = old.iter().zip(&new);
            if readings.any(|(before, after)| touched(before, after).is_none()) {
                return None;
            }
            touched(before, change.new_text())?
        }
        // A new one reaches every test beside it.
        None if path.file_name() == "conftest.py" && !task.makes_new_in(path) => {
            "conftest".to_owned()
        }
        None => return None,
    };
    let reason = format!(
        "`{touched}` in `{path}` belongs to the existing tests: leave them as they are and change the code they check"
    );
    Some(Refusal::new("draft.test_weakened", reason, path.as_str()))
}

/// Returns a test inside of a file of Rust code that would change or go.
fn inline_test(change: &FileChange) -> Option<String> {
    let before = change.before.as_deref()?;
    if change.language() != Language::Rust {
        return None;
    }
    let new = symbols::definitions(change.language(), change.new_text());
    let old = symbols::definitions(change.language(), before);
    let is_test = |one: &symbols::Definition| {
        let head = before[..one.header_start()].trim_end();
        one.kind.is_function() && (head.ends_with("#[test]") || one.qualified.starts_with("tests."))
    };
    let stays = |one: &symbols::Definition| {
        let text = before.get(one.span());
        let mut new = new.iter().filter(|other| other.qualified == one.qualified);
        new.any(|other| change.new_text().get(other.span()) == text)
    };
    let touched = old.iter().find(|one| is_test(one) && !stays(one))?;
    Some(touched.qualified.to_string())
}

/// Returns an example with its result in Python documentation that would change or go.
fn changed_example(change: &FileChange) -> Option<String> {
    let before = change
        .before
        .as_deref()
        .filter(|_| change.language() == Language::Python)?;
    let examples = |text: &str| -> Vec<String> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let starts = (0..lines.len()).filter(|at| lines[*at].starts_with(">>>"));
        let example = |at: usize| {
            let result = lines[at + 1..].iter().take_while(|line| {
                !line.is_empty() && !line.starts_with(">>>") && !line.starts_with("\"\"\"")
            });
            let rest: Vec<&str> = result.copied().collect();
            format!("{} {}", lines[at], rest.join(" "))
        };
        starts.map(example).collect()
    };
    let new = examples(change.new_text());
    examples(before).into_iter().find(|one| !new.contains(one))
}

/// Folders of data that tests compare with, wherever they lie.
const DATA_FOLDERS: [&str; 9] = [
    "fixtures",
    "testdata",
    "test_data",
    "golden",
    "goldens",
    "snapshots",
    "__snapshots__",
    "expected",
    "cassettes",
];
/// Words in the name of such a file.
const DATA_NAMES: [&str; 4] = ["expected", "golden", "snapshot", "fixture"];
/// Endings of such files.
const DATA_ENDINGS: [&str; 4] = [".snap", ".golden", ".approved", ".expected"];
/// Files by which test runners are told what to do.
const SETTINGS: [&str; 12] = [
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    "entry_points.txt",
    "noxfile.py",
];

/// Those of them that hold much besides.
const MIXED: [&str; 3] = ["pyproject.toml", "setup.cfg", "tox.ini"];

/// Returns the parts of a settings file that tests and what is loaded into them hang on.
fn of_tests(text: &str) -> Vec<&str> {
    const WORDS: [&str; 6] = ["pytest", "test", "tox", "coverage", "entry", "unittest"];
    let mut counts = false;
    let lines = text.lines().filter(|line| {
        if line.trim_start().starts_with('[') {
            counts = WORDS.iter().any(|word| line.contains(word));
        }
        counts
    });
    lines.collect()
}

/// Says whether a file decides what tests say though it is none: data they compare with, settings of their runner.
pub(crate) fn decides_tests(path: &RelPath) -> bool {
    let name = path.file_name();
    let words = name.split(['.', '-', '_']);
    let folder = path.parent();
    let in_data = folder.is_some_and(|folder| {
        let mut parts = folder.parts();
        parts.any(|part| DATA_FOLDERS.contains(&part))
    });
    let is_data = !Language::of(path).is_source();
    SETTINGS.contains(&name)
        || name.ends_with(".pth")
        || path.as_str().contains(".egg-info/")
        || path.as_str().contains(".dist-info/")
        || DATA_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || (is_data && (in_data || words.into_iter().any(|word| DATA_NAMES.contains(&word))))
}

/// Returns a test as it reads once what the task renames has its new name, for each way to read the task.
fn renamed(before: &str, task: &Request) -> Vec<String> {
    if task.kind() != Kind::Rename {
        return Vec::new();
    }
    let last = |name: &str| match RelPath::parse(name) {
        Ok(path) if Language::of(&path) != Language::Other => path.stem().to_owned(),
        _ => name.rsplit(['.', '/']).next().unwrap_or(name).to_owned(),
    };
    if task.renames().is_empty() {
        return Vec::new();
    }
    let mut texts = vec![before.to_owned()];
    for readings in task.renames() {
        let each = |text: &String| -> Vec<String> {
            let renamed = |one: &Rename| with_new_name(text, &last(&one.old), &last(&one.new));
            readings.iter().map(renamed).collect()
        };
        texts = texts.iter().flat_map(each).collect();
    }
    texts
}

/// Returns a text with a new name wherever the old one stands as a whole word.
fn with_new_name(before: &str, old: &str, new: &str) -> String {
    let mut text = String::with_capacity(before.len());
    let mut end = 0;
    for at in whole_words(before, old) {
        text.push_str(&before[end..at]);
        text.push_str(new);
        end = at + old.len();
    }
    text + &before[end..]
}

#[cfg(test)]
mod tests {
    use super::super::testing::{change, verdict};

    const SUITE: &str = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n";

    #[track_caller]
    fn check(task: &str, after: &str, expected: &str) {
        assert_eq!(
            verdict(super::check, task, &change("tests/test_a.py", SUITE, after)),
            expected
        );
    }

    #[test]
    fn an_existing_test_may_not_change() {
        check(
            "fix f",
            &SUITE.replace("assertEqual(f(1), 2)", "assertTrue(f(1))"),
            "draft.test_weakened",
        );
        check("fix f", "import unittest\n", "draft.test_weakened");
        let skipped = SUITE.replace(
            "    def test_a",
            "    @unittest.skip('later')\n    def test_a",
        );
        check("fix f", &skipped, "draft.test_weakened");
    }

    #[test]
    fn a_new_test_may_come() {
        let more = "\n    def test_b(self):\n        self.assertEqual(f(2), 3)\n";
        check("add f and a test", &format!("{SUITE}{more}"), "ok");
    }

    #[test]
    fn only_a_task_that_asks_for_it_may_change_them() {
        let turned = SUITE.replace('2', "3");
        check("update the tests of f", &turned, "ok");
        check("change tests/test_a.py to expect 3", &turned, "ok");
        check("write tests for f", &turned, "draft.test_weakened");
        let measure = "fix f so that tests/test_a.py passes";
        check(measure, &turned, "draft.test_weakened");
        check("rename f to g", &SUITE.replace("f(1)", "g(1)"), "ok");
        check("rename f to g", &turned, "draft.test_weakened");
        let twice = SUITE.replace("2)", "named(\"f\"))");
        let half = twice.replace("f(1)", "g(1)");
        let change = change("tests/test_a.py", &twice, &half);
        let task = "rename f to g and leave the rest";
        assert_eq!(verdict(super::check, task, &change), "ok");
        let moved = SUITE.replace("unittest", "unittests");
        check("rename lib/unittest.py to lib/unittests.py", &moved, "ok");
        check("rename lib/unittest.js to lib/unittests.js", &moved, "ok");
    }

    #[test]
    fn tests_inside_of_code_stay() {
        let code = "fn f() -> u8 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(super::f(), 3);\n    }\n}\n";
        let rule = |after: &str| verdict(super::check, "fix f", &change("src/lib.rs", code, after));
        assert_eq!(rule(&code.replace(", 3)", ", 1)")), "draft.test_weakened");
        assert_eq!(rule(&code.replace("    1\n", "    3\n")), "ok");
        let code = "def f(x):\n    \"\"\"Adds.\n\n    >>> f(1)\n    3\n    \"\"\"\n    return x\n";
        let rule = |after: &str| verdict(super::check, "fix f", &change("a.py", code, after));
        assert_eq!(
            rule(&code.replace("    3\n", "    1\n")),
            "draft.test_weakened"
        );
        assert_eq!(rule(&code.replace("return x", "return x + 2")), "ok");
    }

    #[test]
    fn what_tests_compare_with_stays() {
        for path in [
            "testdata/expected.json",
            "fixtures/a.json",
            "shop/__snapshots__/a.snap",
            "golden/report.txt",
        ] {
            let changed = change(path, "{\"total\": 12}\n", "{\"total\": 7}\n");
            let rule = |task: &str| verdict(super::check, task, &changed);
            assert_eq!(rule("fix f"), "draft.test_weakened", "{path}");
            assert_eq!(rule(&format!("update {path}")), "ok", "{path}");
        }
        let code = change("shop/fixtures.py", "A = 1\n", "A = 2\n");
        assert_eq!(verdict(super::check, "change A", &code), "ok");
    }

    #[test]
    fn settings_beside_those_of_tests_may_change_when_named() {
        let before =
            "[project]\nversion = \"1.0.0\"\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n";
        let rule = |task: &str, after: &str| {
            verdict(super::check, task, &change("pyproject.toml", before, after))
        };
        let bumped = before.replace("1.0.0", "1.1.0");
        assert_eq!(rule("bump the version in pyproject.toml", &bumped), "ok");
        assert_eq!(rule("fix f", &bumped), "draft.test_weakened");
        let turned = before.replace("-q", "-p evil");
        assert_eq!(
            rule("bump the version in pyproject.toml", &turned),
            "draft.test_weakened"
        );
    }

    #[test]
    fn code_is_not_a_test() {
        let changed = SUITE.replace('2', "3");
        assert_eq!(
            verdict(super::check, "fix f", &change("shop/a.py", SUITE, &changed)),
            "ok"
        );
    }
}
