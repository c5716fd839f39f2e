//! Which classes a class inherits from, and which of them define a member.

use std::rc::Rc;

use super::members::{Member, last_name};
use super::program::Program;
use super::resolved::{ClassRef, Lineage, Value};
use crate::scope::ScopeKind;
use crate::stdlib;

impl<'s> Program<'s> {
    /// The classes that a class inherits from, itself first, nearest next.
    pub(crate) fn lineage(&self, class: ClassRef) -> Rc<Lineage> {
        if let Some(known) = self.known_lineages.borrow().get(&class) {
            return known.clone();
        }
        let lineage = Rc::new(self.find_lineage(class));
        self.known_lineages
            .borrow_mut()
            .insert(class, lineage.clone());
        lineage
    }

    fn find_lineage(&self, class: ClassRef) -> Lineage {
        let mut lineage = Lineage {
            classes: vec![class],
            open: false,
        };
        let mut at = 0;
        while let Some(&class) = lineage.classes.get(at) {
            at += 1;
            // No real class has as many ancestors; a circle in broken code must end.
            if at > 200 {
                lineage.open = true;
                break;
            }
            let bases = self.bases(class);
            for base in bases {
                match base {
                    Some(base) if !lineage.classes.contains(&base) => lineage.classes.push(base),
                    Some(_) => {}
                    None => lineage.open = true,
                }
            }
        }
        lineage
    }

    /// The direct bases of a class; `None` for one that cannot be read.
    pub(crate) fn bases(&self, class: ClassRef) -> Vec<Option<ClassRef>> {
        match class {
            ClassRef::Standard(module, name) => {
                let Some((module, class)) = stdlib::class(module, name) else {
                    return vec![None];
                };
                class
                    .bases()
                    .filter(|base| {
                        !matches!(*base, "object" | "typing.Generic" | "typing.Protocol")
                    })
                    .map(|base| standard_base(module, base))
                    .collect()
            }
            ClassRef::Read(id, scope) => {
                let Some(file) = self.file(id) else {
                    return vec![None];
                };
                let Some(ScopeKind::Class(node)) = file.scopes.kind(scope) else {
                    return vec![None];
                };
                let outer = file.scopes.parent(scope).unwrap_or(0);
                let arguments = node
                    .arguments
                    .iter()
                    .flat_map(|arguments| arguments.args.iter());
                arguments
                    .filter(|base| {
                        !matches!(
                            last_name(base),
                            Some("object" | "Generic" | "Protocol" | "TypedDict" | "NamedTuple")
                        )
                    })
                    .map(|base| match self.value(&file, outer, base) {
                        Value::Class(class) => Some(class),
                        _ => None,
                    })
                    .collect()
            }
        }
    }

    /// The nearest class of the lineage that defines a member, with its first place.
    pub(crate) fn find_member(
        &self,
        class: ClassRef,
        name: &str,
    ) -> Option<(ClassRef, Member<'s>)> {
        for &holder in &self.lineage(class).classes {
            match holder {
                ClassRef::Read(id, scope) => {
                    let file = self.file(id)?;
                    if let Some(found) = file
                        .members()
                        .classes
                        .get(&scope)
                        .and_then(|class| class.members.get(name))
                    {
                        return found.first().map(|member| (holder, *member));
                    }
                }
                ClassRef::Standard(..) => {}
            }
        }
        None
    }

    /// Whether a class of the standard library defines or inherits a member.
    pub(crate) fn standard_has(&self, class: ClassRef, name: &str) -> bool {
        self.lineage(class).classes.iter().any(|class| match class {
            ClassRef::Standard(module, owner) => stdlib::class(module, owner)
                .is_some_and(|(_, class)| class.members().any(|member| member == name)),
            ClassRef::Read(..) => false,
        })
    }
}

fn standard_base(module: &'static str, base: &str) -> Option<ClassRef> {
    let found = match base.rsplit_once('.') {
        Some((other, name)) => stdlib::class(other, name),
        None => stdlib::class(module, base).or_else(|| stdlib::class("builtins", base)),
    };
    found.map(|(module, class)| ClassRef::Standard(module, class.name))
}
