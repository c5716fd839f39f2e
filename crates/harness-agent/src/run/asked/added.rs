//! What a task asks to be new: definitions, parameters, values, calls, files.

use std::sync::LazyLock;

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::mention::near_miss;
use harness_code::path::RelPath;
use harness_code::symbols::code::code_tokens;
use harness_code::symbols::{self, Definition, DefinitionKind};
use harness_code::text::whole_words;
use harness_code::tree;
use harness_hands::suite::Failure;
use regex::Regex;

use super::code::{self, ReadText, added_tokens, all_code, is_seen};
use super::{Asked, Missing, NOT_ADDED, NOTHING_CHANGED, STILL_THERE, Target, has_word, last_part};
use crate::guard;
use harness_code::request::addition::{Addition, Noun};
use harness_code::request::kind::Kind;
use harness_code::request::order::Order;
use harness_code::request::role::NameRole;

impl<'a> Asked<'a> {
    /// A parameter stands between the brackets of what it is for, or no longer.
    pub(super) fn missing_parameter(&self) -> Option<Missing> {
        let name = self.task.parameter()?;
        let functions = self.named.iter().filter(|one| one.is_definition());
        let goes = self.task.wants_removed(&name);
        if !goes && self.task.kind() != Kind::Add {
            return None;
        }
        for one in functions {
            let text = self.text_now(&one.path)?;
            let language = Language::of(&one.path);
            let Some(signature) = code::signature(language, &text, &one.name) else {
                continue;
            };
            let has = signature.contains(&name);
            if !goes && !has && !self.takes_any_keyword(&name) {
                let words = format!("`{}` has no parameter `{name}` yet: add it", one.name);
                return Some((NOT_ADDED, words));
            }
            if goes && has {
                let words = format!("`{}` still has the parameter `{name}`", one.name);
                return Some((STILL_THERE, words));
            }
            let callers = || self.passing(one.last_name(), &name);
            if let Some((path, line)) = goes.then(callers).flatten() {
                let words = format!("`{path}`, line {line}, still passes `{name}`: change it too");
                return Some((STILL_THERE, words));
            }
        }
        None
    }

    /// Returns where a function is still called with a keyword.
    fn passing(&self, function: &str, keyword: &str) -> Option<(RelPath, usize)> {
        self.tree.sources().find_map(|file| {
            let text = self.text_now(&file.path)?;
            let has_both = text.contains(function) && text.contains(keyword);
            let tokens = has_both.then(|| code_tokens(file.language, &text))?;
            let at = code::keyword_passed(&tokens, function, keyword)?;
            Some((file.path.clone(), text[..at].matches('\n').count() + 1))
        })
    }

    /// "Call a from b": b has a in it.
    pub(super) fn missing_call(&self, order: &Order) -> Option<Missing> {
        const CALLING: [&str; 4] = ["call", "invoke", "use", "pass"];
        let verb = order.verb.as_str();
        let puts = order.puts_into();
        if !puts && !CALLING.contains(&verb) {
            return None;
        }
        let names = self.task.code_names().into_iter();
        let mut names = names.filter(|name| self.task.role_of(last_part(name)) != NameRole::Place);
        let object = last_part(names.next()?);
        let is_place = |one: &&Target| self.task.role_of(one.last_name()) == NameRole::Place;
        let mut places = self.named.iter().filter(is_place);
        let place = places.find(|one| {
            let text = self.text_now(&one.path).unwrap_or_default();
            let code = code::definition(Language::of(&one.path), &text, &one.name);
            let names = called_here(&text, object);
            // A type may be written as a text.
            let is_written = |token: &String| puts && has_word(token, object);
            let uses = |token: &String| names.contains(&token.as_str()) || is_written(token);
            one.is_definition() && !code.iter().any(uses)
        })?;
        let words = format!("`{}` does not use `{object}` yet: change it", place.name);
        Some((NOTHING_CHANGED, words))
    }

    /// A value that the task gives stands in what is changed.
    pub(super) fn missing_literal(&self) -> Option<Missing> {
        if !matches!(self.task.kind(), Kind::Add | Kind::Change)
            || self.task.removed_name().is_some()
        {
            return None;
        }
        let brings = |value: &String| {
            self.changes.iter().any(|change| {
                let mut added = guard::added_lines(change).into_iter();
                added.any(|line| has_word(line, value))
            })
        };
        let value = self
            .task
            .values()
            .into_iter()
            .find(|value| !brings(value))?;
        Some((
            NOTHING_CHANGED,
            format!("`{value}` is not there yet: use it as the task says"),
        ))
    }

