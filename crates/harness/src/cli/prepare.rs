//! `prepare`: an environment outside the project in which its tests run, shown and asked about first.

use harness_agent::{Agent, PreparePlan, Stopped};
use harness_hands::prepared::PrepareError;
use serde_json::json;

use crate::cli::args::PrepareArguments;
use crate::cli::progress::Progress;
use crate::cli::{agent, settings, show};
use crate::exit::Exit;
use crate::show::text::{self, Complaint};

/// Shows what would be installed, installs it when the user says so, and runs the tests once.
pub(super) fn prepare(arguments: &PrepareArguments, program: &str) -> Result<Exit, Complaint> {
    let common = &arguments.common;
    let mut options = settings::options(arguments.folder.as_deref(), common, None)?;
    options.python = arguments
        .python
        .as_deref()
        .and_then(|path| std::path::absolute(path).ok());
    let agent = Agent::new(options);
    if arguments.remove {
        let removed = agent.remove_prepared().map_err(failed)?;
        return show(common, &json!({"removed": removed}), || match removed {
            true => "removed\n".to_owned(),
            false => "nothing was prepared for this project\n".to_owned(),
        });
    }
    let plan = agent.preparation()?;
    if plan.is_empty() {
        show(common, &json!({"plan": plan, "done": false}), String::new)?;
        let complaint = Complaint::ending(Exit::Failed, "there is nothing to prepare", &plan.hint);
        text::complaint(program, &complaint);
        return Ok(Exit::Failed);
    }
    if !common.json {
        text::result(&shown(&plan));
    }
    let may = arguments.yes || (!common.json && text::person_present() && text::agreed("go on?"));
    if !may {
        show(common, &json!({"plan": plan, "done": false}), || {
            "nothing was done\n".to_owned()
        })?;
        text::hint("`--yes` does it");
        return Ok(Exit::Question);
    }
    let cancel = agent::cancel_on_signal();
    let done = agent.prepare(
        &plan,
        &mut |step| text::notice(&format!("{} ...", step.about)),
        &cancel,
    );
    match done {
        Err(PrepareError::Interrupted) => return Ok(Exit::Interrupted),
        other => other.map_err(failed)?,
    }
    let mut progress = Progress::new(common, &cancel);
    let result = agent.test(&[], &mut progress, &cancel)?;
    drop(progress.end());
    show(
        common,
        &json!({"plan": plan, "done": true, "tests": result}),
        || format!("prepared: {}\n", result.summary),
    )?;
    text::hint(&result.hint);
    Ok(match result.stopped {
        Stopped::Done => Exit::Done,
        Stopped::Interrupted => Exit::Interrupted,
        _ => Exit::Failed,
    })
}

fn shown(plan: &PreparePlan) -> String {
    let mut commands: String = plan
        .commands
        .iter()
        .map(|command| format!("  {command}\n"))
        .collect();
    let otherwise = plan.otherwise.iter();
    commands.extend(otherwise.map(|command| format!("where that fails:\n  {command}\n")));
    format!(
        "{commands}This uses the network, runs the build code of packages (and of a copy of the project) where they have some, and may\nwrite only to {} and to package caches. Nothing appears in the project.\n",
        plan.folder.display()
    )
}

fn failed(error: PrepareError) -> Complaint {
    let hint = match &error {
        PrepareError::Failed { said, .. } => {
            text::notice(said);
            "what it said stands above; what was fetched is kept, and an environment from before stays in use"
        }
        PrepareError::Busy => "wait for it, or stop it",
        _ => "`harness doctor` looks at this machine",
    };
    Complaint::ending(Exit::Failed, error.to_string(), hint)
}
