//! What a person sees of a run's changes: files, `.bak` copies, take-back, undo.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::permit::{Access, Project};
use crate::undo::{Force, UndoError};
use expect_test::{Expect, expect};

static GO_ON: AtomicBool = AtomicBool::new(false);

struct Bench {
    folder: tempfile::TempDir,
    project: Project,
}

fn bench(files: &[(&str, &str)]) -> Bench {
    // In memory where there is such a place: hundreds of syncs take half a minute on a disk.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    let folder = folder.unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    Bench { folder, project }
}

impl Bench {
    fn begin(&self) -> Transaction {
        let waiting = &mut Waiting {
            patience: Duration::from_secs(20),
            cancel: &GO_ON,
            on_wait: &mut |_| {},
        };
        self.project
            .writer()
            .unwrap()
            .begin(&RunId::new(), "a task", waiting)
            .unwrap()
    }

    fn undo(&self, run: Option<&RunId>, force: Force) -> Result<crate::undo::Undone, UndoError> {
        let waiting = &mut Waiting {
            patience: Duration::ZERO,
            cancel: &GO_ON,
            on_wait: &mut |_| {},
        };
        self.project.writer().unwrap().undo(run, force, waiting)
    }

    #[track_caller]
    fn shows(&self, expected: &Expect) {
        expected.assert_eq(&shown(self.folder.path()));
    }
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

/// Makes a file hold these bytes, whatever it holds now.
fn put(run: &mut Transaction, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
    let was = std::fs::read(run.whole.root().join(name)).ok();
    run.settle(&path(name), was.as_deref(), Some(bytes))
}

/// Returns the rule that a path broke.
fn rule(error: &WriteError) -> Option<&'static str> {
    match error {
        WriteError::Door(error) => error.trespass().map(|trespass| trespass.rule),
        _ => None,
    }
}

/// Every file outside `.harness` with its mode and bytes, one a line.
fn shown(root: &Path) -> String {
    tree(root)
        .into_iter()
        .map(|(name, text)| format!("{name} {text}\n"))
        .collect()
}

fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(root, "", &mut found);
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if name == ".harness" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            found.insert(format!("{name}/"), String::new());
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            let bytes = std::fs::read(entry.path()).unwrap();
            found.insert(name, format!("{:?}", String::from_utf8_lossy(&bytes)));
        }
    }
}

fn done() -> Ending {
    Ending {
        outcome: "done".into(),
        ..Ending::default()
    }
}

