//! The sentence cut at its blanks, once. What reads it asks for the tokens of a part; none of them cuts it again.

use std::ops::Range;

/// Where the tokens of a text stand. A token is what is written between two blanks, with the signs around it.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    list: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    line: usize,
}

/// One token, as far as it lies in the part that was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) text: &'t str,
    /// Where it begins in the whole text.
    pub(super) start: usize,
    /// The number of its line.
    pub(super) line: usize,
}

impl Tokens {
    pub(super) fn of(text: &str) -> Tokens {
        let mut list = Vec::new();
        for (line, words) in text.lines().enumerate() {
            for word in words.split_whitespace() {
                let Range { start, end } = span(text, word);
                list.push(Span { start, end, line });
            }
        }
        Tokens { list }
    }

    /// Returns the tokens of a part of the text.
    pub(super) fn within<'t>(
        &self,
        text: &'t str,
        part: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Token<'t>> {
        let first = self.list.partition_point(|span| span.end <= part.start);
        let last = self.list.partition_point(|span| span.start < part.end);
        let spans = self.list.get(first..last).unwrap_or_default();
        spans.iter().map(move |span| {
            let start = span.start.max(part.start);
            Token {
                text: &text[start..span.end.min(part.end)],
                start,
                line: span.line,
            }
        })
    }
}

/// Returns where a part of a text stands in it.
pub(super) fn span(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

/// What keeps a token and the next one of its line together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// Back-ticks or double quotes that are open.
    Quotes,
    /// Round brackets that are open, as in `f(a, b)`.
    Brackets,
}

/// Joins the tokens of a line that belong together. A quotation that the line does not close is none.
pub(super) fn joined<'t>(
    text: &'t str,
    tokens: impl Iterator<Item = Token<'t>>,
    joint: Joint,
) -> Vec<Token<'t>> {
    let tokens: Vec<Token<'_>> = tokens.collect();
    let mut found = Vec::new();
    for line in tokens.chunk_by(|one, next| one.line == next.line) {
        let before = found.len();
        let mut open = Open::default();
        for token in line {
            match found.last_mut() {
                Some(last) if open.is_open() => join(text, last, token),
                _ => found.push(*token),
            }
            open.read(token.text, joint);
        }
        if open.quote.is_some() {
            found.truncate(before);
            found.extend_from_slice(line);
        }
    }
    found
}

fn join<'t>(text: &'t str, last: &mut Token<'t>, token: &Token<'t>) {
    last.text = &text[last.start..token.start + token.text.len()];
}

/// What is open behind a token.
#[derive(Default)]
struct Open {
    quote: Option<char>,
    brackets: u32,
}

impl Open {
    fn is_open(&self) -> bool {
        self.quote.is_some() || self.brackets > 0
    }

    fn read(&mut self, token: &str, joint: Joint) {
        for sign in token.chars() {
            match (joint, sign) {
                (Joint::Quotes, '`' | '"') if self.quote.is_none() => self.quote = Some(sign),
                (Joint::Quotes, _) if self.quote == Some(sign) => self.quote = None,
                (Joint::Brackets, '(') => self.brackets += 1,
                (Joint::Brackets, ')') => self.brackets = self.brackets.saturating_sub(1),
                (Joint::Quotes | Joint::Brackets, _) => {}
            }
        }
    }
}

/// Returns whether a word is one of a list of words, in whatever case.
pub(super) fn is_one_of(word: &str, list: &str) -> bool {
    let mut list = list.split_ascii_whitespace();
    list.any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns a token without quotes, brackets and the signs that end a sentence.
pub(super) fn plain(token: &str) -> &str {
    let token = token.strip_suffix('.').unwrap_or(token);
    let token = token.trim_matches(|c: char| "`\"',;:!?()[]{}".contains(c));
    token.strip_suffix('.').unwrap_or(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, joint: Joint) -> Vec<&str> {
        let tokens = Tokens::of(text);
        let all = tokens.within(text, 0..text.len());
        let all = joined(text, all, joint).into_iter();
        all.map(|token| token.text).collect()
    }

    #[test]
    fn what_is_quoted_or_called_is_one_token_of_its_line() {
        let text = "add `a b` to f(x, y)\nas (open\nhere `it";
        assert_eq!(
            told(text, Joint::Quotes),
            [
                "add", "`a b`", "to", "f(x,", "y)", "as", "(open", "here", "`it"
            ]
        );
        assert_eq!(
            told(text, Joint::Brackets),
            [
                "add", "`a", "b`", "to", "f(x, y)", "as", "(open", "here", "`it"
            ]
        );
    }

    #[test]
    fn a_part_has_parts_of_tokens() {
        let text = "one **two** three";
        let tokens = Tokens::of(text);
        let part = tokens.within(text, 6..9);
        assert_eq!(part.map(|token| token.text).collect::<Vec<_>>(), ["two"]);
    }
}
