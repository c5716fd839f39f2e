//! What each expression reads and binds.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_interpolated_string_element};
use ruff_python_ast::{self as ast, Expr};

use super::build::{Builder, Deferred};
use super::{AttributeUse, BindingKind, CallUse, ScopeKind};

impl<'a> Builder<'a> {
    pub(super) fn expression(&mut self, expression: &'a Expr) {
        // Most expressions are leaves; they need no count of how deep the walk is.
        match expression {
            Expr::Name(node) => match node.ctx {
                ast::ExprContext::Store => {
                    self.bind(&node.id, node.range, BindingKind::Other);
                }
                ast::ExprContext::Load | ast::ExprContext::Del => self.load(&node.id, node.range),
                // The parser's recovery: an empty name stands for a missing expression.
                ast::ExprContext::Invalid => {}
            },
            Expr::StringLiteral(node) => {
                if self.in_annotation && !self.in_literal {
                    self.leave_for_later(node);
                }
            }
            Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::IpyEscapeCommand(_) => {}
            _ => self.deeper(|walk| walk.inner(expression)),
        }
    }

    fn inner(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Attribute(node) => {
                if self.full() {
                    let (scope, guard) = (self.scope, self.guard);
                    self.out
                        .attributes
                        .push(AttributeUse { node, scope, guard });
                }
                self.expression(&node.value);
            }
            Expr::Call(node) => self.call(node),
            Expr::BinOp(_) => self.binary(expression),
            Expr::Subscript(node) => self.subscript(node),
            Expr::Lambda(node) => self.lambda(node),
            Expr::Named(node) => self.walrus(node),
            Expr::ListComp(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::SetComp(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::Generator(node) => self.comprehension(&node.generators, &[&node.elt]),
            Expr::DictComp(node) => match node.key.as_deref() {
                Some(key) => self.comprehension(&node.generators, &[key, &node.value]),
                None => self.comprehension(&node.generators, &[&node.value]),
            },
            _ => walk_expr(self, expression),
        }
    }

    /// Long chains of operators nest to the left; they are walked without going deeper for each.
    fn binary(&mut self, expression: &'a Expr) {
        let mut rights = Vec::new();
        let mut left = expression;
        while let Expr::BinOp(node) = left {
            rights.push(node.right.as_ref());
            left = &node.left;
        }
        self.expression(left);
        rights
            .into_iter()
            .rev()
            .for_each(|right| self.expression(right));
    }

    fn lambda(&mut self, node: &'a ast::ExprLambda) {
        let outer = self.scope;
        if let Some(parameters) = node.parameters.as_deref() {
            self.defaults(parameters);
        }
        let inner = self.open(ScopeKind::Lambda(node), None);
        self.scope = inner;
        if let Some(parameters) = node.parameters.as_deref() {
            self.parameters(parameters);
        }
        self.scope = outer;
        self.deferred.push_back(Deferred::Lambda(node, inner));
    }

    /// `:=` binds in the scope around the comprehensions it stands in.
    fn walrus(&mut self, node: &'a ast::ExprNamed) {
        self.expression(&node.value);
        let Expr::Name(name) = node.target.as_ref() else {
            return;
        };
        let outer = self
            .out
            .around(self.scope)
            .find(|(_, kind)| !matches!(kind, ScopeKind::Comprehension));
        let scope = outer.map_or(0, |(scope, _)| scope);
        let kind = BindingKind::Assigned(&node.value);
        self.bind_in(scope, &name.id, name.range, kind);
    }

    fn comprehension(&mut self, generators: &'a [ast::Comprehension], elements: &[&'a Expr]) {
        let outer = self.scope;
        // The first iterable is evaluated outside.
        if let Some(first) = generators.first() {
            self.expression(&first.iter);
        }
        self.scope = self.open(ScopeKind::Comprehension, None);
        for (place, generator) in generators.iter().enumerate() {
            if place > 0 {
                self.expression(&generator.iter);
            }
            self.target(&generator.target, BindingKind::Other);
            generator.ifs.iter().for_each(|test| self.expression(test));
        }
        elements.iter().for_each(|element| self.expression(element));
        self.scope = outer;
    }

    fn call(&mut self, node: &'a ast::ExprCall) {
        if self.full() {
            let scope = self.scope;
            self.out.calls.push(CallUse { node, scope });
        }
        self.note_dynamic(node);
        self.expression(&node.func);
        if self.typed_call(node) {
            return;
        }
        let annotation = std::mem::take(&mut self.in_annotation);
        self.visit_arguments(&node.arguments);
        self.in_annotation = annotation;
    }

    /// Marks calls that can bind names of the module behind the walk's back.
    fn note_dynamic(&mut self, node: &'a ast::ExprCall) {
        let Expr::Name(name) = node.func.as_ref() else {
            return;
        };
        let arguments = &node.arguments.args;
        let binds = match name.id.as_str() {
            // With a namespace of its own `exec` does not touch the module, unless that is `globals()`.
            "exec" => {
                arguments.len() < 2 || is_call_of(&arguments[1], &["globals", "vars", "locals"])
            }
            "execfile" => true,
            "globals" => true,
            "vars" => arguments.is_empty() && self.scope == 0,
            "locals" => self.scope == 0,
            // On anything but a plain variable it may be a module; on one when the file handles modules as values.
            "setattr" => {
                let plain = arguments
                    .first()
                    .is_some_and(|first| matches!(first, Expr::Name(_)));
                self.sets_by_name |= plain;
                arguments
                    .first()
                    .is_some_and(|first| matches!(first, Expr::Subscript(_) | Expr::Call(_)))
            }
            _ => false,
        };
        self.out.dynamic.module_names |= binds;
    }
}

impl<'a> Visitor<'a> for Builder<'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        self.expression(expression);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        self.pattern(pattern);
    }

    fn visit_interpolated_string_element(&mut self, element: &'a ast::InterpolatedStringElement) {
        // Strings inside are values, whatever stands around them.
        let annotation = std::mem::take(&mut self.in_annotation);
        walk_interpolated_string_element(self, element);
        self.in_annotation = annotation;
    }
}

fn is_call_of(expression: &Expr, names: &[&str]) -> bool {
    let Expr::Call(node) = expression else {
        return false;
    };
    matches!(node.func.as_ref(), Expr::Name(name) if names.contains(&name.id.as_str()))
}
