//! Environments that `prepare` made: one for each project, in the user's cache folder, never in the project.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::path::RelPath;
use serde::{Deserialize, Serialize};

use crate::door::Door;
use crate::process::private::Private;
use crate::process::runner::{Job, Reach, Runner};
use crate::process::{Ended, Limits};
use crate::scratch::copy_project;
use crate::{environment, user};

/// What a finished environment says of itself.
const READY: &str = "ready.json";
/// The two parts of a place. They take turns: while one is filled, what was prepared before stays in use in the other.
const PARTS: [&str; 2] = ["a", "b"];
/// Where Node looks for packages.
const NODE_MODULES: &str = "node_modules";
/// Where they are in a part.
const NODE: &str = "node";
/// Who fills it holds this file.
const LOCK: &str = "lock";

/// What one step may take: large packages are compiled.
const STEP: Limits = Limits {
    time: Duration::from_secs(3600),
    output: 512 * 1024,
};

/// Settings of package managers that a step is given, since they say where packages come from. They may hold a password
/// for the index, which the packages' own build code can then see, as with pip itself.
const INDEX: &str = "\
    PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_CERT PIP_FIND_LINKS PIP_NO_INDEX \
    UV_INDEX_URL UV_DEFAULT_INDEX UV_INDEX UV_FIND_LINKS UV_NO_INDEX UV_NATIVE_TLS HTTPS_PROXY \
    HTTP_PROXY NO_PROXY https_proxy http_proxy no_proxy REQUESTS_CA_BUNDLE NPM_CONFIG_REGISTRY \
    npm_config_registry NODE_EXTRA_CA_CERTS GOPROXY GONOSUMDB GOPRIVATE GOSUMDB";

/// One command on the way to an environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrepareStep {
    /// What it does, for a person.
    pub about: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it finds in its environment beside the usual.
    pub variables: Vec<(String, String)>,
    /// The part of the project, in the copy, where it is started.
    pub folder: Option<RelPath>,
}

impl PrepareStep {
    /// Returns the command as one would type it.
    pub fn typed(&self) -> String {
        let is_plain = |word: &str| {
            let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
            !word.is_empty() && word.chars().all(plain)
        };
        let quoted = |word: &String| match is_plain(word) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        };
        let words: Vec<String> = self.command.iter().map(quoted).collect();
        let words = words.join(" ");
        match &self.folder {
            Some(folder) => format!("cd {} && {words}", quoted(&folder.to_string())),
            None => words,
        }
    }
}

/// Why a step did not do.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// Another one is at work.
    #[error("another `harness prepare` is at work for this project")]
    Busy,
    /// There is no place for it.
    #[error("the user's cache folder is not known")]
    NoCache,
    /// The folder could not be made or read.
    #[error("`{}`: {}", .0.display(), crate::door::reason(.1))]
    Folder(PathBuf, std::io::Error),
    /// The copy could not be made.
    #[error("the project could not be copied: {0}")]
    Copy(String),
    /// It could not be started.
    #[error("{0}")]
    Start(String),
    /// It ended badly; the text is the end of what it said.
    #[error("`{command}` failed")]
    Failed {
        /// What was started.
        command: String,
        /// The end of what it said.
        said: String,
    },
    /// Somebody stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// The permission to fill one project's place. It ends with its owner, however that ends.
#[derive(Debug)]
pub struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // Closing the file would do; a child that still shares it for a moment must not hold it on.
        let _ = self.0.unlock();
    }
}

/// The place of one project's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preparation {
    folder: PathBuf,
    /// The part that is in use.
    finished: Option<PathBuf>,
    /// The part that is filled next.
    filled: PathBuf,
}

/// What stands in the file of a place that is ready.
#[derive(Serialize, Deserialize)]
struct Ready {
    part: String,
    steps: Vec<PrepareStep>,
}

/// Returns the environment that was prepared for a project, where it is finished.
pub fn environment(project: &Path) -> Option<PathBuf> {
    let python = python_in(&Preparation::of(project)?.finished?);
    // A link that build code left in its place leads nowhere.
    let found = std::fs::symlink_metadata(&python).ok()?;
    found.is_dir().then_some(python)
}

