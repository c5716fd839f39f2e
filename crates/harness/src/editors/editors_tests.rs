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

/// Servers of VS Code.
const VSCODE_MCP: [&str; 6] = [
    // What the editor's own dialogue writes.
    "{\n\t\"servers\": {\n\t\t\"github\": {\n\t\t\t\"type\": \"http\",\n\t\t\t\"url\": \"https://api.githubcopilot.com/mcp/\"\n\t\t}\n\t},\n\t\"inputs\": []\n}",
    // Windows, comments, trailing commas, a secret that is asked for.
    "{\r\n  // asked for once\r\n  \"inputs\": [\r\n    { \"id\": \"key\", \"type\": \"promptString\", \"password\": true, },\r\n  ],\r\n  \"servers\": {\r\n    \"db\": { // read only\r\n      \"command\": \"npx\",\r\n      \"args\": [\"-y\", \"db-mcp\"],\r\n      \"env\": { \"KEY\": \"${input:key}\" },\r\n    },\r\n  },\r\n}\r\n",
    // A byte order mark, all on one line, a server whose name begins like ours.
    "\u{feff}{\"servers\":{\"harness-db\":{\"command\":\"x\",\"args\":[\"mcp\"]}}}",
    // Nothing in it yet, with a word about that.
    "{\n    \"servers\": {\n        // none yet\n    }\n}\n",
    "{\n    \"inputs\": []\n}\n",
    "{}\n",
];

/// Servers of Cursor and of Junie, which have one shape.
const MCP_SERVERS: [&str; 5] = [
    "{\n  \"mcpServers\": {\n    \"filesystem\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"@modelcontextprotocol/server-filesystem\",\n        \".\"\n      ]\n    }\n  }\n}\n",
    "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": { \"url\": \"http://localhost:3000/sse\" },\r\n\t\t\"b\": { \"command\": \"uvx\", \"args\": [ \"b\" ] }\r\n\t}\r\n}",
    "{\"mcpServers\":{}}",
    "\u{feff}{\n    \"version\": 1,\n    \"mcpServers\": {\n        \"memory\": {\"command\": \"docker\", \"args\": [\"run\", \"-i\", \"mcp/memory\"], \"disabled\": true}\n    }\n}\n",
    "{\n  /* ours at work */\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"x\" // to be replaced\n    }, // x\n    // \"y\": { \"command\": \"y\" }\n  }\n}\n\n",
];

/// Project settings of Zed.
const ZED_SETTINGS: [&str; 5] = [
    "// Folder-specific settings\n//\n// For a full list of overridable settings, and general information on folder-specific settings,\n// see the documentation: https://zed.dev/docs/configuring-zed#settings-files\n{\n}\n",
    "{\n  \"tab_size\": 2,\n  \"languages\": {\n    \"Python\": {\n      \"language_servers\": [\"ruff\", \"!pyright\"],\n      \"format_on_save\": \"on\",\n    },\n  },\n}\n",
    "{\r\n\t\"lsp\": { \"rust-analyzer\": { \"initialization_options\": { \"check\": { \"command\": \"clippy\" } } } }\r\n}\r\n",
    "\u{feff}{ \"hard_tabs\": true }",
    "{\n    \"context_servers\": {\n        \"postgres\": { // the one of the team\n            \"source\": \"custom\",\n            \"command\": \"postgres-mcp\",\n            \"args\": [],\n            \"env\": {}\n        }\n    },\n    \"file_scan_exclusions\": [\"**/target\"] // large\n}\n",
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
fn outcome<'a>(report: &'a Report, file: &str) -> &'a Outcome {
    report.files.iter().find(|one| one.path == file).unwrap()
}

