//! What speaks for each file, one number a signal. What they are worth is in `weights`.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::locate::Inputs;
use crate::locate::index::{FileWords, weighed};
use crate::locate::query::TaskPart;
use crate::locate::weights::Signals;
use crate::locate::words::each_word;
use crate::mention::ClueKind;
use crate::mention::project::PlaceId;
use crate::request::zone::Zone;
use crate::tree;

/// Returns the signals of the source files of the project.
pub(crate) fn signals(inputs: &Inputs<'_, '_>) -> Signals {
    let files = inputs.tree.files();
    let candidates = (0..files.len() as u32)
        .filter(|&at| inputs.index.files[at as usize].is_some())
        .filter(|&at| inputs.include_tests || !files[at as usize].test)
        .map(|file| PlaceId {
            file,
            definition: None,
        });
    let mut signals = Signals::new(candidates.collect());
    text(&mut signals, inputs);
    path(&mut signals, inputs);
    clues(&mut signals, inputs);
    neighbours(&mut signals, inputs);
    signals
}

/// Scores by the words of the task.
fn text(signals: &mut Signals, inputs: &Inputs<'_, '_>) {
    let index = inputs.index;
    let [all, title, code] =
        [TaskPart::All, TaskPart::Title, TaskPart::Code].map(|part| inputs.query.weights(part));
    let mut add = |name, value: &dyn Fn(&FileWords) -> f32| {
        signals.add(name, |place| {
            index.files[place.file as usize].as_ref().map_or(0.0, value)
        });
    };
    let chunks = |file: &FileWords, weights: &[f32]| -> Vec<f32> {
        let scores = file.counts.chunks.iter();
        scores.map(|chunk| index.chunk(chunk, weights)).collect()
    };
    let best = |scores: Vec<f32>| scores.into_iter().fold(0.0, f32::max);
    add("chunk_four", &|file| four_best(chunks(file, &all)));
    add("chunk_best", &|file| best(chunks(file, &all)));
    add("chunk_title", &|file| best(chunks(file, &title)));
    add("chunk_code", &|file| best(chunks(file, &code)));
    add("text_title", &|file| index.whole(file, &title));
    add("doc", &|file| index.doc(file, &all));
    add("pairs", &|file| weighed(&file.pairs, &index.pair_idf));
    add("names", &|file| weighed(&file.names, &index.name_idf));
}

/// The best four chunks together, each a tenth less than the one before it.
fn four_best(mut scores: Vec<f32>) -> f32 {
    scores.sort_by(|one, other| other.total_cmp(one));
    scores
        .iter()
        .take(4)
        .rev()
        .fold(0.0, |sum, score| 0.9 * sum + score)
}

/// How the task tells the name and the path of a file.
fn path(signals: &mut Signals, inputs: &Inputs<'_, '_>) {
    let weights = inputs.query.weights(TaskPart::All);
    let stem = |place: &PlaceId| {
        let path = &inputs.tree.files()[place.file as usize].path;
        match path.file_name() {
            "__init__.py" => path.folder().rsplit('/').next().unwrap_or_default(),
            _ => path.stem(),
        }
    };
    signals.add("stem_words", |place| {
        let (mut sum, mut whole) = (0.0, true);
        each_word(stem(place), |word| match inputs.index.numbers.get(word) {
            Some(&word) => sum += inputs.index.idf[word] * weights[word].min(2.0),
            None => whole = false,
        });
        if whole { sum } else { 0.0 }
    });
    let name = |place: &PlaceId| stem(place).trim_matches('_').to_lowercase();
    let mut namesakes: FxHashMap<String, Vec<PlaceId>> = FxHashMap::default();
    for place in &signals.candidates {
        namesakes.entry(name(place)).or_default().push(*place);
    }
    signals.add("stem_said", |place| {
        let name = name(place);
        if name.len() > 2 && inputs.query.runs.contains_key(&name) {
            1.0 / namesakes[&name].len() as f32
        } else {
            0.0
        }
    });
    let ends = path_ends(inputs, &namesakes);
    signals.add("path_end", |place| {
        ends.get(&place.file).copied().unwrap_or(0.0)
    });
}

