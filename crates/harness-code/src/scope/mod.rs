//! Python's binding rules, once: scopes, what binds a name, what a name refers to, and names that nothing binds.
//!
//! One walk over a parsed file gives a [`Scopes`] value. Order matters at module and class level (a name must
//! be bound before it is used there), bodies of functions are looked at afterwards. What is bound dynamically is
//! marked, so that a caller can say "do not know" instead of guessing. Nothing here looks at other files.

mod annotation;
mod build;
pub(crate) mod doctest;
mod exports;
mod expression;
pub(crate) mod known;
mod statement;
mod unresolved;

use std::ops::Range;
use std::sync::OnceLock;

use ruff_python_ast as ast;
use ruff_python_parser::{Parsed, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

pub use unresolved::{Unresolved, unresolved};

/// The place of a name among the distinct names of one file.
pub(crate) type LocalNameId = u32;
/// The place of a scope among the scopes of one file; 0 is the module.
pub(crate) type ScopeId = u32;
/// The place of a symbol (one name in one scope) among the symbols of one file.
pub(crate) type SymbolId = u32;

/// What kind of block a scope belongs to.
#[derive(Clone, Copy, Debug)]
pub enum ScopeKind<'a> {
    /// The file itself.
    Module,
    /// The body of a class.
    Class(&'a ast::StmtClassDef),
    /// The parameters and body of a function.
    Function(&'a ast::StmtFunctionDef),
    /// A lambda.
    Lambda(&'a ast::ExprLambda),
    /// A list, set or dict comprehension or a generator expression.
    Comprehension,
    /// The type parameters of a class, function or type alias.
    TypeParameters,
}

/// One block with names of its own.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    /// What it belongs to.
    pub kind: ScopeKind<'a>,
    /// The scope around it; `None` for the module.
    pub parent: Option<ScopeId>,
    /// The symbol that the class or function itself is bound to, in the scope around it.
    pub owner: Option<SymbolId>,
}

/// One name in one scope.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: LocalNameId,
    /// The scope it lives in.
    pub scope: ScopeId,
    /// Whether anything ever gives it a value (an annotation alone does not).
    pub assigned: bool,
    /// Whether a `global` or `nonlocal` statement of an inner scope names it.
    pub declared_inside: bool,
    /// Whether it is bound at this point of the walk.
    bound: bool,
    first: u32,
    last: u32,
}

/// How a name gets its value.
#[derive(Clone, Copy, Debug)]
pub enum BindingKind<'a> {
    /// A parameter of a function or lambda.
    Parameter(&'a ast::Parameter),
    /// A `def`.
    Function(&'a ast::StmtFunctionDef),
    /// A `class`.
    Class(&'a ast::StmtClassDef),
    /// An import; the value is its place in [`Scopes::imports`].
    Import(u32),
    /// `name = value`.
    Assigned(&'a ast::Expr),
    /// `name: annotation` with or without a value.
    Annotated(&'a ast::Expr, Option<&'a ast::Expr>),
    /// `with value as name`.
    With(&'a ast::Expr),
    /// A type parameter or a type alias.
    Type,
    /// `except E as name`.
    Except(Option<&'a ast::Expr>),
    /// Named by a `global` or `nonlocal` statement.
    Declared,
    /// Bound without a single value to look at: loop variables, unpacking, patterns, deletion.
    Other,
}

/// One place that binds a name.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// What it binds.
    pub symbol: SymbolId,
    /// The name's own bytes.
    pub span: TextRange,
    /// How.
    pub kind: BindingKind<'a>,
    next: u32,
}

/// One imported module or name.
#[derive(Clone, Copy, Debug)]
pub struct ImportBinding<'a> {
    /// Where it stands.
    pub scope: ScopeId,
    /// Leading dots.
    pub level: u32,
    /// The dotted module text; empty for `from . import x`.
    pub module: &'a str,
    /// The bytes of the module text.
    pub module_span: TextRange,
    /// The member of a `from` import, `*` included.
    pub member: Option<&'a str>,
    /// The bytes of the member.
    pub member_span: TextRange,
    /// The bytes of the `as` name.
    pub alias: Option<TextRange>,
    /// What surrounds it.
    pub guard: Guard,
    /// The whole statement.
    pub statement: TextRange,
}

impl<'a> ImportBinding<'a> {
    /// Returns the parts of the module text, each with all that stands up to its end, and its bytes.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'a str, &'a str, Range<usize>)> {
        let (module, first) = (self.module, usize::from(self.module_span.start()));
        let mut start = 0;
        module.split('.').map(move |part| {
            let end = start + part.len();
            let span = first + start..first + end;
            start = end + 1;
            (part, &module[..end], span)
        })
    }

    /// Returns the name that the import gives to its file, whose text this is.
    pub fn bound<'t>(&'t self, text: &'t str) -> &'t str {
        match (self.alias, self.member) {
            (Some(alias), _) => &text[alias.to_std_range()],
            (None, Some(member)) => member,
            (None, None) => self.module.split('.').next().unwrap_or_default(),
        }
    }
}

/// What stands around a use and could make a failure harmless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard(u8);

impl Guard {
    const NAME_ERROR: u8 = 1;
    const IMPORT_ERROR: u8 = 2;
    const ATTRIBUTE_ERROR: u8 = 4;
    const BROAD: u8 = 8;
    const TYPE_CHECKING: u8 = 16;

    /// Inside a `try` that catches `NameError`.
    pub(crate) fn catches_name_error(self) -> bool {
        self.0 & Self::NAME_ERROR != 0
    }
    /// Inside a `try` that catches everything.
    pub fn catches_all(self) -> bool {
        self.0 & Self::BROAD != 0
    }
    /// Inside a `try` that catches a failed import.
    pub fn catches_import_error(self) -> bool {
        self.0 & (Self::IMPORT_ERROR | Self::BROAD) != 0
    }
    /// Inside a `try` that catches a missing attribute.
    pub(crate) fn catches_attribute_error(self) -> bool {
        self.0 & (Self::ATTRIBUTE_ERROR | Self::BROAD) != 0
    }
    /// Inside `if TYPE_CHECKING:`.
    pub fn for_type_checkers(self) -> bool {
        self.0 & Self::TYPE_CHECKING != 0
    }
}

/// Whether nothing binds a name, or only something that comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No visible scope binds it anywhere.
    Everywhere,
    /// A visible scope binds it, but not yet, not any more, or by annotation only.
    Here,
}

/// A use of a name that is not bound where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Suspect {
    /// The name.
    pub name: LocalNameId,
    /// Its bytes.
    pub span: TextRange,
    /// Where it is looked up from.
    pub scope: ScopeId,
    /// What stands around it.
    pub guard: Guard,
    /// Whether it is bound elsewhere.
    pub missing: Missing,
    /// Whether its bytes are exactly the name (not so in escaped or joined string annotations).
    pub exact: bool,
    /// Whether only type checkers evaluate it, so that what comes later counts too.
    pub unevaluated: bool,
}

/// How a name stands at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its value is read.
    Load,
    /// It is given a value, declared or deleted.
    Bind,
}

