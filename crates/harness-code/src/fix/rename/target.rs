//! What a rename request means: the one thing that bears the name, found by place or by name.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::Expr;
use ruff_text_size::TextRange;

use super::super::members::{MemberKind, is_named, keyword_of};
use super::super::program::File;
use super::super::resolved::{ClassRef, FileId, ResolvedModule, Value};
use super::{Renaming, Step, Stop};
use crate::scope::{Binding, BindingKind, ImportBinding, ScopeId, ScopeKind, SymbolId};
use crate::text::whole_words;

/// What is renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A variable, function, class or parameter: a symbol of a file.
    Variable(FileId, SymbolId),
    /// A method or attribute of a class.
    Member(ClassRef),
    /// A module or package.
    Module(ResolvedModule),
}

impl<'s> Renaming<'_, 's> {
    pub(super) fn find_target(&self) -> Step<Target> {
        match (&self.request.file, self.request.line) {
            (Some(path), Some(line)) => {
                let id = self.program.id(path).ok_or_else(|| {
                    Stop::because(format!("`{path}` is not a Python file of the project"))
                })?;
                let file = self
                    .program
                    .file(id)
                    .ok_or_else(|| Stop::because(format!("`{path}` cannot be read")))?;
                self.target_at(&file, line)
            }
            _ => self.target_by_name(),
        }
    }

    fn target_at(&self, file: &Rc<File<'s>>, line: u32) -> Step<Target> {
        let Some(wanted) = self.span_at(file, line) else {
            return Err(Stop::because(format!(
                "`{}` does not stand on line {line}",
                self.old
            )));
        };
        let scopes = &file.scopes;
        let hit = |span: TextRange| Range::<usize>::from(span) == wanted;
        if let Some(import) = scopes
            .imports
            .iter()
            .find(|import| touches(import, &wanted))
        {
            return self.target_of_import(file, import, &wanted);
        }
        // A binding says more than a use: it carries its symbol.
        if let Some(occurrence) = scopes
            .occurrences
            .iter()
            .find(|occurrence| hit(occurrence.span))
        {
            return match occurrence.symbol {
                Some(symbol) => self.target_of_symbol(file, symbol),
                None => self.target_beyond(file),
            };
        }
        if let Some(attribute) = scopes
            .attributes
            .iter()
            .find(|attribute| hit(attribute.node.attr.range))
        {
            return self.target_of_attribute(file, attribute.scope, &attribute.node.value);
        }
        for call in &scopes.calls {
            if keyword_of(call.node, self.old).is_some_and(|name| hit(name.range)) {
                return self.target_of_keyword(file, call.scope, &call.node.func);
            }
        }
        for pattern in &scopes.patterns {
            if pattern
                .node
                .arguments
                .keywords
                .iter()
                .any(|keyword| hit(keyword.attr.range))
            {
                return match self.program.value(file, pattern.scope, &pattern.node.cls) {
                    Value::Class(class) => self.target_of_member(class),
                    _ => Err(Stop::because("the class of the pattern is not known")),
                };
            }
        }
        if let Some(class) = self.slot_at(file, &wanted) {
            return self.target_of_member(class);
        }
        if let Some(exports) = &scopes.exports
            && exports
                .iter()
                .any(|export| Range::<usize>::from(export.span).contains(&wanted.start))
            && let Some(symbol) = scopes.module_symbol(self.old)
        {
            return self.target_of_symbol(file, symbol);
        }
        Err(Stop::because(format!(
            "on line {line} `{}` is no name that Python resolves",
            self.old
        )))
    }

    /// The bytes of the old name on a line: at the column when one is given, else a binding, else the first.
    fn span_at(&self, file: &File<'s>, line: u32) -> Option<Range<usize>> {
        let content = file.content();
        let number = usize::try_from(line).ok()?.checked_sub(1)?;
        let start: usize = content
            .split_inclusive('\n')
            .take(number)
            .map(str::len)
            .sum();
        let text = content.get(start..)?.split_inclusive('\n').next()?;
        let words: Vec<Range<usize>> = whole_words(text, self.old)
            .map(|at| start + at..start + at + self.old.len())
            .collect();
        if let Some(column) = self.request.column {
            let characters = usize::try_from(column).ok()?.saturating_sub(1);
            let at = start
                + text
                    .char_indices()
                    .nth(characters)
                    .map_or(text.len(), |(at, _)| at);
            return words
                .into_iter()
                .find(|word| word.start <= at && at <= word.end);
        }
        let bound = |word: &Range<usize>| {
            file.scopes
                .bindings
                .iter()
                .any(|binding| Range::<usize>::from(binding.span) == *word)
        };
        let binding = words.iter().find(|word| bound(word)).cloned();
        binding.or_else(|| words.into_iter().next())
    }

    fn slot_at(&self, file: &File<'s>, wanted: &Range<usize>) -> Option<ClassRef> {
        for (scope, class) in &file.members().classes {
            for member in class.members.get(self.old).into_iter().flatten() {
                if matches!(member.kind, MemberKind::Slot)
                    && Range::<usize>::from(member.span).contains(&wanted.start)
                {
                    return Some(ClassRef::Read(file.id, *scope));
                }
            }
        }
        None
    }

    /// A name that the file itself does not bind.
    fn target_beyond(&self, file: &Rc<File<'s>>) -> Step<Target> {
        self.through_stars(file, self.old).unwrap_or_else(|| {
            Err(Stop::because(format!(
                "nothing in the project defines `{}`",
                self.old
            )))
        })
    }

    /// What a star import of a file brings by a name.
    fn through_stars(&self, file: &Rc<File<'s>>, name: &str) -> Option<Step<Target>> {
        file.scopes.stars().find_map(|star| {
            let ResolvedModule::File(id) = self.program.imported_module(file, star) else {
                return None;
            };
            let other = self.program.file(id)?;
            let symbol = other.scopes.module_symbol(name)?;
            Some(self.target_of_symbol(&other, symbol))
        })
    }

    /// What a symbol is: followed to where it is defined when it is only imported.
    pub(super) fn target_of_symbol(&self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<Target> {
        let scope = file.scopes.scope_of(symbol).ok_or(Stop::Nothing)?;
        if matches!(file.scopes.kind(scope), Some(ScopeKind::Class(_))) {
            return self.target_of_member(ClassRef::Read(file.id, scope));
        }
        let mut bindings = file.scopes.bindings_of(symbol);
        if let (
            Some(Binding {
                kind: BindingKind::Import(import),
                ..
            }),
            None,
        ) = (bindings.next(), bindings.next())
            && let Some(import) = file.scopes.imports.get(*import as usize)
            && import
                .alias
                .is_none_or(|alias| file.text(alias) == import.member.unwrap_or_default())
        {
            return self.origin(file, import);
        }
        if self.program.path(file.id).is_none() {
            return Err(Stop::because(format!(
                "`{}` is defined outside the project",
                self.old
            )));
        }
        Ok(Target::Variable(file.id, symbol))
    }

    fn target_of_import(
        &self,
        file: &Rc<File<'s>>,
        import: &ImportBinding<'s>,
        wanted: &Range<usize>,
    ) -> Step<Target> {
        if let Some(alias) = import.alias
            && Range::<usize>::from(alias) == *wanted
            && import.member != Some(self.old)
        {
            let symbol = file.scopes.named_in(import.scope, self.old);
            return symbol
                .map(|symbol| Target::Variable(file.id, symbol))
                .ok_or(Stop::Nothing);
        }
        if Range::<usize>::from(import.member_span) == *wanted && import.member.is_some() {
            return self.origin(file, import);
        }
        let module = Range::<usize>::from(import.module_span);
        let upto = file.text(module.start..wanted.end.min(module.end));
        match self
            .program
            .absolute(file, import.level, upto)
            .map(|name| self.program.module(file.id, &name, import.level > 0))
        {
            Some(found @ (ResolvedModule::File(_) | ResolvedModule::Folder(_))) => {
                self.own_module(found)
            }
            _ => Err(Stop::because(format!(
                "the module `{upto}` is not part of the project"
            ))),
        }
    }

    /// Where an imported name is defined.
    fn origin(&self, file: &Rc<File<'s>>, import: &ImportBinding<'s>) -> Step<Target> {
        let module = self.program.imported_module(file, import);
        let Some(member) = import.member else {
            let top = import.module.split('.').next().unwrap_or_default();
            return self.own_module(self.program.module(file.id, top, false));
        };
        if let ResolvedModule::File(id) = &module
            && let Some(other) = self.program.file(*id)
        {
            if let Some(symbol) = other.scopes.module_symbol(member) {
                return self.target_of_symbol(&other, symbol);
            }
            if let Some(found) = self.through_stars(&other, member) {
                return found;
            }
        }
        match self.program.submodule(file.id, &module, member) {
            Some(found) => self.own_module(found),
            None => Err(Stop::because(format!(
                "`{member}` is defined outside the project"
            ))),
        }
    }

    fn own_module(&self, module: ResolvedModule) -> Step<Target> {
        let own = match &module {
            ResolvedModule::File(id) => self.program.path(*id).is_some(),
            ResolvedModule::Folder(_) => true,
            ResolvedModule::Standard(_) | ResolvedModule::Opaque | ResolvedModule::Unknown => false,
        };
        if own {
            Ok(Target::Module(module))
        } else {
            Err(Stop::because(format!(
                "`{}` is not part of the project",
                self.old
            )))
        }
    }

    fn target_of_attribute(
        &self,
        file: &Rc<File<'s>>,
        scope: ScopeId,
        receiver: &Expr,
    ) -> Step<Target> {
        match self.program.value(file, scope, receiver) {
            Value::Module(module) => {
                let mut lacking = format!("`{}` is defined outside the project", self.old);
                if let ResolvedModule::File(id) = module {
                    let other = self.program.file(id).ok_or(Stop::Nothing)?;
                    if let Some(symbol) = other.scopes.module_symbol(self.old) {
                        return self.target_of_symbol(&other, symbol);
                    }
                    lacking = format!("the module does not define `{}`", self.old);
                }
                match self.program.submodule(file.id, &module, self.old) {
                    Some(found) => self.own_module(found),
                    None => Err(Stop::because(lacking)),
                }
            }
            Value::Class(class) | Value::Instance(class) | Value::Super(class) => {
                self.target_of_member(class)
            }
            Value::Function(..) | Value::Standard | Value::Unknown => Err(Stop::because(format!(
                "what `{}` belongs to here is not known",
                self.old
            ))),
        }
    }

    fn target_of_keyword(
        &self,
        file: &Rc<File<'s>>,
        scope: ScopeId,
        callee: &Expr,
    ) -> Step<Target> {
        match self.program.value(file, scope, callee) {
            Value::Function(id, body) => self.parameter(id, body),
            Value::Class(class) => {
                let made = self.program.find_member(class, "__init__");
                if let Some((ClassRef::Read(id, _), member)) = made
                    && let MemberKind::Body(BindingKind::Function(node)) = member.kind
                    && let Some(other) = self.program.file(id)
                    && let Some(body) = other.scopes.scope_of_node(node.range)
                {
                    return self.parameter(id, body);
                }
                self.target_of_member(class)
            }
            _ => Err(Stop::because(
                "the function that is called here is not known",
            )),
        }
    }

    fn parameter(&self, id: FileId, body: ScopeId) -> Step<Target> {
        let file = self.program.file(id).ok_or(Stop::Nothing)?;
        match file.scopes.named_in(body, self.old) {
            Some(symbol) if self.program.path(id).is_some() => Ok(Target::Variable(id, symbol)),
            _ => Err(Stop::because(format!(
                "the function has no parameter `{}`",
                self.old
            ))),
        }
    }

    /// The class of the lineage that defines the name.
    pub(super) fn target_of_member(&self, class: ClassRef) -> Step<Target> {
        match self.program.find_member(class, self.old) {
            Some((holder @ ClassRef::Read(id, _), _)) if self.program.path(id).is_some() => {
                Ok(Target::Member(holder))
            }
            _ => Err(Stop::because(format!(
                "the project does not define `{}` for that class",
                self.old
            ))),
        }
    }

    pub(super) fn describe(&self, target: &Target) -> String {
        let old = self.old;
        match target {
            Target::Variable(..) => format!("`{old}`"),
            Target::Member(class) => format!("`{}.{old}`", self.class_name(*class)),
            Target::Module(_) => format!("the module `{old}`"),
        }
    }

    pub(super) fn are_related(&self, one: ClassRef, other: ClassRef) -> bool {
        self.program.is_a(one, &[other]) || self.program.is_a(other, &[one])
    }
}

fn touches(import: &ImportBinding<'_>, wanted: &Range<usize>) -> bool {
    let inside = |span: TextRange| {
        span.start() <= u32_of(wanted.start).into() && u32_of(wanted.end) <= u32::from(span.end())
    };
    inside(import.module_span) || inside(import.member_span) || import.alias.is_some_and(inside)
}

fn u32_of(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// Whether a decorator makes several `def`s of one name belong together.
pub(super) fn joins(decorator: &Expr, name: &str) -> bool {
    match decorator {
        Expr::Attribute(node) => {
            matches!(node.value.as_ref(), Expr::Name(owner) if owner.id.as_str() == name)
        }
        other => is_named(other, "overload"),
    }
}
