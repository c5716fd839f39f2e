//! What a task asks to be gone or elsewhere, and what is left of it at its old place.

use std::collections::{BTreeMap, BTreeSet};

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::request::rename::Rename;
use harness_code::symbols::code::{CodeToken, code_tokens};
use harness_code::symbols::{self, Definition};
use harness_code::text::whole_words;

use super::code::is_seen;
use super::{Asked, Missing, NOT_ADDED, NOTHING_CHANGED, STILL_THERE, Target, has_word, last_part};
use harness_code::request::addition::Noun;
use harness_code::request::role::NameRole;

/// Words of Python code that reaches things by their name.
const BY_NAME: [&str; 6] = [
    "__all__",
    "getattr",
    "hasattr",
    "globals",
    "attrgetter",
    "methodcaller",
];
/// Files that start functions by their name.
const SETTINGS: [&str; 8] = [
    ".toml",
    ".cfg",
    ".ini",
    ".yml",
    ".yaml",
    ".sh",
    "Makefile",
    "Dockerfile",
];

impl<'a> Asked<'a> {
    pub(super) fn missing_rename(&self) -> Option<Missing> {
        let renames = self.task.renames();
        if renames.is_empty() {
            return match self.task.moved_name() {
                Some((name, to)) => self
                    .missing_move(&name, &to)
                    .or_else(|| self.missing_other_moves(&name, &to)),
                None => self
                    .missing_change()
                    .or_else(|| self.missing_unread_rename()),
            };
        }
        renames
            .iter()
            .find_map(|readings| self.missing_of_rename(readings))
    }

    /// Renames that code could not read, though the task says what is to be called what: as many names of the task have to
    /// be gone from a file as it says new ones.
    fn missing_unread_rename(&self) -> Option<Missing> {
        // What no name of the project is said for, such as "rename the helpers", code cannot look for.
        self.named.first()?;
        let count = self.task.count_new_names();
        let words_of = |text: &str| -> BTreeSet<String> {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            text.split(|c| !is_part(c)).map(str::to_owned).collect()
        };
        let names = |language: Language, text: &str| -> BTreeSet<String> {
            let tokens = code_tokens(language, text).into_iter();
            tokens.flat_map(|token| words_of(&token.text)).collect()
        };
        let said: BTreeSet<&str> = self.task.identifiers().collect();
        let mut gone = BTreeSet::new();
        for change in self.changes {
            let before = change.old_text();
            let after = names(change.language(), change.new_text());
            let lost = names(change.language(), before).into_iter();
            gone.extend(lost.filter(|name| said.contains(name.as_str()) && !after.contains(name)));
        }
        (gone.len() < count).then(|| {
            let words = "not all of it is renamed yet: rename each thing that the task names, with its uses";
            (NOTHING_CHANGED, words.to_owned())
        })
    }

    /// Returns what is missing of one rename, of which these are the readings.
    fn missing_of_rename(&self, readings: &[Rename]) -> Option<Missing> {
        let is_known = |old: &str| !self.homes_of(last_part(old)).is_empty();
        let known = readings.iter().find(|request| is_known(&request.old));
        let request = known.or(readings.first())?;
        // A file that is no module gets its new name by its path alone.
        if let Ok(from) = RelPath::parse(&request.old)
            && Language::of(&from) != Language::Python
            && self.tree.file(&from).is_some()
        {
            let to = match from.parent().filter(|_| !request.new.contains('/')) {
                Some(folder) => format!("{folder}/{}", request.new),
                None => request.new.clone(),
            };
            return self.missing_move(&request.old, &to);
        }
        let (old, new) = (last_part(&request.old), last_part(&request.new));
        // A module gets its new name by its path.
        let is_path = |path: &RelPath| path.stem() == new || path.folder().ends_with(new);
        if !self.defines(new, Noun::Anything, None)
            && !self.changes.iter().any(|one| is_path(&one.path))
        {
            return Some((
                NOT_ADDED,
                format!("nothing is called `{new}` yet: rename it"),
            ));
        }
        self.left_of(old)
    }

    /// Says which functions a change brings into a file that stand in another one word for word.
    fn copied_to(&self, target: &FileChange) -> Option<String> {
        let code = |text: &str| -> BTreeMap<String, String> {
            let definitions = symbols::definitions(target.language(), text);
            let outer = definitions
                .iter()
                .filter(|one| one.parent.is_none() && one.kind.is_function());
            outer
                .map(|one| (one.name().to_owned(), text[one.span()].to_owned()))
                .collect()
        };
        let before = code(target.old_text());
        let mut new = code(target.new_text());
        new.retain(|name, _| !before.contains_key(name));
        let files = self.tree.files().iter();
        let mut others = files.filter(|file| {
            let mut names = file.facts.definitions.iter().map(Definition::name);
            !file.test && file.path != target.path && names.any(|name| new.contains_key(name))
        });
        others.find_map(|file| {
            let left = code(&self.text_now(&file.path)?);
            let same = |(name, text): &(&String, &String)| new.get(*name) == Some(*text);
            let names: Vec<String> = left
                .iter()
                .filter(same)
                .map(|one| format!("`{}`", one.0))
                .collect();
            let words = || {
                format!(
                    "`{}` still has {}: take away there what has moved",
                    file.path,
                    names.join(", ")
                )
            };
            (!names.is_empty()).then(words)
        })
    }

