//! Finding a passage that a model wrote from memory: exact first, then relaxed by layers; unique or not at all.
//! What the change leaves alone keeps the file's own bytes; what is new takes the file's own indentation.

mod elided;
mod lines;
mod merge;
mod nearest;
mod signs;

use std::ops::Range;

use crate::language::Language;
use crate::passage::lines::{Line, Relaxed};
use crate::symbols;
use crate::text::{line_ending, with_line_ending};

#[cfg(test)]
mod tests;

/// Why a passage could not be placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassageProblem {
    /// It stands nowhere; the closest lines are shown.
    #[error("the passage is not in the file")]
    Absent {
        /// What comes closest, to copy from.
        closest: String,
    },
    /// It stands in several places, on these lines.
    #[error("the passage stands in {} places", .0.len())]
    Several(Vec<usize>),
    /// It stands only as a part of longer words, on these lines.
    #[error("the passage is only a part of longer words")]
    InsideWords(Vec<usize>),
    /// There is nothing to look for.
    #[error("the passage is empty")]
    Empty,
    /// The file would not parse any more.
    #[error("the file would not parse any more")]
    Broken,
}

/// Returns `content` with the one place of `old` replaced by `new`, in the file's own indentation and line endings.
///
/// Where the words leave open how the new lines are indented, the way that parses is taken. A file that parsed and
/// would not parse any more is a problem, never a result.
pub fn replace_in(
    language: Language,
    content: &str,
    old: &str,
    new: &str,
) -> Result<String, PassageProblem> {
    let results = results(content, old, new)?;
    if !symbols::parses(language, content) {
        return results.into_iter().next().ok_or(PassageProblem::Broken);
    }
    results
        .into_iter()
        .find(|result| symbols::parses(language, result))
        .ok_or(PassageProblem::Broken)
}

/// Returns `content` with the one place of `old` replaced by `new`; what the file is written in is not known.
pub fn replace(content: &str, old: &str, new: &str) -> Result<String, PassageProblem> {
    let results = results(content, old, new)?;
    results.into_iter().next().ok_or(PassageProblem::Empty)
}

/// Returns `content` with every place of `old` replaced by `new`, letter for letter.
pub fn replace_all(content: &str, old: &str, new: &str) -> Result<String, PassageProblem> {
    if old.is_empty() {
        return Err(PassageProblem::Empty);
    }
    let ending = line_ending(content);
    let (old, new) = (with_line_ending(old, ending), with_line_ending(new, ending));
    if content.contains(&*old) {
        return Ok(content.replace(&*old, &new));
    }
    replace(content, &old, &new)
}

