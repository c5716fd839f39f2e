//! The runs a project remembers: listed, tidied after a crash, pruned by age and size.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use harness_code::edit::unified_diff;
use harness_code::path::RelPath;

use crate::door::folder::Folder;
use crate::door::protected::is_backup;
use crate::door::{Door, DoorError, Kind};
use crate::git::Changed;
use crate::journal::{self, ENDING, Ending, Past, RunId, Was};

/// Runs are kept this long: a month of second thoughts.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);
/// Above this many bytes the oldest runs go first.
const KEPT_BYTES: u64 = 200 * 1024 * 1024;
/// The newest runs stay whatever their age and size.
const KEPT_ALWAYS: usize = 5;
/// More runs than this are never kept: `last` reads each of them.
const KEPT_AT_MOST: usize = 200;

/// What is remembered of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// Its name.
    pub id: RunId,
    /// When it began, in universal time.
    pub at: String,
    /// What was asked for.
    pub task: String,
    /// The reason for stopping, such as `done`; `unfinished` when it ended by a crash.
    pub outcome: String,
    /// Its closing sentence.
    pub summary: String,
    /// The files it left changed, sorted.
    pub files: Vec<RelPath>,
    /// What the tests said, in the shape the result has.
    pub tests: serde_json::Value,
    /// The run that this one took back, when it is an undo.
    pub undoes: Option<RunId>,
    /// Whether a later undo took it back.
    pub undone: bool,
}

/// How a run that never came to its end is called.
pub(crate) const UNFINISHED: &str = "unfinished";

/// Lists the runs of a project, newest first.
pub fn runs(door: &Door) -> Result<Vec<RunRecord>, DoorError> {
    let Some(folder) = journal::runs_folder(door)? else {
        return Ok(Vec::new());
    };
    let mut records = Vec::new();
    for id in ids(&folder).into_iter().rev() {
        // A run that cannot be read is no reason to hide the others.
        if let Ok(past) = Past::read(&folder, &id) {
            records.push(record(&past));
        }
    }
    mark_undone(&mut records);
    Ok(records)
}

fn record(past: &Past) -> RunRecord {
    let ending = past.ending.clone().unwrap_or_else(unfinished);
    RunRecord {
        id: past.header.id.clone(),
        at: past.header.id.began(),
        task: past.header.task.clone(),
        outcome: ending.outcome,
        summary: ending.summary,
        files: left_changed(past),
        tests: ending.tests,
        undoes: past.header.undoes.clone(),
        undone: false,
    }
}

/// Newest first: an undo counts unless a later one took it back.
fn mark_undone(records: &mut [RunRecord]) {
    for index in 0..records.len() {
        let takes_back = !records[index].undone && records[index].outcome == "done";
        if let Some(target) = records[index].undoes.clone().filter(|_| takes_back) {
            for other in records.iter_mut().filter(|other| other.id == target) {
                other.undone = true;
            }
        }
    }
}

/// Returns the files whose last state differs from their first, by the journal alone.
pub(crate) fn left_changed(past: &Past) -> Vec<RelPath> {
    let ends = first_and_last(past).into_iter();
    ends.map(|(path, _, _)| path.clone()).collect()
}

/// Returns the files that a run left changed, with what they were before and after it.
fn first_and_last(past: &Past) -> Vec<(&RelPath, &Was, &Was)> {
    let mut ends: std::collections::BTreeMap<&RelPath, (&Was, &Was)> = Default::default();
    let effects = || past.changes.iter().flat_map(|change| &change.effects);
    // A copy stays a copy, also where a later change of the run took it away again.
    let copies: std::collections::BTreeSet<&RelPath> = effects()
        .filter(|effect| effect.backup)
        .map(|effect| &effect.path)
        .collect();
    for effect in effects().filter(|effect| !copies.contains(&effect.path)) {
        ends.entry(&effect.path)
            .and_modify(|(_, last)| *last = &effect.after)
            .or_insert((&effect.before, &effect.after));
    }
    let changed = ends.into_iter().filter(|(_, (first, last))| {
        !first.same_bytes(last) && **first != Was::Folder && **last != Was::Folder
    });
    changed
        .map(|(path, (first, last))| (path, first, last))
        .collect()
}

