//! Attributes that a module or the class of `self` certainly lacks.

use ruff_python_ast::{self as ast};

use super::import_name::names_of;
use super::members::{Receiver, receiver};
use super::misspelled::{Finding, Search, Verdict, is_quoted, is_special};
use super::program::File;
use super::values::{ClassRef, Value};
use crate::spelling::{Closest, closest_name};
use crate::stdlib;

/// Finds attributes that cannot exist and what they were meant to be.
pub(crate) fn findings<'s>(search: &Search<'_, 's>, file: &File<'s>) -> Vec<Finding> {
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
        let known = match receiver(&file.scopes, attribute.scope, &node.value) {
            Some(Receiver::Instance(scope) | Receiver::Class(scope)) => {
                let lineage = search.program.lineage(ClassRef::Read(file.id, scope));
                names_of_classes(search, lineage.open, &lineage.classes, name)
            }
            None => match search.program.value(file, attribute.scope, &node.value) {
                Value::Module(module) => names_of(search, file, &module, name),
                Value::Class(class @ ClassRef::Read(..)) => {
                    names_of_other(search, file, class, 0, name)
                        .filter(|_| !stdlib::class_has("builtins", "type", name))
                }
                Value::Instance(class @ ClassRef::Read(..)) => {
                    names_of_other(search, file, class, 0, name)
                }
                Value::Super(class) => names_of_other(search, file, class, 1, name),
                _ => None,
            },
        };
        let Some(known) = known else { continue };
        let verdict = match closest_name(name, known.iter().map(String::as_str)) {
            Closest::One(right) => Verdict::Fix {
                right: right.to_string(),
                edits: vec![(node.attr.range.into(), right.to_string())],
            },
            Closest::Several(names) => {
                Verdict::Several(names.into_iter().map(str::to_string).collect())
            }
            Closest::None => continue,
        };
        // Set by someone, or asked for by its name: then it exists for a reason that reading does not show.
        if is_quoted(file, name) || search.is_defined_somewhere(name) {
            continue;
        }
        found.push(Finding {
            file: file.id,
            span: node.attr.range.into(),
            wrong: name.to_string(),
            verdict,
            kind: "misspelled_name",
        });
    }
    found
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
