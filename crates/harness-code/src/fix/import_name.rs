//! Imports of names that a module does not have, and of modules that do not exist.

use std::ops::Range;

use ruff_text_size::TextRange;

use super::finding::{Search, UnresolvedName, Verdict, is_special};
use super::program::File;
use super::resolved::ResolvedModule;
use crate::scope::{BindingKind, ImportBinding, Role};
use crate::spelling::{Closest, closest_name};
use crate::stdlib;

/// Finds imports that cannot succeed and what they were meant to be.
///
/// Only imports with a name that is `wanted` are looked at.
pub(crate) fn findings(
    search: &Search<'_, '_>,
    file: &File<'_>,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<UnresolvedName> {
    let mut found = Vec::new();
    for import in &file.scopes.imports {
        let names = import.module.split('.').chain(import.member);
        let whole = wanted(import.module);
        if !whole && !names.into_iter().any(wanted) {
            continue;
        }
        let guarded = import.guard.catches_import_error();
        let module = search.program.imported_module(file, import);
        match (&module, import.member) {
            (ResolvedModule::Unknown, _) => {
                found.extend(unknown_module(search, file, import, guarded))
            }
            (_, None | Some("*")) => {}
            (module, Some(member)) => {
                if guarded && !search.request.confirms(member) || is_special(member) {
                    continue;
                }
                let Some(known) = names_of(search, file, module, member) else {
                    continue;
                };
                let Some(verdict) = verdict(file, import, member, &known) else {
                    continue;
                };
                // A module can get names from outside, too: `module.name = ...`.
                if search.is_set_somewhere(member) {
                    continue;
                }
                let span = import.member_span.into();
                found.push(UnresolvedName::misspelled(file, span, member, verdict));
            }
        }
    }
    found
}

/// The names of a module that certainly lacks `wanted`; `None` when it has it or might.
pub(crate) fn names_of(
    search: &Search<'_, '_>,
    file: &File<'_>,
    module: &ResolvedModule,
    wanted: &str,
) -> Option<Vec<String>> {
    let program = search.program;
    if program.submodule(file.id, module, wanted).is_some() {
        return None;
    }
    match module {
        ResolvedModule::Standard(name) => {
            let members = stdlib::members(name);
            let private = |member: &&&str| !member.starts_with('_') || wanted.starts_with('_');
            (!members.contains(&wanted)).then(|| {
                members
                    .iter()
                    .filter(private)
                    .map(|member| (*member).to_string())
                    .collect()
            })
        }
        ResolvedModule::File(id) => {
            let other = program.file(*id)?;
            let open = other.scopes.dynamic.may_define_more() || !other.source.is_whole();
            let stub_beside = program
                .path(*id)
                .is_some_and(|path| path.as_str().ends_with(".pyi"));
            if open || stub_beside || other.scopes.module_symbol(wanted).is_some() {
                return None;
            }
            let module_level = other
                .scopes
                .symbols
                .iter()
                .filter(|symbol| symbol.scope == 0);
            let mut names: Vec<String> = module_level
                .map(|symbol| other.scopes.name(symbol.name).to_string())
                .collect();
            names.extend(program.star_names(&other)?);
            if names.iter().any(|name| name == wanted) {
                return None;
            }
            names.extend(program.children(module));
            names.retain(|name| !is_special(name));
            Some(names)
        }
        ResolvedModule::Folder(_) => Some(program.children(module)),
        ResolvedModule::Opaque | ResolvedModule::Unknown => None,
    }
}

fn verdict(
    file: &File<'_>,
    import: &ImportBinding<'_>,
    member: &str,
    known: &[String],
) -> Option<Verdict> {
    let near = closest_name(member, known.iter().map(String::as_str));
    let mut verdict = Verdict::of(&near, import.member_span.into())?;
    if let Verdict::Fix { right, edits } = &mut verdict
        && import.alias.is_none()
    {
        edits.extend(uses_of(file, import, member, right)?);
    }
    Some(verdict)
}

/// The uses of a name that a broken import binds; they are misspelled with it.
/// `None` when the right name means something else in the file already.
fn uses_of(
    file: &File<'_>,
    import: &ImportBinding<'_>,
    wrong: &str,
    right: &str,
) -> Option<Vec<(Range<usize>, String)>> {
    let scopes = &file.scopes;
    let symbol = scopes.named_in(import.scope, wrong)?;
    let only_imported = scopes
        .bindings_of(symbol)
        .all(|binding| matches!(binding.kind, BindingKind::Import(_)));
    let uses: Vec<TextRange> = scopes
        .occurrences
        .iter()
        .filter(|occurrence| occurrence.symbol == Some(symbol) && occurrence.role == Role::Load)
        .map(|occurrence| occurrence.span)
        .collect();
    let taken = scopes.named_in(import.scope, right).is_some();
    if !uses.is_empty() && (taken || !only_imported) {
        return None;
    }
    Some(
        uses.into_iter()
            .map(|span| (span.into(), right.to_string()))
            .collect(),
    )
}

fn unknown_module(
    search: &Search<'_, '_>,
    file: &File<'_>,
    import: &ImportBinding<'_>,
    guarded: bool,
) -> Option<UnresolvedName> {
    let program = search.program;
    let confirmed =
        |part: &str| search.request.confirms(part) || search.request.confirms(import.module);
    if guarded && !confirmed(import.module) {
        return None;
    }
    let mut known_part = "";
    for (part, longer, span) in import.parts() {
        let name = program.absolute(file, import.level, longer)?;
        if program.module(file.id, &name, import.level > 0) != ResolvedModule::Unknown {
            known_part = longer;
            continue;
        }
        let candidates = siblings(search, file, import, known_part);
        if file.text(span.clone()) != part {
            return None;
        }
        let near = closest_name(part, candidates.iter().map(String::as_str));
        let at_top = import.level == 0 && known_part.is_empty();
        let is_meant = confirmed(part)
            || matches!(near, Closest::One(right) if !at_top || is_wanted(file, right));
        let mut verdict = Verdict::of(&near, span.clone()).filter(|_| is_meant)?;
        if let Verdict::Fix { right, edits } = &mut verdict
            && import.member.is_none()
            && import.alias.is_none()
            && at_top
        {
            edits.extend(uses_of(file, import, part, right)?);
        }
        return Some(UnresolvedName::misspelled(file, span, part, verdict));
    }
    None
}

/// A package that is not installed is no misspelling; the right name, used in the file and bound by nothing, is proof.
fn is_wanted(file: &File<'_>, right: &str) -> bool {
    file.scopes
        .suspects
        .iter()
        .any(|suspect| file.scopes.name(suspect.name) == right)
}

/// The modules that can stand after `known_part`.
fn siblings(
    search: &Search<'_, '_>,
    file: &File<'_>,
    import: &ImportBinding<'_>,
    known_part: &str,
) -> Vec<String> {
    let program = search.program;
    if known_part.is_empty() && import.level == 0 {
        let mut names: Vec<String> = stdlib::modules()
            .filter(|name| !name.contains('.'))
            .map(str::to_string)
            .collect();
        names.extend(program.top_modules().iter().cloned());
        return names;
    }
    let Some(name) = program.absolute(file, import.level, known_part) else {
        return Vec::new();
    };
    let parent = program.module(file.id, &name, import.level > 0);
    match parent {
        ResolvedModule::Standard(parent) => {
            let prefix = format!("{parent}.");
            stdlib::modules()
                .filter_map(|name| name.strip_prefix(&prefix))
                .filter(|rest| !rest.contains('.'))
                .map(str::to_string)
                .collect()
        }
        parent => program.children(&parent),
    }
}
