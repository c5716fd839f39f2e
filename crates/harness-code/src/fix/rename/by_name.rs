//! What a name alone can mean: every definition that bears it, those that override each other counted once.

use std::rc::Rc;

use ruff_text_size::TextRange;

use super::super::place;
use super::super::program::File;
use super::super::resolved::{ClassRef, ResolvedModule};
use super::target::Target;
use super::{Renaming, Step, Stop};
use crate::path::RelPath;
use crate::scope::{BindingKind, ScopeKind};

impl<'s> Renaming<'_, 's> {
    pub(super) fn target_by_name(&self) -> Step<Target> {
        let mut found: Vec<(Target, String)> = self.modules_by_name();
        let owner = self.owner();
        for (file, path) in self.files_asked() {
            self.symbols_by_name(&file, path, owner.as_deref(), &mut found);
        }
        found.dedup_by(|one, other| one.0 == other.0);
        self.drop_stubs(&mut found);
        if found.is_empty() {
            found = self.locals_by_name(owner.as_deref());
        }
        let families = self.one_a_family(found);
        match families.as_slice() {
            [] => Err(Stop::Nothing),
            [(target, _)] => Ok(target.clone()),
            several => {
                let options = several
                    .iter()
                    .take(4)
                    .map(|(_, place)| place.clone())
                    .collect();
                Err(Stop::Ask(
                    format!(
                        "`{}` is defined {} times; which one is meant?",
                        self.old,
                        several.len()
                    ),
                    options,
                ))
            }
        }
    }

    /// The files with the old name that the request is about.
    fn files_asked(&self) -> impl Iterator<Item = (Rc<File<'s>>, &'s RelPath)> {
        let wanted = self.request.file.as_ref();
        self.files().into_iter().filter_map(move |file| {
            let path = self.program.path(file.id)?;
            let is_wanted = wanted.is_none_or(|wanted| wanted == path);
            is_wanted.then_some((file, path))
        })
    }

    /// The class, function or module that the request puts before the name.
    fn owner(&self) -> Option<String> {
        let before = self
            .request
            .old
            .rsplit_once('.')
            .filter(|(_, last)| *last != "py")
            .map(|(before, _)| before.to_string());
        self.request.class.clone().or(before)
    }

    fn symbols_by_name(
        &self,
        file: &Rc<File<'s>>,
        path: &RelPath,
        owner: Option<&str>,
        found: &mut Vec<(Target, String)>,
    ) {
        let scopes = &file.scopes;
        let at = |span: TextRange| {
            let place = place(path, file.content(), span.start().into());
            format!("{path}:{}", place.line)
        };
        let of_module = owner.is_none_or(|owner| {
            self.program
                .names_of(path.as_str())
                .iter()
                .any(|name| name == owner || name.ends_with(&format!(".{owner}")))
        });
        if let Some(symbol) = scopes.module_symbol(self.old).filter(|_| of_module) {
            let defining = scopes.bindings_of(symbol).find(|binding| {
                !matches!(binding.kind, BindingKind::Import(_) | BindingKind::Declared)
            });
            if let Some(binding) = defining {
                found.push((
                    Target::Variable(file.id, symbol),
                    format!("`{}` at {}", self.old, at(binding.span)),
                ));
            }
        }
        let mut classes: Vec<_> = file.members().classes.iter().collect();
        classes.sort_by_key(|(scope, _)| **scope);
        for (scope, class) in classes {
            let name = class.node.name.as_str();
            let wanted = owner.is_none_or(|owner| owner.rsplit('.').next() == Some(name));
            if let Some(member) = class
                .members
                .get(self.old)
                .and_then(|members| members.first())
                .filter(|_| wanted)
            {
                found.push((
                    Target::Member(ClassRef::Read(file.id, *scope)),
                    format!("`{name}.{}` at {}", self.old, at(member.span)),
                ));
            }
        }
    }

    /// Local variables and parameters: only when the request says where.
    fn locals_by_name(&self, owner: Option<&str>) -> Vec<(Target, String)> {
        let mut found = Vec::new();
        for (file, path) in self.files_asked() {
            for (id, symbol) in (0u32..).zip(&file.scopes.symbols) {
                if file.scopes.name(symbol.name) != self.old || symbol.scope == 0 {
                    continue;
                }
                let Some(ScopeKind::Function(function)) = file.scopes.kind(symbol.scope) else {
                    continue;
                };
                if owner
                    .is_some_and(|owner| owner.rsplit('.').next() != Some(function.name.as_str()))
                {
                    continue;
                }
                let Some(binding) = file.scopes.bindings_of(id).next() else {
                    continue;
                };
                let at = place(path, file.content(), binding.span.start().into());
                found.push((
                    Target::Variable(file.id, id),
                    format!(
                        "`{}` in `{}` at {path}:{}",
                        self.old, function.name, at.line
                    ),
                ));
            }
        }
        found
    }

    fn modules_by_name(&self) -> Vec<(Target, String)> {
        let mut found = Vec::new();
        let spelled = self
            .request
            .old
            .trim_end_matches(".py")
            .trim_end_matches('/')
            .replace('/', ".");
        for id in self.program.ids() {
            let Some(path) = self.program.path(id) else {
                continue;
            };
            let stem = path
                .as_str()
                .trim_end_matches(".pyi")
                .trim_end_matches(".py")
                .trim_end_matches("/__init__")
                .replace('/', ".");
            let same = stem == spelled || stem.ends_with(&format!(".{spelled}"));
            let wanted = self.request.file.as_ref().is_none_or(|file| file == path)
                && self.request.class.is_none();
            if same && wanted {
                found.push((
                    Target::Module(ResolvedModule::File(id)),
                    format!("the module {path}"),
                ));
            }
        }
        found
    }

    /// What a stub says again is not a second definition.
    fn drop_stubs(&self, found: &mut Vec<(Target, String)>) {
        let file_of = |target: &Target| match target {
            Target::Variable(id, _) | Target::Member(ClassRef::Read(id, _)) => Some(*id),
            Target::Module(ResolvedModule::File(id)) => Some(*id),
            Target::Member(ClassRef::Standard(..)) | Target::Module(_) => None,
        };
        let files: Vec<_> = found
            .iter()
            .filter_map(|(target, _)| file_of(target))
            .collect();
        found.retain(|(target, _)| {
            let Some(file) = file_of(target).and_then(|id| self.program.file(id)) else {
                return true;
            };
            let is_stub = self
                .program
                .path(file.id)
                .is_some_and(|path| path.as_str().ends_with(".pyi"));
            !is_stub
                || !self
                    .twin(&file)
                    .is_some_and(|twin| files.contains(&twin.id))
        });
    }

    /// Definitions that override each other are one thing.
    fn one_a_family(&self, found: Vec<(Target, String)>) -> Vec<(Target, String)> {
        let mut kept: Vec<(Target, String)> = Vec::new();
        for (target, place) in found {
            let related = kept.iter().any(|(other, _)| match (&target, other) {
                (Target::Member(one), Target::Member(two)) => self.are_related(*one, *two),
                _ => false,
            });
            if !related {
                kept.push((target, place));
            }
        }
        kept
    }
}
