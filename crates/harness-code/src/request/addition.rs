//! What an `add` task wants to have: the name of something new, and whether a test is to come with it.

use std::collections::HashSet;

use crate::language::Language;

use crate::request::Request;
use crate::request::tokens::{Joint, Token, is_one_of, joined};
use crate::text::is_among;

/// Words before a name that say what it is.
const NOUNS: &str = "\
    constant function method class helper def property generator decorator subclass exception \
    coroutine fixture dataclass routine";
/// Nouns of what belongs to a class.
const MEMBERS: &str = "method property";
/// Orders that may stand right before a name.
const ORDERS: &str = "add implement write create introduce define make";
/// Words between an order, or a noun, and the name.
const FILLERS: &str = "a an the new called named";
/// Words after a noun that are no names.
const NOT_NAMES: &str = "\
    onto that to for in which and with of on into from or by as is returning taking so like using where when it at \
    has have had was are were does not should must will would if because without than but while \
    description descriptions docs docstring docstrings documentation comments signature signatures names";
/// What introduces a noun that no order stands before: "Box needs a method close".
const BEFORE_NOUN: &str = "a an the new need needs and with plus having missing lacks";
/// Words right behind the name of something new.
const BEHIND_NAME: &str = "and to in that which with for returning";
/// What stands before `test` where one is asked for.
const BEFORE_TEST: &str = "a an and with its the some unit add write plus including";
/// What a `test` is only a part of.
const AFTER_TEST: &str =
    "suite runner client helper helpers server data mode database file files case";

/// Something new that a task names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// Its name, with its class where the task writes it so.
    pub name: String,
    /// It belongs to a class.
    pub member: bool,
    /// What the task calls it.
    pub noun: Noun,
}

/// What sort of thing is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noun {
    /// The task does not say.
    Anything,
    /// A function or a method.
    Function,
    /// A class.
    Class,
    /// A value with a name.
    Constant,
}

impl Noun {
    fn of(word: &str) -> Noun {
        match word {
            "class" | "subclass" | "exception" | "dataclass" => Noun::Class,
            "constant" => Noun::Constant,
            "function" | "method" | "def" | "generator" | "coroutine" | "routine" => Noun::Function,
            _ => Noun::Anything,
        }
    }
}

/// One word of a task, as a name would be read from it.
struct Word<'t> {
    lower: String,
    name: Option<&'t str>,
    /// Written like code: in back-ticks, as a call, with a dot or an underscore inside.
    like_code: bool,
    /// A comma stands behind it.
    has_comma: bool,
}

impl Request {
    /// Returns what the task wants to be added, by its name.
    pub fn addition(&self) -> Option<&Addition> {
        self.additions().first()
    }

    /// Returns everything that the task wants to be added, by its name; what comes behind the first is told by "a" or
    /// "new" from what is there: "a class A with a method b".
    pub fn additions(&self) -> &[Addition] {
        self.sentence
            .additions
            .get_or_init(|| self.read_additions())
    }

