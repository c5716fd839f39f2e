//! Settings as people have them: merged, merged again, and taken out byte for byte.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests write a person's settings"
)]

use super::*;

/// Tasks of VS Code, from five kinds of people.
const VSCODE: [&str; 7] = [
    // What the editor itself writes, tabs and all.
    "{\n\t// See https://go.microsoft.com/fwlink/?LinkId=733558\n\t// for the documentation about the tasks.json format\n\t\"version\": \"2.0.0\",\n\t\"tasks\": [\n\t\t{\n\t\t\t\"label\": \"build\",\n\t\t\t\"type\": \"shell\",\n\t\t\t\"command\": \"make\"\n\t\t}\n\t]\n}\n",
    // Windows, trailing commas, comments at the end of lines, no final line ending.
    "{\r\n    \"version\": \"2.0.0\",\r\n    \"tasks\": [\r\n        {\r\n            \"label\": \"dotnet: build\", // C#\r\n            \"command\": \"dotnet\",\r\n        }, /* the\r\n        only one */ // really\r\n    ],\r\n    \"inputs\": [\r\n        { \"id\": \"name\", \"type\": \"promptString\" } // asked once\r\n    ],\r\n}",
    // A byte order mark, everything on one line.
    "\u{feff}{\"version\":\"2.0.0\",\"tasks\":[{\"label\":\"a\"},{\"label\":\"b\"}],\"inputs\":[]}",
    // Deep nesting, odd order, a label that only looks like ours.
    "{\n  \"inputs\": [\n    {\"id\": \"env\", \"type\": \"pickString\", \"options\": [\"dev\", \"prod\"]}\n  ],\n  \"presentation\": {\"a\": {\"b\": {\"c\": [1, [2, [3, {\"d\": \"// no comment, \\\"tasks\\\": [\"}]]]}}},\n  \"tasks\": [\n      // first comes the server\n      {\n          \"label\": \"harnessing\",\n          \"dependsOn\": [\"a\", \"b\"]\n      }\n      // and nothing after it\n  ]\n}\n\n\n",
    // Lists that hold nothing yet, each in its own way.
    "{\n    \"version\": \"2.0.0\",\n    \"tasks\": [\n        // none yet\n    ],\n    \"inputs\": [ /* none */ ]\n}\n",
    "{}",
    "{\n}\n",
];

/// Tasks of Zed: the whole file is a list.
const ZED: [&str; 5] = [
    "// Static tasks configuration.\n//\n// Example:\n[\n  {\n    \"label\": \"Example task\",\n    \"command\": \"for i in {1..5}; do echo \\\"Hello $i/5\\\"; sleep 1; done\",\n    \"env\": { \"foo\": \"bar\" },\n    \"use_new_terminal\": false,\n  },\n]\n",
    "[]\n",
    "[\r\n\t{ \"label\": \"test\", \"command\": \"cargo\", \"args\": [\"test\"] }\r\n]\r\n",
    "\u{feff}[ { \"label\": \"one\", \"command\": \"true\" } ]",
    "[\n    {\"label\": \"a\", \"command\": \"x\"}, // one\n    {\"label\": \"b\", \"command\": \"y\"}  // two\n    /* three\n       is missing */\n]\n",
];

fn order(direction: Direction, allow_writes: bool) -> Order {
    Order {
        allow_writes,
        model: "qwen3:8b".to_owned(),
        direction,
        dry_run: false,
    }
}

fn snapshot(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                found.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[track_caller]
fn merged_and_removed(editor: &str, file: &str, before: &str) {
    let project = tempfile::tempdir().unwrap();
    let path = project.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, before).unwrap();
    let original = snapshot(project.path());
    let connect = |order: &Order| connect(editor, project.path(), order).unwrap().unwrap();
    let first = connect(&order(Direction::PutIn, false));
    assert_eq!(
        first.files[0].action,
        Action::Merged,
        "{}\n{before}",
        first.files[0].reason
    );
    assert!(first.files[0].backup.is_some() && !first.files[0].diff.is_empty());
    let once = snapshot(project.path());
    assert_eq!(
        connect(&order(Direction::PutIn, false)).files[0].action,
        Action::Unchanged
    );
    assert_eq!(
        snapshot(project.path()),
        once,
        "the second time changed something"
    );
    // Another mind about writes, and back again: no copy is added.
    connect(&order(Direction::PutIn, true));
    connect(&order(Direction::PutIn, false));
    assert_eq!(
        snapshot(project.path()),
        once,
        "there and back changed something"
    );
    let gone = connect(&order(Direction::TakeOut, true));
    assert_eq!(gone.files[0].action, Action::TakenOut, "{before}");
    assert_eq!(
        snapshot(project.path()),
        original,
        "removed, but not byte for byte"
    );
}

