//! What is in sight of a definition: names, attributes, functions, conditions and words that could have been meant.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Parameters, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use crate::mutate::bytes;

/// More of each than this is a crowd, not a sight.
const MOST: usize = 40;

/// A function of the file.
#[derive(Debug, Clone)]
pub(super) struct Callable {
    pub(super) name: String,
    /// Its parameters in order, without `self`.
    pub(super) parameters: Vec<String>,
}

/// What is in sight.
#[derive(Debug, Default)]
pub(super) struct Sight {
    /// What a method calls its own object or class.
    pub(super) receiver: Option<String>,
    /// The function's own parameters, without `self` and `cls`.
    pub(super) parameters: Vec<String>,
    /// Parameters whose default is `None`.
    pub(super) optional: Vec<String>,
    /// Names that are bound in the definition.
    pub(super) locals: Vec<String>,
    /// Attributes by the name they are read from, in the whole class or file.
    pub(super) attributes: FxHashMap<String, Vec<String>>,
    /// Methods called anywhere in the file, whatever they are called on.
    pub(super) methods: Vec<String>,
    /// Functions and constants at the top of the file, imports included.
    pub(super) globals: Vec<String>,
    /// Functions of the file and methods of the class around.
    pub(super) callables: Vec<Callable>,
    /// Methods of the class around that need nothing but `self`.
    pub(super) plain_methods: Vec<String>,
    /// Strings written in the definition.
    pub(super) strings: Vec<String>,
    /// Conditions written in the definition.
    pub(super) conditions: Vec<String>,
    /// What the definition returns where that is a constant or a name.
    pub(super) results: Vec<String>,
    /// The names by use, as often as they stand there.
    pub(super) uses: FxHashMap<String, u32>,
    /// Names that are changed in place or set again.
    pub(super) changed: Vec<String>,
}

impl Sight {
    /// Looks around the definition at the end of `path`.
    pub(super) fn of(content: &str, module: &[Stmt], path: &[&Stmt]) -> Sight {
        let mut sight = Sight::default();
        for stmt in module {
            sight.note_top(stmt);
        }
        let class = path.iter().rev().skip(1).find_map(|stmt| match stmt {
            Stmt::ClassDef(class) => Some(class),
            _ => None,
        });
        if let Some(class) = class {
            for stmt in &class.body {
                if let Stmt::FunctionDef(function) = stmt {
                    let names = parameter_names(&function.parameters);
                    let rest: Vec<String> = names.into_iter().skip(1).collect();
                    if rest.is_empty() && function.decorator_list.is_empty() {
                        sight.plain_methods.push(function.name.to_string());
                    }
                    push(
                        sight.attributes.entry("self".to_owned()).or_default(),
                        function.name.as_str(),
                    );
                    sight.callables.push(Callable {
                        name: function.name.to_string(),
                        parameters: rest,
                    });
                }
            }
            let mut wide = Wide { sight: &mut sight };
            class.body.iter().for_each(|stmt| wide.visit_stmt(stmt));
        } else {
            let mut wide = Wide { sight: &mut sight };
            module.iter().for_each(|stmt| wide.visit_stmt(stmt));
        }
        for stmt in path {
            if let Stmt::FunctionDef(function) = stmt {
                let names = parameter_names(&function.parameters);
                let receiver = names
                    .first()
                    .filter(|name| *name == "self" || *name == "cls");
                sight.receiver = sight.receiver.or_else(|| receiver.cloned());
                let own = names
                    .into_iter()
                    .filter(|name| name != "self" && name != "cls");
                sight.parameters.extend(own.clone());
                for name in own {
                    push(&mut sight.locals, &name);
                }
                for parameter in function.parameters.iter_non_variadic_params() {
                    if matches!(parameter.default.as_deref(), Some(Expr::NoneLiteral(_))) {
                        sight.optional.push(parameter.parameter.name.to_string());
                    }
                }
            }
        }
        if let Some(definition) = path.last() {
            let mut close = Close {
                content,
                sight: &mut sight,
            };
            close.visit_stmt(definition);
        }
        sight
    }

