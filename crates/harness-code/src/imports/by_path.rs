//! Imports of the languages whose modules are found by path: JavaScript, TypeScript, C, C++, Ruby, PHP, Java, Go, shell.

use crate::imports::{Outcome, Resolver};
use crate::language::Language;
use crate::path::RelPath;
use crate::symbols::Import;
use crate::tree::SourceFile;

/// A Go package with more files than this is linked to its first ones only.
const PACKAGE_FILES: usize = 64;

/// Calls `found` for every file that `import` leads to.
pub(super) fn targets(
    resolver: &Resolver<'_>,
    file: &SourceFile,
    import: &Import,
    found: &mut dyn FnMut(u32),
) -> Outcome {
    let module = &*import.module;
    let target = match file.language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            return javascript(resolver, &file.path, module, found);
        }
        Language::Go => return go(resolver, module, found),
        Language::C | Language::Cpp => include(resolver, &file.path, module),
        Language::Ruby => ruby(resolver, &file.path, module),
        Language::Php => php(resolver, &file.path, module),
        Language::Java => java(resolver, module),
        Language::Shell => beside(resolver, &file.path, module).or_else(|| resolver.number(module)),
        Language::Python
        | Language::Rust
        | Language::CSharp
        | Language::Prose
        | Language::Config
        | Language::Other => None,
    };
    match target {
        Some(target) => {
            found(target);
            Outcome::Inside
        }
        None => Outcome::Outside,
    }
}

/// Returns the file at `relative` from the folder of `from`.
fn beside(resolver: &Resolver<'_>, from: &RelPath, relative: &str) -> Option<u32> {
    let path = match from.parent() {
        Some(folder) => folder.join(relative),
        None => RelPath::parse(relative),
    };
    resolver.number(path.ok()?.as_str())
}

/// Endings that may be left out, in the order in which bundlers try them; first comes none.
const SCRIPT_ENDINGS: &str = "\
    |.ts|.tsx|.js|.jsx|.mjs|.cjs|.mts|.cts|.d.ts|/index.ts|/index.tsx|/index.js|/index.jsx";

fn javascript(
    resolver: &Resolver<'_>,
    from: &RelPath,
    module: &str,
    found: &mut dyn FnMut(u32),
) -> Outcome {
    let is_relative =
        module.starts_with("./") || module.starts_with("../") || matches!(module, "." | "..");
    let found_at = |stem: &str| {
        SCRIPT_ENDINGS.split('|').find_map(|ending| {
            let name = format!("{stem}{ending}");
            if is_relative {
                beside(resolver, from, &name)
            } else {
                resolver.number(&name)
            }
        })
    };
    let target = if is_relative {
        // TypeScript names the file that it will become.
        let source = module
            .strip_suffix(".js")
            .or_else(|| module.strip_suffix(".jsx"))
            .or_else(|| module.strip_suffix(".mjs"));
        found_at(module).or_else(|| found_at(source?))
    } else {
        // The usual alias of the source folder.
        module
            .strip_prefix("@/")
            .or_else(|| module.strip_prefix("~/"))
            .and_then(|rest| found_at(&format!("src/{rest}")))
    };
    match target {
        Some(target) => {
            found(target);
            Outcome::Inside
        }
        // A style sheet or picture is not source and may be made by the build.
        None if is_relative && !module.rsplit('/').next().unwrap_or("").contains('.') => {
            Outcome::Missing
        }
        None => Outcome::Outside,
    }
}

fn go(resolver: &Resolver<'_>, module: &str, found: &mut dyn FnMut(u32)) -> Outcome {
    for (path, folder) in &resolver.go_modules {
        let Some(rest) = module.strip_prefix(path.as_str()) else {
            continue;
        };
        if !rest.is_empty() && !rest.starts_with('/') {
            continue;
        }
        let inside = format!("{folder}{rest}");
        let inside = inside.trim_matches('/');
        // Files are sorted, so those of one folder lie together.
        let files = resolver.tree.files();
        let prefix = if inside.is_empty() {
            String::new()
        } else {
            format!("{inside}/")
        };
        let first = files.partition_point(|file| file.path.as_str() < prefix.as_str());
        let below = files[first..]
            .iter()
            .enumerate()
            .take_while(|(_, file)| file.path.as_str().starts_with(&prefix));
        let package = below.filter(|(_, file)| {
            file.language == Language::Go && !file.test && file.path.folder() == inside
        });
        let mut any = false;
        for (at, _) in package.take(PACKAGE_FILES) {
            any = true;
            found((first + at) as u32);
        }
        return if any {
            Outcome::Inside
        } else {
            Outcome::Missing
        };
    }
    Outcome::Outside
}

fn include(resolver: &Resolver<'_>, from: &RelPath, module: &str) -> Option<u32> {
    match module
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
    {
        // A system header without a folder is never meant to be ours.
        Some(system) => system
            .contains('/')
            .then(|| resolver.ending_with(system))
            .flatten(),
        None => beside(resolver, from, module).or_else(|| resolver.ending_with(module)),
    }
}

fn ruby(resolver: &Resolver<'_>, from: &RelPath, module: &str) -> Option<u32> {
    let file = if module.ends_with(".rb") {
        module.to_string()
    } else {
        format!("{module}.rb")
    };
    if module.starts_with('.') {
        return beside(resolver, from, &file);
    }
    resolver.number(&format!("lib/{file}")).or_else(|| {
        file.contains('/')
            .then(|| resolver.ending_with(&file))
            .flatten()
    })
}

fn php(resolver: &Resolver<'_>, from: &RelPath, module: &str) -> Option<u32> {
    if module.ends_with(".php") {
        let plain = module
            .trim_start_matches("__DIR__")
            .trim_start_matches([' ', '.', '\'', '"'])
            .trim_start_matches('/');
        return beside(resolver, from, plain).or_else(|| resolver.ending_with(plain));
    }
    let name = module
        .split(" as ")
        .next()
        .unwrap_or(module)
        .trim()
        .trim_start_matches('\\')
        .replace('\\', "/");
    // The first part of a namespace is usually mapped to the source folder.
    let without_first = name.split_once('/').map(|(_, rest)| format!("{rest}.php"));
    resolver.ending_with(&format!("{name}.php")).or_else(|| {
        without_first.and_then(|rest| {
            rest.contains('/')
                .then(|| resolver.ending_with(&rest))
                .flatten()
        })
    })
}

fn java(resolver: &Resolver<'_>, module: &str) -> Option<u32> {
    let path = module.replace('.', "/");
    let whole = resolver.ending_with(&format!("{path}.java"));
    // A static import names a member of the class.
    whole.or_else(|| resolver.ending_with(&format!("{}.java", path.rsplit_once('/')?.0)))
}
