//! Suites of other languages, run for real where their tools are at hand.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out projects on the disk"
)]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use harness_code::suite::{Runner as Framework, Suite};
use harness_hands::permit::{Access, Project};
use harness_hands::suite::{self, Outcome, Selection, SuiteReport};

#[path = "../../../tests/support/skip.rs"]
mod skip;

fn run(files: &[(&str, &str)], runner: Framework, command: &[&str]) -> Option<SuiteReport> {
    if !is_installed(command[0]) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    Some(run_in(folder.path(), runner, command))
}

fn is_installed(program: &str) -> bool {
    let on_path = |folder: std::path::PathBuf| folder.join(program).is_file();
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_installed = std::env::split_paths(&folders).any(on_path);
    if !is_installed {
        skip::skip(&format!("`{program}` is not installed"));
    }
    is_installed
}

fn run_in(folder: &Path, runner: Framework, command: &[&str]) -> SuiteReport {
    let command = command.iter().map(ToString::to_string).collect();
    let suite = Suite {
        runner,
        command,
        interpreter: None,
        interpreter_why: None,
        missing: Vec::new(),
        folder: None,
        why: String::new(),
    };
    let project = Project::open(folder, None, Access::Writing).unwrap();
    suite::run(
        project.runner().unwrap(),
        &suite,
        &Selection::All,
        &AtomicBool::new(false),
    )
}

#[test]
fn cargo_tests_are_counted() {
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let library = "#[test]\nfn good() {}\n\n#[test]\nfn bad() {\n    assert_eq!(1, 2);\n}\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", library)];
    let Some(report) = run(&files, Framework::Cargo, &["cargo", "test"]) else {
        return;
    };
    assert_eq!(
        (report.outcome, report.passed, report.failed),
        (Outcome::Ran, 1, 1),
        "{report:#?}"
    );
    assert!(
        report.failures[0]
            .shown()
            .starts_with("bad (src/lib.rs:6): "),
        "{report:#?}"
    );
}

#[test]
fn nextest_s_tests_are_counted() {
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let library = "#[test]\nfn good() {}\n\n#[test]\n#[ignore]\nfn later() {}\n\n#[test]\nfn bad() {\n    assert_eq!(1, 2);\n}\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", library)];
    if !is_installed("cargo-nextest") {
        return;
    }
    let Some(report) = run(&files, Framework::Cargo, &["cargo", "nextest", "run"]) else {
        return;
    };
    assert_eq!(
        (report.outcome, report.passed, report.failed, report.skipped),
        (Outcome::Ran, 1, 1, 1),
        "{report:#?}"
    );
    assert!(
        report.failures[0]
            .shown()
            .starts_with("bad (src/lib.rs:10): "),
        "{report:#?}"
    );
}

#[test]
fn node_tests_are_counted() {
    let package = r#"{"name": "tiny", "version": "1.0.0", "scripts": {"test": "node --test"}}"#;
    let tests = "const test = require('node:test');\nconst assert = require('node:assert');\ntest('good', () => {});\ntest('bad', () => assert.equal(1, 2));\n";
    let files = [("package.json", package), ("a.test.js", tests)];
    let Some(report) = run(&files, Framework::Npm, &["npm", "test"]) else {
        return;
    };
    assert_eq!(
        (report.outcome, report.passed, report.failed),
        (Outcome::Ran, 1, 1),
        "{report:#?}"
    );
}

/// The wrapper of a project brings the version of the tool that the project is built with.
#[cfg(unix)]
#[test]
fn the_project_s_own_wrapper_runs_the_tests() {
    for (runner, script, folder) in [
        (Framework::Maven, "mvnw", "target/surefire-reports"),
        (Framework::Gradle, "gradlew", "build/test-results"),
    ] {
        let report = "<testsuite><testcase name=\"good\"/></testsuite>";
        let text = format!("mkdir -p {folder}\necho '{report}' > {folder}/TEST-a.xml\n");
        let report = run(&[(script, &text)], runner, &["sh", script, "test"]).unwrap();
        assert_eq!(
            (report.outcome, report.passed),
            (Outcome::Ran, 1),
            "{report:#?}"
        );
    }
}

#[test]
fn bun_s_tests_are_counted() {
    let test = "import { test, expect } from \"bun:test\";\ntest(\"good\", () => {});\ntest.skip(\"later\", () => {});\ntest(\"bad\", () => {\n  expect(1).toBe(2);\n});\n";
    let script = r#"{"scripts": {"test": "bun test"}}"#;
    let cases: [(&str, &[&str]); 2] = [("{}", &["bun", "test"]), (script, &["bun", "run", "test"])];
    for (package, command) in cases {
        let files = [("package.json", package), ("a.test.ts", test)];
        let Some(report) = run(&files, Framework::Bun, command) else {
            return;
        };
        assert_eq!(
            (report.outcome, report.passed, report.failed, report.skipped),
            (Outcome::Ran, 1, 1, 1),
            "{report:#?}"
        );
        let shown = report.failures[0].shown();
        assert!(
            shown.starts_with("bad (a.test.ts:5): expect(received)"),
            "{report:#?}"
        );
    }
}

#[test]
fn code_that_does_not_compile_is_told_with_its_place() {
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let library = "\npub fn a() -> u32 {\n    total\n}\n#[test]\nfn good() {}\n";
    let makefile = "test:\n\tgcc -o a a.c\n";
    let code = "int main(void) {\n    return total;\n}\n";
    check_refused(
        &[("Cargo.toml", manifest), ("src/lib.rs", library)],
        (Framework::Cargo, &["cargo", "test"]),
        "src/lib.rs [build failed] (src/lib.rs:3): error[E0425]: ",
    );
    check_refused(
        &[("Makefile", makefile), ("a.c", code)],
        (Framework::Make, &["make", "test"]),
        "a.c [build failed] (a.c:2): error: ",
    );
}

#[track_caller]
fn check_refused(files: &[(&str, &str)], (runner, command): (Framework, &[&str]), expected: &str) {
    let Some(report) = run(files, runner, command) else {
        return;
    };
    assert_eq!(
        (report.outcome, report.collected),
        (Outcome::NoReport, 0),
        "{report:#?}"
    );
    assert_eq!(report.refused.len(), 1, "{report:#?}");
    let refused = report.refused[0].shown();
    assert!(refused.starts_with(expected), "{report:#?}");
}

#[test]
fn prose_is_no_report() {
    let package =
        r#"{"name": "tiny", "version": "1.0.0", "scripts": {"test": "echo 12 tests passed"}}"#;
    let Some(report) = run(
        &[("package.json", package)],
        Framework::Npm,
        &["npm", "test"],
    ) else {
        return;
    };
    assert_eq!(
        (report.outcome, report.passed),
        (Outcome::NoReport, 0),
        "{report:#?}"
    );
    assert!(
        report.output_tail.contains("12 tests passed"),
        "{report:#?}"
    );
}
