//! What makes a project hard to read: one function a kind of finding.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::Serialize;

use crate::imports::circle::Tie;
use crate::imports::{ImportGraph, Resolver};
use crate::language::Language;
use crate::path::RelPath;
use crate::report::manifest::{Manifest, manifests};
use crate::report::{counted, grouped};
use crate::symbols::code::code_tokens;
use crate::symbols::{Definition, DefinitionKind};
use crate::text::{Text, is_among, whole_words};
use crate::tree::{SourceFile, SourceTree};

/// One thing that makes a project hard to read.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The file or folder.
    pub path: RelPath,
    /// The line, from 1.
    pub line: u32,
    /// A sentence for a person.
    pub text: String,
    /// How much it matters, up to 100.
    pub weight: u32,
}

/// The kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Files that import each other in a circle.
    Cycle,
    /// A file with very many lines.
    OutsizedFile,
    /// A function with very many lines.
    OutsizedFunction,
    /// A folder with very many files.
    FlatFolder,
    /// A module that nothing imports.
    UnusedModule,
    /// A project or module without tests.
    NoTests,
    /// Modules of the same name in different places.
    DuplicateModule,
}

impl FindingKind {
    /// Returns the words for it.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Cycle => "import circle",
            FindingKind::OutsizedFile => "outsized file",
            FindingKind::OutsizedFunction => "outsized function",
            FindingKind::FlatFolder => "flat folder",
            FindingKind::UnusedModule => "unused module",
            FindingKind::NoTests => "no tests",
            FindingKind::DuplicateModule => "duplicate module",
        }
    }
}

/// A file above this is more than a reader holds in mind; linters for several languages warn between 500 and 1000.
const LONG_FILE: u32 = 800;

/// A function above this does not fit on two screens.
const LONG_FUNCTION: u32 = 80;

/// A folder with more source files than this needs a search to find one.
const FULL_FOLDER: usize = 30;

/// A smaller module is not worth a finding of its own when nothing imports or tests it.
const SMALL_MODULE: u32 = 60;

/// Names that frameworks give to files in every package, and names that say nothing by convention.
const USUAL_NAMES: &str = "\
    __init__ __main__ admin apps conftest forms index main mod lib models setup signals tests \
    types urls version _version views settings base schema serializers tasks";

/// Returns every finding of a project, in no order.
pub(super) fn all(tree: &SourceTree) -> Vec<Finding> {
    let graph = ImportGraph::of(tree);
    let mut findings = Vec::new();
    cycles(tree, &graph, &mut findings);
    outsized(tree, &mut findings);
    flat_folders(tree, &mut findings);
    unused(tree, &graph, &mut findings);
    untested(tree, &graph, &mut findings);
    duplicates(tree, &mut findings);
    findings
}

/// Returns a weight that grows with each doubling over the limit.
fn doubled(base: u32, step: f64, size: f64, limit: f64) -> u32 {
    let weight = f64::from(base) + step * (size / limit).log2();
    // The scale ends at 100 and both inputs are positive, so the cast is exact enough.
    weight.clamp(1.0, 100.0) as u32
}

fn name_at(tree: &SourceTree, at: u32) -> &str {
    tree.files()
        .get(at as usize)
        .map_or("", |file| file.path.as_str())
}

fn cycles(tree: &SourceTree, graph: &ImportGraph, findings: &mut Vec<Finding>) {
    for circle in graph.circles(tree) {
        let Some(first) = circle.way.first() else {
            continue;
        };
        let Some(file) = tree.files().get(first.from as usize) else {
            continue;
        };
        let steps: Vec<String> = circle.way.iter().map(|tie| step(tree, tie)).collect();
        let more = circle.files.len().saturating_sub(circle.way.len());
        let also = if more > 0 {
            format!("; {} in the same knot", counted(more as u64, "more file"))
        } else {
            String::new()
        };
        findings.push(Finding {
            kind: FindingKind::Cycle,
            path: file.path.clone(),
            line: first.line,
            text: format!("{}{also}", steps.join("; ")),
            weight: doubled(55, 10.0, circle.files.len() as f64, 2.0),
        });
    }
}

