//! A project's Python files as one program: which file a module is, parsed and bound when first asked for.
//!
//! Files outside the project (installed packages) are read to know what they define and are never changed.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::installed::Installed;
use super::resolved::{ClassRef, FileId, Lineage, ResolvedModule, Value};
use super::{Place, place};
use crate::language::Language;
use crate::parallel::side_by_side;
use crate::path::{RelPath, folder_of, within};
use crate::scope::{Depth, ImportBinding, Scopes, Source, SymbolId};
use crate::stdlib;
use crate::text::Text;
use crate::tree::{LARGEST_SOURCE, SourceTree};

/// How many files outside the project one question may read; a package and what it gives on are a few dozen.
const OUTSIDE_FILES: usize = 400;

/// The texts, read and parsed once. Lives longer than the program, which borrows from it.
pub(crate) struct Sources<'t> {
    pub(crate) tree: &'t SourceTree,
    paths: Vec<RelPath>,
    texts: Box<[OnceLock<Option<String>>]>,
    project: Box<[OnceLock<Option<Source>>]>,
    outside: Box<[OnceLock<Option<Source>>]>,
}

impl<'t> Sources<'t> {
    pub(crate) fn of(tree: &'t SourceTree) -> Sources<'t> {
        let python = tree
            .files()
            .iter()
            .filter(|file| file.language == Language::Python);
        let paths: Vec<RelPath> = python.map(|file| file.path.clone()).collect();
        Sources {
            tree,
            texts: paths.iter().map(|_| OnceLock::new()).collect(),
            project: paths.iter().map(|_| OnceLock::new()).collect(),
            outside: (0..OUTSIDE_FILES).map(|_| OnceLock::new()).collect(),
            paths,
        }
    }

    /// The text of a file of the project; empty when it cannot be read.
    pub(crate) fn text(&self, file: FileId) -> &str {
        let Some(slot) = self.texts.get(file) else {
            return "";
        };
        let read = || Some(self.tree.text(self.paths.get(file)?).ok()?.into_content());
        slot.get_or_init(read).as_deref().unwrap_or_default()
    }

    /// The parsed text of a file of the project; `None` when it cannot be read.
    pub(crate) fn project(&self, file: FileId) -> Option<&Source> {
        let slot = self.project.get(file)?;
        let parse = || {
            let text = self.text(file);
            self.texts.get(file)?.get()?.as_ref()?;
            Some(Source::parse(text.to_string()))
        };
        slot.get_or_init(parse).as_ref()
    }

    /// The files whose text holds `word`, read side by side.
    pub(crate) fn holding(&self, word: &str) -> Vec<FileId> {
        let finder = memchr::memmem::Finder::new(word);
        self.where_text(|text| finder.find(text.as_bytes()).is_some())
    }

    /// The files whose text is as wanted, read side by side.
    pub(crate) fn where_text(&self, wanted: impl Fn(&str) -> bool + Sync) -> Vec<FileId> {
        let all: Vec<FileId> = (0..self.paths.len()).collect();
        let found = all.into_par_iter().filter(|&file| wanted(self.text(file)));
        side_by_side(|| found.collect())
    }

    fn outside(&self, slot: usize, path: &Path) -> Option<&Source> {
        let read = || {
            let size = std::fs::metadata(path)
                .ok()
                .filter(std::fs::Metadata::is_file)?
                .len();
            if size > LARGEST_SOURCE {
                return None;
            }
            let text = Text::from_bytes(std::fs::read(path).ok()?).ok()?;
            Some(Source::parse(text.into_content()))
        };
        self.outside.get(slot)?.get_or_init(read).as_ref()
    }
}

/// One file, parsed and bound.
pub(crate) struct File<'s> {
    pub(crate) id: FileId,
    pub(crate) source: &'s Source,
    pub(crate) scopes: Scopes<'s>,
    /// The dotted package that relative imports start from.
    pub(crate) package: String,
    /// Whether it is the `__init__.py` of that package.
    is_package: bool,
    members: OnceLock<super::members::Members<'s>>,
}

impl<'s> File<'s> {
    pub(crate) fn content(&self) -> &'s str {
        self.source.content()
    }

    /// The classes of the file and what each defines.
    pub(crate) fn members(&self) -> &super::members::Members<'s> {
        self.members
            .get_or_init(|| super::members::Members::of(&self.scopes))
    }

    /// The text of a span.
    pub(crate) fn text(&self, span: impl Into<Range<usize>>) -> &'s str {
        self.content().get(span.into()).unwrap_or_default()
    }
}

