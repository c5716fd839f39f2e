//! What finding unresolved names and a rename cost, beside parsing the same files. Only for measuring (`bench/fix_speed.py`).

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use harness_code::fix::{Answer, MisspellingRequest, Surroundings, misspelled, rename};
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::request::rename::Rename;
use harness_code::scope::{Source, unresolved};
use harness_code::tree::SourceTree;
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().unwrap_or_default());
    let old = arguments.next().unwrap_or_default();
    let new = arguments.next().unwrap_or_default();
    let began = Watch::start();
    let tree = match SourceTree::read(&root, None) {
        Ok(tree) => tree,
        Err(problem) => {
            let problem = json!({"error": problem.to_string()});
            return writeln!(std::io::stdout(), "{problem}");
        }
    };
    let reading = began.stop();
    let texts = texts(&tree);
    let mut answer = json!({
        "files": texts.len(),
        "bytes": texts.iter().map(|(_, text)| text.len()).sum::<usize>(),
        "reading": reading,
    });
    answer["parsing"] = least(3, || {
        for (_, text) in &texts {
            std::hint::black_box(Source::parse(text.clone()).is_whole());
        }
    });
    let mut names = 0;
    answer["unresolved"] = least(3, || {
        names = texts
            .iter()
            .map(|(path, text)| unresolved(path, text).len())
            .sum();
    });
    answer["unresolved_names"] = json!(names);
    answer["misspelled"] = least(1, || {
        std::hint::black_box(misspelled(&tree, &MisspellingRequest::default()));
    });
    if !old.is_empty() {
        answer["rename"] = least(3, || {
            std::hint::black_box(renamed(&tree, &old, &new));
        });
        answer["rename_from_nothing"] = least(3, || {
            let tree = SourceTree::list(&root);
            std::hint::black_box(tree.map(|tree| renamed(&tree, &old, &new)).ok());
        });
        answer["renamed"] = json!(renamed(&tree, &old, &new));
    }
    writeln!(std::io::stdout(), "{answer}")
}

/// What a rename says.
fn renamed(tree: &SourceTree, old: &str, new: &str) -> String {
    let request = Rename {
        old: old.to_string(),
        new: new.to_string(),
        ..Rename::default()
    };
    match rename(tree, &request, &Surroundings::default()) {
        Answer::Certain(proposal) => proposal.summary,
        Answer::Ask { text, options } => format!("asked: {text} {options:?}"),
        Answer::Refuse { reason, places } => format!("refused: {reason} ({} places)", places.len()),
        Answer::Nothing => "nothing".to_string(),
    }
}

fn texts(tree: &SourceTree) -> Vec<(RelPath, String)> {
    tree.files()
        .iter()
        .filter(|file| file.language == Language::Python)
        .filter_map(|file| {
            let text = tree.text(&file.path).ok()?;
            Some((file.path.clone(), text.into_content()))
        })
        .collect()
}

/// The fastest of a few times: seconds of the clock, and of the processors of all threads.
fn least(times: u32, mut work: impl FnMut()) -> Value {
    let mut best: Option<(Duration, f64)> = None;
    for _ in 0..times {
        let watch = Watch::start();
        work();
        let took = watch.took();
        if best.is_none_or(|best| took.1 < best.1) {
            best = Some(took);
        }
    }
    best.map_or(
        Value::Null,
        |(wall, cpu)| json!({"wall": wall.as_secs_f64(), "cpu": cpu}),
    )
}

/// Time of the clock and of the processors.
struct Watch {
    began: Instant,
    used: f64,
}

impl Watch {
    fn start() -> Watch {
        Watch {
            began: Instant::now(),
            used: used(),
        }
    }

    fn took(&self) -> (Duration, f64) {
        (self.began.elapsed(), used() - self.used)
    }

    fn stop(&self) -> Value {
        let (wall, cpu) = self.took();
        json!({"wall": wall.as_secs_f64(), "cpu": cpu})
    }
}

/// Seconds that all threads of this process ran, from Linux's own count; nothing is known elsewhere.
fn used() -> f64 {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return 0.0;
    };
    let nanoseconds = |path: PathBuf| -> Option<f64> {
        let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    tasks
        .flatten()
        .filter_map(|task| nanoseconds(task.path()))
        .sum::<f64>()
        / 1e9
}
