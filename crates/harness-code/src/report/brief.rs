//! The brief: what a project is, on one screen for a person and in under 300 tokens for a model.

use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use strum::IntoStaticStr;

use crate::imports::ImportGraph;
use crate::path::RelPath;
use crate::report::entry::{EntryPoint, entry_points};
use crate::report::manifest::{Manifest, readme_about};
use crate::report::{clipped, counted};
use crate::suite::Suite;
use crate::tree::{SourceFile, SourceTree};

/// What a project is.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Brief {
    /// Its name, from its manifest or its folder.
    pub name: String,
    /// What it is, in a sentence or two; empty when nothing says so.
    pub about: String,
    /// What it is written in, most lines first.
    pub languages: Vec<LanguageShare>,
    /// How many source files it has.
    pub files: u64,
    /// How many lines of source.
    pub lines: u64,
    /// How it is started.
    pub entry_points: Vec<EntryPoint>,
    /// How its tests are run; `None` when it has no suite that we know.
    pub tests: Option<Suite>,
    /// Its main modules, most imported first.
    pub modules: Vec<Module>,
    /// Files with house rules.
    pub rules: Vec<RelPath>,
    /// How large it is.
    pub size: Size,
}

/// One language of a project.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct LanguageShare {
    /// The language.
    pub name: &'static str,
    /// Its files.
    pub files: u64,
    /// Their lines.
    pub lines: u64,
}

/// One important module.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Module {
    /// The file.
    pub path: RelPath,
    /// What it is, from its own documentation; empty without any.
    pub about: String,
    /// How many other files of the project import it, tests aside.
    pub imported_by: u64,
}

/// How large a project is, which decides how much of it can be shown at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum Size {
    /// Up to 5,000 lines: a small model's window holds most of it.
    Small,
    /// Up to 50,000 lines: a person still knows all of it.
    Medium,
    /// More.
    Large,
}

