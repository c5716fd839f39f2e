//! Text as it lies in a settings file: its line endings, its indentation, splices and cuts.

/// Returns the line ending of a text: that of its first line.
pub(super) fn newline(source: &str) -> &'static str {
    match source.find('\n') {
        Some(at) if source[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Returns one step of indentation: the smallest that the text uses, two spaces where it uses none.
pub(super) fn unit(source: &str) -> String {
    let indents = source.lines().filter_map(|line| {
        let rest = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - rest.len()];
        // The stars of a block comment stand one space in.
        let counts = !indent.is_empty() && !rest.is_empty() && !rest.starts_with('*');
        counts.then_some(indent)
    });
    indents
        .min_by_key(|indent| indent.len())
        .unwrap_or("  ")
        .to_owned()
}

/// Returns the white space that the line of a position begins with.
pub(super) fn indent_of_line(source: &str, at: usize) -> &str {
    let start = source[..at].rfind('\n').map_or(0, |line| line + 1);
    let line = &source[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the white space before a position when nothing else stands before it on its line.
pub(super) fn indent_of_first(source: &str, at: usize) -> Option<String> {
    let start = source[..at].rfind('\n').map_or(0, |line| line + 1);
    let before = &source[start..at];
    before
        .chars()
        .all(|c| matches!(c, ' ' | '\t'))
        .then(|| before.to_owned())
}

/// Returns where the white space before a position begins: one line ending and the indentation, or one space.
pub(super) fn start_of_gap(source: &str, at: usize, not_before: usize) -> usize {
    let gap = &source[not_before..at];
    let line = gap.trim_end_matches([' ', '\t']);
    if let Some(rest) = line.strip_suffix('\n') {
        return not_before + rest.strip_suffix('\r').unwrap_or(rest).len();
    }
    at - usize::from(gap.ends_with(' '))
}

/// Returns the text with pieces put in; positions are those of the text as it is.
pub(super) fn with(source: &str, mut splices: Vec<(usize, String)>) -> String {
    splices.sort_by_key(|(at, _)| *at);
    let mut out = String::with_capacity(source.len() + 1024);
    let mut from = 0;
    for (at, piece) in splices {
        out.push_str(&source[from..at]);
        out.push_str(&piece);
        from = at;
    }
    out.push_str(&source[from..]);
    out
}

/// Returns the text without some ranges, which do not overlap and stand in order.
pub(super) fn without(source: &str, cuts: &[(usize, usize)]) -> String {
    let mut out = String::with_capacity(source.len());
    let mut from = 0;
    for (start, end) in cuts {
        out.push_str(&source[from..*start]);
        from = *end;
    }
    out.push_str(&source[from..]);
    out
}
