//! A commit that holds what a run changed. Its message: what was asked for, then what came of it.

use std::path::Path;

use harness_hands::git::{Commit, NotCommitted, Repository};
use harness_hands::journal::RunId;
use harness_hands::permit::{Access, Project};

use crate::env::Environment;
use crate::secret;

/// Opens the git repository of a project, with the user's git.
pub(crate) fn repository(
    environment: &Environment,
    project: &Path,
) -> Result<Repository, NotCommitted> {
    let git = environment.find_program("git");
    let git = git.ok_or_else(|| refused("there is no program `git`", "install git"))?;
    Repository::open(&git, project)
}

/// Commits exactly what a run wrote.
pub(crate) fn commit_run(
    repository: &Repository,
    project: &Path,
    run: &str,
    writes: &[String],
) -> Result<Commit, NotCommitted> {
    let unknown = || {
        refused(
            &format!("there is no run `{run}`"),
            "`harness last` lists the runs",
        )
    };
    let unreadable = |error| refused(&format!("{error}"), "check the folder and its permissions");
    let run = RunId::parse(run).ok_or_else(unknown)?;
    let project = Project::open(project, None, Access::ReadOnly).map_err(unreadable)?;
    let mut files = project.run_changes(&run).map_err(unreadable)?;
    files.retain(|file| writes.iter().any(|path| path == file.path.as_str()));
    if files.len() < writes.len() {
        return Err(refused(
            "files were changed since the run",
            "`git add` and `git commit` take them by hand",
        ));
    }
    let records = project.runs().map_err(unreadable)?;
    let record = records.into_iter().find(|record| record.id == run);
    let record = record.ok_or_else(unknown)?;
    repository.commit(&files, &message(&record.task, &record.summary))
}

fn refused(message: &str, hint: &str) -> NotCommitted {
    let (message, hint) = (message.to_owned(), hint.to_owned());
    NotCommitted { message, hint }
}

/// The longest subject, in characters: what git's own tools show whole.
const LONGEST_SUBJECT: usize = 72;
/// The width that a body is wrapped at, in characters.
const WIDTH: usize = 72;

/// Returns a message for a run, from its task and its closing sentence. Secrets do not go into a history.
pub fn message(task: &str, summary: &str) -> String {
    let (task, summary) = (&*secret::redact(task), &*secret::redact(summary));
    let line = task.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or("Change what a run changed");
    let mut letters = line.chars();
    let subject: String = letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default();
    let subject = subject.trim_end_matches(['.', '!', ';', ':']);
    let whole = subject.chars().count() <= LONGEST_SUBJECT;
    let rest = if whole {
        String::new()
    } else {
        format!("{}\n\n", wrapped(task))
    };
    let body = wrapped(summary);
    format!("{}\n\n{rest}{body}\n", shortened(subject))
}

/// Returns a line cut between words.
fn shortened(line: &str) -> String {
    if line.chars().count() <= LONGEST_SUBJECT {
        return line.to_owned();
    }
    let mut short = String::new();
    for word in line.split_whitespace() {
        if short.chars().count() + word.chars().count() + 3 > LONGEST_SUBJECT {
            break;
        }
        short.push_str(word);
        short.push(' ');
    }
    format!("{}…", short.trim_end())
}

fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > WIDTH {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn a_message_has_a_short_subject_and_says_what_came_of_it() {
        assert_eq!(
            message(
                "fix total in cart.py.",
                "changed `total` in cart.py: 3 tests pass"
            ),
            "Fix total in cart.py\n\nchanged `total` in cart.py: 3 tests pass\n"
        );
        let token = format!("use ghp_{} for the tests", "a1B2c3D4e5".repeat(4));
        let told = message(&token, "done");
        assert!(!told.contains("ghp_"), "{told}");
        let long = "make the totals of every order in the shop include the tax that the country of the customer asks for";
        let told = message(long, "done");
        assert!(
            told.lines().all(|line| line.chars().count() <= 72),
            "{told}"
        );
        assert!(told.starts_with("Make the totals") && told.contains("asks for\n\ndone"));
        assert_eq!(message("", "done"), "Change what a run changed\n\ndone\n");
    }
}
