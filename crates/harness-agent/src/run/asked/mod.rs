//! What a task asks for, held against what is changed. Reads texts; what the tests say is judged in `evidence`.

mod added;
mod calls;
mod code;
mod gone;
mod tested;

use std::ops::RangeInclusive;

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::locate;
use harness_code::mention::{Mentions, NamedDefinition};
use harness_code::path::RelPath;
use harness_code::symbols::code::code_tokens;
use harness_code::symbols::{self, Definition, DefinitionKind};
use harness_code::text::whole_words;
use harness_code::tree::{self, SourceTree};
use harness_hands::suite::{Failure, UNBUILT};

use crate::plan::{Plan, Spot, last_part};
use crate::run::asked::code::all_code;
use harness_code::request::Request;
use harness_code::request::kind::Kind;
use harness_code::request::order::Order;
use harness_code::request::role::NameRole;

/// A place that the task is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: RelPath,
    /// The definition; empty means the whole file.
    pub(super) name: String,
    pub(super) lines: RangeInclusive<u32>,
}

impl Target {
    /// Returns a definition of a file.
    pub(super) fn of(path: &RelPath, one: &Definition) -> Target {
        Target {
            path: path.clone(),
            name: one.qualified.to_string(),
            lines: one.line..=one.end_line,
        }
    }

    /// Says whether it is a definition, and not a whole file.
    pub(super) fn is_definition(&self) -> bool {
        !self.name.is_empty()
    }

    pub(super) fn last_name(&self) -> &str {
        last_part(&self.name)
    }
}

/// What a task asks for.
pub(super) struct Asked<'a> {
    task: &'a Request,
    plan: &'a Plan,
    tree: &'a SourceTree,
    changes: &'a [FileChange],
    /// The files that the words name.
    paths: Vec<RelPath>,
    /// The definitions that the words name, whatever they do there.
    mentioned: Vec<NamedDefinition>,
    /// Definitions that the task names as what should change, test code left out.
    named: Vec<Target>,
    /// The same, or where the task led to when it names none.
    targets: Vec<Target>,
    /// Whether red tests of what the task names pass now by a change of places that the model listed.
    is_shown: bool,
    /// Whether such a change left no red test that has to do with the task, where there were some.
    is_green: bool,
    /// The tests that were red and pass now.
    mended: Vec<&'a Failure>,
    /// Whether a compiler refused the tests before, and all of them pass now.
    compiles_again: bool,
}

/// One order of a task, held against what is changed.
pub(super) struct OrderState {
    /// What it asks for, for people.
    pub(super) goal: String,
    pub(super) kind: Kind,
    pub(super) wants_test: bool,
    /// What of it is not there.
    pub(super) missing: Option<Missing>,
    /// Why nothing that a fix names is changed.
    pub(super) untouched: Option<String>,
    /// What it is about: definitions that it names or asks for, and the file of each.
    names: Vec<(String, Vec<RelPath>)>,
}

