//! Makes `docs/reference` from the code and fails when a page there is stale. `UPDATE_DOCS=1` writes the pages.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test stops at once where its ground is missing"
)]

use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory};
use harness::cli::args::Arguments;
use harness::exit::Exit;
use harness_agent::{Engine, EventKind, Route, RunResult, Stopped, TestResult};
use harness_code::report::brief::Brief;
use harness_code::report::layout::Layout;
use strum::VariantArray;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[track_caller]
fn check(name: &str, title: &str, body: &str) {
    let path = root().join("docs/reference").join(name);
    let page = format!(
        "# {title}\n\n<!-- Made from the code by crates/harness/tests/reference.rs; UPDATE_DOCS=1 writes it. -->\n\n{}\n",
        body.trim_end()
    );
    check_text(name, &path, &page);
}

#[track_caller]
fn check_text(name: &str, path: &Path, page: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, page).unwrap();
    }
    let there = std::fs::read_to_string(path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        there == page,
        "docs/reference/{name} is stale: UPDATE_DOCS=1 cargo test -p harness --test reference"
    );
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn row(argument: &Arg) -> String {
    let values: Vec<String> = argument
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|name| format!(" {name}"))
        .collect();
    let takes = if argument.get_action().takes_values() {
        values.concat()
    } else {
        String::new()
    };
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}"));
    let name = match [short, long]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
    {
        empty if empty.is_empty() => takes.trim().to_owned(),
        flags => format!("{flags}{takes}"),
    };
    let help = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    format!("| `{name}` | {} |\n", cell(&help))
}

fn section(command: &Command) -> String {
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut text = format!(
        "## harness {}\n\n{about}.\n\n| argument | meaning |\n|---|---|\n",
        command.get_name()
    );
    for argument in command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
    {
        text.push_str(&row(argument));
    }
    text.push('\n');
    text
}

#[test]
fn commands() {
    let program = Arguments::command();
    let intro = "`harness` alone prints a short list. `python -m harness` is the same program. A task that is `-` is read from standard input. The result goes to stdout, everything else to stderr; with `--json` stdout is exactly one JSON document.\n\n";
    let sections: String = program.get_subcommands().map(section).collect();
    check("commands.md", "Commands", &format!("{intro}{sections}"));
}

const EXIT_EXAMPLES: &str = r#"## In scripts
Stop where anything but success is an error:

```sh
set -e
harness run "fix the failing tests" --output result.json
```

Tell the ways of not succeeding apart:

```sh
code=0
harness run "fix discount in shop/pricing.py" --output result.json || code=$?
case "$code" in
  0) echo "done" ;;
  1) echo "not proven, nothing was left behind: $(jq -r .summary result.json)" ;;
  3) echo "say more: $(jq -r .summary result.json)" ;;
  4) echo "start the engine first" ;;
  *) exit "$code" ;;
esac
```

A question is one answer away: write the task again with the option's text in it.

```sh
harness test || harness run "fix the failing tests"
harness layout --fail-at 50 --format sarif --output layout.sarif > /dev/null
```
"#;

fn meaning(exit: Exit) -> &'static str {
    match exit {
        Exit::Done => "done",
        Exit::Failed => "ended without success",
        Exit::Usage => "usage or bad input: no such folder, unknown skill, unknown engine",
        Exit::Question => "a question needs an answer",
        Exit::Engine => {
            "the engine cannot be used: unreachable, no such model, no base address or token, bad reply"
        }
        Exit::NotSent => "refused to send",
        Exit::Interrupted => "interrupted",
    }
}

#[test]
fn exit_codes() {
    let rows: String = Exit::VARIANTS
        .iter()
        .map(|exit| format!("| {} | {} |\n", exit.code(), meaning(*exit)))
        .collect();
    let after = format!(
        "\nA message says what is wrong; the line after it, `hint:`, says what to do. `layout --fail-at WEIGHT` ends with 1 for a finding of that weight; without the option findings are no failure.\n\n{EXIT_EXAMPLES}"
    );
    check(
        "exit-codes.md",
        "Exit codes",
        &format!("| code | meaning |\n|---|---|\n{rows}{after}"),
    );
}

#[test]
fn every_variable_that_is_read_has_its_line() {
    let page = root().join("docs/reference/environment.md");
    let page = std::fs::read_to_string(page).unwrap();
    let reader = include_str!("../../harness-agent/src/env.rs");
    let calls = reader.split("text(\"").chain(reader.split("path(\""));
    let names = calls
        .filter_map(|rest| rest.split_once("\")"))
        .map(|(name, _)| name);
    let is_variable = |name: &&str| {
        !name.is_empty() && !name.contains(|c: char| !c.is_ascii_uppercase() && c != '_')
    };
    let names: Vec<&str> = names.filter(is_variable).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        // Where a program looks for others, and where the user lives, is no setting.
        let is_usual = ["PATH", "HOME", "USERPROFILE"].contains(&name);
        assert!(
            is_usual || page.contains(name),
            "{name} stands on no line of {page}"
        );
    }
}

