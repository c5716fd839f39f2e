//! What Ruby's runners tell: RSpec's JSON, and what minitest prints with `--verbose`.

use std::path::Path;

use serde::Deserialize;

use crate::suite::{Failure, SuiteReport, Verdict, clipped, first_line, shown_path};

#[derive(Deserialize)]
struct Rspec {
    examples: Vec<Example>,
    summary: Summary,
    /// What went wrong outside of examples.
    #[serde(default)]
    messages: Vec<String>,
}

#[derive(Deserialize)]
struct Example {
    full_description: String,
    status: String,
    file_path: String,
    line_number: u32,
    #[serde(default)]
    exception: Option<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(default)]
    class: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    backtrace: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(default)]
    errors_outside_of_examples_count: u32,
}

/// Reads RSpec's report. Returns whether it is one.
pub(super) fn read_rspec(text: &str, root: &Path, answer: &mut SuiteReport) -> bool {
    let Ok(report) = serde_json::from_str::<Rspec>(text) else {
        return false;
    };
    for example in report.examples {
        let file = shown_path(example.file_path.trim_start_matches("./"), root);
        let (message, backtrace) = match &example.exception {
            Some(exception) => (told(exception), exception.backtrace.clone()),
            None => (String::new(), None),
        };
        // What the gems do on the way is of no help.
        let own = backtrace.into_iter().flatten();
        let own: Vec<String> = own
            .filter(|line| Path::new(line).starts_with(root))
            .collect();
        let line = own.iter().find_map(|line| {
            let rest = line.strip_prefix(&format!("{}/{file}:", root.display()))?;
            rest.split(':').next()?.parse().ok()
        });
        let failure = Failure {
            id: format!("{file} > {}", example.full_description),
            message,
            traceback: clipped(&own.join("\n")),
            file: Some(file),
            line: line.or(Some(example.line_number)),
            ..Failure::default()
        };
        answer.count(Verdict::of_status(&example.status), failure);
    }
    for _ in 0..report.summary.errors_outside_of_examples_count {
        let words = report.messages.join("\n");
        answer.count(Verdict::Error, of_nothing("outside of examples", &words));
    }
    true
}

/// Returns an exception in one line: what was expected stands in several.
fn told(exception: &Exception) -> String {
    let lines = exception.message.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [] => exception.class.clone(),
        lines => lines.join(" "),
    }
}

fn of_nothing(id: &str, words: &str) -> Failure {
    Failure {
        id: id.to_owned(),
        message: first_line(words),
        traceback: clipped(words),
        ..Failure::default()
    }
}

