//! Reads the cases and the signals that `locate_signals` printed of them.

use std::collections::{HashMap, HashSet};

use harness_code::locate::{Candidate, Signals};

/// One case: its candidates with their signals, and what was looked for.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) repo: String,
    pub(crate) file_paths: Vec<String>,
    pub(crate) files: Signals,
    pub(crate) definition_paths: Vec<String>,
    pub(crate) definitions: Signals,
    pub(crate) gold_files: HashSet<String>,
    pub(crate) gold_definitions: HashSet<String>,
}

/// Reads both files; cases without candidates or without an answer are left out.
pub(crate) fn read(signals: &str, cases: &str) -> Vec<Case> {
    let mut read: HashMap<String, Case> = HashMap::new();
    let mut order = Vec::new();
    let strings = |value: &serde_json::Value| {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap().to_owned())
            .collect()
    };
    for line in std::fs::read_to_string(cases).unwrap().lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap().to_owned();
        let empty = || Signals {
            candidates: Vec::new(),
            columns: Vec::new(),
        };
        order.push(id.clone());
        let case = Case {
            id: id.clone(),
            repo: case["repo"].as_str().unwrap().to_owned(),
            file_paths: Vec::new(),
            files: empty(),
            definition_paths: Vec::new(),
            definitions: empty(),
            gold_files: strings(&case["gold_files"]),
            gold_definitions: strings(&case["gold_functions"]),
        };
        read.insert(id, case);
    }
    let text = std::fs::read_to_string(signals).unwrap();
    for block in text.split("\n#") {
        let mut lines = block.trim_start_matches('#').lines();
        let mut head = lines.next().unwrap().split('\t');
        let (kind, id) = (head.next().unwrap(), head.next().unwrap());
        let case = read.get_mut(id).unwrap();
        let mut signals = Signals {
            candidates: Vec::new(),
            columns: head
                .map(|name| (name.to_owned().into(), Vec::new()))
                .collect(),
        };
        let mut names = Vec::new();
        for line in lines {
            let mut fields = line.split('\t');
            names.push(fields.next().unwrap().to_owned());
            for (column, field) in signals.columns.iter_mut().zip(fields) {
                column.1.push(field.parse().unwrap());
            }
        }
        if kind == "files" {
            case.file_paths = names
                .iter()
                .map(|name| name.trim_end_matches("::").to_owned())
                .collect();
            signals.candidates = (0..names.len() as u32)
                .map(|file| Candidate {
                    file,
                    definition: None,
                })
                .collect();
            case.files = signals;
        } else {
            let numbers: HashMap<&str, u32> = case
                .file_paths
                .iter()
                .enumerate()
                .map(|(at, path)| (path.as_str(), at as u32))
                .collect();
            signals.candidates = names
                .iter()
                .map(|name| Candidate {
                    file: numbers[name.split("::").next().unwrap()],
                    definition: Some(0),
                })
                .collect();
            case.definition_paths = names;
            case.definitions = signals;
        }
    }
    let wanted = |case: &Case| !case.file_paths.is_empty() && !case.gold_files.is_empty();
    order
        .into_iter()
        .filter_map(|id| read.remove(&id))
        .filter(wanted)
        .collect()
}
