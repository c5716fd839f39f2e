//! What is in sight of a definition: names, attributes, functions, conditions and words that could have been meant.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Parameters, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use crate::scope::bytes;
use crate::scope::known::is_builtin;
use crate::text::is_among;

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
    /// Names by what they are, as the templates of the table call them.
    sets: FxHashMap<&'static str, Vec<String>>,
    /// Attributes by the name they are read from, in the whole class or file.
    pub(super) attributes: FxHashMap<String, Vec<String>>,
    /// Functions of the file and methods of the class around.
    pub(super) callables: Vec<Callable>,
    /// The names by use, as often as they stand there.
    pub(super) uses: FxHashMap<String, u32>,
}

/// What is returned early more often than anything else.
const OUTCOMES: [&str; 8] = ["None", "[]", "0", "False", "True", "''", "1", "{}"];

impl Sight {
    /// Looks around the definition at the end of `path`.
    pub(super) fn of(content: &str, module: &[Stmt], path: &[&Stmt]) -> Sight {
        let mut sight = Sight::default();
        for stmt in module {
            sight.note_top(stmt);
        }
        let class = path
            .iter()
            .rev()
            .skip(1)
            .find_map(|stmt| stmt.as_class_def_stmt());
        for function in class.iter().flat_map(|class| &class.body) {
            if let Stmt::FunctionDef(function) = function {
                sight.note_method(function);
            }
        }
        let around = class.map_or(module, |class| &class.body);
        let mut wide = Wide { sight: &mut sight };
        around.iter().for_each(|stmt| wide.visit_stmt(stmt));
        for function in path.iter().filter_map(|stmt| stmt.as_function_def_stmt()) {
            sight.note_parameters(function);
        }
        if let Some(definition) = path.last() {
            let mut close = Close {
                content,
                sight: &mut sight,
            };
            close.visit_stmt(definition);
        }
        sight.derive();
        sight
    }

    /// Returns the names of a set; there are none of a set that nobody knows.
    pub(super) fn set(&self, name: &str) -> &[String] {
        self.sets.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a name is in a set.
    pub(super) fn has(&self, set: &str, name: &str) -> bool {
        self.set(set).iter().any(|known| known == name)
    }

    fn note(&mut self, set: &'static str, name: &str) {
        push(self.sets.entry(set).or_default(), name);
    }

    fn note_method(&mut self, function: &StmtFunctionDef) {
        let name = function.name.to_string();
        let parameters: Vec<String> = parameter_names(&function.parameters).skip(1).collect();
        if parameters.is_empty() && function.decorator_list.is_empty() {
            self.note("plain_method", &name);
        }
        push(self.attributes.entry("self".to_owned()).or_default(), &name);
        self.callables.push(Callable { name, parameters });
    }

    fn note_parameters(&mut self, function: &StmtFunctionDef) {
        let is_receiver = |name: &str| name == "self" || name == "cls";
        for (place, name) in parameter_names(&function.parameters).enumerate() {
            if !is_receiver(&name) {
                self.note("parameter", &name);
                self.note("local", &name);
            } else if place == 0 && self.set("receiver").is_empty() {
                self.note("receiver", &name);
            }
        }
        for parameter in function.parameters.iter_non_variadic_params() {
            if matches!(parameter.default.as_deref(), Some(Expr::NoneLiteral(_))) {
                self.note("optional", &parameter.parameter.name);
            }
        }
    }

    fn note_top(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.note("global", &function.name);
                self.callables.push(Callable {
                    name: function.name.to_string(),
                    parameters: parameter_names(&function.parameters).collect(),
                });
            }
            Stmt::ClassDef(class) => self.note("global", &class.name),
            Stmt::Assign(assign) => {
                for name in assign.targets.iter().filter_map(Expr::as_name_expr) {
                    self.note("global", &name.id);
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let first = alias.name.split('.').next().unwrap_or_default();
                    self.note("global", alias.asname.as_deref().unwrap_or(first));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.note("global", alias.asname.as_ref().unwrap_or(&alias.name));
                }
            }
            _ => {}
        }
    }

    /// Makes the sets that follow from the others.
    fn derive(&mut self) {
        let own = self.attributes.get("self").cloned().unwrap_or_default();
        let parameters = self.set("parameter").to_vec();
        let part = |set: &str, keep: &dyn Fn(&str) -> bool| -> Vec<String> {
            self.set(set)
                .iter()
                .filter(|name| keep(name))
                .cloned()
                .collect()
        };
        let is_function = |name: &str| self.callables.iter().any(|known| known.name == name);
        let tested = |name: &str| {
            self.set("condition")
                .iter()
                .any(|condition| words(condition).any(|word| word == name))
        };
        let holds = |name: &str| {
            self.set("condition")
                .iter()
                .any(|condition| condition.contains(&format!("in {name}")))
        };
        let counts = |name: &str| tested(name) && !holds(name);
        let bound = |name: &str| self.has("local", name) || self.has("global", name);
        let unbound = self
            .uses
            .keys()
            .filter(|name| !bound(name) && !is_builtin(name));
        let mut unbound: Vec<String> = unbound
            .filter(|name| !self.has("receiver", name))
            .cloned()
            .collect();
        unbound.sort_unstable();
        let mut outcomes = self.set("result").to_vec();
        OUTCOMES
            .iter()
            .for_each(|common| push(&mut outcomes, common));
        let derived = [
            (
                "unused",
                part("parameter", &|name| !self.uses.contains_key(name)),
            ),
            (
                "changed_parameter",
                part("parameter", &|name| self.has("changed", name)),
            ),
            ("function", part("global", &is_function)),
            ("imported", part("global", &|name| !is_function(name))),
            (
                "container",
                part("local", &|name| tested(name) && holds(name)),
            ),
            (
                "counter",
                part("local", &|name| counts(name) && !self.has("changed", name)),
            ),
            (
                "changed_counter",
                part("local", &|name| counts(name) && self.has("changed", name)),
            ),
            ("outcome", outcomes),
            ("unbound", unbound),
            ("other", parameters),
            ("own", own),
        ];
        self.sets.extend(derived);
    }
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn push(list: &mut Vec<String>, name: &str) {
    if list.len() < MOST && !list.iter().any(|known| known == name) {
        list.push(name.to_owned());
    }
}

fn parameter_names(parameters: &Parameters) -> impl Iterator<Item = String> {
    parameters
        .iter()
        .map(|parameter| parameter.name().to_string())
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
            self.sight.note("method", &attribute.attr);
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
                self.sight.note("condition", &code);
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
                        self.sight.note("local", &name);
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
                    self.sight.note("result", &code);
                }
            }
            Stmt::AugAssign(inner) => {
                if let Expr::Name(name) = inner.target.as_ref() {
                    self.sight.note("changed", &name.id);
                }
            }
            Stmt::Assign(inner) => {
                for target in &inner.targets {
                    if let Expr::Name(name) = target {
                        self.sight.note("changed", &name.id);
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
                    self.sight.note("local", &name.id);
                }
            }
            Expr::StringLiteral(_) => {
                let code = self.code(expr);
                if code.len() < 60 && !code.contains('\n') && !code.starts_with("\"\"\"") {
                    self.sight.note("string", &code);
                }
            }
            Expr::Call(call) => {
                if let Expr::Attribute(attribute) = call.func.as_ref()
                    && let Expr::Name(owner) = attribute.value.as_ref()
                    && is_among(CHANGERS, &attribute.attr)
                {
                    self.sight.note("changed", &owner.id);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Methods that change what they are called on.
const CHANGERS: &str = "\
    add append clear discard extend insert pop popleft remove setdefault sort update";
