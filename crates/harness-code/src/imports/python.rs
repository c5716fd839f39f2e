//! Python's import rules inside a project: packages, `src` layouts, scripts beside each other, relative and namespace packages.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::imports::{Outcome, Resolver};
use crate::language::Language;
use crate::path::{RelPath, folder_of, within};
use crate::symbols::Import;
use crate::tree::{SourceFile, SourceTree};

/// The folders from which absolute imports start.
#[derive(Debug)]
pub(super) struct Roots {
    /// Folders ending in a slash, or empty for the project folder; nearest to the project folder first.
    folders: Vec<String>,
    /// Which roots hold a module or folder of this name directly.
    tops: FxHashMap<Box<str>, Vec<u16>>,
    /// Every folder with Python somewhere below it, without a final slash.
    python_folders: FxHashSet<Box<str>>,
}

impl Roots {
    pub(super) fn of(tree: &SourceTree, by_path: &FxHashMap<&str, u32>) -> Roots {
        let python = || {
            tree.files()
                .iter()
                .filter(|file| file.language == Language::Python)
        };
        let mut folders: FxHashSet<&str> = FxHashSet::default();
        let mut python_folders: FxHashSet<&str> = FxHashSet::default();
        folders.insert("");
        let mut last = None;
        for file in python() {
            let folder = file.path.folder();
            if last == Some(folder) {
                continue;
            }
            last = Some(folder);
            let mut up = folder;
            while !up.is_empty() && python_folders.insert(up) {
                up = folder_of(up);
            }
            let mut top = folder;
            while !top.is_empty() && by_path.contains_key(format!("{top}/__init__.py").as_str()) {
                top = folder_of(top);
            }
            // A folder of scripts is a root for its own files only; see `starts`.
            if top != folder {
                folders.insert(top);
            }
        }
        for usual in ["src", "lib", "python"] {
            if python_folders.contains(usual) {
                folders.insert(usual);
            }
        }
        let mut folders: Vec<String> = folders
            .into_iter()
            .map(|folder| {
                if folder.is_empty() {
                    String::new()
                } else {
                    format!("{folder}/")
                }
            })
            .collect();
        folders.sort_by_key(|folder| (folder.matches('/').count(), folder.clone()));
        folders.truncate(usize::from(u16::MAX));
        let mut tops: FxHashMap<Box<str>, Vec<u16>> = FxHashMap::default();
        for (number, root) in folders.iter().enumerate() {
            let mut names: FxHashSet<&str> = FxHashSet::default();
            // Files are sorted, so those below one root lie together.
            let files = tree.files();
            let first = files.partition_point(|file| file.path.as_str() < root.as_str());
            for file in files[first..]
                .iter()
                .take_while(|file| file.path.as_str().starts_with(root.as_str()))
            {
                if !is_module(file) {
                    continue;
                }
                let rest = &file.path.as_str()[root.len()..];
                let name = rest.split('/').next().unwrap_or(rest);
                names.insert(name.split('.').next().unwrap_or(name));
            }
            for name in names {
                tops.entry(name.into()).or_default().push(number as u16);
            }
        }
        let python_folders = python_folders.into_iter().map(Box::from).collect();
        Roots {
            folders,
            tops,
            python_folders,
        }
    }

    pub(super) fn name(&self, path: &RelPath) -> Option<String> {
        let text = path.as_str();
        let inside = self
            .folders
            .iter()
            .filter(|folder| text.starts_with(folder.as_str()));
        let root = inside.max_by_key(|folder| folder.len())?;
        let module = text[root.len()..]
            .strip_suffix(".py")
            .or_else(|| text[root.len()..].strip_suffix(".pyi"))?;
        let module = module.strip_suffix("/__init__").unwrap_or(module);
        Some(module.replace('/', "."))
    }
}

/// Says whether a file can be imported: source, or what source is compiled to.
fn is_module(file: &SourceFile) -> bool {
    file.language == Language::Python || matches!(file.path.extension(), Some("so" | "pyd" | "pyx"))
}

/// Where a module name leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ModuleTarget {
    /// A file of the project.
    File(u32),
    /// A folder without `__init__.py`.
    Namespace,
    /// An extension module, compiled from something else.
    Compiled,
    /// Not in the project, and nothing says that it should be.
    Outside,
    /// The package is in the project, this part of it is not.
    Missing,
}

impl ModuleTarget {
    pub(super) fn file(self) -> Option<u32> {
        match self {
            ModuleTarget::File(at) => Some(at),
            ModuleTarget::Namespace
            | ModuleTarget::Compiled
            | ModuleTarget::Outside
            | ModuleTarget::Missing => None,
        }
    }
}

