//! The walk over one definition: every piece with the role it plays, and where what is found is kept.

use std::ops::Range;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    Comprehension, Decorator, ElifElseClause, ExceptHandler, Expr, Stmt, StmtFunctionDef,
};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

use crate::mutate::sight::Sight;
use crate::mutate::{Family, Mutation, bytes};

/// What an expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Decides: `if`, `while`, a filter, a ternary.
    Condition,
    /// One part of a condition.
    Clause,
    /// An index.
    Index,
    /// A bound of a slice.
    Bound,
    /// An argument of a call.
    Argument,
    /// What is returned or yielded.
    Result,
    /// What a loop goes over.
    Iterated,
    /// What a name is set to.
    Assigned,
    /// A side of a comparison.
    Compared,
    /// What is called.
    Callee,
    /// Anything else.
    Other,
}

/// One piece of the definition.
pub(super) enum Node<'a> {
    /// An expression that is read.
    Expr(&'a Expr, Role),
    /// A statement.
    Stmt(&'a Stmt),
    /// Statements in a row.
    Body(&'a [Stmt], Block),
    /// The whole function.
    Function(&'a StmtFunctionDef),
    /// A handler of exceptions.
    Handler(&'a ExceptHandler),
    /// The `for` part of a comprehension.
    Loop(&'a Comprehension),
}

/// Where statements stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Inside of a loop of this function.
    pub(super) in_loop: bool,
    /// Directly the body of a loop.
    pub(super) of_loop: bool,
    /// Directly the body of the function.
    pub(super) of_function: bool,
}

/// What was found so far, and what is in sight.
pub(super) struct Found<'a> {
    pub(super) content: &'a str,
    pub(super) sight: &'a Sight,
    lines: Vec<usize>,
    mutations: Vec<Mutation>,
}

impl<'a> Found<'a> {
    /// Adds a change.
    pub(super) fn add(
        &mut self,
        kind: &'static str,
        prior: f32,
        range: Range<usize>,
        text: impl Into<String>,
    ) {
        let line = self.line(range.start);
        self.mutations.push(Mutation {
            kind,
            range,
            text: text.into(),
            line,
            prior,
            guts: false,
        });
    }

    /// Adds a change that takes code away or makes a result constant.
    pub(super) fn gut(
        &mut self,
        kind: &'static str,
        prior: f32,
        range: Range<usize>,
        text: impl Into<String>,
    ) {
        self.add(kind, prior, range, text);
        if let Some(last) = self.mutations.last_mut() {
            last.guts = true;
        }
    }

    /// Returns the line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        self.lines.partition_point(|start| *start <= at) as u32
    }

    /// Returns the code of a node.
    pub(super) fn code(&self, node: &impl Ranged) -> &'a str {
        self.content.get(bytes(node)).unwrap_or_default()
    }

    /// Returns the code of an expression so that it can stand beside an operator.
    pub(super) fn atom(&self, expr: &Expr) -> String {
        let code = self.code(expr);
        let whole = matches!(
            expr,
            Expr::Name(_)
                | Expr::Attribute(_)
                | Expr::Call(_)
                | Expr::Subscript(_)
                | Expr::NumberLiteral(_)
                | Expr::StringLiteral(_)
                | Expr::BooleanLiteral(_)
                | Expr::NoneLiteral(_)
                | Expr::List(_)
                | Expr::Dict(_)
                | Expr::Set(_)
                | Expr::ListComp(_)
                | Expr::DictComp(_)
                | Expr::SetComp(_)
        );
        if whole {
            code.to_owned()
        } else {
            format!("({code})")
        }
    }

    /// Returns where an operator stands between two expressions.
    pub(super) fn between(
        &self,
        left: &impl Ranged,
        right: &impl Ranged,
        operator: &str,
    ) -> Option<Range<usize>> {
        let (start, end) = (bytes(left).end, bytes(right).start);
        let at = start + self.content.get(start..end)?.find(operator)?;
        Some(at..at + operator.len())
    }

    /// Returns the whole lines of a statement that has its lines for itself, and its indentation.
    pub(super) fn whole_lines(&self, stmt: &Stmt) -> Option<(Range<usize>, &'a str)> {
        let span = bytes(stmt);
        let start = self
            .content
            .get(..span.start)?
            .rfind('\n')
            .map_or(0, |at| at + 1);
        let indent = self.content.get(start..span.start)?;
        if !indent.chars().all(|c| c == ' ' || c == '\t') {
            return None;
        }
        let rest = self.content.get(span.end..)?;
        let line_end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let tail = rest.get(..line_end)?.trim();
        let alone = tail.is_empty() || tail.starts_with('#');
        alone.then_some((start..span.end + line_end, indent))
    }

    /// Returns how a line ends in this file.
    pub(super) fn newline(&self) -> &'static str {
        if self.content.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }
}

