//! The permission to start programs for one project, and the walls they run behind.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::door::Door;
use crate::environment as user_environment;
use crate::process::platform::{self, Tree};
use crate::process::private::Private;
use crate::process::sandbox::{Confinement, Sandbox};
use crate::process::{self, Finished, Limits, Program, StartError, environment};
use crate::scratch::{Overlay, Scratch, ScratchError};

/// Whether programs may be started where no walls hold them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Walls {
    /// Walls where the machine has them.
    #[default]
    WherePossible,
    /// Nothing is started without walls.
    Required,
}

/// What the user settled for started programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunnerOptions {
    /// Whether programs may be started where no walls hold them.
    pub walls: Walls,
    /// How much each may take.
    pub limits: Limits,
    /// How long a single test may run, where the user settled it.
    pub each_test: Option<Duration>,
    /// Places that they may read beside the project, the system and their toolchain.
    pub readable: Vec<PathBuf>,
    /// Names of variables that they inherit beside those that hold no secret by their meaning.
    pub variables: Vec<String>,
}

/// The permission to start programs for one project.
#[derive(Debug)]
pub struct Runner {
    project: PathBuf,
    origin: PathBuf,
    options: RunnerOptions,
    sandbox: Sandbox,
    version: Version,
    /// Where what programs leave in their home and temporary folders waits for the next one of the same version.
    kept: Option<PathBuf>,
    /// Whether layers can be mounted over the project here; found out once by trying.
    mounts: OnceLock<bool>,
    /// What programs said of themselves in this run, by their paths.
    told: Arc<Mutex<BTreeMap<PathBuf, String>>>,
}

/// Which version of the project programs see.
#[derive(Debug, Clone)]
enum Version {
    /// The project itself.
    Own,
    /// A version at the project's own path.
    Mounted(Overlay),
    /// A copy at a path of its own; what is not copied is read from the project.
    Copy { build: PathBuf },
}

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunnerError {
    /// The user wants walls and the machine has none.
    #[error("this machine has no sandbox that holds the tests ({0})")]
    NoWalls(Sandbox),
    /// The program lies in the project, where anybody could have put it.
    #[error(
        "`{0}` lies inside the project; only programs of the system or a virtual environment are started"
    )]
    ForeignProgram(String),
    /// No program has this name.
    #[error("there is no program `{0}`")]
    UnknownProgram(String),
    /// The system said no.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The private folder could not be made.
    #[error("cannot make a private folder: {}", crate::door::reason(.0))]
    Private(#[from] io::Error),
}

/// What to start.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) folder: &'a Path,
    pub(crate) environment: Vec<(&'a str, OsString)>,
    pub(crate) reach: Reach,
    pub(crate) limits: Limits,
}

/// How far a program reaches.
#[derive(Debug, Clone)]
pub(crate) enum Reach {
    /// It changes the project and a folder of its own, and reads these places beside the system's.
    Project {
        readable: Vec<PathBuf>,
        writable: Vec<PathBuf>,
    },
    /// It changes these places and a folder of its own, reads the project and these places beside the system's, and has
    /// the network: what installs packages.
    Install {
        readable: Vec<PathBuf>,
        writable: Vec<PathBuf>,
    },
    /// It reads what the user reads, and changes nothing.
    LookOnly,
}

impl Runner {
    pub(crate) fn new(project: &Path, options: RunnerOptions) -> Runner {
        Runner {
            project: project.to_path_buf(),
            origin: project.to_path_buf(),
            options,
            sandbox: platform::available(),
            version: Version::Own,
            kept: None,
            mounts: OnceLock::new(),
            told: Arc::default(),
        }
    }

    /// Returns the project folder.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the walls that programs run behind.
    pub fn sandbox(&self) -> Sandbox {
        self.sandbox
    }

    /// Returns how much a program may take.
    pub fn limits(&self) -> Limits {
        self.options.limits
    }

    /// Returns how long a single test may run, where the user settled it.
    pub(crate) fn each_test(&self) -> Option<Duration> {
        self.options.each_test
    }

