//! Which classes share a member: those that inherit it from each other, through subclasses and stubs too.

use super::super::resolved::ClassRef;
use super::Renaming;
use crate::fix::resolved::FileId;
use crate::scope::SymbolId;

/// The classes that define a name, apart into those that are renamed together and the rest.
pub(super) struct Family {
    pub(super) own: Vec<ClassRef>,
    pub(super) others: Vec<ClassRef>,
}

/// What the renamed name belongs to.
#[derive(Clone, Copy)]
pub(super) enum Owner<'o> {
    /// Classes, and so their instances.
    Family(&'o Family),
    /// Modules; the symbol is that of the definition, in the first of them.
    Modules(&'o [FileId], SymbolId),
}

/// What an access of the old name belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Belongs {
    /// To the owner of the name that is renamed.
    Owner,
    /// To something else.
    Other,
    /// Nobody can tell.
    Unknown,
}

impl Renaming<'_, '_> {
    /// The classes of the project that define a member, and which of them are one family with `class`.
    pub(super) fn family(&self, class: ClassRef, name: &str) -> Family {
        let mut all: Vec<ClassRef> = Vec::new();
        for file in self.program.files_holding(name) {
            for (scope, found) in &file.members().classes {
                if found.members.contains_key(name) {
                    all.push(ClassRef::Read(file.id, *scope));
                }
            }
        }
        let mut own = vec![class];
        let mut at = 0;
        while let Some(&member) = own.get(at) {
            at += 1;
            let twins = self.twins_of_class(member);
            let below = if all.iter().any(|other| !own.contains(other)) {
                self.subclasses(member)
            } else {
                Vec::new()
            };
            let (related, rest): (Vec<ClassRef>, Vec<ClassRef>) = all
                .iter()
                .copied()
                .filter(|other| !own.contains(other))
                .partition(|other| {
                    // Two classes without a common base become one family in a class that inherits from both.
                    let joined = |class: &ClassRef| self.program.is_a(*class, &[*other]);
                    self.are_related(member, *other)
                        || twins.contains(other)
                        || below.iter().any(joined)
                });
            own.extend(related);
            all = rest;
        }
        own.sort_by_key(|class| match class {
            ClassRef::Read(id, scope) => (*id, *scope),
            ClassRef::Standard(..) => (usize::MAX, 0),
        });
        Family { own, others: all }
    }

    /// The classes of the project that inherit from a class. Each names one that it inherits from, so only files that
    /// hold such a name are looked at.
    fn subclasses(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut found: Vec<ClassRef> = Vec::new();
        let mut names = vec![self.class_name(class)];
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            at += 1;
            if name.is_empty() {
                continue;
            }
            for file in self.program.files_holding(&name) {
                for (scope, inner) in &file.members().classes {
                    let below = ClassRef::Read(file.id, *scope);
                    let inherits = inner.node.arguments.is_some()
                        && below != class
                        && !found.contains(&below)
                        && self.program.is_a(below, &[class]);
                    if inherits {
                        found.push(below);
                        let name = inner.node.name.to_string();
                        if !names.contains(&name) {
                            names.push(name);
                        }
                    }
                }
            }
        }
        found
    }
}
