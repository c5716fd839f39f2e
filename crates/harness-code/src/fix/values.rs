//! What an expression stands for, as far as reading shows it: a module, a class, an instance, a function.
//!
//! Anything that is not certain is [`Value::Unknown`], inside this file `None`. Nothing is guessed from names.

use ruff_python_ast::{self as ast, Expr};

use super::members::{
    self, MemberKind, Receiver, is_decorated, is_named, is_only_decorated, last_name,
};
use super::program::{File, Program};
use super::resolved::{ClassRef, FileId, ResolvedModule, Value};
use crate::scope::{BindingKind, ImportBinding, ScopeId, ScopeKind, SymbolId, known};
use crate::stdlib;

/// How many steps from one expression to the next are followed.
const FARTHEST: u32 = 24;

impl<'s> Program<'s> {
    /// What an expression in a scope of a file stands for.
    pub(crate) fn value(&self, file: &File<'s>, scope: ScopeId, expression: &Expr) -> Value {
        let value = self.value_at(file, scope, expression, 0);
        value.unwrap_or(Value::Unknown)
    }

    fn value_at(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        expression: &Expr,
        steps: u32,
    ) -> Option<Value> {
        if steps > FARTHEST {
            return None;
        }
        match expression {
            Expr::Name(name) => self.value_of_name(file, scope, name, steps),
            Expr::Attribute(node) => {
                let value = self.value_at(file, scope, &node.value, steps + 1)?;
                self.attribute_at(file.id, &value, node.attr.as_str(), steps + 1)
            }
            Expr::Call(node) => self.value_of_call(file, scope, node, steps),
            Expr::Subscript(node) => {
                let value = self.value_at(file, scope, &node.value, steps + 1)?;
                matches!(value, Value::Class(_)).then_some(value)
            }
            Expr::Named(node) => self.value_at(file, scope, &node.value, steps + 1),
            Expr::If(node) => {
                let one = self.value_at(file, scope, &node.body, steps + 1)?;
                let other = self.value_at(file, scope, &node.orelse, steps + 1)?;
                (one == other).then_some(one)
            }
            Expr::StringLiteral(_) | Expr::FString(_) => builtin_instance("str"),
            Expr::BytesLiteral(_) => builtin_instance("bytes"),
            Expr::List(_) | Expr::ListComp(_) => builtin_instance("list"),
            Expr::Dict(_) | Expr::DictComp(_) => builtin_instance("dict"),
            Expr::Set(_) | Expr::SetComp(_) => builtin_instance("set"),
            Expr::Tuple(_) => builtin_instance("tuple"),
            Expr::NumberLiteral(node) => match node.value {
                ast::Number::Int(_) => builtin_instance("int"),
                ast::Number::Float(_) => builtin_instance("float"),
                ast::Number::Complex { .. } => builtin_instance("complex"),
            },
            Expr::BooleanLiteral(_) => builtin_instance("bool"),
            _ => None,
        }
    }

    fn value_of_name(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        name: &ast::ExprName,
        steps: u32,
    ) -> Option<Value> {
        if let Some(receiver) = members::receiver_named(&file.scopes, scope, name.id.as_str()) {
            return Some(match receiver {
                Receiver::Instance(class) => Value::Instance(ClassRef::Read(file.id, class)),
                Receiver::Class(class) => Value::Class(ClassRef::Read(file.id, class)),
            });
        }
        match file.scopes.resolve_name(scope, &name.id) {
            Some(symbol) => self.value_of_symbol(file, symbol, steps + 1),
            None => self.value_outside(file, name.id.as_str(), steps),
        }
    }

    /// A name that the file does not bind: from a star import, or a builtin.
    fn value_outside(&self, file: &File<'s>, name: &str, steps: u32) -> Option<Value> {
        if let Some(found) = self.brought_by_stars(file, name, steps) {
            return Some(found);
        }
        // Importing a submodule anywhere makes it a name of its package.
        if let Some(inner) = self.submodule(file.id, &ResolvedModule::File(file.id), name) {
            return Some(Value::Module(inner));
        }
        let is_builtin = file.scopes.stars().next().is_none() && known::is_builtin(name);
        is_builtin.then(|| standard("builtins", name))
    }

