//! What a run would change, kept in memory: nothing reaches the project before it is proven.

use std::collections::BTreeMap;

use harness_code::edit::{self, FileChange};
use harness_code::path::RelPath;
use harness_code::text::Text;
use harness_hands::door::{Door, DoorError};
use harness_hands::git::Changed;
use harness_hands::journal;
use harness_hands::scratch::{Scratch, ScratchError};
use harness_hands::transaction::{Transaction, WriteError};

use crate::record::RecordedChange;

/// Files as a run would leave them.
#[derive(Clone, Debug, Default)]
pub(super) struct Staged {
    files: BTreeMap<RelPath, Changed>,
    /// Files that get another path, in this order.
    moves: Vec<(RelPath, RelPath)>,
}

fn is_text(file: &Changed) -> bool {
    let mut all = [&file.before, &file.after].into_iter().flatten();
    all.all(|bytes| text(bytes).is_some())
}

fn diff_of(file: &Changed) -> String {
    let path = &file.path;
    if !is_text(file) {
        // In git's own words: it refuses such a patch whole, and never applies the rest of it in silence.
        let (mode, before, after) = match (&file.before, &file.after) {
            (None, _) => (
                "new file mode 100644\n",
                "/dev/null".to_owned(),
                format!("b/{path}"),
            ),
            (_, None) => (
                "deleted file mode 100644\n",
                format!("a/{path}"),
                "/dev/null".to_owned(),
            ),
            _ => ("", format!("a/{path}"), format!("b/{path}")),
        };
        return format!(
            "diff --git a/{path} b/{path}\n{mode}Binary files {before} and {after} differ\n"
        );
    }
    let (before, after) = (file.before.as_deref(), file.after.as_deref());
    let (before, after) = (before.and_then(text), after.and_then(text));
    edit::unified_diff(path.as_str(), before.as_deref(), after.as_deref())
}

fn text(bytes: &[u8]) -> Option<String> {
    Text::decode(bytes).ok().map(Text::into_content)
}

impl Staged {
    /// Returns the bytes of a file as the run would leave it, or nothing when it is not there.
    pub(super) fn read(&self, door: &Door, path: &RelPath) -> Result<Option<Vec<u8>>, DoorError> {
        match self.files.get(path) {
            Some(file) => Ok(file.after.clone()),
            None => door.find(path),
        }
    }

    /// Stages new bytes for a file, or its end.
    pub(super) fn set(
        &mut self,
        door: &Door,
        path: &RelPath,
        after: Option<Vec<u8>>,
    ) -> Result<(), DoorError> {
        let before = match self.files.get(path) {
            Some(file) => file.before.clone(),
            None => door.find(path)?,
        };
        if before == after {
            self.files.remove(path);
        } else {
            let file = Changed {
                path: path.clone(),
                before,
                after,
                executable: false,
            };
            self.files.insert(path.clone(), file);
        }
        Ok(())
    }

    /// Stages another path for a file.
    pub(super) fn rename(
        &mut self,
        door: &Door,
        from: &RelPath,
        to: &RelPath,
    ) -> Result<(), DoorError> {
        let bytes = self.read(door, from)?;
        self.set(door, to, bytes)?;
        self.set(door, from, None)?;
        self.moves.push((from.clone(), to.clone()));
        Ok(())
    }

    /// Returns every file that differs from what it was before the run. Of bytes that are
    /// no text, what can be read of them stands: to a judge, such a file is no empty one.
    pub(super) fn changes(&self) -> Vec<FileChange> {
        let read = |bytes: &[u8]| {
            text(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned())
        };
        let change = |file: &Changed| FileChange {
            path: file.path.clone(),
            before: file.before.as_deref().map(read),
            after: file.after.as_deref().map(read),
        };
        self.files.values().map(change).collect()
    }

    /// Returns whether a file is text, before and afterwards, as far as it is there.
    pub(super) fn is_text(&self, path: &RelPath) -> bool {
        self.files.get(path).is_none_or(is_text)
    }

