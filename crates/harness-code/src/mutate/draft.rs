//! A draft that fails may hold the right change among wrong ones: its hunks, one by one.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::mutate::{Mutation, MutationKind};

/// A draft with more hunks than this is another program.
const MOST: usize = 12;

/// Returns every hunk of a draft as a change of its own, and each of its lines where lines were replaced one for one.
pub fn hunks(before: &str, draft: &str) -> Vec<Mutation> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = draft.split_inclusive('\n').collect();
    let starts: Vec<usize> = old
        .iter()
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .chain([before.len()])
        .collect();
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let changed: Vec<_> = ops.iter().filter(|op| op.tag() != DiffTag::Equal).collect();
    if changed.len() > MOST {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add = |from: std::ops::Range<usize>, to: std::ops::Range<usize>| {
        let (Some(start), Some(end)) = (starts.get(from.start), starts.get(from.end)) else {
            return;
        };
        let text: String = new.get(to).unwrap_or_default().concat();
        let destructive = text.trim().is_empty();
        found.push(Mutation {
            kind: MutationKind::Draft,
            range: *start..*end,
            text,
            line: from.start as u32 + 1,
            prior: 2.0,
            destructive,
        });
    };
    for op in &changed {
        add(op.old_range(), op.new_range());
        let (from, to) = (op.old_range(), op.new_range());
        if from.len() == to.len() && from.len() > 1 {
            for (one, other) in from.zip(to) {
                add(one..one + 1, other..other + 1);
            }
        }
    }
    found
}
