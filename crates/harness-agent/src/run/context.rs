//! What a run knows, and what does not change while it goes on. What is dear to find is looked up once, when it is first
//! asked for.

use std::cell::OnceCell;
use std::path::Path;

use harness_code::edit::{ChangeSet, FileChange};
use harness_code::fix::Installed;
use harness_code::path::RelPath;
use harness_code::suite::Suite;
use harness_code::tree::SourceTree;
use harness_hands::journal::{self, RunId};
use harness_hands::permit::Project;

use crate::cancel::Cancel;
use crate::config::UserConfig;
use crate::env::Environment;
use crate::guard::GuardContext;
use crate::options::AgentOptions;
use crate::plan::Spot;
use crate::plan::fix::installed;
use crate::record::{Past, RecordedChange};
use crate::suite;

/// What a run knows.
pub(super) struct Context<'a> {
    pub(super) options: &'a AgentOptions,
    pub(super) environment: &'a Environment,
    pub(super) config: &'a UserConfig,
    pub(super) cancel: &'a Cancel,
    pub(super) project: &'a Project,
    pub(super) run: &'a RunId,
    /// Files that the user wants shown whole.
    pub(super) files: &'a [RelPath],
    /// The run of the past whose changes are made again.
    pub(super) past: Option<&'a Past>,
    /// The project's files as they were read, with what is proven so far in place.
    pub(super) read: SourceTree,
    /// The same without what no model on another machine is shown, where there is such a model.
    pub(super) without_credentials: OnceCell<SourceTree>,
    pub(super) found: &'a LookedUp,
}

/// What is looked up once a run.
#[derive(Default)]
pub(super) struct LookedUp {
    installed: OnceCell<Installed>,
    suite: OnceCell<Option<Suite>>,
    /// The whole project, when the run keeps to a part of it.
    whole: OnceCell<Option<SourceTree>>,
}

impl<'a> Context<'a> {
    /// Returns the project's files, as far as the run's model may see them.
    pub(super) fn tree(&self) -> &SourceTree {
        self.without_credentials.get().unwrap_or(&self.read)
    }

    /// Hides files that hold credentials from here on, but for those that the user wants shown: prompts leave this
    /// machine.
    pub(super) fn hide_credentials(&self) {
        self.without_credentials.get_or_init(|| {
            let mut tree = self.read.clone();
            tree.hide_credentials(self.files);
            tree
        });
    }

    /// Returns the same with these changes in place, for what comes after them.
    pub(super) fn with_changes(&self, changes: &[FileChange]) -> Context<'a> {
        Context {
            read: self.tree().with_texts(changes.iter().map(text_after)),
            without_credentials: OnceCell::new(),
            ..*self
        }
    }

    /// Returns whether files may not change in this run.
    pub(super) fn read_only(&self) -> bool {
        self.project.writer().is_none()
    }

    /// Returns where the packages of the project's interpreter are.
    pub(super) fn installed(&self) -> &Installed {
        let find = || installed(self.whole_tree(), self.environment);
        self.found.installed.get_or_init(find)
    }

    /// Returns the whole project: a scope limits what may change and what is hidden is not shown to a model, but tests
    /// and imports lead to both.
    pub(super) fn whole_tree(&self) -> &SourceTree {
        let read = || {
            let limited = !self.options.scope.is_empty() || self.tree().lacks_hidden();
            limited.then(|| SourceTree::read(self.tree().root(), None).ok())?
        };
        let whole = self.found.whole.get_or_init(read);
        whole.as_ref().unwrap_or_else(|| self.tree())
    }

    /// Returns how the project's tests are run, when it has any.
    pub(super) fn suite(&self) -> Option<Suite> {
        let find = || self.suite_of(self.whole_tree());
        self.found.suite.get_or_init(find).clone()
    }

    /// Returns how the tests of a copy of the project are run.
    pub(super) fn suite_in(&self, copy: &Path) -> Option<Suite> {
        self.suite_of(&SourceTree::read(copy, None).ok()?)
    }

    fn suite_of(&self, tree: &SourceTree) -> Option<Suite> {
        suite::of(tree, self.options, self.config, self.environment)
    }

    /// Returns what guards know around changes: these come together, and these definitions may go.
    pub(super) fn guard_context<'s>(
        &'s self,
        beside: &'s [FileChange],
        may_go: &'s [Spot],
    ) -> GuardContext<'s> {
        GuardContext {
            beside,
            may_go,
            ..GuardContext::of(Some(self.whole_tree()), self.installed())
        }
    }

    /// Returns what a dry run would change as it is kept to be applied: nothing where a file cannot be read any more.
    pub(super) fn proposed(&self, set: &ChangeSet) -> Vec<RecordedChange> {
        let door = self.project.door();
        let recorded = |change: &FileChange| {
            let before = door.find(&change.path).ok()?;
            Some(RecordedChange {
                path: change.path.to_string(),
                before: before.as_deref().map(journal::digest),
                after: change.after.clone(),
            })
        };
        let recorded: Option<Vec<_>> = set.files.iter().map(recorded).collect();
        recorded.unwrap_or_default()
    }
}

/// Returns a file and its text after a change, of a removed one nothing.
pub(super) fn text_after(change: &FileChange) -> (RelPath, String) {
    (change.path.clone(), change.new_text().to_owned())
}