    fn read_additions(&self) -> Vec<Addition> {
        let words = self.addition_words();
        let is = |at: usize, list: &str| is_plainly(&words, at, list);
        let after_fillers = |from: usize| (from..words.len()).find(|at| !is(*at, FILLERS));
        let addition = |at: usize| {
            let noun = is(at, NOUNS);
            if !noun && !is(at, ORDERS) {
                return None;
            }
            let next = after_fillers(at + 1)?;
            let name = words[next].name.filter(|_| !is(next, NOT_NAMES))?;
            if self.describes_spelling(name) {
                return None;
            }
            // "Busted exception subclasses": a plain word behind a noun that nothing introduces goes on with it.
            let is_plain = !words[next].like_code && !name.contains(char::is_uppercase);
            let is_ordered = (0..at).any(|before| is(before, ORDERS));
            let is_introduced = is_ordered || at == 0 || is(at - 1, BEFORE_NOUN);
            if noun && is_plain && next == at + 1 && !is_introduced {
                return None;
            }
            // Behind a noun any name will do; "add logging" alone names nothing.
            // "Add Prerelease function": a capital inside of a sentence is one of a name.
            let is_placed = is(next + 2, "onto to into in on");
            let is_proper =
                is_placed && is(next + 1, NOUNS) && name.starts_with(char::is_uppercase);
            if !noun && !words[next].like_code && !is_proper || is(next, NOUNS) {
                return None;
            }
            // "Add a to_dict method": the noun may stand behind.
            let told = if !noun && is(next + 1, NOUNS) {
                next + 1
            } else {
                at
            };
            Some(Addition {
                name: name.to_owned(),
                member: name.contains('.') || is(told, MEMBERS),
                noun: Noun::of(&words[told].lower),
            })
        };
        // "Calls a function twice" names nothing: a plain word is a name where it comes with the first thing.
        let is_named = |at: usize| {
            let name = after_fillers(at + 1);
            let is_like_code = name.is_some_and(|name| {
                let has_capital = |name: &str| name.contains(char::is_uppercase);
                words[name].like_code || words[name].name.is_some_and(has_capital)
            });
            let is_end =
                name.is_some_and(|name| name + 1 == words.len() || is(name + 1, BEHIND_NAME));
            let is_beside = at > 1 && is(at - 2, "with and plus having");
            is_like_code || is_beside && is_end
        };
        let is_new = |at: usize| at > 0 && is(at - 1, "a an new") && is(at, NOUNS) && is_named(at);
        let mut all = (0..words.len()).filter_map(|at| Some((at, addition(at)?)));
        let first = all.next().or_else(|| addition_of_many(&words));
        let first = first.map_or(Vec::new(), |(at, addition)| {
            with_listed(&words, at, addition)
        });
        let rest = all
            .filter(|(at, _)| is_new(*at))
            .map(|(_, addition)| addition);
        let mut additions: Vec<Addition> = first.into_iter().chain(rest).collect();
        let mut seen = HashSet::new();
        additions.retain(|addition| seen.insert(addition.name.clone()));
        additions
    }

    /// Returns the trait that the task wants a type to implement: "implement Drop for Lock".
    pub fn wanted_trait(&self, name: &str) -> Option<String> {
        let name = regex::escape(name);
        let names = r"`?(?P<trait>[A-Z]\w*)[^.\n]*?";
        let pattern = format!(r"(?i:\bimpl(?:ement(?:s|ed|ing)?)?)\s+{names}\s+for\s+`?{name}\b");
        let found = regex::Regex::new(&pattern).ok()?;
        let found = found.captures(self.text())?;
        Some(found.name("trait")?.as_str().to_owned())
    }

    /// Returns whether the task asks for a definition without naming it: "a function that reverses a string".
    pub fn wants_definition(&self) -> bool {
        let words = self.addition_words();
        let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
        (1..words.len()).any(|at| {
            let is_noun = matches!(lower(at), "function" | "class" | "method" | "helper");
            let is_new = matches!(lower(at - 1), "a" | "an" | "new" | "helper");
            is_noun && is_new && matches!(lower(at + 1), "that" | "to" | "which" | "for" | "in")
        })
    }

