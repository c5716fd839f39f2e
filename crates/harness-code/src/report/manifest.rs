//! What a project says of itself: its name, what it is, and how it is started. Read from manifests and the README.

use ruff_python_ast::Expr;
use serde_json::Value as Json;
use toml::{Table, Value};

use crate::path::RelPath;
use crate::suite::manifest::{ini, ini_whole, inside, texts, with_setup};
use crate::tree::SourceTree;

/// What the manifests say.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) name: Option<String>,
    pub(super) about: Option<String>,
    /// Commands that are installed, with what they start as written.
    pub(super) scripts: Vec<(String, String)>,
}

impl Manifest {
    /// Reads every manifest directly under the project folder; the first that says something wins.
    pub(super) fn of(tree: &SourceTree) -> Manifest {
        let mut whole = Manifest::default();
        for (name, read) in READERS {
            let Ok(path) = RelPath::parse(name) else {
                continue;
            };
            let Ok(text) = tree.text(&path) else { continue };
            let found = read(text.content());
            whole.name = whole.name.or(found.name);
            whole.about = whole.about.or(found.about);
            whole.scripts.extend(found.scripts);
        }
        whole.scripts.sort();
        whole.scripts.dedup();
        whole
    }
}

/// Reads the text of one manifest.
type Reader = fn(&str) -> Manifest;

/// In the order of trust.
const READERS: &[(&str, Reader)] = &[
    ("pyproject.toml", pyproject),
    ("setup.cfg", setup_cfg),
    ("setup.py", setup_py),
    ("Cargo.toml", cargo),
    ("package.json", package_json),
    ("composer.json", package_json),
    ("go.mod", go_mod),
    ("pom.xml", pom),
];

/// Returns the names of the manifests, in the order of trust.
pub(super) fn manifests() -> impl Iterator<Item = &'static str> {
    READERS.iter().map(|(name, _)| *name)
}

fn text_at<'t>(table: &'t Table, path: &str) -> Option<&'t str> {
    inside(table, path)?.as_str()
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(|text| text.trim().to_string())
        .filter(|text| !text.is_empty())
}

fn pyproject(content: &str) -> Manifest {
    let Ok(table) = content.parse::<Table>() else {
        return Manifest::default();
    };
    let mut scripts = Vec::new();
    for path in [
        "project.scripts",
        "project.gui-scripts",
        "tool.poetry.scripts",
    ] {
        let entries = inside(&table, path).and_then(Value::as_table);
        let entries = entries.into_iter().flatten();
        scripts.extend(
            entries.filter_map(|(name, target)| Some((name.clone(), target.as_str()?.to_string()))),
        );
    }
    Manifest {
        name: owned(
            text_at(&table, "project.name").or_else(|| text_at(&table, "tool.poetry.name")),
        ),
        about: owned(
            text_at(&table, "project.description")
                .or_else(|| text_at(&table, "tool.poetry.description")),
        ),
        scripts,
    }
}

fn cargo(content: &str) -> Manifest {
    let Ok(table) = content.parse::<Table>() else {
        return Manifest::default();
    };
    let programs = table
        .get("bin")
        .and_then(|bin| bin.as_array())
        .into_iter()
        .flatten();
    let scripts = programs.filter_map(|bin| {
        let path = bin
            .get("path")
            .and_then(|path| path.as_str())
            .unwrap_or_default();
        Some((bin.get("name")?.as_str()?.to_string(), path.to_string()))
    });
    Manifest {
        name: owned(text_at(&table, "package.name")),
        about: owned(text_at(&table, "package.description")),
        scripts: scripts.collect(),
    }
}

fn package_json(content: &str) -> Manifest {
    let Ok(package) = serde_json::from_str::<Json>(content) else {
        return Manifest::default();
    };
    let text = |key: &str| owned(package.get(key).and_then(Json::as_str));
    let name = text("name");
    let scripts = match package.get("bin") {
        Some(Json::String(path)) => name
            .iter()
            .map(|name| (name.clone(), path.clone()))
            .collect(),
        Some(Json::Object(programs)) => programs
            .iter()
            .filter_map(|(name, path)| Some((name.clone(), path.as_str()?.to_string())))
            .collect(),
        _ => Vec::new(),
    };
    Manifest {
        name,
        about: text("description"),
        scripts,
    }
}

