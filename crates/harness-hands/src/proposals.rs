//! What dry runs proposed, kept in the user's own state folder: a dry run leaves nothing in the project.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::journal::RunId;
use crate::user;

/// The newest proposals are kept, and no more: nobody goes back further.
const KEPT: usize = 50;
/// A proposal beyond this is not read: no model writes that much, in bytes.
const LARGEST: u64 = 64 << 20;

/// Keeps the proposal of a run, readable by the user alone.
pub fn keep(run: &RunId, proposal: &[u8]) -> io::Result<()> {
    let Some(folder) = folder() else {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "there is no home folder",
        ));
    };
    keep_in(&folder, run, proposal)
}

/// Returns the proposal of a run, where there is one.
pub fn read(run: &RunId) -> Option<Vec<u8>> {
    read_in(&folder()?, run)
}

/// Returns every proposal that is kept, the newest first.
pub fn all() -> Vec<(RunId, Vec<u8>)> {
    let Some(folder) = folder() else {
        return Vec::new();
    };
    let kept = kept(&folder).into_iter().rev();
    kept.filter_map(|(run, _)| read_in(&folder, &run).map(|bytes| (run, bytes)))
        .collect()
}

fn folder() -> Option<PathBuf> {
    user::state_folder().map(|folder| folder.join("proposals"))
}

fn keep_in(folder: &Path, run: &RunId, proposal: &[u8]) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        builder.mode(0o700);
        options.mode(0o600);
    }
    builder.create(folder)?;
    let mut file = options.open(folder.join(format!("{run}.json")))?;
    file.write_all(proposal)?;
    prune(folder);
    Ok(())
}

fn read_in(folder: &Path, run: &RunId) -> Option<Vec<u8>> {
    let path = folder.join(format!("{run}.json"));
    let is_file = fs::symlink_metadata(&path).ok()?.is_file();
    let file = is_file.then(|| fs::File::open(&path).ok()).flatten()?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Removes the oldest. Trouble here stops nobody.
fn prune(folder: &Path) {
    let ours = kept(folder);
    for (_, path) in ours.iter().take(ours.len().saturating_sub(KEPT)) {
        drop(fs::remove_file(path));
    }
}

/// Returns what is kept in a folder, the oldest first: names begin with the time.
fn kept(folder: &Path) -> Vec<(RunId, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.map(|entry| entry.path()).filter_map(|path| {
        let run = RunId::parse(path.file_stem()?.to_str()?)?;
        (path.extension()? == "json").then_some((run, path))
    });
    let mut ours: Vec<(RunId, PathBuf)> = ours.collect();
    ours.sort_by(|a, b| a.1.cmp(&b.1));
    ours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_for_the_user_alone() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("harness/proposals");
        let runs: Vec<RunId> = (0..KEPT + 2).map(|_| RunId::new()).collect();
        for run in &runs {
            keep_in(&folder, run, run.as_str().as_bytes()).unwrap();
        }
        assert_eq!(read_in(&folder, &runs[0]), None);
        assert_eq!(read_in(&folder, &runs[2]), Some(runs[2].as_str().into()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&folder), 0o700);
            assert_eq!(mode(&folder.join(format!("{}.json", runs[5]))), 0o600);
        }
    }
}
