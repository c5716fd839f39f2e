//! The state of one walk: opening scopes, binding names, looking them up in order.

use std::collections::VecDeque;

use ruff_python_ast as ast;
use ruff_text_size::TextRange;

use super::{
    Binding, BindingKind, Depth, Export, Guard, ImportBinding, LocalNameId, Missing, Occurrence,
    Role, Scope, ScopeId, ScopeKind, Scopes, Suspect, Symbol, SymbolId, key, known,
};

/// How deep expressions and blocks may nest; Python's own limit for blocks is 100, for expressions a few hundred.
const DEEPEST: u32 = 400;

/// A body that is looked at after everything around it.
pub(super) enum Deferred<'a> {
    Function(&'a ast::StmtFunctionDef, ScopeId),
    Lambda(&'a ast::ExprLambda, ScopeId),
    Annotation(&'a ast::Expr, ScopeId),
}

/// A string in an annotation, to be looked at when everything else is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending<'a> {
    pub(super) string: &'a ast::ExprStringLiteral,
    pub(super) scope: ScopeId,
    pub(super) guard: Guard,
}

/// The state of one walk.
#[derive(Default)]
pub(super) struct Builder<'a> {
    pub(super) out: Scopes<'a>,
    pub(super) scope: ScopeId,
    pub(super) guard: Guard,
    pub(super) deferred: VecDeque<Deferred<'a>>,
    /// Whether annotations are never evaluated (`from __future__ import annotations`).
    pub(super) postponed: bool,
    /// Inside an annotation: strings in it are code.
    pub(super) in_annotation: bool,
    /// Inside `Literal[...]`: strings in it are not.
    pub(super) in_literal: bool,
    /// Inside a branch that may not run.
    pub(super) conditional: u32,
    /// Whether the bytes of names are exact (not inside joined string annotations).
    pub(super) exact: bool,
    pub(super) nested: u32,
    /// Inside an annotation that only type checkers evaluate: a declared name is enough.
    pub(super) unevaluated: bool,
    /// Whether `setattr` was called on a variable, and whether `sys.modules` was used.
    pub(super) sets_by_name: bool,
    pub(super) handles_modules: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(depth: Depth) -> Builder<'a> {
        let module = Scope {
            kind: ScopeKind::Module,
            parent: None,
            owner: None,
        };
        let out = Scopes {
            scopes: vec![module],
            depth,
            ..Scopes::default()
        };
        Builder::resume(out)
    }

    /// Goes on with scopes that were worked out already.
    pub(super) fn resume(out: Scopes<'a>) -> Builder<'a> {
        Builder {
            out,
            exact: true,
            ..Builder::default()
        }
    }

    pub(super) fn full(&self) -> bool {
        self.out.depth == Depth::Full
    }

    pub(super) fn module(&mut self, body: &'a [ast::Stmt]) {
        self.statements(body);
        self.run_deferred();
    }

    /// Looks at the bodies that were left for later, in the order in which they came.
    pub(super) fn run_deferred(&mut self) {
        while let Some(next) = self.deferred.pop_front() {
            self.guard = Guard::default();
            self.conditional = 0;
            self.nested = 0;
            match next {
                Deferred::Function(node, scope) => {
                    self.scope = scope;
                    self.statements(&node.body);
                }
                Deferred::Lambda(node, scope) => {
                    self.scope = scope;
                    self.expression(&node.body);
                }
                Deferred::Annotation(expression, scope) => {
                    self.scope = scope;
                    self.in_annotation = true;
                    self.unevaluated = true;
                    self.expression(expression);
                    self.unevaluated = false;
                    self.in_annotation = false;
                }
            }
        }
        self.scope = 0;
    }

    /// Ends the walk: decides what each occurrence refers to and what each suspect lacks.
    pub(super) fn finish(mut self) -> Scopes<'a> {
        self.out.dynamic.module_names |= self.sets_by_name && self.handles_modules;
        let mut occurrences = std::mem::take(&mut self.out.occurrences);
        for occurrence in &mut occurrences {
            if occurrence.symbol.is_none() {
                occurrence.symbol = self.out.resolve_occurrence(occurrence);
            }
        }
        self.out.occurrences = occurrences;
        let mut suspects = std::mem::take(&mut self.out.suspects);
        // A `global` statement anywhere says that the module has the name, set by whoever runs that function.
        suspects.retain(|suspect| {
            let module = self.out.symbol_in(0, suspect.name);
            !module.is_some_and(|symbol| self.out.symbols[symbol as usize].declared_inside)
        });
        for suspect in &mut suspects {
            if self.out.resolve(suspect.scope, suspect.name).is_some() {
                suspect.missing = Missing::Here;
            }
        }
        self.out.suspects = suspects;
        self.out
    }

    pub(super) fn intern(&mut self, name: &'a str) -> LocalNameId {
        if let Some(&id) = self.out.interned.get(name) {
            return id;
        }
        let id = u32::try_from(self.out.names.len()).unwrap_or(u32::MAX);
        self.out.names.push(name);
        self.out.interned.insert(name, id);
        id
    }

    /// Opens a scope below the current one and returns its id; the caller goes into it.
    pub(super) fn open(&mut self, kind: ScopeKind<'a>, owner: Option<SymbolId>) -> ScopeId {
        let id = u32::try_from(self.out.scopes.len()).unwrap_or(u32::MAX);
        self.out.scopes.push(Scope {
            kind,
            parent: Some(self.scope),
            owner,
        });
        if self.full() {
            let range = match kind {
                ScopeKind::Class(node) => Some(node.range),
                ScopeKind::Function(node) => Some(node.range),
                ScopeKind::Lambda(node) => Some(node.range),
                ScopeKind::Module | ScopeKind::Comprehension | ScopeKind::TypeParameters => None,
            };
            self.out.nodes.extend(range.map(|range| (range, id)));
        }
        id
    }

    /// Goes one level deeper unless that is deeper than any real program.
    pub(super) fn deeper(&mut self, work: impl FnOnce(&mut Self)) {
        if self.nested >= DEEPEST {
            self.out.dynamic.cut = true;
            return;
        }
        self.nested += 1;
        work(self);
        self.nested -= 1;
    }

    /// The symbol of `name` in exactly `scope`, made when it is not there.
    pub(super) fn symbol(&mut self, scope: ScopeId, name: LocalNameId) -> SymbolId {
        if let Some(&symbol) = self.out.table.get(&key(scope, name)) {
            return symbol;
        }
        let id = u32::try_from(self.out.symbols.len()).unwrap_or(u32::MAX);
        self.out.symbols.push(Symbol {
            name,
            scope,
            assigned: false,
            declared_inside: false,
            bound: false,
            first: u32::MAX,
            last: u32::MAX,
        });
        self.out.table.insert(key(scope, name), id);
        id
    }

    /// Binds `name` in the current scope.
    pub(super) fn bind(
        &mut self,
        name: &'a str,
        span: TextRange,
        kind: BindingKind<'a>,
    ) -> SymbolId {
        self.bind_in(self.scope, name, span, kind)
    }

    /// Binds `name` in `scope`.
    pub(super) fn bind_in(
        &mut self,
        scope: ScopeId,
        name: &'a str,
        span: TextRange,
        kind: BindingKind<'a>,
    ) -> SymbolId {
        let id = self.intern(name);
        let symbol = self.symbol(scope, id);
        let gives_value = !matches!(
            kind,
            BindingKind::Annotated(_, None) | BindingKind::Declared
        );
        self.add_binding(symbol, span, kind);
        if let Some(entry) = self.out.symbols.get_mut(symbol as usize)
            && gives_value
        {
            entry.bound = true;
            entry.assigned = true;
        }
        self.occurrence(id, span, Role::Bind, Some(symbol));
        symbol
    }

    pub(super) fn add_binding(&mut self, symbol: SymbolId, span: TextRange, kind: BindingKind<'a>) {
        let id = u32::try_from(self.out.bindings.len()).unwrap_or(u32::MAX);
        self.out.bindings.push(Binding {
            symbol,
            span,
            kind,
            next: u32::MAX,
        });
        let Some(entry) = self.out.symbols.get_mut(symbol as usize) else {
            return;
        };
        let last = std::mem::replace(&mut entry.last, id);
        if entry.first == u32::MAX {
            entry.first = id;
        }
        if let Some(binding) = self.out.bindings.get_mut(last as usize) {
            binding.next = id;
        }
    }

    pub(super) fn occurrence(
        &mut self,
        name: LocalNameId,
        span: TextRange,
        role: Role,
        symbol: Option<SymbolId>,
    ) {
        if self.full() {
            let scope = self.scope;
            let in_class = matches!(self.out.kind(scope), Some(ScopeKind::Class(_)));
            let bound = |symbol| self.is_bound(symbol);
            let outward = in_class
                && role == Role::Load
                && !self.unevaluated
                && !self.out.symbol_in(scope, name).is_some_and(bound);
            self.out.occurrences.push(Occurrence {
                name,
                span,
                scope,
                role,
                symbol,
                outward,
            });
        }
    }

    /// A name is read.
    pub(super) fn load(&mut self, name: &'a str, span: TextRange) {
        let id = self.intern(name);
        self.occurrence(id, span, Role::Load, None);
        self.check(id, name, span);
    }

    /// Remembers the name when nothing binds it at this point.
    pub(super) fn check(&mut self, id: LocalNameId, name: &str, span: TextRange) {
        if self.bound_symbol(id).is_none() && !known::is_builtin(name) && !self.class_magic(name) {
            self.suspect(id, span);
        }
    }

    pub(super) fn suspect(&mut self, name: LocalNameId, span: TextRange) {
        let (scope, guard, exact) = (self.scope, self.guard, self.exact);
        let missing = Missing::Everywhere;
        self.out.suspects.push(Suspect {
            name,
            span,
            scope,
            guard,
            missing,
            exact,
            unevaluated: self.unevaluated,
        });
    }

    /// The symbol that `name` has at this point of the walk.
    ///
    /// Comprehensions see the names of a class around them here: that is true for their first iterable, and a
    /// name that a reader of the class would call bound is not one to report.
    pub(super) fn bound_symbol(&self, name: LocalNameId) -> Option<SymbolId> {
        let mut current = Some(self.scope);
        let mut class_visible = true;
        while let Some(id) = current {
            let scope = self.out.scopes.get(id as usize)?;
            let hidden = matches!(scope.kind, ScopeKind::Class(_)) && !class_visible;
            if !hidden
                && let Some(symbol) = self.out.symbol_in(id, name)
                && (self.unevaluated || self.is_bound(symbol))
            {
                return Some(symbol);
            }
            class_visible = matches!(
                scope.kind,
                ScopeKind::TypeParameters | ScopeKind::Comprehension
            );
            current = scope.parent;
        }
        None
    }

    /// Names that exist in the body of a class, and `__class__` in its methods.
    fn class_magic(&self, name: &str) -> bool {
        match name {
            "__module__" | "__qualname__" => {
                matches!(self.out.kind(self.scope), Some(ScopeKind::Class(_)))
            }
            "__class__" => self.out.class_around(self.scope).is_some(),
            _ => false,
        }
    }

    pub(super) fn set_bound(&mut self, symbol: SymbolId, bound: bool) {
        if let Some(symbol) = self.out.symbols.get_mut(symbol as usize) {
            symbol.bound = bound;
        }
    }

    pub(super) fn is_bound(&self, symbol: SymbolId) -> bool {
        self.out
            .symbols
            .get(symbol as usize)
            .is_some_and(|symbol| symbol.bound)
    }

    pub(super) fn add_import(&mut self, import: ImportBinding<'a>) -> u32 {
        let id = u32::try_from(self.out.imports.len()).unwrap_or(u32::MAX);
        self.out.imports.push(import);
        id
    }

    pub(super) fn add_exports(&mut self, found: impl IntoIterator<Item = Export<'a>>) {
        self.out.exports.get_or_insert_with(Vec::new).extend(found);
    }

    pub(super) fn leave_for_later(&mut self, string: &'a ast::ExprStringLiteral) {
        let (scope, guard) = (self.scope, self.guard);
        self.out.pending.push(Pending {
            string,
            scope,
            guard,
        });
    }
}
