//! The sentence, read once: what it is about, what it names and what it asks for. Where that lies is looked up elsewhere.

pub mod addition;
mod clause;
pub mod kind;
mod kind_of;
mod languages;
pub mod order;
mod red;
pub mod rename;
pub mod role;
pub(crate) mod tokens;
pub(crate) mod written;
pub(crate) mod zone;

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::path::RelPath;
use crate::request::addition::Addition;
use crate::request::clause::Gist;
use crate::request::kind::Kind;
use crate::request::order::OrderPart;
use crate::request::rename::Rename;
use crate::request::tokens::{Token, Tokens, span};
use crate::request::written::Written;
use crate::request::zone::{Passage, passages};
use crate::text::{identifiers, is_among, whole_words};

/// Bytes of a text that are read for what is asked: what follows is logs.
const LONGEST_READ: usize = 60_000;

/// What is asked for. Clones share what was read.
#[derive(Clone)]
pub struct Request {
    kind: Kind,
    sentence: Arc<Sentence>,
}

/// The words of a request with what was read from them; what takes its time is read when it is first asked for.
struct Sentence {
    text: String,
    tokens: Tokens,
    gist: Gist,
    written: OnceLock<Written>,
    renames: OnceLock<Vec<Vec<Rename>>>,
    additions: OnceLock<Vec<Addition>>,
    parts: OnceLock<Vec<OrderPart>>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Request");
        shown.field("kind", &self.kind).field("text", &self.text());
        shown.finish_non_exhaustive()
    }
}

impl PartialEq for Request {
    fn eq(&self, other: &Request) -> bool {
        (self.kind, self.text()) == (other.kind, other.text())
    }
}

impl Eq for Request {}

impl Request {
    /// Reads a sentence, without a project.
    pub fn read(text: &str) -> Request {
        let tokens = Tokens::of(beginning(text));
        let sentence = Sentence {
            gist: Gist::of(text, &tokens),
            text: text.to_owned(),
            tokens,
            written: OnceLock::new(),
            renames: OnceLock::new(),
            additions: OnceLock::new(),
            parts: OnceLock::new(),
        };
        let request = Request {
            kind: Kind::Fix,
            sentence: Arc::new(sentence),
        };
        let kind = request.read_kind();
        request.with_kind(kind)
    }

    /// Returns the words.
    pub fn text(&self) -> &str {
        &self.sentence.text
    }

    /// Returns its first line.
    pub fn title(&self) -> &str {
        self.text().lines().next().unwrap_or_default()
    }

    /// Returns what the request asks for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the same words, read as a request of another kind.
    pub fn with_kind(self, kind: Kind) -> Request {
        Request { kind, ..self }
    }

    /// Returns the request with the answer to a question behind it; what it asks for stays.
    pub fn with_answer(&self, answer: &str) -> Request {
        Request::read(&format!("{}\n{answer}", self.text())).with_kind(self.kind())
    }

    /// Returns the part that is read for what is asked: what follows in a long task is logs.
    fn beginning(&self) -> &str {
        beginning(self.text())
    }

