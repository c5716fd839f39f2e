//! A task cut into passages: title, prose, code, traceback. Knows how people write issues; knows nothing of the project.

/// What a passage of the task is; what is meant the most comes last.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Zone {
    /// Lines of a program or a session.
    Code,
    /// Lines of a traceback and the error that ends it.
    Trace,
    /// Sentences.
    Prose,
    /// What stands between backticks inside a sentence.
    Inline,
    /// The first line: what the task is about.
    Title,
}

/// A piece of the task with its zone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Passage<'a> {
    pub(crate) zone: Zone,
    pub(crate) text: &'a str,
}

/// Cuts `text` into passages, hidden comments and lists of versions left out.
pub(super) fn passages(text: &str) -> Vec<Passage<'_>> {
    let mut cutter = Cutter::default();
    for line in text.lines() {
        cutter.line(line);
    }
    cutter.passages
}

/// How a stretch of code was opened, and so how it ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Fence {
    #[default]
    None,
    Backticks,
    Tildes,
    /// Trac's `{{{`.
    Braces,
}

#[derive(Default)]
struct Cutter<'a> {
    passages: Vec<Passage<'a>>,
    fence: Fence,
    hidden: bool,
    /// Below a heading that announces versions and the like.
    skipping: bool,
    titled: bool,
    /// The line before was blank or code, so an indented line may be code.
    may_indent: bool,
}

impl<'a> Cutter<'a> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if self.hidden {
            self.hidden = !trimmed.contains("-->");
            return;
        }
        if self.fence != Fence::None {
            if closes(self.fence, trimmed) {
                self.fence = Fence::None;
            } else if !self.skipping {
                self.code(line);
            }
            return;
        }
        if let Some(start) = trimmed.find("<!--") {
            self.hidden = !trimmed.contains("-->");
            if start == 0 {
                return;
            }
        }
        if let Some(fence) = opens(trimmed) {
            self.fence = fence;
            self.titled = true;
            return;
        }
        if trimmed.is_empty() {
            self.may_indent = true;
            return;
        }
        if is_heading(trimmed) {
            let heading = trimmed.trim_matches(['#', '*', ' ', ':']).to_lowercase();
            self.skipping = self.titled
                && SKIPPED_SECTIONS
                    .split('|')
                    .any(|section| heading.starts_with(section));
            if self.titled
                && TEMPLATE_HEADINGS
                    .split('|')
                    .any(|known| heading.starts_with(known))
            {
                return;
            }
        }
        if self.skipping {
            return;
        }
        let indented =
            self.titled && self.may_indent && (line.starts_with("    ") || line.starts_with('\t'));
        if indented || is_session(trimmed) || is_trace(trimmed) {
            self.titled = true;
            self.code(line);
            return;
        }
        self.may_indent = false;
        let zone = if self.titled {
            Zone::Prose
        } else {
            Zone::Title
        };
        self.titled = true;
        self.sentence(zone, trimmed);
    }

    fn code(&mut self, line: &'a str) {
        let trimmed = line.trim();
        self.may_indent = true;
        let zone = if is_trace(trimmed) {
            Zone::Trace
        } else {
            Zone::Code
        };
        if !trimmed.is_empty() {
            self.passages.push(Passage { zone, text: line });
        }
    }

    /// Puts a sentence and what is between backticks in it beside each other.
    fn sentence(&mut self, zone: Zone, line: &'a str) {
        self.passages.push(Passage { zone, text: line });
        let mut pieces = line.split('`');
        pieces.next();
        while let (Some(inside), Some(_)) = (pieces.next(), pieces.next()) {
            if !inside.trim().is_empty() {
                self.passages.push(Passage {
                    zone: Zone::Inline,
                    text: inside,
                });
            }
        }
    }
}

fn opens(line: &str) -> Option<Fence> {
    if line.starts_with("```") && !line[3..].contains("```") {
        Some(Fence::Backticks)
    } else if line.starts_with("~~~") {
        Some(Fence::Tildes)
    } else if line.starts_with("{{{") && !line.contains("}}}") {
        Some(Fence::Braces)
    } else {
        None
    }
}

