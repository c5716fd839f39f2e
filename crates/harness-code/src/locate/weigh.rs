//! What the signals are worth: a small table of learned yes-or-no questions, added up. `bench/locate` says how it was made.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::locate::signals::Signals;

/// Candidates that are looked at closely. Nine of ten files that matter are among them by far.
const CLOSE_LOOK: usize = 100;

/// Candidates with the numbers that the table asks about.
pub struct Features {
    /// What each number is.
    pub names: Vec<String>,
    /// Positions in [`Signals::candidates`], and the numbers, one row a candidate.
    pub rows: Vec<(usize, Vec<f32>)>,
}

/// Signals that are facts about a file and need no comparison with other files.
const FACTS: &[&str] = &[
    "lines",
    "definitions",
    "depth",
    "imported_by",
    "file_score",
    "file_gap",
    "file_place",
    "own_place",
];

/// First impression: how much each signal, as a share of the best file's, counts for a closer look.
const IMPRESSION: &[(&str, f32)] = &[
    ("text", 1.0),
    ("chunk_four", 1.0),
    ("name_uses", 1.0),
    ("doc", 0.5),
    ("text_title", 0.5),
    ("def_names", 0.5),
    ("path", 0.5),
    ("tests_named", 0.3),
];

impl Features {
    /// Works out the numbers of the candidates `kept`; `without` names signals that are left out to see what they add.
    pub fn of(signals: &Signals, kept: &[usize], without: &[&str]) -> Features {
        let mut names: Vec<String> = Vec::new();
        let mut columns: Vec<Vec<f32>> = Vec::new();
        for (name, values) in &signals.columns {
            if without.contains(&name.as_ref()) {
                continue;
            }
            let own: Vec<f32> = kept.iter().map(|&at| values[at]).collect();
            if FACTS.contains(&name.as_ref()) || name.starts_with("is_") {
                names.push(name.to_string());
                columns.push(own);
                continue;
            }
            let most = values.iter().copied().fold(0.0, f32::max);
            names.push(format!("{name}/best"));
            columns.push(
                own.iter()
                    .map(|value| if most > 0.0 { value / most } else { 0.0 })
                    .collect(),
            );
            if name.starts_with("clue") || name.starts_with("stem") {
                names.push(name.to_string());
                columns.push(own);
            } else {
                names.push(format!("{name}#"));
                columns.push(ranks(&own));
            }
        }
        let rows = kept
            .iter()
            .enumerate()
            .map(|(row, &at)| (at, columns.iter().map(|column| column[row]).collect()))
            .collect();
        Features { names, rows }
    }
}

/// Logarithm of the place in the order, negative, so that more is better.
fn ranks(values: &[f32]) -> Vec<f32> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[other].total_cmp(&values[one]));
    let mut ranks = vec![0.0; values.len()];
    for (place, &at) in order.iter().enumerate() {
        let place = if values[at] > 0.0 {
            place
        } else {
            values.len()
        };
        ranks[at] = -((1 + place) as f32).ln();
    }
    ranks
}

/// Returns the candidates that look best at first, with how good they look.
pub fn first_impression(signals: &Signals) -> Vec<(usize, f32)> {
    let mut impression = vec![0f32; signals.candidates.len()];
    for (name, values) in &signals.columns {
        let share = IMPRESSION
            .iter()
            .find(|(known, _)| name == known)
            .map(|(_, share)| *share);
        let most = values.iter().copied().fold(0.0, f32::max);
        for (sum, &value) in impression.iter_mut().zip(values) {
            match share {
                Some(share) if most > 0.0 => *sum += share * value / most,
                Some(_) => {}
                None if name.starts_with("clue") => *sum += value.min(2.0),
                None => {}
            }
        }
    }
    let mut order: Vec<(usize, f32)> = impression.into_iter().enumerate().collect();
    order.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    order.truncate(CLOSE_LOOK);
    order
}

/// How much the best definition of a file counts beside the file's own score. Between 0.3 and 2.5 it hardly matters.
pub const BEST_DEFINITION: f32 = 0.75;

/// Ranks files by their own score and that of their best definition: what a file says as a whole and what one place in
/// it says are wrong in different cases.
pub fn with_best_definitions(
    files: &[(u32, f32)],
    definitions: impl Iterator<Item = (u32, f32)>,
    weight: f32,
) -> Vec<(u32, f32)> {
    let mut best: FxHashMap<u32, f32> = FxHashMap::default();
    let mut least = 0.0f32;
    for (file, score) in definitions {
        least = least.min(score);
        let known = best.entry(file).or_insert(score);
        *known = known.max(score);
    }
    let score = |&(file, score): &(u32, f32)| {
        (
            file,
            score + weight * best.get(&file).copied().unwrap_or(least),
        )
    };
    let mut ranked: Vec<(u32, f32)> = files.iter().map(score).collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    ranked
}

