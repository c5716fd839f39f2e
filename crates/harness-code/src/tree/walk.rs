//! Finds the files of a project. Rules of what to leave out are read like any other file of a stranger: no links, no
//! pipes, nothing beyond a limit.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::open::read_inside;
use crate::path::RelPath;
use crate::text::is_among;

/// More rules than this are no person's; those behind them are not read. Large repositories have a few hundred.
const MOST_RULES: usize = 5_000;

/// How tools mark a virtual environment and a cache.
const MARKS: [&str; 2] = ["pyvenv.cfg", "CACHEDIR.TAG"];

/// Down to here a folder is asked for the marks before it is walked; deeper ones are few and are left out afterwards.
const MARKED_DEPTH: usize = 3;

/// Folders that hold what tools made or others wrote.
const SKIPPED_FOLDERS: &str = "\
    __pycache__ node_modules bower_components site-packages vendor _vendor third_party thirdparty \
    CVS __pypackages__ htmlcov DerivedData";

/// Hidden folders that people write in; all others belong to tools.
const KEPT_HIDDEN_FOLDERS: &str = ".github .gitlab .circleci .ci .agents .claude";

/// A folder to be walked, with the rules that hold in it.
struct Folder {
    path: PathBuf,
    depth: usize,
    rules: Option<Rc<Rules>>,
}

/// The rules of one folder, and of those above it.
struct Rules {
    own: Gitignore,
    above: Option<Rc<Rules>>,
}

/// More files than this are no project: the root of a disk, a home folder.
pub(super) const MOST_FILES: usize = 300_000;

/// Folders at the top of a disk that hold no files of their own.
const MADE_BY_THE_SYSTEM: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// Returns the paths of all regular files below `top`, sorted; nothing where there are too many.
pub(super) fn find(root: &Path, top: &Path) -> Option<Vec<RelPath>> {
    let mut found: Vec<RelPath> = Vec::new();
    let mut marked: Vec<RelPath> = Vec::new();
    let mut folders = vec![Folder {
        path: top.to_path_buf(),
        depth: 0,
        rules: with_own(root, ".git/info/exclude", None),
    }];
    while let Some(folder) = folders.pop() {
        // What cannot be read is left out: a brief of the rest is better than none.
        let Ok(entries) = std::fs::read_dir(&folder.path) else {
            continue;
        };
        if found.len() > MOST_FILES {
            return None;
        }
        let rules = with_own(&folder.path, ".gitignore", folder.rules.clone());
        let rules = with_own(&folder.path, ".ignore", rules);
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = entry.path();
            if is_ignored(rules.as_deref(), &path, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() {
                let is_made = MADE_BY_THE_SYSTEM
                    .iter()
                    .any(|made| path == Path::new(made));
                if !is_made && is_wanted(&entry, folder.depth + 1) {
                    folders.push(Folder {
                        path,
                        depth: folder.depth + 1,
                        rules: rules.clone(),
                    });
                }
            } else if kind.is_file()
                && let Some(path) = relative(root, &path)
            {
                if MARKS.contains(&path.file_name()) {
                    marked.extend(path.parent());
                }
                found.push(path);
            }
        }
    }
    found.retain(|path| !marked.iter().any(|folder| path.starts_with(folder)));
    found.sort_unstable();
    Some(found)
}

/// Returns the rules above with those of a file of this folder, when it has any.
fn with_own(folder: &Path, name: &str, above: Option<Rc<Rules>>) -> Option<Rc<Rules>> {
    let path = folder.join(name);
    let shown = RelPath::parse(name).ok()?;
    let Some(bytes) = path
        .symlink_metadata()
        .ok()
        .and_then(|_| read_inside(folder, &shown).ok())
    else {
        return above;
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut rules = GitignoreBuilder::new(folder);
    let lines = text.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines.take(MOST_RULES) {
        // A rule that cannot be read leaves nothing out.
        let _ = rules.add_line(None, line);
    }
    match rules.build() {
        Ok(own) if !own.is_empty() => Some(Rc::new(Rules { own, above })),
        Ok(_) | Err(_) => above,
    }
}

/// Says whether a path is left out; the rules nearest to it decide.
fn is_ignored(rules: Option<&Rules>, path: &Path, is_folder: bool) -> bool {
    let mut rules = rules;
    while let Some(here) = rules {
        match here.own.matched(path, is_folder) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => rules = here.above.as_deref(),
        }
    }
    false
}

/// Returns `path` below `root`; `None` for names that cannot be written with forward slashes in UTF-8.
fn relative(root: &Path, path: &Path) -> Option<RelPath> {
    let inside = path.strip_prefix(root).ok()?.to_str()?;
    if cfg!(unix) && inside.contains('\\') {
        return None;
    }
    RelPath::parse(inside).ok()
}

/// Says whether a folder holds what people of this project write.
fn is_wanted(entry: &DirEntry, depth: usize) -> bool {
    let name = entry.file_name();
    let Some(name) = name.to_str() else {
        return false;
    };
    if name.starts_with('.') {
        return is_among(KEPT_HIDDEN_FOLDERS, name);
    }
    if is_among(SKIPPED_FOLDERS, name)
        || name.ends_with(".egg-info")
        || name.ends_with(".dist-info")
    {
        return false;
    }
    depth > MARKED_DEPTH || !MARKS.iter().any(|mark| entry.path().join(mark).exists())
}