    /// Returns the paths that differ, sorted.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.files.keys()
    }

    /// Returns whether a file would be gone.
    pub(super) fn is_gone(&self, path: &RelPath) -> bool {
        self.files
            .get(path)
            .is_some_and(|file| file.after.is_none())
    }

    /// Returns what tells two states apart.
    pub(super) fn fingerprint(&self) -> String {
        let file = |(path, file): (&RelPath, &Changed)| {
            let after = file.after.as_deref().map(journal::digest);
            format!("{path}\0{}\0", after.unwrap_or_default())
        };
        self.files.iter().map(file).collect()
    }

    /// Returns the changes as a unified diff; a file that goes is shown as gone.
    pub(super) fn diff(&self) -> String {
        self.diffs().map(|(_, diff)| diff).collect()
    }

    /// Returns the unified diff of each file that differs.
    pub(super) fn diffs(&self) -> impl Iterator<Item = (&RelPath, String)> {
        self.files.iter().map(|(path, file)| (path, diff_of(file)))
    }

    /// Returns the changed files as git is asked about them.
    pub(super) fn for_git(&self) -> Vec<Changed> {
        self.files.values().cloned().collect()
    }

    /// Returns the changes as the record keeps them: none where a file is no text, which it cannot keep.
    pub(super) fn recorded(&self) -> Vec<RecordedChange> {
        let change = |file: &Changed| {
            Some(RecordedChange {
                path: file.path.to_string(),
                before: file.before.as_deref().map(journal::digest),
                after: match &file.after {
                    Some(bytes) => Some(text(bytes)?),
                    None => None,
                },
            })
        };
        let changes: Option<Vec<_>> = self.files.values().map(change).collect();
        changes.unwrap_or_default()
    }

    /// Lays the changes of those files into a private version of the project that are wanted there.
    pub(super) fn lay_into(
        &self,
        scratch: &mut Scratch,
        wanted: impl Fn(&RelPath) -> bool,
    ) -> Result<(), ScratchError> {
        for (path, file) in self.files.iter().filter(|(path, _)| wanted(path)) {
            match &file.after {
                Some(bytes) => scratch.put(path, bytes)?,
                None => scratch.remove(path)?,
            }
        }
        Ok(())
    }

    /// Says whether a move is all that happened to the presence of both of its paths: one is gone, the other new.
    fn is_whole(&self, (from, to): &(RelPath, RelPath)) -> bool {
        let of_these = |path: &RelPath| path == from || path == to;
        let ends = self.moves.iter().flat_map(|(from, to)| [from, to]);
        let is_new = |file: &Changed| file.before.is_none() && file.after.is_some();
        ends.filter(|path| of_these(path)).count() == 2
            && self.is_gone(from)
            && self.files.get(to).is_some_and(is_new)
    }

    /// Writes every change into the project. Each file must still be what the change was made from.
    pub(super) fn write(
        &self,
        transaction: &mut Transaction,
        door: &Door,
    ) -> Result<(), WriteError> {
        let moves: Vec<_> = self.moves.iter().filter(|one| self.is_whole(one)).collect();
        for (from, to) in &moves {
            let (Some(source), Some(target)) = (self.files.get(from), self.files.get(to)) else {
                continue;
            };
            if door.find(from)? != source.before {
                return Err(WriteError::ChangedMeanwhile(from.clone()));
            }
            transaction.rename(from, to)?;
            if target.after != source.before {
                transaction.settle(to, source.before.as_deref(), target.after.as_deref())?;
            }
        }
        let is_moved = |path| moves.iter().any(|(from, to)| path == from || path == to);
        for (path, file) in self.files.iter().filter(|(path, _)| !is_moved(*path)) {
            transaction.settle(path, file.before.as_deref(), file.after.as_deref())?;
        }
        Ok(())
    }
}

/// Returns the closing sentence, written from what happened.
pub(super) fn summary(changes: &[FileChange], proof: &str) -> String {
    let what: Vec<String> = changes.iter().take(3).map(described).collect();
    let more = match changes.len().saturating_sub(3) {
        0 => String::new(),
        1 => " and 1 more file".to_owned(),
        more => format!(" and {more} more files"),
    };
    format!("changed {}{more}: {proof}", what.join(", "))
}

