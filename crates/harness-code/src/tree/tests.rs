//! What the tree reads, leaves out and survives.

use super::*;
use std::fs;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

#[track_caller]
fn check(folder: &Path, expected: &[&str]) {
    let tree = SourceTree::read(folder, None).unwrap();
    let found: Vec<&str> = tree.files().iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found, expected);
}

#[test]
fn ignored_cached_and_foreign_folders_are_left_out() {
    let folder = project(&[
        (".gitignore", "*.log\n/out/\n"),
        ("a.py", "x = 1\n"),
        ("b.log", ""),
        ("out/c.py", ""),
        (".venv/lib/d.py", ""),
        ("env/pyvenv.cfg", ""),
        ("env/e.py", ""),
        ("target/CACHEDIR.TAG", ""),
        ("target/f.rs", ""),
        ("node_modules/g.js", ""),
        ("__pycache__/h.pyc", ""),
        (".github/workflows/ci.yml", ""),
        (".git/config", ""),
    ]);
    check(
        folder.path(),
        &[".github/workflows/ci.yml", ".gitignore", "a.py"],
    );
}

#[test]
fn marked_folders_are_left_out_however_deep_they_lie() {
    let folder = project(&[
        ("a/b/c/d/e/pyvenv.cfg", ""),
        ("a/b/c/d/e/lib/f.py", ""),
        ("a/b/c/d/g.py", ""),
        ("a/b/c/d/cache/CACHEDIR.TAG", ""),
        ("a/b/c/d/cache/h.py", ""),
        (".git/info/exclude", "# comment\nmine.py\n"),
        ("mine.py", ""),
    ]);
    check(folder.path(), &["a/b/c/d/g.py"]);
}

