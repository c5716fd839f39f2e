//! Everything that speaks for a definition, one number each. The score of its file is added where the table is asked.

use rustc_hash::FxHashMap;

use crate::locate::query::Part;
use crate::locate::scan::{Chunk, chunked};
use crate::locate::signals::{Candidate, Inputs, Signals};
use crate::locate::words::each_word;
use crate::mention::passage::Zone;
use crate::mention::project::Place;
use crate::mention::{Clue, ClueKind};
use crate::symbols::{Definition, DefinitionKind};

/// Definitions that are looked at closely.
const CLOSE_LOOK: usize = 200;

/// Returns the signals of the definitions in `files`; `impressions` says how good each file looked at first.
pub(crate) fn signals(inputs: &Inputs<'_, '_>, files: &[(u32, f32)]) -> Signals {
    let mut entries = entries(inputs, files);
    let weights =
        [Part::All, Part::Title, Part::Prose, Part::Code].map(|part| inputs.query.weights(part));
    for entry in &mut entries {
        for (slot, weights) in entry.text.iter_mut().zip(&weights) {
            *slot = inputs.index.chunk(entry.chunk, &entry.chunk.named, weights);
        }
        entry.told = told(inputs, entry.definition, &weights[0]);
        entry.told_title = told(inputs, entry.definition, &weights[1]);
    }
    let own_best = best_by_file(&entries);
    let family = Family::of(inputs, &entries, &weights[0]);
    let clues = clues_by_place(&inputs.mentions.clues);
    look_closely(&mut entries, &clues);
    let mut signals = Signals {
        candidates: entries.iter().map(|entry| entry.candidate).collect(),
        columns: Vec::new(),
    };
    let mut add = |name: &'static str, value: &dyn Fn(&Entry<'_>) -> f32| {
        signals
            .columns
            .push((name.into(), entries.iter().map(value).collect()));
    };
    add("text", &|entry| entry.text[0]);
    add("text_title", &|entry| entry.text[1]);
    add("text_prose", &|entry| entry.text[2]);
    add("text_code", &|entry| entry.text[3]);
    add("own_share", &|entry| {
        entry.text[0] / own_best[&entry.candidate.file]
    });
    add("own_place", &|entry| family.places[&entry.candidate]);
    add("class_text", &|entry| {
        family.class(entry).map_or(0.0, |class| class.text)
    });
    add("class_best", &|entry| {
        family.class(entry).map_or(0.0, |class| class.best)
    });
    add("class_share", &|entry| {
        family
            .class(entry)
            .map_or(0.0, |class| entry.text[0] / class.best.max(1e-6))
    });
    add("calls_best", &|entry| family.best_callee(inputs, entry));
    add("doc", &|entry| doc(inputs, entry, &weights[0]));
    add("signature", &|entry| signature(inputs, entry, &weights[0]));
    for (column, weights) in [("coverage", &weights[0]), ("coverage_title", &weights[1])] {
        add(column, &|entry| coverage(inputs, entry, weights));
    }
    add("said", &|entry| said(inputs, entry.definition));
    add("class_said", &|entry| {
        let parent = inputs.project.definition(Place {
            file: entry.candidate.file,
            definition: entry.definition.parent,
        });
        parent.map_or(0.0, |parent| said(inputs, parent))
    });
    add("called", &|entry| {
        inputs.spread.called.definition(place_of(entry.candidate))
    });
    add("tests_call", &|entry| {
        inputs.spread.tested.definition(place_of(entry.candidate))
    });
    add("named_calls", &|entry| {
        inputs.spread.named.definition(place_of(entry.candidate))
    });
    add("told", &|entry| entry.told);
    add("told_title", &|entry| entry.told_title);
    let name_rarity = rarity(&entries, inputs.names.len(), |chunk| &chunk.names);
    let pair_rarity = rarity(&entries, inputs.query.pairs.len(), |chunk| &chunk.pairs);
    add("name_uses", &|entry| {
        weighed(&entry.chunk.names, &name_rarity)
    });
    add("pairs", &|entry| weighed(&entry.chunk.pairs, &pair_rarity));
    let own = |entry: &Entry<'_>| place_of(entry.candidate);
    let around = |entry: &Entry<'_>| Place {
        file: entry.candidate.file,
        definition: entry.definition.parent,
    };
    for name in CLUES {
        add(name, &|entry| {
            clues.get(&(own(entry), name)).copied().unwrap_or(0.0)
        });
    }
    for (column, name) in [
        ("clue_class_qualified", "clue_qualified"),
        ("clue_class_defined", "clue_defined"),
        ("clue_class_code", "clue_defined_code"),
    ] {
        add(column, &|entry| {
            if entry.definition.parent.is_some() {
                clues.get(&(around(entry), name)).copied().unwrap_or(0.0)
            } else {
                0.0
            }
        });
    }
    let flag = |set: bool| f32::from(u8::from(set));
    add("lines", &|entry| {
        (1.0 + entry.definition.lines() as f32).ln()
    });
    add("is_method", &|entry| {
        flag(entry.definition.kind == DefinitionKind::Method)
    });
    add("is_class", &|entry| {
        flag(entry.definition.kind == DefinitionKind::Class)
    });
    add("is_special", &|entry| {
        flag(entry.definition.name().starts_with("__"))
    });
    add("is_init", &|entry| {
        flag(entry.definition.name() == "__init__")
    });
    add("is_private", &|entry| {
        flag(entry.definition.name().starts_with('_') && !entry.definition.name().starts_with("__"))
    });
    signals
}

