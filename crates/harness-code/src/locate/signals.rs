//! Everything that speaks for a file, one number each, side by side. What the numbers are worth is in `weigh`.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::locate::history::History;
use crate::locate::index::{FileWords, Index};
use crate::locate::query::{Part, Query};
use crate::locate::spread::{Spread, names_told};
use crate::mention::passage::Zone;
use crate::mention::project::Project;
use crate::mention::{ClueKind, Mentions};
use crate::tree::SourceTree;

/// A file, or a definition in it, that the task may be about.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Candidate {
    /// Position in the tree's files.
    pub file: u32,
    /// Position in the file's definitions.
    pub definition: Option<u32>,
}

/// The signals of all candidates: a column a signal.
pub struct Signals {
    /// What is judged.
    pub candidates: Vec<Candidate>,
    /// Name and values, one value a candidate.
    pub columns: Vec<(Cow<'static, str>, Vec<f32>)>,
}

pub(crate) struct Inputs<'a, 't> {
    pub(crate) tree: &'t SourceTree,
    pub(crate) project: &'a Project<'t>,
    pub(crate) query: &'a Query,
    pub(crate) index: &'a Index<'a>,
    pub(crate) mentions: &'a Mentions,
    pub(crate) names: &'a [String],
    pub(crate) spread: &'a Spread,
    pub(crate) include_tests: bool,
    pub(crate) history: Option<&'a History>,
}

impl Signals {
    pub(crate) fn of(inputs: &Inputs<'_, '_>) -> Signals {
        let files = inputs.tree.files();
        let wanted = |at: &u32| {
            let at = *at as usize;
            inputs.index.files[at].is_some() && (inputs.include_tests || !files[at].test)
        };
        let candidates = (0..files.len() as u32)
            .filter(wanted)
            .map(|file| Candidate {
                file,
                definition: None,
            })
            .collect();
        let mut signals = Signals {
            candidates,
            columns: Vec::new(),
        };
        signals.text(inputs);
        signals.pairs(inputs);
        signals.path(inputs);
        signals.names(inputs);
        signals.clues(inputs);
        signals.shape(inputs);
        signals.neighbours(inputs);
        signals.spread(inputs);
        signals.history(inputs);
        signals
    }

    pub(crate) fn add(&mut self, name: &'static str, value: impl Fn(u32) -> f32) {
        let values = self
            .candidates
            .iter()
            .map(|candidate| value(candidate.file))
            .collect();
        self.columns.push((Cow::Borrowed(name), values));
    }

    fn text(&mut self, inputs: &Inputs<'_, '_>) {
        let index = inputs.index;
        let all = inputs.query.weights(Part::All);
        let title = inputs.query.weights(Part::Title);
        let prose = inputs.query.weights(Part::Prose);
        let code = inputs.query.weights(Part::Code);
        let words = |at: u32| index.files[at as usize].as_ref();
        let score = |at: u32, score: &dyn Fn(&FileWords) -> f32| words(at).map_or(0.0, score);
        self.add("text", |at| score(at, &|file| index.whole(file, &all)));
        self.add("text_title", |at| {
            score(at, &|file| index.whole(file, &title))
        });
        self.add("text_prose", |at| {
            score(at, &|file| index.whole(file, &prose))
        });
        self.add("text_code", |at| {
            score(at, &|file| index.whole(file, &code))
        });
        self.add("text_rare", |at| score(at, &|file| index.rare(file, &all)));
        self.add("doc", |at| score(at, &|file| index.doc(file, &all)));
        self.add("doc_title", |at| score(at, &|file| index.doc(file, &title)));
        self.add("def_names", |at| score(at, &|file| index.names(file, &all)));
        self.add("def_names_title", |at| {
            score(at, &|file| index.names(file, &title))
        });
        let chunks: FxHashMap<u32, [f32; 4]> = self
            .candidates
            .iter()
            .map(|&Candidate { file: at, .. }| (at, chunk_scores(inputs, at, &all, &title, &code)))
            .collect();
        self.add("chunk_best", |at| chunks[&at][0]);
        self.add("chunk_four", |at| chunks[&at][1]);
        self.add("chunk_title", |at| chunks[&at][2]);
        self.add("chunk_code", |at| chunks[&at][3]);
    }