fn go_mod(content: &str) -> Manifest {
    let module = content
        .lines()
        .find_map(|line| line.trim().strip_prefix("module "));
    Manifest {
        name: owned(module),
        ..Manifest::default()
    }
}

/// The artifact's own name stands before those of its parent and dependencies in nearly every file.
fn pom(content: &str) -> Manifest {
    let without_parent = content.split("</parent>").last().unwrap_or(content);
    let between = |open: &str, close: &str| {
        let start = without_parent.find(open)? + open.len();
        let end = without_parent[start..].find(close)? + start;
        owned(without_parent.get(start..end))
    };
    Manifest {
        name: between("<artifactId>", "</artifactId>"),
        about: between("<description>", "</description>"),
        scripts: Vec::new(),
    }
}

fn setup_cfg(content: &str) -> Manifest {
    // What lies in another file or in the code is not known.
    let said = |key: &str, elsewhere: &str| {
        let value = ini_whole(content, "metadata", key).into_iter().next();
        owned(
            value
                .as_deref()
                .filter(|value| !value.starts_with(elsewhere)),
        )
    };
    let scripts = ["options.entry_points", "entry_points"]
        .into_iter()
        .flat_map(|section| ini(content, section, "console_scripts"));
    Manifest {
        name: said("name", "attr:"),
        about: said("description", "file:").or_else(|| said("summary", "file:")),
        scripts: scripts.filter_map(|line| script(&line)).collect(),
    }
}

/// The keywords of the call `setup(...)` that are plain strings.
fn setup_py(content: &str) -> Manifest {
    let read = with_setup(content, |_, call| {
        let mut manifest = Manifest::default();
        for keyword in &call.arguments.keywords {
            let text = || owned(texts(&keyword.value).first().map(String::as_str));
            match keyword.arg.as_ref().map(|name| name.as_str()) {
                Some("name") => manifest.name = text(),
                Some("description") => manifest.about = text(),
                Some("entry_points") => manifest.scripts = console_scripts(&keyword.value),
                _ => {}
            }
        }
        manifest
    });
    read.unwrap_or_default()
}

fn console_scripts(value: &Expr) -> Vec<(String, String)> {
    let Expr::Dict(dict) = value else {
        return Vec::new();
    };
    let is_console = |key: &Expr| texts(key) == ["console_scripts"];
    let lists = dict
        .items
        .iter()
        .filter(|item| item.key.as_ref().is_some_and(is_console));
    let lines = lists.flat_map(|item| texts(&item.value));
    lines.filter_map(|line| script(&line)).collect()
}

/// `name = module:function`.
fn script(line: &str) -> Option<(String, String)> {
    let (name, target) = line.split_once('=')?;
    Some((name.trim().to_owned(), target.trim().to_owned()))
}

/// Names under which a project introduces itself.
pub(super) const READMES: &str = "\
    README.md README.rst README.txt README readme.md Readme.md README.markdown";

/// Returns the first paragraph of prose in the README.
pub(super) fn readme_about(tree: &SourceTree) -> Option<String> {
    let read = |name: &str| tree.text(&RelPath::parse(name).ok()?).ok();
    let text = READMES.split_ascii_whitespace().find_map(read)?;
    first_prose(text.content())
}