/// Returns the statements that lead to the definition with this span, outermost first.
pub(super) fn path_to<'a>(body: &'a [Stmt], span: &Range<usize>) -> Option<Vec<&'a Stmt>> {
    for stmt in body {
        let range = bytes(stmt);
        if range.start > span.start || range.end < span.end {
            continue;
        }
        let is_definition = matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
        if is_definition && range == *span {
            return Some(vec![stmt]);
        }
        let mut inner = Vec::new();
        bodies(stmt, &mut |body| inner.push(body));
        if let Some(mut path) = inner.into_iter().find_map(|body| path_to(body, span)) {
            path.insert(0, stmt);
            return Some(path);
        }
    }
    None
}

/// Calls `each` with every block directly inside of a statement.
pub(super) fn bodies<'a>(stmt: &'a Stmt, each: &mut dyn FnMut(&'a [Stmt])) {
    match stmt {
        Stmt::FunctionDef(inner) => each(&inner.body),
        Stmt::ClassDef(inner) => each(&inner.body),
        Stmt::If(inner) => {
            each(&inner.body);
            inner
                .elif_else_clauses
                .iter()
                .for_each(|clause| each(&clause.body));
        }
        Stmt::For(inner) => {
            each(&inner.body);
            each(&inner.orelse);
        }
        Stmt::While(inner) => {
            each(&inner.body);
            each(&inner.orelse);
        }
        Stmt::With(inner) => each(&inner.body),
        Stmt::Try(inner) => {
            each(&inner.body);
            for ExceptHandler::ExceptHandler(handler) in &inner.handlers {
                each(&handler.body);
            }
            each(&inner.orelse);
            each(&inner.finalbody);
        }
        Stmt::Match(inner) => inner.cases.iter().for_each(|case| each(&case.body)),
        _ => {}
    }
}

/// Walks the definition and asks every family about every piece.
pub(super) fn look(
    content: &str,
    module: &[Stmt],
    path: &[&Stmt],
    families: &[Family],
) -> Vec<Mutation> {
    let Some(definition) = path.last() else {
        return Vec::new();
    };
    let sight = Sight::of(content, module, path);
    let lines = std::iter::once(0)
        .chain(content.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let mut walk = Walk {
        found: Found {
            content,
            sight: &sight,
            lines,
            mutations: Vec::new(),
        },
        families,
        roles: FxHashMap::default(),
        loops: 0,
    };
    walk.visit_stmt(definition);
    walk.found.mutations
}

struct Walk<'a, 'f> {
    found: Found<'a>,
    families: &'f [Family],
    roles: FxHashMap<TextRange, Role>,
    loops: u32,
}

impl<'a> Walk<'a, '_> {
    fn ask(&mut self, node: &Node<'_>) {
        for family in self.families {
            family(node, &mut self.found);
        }
    }

    fn role(&mut self, expr: &Expr, role: Role) {
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
        self.ask(&Node::Body(body, block));
        for stmt in body {
            self.visit_stmt(stmt);
        }
    }
}

