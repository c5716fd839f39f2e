//! Keyword arguments that a known function does not take.

use ruff_python_ast as ast;

use super::members::{MemberKind, last_name};
use super::misspelled::{Finding, Search, Verdict};
use super::program::File;
use super::values::{ClassRef, Value};
use crate::scope::{BindingKind, ScopeKind};
use crate::spelling::{Closest, closest_name};

/// Finds keyword arguments that a call cannot take and what they were meant to be.
pub(crate) fn findings<'s>(search: &Search<'_, 's>, file: &File<'s>) -> Vec<Finding> {
    let mut found = Vec::new();
    for call in &file.scopes.calls {
        let keywords = &call.node.arguments.keywords;
        if keywords.iter().all(|keyword| keyword.arg.is_none()) {
            continue;
        }
        let Some(taken) = parameters_of(search, file, call.scope, call.node) else {
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
            let verdict = match closest_name(name.as_str(), free) {
                Closest::One(right) => Verdict::Fix {
                    right: right.to_string(),
                    edits: vec![(name.range.into(), right.to_string())],
                },
                Closest::Several(names) => {
                    Verdict::Several(names.into_iter().map(str::to_string).collect())
                }
                Closest::None => continue,
            };
            found.push(Finding {
                file: file.id,
                span: name.range.into(),
                wrong: name.to_string(),
                verdict,
                kind: "misspelled_name",
            });
        }
    }
    found
}

/// The parameters that a call can name; `None` when the callee is not known or takes any.
fn parameters_of<'s>(
    search: &Search<'_, 's>,
    file: &File<'s>,
    scope: u32,
    call: &ast::ExprCall,
) -> Option<Vec<String>> {
    let program = search.program;
    let (id, body) = match program.value(file, scope, &call.func) {
        Value::Function(id, body) => (id, body),
        Value::Class(class @ ClassRef::Read(..)) => {
            let lineage = program.lineage(class);
            let closed = !lineage.open
                && lineage
                    .classes
                    .iter()
                    .all(|class| matches!(class, ClassRef::Read(..)));
            let (ClassRef::Read(id, _), member) =
                program.find_member(class, "__init__").filter(|_| closed)?
            else {
                return None;
            };
            if program.find_member(class, "__new__").is_some()
                || is_made_specially(program, &lineage.classes)
            {
                return None;
            }
            let MemberKind::Body(BindingKind::Function(node)) = member.kind else {
                return None;
            };
            (id, program.file(id)?.scopes.scope_of_node(node.range)?)
        }
        _ => return None,
    };
    let other = program.file(id)?;
    let ScopeKind::Function(node) = other.scopes.scopes.get(body as usize)?.kind else {
        return None;
    };
    let owner = other.scopes.scopes.get(body as usize)?.owner?;
    let defined_once = other.scopes.bindings_of(owner).count() == 1;
    let plain = node.decorator_list.iter().all(|decorator| {
        matches!(
            last_name(&decorator.expression),
            Some("staticmethod" | "classmethod" | "abstractmethod" | "override")
        )
    });
    if !defined_once || !plain || node.parameters.kwarg.is_some() {
        return None;
    }
    let named = node
        .parameters
        .args
        .iter()
        .chain(&node.parameters.kwonlyargs);
    Some(
        named
            .map(|parameter| parameter.parameter.name.to_string())
            .collect(),
    )
}

fn is_made_specially(program: &super::program::Program<'_>, classes: &[ClassRef]) -> bool {
    classes.iter().any(|class| match class {
        ClassRef::Read(id, scope) => program.file(*id).is_none_or(|file| {
            file.members()
                .classes
                .get(scope)
                .is_none_or(|class| class.dynamic || !class.node.decorator_list.is_empty())
        }),
        ClassRef::Standard(..) => true,
    })
}
