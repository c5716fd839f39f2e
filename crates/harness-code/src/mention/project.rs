//! The names of a project, ready to be looked up: modules, files by name, definitions by name. Built once a task.

use rustc_hash::FxHashMap;

use crate::imports::python;
use crate::language::Language;
use crate::path::{folder_of, within};
use crate::symbols::{Definition, DefinitionKind};
use crate::tree::{SourceFile, SourceTree};

/// A place in the tree: a file, and a definition in it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PlaceId {
    /// Position in the tree's files.
    pub file: u32,
    /// Position in the file's definitions.
    pub definition: Option<u32>,
}

impl PlaceId {
    /// A whole file.
    pub(crate) fn file(file: u32) -> PlaceId {
        let definition = None;
        PlaceId { file, definition }
    }

    /// A definition of a file, by its position among them.
    fn of(file: u32, definition: usize) -> PlaceId {
        let definition = u32::try_from(definition).ok();
        PlaceId { file, definition }
    }
}

/// Everything that can be looked up by name.
pub(crate) struct Project<'t> {
    tree: &'t SourceTree,
    /// Dotted module names; one name may belong to several files.
    modules: FxHashMap<String, Vec<u32>>,
    by_file_name: FxHashMap<&'t str, Vec<u32>>,
    by_name: FxHashMap<&'t str, Vec<PlaceId>>,
}

/// How far a name is followed from one module to the next: deeper chains of imports are not written by people.
const LONGEST_CHAIN: usize = 6;

impl<'t> Project<'t> {
    /// Reads the names of `tree`.
    pub(crate) fn of(tree: &'t SourceTree) -> Project<'t> {
        let mut modules: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        let mut by_file_name: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let mut by_name: FxHashMap<&str, Vec<PlaceId>> = FxHashMap::default();
        let packages = packages(tree);
        for (at, file) in tree.files().iter().enumerate() {
            let at = at as u32;
            by_file_name
                .entry(file.path.file_name())
                .or_default()
                .push(at);
            if file.language == Language::Python {
                modules
                    .entry(module_name(file, &packages))
                    .or_default()
                    .push(at);
            }
            for (definition, named) in file.facts.definitions.iter().enumerate() {
                let place = PlaceId::of(at, definition);
                by_name.entry(named.name()).or_default().push(place);
            }
        }
        Project {
            tree,
            modules,
            by_file_name,
            by_name,
        }
    }

    pub(crate) fn file(&self, at: u32) -> &'t SourceFile {
        &self.tree.files()[at as usize]
    }

