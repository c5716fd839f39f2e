//! `undo`, `last`, `doctor`: what happened before, and how this machine is.

use std::time::Duration;

use harness_agent::commit;
use harness_agent::config::UserConfig;
use harness_agent::doctor::{self, Check, Health};
use harness_agent::{Agent, AgentOptions, Cancel, KeptProposal, Nobody, Stopped};
use harness_hands::door::DoorError;
use harness_hands::journal::RunId;
use harness_hands::lock::{Holder, LockError, Waiting};
use harness_hands::permit::{Access, Project};
use harness_hands::runs::RunRecord;
use harness_hands::trace;
use harness_hands::transaction::WriteError;
use harness_hands::undo::{Force, UndoError};
use serde_json::{Value, json};

use crate::cli::args::{CommonArguments, DoctorArguments, LastArguments, UndoArguments};
use crate::cli::{agent, reach, settings, show};
use crate::exit::Exit;
use crate::show::json::PastRun;
use crate::show::text::{self, Complaint};

/// How long it is waited for a run that holds the project.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// How many runs `last` lists; older ones are found by name.
const LISTED: usize = 10;

/// Takes a run back.
pub(super) fn undo(arguments: &UndoArguments) -> Result<Exit, Complaint> {
    let project = open(&arguments.common, Access::Writing)?;
    let run = arguments.run.as_deref().map(run_id).transpose()?;
    let Some(writer) = project.writer() else {
        return Err(Complaint::usage("the project may not be written", ""));
    };
    let cancel = agent::cancel_on_signal().flag();
    let force = if arguments.force {
        Force::Overwrite
    } else {
        Force::Never
    };
    let mut waiting = Waiting {
        patience: PATIENCE,
        cancel: &cancel,
        on_wait: &mut tell_waiting,
    };
    let undone = writer
        .undo(run.as_ref(), force, &mut waiting)
        .map_err(not_undone)?;
    if undone.files.is_empty() {
        let message = format!("{} left no change that could be taken back", undone.run);
        return Err(Complaint::ending(
            Exit::Failed,
            message,
            "`harness last` lists the runs",
        ));
    }
    let files: Vec<String> = undone.files.iter().map(ToString::to_string).collect();
    let value = json!({"run": undone.run.as_str(), "undo": undone.undo.as_str(), "files": files});
    show(&arguments.common, &value, || {
        format!(
            "took back {}: {}\nto have it again: harness undo {}\n",
            undone.run,
            files.join(", "),
            undone.undo
        )
    })
}

/// Says that another run holds the project.
pub(super) fn tell_waiting(holder: &Holder) {
    text::notice(&format!("waiting for {holder}"));
}

fn not_undone(error: UndoError) -> Complaint {
    let failed = |message: String, hint: &str| Complaint::ending(Exit::Failed, message, hint);
    match error {
        UndoError::NothingToUndo => failed(error.to_string(), "`harness last` lists the runs"),
        UndoError::UnknownRun(_) => {
            Complaint::usage(error.to_string(), "`harness last` lists the runs").about("run")
        }
        UndoError::Conflicts(conflicts) => {
            let names: Vec<String> = conflicts
                .iter()
                .map(|conflict| format!("`{}`", conflict.path))
                .collect();
            for conflict in &conflicts {
                text::unbroken_notice(&conflict.diff);
            }
            let message = format!(
                "{} changed since the run; nothing was touched",
                names.join(", ")
            );
            failed(
                message,
                "the diff shows what would be lost; --force restores all the same",
            )
        }
        UndoError::Write(WriteError::Lock(LockError::Interrupted)) => {
            Complaint::ending(Exit::Interrupted, "interrupted", "")
        }
        UndoError::Write(error) => failed(
            error.to_string(),
            "check the disk; the run's journal still has every byte",
        ),
    }
}

