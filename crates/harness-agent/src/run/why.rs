//! Why tests could not run: the line in which their tool says so, and what to type.

use std::sync::LazyLock;

use harness_code::suite::compiler;
use harness_hands::suite::{Outcome, SuiteReport};
use regex::Regex;

/// The longest line that is shown.
const LONGEST: usize = 200;

pub(super) const PREPARE: &str = "`harness prepare` installs what the tests need";
const NODE: &str = "`harness prepare` installs what the tests need, or `npm ci` in the project";
const NAMED: &str = "`[[project]] tests` in the user's config names another command";
const VARIABLE: &str =
    "`test_variables` in the user's config names variables that the tests are given";
const NETWORK: &str = "the tests have no network: they must run without it";

/// Lines in which tools say why nothing ran, each with what to do about it; nothing where only the code can be mended.
/// The first kind that is found counts, since several lines of one output fit.
const SIGNS: &[(&str, &str)] = &[
    // Python: what is not installed.
    (r"Error importing plugin .*", PREPARE),
    (r"Missing required plugins: .*", PREPARE),
    (r"error: unrecognized arguments: .*", PREPARE),
    (r"'minversion' requires pytest-.*", PREPARE),
    (
        r"ModuleNotFoundError: No module named 'tests?(?:\.\w+)*'",
        NAMED,
    ),
    (r"(?:ModuleNotFoundError: )?No module named .*", PREPARE),
    (r"PackageNotFoundError: .*", PREPARE),
    (
        r"OSError: .*: cannot open shared object file.*",
        "the library is installed by the system's package manager",
    ),
    // Python: settings, variables and the machine.
    (r"\S*ImproperlyConfigured: .*", VARIABLE),
    (r"KeyError: '[A-Z][A-Z0-9_]+'", VARIABLE),
    (
        r"URLError: .*|ConnectionError: .*|ConnectionRefusedError: .*|gaierror: .*",
        NETWORK,
    ),
    (r"file or directory not found: .*", NAMED),
    (r"ImportError: Start directory is not importable: .*", NAMED),
    (r"Unknown config option: .*", ""),
    (r"\S+\.(?:toml|ini|cfg)(?::\d+)?: .*", ""),
    (
        r"import file mismatch:",
        "two test files have one name: give their folders an `__init__.py`, or other names",
    ),
    // Rust
    (r"no matching package named .*", PREPARE),
    (
        r"cannot create the lock file .*|the lock file .* needs to be updated.*",
        "`cargo update --workspace` writes the lock file",
    ),
    (r"(?:failed to (?:download|get|fetch)) .*", PREPARE),
    (
        r"missing field `.*|supported edition values .*|rust-version .* is incompatible .*",
        "",
    ),
    (r"failed to parse manifest .*", ""),
    // Go
    (
        r"\S*cannot find module providing package .*|\S+: missing go\.sum entry .*|go: .*: module lookup disabled.*",
        PREPARE,
    ),
    (
        r".*does not contain main module.*|go: go\.mod file not found.*",
        "`go mod init` makes the folder a module",
    ),
    // JavaScript
    (
        r"(?:sh|bash): (?:\d+: |line \d+: )?\S+: (?:command )?not found",
        NODE,
    ),
    (r"Cannot find (?:module|package) .*", NODE),
    (r"Missing script: .*", NAMED),
    (r"Invalid package\.json: .*", ""),
    // Java, C and make
    (
        r".*could not be resolved: .*",
        "the build tool fetches what is missing when it runs with the network: start it once by hand",
    ),
    (r"Non-readable POM .*", ""),
    (r"\*\*\* No rule to make target .*", NAMED),
    (
        r"make: \S+: No such file or directory",
        "install that program, or name another command with `--test-command`",
    ),
    (
        r"\S+\.\w+:\d+:\d+: fatal error: .*",
        "install the library that has this header",
    ),
    (r"\S+: undefined reference to .*", ""),
    // What is left of Python: the end of a traceback tells most.
    (r"FileNotFoundError: .*", ""),
    (r"^E   \S.*", ""),
    (r"\S+\.\w+:\d+(?::\d+)?: (?:error: |syntax error: )?.*", ""),
    (r"(?:[A-Za-z_.]+)?(?:Error|Exception)(?: \[\w+\])?: .*", ""),
    (r"error(?:\[E\d+\])?: .*", ""),
];

/// Returns the telling line of an output, and what to do about it.
fn told(output: &str) -> Option<(String, &'static str)> {
    let last = || output.lines().map(str::trim).rfind(|line| !line.is_empty());
    sign(output).or_else(|| Some((last()?.chars().take(LONGEST).collect(), "")))
}

