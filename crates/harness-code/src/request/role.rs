//! What a name does in the sentence: is it what should change, where, or only what it should be like. And what the
//! sentence asks to be gone, moved, or done to tests.

use crate::language::Language;
use crate::path::RelPath;
use crate::text::{is_among, whole_words};
use crate::tree;

use crate::request::Request;
use crate::request::kind::Kind;
use crate::request::kind_of;
use crate::request::order::PUTTING;
use crate::request::tokens::{is_one_of, plain};

/// What a name does in a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameRole {
    /// It explains: "like `x`", "using `x`", "so that `x` works".
    Reference,
    /// It is what the sentence is about: "change `x`".
    Object,
    /// It is where something goes: "to `x`", "in `x`", "from `x`".
    Place,
}

/// Words that begin the reason of a task; names behind them only explain.
const REASONS: [&str; 7] = [
    " so that ",
    " because ",
    " since ",
    " otherwise ",
    " for example ",
    " e.g. ",
    " such that ",
];
/// Words before a name that only explains.
const EXPLAINING: &str = "\
    prints print document printing like as using use uses via than see with by calls call calling \
    reuse apply applies";
/// Words before "to", "of" or "on" that make the name behind it explain.
const COMPARING: &str = "instead similar based according compared identical equal next";
/// Words before a place.
const PLACING: &str = "to in into from on inside of for within";
/// Words between these and the name.
const BETWEEN: &str = "\
    the a an our my this that its existing old function method class helper module file constant \
    variable struct functions methods classes helpers";

/// Orders after which something should be gone.
const REMOVING: &str = "remove delete drop eliminate";
/// Words that say a file is not wanted.
const UNWANTED: &str = "remove delete drop eliminate move rename merge needed rid";
/// Words before the name of what goes.
const BEFORE_GONE: &str = "\
    parameter argument keyword functions methods classes helpers both the a an our this unused old \
    dead obsolete deprecated now legacy private function method class helper definition property \
    module constant variable file struct";

/// Orders that change what is there.
const CHANGING: &str = "\
    update change rewrite adapt adjust correct remove delete drop replace refactor simplify rename \
    move split parametrize parameterize convert port skip disable relax merge regenerate extend";
/// Nouns for what tests are made of.
const OF_TESTS: &str = "\
    test tests expectation expectations assertion assertions fixture fixtures snapshot snapshots \
    golden testcase testcases suite";
/// How far behind an order its object stands at the most.
const REACH: usize = 5;

/// Words of tasks that are about words, not about code.
const ABOUT_WORDS: &str = "\
    comment comments docstring docstrings document documentation docs reformat formatting whitespace \
    indentation readme changelog licence license spelling wording copyright annotations hints";

impl Request {
    /// Returns what a name does in the sentence; the weightiest, where it stands several times.
    pub fn role_of(&self, name: &str) -> NameRole {
        self.roles_of(name)
            .into_iter()
            .max()
            .unwrap_or(NameRole::Object)
    }

    /// Says whether a name tells, wherever it stands, what something is for or what it takes: "add options for `Timer`",
    /// "show the result of `total`".
    pub fn is_served(&self, name: &str) -> bool {
        const TAKEN: &str = "output outputs result results value values";
        let text = self.beginning();
        let is_behind = |at: usize| {
            let mut words = self.words_before(at);
            match words.next().as_deref() {
                Some("for") => true,
                Some("of") => words.next().is_some_and(|word| is_among(TAKEN, &word)),
                _ => false,
            }
        };
        let places = whole_words(text, name).filter(|at| !in_path(text, *at, name));
        let places: Vec<usize> = places.collect();
        !places.is_empty() && places.into_iter().all(is_behind)
    }

    /// Says whether a name is what one thing gets into it, and stays as it is: "include `Result` in `Failed`".
    pub fn is_put_into(&self, name: &str, place: &str) -> bool {
        let text = self.beginning();
        let is_put = |at: usize| {
            let word = self.words_before(at).next();
            word.is_some_and(|word| is_among(PUTTING, &word))
        };
        name != place
            && self.role_of(place) == NameRole::Place
            && whole_words(text, name).any(is_put)
    }

    /// Returns whether the sentence has this name as a whole word that is not only part of a file's path.
    pub fn names(&self, name: &str) -> bool {
        let mut places = whole_words(self.beginning(), name);
        places.any(|at| !in_path(self.beginning(), at, name))
    }

