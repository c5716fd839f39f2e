//! Functions that are handed on as values: then a call whose callee nobody knows may be theirs.

use std::rc::Rc;

use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashSet;

use super::super::program::File;
use super::super::values::ClassRef;
use super::Renaming;
use crate::scope::Role;

impl<'s> Renaming<'_, 's> {
    /// Whether a function, or the class that it makes, is used as anything but the callee of a call.
    pub(super) fn escapes(&self, class: Option<ClassRef>, function: &str) -> bool {
        let name = match (function, class) {
            ("__call__", _) => return true,
            ("__init__" | "__new__", Some(class)) => self.class_name(class),
            _ => function.to_string(),
        };
        self.program
            .sources
            .holding(&name)
            .into_iter()
            .filter_map(|id| self.program.file(id))
            .any(|file| is_handed_on(&file, &name))
    }
}

fn is_handed_on(file: &Rc<File<'_>>, name: &str) -> bool {
    let scopes = &file.scopes;
    let mut called: FxHashSet<TextRange> = scopes
        .calls
        .iter()
        .map(|call| call.node.func.range())
        .collect();
    // What stands before a dot is looked into, not called; the bases of a class and annotations hand nothing on.
    called.extend(
        scopes
            .attributes
            .iter()
            .map(|attribute| attribute.node.value.range()),
    );
    for scope in &scopes.scopes {
        if let crate::scope::ScopeKind::Class(node) = scope.kind {
            let bases = node.arguments.iter().flat_map(|arguments| &arguments.args);
            called.extend(bases.map(Ranged::range));
        }
    }
    let loaded = scopes.occurrences.iter().any(|occurrence| {
        occurrence.role == Role::Load
            && scopes.name(occurrence.name) == name
            && !called.contains(&occurrence.span)
    });
    let accessed = scopes.attributes.iter().any(|attribute| {
        attribute.node.attr.as_str() == name && !called.contains(&attribute.node.range())
    });
    let renamed = scopes
        .imports
        .iter()
        .any(|import| import.member == Some(name) && import.alias.is_some());
    loaded || accessed || renamed
}
