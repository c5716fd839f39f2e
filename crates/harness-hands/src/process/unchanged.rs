//! `.git` and `.harness` come out of a run as they went in. Where the walls make them read-only,
//! nothing has to be done but to see that none appears; elsewhere they are compared and put back.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Copies are kept of at most this many bytes; refs, hooks and settings take far less.
const COPIES: u64 = 128 * 1024 * 1024;

/// Objects are named by their content and never change; new ones harm nobody.
const BULK: &[&str] = &["objects", "lfs", "annex"];

/// How a place was before the run.
#[derive(Debug)]
pub(crate) struct Unchanged {
    place: PathBuf,
    before: Before,
}

#[derive(Debug)]
enum Before {
    /// Nothing was there.
    Absent,
    /// The walls keep it.
    Walled,
    /// What was there, by path below the place.
    Seen(BTreeMap<PathBuf, Entry>),
}

#[derive(Debug)]
struct Entry {
    stamp: Stamp,
    /// The bytes of a file, where they may be needed.
    bytes: Option<Vec<u8>>,
}

/// What tells whether an entry was touched without reading it.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    is_folder: bool,
    is_link: bool,
    bytes: u64,
    modified: Option<SystemTime>,
    readonly: bool,
}

impl Unchanged {
    /// Looks at a place before a run. `walled` says that the walls make it read-only.
    pub(crate) fn look(place: &Path, walled: bool) -> Unchanged {
        let before = match place.symlink_metadata() {
            Err(_) => Before::Absent,
            Ok(_) if walled => Before::Walled,
            Ok(_) => {
                let mut room = COPIES;
                let mut seen = BTreeMap::new();
                walk(place, &mut |path, found| {
                    let is_bulk = BULK
                        .iter()
                        .any(|name| relative(place, path).starts_with(name));
                    let wants_copy = found.is_file() && !is_bulk && found.len() <= room;
                    let bytes = wants_copy.then(|| std::fs::read(path).ok()).flatten();
                    room -= bytes
                        .as_ref()
                        .map_or(0, |bytes| bytes.len() as u64)
                        .min(room);
                    seen.insert(
                        relative(place, path),
                        Entry {
                            stamp: stamp(found),
                            bytes,
                        },
                    );
                });
                Before::Seen(seen)
            }
        };
        Unchanged {
            place: place.to_path_buf(),
            before,
        }
    }

    /// Puts back what the run changed, and returns the paths that it had changed.
    pub(crate) fn restore(&self) -> Vec<PathBuf> {
        match &self.before {
            Before::Walled => Vec::new(),
            Before::Absent if self.place.symlink_metadata().is_err() => Vec::new(),
            Before::Absent => {
                remove(&self.place);
                vec![self.place.clone()]
            }
            Before::Seen(before) => self.put_back(before),
        }
    }

    fn put_back(&self, before: &BTreeMap<PathBuf, Entry>) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        let mut now = BTreeMap::new();
        walk(&self.place, &mut |path, found| {
            now.insert(relative(&self.place, path), stamp(found));
        });
        for path in now.keys().rev().filter(|path| !before.contains_key(*path)) {
            let is_bulk = BULK.iter().any(|name| path.starts_with(name));
            if !is_bulk {
                remove(&self.place.join(path));
                changed.push(self.place.join(path));
            }
        }
        for (path, entry) in before {
            let full = self.place.join(path);
            let same = now.get(path).is_some_and(|now| {
                // The time of a folder changes with what is put back in it.
                entry.stamp.is_folder && now.is_folder || *now == entry.stamp
            });
            if !same {
                put(&full, entry);
                changed.push(full);
            }
        }
        changed
    }
}

fn put(path: &Path, entry: &Entry) {
    if entry.stamp.is_folder {
        let _ = std::fs::create_dir_all(path);
    } else if let Some(bytes) = &entry.bytes {
        // A link or a folder in its place must not be written through.
        remove(path);
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = std::fs::write(path, bytes);
        if let (Ok(found), Some(time)) = (
            std::fs::File::options().write(true).open(path),
            entry.stamp.modified,
        ) {
            let _ = found.set_modified(time);
        }
    }
}

fn remove(path: &Path) {
    // Neither follows a link.
    if std::fs::remove_file(path).is_err() {
        let _ = std::fs::remove_dir_all(path);
    }
}

fn relative(place: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(place)
        .map_or_else(|_| path.to_path_buf(), Path::to_path_buf)
}

fn stamp(found: &Metadata) -> Stamp {
    Stamp {
        is_folder: found.is_dir(),
        is_link: found.file_type().is_symlink(),
        bytes: if found.is_dir() { 0 } else { found.len() },
        modified: found.modified().ok(),
        readonly: found.permissions().readonly(),
    }
}

fn walk(path: &Path, visit: &mut dyn FnMut(&Path, &Metadata)) {
    let Ok(found) = path.symlink_metadata() else {
        return;
    };
    visit(path, &found);
    if found.is_dir() {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            walk(&entry.path(), visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        std::fs::create_dir_all(git.join("hooks")).unwrap();
        std::fs::create_dir_all(git.join("objects")).unwrap();
        std::fs::write(git.join("config"), "[core]\n").unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let look = Unchanged::look(&git, false);
        assert_eq!(look.restore(), Vec::<PathBuf>::new());
        std::fs::write(git.join("config"), "[core]\nfsmonitor = evil\n").unwrap();
        std::fs::remove_file(git.join("HEAD")).unwrap();
        std::fs::write(git.join("hooks/pre-commit"), "evil").unwrap();
        std::fs::write(git.join("objects/new"), "harmless").unwrap();
        assert_eq!(
            look.restore(),
            ["hooks/pre-commit", "HEAD", "config"].map(|name| git.join(name))
        );
        assert_eq!(std::fs::read(git.join("config")).unwrap(), b"[core]\n");
        assert_eq!(
            std::fs::read(git.join("HEAD")).unwrap(),
            b"ref: refs/heads/main\n"
        );
        assert!(!git.join("hooks/pre-commit").exists() && git.join("objects/new").exists());
        assert_eq!(look.restore(), Vec::<PathBuf>::new());
    }

    #[test]
    fn what_was_not_there_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let look = Unchanged::look(&git, true);
        std::fs::create_dir_all(git.join("hooks")).unwrap();
        assert_eq!(look.restore(), [git.as_path()]);
        assert!(!git.exists());
    }
}
