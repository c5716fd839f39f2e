//! What a task asks for, held against what is changed. Reads texts; what the tests say is judged in `evidence`.

mod calls;
mod code;

use std::ops::RangeInclusive;

use harness_code::fix;
use harness_code::language::Language;
use harness_code::mention::{Mentions, NamedDefinition};
use harness_code::path::RelPath;
use harness_code::symbols::code::{CodeToken, code_tokens};
use harness_code::symbols::{self, Definition, DefinitionKind};
use harness_code::tree::{self, SourceTree};
use harness_hands::suite::Failure;

use crate::guard::{self, Change};
use crate::plan::{self, Plan, Spot, lies_in};
use crate::run::asked::code::{added_tokens, all_code, is_seen};
use crate::task::kind::Kind;
use crate::task::order::Order;
use crate::task::role::Role;
use crate::task::wish::{Noun, Wish};
use crate::task::{Task, whole_words};

/// A place that the task is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: RelPath,
    /// The definition; empty means the whole file.
    pub(super) name: String,
    pub(super) lines: RangeInclusive<u32>,
}

impl Target {
    /// Says whether it is a definition, and not a whole file.
    pub(super) fn is_definition(&self) -> bool {
        !self.name.is_empty()
    }

    fn last_name(&self) -> &str {
        last_part(&self.name)
    }
}

/// What a task asks for.
pub(super) struct Asked<'a> {
    task: &'a Task,
    plan: &'a Plan,
    tree: &'a SourceTree,
    changes: &'a [Change],
    gone: &'a [RelPath],
    /// The files that the words name.
    paths: Vec<RelPath>,
    /// The definitions that the words name, whatever they do there.
    mentioned: Vec<NamedDefinition>,
    /// Definitions that the task names as what should change, test code left out.
    named: Vec<Target>,
    /// The same, or where the task led to when it names none.
    targets: Vec<Target>,
}

