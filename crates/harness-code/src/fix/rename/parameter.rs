//! Parameters: the keywords that calls name them by.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr};

use super::super::members::{
    MemberKind, class_of_method, is_named, keyword_of, last_name, receiver_named,
};
use super::super::program::File;
use super::super::resolved::{ClassRef, FileId, Value};
use super::{Renaming, Step, Stop};
use crate::scope::{BindingKind, CallUse, ScopeId, ScopeKind};

/// Decorators that hand the arguments on as they are.
const PLAIN: &str = "staticmethod classmethod abstractmethod override overload property setter final wraps lru_cache cache \
    contextmanager asynccontextmanager cached_property singledispatch singledispatchmethod register no_type_check deprecated";

/// A function whose parameter is renamed, and what was found of its calls.
struct Callee<'f, 's> {
    file: &'f Rc<File<'s>>,
    body: ScopeId,
    name: &'s str,
    class: Option<ClassRef>,
    /// Keywords of calls that may be of this function, by its name.
    unknown: Vec<(FileId, Range<usize>)>,
    /// Keywords of calls of something unknown.
    strange: Vec<(FileId, Range<usize>)>,
    /// Whether some call names the parameter.
    keyworded: bool,
}

impl<'s> Renaming<'_, 's> {
    /// Renames the keywords of calls of a function; `body` is its scope.
    pub(super) fn rename_keywords(
        &mut self,
        file: &Rc<File<'s>>,
        body: ScopeId,
        function: &'s ast::StmtFunctionDef,
    ) -> Step<()> {
        let parameters = &function.parameters;
        let variadic = [&parameters.vararg, &parameters.kwarg]
            .into_iter()
            .flatten()
            .any(|parameter| parameter.name.as_str() == self.old);
        let positional = parameters
            .posonlyargs
            .iter()
            .any(|parameter| parameter.parameter.name.as_str() == self.old);
        // `self` and `cls` are passed by Python, these by place.
        let is_receiver = receiver_named(&file.scopes, body, self.old).is_some();
        if variadic || positional || is_receiver {
            return Ok(());
        }
        self.check_decorators(file, function)?;
        let name = function.name.as_str();
        let class = class_of_method(&file.scopes, body).map(|scope| ClassRef::Read(file.id, scope));
        let mut callee = Callee {
            file,
            body,
            name,
            class,
            unknown: Vec::new(),
            strange: Vec::new(),
            keyworded: false,
        };
        for other in self.callers(class, name) {
            for call in &other.scopes.calls {
                self.rename_keyword(&mut callee, &other, call)?;
            }
        }
        let Callee {
            unknown,
            strange,
            mut keyworded,
            ..
        } = callee;
        // By the name of a method that only this family has, the others call it too.
        let unknown = self.settled(unknown, |renaming| {
            let reason = || format!("what some calls of `{name}` reach is not known");
            let is_elsewhere = class.is_none_or(|class| renaming.is_method_elsewhere(class, name));
            is_elsewhere.then(reason)
        });
        for (id, span) in unknown {
            keyworded = true;
            self.edit(&*self.program.file(id).ok_or(Stop::Nothing)?, span)?;
        }
        if !strange.is_empty() && self.is_handed_on(class, name) {
            let reason = format!(
                "`{name}` is handed on as a value, and calls of something unknown pass `{}`",
                self.old
            );
            let doubt = self.unknown_uses(reason, &strange);
            self.note(doubt);
        }
        for (other, symbol) in self.same_parameter(file, body, name) {
            self.rename_symbol(&other, symbol)?;
        }
        if keyworded && let Some(class) = class {
            self.rename_in_overrides(class, name)?;
        }
        Ok(())
    }

    /// Renames the keyword of one call where the call is one of the function.
    fn rename_keyword(
        &mut self,
        callee: &mut Callee<'_, 's>,
        other: &Rc<File<'s>>,
        call: &CallUse<'s>,
    ) -> Step<()> {
        let keywords = &call.node.arguments.keywords;
        let named = keyword_of(call.node, self.old);
        let spread = keywords.iter().any(|keyword| keyword.arg.is_none());
        if named.is_none() && !spread {
            return Ok(());
        }
        let &mut Callee {
            file,
            body,
            name,
            class,
            ..
        } = callee;
        let value = self.program.value(other, call.scope, &call.node.func);
        match self.calls(&value, file, body, class, name) {
            Some(true) => {
                if spread && named.is_none() {
                    let old = self.old;
                    let reason = format!("a call passes a dictionary, which may hold `{old}`");
                    let doubt = self.at_places(reason, other, [crate::scope::bytes(call.node)]);
                    self.note(doubt);
                }
                self.check_new_keyword(other, call.node)?;
                if let Some(named) = named {
                    callee.keyworded = true;
                    self.edit(other, named.range)?;
                }
            }
            Some(false) => {
                self.rename_partial(other, call.scope, call.node, file, body)?;
                if let Some(named) = named.filter(|_| self.collects(other, &value)) {
                    callee.strange.push((other.id, named.range.into()));
                }
            }
            None => {
                let makes = matches!(name, "__init__" | "__new__" | "__call__") && class.is_some();
                let same_name = last_name(&call.node.func) == Some(name) || makes;
                let by_attribute = matches!(call.node.func.as_ref(), Expr::Attribute(_));
                if let Some(named) = named.filter(|_| same_name && by_attribute) {
                    callee.unknown.push((other.id, named.range.into()));
                } else if let Some(named) = named {
                    self.rename_partial(other, call.scope, call.node, file, body)?;
                    callee.strange.push((other.id, named.range.into()));
                }
            }
        }
        Ok(())
    }

    /// The files that hold the old name, and those that may call the function with a dictionary of arguments.
    fn callers(&self, class: Option<ClassRef>, name: &str) -> Vec<Rc<File<'s>>> {
        let called = match (name, class) {
            ("__init__" | "__new__" | "__call__", Some(class)) => self.class_name(class),
            _ => name.to_string(),
        };
        let spreading = self
            .program
            .sources
            .holding(&called)
            .into_iter()
            .filter(|id| {
                !self.holding.contains(id) && self.program.sources.text(*id).contains("**")
            });
        let mut files = self.files();
        files.extend(spreading.filter_map(|id| self.program.file(id)));
        files
    }

    /// Whether what is called takes any keyword and may give it on: `def wrapped(**options)`, `dict(...)`.
    fn collects(&self, caller: &File<'s>, callee: &Value) -> bool {
        let collected = |node: &ast::StmtFunctionDef| {
            node.parameters.kwarg.is_some() && !node.parameters.includes(self.old)
        };
        match callee {
            Value::Function(id, scope) => self.program.file(*id).is_some_and(|file| {
                matches!(file.scopes.kind(*scope), Some(ScopeKind::Function(node)) if collected(node))
            }),
            // A dictionary becomes arguments only where one is spread.
            Value::Class(ClassRef::Standard("builtins", "dict")) => {
                let mut calls = caller.scopes.calls.iter();
                calls.any(|call| {
                    let mut keywords = call.node.arguments.keywords.iter();
                    keywords.any(|keyword| keyword.arg.is_none())
                })
            }
            Value::Class(called) => match self.program.find_member(*called, "__init__") {
                Some((_, member)) => {
                    matches!(member.kind, MemberKind::Body(BindingKind::Function(node)) if collected(node))
                }
                None => self.program.lineage(*called).open,
            },
            Value::Module(_)
            | Value::Instance(_)
            | Value::Super(_)
            | Value::Standard
            | Value::Unknown => false,
        }
    }

    /// Whether something else than the family of a class has a method of a name.
    fn is_method_elsewhere(&self, class: ClassRef, name: &str) -> bool {
        crate::stdlib::is_attribute(name)
            || !self.family(class, name).others.is_empty()
            || self.defining_package(name).is_some()
    }

    fn check_decorators(
        &mut self,
        file: &Rc<File<'s>>,
        function: &ast::StmtFunctionDef,
    ) -> Step<()> {
        for decorator in &function.decorator_list {
            if !is_named(&decorator.expression, PLAIN) {
                let reason = format!(
                    "a decorator of `{}` may pass `{}` by its name",
                    function.name, self.old
                );
                let doubt = self.at_places(reason, file, [decorator.range.into()]);
                self.note(doubt);
            }
        }
        let tested = self.program.path(file.id).is_some_and(crate::tree::is_test)
            && function.name.as_str().starts_with("test");
        if tested {
            let reason = format!(
                "`{}` is a test, whose parameters are the names of fixtures",
                function.name
            );
            return Err(Stop::because(reason));
        }
        Ok(())
    }

    /// Whether a call reaches the function: yes, no, or nobody knows.
    fn calls(
        &self,
        callee: &Value,
        file: &Rc<File<'s>>,
        body: ScopeId,
        class: Option<ClassRef>,
        name: &str,
    ) -> Option<bool> {
        let holds = |called: &ClassRef| {
            let member = self.program.find_member(*called, name);
            class.is_some() && member.map(|(holder, _)| holder) == class
        };
        match callee {
            Value::Function(id, scope) => {
                if (*id, *scope) == (file.id, body) {
                    return Some(true);
                }
                // Overloads and other definitions of the same method are called by the same keywords.
                let other = self.program.file(*id)?;
                if *id == file.id && other.scopes.owner(*scope) == file.scopes.owner(body) {
                    return Some(true);
                }
                let related = class.is_some_and(|class| {
                    class_of_method(&other.scopes, *scope)
                        .is_some_and(|found| self.are_related(class, ClassRef::Read(*id, found)))
                });
                let same = matches!(other.scopes.kind(*scope), Some(ScopeKind::Function(node)) if node.name.as_str() == name);
                Some(related && same)
            }
            Value::Class(called) => Some(matches!(name, "__init__" | "__new__") && holds(called)),
            Value::Instance(called) => Some(name == "__call__" && holds(called)),
            Value::Module(_) | Value::Super(_) | Value::Standard => Some(false),
            Value::Unknown => None,
        }
    }

    /// The new keyword must not be taken in the same call.
    fn check_new_keyword(&self, file: &Rc<File<'s>>, call: &ast::ExprCall) -> Step<()> {
        match keyword_of(call, self.new) {
            Some(name) => {
                let reason = format!("a call passes `{}` already", self.new);
                self.refused_at(reason, file, name.range)
            }
            None => Ok(()),
        }
    }

    /// `partial(function, name=...)` passes the keyword on; other callers of a function value are not known to.
    fn rename_partial(
        &mut self,
        other: &Rc<File<'s>>,
        scope: ScopeId,
        call: &ast::ExprCall,
        file: &Rc<File<'s>>,
        body: ScopeId,
    ) -> Step<()> {
        let hands_on = call.arguments.args.iter().any(|argument| {
            matches!(self.program.value(other, scope, argument), Value::Function(id, found) if (id, found) == (file.id, body))
        });
        let Some(named) = keyword_of(call, self.old).filter(|_| hands_on) else {
            return Ok(());
        };
        if is_named(&call.func, "partial partialmethod") {
            return self.edit(other, named.range);
        }
        let reason = format!("a call hands the function on together with `{}`", self.old);
        self.refused_at(reason, other, named.range)
    }

    /// Methods that override this one are called by the same keywords.
    fn rename_in_overrides(&mut self, class: ClassRef, name: &str) -> Step<()> {
        let family = self.family(class, name);
        for other in family.own {
            let ClassRef::Read(id, _) = other else {
                continue;
            };
            let file = self.program.file(id).ok_or(Stop::Nothing)?;
            for member in self.program.own_members(other, name) {
                let MemberKind::Body(BindingKind::Function(node)) = member.kind else {
                    continue;
                };
                let symbol = file
                    .scopes
                    .scope_of_node(node.range)
                    .and_then(|body| file.scopes.named_in(body, self.old));
                if let Some(symbol) = symbol.filter(|_| node.parameters.includes(self.old)) {
                    self.rename_symbol(&file, symbol)?;
                }
            }
        }
        Ok(())
    }
}
