//! May this change happen, whoever made it? Guards look and answer; they never act.

mod code_for_tests;
mod elided;
mod imports;
mod lost;
mod names;
mod removed;
mod secret;
mod shadow;
mod stub;
mod syntax;
mod test_aware;
mod twice;
mod weakened;

use std::cell::OnceCell;

use harness_code::edit::FileChange;
use harness_code::fix::Installed;
use harness_code::imports::Resolver;
use harness_code::path::RelPath;
use harness_code::tree::SourceTree;

use crate::history::Refusal;
use crate::plan::Spot;
use harness_code::request::Request;

pub(crate) use names::missing as missing_names;
pub(crate) use weakened::decides_tests;

/// What is known of the project around a change.
pub(crate) struct GuardContext<'a> {
    /// The project as it was when the run began; without it, what imports lead to is not asked.
    pub(crate) tree: Option<&'a SourceTree>,
    /// Where its installed packages are.
    pub(crate) installed: &'a Installed,
    /// What else differs from that by now, or changes together with this.
    pub(crate) beside: &'a [FileChange],
    /// Definitions that may go though the task does not speak of them.
    pub(crate) may_go: &'a [Spot],
    /// What imports of the tree lead to, made once for all changes that are judged together.
    pub(crate) resolver: OnceCell<Resolver<'a>>,
}

impl<'a> GuardContext<'a> {
    /// Returns what is known where nothing else changes and nothing may go.
    pub(crate) fn of(tree: Option<&'a SourceTree>, installed: &'a Installed) -> GuardContext<'a> {
        GuardContext {
            tree,
            installed,
            beside: &[],
            may_go: &[],
            resolver: OnceCell::new(),
        }
    }

    /// Returns what finds the files that imports lead to, where the project is known.
    fn resolver(&self) -> Option<&Resolver<'a>> {
        let tree = self.tree?;
        Some(self.resolver.get_or_init(|| Resolver::of(tree)))
    }

    /// Says whether a file is taken away by what changes together.
    fn goes(&self, path: &RelPath) -> bool {
        let mut beside = self.beside.iter().rev();
        let last = beside.find(|one| one.path == *path);
        last.is_some_and(|one| one.after.is_none())
    }
}

/// A change, and what a guard may ask about it.
#[derive(Clone, Copy)]
pub(crate) struct GuardInput<'a, 'f> {
    pub(crate) change: &'a FileChange,
    pub(crate) task: &'a Request,
    pub(crate) facts: &'a GuardContext<'f>,
}

/// A guard refuses a change or lets it pass. It judges the change, never what the file already was.
type Guard = fn(&GuardInput<'_, '_>) -> Option<Refusal>;

/// Asked in this order; the first refusal ends the question.
const GUARDS: &[Guard] = &[
    secret::check,
    syntax::check,
    elided::check,
    code_for_tests::check,
    weakened::check,
    stub::check,
    test_aware::check,
    lost::check,
    twice::check,
    shadow::check,
    names::check,
    imports::check,
];

/// Returns why this change may not happen, or nothing.
pub(crate) fn refusal(
    change: &FileChange,
    task: &Request,
    facts: &GuardContext<'_>,
) -> Option<Refusal> {
    if change.after.is_none() {
        return removed::check(&change.path, task);
    }
    let input = GuardInput {
        change,
        task,
        facts,
    };
    GUARDS.iter().find_map(|guard| guard(&input))
}

/// Returns why a file may not change from one text to another, for callers that have only text.
pub fn refusal_of(
    tree: &SourceTree,
    task: &Request,
    path: &RelPath,
    before: &str,
    after: &str,
) -> Option<Refusal> {
    let change = FileChange {
        path: path.clone(),
        before: Some(before.to_owned()),
        after: Some(after.to_owned()),
    };
    refusal(
        &change,
        task,
        &GuardContext::of(Some(tree), &Installed::default()),
    )
}

/// Returns why a change may not happen, from the change alone.
pub(crate) fn refusal_alone(change: &FileChange, task: &Request) -> Option<Refusal> {
    refusal(change, task, &GuardContext::of(None, &Installed::default()))
}

/// Returns the lines of `after` that `before` does not have as often.
pub(crate) fn added_lines(change: &FileChange) -> Vec<&str> {
    let mut old: Vec<&str> = change.old_text().lines().map(str::trim).collect();
    old.sort_unstable();
    let mut added: Vec<&str> = change.new_text().lines().map(str::trim).collect();
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

    use harness_code::edit::FileChange;
    use harness_code::fix::Installed;
    use harness_code::path::RelPath;
    use harness_code::tree::SourceTree;

    use super::{Guard, GuardContext, GuardInput};
    use harness_code::request::Request;

    /// Returns a change of a file.
    pub(crate) fn change(path: &str, before: &str, after: &str) -> FileChange {
        FileChange {
            path: RelPath::parse(path).unwrap(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        }
    }

    /// Returns the rule that refuses a change in an empty project, or `ok`.
    pub(crate) fn verdict(guard: Guard, task: &str, change: &FileChange) -> String {
        verdict_in(&[], guard, task, change)
    }

    /// Returns the rule that refuses a change in a project with these files, or `ok`.
    #[expect(
        clippy::disallowed_methods,
        reason = "the project of a test is a temporary folder"
    )]
    pub(crate) fn verdict_in(
        files: &[(&str, &str)],
        guard: Guard,
        task: &str,
        change: &FileChange,
    ) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let place = folder.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, content).unwrap();
        }
        // One package is installed, so that it is known which are not.
        let packages = folder.path().join(".venv/lib/python3/site-packages");
        std::fs::create_dir_all(packages.join("numpy")).unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let installed = Installed {
            roots: vec![packages],
        };
        let input = GuardInput {
            change,
            task: &Request::read(task),
            facts: &GuardContext::of(Some(&tree), &installed),
        };
        guard(&input).map_or("ok".to_owned(), |refusal| refusal.rule)
    }
}
