//! What an expression stands for, as far as reading shows it: a module, a class, an instance, a function.
//!
//! Anything that is not certain is [`Value::Unknown`]; nothing is guessed from names.

use ruff_python_ast::{self as ast, Expr};

use super::members::{
    self, MemberKind, Receiver, is_decorated, is_named, is_only_decorated, last_name,
};
use super::program::{File, Program};
use super::resolved::{ClassRef, FileId, Module, Value};
use crate::scope::{BindingKind, ScopeId, ScopeKind, SymbolId};
use crate::stdlib;

/// How many steps from one expression to the next are followed.
const FARTHEST: u32 = 24;

impl<'s> Program<'s> {
    /// What an expression in a scope of a file stands for.
    pub(crate) fn value(&self, file: &File<'s>, scope: ScopeId, expression: &Expr) -> Value {
        self.value_at(file, scope, expression, 0)
    }

    fn value_at(&self, file: &File<'s>, scope: ScopeId, expression: &Expr, steps: u32) -> Value {
        if steps > FARTHEST {
            return Value::Unknown;
        }
        match expression {
            Expr::Name(name) => self.value_of_name(file, scope, name, steps),
            Expr::Attribute(node) => {
                let value = self.value_at(file, scope, &node.value, steps + 1);
                self.attribute_at(file.id, &value, node.attr.as_str(), steps + 1)
            }
            Expr::Call(node) => self.value_of_call(file, scope, node, steps),
            Expr::Subscript(node) => match self.value_at(file, scope, &node.value, steps + 1) {
                Value::Class(class) => Value::Class(class),
                _ => Value::Unknown,
            },
            Expr::Named(node) => self.value_at(file, scope, &node.value, steps + 1),
            Expr::If(node) => {
                let one = self.value_at(file, scope, &node.body, steps + 1);
                if one == self.value_at(file, scope, &node.orelse, steps + 1) {
                    one
                } else {
                    Value::Unknown
                }
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
            _ => Value::Unknown,
        }
    }

    fn value_of_name(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        name: &ast::ExprName,
        steps: u32,
    ) -> Value {
        if let Some(receiver) = members::receiver_named(&file.scopes, scope, name.id.as_str()) {
            return match receiver {
                Receiver::Instance(class) => Value::Instance(ClassRef::Read(file.id, class)),
                Receiver::Class(class) => Value::Class(ClassRef::Read(file.id, class)),
            };
        }
        match file.scopes.resolve_name(scope, &name.id) {
            Some(symbol) => self.value_of_symbol_at(file, symbol, steps + 1),
            None => self.value_outside(file, name.id.as_str(), steps),
        }
    }

    /// A name that the file does not bind: from a star import, or a builtin.
    fn value_outside(&self, file: &File<'s>, name: &str, steps: u32) -> Value {
        for star in file.scopes.stars() {
            let module = self.imported_module(file, star);
            match self.member_at(file.id, &module, name, steps + 1) {
                Value::Unknown => {}
                found => return found,
            }
        }
        // Importing a submodule anywhere makes it a name of its package.
        if let Some(inner) = self.submodule_of(file, name) {
            return Value::Module(inner);
        }
        if file.scopes.stars().next().is_none() && crate::scope::known::is_builtin(name) {
            return standard("builtins", name);
        }
        Value::Unknown
    }

    fn submodule_of(&self, file: &File<'s>, name: &str) -> Option<Module> {
        self.submodule(file.id, &Module::File(file.id), name)
    }

    fn value_of_symbol_at(&self, file: &File<'s>, symbol: SymbolId, steps: u32) -> Value {
        if let Some(known) = self.known_values.borrow().get(&(file.id, symbol)) {
            return known.clone();
        }
        if steps > FARTHEST {
            return Value::Unknown;
        }
        let value = self.agreed_value(file, symbol, steps);
        self.known_values
            .borrow_mut()
            .insert((file.id, symbol), value.clone());
        value
    }

    fn agreed_value(&self, file: &File<'s>, symbol: SymbolId, steps: u32) -> Value {
        let Some(scope) = file.scopes.scope_of(symbol) else {
            return Value::Unknown;
        };
        let mut agreed = None;
        for binding in file.scopes.bindings_of(symbol) {
            let value = match binding.kind {
                BindingKind::Declared => continue,
                kind => self.value_of_binding(file, scope, kind, steps + 1),
            };
            // Of several `def`s of one name (overloads, property setters) the last one counts.
            let replaces = matches!(
                (&agreed, &value),
                (Some(Value::Function(..)), Value::Function(..))
            );
            match &agreed {
                Some(before) if *before != value && !replaces => return Value::Unknown,
                _ => agreed = Some(value),
            }
        }
        agreed.unwrap_or(Value::Unknown)
    }

    fn value_of_binding(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        kind: BindingKind<'s>,
        steps: u32,
    ) -> Value {
        match kind {
            BindingKind::Class(node) => match file.scopes.scope_of_node(node.range) {
                Some(scope) => Value::Class(ClassRef::Read(file.id, scope)),
                None => Value::Unknown,
            },
            BindingKind::Function(node) => match file.scopes.scope_of_node(node.range) {
                Some(scope) => Value::Function(file.id, scope),
                None => Value::Unknown,
            },
            BindingKind::Import(import) => match file.scopes.imports.get(import as usize) {
                Some(import) => self.value_of_import(file, import, steps + 1),
                None => Value::Unknown,
            },
            BindingKind::Assigned(value) => self.value_at(file, scope, value, steps + 1),
            BindingKind::Annotated(annotation, _) => {
                self.annotated_at(file, scope, annotation, steps + 1)
            }
            BindingKind::Parameter(parameter) => match parameter.annotation.as_deref() {
                // Annotations are looked up around the function, not inside it.
                Some(annotation) => {
                    let outer = file.scopes.parent(scope).unwrap_or(0);
                    self.annotated_at(file, outer, annotation, steps + 1)
                }
                None => Value::Unknown,
            },
            BindingKind::With(expression) => self.entered(file, scope, expression, steps + 1),
            BindingKind::Except(Some(kind)) => match self.value_at(file, scope, kind, steps + 1) {
                Value::Class(class) => Value::Instance(class),
                _ => Value::Unknown,
            },
            BindingKind::Except(None)
            | BindingKind::Type
            | BindingKind::Declared
            | BindingKind::Other => Value::Unknown,
        }
    }

    /// What `with value as name` gives: an instance whose `__enter__` returns `self`.
    fn entered(&self, file: &File<'s>, scope: ScopeId, expression: &Expr, steps: u32) -> Value {
        let value = self.value_at(file, scope, expression, steps + 1);
        let Value::Instance(class @ ClassRef::Read(..)) = value else {
            return Value::Unknown;
        };
        let Some((holder, member)) = self.find_member(class, "__enter__") else {
            return Value::Unknown;
        };
        let (MemberKind::Body(BindingKind::Function(function)), ClassRef::Read(..)) =
            (member.kind, holder)
        else {
            return Value::Unknown;
        };
        let returns_self = function.body.iter().any(|statement| {
            matches!(statement, ast::Stmt::Return(node) if node.value.as_deref().is_some_and(|value| matches!(value, Expr::Name(name) if name.id.as_str() == "self")))
        });
        if returns_self {
            Value::Instance(class)
        } else {
            Value::Unknown
        }
    }

    /// What an import binds its name to.
    pub(crate) fn value_of_import(
        &self,
        file: &File<'s>,
        import: &crate::scope::Import<'s>,
        steps: u32,
    ) -> Value {
        let module = self.imported_module(file, import);
        match import.member {
            Some(member) => self.member_at(file.id, &module, member, steps + 1),
            None if import.alias.is_some() => Value::Module(module),
            None => {
                let top = import.module.split('.').next().unwrap_or_default();
                Value::Module(self.module(file.id, top, false))
            }
        }
    }

    /// What `module.name` stands for.
    fn member_at(&self, from: FileId, module: &Module, name: &str, steps: u32) -> Value {
        if steps > FARTHEST {
            return Value::Unknown;
        }
        let found = match module {
            Module::File(id) => match self.file(*id) {
                Some(file) => match file.scopes.module_symbol(name) {
                    Some(symbol) => self.value_of_symbol_at(&file, symbol, steps + 1),
                    None => file
                        .scopes
                        .stars()
                        .map(|star| self.imported_module(&file, star))
                        .map(|inner| self.member_at(*id, &inner, name, steps + 1))
                        .find(|value| *value != Value::Unknown)
                        .unwrap_or(Value::Unknown),
                },
                None => Value::Unknown,
            },
            Module::Standard(standard_module) if stdlib::has_member(standard_module, name) => {
                standard(standard_module, name)
            }
            Module::Standard(_) | Module::Folder(_) | Module::Opaque | Module::Unknown => {
                Value::Unknown
            }
        };
        if found == Value::Unknown
            && let Some(inner) = self.submodule(from, module, name)
        {
            let shadowed = matches!(module, Module::File(id) if self.file(*id).is_some_and(|file| file.scopes.module_symbol(name).is_some()));
            if !shadowed {
                return Value::Module(inner);
            }
        }
        found
    }

    fn attribute_at(&self, from: FileId, value: &Value, name: &str, steps: u32) -> Value {
        match value {
            Value::Module(module) => self.member_at(from, module, name, steps),
            Value::Class(class) => self.class_attribute(*class, name, false, steps),
            Value::Instance(class) => self.class_attribute(*class, name, true, steps),
            Value::Super(class) => {
                let lineage = self.lineage(*class);
                let bases = lineage.classes.iter().skip(1);
                bases
                    .filter_map(|base| self.own_attribute(*base, name, true, steps))
                    .next()
                    .unwrap_or(Value::Unknown)
            }
            Value::Function(..) | Value::Standard | Value::Unknown => Value::Unknown,
        }
    }

    fn class_attribute(&self, class: ClassRef, name: &str, on_instance: bool, steps: u32) -> Value {
        if steps > FARTHEST {
            return Value::Unknown;
        }
        let lineage = self.lineage(class);
        let mut holders = lineage.classes.iter();
        holders
            .find_map(|holder| self.own_attribute(*holder, name, on_instance, steps))
            .unwrap_or(Value::Unknown)
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
            let value = match member.kind {
                MemberKind::Slot => continue,
                MemberKind::Body(BindingKind::Function(node))
                    if on_instance && is_property(node) =>
                {
                    self.returned(&file, scope, node, steps + 1)
                }
                MemberKind::Body(kind) => self.value_of_binding(&file, scope, kind, steps + 1),
                MemberKind::Set(kind, set_in) => {
                    self.value_of_binding(&file, set_in, kind, steps + 1)
                }
            };
            // `self.x = None` first and a value later is the usual way to say that it has that type.
            let nothing = matches!(
                member.kind,
                MemberKind::Set(BindingKind::Assigned(Expr::NoneLiteral(_)), _)
                    | MemberKind::Body(BindingKind::Assigned(Expr::NoneLiteral(_)))
            );
            let replaces = matches!(
                (&agreed, &value),
                (Some(Value::Function(..)), Value::Function(..))
            );
            match &agreed {
                _ if nothing => {}
                Some(before) if *before != value && !replaces => return Some(Value::Unknown),
                _ => agreed = Some(value),
            }
        }
        Some(agreed.unwrap_or(Value::Unknown))
    }