/// Files whose path ends as a dotted or quoted text of the task does: `"ascii.rst"` and `io/ascii/rst.py`.
fn path_ends(
    inputs: &Inputs<'_, '_>,
    namesakes: &FxHashMap<String, Vec<PlaceId>>,
) -> FxHashMap<u32, f32> {
    let written = &inputs.written;
    let texts = (written.names.iter().map(|name| &name.text))
        .chain(written.paths.iter().map(|path| &path.text))
        .chain(written.quotations.iter().map(|quotation| &quotation.text));
    let texts: FxHashSet<&str> = texts
        .map(String::as_str)
        .filter(|text| !text.contains(' '))
        .collect();
    let mut ends: FxHashMap<u32, f32> = FxHashMap::default();
    for text in texts {
        let lower = text.to_lowercase();
        let parts: Vec<&str> = lower
            .split(['.', '/'])
            .filter(|part| !part.is_empty())
            .collect();
        let [.., folder, stem] = parts[..] else {
            continue;
        };
        let agreeing: Vec<u32> = namesakes
            .get(stem)
            .into_iter()
            .flatten()
            .map(|place| place.file)
            .filter(|&file| {
                let path = &inputs.tree.files()[file as usize].path;
                let mut folders = path.folder().rsplit('/');
                if path.file_name() == "__init__.py" {
                    folders.next();
                }
                folders
                    .next()
                    .is_some_and(|above| above.eq_ignore_ascii_case(folder))
            })
            .collect();
        for file in &agreeing {
            *ends.entry(*file).or_default() += 1.0 / agreeing.len() as f32;
        }
    }
    ends
}

/// What the task gives or names, by file, and what a file is.
fn clues(signals: &mut Signals, inputs: &Inputs<'_, '_>) {
    let mut sums: FxHashMap<(&str, u32), f32> = FxHashMap::default();
    for clue in &inputs.mentions.clues {
        let told = matches!(clue.zone, Zone::Title | Zone::Prose | Zone::Inline);
        let name = match clue.kind {
            ClueKind::Path if told => "path",
            ClueKind::LastFrame => "last_frame",
            ClueKind::Qualified | ClueKind::Defined if told => "named",
            _ => continue,
        };
        *sums.entry((name, clue.place.file)).or_default() += clue.share;
    }
    for (place, hook) in inputs.hooks {
        let most = sums.entry(("hook", place.file)).or_default();
        *most = most.max(hook.share);
    }
    for name in ["path", "last_frame", "named", "hook"] {
        signals.add(name, |place| {
            sums.get(&(name, place.file)).copied().unwrap_or(0.0)
        });
    }
    let aside = |place: &PlaceId| tree::is_aside(&inputs.tree.files()[place.file as usize].path);
    signals.add("aside", |place| f32::from(u8::from(aside(place))));
    signals.add("lines", |place| {
        (1.0 + inputs.tree.files()[place.file as usize].lines as f32).ln()
    });
}

/// How well the best of the files that import a file match.
fn neighbours(signals: &mut Signals, inputs: &Inputs<'_, '_>) {
    let all = inputs.query.weights(TaskPart::All);
    let mut own: FxHashMap<u32, f32> = FxHashMap::default();
    for place in &signals.candidates {
        if let Some(words) = &inputs.index.files[place.file as usize] {
            own.insert(place.file, inputs.index.whole(words, &all));
        }
    }
    let most = own.values().copied().fold(1e-6, f32::max);
    let mut importer: FxHashMap<u32, f32> = FxHashMap::default();
    for (from, to) in import_edges(inputs) {
        let best = importer.entry(to).or_default();
        *best = best.max(own.get(&from).copied().unwrap_or(0.0) / most);
    }
    signals.add("importer", |place| {
        importer.get(&place.file).copied().unwrap_or(0.0)
    });
}

/// Returns who imports whom, each pair once.
fn import_edges(inputs: &Inputs<'_, '_>) -> FxHashSet<(u32, u32)> {
    let mut edges: FxHashSet<(u32, u32)> = FxHashSet::default();
    for (from, file) in (0..).zip(inputs.tree.files()) {
        for import in &file.facts.imports {
            let module = inputs.project.imported(from, import.level, &import.module);
            if import.names.is_empty() {
                edges.extend(module.map(|to| (from, to)));
            }
            for name in &import.names {
                let member = module.and_then(|module| inputs.project.member(module, &name.name));
                let to = member.map(|place| place.file).or(module);
                edges.extend(to.map(|to| (from, to)));
            }
        }
    }
    edges.retain(|(from, to)| from != to);
    edges
}
