//! The words of a sentence, and which of them are written as names of code.

use crate::request::tokens::{Token, is_one_of};

/// How a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Between quotes of some kind: a name, whatever word it is.
    Quoted,
    /// As no word of a language is written: `get_url`, `Cart`, `total()`, `shop/cart.py`.
    Code,
    /// As any word.
    Plain,
}

/// One word.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameWord<'t> {
    pub(super) text: &'t str,
    pub(super) mark: Mark,
    /// A comma, a full stop or the end of a line follows.
    pub(super) stop: bool,
    /// `'s` follows.
    pub(super) possessive: bool,
    /// The file of a test id: `path::name`.
    pub(super) file: Option<&'t str>,
    /// The line of `path:line:column`, whose path the text is then.
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
}

impl NameWord<'_> {
    /// Whether this is one of the words of a list, unless quotes make it a name.
    pub(super) fn is(&self, any: &str) -> bool {
        self.mark != Mark::Quoted && is_one_of(self.text, any)
    }

    pub(super) fn is_arrow(&self) -> bool {
        matches!(self.text, "->" | "=>" | "→")
    }

    pub(super) fn is_path(&self) -> bool {
        self.text.ends_with(".py") || self.text.ends_with(".pyi")
    }

    /// Whether this can be a name, a dotted name or the path of a module.
    pub(super) fn is_name(&self) -> bool {
        self.line.is_none()
            && self.text.split(['.', '/']).all(|part| {
                part.chars().all(|c| c.is_alphanumeric() || c == '_')
                    && part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            })
    }
}

/// Returns the words of tokens.
pub(super) fn words_of<'t>(tokens: impl Iterator<Item = Token<'t>>) -> Vec<NameWord<'t>> {
    let mut words: Vec<NameWord<'_>> = Vec::new();
    let mut line = 0;
    for token in tokens {
        if token.line > line {
            end_line(&mut words);
        }
        line = token.line;
        let mut rest = token.text;
        while !rest.is_empty() {
            let arrow = ["->", "=>", "→"]
                .iter()
                .filter_map(|sign| Some((rest.find(sign)?, sign.len())))
                .min();
            let (start, length) = arrow.unwrap_or((rest.len(), 0));
            push(&mut words, &rest[..start]);
            push(&mut words, &rest[start..start + length]);
            rest = &rest[start + length..];
        }
    }
    end_line(&mut words);
    words
}

fn end_line(words: &mut [NameWord<'_>]) {
    if let Some(last) = words.last_mut() {
        last.stop = true;
    }
}

fn push<'t>(words: &mut Vec<NameWord<'t>>, chunk: &'t str) {
    const QUOTES: &[char] = &['`', '\'', '"', '“', '”', '‘', '’', '«', '»', '*'];
    const ENDS: &[char] = &[',', '.', ';', ':', '!', '?'];
    const OPENING: &[char] = &['(', '[', '{', '<'];
    const CLOSING: &[char] = &[')', ']', '}', '>'];
    match chunk {
        "" => return,
        "->" | "=>" | "→" => return words.push(plain(chunk)),
        _ => {}
    }
    let opened = chunk.trim_start_matches(OPENING);
    let bare = opened.trim_start_matches(QUOTES).trim_start_matches('@');
    let mut text = bare;
    let (mut stop, mut called, mut closed, mut possessive) = (false, false, false, false);
    loop {
        let shorter = if let Some(rest) = text.strip_suffix(ENDS) {
            stop = true;
            rest
        } else if let Some(rest) = text.strip_suffix("()") {
            called = true;
            rest
        } else if let Some(rest) = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")) {
            possessive = true;
            rest
        } else if let Some(rest) = text.strip_suffix(QUOTES) {
            closed = true;
            rest
        } else if let Some(rest) = text.strip_suffix(CLOSING) {
            rest
        } else {
            break;
        };
        text = shorter;
    }
    if !text.contains(char::is_alphanumeric) && !text.contains('_') {
        // A sign that stands alone parts what is around it: "rename it - please".
        if let Some(last) = words.last_mut() {
            last.stop = true;
        }
        return;
    }
    // `total(items)` is called too.
    if let Some((name, _)) = text.split_once('(') {
        (text, called) = (name, true);
    }
    let mut word = plain(text);
    (word.stop, word.possessive) = (stop, possessive);
    if let Some((path, test)) = text.split_once("::") {
        (word.file, word.text) = (Some(path), test.rsplit("::").next().unwrap_or(test));
    } else if let Some((path, line, column)) = place(text) {
        (word.text, word.line, word.column) = (path, Some(line), column);
    }
    let part = |c: char| "_./".contains(c) || c.is_ascii_digit() || c.is_uppercase();
    if closed && bare.len() < opened.len() {
        word.mark = Mark::Quoted;
    } else if called || word.text.contains(part) {
        word.mark = Mark::Code;
    }
    words.push(word);
}

fn plain(text: &str) -> NameWord<'_> {
    NameWord {
        text,
        mark: Mark::Plain,
        stop: false,
        possessive: false,
        file: None,
        line: None,
        column: None,
    }
}

/// Reads `path:line` or `path:line:column` of a Python file.
fn place(text: &str) -> Option<(&str, u32, Option<u32>)> {
    let mut parts = text.split(':');
    let path = parts
        .next()
        .filter(|path| path.ends_with(".py") || path.ends_with(".pyi"))?;
    let line = parts.next()?.parse().ok()?;
    Some((
        path,
        line,
        parts.next().and_then(|column| column.parse().ok()),
    ))
}