/// Calls `found` for every file that `import` leads to.
pub(super) fn targets(
    resolver: &Resolver<'_>,
    file: &SourceFile,
    import: &Import,
    found: &mut dyn FnMut(u32),
) -> Outcome {
    let Some(base) = base_path(resolver, &file.path, &import.module, import.level) else {
        return if import.level > 0 {
            Outcome::Missing
        } else {
            Outcome::Outside
        };
    };
    let whole = at(resolver, &base);
    let mut inside = false;
    let mut package_is_used = import.names.is_empty();
    for name in &import.names {
        let submodule = if &*name.name == "*" {
            ModuleTarget::Missing
        } else {
            at(resolver, &format!("{base}/{}", name.name))
        };
        match submodule {
            ModuleTarget::File(module) => {
                inside = true;
                found(module);
            }
            // Nothing of the package itself is taken.
            ModuleTarget::Namespace | ModuleTarget::Compiled => {}
            ModuleTarget::Outside | ModuleTarget::Missing => package_is_used = true,
        }
    }
    if let (true, ModuleTarget::File(module)) = (package_is_used, whole) {
        inside = true;
        found(module);
    }
    match whole {
        ModuleTarget::Missing => Outcome::Missing,
        ModuleTarget::Outside | ModuleTarget::Compiled => Outcome::Outside,
        ModuleTarget::File(_) | ModuleTarget::Namespace if inside => Outcome::Inside,
        ModuleTarget::File(_) | ModuleTarget::Namespace => Outcome::Outside,
    }
}

/// Returns where a module name leads from the file `from`.
pub(super) fn module(
    resolver: &Resolver<'_>,
    from: &RelPath,
    module: &str,
    level: u8,
) -> ModuleTarget {
    match base_path(resolver, from, module, level) {
        Some(base) => at(resolver, &base),
        None if level > 0 => ModuleTarget::Missing,
        None => ModuleTarget::Outside,
    }
}

/// Returns the path that a module would have, without an ending; `None` when it is not of this project.
fn base_path(resolver: &Resolver<'_>, from: &RelPath, module: &str, level: u8) -> Option<String> {
    if level > 0 {
        return relative(from, module, level);
    }
    let rest = module.replace('.', "/");
    let top = module.split('.').next().unwrap_or(module);
    let starts = resolver.python.tops.get(top);
    let own_folder = from.folder();
    let beside = |ending: &str| {
        let sibling = within(own_folder, &format!("{top}{ending}"));
        resolver.by_path.contains_key(sibling.as_str())
    };
    // A script finds its neighbours first; inside a package that would be Python 2.
    let is_script = !resolver
        .by_path
        .contains_key(format!("{own_folder}/__init__.py").as_str());
    if is_script && (beside(".py") || beside("/__init__.py")) {
        return Some(within(own_folder, &rest));
    }
    let roots = starts?
        .iter()
        .filter_map(|&number| resolver.python.folders.get(usize::from(number)));
    // Of several roots that hold the name the one around the importer wins, then one where the module is there.
    let mut best: Option<(bool, bool, usize, &String)> = None;
    for (order, root) in roots.enumerate() {
        let exists = !matches!(
            at(resolver, &format!("{root}{rest}")),
            ModuleTarget::Missing | ModuleTarget::Outside
        );
        let rank = (
            exists,
            from.as_str().starts_with(root.as_str()),
            usize::MAX - order,
            root,
        );
        if best.is_none_or(|best| rank > best) {
            best = Some(rank);
        }
    }
    best.map(|(_, _, _, root)| format!("{root}{rest}"))
}

/// Returns the path, without an ending, that a relative import leads to: one dot is the folder of the file itself.
pub(crate) fn relative(from: &RelPath, module: &str, dots: u8) -> Option<String> {
    let mut folder = from.folder();
    for _ in 1..dots {
        if folder.is_empty() {
            return None;
        }
        folder = folder_of(folder);
    }
    Some(within(folder, &module.replace('.', "/")))
}

fn at(resolver: &Resolver<'_>, base: &str) -> ModuleTarget {
    // Beside a file in the project's own folder.
    let base = base.trim_start_matches('/');
    for ending in ["/__init__.py", ".py", ".pyi", "/__init__.pyi"] {
        let path = format!("{base}{ending}");
        if let Some(number) = resolver.number(&path) {
            return ModuleTarget::File(number);
        }
    }
    if base.is_empty() || resolver.python.python_folders.contains(base) {
        return ModuleTarget::Namespace;
    }
    if is_compiled(resolver, base) {
        return ModuleTarget::Compiled;
    }
    // A part of a real package that is not there is missing; anything else may be installed beside it.
    let package = folder_of(base);
    let in_package =
        !package.is_empty() && resolver.number(&format!("{package}/__init__.py")).is_some();
    if in_package {
        ModuleTarget::Missing
    } else {
        ModuleTarget::Outside
    }
}

/// Says whether an extension module of this name is in the project: `base.pyx`, `base.cpython-312-x86_64.so`.
fn is_compiled(resolver: &Resolver<'_>, base: &str) -> bool {
    let files = resolver.tree.files();
    let dotted = format!("{base}.");
    let first = files.partition_point(|file| file.path.as_str() < dotted.as_str());
    files[first..]
        .iter()
        .take_while(|file| file.path.as_str().starts_with(&dotted))
        .any(is_module)
}
