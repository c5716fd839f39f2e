//! A long piece of code as the model is shown it: how it begins and ends, the lines that matter, the rest folded.

use std::collections::BTreeSet;

/// Shorter words stand everywhere.
const SHORTEST_WORD: usize = 4;
/// Lines at the beginning and at the end that are always shown.
const HEAD: usize = 6;
const TAIL: usize = 2;
/// Lines around one that matters.
const AROUND: usize = 3;

/// Returns a piece of code in at most so many bytes. `first` is its first line in the file, `hints` is what is known of
/// what must change there: the task, the message of a failing test. `outside` are the lines, counted from nought, that
/// come before all others.
pub(super) fn folded(
    code: &str,
    first: u32,
    hints: &str,
    outside: &BTreeSet<usize>,
    room: usize,
) -> String {
    if code.len() <= room {
        return code.to_owned();
    }
    let lines: Vec<&str> = code.lines().collect();
    let mut shown: BTreeSet<usize> = (0..HEAD.min(lines.len())).collect();
    shown.extend(lines.len().saturating_sub(TAIL)..lines.len());
    let mut used: usize = shown.iter().map(|at| lines[*at].len() + 1).sum();
    let (mut before, rest): (Vec<usize>, Vec<usize>) = by_worth(&lines, hints)
        .into_iter()
        .partition(|at| outside.contains(at));
    before.sort_by_key(|at| is_comment(lines[*at]));
    let before = before.into_iter().map(|at| (at, 0));
    for (at, around) in before.chain(rest.into_iter().map(|at| (at, AROUND))) {
        let near = at.saturating_sub(around)..(at + around + 1).min(lines.len());
        let new: Vec<usize> = near.filter(|at| !shown.contains(at)).collect();
        let cost: usize = new.iter().map(|at| lines[*at].len() + 1).sum();
        if used + cost > room {
            continue;
        }
        used += cost;
        shown.extend(new);
    }
    with_gaps(&lines, &shown, first)
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    let signs = ["//", "/*", "* ", "# ", "#!"];
    line.is_empty() || signs.iter().any(|sign| line.starts_with(sign))
}

/// Returns the lines in the order of how much they have to do with the hints; where none has, from the top.
fn by_worth(lines: &[&str], hints: &str) -> Vec<usize> {
    let words: BTreeSet<String> = words(hints).collect();
    let shares: Vec<BTreeSet<String>> = lines
        .iter()
        .map(|line| {
            self::words(line)
                .filter(|word| words.contains(word))
                .collect()
        })
        .collect();
    // A word of many lines says little about any of them.
    let rarity = |word: &String| {
        let holders = shares.iter().filter(|share| share.contains(word)).count();
        1.0 / holders as f64
    };
    let worth: Vec<f64> = shares
        .iter()
        .map(|share| share.iter().map(rarity).sum())
        .collect();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|one, other| worth[*other].total_cmp(&worth[*one]));
    order
}

/// Returns the words of a text in small letters, names also cut at their joints.
fn words(text: &str) -> impl Iterator<Item = String> {
    let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let parts = names.flat_map(|name| std::iter::once(name).chain(name.split('_')));
    parts
        .filter(|word| word.len() >= SHORTEST_WORD)
        .map(str::to_lowercase)
}

/// Returns the shown lines, with the lines of the file named that are left out between them.
fn with_gaps(lines: &[&str], shown: &BTreeSet<usize>, first: u32) -> String {
    let number = |at: usize| first as usize + at;
    let mut text = String::new();
    let mut next = 0;
    for at in shown {
        if *at == next + 1 {
            // A line of its own would tell of it.
            text.push_str(lines[next]);
            text.push('\n');
        } else if *at > next {
            text.push_str(&format!(
                "[… lines {} to {} left out …]\n",
                number(next),
                number(at - 1)
            ));
        }
        text.push_str(lines[*at]);
        text.push('\n');
        next = at + 1;
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_matter_are_shown() {
        let mut lines: Vec<String> = (0..200).map(|n| format!("    step_{n} = {n}")).collect();
        lines.insert(0, "def long(items):".to_owned());
        lines[120] = "    discount = items * percentage".to_owned();
        lines.push("    return items".to_owned());
        let code = lines.join("\n");
        let shown = folded(
            &code,
            11,
            "the percentage is not subtracted",
            &BTreeSet::new(),
            1_000,
        );
        assert!(shown.len() < 1_100, "{shown}");
        assert!(
            shown.starts_with("def long(items):\n    step_0 = 0\n"),
            "{shown}"
        );
        assert!(
            shown.contains("\n    discount = items * percentage\n"),
            "{shown}"
        );
        assert!(shown.ends_with("\n    return items"), "{shown}");
        assert!(shown.contains("left out …]\n"), "{shown}");
        assert_eq!(
            folded("def f():\n    pass", 1, "", &BTreeSet::new(), 100),
            "def f():\n    pass"
        );
        let outside = BTreeSet::from([150]);
        let shown = folded(&code, 1, "the percentage is not subtracted", &outside, 300);
        assert!(shown.contains("\n    step_149 = 149\n[…"), "{shown}");
    }

    #[test]
    fn gaps_name_the_lines_of_the_file() {
        let lines: Vec<&str> = "a\nb\nc\nd\ne".lines().collect();
        let shown = BTreeSet::from([0, 4]);
        assert_eq!(
            with_gaps(&lines, &shown, 10),
            "a\n[… lines 11 to 13 left out …]\ne"
        );
    }
}
