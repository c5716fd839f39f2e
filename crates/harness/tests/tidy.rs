//! Keeps the order of the crates: layers inside each, no circles, the environment and the prompts in their own modules.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at once where its ground is missing"
)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Files that may read the environment, each the one such file of its crate.
const ENVIRONMENT_FILES: [&str; 2] = [
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
    /// Whether it holds nothing but tests.
    is_tests: bool,
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
        if self.is_tests {
            return "";
        }
        let tests = self.text.find("\nmod tests {");
        let before = tests.map_or(&*self.text, |tests| &self.text[..tests]);
        // Between the condition and the module may stand what is expected of it.
        let condition = before.rfind("#[cfg(test)]").filter(|_| tests.is_some());
        condition.map_or(&*self.text, |condition| &self.text[..condition])
    }

    /// Says whether it has this module for more than tests: no condition stands above the line.
    fn declares(&self, name: &str) -> bool {
        let line = format!("mod {name};");
        let mut lines = self.text.match_indices(&line);
        lines.any(|(at, _)| {
            let above = self.text[..at].rsplit('\n').nth(1);
            above.is_some_and(|line| !line.starts_with("#["))
        })
    }
}

fn sources() -> Vec<Source> {
    let crates = root().join("crates");
    let mut found: Vec<Source> = rust_files(&crates)
        .map(|path| Source {
            path: path
                .strip_prefix(&crates)
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/"),
            text: std::fs::read_to_string(&path).unwrap(),
            is_tests: false,
        })
        .collect();
    assert!(found.len() > 50, "the crates were not found");
    // Some that are called so are code: tests are their subject.
    let is_tests = |source: &Source| {
        let name = source.path.trim_end_matches(".rs");
        let name = name.rsplit('/').next().unwrap();
        name.ends_with("tests") && !found.iter().any(|other| other.declares(name))
    };
    let tests: Vec<bool> = found.iter().map(is_tests).collect();
    for (source, is_tests) in found.iter_mut().zip(tests) {
        source.is_tests = is_tests;
    }
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

/// The layers of every crate, bottom first, from the table in ARCHITECTURE.md.
fn layers() -> HashMap<String, Vec<Vec<String>>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text
        .lines()
        .filter(|line| line.starts_with("| `harness") && line.contains(" < "));
    let layers: HashMap<String, Vec<Vec<String>>> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let names = |layer: &str| {
                layer
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
        layers.len(),
        4,
        "ARCHITECTURE.md has a row of layers for each crate with modules"
    );
    layers
}

/// The paths that a file names from the root of its crate, with the line of each: `use crate::{a, b::C}` names two.
fn named_paths(source: &Source) -> Vec<(usize, Vec<String>)> {
    let mut paths = Vec::new();
    let code = source.code();
    for (at, prefix) in ["crate::", "super::"]
        .iter()
        .flat_map(|prefix| code.match_indices(prefix))
    {
        let before = &code[..at];
        let in_comment = before.rsplit('\n').next().unwrap().contains("//");
        if in_comment || before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':')) {
            continue;
        }
        let mut rest = &code[at..];
        let mut base: Vec<String> = Vec::new();
        if prefix == "super::" {
            base = source.module().iter().map(ToString::to_string).collect();
            while let Some(further) = rest.strip_prefix("super::") {
                base.pop();
                rest = further;
            }
        } else {
            rest = &rest[prefix.len()..];
        }
        let mut found = Vec::new();
        use_tree(rest, &base, &mut found);
        let line = before.matches('\n').count() + 1;
        paths.extend(found.into_iter().map(|path| (line, path)));
    }
    paths
}

/// Reads `a::{b, c::d}` after `base`; returns what follows it.
fn use_tree<'t>(text: &'t str, base: &[String], paths: &mut Vec<Vec<String>>) -> &'t str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = use_tree(rest, base, paths).trim_start();
            match rest.strip_prefix(',') {
                Some(next) if !next.trim_start().starts_with('}') => rest = next,
                _ => return rest.split_once('}').map_or("", |(_, rest)| rest),
            }
        }
    }
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let mut path = base.to_vec();
    path.push(text[..end].to_owned());
    match text[end..].strip_prefix("::") {
        Some(rest) if rest.starts_with(|c: char| c == '{' || c == '_' || c.is_alphabetic()) => {
            use_tree(rest, &path, paths)
        }
        rest => {
            paths.push(path);
            let rest = rest.unwrap_or(&text[end..]);
            let alias = rest.trim_start().strip_prefix("as ");
            alias.map_or(rest, |alias| {
                alias.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
            })
        }
    }
}