/// Returns each word of an enum with what it means, as its schema has them.
fn meanings<T: schemars::JsonSchema>() -> Vec<(String, String)> {
    let schema = schemars::schema_for!(T);
    let words = schema
        .get("oneOf")
        .and_then(|words| words.as_array())
        .unwrap();
    let text = |word: &serde_json::Value, key: &str| word[key].as_str().unwrap().to_owned();
    let meaning = |word| {
        let about = text(word, "description");
        let about = about.trim_end_matches('.');
        (
            text(word, "const"),
            format!("{}{}", about[..1].to_lowercase(), &about[1..]),
        )
    };
    words.iter().map(meaning).collect()
}

#[test]
fn results() {
    let codes = Stopped::VARIANTS.iter().map(|one| Exit::of(*one).code());
    let stopped: String = meanings::<Stopped>()
        .into_iter()
        .zip(codes)
        .map(|((name, about), code)| format!("| `{name}` | {about} | {code} |\n"))
        .collect();
    let events: String = meanings::<EventKind>()
        .into_iter()
        .map(|(name, about)| format!("| `{name}` | {about} |\n"))
        .collect();
    let engines: String = Engine::ALL
        .iter()
        .map(|engine| format!("| `{}` | `{}` |\n", engine.name(), engine.alias()))
        .collect();
    let body = format!(
        "## Why a run stopped\n\n`ok` is true only with `done`.\n\n| stopped | meaning | exit code |\n|---|---|---|\n{stopped}\n## Events\n\n| kind | meaning |\n|---|---|\n{events}\n## Engines\n\n| engine | also accepted |\n|---|---|\n{engines}"
    );
    check("results.md", "Results, events, engines", &body);
}

/// The version of the schemas: it changes when a field goes away or means something else.
const SCHEMA_VERSION: u32 = 1;

#[track_caller]
fn check_schema<T: schemars::JsonSchema>(name: &str) {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let id = format!("urn:harness:{name}:v{SCHEMA_VERSION}");
    schema.insert("$id".to_owned(), id.into());
    let text = serde_json::to_string_pretty(&schema).unwrap();
    let name = format!("schemas/{name}.v{SCHEMA_VERSION}.json");
    let path = root().join("docs/reference").join(&name);
    check_text(&name, &path, &format!("{text}\n"));
}

#[test]
fn schemas() {
    check_schema::<RunResult>("result");
    check_schema::<Brief>("brief");
    check_schema::<Layout>("layout");
    check_schema::<Route>("route");
    check_schema::<TestResult>("test");
}

#[test]
fn routes() {
    let rows: String = harness::server::routes()
        .iter()
        .map(|route| {
            let fields: Vec<String> = route
                .fields
                .iter()
                .map(|field| format!("`{field}`"))
                .collect();
            let (method, path, about) = (&route.method, route.path, route.about);
            format!(
                "| {method} | `{path}` | {} | {} |\n",
                fields.join(" "),
                cell(about)
            )
        })
        .collect();
    let intro = include_str!("../../../docs/concept/http.md");
    check(
        "http.md",
        "HTTP routes",
        &format!("| method | route | fields | what it does |\n|---|---|---|---|\n{rows}\n{intro}"),
    );
}

#[test]
fn editors() {
    let rows: String = harness::editors::list()
        .iter()
        .map(|editor| {
            let files: Vec<String> = editor
                .files
                .iter()
                .map(|file| format!("`{file}`"))
                .collect();
            format!(
                "| `{}` | {} | {} |\n",
                editor.name,
                cell(editor.about),
                files.join(" ")
            )
        })
        .collect();
    let intro = include_str!("../../../docs/concept/editors.md");
    check(
        "editors.md",
        "Editors",
        &format!("| name | what it gets | files |\n|---|---|---|\n{rows}\n{intro}"),
    );
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let page = std::fs::read_to_string(root().join("docs/reference/dependencies.md")).unwrap();
    let table = manifest
        .split("[workspace.dependencies]")
        .nth(1)
        .unwrap()
        .split("\n[")
        .next()
        .unwrap();
    let names = table
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name.trim())
        .filter(|name| !name.starts_with("harness"));
    let mut missing: Vec<&str> = Vec::new();
    let mut known = Vec::new();
    for name in names {
        known.push(name);
        if !page
            .lines()
            .any(|line| line.starts_with(&format!("| `{name}` |")))
        {
            missing.push(name);
        }
    }
    assert!(
        missing.is_empty(),
        "no reason in docs/reference/dependencies.md: {}",
        missing.join(", ")
    );
    let crates = page.split("\n## ").next().unwrap();
    let listed = crates
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let gone: Vec<&str> = listed.filter(|name| !known.contains(name)).collect();
    assert!(
        gone.is_empty(),
        "no dependency any more: {}",
        gone.join(", ")
    );
}
