//! Methods and attributes: the classes that share one, and every access that reaches it.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr};

use super::super::members::{FIELD_DECORATORS, MemberKind, is_decorated, is_named, keyword_of};
use super::super::program::File;
use super::super::resolved::{ClassRef, FileId, ResolvedModule, Value};
use super::family::{Belongs, Family, Owner};
use super::{Renaming, Step, Stop};
use crate::scope::{BindingKind, Depth, ScopeId, Scopes, Source, doctest};
use crate::stdlib;
use crate::text::line_start;

impl<'s> Renaming<'_, 's> {
    pub(super) fn rename_member(&mut self, class: ClassRef) -> Step<()> {
        let family = self.family(class, self.old);
        self.check_bases(&family)?;
        self.check_new_member(&family)?;
        self.check_mangling()?;
        for &class in &family.own {
            let ClassRef::Read(id, scope) = class else {
                continue;
            };
            let file = self.program.file(id).ok_or(Stop::Nothing)?;
            self.check_parsed(&file)?;
            self.rename_in_body(&file, scope)?;
        }
        let mut unknown: Vec<(FileId, Range<usize>)> = Vec::new();
        for file in self.files() {
            for (span, belongs) in self.accesses(&file, &family) {
                match belongs {
                    Belongs::Owner => self.edit(&file, span)?,
                    Belongs::Other => {}
                    Belongs::Unknown => unknown.push((file.id, span)),
                }
            }
        }
        self.check_dispatched(&family)?;
        self.rename_unknown(unknown, |renaming| {
            let other = renaming.defined_elsewhere(&family)?;
            Some(format!(
                "what `.{}` belongs to is not known, and {other} has one too",
                renaming.old
            ))
        })?;
        self.doubt(Owner::Family(&family));
        Ok(())
    }

    /// A base that has the member too, or that nobody can read, makes it more than the project's own.
    fn check_bases(&mut self, family: &Family) -> Step<()> {
        for &class in &family.own {
            let lineage = self.program.lineage(class);
            for base in &lineage.classes {
                let outside = match base {
                    ClassRef::Read(id, _) => self.program.path(*id).is_none(),
                    ClassRef::Standard(..) => true,
                };
                if outside && self.program.defines(*base, self.old) {
                    return Err(Stop::because(format!(
                        "`{}` overrides a member of a class outside the project",
                        self.old
                    )));
                }
            }
            if lineage.open {
                let reason = format!(
                    "`{}` has a base that cannot be read, which may call or define `{}`",
                    self.class_name(class),
                    self.old
                );
                // A base outside the project calls what it documents; a private name is hardly among that.
                if !self.old.starts_with('_') {
                    return Err(Stop::because(reason));
                }
                let doubt = self.at_class(reason, class);
                self.note(doubt);
            }
        }
        Ok(())
    }

    pub(super) fn class_name(&self, class: ClassRef) -> String {
        match class {
            ClassRef::Read(..) => {
                let node = self.program.class_node(class);
                node.map_or(String::new(), |node| node.name.to_string())
            }
            ClassRef::Standard(_, name) => name.to_string(),
        }
    }

    /// The new name must be free in every class that sees the member.
    fn check_new_member(&self, family: &Family) -> Step<()> {
        let mut seen: Vec<ClassRef> = family
            .own
            .iter()
            .flat_map(|class| self.program.lineage(*class).classes.clone())
            .collect();
        // Subclasses that have the new name mention it, so their files hold it.
        for file in self.program.files_holding(self.new) {
            for scope in file.members().classes.keys() {
                let class = ClassRef::Read(file.id, *scope);
                if self.program.is_a(class, &family.own) {
                    seen.push(class);
                }
            }
        }
        match seen
            .into_iter()
            .find(|class| self.program.defines(*class, self.new))
        {
            Some(class) => Err(Stop::because(format!(
                "`{}` has a `{}` already",
                self.class_name(class),
                self.new
            ))),
            None => Ok(()),
        }
    }

    /// Two leading underscores make a name private to its class; taking them away or adding them changes who sees it.
    fn check_mangling(&self) -> Step<()> {
        if self.old.starts_with("__") != self.new.starts_with("__") {
            return Err(Stop::because(
                "two leading underscores hide a name from subclasses, so this is more than a rename",
            ));
        }
        Ok(())
    }

    /// Bindings in the body of a class, uses there, slots.
    fn rename_in_body(&mut self, file: &Rc<File<'s>>, scope: ScopeId) -> Step<()> {
        if let Some(symbol) = file.scopes.named_in(scope, self.old) {
            self.rename_occurrences(file, symbol)?;
        }
        let class = ClassRef::Read(file.id, scope);
        for member in self.program.own_members(class, self.old) {
            match member.kind {
                MemberKind::Slot => self.edit_string(file, member.span)?,
                MemberKind::Set(..) => self.edit(file, member.span)?,
                MemberKind::Body(_) => {}
            }
        }
        for member in self.program.own_members(class, "__match_args__") {
            if file
                .text(statement_around(file, member.span.start().into()))
                .contains(self.old)
            {
                let reason = format!(
                    "`__match_args__` names `{}`, which patterns use by position",
                    self.old
                );
                return self.refused_at(reason, file, member.span);
            }
        }
        Ok(())
    }

    /// Every access of the old name in a file.
    fn accesses(&self, file: &Rc<File<'s>>, family: &Family) -> Vec<(Range<usize>, Belongs)> {
        let mut found: Vec<(Range<usize>, Belongs)> = Vec::new();
        for attribute in &file.scopes.attributes {
            if attribute.node.attr.as_str() == self.old {
                let value = self
                    .program
                    .value(file, attribute.scope, &attribute.node.value);
                let belongs = self.belongs(&value, family);
                found.push((attribute.node.attr.range.into(), belongs));
            }
        }
        for pattern in &file.scopes.patterns {
            for keyword in &pattern.node.arguments.keywords {
                if keyword.attr.as_str() == self.old {
                    let value = self.program.value(file, pattern.scope, &pattern.node.cls);
                    found.push((keyword.attr.range.into(), self.belongs(&value, family)));
                }
            }
        }
        if self.is_field(family) {
            found.extend(self.field_keywords(file, family));
        }
        found.extend(self.in_doctests(file, family));
        found
    }

    pub(super) fn belongs(&self, value: &Value, family: &Family) -> Belongs {
        match value {
            Value::Class(class) | Value::Instance(class) | Value::Super(class) => {
                if self.program.is_a(*class, &family.own) {
                    return Belongs::Owner;
                }
                let is_standard = matches!(class, ClassRef::Standard(..));
                if self.program.is_a(*class, &family.others)
                    || self.program.standard_has(*class, self.old)
                    || is_standard && !self.program.lineage(*class).open
                {
                    return Belongs::Other;
                }
                // A mixin: what it uses, its subclasses define.
                let below = |classes: &[ClassRef]| {
                    let mut classes = classes.iter();
                    classes.any(|below| self.program.is_a(*below, &[*class]))
                };
                match (below(&family.own), below(&family.others)) {
                    (true, false) => Belongs::Owner,
                    (false, true) => Belongs::Other,
                    _ => Belongs::Unknown,
                }
            }
            Value::Module(
                ResolvedModule::File(_) | ResolvedModule::Standard(_) | ResolvedModule::Folder(_),
            )
            | Value::Function(..) => Belongs::Other,
            Value::Module(ResolvedModule::Opaque | ResolvedModule::Unknown)
            | Value::Standard
            | Value::Unknown => Belongs::Unknown,
        }
    }

    /// Whether the member is a field that the class is built from by keyword.
    pub(super) fn is_field(&self, family: &Family) -> bool {
        family.own.iter().any(|&class| {
            let Some(node) = self.program.class_node(class) else {
                return false;
            };
            let members = self.program.own_members(class, self.old);
            let annotated = members.iter().any(|member| {
                matches!(
                    member.kind,
                    MemberKind::Body(BindingKind::Annotated(..) | BindingKind::Assigned(_))
                )
            });
            let records = "NamedTuple TypedDict BaseModel Struct";
            let is_record = || node.bases().iter().any(|base| is_named(base, records));
            annotated && (is_decorated(&node.decorator_list, FIELD_DECORATORS) || is_record())
        })
    }

    fn field_keywords(&self, file: &Rc<File<'s>>, family: &Family) -> Vec<(Range<usize>, Belongs)> {
        let mut found = Vec::new();
        for call in &file.scopes.calls {
            let Some(name) = keyword_of(call.node, self.old) else {
                continue;
            };
            let callee = self.program.value(file, call.scope, &call.node.func);
            let made = matches!(&callee, Value::Class(_))
                && matches!(self.belongs(&callee, family), Belongs::Owner);
            let replaced = is_named(&call.node.func, "replace _replace evolve model_copy");
            let first = call.node.arguments.args.first();
            let copied = first.filter(|_| replaced).is_some_and(|first| {
                let value = self.program.value(file, call.scope, first);
                matches!(self.belongs(&value, family), Belongs::Owner)
            });
            if made || copied {
                found.push((name.range.into(), Belongs::Owner));
            } else if replaced || matches!(callee, Value::Unknown) {
                found.push((name.range.into(), Belongs::Unknown));
            }
        }
        found
    }

    /// Accesses of the old name in examples of docstrings. What they belong to is known where the example makes it from
    /// a class that the file knows.
    fn in_doctests(&self, file: &Rc<File<'s>>, family: &Family) -> Vec<(Range<usize>, Belongs)> {
        let mut found = Vec::new();
        for examples in doctest::examples(file.source) {
            let program = Source::parse(examples.code.clone());
            let scopes = program.scopes(Depth::Full);
            for attribute in &scopes.attributes {
                if attribute.node.attr.as_str() != self.old {
                    continue;
                }
                let value = self.value_in_doctest(file, &scopes, &attribute.node.value, 0);
                let span = examples.in_file(attribute.node.attr.range.into());
                found.extend(span.map(|span| (span, self.belongs(&value, family))));
            }
        }
        found
    }

    /// What an expression of an example stands for: its names are the module's unless the example binds them.
    fn value_in_doctest(
        &self,
        file: &Rc<File<'s>>,
        scopes: &Scopes<'_>,
        expression: &Expr,
        steps: u32,
    ) -> Value {
        let mut root = expression;
        while let Expr::Attribute(ast::ExprAttribute { value, .. })
        | Expr::Call(ast::ExprCall { func: value, .. }) = root
        {
            root = value;
        }
        let Expr::Name(name) = root else {
            return Value::Unknown;
        };
        let Some(symbol) = scopes.module_symbol(name.id.as_str()) else {
            return self.program.value(file, 0, expression);
        };
        let mut bindings = scopes.bindings_of(symbol);
        match (bindings.next().map(|binding| binding.kind), bindings.next()) {
            (Some(BindingKind::Import(_)), None) => self.program.value(file, 0, expression),
            (Some(BindingKind::Assigned(made)), None) if expression.is_name_expr() && steps < 8 => {
                self.value_in_doctest(file, scopes, made, steps + 1)
            }
            _ => Value::Unknown,
        }
    }

    pub(super) fn is_enumeration(&self, family: &Family) -> bool {
        family.own.iter().any(|class| {
            self.program
                .lineage(*class)
                .classes
                .iter()
                .any(|base| matches!(base, ClassRef::Standard("enum", _)))
        })
    }

    /// Who else defines the name: another class of the project, the standard library, an imported package.
    pub(super) fn defined_elsewhere(&self, family: &Family) -> Option<String> {
        if let Some(other) = family.others.first() {
            return Some(format!("`{}`", self.class_name(*other)));
        }
        if stdlib::is_attribute(self.old) {
            return Some("the standard library".to_string());
        }
        self.defining_package(self.old)
    }

    /// An imported package that defines the name, or cannot be read.
    pub(super) fn defining_package(&self, name: &str) -> Option<String> {
        let mut packages: Vec<String> = Vec::new();
        // Only files that access the name can be confused about it.
        for file in self.program.files_holding(name) {
            for import in file
                .scopes
                .imports
                .iter()
                .filter(|import| import.level == 0)
            {
                let top = import.module.split('.').next().unwrap_or_default();
                let known =
                    stdlib::is_module(top) || self.program.project_module(file.id, top).is_some();
                if !known && !packages.iter().any(|package| package == top) {
                    packages.push(top.to_string());
                }
            }
        }
        packages
            .into_iter()
            .find(|package| self.program.installed.may_define(package, name))
            .map(|package| format!("the package `{package}`"))
    }
}

/// The logical line that begins around an offset, as far as its brackets reach.
fn statement_around(file: &File<'_>, offset: usize) -> Range<usize> {
    let content = file.content();
    let start = line_start(content, offset);
    let rest = content.get(start..).unwrap_or_default();
    let mut depth = 0usize;
    for (at, letter) in rest.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '\n' if depth == 0 => return start..start + at,
            _ => {}
        }
    }
    start..content.len()
}