/// Returns the packages that were prepared for the part of a project in a folder, where Node finds none beside the code.
pub fn node_modules(project: &Path, folder: Option<&RelPath>) -> Option<PathBuf> {
    let place = Preparation::of(project)?;
    let packages = packages_in(&place.finished?, folder).join(NODE_MODULES);
    packages.is_dir().then_some(packages)
}

fn python_in(part: &Path) -> PathBuf {
    part.join("python")
}

fn packages_in(part: &Path, folder: Option<&RelPath>) -> PathBuf {
    let node = part.join(NODE);
    folder.map_or_else(|| node.clone(), |folder| folder.under(&node))
}

impl Preparation {
    /// Returns the place for a project's environment.
    pub fn of(project: &Path) -> Option<Preparation> {
        let name = blake3::hash(project.as_os_str().as_encoded_bytes()).to_hex();
        let folder = user::cache_folder()?.join("environments").join(&name[..16]);
        Some(Preparation::in_folder(folder))
    }

    fn in_folder(folder: PathBuf) -> Preparation {
        let text = std::fs::read(folder.join(READY)).unwrap_or_default();
        let ready: Option<Ready> = serde_json::from_slice(&text).ok();
        let used = PARTS
            .iter()
            .find(|part| ready.as_ref().is_some_and(|ready| ready.part == **part));
        let free = PARTS.iter().find(|part| Some(*part) != used);
        Preparation {
            finished: used.map(|part| folder.join(part)),
            filled: folder.join(free.unwrap_or(&PARTS[0])),
            folder,
        }
    }

    /// Returns the folder that holds all of it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns where the environment is, or will be.
    pub fn environment(&self) -> PathBuf {
        python_in(&self.filled)
    }

    /// Returns where the copy of the project lies while it is built.
    pub fn copy(&self) -> PathBuf {
        self.folder.join("source")
    }

