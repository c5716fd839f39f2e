//! What a task writes down, before anything is looked up: dotted names, paths, frames, errors, quotations.

use rustc_hash::FxHashMap;

use crate::request::Request;
use crate::request::tokens::Token;
use crate::request::zone::{Passage, Zone, error_message};
use crate::text::is_among;

/// Everything written in a task that may name a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) names: Vec<Name>,
    pub(crate) paths: Vec<WrittenPath>,
    pub(crate) frames: Vec<WrittenFrame>,
    pub(crate) errors: Vec<(String, String)>,
    pub(crate) quotations: Vec<Quotation>,
    pub(crate) imports: Vec<WrittenImport>,
    /// What a local name in the task's code stands for: `u` is `astropy.units`.
    pub(crate) aliases: FxHashMap<String, String>,
}

/// A name as written: `a`, `a.b.c`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) zone: Zone,
    /// An opening parenthesis follows.
    pub(crate) called: bool,
    /// No word of any language looks like it: `get_url`, `HttpResponse`, `a.b`.
    pub(crate) codelike: bool,
    /// Stands between an article and a noun, as a word of the language: "a foreign origin".
    pub(crate) describes: bool,
    /// It is held against another: "the difference between peekable and spy", "spy vs peekable".
    pub(crate) is_compared: bool,
    /// It is said to be a method: "the method close".
    pub(crate) is_method: bool,
    /// The file that it is said to be in: "total in cart.py".
    pub(crate) home: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct WrittenPath {
    pub(crate) text: String,
    pub(crate) zone: Zone,
    pub(crate) line: Option<u32>,
    /// What follows `::` in a test id.
    pub(crate) test: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct WrittenFrame {
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) function: String,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Quotation {
    pub(crate) text: String,
    pub(crate) zone: Zone,
}

/// `from module import name`, or `import module` without a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct WrittenImport {
    pub(crate) module: String,
    pub(crate) name: Option<String>,
}

impl Written {
    /// Reads what is written in a request.
    pub(super) fn of(request: &Request) -> Written {
        let mut written = Written::default();
        for passage in request.passages() {
            let tokens = request.tokens_of(passage.text);
            written.passage(passage, tokens);
        }
        written
    }

