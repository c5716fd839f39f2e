//! Which changes that pass only go around what is broken: the place that failed, or a definition that the failing tests
//! point at, no longer runs.

use harness_code::mutate::Mutation;
use harness_code::path::RelPath;
use harness_code::tree;
use harness_hands::suite::Failure;
use harness_hands::suite::tried::Trace;

use crate::run::search::blame::{FileTexts, Suspect};

/// What the failing tests ran before anything was changed.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) traces: &'a [Trace],
    pub(super) failures: &'a [Failure],
    pub(super) suspects: &'a [Suspect],
    pub(super) files: &'a FileTexts,
}

impl Way<'_> {
    /// Returns whether a change could go around something, so that it is worth to look; one that takes code away is never
    /// believed anyway.
    pub(super) fn may_be_left(mutation: &Mutation) -> bool {
        !mutation.destructive && !mutation.kind.steers()
    }

    /// Returns whether a change of a suspect leaves the way: `after` is what its failing tests run with it.
    pub(super) fn is_left(&self, at: usize, mutation: &Mutation, after: &[Trace]) -> bool {
        let suspect = &self.suspects[at];
        let told = |test: &String| after.iter().any(|trace| trace.test == *test);
        suspect.tests.iter().all(told)
            && (self.skips_the_place(suspect, mutation, after)
                || self.skips_a_suspect(at, suspect, after))
    }

    /// The line that failed no longer runs, and was not changed.
    fn skips_the_place(&self, suspect: &Suspect, mutation: &Mutation, after: &[Trace]) -> bool {
        let blamed = self
            .failures
            .iter()
            .filter(|failure| suspect.tests.contains(&failure.id));
        for failure in blamed {
            let (Some(file), Some(line)) = (&failure.file, failure.line) else {
                continue;
            };
            let Ok(path) = RelPath::parse(file) else {
                continue;
            };
            let Some(text) = self.files.get(&path).filter(|_| !tree::is_test(&path)) else {
                continue;
            };
            let code = (line as usize)
                .checked_sub(1)
                .and_then(|at| text.content().lines().nth(at));
            // It refuses what it is given: that it should not be reached is likely.
            let refuses = |code: &str| code.starts_with("raise") || code.starts_with("assert");
            if code.is_none_or(|code| refuses(code.trim_start())) || self.forwards(&path, line) {
                continue;
            }
            let old = text.content().get(mutation.range.clone());
            let rows = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() as u32;
            let old_rows = rows(old.unwrap_or_default());
            let changed = mutation.line..=mutation.line + old_rows;
            if path == suspect.path && changed.contains(&line) {
                continue;
            }
            // Below the change lines may have moved.
            let moved = (line + rows(&mutation.text)).saturating_sub(old_rows);
            let places = [line, moved];
            let runs = |traces: &[Trace], places: &[u32]| {
                let mut of_test = traces.iter().filter(|trace| trace.test == failure.id);
                of_test.any(|trace| ran(trace, &path, |line| places.contains(&line)))
            };
            if runs(self.traces, &places[..1]) && !runs(after, &places) {
                return true;
            }
        }
        false
    }

    /// Returns whether a line belongs to what only passes a name on: whoever asked for that name is to blame.
    fn forwards(&self, path: &RelPath, line: u32) -> bool {
        self.suspects.iter().any(|known| {
            known.path == *path && known.rows.contains(&line) && known.name.ends_with("__getattr__")
        })
    }

    /// A definition that is no less suspect, and that every one of these tests ran, runs in none of them.
    fn skips_a_suspect(&self, at: usize, suspect: &Suspect, after: &[Trace]) -> bool {
        let others = self.suspects.iter().enumerate();
        others
            .filter(|(index, other)| {
                *index != at
                    && other.suspicion >= suspect.suspicion
                    && !other.name.ends_with("__")
                    && suspect.tests.iter().all(|test| other.tests.contains(test))
            })
            .any(|(_, other)| !after.iter().any(|trace| other.runs_in(trace)))
    }
}

/// Returns whether a test runs a line of a file.
fn ran(trace: &Trace, path: &RelPath, wanted: impl Fn(u32) -> bool) -> bool {
    let lines = trace.lines.get(path.as_str());
    lines.is_some_and(|lines| lines.iter().any(|line| wanted(*line)))
}

impl Suspect {
    /// Returns whether a test runs it.
    pub(super) fn runs_in(&self, trace: &Trace) -> bool {
        ran(trace, &self.path, |line| self.rows.contains(&line))
    }
}
