//! The nearest passage: the lines that change stand there exactly, the lines around them do so for the most part.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::lines::{Line, Relaxed, find};
use super::merge;

/// Of the lines that a passage gives as they are, so many must stand near the change. Below it another place is meant.
const LEAST_SHARE: f64 = 0.6;
/// Fewer lines with words than this say too little to place anything by likeness.
const LEAST_LINES: usize = 3;
/// Lines on each side that a change is placed by; one at least must stand there.
const MOST_AROUND: usize = 6;

/// Places a passage whose changed lines stand in the file though others of it do not; nothing when that is not certain.
pub(super) fn results(
    content: &str,
    file: &[Line<'_>],
    old: &[&str],
    new: &[&str],
) -> Option<Vec<String>> {
    let worded =
        |lines: &[&str]| -> usize { lines.iter().filter(|line| !line.trim().is_empty()).count() };
    if worded(old) < LEAST_LINES || new.is_empty() {
        return None;
    }
    let share = share_near(file, old)?;
    if share < LEAST_SHARE {
        return None;
    }
    let (left, right): (Vec<String>, Vec<String>) = (
        old.iter().map(|line| line.trim_end().to_owned()).collect(),
        new.iter().map(|line| line.trim_end().to_owned()).collect(),
    );
    let ops = capture_diff_slices(Algorithm::Myers, &left, &right);
    let changes: Vec<_> = ops.iter().filter(|op| op.tag() != DiffTag::Equal).collect();
    let mut result = content.to_owned();
    // From the end, so that what comes before keeps its place.
    let mut limit = file.len();
    for op in changes.iter().rev() {
        let (from, to) = (op.old_range().start, op.old_range().end);
        let known = |line: &str| file.iter().any(|row| row.text.trim() == line.trim());
        let above = old[..from]
            .iter()
            .rev()
            .take(MOST_AROUND)
            .take_while(|line| known(line))
            .count();
        let below = old[to..]
            .iter()
            .take(MOST_AROUND)
            .take_while(|line| known(line))
            .count();
        let core = &old[from - above..to + below];
        let (has_above, has_below) = (
            worded(&old[from - above..from]),
            worded(&old[to..to + below]),
        );
        let edges = (from == 0 || has_above > 0) && (to == old.len() || has_below > 0);
        // An insertion needs a line on either side; what goes needs all of itself and a neighbour.
        if !edges || has_above + has_below == 0 || worded(core) < 2 {
            return None;
        }
        let found = find(&file[..limit], core, Relaxed::TRIMMED);
        let [rows] = found.as_slice() else {
            return None;
        };
        let mut changed: Vec<&str> = old[from - above..from].to_vec();
        changed.extend(&new[op.new_range()]);
        changed.extend(&old[to..to + below]);
        let lines = super::lines::of(&result);
        result = merge::results(&result, &lines, rows, core, &changed)
            .into_iter()
            .next()?;
        limit = rows.first().copied()?;
        // Overlapping neighbours of two changes are looked for again in what is left.
        limit = (limit + above).min(file.len());
    }
    (!changes.is_empty()).then(|| vec![result])
}

/// Returns how many of a passage's lines stand in the stretch of the file that has most of them.
fn share_near(file: &[Line<'_>], old: &[&str]) -> Option<f64> {
    let wanted: std::collections::HashSet<&str> = old
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.is_empty())
        .collect();
    let size = old.len() + old.len() / 4 + 1;
    let mut counts: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    let mut best = 0;
    for row in 0..file.len() {
        let text = file[row].text.trim();
        if wanted.contains(text) {
            *counts.entry(text).or_default() += 1;
        }
        if row >= size {
            let gone = file[row - size].text.trim();
            if let Some(count) = counts.get_mut(gone) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(gone);
                }
            }
        }
        best = best.max(counts.len());
    }
    (!wanted.is_empty()).then(|| best as f64 / wanted.len() as f64)
}

/// Returns the lines that come closest to a passage, to copy from.
pub(super) fn closest(file: &[Line<'_>], wanted: &[&str]) -> String {
    /// Lines to look at; a longer file is looked at from its start, which keeps this linear and quick.
    const MOST_LINES: usize = 20_000;
    /// Lines shown at most.
    const MOST_SHOWN: usize = 20;
    /// Characters of a line that are compared.
    const MOST_SIGNS: usize = 160;
    let Some(key) = wanted.iter().max_by_key(|line| line.trim().len()) else {
        return String::new();
    };
    let short = |text: &str| -> String { text.trim().chars().take(MOST_SIGNS).collect() };
    let key_text = short(key);
    let around: std::collections::HashSet<&str> = wanted.iter().map(|line| line.trim()).collect();
    let key_signs = key_text.chars().count();
    let likeness = |row: usize| {
        let text = short(file[row].text);
        let signs = text.chars().count();
        // Lines of very different length cannot be alike; comparing them letter by letter is what takes long.
        if signs * 2 < key_signs || key_signs * 2 < signs {
            return 0;
        }
        let own = strsim::normalized_levenshtein(&text, &key_text);
        let near = row.saturating_sub(3)..(row + 4).min(file.len());
        let friends = near
            .filter(|other| {
                let text = file[*other].text.trim();
                text.len() > 3 && around.contains(text)
            })
            .count();
        (own * 1000.0) as usize + friends * 60
    };
    let best = (0..file.len().min(MOST_LINES))
        .map(|row| (likeness(row), row))
        .max_by_key(|(like, row)| (*like, usize::MAX - row));
    let Some((_, row)) = best.filter(|(like, _)| *like > 400) else {
        return String::new();
    };
    let key_at = wanted
        .iter()
        .position(|line| line == key)
        .unwrap_or_default();
    let before = key_at.clamp(2, 6);
    let after = (wanted.len() - key_at).clamp(3, MOST_SHOWN - 6);
    let shown = row.saturating_sub(before)..(row + after).min(file.len());
    file[shown].iter().map(|line| line.text).collect()
}