/// The clue columns of definitions, in order.
const CLUES: &[&str] = &[
    "clue_path",
    "clue_import",
    "clue_qualified",
    "clue_qualified_code",
    "clue_defined_title",
    "clue_defined",
    "clue_defined_code",
    "clue_plain_title",
    "clue_plain",
    "clue_plain_code",
    "clue_last_frame",
    "clue_frame",
    "clue_error",
    "clue_literal",
];

struct Entry<'a> {
    candidate: Candidate,
    definition: &'a Definition,
    chunk: &'a Chunk,
    impression: f32,
    /// For the whole task, its title, its sentences, its code.
    text: [f32; 4],
    told: f32,
    told_title: f32,
}

/// What is known of the definitions around a definition.
struct Family {
    classes: FxHashMap<(u32, u32), Class>,
    /// The place of each definition among those of its file, as a negative logarithm.
    places: FxHashMap<Candidate, f32>,
    /// How well each definition matches the task.
    texts: FxHashMap<Place, f32>,
}

/// How well a class matches the task: by what stands outside its methods, and by the best of them.
#[derive(Clone, Copy, Default)]
struct Class {
    text: f32,
    best: f32,
}

impl Family {
    fn of(inputs: &Inputs<'_, '_>, entries: &[Entry<'_>], weights: &[f32]) -> Family {
        let mut classes: FxHashMap<(u32, u32), Class> = FxHashMap::default();
        let mut by_file: FxHashMap<u32, Vec<&Entry<'_>>> = FxHashMap::default();
        let mut texts = FxHashMap::default();
        for entry in entries {
            let file = entry.candidate.file;
            texts.insert(place_of(entry.candidate), entry.text[0]);
            by_file.entry(file).or_default().push(entry);
            let Some(parent) = entry.definition.parent else {
                continue;
            };
            let class = classes.entry((file, parent)).or_insert_with(|| {
                let words = inputs.index.files[file as usize].as_ref();
                let chunk = words.and_then(|words| {
                    let mut chunks = words.counts.chunks.iter();
                    chunks.find(|chunk| chunk.definition == Some(parent))
                });
                let text = chunk.map_or(0.0, |chunk| {
                    inputs.index.chunk(chunk, &chunk.named, weights)
                });
                Class { text, best: 0.0 }
            });
            class.best = class.best.max(entry.text[0]);
        }
        let mut places = FxHashMap::default();
        for own in by_file.values_mut() {
            own.sort_by(|one, other| other.text[0].total_cmp(&one.text[0]));
            for (place, entry) in own.iter().enumerate() {
                places.insert(entry.candidate, -((1 + place) as f32).ln());
            }
        }
        Family {
            classes,
            places,
            texts,
        }
    }

    fn class(&self, entry: &Entry<'_>) -> Option<&Class> {
        self.classes
            .get(&(entry.candidate.file, entry.definition.parent?))
    }

    /// How well the best of what it calls matches the task.
    fn best_callee(&self, inputs: &Inputs<'_, '_>, entry: &Entry<'_>) -> f32 {
        let names = &inputs.project.file(entry.candidate.file).facts.names;
        let own = place_of(entry.candidate);
        let reached = entry.definition.calls.iter().flat_map(|&call| {
            let places = inputs.project.named(names.get(call));
            let few = if places.len() > MOST_PLACES {
                &[]
            } else {
                places
            };
            few.iter().filter(|place| **place != own)
        });
        reached
            .filter_map(|place| self.texts.get(place))
            .fold(0.0, |best, &text| text.max(best))
    }
}

/// A called name that more places define than this leads nowhere.
const MOST_PLACES: usize = 8;

/// What the comments and the documentation of a definition share with the task.
fn doc(inputs: &Inputs<'_, '_>, entry: &Entry<'_>, weights: &[f32]) -> f32 {
    let hits = entry.chunk.hits.iter().filter(|hits| hits.doc > 0);
    hits.map(|hits| weights[usize::from(hits.word)] * inputs.index.rarity[usize::from(hits.word)])
        .sum()
}

/// What the parameters of a definition, or the bases of a class, share with the task.
fn signature(inputs: &Inputs<'_, '_>, entry: &Entry<'_>, weights: &[f32]) -> f32 {
    let mut seen: Vec<usize> = Vec::new();
    let signature = &entry.definition.signature;
    let parameters = signature.split_once('(').map_or("", |(_, rest)| rest);
    each_word(parameters, |word| {
        let number = inputs.index.numbers.get(word).copied();
        seen.extend(number.filter(|number| !seen.contains(number)));
    });
    seen.iter()
        .map(|&word| weights[word] * inputs.index.rarity[word])
        .sum()
}

/// The share of what the task says that stands in the definition, its name, its class or its path.
fn coverage(inputs: &Inputs<'_, '_>, entry: &Entry<'_>, weights: &[f32]) -> f32 {
    let worth = |word: usize| weights[word] * inputs.index.rarity[word];
    let mut there: Vec<usize> = entry
        .chunk
        .hits
        .iter()
        .map(|hits| usize::from(hits.word))
        .collect();
    let path = inputs.project.file(entry.candidate.file).path.as_str();
    each_word(path, |word| {
        let number = inputs.index.numbers.get(word).copied();
        there.extend(number.filter(|number| !there.contains(number)));
    });
    let all: f32 = (0..weights.len()).map(worth).sum();
    there.iter().map(|&word| worth(word)).sum::<f32>() / all.max(1e-6)
}

/// How plainly the task writes the name of a definition, less for a name that many share.
fn said(inputs: &Inputs<'_, '_>, definition: &Definition) -> f32 {
    let name = definition.name();
    let Some(zone) = inputs.query.runs.get(&name.to_lowercase()) else {
        return 0.0;
    };
    let plain = match zone {
        Zone::Title => 3.0,
        Zone::Inline => 2.5,
        Zone::Prose => 2.0,
        Zone::Trace => 1.5,
        Zone::Code => 1.0,
    };
    plain / (inputs.project.named(name).len() as f32 + 1.0).log2()
}

/// The best text score among the definitions of each file.
fn best_by_file(entries: &[Entry<'_>]) -> FxHashMap<u32, f32> {
    let mut best: FxHashMap<u32, f32> = FxHashMap::default();
    for entry in entries {
        let most = best.entry(entry.candidate.file).or_insert(1e-6);
        *most = most.max(entry.text[0]);
    }
    best
}

fn place_of(candidate: Candidate) -> Place {
    Place {
        file: candidate.file,
        definition: candidate.definition,
    }
}

/// A test that lies in the file it tests, as in Rust's `mod tests`.
fn is_test_inside(definitions: &[Definition], definition: &Definition) -> bool {
    let around = definition
        .parent
        .and_then(|at| definitions.get(at as usize));
    around.is_some_and(|around| {
        around.kind == DefinitionKind::Module && matches!(around.name(), "tests" | "test")
    })
}

/// The chunk of a definition that says nothing of the task.
static SILENT: Chunk = Chunk {
    definition: None,
    length: 0,
    hits: Vec::new(),
    names: Vec::new(),
    pairs: Vec::new(),
    named: Vec::new(),
};

/// Functions and methods, and classes that have none.
fn entries<'a>(inputs: &Inputs<'a, '_>, files: &[(u32, f32)]) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    for &(file, impression) in files {
        let definitions = &inputs.tree.files()[file as usize].facts.definitions;
        let Some(words) = &inputs.index.files[file as usize] else {
            continue;
        };
        let said: FxHashMap<u32, &Chunk> = words
            .counts
            .chunks
            .iter()
            .filter_map(|chunk| Some((chunk.definition?, chunk)))
            .collect();
        for at in chunked(&inputs.tree.files()[file as usize].facts) {
            let chunk = said.get(&at).copied().unwrap_or(&SILENT);
            let Some(definition) = definitions.get(at as usize) else {
                continue;
            };
            if !inputs.include_tests && is_test_inside(definitions, definition) {
                continue;
            }
            let has_functions = || {
                definitions
                    .iter()
                    .any(|d| d.parent == Some(at) && d.kind.is_function())
            };
            if definition.kind.is_function() || !has_functions() {
                let candidate = Candidate {
                    file,
                    definition: Some(at),
                };
                entries.push(Entry {
                    candidate,
                    definition,
                    chunk,
                    impression,
                    text: [0.0; 4],
                    told: 0.0,
                    told_title: 0.0,
                });
            }
        }
    }
    entries
}

