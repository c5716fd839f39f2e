//! Attributes that a module or the class of `self` certainly lacks.

use std::ops::Range;

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::finding::{Repaired, Search, UnresolvedName, Verdict, is_quoted, is_special};
use super::import_name::names_of;
use super::members::{MemberKind, Receiver, is_decorated, receiver};
use super::program::File;
use super::resolved::{ClassRef, Value};
use crate::scope::BindingKind;
use crate::spelling::{Closest, closest_name};
use crate::stdlib;

/// Finds attributes that cannot exist and what they were meant to be.
pub(crate) fn findings<'s>(
    search: &Search<'_, 's>,
    file: &File<'s>,
    _: &Repaired,
) -> Vec<UnresolvedName> {
    let mut found = Vec::new();
    for attribute in &file.scopes.attributes {
        let node = attribute.node;
        let name = node.attr.as_str();
        if !search.request.concerns(name) {
            continue;
        }
        let guarded = attribute.guard.catches_attribute_error() && !search.request.confirms(name);
        if node.ctx != ast::ExprContext::Load || guarded || is_special(name) {
            continue;
        }
        let (known, class) = match receiver(&file.scopes, attribute.scope, &node.value) {
            Some(Receiver::Instance(scope) | Receiver::Class(scope)) => {
                let class = ClassRef::Read(file.id, scope);
                let lineage = search.program.lineage(class);
                let names = names_of_classes(search, lineage.open, &lineage.classes, name);
                (names, Some(class))
            }
            None => match search.program.value(file, attribute.scope, &node.value) {
                Value::Module(module) => (names_of(search, file, &module, name), None),
                Value::Class(class @ ClassRef::Read(..)) => {
                    let names = names_of_other(search, file, class, 0, name)
                        .filter(|_| !stdlib::class_has("builtins", "type", name));
                    (names, Some(class))
                }
                Value::Instance(class @ ClassRef::Read(..)) => {
                    (names_of_other(search, file, class, 0, name), Some(class))
                }
                Value::Super(class) => (names_of_other(search, file, class, 1, name), Some(class)),
                _ => (None, None),
            },
        };
        let Some(known) = known else { continue };
        let is_called = || {
            let mut calls = file.scopes.calls.iter();
            calls.any(|call| call.node.func.range() == node.range)
        };
        // A flag that is called was not meant: `self.close()` is not `self.closed()`, whoever provides `close`.
        let fits = |right: &str| {
            let value = class.is_some_and(|class| is_value(search, class, right));
            !value || !is_called()
        };
        let near = closest_name(name, known.iter().map(String::as_str));
        let span: Range<usize> = node.attr.range.into();
        let verdict = Verdict::of(&near, span.clone());
        let Some(verdict) = verdict.filter(|_| near.names().iter().all(|name| fits(name))) else {
            continue;
        };
        // Set by someone, or asked for by its name: then it exists for a reason that reading does not show.
        if is_quoted(file, name) || search.is_defined_somewhere(name) {
            continue;
        }
        found.push(UnresolvedName::misspelled(file, span, name, verdict));
    }
    found
}

/// Whether a member is a value that cannot be called: set to literals everywhere, or a property.
fn is_value(search: &Search<'_, '_>, class: ClassRef, name: &str) -> bool {
    let Some((holder, _)) = search.program.find_member(class, name) else {
        return false;
    };
    let places = search.program.own_members(holder, name);
    let of_value = |kind: BindingKind<'_>| match kind {
        BindingKind::Assigned(value) | BindingKind::Annotated(_, Some(value)) => {
            value.is_literal_expr() && !value.is_none_literal_expr()
                || matches!(
                    value,
                    Expr::List(_)
                        | Expr::Dict(_)
                        | Expr::Set(_)
                        | Expr::Tuple(_)
                        | Expr::Compare(_)
                )
        }
        BindingKind::Function(node) => {
            is_decorated(&node.decorator_list, "property cached_property")
        }
        _ => false,
    };
    let mut kinds = places.iter().filter_map(|place| match place.kind {
        MemberKind::Body(kind) | MemberKind::Set(kind, _) => Some(kind),
        MemberKind::Slot => None,
    });
    kinds.next().is_some_and(of_value) && kinds.all(of_value)
}

/// The members of a class that something else than `self` is or belongs to. An object can be of a subclass and get
/// attributes from anywhere, so the name must stand nowhere else in the project.
fn names_of_other(
    search: &Search<'_, '_>,
    file: &File<'_>,
    class: ClassRef,
    skipped: usize,
    wanted: &str,
) -> Option<Vec<String>> {
    let lineage = search.program.lineage(class);
    let names = names_of_classes(
        search,
        lineage.open,
        lineage.classes.get(skipped..)?,
        wanted,
    )?;
    let here = file
        .scopes
        .attributes
        .iter()
        .filter(|attribute| attribute.node.attr.as_str() == wanted);
    let near = closest_name(wanted, names.iter().map(String::as_str)) != Closest::None;
    (near && search.is_nowhere_else(wanted, here.count())).then_some(names)
}

/// The members of classes, when they certainly lack `wanted`.
fn names_of_classes(
    search: &Search<'_, '_>,
    open: bool,
    classes: &[ClassRef],
    wanted: &str,
) -> Option<Vec<String>> {
    if open {
        return None;
    }
    let mut names = Vec::new();
    for &class in classes {
        match class {
            ClassRef::Read(id, scope) => {
                let other = search.program.file(id)?;
                let class = other.members().classes.get(&scope)?;
                let set = class.sets_by_name && !search.is_nowhere_else(wanted, 1);
                if class.dynamic || set || class.members.contains_key(wanted) {
                    return None;
                }
                names.extend(class.members.keys().map(|name| (*name).to_string()));
            }
            ClassRef::Standard(module, name) => {
                let (_, class) = stdlib::class(module, name)?;
                for member in class.members() {
                    if member == wanted || member == "__getattr__" {
                        return None;
                    }
                    names.push(member.to_string());
                }
            }
        }
    }
    names.retain(|name| !is_special(name));
    Some(names)
}