    fn brought_by_stars(&self, file: &File<'s>, name: &str, steps: u32) -> Option<Value> {
        file.scopes.stars().find_map(|star| {
            let module = self.imported_module(file, star);
            self.member_at(file.id, &module, name, steps + 1)
        })
    }

    fn value_of_symbol(&self, file: &File<'s>, symbol: SymbolId, steps: u32) -> Option<Value> {
        if let Some(known) = self.known_values.borrow().get(&(file.id, symbol)) {
            return known.clone();
        }
        if steps > FARTHEST {
            return None;
        }
        let value = self.agreed_value(file, symbol, steps);
        self.known_values
            .borrow_mut()
            .insert((file.id, symbol), value.clone());
        value
    }

    fn agreed_value(&self, file: &File<'s>, symbol: SymbolId, steps: u32) -> Option<Value> {
        let scope = file.scopes.scope_of(symbol)?;
        let mut agreed = None;
        for binding in file.scopes.bindings_of(symbol) {
            if !matches!(binding.kind, BindingKind::Declared) {
                let value = self.value_of_binding(file, scope, binding.kind, steps + 1)?;
                agreed = Some(agree(agreed, value)?);
            }
        }
        agreed
    }

    fn value_of_binding(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        kind: BindingKind<'s>,
        steps: u32,
    ) -> Option<Value> {
        match kind {
            BindingKind::Class(node) => {
                let body = file.scopes.scope_of_node(node.range)?;
                Some(Value::Class(ClassRef::Read(file.id, body)))
            }
            BindingKind::Function(node) => {
                let body = file.scopes.scope_of_node(node.range)?;
                Some(Value::Function(file.id, body))
            }
            BindingKind::Import(import) => {
                let import = file.scopes.imports.get(import as usize)?;
                self.value_of_import(file, import, steps + 1)
            }
            BindingKind::Assigned(value) => self.value_at(file, scope, value, steps + 1),
            BindingKind::Annotated(annotation, _) => {
                self.annotated_at(file, scope, annotation, steps + 1)
            }
            BindingKind::Parameter(parameter) => {
                // Annotations are looked up around the function, not inside it.
                let outer = file.scopes.parent(scope).unwrap_or(0);
                self.annotated_at(file, outer, parameter.annotation.as_deref()?, steps + 1)
            }
            BindingKind::With(expression) => self.entered(file, scope, expression, steps + 1),
            BindingKind::Except(kind) => {
                instance_of(&self.value_at(file, scope, kind?, steps + 1)?)
            }
            BindingKind::Type | BindingKind::Declared | BindingKind::Other => None,
        }
    }

    /// What `with value as name` gives: an instance whose `__enter__` returns `self`.
    fn entered(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        expression: &Expr,
        steps: u32,
    ) -> Option<Value> {
        let value = self.value_at(file, scope, expression, steps + 1)?;
        let Value::Instance(class @ ClassRef::Read(..)) = value else {
            return None;
        };
        let (_, member) = self.find_member(class, "__enter__")?;
        let MemberKind::Body(BindingKind::Function(function)) = member.kind else {
            return None;
        };
        let returns_self = function.body.iter().any(|statement| {
            matches!(statement, ast::Stmt::Return(node) if node.value.as_deref().is_some_and(|value| matches!(value, Expr::Name(name) if name.id.as_str() == "self")))
        });
        returns_self.then_some(value)
    }

    /// What an import binds its name to.
    fn value_of_import(
        &self,
        file: &File<'s>,
        import: &ImportBinding<'s>,
        steps: u32,
    ) -> Option<Value> {
        let module = self.imported_module(file, import);
        match import.member {
            Some(member) => self.member_at(file.id, &module, member, steps + 1),
            None if import.alias.is_some() => Some(Value::Module(module)),
            None => {
                let top = import.module.split('.').next().unwrap_or_default();
                Some(Value::Module(self.module(file.id, top, false)))
            }
        }
    }