    /// Returns the project that a copy is one of, else the project itself.
    pub(crate) fn origin(&self) -> &Path {
        &self.origin
    }

    /// Returns what programs said of themselves in this run, by their paths.
    pub(crate) fn told(&self) -> MutexGuard<'_, BTreeMap<PathBuf, String>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the project to a private place, to try things on.
    pub fn scratch(&self, door: &Door) -> Result<Scratch, ScratchError> {
        Scratch::copy(door)
    }

    /// Returns a private version of the project, to run code in that nobody has proven: layers that are mounted over
    /// it where the sandbox can, else a copy. `above` is one whose builds may be used again.
    pub fn trial(&self, door: &Door, above: Option<&Scratch>) -> Result<Scratch, ScratchError> {
        let can_mount = || {
            let probe = Scratch::overlay(door, None);
            probe.is_some_and(|probe| {
                let confinement = self.in_scratch(&probe);
                let confinement = Private::new().map(|private| {
                    let reach = Reach::Project {
                        readable: Vec::new(),
                        writable: Vec::new(),
                    };
                    confinement.confinement(&reach, &private)
                });
                confinement.is_ok_and(|confinement| platform::mounts(&confinement, self.sandbox))
            })
        };
        let layers = self
            .mounts
            .get_or_init(can_mount)
            .then(|| Scratch::overlay(door, above))
            .flatten();
        layers.map_or_else(|| Scratch::copy(door), Ok)
    }

    /// Returns the same permission for a private version of the project instead of the project.
    pub fn in_scratch(&self, scratch: &Scratch) -> Runner {
        let (project, version) = match scratch.layers() {
            Some(overlay) => (self.project.clone(), Version::Mounted(overlay.clone())),
            None => {
                let build = scratch.build_folder();
                (scratch.root().to_path_buf(), Version::Copy { build })
            }
        };
        Runner {
            project,
            origin: self.origin.clone(),
            options: self.options.clone(),
            sandbox: self.sandbox,
            version,
            kept: Some(scratch.kept()),
            mounts: OnceLock::new(),
            told: Arc::clone(&self.told),
        }
    }

    /// Returns where a file of the project that a program wrote lies outside its sandbox.
    pub(crate) fn written(&self, path: &Path) -> PathBuf {
        match &self.version {
            Version::Own | Version::Copy { .. } => path.to_path_buf(),
            Version::Mounted(overlay) => match path.strip_prefix(&self.project) {
                Ok(rest) => overlay.upper.join(rest),
                Err(_) => path.to_path_buf(),
            },
        }
    }

    /// Returns a folder for what build tools make, where the version of the project holds none.
    pub(crate) fn build_folder(&self) -> Option<&Path> {
        match &self.version {
            Version::Own | Version::Mounted(_) => None,
            Version::Copy { build } => Some(build),
        }
    }

    /// Returns where Python looks first: in a copy an editable install would lead it back to the project itself, and
    /// beside a project with a `src` folder an installed copy of it may lie.
    pub(crate) fn import_roots(&self) -> Option<OsString> {
        let source = self.project.join("src");
        let is_root = source.is_dir() && !source.join("__init__.py").exists();
        let is_copy = matches!(self.version, Version::Copy { .. });
        let own = is_root.then_some(source).into_iter();
        let own = own.chain(is_copy.then(|| self.project.clone()));
        let own: Vec<PathBuf> = own.collect();
        if own.is_empty() {
            return None;
        }
        let given = user_environment::value("PYTHONPATH").unwrap_or_default();
        let given = std::env::split_paths(&given).filter(|path| path.is_absolute());
        std::env::join_paths(own.into_iter().chain(given)).ok()
    }

    #[cfg(test)]
    pub(crate) fn behind(mut self, sandbox: Sandbox) -> Runner {
        self.sandbox = sandbox;
        self
    }