    /// Pairs of words that stand next to each other in the task and in the file.
    fn pairs(&mut self, inputs: &Inputs<'_, '_>) {
        let count = inputs.query.pairs.len();
        let mut with = vec![0f32; count];
        let mut uses: FxHashMap<u32, Vec<(u16, u16)>> = FxHashMap::default();
        for &Candidate { file: at, .. } in &self.candidates {
            let Some(file) = &inputs.index.files[at as usize] else {
                continue;
            };
            let mut own = vec![0u16; count];
            for &(pair, times) in file.counts.chunks.iter().flat_map(|chunk| &chunk.pairs) {
                own[usize::from(pair)] = own[usize::from(pair)].saturating_add(times);
            }
            let own: Vec<(u16, u16)> = own
                .iter()
                .enumerate()
                .filter(|(_, times)| **times > 0)
                .map(|(pair, &times)| (pair as u16, times))
                .collect();
            own.iter()
                .for_each(|&(pair, _)| with[usize::from(pair)] += 1.0);
            uses.insert(at, own);
        }
        let total = self.candidates.len() as f32;
        let rarity: Vec<f32> = with
            .iter()
            .map(|with| (1.0 + (total - with + 0.5) / (with + 0.5)).ln())
            .collect();
        let score = |at: u32, title_only: bool| {
            let own = uses.get(&at).map_or(&[][..], Vec::as_slice);
            let wanted = own
                .iter()
                .filter(|(pair, _)| !title_only || inputs.query.title_pairs[usize::from(*pair)]);
            wanted
                .map(|&(pair, times)| {
                    rarity[usize::from(pair)] * f32::from(times) * 2.2 / (f32::from(times) + 1.2)
                })
                .sum::<f32>()
        };
        self.add("pairs", |at| score(at, false));
        self.add("pairs_title", |at| score(at, true));
    }

    /// What earlier changes tell, when they are handed in.
    fn history(&mut self, inputs: &Inputs<'_, '_>) {
        let Some(history) = inputs.history else {
            return;
        };
        let path = |at: u32| &inputs.tree.files()[at as usize].path;
        let said = history.speaks_of(inputs.query);
        self.add("history", |at| said.get(path(at)).copied().unwrap_or(0.0));
        let touched = history.touched();
        self.add("touched", |at| {
            touched.get(path(at)).copied().unwrap_or(0.0)
        });
    }

    /// What the best functions call, and definitions whose names the task tells.
    fn spread(&mut self, inputs: &Inputs<'_, '_>) {
        self.add("called", |at| inputs.spread.called.file(at));
        self.add("tests_call", |at| inputs.spread.tested.file(at));
        let all = inputs.query.weights(Part::All);
        let title = inputs.query.weights(Part::Title);
        let told: FxHashMap<u32, [f32; 4]> = self
            .candidates
            .iter()
            .map(|&Candidate { file: at, .. }| {
                (
                    at,
                    names_told(inputs.project, inputs.index, [&all, &title], at),
                )
            })
            .collect();
        self.add("named_calls", |at| inputs.spread.named.file(at));
        self.add("named_bases", |at| inputs.spread.bases.file(at));
        self.add("told_best", |at| told[&at][0]);
        self.add("told_three", |at| told[&at][1]);
        self.add("told_title_best", |at| told[&at][2]);
        self.add("told_title_three", |at| told[&at][3]);
        let mut folders: FxHashMap<&str, (f32, f32)> = FxHashMap::default();
        let best = self.column("chunk_four");
        let folder = |at: u32| inputs.tree.files()[at as usize].path.folder();
        for (&Candidate { file: at, .. }, &score) in self.candidates.iter().zip(&best) {
            let entry = folders.entry(folder(at)).or_default();
            entry.0 += score;
            entry.1 += 1.0;
        }
        self.add("folder_text", |at| {
            folders
                .get(folder(at))
                .map_or(0.0, |(sum, count)| sum / count)
        });
    }

    fn column(&self, name: &str) -> Vec<f32> {
        self.columns
            .iter()
            .find(|(known, _)| known == name)
            .map_or_else(
                || vec![0.0; self.candidates.len()],
                |(_, values)| values.clone(),
            )
    }

    /// Whole names of the task that stand in the file, rare ones counting more.
    fn names(&mut self, inputs: &Inputs<'_, '_>) {
        let count = inputs.names.len();
        let mut with = vec![0f32; count];
        let mut uses: FxHashMap<u32, Vec<u16>> = FxHashMap::default();
        for &Candidate { file: at, .. } in &self.candidates {
            let Some(file) = &inputs.index.files[at as usize] else {
                continue;
            };
            let mut own = vec![0u16; count];
            for &(name, times) in file.counts.chunks.iter().flat_map(|chunk| &chunk.names) {
                own[usize::from(name)] = own[usize::from(name)].saturating_add(times);
            }
            for (name, &times) in own.iter().enumerate() {
                with[name] += f32::from(u8::from(times > 0));
            }
            uses.insert(at, own);
        }
        let total = self.candidates.len() as f32;
        let rarity: Vec<f32> = with
            .iter()
            .map(|with| (1.0 + (total - with + 0.5) / (with + 0.5)).ln())
            .collect();
        self.add("name_uses", |at| {
            let Some(own) = uses.get(&at) else { return 0.0 };
            own.iter()
                .zip(&rarity)
                .map(|(&times, rarity)| rarity * (1.0 + f32::from(times)).ln())
                .sum()
        });
        self.add("name_share", |at| {
            let Some(own) = uses.get(&at) else { return 0.0 };
            own.iter()
                .zip(&rarity)
                .filter(|(times, _)| **times > 0)
                .map(|(_, rarity)| rarity)
                .sum()
        });
    }

