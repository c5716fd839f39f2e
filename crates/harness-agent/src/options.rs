//! What a caller may set: the settings, their defaults, and the check that names a wrong field. Reads no environment.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use harness_code::path::RelPath;

use crate::skill;

/// The model of the local engine unless one is named: 8 billion parameters fit a laptop.
pub(crate) const DEFAULT_MODEL: &str = "qwen3:8b";
/// Model turns before a run stops.
pub(crate) const DEFAULT_STEPS: u32 = 20;
/// The length of one model reply.
pub(crate) const DEFAULT_MAX_TOKENS: u32 = 700;

/// Where the model runs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::Display, strum::IntoStaticStr,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Engine {
    /// A local model server with Ollama's API.
    #[default]
    Local,
    /// A runtime that we start ourselves on this machine.
    OnDevice,
    /// Any chat-completions host.
    Remote,
}

impl Engine {
    /// Every engine, in the order that help shows them.
    pub const ALL: [Engine; 3] = [Engine::Local, Engine::OnDevice, Engine::Remote];

    /// Returns the word users write.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the other word that is accepted for it.
    pub fn alias(self) -> &'static str {
        match self {
            Engine::Local => "ollama",
            Engine::OnDevice => "mlx",
            Engine::Remote => "openai",
        }
    }
}

impl FromStr for Engine {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<Engine, OptionsError> {
        Engine::ALL
            .into_iter()
            .find(|engine| engine.name() == text || engine.alias() == text)
            .ok_or_else(|| {
                let message = format!("there is no engine `{}`", shown(text));
                OptionsError::new("engine", message, "engines are local, on-device and remote")
            })
    }
}

/// A setting that cannot be used. Names the field, says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct OptionsError {
    /// The field of [`AgentOptions`] that is wrong.
    pub field: &'static str,
    /// What is wrong with it.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// What lies behind it, where something does.
    #[source]
    pub cause: Option<Cause>,
}

impl OptionsError {
    /// Returns that a field cannot be used, and what to do.
    pub fn new(
        field: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> OptionsError {
        OptionsError {
            field,
            message: message.into(),
            hint: hint.into(),
            cause: None,
        }
    }

    /// Returns that what a field names cannot be read.
    pub fn unreadable(
        field: &'static str,
        error: impl Error + Send + Sync + 'static,
    ) -> OptionsError {
        let hint = "check the folder and its permissions";
        OptionsError::new(field, error.to_string(), hint).because(error)
    }

    /// Returns the same with what lies behind it.
    #[must_use]
    pub(crate) fn because(self, cause: impl Error + Send + Sync + 'static) -> OptionsError {
        OptionsError {
            cause: Some(Cause::of(cause)),
            ..self
        }
    }
}

/// What lies behind an error, for whoever looks into it. Two are the same that say the same.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// Returns an error as the cause of another.
    pub(crate) fn of(error: impl Error + Send + Sync + 'static) -> Cause {
        Cause(Arc::new(error))
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Cause) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

/// The settings of an agent. Plain values; nothing is checked until [`AgentOptions::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOptions {
    /// The folder the agent may read and write inside.
    pub project: PathBuf,
    /// What is asked for, when a call names no task of its own.
    pub task: String,
    /// What was said before the task: shown to the model, never read as part of the task.
    pub context: String,
    /// The model's name.
    pub model: String,
    /// Where the model runs.
    pub engine: Engine,
    /// A subfolder to stay inside; empty means the whole project.
    pub scope: String,
    /// Skills to load; empty means choose from the task.
    pub skills: Vec<String>,
    /// Model turns before a run stops.
    pub steps: u32,
    /// The length of one model reply, in tokens.
    pub max_tokens: u32,
    /// Whether files may change and the project's tests may run.
    pub allow_writes: bool,
    /// Where redacted turns are appended; none means `.harness/traces.jsonl`.
    pub record: Option<PathBuf>,
    /// Whether to write no trace at all.
    pub keep_no_record: bool,
    /// Whether to refuse to run tests where no sandbox can be had.
    pub require_sandbox: bool,
    /// Whether unproven changes that made nothing worse stay on disk.
    pub keep: bool,
    /// Files of the project that the model is shown whole, whatever they hold.
    pub files: Vec<PathBuf>,
    /// Whether a proven change is shown to the listener, who says whether it is kept.
    pub confirm: bool,
    /// How long the whole run may take; none means as long as it needs.
    pub seconds: Option<u32>,
    /// The Python that runs the project's tests; none means the first that has what they need.
    pub python: Option<PathBuf>,
    /// The command that runs the project's tests, word by word; none means what its files tell.
    pub test_command: Option<Vec<String>>,
}

impl AgentOptions {
    /// Returns the defaults for a project.
    pub fn new(project: impl Into<PathBuf>) -> AgentOptions {
        AgentOptions {
            project: project.into(),
            task: String::new(),
            context: String::new(),
            model: DEFAULT_MODEL.to_owned(),
            engine: Engine::default(),
            scope: String::new(),
            skills: Vec::new(),
            steps: DEFAULT_STEPS,
            max_tokens: DEFAULT_MAX_TOKENS,
            allow_writes: true,
            record: None,
            keep_no_record: false,
            require_sandbox: false,
            keep: false,
            files: Vec::new(),
            confirm: false,
            seconds: None,
            python: None,
            test_command: None,
        }
    }