impl<'a> Visitor<'a> for Walk<'a, '_> {
    fn visit_decorator(&mut self, _: &'a Decorator) {}

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.ask(&Node::Stmt(stmt));
        match stmt {
            Stmt::FunctionDef(function) => {
                self.ask(&Node::Function(function));
                let outer = std::mem::take(&mut self.loops);
                self.visit_parameters(&function.parameters);
                self.block(&function.body, false, true);
                self.loops = outer;
                return;
            }
            Stmt::ClassDef(class) => return self.block(&class.body, false, false),
            Stmt::If(inner) => {
                self.role(&inner.test, Role::Condition);
                self.visit_expr(&inner.test);
                self.block(&inner.body, false, false);
                for clause in &inner.elif_else_clauses {
                    self.visit_elif_else_clause(clause);
                }
                return;
            }
            Stmt::While(inner) => {
                self.role(&inner.test, Role::Condition);
                self.visit_expr(&inner.test);
                self.loops += 1;
                self.block(&inner.body, true, false);
                self.loops -= 1;
                return self.block(&inner.orelse, false, false);
            }
            Stmt::For(inner) => {
                self.role(&inner.iter, Role::Iterated);
                self.visit_expr(&inner.iter);
                self.loops += 1;
                self.block(&inner.body, true, false);
                self.loops -= 1;
                return self.block(&inner.orelse, false, false);
            }
            Stmt::Try(inner) => {
                self.block(&inner.body, false, false);
                for handler in &inner.handlers {
                    self.ask(&Node::Handler(handler));
                    let ExceptHandler::ExceptHandler(handler) = handler;
                    if let Some(type_) = &handler.type_ {
                        self.visit_expr(type_);
                    }
                    self.block(&handler.body, false, false);
                }
                self.block(&inner.orelse, false, false);
                return self.block(&inner.finalbody, false, false);
            }
            Stmt::Return(inner) => {
                if let Some(value) = &inner.value {
                    self.role(value, Role::Result);
                }
            }
            Stmt::Assign(inner) => self.role(&inner.value, Role::Assigned),
            Stmt::AugAssign(inner) => self.role(&inner.value, Role::Assigned),
            Stmt::AnnAssign(inner) => {
                if let Some(value) = &inner.value {
                    self.role(value, Role::Assigned);
                }
            }
            Stmt::With(_) | Stmt::Match(_) => {}
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_body(&mut self, body: &'a [Stmt]) {
        self.block(body, false, false);
    }

    fn visit_elif_else_clause(&mut self, clause: &'a ElifElseClause) {
        if let Some(test) = &clause.test {
            self.role(test, Role::Condition);
            self.visit_expr(test);
        }
        self.block(&clause.body, false, false);
    }

    fn visit_comprehension(&mut self, part: &'a Comprehension) {
        self.ask(&Node::Loop(part));
        self.role(&part.iter, Role::Iterated);
        for test in &part.ifs {
            self.role(test, Role::Condition);
        }
        ruff_python_ast::visitor::walk_comprehension(self, part);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let role = self.roles.remove(&expr.range()).unwrap_or(Role::Other);
        match expr {
            Expr::BoolOp(inner) => {
                for value in &inner.values {
                    self.role(value, Role::Clause);
                }
            }
            Expr::UnaryOp(inner) if inner.op == ruff_python_ast::UnaryOp::Not => {
                self.role(&inner.operand, Role::Clause);
            }
            Expr::If(inner) => {
                self.role(&inner.test, Role::Condition);
                self.role(&inner.body, role);
                self.role(&inner.orelse, role);
            }
            Expr::Subscript(inner) => self.role(&inner.slice, Role::Index),
            Expr::Slice(inner) => {
                for bound in [&inner.lower, &inner.upper].into_iter().flatten() {
                    self.role(bound, Role::Bound);
                }
            }
            Expr::Call(inner) => {
                self.role(&inner.func, Role::Callee);
                for argument in &inner.arguments.args {
                    self.role(argument, Role::Argument);
                }
                for keyword in &inner.arguments.keywords {
                    self.role(&keyword.value, Role::Argument);
                }
            }
            Expr::Compare(inner) => {
                self.role(&inner.left, Role::Compared);
                for side in &inner.comparators {
                    self.role(side, Role::Compared);
                }
            }
            Expr::Yield(inner) => {
                if let Some(value) = &inner.value {
                    self.role(value, Role::Result);
                }
            }
            _ => {}
        }
        self.ask(&Node::Expr(expr, role));
        walk_expr(self, expr);
    }
}