    fn clues(&mut self, inputs: &Inputs<'_, '_>) {
        let told = |zone: Zone| matches!(zone, Zone::Title | Zone::Prose | Zone::Inline);
        let clues = &inputs.mentions.clues;
        let mut sums: FxHashMap<(&'static str, u32), f32> = FxHashMap::default();
        for clue in clues {
            let name = match (clue.kind, clue.zone) {
                (ClueKind::Path, zone) if told(zone) => "clue_path",
                (ClueKind::Path, _) => "clue_path_code",
                (ClueKind::Module, _) => "clue_module",
                (ClueKind::Import, _) => "clue_import",
                (ClueKind::Qualified, zone) if told(zone) => "clue_qualified",
                (ClueKind::Qualified, _) => "clue_qualified_code",
                (ClueKind::Defined, Zone::Title) => "clue_defined_title",
                (ClueKind::Defined, zone) if told(zone) => "clue_defined",
                (ClueKind::Defined, _) => "clue_defined_code",
                (ClueKind::Plain, Zone::Title) => "clue_plain_title",
                (ClueKind::Plain, Zone::Code | Zone::Trace) => "clue_plain_code",
                (ClueKind::Plain, _) => "clue_plain",
                (ClueKind::LastFrame, _) => "clue_last_frame",
                (ClueKind::Frame, _) => "clue_frame",
                (ClueKind::Test, _) => continue,
                (ClueKind::Literal, Zone::Trace) => "clue_error",
                (ClueKind::Literal, _) => "clue_literal",
            };
            *sums.entry((name, clue.place.file)).or_default() += clue.share;
        }
        for name in CLUES {
            self.add(name, |at| sums.get(&(*name, at)).copied().unwrap_or(0.0));
        }
    }

    fn shape(&mut self, inputs: &Inputs<'_, '_>) {
        let file = |at: u32| &inputs.tree.files()[at as usize];
        let flag = |set: bool| f32::from(u8::from(set));
        self.add("lines", |at| (1.0 + file(at).lines as f32).ln());
        self.add("definitions", |at| {
            (1.0 + file(at).facts.definitions.len() as f32).ln()
        });
        self.add("is_init", |at| {
            flag(file(at).path.file_name() == "__init__.py")
        });
        self.add("depth", |at| file(at).path.parts().count() as f32);
        self.add("is_aside", |at| {
            flag(file(at).path.parts().any(|part| ASIDE.contains(&part)))
        });
        self.add("is_private", |at| {
            flag(
                file(at).path.file_name().starts_with('_')
                    && file(at).path.file_name() != "__init__.py",
            )
        });
    }

    fn neighbours(&mut self, inputs: &Inputs<'_, '_>) {
        let edges = import_edges(inputs);
        let mut imported_by: FxHashMap<u32, u32> = FxHashMap::default();
        for &(from, to) in &edges {
            if !inputs.tree.files()[from as usize].test {
                *imported_by.entry(to).or_default() += 1;
            }
        }
        self.add("imported_by", |at| {
            (1.0 + imported_by.get(&at).copied().unwrap_or(0) as f32).ln()
        });
        let text = self.columns[0].1.clone();
        let most = text.iter().copied().fold(1e-6, f32::max);
        let own: FxHashMap<u32, f32> = self
            .candidates
            .iter()
            .zip(&text)
            .map(|(candidate, &value)| (candidate.file, value / most))
            .collect();
        let mut up: FxHashMap<u32, f32> = FxHashMap::default();
        let mut down: FxHashMap<u32, f32> = FxHashMap::default();
        for &(from, to) in &edges {
            if let (Some(&one), Some(&other)) = (own.get(&from), own.get(&to)) {
                let best = up.entry(to).or_default();
                *best = best.max(one);
                let best = down.entry(from).or_default();
                *best = best.max(other);
            }
        }
        self.add("importer_text", |at| up.get(&at).copied().unwrap_or(0.0));
        self.add("imported_text", |at| down.get(&at).copied().unwrap_or(0.0));
        self.tests(inputs, &edges);
    }

    /// Tests that speak of the same things, and what they import.
    fn tests(&mut self, inputs: &Inputs<'_, '_>, edges: &[(u32, u32)]) {
        let all = inputs.query.weights(Part::All);
        let mut tests: Vec<(f32, u32)> = Vec::new();
        for (at, file) in inputs.tree.files().iter().enumerate() {
            if let (true, Some(words)) = (file.test, &inputs.index.files[at]) {
                tests.push((inputs.index.whole(words, &all), at as u32));
            }
        }
        tests.sort_by(|one, other| other.0.total_cmp(&one.0));
        tests.truncate(10);
        let most = tests.first().map_or(1.0, |test| test.0.max(1e-6));
        let score: FxHashMap<u32, f32> = tests
            .iter()
            .map(|&(value, at)| (at, value / most))
            .collect();
        let mut out: FxHashMap<u32, f32> = FxHashMap::default();
        for &(from, _) in edges {
            *out.entry(from).or_default() += 1.0;
        }
        let mut reached: FxHashMap<u32, f32> = FxHashMap::default();
        for &(from, to) in edges {
            if let Some(value) = score.get(&from) {
                *reached.entry(to).or_default() += value / out[&from].max(1.0).sqrt();
            }
        }
        self.add("tests_import", |at| {
            reached.get(&at).copied().unwrap_or(0.0)
        });
        // test_paginator.py is about paginator.py.
        let mut named: FxHashMap<String, f32> = FxHashMap::default();
        for &(value, at) in &tests {
            let path = &inputs.tree.files()[at as usize].path;
            let stem = path
                .stem()
                .trim_start_matches("test_")
                .trim_end_matches("_test")
                .to_owned();
            let best = named.entry(stem).or_default();
            *best = best.max(value / most);
            if let Some(folder) = path.folder().rsplit('/').next() {
                let best = named.entry(folder.to_owned()).or_default();
                *best = best.max(value / most);
            }
        }
        self.add("tests_named", |at| {
            named
                .get(
                    inputs.tree.files()[at as usize]
                        .path
                        .stem()
                        .trim_start_matches('_'),
                )
                .copied()
                .unwrap_or(0.0)
        });
    }
}

/// The clue columns, in order.
const CLUES: &[&str] = &[
    "clue_path",
    "clue_path_code",
    "clue_module",
    "clue_import",
    "clue_qualified",
    "clue_qualified_code",
    "clue_defined_title",
    "clue_defined",
    "clue_defined_code",
    "clue_plain_title",
    "clue_plain_code",
    "clue_plain",
    "clue_last_frame",
    "clue_frame",
    "clue_error",
    "clue_literal",
];

/// Folders whose files show or build the project and are seldom what is wrong with it.
const ASIDE: &[&str] = &[
    "doc",
    "docs",
    "example",
    "examples",
    "tutorial",
    "tutorials",
    "benchmark",
    "benchmarks",
    "asv_bench",
    "tools",
    "scripts",
    "script",
    "bin",
    "build_tools",
    "extras",
    "ci",
    ".github",
    "galleries",
    "release",
    "maint_tools",
    "setup.py",
    "externals",
    "extern",
    "packages",
    "vendored",
];

/// Returns who imports whom, each pair once.
fn import_edges(inputs: &Inputs<'_, '_>) -> Vec<(u32, u32)> {
    let mut edges: FxHashSet<(u32, u32)> = FxHashSet::default();
    for (from, file) in inputs.tree.files().iter().enumerate() {
        let from = from as u32;
        for import in &file.facts.imports {
            let module = inputs.project.imported(from, import.level, &import.module);
            if import.names.is_empty() {
                edges.extend(module.map(|to| (from, to)));
            }
            for name in &import.names {
                let to = module
                    .and_then(|module| inputs.project.member(module, &name.name))
                    .map(|place| place.file)
                    .or(module);
                edges.extend(to.map(|to| (from, to)));
            }
        }
    }
    edges.retain(|(from, to)| from != to);
    let mut edges: Vec<(u32, u32)> = edges.into_iter().collect();
    edges.sort_unstable();
    edges
}

/// The best chunks of a file together, each less than the one before it.
fn several(best_first: &[f32]) -> f32 {
    let mut share = 1.0;
    best_first.iter().take(4).fold(0.0, |sum, score| {
        let next = sum + share * score;
        share *= 0.9;
        next
    })
}

fn chunk_scores(
    inputs: &Inputs<'_, '_>,
    at: u32,
    all: &[f32],
    title: &[f32],
    code: &[f32],
) -> [f32; 4] {
    let Some(file) = &inputs.index.files[at as usize] else {
        return [0.0; 4];
    };
    let mut scores: Vec<f32> = file
        .counts
        .chunks
        .iter()
        .map(|chunk| inputs.index.chunk(chunk, &chunk.named, all))
        .collect();
    scores.sort_by(|one, other| other.total_cmp(one));
    let best = |weights: &[f32]| {
        file.counts
            .chunks
            .iter()
            .map(|chunk| inputs.index.chunk(chunk, &chunk.named, weights))
            .fold(0.0, f32::max)
    };
    [
        scores.first().copied().unwrap_or(0.0),
        several(&scores),
        best(title),
        best(code),
    ]
}
