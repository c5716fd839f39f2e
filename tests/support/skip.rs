//! A test that cannot be made on this machine says so here. Included by path in the tests of every crate.

use std::io::Write;

/// What a machine of CI may lack, by system. Everything else has to be there.
const MAY_BE_MISSING: &[(&str, &str)] = &[
    // Tests that take privileges away first, or make devices: whoever runs them may not.
    ("linux", "an ordinary user runs this"),
    ("macos", "an ordinary user runs this"),
    ("linux", "no route leads to another machine"),
    // Runners of tests that few machines have.
    ("linux", "`bun` is not installed"),
    ("linux", "`cargo-nextest` is not installed"),
    ("macos", "`bun` is not installed"),
    ("macos", "`cargo-nextest` is not installed"),
    ("windows", "`bun` is not installed"),
    ("windows", "`cargo-nextest` is not installed"),
    // Their walls, where they have any, do not hold files.
    ("windows", "there are no walls that hold files"),
];

/// Notes in `target/test/skips.txt` that the test which calls it is skipped; the test command shows that file. Under
/// CI nobody reads it: there the test fails, unless the reason stands above.
#[track_caller]
pub(crate) fn skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("?").to_owned();
    let line = format!("{} {test}: {reason}", env!("CARGO_PKG_NAME"));
    let allowed = MAY_BE_MISSING
        .iter()
        .any(|(system, known)| *system == std::env::consts::OS && reason.starts_with(known));
    #[expect(clippy::disallowed_methods, reason = "no run reads this")]
    let under_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(allowed || !under_ci, "skipped under CI: {line}");
    // Past the capture of the test program, which keeps what a passing test prints to itself.
    drop(writeln!(std::io::stderr(), "skipped: {line}"));
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = crates.join("../../target/test");
    #[expect(clippy::disallowed_methods, reason = "no run writes this")]
    let noted = std::fs::create_dir_all(&folder).and_then(|()| {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .append(true)
            .create(true)
            .open(folder.join("skips.txt"))?;
        // In one call, so that lines of several tests do not mix.
        file.write_all(format!("{line}\n").as_bytes())
    });
    // A checkout that belongs to somebody else has its line on standard error only.
    drop(noted);
}
