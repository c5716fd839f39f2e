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
use harness_code::locate::Noted;
use harness_code::tree::TreeError;
use harness_hands::journal::RunId;
use harness_hands::permit::{Access, Project};
use harness_hands::process::Limits;
use harness_hands::process::runner::{RunnerOptions, Walls};

use crate::cancel::Cancel;
use crate::config::UserConfig;
use crate::env::Environment;
use crate::model::Model;
use crate::options::{AgentOptions, OptionsError};
use crate::plan::Plan;
use crate::record::{self, Record};
use crate::run::context::{Context, Found};
use crate::run::ending::Ended;
use crate::run::event::Listener;
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::result::RunResult;
use crate::run::strategy::{Outcome, Replay, Strategy};
use crate::run::time_limit::TimeLimit;
use crate::task::Task;
use crate::task::kind::Kind;

/// What the caller wants: an answer that changes nothing, or the task done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Answer,
    Done,
}

/// Which changes of a run of the past are made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// Those that it made, by its record.
    Made(String),
    /// Those that it proposed and did not keep.
    Proposed(String),
}

/// Everything a run is given.
pub(crate) struct Order<'a> {
    pub(crate) options: &'a AgentOptions,
    pub(crate) environment: &'a Environment,
    pub(crate) config: &'a UserConfig,
    pub(crate) wish: Wish,
    pub(crate) task: &'a str,
    pub(crate) listener: &'a mut dyn Listener,
    pub(crate) cancel: &'a Cancel,
    /// A model to use instead of the one that the options name.
    pub(crate) model: Option<Box<dyn Model>>,
    /// A run of the past whose changes are made and judged again; its task is the task.
    pub(crate) again: Option<Again>,
}

/// Performs a run from its task to its result.
pub(crate) fn perform(order: Order<'_>) -> Result<RunResult, OptionsError> {
    let checked = order.options.check()?;
    if order.again.is_none() && order.task.trim().is_empty() {
        return Err(OptionsError {
            field: "task",
            message: "the task is empty".to_owned(),
            hint: "say what should be done".to_owned(),
        });
    }
    let writes = order.options.allow_writes && order.wish == Wish::Done;
    let access = if writes {
        Access::Writing
    } else {
        Access::ReadOnly
    };
    let project = Project::open(&checked.project, checked.scope.as_ref(), access)
        .map_err(|error| OptionsError::unreadable("project", &error))?
        .with_runner_options(runner_options(order.options, order.config));
    let past = order.again.as_ref().map(|again| match again {
        Again::Made(run) => record::past(order.options, &project, run),
        Again::Proposed(run) => record::proposed(&project, run),
    });
    let past = past.transpose().map_err(|error| OptionsError {
        field: "run",
        message: error.to_string(),
        hint: "`harness last` lists the runs".to_owned(),
    })?;
    let words = past.as_ref().map_or(order.task, |past| past.task.as_str());
    let hidden = order.config.hidden();
    let hidden = hidden.map_err(|error| OptionsError::unreadable("config", &error))?;
    let scope = checked.scope.as_ref();
    let stop = order.cancel.flag();
    let read = Noted::read_hiding(&checked.project, scope, hidden, &stop, words);
    let (tree, noted) = match read {
        Ok(read) => read,
        Err(TreeError::Stopped) => return Ok(RunResult::interrupted()),
        Err(error) => return Err(OptionsError::unreadable("project", &error)),
    };
    for path in &checked.files {
        if let Some(Why::Listed(pattern)) = tree.hides(path) {
            return Err(OptionsError {
                field: "file",
                message: format!("`{path}` is never shown: `never_show` has `{pattern}`"),
                hint: "leave the file out, or take the pattern out of the config file".to_owned(),
            });
        }
    }
    let mut task = Task::bare(words);
    if order.wish == Wish::Answer {
        task.kind = Kind::Question;
    }
    let plan = Plan::make(&task, &tree, &noted, order.options, order.environment);
    let run = RunId::new();
    let home = order.environment.home.as_deref();
    let record = Record::open(order.options, run.as_str(), home);
    let mut log = Log::new(order.listener, &project, record);
    let context = Context {
        options: order.options,
        environment: order.environment,
        config: order.config,
        cancel: order.cancel,
        project: &project,
        run: &run,
        files: &checked.files,
        read: tree,
        without_credentials: OnceCell::new(),
        found: &Found::default(),
    };
    let limit = TimeLimit::start(order.options.seconds, order.cancel);
    let mut resources = Resources::new(order.model, order.options.steps);
    let (plan, ended) = match &past {
        // The project may have taken long to read.
        _ if context.cancel.stopped() => (plan, Ended::interrupted()),
        Some(past) => {
            log.tell_start(&context, &plan);
            let is_new = matches!(order.again, Some(Again::Proposed(_)));
            let replay = Replay { past, is_new };
            match replay.attempt(&context, &mut log, &plan, &mut resources) {
                Outcome::Ended(ended) | Outcome::GaveUp(ended) => (plan, ended),
                Outcome::Passed | Outcome::Replanned(_) => (plan, Ended::interrupted()),
            }
        }
        None => {
            log.tell_start(&context, &plan);
            strategy::pursue(&context, &mut log, plan, &mut resources)
        }
    };
    let ending = resources.close(&context, &mut log, &plan, ended);
    let ending = limit.settle(ending);
    Ok(log.end(&context, &plan, ending))
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
