//! Private keys in armour: a `BEGIN … PRIVATE KEY` line with a body behind it, and the private half of a PuTTY key.
//! A bare line is no key.

use std::ops::Range;

/// How far behind the first line the body must begin: a line break, a quote, a gutter with a line number.
const GUTTER: usize = 48;
/// A run this long is a body by itself; shorter ones need the closing line right behind them.
const CERTAIN_RUN: usize = 20;
/// Header lines (`DEK-Info: …`) before a body: an encrypted key has two, a PGP key up to five.
const MOST_HEADERS: usize = 16;
/// No header line of a key is longer.
const LONGEST_HEADER: usize = 400;

/// Returns where a whole key is, when the words `PRIVATE KEY` at `at` open one.
pub(crate) fn extent(text: &str, at: usize) -> Option<Range<usize>> {
    let start = opening(text.get(..at)?)?;
    let after = at + "PRIVATE KEY".len();
    let rest = text.get(after..)?;
    let rest = rest.strip_prefix(" BLOCK").unwrap_or(rest);
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let dashes = rest.bytes().take_while(|byte| *byte == b'-').count();
    if dashes < 4 {
        return None;
    }
    let body = &rest[dashes..];
    let offset = text.len() - body.len();
    body_end(body).map(|end| start..offset + end)
}

/// Returns where a key that was encoded in base64 once more is.
pub(crate) fn encoded_extent(text: &[u8], at: usize) -> Option<Range<usize>> {
    let run = text
        .get(at..)?
        .iter()
        .take_while(|byte| is_base64(**byte))
        .count();
    // The kind of armour is in its first 60 letters.
    let head = decoded(text.get(at..at + run.min(80))?);
    let armoured = head
        .windows(b"PRIVATE KEY".len())
        .any(|window| window == b"PRIVATE KEY");
    (armoured || head.starts_with(b"PuTTY-User-Key-File-")).then_some(at..at + run)
}

/// Returns where the private half of a PuTTY key is, when the words `Private-Lines:` at `at` open one.
///
/// The half by itself is enough: a model is often shown a part of a file.
pub(crate) fn putty_extent(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at + "Private-Lines:".len()..)?;
    let count = rest.trim_start_matches([' ', '\t']);
    let body = count.trim_start_matches(|c: char| c.is_ascii_digit());
    if body.len() == count.len() {
        return None;
    }
    let bytes = body.as_bytes();
    let mut end = 0;
    let mut longest = 0;
    loop {
        let run_at = end + gap(bytes, end);
        // The sum over the key closes it.
        if header(bytes, run_at).is_some() {
            let digits = body[run_at..].find(": ").map_or(0, |colon| colon + 2);
            let sum = bytes[run_at + digits..]
                .iter()
                .take_while(|byte| byte.is_ascii_hexdigit());
            end = run_at + digits + sum.count();
            break;
        }
        let run = base64_run(bytes, run_at);
        if run == 0 {
            break;
        }
        longest = longest.max(run);
        end = run_at + run;
    }
    let offset = text.len() - body.len();
    (longest >= CERTAIN_RUN).then_some(at..offset + end)
}

/// Returns where `-----BEGIN RSA ` begins when that is what the text ends with.
fn opening(before: &str) -> Option<usize> {
    let words = before
        .bytes()
        .rev()
        .take(32)
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ')
        .count();
    let (head, words) = before.split_at(before.len() - words);
    if !words.trim_start().starts_with("BEGIN ") {
        return None;
    }
    let dashes = head.bytes().rev().take_while(|byte| *byte == b'-').count();
    (dashes >= 4).then_some(head.len() - dashes)
}

/// Returns where the body ends, when there is one: lines of base64 with whatever stands between them in a prompt.
fn body_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = headers_end(bytes);
    let body = at;
    let mut end = 0;
    let mut letters = 0;
    let mut longest = 0;
    loop {
        let run_at = at + gap(bytes, at).max(blank(bytes, at));
        if let Some(close) = closing(text, run_at) {
            let real = letters >= 3 && (longest >= 3);
            return real.then_some(close);
        }
        let run = base64_run(bytes, run_at);
        if run == 0 {
            break;
        }
        letters += run;
        longest = longest.max(run);
        at = run_at + run;
        end = at;
        if longest < CERTAIN_RUN && at - body > 400 {
            break;
        }
    }
    // Keys in DER begin with `MII`: a body that documentation cut with dots was one.
    let elided = longest >= 10
        && text
            .trim_start_matches(['\n', '\r', '\\', 'n', ' '])
            .starts_with("MII");
    (longest >= CERTAIN_RUN || elided).then_some(end)
}