fn closes(fence: Fence, line: &str) -> bool {
    match fence {
        Fence::Backticks => line.starts_with("```") || line.ends_with("```"),
        Fence::Tildes => line.starts_with("~~~"),
        Fence::Braces => line.ends_with("}}}"),
        Fence::None => false,
    }
}

fn is_heading(line: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').starts_with([' ', '\t'])
        || line.starts_with("**") && line.trim_end_matches(':').ends_with("**")
        || line.ends_with(':') && line.len() < 40
}

/// Sections that say where something was seen and not what it is.
const SKIPPED_SECTIONS: &str = "\
    version|environment|system info|system information|system details|your environment|platform|\
    installed packages|software version|operating system|output of pip|configuration and version|\
    my version|package versions|os|checklist|are you willing|code of conduct|before submitting";

/// Headings of issue forms: the same words in every issue of a project.
const TEMPLATE_HEADINGS: &str = "\
    describe the bug|description|expected|actual|to reproduce|steps to reproduce|how to reproduce|\
    reproduc|additional|what happened|what was expected|current behavio|bug report|bug summary|\
    code for reproduction|code to reproduce|screenshots|is your feature request|is your proposal|\
    describe the solution|describe alternatives|proposed|search before asking|what you expected|\
    minimal|mcve|relevant log output|observed|dialect|problem description|steps/code|summary|\
    describe your proposed|describe the workflow|describe what you want|describe the feature|\
    configuration|command used|pylint output|describe the change";

/// A line of an interactive session.
fn is_session(line: &str) -> bool {
    line.starts_with(">>>")
        || line.starts_with("In [")
        || line.starts_with("... ")
        || line.starts_with("$ ")
}

/// A line of a traceback: a frame, its heading, or the error that ends it.
pub(crate) fn is_trace(line: &str) -> bool {
    line.starts_with("File \"")
        || line.starts_with("Traceback (most recent")
        || error_message(line).is_some()
        || line.starts_with("E  ")
        || pytest_frame(line)
}

/// `path/to/file.py:12: in name` or `path/to/file.py:12: SomeError`.
fn pytest_frame(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(".py:") else {
        return false;
    };
    !path.contains(' ') && rest.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the kind and the message of a line such as `ValueError: no such column`.
pub(crate) fn error_message(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("E ").unwrap_or(line).trim_start();
    let (kind, message) = match line.split_once(": ") {
        Some((kind, message)) => (kind, message),
        None => (line.trim_end_matches(':'), ""),
    };
    let name = kind.rsplit('.').next().unwrap_or(kind);
    let is_name = !kind.is_empty()
        && kind
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    let is_kind = name.starts_with(|c: char| c.is_ascii_uppercase())
        && "Error Exception Warning DoesNotExist Interrupt Exit"
            .split_ascii_whitespace()
            .any(|end| name.ends_with(end));
    (is_name && is_kind && (!message.is_empty() || kind.contains("Error")))
        .then_some((name, message.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(text: &str, expected: &Expect) {
        let lines: Vec<String> = passages(text)
            .iter()
            .map(|p| format!("{:?}: {}", p.zone, p.text))
            .collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn an_issue_is_cut_into_its_parts() {
        check(
            "Crash in `total`\r\n<!-- please\nread --> \n\n### Describe the bug\nIt fails.\n```python\nx = 1\nTypeError: no\n```\n#### Versions\nPython 3\n",
            &expect![[r#"
                Title: Crash in `total`
                Inline: total
                Prose: It fails.
                Code: x = 1
                Trace: TypeError: no"#]],
        );
    }

    #[test]
    fn a_bare_traceback_has_no_title() {
        check(
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nNameError: name 'g' is not defined",
            &expect![[r#"
                Trace: Traceback (most recent call last):
                Trace:   File "a.py", line 1, in f
                Code:     g()
                Trace: NameError: name 'g' is not defined"#]],
        );
    }

    #[test]
    fn error_lines_are_told_from_sentences() {
        assert_eq!(
            error_message("pkg.BadError: it broke"),
            Some(("BadError", "it broke"))
        );
        assert_eq!(
            error_message("E   ValueError: x"),
            Some(("ValueError", "x"))
        );
        assert_eq!(error_message("This Error: x"), None);
        assert_eq!(error_message("Exception"), None);
        assert_eq!(error_message(""), None);
    }
}