    pub(crate) fn definition(&self, place: PlaceId) -> Option<&'t Definition> {
        self.file(place.file)
            .facts
            .definitions
            .get(place.definition? as usize)
    }

    /// Returns every definition of this name.
    pub(crate) fn named(&self, name: &str) -> &[PlaceId] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the files whose path ends in the longest possible part of `path`: `/usr/lib/x/pkg/mod.py` finds `pkg/mod.py`.
    pub(crate) fn files_at(&self, path: &str) -> Vec<u32> {
        let parts: Vec<&str> = path
            .split(['/', '\\'])
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        let Some(candidates) = parts.last().and_then(|name| self.by_file_name.get(name)) else {
            return Vec::new();
        };
        let agreeing = |file: u32| {
            let own: Vec<&str> = self.file(file).path.parts().collect();
            own.iter()
                .rev()
                .zip(parts.iter().rev())
                .take_while(|(one, other)| one == other)
                .count()
        };
        let best = candidates
            .iter()
            .map(|&file| agreeing(file))
            .max()
            .unwrap_or(0);
        candidates
            .iter()
            .copied()
            .filter(|&file| agreeing(file) == best && self.tells_enough(file, best, parts.len()))
            .collect()
    }

    /// A path with folders must agree in one of them: `/usr/lib/python/random.py` is not the project's `core/random.py`.
    fn tells_enough(&self, file: u32, agreeing: usize, written: usize) -> bool {
        let own = self.file(file).path.parts().count();
        agreeing == written || agreeing == own || agreeing > 1
    }

    /// Returns the source files, tests aside, whose name without its ending is `stem`.
    pub(crate) fn files_called(&self, stem: &str) -> Vec<u32> {
        [
            "py", "pyi", "rs", "js", "ts", "go", "java", "c", "cpp", "rb", "cs", "php", "sh",
        ]
        .iter()
        .filter_map(|extension| {
            self.by_file_name
                .get(format!("{stem}.{extension}").as_str())
        })
        .flatten()
        .copied()
        .filter(|&file| !self.file(file).test)
        .collect()
    }

    /// Returns the file of a dotted module name.
    pub(crate) fn module(&self, name: &str) -> Option<u32> {
        self.modules
            .get(name)
            .and_then(|files| files.first().copied())
    }

    /// Returns the file that an import in `from` leads to: `level` dots, then `module`.
    pub(crate) fn imported(&self, from: u32, level: u8, module: &str) -> Option<u32> {
        if level == 0 {
            return self.module(module);
        }
        let base = python::relative(&self.file(from).path, module, level)?;
        let package = within(&base, "__init__.py");
        [format!("{base}.py"), package, format!("{base}.pyi")]
            .iter()
            .find_map(|path| self.exact(path))
    }

    fn exact(&self, path: &str) -> Option<u32> {
        let name = path.rsplit('/').next()?;
        self.by_file_name
            .get(name)?
            .iter()
            .copied()
            .find(|&file| self.file(file).path.as_str() == path)
    }

    /// Returns where `name` of the module in `file` is really defined, through as many imports as it takes.
    pub(crate) fn member(&self, file: u32, name: &str) -> Option<PlaceId> {
        self.member_within(file, name, LONGEST_CHAIN)
    }

    fn member_within(&self, file: u32, name: &str, chain: usize) -> Option<PlaceId> {
        let facts = &self.file(file).facts;
        let own = facts
            .definitions
            .iter()
            .position(|d| d.parent.is_none() && d.name() == name);
        if let Some(own) = own {
            return Some(PlaceId::of(file, own));
        }
        let chain = chain.checked_sub(1)?;
        for import in &facts.imports {
            for imported in &import.names {
                let bound = imported.alias.as_ref().unwrap_or(&imported.name);
                if &**bound != name {
                    continue;
                }
                let target = self.imported(file, import.level, &import.module);
                if let Some(place) = target
                    .filter(|&target| target != file)
                    .and_then(|target| self.member_within(target, &imported.name, chain))
                {
                    return Some(place);
                }
                return self.submodule(file, import.level, &import.module, &imported.name);
            }
        }
        let stars = facts
            .imports
            .iter()
            .filter(|import| import.names.iter().any(|imported| &*imported.name == "*"));
        let through_star = stars
            .filter_map(|import| self.imported(file, import.level, &import.module))
            .filter(|&target| target != file)
            .find_map(|target| self.member_within(target, name, chain));
        through_star.or_else(|| {
            self.submodule(file, 1, "", name)
                .filter(|_| self.file(file).path.file_name() == "__init__.py")
        })
    }

    fn submodule(&self, file: u32, level: u8, module: &str, name: &str) -> Option<PlaceId> {
        let dotted = if module.is_empty() {
            name.to_owned()
        } else {
            format!("{module}.{name}")
        };
        self.imported(file, level, &dotted).map(PlaceId::file)
    }

    /// Returns `name` of the class at `class`, or of a class that it is derived from.
    pub(crate) fn class_member(&self, class: PlaceId, name: &str) -> Option<PlaceId> {
        self.class_member_within(class, name, LONGEST_CHAIN)
    }

    fn class_member_within(&self, class: PlaceId, name: &str, chain: usize) -> Option<PlaceId> {
        let facts = &self.file(class.file).facts;
        let own = facts
            .definitions
            .iter()
            .position(|d| d.parent == class.definition && d.name() == name);
        if let Some(own) = own {
            return Some(PlaceId::of(class.file, own));
        }
        // Methods of Go and Rust lie beside their type, perhaps in another file of its folder.
        let qualified = format!("{}.{name}", self.definition(class)?.qualified);
        let folder = self.file(class.file).path.parent();
        let beside = self.named(name).iter().copied().find(|&place| {
            let definition = self.definition(place);
            definition.is_some_and(|d| *d.qualified == *qualified)
                && self.file(place.file).path.parent() == folder
        });
        if beside.is_some() {
            return beside;
        }
        let chain = chain.checked_sub(1)?;
        self.bases(class)
            .into_iter()
            .filter(|&base| base != class)
            .find_map(|base| self.class_member_within(base, name, chain))
    }

    /// Returns the classes of the project that the class at `class` is derived from.
    pub(crate) fn bases(&self, class: PlaceId) -> Vec<PlaceId> {
        let Some(definition) = self
            .definition(class)
            .filter(|d| d.kind == DefinitionKind::Class)
        else {
            return Vec::new();
        };
        let Some((_, bases)) = definition.signature.split_once('(') else {
            return Vec::new();
        };
        let bases = bases
            .trim_end_matches([':', ')', '…', ' '])
            .split(',')
            .filter(|base| !base.contains('='));
        bases
            .filter_map(|base| {
                let last = base.trim().split('[').next()?.rsplit('.').next()?;
                self.member(class.file, last).or_else(|| {
                    let named = self.named(last);
                    (named.len() == 1).then(|| named[0])
                })
            })
            .collect()
    }
}

/// Folders that are Python packages.
fn packages(tree: &SourceTree) -> rustc_hash::FxHashSet<&str> {
    let inits = tree
        .files()
        .iter()
        .filter(|file| matches!(file.path.file_name(), "__init__.py" | "__init__.pyi"));
    inits.map(|file| file.path.folder()).collect()
}

/// The name a file is imported by: from the outermost package around it.
fn module_name(file: &SourceFile, packages: &rustc_hash::FxHashSet<&str>) -> String {
    let path = file.path.as_str();
    let folder = file.path.folder();
    let mut top = folder;
    while !top.is_empty() && packages.contains(top) {
        top = folder_of(top);
    }
    let within = path
        .get(top.len()..)
        .unwrap_or(path)
        .trim_start_matches('/');
    let stem = within.rsplit_once('.').map_or(within, |(stem, _)| stem);
    let module = stem.strip_suffix("/__init__").unwrap_or(stem);
    module.replace('/', ".")
}
