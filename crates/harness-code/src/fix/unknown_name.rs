//! Variables, functions, classes, decorators and exceptions that nothing binds; and entries of `__all__`.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::finding::{Repaired, Search, UnresolvedName, Verdict, is_special};
use super::missing_import;
use super::program::File;
use super::resolved::ResolvedModule;
use crate::scope::{BindingKind, Missing, ScopeId, ScopeKind, Suspect, known};
use crate::spelling::{Closest, Nearness, closest_name, nearness};

/// Finds the names that nothing binds and what each was meant to be.
pub(crate) fn findings(
    search: &Search<'_, '_>,
    file: &File<'_>,
    repaired: &Repaired,
) -> Vec<UnresolvedName> {
    let concerns = |name: &str| search.request.concerns(name);
    let suspects = file
        .scopes
        .suspects
        .iter()
        .any(|suspect| concerns(file.scopes.name(suspect.name)));
    if !suspects && file.scopes.exports.is_none() {
        return Vec::new();
    }
    let submodules = search.program.children(&ResolvedModule::File(file.id));
    let Some(stars) = search.program.star_names(file) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for suspect in &file.scopes.suspects {
        let name = file.scopes.name(suspect.name);
        // Importing a submodule anywhere makes it a name of its package.
        let submodule = submodules.iter().any(|child| child == name);
        if !concerns(name)
            || submodule
            || repaired.right.contains(name)
            || !is_in_doubt(search, file, suspect, name)
            || stars.contains(name)
        {
            continue;
        }
        let candidates = visible(file, suspect, repaired, &stars);
        // `text_result = TextResult(…)`: nobody calls what the call is to give.
        let given = given_by(file.content(), suspect.span.into());
        let candidates = candidates.iter().map(String::as_str);
        let near = closest_name(name, candidates.filter(|one| Some(*one) != given));
        let mut imports = missing_import::possibilities(search, file, suspect, name);
        if let Closest::One(right) = near
            && nearness(name, right) == Some(Nearness::Case)
        {
            imports = imports.likely(search, name);
        }
        let verdict = verdict(name, suspect, &near, &imports);
        if !search.is_added_builtin(name) {
            let kind = if matches!(near, Closest::None) {
                "missing_import"
            } else {
                "misspelled_name"
            };
            found.push(UnresolvedName {
                file: file.id,
                span: suspect.span.into(),
                wrong: name.to_string(),
                verdict,
                kind,
            });
        }
    }
    found.extend(exported(search, file, &stars));
    found
}

/// Returns the variable that a call at a place is assigned to.
fn given_by(content: &str, call: Range<usize>) -> Option<&str> {
    let line = content[..call.start].rsplit('\n').next()?;
    let target = line.trim().strip_suffix('=')?;
    let target = target.split(':').next()?.trim();
    let is_call = content[call.end..].starts_with('(');
    let is_name = target.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_call && is_name && !target.is_empty()).then_some(target)
}

fn verdict(
    name: &str,
    suspect: &Suspect,
    near: &Closest<'_>,
    imports: &missing_import::Possible,
) -> Verdict {
    match (near, imports) {
        (Closest::One(right), missing_import::Possible::None) => {
            Verdict::replaced(right, suspect.span.into())
        }
        (Closest::None, missing_import::Possible::One { module, edit }) => Verdict::Fix {
            right: module.clone(),
            edits: vec![edit.clone()],
        },
        (near, imports) => {
            let near = near.names().iter();
            let mut options: Vec<String> = near.map(|name| (*name).to_string()).collect();
            options.extend(imports.described(name));
            // One that is not certain is no choice: an import that would be a circle.
            match options.len() {
                0 | 1 => Verdict::Unknown,
                _ => Verdict::Several(options),
            }
        }
    }
}

/// Whether a suspect is one that a fix may look at.
fn is_in_doubt(search: &Search<'_, '_>, file: &File<'_>, suspect: &Suspect, name: &str) -> bool {
    let confirmed = search.request.confirms(name);
    let dynamic = file.scopes.dynamic.module_names || suspect.guard.catches_all();
    suspect.missing == Missing::Everywhere
        && suspect.exact
        && !file.scopes.dynamic.cut
        && !suspect.guard.catches_name_error()
        && !is_special(name)
        && !known::is_from_elsewhere(name)
        && !search.builtins.iter().any(|builtin| builtin == name)
        && (confirmed || !dynamic || search.is_nowhere_else(name, times(file, suspect)))
}

