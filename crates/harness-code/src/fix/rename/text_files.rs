//! Files that are not Python and name things of it all the same: settings that start functions, templates.

use super::super::program::FileId;
use super::super::{Place, place};
use super::target::whole_words;
use super::{Renaming, Step, Stop};

/// Endings of files in which settings name functions by module and name.
const SETTINGS: &[&str] = &[".toml", ".cfg", ".ini", ".yml", ".yaml", ".json"];
/// Files that start programs, by their name or its ending: they name things of Python in one-line programs.
const SCRIPTS: &[&str] = &[
    ".sh",
    ".bash",
    ".zsh",
    ".bat",
    ".cmd",
    ".ps1",
    ".mk",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "Dockerfile",
    "justfile",
    "Justfile",
    "Procfile",
];
/// Endings of files in which templates reach attributes by name.
const TEMPLATES: &[&str] = &[
    ".html", ".htm", ".jinja", ".jinja2", ".j2", ".tmpl", ".tpl", ".mako",
];

impl Renaming<'_, '_> {
    /// Refuses when settings name the thing as `module:name` or `module.name`, or a script names it beside its module.
    pub(super) fn check_settings(&self, homes: &[FileId]) -> Step<()> {
        let mut spelled: Vec<String> = Vec::new();
        let mut modules: Vec<String> = Vec::new();
        for path in homes.iter().filter_map(|home| self.program.path(*home)) {
            for module in self.program.names_of(path.as_str()) {
                spelled.push(format!("{module}:{}", self.old));
                spelled.push(format!("{module}.{}", self.old));
                modules.push(module);
            }
        }
        let in_scripts = self.in_files(SCRIPTS, |content| {
            let has = |module: &String| whole_words(content, module).next().is_some();
            match modules.iter().any(has) {
                true => whole_words(content, self.old).collect(),
                false => Vec::new(),
            }
        });
        self.refuse_at(in_scripts, "a script")?;
        let places = self.in_files(SETTINGS, |content| {
            let mut found: Vec<usize> = Vec::new();
            for name in &spelled {
                found.extend(whole_words(content, name));
            }
            found
        });
        self.refuse_at(places, "settings")
    }

    /// Refuses when a template reaches an attribute of the name.
    pub(super) fn check_templates(&self) -> Step<()> {
        let places = self.in_files(TEMPLATES, |content| {
            whole_words(content, self.old)
                .filter(|at| content[..*at].ends_with('.'))
                .collect()
        });
        self.refuse_at(places, "a template")
    }

    /// Refuses when a script starts a module, or names its file.
    pub(super) fn check_scripts(&self, module: &str) -> Step<()> {
        let places = self.in_files(SCRIPTS, |content| whole_words(content, module).collect());
        self.refuse_at(places, "a script")
    }

    fn in_files(&self, endings: &[&str], find: impl Fn(&str) -> Vec<usize>) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let tree = self.program.sources.tree;
        for file in tree.files() {
            if !endings
                .iter()
                .any(|ending| file.path.as_str().ends_with(ending))
            {
                continue;
            }
            let Ok(text) = tree.text(&file.path) else {
                continue;
            };
            let content = text.content();
            // Most files do not hold the name at all.
            if memchr::memmem::find(content.as_bytes(), self.old.as_bytes()).is_none() {
                continue;
            }
            let found = find(content);
            places.extend(found.into_iter().map(|at| place(&file.path, content, at)));
        }
        places
    }

    fn refuse_at(&self, places: Vec<Place>, by: &str) -> Step<()> {
        if places.is_empty() {
            return Ok(());
        }
        Err(Stop::Refuse(
            format!("`{}` is reached by its name from {by}", self.old),
            places,
        ))
    }
}
