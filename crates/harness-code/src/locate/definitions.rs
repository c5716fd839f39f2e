//! What speaks for each definition, one number a signal. What they are worth is in `weights`.

use rustc_hash::FxHashMap;

use crate::locate::Inputs;
use crate::locate::index::weighed;
use crate::locate::query::TaskPart;
use crate::locate::scan::{Chunk, chunked};
use crate::locate::weights::Signals;
use crate::locate::words::each_word;
use crate::mention::ClueKind;
use crate::mention::project::PlaceId;
use crate::request::zone::Zone;
use crate::symbols::{Definition, DefinitionKind};

/// Returns the signals of the definitions in `files`, which are ranked.
pub(crate) fn signals(inputs: &Inputs<'_, '_>, files: &[(PlaceId, f32)]) -> Signals {
    let weights = inputs.query.weights(TaskPart::All);
    let mut entries: FxHashMap<PlaceId, Entry<'_>> = FxHashMap::default();
    let mut candidates = Vec::new();
    let best = files.first().map_or(0.0, |best| best.1);
    for &(file, score) in files {
        let mut own = of_file(inputs, file.file, score - best, &weights);
        let mut texts: Vec<f32> = own.iter().map(|(_, entry)| entry.text).collect();
        texts.sort_unstable_by(|a, b| b.total_cmp(a));
        for (place, entry) in &mut own {
            let better = texts.partition_point(|text| *text > entry.text);
            entry.own_place = -((1 + better) as f32).ln();
            candidates.push(*place);
        }
        entries.extend(own);
    }
    let mut signals = Signals::new(candidates);
    let mut add = |name, value: &dyn Fn(&Entry<'_>) -> f32| {
        signals.add(name, |place| entries.get(place).map_or(0.0, value));
    };
    add("file_gap", &|entry| entry.file_gap);
    add("own_place", &|entry| entry.own_place);
    add("class_text", &|entry| {
        entry
            .class
            .map_or(0.0, |chunk| inputs.index.chunk(chunk, &weights))
    });
    add("doc", &|entry| {
        let hits = entry.chunk.hits.iter().filter(|hits| hits.doc > 0);
        hits.map(|hits| weights[usize::from(hits.word)] * inputs.index.idf[usize::from(hits.word)])
            .sum()
    });
    add("coverage", &|entry| coverage(inputs, entry, &weights));
    add("pairs", &|entry| {
        weighed(&entry.chunk.pairs, &inputs.index.pair_idf)
    });
    add("said", &|entry| said(inputs, entry.definition));
    add("told", &|entry| told(inputs, entry.definition, &weights));
    add("lines", &|entry| {
        (1.0 + entry.definition.lines() as f32).ln()
    });
    add("is_class", &|entry| {
        f32::from(u8::from(entry.definition.kind == DefinitionKind::Class))
    });
    clues(&mut signals, inputs);
    signals
}

struct Entry<'a> {
    definition: &'a Definition,
    chunk: &'a Chunk,
    /// What stands in the class around it outside of methods.
    class: Option<&'a Chunk>,
    /// Words of the task in the path of its file.
    path: std::rc::Rc<[usize]>,
    file_gap: f32,
    text: f32,
    own_place: f32,
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
fn of_file<'a>(
    inputs: &Inputs<'a, '_>,
    file: u32,
    file_gap: f32,
    weights: &[f32],
) -> Vec<(PlaceId, Entry<'a>)> {
    let source = &inputs.tree.files()[file as usize];
    let Some(words) = &inputs.index.files[file as usize] else {
        return Vec::new();
    };
    let chunks: FxHashMap<u32, &Chunk> = words
        .counts
        .chunks
        .iter()
        .filter_map(|chunk| Some((chunk.definition?, chunk)))
        .collect();
    let mut path = Vec::new();
    each_word(source.path.as_str(), |word| {
        path.extend(inputs.index.numbers.get(word));
    });
    path.sort_unstable();
    path.dedup();
    let path: std::rc::Rc<[usize]> = path.into();
    let definitions = &source.facts.definitions;
    let with_functions: rustc_hash::FxHashSet<u32> = definitions
        .iter()
        .filter(|definition| definition.kind.is_function())
        .filter_map(|definition| definition.parent)
        .collect();
    let mut entries = Vec::new();
    for at in chunked(&source.facts) {
        let Some(definition) = definitions.get(at as usize) else {
            continue;
        };
        let test = !inputs.include_tests && is_test_inside(definitions, definition);
        if test || !definition.kind.is_function() && with_functions.contains(&at) {
            continue;
        }
        let chunk = chunks.get(&at).copied().unwrap_or(&SILENT);
        let entry = Entry {
            definition,
            chunk,
            class: definition
                .parent
                .and_then(|class| chunks.get(&class).copied()),
            path: path.clone(),
            file_gap,
            text: inputs.index.chunk(chunk, weights),
            own_place: 0.0,
        };
        let definition = Some(at);
        entries.push((PlaceId { file, definition }, entry));
    }
    entries
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

/// The share of what the task says that stands in the definition, its name, its class or its path.
fn coverage(inputs: &Inputs<'_, '_>, entry: &Entry<'_>, weights: &[f32]) -> f32 {
    let worth = |word: usize| weights[word] * inputs.index.idf[word];
    let own = |word: usize| {
        let mut hits = entry.chunk.hits.iter();
        hits.any(|hits| usize::from(hits.word) == word)
    };
    let here: f32 = entry
        .chunk
        .hits
        .iter()
        .map(|hits| worth(usize::from(hits.word)))
        .sum();
    let path = entry.path.iter().filter(|&&word| !own(word));
    here + path.map(|&word| worth(word)).sum::<f32>()
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

/// How well the task tells the definition's own name, in shares of the name's words.
fn told(inputs: &Inputs<'_, '_>, definition: &Definition, weights: &[f32]) -> f32 {
    let (mut said, mut count) = (0.0, 0.0f32);
    each_word(definition.name(), |word| {
        count += 1.0;
        if let Some(&word) = inputs.index.numbers.get(word) {
            said += weights[word].min(2.0) * inputs.index.idf[word];
        }
    });
    said / count.max(1.0).sqrt()
}

/// What the task gives or names.
fn clues(signals: &mut Signals, inputs: &Inputs<'_, '_>) {
    let mut named: FxHashMap<PlaceId, f32> = FxHashMap::default();
    let mut frames: FxHashMap<PlaceId, f32> = FxHashMap::default();
    for clue in &inputs.mentions.clues {
        let told = matches!(clue.zone, Zone::Title | Zone::Prose | Zone::Inline);
        let sums = match clue.kind {
            ClueKind::Qualified | ClueKind::Defined if told => &mut named,
            ClueKind::LastFrame => &mut frames,
            _ => continue,
        };
        *sums.entry(clue.place).or_default() += clue.share;
    }
    let value =
        |sums: &FxHashMap<PlaceId, f32>, place: &PlaceId| sums.get(place).copied().unwrap_or(0.0);
    signals.add("class_named", |place| {
        let definition = inputs.project.definition(*place).and_then(|own| own.parent);
        let class = PlaceId {
            file: place.file,
            definition,
        };
        definition.map_or(0.0, |_| value(&named, &class))
    });
    signals.add("last_frame", |place| value(&frames, place));
    signals.add("hook", |place| {
        inputs.hooks.get(place).map_or(0.0, |hook| hook.share)
    });
}
