//! Learns what the signals of `locate` are worth, and tells how well that does on repositories it was not learned from.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measuring tool that may stop at the first surprise and writes the tables it is asked for"
)]

mod boost;
mod cases;

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use boost::{Group, Settings, Tree, judge, learn};
use cases::{Case, read};
use harness_code::locate::{
    BEST_DEFINITION, Features, Signals, add_file_scores, first_impression, with_best_definitions,
};

/// How the shipped tables are learned.
const UNEVEN: Settings = Settings {
    rounds: 300,
    rate: 0.05,
    depth: 3,
    ridge: 1.0,
    least: 0.5,
    sample: 0.3,
    draws: 3,
    places: 20,
    even: false,
};
const EVEN: Settings = Settings {
    even: true,
    ..UNEVEN
};
const FILES: &[Settings] = &[UNEVEN];
const DEFINITIONS: &[Settings] = &[Settings {
    rounds: 150,
    rate: 0.1,
    depth: 2,
    ridge: 1.0,
    least: 0.5,
    sample: 0.5,
    draws: 3,
    places: 20,
    even: true,
}];

/// Quicker tables for the file scores that definitions build on while they are measured: twenty-one of them are needed.
const INNER: &[Settings] = &[Settings {
    rounds: 150,
    rate: 0.1,
    draws: 1,
    ..UNEVEN
}];

/// Parts that the repositories are dealt to.
const FOLDS: usize = 6;

const DEPTHS: [usize; 5] = [1, 3, 5, 10, 20];

/// Usage: `locate_learn SIGNALS CASES.jsonl cross|detail|single|without|weights|try|table [FOLDER or settings]`.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let cases = read(&args[0], &args[1]);
    match args[2].as_str() {
        "cross" => cross(&cases, false),
        "detail" => cross(&cases, true),
        "single" => single(&cases),
        "without" => without(&cases),
        "weights" => weights(&cases),
        "try" => tried(&cases, &args[3..]),
        "table" => table(&cases, &args[3]),
        other => println!("no such measurement: {other}"),
    }
}

/// Deals whole repositories to folds, the largest first, always to the emptiest fold.
fn folds(cases: &[Case]) -> Vec<usize> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    cases
        .iter()
        .for_each(|case| *sizes.entry(&case.repo).or_default() += 1);
    let mut order: Vec<(&str, usize)> = sizes.into_iter().collect();
    order.sort_by_key(|&(repo, size)| (std::cmp::Reverse(size), repo));
    let mut filled = [0; FOLDS];
    let mut fold_of: HashMap<&str, usize> = HashMap::new();
    for (repo, size) in order {
        let fold = (0..FOLDS).min_by_key(|&fold| filled[fold]).unwrap();
        filled[fold] += size;
        fold_of.insert(repo, fold);
    }
    cases
        .iter()
        .map(|case| fold_of[case.repo.as_str()])
        .collect()
}

struct FileRows {
    group: Group,
    /// Position of each row among the case's files.
    places: Vec<usize>,
    names: Vec<String>,
}

fn file_rows(case: &Case, without: &[&str]) -> FileRows {
    let kept: Vec<usize> = first_impression(&case.files)
        .into_iter()
        .map(|(at, _)| at)
        .collect();
    let features = Features::of(&case.files, &kept, without);
    let gold = kept
        .iter()
        .map(|&at| case.gold_files.contains(&case.file_paths[at]))
        .collect();
    let rows = features.rows.into_iter().map(|(_, row)| row).collect();
    FileRows {
        group: Group {
            rows,
            gold,
            golds: case.gold_files.len(),
        },
        places: kept,
        names: features.names,
    }
}

fn file_ranking(rows: &FileRows, trees: &[Tree]) -> Vec<(u32, f32)> {
    let mut ranked: Vec<(u32, f32)> = rows
        .places
        .iter()
        .zip(&rows.group.rows)
        .map(|(&at, row)| (at as u32, judge(trees, row)))
        .collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    ranked
}

fn definition_rows(case: &Case, files: &[(u32, f32)], without: &[&str]) -> (Group, Vec<String>) {
    let mut signals = Signals {
        candidates: case.definitions.candidates.clone(),
        columns: case.definitions.columns.clone(),
    };
    add_file_scores(&mut signals, files);
    let every: Vec<usize> = (0..signals.candidates.len()).collect();
    let features = Features::of(&signals, &every, without);
    let gold = case
        .definition_paths
        .iter()
        .map(|name| case.gold_definitions.contains(name))
        .collect();
    let rows = features.rows.into_iter().map(|(_, row)| row).collect();
    (
        Group {
            rows,
            gold,
            golds: case.gold_definitions.len(),
        },
        features.names,
    )
}

