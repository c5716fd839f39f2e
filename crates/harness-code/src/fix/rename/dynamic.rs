//! Names that code reaches through strings: then no list of references is complete.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::super::members::last_name;
use super::super::program::{File, FileId};
use super::super::values::Value;
use super::{Renaming, Step, Stop};
use crate::scope::{Depth, ScopeId, ScopeKind, SymbolId};

/// Functions that take the name of an attribute as a string.
const BY_NAME: &[&str] = &[
    "getattr",
    "setattr",
    "hasattr",
    "delattr",
    "attrgetter",
    "methodcaller",
    "object",
    "patch",
    "setitem",
    "delitem",
];

impl<'s> Renaming<'_, 's> {
    /// Refuses when a string names an attribute of one of the modules, or the dotted path of the thing.
    pub(super) fn check_named_in_strings(&self, homes: &[FileId]) -> Step<()> {
        let mut dotted: Vec<String> = Vec::new();
        for home in homes {
            let Some(path) = self.program.path(*home) else {
                continue;
            };
            dotted.extend(
                self.program
                    .names_of(path.as_str())
                    .iter()
                    .map(|name| format!("{name}.{}", self.old)),
            );
        }
        for file in self.files() {
            let mut spans: Vec<Range<usize>> = Vec::new();
            for call in &file.scopes.calls {
                let strings = call
                    .node
                    .arguments
                    .args
                    .iter()
                    .filter_map(Expr::as_string_literal_expr);
                for text in strings {
                    let value = text.value.to_str();
                    let path = dotted.iter().any(|name| {
                        value == name
                            || value
                                .strip_prefix(name.as_str())
                                .is_some_and(|rest| rest.starts_with('.'))
                            || value.replace(':', ".") == *name
                    });
                    let by_name = value == self.old
                        && self.is_by_name(call.node)
                        && self.reaches_module(&file, call.scope, call.node, homes);
                    if path || by_name {
                        spans.push(text.range.into());
                    }
                }
            }
            if !spans.is_empty() {
                return Err(Stop::Refuse(
                    format!("`{}` is reached through a string", self.old),
                    self.places(&file, spans),
                ));
            }
        }
        Ok(())
    }

    pub(super) fn is_by_name(&self, call: &ast::ExprCall) -> bool {
        last_name(&call.func).is_some_and(|name| BY_NAME.contains(&name))
    }

    fn reaches_module(
        &self,
        file: &Rc<File<'s>>,
        scope: ScopeId,
        call: &ast::ExprCall,
        homes: &[FileId],
    ) -> bool {
        let Some(first) = call.arguments.args.first() else {
            return true;
        };
        match self.program.value(file, scope, first) {
            Value::Module(super::super::program::Module::File(id)) => homes.contains(&id),
            Value::Module(_)
            | Value::Class(_)
            | Value::Instance(_)
            | Value::Super(_)
            | Value::Function(..)
            | Value::Standard => false,
            Value::Unknown => {
                !matches!(first, Expr::Name(name) if matches!(name.id.as_str(), "self" | "cls"))
            }
        }
    }

    /// Refuses when the scope of a variable is handed on whole (`locals()`), or looked into by name.
    pub(super) fn check_scope_by_name(&self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<()> {
        let home = file.scopes.symbols[symbol as usize].scope;
        let quoted = |text: &str| text.contains(self.old);
        for call in &file.scopes.calls {
            let Expr::Name(name) = call.node.func.as_ref() else {
                continue;
            };
            let local = matches!(name.id.as_str(), "locals" | "vars" | "dir")
                && call.node.arguments.is_empty();
            let here = call.scope == home
                && home != 0
                && matches!(
                    file.scopes.scopes[home as usize].kind,
                    ScopeKind::Function(_)
                );
            let evaluated = matches!(name.id.as_str(), "eval" | "exec")
                && call
                    .node
                    .arguments
                    .args
                    .first()
                    .and_then(Expr::as_string_literal_expr)
                    .is_some_and(|text| quoted(text.value.to_str()));
            if (local && here) || evaluated {
                let reason = format!("`{}(...)` reaches `{}` by its name", name.id, self.old);
                return Err(Stop::Refuse(
                    reason,
                    self.places(file, [call.node.range().into()]),
                ));
            }
            let module_wide =
                home == 0 && name.id.as_str() == "globals" && self.subscripted(file, call.node);
            if module_wide {
                let reason = format!("`globals()` reaches `{}` by its name", self.old);
                return Err(Stop::Refuse(
                    reason,
                    self.places(file, [call.node.range().into()]),
                ));
            }
        }
        Ok(())
    }

    /// Whether `globals()` is followed by the old name as a string.
    fn subscripted(&self, file: &File<'s>, call: &ast::ExprCall) -> bool {
        let end: usize = call.range().end().into();
        let rest = file.content().get(end..).unwrap_or_default();
        [format!("[\"{}\"]", self.old), format!("['{}']", self.old)]
            .iter()
            .any(|key| rest.starts_with(key.as_str()))
            || rest.starts_with(".get(")
                && rest.get(5..).is_some_and(|rest| {
                    rest.starts_with(&format!("\"{}\"", self.old))
                        || rest.starts_with(&format!("'{}'", self.old))
                })
    }

    /// Attributes of the old name in examples of docstrings: nothing says what they belong to.
    pub(super) fn attributes_in_doctests(&self, file: &Rc<File<'s>>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for examples in crate::scope::doctest::examples(file.source) {
            let program = crate::scope::Source::parse(examples.code.clone());
            let scopes = program.scopes(Depth::Full);
            for attribute in scopes
                .attributes
                .iter()
                .filter(|attribute| attribute.node.attr.as_str() == self.old)
            {
                found.extend(examples.in_file(attribute.node.attr.range.into()));
            }
        }
        found
    }
}
