//! A private version of a project outside of it, to try things on. Gone with its owner.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, SystemTime};

use harness_code::path::RelPath;
use harness_code::text::is_among;

use crate::door::{Door, reason};

/// Folders that are not copied: records, installed packages, caches and what is built anew.
const LEFT_OUT: &str = "\
    .git .hg .svn .jj .harness .venv venv .tox .nox node_modules __pycache__ .mypy_cache \
    .pytest_cache .ruff_cache .hypothesis target .gradle";

/// Those of them that tests cannot do without; a copy leads to the project's own, which tests may only read.
#[cfg(unix)]
const SEEN_THROUGH_LINKS: &str = ".venv venv node_modules";

/// A larger project is not copied: it would take longer than the copy is worth.
const LARGEST: u64 = 1024 * 1024 * 1024;

/// The folder beside a copy for what build tools make. No project has this name: it would stand in its place.
const BUILD: &str = ".harness-build";

/// How copies are called, so that those of a killed process can be found and removed.
const PREFIX: &str = "harness-scratch-";

/// How the private folders of started programs are called, for the same reason.
pub(crate) const PRIVATE_PREFIX: &str = "harness-run-";

/// What a program may leave behind outside the project: parts of its private folder.
pub(crate) const KEPT: [&str; 4] = ["home", "tmp", "stand-in-tmp", "stand-in-var-tmp"];

/// A folder this old belongs to nobody: no run takes a day.
const FORGOTTEN: Duration = Duration::from_secs(24 * 3600);

/// A private version of a project.
#[derive(Debug)]
pub struct Scratch {
    form: Form,
    /// What was put here on purpose, or taken away.
    placed: BTreeMap<RelPath, Option<Vec<u8>>>,
    /// Dropped last: it holds all the rest.
    folder: OwnFolder,
}

#[derive(Debug)]
enum Form {
    Overlay(Overlay),
    Copy {
        root: PathBuf,
        /// What each file was when it was copied.
        copied: BTreeMap<RelPath, Stamp>,
    },
}

/// Folders that the kernel shows as one at the project's own path: what changes lands in `upper`, the project itself
/// is only read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overlay {
    pub(crate) project: PathBuf,
    /// Layers between the two, the topmost first: what an earlier run of a build tool left.
    pub(crate) below: Vec<PathBuf>,
    pub(crate) upper: PathBuf,
    pub(crate) work: PathBuf,
}

/// What a program did to a file of a scratch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// It was not there before.
    Added,
    /// It holds other bytes.
    Changed,
    /// It is gone.
    Removed,
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// The project is too large to be copied.
    #[error("the project has more than {} MB and is not copied", LARGEST / 1024 / 1024)]
    TooLarge,
    /// The system said no.
    #[error("cannot copy `{path}`: {}", reason(.source))]
    Disk {
        /// What was copied.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl ScratchError {
    fn disk(path: &Path, source: io::Error) -> ScratchError {
        ScratchError::Disk {
            path: path.display().to_string(),
            source,
        }
    }
}

impl Scratch {
    /// Copies a project. Links that stay inside are made again, others are left out.
    pub(crate) fn copy(door: &Door) -> Result<Scratch, ScratchError> {
        let folder = new_folder().map_err(|error| ScratchError::disk(door.root(), error))?;
        // The same name as the project's: some tests look at it.
        let name = door.root().file_name().unwrap_or("project".as_ref());
        let root = folder.path.join(name);
        let mut room = LARGEST;
        copy_folder(door.root(), &root, &mut room)?;
        let build = folder.path.join(BUILD);
        std::fs::create_dir(&build).map_err(|error| ScratchError::disk(&build, error))?;
        let copied = stamps(&root);
        Ok(Scratch {
            form: Form::Copy { root, copied },
            placed: BTreeMap::new(),
            folder,
        })
    }