    /// In "replace a with b" nothing is left of a, where the task names the place.
    pub(super) fn left_to_replace(&self) -> Option<Missing> {
        let name = self.task.replaced_name()?;
        let is_left = |path: &RelPath| {
            let before = self.tree.text(path).ok();
            let has = |text: &str| all_code(Language::of(path), text).contains(&name);
            before.is_some_and(|text| has(text.content()))
                && self.text_now(path).is_some_and(|text| has(&text))
        };
        // A definition that is named has its own places; the rest of the file may keep the word.
        if self.named.iter().any(|one| one.last_name() != name) {
            return None;
        }
        let path = self.paths.iter().find(|path| is_left(path))?;
        Some((
            STILL_THERE,
            format!("`{name}` is still in `{path}`: replace it too"),
        ))
    }

    /// A docstring is no comment.
    pub(super) fn missing_docstring(&self, order: &Order) -> Option<Missing> {
        let is_asked = matches!(order.verb.as_str(), "add" | "write" | "give");
        let speaks = self.task.speaks_of("docstring") || self.task.speaks_of("docstrings");
        if !is_asked || !speaks {
            return None;
        }
        let python = |one: &&Target| Language::of(&one.path) == Language::Python;
        let mut functions = self.named.iter().filter(python);
        let bare = functions.find(|one| {
            let text = self.text_now(&one.path).unwrap_or_default();
            let definitions = symbols::definitions(Language::Python, &text);
            let is_documented =
                |known: &Definition| *known.qualified == *one.name && known.doc.is_some();
            one.is_definition() && !definitions.iter().any(is_documented)
        })?;
        let words = format!("`{}` has no docstring yet: add it", bare.name);
        Some((NOT_ADDED, words))
    }

    /// "Box needs a close method": told, not ordered, and new all the same.
    pub(super) fn missing_wish(&self) -> Option<Missing> {
        const LACKING: [&str; 5] = ["needs", "need", "should have", "lacks", "is missing"];
        let lower = self.task.text().to_lowercase();
        let lacks = LACKING
            .iter()
            .any(|words| whole_words(&lower, words).next().is_some());
        let addition = self.task.addition().filter(|_| lacks)?;
        let name = last_part(&addition.name);
        let is_there = !self.homes_of(name).is_empty() || self.defines(name, addition.noun, None);
        (!is_there).then(|| (NOT_ADDED, format!("`{name}` is not there yet: add it")))
    }

    /// "Split report into smaller functions", "extract a helper from report": the pieces are new functions.
    pub(super) fn missing_pieces(&self) -> Option<Missing> {
        static PIECES: LazyLock<Option<Regex>> = LazyLock::new(|| {
            let verb = r"(?:refactor|split|break|divide|decompose|restructure|separate|factor|rewrite|simplify|clean|tidy|teile|zerlege)";
            let words = r"(?:[\w-]+\s+){0,3}?";
            let into = format!(
                r"{verb}\b.*\b(?:into|in)\s+{words}(?:functions|methods|helpers|funktionen|methoden)\b"
            );
            let extract = format!(r"extract\s+{words}(?:function|method|helper)s?\b");
            Regex::new(&format!(r"(?is)^\W*(?:please\s+)?(?:{into}|{extract})")).ok()
        });
        PIECES
            .as_ref()
            .filter(|asks| asks.is_match(self.task.text()))?;
        let is_new = |change: &FileChange| {
            let mut new = change.brought().into_iter();
            !tree::is_test(&change.path) && new.any(|one| one.kind.is_function())
        };
        let words = "no function is new yet: move parts of the code into functions of their own";
        let is_missing = !self.changes.iter().any(is_new);
        is_missing.then(|| (NOT_ADDED, words.to_owned()))
    }

    /// Returns the names that the task asks to be new, where it asks for something new.
    pub(in crate::run) fn added_names(&self) -> Vec<String> {
        if self.task.kind() != Kind::Add {
            return Vec::new();
        }
        let additions = self.task.additions().iter();
        let additions = additions.map(|addition| last_part(&addition.name).to_owned());
        let additions = additions.filter(|name| self.homes_of(name).is_empty());
        let new = self
            .new_names()
            .into_iter()
            .map(|name| last_part(name).to_owned());
        additions.chain(new).collect()
    }

