//! Names that Python could not resolve, for callers that have only text; also what a draft may not add.

use std::ops::Range;

use super::{Depth, Exports, Import, Missing, Scopes, Source, StarImport, doctest, exports};

/// What [`unresolved`] needs to know beside the text.
#[derive(Default)]
pub struct Context<'c> {
    /// Whether the file is an `__init__.py`, where `__path__` exists.
    pub package: bool,
    /// Names that the project's tools declare as builtins.
    pub builtins: &'c [String],
    /// Whether examples in docstrings are looked at too.
    pub doctests: bool,
    /// What a star import brings; without it a star import makes every name possible.
    pub stars: Option<&'c dyn Fn(&StarImport<'_>) -> Exports>,
}

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

/// Finds the names in Python code that nothing binds where they are used.
pub fn unresolved(content: &str, context: &Context<'_>) -> Vec<Unresolved> {
    let source = Source::parse(content.to_string());
    let scopes = source.scopes(Depth::Names);
    let mut found = unresolved_in(&scopes, context);
    if context.doctests {
        found.extend(doctest::unresolved(&source, &scopes, context));
    }
    found.sort_by_key(|unresolved| unresolved.span.start);
    found
}

/// The names that nothing binds, from scopes that were worked out already.
pub(crate) fn unresolved_in(scopes: &Scopes<'_>, context: &Context<'_>) -> Vec<Unresolved> {
    let stars = exports::Stars::of(scopes, context.stars);
    scopes
        .suspects
        .iter()
        .filter(|suspect| !suspect.guard.catches_name_error())
        .filter_map(|suspect| {
            let name = scopes.name(suspect.name);
            let submodule = |import: &Import<'_>| {
                import.level == 1 && import.module.split('.').next() == Some(name)
            };
            let given = (context.package
                && (name == "__path__" || scopes.imports.iter().any(submodule)))
                || context.builtins.iter().any(|builtin| builtin == name)
                || (suspect.after_star && stars.may_bring(name));
            (!given).then(|| Unresolved {
                name: name.to_string(),
                span: suspect.span.into(),
                bound_elsewhere: suspect.missing == Missing::Here,
                doubtful: suspect.guard.catches_all()
                    || scopes.dynamic.module_names
                    || scopes.dynamic.cut,
            })
        })
        .collect()
}