/// Reads what minitest prints. Returns whether it came to its end.
pub(super) fn read_minitest(text: &str, root: &Path, answer: &mut SuiteReport) -> bool {
    let mut lines = text.lines();
    for line in lines.by_ref() {
        if line.starts_with("Finished in ") {
            break;
        }
        // CalcTest#test_add = 0.00 s = F
        let mut parts = line.rsplitn(3, " = ");
        let (sign, seconds, id) = (parts.next(), parts.next(), parts.next());
        let verdict = match sign {
            Some(".") => Verdict::Passed,
            Some("F") => Verdict::Failed,
            Some("E") => Verdict::Error,
            Some("S") => Verdict::Skipped,
            _ => continue,
        };
        if let (Some(id), Some(_)) = (id, seconds.filter(|text| text.ends_with(" s"))) {
            answer.count(verdict, of_nothing(id, ""));
        }
    }
    let rest: Vec<&str> = lines.collect();
    for (at, line) in rest.iter().enumerate() {
        // CalcTest#test_add [/project/test/calc_test.rb:6]:
        let told = line
            .strip_suffix("]:")
            .and_then(|line| line.split_once(" ["));
        let told = told.or_else(|| Some((line.strip_suffix(':')?, "")));
        let failure = told.and_then(|(id, place)| {
            let of = answer.failures.iter_mut();
            Some((of.into_iter().find(|failure| failure.id == id)?, place))
        });
        let Some((failure, place)) = failure else {
            continue;
        };
        let words: Vec<&str> = rest[at + 1..]
            .iter()
            .take_while(|line| !line.is_empty())
            .copied()
            .collect();
        let inside = || {
            words
                .iter()
                .find_map(|line| line.trim().strip_prefix(&format!("{}/", root.display())))
        };
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (Some(file), line.parse().ok()),
            None => inside()
                .and_then(|line| {
                    let mut parts = line.split(':');
                    Some((parts.next(), parts.next()?.parse().ok()))
                })
                .unwrap_or_default(),
        };
        failure.file = file.map(|file| shown_path(file, root));
        failure.line = line;
        failure.message = words
            .iter()
            .take(2)
            .map(|line| line.trim())
            .collect::<Vec<_>>()
            .join(" ");
        failure.traceback = clipped(&words.join("\n"));
    }
    rest.iter()
        .any(|line| line.contains(" runs, ") && line.contains(" assertions, "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> SuiteReport {
        SuiteReport::default()
    }

    fn shown(answer: &SuiteReport) -> Vec<String> {
        let failures = answer.failures.iter();
        failures.map(Failure::shown).collect()
    }

    #[test]
    fn minitest_is_read_line_by_line() {
        let text = "Run options: --verbose --seed 58752\n\n# Running:\n\nCalcTest#test_zero = 0.00 s = .\n\
            CalcTest#test_add = 0.00 s = F\nCalcTest#test_later = 0.00 s = S\nCalcTest#test_broken = 0.00 s = E\n\n\
            Finished in 0.003163s, 1264.5794 runs/s, 632.2897 assertions/s.\n\n  1) Failure:\n\
            CalcTest#test_add [/p/test/calc_test.rb:6]:\nExpected: 5\n  Actual: -1\n\n  2) Error:\nCalcTest#test_broken:\n\
            RuntimeError: no\n    /p/lib/calc.rb:3:in `add'\n    /p/test/calc_test.rb:18:in `test_broken'\n\n\
            4 runs, 2 assertions, 1 failures, 1 errors, 1 skips\n";
        let mut answer = empty();
        assert!(read_minitest(text, Path::new("/p"), &mut answer));
        assert_eq!(
            (answer.passed, answer.failed, answer.errors, answer.skipped),
            (1, 1, 1, 1)
        );
        assert_eq!(
            shown(&answer),
            [
                "CalcTest#test_add (test/calc_test.rb:6): Expected: 5 Actual: -1",
                "CalcTest#test_broken (lib/calc.rb:3): RuntimeError: no /p/lib/calc.rb:3:in `add'",
            ]
        );
        let cut = text.split("4 runs").next().unwrap();
        assert!(!read_minitest(cut, Path::new("/p"), &mut empty()));
    }

    #[test]
    fn rspec_is_read_from_its_report() {
        let text = r#"{"examples":[{"full_description":"add adds","status":"failed","file_path":"./spec/calc_spec.rb","line_number":2,
            "exception":{"class":"E","message":"\nexpected: 5\n     got: -1\n","backtrace":["/gems/x.rb:1:in `y'","/p/spec/calc_spec.rb:3:in `z'"]}},
            {"full_description":"add knows zero","status":"passed","file_path":"./spec/calc_spec.rb","line_number":6},
            {"full_description":"add later","status":"pending","file_path":"./spec/calc_spec.rb","line_number":10}],
            "messages":["An error occurred while loading ./spec/other_spec.rb."],"summary":{"errors_outside_of_examples_count":1}}"#;
        let mut answer = empty();
        assert!(read_rspec(text, Path::new("/p"), &mut answer));
        assert_eq!(
            (answer.passed, answer.failed, answer.errors, answer.skipped),
            (1, 1, 1, 1)
        );
        assert_eq!(
            shown(&answer),
            [
                "spec/calc_spec.rb > add adds (spec/calc_spec.rb:3): expected: 5 got: -1",
                "outside of examples: An error occurred while loading ./spec/other_spec.rb.",
            ]
        );
        assert!(!read_rspec("{", Path::new("/p"), &mut empty()));
    }
}
