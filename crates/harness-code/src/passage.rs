//! Finding a passage that a model wrote from memory: exact first, then relaxed by layers; unique or not at all.

use std::ops::Range;

use crate::text::{line_ending, with_line_ending};

/// Why a passage could not be placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassageProblem {
    /// It stands nowhere; the closest lines are shown.
    #[error("the passage is not in the file")]
    Absent {
        /// What comes closest, to copy from.
        closest: String,
    },
    /// It stands in several places.
    #[error("the passage stands in {0} places")]
    Several(usize),
    /// There is nothing to look for.
    #[error("the passage is empty")]
    Empty,
}

/// Returns `content` with the one place of `old` replaced by `new`, in the file's own indentation and line endings.
pub fn replace(content: &str, old: &str, new: &str) -> Result<String, PassageProblem> {
    if old.trim().is_empty() {
        return Err(PassageProblem::Empty);
    }
    let ending = line_ending(content);
    let (exact_old, exact_new) = (with_line_ending(old, ending), with_line_ending(new, ending));
    let places: Vec<usize> = content
        .match_indices(&*exact_old)
        .map(|(at, _)| at)
        .collect();
    match places.as_slice() {
        [at] => return Ok(spliced(content, *at..*at + exact_old.len(), &exact_new)),
        [] => {}
        // The same words inside longer lines do not count when whole lines match once.
        several => {
            let starts_line = |at: &&usize| **at == 0 || content.as_bytes()[**at - 1] == b'\n';
            let whole: Vec<&usize> = several.iter().filter(starts_line).collect();
            return match whole.as_slice() {
                [at] => Ok(spliced(content, **at..**at + exact_old.len(), &exact_new)),
                _ => Err(PassageProblem::Several(several.len())),
            };
        }
    }
    let lines = lines_of(content);
    let wanted: Vec<&str> = trimmed_block(old);
    for layer in LAYERS {
        let found: Vec<Match> = candidates(content, &lines, &wanted, *layer);
        match found.as_slice() {
            [] => {}
            [only] => {
                let block = trimmed_block(new).join("\n");
                let shifted = shifted(&block, only.file_indent, only.wanted_indent);
                let kept_newline = content[only.range.clone()].ends_with('\n');
                let text = if block.is_empty() || !kept_newline {
                    shifted
                } else {
                    format!("{shifted}\n")
                };
                return Ok(spliced(
                    content,
                    only.range.clone(),
                    &with_line_ending(&text, ending),
                ));
            }
            several => return Err(PassageProblem::Several(several.len())),
        }
    }
    Err(PassageProblem::Absent {
        closest: closest(content, &lines, &wanted),
    })
}

/// How a line may differ and still be the same, mildest first.
type Layer = fn(&str) -> String;

const LAYERS: &[Layer] = &[
    |line| line.trim_end().to_owned(),
    |line| line.trim().to_owned(),
    |line| plain_signs(line.trim()),
    |line| {
        plain_signs(line)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    },
];

struct Match<'a> {
    range: Range<usize>,
    file_indent: &'a str,
    wanted_indent: &'a str,
}

fn candidates<'a>(
    content: &'a str,
    lines: &[Range<usize>],
    wanted: &[&'a str],
    layer: Layer,
) -> Vec<Match<'a>> {
    let keys: Vec<String> = wanted.iter().map(|line| layer(line)).collect();
    if keys.is_empty() || keys.len() > lines.len() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for start in 0..=lines.len() - keys.len() {
        let window = &lines[start..start + keys.len()];
        let same = window
            .iter()
            .zip(&keys)
            .all(|(line, key)| layer(&content[line.clone()]) == *key);
        if !same {
            continue;
        }
        let Some(shift) = common_shift(content, window, wanted) else {
            continue;
        };
        found.push(Match {
            range: window[0].start..window[keys.len() - 1].end,
            file_indent: shift.0,
            wanted_indent: shift.1,
        });
    }
    found
}