    /// Returns what a name does wherever it stands.
    fn roles_of(&self, name: &str) -> Vec<NameRole> {
        let lower = self.beginning().to_lowercase();
        let reason = REASONS.iter().filter_map(|words| lower.find(words)).min();
        // "feat(parser): …" says what it is about, not what must change.
        let scope = kind_of::prefix(self.beginning()).map_or(0, |(_, end)| end);
        let role = |at: usize| match reason {
            _ if at < scope => NameRole::Reference,
            Some(reason) if at > reason => NameRole::Reference,
            Some(_) | None => self.role_behind(at),
        };
        let places: Vec<usize> = whole_words(self.beginning(), name).collect();
        // `report` in `shop/report.py` is a file.
        let outside = places
            .iter()
            .filter(|at| !in_path(self.beginning(), **at, name));
        let outside: Vec<usize> = outside.copied().collect();
        let places = if outside.is_empty() { places } else { outside };
        places.into_iter().map(role).collect()
    }

    /// Returns whether the sentence orders, wherever it does, that something of this name goes.
    pub fn wants_removed(&self, name: &str) -> bool {
        let words: Vec<&str> = self.plain_words().collect();
        let is_before = |word: &str| is_one_of(word, BEFORE_GONE);
        words.iter().enumerate().any(|(at, word)| {
            let before = words[..at].iter().rev().find(|word| !is_before(word));
            let is_order = before.is_some_and(|word| is_one_of(word, REMOVING));
            is_order && word.rsplit('.').next() == Some(name)
        })
    }

    /// Returns the name or the path of what the sentence asks to be gone as a whole.
    pub fn removed_name(&self) -> Option<String> {
        let words = self.first_line();
        let at = words.iter().position(|word| starts_order(word))?;
        if !is_one_of(words[at], REMOVING) {
            return None;
        }
        object_behind(&words, at)
    }

    /// Returns the name of what the sentence asks to be gone where it asks for nothing else: "remove f from a.py", and not
    /// "remove f from the exports of a.py".
    pub fn only_removed(&self) -> Option<String> {
        let name = self.removed_name()?;
        let words: Vec<&str> = self.plain_words().collect();
        let at = words.iter().position(|word| *word == name)?;
        const BEFORE: &str = "please the unused dead obsolete deprecated function class";
        let is_before = |word: &&str| {
            let word = word.to_lowercase();
            is_among(BEFORE, &word) || is_among(REMOVING, &word)
        };
        let is_path = |word: &str| word.contains(['.', '/']);
        let is_all = match &words[at + 1..] {
            [] => true,
            ["from" | "in", path] => is_path(path),
            _ => false,
        };
        (is_all && words[..at].iter().all(is_before)).then_some(name)
    }

    /// Returns the word that people and programs are shown for what the task asks: a change may be to remove something,
    /// a rename to move it.
    pub fn kind_name(&self) -> &'static str {
        match self.kind() {
            Kind::Change if self.removed_name().is_some() => "remove",
            Kind::Rename if self.moved_name().is_some() => "move",
            kind => kind.name(),
        }
    }

    /// Says whether something should move, and not to which file.
    pub fn moves_somewhere(&self) -> bool {
        let words = self.first_line();
        let first = words.iter().find(|word| starts_order(word));
        self.kind() == Kind::Change && first.is_some_and(|word| word.eq_ignore_ascii_case("move"))
    }

    /// Returns what should be moved, and the file it should be moved to.
    pub fn moved_name(&self) -> Option<(String, String)> {
        let words = self.first_line();
        let at = words
            .iter()
            .position(|word| word.to_lowercase() == "move")?;
        let name = object_behind(&words, at)?;
        let to = words
            .iter()
            .rposition(|word| matches!(*word, "to" | "into"))?;
        let place = words
            .get(to + 1..)?
            .iter()
            .find(|word| word.contains('.'))?;
        Some((name, (*place).to_owned()))
    }

    /// Returns whether the task says of a file that it should not be there any more.
    pub fn wants_gone(&self, path: &RelPath) -> bool {
        let names = [path.as_str(), path.file_name()];
        let is_object = names
            .iter()
            .any(|name| self.roles_of(name).contains(&NameRole::Object));
        is_object && self.has_word(UNWANTED)
    }

    /// Returns whether the task is about comments, documentation or layout.
    pub fn is_about_words(&self) -> bool {
        self.has_word(ABOUT_WORDS)
    }

    /// Returns whether changing this file of tests, or of what they compare with, is what the task asks for. Naming it
    /// as the measure of success is not.
    pub fn asks_to_change_test(&self, path: &RelPath) -> bool {
        if self.kind() == Kind::Question {
            return false;
        }
        let lower = self.beginning().to_lowercase();
        let reason = REASONS.iter().filter_map(|words| lower.find(words)).min();
        let end = reason.unwrap_or(usize::MAX).min(self.text().len());
        let words: Vec<&str> = self
            .tokens_within(0..end)
            .map(|token| plain(token.text))
            .collect();
        let is_test = |word: &str| {
            let name = word.rsplit([':', '.']).next().unwrap_or(word);
            name.starts_with("test_")
                || is_one_of(word, OF_TESTS)
                || RelPath::parse(word).is_ok_and(|named| {
                    named == *path || (tree::is_test(&named) && word.contains('.'))
                })
        };
        let orders = words.iter().enumerate();
        let mut orders = orders.filter(|(_, word)| is_one_of(word, CHANGING));
        const NOT: &str = "not don't dont without never no nothing";
        let is_asked = orders.any(|(at, _)| {
            // "without changing the tests", "there is no need to update them".
            let mut before = words[at.saturating_sub(4)..at].iter();
            if before.any(|word| is_one_of(word, NOT)) {
                return false;
            }
            let behind = words.iter().skip(at + 1).take(REACH);
            let ends = |word: &&&str| is_among(PLACING, word) || is_among(NOT, word);
            let mut object = behind.take_while(|word| !ends(word));
            object.any(|word| is_test(word))
        });
        // "Remove total and its test", "it should return 2 now, update the test too".
        let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let with_its_test =
            |pair: &[String]| pair[0] == "its" && matches!(pair[1].as_str(), "test" | "tests");
        let takes_along = lower.windows(2).position(with_its_test).is_some_and(|at| {
            let mut before = lower[..at].iter();
            before.any(|word| is_among(CHANGING, word))
        });
        let is_asked = is_asked || takes_along;
        // Where files of tests are named, the others stay.
        let mut named = words.iter().filter(|word| {
            word.contains('/') && RelPath::parse(word).is_ok_and(|named| tree::is_test(&named))
        });
        is_asked && (self.names_path(path) || named.next().is_none())
    }
}