/// One place where a variable's name stands.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence {
    /// The name.
    pub name: LocalNameId,
    /// Its bytes.
    pub span: TextRange,
    /// Where it is looked up from.
    pub scope: ScopeId,
    /// Read or bound.
    pub role: Role,
    /// What it refers to in this file; `None` for builtins, star imports and unknown names.
    pub symbol: Option<SymbolId>,
    /// Read in the body of a class before that binds it (`x = x`): then it comes from outside the class.
    pub outward: bool,
}

/// One `value.name`.
#[derive(Clone, Copy, Debug)]
pub struct AttributeUse<'a> {
    /// The whole expression.
    pub node: &'a ast::ExprAttribute,
    /// Where it stands.
    pub scope: ScopeId,
    /// What stands around it.
    pub guard: Guard,
}

/// One `value.name = ...`, or another statement that sets an attribute.
#[derive(Clone, Copy, Debug)]
pub struct Store<'a> {
    /// The attribute.
    pub node: &'a ast::ExprAttribute,
    /// Where it stands.
    pub scope: ScopeId,
    /// What it is set to.
    pub kind: BindingKind<'a>,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct CallUse<'a> {
    /// The whole expression.
    pub node: &'a ast::ExprCall,
    /// Where it stands.
    pub scope: ScopeId,
}