    /// Prepares layers over a project, above those of another scratch when there is one. Nothing is copied. Gives
    /// nothing where the kernel could not be told the paths.
    pub(crate) fn overlay(door: &Door, above: Option<&Scratch>) -> Option<Scratch> {
        let folder = new_folder().ok()?;
        let (upper, work) = (folder.path.join("upper"), folder.path.join("work"));
        std::fs::create_dir(&upper).ok()?;
        std::fs::create_dir(&work).ok()?;
        // The merged folder shows the permissions of the upper one.
        let permissions = std::fs::metadata(door.root()).ok()?.permissions();
        std::fs::set_permissions(&upper, permissions).ok()?;
        let below = match above.map(|scratch| &scratch.form) {
            Some(Form::Overlay(overlay)) => std::iter::once(&overlay.upper)
                .chain(&overlay.below)
                .cloned()
                .collect(),
            Some(Form::Copy { .. }) | None => Vec::new(),
        };
        let overlay = Overlay {
            project: door.root().to_path_buf(),
            below,
            upper,
            work,
        };
        // A layer inside the project would be a layer of itself.
        let apart = !folder.path.starts_with(door.root());
        (apart && overlay.options(false).is_some()).then_some(Scratch {
            form: Form::Overlay(overlay),
            placed: BTreeMap::new(),
            folder,
        })
    }

    /// Returns the layers, unless this is a copy.
    pub(crate) fn layers(&self) -> Option<&Overlay> {
        match &self.form {
            Form::Overlay(overlay) => Some(overlay),
            Form::Copy { .. } => None,
        }
    }

    /// Returns the folder that holds what this scratch has of its own: the copy, or the upper layer.
    pub fn root(&self) -> &Path {
        match &self.form {
            Form::Overlay(overlay) => &overlay.upper,
            Form::Copy { root, .. } => root,
        }
    }

    /// Returns a folder beside a copy, for what a build tool makes of it.
    pub(crate) fn build_folder(&self) -> PathBuf {
        self.folder.path.join(BUILD)
    }

    /// Puts bytes into a file, making it and its folders when they are not there. No program may run in it meanwhile.
    pub fn put(&mut self, path: &RelPath, bytes: &[u8]) -> Result<(), ScratchError> {
        let full = path.under(self.root());
        let broken = |source: io::Error| ScratchError::disk(Path::new(path.as_str()), source);
        if let Some(parent) = full.parent() {
            std::fs::create_dir_all(parent).map_err(broken)?;
        }
        // A new file each time: tests may have made a link of the old one.
        let _ = std::fs::remove_file(&full);
        std::fs::write(&full, bytes).map_err(broken)?;
        if let Form::Overlay(overlay) = &self.form {
            // Scripts stay executable, as those that are copied do.
            if let Ok(found) = std::fs::metadata(path.under(&overlay.project)) {
                std::fs::set_permissions(&full, found.permissions()).map_err(broken)?;
            }
        }
        self.placed.insert(path.clone(), Some(bytes.to_vec()));
        Ok(())
    }

    /// Takes a file away.
    pub fn remove(&mut self, path: &RelPath) -> Result<(), ScratchError> {
        let full = path.under(self.root());
        let broken = |source: io::Error| ScratchError::disk(Path::new(path.as_str()), source);
        match &self.form {
            Form::Copy { .. } => std::fs::remove_file(&full).map_err(broken)?,
            Form::Overlay(_) => {
                if let Some(parent) = full.parent() {
                    std::fs::create_dir_all(parent).map_err(broken)?;
                }
                let _ = std::fs::remove_file(&full);
                whiteout(&full).map_err(broken)?;
            }
        }
        self.placed.insert(path.clone(), None);
        Ok(())
    }

    /// Returns where what programs leave in their home and temporary folders is kept.
    pub(crate) fn kept(&self) -> PathBuf {
        self.folder.path.join("kept")
    }

