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
        let guarded = attribute.guard.catches_attribute_error() && !search.request.confirms(name);
        if node.ctx != ast::ExprContext::Load || guarded || is_special(name) {
            continue;
        }
        let known = match receiver(&file.scopes, attribute.scope, &node.value) {
            Some(receiver) => names_of_self(search, file, receiver, name),
            None => match search.program.value(file, attribute.scope, &node.value) {
                Value::Module(module) => names_of(search, file, &module, name),
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

/// The members of the class around, when it certainly lacks `wanted`.
fn names_of_self(
    search: &Search<'_, '_>,
    file: &File<'_>,
    receiver: Receiver,
    wanted: &str,
) -> Option<Vec<String>> {
    let (Receiver::Instance(scope) | Receiver::Class(scope)) = receiver;
    let lineage = search.program.lineage(ClassRef::Read(file.id, scope));
    if lineage.open {
        return None;
    }
    let mut names = Vec::new();
    for &class in &lineage.classes {
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
