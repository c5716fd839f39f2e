//! Real disk trouble: a disk that is full at every point of a write, and one that is read-only.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out projects on the disk"
)]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_hands::journal::{Ending, RunId};
use harness_hands::lock::Waiting;
use harness_hands::permit::{Access, Project};
use harness_hands::transaction::{Transaction, WriteError};
use harness_hands::undo::{Force, UndoError, Undone};

#[path = "../../../tests/support/skip.rs"]
mod skip;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Set to the folder of a small disk in the process that the test starts.
const DISK: &str = "HARNESS_TEST_DISK";

fn waiting<T>(with: impl FnOnce(&mut Waiting<'_>) -> T) -> T {
    with(&mut Waiting {
        patience: Duration::ZERO,
        cancel: &GO_ON,
        on_wait: &mut |_| {},
    })
}

fn begin(project: &Project) -> Result<Transaction, WriteError> {
    let writer = project.writer().unwrap();
    waiting(|waiting| writer.begin(&RunId::new(), "a task", waiting))
}

fn undo(project: &Project) -> Result<Undone, UndoError> {
    let writer = project.writer().unwrap();
    waiting(|waiting| writer.undo(None, Force::Never, waiting))
}

/// Starts this file's other test in a mount namespace of its own, with half a megabyte of disk.
#[test]
fn a_full_and_a_read_only_disk_leave_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=512k,mode=700 disk \"$1\" || exit 77; exec \"$2\" --ignored --exact on_a_small_disk --nocapture";
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .env(DISK, folder.path())
        .output();
    let refused = |output: &std::process::Output| {
        let words = String::from_utf8_lossy(&output.stderr);
        output.status.code() == Some(77) || words.starts_with("unshare:")
    };
    match output {
        Ok(output) if !refused(&output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && text.contains("1 passed"),
                "{text}\n{words}"
            );
        }
        _ => skip::skip("no disk can be mounted"),
    }
}

/// Not a test by itself: what the other one starts.
#[test]
#[ignore = "started by the other test, on a disk of its own"]
fn on_a_small_disk() {
    let disk = std::env::var_os(DISK).unwrap();
    let disk = Path::new(&disk);
    let (old, new) = ("old line\n".repeat(6_000), "a new line\n".repeat(6_000));
    let filler = disk.join("filler");
    let app = RelPath::parse("app.py").unwrap();
    let (mut failed, mut worked) = (0, 0);
    // From no room at all to enough, in steps of a block.
    for blocks in 0..72 {
        let root = disk.join("project");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("app.py"), &old).unwrap();
        let project = Project::open(&root, None, Access::Writing).unwrap();
        fill(&filler, blocks * 4096);
        let told = begin(&project).and_then(|mut run| {
            let put = run.settle(&app, Some(old.as_bytes()), Some(new.as_bytes()));
            let writes = run.writes().len();
            assert_eq!(
                put.is_ok(),
                writes == 1,
                "{blocks} blocks: {put:?}, {writes} writes"
            );
            if put.is_err() {
                // As every run does that could not go on.
                run.take_back().unwrap();
            }
            let outcome = "done".into();
            // The last word of the journal may find no room; the change is kept all the same.
            let _ = run.finish(&Ending {
                outcome,
                ..Ending::default()
            });
            put
        });
        let text = std::fs::read_to_string(root.join("app.py")).unwrap();
        match told {
            Ok(()) => {
                worked += 1;
                assert_eq!(text, new, "{blocks} blocks");
            }
            Err(error) => {
                failed += 1;
                assert_eq!(text, old, "{blocks} blocks");
                let words = error.to_string();
                assert!(
                    words.contains("the disk is full"),
                    "{blocks} blocks: {words}"
                );
            }
        }
        // With room again everything can be taken back, and nothing half is left.
        std::fs::remove_file(&filler).unwrap();
        let _ = undo(&project);
        assert_eq!(std::fs::read_to_string(root.join("app.py")).unwrap(), old);
        drop(begin(&project).unwrap());
        let mut left: Vec<_> = std::fs::read_dir(&root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, [".harness", "app.py"], "{blocks} blocks");
        std::fs::remove_dir_all(&root).unwrap();
    }
    assert!(failed > 5 && worked > 5, "{failed} failed, {worked} worked");
    read_only(disk, &old);
}

fn fill(filler: &Path, room: u64) {
    use std::io::Write;
    let mut file = std::fs::File::create(filler).unwrap();
    let mut written = 0;
    while let Ok(count) = file.write(&[b'x'; 4096]) {
        written += count as u64;
    }
    file.set_len(written.saturating_sub(room)).unwrap();
}

fn read_only(disk: &Path, old: &str) {
    std::fs::write(disk.join("app.py"), old).unwrap();
    let project = Project::open(disk, None, Access::Writing).unwrap();
    let status = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(disk)
        .status();
    assert!(status.unwrap().success());
    let app = RelPath::parse("app.py").unwrap();
    let refused = begin(&project)
        .and_then(|mut run| run.settle(&app, Some(old.as_bytes()), Some(b"new")))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("read-only"), "{refused}");
    assert_eq!(std::fs::read_to_string(disk.join("app.py")).unwrap(), old);
}