fn chosen(rows: &[FileRows], wanted: impl Fn(usize) -> bool) -> Vec<&Group> {
    (0..rows.len())
        .filter(|&at| wanted(at) && rows[at].group.gold.contains(&true))
        .map(|at| &rows[at].group)
        .collect()
}

/// Recall at each depth: the mean share of what was looked for among the first k.
fn recall(found: &[(usize, Vec<bool>)]) -> [f32; 5] {
    DEPTHS.map(|depth| {
        let share = |(golds, hits): &(usize, Vec<bool>)| {
            hits.iter().take(depth).filter(|hit| **hit).count() as f32 / *golds as f32
        };
        100.0 * found.iter().map(share).sum::<f32>() / found.len().max(1) as f32
    })
}

fn show(name: &str, values: [f32; 5], cases: usize) {
    let shown: Vec<String> = DEPTHS
        .iter()
        .zip(values)
        .map(|(depth, value)| format!("@{depth} {value:5.1}"))
        .collect();
    println!("{name:34} {}  n={cases}", shown.join("  "));
}

/// Files ranked by tables that never saw the case's repository.
fn cross_files(
    cases: &[Case],
    without: &[&str],
    settings: &[Settings],
) -> (Vec<FileRows>, Vec<Vec<(u32, f32)>>) {
    let folds = folds(cases);
    let rows: Vec<FileRows> = cases.iter().map(|case| file_rows(case, without)).collect();
    let mut rankings = vec![Vec::new(); cases.len()];
    let tables: Vec<Vec<Tree>> = (0..FOLDS)
        .into_par_iter()
        .map(|fold| learn(&chosen(&rows, |at| folds[at] != fold), settings))
        .collect();
    for (at, ranking) in rankings.iter_mut().enumerate() {
        *ranking = file_ranking(&rows[at], &tables[folds[at]]);
    }
    (rows, rankings)
}

fn file_hits(cases: &[Case], rankings: &[Vec<(u32, f32)>]) -> Vec<(usize, Vec<bool>)> {
    let hits = |(case, ranking): (&Case, &Vec<(u32, f32)>)| {
        let found = ranking
            .iter()
            .map(|&(at, _)| case.gold_files.contains(&case.file_paths[at as usize]))
            .collect();
        (case.gold_files.len(), found)
    };
    cases.iter().zip(rankings).map(hits).collect()
}

fn cross(cases: &[Case], detail: bool) {
    let (rows, alone) = cross_files(cases, &[], FILES);
    show(
        "files by themselves",
        recall(&file_hits(cases, &alone)),
        cases.len(),
    );
    let scores = cross_definitions(cases, &rows, INNER, DEFINITIONS);
    let rankings = together(cases, &alone, &scores, BEST_DEFINITION);
    show("files", recall(&file_hits(cases, &rankings)), cases.len());
    if detail {
        for (case, ranking) in cases.iter().zip(&rankings) {
            let path = |at: &(u32, f32)| case.file_paths[at.0 as usize].as_str();
            let gold: Vec<String> = ranking
                .iter()
                .enumerate()
                .filter(|(_, at)| case.gold_files.contains(path(at)))
                .map(|(place, at)| format!("{}:{}", place + 1, path(at)))
                .collect();
            let first: Vec<&str> = ranking.iter().take(3).map(path).collect();
            println!(
                "{}\t{}/{}\t{}\t| first {}",
                case.id,
                gold.len(),
                case.gold_files.len(),
                gold.join(" "),
                first.join(" ")
            );
        }
    }
    let found = definition_hits(cases, &scores);
    show("definitions", recall(&found), found.len());
}

fn definition_hits(cases: &[Case], scores: &[Vec<f32>]) -> Vec<(usize, Vec<bool>)> {
    let measured =
        |case: &Case| !case.gold_definitions.is_empty() && !case.definition_paths.is_empty();
    let hits = |(case, scores): (&Case, &Vec<f32>)| {
        let gold = |name: &String| case.gold_definitions.contains(name);
        let mut ranked: Vec<(f32, bool)> = scores
            .iter()
            .copied()
            .zip(case.definition_paths.iter().map(gold))
            .collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let found = ranked.into_iter().map(|(_, gold)| gold).collect();
        (case.gold_definitions.len(), found)
    };
    let pairs = cases.iter().zip(scores);
    pairs.filter(|(case, _)| measured(case)).map(hits).collect()
}