fn step(tree: &SourceTree, tie: &Tie) -> String {
    let shown: Vec<&str> = tie.names.iter().take(3).map(String::as_str).collect();
    let more = if tie.names.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    format!(
        "{} takes `{}{more}` from {}",
        name_at(tree, tie.from),
        shown.join(", "),
        name_at(tree, tie.to)
    )
}

fn outsized(tree: &SourceTree, findings: &mut Vec<Finding>) {
    for file in tree.sources().filter(|file| !file.test && !file.generated) {
        if file.lines > LONG_FILE {
            let largest = file
                .facts
                .definitions
                .iter()
                .max_by_key(|d| d.lines())
                // A file of many small parts has no largest one worth a word.
                .filter(|d| d.lines() >= file.lines / 10);
            let largest = largest.map_or(String::new(), |d| {
                format!(
                    "; the largest part, `{}`, has {}",
                    d.qualified,
                    grouped(d.lines().into())
                )
            });
            findings.push(Finding {
                kind: FindingKind::OutsizedFile,
                path: file.path.clone(),
                line: 1,
                text: format!("{}{largest}", counted(file.lines.into(), "line")),
                weight: doubled(30, 15.0, f64::from(file.lines), f64::from(LONG_FILE)),
            });
        }
        for (function, lines) in long_functions(tree, file) {
            findings.push(Finding {
                kind: FindingKind::OutsizedFunction,
                path: file.path.clone(),
                line: function.line,
                text: format!(
                    "`{}` has {} of code",
                    function.qualified,
                    counted(lines.into(), "line")
                ),
                weight: doubled(25, 15.0, f64::from(lines), f64::from(LONG_FUNCTION)),
            });
        }
    }
}

/// Returns the long functions of a file with their lines of code: blank lines, comments and documentation do not count.
fn long_functions<'f>(tree: &SourceTree, file: &'f SourceFile) -> Vec<(&'f Definition, u32)> {
    let is_long = |one: &&Definition| one.kind.is_function() && one.lines() > LONG_FUNCTION;
    let long: Vec<&Definition> = file.facts.definitions.iter().filter(is_long).collect();
    let text = match long.is_empty() {
        true => return Vec::new(),
        false => tree.text(&file.path).map(Text::into_content),
    };
    let text = text.unwrap_or_default();
    let mut lines: Vec<(usize, u32)> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for token in code_tokens(file.language, &text) {
        let breaks = |text: &str| text.matches('\n').count() as u32;
        let start = token.range.start.max(counted);
        line += breaks(text.get(counted..start).unwrap_or_default());
        counted = start;
        let covered = text.get(token.range.clone()).map_or(0, breaks);
        lines.extend((line..=line + covered).map(|line| (token.range.start, line)));
    }
    let code_lines = |one: &Definition| {
        let inside = lines.iter().filter(|(at, _)| one.span().contains(at));
        let inside: FxHashSet<u32> = inside.map(|(_, line)| *line).collect();
        inside.len() as u32
    };
    let counts = long.into_iter().map(|one| (one, code_lines(one)));
    counts.filter(|(_, lines)| *lines > LONG_FUNCTION).collect()
}

fn flat_folders(tree: &SourceTree, findings: &mut Vec<Finding>) {
    let mut inside: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in tree
        .sources()
        .filter(|file| !file.test && file.path.file_name() != "__init__.py")
    {
        inside.entry(file.path.folder()).or_default().push(file);
    }
    for (folder, files) in inside {
        let Some(first) = files.first() else { continue };
        if files.len() > FULL_FOLDER {
            findings.push(Finding {
                kind: FindingKind::FlatFolder,
                path: RelPath::parse(folder).unwrap_or_else(|_| first.path.clone()),
                line: 1,
                text: format!(
                    "{} side by side in one folder",
                    counted(files.len() as u64, "source file")
                ),
                weight: doubled(20, 12.0, files.len() as f64, FULL_FOLDER as f64),
            });
        }
    }
}

