//! The user's own config file: what they settled for themselves. Nothing inside a project is read here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use harness_code::hidden::Hidden;
use harness_hands::user;
use serde::Deserialize;

use crate::env::Environment;
use crate::options::{AgentOptions, OptionsError, shown};

/// The file's name in the user's config folder.
const FILE: &str = "config.toml";
/// Larger than any config a person writes.
const LARGEST: u64 = 1024 * 1024;

/// What the file may say. Everything is optional; a word it does not know is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserConfig {
    /// The engine, where no flag names one.
    pub engine: Option<String>,
    /// The model, where no flag names one.
    pub model: Option<String>,
    /// The most model turns.
    pub steps: Option<u32>,
    /// The longest reply, in tokens.
    pub max_tokens: Option<u32>,
    /// How the model is asked; left open, the task and the engine decide.
    pub form: Option<Form>,
    /// Whether small changes are tried beside the model; they are unless this says no.
    pub search: Option<bool>,
    /// The local engine's host, where `OLLAMA_HOST` is not set.
    pub local_host: Option<String>,
    /// The remote engine's base address, where `HARNESS_BASE_URL` is not set.
    pub base_url: Option<String>,
    /// The outbound limit, where `HARNESS_MAX_SEND` is not set.
    pub max_send: Option<u64>,
    /// How long the tests of a project may run, in seconds.
    pub test_seconds: Option<u64>,
    /// How long a single test may run, in seconds.
    pub test_seconds_each: Option<u64>,
    /// Places that tests may read beside the project, the system and their toolchain.
    #[serde(default)]
    pub test_readable: Vec<PathBuf>,
    /// Names of variables that tests inherit beside those that hold no secret by their meaning.
    #[serde(default)]
    pub test_variables: Vec<String>,
    /// Files that no model is ever shown, written as in a `.gitignore`.
    #[serde(default)]
    pub never_show: Vec<String>,
    /// What is settled for single projects.
    #[serde(default)]
    pub project: Vec<ProjectConfig>,
}

/// How a model is asked to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One whole definition in a fenced block, where the place is known.
    Fenced,
    /// Turn by turn, with actions.
    Actions,
    /// Turn by turn, one JSON object a reply.
    Json,
}

/// What is settled for one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectConfig {
    /// Its folder.
    pub path: PathBuf,
    /// The command that runs its tests, word by word.
    pub tests: Option<Vec<String>>,
    /// The Python that runs its tests.
    pub python: Option<PathBuf>,
}

impl UserConfig {
    /// Reads the user's file; without one everything is left open.
    pub fn read() -> Result<UserConfig, OptionsError> {
        match user::config_folder() {
            Some(folder) => UserConfig::read_from(&folder.join(FILE)),
            None => Ok(UserConfig::default()),
        }
    }

