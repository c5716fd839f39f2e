//! Modules and packages: files move, imports and dotted uses follow.

use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast::Expr;

use super::super::program::File;
use super::super::resolved::{FileId, ResolvedModule, Value};
use super::super::{Place, place};
use super::{Renaming, Step, Stop};
use crate::language::Language;
use crate::path::RelPath;
use crate::stdlib;
use crate::text::{is_among, whole_words};

/// Files that name the modules of a project for its tools.
const PACKAGING: &str = "pyproject.toml setup.cfg setup.py tox.ini MANIFEST.in pytest.ini mypy.ini manage.py noxfile.py";

/// Functions that take the name of a module as text.
const LOADERS: &str = "import_module __import__ run_module find_spec find_loader patch";

impl<'s> Renaming<'_, 's> {
    pub(super) fn rename_module(&mut self, module: &ResolvedModule) -> Step<()> {
        let path = self.module_path(module)?;
        let parent = path.folder().to_string();
        let to = if parent.is_empty() {
            self.new.to_string()
        } else {
            format!("{parent}/{}", self.new)
        };
        self.plan_moves(&path, &to)?;
        if parent.is_empty() && stdlib::is_module(self.new) {
            return Err(Stop::because(format!(
                "`{}` would hide a module of the standard library",
                self.new
            )));
        }
        let package = format!("{parent}/__init__.py");
        for file in self.files() {
            self.rename_imports(&file, module)?;
            // A package may offer its module without importing it.
            let is_package = self
                .program
                .path(file.id)
                .is_some_and(|path| path.as_str() == package);
            if is_package && self.bindings(&file) == 0 {
                self.rename_exports(&file)?;
            }
            for attribute in &file.scopes.attributes {
                if attribute.node.attr.as_str() == self.old
                    && let Value::Module(outer) =
                        self.program
                            .value(&file, attribute.scope, &attribute.node.value)
                    && self.is_child(&file, &outer, module)
                {
                    self.edit(&file, attribute.node.attr.range)?;
                }
            }
        }
        self.check_mentions(&path)?;
        let doubt = self.in_scripts(self.old);
        self.note(doubt);
        Ok(())
    }

    /// The file or folder of a module, without `.py` and `__init__`.
    fn module_path(&self, module: &ResolvedModule) -> Step<RelPath> {
        let text = match module {
            ResolvedModule::File(id) => self
                .program
                .path(*id)
                .map(|path| path.as_str().trim_end_matches("/__init__.py").to_string()),
            ResolvedModule::Folder(folder) => Some(folder.clone()),
            ResolvedModule::Standard(_) | ResolvedModule::Opaque | ResolvedModule::Unknown => None,
        };
        text.and_then(|text| RelPath::parse(&text).ok())
            .ok_or_else(|| Stop::because("the project folder itself is not renamed"))
    }

    fn plan_moves(&mut self, path: &RelPath, to: &str) -> Step<()> {
        let tree = self.program.sources.tree;
        let is_file = path.as_str().ends_with(".py") || path.as_str().ends_with(".pyi");
        let files: Vec<&RelPath> = tree.files().iter().map(|file| &file.path).collect();
        let taken = files.iter().any(|file| {
            let file = file.as_str();
            file == format!("{to}.py")
                || file == format!("{to}.pyi")
                || file.starts_with(&format!("{to}/"))
        });
        if taken {
            return Err(Stop::because(format!("`{to}` exists already")));
        }
        let mut moves = Vec::new();
        for file in files {
            let renamed = if is_file {
                // A stub beside the module goes with it.
                let stem = path
                    .as_str()
                    .trim_end_matches(".pyi")
                    .trim_end_matches(".py");
                file.as_str()
                    .strip_prefix(stem)
                    .filter(|rest| matches!(*rest, ".py" | ".pyi"))
                    .map(|rest| format!("{to}{rest}"))
            } else {
                file.as_str()
                    .strip_prefix(&format!("{path}/"))
                    .map(|rest| format!("{to}/{rest}"))
            };
            if let Some(renamed) = renamed {
                let renamed = RelPath::parse(&renamed).map_err(|_| {
                    Stop::because(format!("`{renamed}` is no path inside the project"))
                })?;
                moves.push((file.clone(), renamed));
            }
        }
        self.moves = moves;
        Ok(())
    }

    fn is_child(
        &self,
        file: &Rc<File<'s>>,
        outer: &ResolvedModule,
        module: &ResolvedModule,
    ) -> bool {
        self.program
            .submodule(file.id, outer, self.old)
            .is_some_and(|found| found == *module)
    }

    fn rename_imports(&mut self, file: &Rc<File<'s>>, module: &ResolvedModule) -> Step<()> {
        for import in &file.scopes.imports {
            for (place, (part, upto, span)) in import.parts().enumerate() {
                if part != self.old || !self.stands_for(file, import.level, upto, module) {
                    continue;
                }
                self.edit(file, span)?;
                // `import old` and `import old.inner` bind the name itself.
                if place == 0 && import.member.is_none() && import.alias.is_none() {
                    self.rename_bound(file, import.scope)?;
                }
            }
            if import.member == Some(self.old) {
                let outer = self.program.imported_module(file, import);
                let shadowed = matches!(outer, ResolvedModule::File(id) if self.defines(id));
                if !shadowed && self.is_child(file, &outer, module) {
                    self.edit(file, import.member_span)?;
                    if import.alias.is_none() {
                        self.rename_bound(file, import.scope)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn defines(&self, id: FileId) -> bool {
        self.program.file(id).is_some_and(|file| {
            file.scopes.module_symbol(self.old).is_some_and(|symbol| {
                file.scopes
                    .bindings_of(symbol)
                    .any(|binding| !matches!(binding.kind, crate::scope::BindingKind::Import(_)))
            })
        })
    }

    fn stands_for(
        &self,
        file: &Rc<File<'s>>,
        level: u32,
        name: &str,
        module: &ResolvedModule,
    ) -> bool {
        let absolute = self.program.absolute(file, level, name);
        absolute.is_some_and(|name| self.program.module(file.id, &name, level > 0) == *module)
    }

    fn rename_bound(&mut self, file: &Rc<File<'s>>, scope: u32) -> Step<()> {
        if let Some(symbol) = file.scopes.named_in(scope, self.old) {
            self.rename_symbol(file, symbol)?;
        }
        // With another binding the name may stand for something else in the end, such as a function of the module.
        match scope {
            0 if self.bindings(file) == 1 => self.rename_exports(file),
            _ => Ok(()),
        }
    }

    /// Counts the places of a file that bind the old name at its top.
    fn bindings(&self, file: &File<'s>) -> usize {
        let symbol = file.scopes.module_symbol(self.old);
        symbol.map_or(0, |symbol| file.scopes.bindings_of(symbol).count())
    }

    /// Refuses when settings, packaging files or strings name the module: they would have to change with it.
    fn check_mentions(&self, path: &RelPath) -> Step<()> {
        let stem = path
            .as_str()
            .trim_end_matches(".pyi")
            .trim_end_matches(".py");
        let dotted = stem.strip_prefix("src/").unwrap_or(stem).replace('/', ".");
        let mut places: Vec<Place> = Vec::new();
        for file in self.program.sources.tree.files() {
            let named = is_among(PACKAGING, file.path.file_name());
            if !named || file.language == Language::Python && self.program.id(&file.path).is_none()
            {
                continue;
            }
            let Ok(text) = self.program.sources.tree.text(&file.path) else {
                continue;
            };
            let content = text.content();
            places.extend(whole_words(content, &dotted).map(|at| place(&file.path, content, at)));
        }
        for file in self.files() {
            let mut spans: Vec<Range<usize>> = Vec::new();
            for call in &file.scopes.calls {
                // A lone word means a module only to what imports by name.
                let loads = match &*call.node.func {
                    Expr::Name(name) => is_among(LOADERS, &name.id),
                    Expr::Attribute(attribute) => is_among(LOADERS, &attribute.attr),
                    _ => false,
                };
                let arguments = call.node.arguments.args.iter();
                for text in arguments.filter_map(Expr::as_string_literal_expr) {
                    let rest = text.value.to_str().strip_prefix(dotted.as_str());
                    let is_name = |rest: &str| rest.is_empty() || rest.starts_with(['.', ':']);
                    let inside = rest.is_some_and(is_name) && (loads || dotted.contains('.'));
                    if inside {
                        spans.push(text.range.into());
                    }
                }
            }
            places.extend(self.places(&file, spans));
        }
        if places.is_empty() {
            return Ok(());
        }
        Err(Stop::Refuse(
            format!("`{dotted}` is named in text that is no import"),
            places,
        ))
    }
}