    fn value_of_call(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        call: &ast::ExprCall,
        steps: u32,
    ) -> Value {
        if let Expr::Name(name) = call.func.as_ref()
            && file.scopes.resolve_name(scope, &name.id).is_none()
        {
            let arguments = &call.arguments.args;
            match name.id.as_str() {
                "super" => return self.value_of_super(file, scope),
                "type" if arguments.len() == 1 => {
                    return match self.value_at(file, scope, &arguments[0], steps + 1) {
                        Value::Instance(class) => Value::Class(class),
                        _ => Value::Unknown,
                    };
                }
                _ => {}
            }
        }
        match self.value_at(file, scope, &call.func, steps + 1) {
            // `dataclasses.replace` and the functions of `copy` give what they are given.
            Value::Standard if is_named(&call.func, "replace copy deepcopy") => {
                match call.arguments.args.first() {
                    Some(first) => self.value_at(file, scope, first, steps + 1),
                    None => Value::Unknown,
                }
            }
            Value::Class(class) => Value::Instance(class),
            Value::Function(id, body) => match self.file(id) {
                Some(other) => match other.scopes.kind(body) {
                    Some(ScopeKind::Function(node)) => {
                        let outer = other.scopes.parent(body).unwrap_or(0);
                        self.returned(&other, outer, node, steps + 1)
                    }
                    _ => Value::Unknown,
                },
                None => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    fn value_of_super(&self, file: &File<'s>, scope: ScopeId) -> Value {
        match file.scopes.class_around(scope) {
            Some(class) => Value::Super(ClassRef::Read(file.id, class)),
            None => Value::Unknown,
        }
    }

    /// What a call of a function gives, from its return annotation; decorators that change it make it unknown.
    fn returned(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        node: &ast::StmtFunctionDef,
        steps: u32,
    ) -> Value {
        const PLAIN: &str = "property staticmethod classmethod cached_property abstractmethod override lru_cache cache overload \
            setter";
        let plain = is_only_decorated(&node.decorator_list, PLAIN);
        match &node.returns {
            Some(annotation) if plain && !node.is_async => {
                self.annotated_at(file, scope, annotation, steps + 1)
            }
            _ => Value::Unknown,
        }
    }

    /// An instance of what an annotation names.
    fn annotated_at(
        &self,
        file: &File<'s>,
        scope: ScopeId,
        annotation: &Expr,
        steps: u32,
    ) -> Value {
        if steps > FARTHEST {
            return Value::Unknown;
        }
        match annotation {
            Expr::StringLiteral(text) => {
                match ruff_python_parser::parse_expression(text.value.to_str()) {
                    Ok(parsed) => self.annotated_at(file, scope, parsed.expr(), steps + 1),
                    Err(_) => Value::Unknown,
                }
            }
            Expr::BinOp(node) if node.op == ast::Operator::BitOr => {
                match (node.left.as_ref(), node.right.as_ref()) {
                    (Expr::NoneLiteral(_), one) | (one, Expr::NoneLiteral(_)) => {
                        self.annotated_at(file, scope, one, steps + 1)
                    }
                    _ => Value::Unknown,
                }
            }
            Expr::Subscript(node) => match last_name(&node.value) {
                Some("Optional" | "Final" | "ClassVar" | "Annotated") => {
                    let inner = match node.slice.as_ref() {
                        Expr::Tuple(tuple) => tuple.elts.first(),
                        other => Some(other),
                    };
                    inner.map_or(Value::Unknown, |inner| {
                        self.annotated_at(file, scope, inner, steps + 1)
                    })
                }
                Some("type" | "Type") => {
                    match self.annotated_at(file, scope, &node.slice, steps + 1) {
                        Value::Instance(class) => Value::Class(class),
                        _ => Value::Unknown,
                    }
                }
                _ => self.annotated_at(file, scope, &node.value, steps + 1),
            },
            Expr::Name(name) if matches!(name.id.as_str(), "Self") => {
                match file.scopes.class_around(scope) {
                    Some(class) => Value::Instance(ClassRef::Read(file.id, class)),
                    None => Value::Unknown,
                }
            }
            Expr::Name(_) | Expr::Attribute(_) => {
                match self.value_at(file, scope, annotation, steps + 1) {
                    // These say nothing about what the value has.
                    Value::Class(
                        ClassRef::Standard("typing" | "typing_extensions", _)
                        | ClassRef::Standard("builtins", "object"),
                    ) => Value::Unknown,
                    Value::Class(class) => Value::Instance(class),
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }
}

pub(crate) fn is_property(node: &ast::StmtFunctionDef) -> bool {
    let names = "property cached_property setter getter deleter";
    is_decorated(&node.decorator_list, names)
}

fn builtin_instance(name: &'static str) -> Value {
    Value::Instance(ClassRef::Standard("builtins", name))
}

fn standard(module: &'static str, name: &str) -> Value {
    match stdlib::class(module, name) {
        Some((module, class)) => Value::Class(ClassRef::Standard(module, class.name)),
        None => match stdlib::module(&format!("{module}.{name}")) {
            Some(inner) => Value::Module(Module::Standard(inner)),
            None => Value::Standard,
        },
    }
}
