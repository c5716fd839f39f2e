//! The agent: settings, and the calls that command line, HTTP, protocols and Python make.

use std::time::{Duration, Instant};

use harness_code::hidden::{self, Hidden};
use harness_code::locate::TaskOccurrences;
use harness_code::path::RelPath;
use harness_code::report::brief::Brief;
use harness_code::report::layout::Layout;
use harness_code::suite::Suite;
use harness_code::tree::{SourceTree, TreeError};
use harness_hands::git::{Commit, NotCommitted};
use harness_hands::journal::RunId;
use harness_hands::lock::{Holder, LockError, Waiting};
use harness_hands::permit::{Access, Project};
use harness_hands::prepared::{Preparation, PrepareError, PrepareStep};
use harness_hands::runs::RunRecord;
use harness_hands::transaction::WriteError;
use harness_hands::undo::{Force, UndoError, Undone};

use crate::cancel::Cancel;
use crate::commit;
use crate::config::UserConfig;
use crate::dialogue::{BROUGHT_BACK, TOOK_BACK};
use crate::env::Environment;
use crate::model::checkup::{self, Available};
use crate::model::{Model, ModelError};
use crate::options::{AgentOptions, OptionsError, shown};
use crate::plan::{Plan, Route};
use crate::prepare::PreparePlan;
use crate::run::event::{Listener, Nobody, tell_waiting};
use crate::run::result::{RunResult, Stopped};
use crate::run::suite_run::{self, SuiteOrder, TestResult};
use crate::run::{self, Job, RunInput};
use crate::suite;
use harness_code::request::Request;

/// How long an undo waits for another run that holds the project.
const UNDO_PATIENCE: Duration = Duration::from_secs(20);

/// A coding agent that works on one project folder.
#[derive(Clone, Debug)]
pub struct Agent {
    options: AgentOptions,
    environment: Environment,
    config: Result<UserConfig, OptionsError>,
    /// Stops what only reads the project.
    stop: Cancel,
}

impl Agent {
    /// Returns an agent with these settings and this process's environment. Nothing is checked yet.
    pub fn new(options: AgentOptions) -> Agent {
        let config = UserConfig::read();
        let read = Environment::read();
        let environment = match &config {
            Ok(config) => config.complete(read),
            Err(_) => read,
        };
        Agent {
            options,
            environment,
            config,
            stop: Cancel::default(),
        }
    }

    /// Returns the same agent, whose reports (`brief`, `layout`, `route`) end with an error soon after `cancel` is set.
    #[must_use]
    pub fn stopped_by(mut self, cancel: &Cancel) -> Agent {
        self.stop = cancel.clone();
        self
    }

    /// Returns the same agent, called by this Python: its packages may hold a runtime for models on this machine.
    pub fn called_by(mut self, python: std::path::PathBuf) -> Agent {
        self.environment.python = Some(python);
        self
    }

    /// Returns the flag that stops reports.
    pub(crate) fn stop(&self) -> &Cancel {
        &self.stop
    }

    /// Returns the settings.
    pub fn options(&self) -> &AgentOptions {
        &self.options
    }

    /// Returns the same agent with other settings.
    #[must_use]
    pub fn with_options(&self, options: AgentOptions) -> Agent {
        // The user's file is read again: what it hides from now on is shown to no model by a server that runs already.
        Agent {
            stop: self.stop.clone(),
            ..Agent::new(options)
        }
    }

    /// Returns the models that the engine has, in its own order.
    pub fn models(&self, cancel: &Cancel) -> Result<Vec<Available>, ModelError> {
        checkup::available(&self.options, &self.environment, cancel)
    }

    /// Returns the user's home folder as text.
    pub(crate) fn home(&self) -> Option<String> {
        let home = self.environment.home.as_deref()?;
        Some(home.to_string_lossy().into_owned())
    }

