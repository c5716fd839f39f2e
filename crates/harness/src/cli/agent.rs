//! `ask`, `run`, `replay`, `serve`: the commands that do a run.

use harness_agent::env::Environment;
use harness_agent::{Agent, AgentOptions, Cancel, OptionsError, RunResult, Stopped};
use harness_hands::terminal::TerminalSettings;

use crate::cli::args::{
    ApplyArguments, AskArguments, CommonArguments, ReplayArguments, RunArguments, ServeArguments,
    TestArguments,
};
use crate::cli::pager::Paging;
use crate::cli::progress::Progress;
use crate::cli::{outcome, settings};
use crate::exit::Exit;
use crate::protocol;
use crate::server::{self, ServeOptions};
use crate::show::annotations;
use crate::show::text::{self, Complaint};

/// Answers a question.
pub(super) fn ask(arguments: &AskArguments, program: &str) -> Result<Exit, Complaint> {
    let (folder, question) = settings::folder_and_task(&arguments.words, "question")?;
    let options = settings::options(folder.as_deref(), &arguments.common, Some(&arguments.model))?;
    settings::warn_of_width(&options.project, &arguments.common, false);
    shown(
        options,
        &arguments.common,
        program,
        |agent, progress, cancel| agent.ask(Some(&question), progress, cancel),
    )
}

/// Shows what a call of the agent comes to, and meanwhile how it goes.
fn shown(
    options: AgentOptions,
    common: &CommonArguments,
    program: &str,
    call: impl FnOnce(&Agent, &mut Progress, &Cancel) -> Result<RunResult, OptionsError>,
) -> Result<Exit, Complaint> {
    let cancel = cancel_on_signal();
    let mut progress = Progress::new(common, &cancel);
    let result = call(&Agent::new(options), &mut progress, &cancel)?;
    let shown = progress.end();
    outcome::show(&result, common, program, &shown)
}

/// Does a task.
pub(super) fn run(arguments: &RunArguments, program: &str) -> Result<Exit, Complaint> {
    let (folder, task) = settings::folder_and_task(&arguments.words, "task")?;
    let mut options = AgentOptions {
        allow_writes: !arguments.dry_run,
        require_sandbox: arguments.require_sandbox,
        keep: arguments.keep,
        confirm: arguments.ask,
        seconds: arguments.seconds,
        files: arguments.file.clone(),
        ..settings::options(folder.as_deref(), &arguments.common, Some(&arguments.model))?
    };
    let project = options.project.clone();
    settings::warn_of_width(&project, &arguments.common, !arguments.dry_run);
    settings::settle_suite(&mut options, &arguments.suite)?;
    let cancel = cancel_on_signal();
    let agent = Agent::new(options);
    if arguments.commit {
        agent.ready_to_commit()?;
    }
    let progress = Progress::new(&arguments.common, &cancel);
    let mut progress = progress.with_paging(Paging::unless(arguments.no_pager));
    let mut result = agent.run(Some(&task), &mut progress, &cancel)?;
    let shown = progress.end();
    let is_committed = arguments.commit && !result.writes.is_empty();
    let commit = is_committed.then(|| agent.commit(&result));
    if let Some(Ok(commit)) = &commit {
        result.commit = Some(commit.id.clone());
    }
    let exit = outcome::show(&result, &arguments.common, program, &shown)?;
    if let Some(tests) = result.tests.as_ref().filter(|_| !result.ok) {
        annotations::print(&project, &outcome::red_tests(&tests.red));
    }
    match commit {
        None => Ok(exit),
        Some(Ok(commit)) => {
            let short: String = commit.id.chars().take(10).collect();
            text::notice(&format!("committed {short} {}", commit.subject));
            Ok(exit)
        }
        Some(Err(why)) => {
            let message = format!("not committed: {}", why.message);
            text::complaint(program, &Complaint::usage(message, why.hint));
            Ok(Exit::Failed)
        }
    }
}

/// Applies what a run recorded and judges it again.
pub(super) fn replay(arguments: &ReplayArguments, program: &str) -> Result<Exit, Complaint> {
    let options = AgentOptions {
        allow_writes: true,
        ..settings::options(None, &arguments.common, None)?
    };
    shown(
        options,
        &arguments.common,
        program,
        |agent, progress, cancel| agent.replay(&arguments.run, progress, cancel),
    )
}

/// Writes what a run proposed and did not keep.
pub(super) fn apply(arguments: &ApplyArguments, program: &str) -> Result<Exit, Complaint> {
    let options = AgentOptions {
        allow_writes: true,
        keep: arguments.keep,
        ..settings::options(None, &arguments.common, None)?
    };
    shown(
        options,
        &arguments.common,
        program,
        |agent, progress, cancel| agent.apply(&arguments.run, progress, cancel),
    )
}

/// Runs the project's tests.
pub(super) fn test(arguments: &TestArguments, program: &str) -> Result<Exit, Complaint> {
    let common = &arguments.common;
    let (folder, tests) = settings::folder_and_tests(&arguments.tests);
    let mut options = AgentOptions {
        require_sandbox: arguments.require_sandbox,
        ..settings::options(folder, common, None)?
    };
    let project = options.project.clone();
    settings::settle_suite(&mut options, &arguments.suite)?;
    let cancel = cancel_on_signal();
    let mut progress = Progress::new(common, &cancel);
    let result = Agent::new(options).test(tests, &mut progress, &cancel)?;
    drop(progress.end());
    super::show(common, &result, || text::test_result(&result))?;
    annotations::print(&project, &outcome::red_tests(&result.failures));
    let exit = outcome::exit_of_tests(&result);
    if result.stopped != Stopped::Done {
        let complaint = Complaint::ending(exit, &result.summary, &result.hint);
        text::complaint(program, &complaint);
    } else {
        text::hint(&result.hint);
    }
    Ok(exit)
}

/// Serves until a signal comes.
pub(super) fn serve(arguments: &ServeArguments) -> Result<Exit, Complaint> {
    let common = &arguments.common;
    let mut options = settings::checked_options(None, common, Some(&arguments.model))?;
    options.allow_writes = arguments.allow_writes;
    settings::warn_of_width(&options.project, common, options.allow_writes);
    let token = arguments
        .token
        .clone()
        .or_else(|| Environment::read().server_token);
    server::serve(ServeOptions {
        agent: options,
        port: arguments.port,
        token,
    })
}

/// Returns a flag that the first Ctrl-C sets; the second ends the program at once.
pub(super) fn cancel_on_signal() -> Cancel {
    let cancel = Cancel::default();
    let flag = cancel.clone();
    let settings = TerminalSettings::current();
    // Without a handler Ctrl-C still ends the program, and the journal can put files back.
    drop(protocol::on_signal(move |_| {
        if flag.stopped() {
            settings.restore();
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        flag.stop();
    }));
    cancel
}
