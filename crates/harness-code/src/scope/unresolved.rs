//! Names that Python could not resolve, for callers that have only text; also what a draft may not add.

use std::ops::Range;

use super::{Depth, ImportBinding, Missing, Source};
use crate::path::RelPath;

/// A name that Python could not resolve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The name.
    pub name: String,
    /// Its bytes in the content.
    pub span: Range<usize>,
    /// Whether something binds it elsewhere in the file (too late, deleted, annotated only).
    pub bound_elsewhere: bool,
    /// Whether a handler around it or dynamic code in the file may make it right after all.
    pub doubtful: bool,
}

/// Finds the names in the Python code of a file that nothing binds where they are used; none where a star import may bind
/// any name.
pub fn unresolved(path: &RelPath, content: &str) -> Vec<Unresolved> {
    let source = Source::parse(content.to_string());
    let scopes = source.scopes(Depth::Names);
    if scopes.stars().next().is_some() {
        return Vec::new();
    }
    // A package has `__path__`, and the submodules that it imports from.
    let is_package = path.file_name() == "__init__.py";
    let is_of_package = |name: &str| {
        let submodule = |import: &ImportBinding<'_>| {
            import.level == 1 && import.module.split('.').next() == Some(name)
        };
        is_package && (name == "__path__" || scopes.imports.iter().any(submodule))
    };
    let mut found: Vec<Unresolved> = scopes
        .suspects
        .iter()
        .filter(|suspect| !suspect.guard.catches_name_error())
        .filter(|suspect| !is_of_package(scopes.name(suspect.name)))
        .map(|suspect| Unresolved {
            name: scopes.name(suspect.name).to_string(),
            span: suspect.span.into(),
            bound_elsewhere: suspect.missing == Missing::Here,
            doubtful: suspect.guard.catches_all()
                || scopes.dynamic.module_names
                || scopes.dynamic.cut,
        })
        .collect();
    found.sort_by_key(|unresolved| unresolved.span.start);
    found
}
