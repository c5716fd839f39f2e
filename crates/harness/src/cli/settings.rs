//! Settings from words: flags first, then the environment, then the user's own config file.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use harness_agent::AgentOptions;
use harness_agent::config::UserConfig;

use crate::cli::args::{CommonArguments, ModelArguments, SuiteArguments};
use crate::show::text::{self, Complaint};

/// A task is a sentence or a pasted report; more than this is a mistake such as a wrong file.
const LONGEST_TASK: usize = 8 * 1024 * 1024;

/// Folders that hold a system and not a project.
const SYSTEM_FOLDERS: &[&str] = &[
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/share",
    "/usr/local",
    "/etc",
    "/bin",
    "/sbin",
    "/lib",
    "/opt",
    "/var",
    "/boot",
    "/dev",
    "/proc",
    "/sys",
    "/System",
    "/Library",
    "/Applications",
    "C:\\Windows",
    "C:\\Program Files",
];

/// Returns the project folder: the positional one, `--project`, or this folder.
pub(super) fn project(
    positional: Option<&Path>,
    common: &CommonArguments,
) -> Result<PathBuf, Complaint> {
    match (positional, &common.project) {
        (Some(first), Some(second)) if first != second.as_path() => Err(Complaint::usage(
            format!(
                "two project folders are named: `{}` and `{}`",
                first.display(),
                second.display()
            ),
            "name one of them",
        )),
        (Some(folder), _) => Ok(folder.to_owned()),
        (None, Some(folder)) => Ok(folder.clone()),
        (None, None) => Ok(PathBuf::from(".")),
    }
}

/// Warns of a folder that is far more than a project.
pub(super) fn warn_of_width(project: &Path, common: &CommonArguments, may_write: bool) {
    if let Some(what) = too_wide(project).filter(|_| !common.quiet) {
        let shown = project.display();
        let changed = if may_write { " and may be changed" } else { "" };
        text::notice(&format!(
            "warning: `{shown}` is {what}, not a project: all of it is read{changed}"
        ));
        text::notice("hint: name the folder of one project");
    }
}

/// Returns the settings that flags and the user's files make, for the folder that is named.
pub(super) fn options(
    folder: Option<&Path>,
    common: &CommonArguments,
    model: Option<&ModelArguments>,
) -> Result<AgentOptions, Complaint> {
    let mut options = AgentOptions::new(project(folder, common)?);
    UserConfig::read()?.settle(&mut options)?;
    if let Some(engine) = &common.engine {
        options.engine = engine.parse().map_err(Complaint::from)?;
    }
    if let Some(name) = &common.model {
        options.model.clone_from(name);
    }
    options.scope = common.scope.clone().unwrap_or_default();
    options.keep_no_record = common.no_record;
    if let Some(model) = model {
        options.skills.clone_from(&model.skills);
        options.steps = model.steps.unwrap_or(options.steps);
        options.max_tokens = model.max_tokens.unwrap_or(options.max_tokens);
        options.record.clone_from(&model.record);
    }
    Ok(options)
}

/// Returns the same once they are known to be right, with the project's whole path.
pub(super) fn checked_options(
    folder: Option<&Path>,
    common: &CommonArguments,
    model: Option<&ModelArguments>,
) -> Result<AgentOptions, Complaint> {
    let mut options = options(folder, common, model)?;
    options.project = options.check()?.project;
    Ok(options)
}

/// Settles how the tests are run this time.
pub(super) fn settle_suite(
    options: &mut AgentOptions,
    suite: &SuiteArguments,
) -> Result<(), Complaint> {
    // From here, as a shell completes it; a link in an environment stays one.
    options.python = suite
        .python
        .as_deref()
        .and_then(|path| std::path::absolute(path).ok());
    if let Some(text) = &suite.test_command {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        let wrong = || {
            Complaint::usage(
                "`--test-command` is no command",
                "write it as in a shell: --test-command \"python -m pytest -x\"",
            )
        };
        options.test_command = Some(words.ok_or_else(wrong)?);
    }
    Ok(())
}

