//! Lines of a file and of a passage: how they may differ and still be the same.

/// One line of a file, with its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Where it starts, in bytes.
    pub(super) start: usize,
    /// Its text.
    pub(super) text: &'a str,
}

impl Line<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// Returns the lines of a file, each with its own ending: `\n`, `\r\n` or a lone `\r`.
pub(super) fn of(content: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for at in memchr::memchr2_iter(b'\n', b'\r', content.as_bytes()) {
        let lone = content.as_bytes().get(at + 1) != Some(&b'\n');
        if content.as_bytes()[at] == b'\n' || lone {
            let text = &content[start..=at];
            lines.push(Line { start, text });
            start = at + 1;
        }
    }
    if start < content.len() {
        let text = &content[start..];
        lines.push(Line { start, text });
    }
    lines
}

/// Returns whether a text ends with the end of a line.
pub(super) fn is_ended(text: &str) -> bool {
    text.ends_with(['\n', '\r'])
}

/// Returns the lines of a passage without empty ones at its ends.
pub(super) fn block(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let Some(first) = lines.iter().position(|line| !line.trim().is_empty()) else {
        return Vec::new();
    };
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    lines[first..=last.unwrap_or(first)].to_vec()
}

/// How lines may differ and still be the same, mildest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relaxed {
    key: fn(&str) -> String,
    /// Lines without words may be more or fewer.
    skips_blank: bool,
    /// The depths of the lines must rise and fall alike.
    same_shape: bool,
}

impl Relaxed {
    /// Asked in this order.
    pub(super) const ALL: &'static [Relaxed] = &[
        Relaxed {
            key: |line| line.trim_end().to_owned(),
            skips_blank: false,
            same_shape: true,
        },
        Relaxed {
            skips_blank: false,
            ..Relaxed::TRIMMED
        },
        Relaxed::TRIMMED,
        Relaxed {
            key: |line| plain(line.trim()),
            ..Relaxed::TRIMMED
        },
        Relaxed {
            key: collapsed,
            ..Relaxed::TRIMMED
        },
        Relaxed {
            key: collapsed,
            same_shape: false,
            ..Relaxed::TRIMMED
        },
    ];

    /// The mildest way in which two lines at different depths are the same.
    pub(super) const TRIMMED: Relaxed = Relaxed {
        key: |line| line.trim().to_owned(),
        skips_blank: true,
        same_shape: true,
    };

    pub(super) fn key_of(&self, line: &str) -> String {
        (self.key)(line)
    }
}

fn collapsed(line: &str) -> String {
    let words: Vec<String> = plain(line).split_whitespace().map(str::to_owned).collect();
    words.join(" ")
}

/// Returns every place of a passage: for each of its lines with words the line of the file.
pub(super) fn find(file: &[Line<'_>], wanted: &[&str], how: Relaxed) -> Vec<Vec<usize>> {
    let worded: Vec<&str> = wanted
        .iter()
        .copied()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let keys: Vec<String> = worded.iter().map(|line| how.key_of(line)).collect();
    let rows: Vec<usize> = (0..file.len())
        .filter(|row| !file[*row].is_blank())
        .collect();
    if keys.is_empty() || keys.len() > rows.len() {
        return Vec::new();
    }
    let known: Vec<String> = rows.iter().map(|row| how.key_of(file[*row].text)).collect();
    let gaps = |lines: &[usize]| -> Vec<usize> {
        lines.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let wanted_rows: Vec<usize> = (0..wanted.len())
        .filter(|row| !wanted[*row].trim().is_empty())
        .collect();
    let wanted_gaps = gaps(&wanted_rows);
    (0..=rows.len() - keys.len())
        .filter(|&start| known[start..start + keys.len()] == keys[..])
        .map(|start| rows[start..start + keys.len()].to_vec())
        .filter(|found| how.skips_blank || gaps(found) == wanted_gaps)
        .filter(|found| !how.same_shape || same_shape(file, found, &worded))
        .collect()
}

/// Returns whether lines of a file and of a passage rise and fall alike, whatever one level is.
fn same_shape(file: &[Line<'_>], found: &[usize], worded: &[&str]) -> bool {
    let depth = |line: &str| width(indent(line));
    let Some((first, first_wanted)) = found.first().zip(worded.first()) else {
        return false;
    };
    let (base, base_wanted) = (depth(file[*first].text), depth(first_wanted));
    found.iter().zip(worded).all(|(row, line)| {
        let deeper = depth(file[*row].text) - base;
        let deeper_wanted = depth(line) - base_wanted;
        deeper.signum() == deeper_wanted.signum()
    })
}

/// Returns the white space before a line.
pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns how wide white space is; a tab counts as four.
pub(super) fn width(indent: &str) -> i64 {
    indent.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// Returns a line with plain quotes, dashes and blanks.
pub(super) fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for sign in line.chars() {
        match sign {
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => text.push('\''),
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => text.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => text.push('-'),
            '\u{2026}' => text.push_str("..."),
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
                text.push(' ');
            }
            other => text.push(other),
        }
    }
    text
}
