//! The changes of one run: each written down first, made whole or not at all, and taken back at will.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use harness_code::path::RelPath;

use crate::backup;
use crate::door::folder::Folder;
use crate::door::{
    Door, DoorError, Kind, Metadata, Trespass, plain_file, protected, reason, request,
};
use crate::journal::{Change, Effect, Ending, Header, Journal, RunId, Was};
use crate::lock::{Holder, LockError, ProjectLock, Waiting};
use crate::write::{self, Place};

/// Why a change was not made. The file is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path may not be used or gave no file.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// Another run holds the project, or the wait was stopped.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Something has this name already.
    #[error("`{0}` exists already")]
    Exists(RelPath),
    /// Somebody else wrote the file at the same moment; theirs is kept.
    #[error("`{0}` was changed by someone else at this moment; read it again")]
    ChangedMeanwhile(RelPath),
    /// The system said no.
    #[error("cannot write `{path}`: {}", reason(.source))]
    Disk {
        /// The path that was to change.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Some files could not be put back; their bytes are still in the run's journal.
    #[error("could not put back {}: {first}", list(.files))]
    NotRestored {
        /// The files that are not as they were.
        files: Vec<RelPath>,
        /// What went wrong with the first of them.
        first: Box<WriteError>,
    },
}

impl From<Trespass> for WriteError {
    fn from(trespass: Trespass) -> WriteError {
        WriteError::Door(trespass.into())
    }
}

impl WriteError {
    pub(crate) fn disk(path: &RelPath, source: io::Error) -> WriteError {
        if write::is_changed_meanwhile(&source) {
            return WriteError::ChangedMeanwhile(path.clone());
        }
        WriteError::Disk {
            path: path.to_string(),
            source,
        }
    }
}