/// The same where the person has thrown the backup away: only the text itself tells.
#[track_caller]
fn removed_without_a_backup(editor: &str, file: &str, before: &str) {
    let project = tempfile::tempdir().unwrap();
    let path = project.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, before).unwrap();
    let connect = |order: &Order| connect(editor, project.path(), order).unwrap().unwrap();
    let name = connect(&order(Direction::PutIn, true)).files[0]
        .backup
        .clone()
        .unwrap();
    std::fs::remove_file(path.with_file_name(name)).unwrap();
    connect(&order(Direction::TakeOut, false));
    let after = std::fs::read(&path).unwrap();
    assert_eq!(String::from_utf8(after).unwrap(), before);
}

#[test]
fn tasks_of_vscode_are_merged_and_removed() {
    for before in VSCODE {
        merged_and_removed("vscode", ".vscode/tasks.json", before);
    }
    // A list that was there and empty cannot be told from ours without the copy, and one line becomes two.
    for before in [VSCODE[0], VSCODE[1], VSCODE[3], VSCODE[5]] {
        removed_without_a_backup("vscode", ".vscode/tasks.json", before);
    }
}

#[test]
fn tasks_of_zed_are_merged_and_removed() {
    for before in ZED {
        merged_and_removed("zed", ".zed/tasks.json", before);
    }
    for before in [ZED[0], ZED[1], ZED[2], ZED[4]] {
        removed_without_a_backup("zed", ".zed/tasks.json", before);
    }
}

#[test]
fn every_editor_comes_and_goes() {
    for kit in list() {
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("a.py"), "x = 1\n").unwrap();
        let original = snapshot(project.path());
        for allow_writes in [false, true] {
            let order_in = order(Direction::PutIn, allow_writes);
            let dry = Order {
                dry_run: true,
                ..order_in.clone()
            };
            connect(kit.name, project.path(), &dry).unwrap();
            assert_eq!(snapshot(project.path()), original, "a dry run wrote");
            let report = connect(kit.name, project.path(), &order_in)
                .unwrap()
                .unwrap();
            assert!(
                report
                    .files
                    .iter()
                    .all(|file| file.action == Action::Created)
            );
            let all: String = report.files.iter().map(|file| file.diff.clone()).collect();
            assert_eq!(
                all.contains("--dry-run"),
                !allow_writes && kit.name != "continue",
                "{}",
                kit.name
            );
            assert!(
                allow_writes || !all.contains("--allow-writes"),
                "{}",
                kit.name
            );
            connect(
                kit.name,
                project.path(),
                &order(Direction::TakeOut, !allow_writes),
            )
            .unwrap();
            assert_eq!(snapshot(project.path()), original, "{}", kit.name);
            assert!(
                std::fs::read_dir(project.path()).unwrap().count() == 1,
                "{}",
                kit.name
            );
        }
    }
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    for (editor, file, text) in [
        ("vscode", ".vscode/tasks.json", "{ \"tasks\": [ }"),
        ("vscode", ".vscode/tasks.json", "{ \"tasks\": {} }"),
        (
            "vscode",
            ".vscode/tasks.json",
            "{ \"tasks\": [], \"tasks\": [] }",
        ),
        ("vscode", ".vscode/tasks.json", "{ a: 1 }"),
        ("vscode", ".vscode/tasks.json", ""),
        ("zed", ".zed/tasks.json", "{}"),
        ("continue", ".continue/models/harness.yaml", "name: mine\n"),
        ("emacs", ".dir-locals-2.el", "((nil . ((a . 1))))\n"),
        ("neovim", ".nvim.lua", "vim.opt_local.shiftwidth = 2\n"),
        ("cline", ".clinerules/harness.md", "my own rule\n"),
    ] {
        let project = tempfile::tempdir().unwrap();
        let path = project.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let original = snapshot(project.path());
        let report = connect(editor, project.path(), &order(Direction::PutIn, false));
        let file = &report.unwrap().unwrap().files[0];
        assert_eq!(file.action, Action::LeftAlone, "{text}");
        assert!(
            !file.snippet.is_empty() && !file.reason.is_empty(),
            "{text}"
        );
        assert_eq!(snapshot(project.path()), original, "{text}");
    }
}

