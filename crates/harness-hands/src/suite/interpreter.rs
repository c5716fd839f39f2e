//! The project's own Python, found out by asking it: where it really is, what it reads, what it has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use serde::Deserialize;

use crate::environment;
use crate::process::Ended;
use crate::process::private::Private;
use crate::process::runner::{Job, QUESTION, Reach, Runner, RunnerError};
use crate::suite::remembered::{Question, Remembered, is_shim};

/// The variable that settles the order of sets in Python.
const HASH_SEED: &str = "PYTHONHASHSEED";

/// Asks the interpreter about itself. The project's own files are off its path before it imports
/// anything, so nothing of the project runs here.
const QUESTION_TEXT: &str = r#"
import sys
sys.path[:] = [place for place in sys.path if place]
import ast, importlib.util, json, os, site
def editable(folder):
    found = []
    try:
        names = os.listdir(folder)
    except OSError:
        return found
    for name in names:
        if name.startswith("__editable__") and name.endswith("_finder.py"):
            try:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                line = [line for line in text.splitlines() if line.startswith("MAPPING")][0]
                found += list(ast.literal_eval(line.split("=", 1)[1].strip()).values())
            except Exception:
                pass
    return found
roots = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
roots += [os.path.dirname(sys.executable), os.path.dirname(os.path.realpath(sys.executable))]
roots += [place for place in sys.path if os.path.isabs(place)]
for place in list(sys.path):
    roots += editable(place)
print("\n" + json.dumps({
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "roots": roots,
    "user_base": site.getuserbase() if site.ENABLE_USER_SITE else None,
    "pytest": importlib.util.find_spec("pytest") is not None,
}))
"#;

/// What an interpreter said of itself.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Interpreter {
    pub(crate) executable: PathBuf,
    #[expect(dead_code, reason = "a fact for the doctor")]
    pub(crate) version: Vec<u32>,
    roots: Vec<PathBuf>,
    user_base: Option<PathBuf>,
    #[serde(rename = "pytest")]
    pub(crate) has_pytest: bool,
}

/// Why the interpreter cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error(transparent)]
    Runner(#[from] RunnerError),
    #[error("`{program}` does not work: {words}")]
    Broken { program: String, words: String },
    #[error("interrupted")]
    Interrupted,
}

impl Interpreter {
    /// Returns what the interpreter says of itself, asking it unless it has said so already and nothing has changed.
    pub(crate) fn of(
        runner: &Runner,
        program: &Path,
        private: &Private,
        cancel: &AtomicBool,
    ) -> Result<Interpreter, Unusable> {
        static KNOWN: Remembered<Interpreter> = Remembered::new();
        let found = runner.find(program)?;
        let question = Question {
            // Only pyenv's stand-ins answer differently from folder to folder, so a copy of the project needs no answer
            // of its own.
            folder: match is_shim(&found) {
                true => runner.project().to_path_buf(),
                false => PathBuf::new(),
            },
            program: found,
            variables: runner.variables().to_vec(),
        };
        if let Some(answer) = KNOWN.find(&question) {
            return Ok(answer);
        }
        let asked = SystemTime::now();
        let answer = Interpreter::ask(runner, program, private, cancel)?;
        let made_from = (asked, answer.executable.as_path(), answer.roots.as_slice());
        KNOWN.keep(question, made_from, answer.clone());
        Ok(answer)
    }

    /// Asks the interpreter. Started behind walls that let it look and nothing else.
    fn ask(
        runner: &Runner,
        program: &Path,
        private: &Private,
        cancel: &AtomicBool,
    ) -> Result<Interpreter, Unusable> {
        let job = Job {
            program,
            arguments: vec!["-c".into(), QUESTION_TEXT.into()],
            // Version managers look here for the version that the project wants.
            folder: runner.project(),
            environment: vec![("PYTHONDONTWRITEBYTECODE", "1".into())],
            reach: Reach::LookOnly,
            limits: QUESTION,
        };
        let finished = runner.run(&job, private, cancel)?;
        if finished.ended == Ended::Interrupted {
            return Err(Unusable::Interrupted);
        }
        let text = finished.stdout.text();
        let answer = text
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str::<Interpreter>(line).ok());
        answer
            .filter(|found| found.executable.is_absolute())
            .ok_or_else(|| Unusable::Broken {
                program: program.display().to_string(),
                words: finished.stderr.end(500).trim().to_string(),
            })
    }

    /// Returns the places it must be able to read.
    pub(crate) fn reads(&self) -> Vec<PathBuf> {
        let mut places: Vec<PathBuf> = self
            .roots
            .iter()
            .filter_map(|root| root.canonicalize().ok())
            .collect();
        places.extend(
            self.user_base
                .iter()
                .filter_map(|base| base.join("lib").canonicalize().ok()),
        );
        // The names that lead there may be links; each of them is asked for by name.
        places.extend(self.roots.iter().filter(|root| root.exists()).cloned());
        places.sort();
        places.dedup();
        places
    }

    /// Returns what it needs in its environment.
    pub(crate) fn environment(
        &self,
        runner: &Runner,
        private: &Private,
    ) -> Vec<(&'static str, OsString)> {
        let cache = |name: &str| private.report().join(name).into_os_string();
        let mut variables = vec![
            // No litter: neither compiled files nor the caches that test tools keep.
            ("PYTHONDONTWRITEBYTECODE", OsString::from("1")),
            ("PYTHONUNBUFFERED", "1".into()),
            ("COVERAGE_FILE", cache("coverage")),
            ("HYPOTHESIS_STORAGE_DIRECTORY", cache("hypothesis")),
            ("MYPY_CACHE_DIR", cache("mypy")),
            ("RUFF_CACHE_DIR", cache("ruff")),
        ];
        // Tests that are named after the order of a set have the same names in every run.
        if environment::value(HASH_SEED).is_none() {
            variables.push((HASH_SEED, "0".into()));
        }
        // The programs of an environment are found as if somebody had activated it.
        let path = environment::value("PATH").unwrap_or_default();
        let programs = self.executable.parent().map(Path::to_path_buf);
        let environment = programs.as_ref().and_then(|programs| programs.parent());
        if let Some(folder) = environment.filter(|folder| folder.join("pyvenv.cfg").is_file()) {
            variables.push(("VIRTUAL_ENV", folder.as_os_str().to_owned()));
        }
        let places = programs.into_iter().chain(std::env::split_paths(&path));
        variables.extend(std::env::join_paths(places).map(|path| ("PATH", path)).ok());
        variables.extend(runner.import_roots().map(|paths| ("PYTHONPATH", paths)));
        if let Some(base) = &self.user_base {
            variables.push(("PYTHONUSERBASE", base.clone().into_os_string()));
        }
        variables
    }
}
