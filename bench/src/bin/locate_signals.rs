//! Prints the signals of files and definitions for each case of a file, for fitting what they are worth.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a measuring tool that may stop at the first surprise"
)]

use std::io::Write;
use std::path::Path;

use harness_code::locate::{LocateOptions, Signals, TaskOccurrences, signals};
use harness_code::request::Request;
use harness_code::tree::SourceTree;

/// Usage: `locate_signals CASES.jsonl TREES_FOLDER [FIRST EVERY]`; a case's project lies in `TREES_FOLDER/<id>`.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let cases = std::fs::read_to_string(&args[0]).unwrap();
    let first = args.get(2).map_or(0, |n| n.parse().unwrap());
    let every = args.get(3).map_or(1, |n| n.parse().unwrap());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in cases.lines().skip(first).step_by(every) {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        let start = std::time::Instant::now();
        let folder = Path::new(&args[1]).join(id);
        let text = case["text"].as_str().unwrap();
        let (tree, occurrences) =
            TaskOccurrences::read(&folder, None, &Request::read(text)).unwrap();
        let read = start.elapsed();
        let (files, definitions) = signals(&tree, &occurrences, LocateOptions::default());
        eprintln!("{id} read {read:?} signals {:?}", start.elapsed() - read);
        print_signals(&mut out, "files", id, &tree, &files);
        print_signals(&mut out, "definitions", id, &tree, &definitions);
    }
}

fn print_signals(out: &mut impl Write, kind: &str, id: &str, tree: &SourceTree, signals: &Signals) {
    let names: Vec<&str> = signals.columns.iter().map(|column| column.0).collect();
    writeln!(out, "#{kind}\t{id}\t{}", names.join("\t")).unwrap();
    for (row, candidate) in signals.candidates.iter().enumerate() {
        let file = &tree.files()[candidate.file as usize];
        let name = candidate
            .definition
            .map_or("", |at| &file.facts.definitions[at as usize].qualified);
        write!(out, "{}::{name}", file.path).unwrap();
        for column in &signals.columns {
            let value = column.1[row];
            if value == 0.0 {
                write!(out, "\t0")
            } else {
                write!(out, "\t{value:.4}")
            }
            .unwrap();
        }
        writeln!(out).unwrap();
    }
}
