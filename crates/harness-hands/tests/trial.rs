//! Code that nobody has proven runs in a private version of the project: what it does to files stays there, and what it
//! did is known.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out projects on the disk"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use harness_code::path::RelPath;
use harness_code::suite::{Runner as Framework, Suite};
use harness_hands::permit::{Access, Project};
use harness_hands::scratch::{Scratch, Touch};
use harness_hands::suite::{self, Selection, SuiteReport};

const TEST: &str = "import os, unittest\n\nimport app\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(app.answer(), 42)\n";

fn lay_out(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

/// Runs the tests of a project in a trial and returns what they said and what they touched.
fn tried(root: &Path, put: &[(&str, &str)]) -> (SuiteReport, BTreeMap<RelPath, Touch>) {
    let project = Project::open(root, None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let mut scratch = runner.trial(project.door(), None).unwrap();
    for (name, text) in put {
        scratch.put(&path(name), text.as_bytes()).unwrap();
    }
    let report = run(runner, &scratch);
    (report, scratch.touched())
}

fn run(runner: &harness_hands::process::runner::Runner, scratch: &Scratch) -> SuiteReport {
    let suite = Suite {
        runner: Framework::Unittest,
        command: ["python3", "-m", "unittest", "discover"]
            .map(str::to_string)
            .to_vec(),
        interpreter: Some("python3".to_string()),
        interpreter_why: None,
        missing: Vec::new(),
        folder: None,
        why: String::new(),
    };
    let cancel = AtomicBool::new(false);
    suite::run(
        &runner.in_scratch(scratch),
        &suite,
        &Selection::All,
        &cancel,
    )
}

#[test]
fn a_trial_sees_its_own_files_and_leaves_the_project_alone() {
    let files = [
        ("app.py", "def answer():\n    return 41\n"),
        ("test_app.py", TEST),
        ("data/golden.txt", "golden\n"),
        ("data/other.txt", "other\n"),
        ("notes.txt", "notes\n"),
    ];
    let folder = lay_out(&files);
    let before = contents(folder.path());
    let wild = "import os, pathlib\ndef answer():\n    pathlib.Path('data/golden.txt').write_text('worse')\n    os.remove('notes.txt')\n    pathlib.Path('seen.txt').write_text('x')\n    os.utime('data/other.txt')\n    return 42\n";
    let (report, touched) = tried(folder.path(), &[("app.py", wild)]);
    assert_eq!((report.passed, report.failed), (1, 0), "{report:#?}");
    assert_eq!(
        touched.into_iter().collect::<Vec<_>>(),
        [
            (path("data/golden.txt"), Touch::Changed),
            (path("notes.txt"), Touch::Removed),
            (path("seen.txt"), Touch::Added),
        ]
    );
    assert_eq!(contents(folder.path()), before);
}

#[test]
fn a_folder_that_is_made_anew_has_lost_what_it_held() {
    let folder = lay_out(&[
        ("app.py", "def answer():\n    return 42\n"),
        ("test_app.py", TEST),
        ("data/deep/a.txt", "a\n"),
        ("data/b.txt", "b\n"),
    ]);
    let wild = "import os, shutil\ndef answer():\n    shutil.rmtree('data')\n    os.mkdir('data')\n    open('data/b.txt', 'w').write('b\\n')\n    return 42\n";
    let (report, touched) = tried(folder.path(), &[("app.py", wild)]);
    assert_eq!(report.passed, 1, "{report:#?}");
    assert_eq!(touched.get(&path("data/deep/a.txt")), Some(&Touch::Removed));
    assert_eq!(contents(folder.path()).len(), 4);
}

#[test]
fn files_come_and_go_in_a_trial() {
    let folder = lay_out(&[
        ("app.py", "raise SystemExit\n"),
        ("test_app.py", TEST),
        ("test_bad.py", "raise SystemExit\n"),
    ]);
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let mut scratch = runner.trial(project.door(), None).unwrap();
    scratch.remove(&path("app.py")).unwrap();
    scratch.remove(&path("test_bad.py")).unwrap();
    let code = b"from app.inner import answer\n";
    scratch.put(&path("app/__init__.py"), code).unwrap();
    let code = b"def answer():\n    return 42\n";
    scratch.put(&path("app/inner.py"), code).unwrap();
    let report = run(runner, &scratch);
    assert_eq!((report.passed, report.errors), (1, 0), "{report:#?}");
    assert_eq!(scratch.touched(), BTreeMap::new());
}

#[test]
fn a_second_trial_knows_nothing_of_the_first_unless_it_stands_on_it() {
    let folder = lay_out(&[
        (
            "app.py",
            "import os\ndef answer():\n    first = not os.path.exists('seen')\n    open('seen', 'w').close()\n    return 42 if first else 0\n",
        ),
        ("test_app.py", TEST),
    ]);
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let first = runner.trial(project.door(), None).unwrap();
    assert_eq!(run(runner, &first).passed, 1);
    assert_eq!(run(runner, &first).failed, 1, "the same trial goes on");
    let second = runner.trial(project.door(), None).unwrap();
    assert_eq!(run(runner, &second).passed, 1);
    let above = runner.trial(project.door(), Some(&first)).unwrap();
    let goes_on = cfg!(target_os = "linux")
        && harness_hands::process::available_sandbox()
            == harness_hands::process::sandbox::Sandbox::Full;
    assert_eq!(run(runner, &above).failed, u32::from(goes_on));
}

#[test]
fn what_is_left_outside_the_project_is_there_the_next_time() {
    for place in ["tempfile.gettempdir()", "pathlib.Path.home()"] {
        let code = format!(
            "import pathlib, tempfile\ndef answer():\n    seen = pathlib.Path({place}, 'seen')\n    first = not seen.exists()\n    seen.write_text('x')\n    return 42 if first else 0\n"
        );
        let folder = lay_out(&[("app.py", &code), ("test_app.py", TEST)]);
        let project = Project::open(folder.path(), None, Access::Writing).unwrap();
        let runner = project.runner().unwrap();
        let first = runner.trial(project.door(), None).unwrap();
        assert_eq!(run(runner, &first).passed, 1, "{place}");
        assert!(first.left_outside().contains("seen"), "{place}");
        assert_eq!(run(runner, &first).failed, 1, "{place}");
        let second = runner.trial(project.door(), None).unwrap();
        assert_eq!(run(runner, &second).passed, 1, "{place}");
    }
}

#[test]
fn links_that_a_program_leaves_lead_nobody_out() {
    let outside = tempfile::tempdir().unwrap();
    let code = format!(
        "import os, shutil, tempfile\ndef answer():\n    top = tempfile.gettempdir()\n    for name in os.listdir(top):\n        try:\n            os.rename(os.path.join(top, name), os.path.join(top, 'gone' + name))\n        except OSError:\n            continue\n        os.symlink({:?}, os.path.join(top, name))\n    return 42\n",
        outside.path()
    );
    let folder = lay_out(&[("app.py", &code), ("test_app.py", TEST)]);
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let scratch = runner.trial(project.door(), None).unwrap();
    for _ in 0..3 {
        assert_eq!(run(runner, &scratch).passed, 1);
    }
    assert_eq!(contents(outside.path()).len(), 0);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}