    /// Returns values that the task says what is changed should have: numbers, quoted texts, errors, options, dotted
    /// names behind words such as "to", "returns", "default".
    pub fn values(&self) -> Vec<String> {
        const BEFORE: &str = "to returns return default defaults raises raise with = of";
        const BETWEEN: &str = "a an the to be value of exactly is";
        let words: Vec<&str> = self.with_calls().map(|token| token.text).collect();
        let mut values = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let lower = word.to_lowercase();
            if !is_among(BEFORE, &lower) {
                continue;
            }
            let behind = words[at + 1..].iter();
            let next = behind.into_iter().find(|word| !is_one_of(word, BETWEEN));
            let Some(value) = next.and_then(|word| value(word)) else {
                continue;
            };
            // "fails with ValueError" and "a list of 3" tell how things are.
            let is_number = value.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            let is_error = value.ends_with("Error") || value.ends_with("Exception");
            let fits = match lower.as_str() {
                "raise" | "raises" => is_error,
                "of" | "with" => !is_number && !is_error,
                _ => !is_error,
            };
            if fits && !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// Returns what is to be replaced everywhere: "replace `a` with b", "remove all print statements".
    pub fn replaced_name(&self) -> Option<String> {
        let words = self.addition_words();
        let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
        let first = (0..words.len()).find(|at| lower(*at) != "please")?;
        let skip = |from: usize| {
            let fillers = "all every each the uses occurrences calls of";
            (from..words.len()).find(|at| !is_among(fillers, lower(*at)))
        };
        let at = skip(first + 1)?;
        let is_meant = match lower(first) {
            "replace" => matches!(lower(at + 1), "with" | "by" | "calls" | "statements"),
            "remove" => {
                let all = (first + 1..at).any(|at| matches!(lower(at), "all" | "every"));
                all && matches!(lower(at + 1), "statements" | "calls" | "statement")
            }
            _ => false,
        };
        words[at].name.filter(|_| is_meant).map(str::to_owned)
    }

    /// Returns the parameter that the task speaks of: "the parameter `x`", "an argument x=1".
    pub fn parameter(&self) -> Option<String> {
        let words = self.addition_words();
        let is_noun = |word: &Word| {
            !word.like_code && matches!(word.lower.as_str(), "parameter" | "argument" | "keyword")
        };
        let at = words.iter().position(is_noun)?;
        let behind = words[at + 1..].iter();
        let mut behind = behind.filter(|word| word.like_code || !is_among(FILLERS, &word.lower));
        let next = behind.next()?;
        // A default may be written with it.
        let name = next.lower.trim_matches('`').split('=').next()?;
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_plain = is_among(NOT_NAMES, name) || name.is_empty() || !is_name;
        let mut written = self.identifiers();
        let written = written.find(|word| word.eq_ignore_ascii_case(name))?;
        (!is_plain).then(|| written.to_owned())
    }

    /// Returns whether the task asks for a test beside something else.
    pub fn wants_test(&self) -> bool {
        let words = self.addition_words();
        let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
        (1..words.len()).any(|at| {
            let test = matches!(lower(at), "test" | "tests" | "unittest" | "unittests");
            test && is_among(BEFORE_TEST, lower(at - 1)) && !is_among(AFTER_TEST, lower(at + 1))
        })
    }
}

/// Returns the noun of something new that a word is the plural of.
fn singular(word: &str) -> Option<&'static str> {
    let is_many = |noun: &&str| match noun.strip_suffix('y') {
        Some(stem) => word.strip_prefix(stem) == Some("ies"),
        None => matches!(word.strip_prefix(noun), Some("s" | "es")),
    };
    NOUNS.split(' ').find(is_many)
}

