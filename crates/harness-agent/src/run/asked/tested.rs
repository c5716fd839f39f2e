//! What a task says of tests: which it names, whether it wants new ones, and whether those are for what it names.

use std::collections::BTreeSet;

use harness_code::edit::FileChange;
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::text::Text;
use harness_code::tree;
use harness_hands::suite::Failure;

use super::{Asked, Missing, Target, code, grouped, has_joint, has_word, last_part};
use crate::plan::{self, lies_in};
use harness_code::request::addition::Noun;
use harness_code::request::kind::Kind;
use harness_code::request::order::Order;

/// Functions that a test is followed through; more would only make everything be called by everything.
const MOST_CALLED: usize = 60;

/// Returns the function of a test, by the test's id: without its package, class, parameters and part.
fn test_name(id: &str) -> &str {
    let id = id.split('[').next().unwrap_or(id);
    // `example.org/a/v3.TestParse/1.0` of Go.
    let at = id.find(".Test").map_or(0, |at| at + 1);
    let rest = &id[at..];
    let rest = if at > 0 {
        rest.split('/').next().unwrap_or(rest)
    } else {
        rest
    };
    rest.rsplit([':', '.', ' ']).next().unwrap_or(rest)
}

impl<'a> Asked<'a> {
    /// Says whether the task names this test: by its id, as a function, or by its file.
    pub(in crate::run) fn names_test(&self, id: &str) -> bool {
        let mut files = self.paths.iter();
        self.plan.names_test(id)
            || (!self.plan.names_tests()
                && files.any(|path| tree::is_test(path) && lies_in(id, path)))
    }

    /// Says whether new tests are asked for.
    pub(in crate::run) fn wants_tests(&self) -> bool {
        self.task.kind() == Kind::Tests || self.task.orders().iter().any(Order::wants_test)
    }

    /// Says whether the task asks for another form of tests that are there, and they have it.
    pub(in crate::run) fn changed_tests(&self) -> bool {
        let mut changed = self.changes.iter();
        changed.any(|change| {
            tree::is_test(&change.path)
                && change.before.is_some()
                && self.task.asks_to_change_test(&change.path)
        })
    }

