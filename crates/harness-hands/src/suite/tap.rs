//! The Test Anything Protocol, as ava, tape and others print it.

use crate::suite::{Failure, SuiteReport, Verdict, clipped};

/// Reads what was printed. Returns whether every test of the plan was told of.
pub(super) fn read(text: &str, answer: &mut SuiteReport) -> bool {
    let (mut planned, mut told, mut about) = (None, 0u32, "");
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(end) = line.strip_prefix("1..") {
            planned = end
                .split_whitespace()
                .next()
                .and_then(|end| end.parse().ok());
        } else if line.starts_with("Bail out!") {
            return false;
        } else if let Some(comment) = line.strip_prefix("# ") {
            // tape names the test of the assertions that follow.
            about = comment;
        }
        let Some((is_passed, rest)) = point(line) else {
            continue;
        };
        told += 1;
        let (name, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
        let directive = directive.to_uppercase();
        let verdict = match is_passed {
            _ if directive.starts_with("SKIP") || directive.starts_with("TODO") => Verdict::Skipped,
            true => Verdict::Passed,
            false => Verdict::Failed,
        };
        let id = match name {
            "" => format!("{about} {told}"),
            // ava's comment is the name again.
            name if about.is_empty() || about == name => name.to_owned(),
            name => format!("{about} > {name}"),
        };
        let details = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("  ")));
        let details: Vec<&str> = details.map(str::trim).collect();
        answer.count(verdict, failure(id, &details));
    }
    told > 0 && planned == Some(told)
}

/// Reads `ok 3 - name` or `not ok 3 name`.
fn point(line: &str) -> Option<(bool, &str)> {
    let (is_passed, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start();
    Some((is_passed, rest.strip_prefix("- ").unwrap_or(rest).trim()))
}

fn failure(id: String, details: &[&str]) -> Failure {
    let value = |key: &str| {
        let mut lines = details.iter();
        lines.find_map(|line| Some(line.strip_prefix(key)?.trim().trim_matches(['\'', '"'])))
    };
    let both = || {
        Some(format!(
            "expected {}, got {}",
            value("expected:")?,
            value("actual:")?
        ))
    };
    let message = value("message:").map(str::to_owned).or_else(both);
    let first = details.iter().find(|line| !matches!(**line, "---" | "..."));
    Failure {
        id,
        message: message
            .or(first.map(ToString::to_string))
            .unwrap_or_default(),
        traceback: clipped(&details.join("\n")),
        ..Failure::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, whole: bool, counts: (u32, u32, u32), shown: &[&str]) {
        let mut answer = SuiteReport::default();
        assert_eq!(read(text, &mut answer), whole);
        assert_eq!((answer.passed, answer.failed, answer.skipped), counts);
        let seen: Vec<String> = answer.failures.iter().map(Failure::shown).collect();
        assert_eq!(seen, shown);
    }

    #[test]
    fn tests_are_told_line_by_line() {
        let ava = "> calc@1.0.0 test\n> ava --tap\n\nTAP version 13\nnot ok 1 - adds\n  ---\n    name: AssertionError\n\
            \n    assertion: is\n  ...\nok 2 - zero\nok 3 - later # SKIP\n\n1..3\n# tests 3\n# pass 2\n# fail 1\n";
        check(ava, true, (1, 1, 1), &["adds: name: AssertionError"]);
        let tape = "TAP version 13\n# add\nnot ok 1 adds\n  ---\n    operator: equal\n    expected: 5\n    actual:   -1\n  ...\n\
            # zero\nok 2 is nothing\n\n1..2\n# tests 2\n# pass  1\n# fail  1\n";
        check(tape, true, (1, 1, 0), &["add > adds: expected 5, got -1"]);
    }

    #[test]
    fn a_name_that_two_tests_share_passes_when_both_do() {
        let text = "# add\nok 1 should be equal\nnot ok 2 should be equal\nok 3 zero\n1..3\n";
        let mut answer = SuiteReport::default();
        assert!(read(text, &mut answer));
        answer.complete();
        assert_eq!(answer.passed_ids, ["add > zero"]);
        assert_eq!((answer.passed, answer.failed), (2, 1));
    }

    #[test]
    fn a_report_that_was_cut_is_none() {
        check("ok 1 - a\n1..2\n", false, (1, 0, 0), &[]);
        check(
            "ok 1 - a\nBail out! no database\n1..1\n",
            false,
            (1, 0, 0),
            &[],
        );
        check("okay then\nnothing here\n", false, (0, 0, 0), &[]);
    }
}
