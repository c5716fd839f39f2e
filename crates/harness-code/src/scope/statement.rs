//! What each statement binds and reads, in the order in which Python does it.

use ruff_python_ast::visitor::{Visitor, walk_pattern, walk_stmt};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::language::python::is_type_checking;

use super::build::{Builder, Deferred};
use super::{BindingKind, Guard, ImportBinding, PatternUse, Role, ScopeKind, Store, SymbolId};

impl<'a> Builder<'a> {
    pub(super) fn statements(&mut self, body: &'a [Stmt]) {
        self.deeper(|walk| {
            for statement in body {
                walk.statement(statement);
            }
        });
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Expr(node) => self.expression_statement(node),
            Stmt::Assign(node) => self.assign(node),
            Stmt::AnnAssign(node) => self.annotated_assign(node),
            Stmt::AugAssign(node) => self.augmented_assign(node),
            Stmt::FunctionDef(node) => self.function(node),
            Stmt::ClassDef(node) => self.class(node),
            Stmt::Import(node) => self.import(node),
            Stmt::ImportFrom(node) => self.import_from(node),
            Stmt::If(node) => self.if_statement(node),
            Stmt::For(node) => {
                self.expression(&node.iter);
                self.target(&node.target, BindingKind::Other);
                self.branch(&node.body);
                self.branch(&node.orelse);
            }
            Stmt::While(node) => {
                self.expression(&node.test);
                self.branch(&node.body);
                self.branch(&node.orelse);
            }
            Stmt::With(node) => {
                for item in &node.items {
                    self.expression(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.target(target, BindingKind::With(&item.context_expr));
                    }
                }
                self.statements(&node.body);
            }
            Stmt::Try(node) => self.try_statement(node),
            Stmt::Match(node) => {
                self.expression(&node.subject);
                for case in &node.cases {
                    self.pattern(&case.pattern);
                    self.optional(case.guard.as_deref());
                    self.branch(&case.body);
                }
            }
            Stmt::Delete(node) => node.targets.iter().for_each(|target| self.delete(target)),
            Stmt::Global(node) => node.names.iter().for_each(|name| self.declare_global(name)),
            Stmt::Nonlocal(node) => node
                .names
                .iter()
                .for_each(|name| self.declare_nonlocal(name)),
            Stmt::TypeAlias(node) => self.type_alias(node),
            _ => walk_stmt(self, statement),
        }
    }

    fn branch(&mut self, body: &'a [Stmt]) {
        self.conditional += 1;
        self.statements(body);
        self.conditional -= 1;
    }

    pub(super) fn optional(&mut self, expression: Option<&'a Expr>) {
        if let Some(expression) = expression {
            self.expression(expression);
        }
    }

    fn expression_statement(&mut self, node: &'a ast::StmtExpr) {
        self.extend_exports(&node.value);
        self.expression(&node.value);
    }

    fn assign(&mut self, node: &'a ast::StmtAssign) {
        let listed = node.targets.iter().any(|target| is_name(target, "__all__"));
        if listed && self.scope == 0 {
            self.set_exports(&node.value);
        }
        self.expression(&node.value);
        for target in &node.targets {
            self.target(target, BindingKind::Assigned(&node.value));
        }
    }

    fn annotated_assign(&mut self, node: &'a ast::StmtAnnAssign) {
        self.annotation(&node.annotation);
        if is_name(&node.target, "__all__")
            && self.scope == 0
            && let Some(value) = &node.value
        {
            self.set_exports(value);
        }
        if let Some(value) = &node.value {
            if self.is_typing_member(&node.annotation, "TypeAlias") {
                self.annotation(value);
            } else {
                self.expression(value);
            }
        }
        let kind = BindingKind::Annotated(&node.annotation, node.value.as_deref());
        self.target(&node.target, kind);
    }

    fn augmented_assign(&mut self, node: &'a ast::StmtAugAssign) {
        if is_name(&node.target, "__all__") && self.scope == 0 {
            self.add_to_exports(&node.value);
        }
        if let Expr::Name(name) = node.target.as_ref() {
            // The bytes are recorded once, where they are bound.
            let id = self.intern(&name.id);
            self.check(id, &name.id, name.range);
            self.expression(&node.value);
            self.bind(&name.id, name.range, BindingKind::Other);
        } else {
            self.expression(&node.value);
            self.target(&node.target, BindingKind::Other);
        }
    }

    /// Binds what stands on the left of an assignment.
    pub(super) fn target(&mut self, target: &'a Expr, kind: BindingKind<'a>) {
        match target {
            Expr::Name(name) => {
                self.bind(&name.id, name.range, kind);
            }
            Expr::Tuple(node) => self.targets(&node.elts),
            Expr::List(node) => self.targets(&node.elts),
            Expr::Starred(node) => self.target(&node.value, BindingKind::Other),
            Expr::Attribute(node) => {
                if self.full() {
                    let scope = self.scope;
                    self.out.stores.push(Store { node, scope, kind });
                }
                self.expression(target);
            }
            other => self.expression(other),
        }
    }

    fn targets(&mut self, targets: &'a [Expr]) {
        self.deeper(|walk| {
            for target in targets {
                walk.target(target, BindingKind::Other);
            }
        });
    }

    fn delete(&mut self, target: &'a Expr) {
        match target {
            Expr::Name(name) => {
                let id = self.intern(&name.id);
                let there = self
                    .out
                    .symbol_in(self.scope, id)
                    .filter(|&symbol| self.is_bound(symbol));
                let symbol = self.symbol(self.scope, id);
                self.occurrence(id, name.range, Role::Bind, Some(symbol));
                self.add_binding(symbol, name.range, BindingKind::Other);
                // Whether a branch runs is not known, so a deletion in one does not count.
                if self.conditional > 0 {
                    return;
                }
                match there {
                    Some(symbol) => self.set_bound(symbol, false),
                    None => self.suspect(id, name.range),
                }
            }
            Expr::Tuple(node) => node.elts.iter().for_each(|target| self.delete(target)),
            Expr::List(node) => node.elts.iter().for_each(|target| self.delete(target)),
            other => self.expression(other),
        }
    }

    /// Makes the name of this scope mean the module's.
    fn declare_global(&mut self, name: &'a ast::Identifier) {
        let id = self.intern(&name.id);
        if self.scope == 0 {
            self.occurrence(id, name.range, Role::Bind, None);
            return;
        }
        let symbol = self.symbol(0, id);
        self.alias_symbol(id, symbol, name.range);
        self.set_bound(symbol, true);
    }

    /// Makes the name of this scope mean that of the function around it.
    fn declare_nonlocal(&mut self, name: &'a ast::Identifier) {
        let id = self.intern(&name.id);
        let found = self
            .out
            .around(self.scope)
            .skip(1)
            .find_map(|(scope, kind)| {
                let holds_locals = matches!(kind, ScopeKind::Function(_) | ScopeKind::Lambda(_));
                self.out.symbol_in(scope, id).filter(|_| holds_locals)
            });
        match found {
            Some(symbol) => self.alias_symbol(id, symbol, name.range),
            None => self.occurrence(id, name.range, Role::Bind, None),
        }
    }

    fn alias_symbol(&mut self, name: u32, symbol: SymbolId, span: TextRange) {
        self.out.table.insert(super::key(self.scope, name), symbol);
        if let Some(entry) = self.out.symbols.get_mut(symbol as usize) {
            entry.declared_inside = true;
        }
        self.add_binding(symbol, span, BindingKind::Declared);
        self.occurrence(name, span, Role::Bind, Some(symbol));
    }

    fn if_statement(&mut self, node: &'a ast::StmtIf) {
        self.expression(&node.test);
        let outer = self.guard;
        if is_type_checking(&node.test) {
            self.guard.0 |= Guard::TYPE_CHECKING;
        }
        self.branch(&node.body);
        self.guard = outer;
        for clause in &node.elif_else_clauses {
            self.optional(clause.test.as_ref());
            self.branch(&clause.body);
        }
    }

    fn try_statement(&mut self, node: &'a ast::StmtTry) {
        let outer = self.guard;
        for handler in &node.handlers {
            let ast::ExceptHandler::ExceptHandler(handler) = handler;
            self.guard.0 |= caught(handler.type_.as_deref());
        }
        self.branch(&node.body);
        self.guard = outer;
        for handler in &node.handlers {
            let ast::ExceptHandler::ExceptHandler(handler) = handler;
            self.except(handler);
        }
        self.branch(&node.orelse);
        self.branch(&node.finalbody);
    }

    fn except(&mut self, handler: &'a ast::ExceptHandlerExceptHandler) {
        self.optional(handler.type_.as_deref());
        let Some(name) = &handler.name else {
            self.branch(&handler.body);
            return;
        };
        let id = self.intern(&name.id);
        let before = self
            .out
            .symbol_in(self.scope, id)
            .is_some_and(|symbol| self.is_bound(symbol));
        let symbol = self.bind(
            &name.id,
            name.range,
            BindingKind::Except(handler.type_.as_deref()),
        );
        self.branch(&handler.body);
        // Python deletes the name at the end of the handler.
        self.set_bound(symbol, before);
    }

    fn function(&mut self, node: &'a ast::StmtFunctionDef) {
        for decorator in &node.decorator_list {
            self.expression(&decorator.expression);
        }
        let outer = self.scope;
        self.defaults(&node.parameters);
        if let Some(parameters) = &node.type_params {
            self.scope = self.open(ScopeKind::TypeParameters, None);
            self.type_parameters(parameters);
        }
        self.parameter_annotations(&node.parameters);
        if let Some(returns) = &node.returns {
            self.annotation(returns);
        }
        let inner = self.open(ScopeKind::Function(node), None);
        let holder = self.scope;
        self.scope = outer;
        let symbol = self.bind(&node.name.id, node.name.range, BindingKind::Function(node));
        if outer == 0 && node.name.as_str() == "__getattr__" {
            self.out.dynamic.module_getattr = true;
        }
        self.out.scopes[inner as usize].owner = Some(symbol);
        self.out.scopes[inner as usize].parent = Some(holder);
        self.scope = inner;
        self.parameters(&node.parameters);
        self.scope = outer;
        self.deferred.push_back(Deferred::Function(node, inner));
    }

    pub(super) fn defaults(&mut self, parameters: &'a ast::Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            self.optional(parameter.default.as_deref());
        }
    }

    fn parameter_annotations(&mut self, parameters: &'a ast::Parameters) {
        for parameter in parameters {
            if let Some(annotation) = parameter.annotation() {
                self.annotation(annotation);
            }
        }
    }

    pub(super) fn parameters(&mut self, parameters: &'a ast::Parameters) {
        for parameter in parameters {
            let parameter = parameter.as_parameter();
            self.bind(
                &parameter.name.id,
                parameter.name.range,
                BindingKind::Parameter(parameter),
            );
        }
    }

    fn class(&mut self, node: &'a ast::StmtClassDef) {
        for decorator in &node.decorator_list {
            self.expression(&decorator.expression);
        }
        let outer = self.scope;
        if let Some(parameters) = &node.type_params {
            self.scope = self.open(ScopeKind::TypeParameters, None);
            self.type_parameters(parameters);
        }
        if let Some(arguments) = &node.arguments {
            self.visit_arguments(arguments);
        }
        let inner = self.open(ScopeKind::Class(node), None);
        self.scope = inner;
        self.statements(&node.body);
        self.scope = outer;
        let symbol = self.bind(&node.name.id, node.name.range, BindingKind::Class(node));
        self.out.scopes[inner as usize].owner = Some(symbol);
    }

    fn type_alias(&mut self, node: &'a ast::StmtTypeAlias) {
        let outer = self.scope;
        if let Expr::Name(name) = node.name.as_ref() {
            self.bind(&name.id, name.range, BindingKind::Type);
        }
        if let Some(parameters) = &node.type_params {
            self.scope = self.open(ScopeKind::TypeParameters, None);
            self.type_parameters(parameters);
        }
        let scope = self.scope;
        self.deferred
            .push_back(Deferred::Annotation(&node.value, scope));
        self.scope = outer;
    }

    fn type_parameters(&mut self, parameters: &'a ast::TypeParams) {
        for parameter in &parameters.type_params {
            let name = parameter.name();
            self.bind(&name.id, name.range, BindingKind::Type);
        }
        let scope = self.scope;
        for parameter in &parameters.type_params {
            let (bound, default) = match parameter {
                ast::TypeParam::TypeVar(node) => (node.bound.as_deref(), node.default.as_deref()),
                ast::TypeParam::TypeVarTuple(node) => (None, node.default.as_deref()),
                ast::TypeParam::ParamSpec(node) => (None, node.default.as_deref()),
            };
            for expression in [bound, default].into_iter().flatten() {
                self.deferred
                    .push_back(Deferred::Annotation(expression, scope));
            }
        }
    }

    fn import(&mut self, node: &'a ast::StmtImport) {
        for alias in &node.names {
            let module: &'a str = alias.name.as_str();
            let import = self.add_import(ImportBinding {
                scope: self.scope,
                level: 0,
                module,
                module_span: alias.name.range,
                member: None,
                member_span: alias.name.range,
                alias: alias.asname.as_ref().map(|name| name.range),
                guard: self.guard,
                statement: node.range,
            });
            let symbol = match &alias.asname {
                Some(name) => self.bind(&name.id, name.range, BindingKind::Import(import)),
                None => {
                    let top = module.split('.').next().unwrap_or(module);
                    let start = alias.name.range.start();
                    let length = u32::try_from(top.len()).unwrap_or(0);
                    self.bind(
                        top,
                        TextRange::at(start, length.into()),
                        BindingKind::Import(import),
                    )
                }
            };
            if matches!(module, "typing" | "typing_extensions") {
                self.out.typing.insert(symbol, "");
            }
        }
    }

    fn import_from(&mut self, node: &'a ast::StmtImportFrom) {
        let module: &'a str = node.module.as_ref().map_or("", |module| module.as_str());
        let module_span = node
            .module
            .as_ref()
            .map_or(TextRange::empty(node.range.start()), |name| name.range);
        for alias in &node.names {
            let member: &'a str = alias.name.as_str();
            if module == "__future__" && node.level == 0 {
                self.postponed |= member == "annotations";
            }
            let import = self.add_import(ImportBinding {
                scope: self.scope,
                level: node.level,
                module,
                module_span,
                member: Some(member),
                member_span: alias.name.range,
                alias: alias.asname.as_ref().map(|name| name.range),
                guard: self.guard,
                statement: node.range,
            });
            if member == "*" {
                continue;
            }
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            let symbol = self.bind(&name.id, name.range, BindingKind::Import(import));
            if matches!(module, "typing" | "typing_extensions") {
                self.out.typing.insert(symbol, member);
            }
        }
    }

    pub(super) fn pattern(&mut self, pattern: &'a ast::Pattern) {
        self.deeper(|walk| walk.pattern_inside(pattern));
    }

    fn pattern_inside(&mut self, pattern: &'a ast::Pattern) {
        if let ast::Pattern::MatchClass(node) = pattern
            && self.full()
        {
            let scope = self.scope;
            self.out.patterns.push(PatternUse { node, scope });
        }
        walk_pattern(self, pattern);
        match pattern {
            ast::Pattern::MatchMapping(node) => self.captured(node.rest.as_ref()),
            ast::Pattern::MatchStar(node) => self.captured(node.name.as_ref()),
            ast::Pattern::MatchAs(node) => self.captured(node.name.as_ref()),
            _ => {}
        }
    }

    fn captured(&mut self, name: Option<&'a ast::Identifier>) {
        if let Some(name) = name {
            self.bind(&name.id, name.range(), BindingKind::Other);
        }
    }
}

pub(super) fn is_name(expression: &Expr, wanted: &str) -> bool {
    matches!(expression, Expr::Name(name) if name.id.as_str() == wanted)
}

/// What a handler for this type catches; a bare `except` catches all.
fn caught(kind: Option<&Expr>) -> u8 {
    match kind {
        None => Guard::BROAD,
        Some(Expr::Tuple(node)) => node.elts.iter().fold(0, |all, one| all | caught(Some(one))),
        Some(Expr::Name(name)) => caught_by_name(name.id.as_str()),
        Some(Expr::Attribute(node)) => caught_by_name(node.attr.as_str()),
        Some(_) => Guard::BROAD,
    }
}

fn caught_by_name(name: &str) -> u8 {
    match name {
        "NameError" | "UnboundLocalError" => Guard::NAME_ERROR,
        "ImportError" | "ModuleNotFoundError" => Guard::IMPORT_ERROR,
        "AttributeError" => Guard::ATTRIBUTE_ERROR,
        "Exception" | "BaseException" | "StandardError" => Guard::BROAD,
        _ => 0,
    }
}