/// Returns what a run changed as a unified diff, as far as its bytes are still to be had.
pub fn diff(door: &Door, id: &RunId) -> Result<String, DoorError> {
    let shown = |bytes: &Option<Vec<u8>>| {
        let bytes = bytes.as_ref()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let file = |file: &Changed| {
        let (before, after) = (shown(&file.before), shown(&file.after));
        unified_diff(file.path.as_str(), before.as_deref(), after.as_deref())
    };
    Ok(changes(door, id)?.iter().map(file).collect())
}

/// Returns the files that a run changed, as far as their bytes are still to be had: from the journals, and from files
/// that nobody changed since.
pub(crate) fn changes(door: &Door, id: &RunId) -> Result<Vec<Changed>, DoorError> {
    let Some(folder) = journal::runs_folder(door)? else {
        return Ok(Vec::new());
    };
    let past = Past::read(&folder, id)?;
    // What a later run replaced is in that run's journal.
    let later: Vec<Past> = ids(&folder)
        .iter()
        .filter(|other| *other > id)
        .filter_map(|other| Past::read(&folder, other).ok())
        .collect();
    let bytes = |path: &RelPath, was: &Was| -> Option<Option<Vec<u8>>> {
        let Was::File { digest, .. } = was else {
            return Some(None);
        };
        let kept = || later.iter().find_map(|later| later.image(digest).ok());
        let here = || {
            let now = door.read(path).ok()?;
            (journal::digest(&now) == *digest).then_some(now)
        };
        past.image(digest)
            .ok()
            .or_else(here)
            .or_else(kept)
            .map(Some)
    };
    let changed = |(path, first, last): (&RelPath, &Was, &Was)| {
        Some(Changed {
            path: path.clone(),
            before: bytes(path, first)?,
            after: bytes(path, last)?,
            executable: matches!(last, Was::File { mode, .. } if mode & 0o100 != 0),
        })
    };
    let ends = first_and_last(&past).into_iter();
    Ok(ends.filter_map(changed).collect())
}

/// Returns the copies that runs left beside the files they changed and that nobody wrote to since, sorted.
pub(crate) fn backups(door: &Door) -> Result<Vec<RelPath>, DoorError> {
    let Some(folder) = journal::runs_folder(door)? else {
        return Ok(Vec::new());
    };
    // A run that was taken back took its copies with it: one of that name is somebody else's.
    let runs = runs(door)?;
    let stands = |id: &&RunId| runs.iter().any(|run| run.id == **id && !run.undone);
    let mut found = std::collections::BTreeSet::new();
    for past in ids(&folder)
        .iter()
        .filter(stands)
        .filter_map(|id| Past::read(&folder, id).ok())
    {
        let effects = past.changes.iter().flat_map(|change| &change.effects);
        // The journal is only text: nothing but a copy that nobody touched goes by its word.
        let copies = effects.filter(|effect| {
            let now = || door.read(&effect.path).map(|bytes| Was::file(&bytes, 0));
            effect.backup
                && is_backup(effect.path.file_name())
                && now().is_ok_and(|now| now.same_bytes(&effect.after))
        });
        found.extend(copies.map(|effect| effect.path.clone()));
    }
    Ok(found.into_iter().collect())
}

/// Removes those of some such copies that still are; the caller holds the project.
pub(crate) fn remove_backups(door: &Door, listed: &[RelPath]) -> Result<Vec<RelPath>, DoorError> {
    let mut copies = backups(door)?;
    copies.retain(|path| listed.contains(path));
    for path in &copies {
        let folder = door.folder_of(path)?;
        let removed = folder.remove(path.file_name());
        removed.map_err(|error| DoorError::from_io(path, error))?;
    }
    Ok(copies)
}

/// Returns the change that a run tried and did not keep, where it left one.
pub(crate) fn attempt(door: &Door, id: &RunId) -> Option<Vec<u8>> {
    let folder = journal::runs_folder(door).ok().flatten()?;
    let run = journal::open_run(&folder, id).ok()?;
    let path = RelPath::parse(journal::ATTEMPT).ok()?;
    run.read(journal::ATTEMPT, &path).ok()
}

fn ids(folder: &Folder) -> Vec<RunId> {
    let names = folder.names().unwrap_or_default();
    names.iter().filter_map(|name| RunId::parse(name)).collect()
}

fn unfinished() -> Ending {
    Ending {
        outcome: UNFINISHED.to_string(),
        summary: "the run was ended from outside before it could finish".to_string(),
        tests: serde_json::Value::Null,
    }
}

/// Clears up after runs that were killed: the caller holds the project, so whoever has no end is
/// dead. Temporary files go, what was changed stays for `undo`. Trouble here stops nobody.
pub(crate) fn tidy(door: &Door) {
    let Ok(Some(folder)) = journal::runs_folder(door) else {
        return;
    };
    for id in ids(&folder) {
        let Ok(run) = journal::open_run(&folder, &id) else {
            continue;
        };
        if !matches!(run.metadata(ENDING), Ok(None)) {
            continue;
        }
        let Ok(past) = Past::read(&folder, &id) else {
            continue;
        };
        for change in &past.changes {
            if let (Some(temp), Some(effect)) = (&change.temp, change.effects.first()) {
                remove_temporary(door, &effect.path, temp);
            }
        }
        if left_changed(&past).is_empty() {
            remove_copies(door, &past);
        }
        let text = serde_json::to_vec(&unfinished()).unwrap_or_default();
        let _ = journal::place(&run, ENDING, &text);
    }
}

/// Removes the copies of a run that was killed before it changed what it had copied.
fn remove_copies(door: &Door, past: &Past) {
    let effects = past.changes.iter().flat_map(|change| &change.effects);
    for effect in effects.filter(|effect| effect.backup && effect.before == Was::Absent) {
        let name = effect.path.file_name();
        // The journal is only text: nothing but a copy that nobody touched goes by its word.
        let now = door.read(&effect.path).map(|bytes| Was::file(&bytes, 0));
        let is_untouched = now.is_ok_and(|now| now.same_bytes(&effect.after));
        if is_backup(name)
            && is_untouched
            && let Ok(folder) = door.folder_of(&effect.path)
        {
            let _ = folder.remove(name);
        }
    }
}

fn remove_temporary(door: &Door, beside: &RelPath, temp: &str) {
    // The journal is only text: nothing but a temporary file of ours is ever removed by its word.
    let is_ours =
        temp.starts_with(".harness-") && temp.ends_with(".tmp") && !temp.contains(['/', '\\']);
    if !is_ours {
        return;
    }
    if let Ok(folder) = door.folder_of(beside)
        && matches!(folder.metadata(temp), Ok(Some(found)) if found.kind == Kind::File)
    {
        let _ = folder.remove(temp);
    }
}

/// Removes old runs, sparing `current`. Trouble here stops nobody.
pub(crate) fn prune(door: &Door, current: &RunId) {
    let Ok(Some(folder)) = journal::runs_folder(door) else {
        return;
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let oldest = journal::stamp(now.saturating_sub(KEPT_FOR).as_secs());
    let mut kept_bytes = 0;
    for (age, id) in ids(&folder).into_iter().rev().enumerate() {
        kept_bytes += bytes_of(&folder, &id);
        let too_old = id.as_str() < oldest.as_str() || age >= KEPT_AT_MOST;
        let goes = age >= KEPT_ALWAYS && (too_old || kept_bytes > KEPT_BYTES);
        if goes && id != *current {
            remove_run(&folder, &id);
        }
    }
}

fn bytes_of(runs: &Folder, id: &RunId) -> u64 {
    let Ok(run) = journal::open_run(runs, id) else {
        return 0;
    };
    let images = journal::images_of(&run);
    let sizes = |folder: &Folder| -> u64 {
        let names = folder.names().unwrap_or_default();
        let found = names
            .iter()
            .filter_map(|name| folder.metadata(name).ok().flatten());
        found.map(|found| found.bytes).sum()
    };
    sizes(&run) + images.as_ref().map_or(0, sizes)
}

/// Forgets a run.
pub(crate) fn forget(door: &Door, id: &RunId) {
    if let Ok(Some(folder)) = journal::runs_folder(door) {
        remove_run(&folder, id);
    }
}

fn remove_run(runs: &Folder, id: &RunId) {
    let Ok(run) = journal::open_run(runs, id) else {
        return;
    };
    if let Some(images) = journal::images_of(&run) {
        clear(&images);
        let _ = run.remove_folder(journal::IMAGES);
    }
    clear(&run);
    let _ = runs.remove_folder(id.as_str());
}

fn clear(folder: &Folder) {
    for name in folder.names().unwrap_or_default() {
        // Removing never follows a link; a folder that is not ours makes it fail, and stays.
        let _ = folder.remove(&name);
    }
}