fn described(change: &FileChange) -> String {
    let altered = change.altered();
    let names = altered.iter().take(3);
    let names: Vec<String> = names.map(|one| format!("`{}`", one.qualified)).collect();
    if names.is_empty() {
        return change.path.to_string();
    }
    format!("{} in {}", names.join(", "), change.path)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::run::scripted_tests::{Scene, Stage, path};

    const FILES: [(&str, &str); 2] = [("a.py", "x = 1\n"), ("b.py", "y = 1\n")];

    /// Does something with a project of two files and what is staged of it.
    fn with<T>(act: impl FnOnce(&Stage, &mut Scene<'_, '_>, &mut Staged) -> T) -> T {
        let stage = Stage::new(&FILES, "tidy up");
        let came = stage.play(|scene| act(&stage, scene, &mut Staged::default()));
        came.value
    }

    fn set(scene: &Scene<'_, '_>, staged: &mut Staged, name: &str, after: Option<&str>) {
        let after = after.map(|text| text.as_bytes().to_vec());
        let door = scene.context.project.door();
        staged.set(door, &path(name), after).unwrap();
    }

    fn rename(scene: &Scene<'_, '_>, staged: &mut Staged, from: &str, to: &str) {
        let door = scene.context.project.door();
        staged.rename(door, &path(from), &path(to)).unwrap();
    }

    /// Writes what is staged, and returns what differs from before, or why it does not.
    fn written(scene: &mut Scene<'_, '_>, staged: &Staged) -> Result<String, String> {
        let (run, flag) = (scene.context.run, scene.context.cancel.flag());
        let writer = scene.context.project.writer().unwrap();
        let begun = scene.log.of_waiting(Duration::ZERO, &flag, |waiting| {
            writer.begin(run, "tidy up", waiting)
        });
        let mut transaction = begun.unwrap();
        let written = staged.write(&mut transaction, scene.context.project.door());
        written.map_err(|error| error.to_string())?;
        let paths = transaction.writes();
        let paths: Vec<&str> = paths.iter().map(RelPath::as_str).collect();
        Ok(paths.join(" "))
    }

    #[test]
    fn a_file_that_gets_its_old_bytes_again_is_not_changed() {
        with(|_, scene, staged| {
            for (name, old) in [("a.py", Some("x = 1\n")), ("new.py", None)] {
                set(scene, staged, name, Some("x = 2\n"));
                set(scene, staged, name, Some("x = 3\n"));
                assert_eq!(staged.paths().collect::<Vec<_>>(), [&path(name)]);
                set(scene, staged, name, old);
                assert_eq!((staged.paths().count(), staged.diff().as_str()), (0, ""));
            }
        });
    }

    #[test]
    fn what_somebody_saved_meanwhile_is_not_written_over() {
        for after in [Some("x = 2\n"), None] {
            with(|stage, scene, staged| {
                set(scene, staged, "a.py", after);
                stage.write("a.py", "x = 5\n");
                let error = "`a.py` was changed by someone else at this moment; read it again";
                assert_eq!(written(scene, staged), Err(error.to_owned()));
                assert_eq!(stage.on_disk("a.py"), "x = 5\n");
            });
        }
    }

    #[test]
    fn a_file_with_another_path_has_what_was_changed_in_it() {
        with(|stage, scene, staged| {
            set(scene, staged, "a.py", Some("x = 2\n"));
            rename(scene, staged, "a.py", "far/c.py");
            set(scene, staged, "b.py", Some("y = 2\n"));
            let paths = written(scene, staged);
            assert_eq!(paths.as_deref(), Ok("a.py b.py far/c.py"));
            assert_eq!(stage.on_disk("far/c.py"), "x = 2\n");
            assert_eq!(stage.on_disk("a.py.bak"), "x = 1\n");
            assert!(!stage.options.project.join("a.py").exists());
            assert_eq!(stage.on_disk("b.py"), "y = 2\n");
        });
    }

    #[test]
    fn a_file_that_somebody_saved_meanwhile_does_not_move() {
        with(|stage, scene, staged| {
            rename(scene, staged, "a.py", "c.py");
            stage.write("a.py", "x = 5\n");
            let error = "`a.py` was changed by someone else at this moment; read it again";
            assert_eq!(written(scene, staged), Err(error.to_owned()));
            assert_eq!(stage.on_disk("a.py"), "x = 5\n");
            assert!(!stage.options.project.join("c.py").exists());
        });
    }

    /// Says what is on disk once everything that is staged is written.
    fn on_disk_after(act: impl Fn(&Scene<'_, '_>, &mut Staged)) -> String {
        with(|stage, scene, staged| {
            act(scene, staged);
            let diff = staged.diff();
            written(scene, staged).unwrap();
            let there = |name: &&str| stage.options.project.join(name).exists();
            let names = ["a.py", "b.py", "c.py", "d.py"].into_iter().filter(there);
            let files: String = names
                .map(|name| format!("{name}: {}", stage.on_disk(name)))
                .collect();
            for (path, file) in &staged.files {
                let now = scene.context.project.door().find(path).unwrap();
                assert_eq!(now, file.after, "{path}\n{diff}");
            }
            files
        })
    }

    #[test]
    fn what_moves_twice_is_at_its_last_path() {
        let files = on_disk_after(|scene, staged| {
            rename(scene, staged, "a.py", "c.py");
            rename(scene, staged, "c.py", "d.py");
        });
        assert_eq!(files, "b.py: y = 1\nd.py: x = 1\n");
    }

    #[test]
    fn what_is_written_where_a_file_was_before_it_moved_is_there() {
        let files = on_disk_after(|scene, staged| {
            rename(scene, staged, "a.py", "c.py");
            set(scene, staged, "a.py", Some("from c import x\n"));
        });
        assert_eq!(files, "a.py: from c import x\nb.py: y = 1\nc.py: x = 1\n");
    }

    #[test]
    fn what_moved_and_was_taken_away_then_is_gone() {
        let files = on_disk_after(|scene, staged| {
            rename(scene, staged, "a.py", "c.py");
            set(scene, staged, "c.py", None);
        });
        assert_eq!(files, "b.py: y = 1\n");
    }

    #[test]
    fn what_moves_to_a_path_that_was_taken_before_is_there() {
        let files = on_disk_after(|scene, staged| {
            set(scene, staged, "b.py", None);
            rename(scene, staged, "a.py", "b.py");
        });
        assert_eq!(files, "b.py: x = 1\n");
        let files = on_disk_after(|scene, staged| {
            rename(scene, staged, "a.py", "c.py");
            rename(scene, staged, "b.py", "a.py");
        });
        assert_eq!(files, "a.py: y = 1\nc.py: x = 1\n");
    }
}
