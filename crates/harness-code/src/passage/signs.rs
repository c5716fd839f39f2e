//! Signs that models add or change: curly quotes, dashes, line numbers, escapes, blanks.

use std::ops::Range;

use super::lines::{block, indent};
use super::{PassageProblem, spliced};
use crate::text::{line_ending, line_start, with_line_ending};

/// Returns a passage without the line numbers in front of its lines: `12 | x`, `12: x` or `12<tab>x`.
pub(super) fn without_numbers(text: &str) -> Option<String> {
    let split = |line: &str| -> Option<(usize, String)> {
        let rest = line.trim_start();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest[..digits].parse().ok()?;
        let rest = &rest[digits..];
        let bare = rest
            .strip_prefix(" | ")
            .or_else(|| rest.strip_prefix(" |"))
            .or_else(|| rest.strip_prefix("| "))
            .or_else(|| rest.strip_prefix('|'))
            .or_else(|| rest.strip_prefix(": "))
            .or_else(|| rest.strip_prefix(':'))
            .or_else(|| rest.strip_prefix('\t'))
            .or_else(|| rest.strip_prefix('\u{2192}'))?;
        Some((number, bare.to_owned()))
    };
    let mut result = String::new();
    let mut last = None;
    for line in text.lines() {
        if line.trim().is_empty() {
            result.push('\n');
            continue;
        }
        let (number, bare) = split(line)?;
        // Numbers that do not count up are part of the text.
        if last.is_some_and(|last| number <= last) {
            return None;
        }
        last = Some(number);
        result.push_str(&bare);
        result.push('\n');
    }
    last.map(|_| result)
}

/// Returns a passage and its replacement with one level of escapes taken off, where the passage has any.
pub(super) fn unescaped(old: &str, new: &str) -> Option<(String, String)> {
    const ESCAPES: [(&str, &str); 6] = [
        ("\\n", "\n"),
        ("\\t", "\t"),
        ("\\'", "'"),
        ("\\\"", "\""),
        ("\\`", "`"),
        ("\\$", "$"),
    ];
    let doubled = old.contains("\\\\");
    let used: Vec<(&str, &str)> = ESCAPES
        .into_iter()
        .filter(|(escape, _)| old.contains(escape))
        .collect();
    if !doubled && used.is_empty() {
        return None;
    }
    let take_off = |text: &str| {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(sign) = rest.chars().next() {
            let escape = used.iter().find(|(escape, _)| rest.starts_with(escape));
            if doubled && rest.starts_with("\\\\") {
                result.push('\\');
                rest = &rest[2..];
            } else if let Some((escape, plain)) = escape {
                result.push_str(plain);
                rest = &rest[escape.len()..];
            } else {
                result.push(sign);
                rest = &rest[sign.len_utf8()..];
            }
        }
        result
    };
    Some((take_off(old), take_off(new)))
}

/// Returns every place of a passage when blanks and line ends do not count.
pub(super) fn without_blanks(content: &str, wanted: &str) -> Vec<Range<usize>> {
    let bare: String = wanted.chars().filter(|c| !c.is_whitespace()).collect();
    let mut dense = String::with_capacity(content.len());
    let mut starts: Vec<usize> = Vec::with_capacity(content.len());
    for (at, sign) in content.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        dense.push(sign);
        starts.extend(std::iter::repeat_n(at, sign.len_utf8()));
    }
    if bare.is_empty() {
        return Vec::new();
    }
    let place = |(at, hit): (usize, &str)| {
        let last = hit.chars().next_back()?;
        let from = *starts.get(at)?;
        let to = *starts.get(at + hit.len() - 1)? + last.len_utf8();
        Some(from..to)
    };
    dense.match_indices(&bare).filter_map(place).collect()
}

/// Fewer characters than this stand by chance in a file when blanks do not count.
const LEAST_SIGNS: usize = 12;

/// Replaces the one place of a passage that differs in blanks and line ends only.
pub(super) fn replaced(
    content: &str,
    old: &str,
    new: &str,
) -> Result<Option<String>, PassageProblem> {
    let signs = old.chars().filter(|c| !c.is_whitespace()).count();
    if signs < LEAST_SIGNS {
        return Ok(None);
    }
    let places: Vec<Range<usize>> = without_blanks(content, old)
        .into_iter()
        .filter(|place| super::is_word_by_word(content, place))
        .collect();
    match places.as_slice() {
        [] => Ok(None),
        [only] => {
            let ending = line_ending(content);
            let line = line_start(content, only.start);
            let before = &content[line..only.start];
            let lead = if before.trim().is_empty() { before } else { "" };
            let lines = block(new);
            let own = lines.first().map_or("", |line| indent(line));
            let moved: Vec<String> = lines
                .iter()
                .enumerate()
                .map(|(at, line)| match line.strip_prefix(own) {
                    _ if line.trim().is_empty() => String::new(),
                    Some(rest) if at > 0 => format!("{lead}{rest}"),
                    Some(rest) => rest.to_owned(),
                    None => line.trim_start().to_owned(),
                })
                .collect();
            let text = moved.join("\n");
            let text = with_line_ending(&text, ending);
            Ok(Some(spliced(content, only.clone(), &text)))
        }
        several => {
            let line = |place: &Range<usize>| super::line_of(content, place.start);
            Err(PassageProblem::Several(several.iter().map(line).collect()))
        }
    }
}
