//! What a run has changed so far: the files as they were and as they are, as a diff, and as the record keeps them.

use harness_code::edit;
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::text::Text;
use harness_hands::journal;
use harness_hands::transaction::Transaction;

use crate::guard::Change;
use crate::record::RecordedChange;
use crate::run::session::Session;

/// Returns every file that differs from what it was before the run.
pub(super) fn standing(changes: &Transaction, session: &Session<'_>) -> Vec<Change> {
    let decode = |bytes: &[u8]| {
        Text::decode(bytes)
            .map(Text::into_content)
            .unwrap_or_default()
    };
    let change = |path: RelPath| {
        let before = changes
            .original(&path)
            .ok()
            .flatten()
            .map(|bytes| decode(&bytes));
        let after = session
            .project
            .door()
            .read(&path)
            .map(|bytes| decode(&bytes))
            .unwrap_or_default();
        Change {
            language: Language::of(&path),
            path,
            before,
            after,
        }
    };
    changes.writes().into_iter().map(change).collect()
}

/// Returns what stands as a unified diff; a file that went is shown as gone.
pub(super) fn diffs(changes: &Transaction, session: &Session<'_>) -> String {
    let there = |path: &RelPath| session.project.door().exists(path).unwrap_or(true);
    let diff = |change: &Change| {
        let after = there(&change.path).then_some(change.after.as_str());
        edit::unified_diff(change.path.as_str(), change.before.as_deref(), after)
    };
    standing(changes, session).iter().map(diff).collect()
}

/// Returns what stands as the record keeps it.
pub(super) fn recorded(changes: &Transaction, session: &Session<'_>) -> Vec<RecordedChange> {
    let there = |path: &RelPath| session.project.door().exists(path).unwrap_or(true);
    let change = |change: Change| {
        let original = changes.original(&change.path).ok().flatten();
        RecordedChange {
            before: original.as_deref().map(journal::digest),
            after: there(&change.path).then_some(change.after),
            path: change.path.to_string(),
        }
    };
    standing(changes, session).into_iter().map(change).collect()
}

/// Returns a change as a unified diff.
pub(super) fn diff_of(change: &Change) -> String {
    edit::unified_diff(
        change.path.as_str(),
        change.before.as_deref(),
        Some(&change.after),
    )
}
