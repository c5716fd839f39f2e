//! What a model is told in the course of a conversation: the sentences of `prompts/said.md`, filled in.

use harness_code::path::RelPath;
use harness_hands::suite::SuiteReport;

use crate::run::evidence::unusable;
use crate::run::prompt::capped;

const SAID: &str = include_str!("../../../prompts/said.md");
/// The actions, told once when code alone did not do.
pub(in crate::run) const MENU: &str = include_str!("../../../prompts/menu.md");
/// The longest observation, in characters.
const LONGEST_OBSERVATION: usize = 6_000;

/// Returns a sentence by its heading, with what it speaks of put in.
pub(in crate::run) fn said(heading: &str, parts: &[(&str, &str)]) -> String {
    let mut text = words(heading).to_owned();
    for (name, part) in parts {
        text = text.replace(&format!("{{{name}}}"), part);
    }
    text
}

/// Returns a sentence by its heading, as it is written.
fn words(heading: &str) -> &'static str {
    let sections = SAID.split("\n## ").skip(1);
    let mut sections = sections.filter_map(|section| section.split_once('\n'));
    let found = sections.find(|(name, _)| *name == heading);
    found.map_or("", |(_, words)| words.trim_end())
}

/// Returns what a model is told whose reply ended in the middle.
pub(in crate::run) fn go_on() -> &'static str {
    words("continue")
}

/// Returns a word on what was shown before and is left out now.
pub(in crate::run) fn masked() -> &'static str {
    words("masked")
}

/// Returns what is said to a reply that holds no action; `name` is the definition that was asked for, if one was.
pub(in crate::run) fn unread(name: &str) -> String {
    let what = match name {
        "" => "the definition".to_owned(),
        name => format!("`{name}`"),
    };
    said("unread", &[("what", &what)])
}

/// Returns what the project's tests say to a model that ran them.
pub(in crate::run) fn tests_said(report: Option<&SuiteReport>) -> String {
    let Some(report) = report else {
        return said("no tests", &[]);
    };
    if let Some(problem) = unusable(report) {
        return problem;
    }
    let failing = report.failures.iter().take(3);
    let failing: Vec<String> = failing.map(|failure| failure.shown()).collect();
    format!(
        "{} passed, {} failed\n{}",
        report.passed,
        report.failed + report.errors,
        failing.join("\n")
    )
}

/// Returns the words that turn to a place of a list; without a name it is the file.
pub(in crate::run) fn turn_to_place(path: &RelPath, name: &str, what: &str) -> String {
    let heading = match (name, what) {
        ("", _) => "turn to file",
        (_, "") => "turn to bare place",
        (_, _) => "turn to place",
    };
    let parts = [("path", path.as_str()), ("name", name), ("what", what)];
    said(heading, &parts)
}

/// Returns what the model is told of a turn: what came of it, what was left, and once the other actions it has.
pub(in crate::run) fn observation(came: &str, leftovers: &[String], menu: bool) -> String {
    let mut told = capped(came, LONGEST_OBSERVATION);
    if !leftovers.is_empty() {
        let left = said("left over", &[("what", &leftovers.join(", "))]);
        told.push_str(&format!("\n{left}"));
    }
    if menu {
        told.push_str(&format!("\n\n{}", MENU.trim_end()));
    }
    told
}

/// Returns what came of a turn, and what the first prompt kept back.
pub(in crate::run) fn with_held_back(came: &str, shown: &str) -> String {
    let came = capped(came, LONGEST_OBSERVATION);
    format!("{}\n\n{shown}", came.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sentence_is_found_and_filled() {
        let all = SAID.split("\n## ").skip(1);
        let headings: Vec<&str> = all.filter_map(|one| one.lines().next()).collect();
        assert!(headings.len() > 30);
        for heading in &headings {
            assert!(!words(heading).is_empty(), "{heading}");
            let twice = headings.iter().filter(|other| *other == heading).count();
            assert_eq!(twice, 1, "{heading}");
        }
        assert_eq!(words("nothing of that name"), "");
        assert_eq!(unread("f"), unread("").replace("the definition", "`f`"));
    }
}