    fn read_from(path: &Path) -> Result<UserConfig, OptionsError> {
        let hint = "mend the file, or move it away; docs/reference/config.md lists what it may say";
        let wrong = |message: String| {
            OptionsError::new("config", format!("`{}`: {message}", path.display()), hint)
        };
        let unreadable = |error: std::io::Error| wrong(error.to_string()).because(error);
        let facts = match std::fs::metadata(path) {
            Ok(facts) => facts,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(UserConfig::default());
            }
            Err(error) => return Err(unreadable(error)),
        };
        if !facts.is_file() || facts.len() > LARGEST {
            return Err(wrong("not a file of settings".to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let mut config: UserConfig = toml::from_str(&text).map_err(|error| {
            let place = error
                .span()
                .map(|span| text[..span.start].matches('\n').count() + 1);
            let line = place.map_or(String::new(), |line| format!("line {line}: "));
            wrong(format!("{line}{}", shown(error.message()))).because(error)
        })?;
        config.check_tests(user::home_folder()).map_err(wrong)?;
        config.hidden().map_err(wrong)?;
        Ok(config)
    }

    /// Looks at what tests are given beside the usual; `~` is the home folder.
    fn check_tests(&mut self, home: Option<PathBuf>) -> Result<(), String> {
        if self.test_seconds_each == Some(0) {
            return Err("test_seconds_each: no test ends in 0 seconds".to_owned());
        }
        for place in &mut self.test_readable {
            if let (Ok(rest), Some(home)) = (place.strip_prefix("~"), &home) {
                *place = home.join(rest);
            }
            let text = shown(&place.display().to_string());
            if !place.is_absolute() {
                return Err(format!("test_readable: `{text}` is no absolute path"));
            }
            // Walls hold what a path leads to, and must not be widened by a way around it.
            *place = std::fs::canonicalize(&*place).unwrap_or_else(|_| place.clone());
            if home.as_ref().is_some_and(|home| home.starts_with(&*place)) {
                return Err(format!(
                    "test_readable: `{text}` would open the whole home folder to the tests"
                ));
            }
        }
        let is_name = |name: &&String| {
            let mut letters = name.chars();
            letters
                .next()
                .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
                && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        match self.test_variables.iter().find(|name| !is_name(name)) {
            Some(name) => Err(format!(
                "test_variables: `{}` is no name of a variable",
                shown(name)
            )),
            None => Ok(()),
        }
    }

    /// Fills in the settings that no flag has named; the caller's flags come after this.
    pub fn settle(&self, options: &mut AgentOptions) -> Result<(), OptionsError> {
        if let Some(engine) = &self.engine {
            options.engine = engine.parse()?;
        }
        if let Some(model) = &self.model {
            options.model.clone_from(model);
        }
        options.steps = self.steps.unwrap_or(options.steps);
        options.max_tokens = self.max_tokens.unwrap_or(options.max_tokens);
        Ok(())
    }

    /// Returns the environment with what the file adds to it.
    pub fn complete(&self, environment: Environment) -> Environment {
        Environment {
            local_host: environment.local_host.or_else(|| self.local_host.clone()),
            base_url: environment.base_url.or_else(|| self.base_url.clone()),
            max_send: environment
                .max_send
                .or_else(|| self.max_send.map(|limit| limit.to_string())),
            ..environment
        }
    }

    /// Returns what no model is shown; an error names the pattern that cannot be read.
    pub fn hidden(&self) -> Result<Hidden, String> {
        Hidden::listed(&self.never_show).map_err(|pattern| {
            format!(
                "never_show: `{}` is no pattern of files of a project",
                shown(&pattern)
            )
        })
    }

    /// Returns how long tests may run, when the user settled it.
    pub(crate) fn test_time(&self) -> Option<Duration> {
        self.test_seconds.map(Duration::from_secs)
    }

    /// Returns how long a single test may run, when the user settled it.
    pub(crate) fn test_time_each(&self) -> Option<Duration> {
        self.test_seconds_each.map(Duration::from_secs)
    }

    /// Returns the test command that the user settled for a project.
    pub fn test_command(&self, project: &Path) -> Option<Vec<String>> {
        let command = self.of_project(project)?.tests.clone();
        command.filter(|words| !words.is_empty())
    }

    /// Returns the Python that the user settled for a project's tests.
    pub fn python(&self, project: &Path) -> Option<PathBuf> {
        self.of_project(project)?.python.clone()
    }

    fn of_project(&self, project: &Path) -> Option<&ProjectConfig> {
        let is_it = |known: &&ProjectConfig| {
            std::fs::canonicalize(&known.path).is_ok_and(|path| path == project)
        };
        self.project.iter().find(is_it)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests write a config file")]
mod tests {
    use super::UserConfig;
    use crate::options::{AgentOptions, Engine};

    fn read(text: &str) -> Result<UserConfig, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        UserConfig::read_from(&path).map_err(|error| error.message)
    }

    #[test]
    fn settings_come_from_the_file() {
        let config =
            read("engine = \"remote\"\nmodel = \"small\"\nsteps = 5\nbase_url = \"http://x/v1\"\n")
                .unwrap();
        let mut options = AgentOptions::new(".");
        config.settle(&mut options).unwrap();
        assert_eq!(
            (options.engine, options.model.as_str(), options.steps),
            (Engine::Remote, "small", 5)
        );
        let environment = config.complete(crate::env::Environment::default());
        assert_eq!(environment.base_url.as_deref(), Some("http://x/v1"));
    }

    #[test]
    fn a_broken_file_says_which_line() {
        let message = read("steps = 5\nmodel = \n").unwrap_err();
        assert!(
            message.contains("config.toml") && message.contains("line 2"),
            "{message}"
        );
        let message = read("stepz = 5\n").unwrap_err();
        assert!(message.contains("stepz"), "{message}");
    }

    #[test]
    fn what_lies_behind_an_error_is_kept() {
        let error = AgentOptions::new("/no/such/folder").check().unwrap_err();
        let cause = std::error::Error::source(&error).unwrap();
        assert!(cause.to_string().contains("os error"), "{cause}");
        assert!(!error.message.contains("os error"), "{}", error.message);
    }

    #[test]
    fn what_tests_may_read_and_inherit_is_settled() {
        let folder = tempfile::tempdir().unwrap();
        let place = std::fs::canonicalize(folder.path()).unwrap();
        let text = format!("test_readable = [{place:?}]\ntest_variables = [\"DATABASE_URL\"]\n");
        let config = read(&text).unwrap();
        assert_eq!(
            (config.test_readable, config.test_variables),
            (vec![place], vec!["DATABASE_URL".to_owned()])
        );
        for (text, words) in [
            ("test_readable = [\"data\"]", "no absolute path"),
            ("test_readable = [\"/\"]", "the whole home folder"),
            ("test_readable = [\"~\"]", "the whole home folder"),
            ("test_variables = [\"A=b\"]", "no name of a variable"),
            ("test_variables = [\"\"]", "no name of a variable"),
            ("test_seconds_each = 0", "no test ends in 0 seconds"),
            (
                "never_show = [\"*.pem\", \"~/keys\"]",
                "never_show: `~/keys` is no",
            ),
            ("never_show = [\"a{b\"]", "never_show: `a{b` is no"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(words), "{text}: {message}");
        }
    }

    #[test]
    fn no_file_settles_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            UserConfig::read_from(&folder.path().join("config.toml")),
            Ok(UserConfig::default())
        );
    }

    #[test]
    fn the_test_command_of_a_project_is_the_user_s() {
        let folder = tempfile::tempdir().unwrap();
        let project = std::fs::canonicalize(folder.path()).unwrap();
        let text = format!(
            "[[project]]\npath = {project:?}\ntests = [\"python3\", \"-m\", \"pytest\", \"-x\"]\n"
        );
        let config = read(&text).unwrap();
        let words = config.test_command(&project).unwrap();
        assert_eq!(words, ["python3", "-m", "pytest", "-x"]);
        assert_eq!(
            config.test_command(std::path::Path::new("/elsewhere")),
            None
        );
    }
}
