//! Looks for secrets in every text of the folders named and tells how long it took, one JSON line a folder.

use std::path::{Path, PathBuf};
use std::time::Instant;

use harness_agent::secret;

/// Files larger than this are data; prompts never hold them.
const LARGEST: u64 = 4 << 20;

fn main() {
    for folder in std::env::args().skip(1) {
        show(Path::new(&folder));
    }
}

#[expect(clippy::print_stdout, reason = "this is a program for measurements")]
fn show(folder: &Path) {
    let mut files = Vec::new();
    collect(folder, &mut files);
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .filter_map(|path| Some((path.clone(), std::fs::read_to_string(&path).ok()?)))
        .collect();
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let found: Vec<_> = texts
        .iter()
        .map(|(path, text)| (path, text, secret::find(text)))
        .filter(|(_, _, secrets)| !secrets.is_empty())
        .collect();
    let all: String = texts.iter().map(|(_, text)| text.as_str()).collect();
    let mut end = all.len().min(1_000_000);
    while !all.is_char_boundary(end) {
        end -= 1;
    }
    // The best of many: everything else on the machine can only make it slower.
    let best = (0..25).map(|_| {
        let begun = Instant::now();
        std::hint::black_box(secret::find(&all[..end]));
        begun.elapsed().as_secs_f64()
    });
    let seconds = best.fold(f64::INFINITY, f64::min);
    let places: Vec<String> = found
        .iter()
        .flat_map(|(path, text, secrets)| {
            secrets.iter().map(move |secret| {
                let line = text[..secret.range.start].matches('\n').count() + 1;
                format!("{} {}:{line}", secret.kind.id, path.display())
            })
        })
        .collect();
    let row = serde_json::json!({
        "folder": folder.file_name().unwrap_or_default().to_string_lossy(),
        "files": texts.len(),
        "bytes": bytes,
        "found": places.len(),
        "places": places,
        "ms_per_mb": seconds * 1000.0 / (end.max(1) as f64 / 1e6),
    });
    println!("{row}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        if kind.is_dir() && entry.file_name() != ".git" {
            collect(&path, files);
        } else if kind.is_file() && entry.metadata().is_ok_and(|facts| facts.len() <= LARGEST) {
            files.push(path);
        }
    }
}
