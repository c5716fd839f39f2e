//! The JSON reports of JavaScript runners: jest and vitest share one form, mocha has its own.

use std::path::Path;

use serde::Deserialize;

use crate::suite::{Failure, SuiteReport, Verdict, clipped, first_line, line_in, shown_path};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Jest {
    test_results: Vec<JestFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestFile {
    #[serde(default)]
    name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    assertion_results: Vec<JestTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestTest {
    #[serde(default)]
    full_name: String,
    status: String,
    #[serde(default)]
    failure_messages: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Mocha {
    passes: Vec<MochaTest>,
    failures: Vec<MochaTest>,
    pending: Vec<MochaTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MochaTest {
    #[serde(default)]
    full_title: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    err: MochaError,
}

#[derive(Deserialize, Default)]
struct MochaError {
    #[serde(default)]
    message: String,
    #[serde(default)]
    stack: String,
}

/// Reads a report. Returns whether it is one.
pub(super) fn read(text: &str, root: &Path, answer: &mut SuiteReport) -> bool {
    if let Ok(report) = serde_json::from_str::<Jest>(text) {
        for file in report.test_results {
            read_file(file, root, answer);
        }
        return true;
    }
    let Ok(report) = serde_json::from_str::<Mocha>(text) else {
        return false;
    };
    let lists = [
        (report.passes, Verdict::Passed),
        (report.failures, Verdict::Failed),
        (report.pending, Verdict::Skipped),
    ];
    for (tests, verdict) in lists {
        for test in tests {
            let failure = Failure {
                id: test.full_title,
                message: first_line(&test.err.message),
                line: test
                    .file
                    .as_ref()
                    .and_then(|file| line_in(&test.err.stack, file)),
                file: test.file.map(|file| shown_path(&file, root)),
                traceback: clipped(&test.err.stack),
                ..Failure::default()
            };
            answer.count(verdict, failure);
        }
    }
    true
}

fn read_file(file: JestFile, root: &Path, answer: &mut SuiteReport) {
    let shown = shown_path(&file.name, root);
    if file.assertion_results.is_empty() && file.status == "failed" {
        let failure = Failure {
            id: shown.clone(),
            message: first_line(&file.message),
            traceback: clipped(&file.message),
            file: Some(shown),
            ..Failure::default()
        };
        answer.count(Verdict::Error, failure);
        return;
    }
    for test in file.assertion_results {
        let told = test.failure_messages.unwrap_or_default().join("\n");
        let failure = Failure {
            // The same sentence may stand in two files.
            id: format!("{shown} > {}", test.full_name.trim()),
            message: first_line(&told),
            line: line_in(&told, &file.name),
            traceback: clipped(&told),
            file: Some(shown.clone()),
            ..Failure::default()
        };
        answer.count(Verdict::of_status(&test.status), failure);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let root = Path::new("/p");
        let jest = r#"{"testResults":[{"name":"/p/a.test.js","status":"failed","assertionResults":[
            {"fullName":"a good","status":"passed","failureMessages":[]},
            {"fullName":"a bad","status":"failed","failureMessages":["Error: 1\n at x (/p/a.test.js:7:5)"]}]},
            {"name":"/p/b.test.js","status":"failed","message":"cannot find module","assertionResults":[]}]}"#;
        let mut answer = SuiteReport::default();
        assert!(read(jest, root, &mut answer));
        assert_eq!((answer.passed, answer.failed, answer.errors), (1, 1, 1));
        assert_eq!(
            answer.failures[0].shown(),
            "a.test.js > a bad (a.test.js:7): Error: 1"
        );
        let mocha = r#"{"stats":{},"passes":[{"fullTitle":"a good","err":{}}],"pending":[],
            "failures":[{"fullTitle":"a bad","file":"/p/t.js","err":{"message":"no","stack":"Error: no\n at /p/t.js:3:1"}}]}"#;
        let mut answer = SuiteReport::default();
        assert!(read(mocha, root, &mut answer));
        assert_eq!(answer.failures[0].shown(), "a bad (t.js:3): no");
        assert!(!read("{}", root, &mut answer) && !read("12 passing", root, &mut answer));
    }
}
