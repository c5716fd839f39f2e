//! Keeps the house: floors inside each crate, short files, the environment and the prompts in their own rooms.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at once where its ground is missing"
)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Files that may read the environment, each the one such file of its crate.
const ENVIRONMENT_ROOMS: [&str; 2] = [
    "harness-agent/src/env.rs",
    "harness-hands/src/environment.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

struct Source {
    /// Relative to `crates/`, forward slashes.
    path: String,
    text: String,
}

impl Source {
    fn crate_name(&self) -> &str {
        self.path.split('/').next().unwrap()
    }

    /// The parts of the path below `src`, without the ending: `model/local.rs` is `["model", "local"]`.
    fn module(&self) -> Vec<&str> {
        let inside = self.path.split_once("/src/").unwrap().1;
        let mut parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
        if parts.last() == Some(&"mod") {
            parts.pop();
        }
        parts
    }

    /// The text before its tests; a file of tests has none.
    fn code(&self) -> &str {
        if self.path.ends_with("tests.rs") {
            return "";
        }
        self.text.split("#[cfg(test)]\nmod ").next().unwrap()
    }
}

fn sources() -> Vec<Source> {
    let crates = root().join("crates");
    let found: Vec<Source> = rust_files(&crates)
        .map(|path| Source {
            path: path
                .strip_prefix(&crates)
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/"),
            text: std::fs::read_to_string(&path).unwrap(),
        })
        .collect();
    assert!(found.len() > 50, "the crates were not found");
    found
}

/// Every Rust file below a folder.
fn rust_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
}

/// The floors of every crate, bottom first, from the table in ARCHITECTURE.md.
fn floors() -> HashMap<String, Vec<Vec<String>>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text
        .lines()
        .filter(|line| line.starts_with("| `harness") && line.contains(" < "));
    let floors: HashMap<String, Vec<Vec<String>>> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let names = |floor: &str| {
                floor
                    .replace('`', " ")
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect()
            };
            (
                cells[1].trim_matches('`').to_owned(),
                cells[2].split('<').map(names).collect(),
            )
        })
        .collect();
    assert_eq!(
        floors.len(),
        4,
        "ARCHITECTURE.md has a row of floors for each crate with rooms"
    );
    floors
}

/// The rooms that a line of code names: every `crate::x`, and every `super::` chain that leads out of its room.
fn named_rooms(line: &str, depth: usize) -> Vec<&str> {
    let mut rooms = Vec::new();
    for prefix in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in line.match_indices(&prefix) {
            let starts_path =
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
            let rest = &line[at + prefix.len()..];
            let room = rest
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap();
            if starts_path && room != "super" && !room.is_empty() {
                rooms.push(room);
            }
        }
    }
    rooms
}

#[test]
fn rooms_import_only_lower_floors() {
    let floors = floors();
    let mut wrong = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.contains("/src/"))
    {
        let Some(floors) = floors.get(source.crate_name()) else {
            continue;
        };
        let floor_of = |room: &str| {
            floors
                .iter()
                .position(|floor| floor.iter().any(|known| known == room))
        };
        let module = source.module();
        if matches!(module[0], "lib" | "main") {
            continue;
        }
        if source.code().is_empty() {
            continue;
        }
        let Some(own) = floor_of(module[0]) else {
            wrong.push(format!(
                "{}: the room `{}` is on no floor of ARCHITECTURE.md",
                source.path, module[0]
            ));
            continue;
        };
        let is_code = |(_, line): &(usize, &str)| !line.trim_start().starts_with("//");
        for (number, line) in source.code().lines().enumerate().filter(is_code) {
            for room in named_rooms(line, module.len()) {
                let Some(other) = floor_of(room) else {
                    continue;
                };
                if room != module[0] && other >= own {
                    wrong.push(format!(
                        "{}:{}: `{}` may not import `{room}`",
                        source.path,
                        number + 1,
                        module[0]
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    let silent: Vec<String> = sources()
        .into_iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.path)
        .collect();
    assert!(
        silent.is_empty(),
        "no first line `//!`: {}",
        silent.join(", ")
    );
}

#[test]
fn the_environment_is_read_in_one_room() {
    let readers = ["env::var", "env::set_var", "env::remove_var", "option_env!"];
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|source| {
            source.path.contains("/src/") && !ENVIRONMENT_ROOMS.contains(&source.path.as_str())
        })
        .filter(|source| readers.iter().any(|reader| source.code().contains(reader)))
        .map(|source| source.path.clone())
        .collect();
    assert!(
        wrong.is_empty(),
        "reads the environment: {}",
        wrong.join(", ")
    );
}

#[test]
fn words_for_the_model_are_files() {
    // Only a prompt addresses the model; such words in code are a prompt in the wrong place.
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|source| source.path.starts_with("harness-agent/src/"))
        .filter(|source| {
            source.text.contains("\"You are ") || source.text.contains("\"You answer ")
        })
        .map(|source| source.path.clone())
        .collect();
    assert!(
        wrong.is_empty(),
        "a prompt outside prompts/: {}",
        wrong.join(", ")
    );
}

#[test]
fn pyo3_is_named_in_the_python_face_only() {
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|source| {
            source.crate_name() != "harness-python" && !source.path.ends_with("tests/tidy.rs")
        })
        .filter(|source| source.text.contains("pyo3"))
        .map(|source| source.path.clone())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join(", "));
}

#[test]
fn every_dependency_is_used() {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let folders = crates.map(|entry| entry.unwrap().path());
    let mut unused = Vec::new();
    for folder in folders.chain([root().join("bench")]) {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let code: String = rust_files(&folder)
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        let mut in_dependencies = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                in_dependencies = line.trim_end_matches(']').ends_with("dependencies");
                continue;
            }
            let name = line.split(['.', ' ', '=']).next().unwrap();
            let module = name.replace('-', "_");
            let is_name = !name.is_empty() && name != "#";
            if in_dependencies && is_name && !code.contains(&format!("{module}::")) {
                unused.push(format!("{}: {name}", folder.display()));
            }
        }
    }
    assert!(unused.is_empty(), "nothing names {}", unused.join(", "));
}
