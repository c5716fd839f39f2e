//! One writer per project: a lock that dies with its holder, and says who holds it.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::door::{Door, DoorError};
use crate::state;

/// The name of the lock file in the state folder. It stays there: removing it would race.
const LOCK_FILE: &str = "lock";

/// How often a waiting run looks again: soon enough for a person, seldom enough for a machine.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Who holds a project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Holder {
    /// The process that holds it.
    pub process: u32,
    /// The run it works on.
    pub run: String,
    /// The task, shortened.
    pub task: String,
    /// When it started, as the run id's clock says.
    pub since: String,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.process == 0 {
            return write!(f, "another run");
        }
        write!(
            f,
            "run {} (process {}, since {})",
            self.run, self.process, self.since
        )
    }
}

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody holds it and did not let go in time.
    #[error("the project is held by {0}")]
    Busy(Holder),
    /// The user stopped the wait.
    #[error("stopped while waiting for the project")]
    Interrupted,
    /// The lock file cannot be used.
    #[error(transparent)]
    Door(#[from] DoorError),
}

/// How to wait for a project that somebody else holds.
pub struct Waiting<'a> {
    /// How long at most.
    pub patience: Duration,
    /// Set by whoever wants the wait to end.
    pub cancel: &'a AtomicBool,
    /// Called once, when the wait begins, with who holds the project.
    pub on_wait: &'a mut dyn FnMut(&Holder),
}

/// Holds a project until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct ProjectLock {
    file: File,
}

impl ProjectLock {
    /// Takes the project, waiting for another holder when there is one.
    pub(crate) fn take(
        door: &Door,
        holder: &Holder,
        waiting: &mut Waiting<'_>,
    ) -> Result<ProjectLock, LockError> {
        let start = Instant::now();
        let mut announced = false;
        loop {
            if let Some(lock) = try_take(door, holder)? {
                return Ok(lock);
            }
            let other = holder_of(door);
            if !announced {
                announced = true;
                (waiting.on_wait)(&other);
            }
            if waiting.cancel.load(Ordering::Relaxed) {
                return Err(LockError::Interrupted);
            }
            if start.elapsed() >= waiting.patience {
                return Err(LockError::Busy(other));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

impl Drop for ProjectLock {
    fn drop(&mut self) {
        // Closing the file would do; a child that still shares it for a moment must not hold it on.
        let _ = self.file.unlock();
    }
}

fn try_take(door: &Door, holder: &Holder) -> Result<Option<ProjectLock>, LockError> {
    let path = state::path(LOCK_FILE)?;
    let broken = |error: io::Error| LockError::Door(DoorError::from_io(&path, error));
    let folder = state::open(door)?;
    let file = folder.open_or_create(LOCK_FILE).map_err(broken)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(broken(error)),
    }
    // Somebody may have removed the folder between opening and locking: a lock on a file that has
    // no name any more keeps nobody out.
    let still_there = folder
        .metadata(LOCK_FILE)
        .map_err(broken)?
        .is_some_and(|found| file_identity(&file).is_none_or(|mine| mine == found.identity));
    if !still_there || state::find(door)?.is_none() {
        return Ok(None);
    }
    let mut lock = ProjectLock { file };
    announce(&mut lock.file, holder).map_err(broken)?;
    Ok(Some(lock))
}

#[cfg(unix)]
fn file_identity(file: &File) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn file_identity(_file: &File) -> Option<(u64, u64)> {
    None
}

fn announce(file: &mut File, holder: &Holder) -> io::Result<()> {
    let text = serde_json::to_string(holder).unwrap_or_default();
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(text.as_bytes())
}

/// Reads who holds the project, for a message: the file may be half written or foreign.
fn holder_of(door: &Door) -> Holder {
    // A real holder takes a few hundred bytes.
    const LIMIT: u64 = 4096;
    let read = || -> Option<Holder> {
        let path = state::path(LOCK_FILE).ok()?;
        let folder = state::find(door).ok()??;
        let (file, _) = folder.open_file(LOCK_FILE, &path).ok()?;
        let mut text = String::new();
        file.take(LIMIT).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    };
    read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(door: &Door, run: &str, patience: Duration) -> Result<ProjectLock, LockError> {
        let holder = Holder {
            process: 7,
            run: run.into(),
            ..Holder::default()
        };
        let cancel = AtomicBool::new(false);
        let waiting = &mut Waiting {
            patience,
            cancel: &cancel,
            on_wait: &mut |_| {},
        };
        ProjectLock::take(door, &holder, waiting)
    }

    #[test]
    fn the_second_is_told_who_holds_the_project() {
        let project = tempfile::tempdir().unwrap();
        let door = Door::open(project.path()).unwrap();
        let first = take(&door, "one", Duration::ZERO).unwrap();
        let second = take(&door, "two", Duration::from_millis(120)).unwrap_err();
        assert!(
            matches!(&second, LockError::Busy(holder) if holder.run == "one"),
            "{second}"
        );
        drop(first);
        take(&door, "two", Duration::ZERO).unwrap();
    }

    #[test]
    fn a_wait_ends_when_it_is_cancelled() {
        let project = tempfile::tempdir().unwrap();
        let door = Door::open(project.path()).unwrap();
        let _first = take(&door, "one", Duration::ZERO).unwrap();
        let cancel = AtomicBool::new(false);
        let waiting = &mut Waiting {
            patience: Duration::from_secs(600),
            cancel: &cancel,
            // It waits: now is the time to lose patience.
            on_wait: &mut |_| cancel.store(true, Ordering::Relaxed),
        };
        let answer = ProjectLock::take(&door, &Holder::default(), waiting);
        assert!(matches!(answer, Err(LockError::Interrupted)));
    }
}
