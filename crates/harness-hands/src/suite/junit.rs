//! JUnit XML, as Maven, Gradle and Node write it: read without trust, depth or entities of its own.

use crate::suite::{Failure, SuiteReport, Verdict};

/// A piece of XML that matters here.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Open {
        name: String,
        attributes: Vec<(String, String)>,
        closed: bool,
    },
    Close(String),
    Text(String),
}

/// Reads one report. Returns whether it is whole.
pub(super) fn read(text: &str, answer: &mut SuiteReport) -> bool {
    let mut test: Option<(Failure, Verdict)> = None;
    let mut inside_problem = false;
    let (mut opened, mut is_report) = (0i64, false);
    for piece in pieces(text) {
        match piece {
            Piece::Open {
                name,
                attributes,
                closed,
            } => {
                opened += i64::from(!closed);
                is_report |= name == "testsuite" || name == "testsuites";
                match name.as_str() {
                    "testcase" => {
                        let started = (begun(&attributes), Verdict::Passed);
                        if closed {
                            answer.count(started.1, started.0);
                        } else {
                            test = Some(started);
                        }
                    }
                    "failure" | "error" | "skipped" => {
                        if let Some((failure, verdict)) = &mut test {
                            *verdict = match name.as_str() {
                                "failure" => Verdict::Failed,
                                "error" => Verdict::Error,
                                _ => Verdict::Skipped,
                            };
                            failure.message = value(&attributes, "message");
                            inside_problem = !closed;
                        }
                    }
                    _ => {}
                }
            }
            Piece::Close(name) => {
                opened -= 1;
                match name.as_str() {
                    "testcase" => {
                        if let Some((failure, verdict)) = test.take() {
                            answer.count(verdict, failure);
                        }
                    }
                    "failure" | "error" | "skipped" => inside_problem = false,
                    _ => {}
                }
            }
            Piece::Text(text) => {
                if let (true, Some((failure, _))) = (inside_problem, &mut test) {
                    let room = 8000usize.saturating_sub(failure.traceback.len());
                    failure.traceback.extend(text.chars().take(room));
                    if failure.message.is_empty() {
                        failure.message =
                            text.trim().lines().next().unwrap_or_default().to_string();
                    }
                }
            }
        }
    }
    is_report && opened == 0
}

fn begun(attributes: &[(String, String)]) -> Failure {
    let (class, name) = (value(attributes, "classname"), value(attributes, "name"));
    let id = if class.is_empty() {
        name
    } else {
        format!("{class}.{name}")
    };
    let file = Some(value(attributes, "file")).filter(|file| !file.is_empty());
    Failure {
        id,
        message: String::new(),
        traceback: String::new(),
        file,
        line: None,
        hung: None,
    }
}

fn value(attributes: &[(String, String)], name: &str) -> String {
    attributes
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.clone())
        .unwrap_or_default()
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        if at > 0 {
            pieces.push(Piece::Text(plain(&rest[..at])));
        }
        rest = &rest[at..];
        let (skip, end) = if rest.starts_with("<![CDATA[") {
            ("<![CDATA[".len(), "]]>")
        } else if rest.starts_with("<!--") {
            ("<!--".len(), "-->")
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            (2, ">")
        } else {
            let Some(length) = tag_length(rest) else {
                return pieces;
            };
            pieces.extend(tag(&rest[1..length - 1]));
            rest = &rest[length..];
            continue;
        };
        let Some(stop) = rest[skip..].find(end) else {
            return pieces;
        };
        if rest.starts_with("<![CDATA[") {
            pieces.push(Piece::Text(rest[skip..skip + stop].to_string()));
        }
        rest = &rest[skip + stop + end.len()..];
    }
    pieces
}

/// The length of a tag with its brackets; a bracket inside quotes does not end it.
fn tag_length(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'>') => return Some(at + 1),
            (None | Some(_), _) => {}
        }
    }
    None
}

fn tag(inside: &str) -> Option<Piece> {
    if let Some(name) = inside.strip_prefix('/') {
        return Some(Piece::Close(name.trim().to_string()));
    }
    let closed = inside.ends_with('/');
    let inside = inside.trim_end_matches('/');
    let (name, mut rest) = inside
        .split_once(char::is_whitespace)
        .unwrap_or((inside, ""));
    let mut attributes = Vec::new();
    while let Some((key, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let quote = after.chars().next()?;
        let value = after.get(1..)?;
        let end = value.find(quote)?;
        attributes.push((key.trim().to_string(), plain(&value[..end])));
        rest = &value[end + 1..];
    }
    Some(Piece::Open {
        name: name.to_string(),
        attributes,
        closed,
    })
}

fn plain(text: &str) -> String {
    if !text.contains('&') {
        return text.to_string();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(end) = rest.find(';').filter(|end| *end < 12) else {
            out.push('&');
            rest = &rest[1..];
            continue;
        };
        match &rest[1..end] {
            "lt" => out.push('<'),
            "gt" => out.push('>'),
            "amp" => out.push('&'),
            "quot" => out.push('"'),
            "apos" => out.push('\''),
            code => {
                let number = code.strip_prefix("#x").map_or_else(
                    || {
                        code.strip_prefix('#')
                            .and_then(|digits| digits.parse().ok())
                    },
                    |digits| u32::from_str_radix(digits, 16).ok(),
                );
                out.push(number.and_then(char::from_u32).unwrap_or('\u{fffd}'));
            }
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sandbox::Sandbox;
    use crate::suite::Outcome;
    use proptest::prelude::*;

    const TEXT: &str = r#"<?xml version="1.0"?>
<!-- made -->
<testsuite name="T" tests="4">
  <testcase classname="a.T" name="good" time="0.1"/>
  <testcase classname="a.T" name="bad &lt;x&gt;"><failure message="1 &gt; 2" type="E"><![CDATA[at T.java:7]]></failure></testcase>
  <testcase classname="a.T" name="broken"><error>boom
more</error><system-out>x</system-out></testcase>
  <testcase classname="a.T" name="later"><skipped/></testcase>
</testsuite>"#;

    #[test]
    fn every_test_case_is_counted() {
        let mut answer = SuiteReport::empty(Outcome::NoReport, String::new(), Sandbox::None);
        assert!(read(TEXT, &mut answer));
        assert_eq!(
            (answer.passed, answer.failed, answer.errors, answer.skipped),
            (1, 1, 1, 1)
        );
        let shown: Vec<String> = answer.failures.iter().map(Failure::shown).collect();
        assert_eq!(shown, ["a.T.bad <x>: 1 > 2", "a.T.broken: boom"]);
        let cut = &TEXT[..TEXT.len() - 10];
        assert!(!read(cut, &mut answer));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_text_makes_it_panic(text in "(<testcase|name=|[<>/\"'&;=! a-]|<!\\[CDATA\\[|]]>|\u{e9}){0,40}") {
            let mut answer = SuiteReport::empty(Outcome::NoReport, String::new(), Sandbox::None);
            read(&text, &mut answer);
        }
    }
}