    /// Performs a task. An error means that a setting cannot be used; everything else is in the result.
    pub fn run(
        &self,
        task: Option<&str>,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        self.perform(Job::Task(self.task(task)), None, listener, cancel)
    }

    /// Answers a question; never changes a file.
    pub fn ask(
        &self,
        question: Option<&str>,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        self.perform(Job::Answer(self.task(question)), None, listener, cancel)
    }

    /// Performs a task with a model of the caller's own.
    pub fn run_with(
        &self,
        model: Box<dyn Model>,
        task: &str,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        self.perform(Job::Task(task), Some(model), listener, cancel)
    }

    /// Applies what a run recorded and judges it again, without a model.
    pub fn replay(
        &self,
        run: &str,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        self.perform(Job::Again(run), None, listener, cancel)
    }

    /// Writes what a dry run or a run that took its change back proposed, through the same guards and tests.
    pub fn apply(
        &self,
        run: &str,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        self.perform(Job::Proposed(run), None, listener, cancel)
    }

    /// Takes a run back, byte for byte; without a name, the latest that still has changes.
    pub fn undo(&self, run: Option<&str>, cancel: &Cancel) -> Result<RunResult, OptionsError> {
        self.undo_telling(run, &mut Nobody, cancel)
    }

    /// The same; a wait for a run that holds the project is told when it begins.
    pub(crate) fn undo_telling(
        &self,
        run: Option<&str>,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        let checked = self.options.check()?;
        let unknown = |name: &str| {
            let message = format!("there is no run `{}`", shown(name));
            OptionsError::new("run", message, "`harness last` lists the runs")
        };
        let id = |name: &str| RunId::parse(name).ok_or_else(|| unknown(name));
        let run = run.map(id).transpose()?;
        let access = if self.options.allow_writes {
            Access::Writing
        } else {
            Access::ReadOnly
        };
        let project = Project::open(&checked.project, checked.scope.as_ref(), access);
        let project = project.map_err(|error| OptionsError::unreadable("project", error))?;
        let Some(writer) = project.writer() else {
            return Ok(RunResult {
                hint: "allow writes to take a run back".to_owned(),
                ..not_undone(Stopped::Stuck, "files may not change here")
            });
        };
        let began = Instant::now();
        let flag = cancel.flag();
        let mut on_wait = |holder: &Holder| tell_waiting(listener, began, holder);
        let mut waiting = Waiting {
            patience: UNDO_PATIENCE,
            cancel: &flag,
            on_wait: &mut on_wait,
        };
        match writer.undo(run.as_ref(), Force::Never, &mut waiting) {
            Ok(undone) if undone.files.is_empty() => {
                let reason = format!("{} left no change", undone.run);
                Ok(not_undone(Stopped::Stuck, &reason))
            }
            Ok(undone) => {
                let runs = project.runs().unwrap_or_default();
                let run = runs.into_iter().find(|run| run.id == undone.run);
                Ok(taken_back(&undone, run.and_then(|run| run.undoes)))
            }
            Err(UndoError::UnknownRun(run)) => Err(unknown(run.as_str())),
            Err(error) => {
                let stopped = match &error {
                    UndoError::Write(WriteError::Lock(LockError::Busy(_))) => Stopped::Busy,
                    UndoError::Write(WriteError::Lock(LockError::Interrupted)) => {
                        Stopped::Interrupted
                    }
                    _ => Stopped::Stuck,
                };
                let hint = match &error {
                    UndoError::Conflicts(_) => {
                        "`harness undo --force` restores them all the same".to_owned()
                    }
                    _ => String::new(),
                };
                let result = not_undone(stopped, &error.to_string());
                Ok(RunResult { hint, ..result })
            }
        }
    }

    /// Says whether what a run writes could be committed. Asked before the run.
    pub fn ready_to_commit(&self) -> Result<(), OptionsError> {
        let project = self.options.check()?.project;
        let ready = commit::repository(&self.environment, &project);
        let ready = ready.and_then(|repository| repository.ready());
        ready.map_err(|why| OptionsError::new("commit", why.message, why.hint))
    }