/// Returns the indentation of the first line in file and passage, when all lines are shifted alike.
fn common_shift<'a>(
    content: &'a str,
    window: &[Range<usize>],
    wanted: &[&'a str],
) -> Option<(&'a str, &'a str)> {
    let pairs = window
        .iter()
        .map(|line| indent(&content[line.clone()]))
        .zip(wanted.iter().map(|line| indent(line)));
    let worded = pairs
        .zip(wanted)
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(pair, _)| pair);
    let mut first = None;
    for (file, passage) in worded {
        let (file_first, passage_first): (&str, &str) = *first.get_or_insert((file, passage));
        let deeper_file = width(file) - width(file_first);
        let deeper_passage = width(passage) - width(passage_first);
        // Tabs for blanks and two for four scale the depth; the order of depths must be the same.
        if deeper_file.signum() != deeper_passage.signum() {
            return None;
        }
    }
    first
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn width(indent: &str) -> i64 {
    indent.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// Returns a block with its lines moved from the passage's indentation to the file's.
fn shifted(block: &str, file: &str, passage: &str) -> String {
    if file == passage {
        return block.to_owned();
    }
    let moved = block
        .split('\n')
        .map(|line| match line.strip_prefix(passage) {
            _ if line.trim().is_empty() => String::new(),
            Some(rest) => format!("{file}{rest}"),
            None => format!("{file}{}", line.trim_start()),
        });
    moved.collect::<Vec<_>>().join("\n")
}

fn plain_signs(line: &str) -> String {
    let plain = |c| match c {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        '\u{2013}' | '\u{2014}' | '\u{2212}' => '-',
        '\u{a0}' => ' ',
        other => other,
    };
    line.chars().map(plain).collect()
}

/// Returns the lines of a block without empty ones at its ends.
fn trimmed_block(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let Some(first) = lines.iter().position(|line| !line.trim().is_empty()) else {
        return Vec::new();
    };
    let last = lines
        .iter()
        .rposition(|line| !line.trim().is_empty())
        .unwrap_or(first);
    lines[first..=last].to_vec()
}

fn lines_of(content: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    content
        .split_inclusive('\n')
        .map(|line| {
            let start = at;
            at += line.len();
            start..at
        })
        .collect()
}

/// Returns the lines that come closest to the first telling line of a passage.
fn closest(content: &str, lines: &[Range<usize>], wanted: &[&str]) -> String {
    /// Lines to look at; a longer file is looked at from its start, which keeps this linear and quick.
    const MOST_LINES: usize = 20_000;
    let Some(key) = wanted.iter().max_by_key(|line| line.trim().len()) else {
        return String::new();
    };
    let likeness = |line: &Range<usize>| {
        let text: String = content[line.clone()].trim().chars().take(200).collect();
        let key: String = key.trim().chars().take(200).collect();
        (strsim::normalized_levenshtein(&text, &key) * 1000.0) as u32
    };
    let best = lines
        .iter()
        .take(MOST_LINES)
        .enumerate()
        .max_by_key(|(_, line)| likeness(line));
    let Some((index, _)) = best.filter(|(_, line)| likeness(line) > 400) else {
        return String::new();
    };
    let around = index.saturating_sub(2)..(index + 3).min(lines.len());
    lines[around]
        .iter()
        .map(|line| &content[line.clone()])
        .collect()
}

fn spliced(content: &str, range: Range<usize>, text: &str) -> String {
    [&content[..range.start], text, &content[range.end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::{PassageProblem, replace};

    const FILE: &str = "def f():\n    x = 1\n    return x\n\n\ndef g():\n    y = 2\n    return y\n";

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(replace(FILE, old, new).as_deref(), Ok(expected));
    }

    #[test]
    fn exact_text_is_replaced() {
        check(
            "    x = 1\n",
            "    x = 3\n",
            &FILE.replace("x = 1", "x = 3"),
        );
        check("x = 1", "x = 3", &FILE.replace("x = 1", "x = 3"));
    }

    #[test]
    fn wrong_indentation_is_put_right() {
        check(
            "x = 1\nreturn x\n",
            "x = 3\nreturn x\n",
            &FILE.replace("x = 1", "x = 3"),
        );
        check(
            "        x = 1\n        return x\n",
            "        x = 3\n        if x:\n            return x\n",
            &FILE.replace(
                "    x = 1\n    return x\n",
                "    x = 3\n    if x:\n        return x\n",
            ),
        );
    }

    #[test]
    fn trailing_blanks_and_curly_quotes_do_not_matter() {
        check(
            "    x = 1   \n    return x  \n",
            "    return 1\n",
            &FILE.replace("    x = 1\n    return x\n", "    return 1\n"),
        );
        let file = "print('a')\n";
        assert_eq!(
            replace(file, "print(\u{2018}a\u{2019})", "print('b')").as_deref(),
            Ok("print('b')\n")
        );
    }

    #[test]
    fn line_endings_are_the_file_s_own() {
        let file = FILE.replace('\n', "\r\n");
        let expected = file.replace("x = 1", "x = 3");
        assert_eq!(
            replace(
                &file,
                "    x = 1\n    return x\n",
                "    x = 3\n    return x\n"
            ),
            Ok(expected)
        );
    }

    #[test]
    fn what_stands_twice_or_nowhere_is_not_guessed() {
        assert_eq!(
            replace(FILE, "return", "yield"),
            Err(PassageProblem::Several(2))
        );
        assert_eq!(
            replace(FILE, "    x = 12\n", ""),
            Err(PassageProblem::Absent {
                closest: "def f():\n    x = 1\n    return x\n\n".to_owned()
            })
        );
        assert_eq!(replace(FILE, " \n", "x"), Err(PassageProblem::Empty));
    }
}
