//! The findings of a layout in the formats that other tools read: SARIF for code scanning, JUnit for test reports.

use std::collections::BTreeMap;
use std::fmt::Write;

use harness_code::report::finding::{Finding, FindingKind};
use harness_code::report::layout::Layout;
use serde_json::{Value, json};

use crate::show::text;

/// Findings from this weight on are warnings, the others are notes.
const WARNING_WEIGHT: u32 = 50;

/// Says whether a finding is more than a note.
pub(crate) fn matters(finding: &Finding) -> bool {
    finding.weight >= WARNING_WEIGHT
}

/// Returns the findings as SARIF 2.1.0; `named` tells a path of the project as the reader knows it.
pub(crate) fn sarif(layout: &Layout, named: &dyn Fn(&str) -> String) -> Value {
    let mut rules: BTreeMap<FindingKind, usize> = BTreeMap::new();
    for finding in &layout.findings {
        let next = rules.len();
        rules.entry(finding.kind).or_insert(next);
    }
    let result = |finding: &Finding| {
        let path = named(finding.path.as_str());
        json!({
            "ruleId": id(finding.kind),
            "ruleIndex": rules[&finding.kind],
            "level": if matters(finding) { "warning" } else { "note" },
            "message": {"text": finding.text},
            "rank": finding.weight,
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri(&path), "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": finding.line.max(1)},
            }}],
        })
    };
    let mut ordered: Vec<(FindingKind, usize)> = rules.iter().map(|(k, at)| (*k, *at)).collect();
    ordered.sort_by_key(|(_, at)| *at);
    let rule = |(kind, _): &(FindingKind, usize)| json!({"id": id(*kind), "shortDescription": {"text": kind.name()}});
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "harness",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": ordered.iter().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": layout.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

/// Returns the findings as a JUnit report in which each is a failed test; without any, one test that passed.
pub(crate) fn junit(layout: &Layout, named: &dyn Fn(&str) -> String) -> String {
    let failed = layout.findings.len();
    let total = failed.max(1);
    let counts =
        format!("tests=\"{total}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\" time=\"0\"");
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"harness layout\" {counts}>\n"
    );
    if layout.findings.is_empty() {
        xml.push_str(
            "    <testcase classname=\"layout\" name=\"nothing stands out\" time=\"0\"/>\n",
        );
    }
    for finding in &layout.findings {
        let path = escaped(&named(finding.path.as_str()));
        let (kind, line) = (id(finding.kind), finding.line);
        let message = escaped(&finding.text);
        let _ = writeln!(
            xml,
            "    <testcase classname=\"{kind}\" name=\"{path}:{line}\" file=\"{path}\" line=\"{line}\" time=\"0\">\n      <failure type=\"{kind}\" message=\"{message}\">{path}:{line}: {message}</failure>\n    </testcase>"
        );
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// Returns the word that JSON has for a kind.
fn id(kind: FindingKind) -> String {
    let value = serde_json::to_value(kind).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns a path as a relative URI.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// Escapes a text for XML. Characters that XML cannot hold are replaced.
fn escaped(content: &str) -> String {
    let mut safe = String::with_capacity(content.len());
    for c in text::clean(content).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            '\t' => safe.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use harness_code::path::RelPath;

    use super::*;

    fn layout(findings: Vec<Finding>) -> Layout {
        Layout {
            findings,
            next: String::new(),
            tree: Vec::new(),
        }
    }

    fn finding() -> Finding {
        Finding {
            kind: FindingKind::OutsizedFile,
            path: RelPath::parse("a b/ü&<.py").unwrap(),
            line: 1,
            text: "900 \"lines\" & \u{1b}more".to_owned(),
            weight: 60,
        }
    }

    #[test]
    fn sarif_names_rules_and_escapes_paths() {
        let report = sarif(&layout(vec![finding()]), &|path| format!("sub/{path}"));
        let run = &report["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "outsized_file");
        let result = &run["results"][0];
        assert_eq!(
            (&result["ruleIndex"], &result["level"]),
            (&json!(0), &json!("warning"))
        );
        let location = &result["locations"][0]["physicalLocation"];
        assert_eq!(
            location["artifactLocation"]["uri"],
            "sub/a%20b/%C3%BC%26%3C.py"
        );
        assert_eq!(location["region"]["startLine"], 1);
    }

    #[test]
    fn junit_is_whole_xml_whatever_a_name_holds() {
        let xml = junit(&layout(vec![finding()]), &str::to_owned);
        assert!(xml.contains("tests=\"1\" failures=\"1\""), "{xml}");
        assert!(xml.contains("name=\"a b/ü&amp;&lt;.py:1\""), "{xml}");
        assert!(
            xml.contains("900 &quot;lines&quot; &amp; \u{fffd}more"),
            "{xml}"
        );
        let empty = junit(&layout(Vec::new()), &str::to_owned);
        assert!(empty.contains("tests=\"1\" failures=\"0\""), "{empty}");
    }
}
