//! The walk over one definition: every piece with the role it plays.

use ruff_python_ast::visitor::{
    Visitor, walk_comprehension, walk_elif_else_clause, walk_except_handler, walk_expr, walk_stmt,
};
use ruff_python_ast::{Comprehension, Decorator, ElifElseClause, ExceptHandler, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

use crate::mutate::piece::Found;
use crate::mutate::role::{Block, ExpressionRole};
use crate::mutate::sight::Sight;
use crate::mutate::{Mutation, expressions, lines, statements};

/// Walks the definition and returns what is suspected of its pieces.
pub(super) fn look(content: &str, module: &[Stmt], path: &[&Stmt]) -> Vec<Mutation> {
    let Some(definition) = path.last() else {
        return Vec::new();
    };
    let sight = Sight::of(content, module, path);
    let mut walk = Walk {
        found: Found::new(content, &sight),
        roles: FxHashMap::default(),
        loops: 0,
    };
    walk.visit_stmt(definition);
    walk.found.mutations
}

struct Walk<'a> {
    found: Found<'a>,
    roles: FxHashMap<TextRange, ExpressionRole>,
    loops: u32,
}

impl<'a> Walk<'a> {
    fn role(&mut self, expr: &Expr, role: ExpressionRole) {
        self.roles.insert(expr.range(), role);
    }

    fn block(&mut self, body: &'a [Stmt], of_loop: bool, of_function: bool) {
        if body.is_empty() {
            return;
        }
        let block = Block {
            in_loop: self.loops > 0,
            of_loop,
            of_function,
        };
        lines::body(body, block, &mut self.found);
        for stmt in body {
            self.visit_stmt(stmt);
        }
    }
}

impl<'a> Visitor<'a> for Walk<'a> {
    fn visit_decorator(&mut self, _: &'a Decorator) {}

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        statements::suspect(stmt, &mut self.found);
        match stmt {
            Stmt::FunctionDef(function) => {
                lines::function(function, &mut self.found);
                let outer = std::mem::take(&mut self.loops);
                self.visit_parameters(&function.parameters);
                self.block(&function.body, false, true);
                self.loops = outer;
                return;
            }
            Stmt::ClassDef(class) => return self.block(&class.body, false, false),
            Stmt::If(inner) => self.role(&inner.test, ExpressionRole::Condition),
            Stmt::While(inner) => {
                self.role(&inner.test, ExpressionRole::Condition);
                self.visit_expr(&inner.test);
                self.loops += 1;
                self.block(&inner.body, true, false);
                self.loops -= 1;
                return self.block(&inner.orelse, false, false);
            }
            Stmt::For(inner) => {
                self.role(&inner.iter, ExpressionRole::Iterated);
                self.visit_expr(&inner.iter);
                self.loops += 1;
                self.block(&inner.body, true, false);
                self.loops -= 1;
                return self.block(&inner.orelse, false, false);
            }
            Stmt::Return(inner) => {
                if let Some(value) = &inner.value {
                    self.role(value, ExpressionRole::Result);
                }
            }
            Stmt::Assign(inner) => self.role(&inner.value, ExpressionRole::Assigned),
            Stmt::AugAssign(inner) => self.role(&inner.value, ExpressionRole::Assigned),
            Stmt::AnnAssign(inner) => {
                if let Some(value) = &inner.value {
                    self.role(value, ExpressionRole::Assigned);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_body(&mut self, body: &'a [Stmt]) {
        self.block(body, false, false);
    }

    fn visit_elif_else_clause(&mut self, clause: &'a ElifElseClause) {
        if let Some(test) = &clause.test {
            self.role(test, ExpressionRole::Condition);
        }
        walk_elif_else_clause(self, clause);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(type_) = &inner.type_ {
            statements::caught(type_, &mut self.found);
        }
        walk_except_handler(self, handler);
    }

    fn visit_comprehension(&mut self, part: &'a Comprehension) {
        expressions::comprehension(part, &mut self.found);
        self.role(&part.iter, ExpressionRole::Iterated);
        for test in &part.ifs {
            self.role(test, ExpressionRole::Condition);
        }
        walk_comprehension(self, part);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let role = self
            .roles
            .remove(&expr.range())
            .unwrap_or(ExpressionRole::Other);
        match expr {
            Expr::BoolOp(inner) => {
                for value in &inner.values {
                    self.role(value, ExpressionRole::Clause);
                }
            }
            Expr::UnaryOp(inner) if inner.op == ruff_python_ast::UnaryOp::Not => {
                self.role(&inner.operand, ExpressionRole::Clause);
            }
            Expr::If(inner) => {
                self.role(&inner.test, ExpressionRole::Condition);
                self.role(&inner.body, role);
                self.role(&inner.orelse, role);
            }
            Expr::Subscript(inner) => self.role(&inner.slice, ExpressionRole::Index),
            Expr::Slice(inner) => {
                for bound in [&inner.lower, &inner.upper].into_iter().flatten() {
                    self.role(bound, ExpressionRole::Bound);
                }
            }
            Expr::Call(inner) => {
                self.role(&inner.func, ExpressionRole::Callee);
                for argument in &inner.arguments.args {
                    self.role(argument, ExpressionRole::Argument);
                }
                for keyword in &inner.arguments.keywords {
                    self.role(&keyword.value, ExpressionRole::Argument);
                }
            }
            Expr::Compare(inner) => {
                self.role(&inner.left, ExpressionRole::Compared);
                for side in &inner.comparators {
                    self.role(side, ExpressionRole::Compared);
                }
            }
            Expr::Yield(inner) => {
                if let Some(value) = &inner.value {
                    self.role(value, ExpressionRole::Result);
                }
            }
            _ => {}
        }
        expressions::suspect(expr, role, &mut self.found);
        walk_expr(self, expr);
    }
}
