//! Passages with a middle left out: `...`, `# existing code`, or a block whose inside is only hinted at.

use super::lines::{Line, Relaxed, find, indent, is_ended, plain, width};
use super::{PassageProblem, bytes_of, merge, several_lines, spliced};
use crate::text::line_ending;

/// Words that stand for code which was left out, in a comment.
const WORDS: &str = "\
    existing|rest of|unchanged|remaining|omitted|same as|as before|other code|previous code|\
    more code";

/// Places a passage with a middle left out; nothing when it has none.
pub(super) fn results(
    content: &str,
    file: &[Line<'_>],
    old: &[&str],
    new: &[&str],
) -> Result<Option<Vec<String>>, PassageProblem> {
    let old_parts = parts(old);
    if old_parts.len() > 1 {
        return dotted(content, file, &old_parts, &parts(new));
    }
    hinted(content, file, old, new)
}

/// Returns the parts of a passage between the lines that stand for others.
fn parts<'l, 'a>(lines: &'l [&'a str]) -> Vec<&'l [&'a str]> {
    lines.split(|line| stands_for_others(line)).collect()
}

fn stands_for_others(line: &str) -> bool {
    let line = plain(line.trim());
    let comment = ["#", "//", "/*", "--", "<!--"]
        .iter()
        .find_map(|sign| line.strip_prefix(sign))
        .map(|rest| rest.trim_matches([' ', '*', '/', '-', '>']));
    let words = comment.unwrap_or(&line).to_ascii_lowercase();
    let only_dots = !words.is_empty()
        && words
            .trim_matches(['.', ' ', '[', ']', '(', ')'])
            .is_empty();
    let dotted = words.starts_with("...") || words.ends_with("...");
    only_dots && words.contains("...")
        || comment.is_some() && dotted && WORDS.split('|').any(|known| words.contains(known))
}

/// A passage in parts: each stands once, in this order; what lies between them stays or goes with the new text.
fn dotted(
    content: &str,
    file: &[Line<'_>],
    old: &[&[&str]],
    new: &[&[&str]],
) -> Result<Option<Vec<String>>, PassageProblem> {
    let keeps_middles = old.len() == new.len();
    let whole = old.iter().all(|part| has_words(part));
    // Without a first and a last line nothing says where it begins and ends; other counts say nothing at all.
    if !whole || !(keeps_middles || new.len() == 1) {
        return Ok(None);
    }
    let mut free = 0;
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (number, part) in old.iter().enumerate() {
        let found = find(&file[free..], part, Relaxed::TRIMMED);
        let found: Vec<Vec<usize>> = found
            .into_iter()
            .map(|rows| rows.into_iter().map(|row| row + free).collect())
            .collect();
        match found.as_slice() {
            [] => return Ok(None),
            [only] => rows.push(only.clone()),
            // The end of a block is often a common line: the first one after its beginning is meant.
            [first, ..] if number > 0 && is_closing(file, &rows, first) => rows.push(first.clone()),
            several => return Err(several_lines(several)),
        }
        free = rows
            .last()
            .and_then(|rows| rows.last())
            .map_or(free, |row| row + 1);
    }
    if !keeps_middles {
        let (Some(first), Some(last)) = (
            rows.first().and_then(|rows| rows.first()),
            rows.last().and_then(|rows| rows.last()),
        ) else {
            return Ok(None);
        };
        return Ok(Some(whole_block(
            content, file, *first, *last, old[0], new[0],
        )));
    }
    let mut result = content.to_owned();
    // From the end, so that what comes before keeps its place.
    for ((rows, old), new) in rows.iter().zip(old).zip(new).rev() {
        let lines = super::lines::of(&result);
        let Some(next) = merge::results(&result, &lines, rows, old, new)
            .into_iter()
            .next()
        else {
            return Ok(None);
        };
        result = next;
    }
    Ok(Some(vec![result]))
}

fn has_words(part: &[&str]) -> bool {
    part.iter().any(|line| !line.trim().is_empty())
}

/// Returns whether a found part is not deeper than the beginning: a block ends where its depth comes back.
fn is_closing(file: &[Line<'_>], rows: &[Vec<usize>], found: &[usize]) -> bool {
    let depth = |row: usize| width(indent(file[row].text));
    let first = rows.first().and_then(|rows| rows.first());
    first
        .zip(found.first())
        .is_some_and(|(first, found)| depth(*found) <= depth(*first) + 8)
        && first.zip(found.last()).is_some_and(|(first, last)| {
            (*first + 1..*last).all(|row| file[row].is_blank() || depth(row) >= depth(*first))
        })
}

/// A block whose first and last lines are true and whose inside is nothing but comments that stand nowhere.
fn hinted(
    content: &str,
    file: &[Line<'_>],
    old: &[&str],
    new: &[&str],
) -> Result<Option<Vec<String>>, PassageProblem> {
    let is_comment = |line: &&str| {
        let line = line.trim();
        line.starts_with('#') || line.starts_with("//")
    };
    let comments = old
        .iter()
        .skip(1)
        .take_while(|line| is_comment(line))
        .count();
    let tail = &old[(comments + 1).min(old.len())..];
    let invented = old
        .iter()
        .skip(1)
        .take(comments)
        .all(|line| file.iter().all(|known| known.text.trim() != line.trim()));
    if comments == 0 || !has_words(tail) || !invented {
        return Ok(None);
    }
    let heads = find(file, &old[..1], Relaxed::TRIMMED);
    let [head] = heads.as_slice() else {
        return Ok(None);
    };
    let start = head[0];
    let depth = |row: usize| width(indent(file[row].text));
    // The block reaches to the line that brings back its depth.
    let inside = (start + 1..file.len())
        .take_while(|row| file[*row].is_blank() || depth(*row) > depth(start))
        .last()
        .unwrap_or(start);
    let closes = |row: usize| {
        let tail_rows = find(
            &file[start + 1..=row.min(file.len() - 1)],
            tail,
            Relaxed::TRIMMED,
        );
        tail_rows
            .last()
            .and_then(|rows| rows.last())
            .is_some_and(|last| last + start + 1 == row)
    };
    let end = [inside + 1, inside]
        .into_iter()
        .find(|row| *row < file.len() && *row > start && closes(*row));
    Ok(end.map(|end| whole_block(content, file, start, end, old, new)))
}

/// Replaces whole lines by new ones, moved from the passage's depth to the file's.
fn whole_block(
    content: &str,
    file: &[Line<'_>],
    first: usize,
    last: usize,
    old: &[&str],
    new: &[&str],
) -> Vec<String> {
    let own = old.first().map_or("", |line| indent(line));
    let there = indent(file[first].text);
    let ending = line_ending(content).as_str();
    let moved: Vec<String> = new
        .iter()
        .map(|line| match line.strip_prefix(own) {
            _ if line.trim().is_empty() => String::new(),
            Some(rest) => format!("{there}{}", rest.trim_end()),
            None => format!("{there}{}", line.trim()),
        })
        .collect();
    let close = if is_ended(file[last].text) && !moved.is_empty() {
        ending
    } else {
        ""
    };
    let text = format!("{}{close}", moved.join(ending));
    vec![spliced(content, bytes_of(file, first, last), &text)]
}