    /// Keeps the packages that Node's installer put into the copy.
    pub fn keep_packages(&self, folder: Option<&RelPath>) -> Result<(), PrepareError> {
        // Scripts of packages ran in both places: a link that one of them left leads nowhere.
        let within = folder.map_or("", RelPath::as_str).split('/');
        let mut from = self.copy();
        for name in within.filter(|name| !name.is_empty()).chain([NODE_MODULES]) {
            from.push(name);
            match std::fs::symlink_metadata(&from) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(PrepareError::Folder(from, ErrorKind::NotADirectory.into())),
                // There was nothing to install.
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(PrepareError::Folder(from, error)),
            }
        }
        let wrong = |error| PrepareError::Folder(self.folder.clone(), error);
        let _ = std::fs::remove_dir_all(self.filled.join(NODE));
        let to = packages_in(&self.filled, folder);
        std::fs::create_dir_all(&to).map_err(wrong)?;
        std::fs::rename(from, to.join(NODE_MODULES)).map_err(wrong)
    }

    /// Returns where the versions stand that are settled.
    pub fn constraints(&self) -> PathBuf {
        self.folder.join("constraints.txt")
    }

    /// Writes the versions that are settled.
    pub fn settle(&self, constraints: &[String]) -> Result<(), PrepareError> {
        let wrong = |error| PrepareError::Folder(self.folder.clone(), error);
        std::fs::write(self.constraints(), constraints.join("\n")).map_err(wrong)
    }

    /// Removes all of it; says whether there was anything.
    pub fn remove(&self) -> Result<bool, PrepareError> {
        match std::fs::remove_dir_all(&self.folder) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(PrepareError::Folder(self.folder.clone(), error)),
        }
    }

    /// Lays the folder out and copies the project into it, so that building it changes nothing of the user's. The place
    /// is the caller's as long as what is returned lives.
    pub fn begin(&self, door: &Door) -> Result<Held, PrepareError> {
        let wrong = |error| PrepareError::Folder(self.folder.clone(), error);
        std::fs::create_dir_all(&self.folder).map_err(wrong)?;
        let lock = File::create(self.folder.join(LOCK)).map_err(wrong)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(PrepareError::Busy),
            // A file system without locks: nobody can be told apart there.
            Err(TryLockError::Error(_)) => {}
        }
        // Another one came to its end since this one looked: what it filled is in use.
        if Preparation::in_folder(self.folder.clone()) != *self {
            return Err(PrepareError::Busy);
        }
        for folder in [&self.filled, &self.copy()] {
            let _ = std::fs::remove_dir_all(folder);
        }
        std::fs::create_dir_all(&self.filled).map_err(wrong)?;
        copy_project(door, &self.copy()).map_err(|error| PrepareError::Copy(error.to_string()))?;
        Ok(Held(lock))
    }

    /// Writes what npm may know of the user's settings, and returns the variable that leads it there.
    fn npm_settings(&self) -> Option<(&'static str, PathBuf)> {
        let text = std::fs::read_to_string(environment::home()?.join(".npmrc")).ok()?;
        let file = self.folder.join("npmrc");
        std::fs::write(&file, without_credentials(&text)).ok()?;
        Some(("npm_config_userconfig", file))
    }

    /// Runs one step: with the network, confined to its own folder, the project only to be read.
    pub fn perform(
        &self,
        runner: &Runner,
        step: &PrepareStep,
        cancel: &AtomicBool,
    ) -> Result<(), PrepareError> {
        let (program, arguments) = step
            .command
            .split_first()
            .ok_or_else(|| PrepareError::Start("there is nothing to start".to_owned()))?;
        let private =
            Private::new().map_err(|error| PrepareError::Folder(std::env::temp_dir(), error))?;
        let cache = user::cache_folder().ok_or(PrepareError::NoCache)?;
        let settings = pip_settings();
        let mut variables = step_variables(step, &cache);
        let told = settings.clone().map(|file| ("PIP_CONFIG_FILE", file));
        let told = told.into_iter().chain(self.npm_settings());
        variables.extend(told.map(|(name, file)| (name, file.into_os_string())));
        let caches = ["pip", "uv", "npm"].map(|name| cache.join(name));
        for folder in &caches {
            let _ = std::fs::create_dir_all(folder);
        }
        let mut writable = vec![self.filled.clone(), self.copy()];
        writable.extend(caches);
        let found = runner
            .find(Path::new(program))
            .map_err(|error| PrepareError::Start(error.to_string()))?;
        // Only for a tool that is there: its folders are made.
        let homes = tool_homes(program);
        writable.extend(homes.iter().flat_map(|home| home.filled.clone()));
        variables.extend(
            homes
                .iter()
                .map(|home| (home.variable, home.folder.clone().into())),
        );
        let links = environment::folder("PIP_FIND_LINKS");
        let mut readable: Vec<PathBuf> = settings.into_iter().chain(links).collect();
        let is_free = |place: &PathBuf| !writable.iter().any(|open| place.starts_with(open));
        readable.push(self.folder.clone());
        readable.extend(homes.iter().map(|home| home.folder.clone()));
        readable.extend(toolchain(&found).into_iter().filter(is_free));
        // A file of requirements may ask for `.`, and means the project.
        let copy = self.copy();
        let folder = step
            .folder
            .as_ref()
            .map_or(copy.clone(), |folder| folder.under(&copy));
        let job = Job {
            program: &found,
            arguments: arguments.iter().map(OsString::from).collect(),
            folder: if folder.is_dir() {
                &folder
            } else {
                &self.folder
            },
            environment: variables,
            reach: Reach::Install { readable, writable },
            limits: STEP,
        };
        let finished = runner
            .run(&job, &private, cancel)
            .map_err(|error| PrepareError::Start(error.to_string()))?;
        match finished.ended {
            Ended::Interrupted => Err(PrepareError::Interrupted),
            Ended::Exit(0) => Ok(()),
            _ => {
                let said = format!(
                    "{}\n{}",
                    finished.stdout.end(2000),
                    finished.stderr.end(4000)
                );
                let command = step.command.join(" ");
                Err(PrepareError::Failed {
                    command,
                    said: said.trim().to_owned(),
                })
            }
        }
    }

    /// Says that all is there, from which moment it is used; what was built from and what was used before go.
    pub fn finish(&self, steps: &[PrepareStep]) -> Result<(), PrepareError> {
        let wrong = |error| PrepareError::Folder(self.folder.clone(), error);
        let _ = std::fs::remove_dir_all(self.copy());
        let part = self.filled.file_name().unwrap_or_default();
        let ready = Ready {
            part: part.to_string_lossy().into_owned(),
            steps: steps.to_vec(),
        };
        let text = serde_json::to_string_pretty(&ready).unwrap_or_default();
        let written = self.folder.join("ready.json.new");
        std::fs::write(&written, text).map_err(wrong)?;
        std::fs::rename(written, self.folder.join(READY)).map_err(wrong)?;
        if let Some(before) = &self.finished {
            let _ = std::fs::remove_dir_all(before);
        }
        Ok(())
    }
}

