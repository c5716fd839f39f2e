//! Permission as a thing one holds: only a [`Writer`] changes files, only a [`Runner`] starts
//! programs, and a read-only project gives neither out.

use std::path::Path;
use std::sync::Arc;

use harness_code::path::RelPath;

use crate::door::{Door, DoorError};
use crate::git::Changed;
use crate::journal::{Header, RunId};
use crate::lock::{Holder, ProjectLock, Waiting};
use crate::process::runner::{Runner, RunnerOptions};
use crate::runs::{self, RunRecord};
use crate::scratch;
use crate::transaction::{Backups, Transaction, WriteError};
use crate::undo::{self, Force, UndoError, Undone};

/// What may be done to a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Files may change and the project's tests may run.
    Writing,
    /// Nothing changes and nothing is started.
    ReadOnly,
}

/// A project folder, and what may be done to it.
#[derive(Debug)]
pub struct Project {
    door: Arc<Door>,
    writer: Option<Writer>,
    runner: Option<Runner>,
}

impl Project {
    /// Opens a project folder, walled to `scope` when there is one.
    pub fn open(
        path: &Path,
        scope: Option<&RelPath>,
        access: Access,
    ) -> Result<Project, DoorError> {
        let door = Door::open(path)?;
        scratch::keep_out_of(door.root());
        let door = Arc::new(match scope {
            Some(scope) => door.scoped(scope)?,
            None => door,
        });
        let may = access == Access::Writing;
        let writer = may.then(|| Writer {
            door: Arc::clone(&door),
        });
        let runner = may.then(|| Runner::new(door.root(), RunnerOptions::default()));
        Ok(Project {
            door,
            writer,
            runner,
        })
    }

    /// Returns the same project with what the user settled for started programs.
    pub fn with_runner_options(mut self, options: RunnerOptions) -> Project {
        self.runner = self.runner.map(|_| Runner::new(self.door.root(), options));
        self
    }

    /// Returns the way in, for reading.
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// Returns the permission to change files, unless the project is read-only.
    pub fn writer(&self) -> Option<&Writer> {
        self.writer.as_ref()
    }

    /// Returns the permission to start programs, unless the project is read-only.
    pub fn runner(&self) -> Option<&Runner> {
        self.runner.as_ref()
    }

    /// Lists the runs that are remembered, newest first.
    pub fn runs(&self) -> Result<Vec<RunRecord>, DoorError> {
        runs::runs(&self.door.unscoped()?)
    }

    /// Returns the `.bak` files that runs left and that nobody wrote to since, sorted.
    pub fn backups(&self) -> Result<Vec<RelPath>, DoorError> {
        runs::backups(&self.door.unscoped()?)
    }

    /// Returns the change that a run tried and did not keep, where it left one.
    pub fn attempt(&self, run: &RunId) -> Option<Vec<u8>> {
        runs::attempt(&self.door.unscoped().ok()?, run)
    }

    /// Returns the files that a run changed, as far as their bytes are still to be had.
    pub fn run_changes(&self, run: &RunId) -> Result<Vec<Changed>, DoorError> {
        runs::changes(&self.door.unscoped()?, run)
    }

    /// Returns what a run changed as a unified diff, as far as its bytes are still to be had.
    pub fn run_diff(&self, run: &RunId) -> Result<String, DoorError> {
        runs::diff(&self.door.unscoped()?, run)
    }
}

/// The permission to change files of one project.
#[derive(Debug)]
pub struct Writer {
    door: Arc<Door>,
}

impl Writer {
    /// Takes the project for a run, waiting when another run holds it.
    pub fn begin(
        &self,
        run: &RunId,
        task: &str,
        waiting: &mut Waiting<'_>,
    ) -> Result<Transaction, WriteError> {
        let header = Header {
            id: run.clone(),
            task: task.to_string(),
            undoes: None,
        };
        Transaction::begin(&self.door, &header, Backups::Kept, waiting)
    }

    /// Removes those of some `.bak` files that runs left, waiting when a run holds the project, and returns them.
    pub fn remove_backups(
        &self,
        listed: &[RelPath],
        waiting: &mut Waiting<'_>,
    ) -> Result<Vec<RelPath>, WriteError> {
        let door = self.door.unscoped()?;
        let holder = Holder {
            process: std::process::id(),
            run: String::new(),
            task: "clean".to_owned(),
            since: RunId::new().began(),
        };
        let lock = ProjectLock::take(&door, &holder, waiting)?;
        let removed = runs::remove_backups(&door, listed)?;
        drop(lock);
        Ok(removed)
    }

    /// Takes a run back; without a name, the latest that still has changes.
    pub fn undo(
        &self,
        run: Option<&RunId>,
        force: Force,
        waiting: &mut Waiting<'_>,
    ) -> Result<Undone, UndoError> {
        undo::undo(&self.door, run, force, waiting)
    }
}
