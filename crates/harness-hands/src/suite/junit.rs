//! JUnit XML, as Maven, Gradle, PHPUnit, ctest, Node and Bun write it, and .NET's results, which differ in their names. It comes from code under test, so anything may stand in it.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use crate::suite::{Failure, LONGEST_TRACEBACK, SuiteReport, Verdict, line_in};

/// Reads one report. Returns whether it is whole.
pub(super) fn read(text: &str, answer: &mut SuiteReport) -> bool {
    let mut reader = Reader::from_str(text);
    let mut test: Option<(Failure, Verdict)> = None;
    let mut inside_problem = false;
    let (mut opened, mut is_report) = (0usize, false);
    loop {
        let Ok(event) = reader.read_event() else {
            return false;
        };
        let is_open = matches!(event, Event::Start(_));
        match event {
            Event::Start(tag) | Event::Empty(tag) => {
                opened += usize::from(is_open);
                match tag.name().0 {
                    "testsuite" | "testsuites" | "TestRun" => is_report = true,
                    "UnitTestResult" => test = Some(dotnet(&tag)),
                    "Message" | "StackTrace" => inside_problem = is_open,
                    "testcase" => test = Some((begun(&tag), Verdict::Passed)),
                    // What ctest's programs print is all that they say.
                    "system-out" => inside_problem = is_open && is_silent(&test),
                    name @ ("failure" | "error" | "skipped") => {
                        if let Some((failure, verdict)) = &mut test {
                            *verdict = match name {
                                "failure" => Verdict::Failed,
                                "error" => Verdict::Error,
                                _ => Verdict::Skipped,
                            };
                            failure.message = value(&tag, "message");
                            inside_problem = is_open;
                        }
                    }
                    _ => {}
                }
                if !is_open && matches!(tag.name().0, "testcase" | "UnitTestResult") {
                    finish(&mut test, answer);
                }
            }
            Event::End(tag) => {
                opened = opened.saturating_sub(1);
                match tag.name().0 {
                    "testcase" | "UnitTestResult" => finish(&mut test, answer),
                    "Message" => {
                        inside_problem = false;
                        if let Some((failure, _)) = &mut test {
                            failure.message = failure.traceback.trim().to_owned();
                            failure.traceback.push('\n');
                        }
                    }
                    "StackTrace" | "failure" | "error" | "skipped" | "system-out" => {
                        inside_problem = false
                    }
                    _ => {}
                }
            }
            Event::Eof => return is_report && opened == 0,
            Event::Text(text) if inside_problem => add(&mut test, &text.xml10_content()),
            Event::CData(text) if inside_problem => add(&mut test, &text.xml10_content()),
            Event::GeneralRef(name) if inside_problem => {
                let reference = format!("&{};", name.xml10_content());
                add(
                    &mut test,
                    unescape(&reference).as_deref().unwrap_or("\u{fffd}"),
                );
            }
            _ => {}
        }
    }
}

/// Says whether a test failed without a word.
fn is_silent(test: &Option<(Failure, Verdict)>) -> bool {
    let is_silent = |failure: &Failure| failure.message.is_empty() && failure.traceback.is_empty();
    matches!(test, Some((failure, Verdict::Failed | Verdict::Error)) if is_silent(failure))
}

fn finish(test: &mut Option<(Failure, Verdict)>, answer: &mut SuiteReport) {
    if let Some((mut failure, verdict)) = test.take() {
        if failure.message.is_empty() {
            // PHPUnit begins with the name of the test.
            let name = failure.id.rsplit('.').next().unwrap_or_default();
            let mut lines = failure.traceback.trim().lines();
            let first = lines.find(|line| !line.ends_with(&format!("::{name}")));
            failure.message = first.unwrap_or_default().to_string();
        }
        match place_in(&failure.traceback).filter(|_| failure.file.is_none()) {
            Some((file, line)) => (failure.file, failure.line) = (Some(file), Some(line)),
            None => {
                let file = failure.file.as_ref();
                failure.line = file.and_then(|file| line_in(&failure.traceback, file));
            }
        }
        answer.count(verdict, failure);
    }
}

/// Returns the place in a traceback of .NET: `at A.B() in /p/A.cs:line 3`.
fn place_in(traceback: &str) -> Option<(String, u32)> {
    traceback.lines().find_map(|line| {
        let (file, line) = line.rsplit_once(" in ")?.1.rsplit_once(":line ")?;
        Some((file.to_owned(), line.trim().parse().ok()?))
    })
}

fn add(test: &mut Option<(Failure, Verdict)>, text: &str) {
    if let Some((failure, _)) = test {
        let room = LONGEST_TRACEBACK.saturating_sub(failure.traceback.len());
        failure.traceback.extend(text.chars().take(room));
    }
}

fn dotnet(tag: &BytesStart<'_>) -> (Failure, Verdict) {
    let verdict = match value(tag, "outcome").as_str() {
        "Passed" => Verdict::Passed,
        "NotExecuted" | "Inconclusive" => Verdict::Skipped,
        "Failed" => Verdict::Failed,
        _ => Verdict::Error,
    };
    (named(value(tag, "testName"), None), verdict)
}