/// A folder of the user's that a tool fetches into.
struct ToolHome {
    variable: &'static str,
    folder: PathBuf,
    /// What it changes in there, made where it is not there yet: a tool could fetch, and what it fetched would be lost.
    filled: Vec<PathBuf>,
}

/// Returns the user's folders of a tool that fetches. Fetching runs no code of the project.
fn tool_homes(program: &str) -> Vec<ToolHome> {
    let known: &[(&str, &str, &[&str])] = match program {
        "cargo" => &[
            (
                "CARGO_HOME",
                ".cargo",
                &[
                    "registry/",
                    "git/",
                    ".package-cache",
                    ".package-cache-mutate",
                    ".global-cache",
                ],
            ),
            ("RUSTUP_HOME", ".rustup", &[]),
        ],
        "go" => &[("GOPATH", "go", &["pkg/"])],
        _ => &[],
    };
    let home = |(variable, usual, filled): &(&'static str, &str, &[&str])| {
        let folder = match filled {
            [] => environment::tool_home(variable, usual)?,
            _ => environment::tool_place(variable, usual)?,
        };
        for name in *filled {
            // What cannot be made is told by the tool itself, in its own words.
            let _ = match name.ends_with('/') {
                true => std::fs::create_dir_all(folder.join(name)),
                false => File::options()
                    .create(true)
                    .append(true)
                    .open(folder.join(name))
                    .map(drop),
            };
        }
        let filled = filled.iter().map(|name| folder.join(name));
        Some(ToolHome {
            variable,
            filled: filled.filter(|place| place.exists()).collect(),
            folder,
        })
    };
    known.iter().filter_map(home).collect()
}

/// Returns what a step finds in its environment: where caches are, and where packages come from.
fn step_variables<'s>(step: &'s PrepareStep, cache: &Path) -> Vec<(&'s str, OsString)> {
    let kept = |name: &str| cache.join(name).into_os_string();
    let mut variables: Vec<(&str, OsString)> = vec![
        ("PIP_CACHE_DIR", kept("pip")),
        ("UV_CACHE_DIR", kept("uv")),
        ("npm_config_cache", kept("npm")),
        ("UV_LINK_MODE", "copy".into()),
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1".into()),
        ("PIP_NO_INPUT", "1".into()),
    ];
    let told = step.variables.iter();
    variables.extend(told.map(|(name, value)| (name.as_str(), value.into())));
    for name in INDEX.split_ascii_whitespace() {
        variables.extend(environment::value(name).map(|value| (name, value)));
    }
    variables
}

