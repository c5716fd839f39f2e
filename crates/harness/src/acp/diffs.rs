//! A unified diff as the texts before and after, which is what editors show.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::Diff;

/// One file of a diff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileDiff {
    /// The file, relative to the project.
    pub(super) path: String,
    /// Whether it is not there before.
    is_new: bool,
    hunks: Vec<Hunk>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// The first line that it is about, from 0.
    start: usize,
    /// What was there, and what is there now.
    old: Vec<String>,
    new: Vec<String>,
}

/// Reads a diff that we wrote.
pub(super) fn files(diff: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        let after = lines.peek().and_then(|next| next.strip_prefix("+++ "));
        if let (Some(old), Some(new)) = (line.strip_prefix("--- "), after) {
            let path = new.strip_prefix("b/").or_else(|| old.strip_prefix("a/"));
            let is_new = old == "/dev/null";
            files.push(FileDiff {
                path: path.unwrap_or_default().to_owned(),
                is_new,
                hunks: Vec::new(),
            });
            lines.next();
        } else if let Some(file) = files.last_mut() {
            file.read(line);
        }
    }
    files
}

impl FileDiff {
    fn read(&mut self, line: &str) {
        if let Some(place) = line.strip_prefix("@@ -") {
            let number = place.split([',', ' ']).next().unwrap_or_default();
            let start = number
                .parse::<usize>()
                .unwrap_or_default()
                .saturating_sub(1);
            self.hunks.push(Hunk {
                start,
                ..Hunk::default()
            });
            return;
        }
        let Some(hunk) = self.hunks.last_mut() else {
            return;
        };
        let text = line.get(1..).unwrap_or_default().to_owned();
        match line.as_bytes().first() {
            Some(b'-') => hunk.old.push(text),
            Some(b'+') => hunk.new.push(text),
            Some(b'\\') => {}
            Some(_) | None => {
                hunk.old.push(text.clone());
                hunk.new.push(text);
            }
        }
    }

    /// Returns the line that changes first, from 1.
    pub(super) fn line(&self) -> u32 {
        let first = self.hunks.first();
        let shared = first.map_or(0, |hunk| {
            let pairs = hunk.old.iter().zip(&hunk.new);
            hunk.start + pairs.take_while(|(old, new)| old == new).count()
        });
        u32::try_from(shared + 1).unwrap_or(u32::MAX)
    }

    /// Returns the text after the change; none where it does not fit.
    fn applied(&self, before: &str) -> Option<String> {
        let old: Vec<&str> = before.lines().collect();
        let (mut new, mut at) = (Vec::new(), 0);
        for hunk in &self.hunks {
            new.extend_from_slice(old.get(at..hunk.start)?);
            let end = hunk.start + hunk.old.len();
            if old.get(hunk.start..end)? != hunk.old {
                return None;
            }
            new.extend(hunk.new.iter().map(String::as_str));
            at = end;
        }
        new.extend_from_slice(old.get(at..)?);
        let mut text = new.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        Some(text)
    }

    /// Returns where the file is.
    pub(super) fn place(&self, project: &Path) -> PathBuf {
        project.join(&self.path)
    }

    /// Returns the change as an editor shows it, read against the file as it is; none where it does not fit.
    pub(super) fn shown(&self, project: &Path) -> Option<Diff> {
        let place = self.place(project);
        if self.is_new {
            return Some(Diff::new(place, self.applied("")?));
        }
        let before = std::fs::read_to_string(&place).ok()?;
        let after = self.applied(&before)?;
        Some(Diff::new(place, after).old_text(before))
    }
}

#[cfg(test)]
mod tests {
    use super::files;

    const BEFORE: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
    const AFTER: &str = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";

    #[test]
    fn a_diff_is_read_back() {
        let diff = harness_code::edit::unified_diff("x/y.py", Some(BEFORE), Some(AFTER));
        let found = files(&diff);
        assert_eq!(
            (found.len(), found[0].path.as_str(), found[0].line()),
            (1, "x/y.py", 2)
        );
        assert_eq!(found[0].applied(BEFORE).as_deref(), Some(AFTER));
        assert_eq!(found[0].applied("other\n"), None);
    }

    #[test]
    fn several_files_and_new_ones_are_told_apart() {
        let new = harness_code::edit::unified_diff("new.py", None, Some("x = 1\n"));
        let gone = harness_code::edit::unified_diff("old.py", Some("y\n"), None);
        let found = files(&format!("{new}{gone}"));
        let paths: Vec<&str> = found.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["new.py", "old.py"]);
        assert_eq!(found[0].applied("").as_deref(), Some("x = 1\n"));
        assert_eq!(found[1].applied("y\n").as_deref(), Some(""));
    }
}
