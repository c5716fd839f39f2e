//! Names that only lack their import, and imports of names that live in another module of the project by now.

use std::collections::BTreeSet;
use std::ops::Range;

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::finding::{Repaired, Search, UnresolvedName, Verdict, is_special};
use super::import_name::names_of;
use super::program::File;
use super::resolved::{FileId, ResolvedModule};
use crate::path::RelPath;
use crate::scope::{Guard, ImportBinding, Suspect, known};
use crate::spelling::{Closest, closest_name};
use crate::stdlib;
use crate::text::{is_among, line_ending, line_start};
use crate::tree;

/// Shorter names are taken for variables: `st`, `df`, `x`.
const SHORTEST: usize = 4;

/// Modules that have other modules' names for annotations: what else a file takes from them says nothing.
const TYPING: [&str; 3] = ["typing", "typing_extensions", "collections.abc"];

/// Where a name that nothing binds could come from.
pub(crate) enum Possible {
    /// From nowhere.
    None,
    /// From exactly one module, with the statement that brings it.
    One {
        /// The module.
        module: String,
        /// The insertion.
        edit: (Range<usize>, String),
    },
    /// From several.
    Several(Vec<String>),
}

impl Possible {
    /// The possibilities as a person would choose among them.
    pub(crate) fn described(&self, name: &str) -> Vec<String> {
        match self {
            Possible::None => Vec::new(),
            Possible::One { edit, .. } => vec![edit.1.trim().to_string()],
            Possible::Several(modules) => modules
                .iter()
                .map(|module| format!("from {module} import {name}"))
                .collect(),
        }
    }
}

/// Modules that people import from without thinking; what others offer is wanted only where the project uses them.
const EVERYDAY: &str = "abc collections collections.abc contextlib copy dataclasses datetime decimal enum \
    fractions functools io itertools logging math operator pathlib queue random re string subprocess tempfile \
    threading time types typing typing_extensions unittest uuid";

impl Possible {
    /// Keeps what competes with a visible name that differs in one capital: `Value` was meant to be the parameter
    /// `value` rather than something of `multiprocessing`, unless the project has to do with that.
    pub(crate) fn likely(self, search: &Search<'_, '_>, name: &str) -> Possible {
        let modules: Vec<&str> = match &self {
            Possible::None => return self,
            Possible::One { module, .. } => vec![module],
            Possible::Several(modules) => modules.iter().map(String::as_str).collect(),
        };
        let of_project = !search.program.defining(name).is_empty();
        let wanted = modules
            .iter()
            .any(|module| is_among(EVERYDAY, module) || search.is_imported(module));
        if of_project || wanted {
            self
        } else {
            Possible::None
        }
    }
}

/// Where the import of a name could come from.
pub(crate) fn possibilities(
    search: &Search<'_, '_>,
    file: &File<'_>,
    suspect: &Suspect,
    name: &str,
) -> Possible {
    // Only what the task points at: a name that nothing binds in a file nobody spoke of may be there for a reason.
    if !search.points_at(file, name) {
        return Possible::None;
    }
    if known::is_builtin(name) {
        return Possible::None;
    }
    // A short name is more likely a variable that someone forgot than something to import, unless it is used as a module.
    let is_short = name.chars().count() < SHORTEST;
    let mut statements: Vec<(String, String)> = Vec::new();
    let names_of = |id: FileId| {
        let path = search.program.path(id).map(RelPath::as_str);
        path.map_or(Vec::new(), |path| search.program.names_of(path))
    };
    let own = names_of(file.id);
    // A module of the project hides the standard library's of that name, from itself too.
    let is_standard = |module: &str| {
        let found = search.program.module(file.id, module, false);
        matches!(found, ResolvedModule::Standard(_)) && !own.iter().any(|name| name == module)
    };
    if stdlib::is_module(name) && is_used_as(file, suspect, name) && is_standard(name) {
        statements.push((name.to_string(), format!("import {name}")));
    }
    for module in stdlib::modules_with(name)
        .iter()
        .filter(|module| !is_short && is_standard(module))
    {
        statements.push((
            (*module).to_string(),
            format!("from {module} import {name}"),
        ));
    }
    for id in search.program.defining(name).iter().copied() {
        // Its stub is the same module.
        if is_short || id == file.id || names_of(id).iter().any(|name| own.contains(name)) {
            continue;
        }
        let Some(module) = module_name(search, file, id) else {
            continue;
        };
        statements.push((module.clone(), format!("from {module} import {name}")));
    }
    if statements.is_empty() {
        statements = as_elsewhere(search, file, suspect, name);
    }
    statements.dedup();
    if let Some(settled) = settled(file, &statements) {
        statements = vec![settled];
    }
    match statements.as_slice() {
        [] => Possible::None,
        [(module, statement)] => {
            let edit = insertion(file, statement);
            // A test or a script imports freely; a module that its target imports would be a circle.
            let circle = search
                .program
                .defining(name)
                .iter()
                .copied()
                .into_iter()
                .any(|id| reaches(search, id, file.id));
            if circle {
                Possible::Several(vec![module.clone()])
            } else {
                Possible::One {
                    module: module.clone(),
                    edit,
                }
            }
        }
        several => Possible::Several(several.iter().map(|(module, _)| module.clone()).collect()),
    }
}

