//! The environment as hands need it: where the user's folders are, and what tests may inherit.
//! The one file of this crate that reads it; what a run is told to do never comes from here.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Returns the value of a variable, unless it is absent or empty.
pub(crate) fn value(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the value of a variable as an absolute path; a relative one is no place to rely on.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    value(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// Returns every variable.
pub(crate) fn all() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Returns the user's home folder.
pub(crate) fn home() -> Option<PathBuf> {
    if cfg!(windows) {
        folder("USERPROFILE")
    } else {
        folder("HOME")
    }
}

/// Returns the folder in which a tool keeps its own things, where it is there.
pub(crate) fn tool_home(variable: &str, usual: &str) -> Option<PathBuf> {
    tool_place(variable, usual).filter(|home| home.is_dir())
}

/// Returns where a tool keeps its own things: what its variable says, else the usual folder. Of a list (`GOPATH` may be
/// one) the first counts: there a tool puts what it fetches.
pub(crate) fn tool_place(variable: &str, usual: &str) -> Option<PathBuf> {
    let named = value(variable)
        .and_then(|list| std::env::split_paths(&list).find(|folder| folder.is_absolute()));
    named.or_else(|| home().map(|home| home.join(usual)))
}

/// Returns the list of the folders in which programs are looked up.
pub(crate) fn path() -> OsString {
    value("PATH").unwrap_or_else(|| OsStr::new(DEFAULT_PATH).to_os_string())
}

/// Returns the programs of a name in the absolute folders of such a list, in their order.
pub fn programs_in(path: &OsStr, name: &OsStr) -> impl Iterator<Item = PathBuf> {
    let endings: &[&str] = match cfg!(windows) {
        true => &[".exe", ".cmd", ".bat"],
        false => &[""],
    };
    let names = endings.iter().map(|ending| {
        let mut name = name.to_os_string();
        name.push(ending);
        name
    });
    let names: Vec<OsString> = names.collect();
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let absolute = folders.into_iter().filter(|folder| folder.is_absolute());
    let files = absolute.flat_map(move |folder| {
        let files = names.iter().map(|name| folder.join(name));
        files.collect::<Vec<_>>()
    });
    files.filter(|file| is_program(file))
}

/// Says whether a file is there that can be started.
#[cfg(unix)]
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Says whether a file is there that can be started.
#[cfg(not(unix))]
pub fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Where programs are when nobody said: what `execvp` falls back to.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