    /// What `module.name` stands for.
    fn member_at(
        &self,
        from: FileId,
        module: &ResolvedModule,
        name: &str,
        steps: u32,
    ) -> Option<Value> {
        if steps > FARTHEST {
            return None;
        }
        let mut is_bound = false;
        let found = match module {
            ResolvedModule::File(id) => self.file(*id).and_then(|file| {
                let symbol = file.scopes.module_symbol(name);
                is_bound = symbol.is_some();
                match symbol {
                    Some(symbol) => self.value_of_symbol(&file, symbol, steps + 1),
                    None => self.brought_by_stars(&file, name, steps),
                }
            }),
            ResolvedModule::Standard(module) => {
                stdlib::has_member(module, name).then(|| standard(module, name))
            }
            ResolvedModule::Folder(_) | ResolvedModule::Opaque | ResolvedModule::Unknown => None,
        };
        found.or_else(|| {
            let inner = self.submodule(from, module, name)?;
            (!is_bound).then_some(Value::Module(inner))
        })
    }

    fn attribute_at(&self, from: FileId, value: &Value, name: &str, steps: u32) -> Option<Value> {
        let (class, on_instance, skipped) = match value {
            Value::Module(module) => return self.member_at(from, module, name, steps),
            Value::Class(class) => (class, false, 0),
            Value::Instance(class) => (class, true, 0),
            Value::Super(class) => (class, true, 1),
            Value::Function(..) | Value::Standard | Value::Unknown => return None,
        };
        if steps > FARTHEST {
            return None;
        }
        let lineage = self.lineage(*class);
        let mut holders = lineage.classes.iter().skip(skipped);
        let found =
            holders.find_map(|holder| self.own_attribute(*holder, name, on_instance, steps));
        found.filter(|value| *value != Value::Unknown)
    }

    /// What a class itself gives an attribute; `None` when it does not define it.
    fn own_attribute(
        &self,
        class: ClassRef,
        name: &str,
        on_instance: bool,
        steps: u32,
    ) -> Option<Value> {
        let ClassRef::Read(id, scope) = class else {
            return None;
        };
        let file = self.file(id)?;
        let mut agreed: Option<Value> = None;
        for member in file.members().classes.get(&scope)?.members.get(name)? {
            let (kind, scope) = match member.kind {
                MemberKind::Slot => continue,
                MemberKind::Body(kind) => (kind, scope),
                MemberKind::Set(kind, set_in) => (kind, set_in),
            };
            let value = match kind {
                // `self.x = None` first and a value later is the usual way to say that it has that type.
                BindingKind::Assigned(Expr::NoneLiteral(_)) => continue,
                BindingKind::Function(node) if on_instance && is_property(node) => {
                    self.returned(&file, scope, node, steps + 1)
                }
                kind => self.value_of_binding(&file, scope, kind, steps + 1),
            };
            let Some(value) = value.and_then(|value| agree(agreed, value)) else {
                return Some(Value::Unknown);
            };
            agreed = Some(value);
        }
        Some(agreed.unwrap_or(Value::Unknown))
    }

    fn value_of_call(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        call: &ast::ExprCall,
        steps: u32,
    ) -> Option<Value> {
        if let Expr::Name(name) = call.func.as_ref()
            && file.scopes.resolve_name(scope, &name.id).is_none()
        {
            match (name.id.as_str(), &*call.arguments.args) {
                ("super", _) => {
                    let class = file.scopes.class_around(scope)?;
                    return Some(Value::Super(ClassRef::Read(file.id, class)));
                }
                ("type", [of]) => {
                    return class_of(&self.value_at(file, scope, of, steps + 1)?);
                }
                _ => {}
            }
        }
        match self.value_at(file, scope, &call.func, steps + 1)? {
            // `dataclasses.replace` and the functions of `copy` give what they are given.
            Value::Standard if is_named(&call.func, "replace copy deepcopy") => {
                self.value_at(file, scope, call.arguments.args.first()?, steps + 1)
            }
            Value::Class(class) => Some(Value::Instance(class)),
            Value::Function(id, body) => {
                let other = self.file(id)?;
                let Some(ScopeKind::Function(node)) = other.scopes.kind(body) else {
                    return None;
                };
                let outer = other.scopes.parent(body).unwrap_or(0);
                self.returned(&other, outer, node, steps + 1)
            }
            _ => None,
        }
    }

