//! How a project's tests are run: as the user says, else as the project's files tell.

use std::path::{Path, PathBuf};

use harness_code::suite::{self, Runner, Suite, SuiteEnvironment};
use harness_code::tree::SourceTree;
use harness_hands::prepared;

use crate::config::UserConfig;
use crate::env::Environment;
use crate::options::AgentOptions;

/// Returns how the tests are run, when the project has any: by this run's own settings, by the user's config, or by what
/// its files tell.
pub(crate) fn of(
    tree: &SourceTree,
    options: &AgentOptions,
    config: &UserConfig,
    environment: &Environment,
) -> Option<Suite> {
    let command = || {
        config
            .test_command(tree.root())
            .map(|words| (words, "the user's config"))
    };
    let named = options
        .test_command
        .clone()
        .map(|words| (words, "the user's command"));
    if let Some((words, why)) = named.or_else(command) {
        return Some(commanded(words, why));
    }
    let python = options
        .python
        .clone()
        .or_else(|| config.python(tree.root()));
    told_by_files(tree, python, environment)
}

/// Returns how the tests are run by what the project's files tell, with the Python that the user named.
pub(crate) fn told_by_files(
    tree: &SourceTree,
    python: Option<PathBuf>,
    environment: &Environment,
) -> Option<Suite> {
    with_known(tree, python, environment, |known| {
        suite::detect(tree, known)
    })
}

/// Returns a Python to make an environment with.
pub(crate) fn base_python(
    tree: &SourceTree,
    python: Option<PathBuf>,
    environment: &Environment,
) -> Option<PathBuf> {
    with_known(tree, python, environment, |known| {
        suite::base_python(tree, known)
    })
}

fn with_known<T>(
    tree: &SourceTree,
    python: Option<PathBuf>,
    environment: &Environment,
    look: impl FnOnce(&SuiteEnvironment<'_>) -> T,
) -> T {
    let active = [&environment.virtual_env, &environment.conda];
    look(&SuiteEnvironment {
        python,
        prepared: prepared::environment(tree.root()),
        active: active.into_iter().flatten().cloned().collect(),
        own: environment.own_environment(),
        home: environment.home.clone(),
        find_programs: &|name| environment.find_programs(name),
    })
}

/// Returns the suite that a command runs.
fn commanded(command: Vec<String>, why: &str) -> Suite {
    let first = command.first().map_or("", String::as_str);
    let is_python = Path::new(first)
        .file_stem()
        .is_some_and(|stem| stem.to_string_lossy().starts_with("python"));
    Suite {
        runner: Runner::of_command(&command),
        interpreter: is_python.then(|| first.to_owned()),
        interpreter_why: is_python.then(|| why.to_owned()),
        missing: Vec::new(),
        command,
        folder: None,
        why: why.to_owned(),
    }
}
