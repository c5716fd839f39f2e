//! The user's own folders: settings, cache, state, model weights. Named here, made by whoever writes there.

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

/// Returns the folder for what programs remember between runs.
pub fn state_folder() -> Option<PathBuf> {
    place(
        "XDG_STATE_HOME",
        ".local/state",
        "Library/Application Support",
        "LOCALAPPDATA",
    )
}

/// Returns the user's home folder.
pub fn home_folder() -> Option<PathBuf> {
    environment::home()
}

/// One of the user's folders that `clean` may empty: what is in it, where it lies, its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What is in it.
    pub about: &'static str,
    /// Where it is.
    pub folder: PathBuf,
    /// How much is in it.
    pub bytes: u64,
}

/// Returns the user's folders that hold something which can be had again.
pub fn kept() -> Vec<Kept> {
    let proposals = state_folder().map(|folder| folder.join("proposals"));
    let folders = [
        ("caches and prepared environments", cache_folder()),
        ("proposals of dry runs", proposals),
        ("downloaded weights", weights_folder()),
    ];
    let kept = folders.into_iter().filter_map(|(about, folder)| {
        let folder = folder.filter(|folder| folder.is_dir())?;
        let bytes = bytes_in(&folder);
        Some(Kept {
            about,
            folder,
            bytes,
        })
    });
    kept.filter(|kept| kept.bytes > 0).collect()
}

/// Removes a folder of the user's with everything in it. Links are removed, never followed.
pub fn remove(kept: &Kept) -> std::io::Result<()> {
    std::fs::remove_dir_all(&kept.folder)
}

fn bytes_in(folder: &std::path::Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
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
        for folder in [config_folder(), cache_folder(), state_folder()]
            .into_iter()
            .flatten()
        {
            assert!(
                folder.is_absolute() && folder.ends_with("harness"),
                "{folder:?}"
            );
        }
        assert!(weights_folder().is_none_or(|folder| folder.ends_with("harness/weights")));
    }
}