/// Returns npm's settings of a user without what lets one in: the code of packages could read it, and publish with it.
fn without_credentials(settings: &str) -> String {
    let is_open = |line: &&str| {
        let name = line.split('=').next().unwrap_or_default().to_lowercase();
        let name = name.rsplit(':').next().unwrap_or_default().trim();
        !name.starts_with('_')
            && !["username", "email", "cert", "key", "certfile", "keyfile"].contains(&name)
    };
    let lines = settings.lines().filter(is_open);
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns the user's own file of pip's settings.
fn pip_settings() -> Option<PathBuf> {
    let named = environment::value("PIP_CONFIG_FILE").map(PathBuf::from);
    let home = environment::home();
    let usual = [
        ".config/pip/pip.conf",
        ".pip/pip.conf",
        "Library/Application Support/pip/pip.conf",
    ];
    let usual = usual
        .iter()
        .filter_map(|name| Some(home.as_ref()?.join(name)));
    named.into_iter().chain(usual).find(|file| file.is_file())
}

/// Returns the folders that a program's own files lie in, where it is not the system's.
fn toolchain(program: &Path) -> Vec<PathBuf> {
    let real = program
        .canonicalize()
        .unwrap_or_else(|_| program.to_path_buf());
    let places = [program, real.as_path()]
        .into_iter()
        .filter_map(|file| file.parent()?.parent());
    places.map(Path::to_path_buf).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_types_it() {
        let step = |words: &[&str]| PrepareStep {
            about: String::new(),
            command: words.iter().map(ToString::to_string).collect(),
            variables: Vec::new(),
            folder: None,
        };
        assert_eq!(
            step(&["pip", "install", "a>=1", ".[test]"]).typed(),
            "pip install 'a>=1' '.[test]'"
        );
        assert_eq!(step(&["echo", "it's", ""]).typed(), r"echo 'it'\''s' ''");
    }

    #[test]
    fn each_project_has_a_place_of_its_own_outside_of_it() {
        let (a, b) = (
            Preparation::of(Path::new("/a")),
            Preparation::of(Path::new("/b")),
        );
        assert_ne!(a, b);
        assert!(a.is_none_or(|place| !place.folder().starts_with("/a")));
        assert_eq!(environment(Path::new("/no/such/project")), None);
    }

    #[test]
    fn npm_is_told_where_packages_are_and_not_who_asks() {
        let settings = "registry=https://here/\n//here/:_authToken=abc\n_auth = abc\n@a:registry=https://there/\n//there/:username=me\n//there/:certfile=/x\nstrict-ssl=false\n";
        let open = "registry=https://here/\n@a:registry=https://there/\nstrict-ssl=false\n";
        assert_eq!(without_credentials(settings), open);
    }

    #[test]
    fn one_at_a_time_fills_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let door = Door::open(project.path()).unwrap();
        let place = Preparation::in_folder(folder.path().join("place"));
        let held = place.begin(&door).unwrap();
        assert!(matches!(place.begin(&door), Err(PrepareError::Busy)));
        drop(held);
        place.begin(&door).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_that_scripts_of_packages_leave_lead_nowhere() {
        let (folder, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let outside = tempfile::tempdir().unwrap();
        let door = Door::open(project.path()).unwrap();
        let place = Preparation::in_folder(folder.path().to_path_buf());
        let _held = place.begin(&door).unwrap();
        let installed = place.copy().join(NODE_MODULES);
        std::fs::create_dir_all(installed.join("left-pad")).unwrap();
        std::os::unix::fs::symlink(outside.path(), place.filled.join(NODE)).unwrap();
        place.keep_packages(None).unwrap();
        assert_eq!(outside.path().read_dir().unwrap().count(), 0);
        assert!(
            packages_in(&place.filled, None)
                .join(NODE_MODULES)
                .join("left-pad")
                .is_dir()
        );
        // What is taken is the copy's own too.
        std::os::unix::fs::symlink(outside.path(), place.copy().join("web")).unwrap();
        std::fs::create_dir(outside.path().join(NODE_MODULES)).unwrap();
        let web = RelPath::parse("web").unwrap();
        assert!(place.keep_packages(Some(&web)).is_err());
        assert!(outside.path().join(NODE_MODULES).is_dir());
    }

    #[test]
    fn what_was_prepared_stays_in_use_until_the_new_one_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let door = Door::open(project.path()).unwrap();
        let place = || Preparation::in_folder(folder.path().to_path_buf());
        let fill = |text: &str, is_finished: bool| {
            let place = place();
            let _held = place.begin(&door).unwrap();
            std::fs::create_dir_all(place.environment()).unwrap();
            std::fs::write(place.environment().join("python"), text).unwrap();
            if is_finished {
                place.finish(&[]).unwrap();
            }
        };
        let used = || std::fs::read_to_string(python_in(&place().finished?).join("python")).ok();
        fill("one that was killed", false);
        assert_eq!(used(), None);
        fill("first", true);
        assert_eq!(used().as_deref(), Some("first"));
        let late = place();
        fill("another that was killed", false);
        assert_eq!(used().as_deref(), Some("first"));
        fill("second", true);
        assert_eq!(used().as_deref(), Some("second"));
        // It would fill what is in use by now.
        assert!(matches!(late.begin(&door), Err(PrepareError::Busy)));
        let parts = PARTS
            .iter()
            .filter(|part| folder.path().join(part).exists());
        assert_eq!(parts.count(), 1);
    }
}