    /// Commits exactly what a run wrote. Nothing that the repository configures is started.
    pub fn commit(&self, result: &RunResult) -> Result<Commit, NotCommitted> {
        let unusable = |error: OptionsError| NotCommitted {
            message: error.message,
            hint: error.hint,
        };
        let project = self.options.check().map_err(unusable)?.project;
        let repository = commit::repository(&self.environment, &project)?;
        commit::commit_run(&repository, &project, &result.run_id, &result.writes)
    }

    /// Returns what the project is.
    pub fn brief(&self) -> Result<Brief, OptionsError> {
        let tree = self.tree()?;
        let suite = self.suite(&tree)?;
        Ok(Brief::of(&tree, suite.as_ref()))
    }

    /// Runs the project's tests as a run would, all or those that are named. Nothing in the project changes.
    pub fn test(
        &self,
        tests: &[String],
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<TestResult, OptionsError> {
        let checked = self.options.check()?;
        // A scope limits what may change, not what is tested.
        let tree = SourceTree::read(&checked.project, None)
            .map_err(|error| OptionsError::unreadable("project", error))?;
        suite_run::perform(SuiteOrder {
            options: &self.options,
            config: &self.config.clone()?,
            suite: self.suite(&tree)?,
            tests,
            listener,
            cancel,
        })
    }

    /// Returns what must be installed so that the project's tests run, and where it would go.
    pub fn preparation(&self) -> Result<PreparePlan, OptionsError> {
        let checked = self.options.check()?;
        let tree = SourceTree::read(&checked.project, None)
            .map_err(|error| OptionsError::unreadable("project", error))?;
        let python = self.options.python.clone();
        let python = python.or_else(|| self.config.as_ref().ok()?.python(tree.root()));
        let suite = self.suite(&tree)?;
        let plan = PreparePlan::of(&tree, suite.as_ref(), python, &self.environment);
        plan.ok_or_else(|| {
            let message = "there is no cache folder to prepare an environment in";
            OptionsError::new("project", message, "set HOME or XDG_CACHE_HOME")
        })
    }

    /// Installs it; each step is said before it begins. The project does not change, its build code runs.
    pub fn prepare(
        &self,
        plan: &PreparePlan,
        say: &mut dyn FnMut(&PrepareStep),
        cancel: &Cancel,
    ) -> Result<(), PrepareError> {
        let wrong = |error: &dyn std::fmt::Display| PrepareError::Start(error.to_string());
        let checked = self.options.check().map_err(|error| wrong(&error))?;
        let project = Project::open(&checked.project, None, Access::Writing);
        plan.perform(&project.map_err(|error| wrong(&error))?, say, cancel)
    }

    /// Removes what was prepared for the project; says whether there was anything.
    pub fn remove_prepared(&self) -> Result<bool, PrepareError> {
        let root = self.options.check().map(|checked| checked.project);
        let place = root.ok().and_then(|root| Preparation::of(&root));
        place.ok_or(PrepareError::NoCache)?.remove()
    }

    /// Returns what makes the project hard to read.
    pub fn layout(&self) -> Result<Layout, OptionsError> {
        Ok(Layout::of(&self.tree()?))
    }

    /// Returns whether a file of the project may be shown to a model.
    pub fn may_show(&self, path: &RelPath) -> bool {
        let hidden = self.config.as_ref().map(UserConfig::hidden);
        matches!(hidden, Ok(Ok(hidden)) if hidden.why(path).is_none())
    }

    /// Returns whether a text of which only the name is known may be shown to a model.
    pub fn may_show_text_of(&self, path: &RelPath) -> bool {
        self.may_show(path) && !hidden::holds_credentials(path)
    }

    /// Returns the files that taking a run back would change; without a name those of the latest that stands.
    pub fn files_of_run(&self, run: Option<&str>) -> Vec<RelPath> {
        let project = self
            .options
            .check()
            .ok()
            .and_then(|checked| Project::open(&checked.project, None, Access::ReadOnly).ok());
        let runs = project.and_then(|project| project.runs().ok());
        let is_meant = |record: &RunRecord| match run {
            Some(run) => record.id.as_str() == run,
            None => !record.undone && record.undoes.is_none() && !record.files.is_empty(),
        };
        let found = runs.and_then(|runs| runs.into_iter().find(is_meant));
        found.map_or(Vec::new(), |record| record.files)
    }

    /// Returns what would happen to a task.
    pub fn route(&self, task: &str) -> Result<Route, OptionsError> {
        self.route_unless_stopped(task, &self.stop)?
            .map_err(|error| OptionsError::unreadable("project", error))
    }

    /// The same, unless it is stopped.
    pub(crate) fn route_unless_stopped(
        &self,
        task: &str,
        cancel: &Cancel,
    ) -> Result<Result<Route, TreeError>, OptionsError> {
        let checked = self.options.check()?;
        let hidden = self.config.clone()?.hidden().unwrap_or_default();
        let scope = checked.scope.as_ref();
        let request = Request::read(task);
        let read =
            TaskOccurrences::read_hiding(&checked.project, scope, hidden, &cancel.flag(), &request);
        let plan = |(tree, occurrences): (SourceTree, TaskOccurrences)| {
            let (options, environment) = (&self.options, &self.environment);
            let plan = Plan::make(&request, &tree, &occurrences, options, environment);
            plan.route(&tree, &options.model)
        };
        Ok(read.map(plan))
    }

    /// Returns how the project's tests are run, when it has any.
    fn suite(&self, tree: &SourceTree) -> Result<Option<Suite>, OptionsError> {
        let config = self.config.clone()?;
        Ok(suite::of(tree, &self.options, &config, &self.environment))
    }

    fn tree(&self) -> Result<SourceTree, OptionsError> {
        let checked = self.options.check()?;
        let (project, scope) = (&checked.project, checked.scope.as_ref());
        let (hidden, stop) = (Hidden::default(), self.stop.flag());
        let read = SourceTree::read_hiding(project, scope, hidden, &stop, |_, _| ());
        read.map(|(tree, _)| tree)
            .map_err(|error| OptionsError::unreadable("project", error))
    }

    /// Returns the task of a call, or else that of the settings.
    fn task<'t>(&'t self, task: Option<&'t str>) -> &'t str {
        task.unwrap_or(&self.options.task)
    }

    fn perform(
        &self,
        job: Job<'_>,
        model: Option<Box<dyn Model>>,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        run::perform(RunInput {
            options: &self.options,
            environment: &self.environment,
            config: &self.config.clone()?,
            job,
            listener,
            cancel,
            model,
        })
    }
}

/// Tells of a run that was taken back; the undo of an undo brings the run back that `again` names.
fn taken_back(undone: &Undone, again: Option<RunId>) -> RunResult {
    let files: Vec<String> = undone.files.iter().map(ToString::to_string).collect();
    let (run, undo) = (&undone.run, &undone.undo);
    let (files_told, how) = (files.join(", "), format!("or type `harness undo {undo}`"));
    let words = match again {
        Some(run) => {
            format!("{BROUGHT_BACK}{run}: {files_told}; to take it back say \"undo that\", {how}")
        }
        None => format!("{TOOK_BACK}{run}: {files_told}; to have it again say \"redo\", {how}"),
    };
    RunResult {
        writes: files,
        run_id: undo.to_string(),
        ..RunResult::said(words)
    }
}

fn not_undone(stopped: Stopped, reason: &str) -> RunResult {
    RunResult {
        ok: false,
        stopped,
        ..RunResult::said(format!("nothing was taken back: {reason}"))
    }
}