/// How often the file uses a suspect's name without binding it.
fn times(file: &File<'_>, suspect: &Suspect) -> usize {
    file.scopes
        .suspects
        .iter()
        .filter(|other| other.name == suspect.name)
        .count()
}

/// The names that could stand where the suspect stands.
fn visible(
    file: &File<'_>,
    suspect: &Suspect,
    repaired: &Repaired,
    stars: &FxHashSet<String>,
) -> Vec<String> {
    let scopes = &file.scopes;
    let chain: Vec<ScopeId> = scopes.visible_from(suspect.scope).collect();
    // Code outside functions runs in order; a name bound below it is not there yet.
    let immediate = !suspect.unevaluated
        && scopes.function_around(suspect.scope).is_none()
        && !in_lambda(file, suspect);
    let mut names: Vec<String> = Vec::new();
    for (id, symbol) in (0u32..).zip(&scopes.symbols) {
        let name = scopes.name(symbol.name);
        if !symbol.assigned || !chain.contains(&symbol.scope) || repaired.wrong.contains(name) {
            continue;
        }
        let ordered = immediate || (symbol.scope == suspect.scope && !suspect.unevaluated);
        let before = scopes.bindings_of(id).any(|binding| {
            let declared = matches!(binding.kind, BindingKind::Declared);
            !declared && binding.span.start() < suspect.span.start()
        });
        let loops = in_comprehension_of(file, suspect, symbol.scope);
        if !ordered || before || loops {
            names.push(name.to_string());
        }
    }
    names.extend(
        known::builtins()
            .filter(|name| !is_special(name))
            .map(str::to_string),
    );
    names.extend(stars.iter().cloned());
    names
}

fn in_lambda(file: &File<'_>, suspect: &Suspect) -> bool {
    let mut around = file.scopes.around(suspect.scope);
    around.any(|(_, kind)| matches!(kind, ScopeKind::Lambda(_)))
}

/// The element of a comprehension stands before the `for` that binds its names.
fn in_comprehension_of(file: &File<'_>, suspect: &Suspect, scope: ScopeId) -> bool {
    let is_comprehension = matches!(file.scopes.kind(scope), Some(ScopeKind::Comprehension));
    let mut visible = file.scopes.visible_from(suspect.scope);
    is_comprehension && visible.any(|one| one == scope)
}

/// Entries of `__all__` that the module does not have.
fn exported(
    search: &Search<'_, '_>,
    file: &File<'_>,
    stars: &FxHashSet<String>,
) -> Vec<UnresolvedName> {
    let scopes = &file.scopes;
    let is_open = scopes.exports_open || scopes.dynamic.may_define_more();
    let Some(exports) = scopes.exports.as_ref().filter(|_| !is_open) else {
        return Vec::new();
    };
    let module = ResolvedModule::File(file.id);
    let children = search.program.children(&module);
    let bound: Vec<&str> = scopes
        .symbols
        .iter()
        .filter(|symbol| symbol.scope == 0)
        .map(|symbol| scopes.name(symbol.name))
        .collect();
    let mut found = Vec::new();
    for export in exports {
        let there = bound.contains(&export.name)
            || stars.contains(export.name)
            || children.iter().any(|child| child == export.name);
        if there || is_special(export.name) {
            continue;
        }
        let listed = |name: &str| exports.iter().any(|other| other.name == name);
        let candidates = bound.iter().copied().filter(|name| !listed(name));
        let Closest::One(right) = closest_name(export.name, candidates) else {
            continue;
        };
        let literal: Range<usize> = export.span.into();
        let Some(at) = file.text(literal.clone()).find(export.name) else {
            continue;
        };
        let start = literal.start + at;
        let span = start..start + export.name.len();
        let verdict = Verdict::replaced(right, span.clone());
        found.push(UnresolvedName::misspelled(file, span, export.name, verdict));
    }
    found
}