#[test]
fn deep_and_odd_bytes_are_left_alone() {
    let deep = "[".repeat(100_000);
    for bytes in [
        deep.into_bytes(),
        b"\xff\xfe{\0}\0".to_vec(),
        b"{\"a\": \"\xe9\"}".to_vec(),
    ] {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join(".zed")).unwrap();
        std::fs::write(project.path().join(".zed/tasks.json"), &bytes).unwrap();
        let report = connect("zed", project.path(), &order(Direction::PutIn, false));
        assert_eq!(report.unwrap().unwrap().files[0].action, Action::LeftAlone);
    }
}

#[test]
fn a_person_s_later_changes_stay() {
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir(project.path().join(".zed")).unwrap();
    let path = project.path().join(".zed/tasks.json");
    std::fs::write(&path, ZED[2]).unwrap();
    connect("zed", project.path(), &order(Direction::PutIn, false)).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let more = "\t{ \"label\": \"mine\", \"command\": \"ls\" }\r\n]";
    let at = text.rfind("\r\n]").unwrap();
    std::fs::write(&path, format!("{},\r\n{more}\r\n", &text[..at])).unwrap();
    connect("zed", project.path(), &order(Direction::TakeOut, false)).unwrap();
    let after = std::fs::read_to_string(&path).unwrap();
    let expected = ZED[2].replace(" }\r\n]\r\n", " },\r\n") + more + "\r\n";
    assert_eq!(after, expected);
}

#[test]
fn what_only_looks_like_ours_stays() {
    for (text, after) in [
        (
            r#"{"tasks":[{"label":"mine"}],"tasks":[{"label":"harness: brief"}]}"#,
            Action::LeftAlone,
        ),
        (
            r#"{"tasks":[{"label":"harness: build the test rig"}],"inputs":[{"id":"harness-mine"}]}"#,
            Action::Unchanged,
        ),
        (
            r#"{"compounds":[{"label":"harness: brief"}]}"#,
            Action::Unchanged,
        ),
    ] {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join(".vscode")).unwrap();
        let path = project.path().join(".vscode/tasks.json");
        std::fs::write(&path, text).unwrap();
        let report = connect("vscode", project.path(), &order(Direction::TakeOut, false));
        assert_eq!(report.unwrap().unwrap().files[0].action, after, "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_file_of_ours_that_was_changed_is_known() {
    let project = tempfile::tempdir().unwrap();
    let act = |order: &Order| {
        let report = connect("continue", project.path(), order).unwrap().unwrap();
        (report.files[0].action, report.files[0].backup.clone())
    };
    let another = Order {
        model: "b:2".to_owned(),
        ..order(Direction::PutIn, false)
    };
    assert_eq!(act(&order(Direction::PutIn, false)).0, Action::Created);
    assert_eq!(
        act(&another),
        (Action::Merged, Some("harness.yaml.bak".to_owned()))
    );
    // The model is another one than this order's: it may be the person's own choice.
    assert_eq!(act(&order(Direction::TakeOut, false)).0, Action::LeftAlone);
    let gone = Order {
        direction: Direction::TakeOut,
        ..another
    };
    assert_eq!(act(&gone).0, Action::Removed);
}

#[test]
fn every_file_says_whose_it_is() {
    for kit in KITS {
        for file in kit.files {
            let wishes = Wishes {
                allow_writes: true,
                model: "a".to_owned(),
                project: "/p".to_owned(),
            };
            assert!(file.text(&wishes).contains(OURS), "{}", file.path);
        }
    }
}

#[test]
fn the_list_of_hands_is_the_list_of_kits() {
    let mut ours: Vec<&str> = list().iter().flat_map(|kit| kit.files.clone()).collect();
    ours.sort_unstable();
    ours.dedup();
    let mut allowed = harness_hands::settings::FILES.to_vec();
    allowed.sort_unstable();
    assert_eq!(ours, allowed);
}