/// A module that nothing in the project imports, names or starts.
fn unused(tree: &SourceTree, graph: &ImportGraph, findings: &mut Vec<Finding>) {
    let manifest = Manifest::of(tree);
    // Every dotted string and every beginning of one: `a.b.C` names `a.b` too.
    let mut named: FxHashSet<&str> = FxHashSet::default();
    for text in tree
        .files()
        .iter()
        .flat_map(|file| file.facts.dotted.iter())
    {
        named.insert(text);
        named.extend(text.match_indices(['.', ':']).map(|(at, _)| &text[..at]));
    }
    let started: Vec<&str> = manifest
        .scripts
        .iter()
        .map(|(_, target)| target.as_str())
        .collect();
    // Plugins are named in tables of their own: `md = shop.extras.md:Extension`.
    let texts: Vec<String> = manifests()
        .filter_map(|name| RelPath::parse(name).ok())
        .filter_map(|path| Some(tree.text(&path).ok()?.into_content()))
        .collect();
    let resolver = Resolver::of(tree);
    for (at, file) in tree.files().iter().enumerate() {
        let is_candidate = file.language == Language::Python
            && !file.test
            && file.lines >= SMALL_MODULE
            && !file.facts.runnable
            && !file.generated
            && graph.importers(at).is_empty()
            && !loaded_by_name(file);
        if !is_candidate {
            continue;
        }
        let Some(module) = resolver.python_name(&file.path) else {
            continue;
        };
        // Only inside a package: a loose file is most likely a script.
        if !module.contains('.')
            || started.iter().any(|target| target.starts_with(&module))
            || named.contains(module.as_str())
            || texts.iter().any(|text| names_word(text, &module))
        {
            continue;
        }
        findings.push(Finding {
            kind: FindingKind::UnusedModule,
            path: file.path.clone(),
            line: 1,
            text: format!(
                "nothing in the project imports `{module}` ({})",
                counted(file.lines.into(), "line")
            ),
            weight: doubled(12, 5.0, f64::from(file.lines), f64::from(SMALL_MODULE)),
        });
    }
}

/// Files that frameworks and tools find by their place or name.
fn loaded_by_name(file: &SourceFile) -> bool {
    const FOLDERS: &str = "\
        migrations commands templatetags docs doc examples example scripts benchmarks bench tools \
        locale bin plugins";
    let in_folder = file
        .path
        .parent()
        .is_some_and(|folder| folder.parts().any(|part| is_among(FOLDERS, part)));
    in_folder || is_among(USUAL_NAMES, file.path.stem()) || file.path.extension() == Some("pyi")
}

