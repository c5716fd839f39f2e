//! Notes beside the lines of a change, as GitHub Actions shows them. Elsewhere nothing is printed.

use std::path::Path;

use harness_agent::env::{Environment, Workflow};
use harness_code::report::layout::Layout;

use crate::show::findings;
use crate::show::text;

/// GitHub shows this many notes of one level for a step and drops the rest.
const SHOWN: usize = 10;

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Warning,
    Notice,
}

/// One note.
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    pub(crate) level: Level,
    /// What it is about, in a few words.
    pub(crate) title: String,
    pub(crate) message: String,
    /// The file of the project and the line, where there is one.
    pub(crate) place: Option<(String, Option<u32>)>,
}

impl Annotation {
    /// Returns an error without a place.
    pub(crate) fn error(title: &str, message: &str) -> Annotation {
        Annotation {
            level: Level::Error,
            title: title.to_owned(),
            message: message.to_owned(),
            place: None,
        }
    }
}

/// Prints notes on stderr where a workflow of GitHub Actions reads them: stdout is the result's.
pub(crate) fn print(project: &Path, notes: &[Annotation]) {
    let Some(workflow) = Environment::read().workflow.filter(|_| !notes.is_empty()) else {
        return;
    };
    let mut told = [0usize; 3];
    for note in notes {
        let count = &mut told[note.level as usize];
        *count += 1;
        if *count <= SHOWN {
            text::workflow_command(&line(note, &|path| in_repository(&workflow, project, path)));
        }
    }
}

/// Returns the notes of a layout, worst first.
pub(crate) fn of_layout(layout: &Layout) -> Vec<Annotation> {
    let note = |finding: &harness_code::report::finding::Finding| Annotation {
        level: match findings::matters(finding) {
            true => Level::Warning,
            false => Level::Notice,
        },
        title: finding.kind.name().to_owned(),
        message: finding.text.clone(),
        place: Some((finding.path.to_string(), Some(finding.line))),
    };
    layout.findings.iter().map(note).collect()
}

/// Returns a file of the project as seen from the root of the checkout.
pub(crate) fn in_repository(workflow: &Workflow, project: &Path, path: &str) -> String {
    let inside = || {
        let root = std::fs::canonicalize(workflow.workspace.as_ref()?).ok()?;
        let project = std::fs::canonicalize(project).ok()?;
        let folder = project.strip_prefix(root).ok()?;
        let names = folder.iter().map(|name| name.to_string_lossy());
        let names: Vec<_> = names.chain([path.into()]).collect();
        Some(names.join("/"))
    };
    inside().unwrap_or_else(|| path.to_owned())
}

fn line(note: &Annotation, named: &dyn Fn(&str) -> String) -> String {
    let level = match note.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
    };
    let mut properties = Vec::new();
    if let Some((path, line)) = &note.place {
        properties.push(format!("file={}", property(&named(path))));
        properties.extend(line.map(|line| format!("line={line}")));
    }
    properties.push(format!("title={}", property(&note.title)));
    format!(
        "::{level} {}::{}",
        properties.join(","),
        message(&note.message)
    )
}

/// Escapes a message: only what would end the line or start an escape.
fn message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property, which a comma or a colon would end as well.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_note_ends_it_early() {
        let note = Annotation {
            level: Level::Error,
            title: "a::b, 5%".to_owned(),
            message: "one\r\n::error::two 100%".to_owned(),
            place: Some(("odd,na:me%.py".to_owned(), Some(3))),
        };
        assert_eq!(
            line(&note, &str::to_owned),
            "::error file=odd%2Cna%3Ame%25.py,line=3,title=a%3A%3Ab%2C 5%25::one%0D%0A::error::two 100%25"
        );
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes a checkout")]
    fn paths_begin_at_the_checkout() {
        let checkout = tempfile::tempdir().unwrap();
        let project = checkout.path().join("backend/api");
        std::fs::create_dir_all(&project).unwrap();
        let workflow = |workspace| Workflow { workspace };
        let there = workflow(Some(checkout.path().to_owned()));
        assert_eq!(in_repository(&there, &project, "a.py"), "backend/api/a.py");
        assert_eq!(in_repository(&there, checkout.path(), "a.py"), "a.py");
        assert_eq!(in_repository(&workflow(None), &project, "a.py"), "a.py");
    }
}