/// Says whether a name stands in the path of a file of code, and is not all of it.
fn in_path(text: &str, at: usize, name: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || "`\"'(),;".contains(c);
    let start = text[..at].rfind(ends).map_or(0, |found| found + 1);
    let end = text[at..].find(ends).map_or(text.len(), |found| at + found);
    let word = text.get(start..end).unwrap_or_default();
    let word = word.trim_end_matches(['.', ':', '?', '!']);
    word != name
        && RelPath::parse(word)
            .is_ok_and(|path| Language::of(&path).is_source() && word.contains('.'))
}

impl Request {
    /// Returns the words before a place, the nearest one first, in small letters, without articles and nouns for what a
    /// name is.
    fn words_before(&self, at: usize) -> impl Iterator<Item = String> {
        // The rest of a dotted name or a path belongs to the name.
        let cut = self.text()[..at]
            .trim_end_matches(|c: char| !c.is_whitespace() && !"`(\"'".contains(c))
            .trim_end_matches(['`', '"', '\'', '(']);
        let words = self.tokens_within(0..cut.len()).rev();
        let words = words.map(|token| plain(token.text).to_lowercase());
        words.filter(|word| !is_among(BETWEEN, word))
    }

    fn role_behind(&self, at: usize) -> NameRole {
        let mut words = self.words_before(at);
        let (last, before) = (words.next().unwrap_or_default(), words.next());
        let compares = before.is_some_and(|word| is_among(COMPARING, &word));
        if compares && matches!(last.as_str(), "to" | "of" | "on") {
            return NameRole::Reference;
        }
        if is_among(EXPLAINING, &last) {
            return NameRole::Reference;
        }
        if is_among(PLACING, &last) {
            return NameRole::Place;
        }
        NameRole::Object
    }

    /// Returns the words, without quotes and final signs.
    fn plain_words(&self) -> impl Iterator<Item = &str> {
        self.tokens().map(|token| plain(token.text))
    }

    /// Returns the words of the first line, without quotes and final signs.
    fn first_line(&self) -> Vec<&str> {
        let end = self.text().find('\n').unwrap_or(self.text().len());
        let line = self.tokens_within(0..end);
        line.map(|token| plain(token.text)).collect()
    }

    fn has_word(&self, list: &str) -> bool {
        self.words().any(|word| is_one_of(word, list))
    }
}

/// Says whether a word is where an order may begin: everything before it is politeness.
fn starts_order(word: &str) -> bool {
    const POLITE: &str = "please can could you we now also then just let's and";
    !is_one_of(word, POLITE)
}

