//! The project's own Python, found out by asking it: where it really is, what it reads, what it has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Deserialize;

use crate::environment;
use crate::process::Ended;
use crate::process::private::Private;
use crate::process::runner::{Job, QUESTION, Reach, Runner, RunnerError};

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
    "roots": roots,
    "user_base": site.getuserbase() if site.ENABLE_USER_SITE else None,
    "pytest": importlib.util.find_spec("pytest") is not None,
}))
"#;

/// What an interpreter said of itself.
#[derive(Debug, Deserialize)]
pub(crate) struct Interpreter {
    pub(crate) executable: PathBuf,
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
    /// Returns what the interpreter says of itself. It is asked once a run: asking starts it once more, which is half
    /// of the cost of a small suite.
    pub(crate) fn of(
        runner: &Runner,
        program: &Path,
        private: &Private,
        cancel: &AtomicBool,
    ) -> Result<Interpreter, Unusable> {
        let found = runner.find(program)?;
        let told = runner.told().get(&found).cloned();
        if let Some(known) = told.and_then(|text| Interpreter::read(&text)) {
            return Ok(known);
        }
        // Started behind walls that let it look and nothing else.
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
        let answer = Interpreter::read(&text).ok_or_else(|| Unusable::Broken {
            program: program.display().to_string(),
            words: finished.stderr.end(500).trim().to_string(),
        })?;
        runner.told().insert(found, text);
        Ok(answer)
    }

    /// Reads what an interpreter printed when it was asked.
    fn read(text: &str) -> Option<Interpreter> {
        let mut lines = text.lines().rev();
        lines
            .find_map(|line| serde_json::from_str::<Interpreter>(line).ok())
            .filter(|found| found.executable.is_absolute())
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::door::Door;
    use crate::process::runner::RunnerOptions;

    #[test]
    fn a_run_asks_an_interpreter_once() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let python = root.join(".venv/bin/python");
        std::fs::create_dir_all(python.parent().unwrap()).unwrap();
        std::fs::write(root.join(".venv/pyvenv.cfg"), "").unwrap();
        std::fs::write(&python, "#!/bin/sh\nexec python3 \"$@\"\n").unwrap();
        std::fs::set_permissions(&python, PermissionsExt::from_mode(0o755)).unwrap();
        let (private, cancel) = (Private::new().unwrap(), AtomicBool::new(false));
        let ask = |runner: &Runner| Interpreter::of(runner, &python, &private, &cancel);
        let runner = Runner::new(&root, RunnerOptions::default());
        let said = ask(&runner).unwrap();
        std::fs::write(&python, "#!/bin/sh\nexit 1\n").unwrap();
        assert_eq!(ask(&runner).unwrap().executable, said.executable);
        let scratch = runner.scratch(&Door::open(&root).unwrap()).unwrap();
        assert!(ask(&runner.in_scratch(&scratch)).is_ok());
        let another_run = Runner::new(&root, RunnerOptions::default());
        assert!(matches!(ask(&another_run), Err(Unusable::Broken { .. })));
    }
}