/// Scores of definitions by tables that never saw the case's repository; neither did the file scores they build on.
fn cross_definitions(
    cases: &[Case],
    rows: &[FileRows],
    files: &[Settings],
    definitions: &[Settings],
) -> Vec<Vec<f32>> {
    let folds = folds(cases);
    // A table learned without two folds serves the cases of each while the other is left out.
    let pairs: Vec<(usize, usize)> = (0..FOLDS)
        .flat_map(|one| (one..FOLDS).map(move |other| (one, other)))
        .collect();
    let without: HashMap<(usize, usize), Vec<Tree>> = pairs
        .into_par_iter()
        .map(|(one, other)| {
            let wanted = |at: usize| folds[at] != one && folds[at] != other;
            ((one, other), learn(&chosen(rows, wanted), files))
        })
        .collect();
    let left_out = |fold: usize| {
        let group = |at: usize| {
            let pair = (fold.min(folds[at]), fold.max(folds[at]));
            let ranking = file_ranking(&rows[at], &without[&pair]);
            definition_rows(&cases[at], &ranking, &[]).0
        };
        let groups: Vec<Group> = (0..cases.len()).map(group).collect();
        let train: Vec<&Group> = (0..cases.len())
            .filter(|&at| folds[at] != fold && groups[at].gold.contains(&true))
            .map(|at| &groups[at])
            .collect();
        let trees = learn(&train, definitions);
        let score = |at: usize| {
            let rows = groups[at].rows.iter();
            (at, rows.map(|row| judge(&trees, row)).collect())
        };
        (0..cases.len())
            .filter(|&at| folds[at] == fold)
            .map(score)
            .collect::<Vec<(usize, Vec<f32>)>>()
    };
    let mut scored: Vec<(usize, Vec<f32>)> =
        (0..FOLDS).into_par_iter().flat_map_iter(left_out).collect();
    scored.sort_by_key(|(at, _)| *at);
    scored.into_iter().map(|(_, scores)| scores).collect()
}

/// Other weights of a file's best definition.
fn weights(cases: &[Case]) {
    let (rows, rankings) = cross_files(cases, &[], FILES);
    let scores = cross_definitions(cases, &rows, INNER, DEFINITIONS);
    for weight in [0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5] {
        let ranked = together(cases, &rankings, &scores, weight);
        let name = format!("best definition counts {weight}");
        show(&name, recall(&file_hits(cases, &ranked)), cases.len());
    }
}

/// Files ranked by their own score and that of their best definition.
fn together(
    cases: &[Case],
    rankings: &[Vec<(u32, f32)>],
    scores: &[Vec<f32>],
    weight: f32,
) -> Vec<Vec<(u32, f32)>> {
    let one = |at: usize| {
        let candidates = cases[at].definitions.candidates.iter();
        let definitions = candidates
            .zip(&scores[at])
            .map(|(one, &score)| (one.file, score));
        with_best_definitions(&rankings[at], definitions, weight)
    };
    (0..cases.len()).map(one).collect()
}

/// Each signal alone.
fn single(cases: &[Case]) {
    for (column, (name, _)) in cases[0].files.columns.iter().enumerate() {
        let rank = |case: &Case| {
            let mut order: Vec<(u32, f32)> = case.files.columns[column]
                .1
                .iter()
                .enumerate()
                .map(|(at, &value)| (at as u32, value))
                .collect();
            order.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
            order
        };
        let rankings: Vec<Vec<(u32, f32)>> = cases.iter().map(rank).collect();
        show(name, recall(&file_hits(cases, &rankings)), cases.len());
    }
}

/// Signals that are left out together, because one could stand in for the other.
const FAMILIES: &[(&str, &[&str])] = &[
    (
        "whole text",
        &["text", "text_title", "text_prose", "text_code", "text_rare"],
    ),
    (
        "text of definitions",
        &["chunk_best", "chunk_four", "chunk_title", "chunk_code"],
    ),
    ("comments and docstrings", &["doc", "doc_title"]),
    (
        "words in definition names",
        &[
            "def_names",
            "def_names_title",
            "told_best",
            "told_three",
            "told_title_best",
            "told_title_three",
        ],
    ),
    ("word pairs", &["pairs", "pairs_title"]),
    (
        "path words",
        &[
            "path",
            "path_title",
            "stem_share",
            "stem_share_title",
            "stem_said",
            "stem_said_title",
            "stem_rarity",
        ],
    ),
    ("whole names used", &["name_uses", "name_share"]),
    ("paths written", &["clue_path", "clue_path_code"]),
    (
        "modules and imports written",
        &["clue_module", "clue_import"],
    ),
    (
        "dotted names resolved",
        &["clue_qualified", "clue_qualified_code"],
    ),
    (
        "defined names",
        &["clue_defined_title", "clue_defined", "clue_defined_code"],
    ),
    (
        "plain words that are names",
        &["clue_plain_title", "clue_plain_code", "clue_plain"],
    ),
    ("tracebacks", &["clue_last_frame", "clue_frame"]),
    (
        "error messages and quotations",
        &["clue_error", "clue_literal"],
    ),
    (
        "shape of the file",
        &[
            "lines",
            "definitions",
            "is_init",
            "depth",
            "is_aside",
            "is_private",
        ],
    ),
    (
        "import graph",
        &["imported_by", "importer_text", "imported_text"],
    ),
    (
        "tests as bridges",
        &["tests_import", "tests_named", "tests_call"],
    ),
    ("calls of the best functions", &["called"]),
    (
        "what named definitions call and build on",
        &["named_calls", "named_bases"],
    ),
    ("folder", &["folder_text"]),
];