/// Returns how other files of the project import a name that neither it nor the standard library has. A short name must
/// be used as a module is.
fn as_elsewhere(
    search: &Search<'_, '_>,
    file: &File<'_>,
    suspect: &Suspect,
    name: &str,
) -> Vec<(String, String)> {
    let is_test = |id: FileId| search.program.path(id).is_some_and(tree::is_test);
    let mut attributes = file.scopes.attributes.iter();
    let has_member = attributes.any(|attribute| attribute.node.value.range() == suspect.span);
    let mut statements = BTreeSet::new();
    for id in search.program.sources.holding(name) {
        // What tests import is not at hand everywhere.
        let Some(other) = search
            .program
            .file(id)
            .filter(|_| is_test(file.id) || !is_test(id))
        else {
            continue;
        };
        for import in &other.scopes.imports {
            let is_module = import.member.is_none();
            let is_plain = import.scope == 0 && import.guard == Guard::default();
            let is_outside = import.level == 0
                && !matches!(
                    search.program.imported_module(&other, import),
                    ResolvedModule::File(_)
                );
            let is_used = match is_module {
                true => has_member && (import.alias.is_some() || import.module == name),
                false => name.chars().count() >= SHORTEST,
            };
            // What a file asks of the compiler is no name that another lacks.
            let is_setting = import.module == "__future__";
            let is_same = import.bound(other.content()) == name;
            if !is_plain || !is_outside || !is_used || !is_same || is_setting {
                continue;
            }
            let renamed = match import.alias {
                Some(_) => format!(" as {name}"),
                None => String::new(),
            };
            let statement = match import.member {
                Some(member) => format!("from {} import {member}{renamed}", import.module),
                None => format!("import {}{renamed}", import.module),
            };
            statements.insert((import.module.to_owned(), statement));
        }
    }
    statements.into_iter().collect()
}

/// Names that `typing` has had for so long that nobody needs `typing_extensions` for them.
const LONG_IN_TYPING: &str = "overload Literal TypedDict Protocol Final final runtime_checkable ClassVar NoReturn \
    NewType Text TYPE_CHECKING SupportsIndex get_type_hints";

/// Returns the one of several modules that a file means: the only one that it takes other names from. What
/// `typing_extensions` has too comes from it where the file knows no other, else from `typing` where that is certain.
fn settled(file: &File<'_>, statements: &[(String, String)]) -> Option<(String, String)> {
    let takes_from = |module: &str| {
        let from = |import: &ImportBinding<'_>| {
            import.member.is_some() && import.level == 0 && import.module == module
        };
        file.scopes.imports.iter().any(from)
    };
    if let [typing, extensions] = statements
        && (&*typing.0, &*extensions.0) == ("typing", "typing_extensions")
    {
        let is_old = LONG_IN_TYPING
            .split_ascii_whitespace()
            .any(|name| typing.1.ends_with(&format!(" {name}")));
        return match (takes_from(&typing.0), takes_from(&extensions.0)) {
            (false, true) => Some(extensions.clone()),
            (_, false) if is_old => Some(typing.clone()),
            _ => None,
        };
    }
    let is_source =
        |(module, _): &&(String, String)| !TYPING.contains(&module.as_str()) && takes_from(module);
    let mut sources = statements.iter().filter(is_source);
    let source = sources.next()?;
    sources.next().is_none().then(|| source.clone())
}

/// Whether a name is used as a module: every use of it is `name.member` with a member that the module has.
fn is_used_as(file: &File<'_>, suspect: &Suspect, module: &str) -> bool {
    let attribute = file
        .scopes
        .attributes
        .iter()
        .find(|attribute| attribute.node.value.range() == suspect.span);
    attribute.is_some_and(|attribute| {
        let member = attribute.node.attr.as_str();
        stdlib::has_member(module, member) || stdlib::is_module(&format!("{module}.{member}"))
    })
}