/// One class pattern of a `match` statement.
#[derive(Clone, Copy, Debug)]
pub struct PatternUse<'a> {
    /// The whole pattern.
    pub node: &'a ast::PatternMatchClass,
    /// Where it stands.
    pub scope: ScopeId,
}

/// Ways in which a file binds names that no walk can see.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dynamic {
    /// `globals()`, `vars()`, `exec` or `setattr` on modules may bind module names.
    pub module_names: bool,
    /// The module has `__getattr__`.
    pub module_getattr: bool,
    /// Nested deeper than the walk goes, so something was left out.
    pub cut: bool,
}

impl Dynamic {
    /// Whether the module may have names that the walk does not know.
    pub(crate) fn may_define_more(self) -> bool {
        self.module_names || self.module_getattr || self.cut
    }
}

/// One entry of `__all__`.
#[derive(Clone, Copy, Debug)]
pub struct Export<'a> {
    /// The name it gives out.
    pub name: &'a str,
    /// The bytes of the string literal, quotes included.
    pub span: TextRange,
}

/// How much of a file is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// Only what is needed to find unresolved names.
    #[default]
    Names,
    /// Every occurrence, attribute and call as well.
    Full,
}

/// The scopes of one file.
#[derive(Debug, Default)]
pub struct Scopes<'a> {
    /// The distinct names.
    pub names: Vec<&'a str>,
    /// All scopes; the module is the first.
    pub scopes: Vec<Scope<'a>>,
    /// All symbols.
    pub symbols: Vec<Symbol>,
    /// All bindings.
    pub bindings: Vec<Binding<'a>>,
    /// All imports in order.
    pub imports: Vec<ImportBinding<'a>>,
    /// Uses that nothing binds where they stand.
    pub suspects: Vec<Suspect>,
    /// Every occurrence of a variable name ([`Depth::Full`] only).
    pub occurrences: Vec<Occurrence>,
    /// Every attribute ([`Depth::Full`] only).
    pub attributes: Vec<AttributeUse<'a>>,
    /// Every attribute that is set ([`Depth::Full`] only); they are in `attributes` too.
    pub stores: Vec<Store<'a>>,
    /// Every call ([`Depth::Full`] only).
    pub calls: Vec<CallUse<'a>>,
    /// Every class pattern ([`Depth::Full`] only).
    pub patterns: Vec<PatternUse<'a>>,
    /// What `__all__` lists, where that can be read.
    pub exports: Option<Vec<Export<'a>>>,
    /// Whether `__all__` holds more than what could be read.
    pub exports_open: bool,
    /// What cannot be seen.
    pub dynamic: Dynamic,
    /// String annotations, left for [`Scopes::with_annotations`].
    pending: Vec<build::Pending<'a>>,
    table: FxHashMap<u64, SymbolId>,
    interned: FxHashMap<&'a str, LocalNameId>,
    /// The scopes of classes, functions and lambdas by their whole range ([`Depth::Full`] only).
    nodes: FxHashMap<TextRange, ScopeId>,
    /// Symbols that are the `typing` module (empty), or a member of it by this name.
    typing: FxHashMap<SymbolId, &'a str>,
    depth: Depth,
}

