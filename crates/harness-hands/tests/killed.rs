//! Killed for real, at every system call that changes the disk: the tracer ends the process as it enters the call.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests lay out projects on the disk"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_hands::journal::{Ending, RunId};
use harness_hands::lock::Waiting;
use harness_hands::permit::{Access, Project};
use harness_hands::transaction::Transaction;
use harness_hands::undo::Force;

#[path = "../../../tests/support/skip.rs"]
mod skip;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Set to the folder of the project in the process that is killed.
const FOLDER: &str = "HARNESS_TEST_KILLED_FOLDER";

/// Every call by which a file, a folder or a name can change, and those that settle it.
const CALLS: &[&str] = &[
    "write",
    "pwrite64",
    "writev",
    "openat",
    "openat2",
    "mkdirat",
    "mkdir",
    "linkat",
    "link",
    "renameat2",
    "renameat",
    "rename",
    "unlinkat",
    "unlink",
    "rmdir",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fchmod",
    "fchown",
    "fsetxattr",
    "fallocate",
    "copy_file_range",
    "sendfile",
    "flock",
    "fcntl",
];

/// The longest kind has some hundred calls; a run that is still killed after these does not start at all.
const MOST_CALLS: u32 = 2_000;

const BEFORE: &[(&str, &str)] = &[
    ("a.py", "one\n"),
    ("old.py", "old\n"),
    ("gone.py", "gone\n"),
];

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn waiting<T>(with: impl FnOnce(&mut Waiting<'_>) -> T) -> T {
    with(&mut Waiting {
        patience: Duration::ZERO,
        cancel: &GO_ON,
        on_wait: &mut |_| {},
    })
}

/// Not a test by itself: what is killed. One of everything that a run can do to files.
#[test]
#[ignore = "the process that the other test kills"]
fn a_run_that_is_killed() {
    let folder = std::env::var_os(FOLDER).unwrap();
    let project = Project::open(Path::new(&folder), None, Access::Writing).unwrap();
    let writer = project.writer().unwrap();
    let begun = waiting(|waiting| writer.begin(&RunId::new(), "killed", waiting));
    let mut run = begun.unwrap();
    let settle = |run: &mut Transaction, name, was: Option<&[u8]>, wanted: Option<&[u8]>| {
        run.settle(&path(name), was, wanted).unwrap();
    };
    settle(&mut run, "a.py", Some(b"one\n"), Some(b"two\n"));
    settle(&mut run, "new/b.py", None, Some(b"new\n"));
    run.rename(&path("old.py"), &path("new/old.py")).unwrap();
    settle(&mut run, "gone.py", Some(b"gone\n"), None);
    settle(&mut run, "a.py", Some(b"two\n"), Some(b"three\n"));
    let outcome = "done".into();
    run.finish(&Ending {
        outcome,
        ..Ending::default()
    })
    .unwrap();
}

fn laid_out() -> tempfile::TempDir {
    // In memory where there is such a place: what is tested is the order of the calls, not the disk.
    let memory = Path::new("/dev/shm");
    let folder = match memory.is_dir() {
        true => tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()),
        false => tempfile::tempdir(),
    };
    let folder = folder.unwrap();
    for (name, text) in BEFORE {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap().flatten() {
            let (at, name) = (entry.path(), entry.file_name());
            if name == ".harness" {
                continue;
            }
            let shown = at.strip_prefix(folder).unwrap().display().to_string();
            if at.is_dir() {
                found.insert(format!("{shown}/"), String::new());
                folders.push(at);
            } else {
                found.insert(shown, std::fs::read_to_string(at).unwrap());
            }
        }
    }
    found
}

/// Runs the other test with a kill at the n-th of one kind of calls; says whether it came to its end. In one
/// thread: the tracer counts the calls of each by itself.
fn survives(folder: &Path, call: &str, at: u32) -> Option<bool> {
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace=?{call}"))
        .arg("-e")
        .arg(format!("inject=?{call}:signal=SIGKILL:when={at}"))
        .arg(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "a_run_that_is_killed",
            "--test-threads",
            "1",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.ok().map(|status| status.success())
}

#[test]
fn a_kill_at_any_system_call_leaves_whole_files_and_can_be_undone() {
    let probe = laid_out();
    if survives(probe.path(), "sethostname", 1) != Some(true) {
        return skip::skip("there is no strace, or it may not trace");
    }
    let kills: u32 = std::thread::scope(|scope| {
        let lanes = CALLS.chunks(CALLS.len().div_ceil(4)).map(|calls| {
            scope.spawn(move || calls.iter().map(|call| killed_at_each(call)).sum::<u32>())
        });
        let lanes: Vec<_> = lanes.collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).sum()
    });
    assert!(kills > 80, "only {kills} kills");
}

/// Kills at the first of these calls, at the second, and so on; returns how often.
fn killed_at_each(call: &str) -> u32 {
    for at in 1..=MOST_CALLS {
        let folder = laid_out();
        let before = files(folder.path());
        let survived = survives(folder.path(), call, at).unwrap();
        let whole = ["one\n", "two\n", "three\n", "new\n", "old\n", "gone\n"];
        for (name, text) in files(folder.path()) {
            let temporary = name.contains(".harness-") && name.ends_with(".tmp");
            assert!(
                name.ends_with('/') || temporary || whole.contains(&text.as_str()),
                "{call} {at}: {name} {text:?}"
            );
        }
        // The next run clears up, and what the killed one did can be taken back.
        let project = Project::open(folder.path(), None, Access::Writing).unwrap();
        let writer = project.writer().unwrap();
        let next = waiting(|waiting| writer.begin(&RunId::new(), "next", waiting));
        next.unwrap().finish(&Ending::default()).unwrap();
        let left = files(folder.path());
        let has_temporary = left.keys().any(|name| name.ends_with(".tmp"));
        assert!(!has_temporary, "{call} {at}: {left:?}");
        let runs = project.runs().unwrap();
        if let Some(killed) = runs.iter().find(|run| run.task == "killed") {
            assert!(killed.outcome == "done" || !survived, "{call} {at}");
            waiting(|waiting| writer.undo(Some(&killed.id), Force::Never, waiting)).unwrap();
        }
        assert_eq!(files(folder.path()), before, "{call} {at}");
        if survived {
            return at - 1;
        }
    }
    panic!("`{call}` never comes to its end");
}
