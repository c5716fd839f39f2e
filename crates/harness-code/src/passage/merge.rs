//! Puts new lines in the place of old ones: lines that stay keep the file's bytes, new ones take its indentation.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::lines::{Line, indent, is_ended, width};
use super::{bytes_of, spliced};
use crate::text::line_ending;

/// Returns what the file may be afterwards, the likeliest first.
///
/// `rows` names for each line of `old` with words the line of the file where it stands.
pub(super) fn results(
    content: &str,
    file: &[Line<'_>],
    rows: &[usize],
    old: &[&str],
    new: &[&str],
) -> Vec<String> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Vec::new();
    };
    let places = places(rows, old);
    let depths = Depths::of(file, &places, old, new);
    let ways: [Way<'_>; 2] = [&|line, at| depths.mapped(line, at), &|line, _| {
        line.trim_end().to_owned()
    }];
    let range = bytes_of(file, *first, *last);
    let mut results: Vec<String> = Vec::new();
    for way in ways {
        let text = merged(content, file, &places, old, new, way);
        let result = spliced(content, range.clone(), &text);
        if !results.contains(&result) {
            results.push(result);
        }
    }
    results
}

/// How a new line is indented; the number says which line of the passage it stands behind.
type Way<'w> = &'w dyn Fn(&str, usize) -> String;

/// Returns for each line of a passage the lines of the file that it stands for.
fn places(rows: &[usize], old: &[&str]) -> Vec<std::ops::Range<usize>> {
    let mut rows = rows.iter().copied().peekable();
    let mut free = rows.peek().copied().unwrap_or_default();
    old.iter()
        .map(|line| {
            let start = free;
            free = match (line.trim().is_empty(), rows.peek().copied()) {
                // A line without words stands for all of them up to the next word.
                (true, Some(next)) => next,
                (true, None) => free,
                (false, _) => rows.next().map_or(free, |row| row + 1),
            };
            start..free
        })
        .collect()
}

fn merged(
    content: &str,
    file: &[Line<'_>],
    places: &[std::ops::Range<usize>],
    old: &[&str],
    new: &[&str],
    way: Way<'_>,
) -> String {
    let ending = line_ending(content).as_str();
    let trimmed = |lines: &[&str]| -> Vec<String> {
        lines
            .iter()
            .map(|line| line.trim_end().to_owned())
            .collect()
    };
    let (left, right) = (trimmed(old), trimmed(new));
    let mut text = String::new();
    for op in capture_diff_slices(Algorithm::Myers, &left, &right) {
        match op.tag() {
            DiffTag::Equal => op
                .old_range()
                .flat_map(|at| places[at].clone())
                .for_each(|row| text.push_str(file[row].text)),
            DiffTag::Delete => {}
            DiffTag::Insert | DiffTag::Replace => {
                if !text.is_empty() && !is_ended(&text) {
                    text.push_str(ending);
                }
                for at in op.new_range() {
                    text.push_str(&way(new[at], op.old_range().start));
                    text.push_str(ending);
                }
            }
        }
    }
    let last = places.iter().rev().find(|place| !place.is_empty());
    let ends_file = last.is_some_and(|place| !is_ended(file[place.end - 1].text));
    if ends_file && let Some(bare) = text.strip_suffix(ending) {
        return bare.to_owned();
    }
    text
}

/// How deep lines of a passage stand in the file.
struct Depths<'a> {
    /// For each line of the passage with words: its number, its own white space and the file's.
    known: Vec<(usize, &'a str, &'a str)>,
    /// One level in the file, and how wide one is in the passage.
    file_unit: String,
    passage_unit: i64,
}

impl<'a> Depths<'a> {
    fn of(
        file: &[Line<'a>],
        places: &[std::ops::Range<usize>],
        old: &[&'a str],
        new: &[&'a str],
    ) -> Depths<'a> {
        let known: Vec<(usize, &str, &str)> = old
            .iter()
            .enumerate()
            .filter(|(at, line)| !line.trim().is_empty() && !places[*at].is_empty())
            .map(|(at, line)| (at, indent(line), indent(file[places[at].start].text)))
            .collect();
        let passage_unit = unit(old.iter().chain(new).copied());
        let file_unit = unit(file.iter().map(|line| line.text));
        Depths {
            known,
            file_unit: file_unit.unwrap_or("    ").to_owned(),
            passage_unit: passage_unit.map_or(4, width),
        }
    }

    /// Returns a new line at the file's depth. `at` is the line of the passage that it stands behind.
    fn mapped(&self, line: &str, at: usize) -> String {
        let words = line.trim();
        let own = indent(line);
        if words.is_empty() {
            return String::new();
        }
        if self.known.iter().all(|(_, passage, file)| passage == file) {
            return line.trim_end().to_owned();
        }
        // The nearest line at the same depth knows best: a passage may be wrong in one part only.
        let same = self
            .known
            .iter()
            .filter(|(_, passage, _)| *passage == own)
            .min_by_key(|(number, _, _)| number.abs_diff(at));
        if let Some((_, _, file)) = same {
            return format!("{file}{words}");
        }
        let wide = width(own);
        let below = self
            .known
            .iter()
            .filter(|(_, passage, _)| width(passage) < wide)
            .max_by_key(|(number, passage, _)| (width(passage), usize::MAX - number.abs_diff(at)));
        if let Some((_, passage, file)) = below {
            let deeper = wide - width(passage);
            return format!("{file}{}{words}", self.levels(deeper));
        }
        let least = self
            .known
            .iter()
            .min_by_key(|(_, passage, _)| width(passage));
        let Some((_, passage, file)) = least else {
            return line.trim_end().to_owned();
        };
        let less = self.levels(width(passage) - wide);
        let kept = file.len().saturating_sub(less.len());
        format!("{}{words}", &file[..kept])
    }

    /// Returns white space of the file for so much of the passage's.
    fn levels(&self, wide: i64) -> String {
        let (levels, rest) = (wide / self.passage_unit, wide % self.passage_unit);
        let count = |number: i64| usize::try_from(number).unwrap_or_default();
        format!(
            "{}{}",
            self.file_unit.repeat(count(levels)),
            " ".repeat(count(rest))
        )
    }
}

/// Returns the white space that one level has in most of these lines.
fn unit<'a>(lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut lines = lines.filter(|line| !line.trim().is_empty()).take(2_000);
    // How deep the first line stands says where the passage was cut out, not how wide a level is.
    let mut last = lines.next().map_or("", indent);
    for line in lines {
        let own = indent(line);
        if let Some(step) = own.strip_prefix(last)
            && !step.is_empty()
            && step.len() <= 8
        {
            match counts.iter_mut().find(|(known, _)| *known == step) {
                Some((_, count)) => *count += 1,
                None => counts.push((step, 1)),
            }
        }
        last = own;
    }
    let most = counts
        .iter()
        .max_by_key(|(step, count)| (*count, usize::MAX - step.len()));
    most.map(|(step, _)| *step)
}