fn list(files: &[RelPath]) -> String {
    files
        .iter()
        .map(|path| format!("`{path}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether a `.bak` is kept of what changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backups {
    Kept,
    /// An undo puts bytes back that somebody knows already.
    None,
}

/// The changes of one run. Holds the project until it is finished or dropped; dropped unfinished,
/// the changes stay and `undo` takes them back.
#[derive(Debug)]
pub struct Transaction {
    door: Arc<Door>,
    /// The same folder without the scope: backups, folders and undo may lie anywhere in it.
    whole: Door,
    journal: Journal,
    run: RunId,
    backups: Backups,
    backed_up: BTreeSet<RelPath>,
    /// Paths that are backup copies whoever touches them.
    copies: BTreeSet<RelPath>,
    named: Vec<RelPath>,
    _lock: ProjectLock,
}

impl Transaction {
    pub(crate) fn begin(
        door: &Arc<Door>,
        header: &Header,
        backups: Backups,
        waiting: &mut Waiting<'_>,
    ) -> Result<Transaction, WriteError> {
        let whole = door.unscoped()?;
        let holder = Holder {
            process: std::process::id(),
            run: header.id.to_string(),
            task: header.task.chars().take(200).collect(),
            since: header.id.began(),
        };
        let lock = ProjectLock::take(&whole, &holder, waiting)?;
        crate::runs::tidy(&whole);
        let journal = Journal::begin(&whole, header)?;
        Ok(Transaction {
            door: Arc::clone(door),
            whole,
            journal,
            run: header.id.clone(),
            backups,
            backed_up: BTreeSet::new(),
            copies: BTreeSet::new(),
            named: Vec::new(),
            _lock: lock,
        })
    }

    /// Returns the run these changes belong to.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Names build and test configuration that the task names, which may then change.
    pub fn allow(&mut self, named: impl IntoIterator<Item = RelPath>) {
        self.named.extend(named);
    }

    /// Refuses a path that may not change, without changing anything.
    pub fn check(&self, path: &RelPath) -> Result<(), Trespass> {
        self.door.within_scope(path)?;
        request::check_names(path)?;
        protected::check(&self.whole, path, &self.named)
    }

    /// Makes a file hold these bytes, or takes it away, as long as it is what it was when the change was thought of.
    /// A new file gets the folders that it needs.
    pub fn settle(
        &mut self,
        path: &RelPath,
        was: Option<&[u8]>,
        wanted: Option<&[u8]>,
    ) -> Result<(), WriteError> {
        self.check(path)?;
        match (was, wanted) {
            (Some(was), Some(wanted)) => self.replace(path, wanted, None, Some(was)),
            (None, Some(wanted)) => self.create(path, wanted, &Place::New { mode: 0o666 }),
            (Some(was), None) => {
                if self.whole.read(path)? != was {
                    return Err(WriteError::ChangedMeanwhile(path.clone()));
                }
                self.remove(path)
            }
            (None, None) => Ok(()),
        }
    }

    /// Gives a file another path, making the folders it needs.
    pub fn rename(&mut self, from: &RelPath, to: &RelPath) -> Result<(), WriteError> {
        self.check(from)?;
        self.check(to)?;
        let folder = self.whole.folder_of(from)?;
        let (bytes, seen) = folder.read_with(from.file_name(), from)?;
        if self.whole.exists(to)? {
            return Err(WriteError::Exists(to.clone()));
        }
        self.keep_backup(&folder, from, &bytes, &seen)?;
        let target = self.make_folders(to)?;
        self.journal
            .keep(&bytes)
            .map_err(|error| WriteError::disk(from, error))?;
        let file = Was::file(&bytes, seen.mode);
        let effects = vec![
            effect(from, file.clone(), Was::Absent),
            effect(to, Was::Absent, file),
        ];
        self.record(from, effects, None)?;
        folder
            .rename_new(from.file_name(), &target, to.file_name())
            .and_then(|()| target.sync())
            .and_then(|()| folder.sync())
            .map_err(|error| WriteError::disk(to, error))
    }

    /// Returns the files that are not as they were before the run, sorted, each once.
    pub fn writes(&self) -> Vec<RelPath> {
        let mut changed: Vec<RelPath> = Vec::new();
        for (path, (first, backup)) in self.firsts() {
            let is_folder = first == Was::Folder || self.last_of(&path) == Some(Was::Folder);
            if backup || is_folder {
                continue;
            }
            // What is on the disk decides, not what was tried.
            let same = was(&self.whole, &path).is_ok_and(|now| now == first);
            if !same {
                changed.push(path);
            }
        }
        changed
    }

    /// Puts every byte back as it was before the run, and takes the run's `.bak` files away. What somebody else wrote
    /// over a change meanwhile is theirs: it stays, with its `.bak`, and is returned. More changes may follow.
    pub fn take_back(&mut self) -> Result<Vec<RelPath>, WriteError> {
        let mut wanted: BTreeMap<RelPath, Was> = BTreeMap::new();
        let mut theirs = Vec::new();
        for (path, (first, _)) in self.firsts() {
            match was(&self.whole, &path) {
                Ok(now) if !self.is_ours(&path, &now) => theirs.push(path),
                Ok(_) | Err(_) => drop(wanted.insert(path, first)),
            }
        }
        let is_copy_of_theirs = |path: &RelPath| {
            let mut kept = theirs.iter();
            kept.any(|kept| path.as_str().starts_with(&format!("{kept}.bak")))
        };
        wanted.retain(|path, _| !is_copy_of_theirs(path));
        self.restore(&wanted, &BTreeMap::new())?;
        self.backed_up.clear();
        Ok(theirs)
    }

    /// Puts a file of the run beside its journal, such as the attempt as a patch.
    pub fn attach(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        let path = crate::state::path(name)?;
        self.journal
            .attach(path.file_name(), bytes)
            .map_err(|error| WriteError::disk(&path, error))
    }

    /// Writes down how the run ended and lets the project go.
    pub fn finish(self, ending: &Ending) -> Result<(), WriteError> {
        let path = crate::state::path(self.run.as_str())?;
        self.journal
            .end(ending)
            .map_err(|error| WriteError::disk(&path, error))?;
        crate::runs::prune(&self.whole, &self.run);
        Ok(())
    }

    /// Lets the project go and forgets the run, which changed nothing.
    pub(crate) fn abandon(self) {
        crate::runs::forget(&self.whole, &self.run);
    }

    /// Says that these paths are backup copies, not changes that were asked for.
    pub(crate) fn treat_as_copies(&mut self, paths: impl IntoIterator<Item = RelPath>) {
        self.copies.extend(paths);
    }

    /// Brings every path to the given state. Bytes come from this run's journal or from `images`.
    /// Goes on after a failure, so that as much as can be is put back.
    pub(crate) fn restore(
        &mut self,
        wanted: &BTreeMap<RelPath, Was>,
        images: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), WriteError> {
        let mut failed: Vec<(RelPath, WriteError)> = Vec::new();
        let new_folder = |door: &Door, path: &RelPath, state: &Was| {
            *state == Was::Absent && was(door, path).is_ok_and(|now| now == Was::Folder)
        };
        for (path, state) in wanted {
            if new_folder(&self.whole, path, state) {
                continue;
            }
            if let Err(error) = self.bring_to(path, state, images) {
                failed.push((path.clone(), error));
            }
        }
        // The deepest first: folders that were new are empty now.
        for (path, state) in wanted.iter().rev() {
            if new_folder(&self.whole, path, state) {
                self.remove_folder(path);
            }
        }
        let mut failed = failed.into_iter();
        match failed.next() {
            None => Ok(()),
            Some((path, error)) => {
                let mut files = vec![path];
                files.extend(failed.map(|(path, _)| path));
                files.sort();
                Err(WriteError::NotRestored {
                    files,
                    first: Box::new(error),
                })
            }
        }
    }

    fn bring_to(
        &mut self,
        path: &RelPath,
        wanted: &Was,
        images: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), WriteError> {
        let now = was(&self.whole, path)?;
        if now == *wanted {
            return Ok(());
        }
        let backups = std::mem::replace(&mut self.backups, Backups::None);
        let done = match (wanted, &now) {
            (Was::Absent, _) => self.remove(path),
            (Was::File { digest, mode, .. }, here) => {
                let bytes = match images.get(digest) {
                    Some(bytes) => Ok(bytes.clone()),
                    None => self.journal.image(digest),
                };
                match bytes {
                    Ok(bytes) if *here == Was::Absent => {
                        self.create(path, &bytes, &Place::Exact { mode: *mode })
                    }
                    Ok(bytes) => self.replace(path, &bytes, Some(*mode), None),
                    Err(error) => Err(error.into()),
                }
            }
            (Was::Folder, _) => self.make_folders_of(path).map(|_| ()),
        };
        self.backups = backups;
        done
    }

    /// Replaces the bytes of a file, and its mode where one is given, as long as it holds what is `expected`.
    fn replace(
        &mut self,
        path: &RelPath,
        bytes: &[u8],
        mode: Option<u32>,
        expected: Option<&[u8]>,
    ) -> Result<(), WriteError> {
        let folder = self.whole.folder_of(path)?;
        let (old, seen) = folder.read_with(path.file_name(), path)?;
        if expected.is_some_and(|expected| expected != old) {
            return Err(WriteError::ChangedMeanwhile(path.clone()));
        }
        let (file, opened) = folder.open_file(path.file_name(), path)?;
        if opened.identity != seen.identity {
            return Err(WriteError::ChangedMeanwhile(path.clone()));
        }
        let mode = mode.unwrap_or(seen.mode);
        if old == bytes && mode == seen.mode {
            return Ok(());
        }
        self.keep_backup(&folder, path, &old, &seen)?;
        self.journal
            .keep(&old)
            .map_err(|error| WriteError::disk(path, error))?;
        let temp = self.temp_name();
        let effects = vec![effect(
            path,
            Was::file(&old, seen.mode),
            Was::file(bytes, mode),
        )];
        self.record(path, effects, Some(temp.clone()))?;
        let wanted = Metadata { mode, ..seen };
        let place = Place::Over {
            file: &file,
            seen: &wanted,
        };
        write::put(&folder, path.file_name(), &temp, bytes, &place)
            .map_err(|error| WriteError::disk(path, error))
    }

    fn create(
        &mut self,
        path: &RelPath,
        bytes: &[u8],
        place: &Place<'_>,
    ) -> Result<(), WriteError> {
        if self.whole.exists(path)? {
            return Err(WriteError::Exists(path.clone()));
        }
        let folder = self.make_folders(path)?;
        let temp = self.temp_name();
        let mode = match place {
            Place::Exact { mode } => *mode,
            Place::New { .. } | Place::Over { .. } => 0,
        };
        let effects = vec![effect(path, Was::Absent, Was::file(bytes, mode))];
        self.record(path, effects, Some(temp.clone()))?;
        write::put(&folder, path.file_name(), &temp, bytes, place).map_err(|error| {
            match error.kind() {
                io::ErrorKind::AlreadyExists => WriteError::Exists(path.clone()),
                _ => WriteError::disk(path, error),
            }
        })
    }

    fn remove(&mut self, path: &RelPath) -> Result<(), WriteError> {
        let folder = self.whole.folder_of(path)?;
        let (bytes, seen) = folder.read_with(path.file_name(), path)?;
        self.keep_backup(&folder, path, &bytes, &seen)?;
        let kept = self.journal.keep(&bytes);
        let recorded = kept
            .map_err(|error| WriteError::disk(path, error))
            .and_then(|()| {
                let gone = effect(path, Was::file(&bytes, seen.mode), Was::Absent);
                self.record(path, vec![gone], None)
            });
        // A copy that we made ourselves goes also where a full disk has no room for the line that says so: all it
        // holds is kept already, and its absence is what was there before.
        if !matches!(self.firsts().get(path), Some((Was::Absent, true))) {
            recorded?;
        }
        folder
            .remove(path.file_name())
            .and_then(|()| folder.sync())
            .map_err(|error| WriteError::disk(path, error))
    }

    /// Copies the bytes from before the run's first edit beside the file.
    fn keep_backup(
        &mut self,
        folder: &Folder,
        path: &RelPath,
        bytes: &[u8],
        seen: &Metadata,
    ) -> Result<(), WriteError> {
        let is_new = matches!(self.firsts().get(path), Some((Was::Absent, _)));
        if self.backups == Backups::None || is_new || self.backed_up.contains(path) {
            return Ok(());
        }
        let broken = |error: io::Error| WriteError::disk(path, error);
        let name = backup::free_name(folder, path).map_err(broken)?;
        let beside = match path.parent() {
            Some(parent) => parent.join(&name),
            None => RelPath::parse(&name),
        };
        let beside = beside.map_err(|_| WriteError::ChangedMeanwhile(path.clone()))?;
        let temp = self.temp_name();
        let copy = Was::file(bytes, seen.mode);
        let effects = vec![Effect {
            backup: true,
            ..effect(&beside, Was::Absent, copy)
        }];
        self.record(&beside, effects, Some(temp.clone()))?;
        let place = Place::Exact { mode: seen.mode };
        write::put(folder, &name, &temp, bytes, &place).map_err(broken)?;
        self.backed_up.insert(path.clone());
        Ok(())
    }

    /// Opens the folder that holds `path`, making it and those above it when they are not there.
    fn make_folders(&mut self, path: &RelPath) -> Result<Folder, WriteError> {
        match path.parent() {
            Some(parent) => self.make_folders_of(&parent),
            None => Ok(self.whole.folder_of(path)?),
        }
    }

    fn make_folders_of(&mut self, folder: &RelPath) -> Result<Folder, WriteError> {
        match self.whole.enter(folder) {
            Ok(found) => return Ok(found),
            Err(DoorError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let above = self.make_folders(folder)?;
        self.record(folder, vec![effect(folder, Was::Absent, Was::Folder)], None)?;
        match above
            .make_folder(folder.file_name(), 0o777)
            .and_then(|()| above.sync())
        {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(WriteError::disk(folder, error)),
        }
        Ok(self.whole.enter(folder)?)
    }

    /// Removes a folder this run made, when nothing else is in it: others may have put files there.
    fn remove_folder(&mut self, path: &RelPath) {
        let Ok(above) = self.whole.folder_of(path) else {
            return;
        };
        let recorded = self.record(path, vec![effect(path, Was::Folder, Was::Absent)], None);
        if recorded.is_ok() && above.remove_folder(path.file_name()).is_ok() {
            let _ = above.sync();
        }
    }

    fn record(
        &mut self,
        path: &RelPath,
        mut effects: Vec<Effect>,
        temp: Option<String>,
    ) -> Result<(), WriteError> {
        for effect in &mut effects {
            effect.backup |= self.copies.contains(&effect.path);
        }
        self.journal
            .record(effects, temp)
            .map_err(|error| WriteError::disk(path, error))
    }

    fn temp_name(&self) -> String {
        format!(".harness-{}-{}.tmp", self.run, self.journal.next())
    }

    fn firsts(&self) -> BTreeMap<RelPath, (Was, bool)> {
        firsts(&self.journal.changes)
    }

    /// Says whether a path is in a state that this run began with or brought it to.
    fn is_ours(&self, path: &RelPath, now: &Was) -> bool {
        let changes = self.journal.changes.iter();
        let mut effects = changes.flat_map(|change| &change.effects);
        effects.any(|effect| {
            let known = [&effect.before, &effect.after];
            effect.path == *path && known.iter().any(|was| now.same_bytes(was))
        })
    }

    fn last_of(&self, path: &RelPath) -> Option<Was> {
        let effects = self
            .journal
            .changes
            .iter()
            .rev()
            .flat_map(|change| &change.effects);
        effects
            .filter(|effect| effect.path == *path)
            .map(|effect| effect.after.clone())
            .next()
    }
}

/// Returns for every path that the changes touch what it was before the first of them, and whether
/// it is a backup copy.
pub(crate) fn firsts(changes: &[Change]) -> BTreeMap<RelPath, (Was, bool)> {
    let mut firsts = BTreeMap::new();
    for effect in changes.iter().flat_map(|change| &change.effects) {
        firsts
            .entry(effect.path.clone())
            .or_insert((effect.before.clone(), effect.backup));
    }
    firsts
}

/// Returns what a path stands for now.
pub(crate) fn was(door: &Door, path: &RelPath) -> Result<Was, DoorError> {
    let Some(found) = door.metadata(path)? else {
        return Ok(Was::Absent);
    };
    if found.kind == Kind::Folder {
        return Ok(Was::Folder);
    }
    plain_file(&found, path)?;
    let (bytes, seen) = door.folder_of(path)?.read_with(path.file_name(), path)?;
    Ok(Was::file(&bytes, seen.mode))
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;

fn effect(path: &RelPath, before: Was, after: Was) -> Effect {
    Effect {
        path: path.clone(),
        before,
        after,
        backup: false,
    }
}
