//! A run: the rungs from cheapest to dearest, and what each leaves to the next.

mod act;
mod answer;
mod asked;
mod conversation;
mod coverage;
mod cut;
pub(crate) mod event;
mod evidence;
mod fix;
mod flaky;
mod fold;
mod form;
mod mend;
mod places;
mod probe;
mod prompt;
mod red_tests;
mod removal;
mod replay;
pub(crate) mod result;
mod room;
mod search;
mod session;
mod showing;
mod staged;
pub(crate) mod suite_run;
mod talk;
mod telling;
mod time_limit;
mod trial;
mod under_test;
mod why;
mod work;

use harness_code::hidden::Why;
use harness_code::locate::Noted;
use harness_code::tree::TreeError;
use harness_hands::permit::{Access, Project};
use harness_hands::process::Limits;
use harness_hands::process::runner::{RunnerOptions, Walls};

use crate::cancel::Cancel;
use crate::config::UserConfig;
use crate::env::Environment;
use crate::model::{self, Model, ModelError};
use crate::options::{AgentOptions, OptionsError};
use crate::plan::{Plan, Rung};
use crate::record;
use crate::run::event::Listener;
use crate::run::fix::Tried;
use crate::run::result::{RunResult, Stopped};
use crate::run::session::{Ended, Ending, Session};
use crate::run::time_limit::TimeLimit;
use crate::task::Task;
use crate::task::kind::Kind;
use crate::task::question::Question;

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
pub(crate) fn perform(mut order: Order<'_>) -> Result<RunResult, OptionsError> {
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
    let mut model = order.model.take();
    let order_again = order.again.take();
    let mut session = Session::new(&mut order, project, tree, task, plan);
    session.files = checked.files;
    let limit = TimeLimit::start(session.options.seconds, session.cancel);
    let ending = match &past {
        // The project may have taken long to read.
        _ if session.cancel.stopped() => Ending::new(Stopped::Interrupted, "interrupted"),
        Some(past) => {
            session.tell_start();
            let is_new = matches!(order_again, Some(Again::Proposed(_)));
            replay::perform(&mut session, past, is_new)
        }
        None => climb(&mut session, &mut model),
    };
    let ending = limit.settle(ending);
    Ok(session.end(ending))
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

/// Takes the rungs in order until one ends the run.
fn climb(session: &mut Session<'_>, model: &mut Option<Box<dyn Model>>) -> Ending {
    session.tell_start();
    // A fix that was not enough leaves its trial to the next rung.
    let mut tried = None;
    let ending = match fix::perform(session, &mut tried) {
        Some(ending) => ending,
        None => after_fix(session, model, &mut tried),
    };
    match tried {
        Some(tried) => tried.trial.close(session, ending),
        None => ending,
    }
}

fn after_fix(
    session: &mut Session<'_>,
    model: &mut Option<Box<dyn Model>>,
    tried: &mut Option<Tried>,
) -> Ending {
    if session.read_only() && session.plan.is_about_red_tests() {
        session.plan.ask_for_the_test();
    }
    if let Some(ending) = ask_until_clear(session, tried) {
        return ending;
    }
    let model = match model {
        Some(model) => model,
        None => match model::open(session.options, session.environment) {
            Ok(opened) => model.insert(opened),
            Err(error) if session.plan.rung == Rung::Answer => {
                let known = answer::known(session);
                return answer::with_facts(engine_ended(&error), &known);
            }
            Err(error) => return work::without_engine(session, &error, tried),
        },
    };
    match session.plan.rung {
        Rung::Answer => answer::perform(session, model.as_mut()),
        Rung::Question | Rung::Fix | Rung::Rewrite | Rung::Loop => {
            work::perform(session, model.as_mut(), tried)
        }
    }
}

/// A rename is asked about at most this often: which of two readings, which of two definitions, what is in doubt.
const MOST_QUESTIONS: usize = 3;

/// Puts the plan's question; for a rename also the next that its answer leads to. An answer may make a fix certain, which
/// is then made.
fn ask_until_clear(session: &mut Session<'_>, tried: &mut Option<Tried>) -> Option<Ending> {
    let mut put: Vec<Question> = Vec::new();
    while let Some(question) = session.plan.question.clone() {
        // The same question again means that the answer did not settle it; the next rung has to do with what was said.
        let again = put.contains(&question) || session.task.kind != Kind::Rename && !put.is_empty();
        if again || put.len() == MOST_QUESTIONS {
            break;
        }
        if let Some(ending) = ask(session, &question) {
            return Some(ending);
        }
        put.push(question);
        if let Some(ending) = fix::perform(session, tried) {
            return Some(ending);
        }
    }
    None
}

/// Puts a question. The answer becomes part of the task; without one, or with the word to stop, the run ends here.
fn ask(session: &mut Session<'_>, question: &Question) -> Option<Ending> {
    let answer = session.ask(question);
    let answer = answer.filter(|answer| !answer.eq_ignore_ascii_case("stop"));
    let Some(answer) = answer else {
        if session.cancel.stopped() {
            return Some(Ending::new(Stopped::Interrupted, "interrupted"));
        }
        let mut ending = Ending::new(Stopped::Question, question.render());
        ending.hint = question.hint().to_owned();
        return Some(ending);
    };
    let kind = session.task.kind;
    session.task = Task {
        text: format!("{}\n{answer}", session.task.text),
        kind,
    };
    session.plan = Plan::make(
        &session.task,
        &session.tree,
        &Noted::of(&session.tree, &session.task.text),
        session.options,
        session.environment,
    );
    None
}

/// Returns how a run ends that could not use its engine.
fn engine_ended(error: &ModelError) -> Ended {
    match error {
        ModelError::Unusable { message, hint } => Ended {
            hint: hint.clone(),
            ..Ended::new(Stopped::Engine, message)
        },
        ModelError::NotSent { message, hint, .. } => Ended {
            hint: hint.clone(),
            ..Ended::new(Stopped::Refused, message)
        },
        ModelError::Interrupted => Ended::new(Stopped::Interrupted, "interrupted"),
    }
}