    /// Runs a program to its end.
    pub(crate) fn run(
        &self,
        job: &Job<'_>,
        private: &Private,
        cancel: &AtomicBool,
    ) -> Result<Finished, RunnerError> {
        let program = self.program(job, private)?;
        let kept = match job.reach {
            Reach::Project { .. } => self.kept.as_deref(),
            Reach::Install { .. } | Reach::LookOnly => None,
        };
        if let Some(kept) = kept {
            private.bring(kept);
        }
        let finished = process::run(&program, self.sandbox, cancel);
        if let Some(kept) = kept {
            private.keep(kept);
        }
        Ok(finished?)
    }

    /// Starts a program that is talked to through its standard streams.
    pub(crate) fn start(&self, job: &Job<'_>, private: &Private) -> Result<Tree, RunnerError> {
        let program = self.program(job, private)?;
        Ok(process::start(&program, self.sandbox, Stdio::piped())?)
    }

    fn program(&self, job: &Job<'_>, private: &Private) -> Result<Program, RunnerError> {
        if self.options.walls == Walls::Required && !self.sandbox.holds() {
            return Err(RunnerError::NoWalls(self.sandbox));
        }
        let program = self.find(job.program)?;
        let confinement = self.confinement(&job.reach, private);
        let home = match job.reach {
            Reach::Project { .. } | Reach::Install { .. } => private.home(),
            Reach::LookOnly => user_environment::home().unwrap_or_else(|| private.home()),
        };
        let temporary = platform::temporary_folder(&confinement, self.sandbox)
            .unwrap_or_else(|| private.temporary());
        let more: Vec<(&str, &OsStr)> = job
            .environment
            .iter()
            .map(|(name, value)| (*name, value.as_os_str()))
            .collect();
        Ok(Program {
            program,
            arguments: job.arguments.clone(),
            folder: job.folder.to_path_buf(),
            environment: environment::scrubbed(&home, &temporary, &self.options.variables, &more),
            confinement,
            limits: job.limits,
        })
    }

    fn confinement(&self, reach: &Reach, private: &Private) -> Confinement {
        let mut confinement = Confinement {
            temporary: private.path().to_path_buf(),
            ..Confinement::default()
        };
        match reach {
            // The project by its own name: places that are covered are not when it lies there.
            Reach::LookOnly => {
                let places = [PathBuf::from("/"), self.project.clone()];
                confinement.readable.extend(places);
            }
            Reach::Install { readable, writable } => {
                confinement.network = true;
                confinement.readable = [readable.as_slice(), &self.options.readable].concat();
                confinement.readable.push(self.project.clone());
                confinement.writable = vec![private.home(), private.report(), private.temporary()];
                confinement.writable.extend(writable.iter().cloned());
            }
            Reach::Project { readable, writable } => {
                let home = user_environment::home();
                // A place that holds the whole home folder would open all that is closed.
                let is_too_wide =
                    |place: &PathBuf| home.as_ref().is_some_and(|home| home.starts_with(place));
                confinement
                    .readable
                    .extend(readable.iter().filter(|place| !is_too_wide(place)).cloned());
                confinement.writable = vec![
                    self.project.clone(),
                    private.home(),
                    private.report(),
                    private.temporary(),
                ];
                confinement.writable.extend(writable.iter().cloned());
                confinement
                    .readable
                    .extend(self.options.readable.iter().cloned());
                match &self.version {
                    Version::Own => {}
                    Version::Mounted(overlay) => confinement.overlay = Some(overlay.clone()),
                    Version::Copy { build } => {
                        confinement.readable.push(self.origin.clone());
                        confinement.writable.push(build.clone());
                    }
                }
                confinement.unchanged = [".git", ".harness"]
                    .map(|name| self.project.join(name))
                    .to_vec();
            }
        }
        confinement
    }