    fn note_top(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                push(&mut self.globals, function.name.as_str());
                self.callables.push(Callable {
                    name: function.name.to_string(),
                    parameters: parameter_names(&function.parameters),
                });
            }
            Stmt::ClassDef(class) => push(&mut self.globals, class.name.as_str()),
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    if let Expr::Name(name) = target {
                        push(&mut self.globals, name.id.as_str());
                    }
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let first = alias.name.split('.').next().unwrap_or_default();
                    let name = alias.asname.as_ref().map_or(first, |name| name.as_str());
                    push(&mut self.globals, name);
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    push(&mut self.globals, name.as_str());
                }
            }
            _ => {}
        }
    }
}

fn push(list: &mut Vec<String>, name: &str) {
    if list.len() < MOST && !list.iter().any(|known| known == name) {
        list.push(name.to_owned());
    }
}

fn parameter_names(parameters: &Parameters) -> Vec<String> {
    parameters
        .iter()
        .map(|parameter| parameter.name().to_string())
        .collect()
}

/// Looks at the whole class or file.
struct Wide<'s> {
    sight: &'s mut Sight,
}

impl Visitor<'_> for Wide<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Attribute(attribute) = expr {
            let name = attribute.attr.as_str();
            if let Expr::Name(owner) = attribute.value.as_ref() {
                let known = self
                    .sight
                    .attributes
                    .entry(owner.id.to_string())
                    .or_default();
                push(known, name);
            }
        }
        if let Expr::Call(call) = expr
            && let Expr::Attribute(attribute) = call.func.as_ref()
        {
            push(&mut self.sight.methods, attribute.attr.as_str());
        }
        walk_expr(self, expr);
    }
}

/// Looks at the definition itself.
struct Close<'s> {
    content: &'s str,
    sight: &'s mut Sight,
}

impl Close<'_> {
    fn code(&self, expr: &Expr) -> String {
        self.content.get(bytes(expr)).unwrap_or_default().to_owned()
    }

    fn condition(&mut self, test: &Expr) {
        let parts: Vec<&Expr> = match test {
            Expr::BoolOp(inner) => inner.values.iter().collect(),
            _ => vec![test],
        };
        for part in parts {
            let code = self.code(part);
            if !code.contains('\n') && code.len() < 60 {
                push(&mut self.sight.conditions, &code);
            }
        }
    }
}

impl Visitor<'_> for Close<'_> {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            // A function inside has names of its own.
            Stmt::FunctionDef(function) => {
                for name in parameter_names(&function.parameters) {
                    if name != "self" && name != "cls" {
                        push(&mut self.sight.locals, &name);
                    }
                }
            }
            Stmt::If(inner) => self.condition(&inner.test),
            Stmt::While(inner) => self.condition(&inner.test),
            Stmt::Return(inner) => {
                if let Some(value) = &inner.value
                    && value.range().len().to_usize() < 24
                {
                    let code = self.code(value);
                    push(&mut self.sight.results, &code);
                }
            }
            Stmt::AugAssign(inner) => {
                if let Expr::Name(name) = inner.target.as_ref() {
                    push(&mut self.sight.changed, name.id.as_str());
                }
            }
            Stmt::Assign(inner) => {
                for target in &inner.targets {
                    if let Expr::Name(name) = target {
                        push(&mut self.sight.changed, name.id.as_str());
                    }
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_elif_else_clause(&mut self, clause: &ruff_python_ast::ElifElseClause) {
        if let Some(test) = &clause.test {
            self.condition(test);
        }
        ruff_python_ast::visitor::walk_elif_else_clause(self, clause);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Name(name) => {
                *self.sight.uses.entry(name.id.to_string()).or_default() += 1;
                if name.ctx == ExprContext::Store {
                    push(&mut self.sight.locals, name.id.as_str());
                }
            }
            Expr::StringLiteral(_) => {
                let code = self.code(expr);
                if code.len() < 60 && !code.contains('\n') && !code.starts_with("\"\"\"") {
                    push(&mut self.sight.strings, &code);
                }
            }
            Expr::Call(call) => {
                if let Expr::Attribute(attribute) = call.func.as_ref()
                    && let Expr::Name(owner) = attribute.value.as_ref()
                    && CHANGERS.contains(&attribute.attr.as_str())
                {
                    push(&mut self.sight.changed, owner.id.as_str());
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Methods that change what they are called on.
const CHANGERS: &[&str] = &[
    "add",
    "append",
    "clear",
    "discard",
    "extend",
    "insert",
    "pop",
    "popleft",
    "remove",
    "setdefault",
    "sort",
    "update",
];