    /// Returns the names that programs left in their home and temporary folders; made-up names are told by their
    /// beginning.
    pub fn left_outside(&self) -> BTreeSet<String> {
        let folders = KEPT.map(|name| self.kept().join(name));
        let entries = folders.iter().filter_map(|folder| folder.read_dir().ok());
        let names = entries
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned());
        // Places that the sandbox shows there are no traces of the program.
        let names = names.filter(|name| !name.starts_with("harness-"));
        let known = |name: String| match name.strip_prefix("tmp") {
            Some(rest) if rest.len() == 8 => "tmp".to_owned(),
            Some(_) | None => name,
        };
        names.map(known).collect()
    }

    /// Returns what programs that ran here did to its files, apart from caches and installed packages.
    pub fn touched(&self) -> BTreeMap<RelPath, Touch> {
        let mut touched = BTreeMap::new();
        match &self.form {
            Form::Overlay(overlay) => touched_layers(overlay, &overlay.upper, &mut touched),
            Form::Copy { root, copied } => {
                let now = stamps(root);
                for (path, stamp) in &now {
                    match copied.get(path) {
                        None => touched.insert(path.clone(), Touch::Added),
                        Some(then) if then != stamp => touched.insert(path.clone(), Touch::Changed),
                        Some(_) => None,
                    };
                }
                for path in copied.keys().filter(|path| !now.contains_key(*path)) {
                    touched.insert(path.clone(), Touch::Removed);
                }
            }
        }
        touched.retain(|path, touch| match self.placed.get(path) {
            None => true,
            Some(None) => *touch != Touch::Removed,
            Some(Some(bytes)) => {
                std::fs::read(path.under(self.root())).is_ok_and(|now| now != *bytes)
                    || *touch == Touch::Removed
            }
        });
        touched
    }
}

/// A temporary folder that goes with its owner, also where programs left folders in it that nobody may enter.
#[derive(Debug)]
pub(crate) struct OwnFolder {
    /// The real path: walls and mounts work on those, and the temporary folder may be reached by a link.
    pub(crate) path: PathBuf,
    folder: tempfile::TempDir,
}

impl OwnFolder {
    pub(crate) fn new(prefix: &str) -> io::Result<OwnFolder> {
        let mut refused = io::Error::from(io::ErrorKind::NotFound);
        for place in temporary_places() {
            match tempfile::Builder::new().prefix(prefix).tempdir_in(&place) {
                Ok(folder) => {
                    let path = folder.path().canonicalize()?;
                    return Ok(OwnFolder { path, folder });
                }
                Err(error) => refused = error,
            }
        }
        let reason = format!("no folder for temporary files can be written: {refused}");
        Err(io::Error::new(refused.kind(), reason))
    }
}

/// Project folders of this process: what is made to be away from them must not lie inside.
static PROJECTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes a project folder, so that no temporary folder is made inside of it.
pub(crate) fn keep_out_of(project: &Path) {
    let mut known = PROJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.iter().any(|other| other == project) {
        known.push(project.to_path_buf());
    }
}

/// Returns where temporary folders may be made, the user's own choice first. A path that is relative, is not there or
/// lies in a project is passed over.
fn temporary_places() -> Vec<PathBuf> {
    let mut places = vec![std::env::temp_dir()];
    if cfg!(unix) {
        places.extend(["/tmp", "/var/tmp"].map(PathBuf::from));
    }
    let projects = PROJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_outside = |place: &Path| !projects.iter().any(|project| place.starts_with(project));
    let absolute = places.into_iter().filter(|place| place.is_absolute());
    let real: Vec<PathBuf> = absolute
        .filter_map(|place| place.canonicalize().ok())
        .collect();
    match real.iter().any(|place| is_outside(place)) {
        true => real.into_iter().filter(|place| is_outside(place)).collect(),
        // The project is the whole disk.
        false => real,
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // The owner of a folder that nobody may enter may still open it.
        if std::fs::remove_dir_all(self.folder.path()).is_err() {
            unlock(self.folder.path(), 0);
        }
    }
}

#[cfg(unix)]
fn unlock(folder: &Path, depth: usize) {
    use std::os::unix::fs::PermissionsExt;
    // Deeper trees are left to the system's own cleaning.
    const DEEPEST: usize = 64;
    let _ = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth < DEEPEST {
            unlock(&entry.path(), depth + 1);
        }
    }
}

#[cfg(not(unix))]
fn unlock(_folder: &Path, _depth: usize) {}