fn first_prose(content: &str) -> Option<String> {
    let mut paragraph = String::new();
    let mut in_fence = false;
    let lines: Vec<&str> = content.lines().take(200).collect();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_fence = !in_fence;
            continue;
        }
        let underline =
            |text: &str| text.len() >= 3 && text.bytes().all(|b| b.is_ascii_punctuation());
        let is_title =
            lines.get(at + 1).is_some_and(|next| underline(next.trim())) && paragraph.is_empty();
        let decoration = in_fence
            || is_title
            || underline(line)
            || line.starts_with(['#', '<', '!', '|', ':', '>', '*', '-', '+'])
            || line.starts_with("[!")
            || line.starts_with("..");
        if line.is_empty() || decoration {
            // Twenty characters: anything shorter is a label, not a sentence.
            if paragraph.len() > 20 {
                break;
            }
            paragraph.clear();
            continue;
        }
        if !paragraph.is_empty() {
            paragraph.push(' ');
        }
        paragraph.push_str(line);
    }
    let plain = without_links(&paragraph);
    (plain.len() > 20).then_some(plain)
}

/// Returns Markdown text with `[words](address)` as `words`, and without emphasis marks.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, after) = rest.split_at(open);
        plain.push_str(before);
        let parts = after
            .find("](")
            .and_then(|middle| Some((middle, after[middle..].find(')')? + middle)));
        match parts {
            Some((middle, end)) => {
                plain.push_str(after[1..middle].trim_start_matches('!'));
                rest = &after[end + 1..];
            }
            None => {
                plain.push('[');
                rest = &after[1..];
            }
        }
    }
    plain.push_str(rest);
    plain.replace("**", "").replace("``", "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, about: &str, scripts: &[(&str, &str)]) -> Manifest {
        Manifest {
            name: owned(Some(name)),
            about: owned(Some(about)),
            scripts: scripts
                .iter()
                .map(|(a, b)| (a.to_string(), b.to_string()))
                .collect(),
        }
    }

    #[test]
    fn what_looks_like_a_comment_is_part_of_a_description() {
        let about = setup_cfg("[metadata]\ndescription = The #1 shop # really\n").about;
        assert_eq!(about.as_deref(), Some("The #1 shop # really"));
    }

    #[test]
    fn manifests_of_many_kinds() {
        let expected = manifest("shop", "Sells things.", &[("shop", "shop.cli:main")]);
        assert_eq!(
            pyproject(
                "[project]\nname='shop'\ndescription='Sells things.'\nscripts={shop='shop.cli:main'}\n"
            ),
            expected
        );
        assert_eq!(
            setup_cfg(
                "[metadata]\nname = shop\ndescription = Sells things.\n[options.entry_points]\nconsole_scripts =\n    shop = shop.cli:main\n"
            ),
            expected
        );
        assert_eq!(
            setup_py(
                "from setuptools import setup\nsetup(name='shop', description='Sells things.', entry_points={'console_scripts': ['shop = shop.cli:main']})"
            ),
            expected
        );
        assert_eq!(
            package_json(r#"{"name": "shop", "description": "Sells things.", "bin": "cli.js"}"#),
            manifest("shop", "Sells things.", &[("shop", "cli.js")])
        );
        assert_eq!(
            cargo(
                "[package]\nname='shop'\ndescription='Sells things.'\n[[bin]]\nname='s'\npath='src/s.rs'\n"
            ),
            manifest("shop", "Sells things.", &[("s", "src/s.rs")])
        );
        assert_eq!(
            go_mod("module example.com/shop\n\ngo 1.22\n")
                .name
                .as_deref(),
            Some("example.com/shop")
        );
        assert_eq!(
            pom("<parent><artifactId>p</artifactId></parent><artifactId>shop</artifactId>")
                .name
                .as_deref(),
            Some("shop")
        );
        for read in READERS {
            assert_eq!(read.1("\u{0}{[broken"), Manifest::default(), "{}", read.0);
        }
    }

    #[test]
    fn the_first_prose_of_a_readme() {
        let about = |text| first_prose(text).unwrap_or_default();
        assert_eq!(
            about(
                "# Title\n\n[![build](x)](y)\n\nA **small** tool for [orders](http://x)\nand more.\n\nNext."
            ),
            "A small tool for orders and more."
        );
        assert_eq!(
            about("Title\n=====\n\n.. image:: x\n\nReads the orders of a shop.\n"),
            "Reads the orders of a shop."
        );
        assert_eq!(about("```\ncode code code code code\n```\n"), "");
    }
}