fn untested(tree: &SourceTree, graph: &ImportGraph, findings: &mut Vec<Finding>) {
    let tests: Vec<&SourceFile> = tree
        .sources()
        .filter(|file| file.test || has_inline_tests(file))
        .collect();
    let code = || {
        tree.files()
            .iter()
            .enumerate()
            .filter(|(_, file)| file.language.is_source() && !file.test && file.lines > 0)
    };
    if tests.is_empty() {
        let Some((_, largest)) = code().max_by_key(|(_, file)| file.lines) else {
            return;
        };
        let total: u64 = code().map(|(_, file)| u64::from(file.lines)).sum();
        findings.push(Finding {
            kind: FindingKind::NoTests,
            path: largest.path.clone(),
            line: 1,
            text: format!("no test in the whole project ({})", counted(total, "line")),
            weight: 80,
        });
        return;
    }
    let stems: FxHashSet<&str> = tests
        .iter()
        .map(|file| {
            file.path
                .stem()
                .trim_start_matches("test_")
                .trim_end_matches("_test")
        })
        .collect();
    let mut words: Option<FxHashSet<String>> = None;
    for (at, file) in code() {
        // Only Python's imports tell which file a test exercises.
        let is_tested = graph.importers(at).iter().any(|&from| {
            tree.files()
                .get(from as usize)
                .is_some_and(|file| file.test)
        }) || stems.contains(file.path.stem());
        let functions = file
            .facts
            .definitions
            .iter()
            .filter(|d| d.kind.is_function())
            .count();
        if file.language == Language::Python
            && !is_tested
            && functions > 0
            && file.lines >= SMALL_MODULE * 2
            && !loaded_by_name(file)
            && !words
                .get_or_insert_with(|| words_of(tree, &tests))
                .contains(file.path.stem())
        {
            findings.push(Finding {
                kind: FindingKind::NoTests,
                path: file.path.clone(),
                line: 1,
                text: format!(
                    "no test imports it ({} in {})",
                    counted(functions as u64, "function"),
                    counted(file.lines.into(), "line")
                ),
                weight: doubled(14, 6.0, f64::from(file.lines), f64::from(SMALL_MODULE * 2)),
            });
        }
    }
}

/// A shorter name of a module may be any word.
const TELLING_STEM: usize = 5;

/// Tests beyond this many bytes are not read for the names of modules.
const MOST_TEST_TEXT: usize = 8 * 1024 * 1024;

/// Returns the words of tests: one that loads a plugin writes its name.
fn words_of(tree: &SourceTree, tests: &[&SourceFile]) -> FxHashSet<String> {
    let mut words = FxHashSet::default();
    let mut left = MOST_TEST_TEXT;
    for file in tests {
        let text = tree.text(&file.path).map(Text::into_content);
        let text = text.unwrap_or_default();
        let found = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let found = found.filter(|word| word.len() >= TELLING_STEM);
        words.extend(found.map(str::to_owned));
        left = left.saturating_sub(text.len());
        if left == 0 {
            break;
        }
    }
    words
}

fn names_word(text: &str, name: &str) -> bool {
    whole_words(text, name).next().is_some()
}

/// Rust keeps its tests in the file they test.
fn has_inline_tests(file: &SourceFile) -> bool {
    file.language == Language::Rust
        && file
            .facts
            .definitions
            .iter()
            .any(|d| d.kind == DefinitionKind::Module && d.name() == "tests")
}

fn duplicates(tree: &SourceTree, findings: &mut Vec<Finding>) {
    let mut by_name: BTreeMap<(&str, &str), Vec<&SourceFile>> = BTreeMap::new();
    let wanted = |file: &&SourceFile| {
        let numbered = file.path.stem().starts_with(|c: char| c.is_ascii_digit());
        // Only there is a module known by its last name; elsewhere the folders around it are part of it.
        let is_flat = matches!(
            file.language,
            Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx
        );
        is_flat
            && !file.test
            && !numbered
            && file.lines > 0
            && file.path.extension() != Some("pyi")
            && !loaded_by_name(file)
    };
    for file in tree.sources().filter(wanted) {
        by_name
            .entry((file.path.stem(), file.language.name()))
            .or_default()
            .push(file);
    }
    for ((name, _), files) in by_name {
        let [first, others @ ..] = &files[..] else {
            continue;
        };
        if others.is_empty() {
            continue;
        }
        let listed: Vec<&str> = others
            .iter()
            .take(4)
            .map(|file| file.path.as_str())
            .collect();
        let more = if others.len() > 4 { ", …" } else { "" };
        findings.push(Finding {
            kind: FindingKind::DuplicateModule,
            path: first.path.clone(),
            line: 1,
            text: format!(
                "{} are called `{name}`: also {}{more}",
                counted(files.len() as u64, "module"),
                listed.join(", ")
            ),
            weight: doubled(8, 6.0, files.len() as f64, 2.0),
        });
    }
}