    /// Finds a program by its name or path. Inside the project only virtual environments have any.
    pub(crate) fn find(&self, program: &Path) -> Result<PathBuf, RunnerError> {
        let shown = program.display().to_string();
        let found = if program.components().count() > 1 {
            Some(self.project.join(program)).filter(|path| path.exists())
        } else {
            user_environment::programs_in(&user_environment::path(), program.as_os_str()).next()
        };
        let found = found.ok_or_else(|| RunnerError::UnknownProgram(shown.clone()))?;
        // By its name, not by what it points to: an interpreter in a virtual environment is a link
        // to one outside, and knows its packages by its own name.
        let inside = found.starts_with(&self.project);
        let in_environment = found
            .ancestors()
            .take_while(|folder| folder.starts_with(&self.project))
            .any(|folder| {
                folder.join("pyvenv.cfg").is_file() || folder.join("conda-meta").is_dir()
            });
        if inside && !in_environment {
            return Err(RunnerError::ForeignProgram(shown));
        }
        Ok(found)
    }
}

/// The longest that a question to a program of the user's may take.
pub(crate) const QUESTION: Limits = Limits {
    time: Duration::from_secs(60),
    output: 256 * 1024,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn programs_of_the_project_are_not_started() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in [
            "evil",
            "tools/python3",
            ".venv/bin/python",
            ".venv/pyvenv.cfg",
        ] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = std::fs::remove_file(&path);
            match name.ends_with(".cfg") {
                true => std::fs::write(&path, "").unwrap(),
                false => symlink("/bin/sh", &path).unwrap(),
            }
        }
        let runner = Runner::new(&root, RunnerOptions::default());
        for name in ["evil", "./evil", "tools/python3"] {
            let found = runner.find(Path::new(name));
            assert!(
                matches!(
                    found,
                    Err(RunnerError::ForeignProgram(_) | RunnerError::UnknownProgram(_))
                ),
                "{name}: {found:?}"
            );
        }
        assert!(runner.find(&root.join("evil")).is_err());
        assert_eq!(
            runner.find(Path::new(".venv/bin/python")).unwrap(),
            root.join(".venv/bin/python")
        );
        assert!(runner.find(Path::new("sh")).unwrap().is_absolute());
    }

    /// No shell between us and a program: what one would read as an order is a word.
    #[cfg(unix)]
    #[test]
    fn words_reach_a_program_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let words = [
            "a  b",
            "$(touch evil)",
            "`touch evil`",
            "; touch evil",
            "*",
            "$HOME",
            "\"",
            "> evil",
        ];
        let mut job = Job {
            program: Path::new("printf"),
            arguments: [&["%s\\n"], &words[..]]
                .concat()
                .iter()
                .map(OsString::from)
                .collect(),
            folder: &root,
            environment: Vec::new(),
            reach: Reach::Project {
                readable: Vec::new(),
                writable: Vec::new(),
            },
            limits: QUESTION,
        };
        let runner = Runner::new(&root, RunnerOptions::default());
        let (private, cancel) = (Private::new().unwrap(), AtomicBool::new(false));
        let finished = runner.run(&job, &private, &cancel).unwrap();
        assert_eq!(finished.stdout.text(), format!("{}\n", words.join("\n")));
        job.program = Path::new("printf; touch evil");
        let refused = runner.run(&job, &private, &cancel);
        assert!(
            matches!(refused, Err(RunnerError::UnknownProgram(_))),
            "{refused:?}"
        );
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0);
    }

    #[test]
    fn walls_that_are_required_are_not_done_without() {
        let folder = tempfile::tempdir().unwrap();
        let options = RunnerOptions {
            walls: Walls::Required,
            ..RunnerOptions::default()
        };
        let runner = Runner::new(folder.path(), options).behind(Sandbox::None);
        let job = Job {
            program: Path::new("sh"),
            arguments: Vec::new(),
            folder: folder.path(),
            environment: Vec::new(),
            reach: Reach::LookOnly,
            limits: QUESTION,
        };
        let refused = runner.run(&job, &Private::new().unwrap(), &AtomicBool::new(false));
        assert!(
            matches!(refused, Err(RunnerError::NoWalls(Sandbox::None))),
            "{refused:?}"
        );
    }
}
