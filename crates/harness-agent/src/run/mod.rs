//! A run, from what it is given to its result.

mod act;
mod asked;
mod context;
mod conversation;
mod coverage;
mod cut;
mod editing;
mod ending;
pub(crate) mod event;
mod evidence;
mod flaky;
mod form;
mod log;
mod mend;
mod places;
mod probe;
mod prompt;
mod removal;
mod resources;
pub(crate) mod result;
mod room;
#[cfg(test)]
mod scripted_tests;
mod search;
mod staged;
mod strategy;
pub(crate) mod suite_run;
mod talk;
mod time_limit;
mod trial;
mod why;
mod work;

use std::cell::OnceCell;

use harness_code::hidden::Why;
use harness_code::locate::TaskOccurrences;
use harness_code::tree::{SourceTree, TreeError};
use harness_hands::journal::RunId;
use harness_hands::permit::{Access, Project};
use harness_hands::process::Limits;
use harness_hands::process::runner::{RunnerOptions, Walls};

use crate::cancel::Cancel;
use crate::config::UserConfig;
use crate::env::Environment;
use crate::model::Model;
use crate::options::{AgentOptions, Checked, OptionsError};
use crate::plan::Plan;
use crate::record::{self, Past, Record};
use crate::run::context::{Context, LookedUp};
use crate::run::ending::Ended;
use crate::run::event::Listener;
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::result::RunResult;
use crate::run::time_limit::TimeLimit;
use harness_code::request::Request;
use harness_code::request::kind::Kind;

/// What the caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job<'a> {
    /// An answer that changes nothing.
    Answer(&'a str),
    /// A task, done.
    Task(&'a str),
    /// The changes that a run of the past made, by its record, made and judged again.
    Again(&'a str),
    /// Those that a run of the past proposed and did not keep.
    Proposed(&'a str),
}

/// Everything a run is given.
pub(crate) struct RunInput<'a> {
    pub(crate) options: &'a AgentOptions,
    pub(crate) environment: &'a Environment,
    pub(crate) config: &'a UserConfig,
    pub(crate) job: Job<'a>,
    pub(crate) listener: &'a mut dyn Listener,
    pub(crate) cancel: &'a Cancel,
    /// A model to use instead of the one that the options name.
    pub(crate) model: Option<Box<dyn Model>>,
}

/// Performs a run from what is asked to its result.
pub(crate) fn perform(input: RunInput<'_>) -> Result<RunResult, OptionsError> {
    let checked = input.options.check()?;
    let project = open_project(&input, &checked)?;
    let past = past(&input, &project)?;
    let words = match (&past, input.job) {
        (Some(past), _) => &past.task,
        (None, Job::Answer(words) | Job::Task(words)) => words,
        (None, Job::Again(_) | Job::Proposed(_)) => "",
    };
    let mut task = Request::read(words);
    if matches!(input.job, Job::Answer(_)) {
        task = task.with_kind(Kind::Question);
    }
    let Some((tree, occurrences)) = read_project(&input, &checked, &task)? else {
        return Ok(RunResult::interrupted());
    };
    let plan = Plan::make(&task, &tree, &occurrences, input.options, input.environment);
    let run = RunId::new();
    let home = input.environment.home.as_deref();
    let record = Record::open(input.options, run.as_str(), home);
    let mut log = Log::new(input.listener, &project, record);
    let context = Context {
        options: input.options,
        environment: input.environment,
        config: input.config,
        cancel: input.cancel,
        project: &project,
        run: &run,
        files: &checked.files,
        past: past.as_ref(),
        read: tree,
        without_credentials: OnceCell::new(),
        found: &LookedUp::default(),
    };
    let limit = TimeLimit::start(input.options.seconds, input.cancel);
    let mut resources = Resources::new(input.model, input.options.steps);
    let (plan, ended) = match context.cancel.stopped() {
        // The project may have taken long to read.
        true => (plan, Ended::interrupted()),
        false => {
            log.tell_start(&context, &plan);
            strategy::pursue(&context, &mut log, plan, &mut resources)
        }
    };
    let ending = resources.close(&context, &mut log, &plan, ended);
    let ending = limit.settle(ending);
    Ok(log.end(&context, &plan, ending))
}

/// Opens the project, for writing only where that is asked for and allowed.
fn open_project(input: &RunInput<'_>, checked: &Checked) -> Result<Project, OptionsError> {
    if matches!(input.job, Job::Answer(words) | Job::Task(words) if words.trim().is_empty()) {
        let hint = "say what should be done";
        return Err(OptionsError::new("task", "the task is empty", hint));
    }
    let is_question = matches!(input.job, Job::Answer(_));
    let access = match input.options.allow_writes && !is_question {
        true => Access::Writing,
        false => Access::ReadOnly,
    };
    let project = Project::open(&checked.project, checked.scope.as_ref(), access)
        .map_err(|error| OptionsError::unreadable("project", error))?;
    Ok(project.with_runner_options(runner_options(input.options, input.config)))
}

/// Returns the run of the past whose changes are made again, where that is asked for.
fn past(input: &RunInput<'_>, project: &Project) -> Result<Option<Past>, OptionsError> {
    let past = match input.job {
        Job::Answer(_) | Job::Task(_) => return Ok(None),
        Job::Again(run) => record::past(input.options, project, run),
        Job::Proposed(run) => record::proposed(project, run),
    };
    past.map(Some).map_err(|error| {
        OptionsError::new("run", error.to_string(), "`harness last` lists the runs").because(error)
    })
}

/// Reads the project and notes what it says of the task; nothing where the user stopped it.
fn read_project(
    input: &RunInput<'_>,
    checked: &Checked,
    task: &Request,
) -> Result<Option<(SourceTree, TaskOccurrences)>, OptionsError> {
    let hidden = input.config.hidden();
    let hint = "check the folder and its permissions";
    let hidden = hidden.map_err(|error| OptionsError::new("config", error, hint))?;
    let (scope, stop) = (checked.scope.as_ref(), input.cancel.flag());
    let read = TaskOccurrences::read_hiding(&checked.project, scope, hidden, &stop, task);
    let (tree, occurrences) = match read {
        Ok(read) => read,
        Err(TreeError::Stopped) => return Ok(None),
        Err(error) => return Err(OptionsError::unreadable("project", error)),
    };
    for path in &checked.files {
        if let Some(Why::Listed(pattern)) = tree.hides(path) {
            let message = format!("`{path}` is never shown: `never_show` has `{pattern}`");
            let hint = "leave the file out, or take the pattern out of the config file";
            return Err(OptionsError::new("file", message, hint));
        }
    }
    Ok(Some((tree, occurrences)))
}

fn runner_options(options: &AgentOptions, config: &UserConfig) -> RunnerOptions {
    let limits = Limits::default();
    let walls = if options.require_sandbox {
        Walls::Required
    } else {
        Walls::WherePossible
    };
    let time = config.test_time().unwrap_or(limits.time);
    RunnerOptions {
        walls,
        limits: Limits { time, ..limits },
        each_test: config.test_time_each(),
        readable: config.test_readable.clone(),
        variables: config.test_variables.clone(),
    }
}
