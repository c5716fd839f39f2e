//! Changes as a whole: random edits and undo, many runs at once, a hostile tree, odd files.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out projects on the disk, and a broken bench ends them"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use harness_hands::door::DoorError;
use harness_hands::journal::{Ending, RunId};
use harness_hands::lock::Waiting;
use harness_hands::permit::{Access, Project};
use harness_hands::transaction::{Transaction, WriteError};
use harness_hands::undo::Force;
use proptest::prelude::*;

#[cfg(unix)]
#[path = "../../../tests/support/skip.rs"]
mod skip;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

fn begin(project: &Project, patience: Duration) -> Result<Transaction, WriteError> {
    let waiting = &mut Waiting {
        patience,
        cancel: &GO_ON,
        on_wait: &mut |_| {},
    };
    project
        .writer()
        .unwrap()
        .begin(&RunId::new(), "a task", waiting)
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

/// Makes a file hold these bytes or be gone, whatever it holds now.
fn settle(
    run: &mut Transaction,
    folder: &Path,
    name: &str,
    wanted: Option<&[u8]>,
) -> Result<(), WriteError> {
    let was = std::fs::read(folder.join(name)).ok();
    run.settle(&path(name), was.as_deref(), wanted)
}

fn done() -> Ending {
    Ending {
        outcome: "done".into(),
        ..Ending::default()
    }
}

/// Every name below a folder, but for the harness's own.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry
                .path()
                .strip_prefix(root)
                .unwrap()
                .display()
                .to_string();
            if entry.file_type().unwrap().is_dir() {
                if name != ".harness" {
                    found.insert(format!("{name}/"), Vec::new());
                    folders.push(entry.path());
                }
            } else {
                found.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

#[derive(Debug, Clone)]
enum Step {
    Put(usize, Vec<u8>),
    Remove(usize),
    Rename(usize, usize),
    TakeBack,
}

const NAMES: [&str; 6] = [
    "a.py",
    "b.py",
    "deep/c.py",
    "deep/er/d.py",
    "other/e.txt",
    "f",
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..NAMES.len();
    let step = prop_oneof![
        4 => (name.clone(), proptest::collection::vec(any::<u8>(), 0..20)).prop_map(|(name, bytes)| Step::Put(name, bytes)),
        2 => name.clone().prop_map(Step::Remove),
        2 => (name.clone(), name).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => Just(Step::TakeBack),
    ];
    proptest::collection::vec(step, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_edits_are_undone_to_the_byte(steps in steps(), later in steps()) {
        let folder = folder();
        for name in &NAMES[..3] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }
        let project = Project::open(folder.path(), None, Access::Writing).unwrap();
        let mut states = vec![tree(folder.path())];
        let mut ids = Vec::new();
        for steps in [steps, later] {
            let before = states.last().unwrap().clone();
            let mut run = begin(&project, Duration::ZERO).unwrap();
            ids.push(run.run().clone());
            for step in steps {
                // Steps that cannot be made change nothing; the rest goes on.
                let _ = match step {
                    Step::Put(name, bytes) => settle(&mut run, folder.path(), NAMES[name], Some(&bytes)),
                    Step::Remove(name) => settle(&mut run, folder.path(), NAMES[name], None),
                    Step::Rename(from, to) => run.rename(&path(NAMES[from]), &path(NAMES[to])),
                    Step::TakeBack => run.take_back().map(drop),
                };
            }
            let now = tree(folder.path());
            let changed: Vec<String> = NAMES.iter().filter(|name| before.get(**name) != now.get(**name)).map(ToString::to_string).collect();
            let mut said: Vec<String> = run.writes().iter().map(ToString::to_string).collect();
            said.sort();
            let mut changed = changed;
            changed.sort();
            prop_assert_eq!(said, changed);
            run.finish(&done()).unwrap();
            states.push(now);
        }
        let writer = project.writer().unwrap();
        let mut undos = Vec::new();
        for (at, id) in ids.iter().enumerate().rev() {
            let waiting = &mut Waiting { patience: Duration::ZERO, cancel: &GO_ON, on_wait: &mut |_| {} };
            undos.push(writer.undo(Some(id), Force::Never, waiting).unwrap().undo);
            prop_assert_eq!(tree(folder.path()), states[at].clone());
        }
        for (at, id) in undos.iter().rev().enumerate() {
            let waiting = &mut Waiting { patience: Duration::ZERO, cancel: &GO_ON, on_wait: &mut |_| {} };
            writer.undo(Some(id), Force::Never, waiting).unwrap();
            prop_assert_eq!(tree(folder.path()), states[at + 1].clone());
        }
    }
}

#[test]
fn twelve_runs_at_once_lose_nothing() {
    let folder = folder();
    std::fs::write(folder.path().join("a.py"), "start\n").unwrap();
    std::thread::scope(|scope| {
        for number in 0..12 {
            let folder = &folder;
            scope.spawn(move || {
                let project = Project::open(folder.path(), None, Access::Writing).unwrap();
                let mut run = begin(&project, Duration::from_secs(60)).unwrap();
                let mut text = project.door().read(&path("a.py")).unwrap();
                text.extend(format!("{number}\n").bytes());
                settle(&mut run, folder.path(), "a.py", Some(&text)).unwrap();
                run.finish(&done()).unwrap();
            });
        }
    });
    let text = std::fs::read_to_string(folder.path().join("a.py")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let mut expected: Vec<String> = (0..12).map(|number| number.to_string()).collect();
    expected.push("start".into());
    expected.sort();
    assert_eq!(lines, expected);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_is_swapped_for_a_link_leads_nowhere() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::Ordering;
    use std::time::Instant;
    let (project, outside) = (folder(), folder());
    let (way, link) = (project.path().join("way"), project.path().join("link"));
    // The folder itself, and one further down that is reached through it.
    for (place, text) in [(&way, "inside"), (&outside.path().to_path_buf(), "outside")] {
        std::fs::create_dir_all(place.join("deep")).unwrap();
        std::fs::write(place.join("x.py"), text).unwrap();
        std::fs::write(place.join("deep/x.py"), text).unwrap();
    }
    std::os::unix::fs::symlink(outside.path(), &link).unwrap();
    let stop = AtomicBool::new(false);
    let opened = Project::open(project.path(), None, Access::Writing).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            while !stop.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(20) {
                // Each becomes the other at once: there is always one of them under the name.
                renameat_with(CWD, &way, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let mut run = begin(&opened, Duration::ZERO).unwrap();
        let start = Instant::now();
        let mut reads = 0;
        while start.elapsed() < Duration::from_millis(700) {
            for way in ["way", "way/deep"] {
                if let Ok(bytes) = opened.door().read(&path(&format!("{way}/x.py"))) {
                    assert_ne!(bytes, b"outside");
                    reads += 1;
                }
                let text = format!("{reads}");
                let (old, new) = (format!("{way}/x.py"), format!("{way}/new.py"));
                let _ = settle(&mut run, project.path(), &old, Some(text.as_bytes()));
                let _ = settle(&mut run, project.path(), &new, Some(b"new"));
                let _ = settle(&mut run, project.path(), &new, None);
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(reads > 10, "{reads}");
    });
    let untouched = [("deep/", ""), ("deep/x.py", "outside"), ("x.py", "outside")];
    let untouched = untouched.map(|(name, text)| (name.to_string(), text.as_bytes().to_vec()));
    assert_eq!(tree(outside.path()), BTreeMap::from(untouched));
}

#[cfg(unix)]
#[test]
fn odd_files_are_refused_without_harm() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let root = folder.path();
    let status = std::process::Command::new("mkfifo")
        .arg(root.join("pipe"))
        .status();
    // As `/dev/zero`: whoever reads it never comes to an end.
    let device = std::process::Command::new("mknod")
        .arg(root.join("device"))
        .args(["c", "1", "5"])
        .stderr(std::process::Stdio::null())
        .status();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    std::fs::File::create(root.join("huge"))
        .unwrap()
        .set_len(2 << 30)
        .unwrap();
    std::fs::create_dir(root.join("folder")).unwrap();
    std::fs::create_dir(root.join("closed")).unwrap();
    std::fs::write(root.join("closed/a.py"), "a").unwrap();
    std::fs::set_permissions(root.join("closed"), PermissionsExt::from_mode(0o500)).unwrap();
    let project = Project::open(root, None, Access::Writing).unwrap();
    let mut run = begin(&project, Duration::ZERO).unwrap();
    let said = |name: &str, run: &mut Transaction| {
        let read = project.door().read(&path(name)).unwrap_err().to_string();
        let change = run.settle(&path(name), Some(b""), Some(b"x"));
        assert_eq!(change.unwrap_err().to_string(), read);
        read
    };
    assert!(status.unwrap().success());
    assert_eq!(
        said("pipe", &mut run),
        "`pipe` is not a plain file; only plain files can be used"
    );
    assert_eq!(
        said("socket", &mut run),
        "`socket` is not a plain file; only plain files can be used"
    );
    if device.is_ok_and(|status| status.success()) {
        assert_eq!(
            said("device", &mut run),
            "`device` is not a plain file; only plain files can be used"
        );
    } else {
        skip::skip("an ordinary user runs this: devices are made by root");
    }
    assert_eq!(
        said("huge", &mut run),
        "`huge` has 2147483648 bytes; files over 64 MB are not read"
    );
    assert_eq!(said("folder", &mut run), "`folder` is a folder, not a file");
    if !rustix::process::geteuid().is_root() {
        let error = settle(&mut run, root, "closed/a.py", Some(b"b"))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "cannot write `closed/a.py`: permission denied");
    }
    assert_eq!(run.writes(), []);
    std::fs::set_permissions(root.join("closed"), PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn a_hostile_journal_reaches_nothing_outside() {
    let (project, outside) = (folder(), folder());
    std::fs::write(outside.path().join("victim"), "safe").unwrap();
    let run = project
        .path()
        .join(".harness/runs/20200101-000000-000000aa");
    std::fs::create_dir_all(run.join("before")).unwrap();
    let name = outside
        .path()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    for target in [
        format!("../{name}/victim"),
        format!("{}/victim", outside.path().display()),
        "..\\\\x".into(),
    ] {
        let line = format!(
            r#"{{"n":1,"effects":[{{"path":"{target}","before":{{"kind":"absent"}},"after":{{"kind":"file","digest":"x","bytes":4,"mode":420}}}}],"temp":"../{name}/victim"}}"#
        );
        std::fs::write(run.join("journal.jsonl"), line).unwrap();
        let opened = Project::open(project.path(), None, Access::Writing).unwrap();
        let waiting = &mut Waiting {
            patience: Duration::ZERO,
            cancel: &GO_ON,
            on_wait: &mut |_| {},
        };
        let id = RunId::parse("20200101-000000-000000aa").unwrap();
        let undone = opened
            .writer()
            .unwrap()
            .undo(Some(&id), Force::Overwrite, waiting)
            .unwrap();
        assert_eq!(undone.files, []);
        let _ = std::fs::remove_file(run.join("end.json"));
    }
    assert_eq!(
        std::fs::read_to_string(outside.path().join("victim")).unwrap(),
        "safe"
    );
}

#[test]
fn what_cannot_be_read_is_not_taken_for_absent() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("a.py")).unwrap();
    std::fs::write(folder.path().join("b.py"), "").unwrap();
    let project = Project::open(folder.path(), None, Access::ReadOnly).unwrap();
    let door = project.door();
    assert!(door.find(&path("a.py")).is_err());
    assert_eq!(door.find(&path("b.py")).unwrap(), Some(Vec::new()));
    assert_eq!(door.find(&path("c.py")).unwrap(), None);
    assert_eq!(door.find(&path("d/c.py")).unwrap(), None);
}

#[test]
fn a_read_only_project_gives_nothing_out_and_leaves_nothing() {
    let folder = folder();
    let project = Project::open(folder.path(), None, Access::ReadOnly).unwrap();
    assert!(project.writer().is_none() && project.runner().is_none());
    assert_eq!(project.runs().unwrap(), []);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_scope_is_a_wall() {
    let folder = folder();
    for name in ["in/a.py", "out/b.py"] {
        std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    let project = Project::open(folder.path(), Some(&path("in")), Access::Writing).unwrap();
    let rule = |error: &DoorError| error.trespass().map(|trespass| trespass.rule);
    assert!(project.door().read(&path("in/a.py")).is_ok());
    let read = project.door().read(&path("out/b.py"));
    assert_eq!(rule(&read.unwrap_err()), Some("path.scope"));
    assert_eq!(
        project.door().request("in/../out/b.py").unwrap_err().rule,
        "path.scope"
    );
    let mut run = begin(&project, Duration::ZERO).unwrap();
    settle(&mut run, folder.path(), "in/a.py", Some(b"new")).unwrap();
    for change in [
        settle(&mut run, folder.path(), "out/b.py", Some(b"x")),
        run.rename(&path("in/a.py"), &path("out/c.py")),
        settle(&mut run, folder.path(), "out/b.py", None),
    ] {
        let error = change.unwrap_err();
        assert!(
            matches!(&error, WriteError::Door(error) if rule(error) == Some("path.scope")),
            "{error}"
        );
    }
    assert!(Project::open(folder.path(), Some(&path("gone")), Access::Writing).is_err());
}
