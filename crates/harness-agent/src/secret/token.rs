//! Tokens: a prefix that only they have, then a body of a known alphabet and length.

use std::ops::Range;

use crate::secret::Kind;

/// No token in use is longer; a longer run is data.
const LONGEST: usize = 4096;

/// What the literal is to the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Its beginning, which stands out even in the middle of a word where `anywhere` is set.
    Prefix { anywhere: bool },
    /// A mark in its middle: the body goes on to both sides.
    Mark,
    /// A name before it: `name = "secret"`.
    Label,
}

/// The shape of a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    place: Place,
    /// Says whether a body has this letter.
    has: fn(u8) -> bool,
    least: usize,
    most: usize,
}

/// Returns every kind of token, with the literals that give it away.
pub(super) fn all() -> impl Iterator<Item = (Kind, Vec<&'static str>, Token)> {
    include_str!("tokens.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(read)
}

fn read(line: &'static str) -> Option<(Kind, Vec<&'static str>, Token)> {
    let mut columns = line.split(" | ");
    let (id, name) = (columns.next()?, columns.next()?);
    let literals = columns.next()?.split(' ').collect();
    let mut shape = columns.next()?.split(' ');
    let place = match shape.next()? {
        "prefix" => Place::Prefix { anywhere: false },
        "anywhere" => Place::Prefix { anywhere: true },
        "mark" => Place::Mark,
        "label" => Place::Label,
        _ => return None,
    };
    let has = letters(shape.next()?)?;
    let (least, most) = (shape.next()?.parse().ok()?, shape.next()?.parse().ok()?);
    let token = Token {
        place,
        has,
        least,
        most,
    };
    Some((Kind { id, name }, literals, token))
}

fn letters(name: &str) -> Option<fn(u8) -> bool> {
    fn web(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"_-".contains(&byte)
    }
    fn base64(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
    }
    Some(match name {
        "upper" => |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        "plain" => |byte| byte.is_ascii_alphanumeric(),
        "web" => web,
        "dotted" => |byte| web(byte) || byte == b'.',
        "base64" => base64,
        "signed" => |byte| web(byte) || base64(byte),
        "hex" => |byte| byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

impl Token {
    /// Returns where the whole secret is, when what stands at `at` is one.
    pub(super) fn extent(&self, text: &[u8], at: usize, literal: &str) -> Option<Range<usize>> {
        let after = at + literal.len();
        match self.place {
            Place::Prefix { anywhere } => self.after_prefix(text, at, after, anywhere),
            Place::Mark => self.around_mark(text, at, after, literal),
            Place::Label => self.after_label(text, after),
        }
    }

    fn after_prefix(
        &self,
        text: &[u8],
        at: usize,
        after: usize,
        anywhere: bool,
    ) -> Option<Range<usize>> {
        // A prefix inside a longer word is that word's: base64 and hashes hold every short prefix.
        let inside_word = !anywhere
            && at > 0
            && text.get(at - 1).is_some_and(u8::is_ascii_alphanumeric)
            && !escaped(text, at);
        if inside_word {
            return None;
        }
        let body = self.run(text, after);
        self.judge(text, after..body).then_some(at..body)
    }

    fn around_mark(
        &self,
        text: &[u8],
        at: usize,
        after: usize,
        literal: &str,
    ) -> Option<Range<usize>> {
        let before = text
            .get(..at)?
            .iter()
            .rev()
            .take(LONGEST)
            .take_while(|byte| (self.has)(**byte))
            .count();
        let mut start = at - before;
        if literal == ":AA" {
            // The number of the bot, 8 to 10 digits, and nothing else.
            let digits = text
                .get(..at)?
                .iter()
                .rev()
                .take(11)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            if !(8..=10).contains(&digits) || digits != before {
                return None;
            }
            start = at - digits;
        } else {
            // The sign of a line that a diff takes away.
            let body = text.get(start..at)?;
            start += body.iter().take_while(|byte| **byte == b'-').count();
            if !text.get(start..at)?.starts_with(b"sk-") {
                return None;
            }
        }
        let end = self.run(text, after);
        self.judge(text, start..end).then_some(start..end)
    }

    fn after_label(&self, text: &[u8], after: usize) -> Option<Range<usize>> {
        // `name = "value"`, `"name": "value"`, `name=value`: a few signs, then the value.
        let gap = text
            .get(after..)?
            .iter()
            .take(8)
            .take_while(|byte| {
                matches!(
                    byte,
                    b' ' | b'"' | b'\'' | b'=' | b':' | b'\t' | b'\\' | b'>'
                )
            })
            .count();
        if gap == 0 {
            return None;
        }
        let start = after + gap;
        let end = self.run(text, start);
        self.judge(text, start..end).then_some(start..end)
    }

    fn run(&self, text: &[u8], from: usize) -> usize {
        let rest = text.get(from..).unwrap_or_default();
        from + rest
            .iter()
            .take(LONGEST + 1)
            .take_while(|byte| (self.has)(**byte))
            .count()
    }

    fn judge(&self, text: &[u8], body: Range<usize>) -> bool {
        let Some(body) = text.get(body) else {
            return false;
        };
        // A sentence may end right after a token.
        let body = body.strip_suffix(b".").unwrap_or(body);
        (self.least..=self.most).contains(&body.len()) && !placeholder(body)
    }
}

/// Whether the letter before a place belongs to an escape such as `\n`, as JSON and source code have it.
fn escaped(text: &[u8], at: usize) -> bool {
    at >= 2
        && text.get(at - 2) == Some(&b'\\')
        && matches!(text.get(at - 1), Some(b'n' | b't' | b'r'))
}

/// Whether a body is what documentation writes in place of a secret.
fn placeholder(body: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "example",
        "xxxxxx",
        "your",
        "placeholder",
        "changeme",
        "redacted",
        "insert",
        "goes-here",
    ];
    let small = String::from_utf8_lossy(body).to_ascii_lowercase();
    WORDS.iter().any(|word| small.contains(word))
}
