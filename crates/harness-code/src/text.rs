//! The text of a file and the clothes it wears: encoding, byte-order mark, line endings, final newline.
//! The content keeps its own line endings, so an edit is a splice and what it does not touch stays as it was.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The decoded content of a file with what is needed to write it back byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    content: String,
    clothes: Clothes,
}

/// How the content was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clothes {
    Utf8 {
        bom: bool,
    },
    /// UTF-16 is read only with a byte-order mark: without one it cannot be told from a binary.
    Utf16 {
        little: bool,
    },
    /// Every byte is the character of the same number, so every byte survives.
    Latin1,
    /// A single-byte or legacy encoding that the file itself declares (PEP 263).
    Declared(&'static Encoding),
}

/// The line ending that most lines of a file use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnding {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r`, as old Macintosh files have it.
    Cr,
}

impl LineEnding {
    /// Returns the characters that end a line.
    pub fn as_str(self) -> &'static str {
        match self {
            LineEnding::Lf => "\n",
            LineEnding::CrLf => "\r\n",
            LineEnding::Cr => "\r",
        }
    }
}

/// The bytes are not text: they hold NULs or other signs of a binary file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file is not text")]
pub struct NotText;

/// A character that the file's own encoding cannot hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{character}` cannot be written in this file's encoding, {encoding}")]
pub struct Unencodable {
    /// The first character that does not fit.
    pub character: char,
    /// The name of the encoding.
    pub encoding: &'static str,
}

impl Text {
    /// Reads bytes as UTF-8, UTF-16 with a mark, a declared encoding, or Latin-1, in that order.
    pub fn decode(bytes: &[u8]) -> Result<Text, NotText> {
        if let Some((content, little)) = decode_utf16(bytes)? {
            return Ok(Text {
                content,
                clothes: Clothes::Utf16 { little },
            });
        }
        let (body, bom) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => (rest, true),
            None => (bytes, false),
        };
        if memchr::memchr(0, body).is_some() {
            return Err(NotText);
        }
        if let Ok(content) = std::str::from_utf8(body) {
            return Ok(Text {
                content: content.to_string(),
                clothes: Clothes::Utf8 { bom },
            });
        }
        if bom {
            return Err(NotText);
        }
        if let Some(encoding) = declared_encoding(body)
            && let Some(content) = decode_exactly(encoding, body)
        {
            return Ok(Text {
                content,
                clothes: Clothes::Declared(encoding),
            });
        }
        if looks_binary(body) {
            return Err(NotText);
        }
        let content = body.iter().map(|&b| char::from(b)).collect();
        Ok(Text {
            content,
            clothes: Clothes::Latin1,
        })
    }

    /// Reads bytes as [`Text::decode`] does, without a copy for plain UTF-8.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Text, NotText> {
        let marked = bytes.starts_with(b"\xef\xbb\xbf")
            || bytes.starts_with(b"\xff\xfe")
            || bytes.starts_with(b"\xfe\xff");
        if marked {
            return Text::decode(&bytes);
        }
        match String::from_utf8(bytes) {
            Ok(content) if memchr::memchr(0, content.as_bytes()).is_some() => Err(NotText),
            Ok(content) => Ok(Text {
                content,
                clothes: Clothes::Utf8 { bom: false },
            }),
            Err(problem) => Text::decode(problem.as_bytes()),
        }
    }

    /// Takes text that has no file yet: UTF-8 without a mark.
    pub fn new(content: &str) -> Text {
        Text {
            content: content.to_string(),
            clothes: Clothes::Utf8 { bom: false },
        }
    }

    /// Returns the content, without the byte-order mark, with its own line endings.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Gives the content away.
    pub fn into_content(self) -> String {
        self.content
    }

    /// Returns `content` as bytes in this file's encoding, with its mark.
    pub fn encode(&self, content: &str) -> Result<Vec<u8>, Unencodable> {
        match self.clothes {
            Clothes::Utf8 { bom } => {
                let mut bytes = Vec::with_capacity(content.len() + 3);
                if bom {
                    bytes.extend_from_slice(b"\xef\xbb\xbf");
                }
                bytes.extend_from_slice(content.as_bytes());
                Ok(bytes)
            }
            Clothes::Utf16 { little } => {
                let units = std::iter::once(0xfeff).chain(content.encode_utf16());
                Ok(units
                    .flat_map(|unit| {
                        if little {
                            unit.to_le_bytes()
                        } else {
                            unit.to_be_bytes()
                        }
                    })
                    .collect())
            }
            Clothes::Latin1 => content
                .chars()
                .map(|c| {
                    u8::try_from(u32::from(c)).map_err(|_| Unencodable {
                        character: c,
                        encoding: "Latin-1",
                    })
                })
                .collect(),
            Clothes::Declared(encoding) => encode_exactly(encoding, content),
        }
    }
}