impl Overlay {
    /// Returns what the kernel is told of the layers, or nothing where it would not understand the paths.
    pub(crate) fn options(&self, in_user_namespace: bool) -> Option<Vec<u8>> {
        // The kernel takes at most a page of them.
        const LONGEST: usize = 4000;
        let mut lower: Vec<&PathBuf> = self.below.iter().collect();
        lower.push(&self.project);
        let plain = |path: &PathBuf| {
            path.to_str()
                .filter(|text| !text.contains([',', ':', '\\', '"']))
                .map(str::to_owned)
        };
        let lower: Option<Vec<String>> = lower.into_iter().map(plain).collect();
        let own = if in_user_namespace { "userxattr," } else { "" };
        let text = format!(
            "{own}lowerdir={},upperdir={},workdir={}",
            lower?.join(":"),
            plain(&self.upper)?,
            plain(&self.work)?
        );
        (text.len() < LONGEST).then(|| text.into_bytes())
    }

    /// Returns the bytes that a file has below the upper layer.
    fn original(&self, path: &RelPath) -> Option<Vec<u8>> {
        let mut layers = self.below.iter().chain([&self.project]);
        layers.find_map(|layer| {
            let full = path.under(layer);
            match full.symlink_metadata() {
                Ok(found) if found.is_file() => std::fs::read(full).ok(),
                Ok(found) if found.is_symlink() => {
                    std::fs::read_link(full).ok().map(|to| link_bytes(&to))
                }
                Ok(_) | Err(_) => None,
            }
        })
    }
}

fn link_bytes(target: &Path) -> Vec<u8> {
    target.as_os_str().as_encoded_bytes().to_vec()
}

/// Looks through an upper layer for what is not as it is below.
fn touched_layers(overlay: &Overlay, folder: &Path, touched: &mut BTreeMap<RelPath, Touch>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let full = entry.path();
        let Some(path) = relative(&overlay.upper, &full) else {
            continue;
        };
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = entry.file_name();
        if kind.is_dir() {
            if is_left_out(&name, &full) {
                continue;
            }
            touched_layers(overlay, &full, touched);
            if is_opaque(&full) {
                // It was removed and made again: what it held before is out of sight.
                for (below, _) in stamps(&path.under(&overlay.project)) {
                    let Ok(gone) = path.join(below.as_str()) else {
                        continue;
                    };
                    if gone.under(&overlay.upper).symlink_metadata().is_err() {
                        touched.insert(gone, Touch::Removed);
                    }
                }
            }
            continue;
        }
        if is_whiteout(&entry) {
            touched.insert(path, Touch::Removed);
            continue;
        }
        let now = if kind.is_symlink() {
            std::fs::read_link(&full).ok().map(|to| link_bytes(&to))
        } else {
            std::fs::read(&full).ok()
        };
        match overlay.original(&path) {
            None => touched.insert(path, Touch::Added),
            Some(before) if now.as_ref() != Some(&before) => touched.insert(path, Touch::Changed),
            Some(_) => None,
        };
    }
}

fn relative(root: &Path, full: &Path) -> Option<RelPath> {
    let rest = full.strip_prefix(root).ok()?.to_str()?;
    RelPath::parse(&rest.replace('\\', "/")).ok()
}

fn is_left_out(name: &std::ffi::OsStr, full: &Path) -> bool {
    is_in(LEFT_OUT, name) || full.join("pyvenv.cfg").is_file()
}

fn is_in(list: &str, name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| is_among(list, name))
}

/// What tells whether a file was touched without reading it: its length and its times. A program cannot set the time
/// of the last change itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    changed: (i64, i64),
}

fn stamps(root: &Path) -> BTreeMap<RelPath, Stamp> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (full, name) = (entry.path(), entry.file_name());
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() {
                if !is_left_out(&name, &full) {
                    folders.push(full);
                }
            } else if !is_in(LEFT_OUT, &name)
                && let Some(path) = relative(root, &full)
            {
                found.insert(path, stamp(&metadata));
            }
        }
    }
    found
}

#[cfg(unix)]
fn stamp(metadata: &std::fs::Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    Stamp {
        length: metadata.len(),
        modified: metadata.modified().ok(),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    }
}

