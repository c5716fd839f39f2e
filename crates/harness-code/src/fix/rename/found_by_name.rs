//! Names that test runners and dispatchers of the standard library find by how they begin: such a rename is refused.

use std::rc::Rc;

use super::super::members::{Member, MemberKind, last_name};
use super::super::program::File;
use super::super::resolved::{ClassRef, FileId};
use super::family::Family;
use super::{Renaming, Step, Stop};
use crate::scope::{BindingKind, SymbolId};

/// Classes of the standard library that look for methods by how their names begin.
const DISPATCHERS: &[(&str, &[&str])] = &[
    ("BaseHTTPRequestHandler", &["do_"]),
    ("Cmd", &["do_", "help_", "complete_"]),
    ("NodeVisitor", &["visit_"]),
    ("SMTPChannel", &["smtp_"]),
];

impl<'s> Renaming<'_, 's> {
    /// Refuses when a function or class of a module is a test before the rename or after it, and not both.
    pub(super) fn check_found_by_name(&self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<()> {
        let mut bindings = file.scopes.bindings_of(symbol);
        let prefix = bindings.find_map(|binding| match binding.kind {
            BindingKind::Function(_) => Some("test"),
            BindingKind::Class(node) => {
                let mut bases = node.bases().iter();
                let by_base = bases
                    .any(|base| last_name(base).is_some_and(|name| name.ends_with("TestCase")));
                (!by_base).then_some("Test")
            }
            _ => None,
        });
        match prefix {
            Some(prefix) if self.is_collected(file.id) => self.check_still_a_test(prefix),
            _ => Ok(()),
        }
    }

    /// Refuses when a class outside the project calls a method by how its name begins.
    pub(super) fn check_dispatched(&self, family: &Family) -> Step<()> {
        for &class in family.own.iter().filter(|class| self.has_method(**class)) {
            for base in &self.program.lineage(class).classes {
                let ClassRef::Standard(_, name) = base else {
                    continue;
                };
                if *name == "TestCase" {
                    self.check_still_a_test("test")?;
                }
                let prefixes = DISPATCHERS.iter().find(|(class, _)| class == name);
                for prefix in prefixes.into_iter().flat_map(|(_, prefixes)| *prefixes) {
                    if self.old.starts_with(prefix) || self.new.starts_with(prefix) {
                        return Err(Stop::because(format!(
                            "`{name}` calls methods whose names begin with `{prefix}`"
                        )));
                    }
                }
            }
            if let ClassRef::Read(id, _) = class
                && self.is_collected(id)
                && self.class_name(class).starts_with("Test")
            {
                self.check_still_a_test("test")?;
            }
        }
        Ok(())
    }

    fn has_method(&self, class: ClassRef) -> bool {
        let members = self.program.own_members(class, self.old);
        let is_method =
            |member: &Member<'_>| matches!(member.kind, MemberKind::Body(BindingKind::Function(_)));
        members.iter().any(is_method)
    }

    fn check_still_a_test(&self, prefix: &str) -> Step<()> {
        let why = match (self.old.starts_with(prefix), self.new.starts_with(prefix)) {
            (true, false) => "would not be found any more",
            (false, true) => "would be taken for one",
            _ => return Ok(()),
        };
        Err(Stop::because(format!(
            "tests are found by their names, and `{}` {why}",
            self.new
        )))
    }

    /// Whether test runners look into a file for tests.
    fn is_collected(&self, file: FileId) -> bool {
        self.program.path(file).is_some_and(|path| {
            let stem = path.stem();
            stem.starts_with("test") || stem.ends_with("_test") || stem.ends_with("_tests")
        })
    }
}