    pub(super) fn missing_addition(&self) -> Option<Missing> {
        // What is there already is where something goes.
        let is_new = |addition: &&Addition| self.homes_of(last_part(&addition.name)).is_empty();
        let mut additions = self.task.additions().iter();
        let addition = additions.next().filter(is_new);
        // "Add euros()" may be a function or a method.
        let is_told =
            addition.is_some_and(|addition| addition.noun != Noun::Anything || addition.member);
        if let Some(Addition { name, noun, member }) = addition
            && !self.defines(last_part(name), *noun, is_told.then_some(*member))
            && !(*noun == Noun::Anything && (self.assigns(name) || self.takes_any_keyword(name)))
        {
            return Some((NOT_ADDED, format!("`{name}` is not there yet: add it")));
        }
        let mut others =
            additions.filter(|other| is_new(other) && !self.brings(last_part(&other.name)));
        if let Some(Addition { name, .. }) = others.next() {
            return Some((NOT_ADDED, format!("`{name}` is not there yet: add it")));
        }
        let addition = addition.map(|addition| addition.name.as_str());
        let missing: Vec<&str> = self
            .new_names()
            .into_iter()
            .filter(|name| addition != Some(*name) && !self.brings(last_part(name)))
            .filter(|name| !self.is_green || self.is_untried(last_part(name)))
            .collect();
        if !missing.is_empty() {
            let words = format!("`{}` is not there yet: add it", missing.join("`, `"));
            return Some((NOT_ADDED, words));
        }
        if addition.is_none() && self.task.wants_definition() && !self.adds_definition() {
            let words = "no new definition is there yet: add it".to_owned();
            return Some((NOT_ADDED, words));
        }
        for path in self.new_paths() {
            if self.change_of(&path).is_none() {
                return Some((NOT_ADDED, format!("`{path}` is not there yet: make it")));
            }
        }
        if !self.named.is_empty() {
            return self.missing_change();
        }
        let adds_code = self.changes.iter().any(|one| !tree::is_test(&one.path));
        (!adds_code && !self.task.wants_test()).then(|| {
            let words = "the code itself is not changed yet: add what the task asks for";
            (NOTHING_CHANGED, words.to_owned())
        })
    }

    /// Says whether a changed function takes keywords of any name, and tests that pass it one of this name are green by it.
    fn takes_any_keyword(&self, name: &str) -> bool {
        if !self.is_green {
            return false;
        }
        let takes = |change: &FileChange| -> Vec<String> {
            let before = change.old_text();
            let [old, now] =
                [before, change.new_text()].map(|text| ReadText::new(change.language(), text));
            let functions = symbols::definitions(change.language(), change.new_text()).into_iter();
            let functions = functions.filter(|one| {
                let has = |text: &ReadText| {
                    let signature = text.signature(&one.qualified);
                    signature.is_some_and(|tokens| tokens.iter().any(|token| token == "**"))
                };
                one.kind.is_function() && has(&now) && !has(&old)
            });
            functions.map(|one| one.name().to_owned()).collect()
        };
        let python = |change: &&FileChange| {
            change.language() == Language::Python && !tree::is_test(&change.path)
        };
        let changes = self.changes.iter().filter(python);
        let functions: Vec<String> = changes.flat_map(takes).collect();
        let mut tests = self.tree.files().iter().filter(|file| file.test);
        tests.any(|file| {
            let text = self.tree.text(&file.path);
            text.is_ok_and(|text| {
                let tokens = code_tokens(file.language, text.content());
                let mut functions = functions.iter();
                functions.any(|one| code::keyword_passed(&tokens, one, name).is_some())
            })
        })
    }

    /// Says whether tests have this word, and none of those that were red and pass now.
    fn is_untried(&self, name: &str) -> bool {
        let tries = |test: &&Failure| self.test_has_word(test, name) == Some(true);
        !self.mended.iter().any(tries) && self.tests_write(name)
    }

    /// Says whether a test has this word.
    pub(super) fn tests_write(&self, name: &str) -> bool {
        let mut tests = self.tree.files().iter().filter(|file| file.test);
        tests.any(|file| {
            let text = self.tree.text(&file.path);
            text.is_ok_and(|text| has_word(text.content(), name))
        })
    }