#[test]
fn modules_import_only_from_lower_layers() {
    let layers = layers();
    let mut wrong = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.contains("/src/"))
    {
        let Some(layers) = layers.get(source.crate_name()) else {
            continue;
        };
        let layer_of = |name: &str| {
            layers
                .iter()
                .position(|layer| layer.iter().any(|known| known == name))
        };
        let module = source.module();
        if matches!(module[0], "lib" | "main") {
            continue;
        }
        if source.code().is_empty() {
            continue;
        }
        let Some(own) = layer_of(module[0]) else {
            wrong.push(format!(
                "{}: the module `{}` is in no layer of ARCHITECTURE.md",
                source.path, module[0]
            ));
            continue;
        };
        for (line, path) in named_paths(source) {
            let other = &path[0];
            let is_higher = layer_of(other).is_some_and(|layer| layer >= own);
            if other != module[0] && is_higher {
                wrong.push(format!(
                    "{}:{line}: `{}` may not import `{other}`",
                    source.path, module[0]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A folder's `mod.rs` holds what its files share, so that a file may use it and be used by it. Any other circle is a fault.
#[test]
fn no_files_import_each_other_in_a_circle() {
    let sources = sources();
    let files: Vec<&Source> = sources
        .iter()
        .filter(|source| source.path.contains("/src/") && !source.code().is_empty())
        .collect();
    let known: HashMap<(&str, Vec<String>), &Source> = files
        .iter()
        .map(|source| {
            let module = source.module().iter().map(ToString::to_string).collect();
            ((source.crate_name(), module), *source)
        })
        .collect();
    let mut uses: HashMap<&str, Vec<&str>> = HashMap::new();
    for source in &files {
        let own = source.module();
        for (_, path) in named_paths(source) {
            let longest = (1..=path.len()).rev().find_map(|length| {
                let module = path[..length].to_vec();
                known.get(&(source.crate_name(), module)).copied()
            });
            let Some(other) = longest.filter(|other| other.path != source.path) else {
                continue;
            };
            let module = other.module();
            if !module.starts_with(&own) && !own.starts_with(&module) {
                uses.entry(&source.path).or_default().push(&other.path);
            }
        }
    }
    // What uses nothing that is left is in no circle, again and again.
    loop {
        let before = uses.len();
        let left: Vec<&str> = uses.keys().copied().collect();
        for others in uses.values_mut() {
            others.retain(|other| left.contains(other));
        }
        uses.retain(|_, others| !others.is_empty());
        if uses.len() == before {
            break;
        }
    }
    assert!(
        uses.is_empty(),
        "circles, and what leads to them: {uses:#?}"
    );
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
fn the_environment_is_read_in_one_module() {
    let readers = ["env::var", "env::set_var", "env::remove_var", "option_env!"];
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|source| {
            source.path.contains("/src/") && !ENVIRONMENT_FILES.contains(&source.path.as_str())
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

/// The literals of code, each with where it begins; comments and characters are none.
fn literals(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = code[at..].find(['"', '\'', '/']) {
        let start = at + next;
        let rest = &code[start..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with('\'') {
            // A character that would begin something else; a lifetime has no end of its own.
            let quoted = ["'\"'", "'\\''", "'/'"]
                .iter()
                .find(|one| rest.starts_with(**one));
            quoted.map_or(1, |one| one.len())
        } else if let Some(text) = rest.strip_prefix('"') {
            let hashes = code[..start].len() - code[..start].trim_end_matches('#').len();
            let is_raw = code[..start - hashes].ends_with('r');
            let end = format!("\"{}", "#".repeat(hashes));
            let mut escaped = false;
            let ends = |&(inside, c): &(usize, char)| {
                let is_end = !escaped && text[inside..].starts_with(&end);
                escaped = !is_raw && c == '\\' && !escaped;
                is_end
            };
            let Some((inside, _)) = text.char_indices().find(ends) else {
                // Cut off in the middle.
                break;
            };
            found.push((start, &text[..inside]));
            inside + 1 + end.len()
        } else {
            1
        };
        at = start + length;
    }
    found
}

/// A call is looked through no further, in bytes.
const LONGEST_CALL: usize = 4_000;

/// Returns what stands between a bracket, which is the last character before `start`, and the one that closes it.
fn in_brackets(code: &str, start: usize) -> std::ops::Range<usize> {
    let code = &code[..code.floor_char_boundary(start + LONGEST_CALL)];
    let strings = literals(&code[start..]);
    let mut depth = 1;
    for (at, c) in code[start..].char_indices() {
        let is_inside = |(begin, text): &(usize, &str)| (*begin..=begin + text.len()).contains(&at);
        if strings.iter().any(is_inside) {
            continue;
        }
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return start..start + at;
        }
    }
    start..code.len()
}

/// Says whether a literal is a sentence: a large letter, several words, an end. Texts for people begin small, and what
/// tools print is looked for in pieces.
fn is_sentence(text: &str) -> bool {
    let mut letters = text.chars();
    let begins = letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(|c| c.is_lowercase() || c == ' ');
    let text = text.trim_end_matches("\\n");
    let behind_quote = text
        .rsplit_once('{')
        .is_some_and(|(before, _)| before.ends_with('\''));
    let ends = text.ends_with(['.', ':', '?', '!', '`']) || text.ends_with('}') && !behind_quote;
    begins && ends && text.contains(' ')
}

/// What a run says to a model goes through one of these.
const TOLD: [&str; 5] = [
    "Outcome::Say {",
    "Outcome::Next(",
    "Outcome::Failed(",
    ".say(",
    "observation(",
];

#[test]
fn words_for_the_model_are_files() {
    // Only a prompt addresses the model; such words in code are a prompt in the wrong place.
    let mut wrong = Vec::new();
    let sources = sources();
    for source in &sources {
        let code = source.code();
        let in_run = source.path.starts_with("harness-agent/src/run/")
            && !source.path.starts_with("harness-agent/src/run/prompt/");
        let mut note = |at: usize, text: &str| {
            let line = code[..at].matches('\n').count() + 1;
            wrong.push(format!("{}:{line}: \"{text}\"", source.path));
        };
        if source.path.starts_with("harness-agent/src/") {
            let all = literals(code).into_iter();
            let is_prompt = |text: &str| {
                text.starts_with("You are ")
                    || text.starts_with("You answer ")
                    || in_run && is_sentence(text)
            };
            all.filter(|(_, text)| is_prompt(text))
                .for_each(|(at, text)| note(at, text));
        }
        if !in_run {
            continue;
        }
        for (at, told) in TOLD.iter().flat_map(|told| code.match_indices(told)) {
            let inside = in_brackets(code, at + told.len());
            // A heading of said.md is no sentence.
            let is_heading = |at: usize| code[..at].trim_end().ends_with("said(");
            literals(&code[inside.clone()])
                .into_iter()
                .map(|(at, text)| (inside.start + at, text))
                .filter(|(at, text)| text.contains(' ') && !is_heading(*at))
                .for_each(|(at, text)| note(at, text));
        }
    }
    assert!(
        wrong.is_empty(),
        "words for the model outside prompts/:\n{}",
        wrong.join("\n")
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
            // These are there for the features that they turn on elsewhere.
            let is_as_tested = |line: &str| {
                line.starts_with("as-tested") && line.contains(&format!("\"dep:{name}\""))
            };
            let is_name = !name.is_empty() && name != "#" && !manifest.lines().any(is_as_tested);
            if in_dependencies && is_name && !code.contains(&format!("{module}::")) {
                unused.push(format!("{}: {name}", folder.display()));
            }
        }
    }
    assert!(unused.is_empty(), "nothing names {}", unused.join(", "));
}
