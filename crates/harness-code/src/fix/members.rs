//! What each class of a file defines: names of its body, attributes set on `self`, slots.

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::TextRange;
use rustc_hash::FxHashMap;

use crate::scope::{BindingKind, ScopeId, ScopeKind, Scopes};
use crate::text::is_among;

/// How a class gets a member.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemberKind<'s> {
    /// A name bound in the body of the class.
    Body(BindingKind<'s>),
    /// An attribute set on `self` or `cls` inside this scope.
    Set(BindingKind<'s>, ScopeId),
    /// A string in `__slots__`; the span is the string's, quotes included.
    Slot,
}

/// One place that gives a class a member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'s> {
    pub(crate) span: TextRange,
    pub(crate) kind: MemberKind<'s>,
}

/// One class.
#[derive(Debug)]
pub(crate) struct ClassMembers<'s> {
    pub(crate) node: &'s ast::StmtClassDef,
    pub(crate) members: FxHashMap<&'s str, Vec<Member<'s>>>,
    /// Whether the class answers for attributes that nothing sets, or is made by something unknown.
    pub(crate) dynamic: bool,
    /// Whether its methods set attributes by computed names.
    pub(crate) sets_by_name: bool,
}

/// Whether a method's first parameter is the instance or the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// `self`.
    Instance(ScopeId),
    /// `cls`.
    Class(ScopeId),
}

/// The classes of one file, by the scope of their body.
#[derive(Debug)]
pub(crate) struct Members<'s> {
    pub(crate) classes: FxHashMap<ScopeId, ClassMembers<'s>>,
}

impl<'s> Members<'s> {
    pub(crate) fn of(scopes: &Scopes<'s>) -> Members<'s> {
        let mut classes: FxHashMap<ScopeId, ClassMembers<'s>> = FxHashMap::default();
        for (id, scope) in (0u32..).zip(&scopes.scopes) {
            if let ScopeKind::Class(node) = scope.kind {
                let dynamic = has_unknown_maker(node);
                classes.insert(
                    id,
                    ClassMembers {
                        node,
                        members: FxHashMap::default(),
                        dynamic,
                        sets_by_name: false,
                    },
                );
            }
        }
        for binding in &scopes.bindings {
            let Some(symbol) = scopes.symbols.get(binding.symbol as usize) else {
                continue;
            };
            let Some(class) = classes.get_mut(&symbol.scope) else {
                continue;
            };
            let member = Member {
                span: binding.span,
                kind: MemberKind::Body(binding.kind),
            };
            let name = scopes.name(symbol.name);
            class.members.entry(name).or_default().push(member);
            match (name, binding.kind) {
                (
                    "__slots__",
                    BindingKind::Assigned(value) | BindingKind::Annotated(_, Some(value)),
                ) => slots(class, value),
                ("__getattr__" | "__getattribute__", _) => class.dynamic = true,
                _ => {}
            }
        }
        for store in &scopes.stores {
            let Some(receiver) = receiver(scopes, store.scope, &store.node.value) else {
                continue;
            };
            let (Receiver::Instance(class) | Receiver::Class(class)) = receiver;
            if let Some(class) = classes.get_mut(&class) {
                let member = Member {
                    span: store.node.attr.range,
                    kind: MemberKind::Set(store.kind, store.scope),
                };
                class
                    .members
                    .entry(store.node.attr.as_str())
                    .or_default()
                    .push(member);
            }
        }
        mark_dynamic(scopes, &mut classes);
        Members { classes }
    }

    /// Whether some class of the file defines a member.
    pub(crate) fn defines(&self, name: &str) -> bool {
        let mut classes = self.classes.values();
        classes.any(|class| class.members.contains_key(name))
    }
}

/// Finds `setattr(self, ...)`, `vars(self)` and `self.__dict__`: attributes set by computed names.
fn mark_dynamic(scopes: &Scopes<'_>, classes: &mut FxHashMap<ScopeId, ClassMembers<'_>>) {
    let mut mark = |scope: ScopeId, target: &Expr| {
        if let Some(Receiver::Instance(class) | Receiver::Class(class)) =
            receiver(scopes, scope, target)
            && let Some(class) = classes.get_mut(&class)
        {
            class.sets_by_name = true;
        }
    };
    for call in &scopes.calls {
        let sets = match call.node.func.as_ref() {
            Expr::Name(name) => matches!(name.id.as_str(), "setattr" | "vars"),
            Expr::Attribute(node) => node.attr.as_str() == "__setattr__",
            _ => false,
        };
        if sets && let Some(first) = call.node.arguments.args.first() {
            mark(call.scope, first);
        }
    }
    for attribute in &scopes.attributes {
        if attribute.node.attr.as_str() == "__dict__" {
            mark(attribute.scope, &attribute.node.value);
        }
    }
}

/// Class decorators that make fields of what the body of the class annotates.
pub(crate) const FIELD_DECORATORS: &str = "dataclass define attrs frozen s";

/// Other class decorators that add no attributes of their own choosing.
const PLAIN_DECORATORS: &str = "total_ordering final runtime_checkable unique";

/// Whether a decorator or metaclass that is not known takes part in making the class.
fn has_unknown_maker(node: &ast::StmtClassDef) -> bool {
    let is_plain = |decorator: &ast::Decorator| {
        [FIELD_DECORATORS, PLAIN_DECORATORS]
            .iter()
            .any(|names| is_named(&decorator.expression, names))
    };
    let made = node.keywords().iter().any(|keyword| {
        let metaclass = keyword.arg.as_ref().is_none_or(|name| name == "metaclass");
        metaclass && !is_named(&keyword.value, "ABCMeta EnumMeta EnumType type")
    });
    made || !node.decorator_list.iter().all(is_plain)
}

/// The last part of `a.b.c`, `a.b.c(...)` or `a.b.c[...]`.
pub(crate) fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(node) => Some(node.id.as_str()),
        Expr::Attribute(node) => Some(node.attr.as_str()),
        Expr::Call(node) => last_name(&node.func),
        Expr::Subscript(node) => last_name(&node.value),
        _ => None,
    }
}

