//! What files define, for a model that is to name places in them.

use harness_code::path::RelPath;
use harness_code::tree::{SourceFile, SourceTree};

/// Files that are told of.
const MOST_FILES: usize = 6;
/// Names of a file that are told where the model should choose among them.
const MOST_TO_CHOOSE: usize = 30;

/// Returns what a file defines, methods with their class.
pub(crate) fn names(file: &SourceFile) -> Vec<&str> {
    let definitions = file.facts.definitions.iter();
    let names = definitions.map(|one| &*one.qualified);
    names.take(MOST_TO_CHOOSE).collect()
}

/// Returns what the likeliest files define, so that places can be named.
pub(super) fn of<'a>(tree: &SourceTree, files: impl Iterator<Item = &'a RelPath>) -> String {
    let told = |path: &RelPath| {
        let file = tree.file(path).filter(|file| file.language.is_source())?;
        let names = names(file);
        (!names.is_empty()).then(|| format!("\n{path}: {}", names.join(", ")))
    };
    let told: String = files.filter_map(told).take(MOST_FILES).collect();
    match told.as_str() {
        "" => String::new(),
        told => format!("Files and what they define:{told}"),
    }
}