/// Shows the latest runs, or tells of one.
pub(super) fn last(arguments: &LastArguments) -> Result<Exit, Complaint> {
    let project = open(&arguments.common, Access::ReadOnly)?;
    let mut runs = project.runs().map_err(|error| unreadable(&error))?;
    if arguments.commit_message {
        return commit_message(arguments, runs);
    }
    if let Some(name) = &arguments.run {
        let wanted = run_id(name)?;
        let found = runs.into_iter().find(|run| run.id == wanted);
        let run = found.ok_or_else(|| unknown_run(name))?;
        let diff = project.run_diff(&run.id).unwrap_or_default();
        let steps = steps(&project, run.id.as_str());
        let mut value = json!(PastRun::from(run.clone()));
        value["diff"] = Value::from(diff.as_str());
        value["steps"] = steps.clone().into();
        return show(&arguments.common, &value, || {
            let told: String = steps.iter().map(step_line).collect();
            format!("{}{told}{diff}", story(&run))
        });
    }
    runs.truncate(LISTED);
    let mut proposed = harness_agent::proposals(&project);
    proposed.truncate(LISTED);
    let told: Vec<_> = runs.iter().cloned().map(PastRun::from).collect();
    let value = json!({"runs": told, "proposed": proposed});
    show(&arguments.common, &value, || {
        let stories: Vec<String> = runs.iter().map(story).collect();
        let stories = stories.into_iter().chain(proposed.iter().map(proposal));
        match stories.collect::<Vec<_>>().join("\n") {
            none if none.is_empty() => "no run is remembered here\n".to_owned(),
            stories => stories,
        }
    })
}

/// Returns what a person reads of what a dry run proposed.
fn proposal(kept: &KeptProposal) -> String {
    let task = kept.task.lines().next().unwrap_or_default();
    let (run, files) = (&kept.run, kept.files.join(", "));
    format!("{run}  proposed\n  task   {task}\n  files  {files}\n  apply  harness apply {run}\n")
}

/// Prints a commit message for a run; without a name, for the latest whose changes still stand.
fn commit_message(arguments: &LastArguments, runs: Vec<RunRecord>) -> Result<Exit, Complaint> {
    let wanted = arguments.run.as_deref().map(run_id).transpose()?;
    let fits = |run: &RunRecord| match &wanted {
        Some(wanted) => run.id == *wanted,
        None => !run.undone && run.undoes.is_none() && !run.files.is_empty(),
    };
    let found = runs.into_iter().find(fits);
    let run = found.ok_or_else(|| match &wanted {
        Some(wanted) => unknown_run(wanted.as_str()),
        None => {
            let message = "no run has changes that stand";
            Complaint::ending(Exit::Failed, message, "run a task first").about("run")
        }
    })?;
    let message = commit::message(&run.task, &run.summary);
    let value = json!({"run": run.id.as_str(), "message": message});
    show(&arguments.common, &value, || message.clone())
}

/// Returns the turns of a run from the project's trace; a trace that is gone has none.
fn steps(project: &Project, run: &str) -> Vec<Value> {
    let lines = trace::lines(&trace::place_in_project(project.door())).unwrap_or_default();
    let of_run = |line: &String| {
        let line: Value = serde_json::from_str(line).ok()?;
        if line["run"] != run || line["kind"] != "turn" {
            return None;
        }
        let field = |name: &str| line[name].clone();
        Some(json!({
            "number": field("number"),
            "action": field("action"),
            "path": field("path"),
            "result": field("result"),
            "refused": field("refused"),
            "seconds": field("seconds"),
            "tokens": field("tokens"),
        }))
    };
    lines.iter().filter_map(of_run).collect()
}

fn step_line(step: &Value) -> String {
    let word = |name: &str| step[name].as_str().unwrap_or_default();
    let result = text::first_line(word("result"), 100);
    let refused = match word("refused") {
        "" => String::new(),
        rule => format!(" [{rule}]"),
    };
    let place = match word("path") {
        "" => String::new(),
        path => format!(" {path}"),
    };
    format!(
        "  step {:<2}{}{place}{refused}: {result}\n",
        step["number"].as_u64().unwrap_or_default(),
        word("action"),
    )
}

/// Returns what a person reads of one run: task, outcome, files, tests, how to undo.
fn story(run: &RunRecord) -> String {
    let task = run.task.lines().next().unwrap_or_default();
    let state = if run.undone { ", undone" } else { "" };
    let mut text = format!("{}  {}{state}\n  task   {task}\n", run.id, run.outcome);
    if !run.summary.is_empty() {
        text.push_str(&format!(
            "  result {}\n",
            run.summary.replace('\n', "\n         ")
        ));
    }
    if !run.files.is_empty() {
        let files: Vec<String> = run.files.iter().map(ToString::to_string).collect();
        text.push_str(&format!("  files  {}\n", files.join(", ")));
    }
    let count = |when: &str, what: &str| run.tests.get(when)?.get(what)?.as_u64();
    if let (Some(passed), Some(failed)) = (count("after", "passed"), count("after", "failed")) {
        text.push_str(&format!("  tests  {passed} passed, {failed} failed\n"));
    }
    if !run.files.is_empty() && !run.undone {
        text.push_str(&format!("  undo   harness undo {}\n", run.id));
    }
    text
}