#[cfg(not(unix))]
fn stamp(metadata: &std::fs::Metadata) -> Stamp {
    Stamp {
        length: metadata.len(),
        modified: metadata.modified().ok(),
        changed: (0, 0),
    }
}

/// Makes the mark by which an upper layer says that a file is gone.
#[cfg(target_os = "linux")]
fn whiteout(full: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    Ok(mknodat(
        CWD,
        full,
        FileType::CharacterDevice,
        Mode::empty(),
        0,
    )?)
}

#[cfg(not(target_os = "linux"))]
fn whiteout(_full: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn is_whiteout(entry: &std::fs::DirEntry) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    entry
        .metadata()
        .is_ok_and(|found| found.file_type().is_char_device() && found.rdev() == 0)
}

#[cfg(not(target_os = "linux"))]
fn is_whiteout(_entry: &std::fs::DirEntry) -> bool {
    false
}

/// Says whether a folder of an upper layer hides the one below it.
#[cfg(target_os = "linux")]
fn is_opaque(full: &Path) -> bool {
    let mut value = [0u8; 8];
    ["trusted.overlay.opaque", "user.overlay.opaque"]
        .iter()
        .any(|name| {
            rustix::fs::lgetxattr(full, *name, &mut value[..])
                .is_ok_and(|length| length > 0 && value[0] == b'y')
        })
}

#[cfg(not(target_os = "linux"))]
fn is_opaque(_full: &Path) -> bool {
    false
}

/// Copies a project to a place that is not there yet, as a scratch is.
pub(crate) fn copy_project(door: &Door, to: &Path) -> Result<(), ScratchError> {
    copy_folder(door.root(), to, &mut LARGEST.clone())
}

