//! Keyword arguments that a known function does not take.

use ruff_python_ast::{self as ast, helpers::map_callable};

use super::finding::{Repaired, Search, UnresolvedName, Verdict};
use super::members::{ClassMembers, MemberKind, is_only_decorated, last_name};
use super::program::{File, Program};
use super::resolved::{ClassRef, FileId, Value};
use crate::scope::{BindingKind, ScopeId, ScopeKind};
use crate::spelling::closest_name;

/// Finds keyword arguments that a call cannot take and what they were meant to be.
pub(crate) fn findings<'s>(
    search: &Search<'_, 's>,
    file: &File<'s>,
    _: &Repaired,
) -> Vec<UnresolvedName> {
    let mut found = Vec::new();
    for call in &file.scopes.calls {
        let keywords = &call.node.arguments.keywords;
        let concerns = |keyword: &ast::Keyword| {
            let name = keyword.arg.as_ref();
            name.is_some_and(|name| search.request.concerns(name.as_str()))
        };
        if !keywords.iter().any(concerns) {
            continue;
        }
        let Some((function, taken)) = parameters_of(search, file, call.scope, call.node) else {
            continue;
        };
        let passed: Vec<&str> = keywords
            .iter()
            .filter_map(|keyword| Some(keyword.arg.as_ref()?.as_str()))
            .collect();
        for name in keywords.iter().filter_map(|keyword| keyword.arg.as_ref()) {
            if taken.iter().any(|parameter| parameter == name.as_str()) {
                continue;
            }
            let free = taken
                .iter()
                .map(String::as_str)
                .filter(|parameter| !passed.contains(parameter));
            let near = closest_name(name.as_str(), free);
            let Some(verdict) = Verdict::of(&near, name.range.into()) else {
                continue;
            };
            // A method that overrides this one may take it.
            if search.takes_somewhere(&function, name.as_str()) {
                continue;
            }
            found.push(UnresolvedName::misspelled(
                file,
                name.range.into(),
                name,
                verdict,
            ));
        }
    }
    found
}

/// The function that a call reaches and the parameters that it can name; `None` when the callee is not known or takes any.
fn parameters_of<'s>(
    search: &Search<'_, 's>,
    file: &File<'s>,
    scope: u32,
    call: &ast::ExprCall,
) -> Option<(String, Vec<String>)> {
    let program = search.program;
    // `partial(function, name=...)` passes the keyword on.
    let called = match (last_name(&call.func), call.arguments.args.first()) {
        (Some("partial" | "partialmethod"), Some(first)) => first,
        _ => call.func.as_ref(),
    };
    let (id, body) = match program.value(file, scope, called) {
        Value::Function(id, body) => (id, body),
        Value::Class(class @ ClassRef::Read(..)) => match maker(program, class)? {
            Maker::Function(id, body) => (id, body),
            Maker::Fields(names) => return Some(("__init__".to_string(), names)),
        },
        _ => return None,
    };
    let other = program.file(id)?;
    let ScopeKind::Function(node) = other.scopes.kind(body)? else {
        return None;
    };
    let owner = other.scopes.owner(body)?;
    let defined_once = other.scopes.bindings_of(owner).count() == 1;
    let names = "staticmethod classmethod abstractmethod override";
    let plain = is_only_decorated(&node.decorator_list, names);
    if !defined_once || !plain || node.parameters.kwarg.is_some() {
        return None;
    }
    let named = node
        .parameters
        .args
        .iter()
        .chain(&node.parameters.kwonlyargs);
    let names = named.map(|parameter| parameter.parameter.name.to_string());
    Some((node.name.to_string(), names.collect()))
}

/// How a class takes the arguments of its call.
enum Maker {
    /// By its own `__init__`: the file and the scope of its body.
    Function(FileId, ScopeId),
    /// By its annotated fields, as records do.
    Fields(Vec<String>),
}

fn maker(program: &Program<'_>, class: ClassRef) -> Option<Maker> {
    let lineage = program.lineage(class);
    if lineage.open || program.find_member(class, "__new__").is_some() {
        return None;
    }
    if let Some((ClassRef::Read(id, _), member)) = program.find_member(class, "__init__") {
        let plain = lineage.classes.iter().all(|class| match class {
            ClassRef::Read(..) => is_plain(program, *class),
            ClassRef::Standard(module, name) => leaves_arguments_alone(module, name),
        });
        let MemberKind::Body(BindingKind::Function(node)) = member.kind else {
            return None;
        };
        let body = program.file(id)?.scopes.scope_of_node(node.range)?;
        return plain.then_some(Maker::Function(id, body));
    }
    let mut names = Vec::new();
    for class in &lineage.classes {
        names.extend(fields(program, *class)?);
    }
    Some(Maker::Fields(names))
}

/// Whether a class is made as `class` makes it: no decorator, no metaclass of its own.
fn is_plain(program: &Program<'_>, class: ClassRef) -> bool {
    let is_plain =
        |class: &ClassMembers<'_>| !class.dynamic && class.node.decorator_list.is_empty();
    program.ask_class(class, is_plain).unwrap_or_default()
}

/// Standard classes whose `__new__` takes whatever the `__init__` of a subclass takes.
fn leaves_arguments_alone(module: &str, name: &str) -> bool {
    let exception = module == "builtins"
        && (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Warning"));
    exception || matches!(module, "abc" | "typing" | "collections.abc" | "contextlib")
}

/// The fields that a dataclass or named tuple takes by keyword; `None` when the class is neither.
fn fields(program: &Program<'_>, class: ClassRef) -> Option<Vec<String>> {
    let ClassRef::Read(id, scope) = class else {
        return None;
    };
    let file = program.file(id)?;
    let class = file.members().classes.get(&scope)?;
    let outer = file.scopes.parent(scope).unwrap_or(0);
    let standard = |expression: &ast::Expr, wanted: &str| {
        last_name(expression) == Some(wanted)
            && matches!(
                program.value(&file, outer, map_callable(expression)),
                Value::Standard | Value::Class(ClassRef::Standard(..))
            )
    };
    let decorators = &class.node.decorator_list;
    let dataclass = matches!(decorators.as_slice(), [one] if standard(&one.expression, "dataclass") && !turns_off(&one.expression));
    let bases = class.node.bases();
    let tuple = decorators.is_empty() && matches!(bases, [base] if standard(base, "NamedTuple"));
    if !dataclass && !tuple {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for (name, members) in &class.members {
        let taken = members.iter().any(|member| match member.kind {
            MemberKind::Body(BindingKind::Annotated(annotation, value)) => {
                last_name(annotation) != Some("ClassVar") && !value.is_some_and(turns_off)
            }
            _ => false,
        });
        if taken {
            names.push((*name).to_string());
        }
    }
    Some(names)
}

/// Whether a call says `init=...`: then what it makes may not be taken by keyword.
fn turns_off(expression: &ast::Expr) -> bool {
    let ast::Expr::Call(call) = expression else {
        return false;
    };
    let mut keywords = call.arguments.keywords.iter();
    keywords.any(|keyword| keyword.arg.as_ref().is_none_or(|name| name == "init"))
}
