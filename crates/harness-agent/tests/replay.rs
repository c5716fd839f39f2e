//! What is made again from a record: it is judged by the task that the record names, and never made from what a record
//! cannot hold.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test lays a project out, and cannot go on without it"
)]

use std::path::Path;

use harness_agent::{Agent, AgentOptions, Cancel, Nobody, RunResult};

#[path = "../../../tests/support/scripted.rs"]
mod scripted;
use scripted::Scripted;

/// Returns the options of a run that writes into the folder and leaves its record there.
fn options(folder: &Path) -> AgentOptions {
    AgentOptions {
        allow_writes: true,
        record: Some(folder.join("record.jsonl")),
        ..AgentOptions::new(folder.join("project"))
    }
}

/// Lays a project of these files out and performs a task with one reply.
fn run(folder: &Path, files: &[(&str, &[u8])], task: &str, reply: &str) -> RunResult {
    for (name, bytes) in files {
        let place = folder.join("project").join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, bytes).unwrap();
    }
    let model = Box::new(Scripted::new([reply]));
    let agent = Agent::new(options(folder));
    let result = agent.run_with(model, task, &mut Nobody, &Cancel::default());
    result.unwrap()
}

fn replayed(folder: &Path, run: &str) -> Result<RunResult, String> {
    let agent = Agent::new(options(folder));
    let result = agent.replay(run, &mut Nobody, &Cancel::default());
    result.map_err(|error| error.message)
}

#[test]
fn a_protected_file_that_the_recorded_task_names_is_changed_again() {
    let folder = tempfile::tempdir().unwrap();
    let before = "[project]\nname = \"shop\"\nversion = \"1\"\n";
    let after = before.replace('1', "2");
    // Not its whole path: what the words name is looked up in the project.
    let files = [("shop/pyproject.toml", before.as_bytes())];
    let reply = format!("shop/pyproject.toml\n```toml\n{after}```\n");
    let task = "set the version in pyproject.toml to 2";
    let first = run(folder.path(), &files, task, &reply);
    assert!(first.ok, "{first:?}");
    let place = folder.path().join("project/shop/pyproject.toml");
    assert_eq!(std::fs::read_to_string(&place).unwrap(), after);
    std::fs::write(&place, before).unwrap();
    let again = replayed(folder.path(), &first.run_id).unwrap();
    assert!(again.ok, "{again:?}");
    assert_eq!(std::fs::read_to_string(&place).unwrap(), after);
}

#[test]
fn a_file_that_is_no_text_is_shown_and_recorded_as_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let image = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".as_slice();
    let files = [("logo.png", image), ("app.py", b"x = 1\n")];
    let task = "rename logo.png to icon.png";
    let moved = run(folder.path(), &files, task, "");
    assert!(moved.ok, "{moved:?}");
    let project = folder.path().join("project");
    assert_eq!(std::fs::read(project.join("icon.png")).unwrap(), image);
    assert_eq!(
        moved.diff,
        "diff --git a/icon.png b/icon.png\nnew file mode 100644\nBinary files /dev/null and b/icon.png differ\n\
         diff --git a/logo.png b/logo.png\ndeleted file mode 100644\nBinary files a/logo.png and /dev/null differ\n"
    );
    // A record holds texts: made again, the image would be an empty file.
    std::fs::rename(project.join("icon.png"), project.join("logo.png")).unwrap();
    let again = replayed(folder.path(), &moved.run_id).unwrap_err();
    assert!(again.contains("left nothing to replay"), "{again}");
}