    /// Says whether a file of code has more definitions than before.
    fn adds_definition(&self) -> bool {
        let mut code = self.changes.iter().filter(|one| !tree::is_test(&one.path));
        code.any(FileChange::adds_definition)
    }

    /// Says whether a change brings a definition of this name, where the task wants it.
    pub(super) fn defines(&self, name: &str, noun: Noun, member: Option<bool>) -> bool {
        let fits = |one: &Definition| match noun {
            Noun::Anything => true,
            Noun::Function => one.kind.is_function(),
            Noun::Class => !one.kind.is_function() && one.line < one.end_line,
            Noun::Constant => one.kind == DefinitionKind::Variable,
        };
        let count = |language: Language, text: &str| {
            let definitions = symbols::definitions(language, text);
            let named = definitions.iter().filter(|one| one.name() == name);
            let named = named.filter(|one| is_seen(language, text, &definitions, one));
            let named = named.filter(|one| match member {
                None => true,
                // Where functions need no class, people call them methods too.
                Some(true) if language == Language::Go => true,
                Some(member) => one.qualified.contains('.') == member,
            });
            named.filter(|one| fits(one)).count()
        };
        let homes = self.homes();
        let first = self.task.title();
        let is_told = homes.iter().any(|home| first.contains(home.file_name()));
        let is_at_home = |change: &FileChange| {
            let is_home = |home: &RelPath| {
                *home == change.path || change.path.as_str().ends_with(&format!("/{home}"))
            };
            homes.is_empty() || homes.iter().any(is_home)
        };
        // An answer names one place of several: where the red tests pass, the others are found too.
        let answer = self.task.answer().map(|(_, path)| path);
        let is_answer = matches!(homes.as_slice(), [home] if answer == Some(home.as_str()));
        let is_elsewhere =
            |change: &FileChange| self.is_green && is_answer && !tree::is_test(&change.path);
        let defines = |change: &&FileChange| {
            let old = change.old_text();
            count(change.language(), change.new_text()) > count(change.language(), old)
        };
        let mut defining = self.changes.iter().filter(defines);
        // What a file imports newly is there too, where the task itself does not say that it goes into that file: it may
        // be the answer to a question.
        let imports = |change: &FileChange| {
            let old = change.old_text();
            !is_told
                && is_at_home(change)
                && code::imports(change.language(), change.new_text(), name)
                && !code::imports(change.language(), old, name)
        };
        defining.any(|change| {
            is_at_home(change)
                || is_elsewhere(change)
                || !tree::is_test(&change.path) && self.changes.iter().any(imports)
        })
    }

    /// Says whether a class has an attribute that it had not, as in "add Enum.by_value": one of its methods sets it.
    fn assigns(&self, name: &str) -> bool {
        let Some((class, attribute)) = name.rsplit_once('.') else {
            return false;
        };
        let sets = |language: Language, text: &str| {
            let tokens = code::definition(language, text, class);
            let sets = |four: &[String]| {
                four[0] == "self"
                    && four[1] == "."
                    && four[2] == attribute
                    && ["=", ":"].contains(&four[3].as_str())
            };
            tokens.windows(4).any(sets)
        };
        self.changes.iter().any(|change| {
            let old = change.old_text();
            sets(change.language(), change.new_text()) && !sets(change.language(), old)
        })
    }

    /// Returns the files that something new may go to: those to be made, else those that the task names; none means any.
    fn homes(&self) -> Vec<RelPath> {
        let is_code = |path: &RelPath| Language::of(path).is_source() && !tree::is_test(path);
        let mut new = self.new_paths();
        new.retain(is_code);
        if !new.is_empty() {
            return new;
        }
        let named = self.plan.mentions().paths.iter();
        let mut named: Vec<RelPath> = named.cloned().collect();
        named.retain(|path| !tree::is_test(path));
        named
    }

    /// Says whether a change brings a name into code, or into a file that is no code.
    fn brings(&self, name: &str) -> bool {
        self.changes.iter().any(|change| {
            let quoted = [format!("\"{name}\""), format!("'{name}'")];
            let count = |name: &str| added_tokens(change, name);
            count(name) > 0
                || quoted.iter().any(|text| count(text) > 0)
                || !change.language().is_source() && change.new_text().contains(name)
        })
    }

