//! Moves code from the indentation it was written with to the one it is wanted at. The inside of strings stays as it is.

use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged;

use crate::language::{Language, python};

/// How a file indents one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// One tab.
    Tab,
    /// So many spaces.
    Spaces(usize),
}

impl Unit {
    /// Returns how `content` indents: by the first step in that most lines agree on; `None` when nothing is indented.
    pub(super) fn of(content: &str) -> Option<Unit> {
        let (mut tabs, mut steps) = (0usize, [0usize; 9]);
        let lines = || content.lines().filter(|line| !line.trim().is_empty());
        // How deep the first line stands says where the code was cut out, not how wide a level is.
        let mut last = lines().next().map_or(0, width);
        for line in lines().take(2_000) {
            if line.starts_with('\t') {
                tabs += 1;
                continue;
            }
            let width = width(line);
            if width > last && width - last <= 8 {
                steps[width - last] += 1;
            }
            last = width;
        }
        let most = (1..=8)
            .max_by_key(|&step| (steps[step], 9 - step))
            .filter(|&step| steps[step] > 0);
        match most {
            _ if tabs > steps.iter().sum::<usize>() => Some(Unit::Tab),
            Some(step) => Some(Unit::Spaces(step)),
            None => None,
        }
    }

    fn push(self, text: &mut String, levels: usize) {
        match self {
            Unit::Tab => text.extend(std::iter::repeat_n('\t', levels)),
            Unit::Spaces(step) => text.extend(std::iter::repeat_n(' ', levels * step)),
        }
    }
}

fn width(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Where code is to stand.
pub(super) struct Wanted<'a> {
    /// The white space before its first line, which is in the file already.
    pub(super) indent: &'a str,
    /// How the file indents, when that is known.
    pub(super) unit: Option<Unit>,
}

/// Returns `code` (lines ended by `\n`) as it should stand; its first line without its indentation.
pub(super) fn moved(language: Language, code: &str, wanted: &Wanted<'_>) -> String {
    let code = code.trim_end();
    let code = code.trim_start_matches('\n');
    let lines: Vec<&str> = code.lines().collect();
    let inside = inside_strings(language, code);
    let is_plain = |number: usize| !inside.get(number).copied().unwrap_or(false);
    let own = own_indent(&lines, &is_plain, wanted);
    let from = Unit::of(code);
    let converts = match (from, wanted.unit) {
        (Some(from), Some(to)) => from != to,
        (_, None) | (None, _) => false,
    };
    let mut result = String::with_capacity(code.len() + lines.len() * wanted.indent.len());
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            result.push('\n');
        }
        if !is_plain(number) {
            result.push_str(line);
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let (blank, words) = line.split_at(width(line));
        if number == 0 {
            result.push_str(words);
            continue;
        }
        let inner = blank.get(own.len().min(blank.len())..).unwrap_or("");
        result.push_str(wanted.indent);
        match (converts, from, wanted.unit) {
            (true, Some(from), Some(to)) => push_converted(&mut result, inner, from, to),
            (_, _, _) => result.push_str(inner),
        }
        result.push_str(words);
    }
    result
}

fn push_converted(text: &mut String, blank: &str, from: Unit, to: Unit) {
    let (levels, rest) = match from {
        Unit::Tab => (blank.matches('\t').count(), blank.matches(' ').count()),
        Unit::Spaces(step) => (blank.len() / step, blank.len() % step),
    };
    to.push(text, levels);
    text.extend(std::iter::repeat_n(' ', rest));
}

/// Returns the indentation that every line of the code has.
fn own_indent<'c>(
    lines: &[&'c str],
    is_plain: &dyn Fn(usize) -> bool,
    wanted: &Wanted<'_>,
) -> &'c str {
    let first = lines.first().copied().unwrap_or("");
    let first_indent = &first[..width(first)];
    let others = lines
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(number, line)| is_plain(*number) && !line.trim().is_empty());
    let Some(least) = others.map(|(_, line)| *line).min_by_key(|line| width(line)) else {
        return first_indent;
    };
    let least_indent = &least[..width(least)];
    if !first_indent.is_empty() {
        return if least_indent.len() < first_indent.len() {
            least_indent
        } else {
            first_indent
        };
    }
    // The first line may have lost its indentation on the way. A decorator is followed by its definition at the same
    // column, and a body stands one level deeper than its header, so what is too much tells what was lost.
    let step =
        match Unit::of(lines.get(1..).unwrap_or_default().join("\n").as_str()).or(wanted.unit) {
            Some(Unit::Tab) => 1,
            Some(Unit::Spaces(step)) => step,
            None => 4,
        };
    let deeper = if first.starts_with('@') { 0 } else { step };
    let lost = wanted.indent.len();
    let was_lost =
        lost > 0 && least_indent.len() >= lost + deeper && least_indent.starts_with(wanted.indent);
    if was_lost { &least_indent[..lost] } else { "" }
}

/// Says for each line whether it starts inside a string that is not documentation.
fn inside_strings(language: Language, code: &str) -> Vec<bool> {
    let mut inside = vec![false; code.lines().count()];
    if language != Language::Python || !(code.contains("\"\"\"") || code.contains("'''")) {
        return inside;
    }
    // The tokens are the same at any indentation, as long as the first line is not indented alone.
    let start = code.len() - code.trim_start_matches([' ', '\t']).len();
    python::with_module(&code[start..], |module| {
        let mut before = TokenKind::Newline;
        let mut string_start = None;
        for token in module.tokens() {
            let range = token.range();
            let (from, to) = (
                start + usize::from(range.start()),
                start + usize::from(range.end()),
            );
            match token.kind() {
                TokenKind::String => {
                    // A string that is a statement of its own is documentation: it moves with the code.
                    let is_doc = matches!(
                        before,
                        TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent
                    );
                    if !is_doc {
                        mark(code, from, to, &mut inside);
                    }
                }
                TokenKind::FStringStart | TokenKind::TStringStart => {
                    string_start = string_start.or(Some(from));
                }
                TokenKind::FStringEnd | TokenKind::TStringEnd => {
                    if let Some(from) = string_start.take() {
                        mark(code, from, to, &mut inside);
                    }
                }
                _ => {}
            }
            if !matches!(
                token.kind(),
                TokenKind::Comment | TokenKind::NonLogicalNewline
            ) {
                before = token.kind();
            }
        }
    });
    inside
}

/// Marks the lines that start between two offsets.
fn mark(code: &str, from: usize, to: usize, inside: &mut [bool]) {
    let first = code
        .get(..from)
        .map_or(0, |text| text.matches('\n').count());
    let count = code
        .get(from..to)
        .map_or(0, |text| text.matches('\n').count());
    inside
        .iter_mut()
        .skip(first + 1)
        .take(count)
        .for_each(|line| *line = true);
}
