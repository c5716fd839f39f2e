//! Files that are not Python and name things of it all the same: settings that start functions, templates.

use super::super::place;
use super::Renaming;
use super::doubt::Doubt;
use super::family::Owner;
use crate::text::whole_words;

/// Endings of files in which settings name functions by module and name.
const SETTINGS: &str = ".toml .cfg .ini .yml .yaml .json";
/// Files that start programs, by their name or its ending: they name things of Python in one-line programs.
const SCRIPTS: &str = ".sh .bash .zsh .bat .cmd .ps1 .mk Makefile makefile GNUmakefile Dockerfile justfile \
    Justfile Procfile";
/// Endings of files in which templates reach attributes by name.
const TEMPLATES: &str = ".html .htm .jinja .jinja2 .j2 .tmpl .tpl .mako";

impl Renaming<'_, '_> {
    /// Settings that name the thing as `module:name` or `module.name`, and scripts that name it beside its module.
    pub(super) fn in_settings(&self, owner: Owner<'_>) -> Vec<Doubt> {
        let Owner::Modules(homes, _) = owner else {
            return Vec::new();
        };
        let paths = homes.iter().filter_map(|home| self.program.path(*home));
        let modules: Vec<String> = paths
            .flat_map(|path| self.program.names_of(path.as_str()))
            .collect();
        let scripts = self.in_files(SCRIPTS, "a script", |content| {
            let has = |module: &String| whole_words(content, module).next().is_some();
            match modules.iter().any(has) {
                true => whole_words(content, self.old).collect(),
                false => Vec::new(),
            }
        });
        let settings = self.in_files(SETTINGS, "settings", |content| {
            let names = whole_words(content, self.old);
            let of_module = |at: &usize| {
                let before = &content[..*at];
                let dotted = before.strip_suffix(['.', ':']);
                dotted.is_some_and(|before| {
                    modules.iter().any(|module| ends_with_word(before, module))
                })
            };
            names.filter(of_module).collect()
        });
        scripts.into_iter().chain(settings).collect()
    }

    /// Templates that reach an attribute of the name.
    pub(super) fn in_templates(&self, owner: Owner<'_>) -> Vec<Doubt> {
        if matches!(owner, Owner::Modules(..)) {
            return Vec::new();
        }
        let found = self.in_files(TEMPLATES, "a template", |content| {
            whole_words(content, self.old)
                .filter(|at| content[..*at].ends_with('.'))
                .collect()
        });
        found.into_iter().collect()
    }

    /// Scripts that start a module, or name its file.
    pub(super) fn in_scripts(&self, module: &str) -> Option<Doubt> {
        self.in_files(SCRIPTS, "a script", |content| {
            whole_words(content, module).collect()
        })
    }

    fn in_files(
        &self,
        endings: &str,
        by: &str,
        find: impl Fn(&str) -> Vec<usize>,
    ) -> Option<Doubt> {
        let mut doubt = Doubt {
            reason: format!("`{}` is reached by its name from {by}", self.old),
            places: Vec::new(),
            also: Vec::new(),
        };
        let tree = self.program.sources.tree;
        for file in tree.files() {
            let path = &file.path;
            let mut endings = endings.split_ascii_whitespace();
            if !endings.any(|ending| path.as_str().ends_with(ending)) {
                continue;
            }
            let Ok(text) = tree.text(path) else {
                continue;
            };
            let content = text.content();
            // Most files do not hold the name at all.
            if memchr::memmem::find(content.as_bytes(), self.old.as_bytes()).is_none() {
                continue;
            }
            for at in find(content) {
                doubt.places.push(place(path, content, at));
                doubt.also.push((path.clone(), at..at + self.old.len()));
            }
        }
        (!doubt.places.is_empty()).then_some(doubt)
    }
}

/// Whether a text ends with a word that is no part of a longer one.
fn ends_with_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word).is_some_and(|before| {
        !before.ends_with(|letter: char| letter == '_' || letter.is_alphanumeric())
    })
}