/// The Python files of a project and what they import.
pub(crate) struct Program<'s> {
    pub(crate) sources: &'s Sources<'s>,
    pub(crate) installed: &'s Installed,
    /// Dotted names to files; a file can have several (from its package, from the project folder, from `src`).
    modules: FxHashMap<String, Vec<FileId>>,
    /// Folders that hold Python files somewhere below, by the dotted name they have.
    folders: FxHashMap<String, String>,
    by_path: FxHashMap<&'s str, FileId>,
    files: RefCell<FxHashMap<FileId, Option<Rc<File<'s>>>>>,
    outside: RefCell<Vec<(PathBuf, String)>>,
    found_outside: RefCell<FxHashMap<String, ResolvedModule>>,
    known_exports: RefCell<FxHashMap<FileId, Option<Rc<Vec<String>>>>>,
    pub(super) known_values: RefCell<FxHashMap<(FileId, SymbolId), Option<Value>>>,
    pub(super) known_lineages: RefCell<FxHashMap<ClassRef, Rc<Lineage>>>,
    top_modules: OnceCell<Vec<String>>,
    top_level: OnceCell<FxHashMap<&'s str, Vec<FileId>>>,
}

impl<'s> Program<'s> {
    pub(crate) fn of(sources: &'s Sources<'s>, installed: &'s Installed) -> Program<'s> {
        let mut program = Program {
            sources,
            installed,
            modules: FxHashMap::default(),
            folders: FxHashMap::default(),
            by_path: sources
                .paths
                .iter()
                .enumerate()
                .map(|(id, path)| (path.as_str(), id))
                .collect(),
            files: RefCell::default(),
            outside: RefCell::default(),
            found_outside: RefCell::default(),
            known_exports: RefCell::default(),
            known_values: RefCell::default(),
            known_lineages: RefCell::default(),
            top_modules: OnceCell::new(),
            top_level: OnceCell::new(),
        };
        for (id, path) in sources.paths.iter().enumerate() {
            for name in program.names_of(path.as_str()) {
                program.modules.entry(name).or_default().push(id);
            }
            program.add_folders(path.as_str());
        }
        program
    }

    /// The dotted names that a file can be imported by, the likeliest first.
    pub(crate) fn names_of(&self, path: &str) -> Vec<String> {
        let Some(stem) = path
            .strip_suffix(".py")
            .or_else(|| path.strip_suffix(".pyi"))
        else {
            return Vec::new();
        };
        let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
        let mut top = self.package_top(path);
        // A folder without `__init__.py` inside a package is a part of that package.
        if !top.is_empty() && top != "src/" && self.is_inside_package(&top) {
            top = String::new();
        }
        let mut names = Vec::new();
        for from in [top.as_str(), "src/", ""] {
            if let Some(rest) = stem.strip_prefix(from) {
                let name = rest.replace('/', ".");
                if !name.is_empty() && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The folder (with a slash) that the outermost package around a file lies in.
    fn package_top(&self, path: &str) -> String {
        let mut folder = folder_of(path);
        while !folder.is_empty() && self.is_package(folder) {
            folder = folder_of(folder);
        }
        if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        }
    }

    fn is_package(&self, folder: &str) -> bool {
        self.by_path
            .contains_key(within(folder, "__init__.py").as_str())
    }

    fn is_inside_package(&self, folder: &str) -> bool {
        let mut folder = folder.trim_end_matches('/');
        while let Some((outer, _)) = folder.rsplit_once('/') {
            folder = outer;
            if self.is_package(folder) {
                return true;
            }
        }
        false
    }

    fn add_folders(&mut self, path: &str) {
        let mut folder = folder_of(path);
        while !folder.is_empty() {
            let dotted = folder
                .strip_prefix("src/")
                .unwrap_or(folder)
                .replace('/', ".");
            if self.folders.contains_key(&dotted) {
                break;
            }
            self.folders.insert(dotted, folder.to_string());
            folder = folder_of(folder);
        }
    }

    pub(crate) fn id(&self, path: &RelPath) -> Option<FileId> {
        self.by_path.get(path.as_str()).copied()
    }

    /// The path of a file of the project.
    pub(crate) fn path(&self, file: FileId) -> Option<&'s RelPath> {
        self.sources.paths.get(file)
    }

    /// The place of a byte offset in a file of the project.
    pub(crate) fn place(&self, file: FileId, offset: usize) -> Option<Place> {
        Some(place(self.path(file)?, self.file(file)?.content(), offset))
    }

    /// The files of the project.
    pub(crate) fn ids(&self) -> Range<FileId> {
        0..self.sources.paths.len()
    }

    /// The files of the project whose text holds a word.
    pub(crate) fn files_holding(&self, word: &str) -> impl Iterator<Item = Rc<File<'s>>> {
        let found = self.sources.holding(word).into_iter();
        found.filter_map(|id| self.file(id))
    }

    /// A file, parsed and bound when first asked for.
    pub(crate) fn file(&self, id: FileId) -> Option<Rc<File<'s>>> {
        if let Some(known) = self.files.borrow().get(&id) {
            return known.clone();
        }
        let made = self.read(id).map(Rc::new);
        self.files.borrow_mut().insert(id, made.clone());
        made
    }