    /// Says whether a file has a definition now that went from another one.
    fn has_taken_over(&self, target: &FileChange) -> bool {
        let names = |text: &str| -> BTreeSet<String> {
            let definitions = symbols::definitions(target.language(), text);
            let outer = definitions.iter().filter(|one| one.parent.is_none());
            outer.map(|one| one.name().to_owned()).collect()
        };
        let before = names(target.old_text());
        let new = &names(target.new_text()) - &before;
        self.changes.iter().any(|other| {
            let left = &names(other.old_text()) - &names(other.new_text());
            other.path != target.path && !new.is_disjoint(&left)
        })
    }

    fn missing_move(&self, name: &str, to: &str) -> Option<Missing> {
        let is_target = |path: &RelPath| {
            let mut files = self.tree.files().iter();
            let is_known = files.any(|file| file.path.as_str() == to);
            path.as_str() == to || (!is_known && path.as_str().ends_with(&format!("/{to}")))
        };
        if let Ok(from) = RelPath::parse(name)
            && self.tree.file(&from).is_some()
        {
            let is_there = self.changes.iter().any(|one| is_target(&one.path));
            let words = format!("`{from}` is not at `{to}` yet: move it there");
            let stays = !is_there || !self.takes_away(&from);
            return stays.then_some((NOT_ADDED, words));
        }
        let name = last_part(name);
        let homes = self.homes_of(name);
        if homes.is_empty() && !self.task.code_names().contains(&name) {
            // "Move the implementation of the utility to cli.py" names nothing by its name.
            let targets = self.changes.iter().filter(|one| is_target(&one.path));
            let copied = targets.clone().find_map(|target| self.copied_to(target));
            let has_moved = targets.clone().any(|target| self.has_taken_over(target));
            let nothing = || format!("nothing has moved to `{to}` yet: move what the task tells");
            return match (copied, has_moved) {
                (Some(words), _) => Some((STILL_THERE, words)),
                (None, true) => None,
                (None, false) => Some((NOT_ADDED, nothing())),
            };
        }
        let code_in = |path: &RelPath, text: &str| -> Option<Vec<String>> {
            let language = Language::of(path);
            let definitions = symbols::definitions(language, text);
            let mut named = definitions.iter().filter(|one| one.name() == name);
            let one = named.find(|one| is_seen(language, text, &definitions, one))?;
            let tokens = code_tokens(language, text).into_iter();
            let inside = tokens.filter(|token| one.span().contains(&token.range.start));
            Some(inside.map(|token| token.text).collect())
        };
        let old: Vec<Vec<String>> = homes
            .iter()
            .filter_map(|path| code_in(path, self.tree.text(path).ok()?.content()))
            .collect();
        let is_there = |change: &FileChange| {
            let new = code_in(&change.path, change.new_text());
            is_target(&change.path) && new.is_some_and(|new| old.is_empty() || old.contains(&new))
        };
        if !self.changes.iter().any(is_there) {
            let words = format!("`{name}` is not in `{to}` as it was: move it there");
            return Some((NOT_ADDED, words));
        }
        let left = homes.iter().filter(|path| !is_target(path));
        let mut stays = left.clone().filter(|path| {
            let text = self.text_now(path);
            text.is_some_and(|text| code_in(path, &text).is_some())
        });
        if let Some(path) = stays.next() {
            let words = format!("`{name}` is still in `{path}`: take it away there");
            return Some((STILL_THERE, words));
        }
        left.clone()
            .find_map(|path| self.still_imported(path, name))
    }

    /// Returns what a task names beside the first as what it does something to.
    fn other_objects(&self, first: &str) -> impl Iterator<Item = &Target> {
        let first = last_part(first).to_owned();
        self.named.iter().filter(move |one| {
            let name = one.last_name();
            name != first && self.task.role_of(name) == NameRole::Object
        })
    }

    /// In "move a and b to c.py" both go there.
    fn missing_other_moves(&self, first: &str, to: &str) -> Option<Missing> {
        let mut open = self
            .other_objects(first)
            .filter_map(|one| self.missing_move(one.last_name(), to));
        open.next()
    }

