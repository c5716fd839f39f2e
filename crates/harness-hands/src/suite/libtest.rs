//! What Rust's own test harness prints: one line a test, one line a test program; and nextest, as events. A program that
//! was announced and never summed up means that nothing is proven.

use serde::Deserialize;

use crate::suite::{Failure, SuiteReport, Verdict, clipped};

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
        let words = section(text, &id).unwrap_or_default();
        answer.count(verdict, failure(id, &words));
    }
    announced > 0 && announced == ended
}

/// One line of nextest, in the words of the test harness's own events.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    about: String,
    event: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    stdout: String,
}

/// Reads what `cargo nextest run --message-format libtest-json` prints. Returns whether every test program came to its end.
pub(super) fn read_events(text: &str, answer: &mut SuiteReport) -> bool {
    let (mut announced, mut ended) = (0u32, 0u32);
    let mut ignored: Vec<String> = Vec::new();
    let events = text.lines();
    for event in events.filter_map(|line| serde_json::from_str::<Event>(line).ok()) {
        match (&*event.about, &*event.event) {
            ("suite", "started") => announced += 1,
            ("suite", "ok" | "failed") => ended += 1,
            ("test", told) => {
                let verdict = match told {
                    "ok" => Verdict::Passed,
                    "failed" => Verdict::Failed,
                    // Told again in each part of a program.
                    "ignored" if !ignored.contains(&event.name) => Verdict::Skipped,
                    _ => continue,
                };
                // `package::program$module::test`
                let id = event
                    .name
                    .split_once('$')
                    .map_or(&*event.name, |(_, id)| id);
                answer.count(verdict, failure(id.to_owned(), &event.stdout));
                ignored.extend((verdict == Verdict::Skipped).then_some(event.name));
            }
            _ => {}
        }
    }
    announced > 0 && announced == ended
}

fn failure(id: String, words: &str) -> Failure {
    let (file, line) = place(words).unzip();
    Failure {
        id,
        message: message(words).unwrap_or_default(),
        traceback: clipped(words.trim()),
        file,
        line,
        ..Failure::default()
    }
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
    Some(rest[..end.unwrap_or(rest.len())].to_owned())
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
        let mut answer = SuiteReport::default();
        assert!(read(TEXT, &mut answer));
        assert_eq!((answer.passed, answer.failed, answer.skipped), (1, 1, 1));
        let shown = "a::bad (src/lib.rs:7): assertion `left == right` failed\n  left: 1\n right: 2";
        assert_eq!(answer.failures[0].shown(), shown);
        // Where the calls are printed too, they belong to the traceback alone.
        let calls = TEXT.replace("note: run", "stack backtrace:\n   0: std::panic\nnote: run");
        let mut answer = SuiteReport::default();
        assert!(read(&calls, &mut answer));
        assert_eq!(answer.failures[0].shown(), shown);
    }

    #[test]
    fn events_of_nextest_are_counted_by_test() {
        let text = r#"{"type":"suite","event":"started","test_count":3}
{"type":"test","event":"ignored","name":"tiny::tiny$later"}
{"type":"test","event":"started","name":"tiny::tiny$good"}
{"type":"test","event":"ok","name":"tiny::tiny$good","exec_time":0.01}
{"type":"suite","event":"ok","passed":1,"failed":0,"ignored":1}
{"type":"suite","event":"started","test_count":3}
{"type":"test","event":"ignored","name":"tiny::tiny$later"}
{"type":"test","event":"failed","name":"tiny::tiny$a::bad","exec_time":0.3,"stdout":"\nthread 'a::bad' (2) panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 1\n right: 2\nstack backtrace:\n   0: x\n"}
{"type":"suite","event":"failed","passed":0,"failed":1,"ignored":1}
"#;
        let mut answer = SuiteReport::default();
        assert!(read_events(text, &mut answer));
        assert_eq!((answer.passed, answer.failed, answer.skipped), (1, 1, 1));
        assert_eq!(
            answer.failures[0].shown(),
            "a::bad (src/lib.rs:9): assertion `left == right` failed\n  left: 1\n right: 2"
        );
        let cut = text.lines().take(8).collect::<Vec<_>>().join("\n");
        let mut answer = SuiteReport::default();
        assert!(!read_events(&cut, &mut answer));
    }

    #[test]
    fn a_program_that_never_ended_proves_nothing() {
        let mut answer = SuiteReport::default();
        assert!(!read("running 2 tests\ntest a ... ok\n", &mut answer));
        assert!(!read("all is well\n", &mut answer));
    }
}