/// Returns the line ending that most lines of `content` use; `\n` where there is none.
pub fn line_ending(content: &str) -> LineEnding {
    let bytes = content.as_bytes();
    if memchr::memchr(b'\r', bytes).is_none() {
        return LineEnding::Lf;
    }
    let (mut lf, mut crlf, mut cr) = (0usize, 0usize, 0usize);
    for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
        if bytes[at] == b'\n' {
            if at > 0 && bytes[at - 1] == b'\r' {
                crlf += 1;
            } else {
                lf += 1;
            }
        } else if bytes.get(at + 1) != Some(&b'\n') {
            cr += 1;
        }
    }
    if crlf >= lf && crlf >= cr {
        LineEnding::CrLf
    } else if lf >= cr {
        LineEnding::Lf
    } else {
        LineEnding::Cr
    }
}

/// Returns `snippet` with every line ended by `ending`.
pub fn with_line_ending(snippet: &str, ending: LineEnding) -> Cow<'_, str> {
    if ending == LineEnding::Lf && !snippet.contains('\r') {
        return Cow::Borrowed(snippet);
    }
    let plain = snippet.replace("\r\n", "\n").replace('\r', "\n");
    match ending {
        LineEnding::Lf => Cow::Owned(plain),
        LineEnding::CrLf | LineEnding::Cr => Cow::Owned(plain.replace('\n', ending.as_str())),
    }
}

fn decode_utf16(bytes: &[u8]) -> Result<Option<(String, bool)>, NotText> {
    let (encoding, body) = if let Some(body) = bytes.strip_prefix(b"\xff\xfe") {
        (UTF_16LE, body)
    } else if let Some(body) = bytes.strip_prefix(b"\xfe\xff") {
        (UTF_16BE, body)
    } else {
        return Ok(None);
    };
    // UTF-32 little-endian starts with the same two bytes; its zero units give it away below.
    match encoding.decode_without_bom_handling_and_without_replacement(body) {
        Some(content) if body.len() % 2 == 0 && !content.contains('\0') => {
            Ok(Some((content.into_owned(), encoding == UTF_16LE)))
        }
        Some(_) | None => Err(NotText),
    }
}

/// Returns the encoding named in the first two lines as PEP 263 asks, when it is neither UTF-8 nor Latin-1.
fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(400)];
    for line in head.split(|&b| b == b'\n').take(2) {
        let line = String::from_utf8_lossy(line);
        let comment = line.trim_start();
        if !comment.starts_with('#') {
            continue;
        }
        let Some(at) = comment.find("coding") else {
            continue;
        };
        let rest = comment[at + "coding".len()..]
            .strip_prefix([':', '='])?
            .trim_start();
        let label: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            .collect();
        let label = label.replace('_', "-").to_ascii_lowercase();
        // The web's `latin-1` is windows-1252, which is not what Python means by it.
        let is_latin1 = matches!(
            label.as_str(),
            "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" | "cp819"
        );
        if is_latin1 {
            return None;
        }
        let label = label
            .strip_prefix("cp125")
            .map_or(label.clone(), |digit| format!("windows-125{digit}"));
        return Encoding::for_label_no_replacement(label.as_bytes())
            .filter(|e| e.is_ascii_compatible());
    }
    None
}

/// Decodes only when encoding again gives the same bytes.
fn decode_exactly(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let content = encoding
        .decode_without_bom_handling_and_without_replacement(bytes)?
        .into_owned();
    let again = encode_exactly(encoding, &content).ok()?;
    (again == bytes).then_some(content)
}

fn encode_exactly(encoding: &'static Encoding, content: &str) -> Result<Vec<u8>, Unencodable> {
    let (bytes, _, had_errors) = encoding.encode(content);
    if !had_errors {
        return Ok(bytes.into_owned());
    }
    let fits = |c: char| !encoding.encode(c.encode_utf8(&mut [0; 4])).2;
    let character = content.chars().find(|&c| !fits(c)).unwrap_or('?');
    Err(Unencodable {
        character,
        encoding: encoding.name(),
    })
}