    pub(super) fn missing_removal(&self, name: &str) -> Option<Missing> {
        if let Ok(path) = RelPath::parse(name)
            && self.tree.file(&path).is_some()
        {
            let words = format!("`{path}` is still there: remove it");
            let stays = (!self.takes_away(&path)).then_some((STILL_THERE, words));
            return stays.or_else(|| self.still_imported(&path, path.stem()));
        }
        let name = last_part(name);
        if self.homes_of(name).is_empty() {
            // A parameter, a line, a setting: what it is part of must change.
            return self.missing_change();
        }
        self.left_of(name)
    }

    /// In "remove a and b" both go.
    pub(super) fn missing_other_removals(&self, first: &str) -> Option<Missing> {
        let mut open = self
            .other_objects(first)
            .filter_map(|one| self.left_of(one.last_name()));
        open.next()
    }

    /// Returns a definition that is still there though it should be gone, where other definitions share its name.
    fn still_defined(&self, name: &str) -> Option<Missing> {
        let meant = self.named.iter().filter(|one| one.last_name() == name);
        let mut open = meant.filter(|one| self.still_has(one));
        open.next().map(|one| {
            let words = format!("`{}` is still in `{}`: take it away", one.name, one.path);
            (STILL_THERE, words)
        })
    }

    /// Returns where a module is still imported from, or a name from its old module.
    fn still_imported(&self, module: &RelPath, name: &str) -> Option<Missing> {
        let stem = module.stem();
        for file in self.tree.sources() {
            if file.language != Language::Python || file.path == *module {
                continue;
            }
            let Some(text) = self.text_now(&file.path) else {
                continue;
            };
            let imports = |line: &&str| {
                let line = line.trim_start();
                let is_import = line.starts_with("from ") || line.starts_with("import ");
                is_import && has_word(line, stem) && has_word(line, name)
            };
            if let Some(at) = text.lines().position(|line| imports(&line)) {
                let (path, line) = (&file.path, at + 1);
                let words = format!("`{path}`, line {line}, still imports `{name}`: change it too");
                return Some((STILL_THERE, words));
            }
        }
        None
    }

    /// Returns where a name is still defined or used that should be gone. Where other things have the same name, only
    /// the files that the change is about are asked.
    pub(super) fn left_of(&self, name: &str) -> Option<Missing> {
        let definitions = self.tree.definitions();
        let sharing = definitions.filter(|(_, one)| one.name() == name).count();
        if sharing > 1 && !self.named.is_empty() {
            let meant = self.named.iter().find(|one| one.last_name() == name);
            let imported = || self.still_imported(&meant?.path, name);
            return self.still_defined(name).or_else(imported);
        }
        let homes = self.homes_of(name);
        let in_question = |path: &RelPath| {
            homes.len() <= 1 || self.change_of(path).is_some() || self.paths.contains(path)
        };
        if let Some((path, line)) = self.named_in_settings(name, &homes) {
            let words = format!("`{path}`, line {line}, still names `{name}`: change it too");
            return Some((STILL_THERE, words));
        }
        let files = self.tree.sources().map(|file| file.path.clone());
        let new = self.changes.iter().map(|change| change.path.clone());
        let mut paths: Vec<RelPath> = files.chain(new).filter(in_question).collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            let Some(text) = self.text_now(&path).filter(|text| text.contains(name)) else {
                continue;
            };
            let tokens = code_tokens(Language::of(&path), &text);
            // A module's list of names, and what looks things up by name, hold them as texts.
            let lists_names = BY_NAME.iter().any(|word| has_word(&text, word));
            let is_left = |token: &&CodeToken| {
                token.text == name || lists_names && token.text.trim_matches(['"', '\'']) == name
            };
            if let Some(token) = tokens.iter().find(is_left) {
                let line = text[..token.range.start].matches('\n').count() + 1;
                let words = format!("`{name}` is still in `{path}`, line {line}: change it too");
                return Some((STILL_THERE, words));
            }
        }
        None
    }

    /// Returns where settings or a script name something by its module: `module:name`, `module.name`.
    fn named_in_settings(&self, name: &str, homes: &[RelPath]) -> Option<(RelPath, usize)> {
        let spelled: Vec<String> = homes
            .iter()
            .flat_map(|home| [":", "."].map(|sign| format!("{}{sign}{name}", home.stem())))
            .collect();
        let files = self.tree.files().iter();
        let settings = files.filter(|file| {
            let path = file.path.as_str();
            SETTINGS.iter().any(|ending| path.ends_with(ending))
        });
        settings.into_iter().find_map(|file| {
            let text = self.text_now(&file.path)?;
            let at = spelled
                .iter()
                .find_map(|word| whole_words(&text, word).next())?;
            Some((file.path.clone(), text[..at].matches('\n').count() + 1))
        })
    }
}