#[track_caller]
fn merged_and_removed(editor: &str, file: &str, before: &str) {
    let project = tempfile::tempdir().unwrap();
    let path = project.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, before).unwrap();
    // The other files of the editor come first, so that this one's coming and going is seen alone.
    let original = {
        let connect = |direction| connect(editor, project.path(), &order(direction, false));
        connect(Direction::PutIn).unwrap();
        connect(Direction::TakeOut).unwrap();
        snapshot(project.path())
    };
    assert_eq!(original, [(file.to_owned(), before.as_bytes().to_vec())]);
    let connect = |order: &Order| {
        let report = connect(editor, project.path(), order).unwrap().unwrap();
        outcome(&report, file).clone()
    };
    let first = connect(&order(Direction::PutIn, false));
    assert_eq!(first.action, Action::Merged, "{}\n{before}", first.reason);
    assert!(first.backup.is_some() && !first.diff.is_empty());
    let once = snapshot(project.path());
    assert_eq!(
        connect(&order(Direction::PutIn, false)).action,
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
    assert_eq!(gone.action, Action::TakenOut, "{before}");
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
    let connect = |order: &Order| {
        let report = connect(editor, project.path(), order).unwrap().unwrap();
        outcome(&report, file).clone()
    };
    let name = connect(&order(Direction::PutIn, true)).backup.unwrap();
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
fn servers_are_merged_and_removed() {
    for before in VSCODE_MCP {
        merged_and_removed("vscode", ".vscode/mcp.json", before);
    }
    for before in MCP_SERVERS {
        merged_and_removed("cursor", ".cursor/mcp.json", before);
        merged_and_removed("jetbrains", ".junie/mcp/mcp.json", before);
    }
    for before in ZED_SETTINGS {
        merged_and_removed("zed", ".zed/settings.json", before);
    }
    for before in [VSCODE_MCP[0], VSCODE_MCP[1], VSCODE_MCP[4]] {
        removed_without_a_backup("vscode", ".vscode/mcp.json", before);
    }
    removed_without_a_backup("cursor", ".cursor/mcp.json", MCP_SERVERS[0]);
    for before in [ZED_SETTINGS[1], ZED_SETTINGS[4]] {
        removed_without_a_backup("zed", ".zed/settings.json", before);
    }
}

#[test]
fn the_entry_of_a_program_that_moved_is_replaced_and_removed() {
    let wishes = |program: &str, project: &str| Wishes {
        allow_writes: true,
        model: "a:1".to_owned(),
        project: project.to_owned(),
        program: program.to_owned(),
    };
    let (old, new) = (
        wishes("/old \"venv\"/bin/harness", "/old"),
        wishes("/new/bin/harness", "/new"),
    );
    let files = KITS.iter().flat_map(|kit| kit.files);
    let mut seen = 0;
    for file in files.filter(|file| file.starts_program()) {
        seen += 1;
        let written = file.text(&old);
        // Commands are for the project in which their file lies; entries name it.
        let project = written.contains("\"/old\"");
        assert_eq!(
            file.named_in(&written, &new.program),
            Some((old.program.clone(), project.then(|| old.project.clone()))),
            "{}",
            file.path
        );
        let base = base_of(&written, file, &new, &[]);
        assert!(matches!(base, Ok(Base::Absent)), "{}", file.path);
        if !file.is_shared() {
            continue;
        }
        let theirs = match file.path {
            ".zed/tasks.json" => "[\n  {\n    \"label\": \"a\"\n  }\n]\n",
            _ => "{\n  \"other\": {\n    \"a\": 1\n  }\n}\n",
        };
        let merged = put_in(file, &old, theirs).unwrap();
        let base = base_of(&merged, file, &new, &[]);
        assert!(
            matches!(base, Ok(Base::Text { text, .. }) if text == theirs),
            "{}",
            file.path
        );
    }
    // Every file but Continue's model, which names the server.
    let all = KITS.iter().map(|kit| kit.files.len()).sum::<usize>();
    assert_eq!(seen, all - 1);
}

#[test]
fn an_entry_of_our_name_that_is_not_ours_stays() {
    for (text, reason) in [
        (
            r#"{"mcpServers":{"harness":{"command":"npx","args":["harness-mcp"]}}}"#,
            "not ours",
        ),
        (
            r#"{"mcpServers":{"harness":{"url":"http://127.0.0.1:1"}}}"#,
            "not ours",
        ),
        (r#"{"mcpServers":[]}"#, "not an object"),
        (r#"{"mcpServers":{"a":{},"a":{}}}"#, "more than once"),
        (r#"{"mcpServers":{},"mcpServers":{}}"#, "more than once"),
        ("[]", "not an object"),
        ("{ \"mcpServers\": { }", "cannot be read"),
        ("// nothing yet", "no value"),
    ] {
        let project = tempfile::tempdir().unwrap();
        let path = project.path().join(".cursor/mcp.json");
        std::fs::create_dir(project.path().join(".cursor")).unwrap();
        std::fs::write(&path, text).unwrap();
        for direction in [Direction::PutIn, Direction::TakeOut] {
            let report = connect("cursor", project.path(), &order(direction, false));
            let report = report.unwrap().unwrap();
            let found = outcome(&report, ".cursor/mcp.json");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            if direction == Direction::PutIn {
                assert_eq!(found.action, Action::LeftAlone, "{text}");
                assert!(found.reason.contains(reason), "{text}: {}", found.reason);
                assert!(found.snippet.contains("\"mcp\""), "{text}");
            }
        }
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
                !allow_writes && !["continue", "helix"].contains(&kit.name),
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
        ("vscode", ".vscode/tasks.json", "// nothing yet\n"),
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
        let report = connect(editor, project.path(), &order(Direction::PutIn, false));
        let file = &report.unwrap().unwrap().files[0];
        assert_eq!(file.action, Action::LeftAlone, "{text}");
        assert!(
            !file.snippet.is_empty() && !file.reason.is_empty(),
            "{text}"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap();
        let mut names = beside.map(|entry| entry.unwrap().file_name());
        assert!(names.all(|name| !name.to_string_lossy().contains(".bak")));
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
    // Another model is what a set-up with other settings wrote.
    assert_eq!(act(&another), (Action::Merged, None));
    assert_eq!(act(&order(Direction::TakeOut, false)).0, Action::Removed);
    act(&another);
    let path = project.path().join(".continue/models/harness.yaml");
    let edited = std::fs::read_to_string(&path).unwrap() + "      - edit\n";
    std::fs::write(&path, &edited).unwrap();
    assert_eq!(act(&order(Direction::TakeOut, false)).0, Action::LeftAlone);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), edited);
    assert_eq!(
        act(&order(Direction::PutIn, false)),
        (Action::Merged, Some("harness.yaml.bak".to_owned()))
    );
    assert_eq!(act(&order(Direction::TakeOut, false)).0, Action::Removed);
}

#[test]
fn every_file_says_whose_it_is() {
    for kit in KITS {
        for file in kit.files {
            let wishes = Wishes {
                allow_writes: true,
                model: "a".to_owned(),
                project: "/p".to_owned(),
                program: "/bin/harness".to_owned(),
            };
            // An entry among others is known by what it starts; not every editor takes a comment there.
            let is_entry = file.is_shared() && file.starts_program();
            assert!(
                is_entry || file.text(&wishes).contains(OURS),
                "{}",
                file.path
            );
        }
    }
}

#[test]
fn the_list_of_hands_is_the_list_of_kits() {
    let mut ours: Vec<&str> = list().iter().flat_map(|kit| kit.files.clone()).collect();
    ours.sort_unstable();
    ours.dedup();
    let allowed = harness_hands::settings::FILES.split_ascii_whitespace();
    let mut allowed: Vec<&str> = allowed.collect();
    allowed.sort_unstable();
    assert_eq!(ours, allowed);
}