/// How `file` would name the module of another file.
fn module_name(search: &Search<'_, '_>, file: &File<'_>, other: FileId) -> Option<String> {
    let path = search.program.path(other)?;
    let name = search.program.names_of(path.as_str()).into_iter().next()?;
    // A package that imports relatively goes on doing so.
    let relative =
        file.scopes.imports.iter().any(|import| import.level == 1) && !file.package.is_empty();
    match name.strip_prefix(&format!("{}.", file.package)) {
        Some(inner) if relative => Some(format!(".{inner}")),
        _ => Some(name),
    }
}

/// Whether importing `from` leads to `to`, following imports at the top of files.
fn reaches(search: &Search<'_, '_>, from: FileId, to: FileId) -> bool {
    let mut seen = vec![from];
    let mut at = 0;
    while let Some(&id) = seen.get(at) {
        at += 1;
        let Some(file) = search.program.file(id) else {
            continue;
        };
        for import in file
            .scopes
            .imports
            .iter()
            .filter(|import| import.scope == 0 && !import.guard.for_type_checkers())
        {
            let module = search.program.imported_module(&file, import);
            let inner = import
                .member
                .and_then(|member| search.program.submodule(id, &module, member));
            for module in [Some(module), inner].into_iter().flatten() {
                if let ResolvedModule::File(next) = module
                    && search.program.path(next).is_some()
                    && !seen.contains(&next)
                {
                    seen.push(next);
                }
            }
        }
    }
    seen.contains(&to)
}

/// The place of a new import: below the last one at the top, else below the docstring with a blank line between.
fn insertion(file: &File<'_>, statement: &str) -> (Range<usize>, String) {
    let ending = line_ending(file.content()).as_str();
    let body = file.source.body();
    let mut after = None;
    for (place, node) in body.iter().enumerate() {
        match node {
            Stmt::Import(_) | Stmt::ImportFrom(_) => after = Some((node.end(), "")),
            Stmt::Expr(text)
                if place == 0 && matches!(text.value.as_ref(), Expr::StringLiteral(_)) =>
            {
                after = Some((node.end(), ending));
            }
            _ if after.is_some() && !matches!(node, Stmt::If(_) | Stmt::Try(_)) => break,
            _ => {}
        }
    }
    let Some((after, blank)) = after else {
        let start = body.first().map_or(file.content().len(), |node| {
            line_start(file.content(), node.start().into())
        });
        return (start..start, format!("{statement}{ending}"));
    };
    let end = usize::from(after);
    let newline = file.content()[end..].find('\n');
    let (at, first) = match newline {
        Some(newline) => (end + newline + 1, ""),
        None => (file.content().len(), ending),
    };
    (at..at, format!("{first}{blank}{statement}{ending}"))
}

/// Imports of a name that its module lacks and exactly one other module of the project defines.
pub(crate) fn moved<'s>(
    search: &Search<'_, 's>,
    file: &File<'s>,
    repaired: &Repaired,
) -> Vec<UnresolvedName> {
    let mut found = Vec::new();
    for import in &file.scopes.imports {
        let Some(member) = import.member.filter(|member| *member != "*") else {
            continue;
        };
        if !search.points_at(file, member)
            || !search.request.concerns(member)
            || repaired.wrong.contains(member)
            || import.guard.catches_import_error()
            || is_special(member)
        {
            continue;
        }
        let module = search.program.imported_module(file, import);
        let lost = match &module {
            ResolvedModule::File(id) if search.program.path(*id).is_some() => {
                names_of(search, file, &module, member)
            }
            _ => None,
        };
        let Some(known) = lost else { continue };
        if closest_name(member, known.iter().map(String::as_str)) != Closest::None {
            continue;
        }
        let alone = file
            .scopes
            .imports
            .iter()
            .filter(|other| other.statement == import.statement)
            .count()
            == 1;
        let homes: Vec<FileId> = search
            .program
            .defining(member)
            .iter()
            .copied()
            .filter(|id| *id != file.id)
            .collect();
        let [home] = homes.as_slice() else { continue };
        let Some(name) = module_name(search, file, *home).filter(|_| alone) else {
            continue;
        };
        if reaches(search, *home, file.id) {
            continue;
        }
        let statement = Range::<usize>::from(import.statement);
        let span = usize::from(import.statement.start()) + "from ".len()
            ..usize::from(import.module_span.end());
        if import.module.is_empty() || !file.text(statement.clone()).starts_with("from ") {
            continue;
        }
        let verdict = Verdict::replaced(&name, span);
        found.push(UnresolvedName {
            kind: "moved_import",
            ..UnresolvedName::misspelled(file, statement, member, verdict)
        });
    }
    found
}