/// Says what a folder is that holds far more than a project.
pub(super) fn too_wide(project: &Path) -> Option<&'static str> {
    let project = std::fs::canonicalize(project).ok()?;
    let home = harness_hands::user::home_folder();
    let home = home.and_then(|home| std::fs::canonicalize(home).ok());
    if project.parent().is_none() {
        Some("a whole disk")
    } else if home.is_some_and(|home| home.starts_with(&project)) {
        Some("a home folder")
    } else {
        // Some of them are links to others.
        let is_it = |known: &&str| std::fs::canonicalize(known).is_ok_and(|known| known == project);
        let is_system = SYSTEM_FOLDERS.iter().any(is_it);
        is_system.then_some("a folder of the system")
    }
}

/// Splits `[DIR] TASK` into the folder and the task's text.
pub(super) fn folder_and_task(
    words: &[OsString],
    what: &str,
) -> Result<(Option<PathBuf>, String), Complaint> {
    let missing = || {
        Complaint::usage(
            format!("the {what} is missing"),
            "write it in quotes after the folder, or `-` to read it from standard input",
        )
        .about("task")
    };
    let (folder, task) = split(words).ok_or_else(missing)?;
    let text = match task {
        [only] if only == "-" => standard_input()?,
        _ if is_ambiguous(words) => {
            let first = words.first().map(|word| word.to_string_lossy());
            let first = first.unwrap_or_default();
            let message = format!("`{first}` may be a folder or part of the {what}");
            return Err(Complaint::usage(
                message,
                format!("write the {what} in quotes"),
            ));
        }
        task => {
            let words: Result<Vec<String>, Complaint> = task.iter().map(utf8).collect();
            words?.join(" ")
        }
    };
    if text.trim().is_empty() {
        return Err(missing());
    }
    Ok((folder, text))
}

/// Splits `[DIR] [TEST...]`: a folder by its whole path or of dots alone is the project, any other one holds tests.
pub(super) fn folder_and_tests(words: &[String]) -> (Option<&Path>, &[String]) {
    let of_dots = |path: &Path| {
        let mut parts = path.components();
        parts.all(|part| matches!(part, Component::CurDir | Component::ParentDir))
    };
    match words {
        [first, tests @ ..] if Path::new(first).is_dir() => {
            let path = Path::new(first);
            match path.is_absolute() || of_dots(path) {
                true => (Some(path), tests),
                false => (None, words),
            }
        }
        _ => (None, words),
    }
}

/// Splits the words into the folder and the rest: a folder that is there, or what stands before a quoted text.
fn split(words: &[OsString]) -> Option<(Option<PathBuf>, &[OsString])> {
    let is_quoted = |word: &OsString| word.to_string_lossy().contains(char::is_whitespace);
    match words {
        [] => None,
        [only] if Path::new(only).is_dir() => None,
        [_] => Some((None, words)),
        [folder, rest @ ..] if Path::new(folder).is_dir() => {
            Some((Some(PathBuf::from(folder)), rest))
        }
        [folder, task] if (is_quoted(task) || task == "-") && !is_quoted(folder) => {
            Some((Some(PathBuf::from(folder)), &words[1..]))
        }
        // Words that nobody quoted.
        _ => Some((None, words)),
    }
}

/// Says whether the first of several words could be a folder or the beginning of a sentence: "tests should pass".
fn is_ambiguous(words: &[OsString]) -> bool {
    let [first, _, _, ..] = words else {
        return false;
    };
    let name = first.to_string_lossy();
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_plain && Path::new(first).is_dir()
}

fn utf8(word: &OsString) -> Result<String, Complaint> {
    word.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Complaint::usage("the task is not valid UTF-8", "write it in UTF-8"))
}

fn standard_input() -> Result<String, Complaint> {
    let mut bytes = Vec::new();
    let limit = LONGEST_TASK as u64 + 1;
    let read = std::io::stdin().lock().take(limit).read_to_end(&mut bytes);
    read.map_err(|error| {
        Complaint::usage(
            format!("standard input cannot be read: {error}"),
            "pass the task in quotes",
        )
    })?;
    if bytes.len() > LONGEST_TASK {
        return Err(Complaint::usage(
            "the task on standard input is longer than 8 MiB",
            "pass the part that matters",
        ));
    }
    String::from_utf8(bytes).map_err(|_| {
        Complaint::usage(
            "standard input is not valid UTF-8",
            "write the task in UTF-8",
        )
    })
}