fn begun(tag: &BytesStart<'_>) -> Failure {
    let (class, name) = (value(tag, "classname"), value(tag, "name"));
    let id = if class.is_empty() || class == name {
        name
    } else {
        format!("{class}.{name}")
    };
    let file = Some(value(tag, "file")).filter(|file| !file.is_empty());
    named(id, file)
}

fn named(id: String, file: Option<String>) -> Failure {
    Failure {
        id,
        file,
        ..Failure::default()
    }
}

fn value(tag: &BytesStart<'_>, name: &str) -> String {
    let found = tag.try_get_attribute(name).ok().flatten();
    let value = found.map(|found| unescape(&found.value).map(std::borrow::Cow::into_owned));
    value.and_then(Result::ok).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = r#"<?xml version="1.0"?>
<!-- made -->
<testsuite name="T" tests="4">
  <testcase classname="a.T" name="good" time="0.1"/>
  <testcase classname="a.T" name="bad &lt;x&gt;"><failure message="1 &gt; 2" type="E"><![CDATA[at T.java:7]]></failure></testcase>
  <testcase classname="a.T" name="broken"><error>boom
more &#60; &amp;</error><system-out>x</system-out></testcase>
  <testcase classname="a.T" name="later"><skipped/></testcase>
</testsuite>"#;

    #[test]
    fn every_test_case_is_counted() {
        let mut answer = SuiteReport::default();
        assert!(read(TEXT, &mut answer));
        assert_eq!(
            (answer.passed, answer.failed, answer.errors, answer.skipped),
            (1, 1, 1, 1)
        );
        let shown: Vec<String> = answer.failures.iter().map(Failure::shown).collect();
        assert_eq!(shown, ["a.T.bad <x>: 1 > 2", "a.T.broken: boom"]);
        assert_eq!(answer.failures[1].traceback, "boom\nmore < &");
        let cut = &TEXT[..TEXT.len() - 10];
        assert!(!read(cut, &mut answer));
    }

    #[test]
    fn a_failure_has_the_line_that_its_traceback_names() {
        let text = r#"<testsuites name="bun test"><testsuite name="a.test.ts" file="a.test.ts">
  <testcase name="good" classname="" file="a.test.ts" line="2" />
  <testsuite name="sum" file="a.test.ts" line="3">
    <testcase name="bad" classname="sum" file="a.test.ts" line="3">
      <failure type="AssertionError" message="expect(received).toBe(expected)">AssertionError: expect(received).toBe(expected)&#10;&#10;      at a.test.ts:4:55&#10;</failure>
    </testcase>
  </testsuite>
</testsuite></testsuites>"#;
        let mut answer = SuiteReport::default();
        assert!(read(text, &mut answer));
        assert_eq!((answer.passed, answer.failed), (1, 1));
        assert_eq!(
            answer.failures[0].shown(),
            "sum.bad (a.test.ts:4): expect(received).toBe(expected)"
        );
    }

    #[test]
    fn results_of_dotnet_are_read_alike() {
        let text = r#"<?xml version="1.0" encoding="utf-8"?>
<TestRun id="1" name="me@here 2026-01-02" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Times creation="2026-01-02T10:00:00" start="2026-01-02T10:00:00" finish="2026-01-02T10:00:01" />
  <Results>
    <UnitTestResult executionId="2" testId="3" testName="Shop.Tests.Cart.Adds(a: 1)" duration="00:00:00.01" outcome="Passed" testListId="4" />
    <UnitTestResult executionId="5" testId="6" testName="Shop.Tests.Cart.Discount" duration="00:00:00.02" outcome="Failed" testListId="4">
      <Output>
        <StdOut>noise</StdOut>
        <ErrorInfo>
          <Message>Assert.Equal() Failure: Values differ&#xD;
Expected: 10&#xD;
Actual:   9</Message>
          <StackTrace>   at Shop.Tests.Cart.Discount() in /p/Tests/Cart.cs:line 17&#xD;
   at System.RuntimeMethodHandle.InvokeMethod(Object target)</StackTrace>
        </ErrorInfo>
      </Output>
    </UnitTestResult>
    <UnitTestResult executionId="7" testId="8" testName="Shop.Tests.Cart.Later" outcome="NotExecuted" testListId="4">
      <Output><ErrorInfo><Message>soon</Message></ErrorInfo></Output>
    </UnitTestResult>
  </Results>
  <ResultSummary outcome="Failed"><Counters total="3" executed="2" passed="1" failed="1" /></ResultSummary>
</TestRun>"#;
        let mut answer = SuiteReport::default();
        assert!(read(text, &mut answer));
        assert_eq!((answer.passed, answer.failed, answer.skipped), (1, 1, 1));
        let shown = answer.failures[0].shown().replace('\r', "");
        assert_eq!(
            shown,
            "Shop.Tests.Cart.Discount (/p/Tests/Cart.cs:17): Assert.Equal() Failure: Values differ\nExpected: 10\nActual:   9"
        );
        assert!(!answer.failures[0].traceback.contains("noise"));
        assert!(!read(&text[..text.len() - 12], &mut answer));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_text_makes_it_panic(text in "(<testcase|name=|[<>/\"'&;=! a-]|<!\\[CDATA\\[|]]>|\u{e9}){0,40}") {
            let mut answer = SuiteReport::default();
            read(&text, &mut answer);
        }
    }
}