/// A parsed file and the string annotations in it.
#[derive(Debug)]
pub struct Source {
    content: String,
    parsed: Parsed<ast::ModModule>,
    /// Strings in annotations, and strings inside those.
    annotations: [OnceLock<Vec<annotation::ParsedText>>; 2],
}

impl Source {
    /// Parses `content`; broken code gives a partial tree.
    pub fn parse(content: String) -> Source {
        let options = ruff_python_parser::ParseOptions::from(ruff_python_parser::Mode::Module);
        let parsed = parse_unchecked(&content, options)
            .try_into_module()
            .unwrap_or_else(empty_module);
        Source {
            content,
            parsed,
            annotations: [OnceLock::new(), OnceLock::new()],
        }
    }

    /// The text.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The statements.
    pub fn body(&self) -> &[ast::Stmt] {
        &self.parsed.syntax().body
    }

    /// The parsed tree with its tokens.
    pub fn parsed(&self) -> &Parsed<ast::ModModule> {
        &self.parsed
    }

    /// Whether Python can parse it.
    pub fn is_whole(&self) -> bool {
        self.parsed.has_valid_syntax()
    }

    /// Works out the scopes, string annotations included.
    pub fn scopes(&self, depth: Depth) -> Scopes<'_> {
        let mut scopes = Scopes::of(self.body(), depth);
        for level in &self.annotations {
            if scopes.pending.is_empty() {
                break;
            }
            let parsed = level.get_or_init(|| annotation::parse(&self.content, &scopes));
            scopes = scopes.with_annotations(parsed);
        }
        scopes
    }
}

fn empty_module() -> Parsed<ast::ModModule> {
    // The parser gives a module for `Mode::Module`; an empty text is the same answer without a panic.
    ruff_python_parser::parse_unchecked_source("", ast::PySourceType::Python)
}

impl<'a> Scopes<'a> {
    /// Walks the statements of one file; string annotations are left out.
    fn of(body: &'a [ast::Stmt], depth: Depth) -> Scopes<'a> {
        let mut builder = build::Builder::new(depth);
        builder.module(body);
        builder.finish()
    }

    /// The text of a name.
    pub fn name(&self, name: LocalNameId) -> &'a str {
        self.names.get(name as usize).copied().unwrap_or_default()
    }

    /// The id of a name, when the file has it.
    pub(crate) fn name_id(&self, name: &str) -> Option<LocalNameId> {
        self.interned.get(name).copied()
    }

    /// The symbol of `name` in exactly `scope`.
    pub(crate) fn symbol_in(&self, scope: ScopeId, name: LocalNameId) -> Option<SymbolId> {
        self.table.get(&key(scope, name)).copied()
    }

    /// The module-level symbol called `name`.
    pub(crate) fn module_symbol(&self, name: &str) -> Option<SymbolId> {
        self.named_in(0, name)
    }

    /// The symbol of a name in exactly `scope`.
    pub(crate) fn named_in(&self, scope: ScopeId, name: &str) -> Option<SymbolId> {
        self.symbol_in(scope, self.name_id(name)?)
    }

    /// The scope that a symbol lives in.
    pub(crate) fn scope_of(&self, symbol: SymbolId) -> Option<ScopeId> {
        Some(self.symbols.get(symbol as usize)?.scope)
    }

