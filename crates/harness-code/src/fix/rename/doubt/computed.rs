//! Attributes that are reached by computed names: `getattr(self, "visit_" + kind)`, `globals()[name]`.
//!
//! A computed name alone says nothing. Together with a string that spells the old name or may become it, it may be the
//! renamed thing.

use std::rc::Rc;

use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use super::super::family::{Belongs, Family, Owner};
use super::super::walk::{NameUse, used};
use super::strings::FoundString;
use super::{Doubt, Renaming, Spelled};
use crate::fix::members::{MemberKind, keyword_of, last_name};
use crate::fix::program::File;
use crate::fix::resolved::{ClassRef, FileId, ResolvedModule, Value};
use crate::scope::{BindingKind, ScopeId};

/// Words without which no attribute is reached by a computed name.
const WORDS: &str = "getattr setattr hasattr delattr attrgetter methodcaller __getattribute__ __dict__ vars( \
    globals()";

/// Whether a text can reach attributes by computed names.
pub(super) fn computes(text: &str) -> bool {
    let mut words = WORDS.split_ascii_whitespace();
    words.any(|word| text.contains(word))
}

impl<'s> Renaming<'_, 's> {
    /// A string that spells the name, and attributes that are reached by computed names: of the owner anywhere, of
    /// something unknown beside the string.
    pub(super) fn computed(&self, owner: Owner<'_>, spelled: &[Spelled<'s>]) -> Vec<Doubt> {
        let mut found: Vec<(Rc<File<'s>>, Vec<TextRange>)> = Vec::new();
        for Spelled { file, texts } in spelled {
            let texts = texts.iter().filter(|text| text.spells(self.old));
            // A pattern that fits nearly every name counts only where names of the owner are computed.
            let (little, telling): (Vec<&FoundString>, Vec<&FoundString>) =
                texts.partition(|text| text.says_little());
            let mut spans: Vec<TextRange> = telling.iter().map(|text| text.span).collect();
            if !little.is_empty() && self.reaches(file, owner, Belongs::Owner) {
                spans.extend(little.iter().map(|text| text.span));
            }
            found.push((Rc::clone(file), spans));
        }
        if let Owner::Family(family) = owner {
            for file in self.files() {
                let spans = self.collected_keywords(&file, family);
                found.push((file, spans));
            }
        }
        found.retain(|(_, spans)| !spans.is_empty());
        let anywhere = !found.is_empty()
            && self
                .files_about(owner)
                .iter()
                .any(|file| self.reaches(file, owner, Belongs::Owner));
        found.retain(|(file, _)| anywhere || self.reaches(file, owner, Belongs::Unknown));
        let reason = format!(
            "attributes are reached by computed names, and a string may spell `{}`",
            self.old
        );
        found
            .into_iter()
            .filter_map(|(file, spans)| self.in_strings(reason.clone(), &file, spans))
            .collect()
    }

    /// The files in which code of the owner, or with the owner's name, stands.
    fn files_about(&self, owner: Owner<'_>) -> Vec<Rc<File<'s>>> {
        let mut ids: Vec<FileId> = Vec::new();
        match owner {
            Owner::Modules(homes, _) => ids.extend(homes.iter().chain(&self.holding)),
            Owner::Family(family) => {
                for own in &family.own {
                    ids.extend(self.program.sources.holding(&self.class_name(*own)));
                    let classes = &self.program.lineage(*own).classes;
                    ids.extend(classes.iter().filter_map(|class| match class {
                        ClassRef::Read(id, _) => Some(*id),
                        ClassRef::Standard(..) => None,
                    }));
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
            .filter(|id| {
                self.program.path(*id).is_some() && computes(self.program.sources.text(*id))
            })
            .filter_map(|id| self.program.file(id))
            .collect()
    }

    /// Whether a file reaches attributes by computed names, of the owner or (`Belongs::Unknown`) of something unknown.
    fn reaches(&self, file: &Rc<File<'s>>, owner: Owner<'_>, least: Belongs) -> bool {
        // Something unknown is a module only where modules are got while the program runs.
        let may_be_owner = match owner {
            Owner::Family(_) => true,
            Owner::Modules(..) => ["sys.modules", "import_module", "__import__"]
                .iter()
                .any(|word| file.content().contains(word)),
        };
        let counts = |scope: ScopeId, object: &Expr| match self
            .whose(&self.program.value(file, scope, object), owner)
        {
            Belongs::Owner => true,
            Belongs::Unknown => least == Belongs::Unknown && may_be_owner,
            Belongs::Other => false,
        };
        let one_by_one = |place: TextRange| used(file, place) == NameUse::OneByOne;
        let called = file.scopes.calls.iter().any(|call| {
            let arguments = &call.node.arguments.args;
            let is_computed = |argument: Option<&Expr>| {
                argument.is_some_and(|argument| !argument.is_string_literal_expr())
            };
            let first = || {
                arguments
                    .first()
                    .is_some_and(|first| counts(call.scope, first))
            };
            match (last_name(&call.node.func), call.node.func.as_ref()) {
                (Some("getattr" | "setattr" | "hasattr" | "delattr"), Expr::Name(_)) => {
                    is_computed(arguments.get(1)) && first()
                }
                (
                    Some(
                        name @ ("__getattribute__" | "__getattr__" | "__setattr__" | "__delattr__"),
                    ),
                    Expr::Attribute(method),
                ) => {
                    // `object.__setattr__(self, name, value)` names the object first.
                    let names_object =
                        arguments.len() == 3 || arguments.len() == 2 && name != "__setattr__";
                    match names_object {
                        true => is_computed(arguments.get(1)) && first(),
                        false => {
                            is_computed(arguments.first()) && counts(call.scope, &method.value)
                        }
                    }
                }
                (Some("attrgetter" | "methodcaller"), _) => {
                    arguments.iter().any(|argument| is_computed(Some(argument)))
                        && least == Belongs::Unknown
                        && may_be_owner
                }
                (Some("vars"), _) => one_by_one(call.node.range()) && first(),
                // The names of this very module, and of no other.
                (Some("globals"), _) => {
                    matches!(owner, Owner::Modules(homes, _) if homes.contains(&file.id))
                        && one_by_one(call.node.range())
                }
                _ => false,
            }
        });
        called
            || file.scopes.attributes.iter().any(|attribute| {
                attribute.node.attr.as_str() == "__dict__"
                    && one_by_one(attribute.node.range())
                    && counts(attribute.scope, &attribute.node.value)
            })
    }

    /// Whose attribute is reached where one of a value is.
    fn whose(&self, value: &Value, owner: Owner<'_>) -> Belongs {
        match (owner, value) {
            (Owner::Modules(homes, _), Value::Module(ResolvedModule::File(id)))
                if homes.contains(id) =>
            {
                Belongs::Owner
            }
            (
                Owner::Modules(..),
                Value::Module(ResolvedModule::Unknown | ResolvedModule::Opaque) | Value::Unknown,
            ) => Belongs::Unknown,
            (Owner::Modules(..), _) => Belongs::Other,
            (
                Owner::Family(family),
                Value::Class(class) | Value::Instance(class) | Value::Super(class),
            ) if self.is_kin(*class, family) => Belongs::Owner,
            (Owner::Family(family), _) => self.belongs(value, family),
        }
    }

    /// Keyword arguments of the old name that a class of the family takes as `**options`.
    fn collected_keywords(&self, file: &Rc<File<'s>>, family: &Family) -> Vec<TextRange> {
        let mut found = Vec::new();
        for call in &file.scopes.calls {
            let Some(named) = keyword_of(call.node, self.old) else {
                continue;
            };
            let Value::Class(class) = self.program.value(file, call.scope, &call.node.func) else {
                continue;
            };
            let maker = self.program.find_member(class, "__init__");
            let declared = maker.is_some_and(|(_, member)| {
                matches!(member.kind, MemberKind::Body(BindingKind::Function(node))
                    if node.parameters.iter_non_variadic_params().any(|one| one.name().as_str() == self.old))
            });
            if self.is_kin(class, family)
                && !declared
                && !self.is_edited(file.id, &named.range.into())
            {
                found.push(named.range);
            }
        }
        found
    }
}