/// How well the task tells the definition's own name, in shares of the name's words.
fn told(inputs: &Inputs<'_, '_>, definition: &Definition, weights: &[f32]) -> f32 {
    let (mut said, mut count) = (0.0, 0.0f32);
    each_word(definition.name(), |word| {
        count += 1.0;
        if let Some(&number) = inputs.index.numbers.get(word) {
            said += weights[number].min(2.0) * inputs.index.rarity[number];
        }
    });
    said / count.max(1.0).sqrt()
}

fn clues_by_place(clues: &[Clue]) -> FxHashMap<(Place, &'static str), f32> {
    let told = |zone: Zone| matches!(zone, Zone::Title | Zone::Prose | Zone::Inline);
    let mut sums: FxHashMap<(Place, &'static str), f32> = FxHashMap::default();
    for clue in clues {
        let name = match (clue.kind, clue.zone) {
            (ClueKind::Path, _) => "clue_path",
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
            (ClueKind::Literal, Zone::Trace) => "clue_error",
            (ClueKind::Literal, _) => "clue_literal",
            (ClueKind::Module | ClueKind::Test, _) => continue,
        };
        *sums.entry((clue.place, name)).or_default() += clue.share;
    }
    sums
}

fn look_closely(entries: &mut Vec<Entry<'_>>, clues: &FxHashMap<(Place, &'static str), f32>) {
    let best = |value: &dyn Fn(&Entry<'_>) -> f32| entries.iter().map(value).fold(1e-6, f32::max);
    let (text, told) = (best(&|entry| entry.text[0]), best(&|entry| entry.told));
    let impression = |entry: &Entry<'_>| {
        let named: f32 = CLUES
            .iter()
            .filter_map(|name| clues.get(&(place_of(entry.candidate), *name)))
            .sum();
        entry.impression + entry.text[0] / text + 0.5 * entry.told / told + named.min(2.0)
    };
    let mut order: Vec<(f32, usize)> = entries
        .iter()
        .map(impression)
        .enumerate()
        .map(|(at, value)| (value, at))
        .collect();
    order.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    order.truncate(CLOSE_LOOK);
    let kept: rustc_hash::FxHashSet<usize> = order.into_iter().map(|(_, at)| at).collect();
    let mut at = 0;
    entries.retain(|_| {
        at += 1;
        kept.contains(&(at - 1))
    });
}

fn rarity(
    entries: &[Entry<'_>],
    count: usize,
    noted: impl Fn(&Chunk) -> &Vec<(u16, u16)>,
) -> Vec<f32> {
    let mut with = vec![0f32; count];
    for entry in entries {
        noted(entry.chunk)
            .iter()
            .for_each(|&(number, _)| with[usize::from(number)] += 1.0);
    }
    let total = entries.len() as f32;
    with.iter()
        .map(|with| (1.0 + (total - with + 0.5) / (with + 0.5)).ln())
        .collect()
}

fn weighed(noted: &[(u16, u16)], rarity: &[f32]) -> f32 {
    noted
        .iter()
        .map(|&(number, times)| rarity[usize::from(number)] * (1.0 + f32::from(times)).ln())
        .sum()
}