impl Size {
    fn of(lines: u64) -> Size {
        match lines {
            0..=5_000 => Size::Small,
            5_001..=50_000 => Size::Medium,
            _ => Size::Large,
        }
    }

    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// More modules than this do not fit on one screen beside the rest.
const MODULES: usize = 12;

/// Files where projects write down how they want to be worked on.
const RULES: &str = "\
    AGENTS.md CLAUDE.md GEMINI.md CONVENTIONS.md CONTRIBUTING.md CONTRIBUTING.rst .cursorrules \
    .github/copilot-instructions.md .github/CONTRIBUTING.md docs/CONTRIBUTING.md STYLE.md";

impl Brief {
    /// Makes the brief of a project.
    pub fn of(tree: &SourceTree, suite: Option<&Suite>) -> Brief {
        let manifest = Manifest::of(tree);
        let languages = languages(tree);
        let lines = languages.iter().map(|share| share.lines).sum();
        let folder_name = || {
            tree.root()
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        let about = manifest
            .about
            .clone()
            .or_else(|| readme_about(tree))
            .or_else(|| package_about(tree));
        let entry_points = entry_points(tree, &manifest);
        Brief {
            name: clipped(&manifest.name.unwrap_or_else(folder_name), 80),
            about: clipped(&about.unwrap_or_default(), 240),
            files: languages.iter().map(|share| share.files).sum(),
            lines,
            languages,
            entry_points,
            tests: suite.cloned(),
            modules: modules(tree),
            rules: rules(tree),
            size: Size::of(lines),
        }
    }

    /// Returns the brief for a person, `width` columns wide.
    pub fn render_for_person(&self, width: usize) -> String {
        let width = width.clamp(40, 120);
        let mut text = String::new();
        let _ = writeln!(text, "{}", self.name);
        if !self.about.is_empty() {
            push_wrapped(&mut text, &self.about, width);
        }
        let sizes = format!(
            "{}, {}",
            counted(self.files, "file"),
            counted(self.lines, "line")
        );
        let shares: Vec<String> = self
            .languages
            .iter()
            .take(4)
            .map(|share| share.render(self.lines))
            .collect();
        let _ = writeln!(text, "\n  size     {}: {sizes}", self.size.name());
        if !shares.is_empty() {
            let _ = writeln!(text, "  written  {}", shares.join(", "));
        }
        match &self.tests {
            Some(suite) => {
                let folder = suite
                    .folder
                    .as_ref()
                    .map_or(String::new(), |folder| format!(" in {folder}"));
                let _ = writeln!(
                    text,
                    "  tests    {}{folder}",
                    clipped(&shown_command(&suite.command), width - 11)
                );
                let _ = writeln!(
                    text,
                    "           {}, told from {}",
                    suite.runner.name(),
                    clipped(&suite.why, width.saturating_sub(34))
                );
                if !suite.missing.is_empty() {
                    let lacks = format!("lacks {}", suite.missing.join(", "));
                    let lacks = clipped(&lacks, width.saturating_sub(46));
                    let _ = writeln!(text, "           {lacks}; `harness prepare` installs it");
                }
            }
            None => text.push_str("  tests    none found\n"),
        }
        for (at, entry) in self.entry_points.iter().enumerate() {
            let label = if at == 0 { "start" } else { "" };
            let path = entry
                .path
                .as_ref()
                .filter(|path| !entry.name.ends_with(path.as_str()));
            let path = path.map_or(String::new(), |path| format!("  ({path})"));
            let _ = writeln!(
                text,
                "  {label:<7}  {}",
                clipped(&format!("{}{path}", entry.name), width - 11)
            );
        }
        if !self.rules.is_empty() {
            let names: Vec<&str> = self.rules.iter().map(RelPath::as_str).collect();
            let _ = writeln!(
                text,
                "  rules    {}",
                clipped(&names.join(", "), width - 11)
            );
        }
        self.push_modules(&mut text, width);
        text
    }

    fn push_modules(&self, text: &mut String, width: usize) {
        if self.modules.is_empty() {
            return;
        }
        text.push_str("\n  modules, most imported first\n");
        let longest = self
            .modules
            .iter()
            .map(|module| module.path.as_str().chars().count())
            .max()
            .unwrap_or(0);
        let column = longest.min(width / 2);
        for module in &self.modules {
            let room = width.saturating_sub(column + 11);
            let about = if room > 10 {
                clipped(&module.about, room)
            } else {
                String::new()
            };
            let path = module.path.as_str();
            let _ = writeln!(
                text,
                "{}",
                format!("  {:>5}  {path:<column$}  {about}", module.imported_by).trim_end()
            );
        }
    }
}

impl LanguageShare {
    fn render(&self, all: u64) -> String {
        let percent = (self.lines * 100 + all / 2).checked_div(all).unwrap_or(0);
        match percent {
            0 => format!("{} (under 1 %)", self.name),
            _ => format!("{} {percent} %", self.name),
        }
    }
}

fn push_wrapped(text: &mut String, words: &str, width: usize) {
    let mut column = 0;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            text.push('\n');
            column = 0;
        }
        if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
}

fn languages(tree: &SourceTree) -> Vec<LanguageShare> {
    let mut shares: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    for file in tree.sources() {
        let share = shares.entry(file.language.name()).or_default();
        share.0 += 1;
        share.1 += u64::from(file.lines);
    }
    let mut shares: Vec<LanguageShare> = shares
        .into_iter()
        .map(|(name, (files, lines))| LanguageShare { name, files, lines })
        .collect();
    shares.sort_by(|a, b| {
        b.lines
            .cmp(&a.lines)
            .then(b.files.cmp(&a.files))
            .then(a.name.cmp(b.name))
    });
    shares
}

/// The documentation of the one package at the top, for projects without a README.
fn package_about(tree: &SourceTree) -> Option<String> {
    let is_top = |file: &&SourceFile| {
        file.path.file_name() == "__init__.py" && file.path.parts().count() <= 3 && !file.test
    };
    let docs = tree
        .files()
        .iter()
        .filter(is_top)
        .filter_map(|file| file.facts.doc.as_deref());
    docs.map(str::to_string).next()
}

fn modules(tree: &SourceTree) -> Vec<Module> {
    let graph = ImportGraph::of(tree);
    let is_test = |at: u32| tree.files().get(at as usize).is_none_or(|file| file.test);
    let mut ranked: Vec<(u64, &SourceFile)> = Vec::new();
    for (at, file) in tree.files().iter().enumerate() {
        if !file.language.is_source() || file.test || file.generated || file.lines == 0 {
            continue;
        }
        let imported_by = graph
            .importers(at)
            .iter()
            .filter(|&&importer| !is_test(importer))
            .count() as u64;
        ranked.push((imported_by, file));
    }
    ranked.sort_by(|a, b| {
        b.0.cmp(&a.0)
            .then(b.1.lines.cmp(&a.1.lines))
            .then(a.1.path.cmp(&b.1.path))
    });
    let main = ranked.into_iter().take(MODULES);
    main.map(|(imported_by, file)| Module {
        path: file.path.clone(),
        about: about(file),
        imported_by,
    })
    .collect()
}

/// What a module is: its own words, else what it defines.
fn about(file: &SourceFile) -> String {
    let doc = file.facts.doc.as_deref().map(without_underlines);
    let module = file.path.as_str().trim_end_matches(".py").replace('/', ".");
    // A heading that repeats the module's own name says nothing of it.
    if let Some(doc) = doc.filter(|doc| !module.ends_with(doc.as_str())) {
        return clipped(&doc, 100);
    }
    let outer = file.facts.definitions.iter().filter(|d| d.parent.is_none());
    let named: Vec<&str> = outer
        .filter(|d| {
            d.kind != crate::symbols::DefinitionKind::Variable && !d.name().starts_with('_')
        })
        .map(|d| d.name())
        .take(5)
        .collect();
    clipped(&named.join(", "), 100)
}

/// Returns a text without the lines of one repeated sign that stand below its headings.
fn without_underlines(doc: &str) -> String {
    let is_underline = |word: &&str| {
        let first = word.chars().next().unwrap_or_default();
        word.len() > 2 && first.is_ascii_punctuation() && word.chars().all(|c| c == first)
    };
    let words = doc.split_whitespace().filter(|word| !is_underline(word));
    words.collect::<Vec<_>>().join(" ")
}

fn rules(tree: &SourceTree) -> Vec<RelPath> {
    let paths = RULES
        .split_ascii_whitespace()
        .filter_map(|name| RelPath::parse(name).ok());
    paths
        .filter(|path| path.under(tree.root()).is_file())
        .collect()
}

/// A command as people type it: a tool by its name alone, an interpreter by its path, which tells which one is meant.
pub(super) fn shown_command(command: &[String]) -> String {
    let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
    if let Some(program) = words.first_mut() {
        let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
        if std::path::Path::new(*program).is_absolute() && !name.starts_with("python") {
            *program = name;
        }
    }
    words.join(" ")
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::fs;

    fn project(files: &[(&str, &str)]) -> Brief {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        for (name, content) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tree = SourceTree::read(&root, None).unwrap();
        Brief::of(&tree, None)
    }

    #[test]
    fn a_small_project_on_one_screen() {
        let brief = project(&[
            ("README.md", "# Shop\n\nKeeps the orders of a small shop.\n"),
            (
                "pyproject.toml",
                "[project]\nname = 'orders'\n[project.scripts]\norders = 'orders.cli:main'\n",
            ),
            ("AGENTS.md", "Be kind."),
            ("orders/__init__.py", ""),
            (
                "orders/cli.py",
                "\"\"\"The command line.\"\"\"\nfrom orders import price\ndef main(): pass\n",
            ),
            ("orders/price.py", "def total(): pass\nclass Line: pass\n"),
            ("tests/test_price.py", "from orders import price\n"),
        ]);
        expect![[r#"
            orders
            Keeps the orders of a small shop.

              size     small: 4 files, 6 lines
              written  Python 100 %
              tests    none found
              start    orders  (orders/cli.py)
              rules    AGENTS.md

              modules, most imported first
                  1  orders/price.py  total, Line
                  0  orders/cli.py    The command line.
        "#]]
        .assert_eq(&brief.render_for_person(80));
        let json = serde_json::to_value(&brief).unwrap();
        let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "name",
                "about",
                "languages",
                "files",
                "lines",
                "entry_points",
                "tests",
                "modules",
                "rules",
                "size"
            ]
        );
    }

    #[test]
    fn a_heading_with_the_name_of_its_module_tells_nothing() {
        let brief = project(&[
            (
                "shop/models.py",
                "\"\"\"\nshop.models\n~~~~~~~~~~~\n\"\"\"\nclass Order: pass\n",
            ),
            (
                "shop/tax.py",
                "\"\"\"\nTaxes of a shop\n===============\n\"\"\"\n",
            ),
        ]);
        let told = brief.modules.iter().map(|module| module.about.as_str());
        assert_eq!(told.collect::<Vec<_>>(), ["Order", "Taxes of a shop"]);
    }

    #[test]
    fn an_empty_folder_has_a_brief_too() {
        expect![[r#"
            shop

              size     small: 0 files, 0 lines
              tests    none found
        "#]]
        .assert_eq(&project(&[(".gitignore", "")]).render_for_person(80));
    }
}