/// Whether the last part of an expression is one of these names, which stand in one text.
pub(crate) fn is_named(expression: &Expr, names: &str) -> bool {
    last_name(expression).is_some_and(|name| is_among(names, name))
}

/// Whether one of the decorators has one of these names.
pub(crate) fn is_decorated(decorators: &[ast::Decorator], names: &str) -> bool {
    let mut decorators = decorators.iter();
    decorators.any(|decorator| is_named(&decorator.expression, names))
}

/// Whether every decorator has one of these names.
pub(crate) fn is_only_decorated(decorators: &[ast::Decorator], names: &str) -> bool {
    let mut decorators = decorators.iter();
    decorators.all(|decorator| is_named(&decorator.expression, names))
}

/// The name of the keyword argument of a call that is called so.
pub(crate) fn keyword_of<'c>(call: &'c ast::ExprCall, name: &str) -> Option<&'c ast::Identifier> {
    call.arguments.find_keyword(name)?.arg.as_ref()
}

fn slots<'s>(class: &mut ClassMembers<'s>, value: &'s Expr) {
    let strings: Vec<&'s ast::ExprStringLiteral> = match value {
        Expr::StringLiteral(text) => vec![text],
        Expr::List(ast::ExprList { elts, .. })
        | Expr::Tuple(ast::ExprTuple { elts, .. })
        | Expr::Set(ast::ExprSet { elts, .. }) => elts
            .iter()
            .filter_map(Expr::as_string_literal_expr)
            .collect(),
        Expr::Dict(node) => node
            .items
            .iter()
            .filter_map(|item| item.key.as_ref()?.as_string_literal_expr())
            .collect(),
        _ => Vec::new(),
    };
    for text in strings {
        let member = Member {
            span: text.range,
            kind: MemberKind::Slot,
        };
        class
            .members
            .entry(text.value.to_str())
            .or_default()
            .push(member);
    }
}

/// What an expression is when it is the first parameter of a method.
pub(crate) fn receiver(scopes: &Scopes<'_>, scope: ScopeId, expression: &Expr) -> Option<Receiver> {
    let Expr::Name(name) = expression else {
        return None;
    };
    receiver_named(scopes, scope, name.id.as_str())
}

/// What a name is when it is the first parameter of a method.
pub(crate) fn receiver_named(scopes: &Scopes<'_>, scope: ScopeId, name: &str) -> Option<Receiver> {
    let symbol = scopes.resolve_name(scope, name)?;
    let mut bindings = scopes.bindings_of(symbol);
    let binding = bindings.next()?;
    // A `self` that is set again is not known to be the instance any more.
    if bindings.next().is_some() {
        return None;
    }
    let BindingKind::Parameter(parameter) = binding.kind else {
        return None;
    };
    let holder = scopes.scope_of(symbol)?;
    let ScopeKind::Function(function) = scopes.kind(holder)? else {
        return None;
    };
    let first = function
        .parameters
        .posonlyargs
        .first()
        .or_else(|| function.parameters.args.first())?;
    if first.parameter.range != parameter.range {
        return None;
    }
    let class = class_of_method(scopes, holder)?;
    match method_kind(function) {
        MethodKind::Instance => Some(Receiver::Instance(class)),
        MethodKind::Class => Some(Receiver::Class(class)),
        MethodKind::Static => None,
    }
}

/// The class whose body directly holds the function of this scope.
pub(crate) fn class_of_method(scopes: &Scopes<'_>, function: ScopeId) -> Option<ScopeId> {
    let around = scopes.around(function).skip(1);
    let mut holders = around.filter(|(_, kind)| !matches!(kind, ScopeKind::TypeParameters));
    let (parent, kind) = holders.next()?;
    matches!(kind, ScopeKind::Class(_)).then_some(parent)
}

/// How a function in a class is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodKind {
    Instance,
    Class,
    Static,
}

pub(crate) fn method_kind(function: &ast::StmtFunctionDef) -> MethodKind {
    let decorated = |wanted: &str| is_decorated(&function.decorator_list, wanted);
    if decorated("staticmethod") {
        MethodKind::Static
    } else if decorated("classmethod")
        || matches!(
            function.name.as_str(),
            "__new__" | "__init_subclass__" | "__class_getitem__"
        )
    {
        MethodKind::Class
    } else {
        MethodKind::Instance
    }
}
