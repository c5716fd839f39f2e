//! What Python's standard library defines, from a table of names; no interpreter is asked.
//!
//! The table holds the names of every version and platform (made by `scripts/stdlib/names.py`), so a name that is
//! not in it is missing everywhere.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

const TABLE: &str = include_str!("names.txt");

/// The lines of one module: its plain names, then its classes.
struct Module {
    plain: &'static str,
    classes: Vec<&'static str>,
}

static MODULES: LazyLock<FxHashMap<&'static str, Module>> = LazyLock::new(|| {
    let mut modules = FxHashMap::default();
    for block in TABLE.split('>').skip(1) {
        let mut lines = block.lines();
        let name = lines.next().unwrap_or_default();
        let plain = lines.next().unwrap_or_default();
        let classes = lines.filter(|line| !line.is_empty()).collect();
        modules.insert(name, Module { plain, classes });
    }
    modules
});

/// Every attribute that any class or module of the standard library has.
static ATTRIBUTES: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    let mut all = FxHashSet::default();
    for module in MODULES.values() {
        all.extend(plain_names(module.plain));
        for line in &module.classes {
            let class = read_class(line);
            all.insert(class.name);
            all.extend(class.members());
        }
    }
    all
});

/// One class of the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its name.
    pub name: &'static str,
    bases: &'static str,
    members: &'static str,
}

impl Class {
    /// Its bases: a name of the same module or of the builtins, or a dotted one.
    pub(crate) fn bases(&self) -> impl Iterator<Item = &'static str> {
        self.bases.split(' ').filter(|base| !base.is_empty())
    }

    /// What it defines itself.
    pub fn members(&self) -> impl Iterator<Item = &'static str> {
        self.members.split(' ').filter(|member| !member.is_empty())
    }
}

fn read_class(line: &'static str) -> Class {
    let (name, rest) = line.split_once('(').unwrap_or((line, ""));
    let (bases, members) = rest.split_once(')').unwrap_or((rest, ""));
    Class {
        name,
        bases,
        members,
    }
}

fn plain_names(line: &'static str) -> impl Iterator<Item = &'static str> {
    line.split(' ').filter(|name| !name.is_empty()).map(bare)
}

/// The name without its marks.
fn bare(name: &'static str) -> &'static str {
    let name = name.strip_prefix('~').unwrap_or(name);
    name.split_once('=').map_or(name, |(name, _)| name)
}

/// Returns whether the standard library has a module of this dotted name.
pub fn is_module(module: &str) -> bool {
    MODULES.contains_key(module)
}

/// Returns the table's own spelling of a module's name, for keeping.
pub fn module(name: &str) -> Option<&'static str> {
    MODULES.get_key_value(name).map(|(name, _)| *name)
}

/// Returns the dotted names of all modules.
pub fn modules() -> impl Iterator<Item = &'static str> {
    MODULES.keys().copied()
}

/// Returns the names that a module defines; nothing for a module that does not exist.
pub fn members(module: &str) -> Vec<&'static str> {
    let Some(module) = MODULES.get(module) else {
        return Vec::new();
    };
    let classes = module.classes.iter().map(|line| read_class(line).name);
    plain_names(module.plain).chain(classes).collect()
}

/// Returns whether a module defines a name.
pub(crate) fn has_member(module: &str, name: &str) -> bool {
    let Some(module) = MODULES.get(module) else {
        return false;
    };
    plain_names(module.plain).any(|plain| plain == name)
        || module
            .classes
            .iter()
            .any(|line| read_class(line).name == name)
}

/// Returns a class of a module, following one module that gives out another's.
pub fn class(module: &str, name: &str) -> Option<(&'static str, Class)> {
    let mut module = self::module(module)?;
    let mut name = name;
    // Re-exports are at most a few steps long; a circle in the table must not hang.
    for _ in 0..8 {
        let entry = MODULES.get(module)?;
        if let Some(line) = entry
            .classes
            .iter()
            .find(|line| read_class(line).name == name)
        {
            return Some((module, read_class(line)));
        }
        let origin = entry
            .plain
            .split(' ')
            .find_map(|plain| plain.strip_prefix(name)?.strip_prefix('='))?;
        let (next, inner) = origin.rsplit_once('.')?;
        module = self::module(next)?;
        name = inner;
    }
    None
}

/// Returns whether a class of a module defines a member itself.
pub(crate) fn class_has(module: &str, name: &str, member: &str) -> bool {
    class(module, name).is_some_and(|(_, class)| class.members().any(|own| own == member))
}

/// Returns whether any class or module of the standard library has an attribute of this name.
pub fn is_attribute(name: &str) -> bool {
    ATTRIBUTES.contains(name)
}

/// The public modules that offer each name, not those that merely import it.
static OFFERED: LazyLock<FxHashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut offered: FxHashMap<&'static str, Vec<&'static str>> = FxHashMap::default();
    for (name, module) in MODULES.iter() {
        if name.split('.').any(|part| part.starts_with('_')) {
            continue;
        }
        let plain = module
            .plain
            .split(' ')
            .filter(|plain| !plain.contains(['~', '=']));
        let classes = module.classes.iter().map(|line| read_class(line).name);
        for member in plain.chain(classes) {
            // A submodule is imported by itself.
            if MODULES.contains_key(format!("{name}.{member}").as_str()) {
                continue;
            }
            offered.entry(member).or_default().push(name);
        }
    }
    offered
        .values_mut()
        .for_each(|modules| modules.sort_unstable());
    offered
});

/// Returns the public modules that offer a name, not those that merely import it.
pub(crate) fn modules_with(name: &str) -> &'static [&'static str] {
    OFFERED.get(name).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_their_names_and_classes_are_known() {
        assert!(is_module("os.path") && !is_module("os.pth"));
        assert!(has_member("math", "ceil") && !has_member("math", "ceeil"));
        assert!(has_member("itertools", "chain"));
        assert_eq!(modules_with("defaultdict"), ["collections"]);
        let (module, class) = class("builtins", "str").unwrap();
        assert_eq!(module, "builtins");
        assert!(class.members().any(|member| member == "replace"));
        assert!(is_attribute("replace") && !is_attribute("replaace"));
    }
}
