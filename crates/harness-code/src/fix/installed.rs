//! Packages outside the project, read to know what they define: which can be imported, and which give something a name.

use std::path::{Path, PathBuf};

/// Where installed packages are, as the caller knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// Folders such as `site-packages`, in the order of Python's search; empty when nothing is known.
    pub roots: Vec<PathBuf>,
}

impl Installed {
    /// The names that can be imported from the folders.
    pub fn top_levels(&self) -> Vec<String> {
        let mut names = Vec::new();
        for root in &self.roots {
            let Ok(entries) = std::fs::read_dir(root) else {
                continue;
            };
            for entry in entries.flatten() {
                let file = entry.file_name().to_string_lossy().into_owned();
                let name = file.split('.').next().unwrap_or_default().to_string();
                let module = file.ends_with(".py")
                    || file.ends_with(".so")
                    || file.ends_with(".pyd")
                    || !file.contains('.');
                if module && crate::scope::known::is_identifier(&name) {
                    names.push(name);
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether a package may give something this name: it does, or it cannot be read.
    pub(crate) fn may_define(&self, package: &str, name: &str) -> bool {
        let found: Vec<PathBuf> = self
            .roots
            .iter()
            .flat_map(|root| [root.join(package), root.join(format!("{package}.py"))])
            .filter(|path| path.exists())
            .collect();
        // Nothing known about installed packages at all: then any of them may.
        if found.is_empty() {
            return self.roots.is_empty();
        }
        found.iter().any(|path| holds_definition(path, name, 0))
    }

    /// The file or folder of a module: source, stub or compiled.
    pub(crate) fn find(&self, module: &str) -> Option<PathBuf> {
        let relative: PathBuf = module.split('.').collect();
        for root in &self.roots {
            let base = root.join(&relative);
            let source = base.with_extension("py");
            if source.is_file() {
                return Some(source);
            }
            let package = base.join("__init__.py");
            if package.is_file() {
                return Some(package);
            }
            if base.is_dir() {
                return Some(base);
            }
            if compiled(&base) {
                return Some(base.with_extension("so"));
            }
        }
        None
    }
}

/// Whether a file, or any file below a folder, defines `name` or carries it compiled.
fn holds_definition(path: &Path, name: &str, depth: u32) -> bool {
    // Links are not followed, so a circle of folders cannot be; packages are never this deep.
    let Ok(about) = std::fs::symlink_metadata(path) else {
        return false;
    };
    if about.is_dir() && depth < 20 {
        let Ok(entries) = std::fs::read_dir(path) else {
            return false;
        };
        return entries
            .flatten()
            .any(|entry| holds_definition(&entry.path(), name, depth + 1));
    }
    if !about.is_file() || about.len() > 64 * 1024 * 1024 {
        return false;
    }
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().into_owned())
        .unwrap_or_default();
    let Ok(bytes) = std::fs::read(path) else {
        return false;
    };
    match extension.as_str() {
        "py" | "pyi" => {
            memchr::memmem::find_iter(&bytes, name).any(|at| defines_at(&bytes, at, name.len()))
        }
        "so" | "pyd" => {
            let zeroed = [&[0], name.as_bytes(), &[0]].concat();
            memchr::memmem::find(&bytes, &zeroed).is_some()
        }
        _ => false,
    }
}

/// Whether the name at a place of a source is being defined: after `def` or `class`, or before `=` or `:`.
fn defines_at(bytes: &[u8], at: usize, length: usize) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let (before, after) = (
        bytes.get(..at).unwrap_or_default(),
        bytes.get(at + length..).unwrap_or_default(),
    );
    if before.last().is_some_and(is_part) || after.first().is_some_and(is_part) {
        return false;
    }
    let next = after.iter().find(|byte| **byte != b' ');
    let trimmed = before.trim_ascii_end();
    trimmed.ends_with(b"def")
        || trimmed.ends_with(b"class")
        || next.is_some_and(|byte| matches!(byte, b'=' | b':' | b'"' | b'\''))
}

fn compiled(base: &Path) -> bool {
    let (Some(folder), Some(name)) = (base.parent(), base.file_name()) else {
        return false;
    };
    let prefix = format!("{}.", name.to_string_lossy());
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let file = entry.file_name().to_string_lossy().into_owned();
        file.starts_with(&prefix) && (file.ends_with(".so") || file.ends_with(".pyd"))
    })
}