fn object_behind(words: &[&str], at: usize) -> Option<String> {
    let rest = words.get(at + 1..)?;
    let is_before = |word: &&&str| is_one_of(word, BEFORE_GONE);
    let skipped = rest.iter().take_while(is_before).count();
    let is_name = |word: &&&str| !is_among(PLACING, word);
    // A thing may itself be called `unused`.
    let name = rest.get(skipped).filter(is_name);
    let name = name.or_else(|| rest.get(skipped.checked_sub(1)?))?;
    let plain = |c: char| c.is_alphanumeric() || "_./".contains(c);
    (name.chars().all(plain) && !name.is_empty()).then(|| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use crate::path::RelPath;

    use super::NameRole;
    use crate::request::Request;

    #[test]
    fn what_something_is_for_is_read() {
        let is_for = |text: &str| Request::read(text).is_served("Timer");
        assert!(is_for("Add options for the class `Timer` in clock.py"));
        assert!(is_for("Show the result of `Timer` in the help"));
        assert!(!is_for("Show the name of `Timer` in the help"));
        assert!(!is_for("Add options for Timer to Timer"));
        assert!(!is_for("Add a method to Timer for tests"));
        assert!(!is_for("Add options for clocks"));
    }

    #[test]
    fn names_are_objects_places_or_explain() {
        let cases = [
            (
                "add a parameter gift to line_total",
                "line_total",
                NameRole::Place,
            ),
            (
                "pass it on from report in shop/report.py",
                "report",
                NameRole::Place,
            ),
            ("make report use euros", "report", NameRole::Object),
            ("feat(report): add totals", "report", NameRole::Reference),
            ("make report use euros", "euros", NameRole::Reference),
            (
                "change total like the function subtotal does",
                "subtotal",
                NameRole::Reference,
            ),
            (
                "fix total so that report works",
                "report",
                NameRole::Reference,
            ),
            (
                "use round2 instead of `round`",
                "round",
                NameRole::Reference,
            ),
            (
                "change `Cart.total` to return cents",
                "total",
                NameRole::Object,
            ),
            (
                "make total similar to subtotal",
                "subtotal",
                NameRole::Reference,
            ),
        ];
        for (text, name, expected) in cases {
            assert_eq!(
                Request::read(text).role_of(name),
                expected,
                "{text}: {name}"
            );
        }
    }

    #[test]
    fn what_should_be_gone_is_read() {
        let cases = [
            (
                "remove the function unused from shop/old.py",
                Some("unused"),
            ),
            ("please delete `helper()`", Some("helper")),
            ("remove shop/old.py", Some("shop/old.py")),
            ("fix total and remove nothing", None),
            ("change total", None),
        ];
        for (text, expected) in cases {
            let found = Request::read(text).removed_name();
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        let moved = Request::read("move the function vat from a.py to shop/tax.py").moved_name();
        assert_eq!(moved, Some(("vat".to_owned(), "shop/tax.py".to_owned())));
        let kinds = [
            ("move the function vat from a.py to shop/tax.py", "move"),
            ("rename vat to tax", "rename"),
            ("remove the function unused from shop/old.py", "remove"),
            ("simplify total", "change"),
        ];
        for (text, expected) in kinds {
            assert_eq!(Request::read(text).kind_name(), expected, "{text}");
        }
    }

    #[test]
    fn tests_change_only_when_that_is_asked() {
        let path = RelPath::parse("tests/test_shop.py").unwrap();
        let cases = [
            ("fix total so that tests/test_shop.py passes", false),
            ("fix the failing test in tests/test_shop.py", false),
            ("tests/test_shop.py fails", false),
            ("write tests for label", false),
            ("fix test_total", false),
            ("update tests/test_shop.py for the new tax rate", true),
            ("change the expectation in tests/test_shop.py", true),
            ("rewrite the tests of total", true),
            ("update test_total to expect 5", true),
            ("remove total and its test", true),
            ("total should return 2 now, update the test too", true),
            ("make total and its tests pass", false),
            ("update tests/test_other.py for the new tax rate", false),
            ("refactor cart.py without changing the tests", false),
            ("use a loop, there is no need to update the tests", false),
            ("do not change the tests in tests/test_shop.py", false),
            (
                "change total in shop/pricing.py until tests/test_shop.py passes",
                false,
            ),
        ];
        for (text, expected) in cases {
            let asked = Request::read(text).asks_to_change_test(&path);
            assert_eq!(asked, expected, "{text}");
        }
    }

    #[test]
    fn what_alone_is_to_go_is_told_from_what_comes_with_it() {
        for text in [
            "remove old_price",
            "Please delete the unused function `old_price` from shop/price.py.",
            "drop old_price() in price.py",
        ] {
            let found = Request::read(text).only_removed();
            assert_eq!(found.as_deref(), Some("old_price"), "{text}");
        }
        for text in [
            "remove old_price and its tests",
            "remove old_price from the exports of shop/price.py",
            "remove old_price as an export",
            "remove the old_price function body",
            "remove old_price or deprecate it",
            "remove old_price, net returns 3 now",
            "remove the docstring of old_price",
            "fix old_price",
        ] {
            assert_eq!(Request::read(text).only_removed(), None, "{text}");
        }
    }
}