    /// Checks every field against the disk and returns what a run works with.
    pub fn check(&self) -> Result<Checked, OptionsError> {
        let project = folder(&self.project)?;
        let scope = scope_inside(&project, &self.scope)?;
        at_least_one("steps", self.steps)?;
        at_least_one("max_tokens", self.max_tokens)?;
        skill::check_names(&project, &self.skills).map_err(|unknown| {
            let message = format!("there is no skill `{}`", shown(&unknown.name));
            let hint = format!("skills here are {}", unknown.known.join(", "));
            OptionsError::new("skills", message, hint)
        })?;
        if let Some(python) = self.python.as_deref().filter(|python| !python.is_file()) {
            let message = format!("there is no program `{}`", shown(&python.to_string_lossy()));
            let hint = "name the file of a Python interpreter, such as .venv/bin/python";
            return Err(OptionsError::new("python", message, hint));
        }
        let files = self.files.iter().map(|path| file_inside(&project, path));
        let files = files.collect::<Result<_, _>>()?;
        Ok(Checked {
            project,
            scope,
            files,
        })
    }
}

/// What [`AgentOptions::check`] found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The project folder, absolute, links resolved.
    pub project: PathBuf,
    /// The scope inside it, when one was asked for.
    pub scope: Option<RelPath>,
    /// The files that the model is shown whole.
    pub files: Vec<RelPath>,
}

/// Returns a file as the project knows it: named from here, as a shell completes it, or from the project folder.
fn file_inside(project: &Path, path: &Path) -> Result<RelPath, OptionsError> {
    let name = shown(&path.to_string_lossy());
    let wrong = |message| OptionsError::new("file", message, "name a file of the project");
    let real = |path: &Path| {
        std::fs::canonicalize(path)
            .ok()
            .filter(|path| path.is_file())
    };
    let from_here = real(path).filter(|full| full.starts_with(project));
    let full = from_here
        .or_else(|| real(&project.join(path)))
        .ok_or_else(|| wrong(format!("there is no file `{name}` in the project")))?;
    let inside = full.strip_prefix(project).ok();
    inside
        .and_then(|inside| RelPath::parse(inside.to_str()?).ok())
        .ok_or_else(|| wrong(format!("`{name}` lies outside the project")))
}

fn folder(path: &Path) -> Result<PathBuf, OptionsError> {
    let wrong = |message: String, hint: &str| OptionsError::new("project", message, hint);
    let name = shown(&path.to_string_lossy());
    if path.as_os_str().is_empty() {
        return Err(wrong(
            "no project folder is named".to_owned(),
            "name a folder, `.` for this one",
        ));
    }
    let found = std::fs::canonicalize(path).map_err(|error| {
        let told = match error.kind() {
            std::io::ErrorKind::PermissionDenied => wrong(
                format!("the folder `{name}` may not be read"),
                "check its permissions",
            ),
            _ => wrong(
                format!("there is no folder `{name}`"),
                "name a folder that exists",
            ),
        };
        told.because(error)
    })?;
    if !found.is_dir() {
        return Err(wrong(
            format!("`{name}` is not a folder"),
            "name the folder of the project, not a file in it",
        ));
    }
    Ok(found)
}

fn scope_inside(project: &Path, scope: &str) -> Result<Option<RelPath>, OptionsError> {
    let trimmed = scope.trim_end_matches(['/', '\\']);
    if scope.is_empty() || trimmed == "." {
        return Ok(None);
    }
    let hint = "name a subfolder of the project, such as `src`";
    let wrong = |message: String| OptionsError::new("scope", message, hint);
    let name = shown(scope);
    // An absolute path is fine when it lies inside; users paste what their shell completes.
    let text = match std::fs::canonicalize(scope) {
        Ok(full) if Path::new(scope).is_absolute() => match full.strip_prefix(project) {
            Ok(inside) if inside.as_os_str().is_empty() => return Ok(None),
            Ok(inside) => inside.to_string_lossy().into_owned(),
            Err(_) => return Err(wrong(format!("`{name}` lies outside the project"))),
        },
        _ => trimmed.to_owned(),
    };
    let path =
        RelPath::parse(&text).map_err(|_| wrong(format!("`{name}` lies outside the project")))?;
    let full = std::fs::canonicalize(project.join(path.as_str())).map_err(|error| {
        wrong(format!("there is no folder `{name}` in the project")).because(error)
    })?;
    if !full.starts_with(project) {
        return Err(wrong(format!("`{name}` lies outside the project")));
    }
    if !full.is_dir() {
        return Err(wrong(format!("`{name}` is not a folder")));
    }
    Ok(Some(path))
}

fn at_least_one(field: &'static str, value: u32) -> Result<(), OptionsError> {
    if value == 0 {
        let hint = format!("`{field}` is a whole number from 1");
        return Err(OptionsError::new(field, "0 is too few", hint));
    }
    Ok(())
}

/// Returns a user's words fit for one line of a message: short, without control characters.
pub(crate) fn shown(text: &str) -> String {
    /// Long enough for any real path or name, short enough for one screen line or two.
    const LONGEST: usize = 120;
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .take(LONGEST + 1)
        .collect();
    if clean.chars().count() > LONGEST {
        let head: String = clean.chars().take(LONGEST).collect();
        return format!("{head}…");
    }
    clean
}
