//! Small facts that can be found out again, kept in the user's cache folder. Losing one costs a moment, nothing else.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The largest fact that is kept or read back.
const LARGEST: u64 = 64 << 10;

/// A folder of small facts.
#[derive(Clone, Debug)]
pub struct Cache(Option<PathBuf>);

impl Cache {
    /// Returns a part of the user's cache folder; facts are forgotten where there is none.
    pub fn of_user(part: &str) -> Cache {
        Cache(crate::user::cache_folder().map(|folder| folder.join(part)))
    }

    /// Returns a cache in a folder of its own.
    pub fn at(folder: &Path) -> Cache {
        Cache(Some(folder.to_owned()))
    }

    /// Returns a cache that keeps nothing.
    pub fn none() -> Cache {
        Cache(None)
    }

    /// Returns what was kept under a name.
    pub fn get(&self, name: &str) -> Option<String> {
        let file = self.file(name)?;
        // A link or a pipe was not put there by us.
        let facts = std::fs::symlink_metadata(&file).ok()?;
        if !facts.is_file() || facts.len() > LARGEST {
            return None;
        }
        std::fs::read_to_string(file).ok()
    }

    /// Keeps a text under a name, whole or not at all. A cache that cannot be written is no error.
    pub fn put(&self, name: &str, text: &str) {
        let _ = self.try_put(name, text);
    }

    fn try_put(&self, name: &str, text: &str) -> Option<()> {
        let file = self.file(name).filter(|_| text.len() as u64 <= LARGEST)?;
        let folder = file.parent()?;
        std::fs::create_dir_all(folder).ok()?;
        let mut new = tempfile::NamedTempFile::new_in(folder).ok()?;
        new.write_all(text.as_bytes()).ok()?;
        new.persist(file).ok()?;
        Some(())
    }

    /// Names are letters, digits, dots and dashes: nothing that leads elsewhere.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let plain = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
        let fits = !name.is_empty() && name.len() <= 128 && !name.starts_with('.');
        self.0
            .as_ref()
            .filter(|_| plain && fits)
            .map(|folder| folder.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_kept_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("new/part"));
        assert_eq!(cache.get("a.json"), None);
        cache.put("a.json", "{}");
        cache.put("a.json", "{1}");
        assert_eq!(cache.get("a.json").as_deref(), Some("{1}"));
        assert_eq!(
            std::fs::read_dir(folder.path().join("new/part"))
                .unwrap()
                .count(),
            1
        );
    }

    #[test]
    fn a_name_cannot_lead_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("part"));
        for name in ["../a", "a/b", "", ".a", "..", "a\\b", "a\0b"] {
            cache.put(name, "x");
            assert_eq!(cache.get(name), None, "{name}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_cache_that_cannot_be_used_is_empty() {
        Cache::none().put("a", "x");
        assert_eq!(Cache::none().get("a"), None);
        let file = tempfile::NamedTempFile::new().unwrap();
        let cache = Cache::at(file.path());
        cache.put("a", "x");
        assert_eq!(cache.get("a"), None);
    }
}