/// Checks this machine.
pub(super) fn doctor(arguments: &DoctorArguments) -> Result<Exit, Complaint> {
    let folder = settings::project(None, &arguments.common)?;
    let mut options = AgentOptions::new(folder);
    // A broken config is what the doctor is for: it shows it, and goes on with the flags.
    drop(UserConfig::read().and_then(|config| config.settle(&mut options)));
    if let Some(engine) = &arguments.common.engine {
        options.engine = engine.parse()?;
    }
    if let Some(model) = &arguments.common.model {
        options.model.clone_from(model);
    }
    let cancel = agent::cancel_on_signal();
    let mut found = doctor::examine(&options, &cancel);
    found.checks.extend(suite(&options));
    if arguments.tests {
        found.checks.push(suite_run(&options, &cancel)?);
    }
    found
        .checks
        .extend(reach::checks(&options, &arguments.common));
    found.ok = found.checks.iter().all(|check| check.health != Health::Bad);
    show(&arguments.common, &found, || {
        let row = |check: &Check| {
            let mark = match check.health {
                Health::Good => "ok  ",
                Health::Weak => "weak",
                Health::Bad => "BAD ",
            };
            let hint = if check.hint.is_empty() {
                String::new()
            } else {
                format!("\n      hint: {}", check.hint)
            };
            format!("{mark}  {}: {}{hint}\n", check.name, check.found)
        };
        found.checks.iter().map(row).collect()
    })?;
    Ok(if found.ok { Exit::Done } else { Exit::Failed })
}

/// Tells how the project's tests would be run and what they lack, from its files alone.
fn suite(options: &AgentOptions) -> Option<Check> {
    // A whole disk is no project, and reading it takes long.
    settings::too_wide(&options.project)
        .is_none()
        .then_some(())?;
    let brief = Agent::new(options.clone()).brief().ok()?;
    let is_project = brief.files > 0;
    let Some(suite) = brief.tests else {
        return is_project.then(|| Check {
            name: "tests".to_owned(),
            health: Health::Weak,
            found: "no tests were found in this folder".to_owned(),
            hint: "`[[project]] tests` in the user's config names a command that runs them"
                .to_owned(),
        });
    };
    let why = suite
        .interpreter_why
        .map_or(String::new(), |why| format!(" ({why})"));
    let command = suite.command.join(" ");
    let is_whole = suite.missing.is_empty();
    Some(Check {
        name: "tests".to_owned(),
        health: if is_whole { Health::Good } else { Health::Weak },
        found: match is_whole {
            true => format!("{command}{why}"),
            false => format!("{command}{why} lacks {}", suite.missing.join(", ")),
        },
        hint: match is_whole {
            true => String::new(),
            false => "`harness prepare` installs what the tests need".to_owned(),
        },
    })
}

/// Runs the tests and tells what came of it.
fn suite_run(options: &AgentOptions, cancel: &Cancel) -> Result<Check, Complaint> {
    let result = Agent::new(options.clone()).test(&[], &mut Nobody, cancel)?;
    Ok(Check {
        name: "tests here".to_owned(),
        health: match (result.ok, result.stopped) {
            (true, _) => Health::Good,
            (false, Stopped::Done) => Health::Weak,
            (false, _) => Health::Bad,
        },
        found: format!("{} ({:.1} s)", result.summary, result.seconds),
        hint: result.hint,
    })
}

fn run_id(text: &str) -> Result<RunId, Complaint> {
    RunId::parse(text).ok_or_else(|| unknown_run(text))
}

fn unknown_run(name: &str) -> Complaint {
    let hint = "`harness last` lists the runs";
    Complaint::usage(format!("there is no run `{name}`"), hint).about("run")
}

fn open(common: &CommonArguments, access: Access) -> Result<Project, Complaint> {
    let checked = settings::options(None, common, None)?.check()?;
    Project::open(&checked.project, checked.scope.as_ref(), access)
        .map_err(|error| unreadable(&error))
}

fn unreadable(error: &DoorError) -> Complaint {
    Complaint::usage(error.to_string(), "check the folder and its permissions")
}