    /// What kind of block a scope belongs to.
    pub(crate) fn kind(&self, scope: ScopeId) -> Option<ScopeKind<'a>> {
        Some(self.scopes.get(scope as usize)?.kind)
    }

    /// The scope around a scope.
    pub(crate) fn parent(&self, scope: ScopeId) -> Option<ScopeId> {
        self.scopes.get(scope as usize)?.parent
    }

    /// The symbol that the class or function of a scope is bound to.
    pub(crate) fn owner(&self, scope: ScopeId) -> Option<SymbolId> {
        self.scopes.get(scope as usize)?.owner
    }

    /// A scope and those around it, innermost first.
    pub(crate) fn around(&self, scope: ScopeId) -> impl Iterator<Item = (ScopeId, ScopeKind<'a>)> {
        std::iter::successors(Some(scope), |id| self.parent(*id))
            .map_while(|id| Some((id, self.kind(id)?)))
    }

    /// The scopes that a name in `scope` is looked up in by Python's own rules, innermost first.
    pub(crate) fn visible_from(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> {
        let mut class_visible = true;
        let visible = self.around(scope).filter(move |(_, kind)| {
            let is_visible = class_visible || !matches!(kind, ScopeKind::Class(_));
            class_visible = matches!(kind, ScopeKind::TypeParameters);
            is_visible
        });
        visible.map(|(id, _)| id)
    }

    /// What `name` refers to when it is looked up from `scope`.
    pub fn resolve(&self, scope: ScopeId, name: LocalNameId) -> Option<SymbolId> {
        self.visible_from(scope)
            .find_map(|scope| self.symbol_in(scope, name))
    }

    /// What a name refers to when it is looked up from `scope`.
    pub(crate) fn resolve_name(&self, scope: ScopeId, name: &str) -> Option<SymbolId> {
        self.resolve(scope, self.name_id(name)?)
    }

    /// What an occurrence refers to.
    fn resolve_occurrence(&self, occurrence: &Occurrence) -> Option<SymbolId> {
        // Classes see no names of classes around them.
        let is_hidden = |kind| occurrence.outward && matches!(kind, ScopeKind::Class(_));
        let mut around = self.around(occurrence.scope);
        let (scope, _) = around.find(|(_, kind)| !is_hidden(*kind))?;
        self.resolve(scope, occurrence.name)
    }

    /// The bindings of a symbol, in the order of the walk.
    pub(crate) fn bindings_of(&self, symbol: SymbolId) -> impl Iterator<Item = &Binding<'a>> {
        let mut next = self
            .symbols
            .get(symbol as usize)
            .map_or(u32::MAX, |symbol| symbol.first);
        std::iter::from_fn(move || {
            let binding = self.bindings.get(next as usize)?;
            next = binding.next;
            Some(binding)
        })
    }

    /// The scope that the body of this class or function opened.
    pub(crate) fn scope_of_node(&self, range: TextRange) -> Option<ScopeId> {
        self.nodes.get(&range).copied()
    }

    /// The innermost class whose method or body `scope` lies in, going through functions.
    pub(crate) fn class_around(&self, scope: ScopeId) -> Option<ScopeId> {
        let mut around = self.around(scope);
        let found = around.find(|(_, kind)| matches!(kind, ScopeKind::Class(_)));
        found.map(|(id, _)| id)
    }

    /// The function whose body `scope` lies in, going through comprehensions and lambdas.
    pub(crate) fn function_around(
        &self,
        scope: ScopeId,
    ) -> Option<(ScopeId, &'a ast::StmtFunctionDef)> {
        for (id, kind) in self.around(scope) {
            match kind {
                ScopeKind::Function(node) => return Some((id, node)),
                ScopeKind::Class(_) | ScopeKind::Module => return None,
                ScopeKind::Lambda(_) | ScopeKind::Comprehension | ScopeKind::TypeParameters => {}
            }
        }
        None
    }

    /// The star imports of the file.
    pub fn stars(&self) -> impl Iterator<Item = &ImportBinding<'a>> {
        self.imports
            .iter()
            .filter(|import| import.member == Some("*"))
    }
}

fn key(scope: ScopeId, name: LocalNameId) -> u64 {
    (u64::from(scope) << 32) | u64::from(name)
}

/// The bytes of any node, as the rest of the crate counts them.
pub fn bytes(node: impl Ranged) -> Range<usize> {
    node.range().into()
}

#[cfg(test)]
mod tests;