    /// Returns the names that the task writes like code and that nothing has yet.
    pub(in crate::run) fn new_names(&self) -> Vec<&'a str> {
        let known = |name: &str| {
            let last = last_part(name);
            let mut definitions = self.mentioned.iter();
            let mut paths = self.paths.iter();
            definitions.any(|hit| hit.qualified.ends_with(last))
                || paths.any(|path| path.as_str().ends_with(name))
        };
        let is_path = |name: &str| {
            name.contains('/')
                || RelPath::parse(name).is_ok_and(|path| Language::of(&path) != Language::Other)
        };
        let is_told_about = |name: &str| self.task.role_of(name) == NameRole::Reference;
        // "There is no `ttal`; did you mean `total in shop.py`?" was answered.
        let is_misspelled = |name: &str| {
            let near = near_miss(self.tree, &[name]);
            let mut lines = self.task.text().lines().skip(1);
            near.is_some_and(|near| lines.any(|line| near.meant.iter().any(|one| one == line)))
        };
        // "to override regexp.Compile" speaks of what is imported.
        let is_imported = |name: &str| {
            let module = name.split_once('.').map(|(module, _)| module);
            let mut imports = self
                .tree
                .files()
                .iter()
                .flat_map(|file| &file.facts.imports);
            module.is_some_and(|module| {
                imports.any(|one| {
                    one.module
                        .rsplit(['/', '.', '"'])
                        .find(|word| !word.is_empty())
                        == Some(module)
                })
            })
        };
        // "In TypedDict" speaks of what code of the project imports.
        let is_foreign = |name: &str| {
            let place = ["in", "of", "like", "from"].map(|word| format!(" {word} {name}"));
            if !place.iter().any(|words| self.task.text().contains(words)) {
                return false;
            }
            let files = self.tree.files().iter().filter(|file| !file.test);
            let mut names = files.flat_map(|file| &file.facts.imports);
            names.any(|import| import.names.iter().any(|one| &*one.name == name))
        };
        // "For ClickHouse": a word of others that names of the project are made of.
        let is_part = |name: &str| {
            let mut definitions = self.tree.definitions();
            let is_quoted = self.task.text().contains(&format!("`{name}`"));
            let is_made_of_it = |known: &str| {
                let rest = known.strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with(|sign: char| !sign.is_lowercase()))
            };
            !is_quoted
                && !name.contains(['_', '.'])
                && definitions.any(|(file, one)| !file.test && is_made_of_it(one.name()))
        };
        let is_addition = |name: &str| {
            self.task
                .addition()
                .is_some_and(|addition| addition.name == name)
        };
        let names = self.task.code_names().into_iter();
        names
            .filter(|name| is_addition(name) || !is_part(name))
            .filter(|name| !known(name) && !is_path(name) && !is_told_about(name))
            .filter(|name| !is_imported(name) && (is_addition(name) || !is_foreign(name)))
            .filter(|name| !is_misspelled(name))
            .collect()
    }

    /// Returns the files that the task names and that are not there yet.
    pub(super) fn new_paths(&self) -> Vec<RelPath> {
        let is_new = |path: &RelPath| {
            let is_file = Language::of(path) != Language::Other && path.as_str().contains('.');
            let mut files = self.tree.files().iter();
            is_file && !files.any(|file| file.path.as_str().ends_with(path.as_str()))
        };
        let paths = self.task.written_paths().into_iter();
        paths.filter(is_new).collect()
    }
}
/// Returns the names that something goes by in a file: its own, and what imports call it there.
fn called_here<'t>(text: &'t str, name: &'t str) -> Vec<&'t str> {
    let aliases = whole_words(text, name).filter_map(|at| {
        let rest = text[at + name.len()..].trim_start().strip_prefix("as ")?;
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        Some(&rest[..end.unwrap_or(rest.len())])
    });
    aliases.chain([name]).collect()
}

#[cfg(test)]
mod tests {
    use super::called_here;

    #[test]
    fn an_import_gives_another_name() {
        let text = "from timeit import default_timer as timer\n\nstart = timer()\n";
        assert_eq!(
            called_here(text, "default_timer"),
            ["timer", "default_timer"]
        );
        assert_eq!(called_here("import json", "json"), ["json"]);
        assert_eq!(
            called_here("import numpy as np, json", "numpy"),
            ["np", "numpy"]
        );
    }
}