/// Returns every place of a passage as the mildest reading finds it; an empty passage stands before everything.
///
/// For looking only: letters in the wrong case are found here, but never replaced.
pub fn places(content: &str, wanted: &str) -> Vec<Range<usize>> {
    let trimmed = wanted.trim();
    if trimmed.is_empty() {
        return std::iter::once(0..0).collect();
    }
    let all = |text: &str, wanted: &str| -> Vec<Range<usize>> {
        let hits = text.match_indices(wanted);
        hits.map(|(at, hit)| at..at + hit.len()).collect()
    };
    let folded = content.to_ascii_lowercase();
    let low = trimmed.to_ascii_lowercase();
    let readings: [&dyn Fn() -> Vec<Range<usize>>; 5] = [
        &|| all(content, wanted),
        &|| all(content, trimmed),
        &|| all(&folded, &low),
        &|| signs::without_blanks(content, trimmed),
        &|| line_places(content, wanted),
    ];
    let found = readings.iter().map(|reading| reading());
    found
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn line_places(content: &str, wanted: &str) -> Vec<Range<usize>> {
    let file = lines::of(content);
    let wanted: Vec<&str> = lines::block(wanted);
    let found = Relaxed::ALL
        .iter()
        .map(|how| lines::find(&file, &wanted, *how));
    let found = found
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default();
    let place = |rows: &Vec<usize>| {
        let (first, last) = (rows.first()?, rows.last()?);
        let end = file[*last].start + file[*last].text.trim_end_matches(['\r', '\n']).len();
        Some(file[*first].start..end)
    };
    found.iter().filter_map(place).collect()
}

/// Returns what the file may be afterwards, the likeliest first: all of the same place, indented in different ways.
fn results(content: &str, old: &str, new: &str) -> Result<Vec<String>, PassageProblem> {
    if old.trim().is_empty() {
        return Err(PassageProblem::Empty);
    }
    if let Some(result) = exact(content, old, new)? {
        return Ok(vec![result]);
    }
    let numberless = signs::without_numbers(old).map(|old| {
        let new = signs::without_numbers(new).unwrap_or_else(|| new.to_owned());
        (old, new)
    });
    let unescaped = signs::unescaped(old, new);
    if let Some((old, new)) = &numberless
        && let Some(result) = exact(content, old, new)?
    {
        return Ok(vec![result]);
    }
    let mut readings: Vec<(&str, &str)> = vec![(old, new)];
    readings.extend(
        [&numberless, &unescaped]
            .into_iter()
            .flatten()
            .map(|(old, new)| (old.as_str(), new.as_str())),
    );
    let file = lines::of(content);
    for (old, new) in &readings {
        let (old, new) = (lines::block(old), lines::block(new));
        for how in Relaxed::ALL {
            let found = lines::find(&file, &old, *how);
            match found.as_slice() {
                [] => {}
                [only] => return Ok(merge::results(content, &file, only, &old, &new)),
                several => return Err(several_lines(several)),
            }
        }
    }
    if let Some((old, new)) = &unescaped
        && let Some(result) = exact(content, old, new)?
    {
        return Ok(vec![result]);
    }
    if let Some(result) = signs::replaced(content, old, new)? {
        return Ok(vec![result]);
    }
    for (old, new) in &readings {
        let (old, new) = (lines::block(old), lines::block(new));
        let placed = elided::results(content, &file, &old, &new)?;
        if let Some(results) = placed.or_else(|| nearest::results(content, &file, &old, &new)) {
            return Ok(results);
        }
    }
    let wanted = old.trim();
    let inside = content
        .match_indices(wanted)
        .map(|(at, _)| line_of(content, at));
    let inside: Vec<usize> = inside.collect();
    if !inside.is_empty() {
        return Err(PassageProblem::InsideWords(inside));
    }
    Err(PassageProblem::Absent {
        closest: nearest::closest(&file, &lines::block(old)),
    })
}

fn several_lines(found: &[Vec<usize>]) -> PassageProblem {
    let first = |rows: &Vec<usize>| rows.first().map(|row| row + 1);
    PassageProblem::Several(found.iter().filter_map(first).collect())
}

/// Replaces a passage that stands there letter for letter.
fn exact(content: &str, old: &str, new: &str) -> Result<Option<String>, PassageProblem> {
    let ending = line_ending(content);
    let (old, new) = (with_line_ending(old, ending), with_line_ending(new, ending));
    let places: Vec<Range<usize>> = content
        .match_indices(&*old)
        .map(|(at, hit)| at..at + hit.len())
        .filter(|place| is_word_by_word(content, place))
        .collect();
    let is_whole = |place: &&Range<usize>| {
        let starts = place.start == 0 || lines::is_ended(&content[..place.start]);
        let ends = lines::is_ended(&content[..place.end])
            || content[place.end..].is_empty()
            || content[place.end..].starts_with(['\r', '\n']);
        starts && ends
    };
    let place = match places.as_slice() {
        [] => return Ok(None),
        [only] => only,
        // The same words inside longer lines do not count when whole lines match once.
        several => match several.iter().filter(is_whole).collect::<Vec<_>>()[..] {
            [only] => only,
            _ => {
                let line = |place: &Range<usize>| line_of(content, place.start);
                return Err(PassageProblem::Several(several.iter().map(line).collect()));
            }
        },
    };
    let rest = &content[place.end..];
    let newline = ending.as_str();
    let fitted = match () {
        // Whole lines that go take their line ending with them.
        () if new.is_empty() && is_whole(&place) && !old.ends_with('\n') => {
            let rest = rest.strip_prefix(newline).unwrap_or(rest);
            return Ok(Some(format!("{}{rest}", &content[..place.start])));
        }
        () if old.ends_with('\n') && !new.ends_with('\n') && !new.is_empty() => {
            format!("{new}{newline}")
        }
        () if !old.ends_with('\n') && new.ends_with('\n') && rest.starts_with(newline) => {
            new.strip_suffix(newline).unwrap_or(&new).to_owned()
        }
        () => new.into_owned(),
    };
    Ok(Some(spliced(content, place.clone(), &fitted)))
}

/// Returns whether a place does not begin or end in the middle of a word: `x = 1` does not stand in `max = 10`.
fn is_word_by_word(content: &str, place: &Range<usize>) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let cuts = |left: Option<char>, right: Option<char>| {
        left.is_some_and(of_word) && right.is_some_and(of_word)
    };
    let before = content[..place.start].chars().next_back();
    let first = content[place.clone()].chars().next();
    let last = content[place.clone()].chars().next_back();
    let after = content[place.end..].chars().next();
    !cuts(before, first) && !cuts(last, after)
}

fn line_of(content: &str, at: usize) -> usize {
    content[..at].matches('\n').count() + 1
}

fn spliced(content: &str, range: Range<usize>, text: &str) -> String {
    [&content[..range.start], text, &content[range.end..]].concat()
}

/// Returns the bytes from one line to another.
fn bytes_of(file: &[Line<'_>], first: usize, last: usize) -> Range<usize> {
    file[first].start..file[last].start + file[last].text.len()
}