#[test]
fn a_changed_file_keeps_the_first_original_beside_it() {
    let bench = bench(&[("a.py", "one\r\n")]);
    let mut run = bench.begin();
    put(&mut run, "a.py", b"two\r\n").unwrap();
    put(&mut run, "a.py", b"three\r\n").unwrap();
    assert_eq!(run.writes(), [path("a.py")]);
    run.finish(&done()).unwrap();
    bench.shows(&expect![[r#"
        a.py "three\r\n"
        a.py.bak "one\r\n"
    "#]]);
}

#[test]
fn a_backup_that_is_there_is_never_overwritten() {
    let bench = bench(&[
        ("a.py", "one"),
        ("a.py.bak", "mine"),
        ("a.py.bak.1", "mine too"),
    ]);
    let mut run = bench.begin();
    put(&mut run, "a.py", b"two").unwrap();
    run.finish(&done()).unwrap();
    bench.shows(&expect![[r#"
        a.py "two"
        a.py.bak "mine"
        a.py.bak.1 "mine too"
        a.py.bak.2 "one"
    "#]]);
    bench.undo(None, Force::Never).unwrap();
    bench.shows(&expect![[r#"
        a.py "one"
        a.py.bak "mine"
        a.py.bak.1 "mine too"
    "#]]);
}

#[test]
fn everything_is_taken_back() {
    let bench = bench(&[("a.py", "one"), ("old.py", "old"), ("gone.py", "gone")]);
    let before = tree(bench.folder.path());
    let mut run = bench.begin();
    put(&mut run, "a.py", b"two").unwrap();
    put(&mut run, "new/deep/b.py", b"new").unwrap();
    run.rename(&path("old.py"), &path("new/old.py")).unwrap();
    run.settle(&path("gone.py"), Some(b"gone"), None).unwrap();
    let changed = ["a.py", "gone.py", "new/deep/b.py", "new/old.py", "old.py"].map(path);
    assert_eq!(run.writes(), changed);
    bench.shows(&expect![[r#"
        a.py "two"
        a.py.bak "one"
        gone.py.bak "gone"
        new/ 
        new/deep/ 
        new/deep/b.py "new"
        new/old.py "old"
        old.py.bak "old"
    "#]]);
    run.take_back().unwrap();
    assert_eq!(run.writes(), []);
    assert_eq!(tree(bench.folder.path()), before);
}

#[test]
fn a_take_back_leaves_what_somebody_saved_meanwhile() {
    let bench = bench(&[("a.py", "one"), ("b.py", "one")]);
    let mut run = bench.begin();
    put(&mut run, "a.py", b"two").unwrap();
    put(&mut run, "b.py", b"two").unwrap();
    put(&mut run, "new.py", b"new").unwrap();
    std::fs::write(bench.folder.path().join("a.py"), "two and mine").unwrap();
    std::fs::write(bench.folder.path().join("new.py"), "mine").unwrap();
    let theirs = run.take_back().unwrap();
    assert_eq!(theirs, ["a.py", "new.py"].map(path));
    bench.shows(&expect![[r#"
        a.py "two and mine"
        a.py.bak "one"
        b.py "one"
        new.py "mine"
    "#]]);
}

#[test]
fn a_change_is_settled_only_on_what_it_was_made_from() {
    let bench = bench(&[("a.py", "one"), ("b.py", "mine")]);
    let mut run = bench.begin();
    run.settle(&path("a.py"), Some(b"one"), Some(b"two"))
        .unwrap();
    for (name, was, wanted) in [
        ("b.py", Some(&b"one"[..]), Some(&b"two"[..])),
        ("b.py", Some(b"one"), None),
        ("b.py", None, Some(b"two")),
        ("c.py", Some(b"one"), Some(b"two")),
    ] {
        assert!(run.settle(&path(name), was, wanted).is_err(), "{name}");
    }
    bench.shows(&expect![[r#"
        a.py "two"
        a.py.bak "one"
        b.py "mine"
    "#]]);
}

#[test]
fn an_undo_can_be_undone() {
    let bench = bench(&[("a.py", "one")]);
    let mut run = bench.begin();
    put(&mut run, "a.py", b"two").unwrap();
    put(&mut run, "b/c.py", b"new").unwrap();
    let id = run.run().clone();
    run.finish(&done()).unwrap();
    let after = tree(bench.folder.path());
    let undone = bench.undo(None, Force::Never).unwrap();
    assert_eq!(undone.run, id);
    assert_eq!(undone.files, ["a.py", "b/c.py"].map(path));
    bench.shows(&expect![[r#"
        a.py "one"
    "#]]);
    assert!(matches!(
        bench.undo(None, Force::Never),
        Err(UndoError::NothingToUndo)
    ));
    bench.undo(Some(&undone.undo), Force::Never).unwrap();
    assert_eq!(tree(bench.folder.path()), after);
    let records = bench.project.runs().unwrap();
    let undone: Vec<bool> = records.iter().map(|record| record.undone).collect();
    assert_eq!(undone, [false, true, false]);
}

#[test]
fn a_file_the_user_changed_since_is_not_overwritten() {
    let bench = bench(&[("a.py", "one\n")]);
    let mut run = bench.begin();
    put(&mut run, "a.py", b"two\n").unwrap();
    run.finish(&done()).unwrap();
    std::fs::write(bench.folder.path().join("a.py"), "mine\n").unwrap();
    let error = bench.undo(None, Force::Never).unwrap_err();
    assert!(
        matches!(&error, UndoError::Conflicts(found) if found[0].diff.contains("-mine")),
        "{error}"
    );
    assert_eq!(error.to_string(), "`a.py` changed since the run");
    bench.undo(None, Force::Overwrite).unwrap();
    bench.shows(&expect![[r#"
        a.py "one\n"
    "#]]);
}

#[test]
fn protected_and_foreign_paths_are_refused() {
    let bench = bench(&[
        ("a.py", "one"),
        ("myenv/pyvenv.cfg", ""),
        ("myenv/x.py", ""),
    ]);
    let mut run = bench.begin();
    for (name, broken) in [
        (".git/config", "path.protected"),
        ("myenv/x.py", "path.protected"),
        ("pyproject.toml", "path.protected"),
        ("con.py", "path.name"),
    ] {
        let error = put(&mut run, name, b"x").unwrap_err();
        assert_eq!(rule(&error), Some(broken), "{name}");
    }
    run.allow([path("pyproject.toml")]);
    put(&mut run, "pyproject.toml", b"x").unwrap();
}

#[cfg(unix)]
#[test]
fn links_are_refused_and_hard_links_keep_their_bytes() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let bench = bench(&[("a.py", "one")]);
    let root = bench.folder.path();
    let outside = tempfile::tempdir_in(root.parent().unwrap()).unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    std::fs::create_dir(outside.path().join("deep")).unwrap();
    std::fs::write(outside.path().join("deep/secret"), "secret").unwrap();
    symlink(outside.path(), root.join("way")).unwrap();
    symlink(outside.path().join("secret"), root.join("link.py")).unwrap();
    std::fs::hard_link(root.join("a.py"), outside.path().join("twin.py")).unwrap();
    std::fs::set_permissions(root.join("a.py"), std::fs::Permissions::from_mode(0o754)).unwrap();
    let mut run = bench.begin();
    for name in [
        "way/secret",
        "link.py",
        "way/new.py",
        "way/deep/secret",
        "way/deep/new.py",
    ] {
        let error = put(&mut run, name, b"x").unwrap_err();
        assert_eq!(rule(&error), Some("path.link"), "{name}");
        let error = bench.project.door().read(&path(name)).unwrap_err();
        assert_eq!(
            error.trespass().map(|trespass| trespass.rule),
            Some("path.link"),
            "{name}"
        );
    }
    put(&mut run, "a.py", b"two").unwrap();
    assert_eq!(
        std::fs::read(outside.path().join("twin.py")).unwrap(),
        b"one"
    );
    for name in ["a.py", "a.py.bak"] {
        let mode = std::fs::metadata(root.join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o7777, 0o754, "{name}");
    }
}

/// One of everything a run can do. Stops at the first trouble, as a run does.
fn busy_run(run: &mut Transaction) -> Result<(), WriteError> {
    put(run, "a.py", b"two\n")?;
    put(run, "new/b.py", b"new\n")?;
    run.rename(&path("old.py"), &path("new/old.py"))?;
    run.settle(&path("gone.py"), Some(b"gone\n"), None)?;
    put(run, "a.py", b"three\n")
}

const BUSY: &[(&str, &str)] = &[
    ("a.py", "one\n"),
    ("old.py", "old\n"),
    ("gone.py", "gone\n"),
];

/// Every file must hold one of the whole texts it ever had.
#[track_caller]
fn nothing_is_torn(root: &Path, at: u32) {
    let whole =
        ["one\n", "two\n", "three\n", "new\n", "old\n", "gone\n"].map(|text| format!("{text:?}"));
    for (name, text) in tree(root) {
        let temporary = name.contains(".harness-") && name.ends_with(".tmp");
        assert!(
            name.ends_with('/') || temporary || whole.contains(&text),
            "step {at}: {name} {text}"
        );
    }
}

#[test]
fn a_full_disk_at_any_step_leaves_whole_files_and_can_be_undone() {
    use crate::fault::Trouble;
    a_disk_in_trouble(Trouble::Full, "the disk is full");
    a_disk_in_trouble(Trouble::Quota, "the disk quota is used up");
    a_disk_in_trouble(Trouble::Broken, "the disk does not work");
}

fn a_disk_in_trouble(trouble: crate::fault::Trouble, sentence: &str) {
    use crate::fault::plan;
    for at in 1.. {
        let bench = bench(BUSY);
        let before = tree(bench.folder.path());
        let mut run = bench.begin();
        plan(Some((at, trouble)));
        let outcome = busy_run(&mut run);
        plan(None);
        nothing_is_torn(bench.folder.path(), at);
        for changed in ["a.py", "gone.py", "new/b.py", "new/old.py", "old.py"] {
            let now = tree(bench.folder.path()).get(changed).cloned();
            let says = run.writes().contains(&path(changed));
            assert_eq!(
                says,
                now != before.get(changed).cloned(),
                "step {at}: {changed}"
            );
        }
        if let Err(error) = &outcome {
            assert!(error.to_string().contains(sentence), "step {at}: {error}");
            run.take_back().unwrap();
            assert_eq!(tree(bench.folder.path()), before, "step {at}");
        }
        let id = run.run().clone();
        drop(run);
        bench.undo(Some(&id), Force::Never).unwrap();
        assert_eq!(tree(bench.folder.path()), before, "step {at}");
        if outcome.is_ok() {
            assert!(at > 40, "only {at} steps were tried");
            return;
        }
    }
    panic!("a run that nobody kills does not come to its end");
}

/// Not a test by itself: what the process does that the next test kills.
#[test]
#[ignore = "the process that the next test kills"]
fn killed_child() {
    let folder = std::env::var_os("HARNESS_TEST_KILLED").unwrap();
    let at = std::env::var("HARNESS_TEST_KILLED_AT")
        .unwrap()
        .parse()
        .unwrap();
    let project = Project::open(Path::new(&folder), None, Access::Writing).unwrap();
    crate::fault::plan(Some((at, crate::fault::Trouble::Killed)));
    let waiting = &mut Waiting {
        patience: Duration::ZERO,
        cancel: &GO_ON,
        on_wait: &mut |_| {},
    };
    let mut run = project
        .writer()
        .unwrap()
        .begin(&RunId::new(), "killed", waiting)
        .unwrap();
    busy_run(&mut run).unwrap();
    run.finish(&done()).unwrap();
}

#[test]
fn a_kill_at_any_step_leaves_whole_files_and_can_be_undone() {
    for at in 1..1_000 {
        let bench = bench(BUSY);
        let before = tree(bench.folder.path());
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "transaction::tests::killed_child",
                "--nocapture",
            ])
            .env("HARNESS_TEST_KILLED", bench.folder.path())
            .env("HARNESS_TEST_KILLED_AT", at.to_string())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        nothing_is_torn(bench.folder.path(), at);
        // The next run clears up what the killed one left, and its changes can be taken back.
        bench.begin().finish(&done()).unwrap();
        let left = tree(bench.folder.path());
        assert!(
            !left.keys().any(|name| name.contains(".tmp")),
            "step {at}: {left:?}"
        );
        let killed = bench
            .project
            .runs()
            .unwrap()
            .into_iter()
            .find(|record| record.task == "killed");
        if let Some(killed) = killed {
            assert!(killed.outcome == "done" || !child.success(), "step {at}");
            bench.undo(Some(&killed.id), Force::Never).unwrap();
        }
        assert_eq!(tree(bench.folder.path()), before, "step {at}");
        if child.success() {
            assert!(at > 40, "only {at} steps were tried");
            return;
        }
    }
    panic!("a run that nobody kills does not come to its end");
}

#[cfg(unix)]
#[test]
fn a_hard_link_in_the_state_folder_keeps_its_other_name() {
    let bench = bench(&[("a.py", "a = 1\n")]);
    let outside = tempfile::tempdir_in(bench.folder.path().parent().unwrap()).unwrap();
    let state = bench.folder.path().join(".harness");
    std::fs::create_dir(&state).unwrap();
    for name in ["lock", "traces.jsonl"] {
        let other = outside.path().join(name);
        std::fs::write(&other, "kept\n").unwrap();
        std::fs::hard_link(&other, state.join(name)).unwrap();
    }
    let mut run = bench.begin();
    put(&mut run, "a.py", b"a = 2\n").unwrap();
    run.finish(&Ending::default()).unwrap();
    crate::trace::append_in_project(bench.project.door(), "{}").unwrap();
    for name in ["lock", "traces.jsonl"] {
        let text = std::fs::read_to_string(outside.path().join(name)).unwrap();
        assert_eq!(text, "kept\n", "{name}");
    }
    let traces = std::fs::read_to_string(state.join("traces.jsonl")).unwrap();
    assert_eq!(traces, "{}\n");
}

#[test]
fn a_copy_of_a_run_that_was_killed_before_its_change_goes() {
    let bench = bench(&[("a.py", "a = 1\n"), ("b.py", "b = 1\n")]);
    let mut run = bench.begin();
    for name in ["a.py", "b.py"] {
        let path = RelPath::parse(name).unwrap();
        let folder = run.whole.folder_of(&path).unwrap();
        let (bytes, seen) = folder.read_with(name, &path).unwrap();
        run.keep_backup(&folder, &path, &bytes, &seen).unwrap();
    }
    // As if the process had ended here.
    drop(run);
    let copies = ["a.py.bak", "b.py.bak"].map(|name| bench.folder.path().join(name));
    assert!(copies.iter().all(|copy| copy.is_file()));
    std::fs::write(&copies[1], "mine now\n").unwrap();
    assert!(matches!(
        bench.undo(None, Force::Never),
        Err(UndoError::NothingToUndo)
    ));
    assert!(!copies[0].exists(), "nobody touched it");
    assert!(copies[1].exists(), "somebody wrote to it");
}
