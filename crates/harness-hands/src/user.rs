//! The user's own folders: settings, cache, model weights. Named here, made by whoever writes there.

use std::path::PathBuf;

use crate::environment;

/// Returns the folder of the user's settings (`config.toml` lies in it).
pub fn config_folder() -> Option<PathBuf> {
    place(
        "XDG_CONFIG_HOME",
        ".config",
        "Library/Application Support",
        "APPDATA",
    )
}

/// Returns the folder for what can be made again.
pub fn cache_folder() -> Option<PathBuf> {
    place("XDG_CACHE_HOME", ".cache", "Library/Caches", "LOCALAPPDATA")
}

/// Returns the folder of model weights.
pub fn weights_folder() -> Option<PathBuf> {
    place(
        "XDG_DATA_HOME",
        ".local/share",
        "Library/Application Support",
        "LOCALAPPDATA",
    )
    .map(|folder| folder.join("weights"))
}

/// Returns the user's home folder.
pub fn home_folder() -> Option<PathBuf> {
    environment::home()
}

fn place(xdg: &str, unix: &str, mac: &str, windows: &str) -> Option<PathBuf> {
    let base = if cfg!(windows) {
        environment::folder(windows)
    } else if cfg!(target_os = "macos") {
        environment::home().map(|home| home.join(mac))
    } else {
        environment::folder(xdg).or_else(|| environment::home().map(|home| home.join(unix)))
    };
    base.map(|folder| folder.join("harness"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_the_programs_own() {
        for folder in [config_folder(), cache_folder()].into_iter().flatten() {
            assert!(
                folder.is_absolute() && folder.ends_with("harness"),
                "{folder:?}"
            );
        }
        assert!(weights_folder().is_none_or(|folder| folder.ends_with("harness/weights")));
    }
}
