//! SECURITY.md numbers its promises, and each names tests that are there and are run.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test that cannot read the checkout has nothing to say"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_path_buf()
}

fn read(path: &Path) -> String {
    let text = std::fs::read_to_string(path);
    text.unwrap_or_else(|error| unreachable!("{}: {error}", path.display()))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The names of every test that is run, as the test programs list them: `room::tests::name`, a file of `tests` before
/// its own, `test_file.py::test_name`.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for member in entries(&workspace().join("crates")) {
        for root in ["src/lib.rs", "src/main.rs"].map(|name| member.join(name)) {
            if root.exists() {
                collect(&root, &root.with_file_name(""), "", &mut found);
            }
        }
        for file in entries(&member.join("tests")) {
            if file.extension().is_some_and(|ending| ending == "rs") {
                let name = file.file_stem().unwrap().to_string_lossy().into_owned();
                collect(&file, &file.with_file_name(""), &name, &mut found);
            }
        }
    }
    for file in entries(&workspace().join("tests/python")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("test_") && name.ends_with(".py") {
            let text = read(&file);
            let names = text.lines().filter_map(|line| line.strip_prefix("def "));
            let names = names.filter_map(|line| line.split('(').next());
            let names = names.filter(|line| line.starts_with("test_"));
            found.extend(names.map(|test| format!("{name}::{test}")));
        }
    }
    found
}

/// Collects the tests of a file and of the modules that it declares. Our code is laid out by rustfmt, so a line is an
/// attribute, a beginning or an end. `folder` is where its modules lie.
fn collect(file: &Path, folder: &Path, module: &str, found: &mut BTreeSet<String>) {
    let text = read(file);
    let inside = |module: &str, name: &str| match module {
        "" => name.to_owned(),
        module => format!("{module}::{name}"),
    };
    // The modules that are open at a line, each with its indentation.
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut attributes: Vec<&str> = Vec::new();
    for line in text.lines() {
        let word = line.trim_start();
        let indentation = line.len() - word.len();
        if word.starts_with("#[") {
            attributes.push(word);
            continue;
        }
        let here = open.last().map_or(module, |(_, name)| name).to_owned();
        let item = word.trim_start_matches("pub(crate) ");
        let item = item.trim_start_matches("pub(super) ");
        let item = item.trim_start_matches("pub ");
        let declared = item.strip_prefix("mod ");
        if let Some(name) = declared.and_then(|name| name.strip_suffix(';')) {
            let at = attributes
                .iter()
                .find_map(|line| line.strip_prefix("#[path = \""));
            let next = match at {
                // Beside the file that says so.
                Some(at) => Some(file.with_file_name("").join(at.trim_end_matches("\"]"))),
                None => [format!("{name}.rs"), format!("{name}/mod.rs")]
                    .map(|name| folder.join(name))
                    .into_iter()
                    .find(|path| path.exists()),
            };
            let Some(next) = next else {
                // Code inside a text.
                continue;
            };
            let below = match next.file_name().is_some_and(|file| file == "mod.rs") || at.is_some()
            {
                true => next.with_file_name(""),
                false => folder.join(name),
            };
            collect(&next, &below, &inside(&here, name), found);
        } else if let Some(name) = declared.and_then(|name| name.strip_suffix(" {")) {
            open.push((indentation, inside(&here, name)));
        } else if word == "}" && open.last().is_some_and(|(at, _)| *at == indentation) {
            open.pop();
        } else if attributes.contains(&"#[test]") {
            let is_ignored = attributes.iter().any(|line| line.starts_with("#[ignore"));
            let name = item
                .strip_prefix("fn ")
                .and_then(|rest| rest.split('(').next());
            if let (Some(name), false) = (name, is_ignored) {
                found.insert(inside(&here, name));
            }
        }
        if !word.starts_with("//") {
            attributes.clear();
        }
    }
}

/// Says whether a test, a module of tests or a file of them is there by this whole name.
fn exists(name: &str, tests: &BTreeSet<String>) -> bool {
    if name.contains('/') {
        return workspace().join(name).is_file();
    }
    let is_module = name.ends_with("::tests") || name.ends_with(".py");
    let below = format!("{name}::");
    tests.contains(name) || is_module && tests.iter().any(|test| test.starts_with(&below))
}

#[test]
fn each_promise_names_tests_that_are_there() {
    let text = read(&workspace().join("SECURITY.md"));
    let tests = tests();
    let (mut promises, mut missing) = (0, Vec::new());
    for line in text.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let Some(Ok(number)) = cells.first().map(|cell| cell.trim().parse::<u32>()) else {
            continue;
        };
        promises += 1;
        assert_eq!(number, promises, "promises are numbered in order");
        let names: Vec<&str> = cells[cells.len() - 1]
            .split('`')
            .skip(1)
            .step_by(2)
            .collect();
        assert!(!names.is_empty(), "promise {number} names no test");
        let unknown = names.into_iter().filter(|name| !exists(name, &tests));
        missing.extend(unknown.map(|name| format!("{number}: {name}")));
    }
    assert!(promises >= 30, "only {promises} promises were read");
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn names_that_lead_nowhere_are_told() {
    let tests = tests();
    for name in [
        "no_such_room::tests",
        "process::tests::no_such_test",
        // Functions that are no tests, and modules that have none.
        "lock::open",
        "process::tests::walls",
        "process::sandbox::tests",
        // The last part alone, and a part of a name.
        "tests::nothing_stays_behind",
        "process::tests::nothing_stays",
        // What another test starts.
        "process::tests::started_among_secrets",
        "killed::a_run_that_is_killed",
        "nowhere/deep/request.rs",
        "test_server.py::test_nothing",
        "test_nothing.py",
    ] {
        assert!(!exists(name, &tests), "{name}");
    }
    // The list is what the program itself says.
    let listed = std::process::Command::new(std::env::current_exe().unwrap())
        .arg("--list")
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    let own = tests
        .iter()
        .filter_map(|name| name.strip_prefix("promises::"));
    assert_eq!(names.collect::<Vec<_>>(), own.collect::<Vec<_>>());
}