/// Returns where the header lines of an armour end (`Proc-Type: 4,ENCRYPTED`, `Version: …`); 0 where there are none.
fn headers_end(bytes: &[u8]) -> usize {
    let mut at = 0;
    for _ in 0..MOST_HEADERS {
        let line = at + gap(bytes, at);
        let Some(length) = header(bytes, line) else {
            break;
        };
        at = line + length;
    }
    at
}

/// Returns the length of the header line at `at`: a name, a colon, and the rest of the line with the lines that go on
/// with it.
fn header(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let rest = &rest[..rest.len().min(LONGEST_HEADER)];
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
    let name = rest.iter().take_while(is_name).count();
    let is_header = name > 0 && rest[0].is_ascii_alphabetic() && rest.get(name) == Some(&b':');
    if !is_header {
        return None;
    }
    let mut end = name;
    while let Some(byte) = rest.get(end) {
        let escape = *byte == b'\\' && matches!(rest.get(end + 1), Some(b'n' | b'r'));
        if escape || matches!(byte, b'\n' | b'\r') {
            break;
        }
        // A backslash at the end of a line goes on with the next.
        let goes_on = *byte == b'\\' && rest.get(end + 1) == Some(&b'\n');
        end += if goes_on { 2 } else { 1 };
    }
    Some(end)
}

/// Counts the blanks between two parts of a key that stands on one line, as in a variable.
fn blank(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let blanks = rest
        .iter()
        .take(3)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let closes = rest[blanks..].starts_with(b"-----END ");
    // A word of a sentence is shorter.
    let goes_on = base64_run(bytes, from + blanks) >= CERTAIN_RUN;
    if closes || goes_on { blanks } else { 0 }
}

fn base64_run(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| is_base64(**byte)).count()
}

/// Counts what may stand between two lines of a key: line breaks, escapes, quotes, signs of a diff, line numbers.
fn gap(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let mut at = 0;
    let mut broken = false;
    while at < rest.len().min(GUTTER) {
        match rest[at] {
            b'\\' if matches!(rest.get(at + 1), Some(b'n' | b'r' | b't')) => {
                broken = true;
                at += 2;
            }
            b'\\' => at += 1,
            b'\n' | b'\r' => {
                broken = true;
                at += 1;
                at += gutter(&rest[at..]);
            }
            b'"' | b'\'' | b' ' | b'\t' | b'>' | b'|' | b'#' | b'*' | b',' | b'(' | b')' | b'b'
                if !broken || rest[at] != b'b' =>
            {
                if rest[at] == b'b' && !matches!(rest.get(at + 1), Some(b'"' | b'\'')) {
                    break;
                }
                at += 1;
            }
            b'+' if !broken || at + 1 < rest.len() => at += 1,
            // A line that a diff takes away; the closing line has more of them.
            b'-' if broken && rest.get(at + 1).is_some_and(|next| *next != b'-') => at += 1,
            _ => break,
        }
    }
    if broken { at } else { 0 }
}

/// Counts the line number that a listing puts before a line: `  12 | `, `12: `, `12\t`.
fn gutter(line: &[u8]) -> usize {
    let spaces = line
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'+' | b'-'))
        .count();
    let digits = line[spaces..]
        .iter()
        .take(8)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 {
        return 0;
    }
    let rest = &line[spaces + digits..];
    let sign = rest
        .iter()
        .take(4)
        .take_while(|byte| matches!(byte, b' ' | b'|' | b':' | b'\t'))
        .count();
    if sign == 0 { 0 } else { spaces + digits + sign }
}

/// Returns where a closing line ends that stands at `at`.
fn closing(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let line = &rest[..rest
        .find(['\n', '"', '\''])
        .unwrap_or(rest.len())
        .min(rest.len())];
    let words = line.trim_start_matches(['-', '+']);
    let mark = words.trim_start().strip_prefix("END ")?;
    let key = mark.find("PRIVATE KEY").filter(|at| *at <= 24)?;
    let mut end = at + (line.len() - mark.len()) + key + "PRIVATE KEY".len();
    if text[end..].starts_with(" BLOCK") {
        end += " BLOCK".len();
    }
    end += text[end..].bytes().take_while(|byte| *byte == b'-').count();
    Some(end)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Decodes base64 as far as it goes.
fn decoded(text: &[u8]) -> Vec<u8> {
    let value = |byte: u8| -> Option<u32> {
        Some(match byte {
            b'A'..=b'Z' => u32::from(byte - b'A'),
            b'a'..=b'z' => u32::from(byte - b'a') + 26,
            b'0'..=b'9' => u32::from(byte - b'0') + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        })
    };
    let mut bytes = Vec::new();
    for four in text.chunks(4) {
        let mut bits = 0;
        for byte in four {
            let Some(six) = value(*byte) else {
                return bytes;
            };
            bits = (bits << 6) | six;
        }
        if four.len() == 4 {
            bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
        }
    }
    bytes
}