/// A rule that is not met, with what to do.
type Missing = (&'static str, String);

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

const NOTHING_CHANGED: &str = "finish.nothing_changed";
const NOT_ADDED: &str = "finish.not_added";
const STILL_THERE: &str = "finish.still_there";

impl<'a> Asked<'a> {
    /// Reads what a task asks for.
    pub(super) fn read(
        task: &'a Task,
        plan: &'a Plan,
        tree: &'a SourceTree,
        changes: &'a [Change],
        gone: &'a [RelPath],
    ) -> Asked<'a> {
        let mentions = plan.mentions();
        Asked::read_words(
            task,
            (plan, tree, changes, gone),
            mentions.paths.clone(),
            definitions_named(task, tree, mentions),
        )
    }

    /// Reads one order of the task: what else the task names is not asked for by it.
    fn read_order(&self, task: &'a Task) -> Asked<'a> {
        let mut paths = self.paths.clone();
        paths.retain(|path| task.names_path(path));
        if paths.is_empty() {
            paths.clone_from(&self.paths);
        }
        let mut mentioned = self.mentioned.clone();
        mentioned.retain(|hit| task.names(last_part(&hit.qualified)));
        Asked::read_words(
            task,
            (self.plan, self.tree, self.changes, self.gone),
            paths,
            mentioned,
        )
    }

    fn read_words(
        task: &'a Task,
        (plan, tree, changes, gone): (&'a Plan, &'a SourceTree, &'a [Change], &'a [RelPath]),
        paths: Vec<RelPath>,
        mentioned: Vec<NamedDefinition>,
    ) -> Asked<'a> {
        let lines = |path: &RelPath, name: &str| {
            let definitions = &tree.file(path)?.facts.definitions;
            let found = definitions.iter().find(|one| &*one.qualified == name)?;
            Some(found.line..=found.end_line)
        };
        let names_something_new = task.wish().is_some();
        let mut named: Vec<Target> = Vec::new();
        for hit in &mentioned {
            let role = task.role_of(last_part(&hit.qualified));
            let is_meant = match task.kind {
                // Something new may be told by way of what is there.
                Kind::Add if names_something_new => role == Role::Place,
                Kind::Add
                | Kind::Fix
                | Kind::Change
                | Kind::Rename
                | Kind::Tests
                | Kind::Question => role != Role::Reference,
            };
            if is_meant && !tree::is_test(&hit.path) {
                named.push(Target {
                    path: hit.path.clone(),
                    lines: lines(&hit.path, &hit.qualified).unwrap_or(hit.line..=hit.line),
                    name: hit.qualified.clone(),
                });
            }
        }
        let named = meant(named, task, &paths);
        let mut targets = named.clone();
        if targets.is_empty() {
            let spots = plan
                .spots()
                .iter()
                .filter(|spot| !tree::is_test(&spot.path));
            let target = |spot: &Spot| Target {
                path: spot.path.clone(),
                lines: match spot.name.as_str() {
                    "" => 1..=u32::MAX,
                    name => lines(&spot.path, name).unwrap_or(spot.line..=spot.line),
                },
                name: spot.name.clone(),
            };
            // Places further down that the task does not name are guesses: they count once somebody followed them.
            let is_meant = |spot: &Spot| {
                paths.contains(&spot.path) || changes.iter().any(|one| one.path == spot.path)
            };
            let spots = spots.enumerate();
            let spots = spots.filter(|(rank, spot)| *rank == 0 || is_meant(spot));
            targets = spots.map(|(_, spot)| target(spot)).collect();
        }
        Asked {
            task,
            plan,
            tree,
            changes,
            gone,
            paths,
            mentioned,
            named,
            targets,
        }
    }

    /// Returns the places that the task is about.
    pub(super) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Returns the functions that the task names, where they stood and where they stand with the changes.
    pub(super) fn named_before_and_after(&self) -> (Vec<Target>, Vec<Target>) {
        let now = |target: &Target| -> Option<Target> {
            let text = self.text_now(&target.path)?;
            let definitions = symbols::definitions(Language::of(&target.path), &text);
            let one = definitions
                .iter()
                .find(|one| *one.qualified == *target.name && one.kind.is_function())?;
            Some(Target {
                lines: one.line..=one.end_line,
                ..target.clone()
            })
        };
        let both = self
            .named
            .iter()
            .filter_map(|old| Some((old.clone(), now(old)?)));
        both.unzip()
    }

    /// Returns the definitions that the task is about: those of a file that it names as a whole too.
    pub(super) fn definitions(&self) -> Vec<Target> {
        let inside = |target: &Target| -> Vec<Target> {
            if target.is_definition() {
                return vec![target.clone()];
            }
            let file = self.tree.file(&target.path);
            let definitions = file.into_iter().flat_map(|file| &file.facts.definitions);
            let functions = definitions.filter(|one| one.kind.is_function());
            let function = |one: &Definition| Target {
                path: target.path.clone(),
                name: one.qualified.to_string(),
                lines: one.line..=one.end_line,
            };
            functions.map(function).collect()
        };
        self.targets.iter().flat_map(inside).collect()
    }

    /// Says whether the task names this test: by its id, as a function, or by its file.
    pub(super) fn names_test(&self, id: &str) -> bool {
        let mut files = self.paths.iter();
        self.plan.names_test(id)
            || (!self.plan.names_tests()
                && files.any(|path| tree::is_test(path) && lies_in(id, path)))
    }

    /// Says whether new tests are asked for.
    pub(super) fn wants_tests(&self) -> bool {
        self.task.kind == Kind::Tests || self.task.orders().iter().any(Order::wants_test)
    }

    /// Says whether the task asks for another form of tests that are there, and they have it.
    pub(super) fn changed_tests(&self) -> bool {
        let mut changed = self.changes.iter();
        changed.any(|change| {
            tree::is_test(&change.path)
                && change.before.is_some()
                && self.task.asks_to_change_test(&change.path)
        })
    }

    /// Returns a test that is changed though that is not asked for, wherever it lies: a file that the runner was told to
    /// run, or in which tests of the report lie.
    pub(super) fn changed_test(&self, ids: &[&str], run_by_name: &[RelPath]) -> Option<Missing> {
        let open = self.changes.iter().filter(|change| {
            !tree::is_test(&change.path) && !self.task.asks_to_change_test(&change.path)
        });
        for change in open {
            let Some(before) = &change.before else {
                continue;
            };
            let path = &change.path;
            // `cart.py::cart.total` is an example in the documentation of code.
            let inside = ids
                .iter()
                .filter(|id| id.contains("::") && lies_in(id, path));
            let names: Vec<&str> = inside
                .filter_map(|id| id.split('[').next()?.rsplit("::").next())
                .filter(|name| !name.contains('.') || !change.language.is_source())
                .collect();
            let touched = if run_by_name.contains(path) || !change.language.is_source() {
                (run_by_name.contains(path) || !names.is_empty()) && *before != change.after
            } else {
                let tests = names.iter();
                let of = |text: &str, name: &str| code::functions(change.language, text, name);
                let mut tests = tests
                    .filter(|name| self.task.kind != Kind::Rename || !self.task.speaks_of(name));
                tests.any(|name| of(before, name) != of(&change.after, name))
            };
            if touched {
                let words = format!(
                    "`{path}` holds tests: leave them as they are and change the code that they check"
                );
                return Some(("finish.changes_tests", words));
            }
        }
        None
    }

    /// Says whether the text of a test speaks of a definition, for tests of which it is not known what they ran. One
    /// whose text is not found may.
    pub(super) fn test_speaks_of(&self, failure: &Failure, target: &Target) -> bool {
        let name = target.last_name();
        let id = failure.id.split('[').next().unwrap_or(&failure.id);
        let test = id.rsplit([':', '.', ' ']).next().unwrap_or(id);
        // Other languages name a test by a sentence: `suite > counts words`, `test.counts words`.
        let title = id.rsplit(" > ").next().unwrap_or(id);
        let title = title.split_once('.').map_or(title, |(_, title)| title);
        let tests = self.tree.files().iter().filter(|file| file.test);
        let mut found = tests.filter_map(|file| {
            let mut definitions = file.facts.definitions.iter();
            let own = definitions.find(|one| one.name() == test);
            let text = self.tree.text(&file.path).ok()?.into_content();
            match own {
                Some(own) => Some(has_word(text.get(own.span())?, name)),
                None if lies_in(id, &file.path) || text.contains(title) => {
                    Some(has_word(&text, name))
                }
                None => None,
            }
        });
        let first = found.next();
        first.is_none_or(|speaks| speaks || found.any(|speaks| speaks))
    }

    /// Returns what the task asks for and is not there: of each of its orders.
    pub(super) fn missing(&self) -> Option<Missing> {
        self.missing_of_orders().or_else(|| {
            let broken = calls::broken_call(self.tree, self.changes, &|path| self.text_now(path));
            broken.map(|(name, path, line)| {
                let words =
                    format!("`{path}`, line {line}, calls `{name}` as it was: change it too");
                (STILL_THERE, words)
            })
        })
    }

    fn missing_of_orders(&self) -> Option<Missing> {
        let orders = self.task.orders();
        if let [only] = orders.as_slice() {
            return self.missing_of(only, true);
        }
        orders.iter().enumerate().find_map(|(at, order)| {
            let asked = self.read_order(&order.task);
            // A later order that names nothing says how, not what.
            let counts = at == 0 || asked.names_something();
            asked.missing_of(order, false).filter(|_| counts)
        })
    }

    fn names_something(&self) -> bool {
        !self.named.is_empty()
            || self.task.wish().is_some()
            || self.task.removed_name().is_some()
            || !self.new_names().is_empty()
            || !self.new_paths().is_empty()
    }

    /// Returns what is missing of one order, which may be the only one of the task.
    fn missing_of(&self, order: &Order, is_alone: bool) -> Option<Missing> {
        let by_kind = match self.task.kind {
            // Beside other orders code changes too.
            Kind::Tests if !is_alone => None,
            Kind::Question | Kind::Tests | Kind::Rename | Kind::Add | Kind::Fix | Kind::Change => {
                self.missing_of_kind()
            }
        };
        let by_words = || {
            let parameter = || self.missing_parameter();
            let call = || self.missing_call(order);
            let docstring = || self.missing_docstring(order);
            let literal = || self.missing_literal();
            let replaced = || self.left_to_replace();
            parameter()
                .or_else(call)
                .or_else(docstring)
                .or_else(literal)
                .or_else(replaced)
        };
        by_kind.or_else(by_words).or_else(|| {
            // "Fix a, and delete b."
            let names = self.mentioned.iter();
            let names = names.map(|hit| last_part(&hit.qualified));
            let mut gone = names.filter(|name| self.task.wants_removed(name));
            gone.find_map(|name| self.left_of(name))
        })
    }

    /// A parameter stands between the brackets of what it is for, or no longer.
    fn missing_parameter(&self) -> Option<Missing> {
        let name = self.task.parameter()?;
        let functions = self.named.iter().filter(|one| one.is_definition());
        let goes = self.task.wants_removed(&name);
        if !goes && self.task.kind != Kind::Add {
            return None;
        }
        for one in functions {
            let text = self.text_now(&one.path)?;
            let language = Language::of(&one.path);
            let Some(signature) = code::signature(language, &text, &one.name) else {
                continue;
            };
            let has = signature.contains(&name);
            if !goes && !has {
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
    fn missing_call(&self, order: &Order) -> Option<Missing> {
        const CALLING: [&str; 4] = ["call", "invoke", "use", "pass"];
        if !CALLING.contains(&order.verb.as_str()) {
            return None;
        }
        let names = self.task.code_names().into_iter();
        let mut names = names.filter(|name| self.task.role_of(last_part(name)) != Role::Place);
        let object = last_part(names.next()?);
        let is_place = |one: &&Target| self.task.role_of(one.last_name()) == Role::Place;
        let mut places = self.named.iter().filter(is_place);
        let place = places.find(|one| {
            let text = self.text_now(&one.path).unwrap_or_default();
            let code = code::definition(Language::of(&one.path), &text, &one.name);
            one.is_definition() && !code.iter().any(|token| token == object)
        })?;
        let words = format!("`{}` does not use `{object}` yet: change it", place.name);
        Some((NOTHING_CHANGED, words))
    }

    /// A value that the task gives stands in what is changed.
    fn missing_literal(&self) -> Option<Missing> {
        if !matches!(self.task.kind, Kind::Add | Kind::Change) || self.task.removed_name().is_some()
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
    fn left_to_replace(&self) -> Option<Missing> {
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
    fn missing_docstring(&self, order: &Order) -> Option<Missing> {
        let is_asked = matches!(order.verb.as_str(), "add" | "write" | "give");
        let speaks = self.task.speaks_of("docstring") || self.task.speaks_of("docstrings");
        if !is_asked || !speaks {
            return None;
        }
        let python = |one: &&Target| Language::of(&one.path) == Language::Python;
        let mut functions = self.named.iter().filter(python);
        let bare = functions.find(|one| {
            let text = self.text_now(&one.path).unwrap_or_default();
            one.is_definition() && !code::has_docstring(&text, &one.name)
        })?;
        let words = format!("`{}` has no docstring yet: add it", bare.name);
        Some((NOT_ADDED, words))
    }

    fn missing_of_kind(&self) -> Option<Missing> {
        match self.task.kind {
            Kind::Question => None,
            Kind::Tests => self.missing_use(),
            Kind::Rename => self.missing_rename(),
            Kind::Add => self.missing_addition(),
            Kind::Fix => self.missing_code(),
            Kind::Change => match self.task.removed_name() {
                Some(name) => self
                    .missing_removal(&name)
                    .or_else(|| self.missing_other_removals(&name)),
                None => self.missing_wish().or_else(|| self.missing_change()),
            },
        }
    }

    /// "Box needs a close method": told, not ordered, and new all the same.
    fn missing_wish(&self) -> Option<Missing> {
        const LACKING: [&str; 5] = ["needs", "need", "should have", "lacks", "is missing"];
        let lower = self.task.text.to_lowercase();
        let lacks = LACKING
            .iter()
            .any(|words| whole_words(&lower, words).next().is_some());
        let wish = self.task.wish().filter(|_| lacks)?;
        let name = last_part(&wish.name);
        let is_there = !self.homes_of(name).is_empty() || self.defines(name, wish.noun, None);
        (!is_there).then(|| (NOT_ADDED, format!("`{name}` is not there yet: add it")))
    }

    /// A fix changes code. Where no test shows it, what the task is about must be changed.
    fn missing_code(&self) -> Option<Missing> {
        let mut changes = self.changes.iter();
        let is_code = |change: &Change| {
            !tree::is_test(&change.path) || self.task.asks_to_change_test(&change.path)
        };
        if !changes.any(is_code) {
            let words = "the code itself is not changed yet: change the definition, not its tests";
            return Some((NOTHING_CHANGED, words.to_owned()));
        }
        if self.named.is_empty() {
            return None;
        }
        if !self.changes.iter().any(|one| self.is_near(one)) {
            return Some(not_changed(&self.named[..1]));
        }
        // What neither is named nor serves what is named, tests may compare with.
        let is_far = |one: &&Change| {
            one.before.is_some()
                && one.language.is_source()
                && !tree::is_test(&one.path)
                && !self.paths.contains(&one.path)
                && !self.is_near(one)
        };
        self.changes.iter().find(is_far).map(|one| {
            let words = format!(
                "`{}` has nothing to do with it: leave it as it is",
                one.path
            );
            ("finish.unrelated", words)
        })
    }

    /// Says whether a change lies in the file of something that the task names, or in something that this file uses.
    fn is_near(&self, change: &Change) -> bool {
        self.named.iter().any(|one| {
            if one.path == change.path {
                return true;
            }
            let Ok(text) = self.tree.text(&one.path) else {
                return false;
            };
            let tokens = code_tokens(Language::of(&one.path), text.content());
            let uses = |name: &str| tokens.iter().any(|token| token.text == name);
            let definitions = symbols::definitions(change.language, &change.after);
            let mut names = definitions.iter().map(Definition::name);
            uses(change.path.stem()) || names.any(uses)
        })
    }

    /// Returns why nothing that the task is about is changed, where no test can tell.
    pub(super) fn untouched(&self) -> Option<Missing> {
        if self.targets.is_empty() || self.targets.iter().any(|one| self.is_changed(one)) {
            return None;
        }
        // A task about a file that is no code, or about tests, names no other place.
        let paths = self.paths.iter();
        let mut paths = paths.filter(|path| !Language::of(path).is_source() || tree::is_test(path));
        if self.named.is_empty() && paths.any(|path| self.change_of(path).is_some()) {
            return None;
        }
        Some(not_changed(&self.targets[..1]))
    }

    fn missing_change(&self) -> Option<Missing> {
        let groups = grouped(&self.named, self.task, &self.paths);
        let open: Vec<Target> = groups
            .iter()
            .filter(|group| !group.iter().any(|one| self.is_changed(one)))
            .filter_map(|group| group.first().cloned().cloned())
            .collect();
        if !open.is_empty() {
            return Some(not_changed(&open));
        }
        if self.named.is_empty() {
            return self.untouched().or_else(|| self.only_added());
        }
        None
    }

    /// Code that only comes beside what was to change leaves it as it was.
    fn only_added(&self) -> Option<Missing> {
        let adds = |change: &Change| {
            let Some(before) = &change.before else {
                return true;
            };
            let mut rest = change.after.lines();
            let mut old = before.lines().filter(|line| !line.trim().is_empty());
            let is_source = change.language.is_source();
            let count = |text: &str| symbols::definitions(change.language, text).len();
            is_source
                && old.all(|line| rest.any(|new| new == line))
                && count(&change.after) > count(before)
        };
        self.changes.iter().all(adds).then(|| {
            let words = "that only adds code beside what is there: change what the task is about";
            (NOTHING_CHANGED, words.to_owned())
        })
    }

    fn missing_addition(&self) -> Option<Missing> {
        // What is there already is where something goes.
        let is_new = |wish: &Wish| self.homes_of(last_part(&wish.name)).is_empty();
        let wish = self.task.wish().filter(is_new);
        if let Some(Wish { name, noun, member }) = &wish
            && !self.defines(last_part(name), *noun, Some(*member))
        {
            return Some((NOT_ADDED, format!("`{name}` is not there yet: add it")));
        }
        let wish = wish.map(|wish| wish.name);
        let missing: Vec<&str> = self
            .new_names()
            .into_iter()
            .filter(|name| wish.as_deref() != Some(*name) && !self.brings(last_part(name)))
            .collect();
        if !missing.is_empty() {
            let words = format!("`{}` is not there yet: add it", missing.join("`, `"));
            return Some((NOT_ADDED, words));
        }
        if wish.is_none() && self.task.wants_definition() && !self.adds_definition() {
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

    /// Says whether a file of code has more definitions than before.
    fn adds_definition(&self) -> bool {
        self.changes.iter().any(|change| {
            let count = |text: &str| symbols::definitions(change.language, text).len();
            let before = change.before.as_deref().map_or(0, count);
            !tree::is_test(&change.path) && count(&change.after) > before
        })
    }

    /// New tests use what they are for.
    fn missing_use(&self) -> Option<Missing> {
        let named = self.paths.iter().cloned();
        let mut homes = named
            .chain(self.new_paths())
            .filter(tree::is_test)
            .peekable();
        if homes.peek().is_some() && !homes.any(|path| self.change_of(&path).is_some()) {
            let words = "the new tests are not in the file that the task names: put them there";
            return Some(("finish.no_new_test", words.to_owned()));
        }
        let mut tests = self.new_names().into_iter();
        let missing = tests.find(|name| {
            name.starts_with("test_") && !self.defines(last_part(name), Noun::Function, None)
        });
        if let Some(name) = missing {
            let words = format!("there is no test `{name}` yet: write it");
            return Some(("finish.no_new_test", words));
        }
        None
    }

    /// Returns what new tests are for and do not use, of those that passed.
    pub(super) fn unused_by(&self, passed: &[&String]) -> Option<Missing> {
        if self.changed_tests() {
            return None;
        }
        let mut wanted: Vec<Vec<Target>> = Vec::new();
        if self.task.kind == Kind::Tests {
            let groups = grouped(&self.named, self.task, &self.paths);
            let owned = groups.into_iter();
            wanted.extend(owned.map(|group| group.into_iter().cloned().collect()));
        }
        let orders = self.task.orders();
        for order in orders.iter().filter(|order| order.task.kind == Kind::Add) {
            wanted.extend(order.task.wish().map(|wish| {
                let path = self.changes.first().map(|change| change.path.clone());
                let target = path.map(|path| Target {
                    path,
                    name: wish.name,
                    lines: 1..=1,
                });
                target.into_iter().collect()
            }));
        }
        let unused = wanted.iter().find(|group| {
            let used = |one: &Target| {
                self.changes
                    .iter()
                    .any(|change| self.tests(change, one, passed))
            };
            !group.is_empty() && !group.iter().any(used)
        })?;
        let name = unused.first()?.last_name();
        let words = format!("the new test does not use `{name}`: test that");
        Some(("finish.no_new_test", words))
    }

    /// Says whether a change brings a test that passed and uses a definition.
    fn tests(&self, change: &Change, target: &Target, passed: &[&String]) -> bool {
        let name = target.last_name();
        let has_passed = |test: &str| {
            let mut ids = passed.iter();
            // Tools that name no test say nothing of single ones.
            passed.is_empty() || ids.any(|id| plan::is_test_called(id, &change.path, test))
        };
        let uses = |text: &str| code::uses_in_tests(change.language, text, name, &has_passed);
        let before = change.before.as_deref().map_or(0, uses);
        // Where several things have the name, the test says from which module it has it.
        let is_other = self.homes_of(name).len() > 1
            && self.paths.contains(&target.path)
            && !has_word(&change.after, target.path.stem());
        let holds_tests = tree::is_test(&change.path) || change.after.contains("#[cfg(test)]");
        holds_tests && uses(&change.after) > before && !is_other
    }

    fn missing_rename(&self) -> Option<Missing> {
        let readings = fix::read_rename(&self.task.text);
        let is_known = |old: &str| !self.homes_of(last_part(old)).is_empty();
        let known = readings.iter().find(|request| is_known(&request.old));
        let Some(request) = known.or(readings.first()) else {
            return match self.task.moved_name() {
                Some((name, to)) => self
                    .missing_move(&name, &to)
                    .or_else(|| self.missing_other_moves(&name, &to)),
                None => self.missing_change(),
            };
        };
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
            let stays = !is_there || !self.gone.contains(&from);
            return stays.then_some((NOT_ADDED, words));
        }
        let name = last_part(name);
        let homes = self.homes_of(name);
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
        let is_there = |change: &Change| {
            let new = code_in(&change.path, &change.after);
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

    /// In "move a and b to c.py" both go there.
    fn missing_other_moves(&self, first: &str, to: &str) -> Option<Missing> {
        let objects = self.named.iter().filter(|one| {
            let name = one.last_name();
            name != last_part(first) && self.task.role_of(name) == Role::Object
        });
        let mut open = objects.filter_map(|one| self.missing_move(one.last_name(), to));
        open.next()
    }

    fn missing_removal(&self, name: &str) -> Option<Missing> {
        if let Ok(path) = RelPath::parse(name)
            && self.tree.file(&path).is_some()
        {
            let words = format!("`{path}` is still there: remove it");
            let stays = (!self.gone.contains(&path)).then_some((STILL_THERE, words));
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
    fn missing_other_removals(&self, first: &str) -> Option<Missing> {
        let objects = self.named.iter().filter(|one| {
            let name = one.last_name();
            name != last_part(first) && self.task.role_of(name) == Role::Object
        });
        let mut open = objects.filter_map(|one| self.left_of(one.last_name()));
        open.next()
    }

    /// Returns a definition that is still there though it should be gone, where other definitions share its name.
    fn still_defined(&self, name: &str) -> Option<Missing> {
        let meant = self.named.iter().filter(|one| one.last_name() == name);
        let mut open = meant.filter(|one| {
            let text = self.text_now(&one.path).unwrap_or_default();
            let definitions = symbols::definitions(Language::of(&one.path), &text);
            definitions
                .iter()
                .any(|known| *known.qualified == *one.name)
        });
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
    fn left_of(&self, name: &str) -> Option<Missing> {
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

    /// Returns the files that define a name before the change.
    fn homes_of(&self, name: &str) -> Vec<RelPath> {
        let mut homes: Vec<RelPath> = self
            .tree
            .definitions()
            .filter(|(_, one)| one.name() == name)
            .map(|(file, _)| file.path.clone())
            .collect();
        homes.dedup();
        homes
    }

    fn text_now(&self, path: &RelPath) -> Option<String> {
        if self.gone.contains(path) {
            return None;
        }
        match self.change_of(path) {
            Some(change) => Some(change.after.clone()),
            None => Some(self.tree.text(path).ok()?.into_content()),
        }
    }

    fn change_of(&self, path: &RelPath) -> Option<&Change> {
        self.changes.iter().find(|change| change.path == *path)
    }

    /// Says whether a change brings a definition of this name, where the task wants it.
    fn defines(&self, name: &str, noun: Noun, member: Option<bool>) -> bool {
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
                Some(member) => one.qualified.contains('.') == member,
            });
            named.filter(|one| fits(one)).count()
        };
        let paths: Vec<&RelPath> = self
            .plan
            .mentions()
            .paths
            .iter()
            .filter(|path| !tree::is_test(path))
            .collect();
        self.changes.iter().any(|change| {
            let old = change.before.as_deref().unwrap_or_default();
            let is_home =
                paths.is_empty() || paths.contains(&&change.path) || !self.new_paths().is_empty();
            is_home && count(change.language, &change.after) > count(change.language, old)
        })
    }

    /// Says whether a change brings a name into code, or into a file that is no code.
    fn brings(&self, name: &str) -> bool {
        self.changes.iter().any(|change| {
            let quoted = [format!("\"{name}\""), format!("'{name}'")];
            let count = |name: &str| added_tokens(change, name);
            count(name) > 0
                || quoted.iter().any(|text| count(text) > 0)
                || !change.language.is_source() && change.after.contains(name)
        })
    }

    /// Returns the names that the task writes like code and that nothing has yet.
    fn new_names(&self) -> Vec<&'a str> {
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
        let is_told_about = |name: &str| self.task.role_of(name) == Role::Reference;
        let names = self.task.code_names().into_iter();
        names
            .filter(|name| !known(name) && !is_path(name) && !is_told_about(name))
            .collect()
    }

    /// Returns the files that the task names and that are not there yet.
    fn new_paths(&self) -> Vec<RelPath> {
        let words = self
            .task
            .text
            .split(|c: char| c.is_whitespace() || "`\"',;:!?()".contains(c));
        let paths = words.filter_map(|word| RelPath::parse(word.trim_end_matches('.')).ok());
        let is_new = |path: &RelPath| {
            let is_file = Language::of(path) != Language::Other && path.as_str().contains('.');
            let mut files = self.tree.files().iter();
            is_file && !files.any(|file| file.path.as_str().ends_with(path.as_str()))
        };
        paths.filter(is_new).collect()
    }

    /// Says whether a target is changed in more than comments, documentation and layout, unless those are asked for.
    fn is_changed(&self, target: &Target) -> bool {
        if self.gone.contains(&target.path) {
            return true;
        }
        let Some(change) = self.change_of(&target.path) else {
            return false;
        };
        let before = change.before.as_deref().unwrap_or_default();
        if !target.is_definition() {
            return if self.task.is_about_words() || !change.language.is_source() {
                before != change.after
            } else {
                all_code(change.language, before) != all_code(change.language, &change.after)
            };
        }
        let of = |text: &str| {
            let definitions = symbols::definitions(change.language, text);
            let spans = definitions.iter();
            let spans = spans.filter(|one| *one.qualified == *target.name);
            let spans: Vec<_> = spans.map(Definition::span).collect();
            if self.task.is_about_words() {
                let texts = spans.iter().filter_map(|span| text.get(span.clone()));
                return texts.map(str::to_owned).collect::<Vec<_>>();
            }
            let tokens = code_tokens(change.language, text).into_iter();
            let is_inside = |at: usize| spans.iter().any(|span| span.contains(&at));
            tokens
                .filter(|token| is_inside(token.range.start))
                .map(|token| token.text)
                .collect()
        };
        let (old, new) = (of(before), of(&change.after));
        // What is to change is not to be gone.
        let may_go = ["inline", "merge", "replace", "split", "extract", "fold"]
            .iter()
            .any(|verb| self.task.text.to_lowercase().starts_with(verb));
        let is_lost =
            new.is_empty() && !old.is_empty() && self.task.kind != Kind::Rename && !may_go;
        old != new && !is_lost
    }
}

/// Returns the definitions that a task names; also those that only quotes or a noun before them tell from plain words:
/// "fix `f`", "the method run of class A".
fn definitions_named(task: &Task, tree: &SourceTree, mentions: &Mentions) -> Vec<NamedDefinition> {
    const NOUNS: [&str; 4] = ["function", "method", "class", "constant"];
    let mut named = mentions.definitions.clone();
    let is_sign = |c: char| c.is_whitespace() || "`\"',;:!?()".contains(c);
    let words: Vec<&str> = task
        .text
        .split(is_sign)
        .filter(|word| !word.is_empty())
        .collect();
    let pairs = words.windows(2);
    let pairs = pairs.filter(|pair| NOUNS.contains(&pair[0].to_lowercase().as_str()));
    let quoted = task.text.split('`').skip(1).step_by(2);
    let candidates: Vec<&str> = pairs.map(|pair| pair[1]).chain(quoted).collect();
    for name in candidates {
        if named.iter().any(|hit| last_part(&hit.qualified) == name) {
            continue;
        }
        let inside = |path: &RelPath| mentions.paths.is_empty() || mentions.paths.contains(path);
        let found = tree.definitions();
        let found = found.filter(|(file, one)| one.name() == name && inside(&file.path));
        named.extend(found.map(|(file, one)| NamedDefinition {
            path: file.path.clone(),
            qualified: one.qualified.to_string(),
            line: one.line,
        }));
    }
    // A class that is named beside its method is where that is.
    let owners: Vec<String> = named
        .iter()
        .filter_map(|hit| hit.qualified.rsplit_once('.'))
        .map(|(owner, _)| owner.to_owned())
        .collect();
    let speaks_of_owner = |hit: &NamedDefinition| owners.contains(&hit.qualified);
    let is_only_owner = named.iter().any(|hit| !speaks_of_owner(hit));
    if is_only_owner && mentions.definitions.is_empty() {
        named.retain(|hit| !speaks_of_owner(hit));
    }
    named
}

/// Leaves out those of several definitions of one name that the task's files or classes speak against.
fn meant(named: Vec<Target>, task: &Task, paths: &[RelPath]) -> Vec<Target> {
    let in_named_file = |one: &Target| paths.contains(&one.path);
    let in_named_class = |one: &Target| {
        let around = one
            .name
            .rsplit_once('.')
            .map(|(around, _)| last_part(around));
        around.is_some_and(|around| task.speaks_of(around))
    };
    let speaks_for = |one: &Target, other: &Target| {
        let is_better = |sign: &dyn Fn(&Target) -> bool| sign(other) && !sign(one);
        one.last_name() == other.last_name()
            && (is_better(&in_named_file) || is_better(&in_named_class))
    };
    let all = named.clone();
    let named = named.into_iter();
    named
        .filter(|one| !all.iter().any(|other| speaks_for(one, other)))
        .collect()
}

/// Returns targets together of which one is enough: several that a word may mean. Those that the task tells apart, by
/// class or by file, count each.
fn grouped<'t>(targets: &'t [Target], task: &Task, paths: &[RelPath]) -> Vec<Vec<&'t Target>> {
    let mut groups: Vec<Vec<&Target>> = Vec::new();
    for target in targets {
        let is_told = |one: &Target| paths.contains(&one.path) || task.speaks_of(&one.name);
        let same = |group: &&mut Vec<&Target>| {
            let first = group[0];
            let both_told = is_told(first) && is_told(target);
            let is_apart = both_told && (first.path != target.path || first.name != target.name);
            first.last_name() == target.last_name() && !is_apart
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(target),
            None => groups.push(vec![target]),
        }
    }
    groups
}

fn not_changed(targets: &[Target]) -> Missing {
    let names: Vec<String> = targets
        .iter()
        .map(|target| match target.name.as_str() {
            "" => format!("`{}`", target.path),
            name => format!("`{name}` in {}", target.path),
        })
        .collect();
    let words = format!("{} is not changed yet: change it", names.join(", "));
    (NOTHING_CHANGED, words)
}

fn has_word(text: &str, name: &str) -> bool {
    whole_words(text, name).next().is_some()
}

fn last_part(qualified: &str) -> &str {
    qualified.rsplit('.').next().unwrap_or(qualified)
}