    /// Returns the tokens of that part.
    fn tokens(&self) -> impl DoubleEndedIterator<Item = Token<'_>> {
        self.tokens_within(0..self.text().len())
    }

    /// Returns the tokens of a part of the text.
    pub(crate) fn tokens_of(&self, part: &str) -> impl Iterator<Item = Token<'_>> {
        self.tokens_within(span(self.text(), part))
    }

    fn tokens_within(&self, part: Range<usize>) -> impl DoubleEndedIterator<Item = Token<'_>> {
        self.sentence.tokens.within(self.text(), part)
    }

    /// Returns the runs of letters and digits.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.beginning().split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty())
    }

    /// Returns the same with their apostrophes: "what's".
    pub(crate) fn spoken_words(&self) -> impl Iterator<Item = &str> {
        let words = self
            .beginning()
            .split(|c: char| !c.is_alphanumeric() && c != '\'');
        words.filter(|word| !word.is_empty())
    }

    /// Returns the runs of letters, digits and underscores, to the end of the longest log.
    pub fn identifiers(&self) -> impl Iterator<Item = &str> {
        identifiers(self.text())
    }

    /// Returns the words as they are written, with the signs around them.
    pub fn written_words(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.tokens().map(|token| token.text)
    }

    /// Returns the words as they are written from a place on.
    pub fn written_words_from(&self, at: usize) -> impl Iterator<Item = &str> {
        let tokens = self.tokens_within(at..self.text().len());
        tokens.map(|token| token.text)
    }

    /// Returns the words without the signs of a sentence, where these part words too.
    pub fn bare_words(&self) -> impl Iterator<Item = &str> {
        let is_sign = |c: char| "`\"',;:!?()".contains(c);
        let words = self.written_words();
        let words = words.flat_map(move |word| word.split(is_sign));
        words.filter(|word| !word.is_empty())
    }

    /// Returns what stands between two signs such as back-ticks.
    pub fn between(&self, sign: char) -> impl Iterator<Item = &str> {
        self.beginning().split(sign).skip(1).step_by(2)
    }

    /// Returns the passages: the title, sentences, code and tracebacks, without what nobody means.
    pub(crate) fn passages(&self) -> Vec<Passage<'_>> {
        passages(self.beginning())
    }

    /// Returns every name, path and quotation that is written down.
    pub(crate) fn written(&self) -> &Written {
        let read = || Written::of(self);
        self.sentence.written.get_or_init(read)
    }

    /// Returns whether the sentence has this name as a whole word.
    pub fn speaks_of(&self, name: &str) -> bool {
        whole_words(self.text(), name).next().is_some()
    }

    /// Returns whether the sentence names this file, by its whole path or by its file name.
    pub fn names_path(&self, path: &RelPath) -> bool {
        self.speaks_of(path.as_str()) || self.speaks_of(path.file_name())
    }

    /// Returns the last line where it is the answer to a question of ours: the path of a file, or a name and its file.
    pub fn answer(&self) -> Option<(&str, &str)> {
        let (_, last) = self.text().trim_end().rsplit_once('\n')?;
        let (name, path) = last.trim().rsplit_once(" in ").unwrap_or(("", last.trim()));
        let is_word = |text: &str| !text.contains(char::is_whitespace);
        let is_path = |text: &str| is_word(text) && text.contains(['.', '/']);
        (is_word(name) && is_path(path)).then_some((name, path))
    }

    /// Returns the words that may be paths of files, whether those are there or not.
    pub fn written_paths(&self) -> Vec<RelPath> {
        let words = self.bare_words().map(|word| word.trim_end_matches('.'));
        let is_path = |word: &&str| word.contains(['.', '/']) || word.ends_with("file");
        // A pasted log names the same files in every line.
        let mut seen = HashSet::new();
        let new = words.filter(is_path).filter(|word| seen.insert(*word));
        new.flat_map(RelPath::parse).collect()
    }

    /// Says whether a word only tells how names are spelled: "snake_case shims", and not "add snake_case to text.py".
    pub fn describes_spelling(&self, word: &str) -> bool {
        const CASES: &str = "snake_case camelCase PascalCase CamelCase UPPER_CASE";
        const DESCRIBED: &str = "alias aliases keys names shims spelling variants wrappers";
        const BEFORE: &str = "to in as from for with";
        if !is_among(CASES, word) {
            return false;
        }
        let Some(at) = self.beginning().find(word) else {
            return false;
        };
        let next = self
            .tokens_within(at + word.len()..self.text().len())
            .next();
        let next = next.map_or("", |token| {
            token.text.trim_end_matches(['.', ',', ';', ':', '!'])
        });
        let last = self.tokens_within(0..at).next_back();
        let last = last.map_or(String::new(), |token| token.text.to_lowercase());
        is_among(DESCRIBED, next) || is_among(BEFORE, &last)
    }

    /// Returns words that are written like names of code: in back-ticks, with underscores, dots, calls or humps.
    pub fn code_names(&self) -> Vec<&str> {
        let plain = self.tokens().flat_map(|token| {
            let is_sign = |c: char| "`\"',;:!?()[]{}<>=".contains(c);
            token.text.split(is_sign)
        });
        let humped = |word: &str| {
            let first_low = word.chars().next().is_some_and(char::is_lowercase);
            let humps = word.chars().filter(|c| c.is_uppercase()).count();
            (first_low && humps > 0) || (humps > 1 && word.chars().any(char::is_lowercase))
        };
        // `Term.negate` is a member of a class; a sentence that ends without a blank behind it is none.
        let member = |word: &str| {
            let (class, name) = word.split_once('.').unwrap_or_default();
            let is_word = |text: &str| text.len() > 1 && text.chars().all(char::is_alphanumeric);
            let is_class = class.starts_with(char::is_uppercase);
            is_class && is_word(class) && is_word(name) && name.starts_with(char::is_lowercase)
        };
        let written_as_name = |word: &&str| {
            !self.describes_spelling(word)
                && (word.contains('_') || humped(word) || member(word) || word.ends_with("()"))
        };
        let mut names: Vec<&str> = self
            .between('`')
            .chain(plain.filter(written_as_name))
            .map(|word| word.trim_matches(['.', '(', ')']))
            .collect();
        names.retain(|name| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_.".contains(c))
        });
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }
}

/// Returns the part of a text that is read for what is asked.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_READ)]
}

#[cfg(test)]
mod tests {
    use crate::path::RelPath;

    use super::Request;

    #[test]
    fn names_are_whole_words() {
        let task = Request::read("fix line_total in shop/pricing.py");
        assert!(
            task.speaks_of("line_total") && !task.speaks_of("total") && !task.speaks_of("line")
        );
        assert!(task.names_path(&RelPath::parse("shop/pricing.py").unwrap()));
        assert!(!task.names_path(&RelPath::parse("shop/report.py").unwrap()));
    }

    #[test]
    fn names_of_code_are_told_from_words() {
        let task = Request::read(
            "add a parameter `digits` to apply_discount, like OrderLine.total() and parseAll do in Python",
        );
        assert_eq!(
            task.code_names(),
            ["digits", "apply_discount", "OrderLine.total", "parseAll"]
        );
    }
}
