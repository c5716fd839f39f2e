//! Near misses: a name or a path that a task writes and the project has only with other letters. No name for that
//! (likeness never is one), but what to offer first when a task names nothing.

use crate::path::RelPath;
use crate::tree::SourceTree;

/// A name that the project does not have, and what may have been meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    /// The name as the task writes it.
    pub written: String,
    /// What it may mean, nearest first: `name in path`, or a path.
    pub meant: Vec<String>,
}

/// How alike two names must be, from 0 to 1.
const ALIKE: f64 = 0.72;
/// More than this is a list to read and no help.
const MOST: usize = 4;
/// Shorter words are near to too many others.
const SHORTEST: usize = 4;

/// Returns the first of these names that the project lacks and that something in it is near to.
pub fn near_miss(tree: &SourceTree, names: &[&str]) -> Option<NearMiss> {
    let mut names = names.iter().filter(|name| name.len() >= SHORTEST);
    names.find_map(|name| {
        let meant = match is_path(name) {
            true => near_paths(tree, name),
            false => near_definitions(tree, name),
        };
        let written = (*name).to_owned();
        (!meant.is_empty()).then_some(NearMiss { written, meant })
    })
}

fn is_path(name: &str) -> bool {
    let path = RelPath::parse(name);
    name.contains('/')
        || path.is_ok_and(|path| {
            crate::language::Language::of(&path).is_source() && name.contains('.')
        })
}

fn near_paths(tree: &SourceTree, name: &str) -> Vec<String> {
    let wrong = name.trim_start_matches("./");
    let score = |path: &RelPath| {
        let right = path.as_str();
        // A path may be told by its end.
        let end = match right.len().checked_sub(wrong.len() + 2) {
            Some(_) if !wrong.contains('/') => path.file_name(),
            _ => right,
        };
        alike(wrong, end)
    };
    let files = tree.files().iter();
    best(files.map(|file| (score(&file.path), file.test, file.path.to_string())))
}

fn near_definitions(tree: &SourceTree, name: &str) -> Vec<String> {
    let last = |name: &str| {
        name.rsplit(['.', ':'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let wrong = last(name);
    if wrong.len() < SHORTEST {
        return Vec::new();
    }
    // A word that names are made of is no misspelled name, and a test may be called after what is still to come.
    let is_part = |name: &str| {
        let bare = name.strip_prefix("Test").unwrap_or(name);
        let rest = bare.strip_prefix(wrong.as_str());
        let is_longer = |rest: &str| rest.starts_with(char::is_uppercase);
        !wrong.contains('_')
            && rest.is_some_and(|rest| is_longer(rest) || rest.is_empty() && bare != name)
    };
    let mut all = tree.definitions();
    if all.any(|(_, one)| is_part(one.name())) {
        return Vec::new();
    }
    let found = tree.definitions().map(|(file, one)| {
        let told = format!("{} in {}", one.qualified, file.path);
        (alike(&wrong, one.name()), file.test, told)
    });
    best(found)
}

/// A longer word is no misspelled name.
const LONGEST: usize = 200;

/// What the same letters in the same case are worth, where the letters alone leave two names as near.
const SAME_CASE: f64 = 0.001;

/// Returns how alike two names are, capitals and underscores at the ends aside.
fn alike(wrong: &str, right: &str) -> f64 {
    // A pasted word may have a megabyte.
    if wrong.len() > LONGEST || right.len() > LONGEST {
        return 0.0;
    }
    let plain = |name: &str| name.trim_matches('_').to_lowercase();
    let letters = strsim::normalized_damerau_levenshtein(&plain(wrong), &plain(right));
    let as_written = strsim::normalized_damerau_levenshtein(wrong, right);
    letters + SAME_CASE * as_written
}

fn best(found: impl Iterator<Item = (f64, bool, String)>) -> Vec<String> {
    let mut found: Vec<(f64, bool, String)> = found.filter(|(score, ..)| *score >= ALIKE).collect();
    // What tests define is seldom meant.
    found.sort_by(|a, b| {
        (a.1.cmp(&b.1))
            .then(b.0.total_cmp(&a.0))
            .then_with(|| a.2.cmp(&b.2))
    });
    found.dedup_by(|a, b| a.2 == b.2);
    found
        .into_iter()
        .take(MOST)
        .map(|(.., told)| told)
        .collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay files out")]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_right_is_offered() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("shop")).unwrap();
        let code = "def apply_discount():\n    pass\n\n\nclass Cart:\n    def _make_default_help(self):\n        pass\n";
        std::fs::write(folder.path().join("shop/pricing.py"), code).unwrap();
        std::fs::write(folder.path().join("shop/report.py"), "X = 1\n").unwrap();
        std::fs::write(
            folder.path().join("shop/rates.py"),
            "BEST_RATE = 1\n\n\ndef best_rate():\n    pass\n",
        )
        .unwrap();
        let test = "def test_apply_discount():\n    pass\n";
        std::fs::write(folder.path().join("test_pricing.py"), test).unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let meant = |name: &str| near_miss(&tree, &[name]).map(|near| near.meant.join(", "));
        let cases = [
            ("aply_discount", Some("apply_discount in shop/pricing.py")),
            ("ApplyDiscuont", Some("apply_discount in shop/pricing.py")),
            ("shop/reprot.py", Some("shop/report.py")),
            ("reprot.py", Some("shop/report.py")),
            (
                "make_default_help",
                Some("Cart._make_default_help in shop/pricing.py"),
            ),
            (
                "Cart.make_default_hlp",
                Some("Cart._make_default_help in shop/pricing.py"),
            ),
            (
                "best_rtae",
                Some("best_rate in shop/rates.py, BEST_RATE in shop/rates.py"),
            ),
            ("discount", None),
            ("other/thing.py", None),
            ("pay", None),
        ];
        for (name, expected) in cases {
            assert_eq!(meant(name).as_deref(), expected, "{name}");
        }
    }
}