    fn passage<'t>(&mut self, passage: Passage<'t>, tokens: impl Iterator<Item = Token<'t>>) {
        let Passage { zone, text } = passage;
        if matches!(zone, Zone::Code | Zone::Trace) {
            self.imports_of(without_prompt(text));
        }
        if let Some(frame) = python_frame(text.trim()) {
            self.frames.push(frame);
            return;
        }
        if let Some(error) = error_message(text.trim()) {
            self.errors.push((error.0.to_owned(), error.1.to_owned()));
        }
        for token in tokens {
            self.token(zone, token.text);
        }
        self.names_of(zone, text);
        if zone != Zone::Trace {
            self.quotations_of(zone, text);
        }
    }

    /// Reads a word with slashes, an extension or a line number as a path.
    fn token(&mut self, zone: Zone, token: &str) {
        let token = token.trim_matches(|c: char| {
            matches!(
                c,
                '`' | '"' | '\'' | '(' | ')' | '[' | ']' | ',' | ';' | '*' | '<' | '>' | '!' | '?'
            )
        });
        // In [text](address) both sides may be a path.
        if let Some((text, address)) = token.split_once("](") {
            self.token(zone, text);
            self.token(zone, address);
            return;
        }
        let token = token.trim_end_matches(['.', ':']);
        if let Some((_, address)) = token.split_once("://") {
            self.address(zone, address);
            return;
        }
        if let Some((path, test)) = token.split_once("::")
            && has_extension(path)
        {
            self.paths.push(WrittenPath {
                text: path.to_owned(),
                zone,
                line: None,
                test: Some(test.to_owned()),
            });
            return;
        }
        let (path, line) = split_line(token);
        if has_extension(path) || path.contains('/') && path.len() > 3 {
            self.paths.push(WrittenPath {
                text: path.to_owned(),
                zone,
                line,
                test: None,
            });
        }
    }

    /// `github.com/owner/name/blob/ref/path/file.py#L12` names a file of the project.
    fn address(&mut self, zone: Zone, address: &str) {
        let Some(at) = address.find("/blob/") else {
            return;
        };
        let Some((_, path)) = address[at + 6..].split_once('/') else {
            return;
        };
        let (path, fragment) = path.split_once('#').unwrap_or((path, ""));
        let digits: String = fragment
            .trim_start_matches('L')
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        self.paths.push(WrittenPath {
            text: path.to_owned(),
            zone,
            line: digits.parse().ok(),
            test: None,
        });
    }

    fn names_of(&mut self, zone: Zone, text: &str) {
        let bytes = text.as_bytes();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        let mut at = 0;
        while at < bytes.len() {
            if !is_name(bytes[at]) {
                at += 1;
                continue;
            }
            let start = at;
            while at < bytes.len()
                && (is_name(bytes[at])
                    || bytes[at] == b'.' && bytes.get(at + 1).is_some_and(|&next| is_name(next)))
            {
                at += 1;
            }
            let Some(run) = text.get(start..at) else {
                continue;
            };
            let in_path = start > 0 && matches!(bytes[start - 1], b'/' | b'\\')
                || matches!(bytes.get(at), Some(b'/' | b'\\'));
            let starts_well = !run.starts_with(|c: char| c.is_ascii_digit());
            if starts_well && !in_path && run.len() > 1 && run.len() < 200 {
                let called = bytes.get(at) == Some(&b'(');
                self.names.push(Name {
                    text: run.to_owned(),
                    zone,
                    called,
                    codelike: called || is_codelike(run),
                    describes: describes(text, start, at),
                    is_compared: is_compared(text, start, at),
                    is_method: beside(text, start, at).contains(&Some("method")),
                    home: home(text.get(at..).unwrap_or_default()).map(str::to_owned),
                });
            }
        }
    }

    fn imports_of(&mut self, line: &str) {
        let line = line.split('#').next().unwrap_or(line).trim();
        if let Some(rest) = line.strip_prefix("from ")
            && let Some((module, names)) = rest.split_once(" import ")
        {
            let module = module.trim();
            for name in names.trim_matches(['(', ')', ' ']).split(',') {
                let (name, alias) = split_alias(name);
                if name.is_empty() {
                    continue;
                }
                self.imports.push(WrittenImport {
                    module: module.to_owned(),
                    name: Some(name.to_owned()),
                });
                let target = format!("{module}.{name}");
                self.aliases.insert(alias.to_owned(), target);
            }
        } else if let Some(modules) = line.strip_prefix("import ") {
            for module in modules.split([',', ';']) {
                let (module, alias) = split_alias(module);
                if module.is_empty() || module.contains(' ') {
                    continue;
                }
                self.imports.push(WrittenImport {
                    module: module.to_owned(),
                    name: None,
                });
                if alias != module {
                    self.aliases.insert(alias.to_owned(), module.to_owned());
                }
            }
        }
    }

    fn quotations_of(&mut self, zone: Zone, text: &str) {
        for quote in ['"', '\'', '“'] {
            let end = if quote == '“' { '”' } else { quote };
            let mut rest = text;
            while let Some(open) = rest.find(quote) {
                let after = &rest[open + quote.len_utf8()..];
                // An apostrophe inside a word opens nothing.
                let inside_word = rest[..open].ends_with(char::is_alphanumeric);
                let Some(close) = after.find(end) else { break };
                let quoted = &after[..close];
                if inside_word {
                    rest = after;
                    continue;
                }
                if (3..=200).contains(&quoted.trim().len()) {
                    let text = quoted.to_owned();
                    self.quotations.push(Quotation { text, zone });
                }
                rest = &after[close + end.len_utf8()..];
            }
        }
        if zone == Zone::Inline && text.trim().contains(' ') && (3..=200).contains(&text.len()) {
            self.quotations.push(Quotation {
                text: text.trim().to_owned(),
                zone,
            });
        }
    }
}

fn split_alias(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(" as ") {
        Some((name, alias)) => (name.trim(), alias.trim()),
        None => (text, text),
    }
}

/// Takes `>>>`, `...`, `In [3]:` off a line of a session.
fn without_prompt(line: &str) -> &str {
    let line = line.trim();
    if let Some(rest) = line
        .strip_prefix(">>>")
        .or_else(|| line.strip_prefix("..."))
    {
        return rest.trim_start();
    }
    match line
        .strip_prefix("In [")
        .and_then(|rest| rest.split_once("]:"))
    {
        Some((_, rest)) => rest.trim_start(),
        None => line,
    }
}