/// Adds what is known of a definition's file: its score, how far behind the best file it is, and its place.
pub fn add_file_scores(signals: &mut Signals, files: &[(u32, f32)]) {
    let best = files.first().map_or(0.0, |first| first.1);
    let place: FxHashMap<u32, (usize, f32)> = files
        .iter()
        .enumerate()
        .map(|(at, &(file, score))| (file, (at, score)))
        .collect();
    let last = files.last().map_or(0.0, |last| last.1);
    let known = |file: u32| place.get(&file).copied().unwrap_or((files.len(), last));
    let mut add = |name: &'static str, value: &dyn Fn(usize, f32) -> f32| {
        let values = signals
            .candidates
            .iter()
            .map(|candidate| known(candidate.file))
            .map(|(at, score)| value(at, score))
            .collect();
        signals.columns.push((Cow::Borrowed(name), values));
    };
    add("file_score", &|_, score| score);
    add("file_gap", &|_, score| score - best);
    add("file_place", &|at, _| -((1 + at) as f32).ln());
}

/// A learned table: questions whose answers are added up.
#[derive(Debug, Default)]
pub struct Table {
    trees: Vec<Node>,
}

#[derive(Debug)]
enum Node {
    Leaf(f32),
    /// Whether the number of this name is above a threshold: then the first, else the second.
    Ask(String, f32, Box<(Node, Node)>),
}

/// Questions in a row that a table may hold.
const DEEPEST: usize = 8;

impl Table {
    /// Reads a table: a line a tree, `(name > threshold yes no)` or a number; `#` begins a comment.
    pub fn parse(text: &str) -> Table {
        let lines = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let trees = lines.filter_map(|line| {
            let spaced = line.replace('(', " ( ").replace(')', " ) ");
            node(&mut spaced.split_whitespace(), DEEPEST)
        });
        Table {
            trees: trees.collect(),
        }
    }

    /// Returns the score of each row.
    pub fn scores(&self, features: &Features) -> Vec<f32> {
        let at: FxHashMap<&str, usize> = features
            .names
            .iter()
            .enumerate()
            .map(|(at, name)| (name.as_str(), at))
            .collect();
        // Names are looked up once, not once a row.
        let mut steps = Vec::new();
        let starts: Vec<usize> = self
            .trees
            .iter()
            .map(|tree| tree.lay_out(&at, &mut steps))
            .collect();
        let judge = |row: &[f32]| starts.iter().map(|&start| answer(&steps, start, row)).sum();
        features.rows.iter().map(|(_, row)| judge(row)).collect()
    }
}

/// One place of a tree: where to go on, or what it adds.
enum Step {
    Ask {
        number: Option<usize>,
        threshold: f32,
        yes: usize,
        no: usize,
    },
    Add(f32),
}

fn answer(steps: &[Step], start: usize, row: &[f32]) -> f32 {
    let mut at = start;
    loop {
        match steps[at] {
            Step::Add(value) => return value,
            Step::Ask {
                number,
                threshold,
                yes,
                no,
            } => {
                let value = number.and_then(|number| row.get(number)).copied();
                at = if value.unwrap_or(0.0) > threshold {
                    yes
                } else {
                    no
                };
            }
        }
    }
}

impl Node {
    /// Puts this tree into `steps`, what follows first; returns where it begins.
    fn lay_out(&self, at: &FxHashMap<&str, usize>, steps: &mut Vec<Step>) -> usize {
        let step = match self {
            Node::Leaf(value) => Step::Add(*value),
            Node::Ask(name, threshold, sides) => {
                let yes = sides.0.lay_out(at, steps);
                let no = sides.1.lay_out(at, steps);
                Step::Ask {
                    number: at.get(name.as_str()).copied(),
                    threshold: *threshold,
                    yes,
                    no,
                }
            }
        };
        steps.push(step);
        steps.len() - 1
    }
}

fn node<'a>(words: &mut impl Iterator<Item = &'a str>, deepest: usize) -> Option<Node> {
    let word = words.next()?;
    if word != "(" {
        return word.parse().ok().map(Node::Leaf);
    }
    let deepest = deepest.checked_sub(1)?;
    let name = words.next()?.to_owned();
    words.next().filter(|sign| *sign == ">")?;
    let threshold = words.next()?.parse().ok()?;
    let yes = node(words, deepest)?;
    let no = node(words, deepest)?;
    words.next().filter(|close| *close == ")")?;
    Some(Node::Ask(name, threshold, Box::new((yes, no))))
}