/// Says whether a word is one of these and not written like code.
fn is_plainly(words: &[Word<'_>], at: usize, list: &str) -> bool {
    let word = words.get(at);
    word.is_some_and(|word| !word.like_code && is_among(list, &word.lower))
}

/// Returns the first thing of "add functions a_b and c_d", and nothing of "add a limit to the functions".
fn addition_of_many(words: &[Word<'_>]) -> Option<(usize, Addition)> {
    let is_ordered = |at: usize| {
        let order = (0..at).rev().find(|at| !is_plainly(words, *at, FILLERS));
        order.is_some_and(|at| is_plainly(words, at, ORDERS))
    };
    let nouns = words.iter().map(|word| singular(&word.lower));
    let mut nouns = nouns.enumerate().filter_map(|(at, noun)| Some((at, noun?)));
    let (at, noun) = nouns.find(|(at, _)| is_ordered(*at))?;
    let name = words.get(at + 1).filter(|word| word.like_code)?.name?;
    let addition = Addition {
        name: name.to_owned(),
        member: name.contains('.') || is_among(MEMBERS, noun),
        noun: Noun::of(noun),
    };
    Some((at, addition))
}

/// Returns what is listed together with the first thing: in "add `a`, `b` and `c` methods" all of them are new.
fn with_listed(words: &[Word<'_>], at: usize, first: Addition) -> Vec<Addition> {
    let begin = (at + 1..words.len()).find(|at| words[*at].name == Some(&*first.name));
    let listed = begin.map_or(Vec::new(), |begin| names_from(words, begin, &first));
    match listed.len() {
        0 | 1 => vec![first],
        _ => listed,
    }
}

/// Returns the names written like code that stand one after the other from a word on, where nothing says that they are
/// parameters, options or the like. They are what the first is, unless a word behind them says it.
fn names_from(words: &[Word<'_>], begin: usize, first: &Addition) -> Vec<Addition> {
    let lower = |at: usize| words.get(at).map_or("", |word: &Word<'_>| &*word.lower);
    let mut names: Vec<&str> = Vec::new();
    let mut at = begin;
    while let Some(word) = words.get(at).filter(|word| word.like_code)
        && let Some(name) = word.name
    {
        names.push(name);
        at += 1;
        if !word.has_comma && lower(at) != "and" {
            break;
        }
        at += usize::from(lower(at) == "and");
    }
    let one = NOUNS.split(' ').find(|noun| *noun == lower(at));
    let told = one.or_else(|| singular(lower(at)));
    let is_end = at >= words.len()
        || told.is_some()
        || lower(at).starts_with('(')
        || matches!(
            lower(at),
            "to" | "onto" | "into" | "in" | "on" | "for" | "from"
        );
    if !is_end {
        return Vec::new();
    }
    let addition = |name: &str| Addition {
        name: name.to_owned(),
        member: name.contains('.') || told.map_or(first.member, |noun| is_among(MEMBERS, noun)),
        noun: told.map_or(first.noun, Noun::of),
    };
    names.into_iter().map(addition).collect()
}

/// Reads a word as a value that code would have in it.
fn value(word: &str) -> Option<String> {
    let bare = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    let quoted = ['"', '\''].iter().find_map(|mark| {
        let inner = bare.strip_prefix(*mark)?.strip_suffix(*mark)?;
        (!inner.is_empty()).then_some(inner)
    });
    if let Some(inner) = quoted {
        return Some(inner.to_owned());
    }
    let plain = bare.trim_matches('`');
    let is_number = plain.parse::<f64>().is_ok() && plain.contains(|c: char| c.is_ascii_digit());
    let is_error = plain.starts_with(char::is_uppercase)
        && (plain.ends_with("Error") || plain.ends_with("Exception"))
        && plain.chars().all(char::is_alphanumeric);
    let is_option = plain.starts_with("--") && plain.len() > 3;
    let is_address = plain.starts_with("http://") || plain.starts_with("https://");
    (is_number || is_error || is_option || is_address).then(|| plain.to_owned())
}

impl Request {
    /// Returns the tokens; a call such as `f(a, b)` is one.
    fn with_calls(&self) -> impl Iterator<Item = Token<'_>> {
        joined(self.text(), self.tokens(), Joint::Brackets).into_iter()
    }

    /// Returns the words, as names would be read from them.
    fn addition_words(&self) -> Vec<Word<'_>> {
        self.with_calls().map(|token| word(token.text)).collect()
    }
}

fn word(raw: &str) -> Word<'_> {
    let bare = raw.trim_matches(|c: char| "\"',;:!?.".contains(c));
    let quoted = bare.contains('`');
    let inner = bare.trim_matches('`');
    let head = inner.split('(').next().unwrap_or(inner);
    let part = |part: &str| {
        let mut letters = part.chars();
        letters
            .next()
            .is_some_and(|c| c.is_alphabetic() || c == '_')
            && letters.all(|c| c.is_alphanumeric() || c == '_')
    };
    let is_file = crate::path::RelPath::parse(head)
        .is_ok_and(|path| head.contains('.') && Language::of(&path) != Language::Other);
    let is_name = head.split('.').all(part) && !head.contains('/') && !is_file;
    Word {
        lower: inner.to_lowercase(),
        name: is_name.then_some(head),
        like_code: quoted || (is_name && (inner.contains(['(', '.', '_']))),
        has_comma: raw.ends_with(','),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str, test: bool) {
        let task = Request::read(text);
        let found = task.addition().map_or(String::new(), |addition| {
            let member = if addition.member { " of a class" } else { "" };
            format!("{}{member}", addition.name)
        });
        assert_eq!(
            (found.as_str(), task.wants_test()),
            (expected, test),
            "{text}"
        );
    }

    #[test]
    fn all_that_should_be_new_is_read() {
        let names = |text: &str| {
            let request = Request::read(text);
            let names = request
                .additions()
                .iter()
                .map(|addition| addition.name.as_str());
            names.collect::<Vec<_>>().join(" ")
        };
        let check = |text: &str, expected: &str| assert_eq!(names(text), expected, "{text}");
        check(
            "Add a class Base with a method kind to shapes.py",
            "Base kind",
        );
        check(
            "add a function sum and a function mean to m.py, like the function top",
            "sum mean",
        );
        check("add a class Base with the method that counts", "Base");
        check(
            "add a function parse that raises an exception instead of None",
            "parse",
        );
        check("add retry() that calls a function three times", "retry");
        check("add retry() that calls a function twice", "retry");
        check("add a class Cache with a class variable limit", "Cache");
        check(
            "Add `unwrap_err` and `expect_err` methods (#26)",
            "unwrap_err expect_err",
        );
        check(
            "Add `unwrap`, `unwrap_or`, and `expect` (#9)",
            "unwrap unwrap_or expect",
        );
        check(
            "add functions to_json and from_json to io.py",
            "to_json from_json",
        );
        check("add `low` and `high` parameters to clamp()", "low");
        check("add methods for the command line", "");
        check("add a limit to the functions `low` and `high`", "");
    }

    #[test]
    fn things_of_one_list_are_of_one_sort() {
        let sorts = |text: &str| -> Vec<(Noun, bool)> {
            let request = Request::read(text);
            let additions = request.additions().iter();
            additions
                .map(|addition| (addition.noun, addition.member))
                .collect()
        };
        let twice = |noun: Noun, member: bool| vec![(noun, member); 2];
        for (text, noun, member) in [
            ("add a class `Cart` and `Order` to a.py", Noun::Class, false),
            (
                "add a method `open` and `close` to Word",
                Noun::Function,
                true,
            ),
            (
                "add a `to_dict` and `from_dict` method",
                Noun::Function,
                true,
            ),
            (
                "add methods `open` and `close` to Word",
                Noun::Function,
                true,
            ),
            ("add `one` and `two` to a.py", Noun::Anything, false),
        ] {
            assert_eq!(sorts(text), twice(noun, member), "{text}");
        }
    }

    #[test]
    fn names_of_new_things_are_read() {
        check(
            "add a function `subtotal(lines)` to shop/pricing.py that sums",
            "subtotal",
            false,
        );
        check(
            "add a function slugify to text.py and a test for it",
            "slugify",
            true,
        );
        check("add slugify() to text.py with tests", "slugify", true);
        check(
            "Implement `parse_date` in dates.py, plus a unit test",
            "parse_date",
            true,
        );
        check(
            "add a method clear to Cart and write a test",
            "clear of a class",
            true,
        );
        check(
            "add Cart.clear() to shop/cart.py",
            "Cart.clear of a class",
            false,
        );
        check(
            "add a to_dict method to Box in m.py",
            "to_dict of a class",
            false,
        );
        check("add a helper named chunked to tools.py", "chunked", false);
        check(
            "write a new class Basket in shop/basket.py",
            "Basket",
            false,
        );
        check(
            "add a function fix_encoding(text, errors) to io.py for the test suite",
            "fix_encoding",
            false,
        );
    }

    #[test]
    fn values_are_read() {
        for (text, expected) in [
            ("change RETRIES to 5 in m.py", vec!["5"]),
            ("make total return 42", vec!["42"]),
            ("add a parameter tax to total, default 0.2", vec!["0.2"]),
            ("total raises ValueError when empty", vec!["ValueError"]),
            ("add a --verbose flag", vec![]),
            ("test_b fails with AttributeError: add count", vec![]),
            ("change the greeting to \"hello\"", vec!["hello"]),
            ("change total to use a loop", vec![]),
            ("move it to shop/tax.py", vec![]),
        ] {
            assert_eq!(Request::read(text).values(), expected, "{text}");
        }
        for (text, expected) in [
            ("replace print with logging.debug in m.py", Some("print")),
            ("remove all print statements from m.py", Some("print")),
            ("replace the loop in f", None),
            ("remove print", None),
        ] {
            assert_eq!(
                Request::read(text).replaced_name().as_deref(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn parameters_are_read() {
        for (text, expected) in [
            ("add a parameter gift=False to line_total", Some("gift")),
            ("Remove the parameter `Verbose` from f", Some("Verbose")),
            ("add an argument called x to f", Some("x")),
            ("add a parameter to euros and pass it", None),
            ("change f", None),
        ] {
            assert_eq!(
                Request::read(text).parameter().as_deref(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn other_additions_have_no_name() {
        check("add a function that joins words to text.py", "", false);
        check("add a parameter digits to line_total", "", false);
        check("add logging to shop/cart.py", "", false);
        check("add support for CSV files and a test", "", true);
        check("add type hints", "", false);
        check("add snake_case shims for logging", "", false);
        check("add snake_case aliases.", "", false);
        check("add support for snake_case and camelCase keys", "", false);
        check("add function description and fix imports", "", false);
        check("add snake_case to text.py", "snake_case", false);
        check("add a snake_case function to text.py", "snake_case", false);
        check("", "", false);
    }
}