/// `File "path", line 12, in name`, or pytest's `path:12: in name`.
fn python_frame(line: &str) -> Option<WrittenFrame> {
    if let Some(rest) = line.strip_prefix("File \"") {
        let (path, rest) = rest.split_once('"')?;
        let rest = rest.strip_prefix(", line ")?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        let function = rest
            .split_once(" in ")
            .map_or("", |(_, function)| function.trim());
        return Some(WrittenFrame {
            path: path.to_owned(),
            line: digits.parse().ok()?,
            function: function.to_owned(),
        });
    }
    let (path, rest) = line.split_once(".py:")?;
    if path.contains(' ') {
        return None;
    }
    let path = line.get(..path.len() + 3)?;
    let (digits, rest) = rest.split_once(':')?;
    let function = rest.trim().strip_prefix("in ").unwrap_or("");
    Some(WrittenFrame {
        path: path.to_owned(),
        line: digits.parse().ok()?,
        function: function.to_owned(),
    })
}

/// Extensions that make a word a path without a slash.
const EXTENSIONS: &[&str] = &[
    "py", "pyi", "pyx", "rs", "js", "jsx", "ts", "tsx", "go", "java", "c", "h", "cc", "cpp", "hpp",
    "rb", "cs", "php", "sh", "toml", "cfg", "ini", "json", "yaml", "yml", "md", "rst", "txt",
    "html", "css", "sql", "xml",
];

fn has_extension(path: &str) -> bool {
    let Some((stem, extension)) = path.rsplit_once('.') else {
        return false;
    };
    !stem.is_empty() && !stem.ends_with(' ') && EXTENSIONS.contains(&extension)
}

/// `a.py:12`, `a.py#L12`.
fn split_line(token: &str) -> (&str, Option<u32>) {
    let cut = token.split_once("#L").or_else(|| token.split_once(':'));
    let Some((path, rest)) = cut else {
        return (token, None);
    };
    let digits = rest
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or("");
    match digits.parse() {
        Ok(line) => (path, Some(line)),
        Err(_) => (token, None),
    }
}

/// Words that a noun follows, with a word that describes it in between or not.
const ARTICLES: &str = "a an any another each every no some such";
/// Nouns that make a name of the word before them: "a total function".
const KINDS: &str =
    "attribute class command constant function helper method module parameter variable";

/// Returns the file that the words behind a name say it is in.
fn home(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['`', '\'', '"', '(', ')']);
    let place = [" in ", " of ", " from "]
        .iter()
        .find_map(|word| rest.strip_prefix(word))?;
    let file = place.split_whitespace().next()?;
    let file = file.trim_matches(['`', '\'', '"', '(', ')', ',', ':', ';', '.']);
    let (stem, ending) = file.rsplit_once('.')?;
    let is_ending = (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric);
    (is_ending && !stem.is_empty()).then_some(file)
}

/// Says whether the word at `start..end` only describes the noun that follows it.
fn describes(text: &str, start: usize, end: usize) -> bool {
    let [before, after] = beside(text, start, end);
    let article = before.is_some_and(|word| is_among(ARTICLES, &word.to_lowercase()));
    let noun = after.is_some_and(|word| {
        word.len() > 3
            && word.chars().all(char::is_lowercase)
            && !is_among(KINDS, word)
            && !is_among(STOPS, word)
    });
    // "Middleware support" is about no single thing of that name.
    let matter = after.is_some_and(|word| is_among(MATTERS, word));
    let is_difference = after == Some("between") && asks_to_compare(&text[start..end]);
    // "Matches-style callbacks".
    let rest = text[end..].strip_prefix('-');
    let rest = rest.and_then(|rest| rest.split(|sign: char| !sign.is_alphabetic()).next());
    let is_joined =
        rest.is_some_and(|rest| !rest.is_empty() && !is_among(OF_CODE, &rest.to_lowercase()));
    article && noun || matter || is_difference || is_joined
}

/// Says whether words ask what tells two things apart.
fn asks_to_compare(words: &str) -> bool {
    let words = words.to_lowercase();
    ["differ", "distin", "compar"]
        .iter()
        .any(|word| words.contains(word))
}

/// Says whether the word at `start..end` is one of two that a task compares.
fn is_compared(text: &str, start: usize, end: usize) -> bool {
    let [before, after] = beside(text, start, end);
    let is_against = |word: Option<&str>| matches!(word, Some("vs" | "versus"));
    let is_second = || {
        let first = text[..start].strip_suffix(" and ");
        let between = first.and_then(|first| first.trim_end().rsplit_once(' '));
        between.is_some_and(|(rest, _)| rest.ends_with(" between"))
    };
    let is_between = before == Some("between") || is_second();
    is_against(before) || is_against(after) || is_between && asks_to_compare(&text[..start])
}