    fn read(&self, id: FileId) -> Option<File<'s>> {
        let (source, name, is_package) = match self.path(id) {
            Some(path) => {
                let name = self
                    .names_of(path.as_str())
                    .into_iter()
                    .next()
                    .unwrap_or_default();
                (
                    self.sources.project(id)?,
                    name,
                    path.as_str().ends_with("__init__.py"),
                )
            }
            None => {
                let slot = id - self.sources.paths.len();
                let (path, name) = self.outside.borrow().get(slot)?.clone();
                let init = path.ends_with("__init__.py");
                (self.sources.outside(slot, &path)?, name, init)
            }
        };
        let package = if is_package {
            name
        } else {
            name.rsplit_once('.')
                .map_or(String::new(), |(folder, _)| folder.to_string())
        };
        Some(File {
            id,
            source,
            scopes: source.scopes(Depth::Full),
            package,
            is_package,
            members: OnceLock::new(),
        })
    }

    /// The dotted name that an import stands for, its dots worked out.
    pub(crate) fn absolute(&self, file: &File<'_>, level: u32, module: &str) -> Option<String> {
        if level == 0 {
            return Some(module.to_string());
        }
        let mut package = file.package.as_str();
        for _ in 1..level {
            package = package.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        match (package, module) {
            ("", "") => None,
            ("", module) => Some(module.to_string()),
            (package, "") => Some(package.to_string()),
            (package, module) => Some(format!("{package}.{module}")),
        }
    }

    /// What the module part of an import stands for.
    pub(crate) fn imported_module(
        &self,
        file: &File<'_>,
        import: &ImportBinding<'_>,
    ) -> ResolvedModule {
        let Some(name) = self.absolute(file, import.level, import.module) else {
            return ResolvedModule::Unknown;
        };
        self.module(file.id, &name, import.level > 0)
    }

    /// What an absolute dotted name stands for in a file.
    pub(crate) fn module(&self, from: FileId, name: &str, relative: bool) -> ResolvedModule {
        if let Some(found) = self.project_module(from, name) {
            match stdlib::module(name) {
                Some(standard) if !relative && self.hides_nothing(from, &found) => {
                    return ResolvedModule::Standard(standard);
                }
                _ => return found,
            }
        }
        if relative && self.path(from).is_some() {
            return ResolvedModule::Unknown;
        }
        if let Some(name) = stdlib::module(name) {
            return ResolvedModule::Standard(name);
        }
        self.outside_module(name)
    }

    /// Whether a file named like a standard module is not what an import of that name finds: the file itself, or
    /// a part of the package that the project folder is.
    fn hides_nothing(&self, from: FileId, found: &ResolvedModule) -> bool {
        let ResolvedModule::File(id) = found else {
            return true;
        };
        let at_top = self.path(*id).is_some_and(|path| path.folder().is_empty());
        *id == from || (at_top && self.is_package(""))
    }

    /// A module of the project by its dotted name.
    pub(crate) fn project_module(&self, from: FileId, name: &str) -> Option<ResolvedModule> {
        let beside = self.path(from).map(|path| path.folder().to_string());
        // A script finds the modules beside it first.
        if let Some(folder) = &beside
            && !self.is_package(folder)
        {
            let path = name.replace('.', "/");
            for file in [format!("{path}.py"), format!("{path}/__init__.py")] {
                if let Some(&id) = self.by_path.get(within(folder, &file).as_str()) {
                    return Some(ResolvedModule::File(id));
                }
            }
        }
        if let Some(files) = self.modules.get(name) {
            let shared = |id: &FileId| {
                let path = self.path(*id).map_or("", |path| path.as_str());
                let folder = beside.as_deref().unwrap_or_default();
                path.bytes()
                    .zip(folder.bytes())
                    .take_while(|(one, other)| one == other)
                    .count()
            };
            // Of two modules of the same name the nearer one is meant; sources win over stubs.
            let best = files.iter().max_by_key(|id| {
                let source = self
                    .path(**id)
                    .is_some_and(|path| path.as_str().ends_with(".py"));
                (source, shared(id))
            });
            return best.map(|&id| ResolvedModule::File(id));
        }
        self.folders
            .get(name)
            .map(|folder| ResolvedModule::Folder(folder.clone()))
    }

    fn outside_module(&self, name: &str) -> ResolvedModule {
        if let Some(known) = self.found_outside.borrow().get(name) {
            return known.clone();
        }
        let found = self.find_outside(name);
        self.found_outside
            .borrow_mut()
            .insert(name.to_string(), found.clone());
        found
    }

    fn find_outside(&self, name: &str) -> ResolvedModule {
        let Some(path) = self.installed.find(name) else {
            return ResolvedModule::Unknown;
        };
        if path.extension().is_none_or(|extension| extension != "py") {
            return ResolvedModule::Opaque;
        }
        let mut outside = self.outside.borrow_mut();
        let slot = match outside.iter().position(|(known, _)| *known == path) {
            Some(slot) => slot,
            None if outside.len() < OUTSIDE_FILES => {
                outside.push((path, name.to_string()));
                outside.len() - 1
            }
            None => return ResolvedModule::Opaque,
        };
        ResolvedModule::File(self.sources.paths.len() + slot)
    }

    /// A module below another: `b` of `a`.
    pub(crate) fn submodule(
        &self,
        from: FileId,
        module: &ResolvedModule,
        name: &str,
    ) -> Option<ResolvedModule> {
        let dotted = match module {
            ResolvedModule::File(id) => {
                let file = self.file(*id)?;
                if !file.is_package {
                    return None;
                }
                format!("{}.{name}", file.package)
            }
            ResolvedModule::Folder(folder) => {
                let dotted = folder
                    .strip_prefix("src/")
                    .unwrap_or(folder)
                    .replace('/', ".");
                format!("{dotted}.{name}")
            }
            ResolvedModule::Standard(standard) => format!("{standard}.{name}"),
            ResolvedModule::Opaque | ResolvedModule::Unknown => return None,
        };
        match self.module(from, &dotted, false) {
            ResolvedModule::Unknown => None,
            found => Some(found),
        }
    }

    /// What `from module import *` brings; `None` where that cannot be read.
    fn exports(&self, module: &ResolvedModule) -> Option<Rc<Vec<String>>> {
        let ResolvedModule::File(id) = module else {
            return self.exports_below(module, 0).map(Rc::new);
        };
        if let Some(known) = self.known_exports.borrow().get(id) {
            return known.clone();
        }
        let exports = self.exports_below(module, 0).map(Rc::new);
        self.known_exports.borrow_mut().insert(*id, exports.clone());
        exports
    }

    /// The names that the star imports of a file bring; `None` where one of them cannot be read, so that any name may be
    /// there.
    pub(crate) fn star_names(&self, file: &File<'_>) -> Option<FxHashSet<String>> {
        let mut names = FxHashSet::default();
        for star in file.scopes.stars() {
            let exports = self.exports(&self.imported_module(file, star))?;
            names.extend(exports.iter().cloned());
        }
        Some(names)
    }

    /// The modules of the project and the installed ones that an import can begin with.
    pub(crate) fn top_modules(&self) -> &[String] {
        self.top_modules.get_or_init(|| {
            let own = self
                .modules
                .keys()
                .filter_map(|name| name.split('.').next());
            let mut names: Vec<String> = own.map(str::to_string).collect();
            names.extend(self.installed.top_levels());
            names.sort_unstable();
            names.dedup();
            names
        })
    }

    /// The files of the project that define a function or class of this name at their top.
    pub(crate) fn defining(&self, name: &str) -> &[FileId] {
        let all = self.top_level.get_or_init(|| {
            let mut all: FxHashMap<&'s str, Vec<FileId>> = FxHashMap::default();
            for (file, definition) in self.sources.tree.definitions() {
                if *definition.qualified == *definition.name()
                    && let Some(id) = self.id(&file.path)
                {
                    all.entry(definition.name()).or_default().push(id);
                }
            }
            all
        });
        all.get(name).map_or(&[], Vec::as_slice)
    }

    /// The submodules that a package has, by their last names.
    pub(crate) fn children(&self, module: &ResolvedModule) -> Vec<String> {
        let folder = match module {
            ResolvedModule::File(id) => match self.path(*id) {
                Some(path) if path.as_str().ends_with("__init__.py") => path.folder().to_string(),
                _ => return Vec::new(),
            },
            ResolvedModule::Folder(folder) => folder.clone(),
            ResolvedModule::Standard(_) | ResolvedModule::Opaque | ResolvedModule::Unknown => {
                return Vec::new();
            }
        };
        let prefix = format!("{folder}/");
        let mut names: Vec<String> = Vec::new();
        for path in &self.sources.paths {
            let Some(rest) = path.as_str().strip_prefix(&prefix) else {
                continue;
            };
            let name = match rest.split_once('/') {
                Some((inner, _)) => inner,
                None => rest.trim_end_matches(".pyi").trim_end_matches(".py"),
            };
            if name != "__init__" && !names.iter().any(|known| known == name) {
                names.push(name.to_string());
            }
        }
        names
    }
}
