//! Variables, functions and classes: their uses in the file, and in the files that import them.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast as ast;

use super::super::members::is_decorated;
use super::super::program::File;
use super::super::resolved::{FileId, ResolvedModule, Value};
use super::family::Owner;
use super::target::joins;
use super::{Renaming, Step, Stop};
use crate::scope::{BindingKind, Role, ScopeKind, SymbolId, doctest, known};
use crate::text::whole_words;

impl<'s> Renaming<'_, 's> {
    pub(super) fn rename_variable(&mut self, id: FileId, symbol: SymbolId) -> Step<()> {
        let file = self.program.file(id).ok_or(Stop::Nothing)?;
        self.check_parsed(&file)?;
        self.check_definitions(&file, symbol)?;
        let scope = file.scopes.scope_of(symbol).ok_or(Stop::Nothing)?;
        let kind = file.scopes.kind(scope).ok_or(Stop::Nothing)?;
        let parameter = file
            .scopes
            .bindings_of(symbol)
            .any(|binding| matches!(binding.kind, BindingKind::Parameter(_)));
        match kind {
            ScopeKind::Module => self.rename_global(&file, symbol),
            ScopeKind::Function(function) if parameter => {
                self.rename_symbol(&file, symbol)?;
                self.rename_keywords(&file, scope, function)
            }
            ScopeKind::Class(_)
            | ScopeKind::Function(_)
            | ScopeKind::Lambda(_)
            | ScopeKind::Comprehension
            | ScopeKind::TypeParameters => self.rename_symbol(&file, symbol),
        }
    }

    /// A file that does not parse may hide uses.
    pub(super) fn check_parsed(&self, file: &Rc<File<'s>>) -> Step<()> {
        if file.source.is_whole() {
            return Ok(());
        }
        let path = self.path_of(file);
        Err(Stop::because(format!(
            "`{path}` does not parse, so not every use can be found"
        )))
    }

    fn path_of(&self, file: &File<'s>) -> String {
        let path = self.program.path(file.id);
        path.map_or(String::new(), ToString::to_string)
    }

    /// Two definitions of one name that follow each other are two things; overloads and properties are one.
    fn check_definitions(&self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<()> {
        let functions: Vec<&ast::StmtFunctionDef> = file
            .scopes
            .bindings_of(symbol)
            .filter_map(|binding| match binding.kind {
                BindingKind::Function(node) => Some(node),
                _ => None,
            })
            .collect();
        if is_fixture(&functions) {
            let reason = format!(
                "`{}` is a fixture, which tests ask for by the name of a parameter",
                self.old
            );
            return Err(Stop::because(reason));
        }
        let first_is_property = functions
            .first()
            .is_some_and(|function| super::super::values::is_property(function));
        let odd = functions.iter().skip(1).any(|function| {
            function.decorator_list.iter().any(|decorator| {
                joins(&decorator.expression, self.old)
                    && matches!(&decorator.expression, ast::Expr::Attribute(_))
                    && !first_is_property
            })
        });
        if odd {
            let spans = functions.iter().map(|function| function.name.range.into());
            return Err(Stop::Refuse(
                format!(
                    "`{}` is defined twice, the second time from the first",
                    self.old
                ),
                self.places(file, spans),
            ));
        }
        Ok(())
    }

    /// Every occurrence of one symbol in its file, and the doubts about the scope that it lives in.
    pub(super) fn rename_symbol(&mut self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<()> {
        self.rename_occurrences(file, symbol)?;
        self.doubt_scope(file, symbol);
        Ok(())
    }

    pub(super) fn rename_occurrences(&mut self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<()> {
        self.check_collision(file, symbol)?;
        for occurrence in &file.scopes.occurrences {
            if occurrence.symbol == Some(symbol) {
                self.edit(file, occurrence.span)?;
            }
        }
        Ok(())
    }

    fn rename_global(&mut self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<()> {
        let mut queue: Vec<(FileId, SymbolId)> = vec![(file.id, symbol)];
        queue.extend(
            self.twin_symbol(file)
                .map(|(twin, symbol)| (twin.id, symbol)),
        );
        let mut stars: Vec<FileId> = Vec::new();
        let (mut bound, mut brought) = (0, 0);
        // A star import can lead to an import that binds the name again, and the other way round.
        loop {
            if let Some(&(id, symbol)) = queue.get(bound) {
                bound += 1;
                let file = self.program.file(id).ok_or(Stop::Nothing)?;
                self.check_parsed(&file)?;
                self.check_package(&file)?;
                self.rename_symbol(&file, symbol)?;
                self.rename_exports(&file)?;
                self.rename_in_doctests(&file)?;
                self.follow(&[id], &mut queue, &mut stars)?;
            } else if let Some(&id) = stars.get(brought) {
                brought += 1;
                let file = self.program.file(id).ok_or(Stop::Nothing)?;
                self.check_parsed(&file)?;
                self.rename_brought(&file)?;
                self.rename_exports(&file)?;
                self.follow(&[id], &mut queue, &mut stars)?;
            } else {
                break;
            }
        }
        let homes: Vec<FileId> = queue
            .iter()
            .map(|(id, _)| *id)
            .chain(stars.iter().copied())
            .collect();
        for &(id, symbol) in &queue {
            let file = self.program.file(id).ok_or(Stop::Nothing)?;
            self.check_other_imports(&file, symbol, &homes)?;
        }
        self.check_hidden(&stars)?;
        self.rename_module_attributes(&homes)?;
        self.check_found_by_name(file, symbol)?;
        self.doubt(Owner::Modules(&homes, symbol));
        Ok(())
    }

    /// A name that is imported from elsewhere too (`try: from fast import f` and a slow one of our own) keeps its name
    /// there.
    fn check_other_imports(
        &self,
        file: &Rc<File<'s>>,
        symbol: SymbolId,
        homes: &[FileId],
    ) -> Step<()> {
        for binding in file.scopes.bindings_of(symbol) {
            let BindingKind::Import(import) = binding.kind else {
                continue;
            };
            let Some(import) = file.scopes.imports.get(import as usize) else {
                continue;
            };
            let own = import.member.is_some()
                && matches!(self.program.imported_module(file, import), ResolvedModule::File(id) if homes.contains(&id));
            let renamed = import
                .alias
                .is_some_and(|alias| file.text(alias) != import.member.unwrap_or_default());
            if !own && !renamed {
                let reason = format!("`{}` is also imported from elsewhere", self.old);
                return self.refused_at(reason, file, binding.span);
            }
        }
        Ok(())
    }

    /// A star import leaves out names that begin with an underscore, and hides builtins from all that stands below it.
    fn check_hidden(&self, stars: &[FileId]) -> Step<()> {
        if known::is_builtin(self.new) && !stars.is_empty() {
            return Err(Stop::because(format!(
                "star imports would hide Python's builtin `{}`",
                self.new
            )));
        }
        if self.new.starts_with('_') && !self.old.starts_with('_') && !stars.is_empty() {
            return Err(Stop::because(format!(
                "star imports would no longer bring `{}`",
                self.new
            )));
        }
        Ok(())
    }

    /// The files that import the name from one of `homes`; imports without `as` bind it again there.
    fn follow(
        &mut self,
        homes: &[FileId],
        queue: &mut Vec<(FileId, SymbolId)>,
        stars: &mut Vec<FileId>,
    ) -> Step<()> {
        for other in self.importers() {
            for import in &other.scopes.imports {
                let star = import.member == Some("*");
                if !star && import.member != Some(self.old) {
                    continue;
                }
                let ResolvedModule::File(from) = self.program.imported_module(&other, import)
                else {
                    continue;
                };
                if !homes.contains(&from) {
                    continue;
                }
                if star {
                    let hidden = other.scopes.module_symbol(self.old).is_some();
                    if !hidden
                        && !stars.contains(&other.id)
                        && !queue.iter().any(|(id, _)| *id == other.id)
                    {
                        stars.push(other.id);
                    }
                    continue;
                }
                self.check_parsed(&other)?;
                self.edit(&other, import.member_span)?;
                let bound = match import.alias {
                    // `import x as x` says "this name is public": it follows.
                    Some(alias) if other.text(alias) == self.old => true,
                    Some(_) => false,
                    None => true,
                };
                let symbol = other.scopes.named_in(import.scope, self.old);
                if let Some(symbol) = symbol.filter(|_| bound) {
                    if import.scope == 0 {
                        if !queue.contains(&(other.id, symbol)) {
                            queue.push((other.id, symbol));
                        }
                    } else {
                        self.rename_symbol(&other, symbol)?;
                        self.check_other_imports(&other, symbol, homes)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Uses of a name that a star import brings.
    fn rename_brought(&mut self, file: &Rc<File<'s>>) -> Step<()> {
        let clashes = file.scopes.name_id(self.new).is_some_and(|new| {
            file.scopes
                .occurrences
                .iter()
                .any(|occurrence| occurrence.name == new)
        });
        let mut used = false;
        for occurrence in &file.scopes.occurrences {
            if occurrence.symbol.is_none()
                && occurrence.role == Role::Load
                && file.scopes.name(occurrence.name) == self.old
            {
                used = true;
                self.edit(file, occurrence.span)?;
            }
        }
        if clashes && used {
            let path = self.path_of(file);
            return Err(Stop::because(format!(
                "`{path}` gets the name through a star import and has a `{}` of its own",
                self.new
            )));
        }
        Ok(())
    }

    pub(super) fn rename_exports(&mut self, file: &Rc<File<'s>>) -> Step<()> {
        for export in file.scopes.exports.iter().flatten() {
            if export.name == self.old {
                self.edit_string(file, export.span)?;
            }
        }
        Ok(())
    }

    /// `module.name` in every file; what may be the module follows when nothing else has an attribute of the name.
    fn rename_module_attributes(&mut self, homes: &[FileId]) -> Step<()> {
        let mut unknown: Vec<(FileId, Range<usize>)> = Vec::new();
        for other in self.files() {
            for attribute in &other.scopes.attributes {
                let node = attribute.node;
                if node.attr.as_str() != self.old {
                    continue;
                }
                match self.program.value(&other, attribute.scope, &node.value) {
                    Value::Module(ResolvedModule::File(id)) if homes.contains(&id) => {
                        self.check_parsed(&other)?;
                        self.edit(&other, node.attr.range)?;
                    }
                    Value::Unknown
                    | Value::Module(ResolvedModule::Opaque | ResolvedModule::Unknown)
                        if may_be_module(&other, attribute.scope, &node.value) =>
                    {
                        unknown.push((other.id, node.attr.range.into()));
                    }
                    _ => {}
                }
            }
        }
        self.rename_unknown(unknown, |renaming| {
            let reason = || format!("what `.{}` belongs to is not known", renaming.old);
            renaming.is_attribute_elsewhere(homes).then(reason)
        })
    }

    fn is_attribute_elsewhere(&self, homes: &[FileId]) -> bool {
        let defines = |file: &Rc<File<'s>>| {
            let in_module = file.scopes.module_symbol(self.old).is_some();
            file.members().defines(self.old) || in_module && !homes.contains(&file.id)
        };
        self.files().iter().any(defines)
            || crate::stdlib::is_attribute(self.old)
            || self.defining_package(self.old).is_some()
    }

    /// In a package a submodule of the new name would take the place of the renamed thing.
    fn check_package(&self, file: &Rc<File<'s>>) -> Step<()> {
        let children = self.program.children(&ResolvedModule::File(file.id));
        if children.iter().any(|child| child == self.new) {
            return Err(Stop::because(format!(
                "the package has a module `{}` already",
                self.new
            )));
        }
        Ok(())
    }

    /// Examples in docstrings are code that tests run: they follow where the name is the module's.
    pub(super) fn rename_in_doctests(&mut self, file: &Rc<File<'s>>) -> Step<()> {
        for examples in doctest::examples(file.source) {
            let program = crate::scope::Source::parse(examples.code.clone());
            let scopes = program.scopes(crate::scope::Depth::Full);
            let bound = scopes.module_symbol(self.old);
            let imported = bound.is_some_and(|symbol| {
                scopes
                    .bindings_of(symbol)
                    .all(|binding| matches!(binding.kind, BindingKind::Import(_)))
            });
            if bound.is_some() && !imported {
                continue;
            }
            for occurrence in &scopes.occurrences {
                let own = occurrence.symbol.is_none() || (imported && occurrence.symbol == bound);
                if own
                    && scopes.name(occurrence.name) == self.old
                    && let Some(span) = examples.in_file(occurrence.span.into())
                {
                    self.edit(file, span)?;
                }
            }
        }
        Ok(())
    }

    /// Whole words in comments and docstrings of the files that change.
    pub(super) fn rename_in_comments(&mut self) {
        let changed: Vec<FileId> = self.edits.keys().copied().collect();
        for id in changed {
            let Some(file) = self.program.file(id) else {
                continue;
            };
            let comments = file
                .source
                .parsed()
                .tokens()
                .iter()
                .filter(|token| token.kind().is_comment());
            let spans: Vec<Range<usize>> =
                comments.map(|token| crate::scope::bytes(*token)).collect();
            let within = self.request.line.and(self.local_range(&file));
            for span in spans {
                if within
                    .as_ref()
                    .is_some_and(|range| !range.contains(&span.start))
                {
                    continue;
                }
                let found: Vec<usize> = whole_words(file.text(span.clone()), self.old).collect();
                for at in found {
                    let start = span.start + at;
                    self.edits
                        .entry(id)
                        .or_default()
                        .insert((start, start + self.old.len()));
                }
            }
        }
    }

    /// The function around all edits of a file, when there is one.
    fn local_range(&self, file: &Rc<File<'s>>) -> Option<Range<usize>> {
        let edits = self.edits.get(&file.id)?;
        let (first, last) = (edits.first()?.0, edits.last()?.1);
        let functions = file
            .scopes
            .scopes
            .iter()
            .filter_map(|scope| match scope.kind {
                ScopeKind::Function(node) => Some(Range::<usize>::from(node.range)),
                _ => None,
            });
        functions
            .filter(|range| {
                let header = file
                    .text(range.clone())
                    .find(':')
                    .map_or(range.start, |at| range.start + at);
                header < first && last <= range.end
            })
            .min_by_key(ExactSizeIterator::len)
    }
}

/// Whether an expression is a dotted name that begins at the top of the file or outside it; objects that functions
/// get or make are not taken for modules.
fn may_be_module(file: &File<'_>, scope: u32, expression: &ast::Expr) -> bool {
    match expression {
        ast::Expr::Attribute(node) => may_be_module(file, scope, &node.value),
        ast::Expr::Name(name) => {
            let scopes = &file.scopes;
            let symbol = scopes.resolve_name(scope, &name.id);
            symbol.is_none_or(|symbol| {
                scopes.scope_of(symbol) == Some(0)
                    || scopes
                        .bindings_of(symbol)
                        .any(|binding| matches!(binding.kind, BindingKind::Import(_)))
            })
        }
        _ => false,
    }
}

fn is_fixture(functions: &[&ast::StmtFunctionDef]) -> bool {
    let mut functions = functions.iter();
    functions.any(|function| is_decorated(&function.decorator_list, "fixture"))
}