    /// Returns a test that is changed though that is not asked for, wherever it lies: a file that the runner was told to
    /// run, or in which tests of the report lie.
    pub(in crate::run) fn changed_test(
        &self,
        ids: &[&str],
        run_by_name: &[RelPath],
    ) -> Option<Missing> {
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
                .filter(|name| !name.contains('.') || !change.language().is_source())
                .collect();
            let touched = if run_by_name.contains(path) || !change.language().is_source() {
                (run_by_name.contains(path) || !names.is_empty()) && *before != change.new_text()
            } else {
                let tests = names.iter();
                let of = |text: &str, name: &str| code::functions(change.language(), text, name);
                let mut tests = tests
                    .filter(|name| self.task.kind() != Kind::Rename || !self.task.speaks_of(name));
                tests.any(|name| of(before, name) != of(change.new_text(), name))
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

    /// Says whether a test may run a definition, for tests of which it is not known what they ran: its text speaks of it,
    /// or what it calls calls it. One whose text is not found may.
    pub(in crate::run) fn test_may_run(&self, failure: &Failure, target: &Target) -> bool {
        let speaks = self.test_has_word(failure, target.last_name());
        speaks.unwrap_or(true) || self.test_calls(failure, target)
    }

    /// Says whether what a test names calls a definition, by way of others too, by their names. Of Python it is known
    /// what tests run.
    fn test_calls(&self, failure: &Failure, target: &Target) -> bool {
        let language = Language::of(&target.path);
        if language == Language::Python {
            return false;
        }
        let files = self.tree.files().iter();
        let files: Vec<_> = files.filter(|file| file.language == language).collect();
        let test = test_name(&failure.id);
        // Rust's assertions are macros, and what stands in a macro is no call to its grammar: any word may be one.
        let mut open: Vec<String> = Vec::new();
        for file in files.iter().filter(|file| file.test) {
            let definitions = file.facts.definitions.iter();
            for one in definitions.filter(|one| one.name() == test) {
                let text = self.tree.text(&file.path);
                let text = text.map(Text::into_content).unwrap_or_default();
                let words = text.get(one.span()).unwrap_or_default();
                let words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
                open.extend(words.map(str::to_owned));
            }
        }
        let mut seen: BTreeSet<String> = BTreeSet::new();
        while let Some(name) = open.pop() {
            if name == target.last_name() {
                return true;
            }
            if seen.len() >= MOST_CALLED || seen.contains(&name) {
                continue;
            }
            for file in files.iter().filter(|file| !file.test) {
                let definitions = file.facts.definitions.iter();
                for one in definitions.filter(|one| one.name() == name) {
                    let called = one.calls.iter().map(|id| file.facts.names.get(*id));
                    open.extend(called.map(str::to_owned));
                    seen.insert(name.clone());
                }
            }
        }
        false
    }

    /// Says whether a test is about a definition: it is named after it, speaks of it, or of something whose name is made
    /// of that name, as `GetUintSlice` is of `UintSlice`.
    pub(in crate::run) fn test_is_about(&self, failure: &Failure, target: &Target) -> bool {
        let name = target.last_name();
        let is_told = |text: &str| has_word(text, name) || has_joint(text, name);
        // `tests/test_cart.py` and `CartTest` are named after `cart`; a folder of that name says nothing.
        let id = failure.id.rsplit('/').next().unwrap_or(&failure.id);
        let bare = |text: &str| text.to_lowercase().replace('_', "");
        let mut parts = id.split(['.', ':', '[', ' ']).map(bare);
        let is_namesake = !bare(name).is_empty()
            && parts.any(|part| {
                let part = part.trim_start_matches("test");
                part.trim_end_matches("tests").trim_end_matches("test") == bare(name)
            });
        is_namesake || has_joint(id, name) || self.test_text(failure, is_told) == Some(true)
    }

    /// Says whether the text of a test has a word; none where its text is not found.
    pub(in crate::run) fn test_has_word(&self, failure: &Failure, name: &str) -> Option<bool> {
        self.test_text(failure, |text| has_word(text, name))
    }

    /// Says whether something holds for the text of a test; none where that text is not found.
    fn test_text(&self, failure: &Failure, holds: impl Fn(&str) -> bool) -> Option<bool> {
        let id = failure.id.split('[').next().unwrap_or(&failure.id);
        // A file that cannot be loaded is named by its path.
        if let Ok(path) = RelPath::parse(id)
            && self.tree.file(&path).is_some()
        {
            return Some(holds(self.tree.text(&path).ok()?.content()));
        }
        let test = test_name(id);
        // Other languages name a test by a sentence: `suite > counts words`, `test.counts words`.
        let title = id.rsplit(" > ").next().unwrap_or(id);
        let title = title.split_once('.').map_or(title, |(_, title)| title);
        let tests = self.tree.files().iter().filter(|file| file.test);
        let mut found = tests.filter_map(|file| {
            let mut definitions = file.facts.definitions.iter();
            let own = definitions.find(|one| one.name() == test);
            let text = self.tree.text(&file.path).ok()?.into_content();
            match own {
                Some(own) => Some(holds(text.get(own.span())?)),
                None if lies_in(id, &file.path) || text.contains(title) => Some(holds(&text)),
                None => None,
            }
        });
        let first = found.next()?;
        Some(first || found.any(|speaks| speaks))
    }

    /// New tests use what they are for.
    pub(super) fn missing_use(&self) -> Option<Missing> {
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
    pub(in crate::run) fn unused_by(&self, passed: &[&String]) -> Option<Missing> {
        if self.changed_tests() {
            return None;
        }
        let mut wanted: Vec<Vec<Target>> = Vec::new();
        if self.task.kind() == Kind::Tests {
            let groups = grouped(&self.named, self.task, &self.paths);
            let owned = groups.into_iter();
            wanted.extend(owned.map(|group| group.into_iter().cloned().collect()));
        }
        let orders = self.task.orders();
        for order in orders.iter().filter(|order| order.task.kind() == Kind::Add) {
            wanted.extend(order.task.addition().map(|addition| {
                let path = self.changes.first().map(|change| change.path.clone());
                let target = path.map(|path| Target {
                    path,
                    name: addition.name.clone(),
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
    fn tests(&self, change: &FileChange, target: &Target, passed: &[&String]) -> bool {
        let name = target.last_name();
        let has_passed = |test: &str| {
            let mut ids = passed.iter();
            // Tools that name no test say nothing of single ones.
            passed.is_empty() || ids.any(|id| plan::is_test_called(id, &change.path, test))
        };
        let uses = |text: &str| code::uses_in_tests(change.language(), text, name, &has_passed);
        let before = change.before.as_deref().map_or(0, uses);
        // Where several things have the name, the test says from which module it has it.
        let is_other = self.homes_of(name).len() > 1
            && self.paths.contains(&target.path)
            && !has_word(change.new_text(), target.path.stem());
        let holds_tests = tree::is_test(&change.path) || change.new_text().contains("#[cfg(test)]");
        holds_tests && uses(change.new_text()) > before && !is_other
    }
}

#[cfg(test)]
mod tests {
    use super::test_name;

    #[test]
    fn ids_end_with_the_function_of_the_test() {
        for (id, name) in [
            ("example.org/a/v3.TestParse/1.0", "TestParse"),
            ("example.org/a.TestParse", "TestParse"),
            ("tests.test_shop.TestPricing.test_total", "test_total"),
            ("tests/test_a.py::TestA::test_b[1.5]", "test_b"),
            ("pricing::tests::total", "total"),
        ] {
            assert_eq!(test_name(id), name, "{id}");
        }
    }
}
