//! What Rust's own test harness prints: one line a test, one line a test program. A program that
//! was announced and never summed up means that nothing is proven.

use crate::suite::{Failure, SuiteReport, Verdict};

/// Reads the output of `cargo test`. Returns whether every test program came to its end.
pub(super) fn read(text: &str, answer: &mut SuiteReport) -> bool {
    let (mut announced, mut ended) = (0u32, 0u32);
    let mut tests: Vec<(String, Verdict)> = Vec::new();
    for line in text.lines() {
        if let Some(count) = line
            .strip_prefix("running ")
            .and_then(|rest| rest.split(' ').next())
        {
            announced += u32::from(count.parse::<u32>().is_ok());
        } else if line.starts_with("test result: ") {
            ended += 1;
        } else if let Some(test) = test_line(line) {
            tests.push(test);
        }
    }
    for (id, verdict) in tests {
        let words = section(text, &id);
        let message = words.as_deref().and_then(message).unwrap_or_default();
        let (file, line) = words.as_deref().and_then(place).unzip();
        let failure = Failure {
            id,
            message,
            traceback: words.unwrap_or_default(),
            file,
            line,
            hung: None,
        };
        answer.count(verdict, failure);
    }
    announced > 0 && announced == ended
}

fn test_line(line: &str) -> Option<(String, Verdict)> {
    let rest = line.strip_prefix("test ")?;
    let (name, verdict) = rest.rsplit_once(" ... ")?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    let verdict = match verdict.split([',', ' ']).next()? {
        "ok" => Verdict::Passed,
        "FAILED" => Verdict::Failed,
        "ignored" => Verdict::Skipped,
        _ => return None,
    };
    Some((name.to_string(), verdict))
}

/// Returns what a failed test printed.
fn section(text: &str, id: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("---- {id} stdout ----\n"))?;
    let end = ["\n---- ", "\nfailures:\n"]
        .iter()
        .filter_map(|mark| rest.find(mark))
        .min();
    Some(
        rest[..end.unwrap_or(rest.len())]
            .trim()
            .chars()
            .take(8000)
            .collect(),
    )
}

fn message(words: &str) -> Option<String> {
    let mut lines = words
        .lines()
        .skip_while(|line| !line.contains("panicked at"));
    lines.next()?;
    let told: Vec<&str> = lines
        .take_while(|line| !line.starts_with("note: ") && !line.starts_with("stack backtrace:"))
        .take(6)
        .collect();
    Some(told.join("\n").trim().to_string())
}

/// `thread 'x' panicked at src/lib.rs:7:5:`
fn place(words: &str) -> Option<(String, u32)> {
    let line = words.lines().find(|line| line.contains("panicked at "))?;
    let (_, place) = line.split_once("panicked at ")?;
    let mut parts = place.trim_end_matches(':').rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some((file.to_string(), line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sandbox::Sandbox;
    use crate::suite::Outcome;

    const TEXT: &str = "
running 3 tests
test a::good ... ok
test a::later ... ignored, slow
test a::bad ... FAILED

failures:

---- a::bad stdout ----

thread 'a::bad' (12) panicked at src/lib.rs:7:5:
assertion `left == right` failed
  left: 1
 right: 2
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    a::bad

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn every_test_is_counted_and_failures_have_their_place() {
        let mut answer = SuiteReport::empty(Outcome::NoReport, String::new(), Sandbox::None);
        assert!(read(TEXT, &mut answer));
        assert_eq!((answer.passed, answer.failed, answer.skipped), (1, 1, 1));
        let shown = "a::bad (src/lib.rs:7): assertion `left == right` failed\n  left: 1\n right: 2";
        assert_eq!(answer.failures[0].shown(), shown);
        // Where the calls are printed too, they belong to the traceback alone.
        let calls = TEXT.replace("note: run", "stack backtrace:\n   0: std::panic\nnote: run");
        let mut answer = SuiteReport::empty(Outcome::NoReport, String::new(), Sandbox::None);
        assert!(read(&calls, &mut answer));
        assert_eq!(answer.failures[0].shown(), shown);
    }

    #[test]
    fn a_program_that_never_ended_proves_nothing() {
        let mut answer = SuiteReport::empty(Outcome::NoReport, String::new(), Sandbox::None);
        assert!(!read("running 2 tests\ntest a ... ok\n", &mut answer));
        assert!(!read("all is well\n", &mut answer));
    }
}