fn copy_folder(from: &Path, to: &Path, room: &mut u64) -> Result<(), ScratchError> {
    let broken = |source: io::Error| ScratchError::disk(from, source);
    let entries = match std::fs::read_dir(from) {
        Err(error) if is_out_of_reach(&error) => return Ok(()),
        entries => entries.map_err(broken)?,
    };
    match std::fs::create_dir_all(to) {
        // The copy's own path is longer than the project's.
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => return Ok(()),
        made => made.map_err(broken)?,
    }
    for entry in entries {
        let entry = entry.map_err(broken)?;
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(broken)?);
        let (source, target) = (entry.path(), to.join(&name));
        if kind.is_dir() {
            if is_left_out(&name, &source) {
                see_through(&source, &target);
            } else {
                copy_folder(&source, &target, room)?;
            }
        } else if kind.is_file() {
            copy_file(&source, &target, room)?;
        } else if kind.is_symlink() {
            copy_link(&source, &target);
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, room: &mut u64) -> Result<(), ScratchError> {
    // Its length is looked at first: a copy that does not fit would fill the disk before it is known.
    let length = from.symlink_metadata().map_or(0, |found| found.len());
    if length > LARGEST {
        // Tests that need it say so; a link would let them write into the project.
        return Ok(());
    }
    *room = room.checked_sub(length).ok_or(ScratchError::TooLarge)?;
    match std::fs::copy(from, to) {
        Err(source) if !is_out_of_reach(&source) => Err(ScratchError::disk(from, source)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What we cannot reach the tests cannot either, so a copy without it shows them what they would see: it may not be
/// read, its path is longer than the system takes, or it went away or became something else at this moment.
fn is_out_of_reach(error: &io::Error) -> bool {
    use io::ErrorKind::{
        InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied,
    };
    matches!(
        error.kind(),
        PermissionDenied | NotFound | InvalidFilename | NotADirectory | IsADirectory | InvalidInput
    )
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) {
    let Ok(target) = std::fs::read_link(from) else {
        return;
    };
    let steps_back = target
        .components()
        .any(|part| part == std::path::Component::ParentDir);
    if target.is_relative() && !steps_back {
        let _ = std::os::unix::fs::symlink(target, to);
    }
}

/// Makes a link to a folder that is not copied and that tests read.
#[cfg(unix)]
fn see_through(from: &Path, to: &Path) {
    let name = from.file_name().unwrap_or_default();
    let is_environment = from.join("pyvenv.cfg").is_file();
    if is_environment || is_in(SEEN_THROUGH_LINKS, name) {
        let _ = std::os::unix::fs::symlink(from, to);
    }
}

#[cfg(not(unix))]
fn see_through(_from: &Path, _to: &Path) {}

#[cfg(not(unix))]
fn copy_link(_from: &Path, _to: &Path) {}

/// Returns a folder for a new scratch.
fn new_folder() -> io::Result<OwnFolder> {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| temporary_places().iter().for_each(|place| sweep(place)));
    OwnFolder::new(PREFIX)
}

/// Removes what a killed process left behind in a folder for temporary files.
fn sweep(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Six letters or digits by chance stand behind what is ours.
        let rest = [PREFIX, PRIVATE_PREFIX]
            .iter()
            .find_map(|own| name.strip_prefix(own));
        let is_ours = rest.is_some_and(|rest| {
            rest.len() == 6 && rest.chars().all(|sign| sign.is_ascii_alphanumeric())
        });
        let age = || {
            let then = entry.metadata().and_then(|found| found.modified()).ok()?;
            SystemTime::now().duration_since(then).ok()
        };
        if is_ours && age().is_some_and(|age| age > FORGOTTEN) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_a_killed_process_left_goes_after_a_day() {
        let place = tempfile::tempdir().unwrap();
        let two_days_ago = SystemTime::now() - FORGOTTEN * 2;
        for (name, is_old) in [
            ("harness-scratch-aB3dE6", true),
            ("harness-run-aB3dE6", true),
            ("harness-run-bB3dE6", false),
            ("harness-notes", true),
            ("harness-run-results", true),
        ] {
            let folder = place.path().join(name);
            std::fs::create_dir_all(folder.join("tmp")).unwrap();
            if is_old {
                let folder = std::fs::File::open(folder).unwrap();
                folder.set_modified(two_days_ago).unwrap();
            }
        }
        sweep(place.path());
        let left = std::fs::read_dir(place.path()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(
            left,
            ["harness-notes", "harness-run-bB3dE6", "harness-run-results"]
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_huge_file_and_a_path_that_is_too_long_are_left_out() {
        let project = tempfile::tempdir().unwrap();
        let huge = std::fs::File::create(project.path().join("huge.bin")).unwrap();
        huge.set_len(3 << 30).unwrap();
        let parts = std::iter::repeat_n("d".repeat(200), 18);
        let deep: PathBuf = parts.collect();
        std::fs::create_dir_all(project.path().join(&deep)).unwrap();
        std::fs::write(project.path().join("a.py"), "x = 1\n").unwrap();
        let scratch = Scratch::copy(&Door::open(project.path()).unwrap()).unwrap();
        assert!(scratch.root().join("a.py").is_file());
        assert!(scratch.root().join("huge.bin").symlink_metadata().is_err());
        assert!(scratch.touched().is_empty());
    }

    #[test]
    fn a_copy_holds_the_sources_and_goes_away() {
        let project = tempfile::tempdir().unwrap();
        for name in [
            "src/a.py",
            ".git/config",
            "src/__pycache__/a.pyc",
            "env/pyvenv.cfg",
            "env/x.py",
        ] {
            let path = project.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let mut scratch = Scratch::copy(&Door::open(project.path()).unwrap()).unwrap();
        let root = scratch.root().to_path_buf();
        assert_eq!(
            std::fs::read_to_string(root.join("src/a.py")).unwrap(),
            "src/a.py"
        );
        assert!(!root.join(".git").exists() && !root.join("src/__pycache__").exists());
        #[cfg(unix)]
        assert!(
            root.join("env").is_symlink(),
            "an environment is not copied"
        );
        scratch
            .put(&RelPath::parse("src/a.py").unwrap(), b"new")
            .unwrap();
        assert_eq!(
            std::fs::read_to_string(project.path().join("src/a.py")).unwrap(),
            "src/a.py"
        );
        drop(scratch);
        assert!(!root.exists());
    }
}
