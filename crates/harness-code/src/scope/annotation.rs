//! Annotations: when they are evaluated, which strings in them are code, and what those strings name.

use ruff_python_ast::{self as ast, Expr};
use ruff_python_parser::typing::{ParsedAnnotation, parse_type_annotation};

use super::Scopes;
use super::build::{Builder, Deferred, Pending};

/// A parsed string annotation; `None` where the string is no expression.
#[derive(Debug)]
pub(super) struct ParsedText(Option<ParsedAnnotation>);

/// Parses the strings that were left for later.
pub(super) fn parse(content: &str, scopes: &Scopes<'_>) -> Vec<ParsedText> {
    let parse_one =
        |pending: &Pending<'_>| ParsedText(parse_type_annotation(pending.string, content).ok());
    scopes.pending.iter().map(parse_one).collect()
}

impl<'a> Scopes<'a> {
    /// Looks at the string annotations, now that they are parsed.
    pub(super) fn with_annotations(mut self, parsed: &'a [ParsedText]) -> Scopes<'a> {
        let pending = std::mem::take(&mut self.pending);
        let mut builder = Builder::resume(self);
        for (pending, parsed) in pending.iter().zip(parsed) {
            let ParsedText(Some(annotation)) = parsed else {
                continue;
            };
            builder.scope = pending.scope;
            builder.guard = pending.guard;
            builder.exact = annotation.kind().is_simple();
            builder.in_annotation = true;
            builder.unevaluated = true;
            builder.expression(annotation.expression());
        }
        builder.in_annotation = false;
        builder.unevaluated = false;
        builder.run_deferred();
        builder.finish()
    }
}

impl<'a> Builder<'a> {
    /// An annotation: now, or after everything else when it is never evaluated.
    pub(super) fn annotation(&mut self, annotation: &'a Expr) {
        if self.postponed {
            let scope = self.scope;
            self.deferred
                .push_back(Deferred::Annotation(annotation, scope));
            return;
        }
        let before = std::mem::replace(&mut self.in_annotation, true);
        self.expression(annotation);
        self.in_annotation = before;
    }

    pub(super) fn subscript(&mut self, node: &'a ast::ExprSubscript) {
        self.expression(&node.value);
        if self.is_typing_member(&node.value, "Literal") {
            let before = std::mem::replace(&mut self.in_literal, true);
            self.expression(&node.slice);
            self.in_literal = before;
        } else if self.is_typing_member(&node.value, "Annotated") {
            self.annotated(&node.slice);
        } else {
            let typed = self.in_annotation || self.typing_member(&node.value).is_some();
            let before = std::mem::replace(&mut self.in_annotation, typed);
            self.expression(&node.slice);
            self.in_annotation = before;
        }
    }

    /// Only the first argument of `Annotated[...]` is a type.
    fn annotated(&mut self, slice: &'a Expr) {
        let before = std::mem::replace(&mut self.in_annotation, true);
        match slice {
            Expr::Tuple(node) => {
                for (place, element) in node.elts.iter().enumerate() {
                    self.in_annotation = place == 0;
                    self.expression(element);
                }
            }
            other => self.expression(other),
        }
        self.in_annotation = before;
    }

    /// Calls of `typing` whose strings are types: `cast`, `TypeVar`, `NewType`, `NamedTuple`, `TypedDict`.
    /// Returns whether the arguments were walked.
    pub(super) fn typed_call(&mut self, node: &'a ast::ExprCall) -> bool {
        let Some(member) = self.typing_member(&node.func) else {
            return false;
        };
        let (skipped, last_typed) = match member {
            "cast" => (0, 1),
            "TypeVar" => (1, usize::MAX),
            "NewType" => (1, 2),
            "NamedTuple" | "TypedDict" => (1, usize::MAX),
            _ => return false,
        };
        let before = self.in_annotation;
        for (place, argument) in node.arguments.args.iter().enumerate() {
            let typed = place >= skipped && place < last_typed;
            match (member, argument) {
                ("NamedTuple" | "TypedDict", argument) if typed => self.fields(argument),
                _ => {
                    self.in_annotation = typed;
                    self.expression(argument);
                }
            }
        }
        for keyword in &node.arguments.keywords {
            let named = keyword.arg.as_ref().map_or("", |name| name.as_str());
            self.in_annotation = match member {
                "TypeVar" => matches!(named, "bound" | "default"),
                "TypedDict" => named != "total",
                _ => matches!(named, "typ" | "tp"),
            };
            self.expression(&keyword.value);
        }
        self.in_annotation = before;
        true
    }

    /// The fields of a functional `NamedTuple` or `TypedDict`: the second of each pair is a type.
    fn fields(&mut self, fields: &'a Expr) {
        match fields {
            Expr::Dict(node) => {
                for item in &node.items {
                    if let Some(key) = &item.key {
                        self.in_annotation = false;
                        self.expression(key);
                    }
                    self.in_annotation = true;
                    self.expression(&item.value);
                }
            }
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                for pair in elts {
                    let Expr::Tuple(pair) = pair else {
                        self.in_annotation = false;
                        self.expression(pair);
                        continue;
                    };
                    for (place, part) in pair.elts.iter().enumerate() {
                        self.in_annotation = place == 1;
                        self.expression(part);
                    }
                }
            }
            other => {
                self.in_annotation = false;
                self.expression(other);
            }
        }
    }

    pub(super) fn is_typing_member(&mut self, expression: &'a Expr, wanted: &str) -> bool {
        self.typing_member(expression)
            .is_some_and(|member| member == wanted)
    }

    /// The name that an expression has in `typing`, when it is one of its members.
    fn typing_member(&mut self, expression: &'a Expr) -> Option<&'a str> {
        // Most files import nothing from `typing` that matters here; they pay for one look.
        if self.out.typing.is_empty() {
            return None;
        }
        match expression {
            Expr::Name(name) => {
                let id = self.intern(&name.id);
                let symbol = self.bound_symbol(id)?;
                self.out
                    .typing
                    .get(&symbol)
                    .copied()
                    .filter(|member| !member.is_empty())
            }
            Expr::Attribute(node) => {
                let Expr::Name(name) = node.value.as_ref() else {
                    return None;
                };
                let id = self.intern(&name.id);
                let symbol = self.bound_symbol(id)?;
                self.out
                    .typing
                    .get(&symbol)
                    .filter(|member| member.is_empty())
                    .map(|_| node.attr.as_str())
            }
            _ => None,
        }
    }
}