/// Returns the first line of an output by which a tool says why nothing ran, and what to do about it.
pub(super) fn sign(output: &str) -> Option<(String, &'static str)> {
    static KNOWN: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let made =
            |(pattern, hint): &(&str, &'static str)| Some((Regex::new(pattern).ok()?, *hint));
        SIGNS.iter().filter_map(made).collect()
    });
    static COLOUR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("\x1b\\[[0-9;]*m").ok());
    let plain = COLOUR.as_ref().map(|colour| colour.replace_all(output, ""));
    let output = plain.as_deref().unwrap_or(output);
    let (line, hint) = KNOWN.iter().find_map(|(pattern, hint)| {
        let line = output.lines().find_map(|line| pattern.find(line))?;
        Some((line.as_str(), *hint))
    })?;
    let line = line.trim_start_matches("E   ").trim();
    Some((line.chars().take(LONGEST).collect(), hint))
}

/// Returns a compiler's first error about a file that counts.
pub(super) fn compile_error(output: &str, counts: impl Fn(&str) -> bool) -> Option<String> {
    let mut complaints = compiler::complaints(output).into_iter();
    let first = complaints.find(|complaint| counts(&complaint.file))?;
    Some(first.text.chars().take(LONGEST).collect())
}

/// Returns the first error of a Rust compiler, whose place stands on another line.
fn rust_error(output: &str) -> Option<String> {
    compile_error(output, |file| file.ends_with(".rs"))
}

/// Returns why a report proves nothing and what to do about it, or nothing when it proves something.
pub(super) fn unusable(report: &SuiteReport) -> Option<(String, &'static str)> {
    if let Some(name) = &report.missing_dependency {
        return Some((
            format!("the tests need `{name}`, which is not installed"),
            PREPARE,
        ));
    }
    let refused = report.refused.first().map(|first| {
        let hint = sign(&report.output_tail).map_or("", |(_, hint)| hint);
        let place = match (&first.file, first.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            _ => String::new(),
        };
        let reason = format!("the code does not compile: {place}{}", first.message);
        (reason.chars().take(LONGEST).collect(), hint)
    });
    let said = |words: &str| match told(&report.output_tail) {
        Some((line, hint)) => (
            format!(
                "{words}: {}",
                rust_error(&report.output_tail).unwrap_or(line)
            ),
            hint,
        ),
        None => (words.to_owned(), ""),
    };
    match report.outcome {
        Outcome::Ran if report.collected > 0 => None,
        Outcome::Ran | Outcome::NoTests => Some(("no tests ran".to_owned(), "")),
        Outcome::CouldNotStart => Some(said("the tests could not start")),
        Outcome::NoReport => Some(refused.unwrap_or_else(|| said("the tests gave no report"))),
        Outcome::TimedOut => Some((
            "the tests took too long".to_owned(),
            "`test_seconds` in the user's config gives them more time",
        )),
        Outcome::Interrupted => Some(("the tests were interrupted".to_owned(), "")),
    }
}

/// Returns how many files of tests could not be read for want of packages, and which packages.
pub(super) fn lacking(report: &SuiteReport) -> Option<String> {
    let files: u32 = report.lacking.values().sum();
    let names: Vec<String> = report
        .lacking
        .keys()
        .map(|name| format!("`{name}`"))
        .collect();
    let names = names.join(", ");
    match (files, report.lacking.len()) {
        (0, _) => None,
        (1, _) => Some(format!("1 file of tests needs {names}, not installed")),
        (_, _) => Some(format!(
            "{files} files of tests need {names}, not installed"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What real tools print is kept in `tests/messages`, and what we say of each in one file beside it.
    #[test]
    fn real_outputs_are_told_in_one_line() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/messages");
        let mut seen = String::new();
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let outputs = files
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "txt"));
        for path in outputs.filter(|path| !path.ends_with("expected.txt")) {
            let output = std::fs::read_to_string(path).unwrap();
            let (line, hint) = told(&output).unwrap();
            let line = rust_error(&output).unwrap_or(line);
            let name = path.file_stem().unwrap().to_string_lossy();
            seen.push_str(&format!("{name}\n    {line}\n    {hint}\n"));
        }
        expect_test::expect_file![folder.canonicalize().unwrap().join("expected.txt")]
            .assert_eq(&seen);
        assert!(seen.lines().count() / 3 >= 40);
    }
}