    /// What a call of a function gives, from its return annotation; decorators that change it make it unknown.
    fn returned(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        node: &ast::StmtFunctionDef,
        steps: u32,
    ) -> Option<Value> {
        const PLAIN: &str = "property staticmethod classmethod cached_property abstractmethod override lru_cache cache overload \
            setter";
        let is_plain = is_only_decorated(&node.decorator_list, PLAIN) && !node.is_async;
        let annotation = node.returns.as_deref().filter(|_| is_plain)?;
        self.annotated_at(file, scope, annotation, steps + 1)
    }

    /// An instance of what an annotation names.
    fn annotated_at(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        annotation: &Expr,
        steps: u32,
    ) -> Option<Value> {
        if steps > FARTHEST {
            return None;
        }
        let annotated = |inner: &Expr| self.annotated_at(file, scope, inner, steps + 1);
        match annotation {
            Expr::StringLiteral(text) => {
                let parsed = ruff_python_parser::parse_expression(text.value.to_str()).ok()?;
                annotated(parsed.expr())
            }
            Expr::BinOp(node) if node.op == ast::Operator::BitOr => {
                match (node.left.as_ref(), node.right.as_ref()) {
                    (Expr::NoneLiteral(_), one) | (one, Expr::NoneLiteral(_)) => annotated(one),
                    _ => None,
                }
            }
            Expr::Subscript(node) => match last_name(&node.value) {
                Some("Optional" | "Final" | "ClassVar" | "Annotated") => {
                    match node.slice.as_ref() {
                        Expr::Tuple(tuple) => annotated(tuple.elts.first()?),
                        other => annotated(other),
                    }
                }
                Some("type" | "Type") => class_of(&annotated(&node.slice)?),
                _ => annotated(&node.value),
            },
            Expr::Name(name) if name.id.as_str() == "Self" => {
                let class = file.scopes.class_around(scope)?;
                Some(Value::Instance(ClassRef::Read(file.id, class)))
            }
            Expr::Name(_) | Expr::Attribute(_) => {
                match self.value_at(file, scope, annotation, steps + 1)? {
                    // These say nothing about what the value has.
                    Value::Class(
                        ClassRef::Standard("typing" | "typing_extensions", _)
                        | ClassRef::Standard("builtins", "object"),
                    ) => None,
                    value => instance_of(&value),
                }
            }
            _ => None,
        }
    }
}

/// What a name stands for that is bound to these two, one after the other.
fn agree(before: Option<Value>, value: Value) -> Option<Value> {
    match (&before, &value) {
        // Of several `def`s of one name (overloads, property setters) the last one counts.
        (None, _) | (Some(Value::Function(..)), Value::Function(..)) => Some(value),
        (Some(before), value) if before == value => Some(value.clone()),
        (Some(_), _) => None,
    }
}

fn instance_of(value: &Value) -> Option<Value> {
    match value {
        Value::Class(class) => Some(Value::Instance(*class)),
        _ => None,
    }
}

fn class_of(value: &Value) -> Option<Value> {
    match value {
        Value::Instance(class) => Some(Value::Class(*class)),
        _ => None,
    }
}

pub(crate) fn is_property(node: &ast::StmtFunctionDef) -> bool {
    let names = "property cached_property setter getter deleter";
    is_decorated(&node.decorator_list, names)
}

fn builtin_instance(name: &'static str) -> Option<Value> {
    Some(Value::Instance(ClassRef::Standard("builtins", name)))
}

fn standard(module: &'static str, name: &str) -> Value {
    match stdlib::class(module, name) {
        Some((module, class)) => Value::Class(ClassRef::Standard(module, class.name)),
        None => match stdlib::module(&format!("{module}.{name}")) {
            Some(inner) => Value::Module(ResolvedModule::Standard(inner)),
            None => Value::Standard,
        },
    }
}
