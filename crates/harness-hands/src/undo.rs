//! Takes a run back, byte for byte, as a run of its own that can be taken back too.

use std::collections::BTreeMap;
use std::sync::Arc;

use harness_code::edit::unified_diff;
use harness_code::path::RelPath;

use crate::door::{Door, DoorError};
use crate::journal::{self, Ending, Header, Past, RunId, Was};
use crate::lock::{Holder, ProjectLock, Waiting};
use crate::runs;
use crate::state;
use crate::transaction::{Backups, Transaction, WriteError, firsts, was};

/// What an undo did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The run that was taken back.
    pub run: RunId,
    /// The run that this undo is; undo it to have the changes again.
    pub undo: RunId,
    /// The files that are as they were before the run, sorted.
    pub files: Vec<RelPath>,
}

/// A file that somebody changed after the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: RelPath,
    /// What restoring it would do to it, as a diff.
    pub diff: String,
}

/// What to do about files that were changed after the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Refuse, and show them.
    Never,
    /// Put the old bytes back all the same; the undo can be undone.
    Overwrite,
}

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There is no run to take back.
    #[error("no run has changes that could be taken back")]
    NothingToUndo,
    /// No run has this name.
    #[error("there is no run `{0}`")]
    UnknownRun(RunId),
    /// Somebody changed files since; nothing was touched.
    #[error("{} changed since the run", conflicting(.0))]
    Conflicts(Vec<Conflict>),
    /// The disk or the lock.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl From<DoorError> for UndoError {
    fn from(error: DoorError) -> UndoError {
        UndoError::Write(error.into())
    }
}

fn conflicting(conflicts: &[Conflict]) -> String {
    conflicts
        .iter()
        .map(|conflict| format!("`{}`", conflict.path))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Takes a run back; without a name, the latest that still has changes and is no undo itself.
pub(crate) fn undo(
    door: &Arc<Door>,
    run: Option<&RunId>,
    force: Force,
    waiting: &mut Waiting<'_>,
) -> Result<Undone, UndoError> {
    let whole = door.unscoped()?;
    let run = match run {
        Some(run) => run.clone(),
        None => match latest(&whole) {
            Err(UndoError::NothingToUndo) => {
                clear_up(&whole, waiting)?;
                return Err(UndoError::NothingToUndo);
            }
            found => found?,
        },
    };
    let undo = RunId::new();
    let header = Header {
        id: undo.clone(),
        task: format!("undo {run}"),
        undoes: Some(run.clone()),
    };
    // Nothing is begun for a run that is not there.
    read_past(&whole, &run)?;
    let mut transaction = Transaction::begin(door, &header, Backups::None, waiting)?;
    // Read under the lock: the run is over now, and stays as it is.
    let past = read_past(&whole, &run)?;
    match take_back(&whole, &past, force, &mut transaction) {
        Ok(()) => {
            let files = transaction.writes();
            let summary = format!("took back run {run}");
            transaction.finish(&Ending {
                outcome: "done".into(),
                summary,
                ..Ending::default()
            })?;
            Ok(Undone { run, undo, files })
        }
        Err(UndoError::Write(error)) => {
            let outcome = runs::UNFINISHED.to_string();
            let ending = Ending {
                outcome,
                summary: error.to_string(),
                ..Ending::default()
            };
            // The error that matters is the first one.
            let _ = transaction.finish(&ending);
            Err(error.into())
        }
        Err(refused) => {
            transaction.abandon();
            Err(refused)
        }
    }
}

/// Clears up after runs that were killed before they changed anything.
fn clear_up(door: &Door, waiting: &mut Waiting<'_>) -> Result<(), UndoError> {
    if state::find(door)?.is_none() {
        return Ok(());
    }
    let holder = Holder {
        process: std::process::id(),
        run: String::new(),
        task: "undo".to_owned(),
        since: RunId::new().began(),
    };
    let lock = ProjectLock::take(door, &holder, waiting).map_err(WriteError::from)?;
    runs::tidy(door);
    drop(lock);
    Ok(())
}

fn latest(door: &Door) -> Result<RunId, UndoError> {
    let records = runs::runs(door)?;
    let found = records
        .into_iter()
        .find(|record| !record.undone && record.undoes.is_none() && !record.files.is_empty());
    found
        .map(|record| record.id)
        .ok_or(UndoError::NothingToUndo)
}

fn read_past(door: &Door, run: &RunId) -> Result<Past, UndoError> {
    let unknown = || UndoError::UnknownRun(run.clone());
    let folder = journal::runs_folder(door)?.ok_or_else(unknown)?;
    match Past::read(&folder, run) {
        Ok(past) => Ok(past),
        Err(DoorError::Missing { .. }) => Err(unknown()),
        Err(error) => Err(error.into()),
    }
}

fn take_back(
    door: &Door,
    past: &Past,
    force: Force,
    transaction: &mut Transaction,
) -> Result<(), UndoError> {
    let mut wanted: BTreeMap<RelPath, Was> = BTreeMap::new();
    let mut images: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut conflicts = Vec::new();
    for (path, (first, backup)) in firsts(&past.changes) {
        let now = was(door, &path)?;
        let touched_since = !known(past, &path).any(|state| state.same_bytes(&now));
        if touched_since && backup {
            // A copy that somebody wrote to is theirs now.
            continue;
        }
        if let Was::File { digest, .. } = &first
            && !now.same_bytes(&first)
        {
            images.insert(digest.clone(), past.image(digest)?);
        }
        if touched_since && force == Force::Never {
            conflicts.push(Conflict {
                diff: diff(door, &path, &first, &images),
                path: path.clone(),
            });
        }
        if backup {
            transaction.treat_as_copies([path.clone()]);
        }
        wanted.insert(path, first);
    }
    if !conflicts.is_empty() {
        return Err(UndoError::Conflicts(conflicts));
    }
    transaction.restore(&wanted, &images)?;
    Ok(())
}

/// Returns every state that the run itself gave a path or found there.
fn known<'a>(past: &'a Past, path: &RelPath) -> impl Iterator<Item = &'a Was> {
    let path = path.clone();
    let effects = past.changes.iter().flat_map(|change| &change.effects);
    effects
        .filter(move |effect| effect.path == path)
        .flat_map(|effect| [&effect.before, &effect.after])
}

fn diff(door: &Door, path: &RelPath, first: &Was, images: &BTreeMap<String, Vec<u8>>) -> String {
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let now = door.read(path).ok().as_ref().map(text);
    let old = match first {
        Was::File { digest, .. } => images.get(digest).map(text),
        Was::Absent | Was::Folder => None,
    };
    unified_diff(path.as_str(), now.as_deref(), old.as_deref())
}
