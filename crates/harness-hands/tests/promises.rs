//! SECURITY.md numbers its promises, and each names tests that are there.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot read the checkout has nothing to say"
)]

use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_path_buf()
}

/// The name and the text of every Rust and Python file of the workspace.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = ["crates", "tests", "fuzz"]
        .map(|name| workspace().join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let ending = path.extension().unwrap_or_default();
            if path.is_dir() && entry.file_name() != "target" {
                folders.push(path);
            } else if ending == "rs" || ending == "py" {
                let name = entry.file_name().to_string_lossy().into_owned();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// Says whether a test, a module of tests or a file of them is there by this name.
fn exists(name: &str, sources: &[(String, String)]) -> bool {
    let mut parts = name.rsplit("::");
    let (last, above) = (parts.next().unwrap_or_default(), parts.next());
    if last.ends_with(".py") || last.ends_with(".rs") {
        let file = last.rsplit('/').next().unwrap_or_default();
        return sources.iter().any(|(name, _)| name == file);
    }
    if let ("tests", Some(room)) = (last, above) {
        let file = format!("{room}.rs");
        return sources
            .iter()
            .any(|(name, text)| (*name == file || name == "mod.rs") && text.contains("mod tests"));
    }
    let (rust, python) = (format!("fn {last}("), format!("def {last}("));
    sources
        .iter()
        .any(|(_, text)| text.contains(&rust) || text.contains(&python))
}

#[test]
fn each_promise_names_tests_that_are_there() {
    let text = std::fs::read_to_string(workspace().join("SECURITY.md")).unwrap();
    let sources = sources();
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
        missing.extend(
            names
                .into_iter()
                .filter(|name| !exists(name, &sources))
                .map(|name| format!("{number}: {name}")),
        );
    }
    assert!(promises >= 29, "only {promises} promises were read");
    assert_eq!(missing, Vec::<String>::new());
    assert!(!exists("process::tests::no_such_test_anywhere", &sources));
}