/// A rule that is not met, with what to do.
type Missing = (&'static str, String);

/// Verbs that ask for another form of what is there.
const REWRITES: [&str; 8] = [
    "clean",
    "tidy",
    "simplify",
    "refactor",
    "shorten",
    "rewrite",
    "restructure",
    "reorganise",
];
/// What a task that adds calls what it wants.
const NEW_NOUNS: [&str; 5] = ["function", "method", "class", "helper", "constant"];
const NOTHING_CHANGED: &str = "finish.nothing_changed";
const NOT_ADDED: &str = "finish.not_added";
const STILL_THERE: &str = "finish.still_there";

impl<'a> Asked<'a> {
    /// Reads what a task asks for.
    pub(super) fn read(
        task: &'a Request,
        plan: &'a Plan,
        tree: &'a SourceTree,
        changes: &'a [FileChange],
    ) -> Asked<'a> {
        let mentions = plan.mentions();
        Asked::read_words(
            task,
            (plan, tree, changes),
            mentions.paths.clone(),
            definitions_named(task, tree, mentions),
        )
    }

    /// Reads one order of the task: what else the task names is not asked for by it.
    pub(super) fn read_order(&self, task: &'a Request) -> Asked<'a> {
        let mut paths = self.paths.clone();
        paths.retain(|path| task.names_path(path));
        if paths.is_empty() {
            paths.clone_from(&self.paths);
        }
        let mut mentioned = self.mentioned.clone();
        mentioned.retain(|hit| task.names(last_part(&hit.qualified)));
        Asked::read_words(task, (self.plan, self.tree, self.changes), paths, mentioned)
    }

    fn read_words(
        task: &'a Request,
        (plan, tree, changes): (&'a Plan, &'a SourceTree, &'a [FileChange]),
        paths: Vec<RelPath>,
        mentioned: Vec<NamedDefinition>,
    ) -> Asked<'a> {
        let lines = |path: &RelPath, name: &str| {
            let definitions = &tree.file(path)?.facts.definitions;
            let found = definitions.iter().find(|one| &*one.qualified == name)?;
            Some(found.line..=found.end_line)
        };
        let names_something_new = task.addition().is_some();
        let mut named: Vec<Target> = Vec::new();
        for hit in &mentioned {
            let name = last_part(&hit.qualified);
            let role = task.role_of(name);
            let mut others = mentioned.iter().map(|other| last_part(&other.qualified));
            if others.any(|other| task.is_put_into(name, other)) {
                continue;
            }
            let is_meant = match task.kind() {
                // What answers the question is where something new goes, which may be told by way of what is there.
                Kind::Add if answers_where(task, changes, &hit.qualified) => false,
                Kind::Add if names_something_new => role == NameRole::Place,
                Kind::Add
                | Kind::Fix
                | Kind::Change
                | Kind::Rename
                | Kind::Tests
                | Kind::Question => role != NameRole::Reference,
            };
            if is_meant && !is_test_code(&hit.path, &hit.qualified) {
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
                .filter(|spot| !is_test_code(&spot.path, &spot.name));
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
            paths,
            mentioned,
            named,
            targets,
            is_shown: false,
            is_green: false,
            mended: Vec::new(),
            compiles_again: false,
        }
    }

    /// Takes what tests show into account: what the task names need not change itself.
    pub(super) fn shown(
        self,
        is_shown: bool,
        is_green: bool,
        mended: Vec<&'a Failure>,
        compiles_again: bool,
    ) -> Asked<'a> {
        Asked {
            is_shown,
            is_green,
            mended,
            compiles_again,
            ..self
        }
    }

    /// Says whether the task names neither a definition that should change nor a file.
    pub(super) fn names_nothing(&self) -> bool {
        self.named.is_empty() && self.paths.is_empty()
    }

    /// Says whether the task tells of one thing in words that name nothing, with the answer to our question on a last line,
    /// a file, or a definition and its file, and what is named there is changed.
    pub(super) fn is_answered(&self) -> bool {
        const FEWEST_WORDS: usize = 3;
        /// Words that tell of more than one fault, in the languages that tasks are read in.
        const WHOLE: [&str; 20] = [
            "alle",
            "alles",
            "tous",
            "toutes",
            "todos",
            "todas",
            "tutti",
            "tutte",
            "wszystkie",
            "все",
            "all",
            "every",
            "everything",
            "bugs",
            "tests",
            "errors",
            "failures",
            "problems",
            "issues",
            "both",
        ];
        let Some((_, path)) = self.task.answer() else {
            return false;
        };
        let path = self.paths.iter().find(|one| one.as_str() == path);
        let told = self.task.text().trim_end().rsplit_once('\n');
        let told = told.map_or("", |(told, _)| told);
        let words = || told.split(|sign: char| !sign.is_alphanumeric());
        let is_whole = |word: &str| WHOLE.contains(&word.to_lowercase().as_str());
        let is_told = |one: &Target| has_word(told, one.last_name());
        let is_changed = match self.named.is_empty() {
            true => path.is_some_and(|path| self.is_changed(&whole_file(path))),
            false => self.named.iter().any(|one| self.is_changed(one)),
        };
        is_changed
            && path.is_some()
            && !self.named.iter().any(is_told)
            && !self
                .paths
                .iter()
                .any(|path| told.contains(path.file_name()))
            && !words().any(is_whole)
            && words().filter(|word| word.len() > 2).count() >= FEWEST_WORDS
    }

    /// Returns how many words of the task's first line a test's name has, whatever their endings.
    pub(super) fn shared_words(&self, test: &str) -> usize {
        const SHORTEST: usize = 3;
        let title = self.task.title();
        let (title, test) = (locate::stems(title), locate::stems(test));
        let shared = title.intersection(&test);
        let shared = shared.filter(|word| word.len() >= SHORTEST && *word != "test");
        shared.count()
    }

    /// Returns the definitions that the task names as what should change.
    pub(super) fn named(&self) -> &[Target] {
        &self.named
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
            Some(Target::of(&target.path, one))
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
            functions.map(|one| Target::of(&target.path, one)).collect()
        };
        self.targets.iter().flat_map(inside).collect()
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

    /// Returns the code that must change next: what calls something as it was, or what the task names and is not changed.
    pub(super) fn next_place(&self) -> Option<Target> {
        let broken = calls::broken_call(self.tree, self.changes, &|path| self.text_now(path));
        if let Some((_, path, line)) = broken {
            return self.around(&path, u32::try_from(line).ok()?);
        }
        match self.task.orders().as_slice() {
            [] | [_] => self.first_open(),
            orders => orders
                .iter()
                .find_map(|order| self.read_order(&order.task).first_open()),
        }
    }

    /// Returns the innermost definition of the code around a line, as it is now.
    fn around(&self, path: &RelPath, line: u32) -> Option<Target> {
        let text = self.text_now(path).filter(|_| !tree::is_test(path))?;
        let definitions = symbols::definitions(Language::of(path), &text);
        let around = definitions
            .iter()
            .filter(|one| (one.line..=one.end_line).contains(&line));
        let one = around.min_by_key(|one| one.end_line - one.line)?;
        Some(Target::of(path, one))
    }

    fn missing_of_orders(&self) -> Option<Missing> {
        let states = self.order_states();
        states.into_iter().find_map(|state| state.missing)
    }

    /// Returns each order that asks for something, with what is missing of it.
    pub(super) fn order_states(&self) -> Vec<OrderState> {
        let orders = self.task.orders();
        let state = |order: &Order, asked: &Asked<'_>, is_alone| OrderState {
            goal: order.goal(),
            kind: order.task.kind(),
            wants_test: order.wants_test(),
            missing: asked.missing_of(order, is_alone),
            untouched: asked.untouched_by_fix(),
            names: asked.all_names(),
        };
        if let [only] = orders.as_slice() {
            return vec![state(only, self, true)];
        }
        let mut states = Vec::new();
        for (at, order) in orders.iter().enumerate() {
            let asked = self.read_order(&order.task);
            // A later order that names nothing says how, not what; a test may be asked for without a name.
            let counts = at == 0 || asked.names_something();
            if counts || order.wants_test() {
                let state = state(order, &asked, false);
                let missing = state.missing.filter(|_| counts);
                states.push(OrderState { missing, ..state });
            }
        }
        states
    }

    /// Returns why nothing that a fix names is changed, where it names something.
    fn untouched_by_fix(&self) -> Option<String> {
        let is_open = self.task.kind() == Kind::Fix
            && !self.named.is_empty()
            && !self.named.iter().any(|one| self.is_changed(one));
        is_open.then(|| not_changed(&self.named[..1]).1)
    }

    /// Returns the names of what an order is about, with the files that they may lie in.
    fn all_names(&self) -> Vec<(String, Vec<RelPath>)> {
        let named = self.named.iter();
        let mut names: Vec<(String, Vec<RelPath>)> = named
            .map(|one| (one.last_name().to_owned(), vec![one.path.clone()]))
            .collect();
        let new = self
            .task
            .addition()
            .map(|addition| last_part(&addition.name).to_owned());
        let mut files = self.paths.clone();
        files.extend(self.new_paths());
        names.extend(new.map(|name| (name, files)));
        names
    }

    /// Says whether orders that are met account for every definition that is changed; code outside of definitions may
    /// only get imports.
    pub(super) fn is_accounted_for(&self, met: &[&OrderState]) -> bool {
        let is_asked = |path: &RelPath, name: &str| {
            let names = met.iter().flat_map(|state| &state.names);
            names
                .into_iter()
                .any(|(known, files)| known == name && files.contains(path))
        };
        self.changes.iter().all(|change| {
            let before = change.old_text();
            change.after.is_some()
                && change.language().is_source()
                && !tree::is_test(&change.path)
                && code::outside(change.language(), before)
                    == code::outside(change.language(), change.new_text())
                && code::changed_names(change.language(), before, change.new_text())
                    .iter()
                    .all(|name| is_asked(&change.path, name))
        })
    }

    fn names_something(&self) -> bool {
        !self.named.is_empty()
            || self.task.addition().is_some()
            || self.task.removed_name().is_some()
            || !self.new_names().is_empty()
            || !self.new_paths().is_empty()
    }

    /// Returns what is missing of one order, which may be the only one of the task.
    fn missing_of(&self, order: &Order, is_alone: bool) -> Option<Missing> {
        let by_kind = match self.task.kind() {
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

    fn missing_of_kind(&self) -> Option<Missing> {
        match self.task.kind() {
            Kind::Question => None,
            Kind::Tests => self.missing_use(),
            Kind::Rename => self.missing_rename(),
            Kind::Add => self.missing_addition(),
            Kind::Fix => self.missing_code(),
            Kind::Change => match self.task.removed_name() {
                Some(name) => self
                    .missing_removal(&name)
                    .or_else(|| self.missing_other_removals(&name)),
                None => self
                    .missing_wish()
                    .or_else(|| self.missing_change())
                    .or_else(|| self.missing_pieces()),
            },
        }
    }

    /// A fix changes code. Where no test shows it, what the task is about must be changed.
    fn missing_code(&self) -> Option<Missing> {
        let mut changes = self.changes.iter();
        let is_code = |change: &FileChange| {
            !tree::is_test(&change.path) || self.task.asks_to_change_test(&change.path)
        };
        if !changes.any(is_code) {
            let words = "the code itself is not changed yet: change the definition, not its tests";
            return Some((NOTHING_CHANGED, words.to_owned()));
        }
        // An answer to our question names one place; the red tests and the list of the model name the others.
        let is_told = match self.is_green {
            true => {
                self.task.answer().is_some() && self.named.iter().any(|one| self.is_changed(one))
            }
            false => self.plan.is_listed() && !self.mended.is_empty() && self.is_answered(),
        };
        if self.named.is_empty() || is_told {
            return None;
        }
        if !self.changes.iter().any(|one| self.is_near(one)) {
            return Some(not_changed(&self.named[..1]));
        }
        // What neither is named nor serves what is named, tests may compare with.
        let is_far = |one: &&FileChange| {
            one.before.is_some()
                && one.language().is_source()
                && !tree::is_test(&one.path)
                && !self.plan.mentions().paths.contains(&one.path)
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

    /// Says whether a change lies in the file of something that the task names, in something that this file uses, or in a
    /// definition that uses what is named.
    fn is_near(&self, change: &FileChange) -> bool {
        let callers = code::changed_code(change);
        self.named.iter().any(|one| {
            let calls = |word: &String| has_word(word, one.last_name());
            if one.path == change.path || one.is_definition() && callers.iter().any(calls) {
                return true;
            }
            let Ok(text) = self.tree.text(&one.path) else {
                return false;
            };
            let tokens = code_tokens(Language::of(&one.path), text.content());
            let uses = |name: &str| tokens.iter().any(|token| token.text == name);
            let definitions = symbols::definitions(change.language(), change.new_text());
            let mut names = definitions.iter().map(Definition::name);
            uses(change.path.stem()) || names.any(uses)
        })
    }

    /// Returns why nothing that the task is about is changed, where no test can tell.
    pub(super) fn untouched(&self) -> Option<Missing> {
        if self.targets.is_empty() || self.targets.iter().any(|one| self.is_changed(one)) {
            return None;
        }
        // Words that name nothing and a file are about that file, whatever of it was looked at.
        if self.named.is_empty() && self.is_answered() {
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

    /// Returns what the task names as what should change and is not changed.
    fn open(&self) -> Vec<Target> {
        let moves = self.task.moves_somewhere();
        if self.is_shown && !moves {
            return Vec::new();
        }
        let groups = grouped(&self.named, self.task, &self.paths);
        let is_told = self.brings_told_definition();
        let is_done = |one: &&Target| match moves {
            true => self.has_moved(one),
            false => {
                is_told
                    || self.is_changed(one)
                    || self.is_namesake_changed(one)
                    || self.is_served(one)
            }
        };
        let open = groups.iter().filter(|group| !group.iter().any(is_done));
        open.filter_map(|group| group.first().cloned().cloned())
            .collect()
    }

    /// Says whether a task with one order brings a definition that is called like a word of its first line and that tests
    /// use which were red and pass: "validate `UUID` without creating one" brings `Validate`.
    fn brings_told_definition(&self) -> bool {
        let title = self.task.title();
        let title = title.to_lowercase();
        let new = |change: &FileChange| -> Vec<String> {
            let names = |text: &str| -> Vec<String> {
                let definitions = symbols::definitions(change.language(), text).into_iter();
                let functions = definitions.filter(|one| one.kind.is_function());
                functions.map(|one| one.name().to_owned()).collect()
            };
            let known = names(change.old_text());
            let mut now = names(change.new_text());
            now.retain(|name| !known.contains(name));
            now
        };
        // Where tests did not compile for want of it, no single one of them was red.
        let tries = |name: &str| {
            let tries = |test: &&Failure| self.test_has_word(test, name) == Some(true);
            let is_built = self.mended.iter().any(|test| test.id.ends_with(UNBUILT));
            self.mended.iter().any(tries)
                || (is_built || self.compiles_again) && self.tests_write(name)
        };
        let is_tried =
            |name: &String| has_word(&title, &name.to_lowercase()) && tries(name.as_str());
        let code = self.changes.iter().filter(|one| !tree::is_test(&one.path));
        self.task.kind() == Kind::Add
            && self.task.orders().len() == 1
            && self.named.len() == 1
            && code.flat_map(new).any(|name| is_tried(&name))
    }

    /// Says whether the task only tells that something is for this definition or takes what it gives, everything is
    /// green by what the model listed, and a changed definition uses it: "add options for `Timer`".
    fn is_served(&self, target: &Target) -> bool {
        let name = target.last_name();
        let codes = |change: &FileChange, content: &str| -> Vec<Vec<String>> {
            let tokens = code_tokens(change.language(), content);
            let definitions = symbols::definitions(change.language(), content).into_iter();
            // A class that holds it does not use it.
            let others =
                definitions.filter(|one| one.kind != DefinitionKind::Class && one.name() != name);
            let code = |one: Definition| {
                let inside = tokens
                    .iter()
                    .filter(|token| one.span().contains(&token.range.start));
                inside.map(|token| token.text.clone()).collect()
            };
            others.map(code).collect()
        };
        let uses = |change: &FileChange| {
            let old = codes(change, change.old_text());
            let mut new = codes(change, change.new_text()).into_iter();
            !tree::is_test(&change.path)
                && new.any(|code| code.iter().any(|word| word == name) && !old.contains(&code))
        };
        self.is_green
            && self.task.is_served(name)
            && self.task.parameter().is_none()
            && self.changes.iter().any(uses)
    }

    /// Says whether another definition of the same name is changed, everything is green by what the model listed, and the
    /// task does not say which of them it means.
    fn is_namesake_changed(&self, target: &Target) -> bool {
        let mut around = target.name.split('.').rev().skip(1);
        let is_told = self.paths.contains(&target.path)
            || counts_each(self.task)
            || around.any(|class| self.task.speaks_of(class));
        let name = target.last_name();
        let namesakes = self.tree.definitions();
        let mut namesakes = namesakes
            .filter(|(file, one)| !file.test && !tree::is_aside(&file.path) && one.name() == name);
        self.is_green
            && !is_told
            && namesakes.any(|(file, one)| self.is_changed(&Target::of(&file.path, one)))
    }

    fn first_open(&self) -> Option<Target> {
        let changes = matches!(self.task.kind(), Kind::Add | Kind::Change);
        let mut open = self.open().into_iter().filter(|_| changes);
        open.find(Target::is_definition)
    }

    fn missing_change(&self) -> Option<Missing> {
        let open = self.open();
        if !open.is_empty() {
            return Some(not_changed(&open));
        }
        if self.named.is_empty() {
            let untouched = self.untouched().filter(|_| !self.is_shown);
            return self
                .unchanged_document()
                .or(untouched)
                .or_else(|| self.only_added());
        }
        None
    }

    /// Returns the file that is no code, is what the task orders to change, and is as it was.
    fn unchanged_document(&self) -> Option<Missing> {
        let is_ordered = |path: &&RelPath| {
            !Language::of(path).is_source() && self.task.role_of(path.as_str()) == NameRole::Object
        };
        let mut ordered = self.paths.iter().filter(is_ordered);
        let path = ordered.find(|path| self.change_of(path).is_none())?;
        let words = format!("`{path}` is not changed yet: change it");
        Some((NOTHING_CHANGED, words))
    }

    /// Code that only comes beside what was to change leaves it as it was.
    fn only_added(&self) -> Option<Missing> {
        let said = self.task.text().to_lowercase();
        let adds = |change: &FileChange| {
            let Some(before) = &change.before else {
                return true;
            };
            let mut rest = change.new_text().lines();
            let mut old = before.lines().filter(|line| !line.trim().is_empty());
            let (had, has) = (
                symbols::definitions(change.language(), before),
                symbols::definitions(change.language(), change.new_text()),
            );
            let stands = |one: &Definition| {
                let same = |other: &Definition| {
                    change.new_text().get(other.span()) == before.get(one.span())
                };
                has.iter().any(same)
            };
            // Statements beside untouched definitions rewrite none of them; other tasks may want just that.
            let is_rewrite = REWRITES.iter().any(|verb| has_word(&said, verb));
            let leaves_all = is_rewrite && !had.is_empty() && had.iter().all(stands);
            change.language().is_source()
                && old.all(|line| rest.any(|new| new == line))
                && (has.len() > had.len() || leaves_all)
        };
        self.changes.iter().all(adds).then(|| {
            let words = "that only adds code beside what is there: change what the task is about";
            (NOTHING_CHANGED, words.to_owned())
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
        match self.change_of(path) {
            Some(change) => change.after.clone(),
            None => Some(self.tree.text(path).ok()?.into_content()),
        }
    }

    /// Says whether a definition stands where it stood.
    fn still_has(&self, target: &Target) -> bool {
        let language = Language::of(&target.path);
        self.text_now(&target.path)
            .is_some_and(|text| symbols::defines(language, &text, &target.name))
    }

    fn takes_away(&self, path: &RelPath) -> bool {
        let change = self.change_of(path);
        change.is_some_and(|change| change.after.is_none())
    }

    fn change_of(&self, path: &RelPath) -> Option<&FileChange> {
        self.changes.iter().find(|change| change.path == *path)
    }

    /// Says whether a target is changed in more than comments, documentation and layout, unless those are asked for.
    fn is_changed(&self, target: &Target) -> bool {
        if self.takes_away(&target.path) {
            return true;
        }
        let Some(change) = self.change_of(&target.path) else {
            return false;
        };
        let before = change.old_text();
        if !target.is_definition() {
            return if self.task.is_about_words() || !change.language().is_source() {
                before != change.new_text()
            } else {
                all_code(change.language(), before)
                    != all_code(change.language(), change.new_text())
            };
        }
        let of = |text: &str| {
            let definitions = symbols::definitions(change.language(), text);
            let spans = definitions.iter();
            // The methods of a type lie inside of it, or beside it.
            let is_own = |one: &&Definition| {
                let rest = one.qualified.strip_prefix(target.name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let spans = spans.filter(is_own);
            let spans: Vec<_> = spans.map(Definition::span).collect();
            if self.task.is_about_words() {
                let texts = spans.iter().filter_map(|span| text.get(span.clone()));
                return texts.map(str::to_owned).collect::<Vec<_>>();
            }
            let tokens = code_tokens(change.language(), text).into_iter();
            let is_inside = |at: usize| spans.iter().any(|span| span.contains(&at));
            tokens
                .filter(|token| is_inside(token.range.start))
                .map(|token| token.text)
                .collect()
        };
        let (old, new) = (of(before), of(change.new_text()));
        // What is to change is not to be gone.
        let may_go = ["inline", "merge", "replace", "split", "extract", "fold"]
            .iter()
            .any(|verb| self.task.text().to_lowercase().starts_with(verb));
        let may_go = may_go || self.task.moves_somewhere() && self.has_moved(target);
        let is_lost =
            new.is_empty() && !old.is_empty() && self.task.kind() != Kind::Rename && !may_go;
        let traits = |text: &str| -> Vec<String> { code::traits_of(text, target.last_name()) };
        let new_traits = || {
            let known = traits(before);
            let mut now = traits(change.new_text());
            now.retain(|line| !known.contains(line));
            now
        };
        if change.language() == Language::Rust {
            // "Implement Drop for Lock" is done by nothing else.
            if let Some(wanted) = self.task.wanted_trait(target.last_name()) {
                return new_traits().iter().any(|line| has_word(line, &wanted));
            }
            if !new_traits().is_empty() {
                return true;
            }
        }
        old != new && !is_lost
    }

    /// Says whether a definition is gone from its file, and another file has it that did not.
    fn has_moved(&self, target: &Target) -> bool {
        let others = self.changes.iter().filter(|one| one.path != target.path);
        let mut others = others.filter(|one| !tree::is_test(&one.path));
        !self.still_has(target) && others.any(|one| one.brings(&target.name))
    }
}

/// Returns the definitions that a task names; also those that only quotes or a noun before them tell from plain words:
/// "fix `f`", "the method run of class A".
fn definitions_named(
    task: &Request,
    tree: &SourceTree,
    mentions: &Mentions,
) -> Vec<NamedDefinition> {
    const NOUNS: [&str; 4] = ["function", "method", "class", "constant"];
    let mut named = mentions.definitions.clone();
    let words: Vec<&str> = task.bare_words().collect();
    let pairs = words.windows(2);
    let pairs = pairs.filter(|pair| NOUNS.contains(&pair[0].to_lowercase().as_str()));
    let quoted = task.between('`');
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
fn meant(named: Vec<Target>, task: &Request, paths: &[RelPath]) -> Vec<Target> {
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
        // A stub says what the code beside it takes and gives.
        let is_stub = |one: &Target| one.path.extension() == Some("pyi") && !in_named_file(one);
        one.last_name() == other.last_name()
            && (is_better(&in_named_file)
                || is_better(&in_named_class)
                || is_stub(one) && other.path.extension() == Some("py"))
    };
    let all = named.clone();
    let named = named.into_iter();
    named
        .filter(|one| !all.iter().any(|other| speaks_for(one, other)))
        .collect()
}

/// Says whether a task asks for each of the things that share a name.
fn counts_each(task: &Request) -> bool {
    let words = ["both", "all", "each", "every"];
    words.iter().any(|word| task.speaks_of(word))
}

/// Returns targets together of which one is enough: several that a word may mean. Those that the task tells apart, by
/// class or by file, count each.
fn grouped<'t>(targets: &'t [Target], task: &Request, paths: &[RelPath]) -> Vec<Vec<&'t Target>> {
    let mut groups: Vec<Vec<&Target>> = Vec::new();
    for target in targets {
        let is_told = |one: &Target| {
            paths.contains(&one.path)
                || (one.name.contains('.') || counts_each(task)) && task.speaks_of(&one.name)
        };
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

/// Says whether a definition only answers where something new goes, and something is new there.
fn answers_where(task: &Request, changes: &[FileChange], qualified: &str) -> bool {
    let title = task.title();
    let Some((name, path)) = task.answer() else {
        return false;
    };
    let adds = |change: &FileChange| change.path.as_str() == path && change.adds_definition();
    let wants_new = task.addition().is_some() || NEW_NOUNS.iter().any(|noun| has_word(title, noun));
    wants_new
        && task.parameter().is_none()
        && last_part(name) == last_part(qualified)
        && !has_word(title, last_part(qualified))
        && changes.iter().any(adds)
}

fn whole_file(path: &RelPath) -> Target {
    Target {
        path: path.clone(),
        name: String::new(),
        lines: 1..=u32::MAX,
    }
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

/// Says whether a text has names that are made of this one: it is several words in one, and they stand there as words.
fn has_joint(text: &str, name: &str) -> bool {
    let inner = name.trim_matches('_');
    let is_hump = |pair: (char, char)| pair.0.is_lowercase() && pair.1.is_uppercase();
    let is_joint = inner.contains('_') || inner.chars().zip(inner.chars().skip(1)).any(is_hump);
    let starts_hump = name.starts_with(char::is_uppercase);
    let mut places = text.match_indices(name).filter(|_| is_joint);
    places.any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        before.is_none_or(|sign| !sign.is_alphanumeric() || starts_hump && sign.is_lowercase())
            && after.is_none_or(|sign| !sign.is_lowercase())
    })
}

/// Says whether a name is a part of another one, as in `test_outside` and `TestOutside`.
pub(super) fn is_part_of_name(whole: &str, name: &str) -> bool {
    whole.match_indices(name).any(|(at, found)| {
        let before = whole[..at].chars().next_back();
        let after = whole[at + found.len()..].chars().next();
        let is_new_word = name.starts_with(char::is_uppercase);
        before.is_none_or(|sign| !sign.is_alphanumeric() || is_new_word)
            && after.is_none_or(|sign| !sign.is_alphanumeric() || sign.is_uppercase())
    })
}

/// Says whether a definition is one of tests: those of Rust may lie in a module of the file that they test.
fn is_test_code(path: &RelPath, qualified: &str) -> bool {
    let module = qualified.split('.').next().unwrap_or_default();
    let is_inside = Language::of(path) == Language::Rust && matches!(module, "test" | "tests");
    tree::is_test(path) || is_inside
}

fn has_word(text: &str, name: &str) -> bool {
    whole_words(text, name).next().is_some()
}