/// Bytes that are neither UTF-8 nor free of control characters are a binary, not an old encoding.
fn looks_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(8192)];
    let strange = head
        .iter()
        .filter(|&&b| b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b))
        .count();
    let undefined = head
        .iter()
        .filter(|&&b| {
            matches!(b, 0x80..=0x9f) && WINDOWS_1252.decode(&[b]).0.chars().all(|c| c.is_control())
        })
        .count();
    strange * 100 > head.len() || undefined * 20 > head.len()
}

/// Returns where the line begins that a place of a text lies in.
pub fn line_start(text: &str, at: usize) -> usize {
    let newline = text.get(..at).and_then(|before| before.rfind('\n'));
    newline.map_or(0, |newline| newline + 1)
}

/// Returns where the line ends that a place of a text lies in, behind its newline.
pub fn line_end(text: &str, at: usize) -> usize {
    let newline = text.get(at..).and_then(|rest| rest.find('\n'));
    newline.map_or(text.len(), |newline| at + newline + 1)
}

/// Returns whether a word is one of a list of words, written as one text with spaces between them.
pub fn is_among(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Returns the runs of letters, digits and underscores.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|run| !run.is_empty())
}

/// Returns where a name stands in a text as a whole word.
pub fn whole_words<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let places = text.match_indices(name).map(|(at, _)| at);
    places.filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !name.is_empty() && !before.is_some_and(part_of_name) && !after.is_some_and(part_of_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(bytes: &[u8], content: &str, clothes: Clothes) {
        let text = Text::decode(bytes).unwrap();
        assert_eq!(text.content(), content);
        assert_eq!(text.clothes, clothes);
        assert_eq!(text.encode(content).unwrap(), bytes, "bytes survive");
    }

    #[test]
    fn encodings_survive_a_round_trip() {
        check(b"a = 1\n", "a = 1\n", Clothes::Utf8 { bom: false });
        check(b"\xef\xbb\xbfa\r\nb", "a\r\nb", Clothes::Utf8 { bom: true });
        check(b"caf\xe9\n", "caf\u{e9}\n", Clothes::Latin1);
        check(
            b"# coding: latin-1\nx = '\xe9\x85'\n",
            "# coding: latin-1\nx = '\u{e9}\u{85}'\n",
            Clothes::Latin1,
        );
        check(
            b"# -*- coding: cp1251 -*-\nx = '\xcf'\n",
            "# -*- coding: cp1251 -*-\nx = 'П'\n",
            Clothes::Declared(encoding_rs::WINDOWS_1251),
        );
        check(b"\xff\xfea\0\n\0", "a\n", Clothes::Utf16 { little: true });
        check(b"\xfe\xff\0a\0\n", "a\n", Clothes::Utf16 { little: false });
        check(b"", "", Clothes::Utf8 { bom: false });
    }

    #[test]
    fn binaries_are_not_text() {
        for bytes in [
            &b"\x7fELF\0\0"[..],
            b"a\0b",
            b"\xff\xfe\0",
            b"\xef\xbb\xbf\xff",
            b"\x89PNG\x01\x02\x03\x04\xff",
        ] {
            assert_eq!(Text::decode(bytes), Err(NotText), "{bytes:?}");
        }
    }

    #[test]
    fn a_character_that_does_not_fit_is_named() {
        let text = Text::decode(b"caf\xe9").unwrap();
        assert_eq!(
            text.encode("→").unwrap_err().to_string(),
            "`→` cannot be written in this file's encoding, Latin-1"
        );
    }

    #[test]
    fn the_usual_line_ending_wins() {
        assert_eq!(line_ending("a\r\nb\r\nc\n"), LineEnding::CrLf);
        assert_eq!(line_ending("a\nb\r\nc\n"), LineEnding::Lf);
        assert_eq!(line_ending("a\rb\r"), LineEnding::Cr);
        assert_eq!(line_ending("a"), LineEnding::Lf);
        assert_eq!(
            with_line_ending("x\ny\r\n", line_ending("a\r\nb")),
            "x\r\ny\r\n"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_decode_without_loss(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(text) = Text::decode(&bytes) {
                prop_assert_eq!(text.encode(text.content()).unwrap(), bytes);
            }
        }
    }
}
