//! What a shell completes with: names that only the project, the engine or this program knows. Asked for at each Tab.

use std::ffi::OsString;

use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::EnvCompleter;
use harness_agent::config::UserConfig;
use harness_agent::{Agent, AgentOptions, Cancel, Engine};
use harness_hands::permit::{Access, Project};

use crate::cli::args::Arguments;
use crate::editors;

/// The variable by which a shell asks.
const VARIABLE: &str = "HARNESS_COMPLETE";

/// Answers a shell that asks how a line could go on; says whether one did.
pub(super) fn answered(words: &[OsString]) -> bool {
    let here = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(|| with_names(Arguments::command()))
        .var(VARIABLE)
        .try_complete(words.iter().cloned(), here.as_deref());
    // A shell shows nothing where nothing can be said.
    asked.unwrap_or(true)
}

/// Returns what makes a shell ask this program at each Tab.
pub(super) fn registration(shell: &dyn EnvCompleter) -> Vec<u8> {
    let mut script = Vec::new();
    // Writing to memory cannot fail.
    drop(shell.write_registration(VARIABLE, "harness", "harness", "harness", &mut script));
    script
}

/// Adds to each argument what it can be.
fn with_names(command: clap::Command) -> clap::Command {
    command.mut_subcommands(|command| {
        let is_editors = command.get_name() == "editors";
        command.mut_args(|argument| match argument.get_id().as_str() {
            "engine" => argument.add(ArgValueCandidates::new(engines)),
            "model" => argument.add(ArgValueCandidates::new(models)),
            "skills" => argument.add(ArgValueCandidates::new(skills)),
            "run" => argument.add(ArgValueCandidates::new(runs)),
            "name" if is_editors => argument.add(ArgValueCandidates::new(editors)),
            _ => argument,
        })
    })
}

fn engines() -> Vec<CompletionCandidate> {
    let names = Engine::ALL.iter().map(|engine| engine.name());
    names.map(CompletionCandidate::new).collect()
}

fn editors() -> Vec<CompletionCandidate> {
    let known = editors::list().into_iter();
    let named = known.map(|editor| with_help(editor.name, editor.about));
    named.collect()
}

/// Lists the models of the local server; nothing leaves this machine for a Tab.
fn models() -> Vec<CompletionCandidate> {
    let Some(options) = settled().filter(|options| options.engine == Engine::Local) else {
        return Vec::new();
    };
    let found = Agent::new(options).models(&Cancel::default());
    let names = found.unwrap_or_default().into_iter();
    names
        .map(|model| CompletionCandidate::new(model.name))
        .collect()
}

fn skills() -> Vec<CompletionCandidate> {
    let names = settled().map(|options| harness_agent::skill_names(&options.project));
    let names = names.unwrap_or_default().into_iter();
    names.map(CompletionCandidate::new).collect()
}

/// Lists the runs that are remembered, newest first.
fn runs() -> Vec<CompletionCandidate> {
    let folder = settled().map(|options| options.project);
    let project = folder.and_then(|folder| Project::open(&folder, None, Access::ReadOnly).ok());
    let runs = project.and_then(|project| project.runs().ok());
    let runs = runs.unwrap_or_default().into_iter();
    runs.enumerate()
        .map(|(at, run)| with_help(run.id.as_str(), &run.task).display_order(Some(at)))
        .collect()
}

/// Returns the settings that hold in this folder.
fn settled() -> Option<AgentOptions> {
    let mut options = AgentOptions::new(std::env::current_dir().ok()?);
    UserConfig::read().ok()?.settle(&mut options).ok()?;
    Some(options)
}

fn with_help(name: &str, about: &str) -> CompletionCandidate {
    let line = about.lines().next().unwrap_or_default();
    let line: String = crate::show::text::clean(line).chars().take(60).collect();
    CompletionCandidate::new(name).help(Some(line.into()))
}
