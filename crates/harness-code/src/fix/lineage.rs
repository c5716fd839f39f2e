//! Which classes a class inherits from, and which of them define a member.

use std::rc::Rc;

use ruff_python_ast as ast;

use super::members::{ClassMembers, Member, is_named};
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
                const WITHOUT_MEMBERS: &str = "object Generic Protocol TypedDict NamedTuple";
                let bases = node.bases().iter();
                bases
                    .filter(|base| !is_named(base, WITHOUT_MEMBERS))
                    .map(|base| match self.value(&file, outer, base) {
                        Value::Class(class) => Some(class),
                        _ => None,
                    })
                    .collect()
            }
        }
    }

    /// Asks a class of a file that was read; `None` for one of the standard library.
    pub(crate) fn ask_class<T>(
        &self,
        class: ClassRef,
        ask: impl FnOnce(&ClassMembers<'s>) -> T,
    ) -> Option<T> {
        let ClassRef::Read(id, scope) = class else {
            return None;
        };
        Some(ask(self.file(id)?.members().classes.get(&scope)?))
    }

    /// The statement of a class that was read.
    pub(crate) fn class_node(&self, class: ClassRef) -> Option<&'s ast::StmtClassDef> {
        self.ask_class(class, |class| class.node)
    }

    /// The places at which a class that was read itself gets a member.
    pub(crate) fn own_members(&self, class: ClassRef, name: &str) -> Vec<Member<'s>> {
        let found = self.ask_class(class, |class| class.members.get(name).cloned());
        found.flatten().unwrap_or_default()
    }

    /// Whether a class itself defines a member.
    pub(crate) fn defines(&self, class: ClassRef, name: &str) -> bool {
        match class {
            ClassRef::Read(..) => !self.own_members(class, name).is_empty(),
            ClassRef::Standard(module, owner) => stdlib::class_has(module, owner, name),
        }
    }

    /// The nearest class of the lineage that was read and defines a member, with its first place.
    pub(crate) fn find_member(
        &self,
        class: ClassRef,
        name: &str,
    ) -> Option<(ClassRef, Member<'s>)> {
        self.lineage(class).classes.iter().find_map(|&holder| {
            let member = *self.own_members(holder, name).first()?;
            Some((holder, member))
        })
    }

    /// Whether a class is one of these, or inherits from one.
    pub(crate) fn is_a(&self, class: ClassRef, bases: &[ClassRef]) -> bool {
        let lineage = self.lineage(class);
        lineage.classes.iter().any(|base| bases.contains(base))
    }

    /// Whether a class of the standard library defines or inherits a member.
    pub(crate) fn standard_has(&self, class: ClassRef, name: &str) -> bool {
        self.lineage(class)
            .classes
            .iter()
            .any(|class| matches!(class, ClassRef::Standard(..)) && self.defines(*class, name))
    }
}

fn standard_base(module: &'static str, base: &str) -> Option<ClassRef> {
    let found = match base.rsplit_once('.') {
        Some((other, name)) => stdlib::class(other, name),
        None => stdlib::class(module, base).or_else(|| stdlib::class("builtins", base)),
    };
    found.map(|(module, class)| ClassRef::Standard(module, class.name))
}