/// Returns the words before and after the one at `start..end`.
fn beside(text: &str, start: usize, end: usize) -> [Option<&str>; 2] {
    let is_end = |c: char| !c.is_alphabetic();
    let before = text[..start].strip_suffix(' ');
    let after = text[end..].strip_prefix(' ');
    [
        before.and_then(|before| before.rsplit(is_end).next()),
        after.and_then(|after| after.split(is_end).next()),
    ]
}

/// Nouns for what a name may be joined to: "the total-function", "die Cart-Klasse".
const OF_CODE: &str = "class datei file function funktion klasse method methode modul module";

/// Nouns that make what stands before them a subject.
const MATTERS: &str = "compatibility functionality handling integration support";

/// Words that begin what is said of a noun, so that the word before them is the noun: "a total that …".
const STOPS: &str = "does from have into should than that then when where which will with would";

/// Says whether a run of letters can only be a name in a program.
fn is_codelike(run: &str) -> bool {
    let bytes = run.as_bytes();
    let underscore = run.trim_matches('_').contains('_') || run.starts_with('_');
    let camel = bytes
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let dotted = run.contains('.')
        && !matches!(run, "e.g" | "i.e")
        && !run.ends_with(".com")
        && !run.ends_with(".org");
    let acronym_camel = bytes.windows(3).any(|three| {
        three[0].is_ascii_uppercase()
            && three[1].is_ascii_uppercase()
            && three[2].is_ascii_lowercase()
    }) && bytes.last() != Some(&b's');
    underscore || camel || dotted || acronym_camel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;

    fn read(text: &str) -> Written {
        Request::read(text).written().clone()
    }

    #[test]
    fn two_things_are_compared_where_the_words_say_so() {
        let compared = |text| -> Vec<String> {
            let names = read(text).names.into_iter();
            let names = names.filter(|name| name.is_compared);
            names.map(|name| name.text).collect()
        };
        let asked = compared("what is the difference between peekable and spy?");
        assert_eq!(asked, ["peekable", "spy"]);
        assert_eq!(compared("spy vs peekable"), ["spy", "peekable"]);
        assert!(compared("fix the delay between retries and requests").is_empty());
    }

    #[test]
    fn names_paths_and_frames_are_found() {
        let written = read(
            "Bug in `Cart.total()`\nsee src/cart.py:12 and tests/test_a.py::test_b\n>>> import numpy as np, shop\n>>> from shop import cart as c\n  File \"/usr/shop/cart.py\", line 3, in total\nValueError: bad value\n",
        );
        let names: Vec<&str> = written
            .names
            .iter()
            .filter(|name| name.codelike)
            .map(|name| name.text.as_str())
            .collect();
        assert!(names.contains(&"Cart.total"), "{names:?}");
        assert_eq!(
            written.paths[0],
            WrittenPath {
                text: "src/cart.py".to_owned(),
                zone: Zone::Prose,
                line: Some(12),
                test: None
            }
        );
        assert_eq!(written.paths[1].test.as_deref(), Some("test_b"));
        assert_eq!(
            written.frames,
            [WrittenFrame {
                path: "/usr/shop/cart.py".to_owned(),
                line: 3,
                function: "total".to_owned()
            }]
        );
        let error = ("ValueError".to_owned(), "bad value".to_owned());
        assert_eq!(written.errors, [error]);
        assert_eq!(written.aliases["c"], "shop.cart");
        assert_eq!(written.aliases["np"], "numpy");
    }

    #[test]
    fn a_word_that_is_joined_to_another_names_nothing() {
        let support = read("Support matches-style callbacks, keep total");
        let names = support.names.iter();
        let names: Vec<_> = names.filter(|name| !name.describes).collect();
        assert!(!names.iter().any(|name| name.text == "matches"));
        assert!(names.iter().any(|name| name.text == "total"));
        let german = read("In der Cart-Klasse fehlt etwas");
        assert!(
            german
                .names
                .iter()
                .any(|name| name.text == "Cart" && !name.describes)
        );
    }

    #[test]
    fn quotations_are_not_apostrophes() {
        let written = read("it doesn't say 'hello you' or \"no such file\"");
        let quoted: Vec<&str> = written.quotations.iter().map(|q| q.text.as_str()).collect();
        assert_eq!(quoted, ["no such file", "hello you"]);
    }

    #[test]
    fn an_address_of_a_file_names_it() {
        let written = read("x\nsee https://github.com/a/b/blob/main/pkg/mod.py#L7-L9 there");
        assert_eq!(
            written.paths,
            [WrittenPath {
                text: "pkg/mod.py".to_owned(),
                zone: Zone::Prose,
                line: Some(7),
                test: None
            }]
        );
    }
}