/// What each family of signals adds: one draw each, which is quicker and about half a point less.
fn without(cases: &[Case]) {
    let settings = [UNEVEN, EVEN].map(|way| Settings { draws: 1, ..way });
    let (_, rankings) = cross_files(cases, &[], &settings);
    show(
        "all signals",
        recall(&file_hits(cases, &rankings)),
        cases.len(),
    );
    for (name, family) in FAMILIES {
        let (_, rankings) = cross_files(cases, family, &settings);
        show(
            &format!("without {name}"),
            recall(&file_hits(cases, &rankings)),
            cases.len(),
        );
    }
}

/// Other settings: rounds, rate, depth, ridge, least, sample, draws, places, even (0, 1, or 2 for both); then `definitions` for those.
fn tried(cases: &[Case], numbers: &[String]) {
    let number = |at: usize| numbers[at].parse::<f32>().unwrap();
    let one = Settings {
        rounds: number(0) as usize,
        rate: number(1),
        depth: number(2) as usize,
        ridge: number(3),
        least: number(4),
        sample: number(5),
        draws: number(6) as u64,
        places: number(7) as usize,
        even: number(8) > 0.0,
    };
    let both = Settings { even: true, ..one };
    // 2 averages the two ways.
    let settings: &[Settings] = if number(8) > 1.0 {
        &[Settings { even: false, ..one }, both]
    } else {
        &[one]
    };
    if numbers.last().is_some_and(|last| last == "definitions") {
        let (rows, _) = cross_files(
            cases,
            &[],
            &[Settings {
                rounds: 1,
                ..UNEVEN
            }],
        );
        let scores = cross_definitions(cases, &rows, INNER, settings);
        let found = definition_hits(cases, &scores);
        show(&numbers.join(" "), recall(&found), found.len());
        return;
    }
    let (_, rankings) = cross_files(cases, &[], settings);
    show(
        &numbers.join(" "),
        recall(&file_hits(cases, &rankings)),
        cases.len(),
    );
}

/// Learns from all cases and writes the two tables.
fn table(cases: &[Case], folder: &str) {
    let (rows, rankings) = cross_files(cases, &[], INNER);
    let trees = learn(&chosen(&rows, |_| true), FILES);
    write(folder, "files", &trees, &rows[0].names);
    let groups: Vec<(Group, Vec<String>)> = cases
        .iter()
        .zip(&rankings)
        .map(|(case, ranking)| definition_rows(case, ranking, &[]))
        .collect();
    let known: Vec<&Group> = groups
        .iter()
        .map(|(group, _)| group)
        .filter(|group| group.gold.contains(&true))
        .collect();
    write(
        folder,
        "definitions",
        &learn(&known, DEFINITIONS),
        &groups[0].1,
    );
}

fn write(folder: &str, kind: &str, trees: &[Tree], names: &[String]) {
    let mut text = format!(
        "# What the signals of {kind} are worth: every line asks and adds. Made by `bench/locate/learn.sh`; do not edit.\n"
    );
    for tree in trees {
        text.push_str(&line(tree, 0, names));
        text.push('\n');
    }
    std::fs::write(format!("{folder}/{kind}.table"), text).unwrap();
}

fn line(tree: &Tree, at: usize, names: &[String]) -> String {
    match tree[at].feature {
        None => format!("{:.4}", tree[at].value),
        Some(feature) => format!(
            "({} > {} {} {})",
            names[feature],
            tree[at].threshold,
            line(tree, 2 * at + 2, names),
            line(tree, 2 * at + 1, names)
        ),
    }
}
