//! The environment as hands need it: where the user's folders are, and what tests may inherit.
//! The one file of this crate that reads it; what a run is told to do never comes from here.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

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

/// Returns the folders in which programs are looked up.
pub(crate) fn program_folders() -> Vec<PathBuf> {
    let path = value("PATH").unwrap_or_else(|| OsStr::new(DEFAULT_PATH).to_os_string());
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .collect()
}

/// Where programs are when nobody said: what `execvp` falls back to.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