#[cfg(unix)]
fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[cfg(unix)]
#[test]
fn links_devices_fifos_and_strange_names_do_no_harm() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    let outside = project(&[("secret.py", "key = 1\n")]);
    let folder = project(&[("a.py", "x = 1\n")]);
    let root = folder.path();
    symlink(outside.path(), root.join("linked")).unwrap();
    symlink(outside.path().join("secret.py"), root.join("linked.py")).unwrap();
    symlink("/dev/zero", root.join("zero.py")).unwrap();
    symlink(root, root.join("loop")).unwrap();
    pipe(&root.join("fifo.py"));
    // Other systems take only names that are text.
    let odd = root.join(std::ffi::OsStr::from_bytes(b"caf\xe9.py"));
    assert!(fs::write(odd, "x = 1").is_ok() || !cfg!(target_os = "linux"));
    fs::write(root.join("back\\slash.py"), "x = 1").unwrap();
    check(root, &["a.py"]);
    let tree = SourceTree::read(root, None).unwrap();
    for name in [
        "linked/secret.py",
        "linked.py",
        "zero.py",
        "fifo.py",
        "absent.py",
        ".",
    ] {
        if let Ok(path) = RelPath::parse(name) {
            assert!(tree.text(&path).is_err(), "{name}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn rules_of_a_hostile_clone_do_no_harm() {
    use std::os::unix::fs::symlink;
    let endless = |path: &Path| symlink("/dev/zero", path).unwrap();
    let huge = |path: &Path| fs::File::create(path).unwrap().set_len(1 << 31).unwrap();
    let many = |path: &Path| fs::write(path, "*.x\n".repeat(300_000)).unwrap();
    let makes: [&dyn Fn(&Path); 4] = [&pipe, &endless, &huge, &many];
    for make in makes {
        for name in [
            ".gitignore",
            ".ignore",
            "sub/.gitignore",
            ".git/info/exclude",
        ] {
            let folder = project(&[("a.py", ""), ("sub/b.py", ""), (".git/info/keep", "")]);
            make(&folder.path().join(name));
            let tree = SourceTree::read(folder.path(), None).unwrap();
            let sources = tree
                .files()
                .iter()
                .filter(|file| file.path.extension() == Some("py"));
            assert_eq!(sources.count(), 2, "{name}");
        }
    }
}

#[test]
fn the_nearest_rule_decides() {
    let folder = project(&[
        (".gitignore", "*.log\nbuild/\n/top.py\n"),
        (".git/info/exclude", "mine.py\n"),
        ("a.log", ""),
        ("mine.py", ""),
        ("top.py", ""),
        ("sub/top.py", ""),
        ("sub/.gitignore", "!keep.log\n"),
        ("sub/keep.log", ""),
        ("build/c.py", ""),
    ]);
    check(
        folder.path(),
        &[".gitignore", "sub/.gitignore", "sub/keep.log", "sub/top.py"],
    );
}

#[test]
fn a_scope_narrows_the_tree_and_keeps_project_paths() {
    let folder = project(&[("a.py", ""), ("sub/b.py", ""), ("sub/deep/c.py", "")]);
    let scope = RelPath::parse("sub").unwrap();
    let tree = SourceTree::read(folder.path(), Some(&scope)).unwrap();
    let found: Vec<&str> = tree.files().iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found, ["sub/b.py", "sub/deep/c.py"]);
    let missing = RelPath::parse("nowhere").unwrap();
    assert_eq!(
        SourceTree::read(folder.path(), Some(&missing))
            .unwrap_err()
            .to_string(),
        "the scope `nowhere` is not a folder of the project"
    );
}

#[test]
fn large_and_binary_files_are_listed_but_not_read() {
    let large = "x = 1\n".repeat(400_000);
    let folder = project(&[
        ("large.py", &large),
        ("binary.py", "a\0b"),
        ("small.py", "def f(): pass"),
    ]);
    let tree = SourceTree::read(folder.path(), None).unwrap();
    let seen: Vec<_> = tree
        .files()
        .iter()
        .map(|f| (f.path.as_str(), f.bytes, f.lines, f.facts.definitions.len()))
        .collect();
    assert_eq!(
        seen,
        [
            ("binary.py", 3, 0, 0),
            ("large.py", 2_400_000, 0, 0),
            ("small.py", 13, 1, 1)
        ]
    );
}

#[test]
fn test_files_are_told_by_their_path() {
    for (name, test) in [
        ("tests/a.py", true),
        ("pkg/tests/data.json", true),
        ("test_a.py", true),
        ("a_test.go", true),
        ("conftest.py", true),
        ("src/app.spec.ts", true),
        ("src/UserTest.java", true),
        ("latest.py", false),
        ("src/contest.py", false),
        ("testimony.py", false),
    ] {
        assert_eq!(is_test(&RelPath::parse(name).unwrap()), test, "{name}");
    }
}

#[test]
fn one_pass_gives_facts_and_a_value_of_the_callers_own() {
    let folder = project(&[
        ("a.py", "import os\nclass A:\n    def f(self): g()\n"),
        ("b.md", "# hi"),
    ]);
    let (tree, lengths) =
        SourceTree::read_with(folder.path(), None, |_, reading| reading.content.len()).unwrap();
    assert_eq!(lengths, [Some(40), None]);
    let found: Vec<_> = tree
        .definitions()
        .map(|(file, d)| format!("{}:{} {}", file.path, d.line, d.qualified))
        .collect();
    assert_eq!(found, ["a.py:2 A", "a.py:3 A.f"]);
}

#[test]
fn the_text_tells_more_than_the_name() {
    let folder = project(&[
        ("bin/tool", "#!/usr/bin/env python3\ndef f(): pass\n"),
        ("a.h", "class A {};\n"),
        ("data", "x"),
        ("LICENSE", ""),
    ]);
    let tree = SourceTree::read(folder.path(), None).unwrap();
    let seen: Vec<_> = tree
        .files()
        .iter()
        .map(|f| {
            (
                f.path.as_str(),
                f.language.name(),
                f.facts.definitions.len(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("LICENSE", "text", 0),
            ("a.h", "C++", 1),
            ("bin/tool", "Python", 1),
            ("data", "other", 0)
        ]
    );
}

#[test]
fn generated_files_say_so_at_their_head() {
    assert!(is_generated(
        "// Code generated by protoc. DO NOT EDIT.\npackage x\n"
    ));
    assert!(is_generated(
        "/* Automatically @generated by tree-sitter */\n"
    ));
    assert!(!is_generated("x = 'automatically generated'\n"));
    assert!(!is_generated(""));
}

#[test]
fn a_text_can_stand_in_for_a_file() {
    let folder = project(&[("a.py", "def old():\n    pass\n"), ("c.py", "")]);
    let before = SourceTree::read(folder.path(), None).unwrap();
    let text = |name: &str, text: &str| (RelPath::parse(name).unwrap(), text.to_owned());
    let tree = before.with_texts([
        text("a.py", "def new():\n    pass\n"),
        text("b.py", "def beside():\n    pass\n"),
    ]);
    let found: Vec<&str> = tree.files().iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found, ["a.py", "b.py", "c.py"]);
    let names = |tree: &SourceTree| -> Vec<String> {
        let names = tree.definitions().map(|(_, one)| one.name().to_owned());
        names.collect()
    };
    assert_eq!(names(&tree), ["new", "beside"]);
    let text = tree.text(&RelPath::parse("a.py").unwrap()).unwrap();
    assert_eq!(text.content(), "def new():\n    pass\n");
    assert_eq!(names(&before), ["old"]);
    assert_eq!(before.files().len(), 2);
}

#[test]
fn reading_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cart.py"), "def total(): ...\n").unwrap();
    let stop = AtomicBool::new(true);
    let read = SourceTree::read_hiding(folder.path(), None, Hidden::default(), &stop, |_, _| {
        panic!("nothing is looked at any more")
    });
    assert!(matches!(read, Err(TreeError::Stopped)));
}
