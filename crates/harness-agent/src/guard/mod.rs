//! May this change happen, whoever made it? Guards look and answer; they never act.

mod elided;
mod lost;
mod secret;
mod shadow;
mod syntax;
mod weakened;

use harness_code::language::Language;
use harness_code::path::RelPath;

use crate::history::Refusal;
use crate::task::Task;

/// One file as it is and as it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The file.
    pub path: RelPath,
    /// What it is written in.
    pub language: Language,
    /// Its content now; none for a new file.
    pub before: Option<String>,
    /// Its content afterwards.
    pub after: String,
}

/// A guard refuses a change or lets it pass. It judges the change, never what the file already was.
type Guard = fn(&Change, &Task) -> Option<Refusal>;

/// Asked in this order; the first refusal ends the question.
const GUARDS: &[Guard] = &[
    secret::check,
    syntax::check,
    elided::check,
    lost::check,
    weakened::check,
    shadow::check,
];

/// Returns why this change may not happen, or nothing.
pub(crate) fn refusal(change: &Change, task: &Task) -> Option<Refusal> {
    GUARDS.iter().find_map(|guard| guard(change, task))
}

/// Returns the lines of `after` that `before` does not have as often.
fn added_lines(change: &Change) -> Vec<&str> {
    let mut old: Vec<&str> = change
        .before
        .as_deref()
        .unwrap_or_default()
        .lines()
        .map(str::trim)
        .collect();
    old.sort_unstable();
    let mut added: Vec<&str> = change.after.lines().map(str::trim).collect();
    added.retain(|line| match old.binary_search(line) {
        Ok(index) => {
            old.remove(index);
            false
        }
        Err(_) => true,
    });
    added
}

#[cfg(test)]
pub(crate) mod testing {
    //! Changes for the guards' own tests.

    use harness_code::language::Language;
    use harness_code::path::RelPath;

    use super::Change;
    use crate::history::Refusal;
    use crate::task::Task;

    /// Returns a change of a file.
    pub(crate) fn change(path: &str, before: &str, after: &str) -> Change {
        let path = RelPath::parse(path).unwrap();
        let language = Language::of(&path);
        Change {
            path,
            language,
            before: Some(before.to_owned()),
            after: after.to_owned(),
        }
    }

    /// Returns the rule that refuses a change, or `ok`.
    pub(crate) fn verdict(
        guard: fn(&Change, &Task) -> Option<Refusal>,
        task: &str,
        change: &Change,
    ) -> String {
        guard(change, &Task::bare(task)).map_or("ok".to_owned(), |refusal| refusal.rule)
    }
}
