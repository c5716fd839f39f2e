//! Which Python runs a project's tests: environments are judged by what lies in them, and nothing is started.

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use crate::suite::manifest::normal;
use crate::suite::requirements::Requirements;
use crate::suite::{Project, SuiteEnvironment};
use crate::tree::SourceTree;

/// Why the Python of `prepare`'s environment is taken.
pub const PREPARED: &str = "prepared for this project";

/// The Python for a project's tests, and why that one.
#[derive(Debug)]
pub(super) struct Interpreter {
    pub(super) python: PathBuf,
    pub(super) why: String,
    /// What the project asks for and this one has not.
    pub(super) missing: Vec<String>,
}

/// A Python that could run the tests.
struct Candidate {
    python: PathBuf,
    about: String,
}

/// Returns the first Python that has the test runner and the project's requirements; where none has, the one that lacks
/// least.
pub(super) fn choose(project: &Project<'_>, needs_pytest: bool) -> Interpreter {
    let candidates = candidates(project);
    let mut wanted = Requirements::of(project.tree).names();
    if needs_pytest && !wanted.iter().any(|name| name == "pytest") {
        wanted.push("pytest".to_owned());
    }
    let is_named = project.environment.python.is_some();
    let mut best: Option<(Interpreter, (bool, usize))> = None;
    for candidate in candidates {
        let missing = missing(project, &candidate.python, &wanted);
        let rank = (
            needs_pytest && missing.iter().any(|name| name == "pytest"),
            missing.len(),
        );
        let is_whole = missing.is_empty();
        let found = Interpreter {
            python: candidate.python,
            why: candidate.about,
            missing,
        };
        if best.as_ref().is_none_or(|(_, least)| rank < *least) {
            best = Some((found, rank));
        }
        if is_whole || is_named {
            break;
        }
    }
    best.map(|(found, _)| found).unwrap_or_else(|| Interpreter {
        python: PathBuf::from(if cfg!(windows) { "python" } else { "python3" }),
        why: "no Python was found".to_owned(),
        missing: Vec::new(),
    })
}

/// Returns what of it is not there.
fn missing(project: &Project<'_>, python: &Path, wanted: &[String]) -> Vec<String> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let home = project.environment.home.as_deref();
    let installed = distributions(&packages_of(python, home));
    let lacks = |name: &&String| !installed.contains(name.as_str());
    wanted.iter().filter(lacks).cloned().collect()
}

/// Returns all that could run the tests, in the order in which they are asked.
fn candidates(project: &Project<'_>) -> Vec<Candidate> {
    let known = project.environment;
    let own = known.own.as_deref().filter(|own| is_only_ours(own));
    let mut found: Vec<Candidate> = Vec::new();
    let mut add = |python: Option<PathBuf>, about: String| {
        let python = python.filter(|python| found.iter().all(|one| &one.python != python));
        found.extend(python.map(|python| Candidate { python, about }));
    };
    if let Some(python) = &known.python {
        add(Some(python.clone()), "named by the user".to_owned());
    }
    if let Some(prepared) = &known.prepared {
        add(python_of(prepared), PREPARED.to_owned());
    }
    for name in [".venv", "venv", "env", ".env", ".conda"] {
        add(
            python_of(&project.root().join(name)),
            format!("the project's `{name}`"),
        );
    }
    for (folder, about) in managed(project) {
        add(python_of(&folder), about);
    }
    let active = known
        .active
        .iter()
        .filter(|folder| Some(folder.as_path()) != own);
    for folder in active {
        add(python_of(folder), "the active environment".to_owned());
    }
    for (python, about) in versions(project) {
        add(Some(python), about);
    }
    for name in if cfg!(windows) {
        ["python", "py"]
    } else {
        ["python3", "python"]
    } {
        let programs = (known.find_programs)(name).into_iter();
        let is_own = |program: &PathBuf| own.is_some_and(|own| program.starts_with(own));
        for program in programs.filter(|program| !is_own(program)) {
            let program = behind_shim(&program, known.home.as_deref()).unwrap_or(program);
            add(Some(program), format!("`{name}` on the PATH"));
        }
    }
    add(
        own.and_then(python_of),
        "harness's own environment".to_owned(),
    );
    found
}

/// Returns a Python to make an environment with: the one that the user names, that the project's files ask for, or the
/// first on the search path that is in no environment.
pub fn base_python(tree: &SourceTree, environment: &SuiteEnvironment<'_>) -> Option<PathBuf> {
    let project = Project { tree, environment };
    let named = environment.python.clone().into_iter();
    let asked = versions(&project).into_iter().map(|(python, _)| python);
    let names = if cfg!(windows) {
        ["python", "py"]
    } else {
        ["python3", "python"]
    };
    let on_path = names
        .iter()
        .flat_map(|name| (environment.find_programs)(name));
    let on_path = on_path
        .map(|program| behind_shim(&program, environment.home.as_deref()).unwrap_or(program));
    let is_in_one = |program: &PathBuf| {
        let folder = program.parent().and_then(Path::parent);
        folder.is_some_and(|folder| folder.join("pyvenv.cfg").is_file())
    };
    let mut free = on_path.filter(|program| !is_in_one(program));
    named.chain(asked).next().or_else(|| free.next())
}

/// Returns environments that project managers keep for this project.
fn managed(project: &Project<'_>) -> Vec<(PathBuf, String)> {
    let root = project.root();
    let mut found = Vec::new();
    // pdm writes down the interpreter that it made.
    let told = project
        .text(".pdm-python")
        .map(|text| PathBuf::from(text.trim()));
    let told = told
        .as_deref()
        .and_then(Path::parent)
        .and_then(Path::parent);
    found.extend(told.map(|folder| (folder.to_path_buf(), "pdm's environment".to_owned())));
    let test_like = |name: &str| name.contains("test") || name.starts_with("py");
    for (folder, tool) in [(".tox", "tox"), (".nox", "nox")] {
        let all = entries(&root.join(folder))
            .into_iter()
            .filter(|path| test_like(&name_of(path)));
        found.extend(all.map(|path| (path, format!("{tool}'s environment"))));
    }
    let Some(home) = project.environment.home.as_deref() else {
        return found;
    };
    let package = Requirements::of(project.tree)
        .package
        .map(|name| normal(&name));
    if let Some(package) = &package {
        let poetry = [
            "Library/Caches/pypoetry/virtualenvs",
            ".cache/pypoetry/virtualenvs",
        ];
        let of_project = |path: &PathBuf| {
            let name = name_of(path);
            let mut parts = name.rsplitn(3, '-');
            let (version, _hash, own) = (parts.next(), parts.next(), parts.next());
            own.is_some_and(|own| &normal(own) == package)
                && version.is_some_and(|version| version.starts_with("py"))
        };
        let all = poetry
            .iter()
            .flat_map(|folder| entries(&home.join(folder)))
            .filter(of_project);
        found.extend(all.map(|path| (path, "poetry's environment".to_owned())));
        for data in [".local/share/hatch", "Library/Application Support/hatch"] {
            let kept = entries(&home.join(data).join("env/virtual").join(package));
            let mut all: Vec<PathBuf> = kept.iter().flat_map(|folder| entries(folder)).collect();
            all.sort_by_key(|path| !name_of(path).contains("test"));
            found.extend(
                all.into_iter()
                    .map(|path| (path, "hatch's environment".to_owned())),
            );
        }
    }
    for folder in entries(&home.join(".local/share/virtualenvs")) {
        // pipenv writes down whose it is.
        let owner = fs::read_to_string(folder.join(".project")).unwrap_or_default();
        if Path::new(owner.trim()) == root {
            found.push((folder, "pipenv's environment".to_owned()));
        }
    }
    let conda = ["environment.yml", "environment.yaml"]
        .iter()
        .find_map(|name| project.text(name));
    let conda = conda
        .as_deref()
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("name:")));
    let bases = "miniconda3 anaconda3 miniforge3 mambaforge micromamba";
    for base in bases.split_ascii_whitespace() {
        let folder = conda.map(|name| home.join(base).join("envs").join(name.trim()));
        found.extend(folder.map(|folder| (folder, "conda's environment".to_owned())));
    }
    found
}

/// Returns the Pythons of the version that the project's files ask a version manager for.
fn versions(project: &Project<'_>) -> Vec<(PathBuf, String)> {
    let Some(home) = project.environment.home.as_deref() else {
        return Vec::new();
    };
    let asked = project
        .text(".python-version")
        .map(|text| (text, ".python-version"));
    let asdf = project.text(".tool-versions").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("python "))?;
        Some((line.to_owned(), ".tool-versions"))
    });
    let mut found = Vec::new();
    for (text, file) in asked.into_iter().chain(asdf) {
        let version = text
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        let is_plain = version
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
        if version.is_empty() || !is_plain || version.starts_with('.') {
            continue;
        }
        for kept in [
            ".pyenv/versions",
            ".asdf/installs/python",
            ".local/share/mise/installs/python",
        ] {
            let whole = home.join(kept).join(&version);
            let python = interpreter_in(&whole).or_else(|| {
                // `3.12` stands for the newest of its kind.
                let mut all = entries(&home.join(kept));
                all.retain(|path| name_of(path).starts_with(&format!("{version}.")));
                interpreter_in(all.last()?)
            });
            found.extend(python.map(|python| (python, format!("`{file}` asks for {version}"))));
        }
    }
    found
}

/// Returns the Python that pyenv's stand-in on the PATH leads to by the user's own choice.
fn behind_shim(program: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let pyenv = home?.join(".pyenv");
    if !program.starts_with(pyenv.join("shims")) {
        return None;
    }
    let chosen = fs::read_to_string(pyenv.join("version")).ok()?;
    let version = chosen.lines().next()?.trim().to_owned();
    interpreter_in(&pyenv.join("versions").join(version))
}

/// Returns the Python of an environment; any folder with programs in it is none.
fn python_of(environment: &Path) -> Option<PathBuf> {
    let is_one =
        environment.join("pyvenv.cfg").is_file() || environment.join("conda-meta").is_dir();
    is_one.then(|| interpreter_in(environment)).flatten()
}

fn interpreter_in(folder: &Path) -> Option<PathBuf> {
    let inside: &[&str] = if cfg!(windows) {
        &["Scripts/python.exe", "python.exe", "bin/python"]
    } else {
        &["bin/python", "bin/python3"]
    };
    inside
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
}

/// Says whether an environment holds this program and nothing else that anybody asked for: then it was made for it, and
/// is not where a project's tests are at home.
fn is_only_ours(environment: &Path) -> bool {
    const OURS: &[&str] = &["local-harness", "pip", "setuptools", "wheel", "uv"];
    let python = interpreter_in(environment);
    let roots = python.map_or(Vec::new(), |python| packages_of(&python, None));
    let mut installed = distributions(&roots).into_iter();
    installed.all(|name| OURS.contains(&name.as_str()))
}

/// Returns the folders that a Python's packages lie in, as far as its path tells.
pub fn packages_of(python: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Some(prefix) = python.parent().and_then(Path::parent) else {
        return Vec::new();
    };
    let mut roots = vec![prefix.join("Lib").join("site-packages")];
    let settings = fs::read_to_string(prefix.join("pyvenv.cfg"));
    // Beside the system's Python those of other versions may lie.
    let real = fs::canonicalize(python)
        .map(|path| name_of(&path))
        .unwrap_or_default();
    let is_fitting = |name: &str| {
        let is_exact = settings.is_err() && real.starts_with("python3.");
        name == "python3" || name.starts_with("python3.") && (!is_exact || name == real)
    };
    let mut bases = vec![prefix.join("lib"), prefix.join("lib64")];
    if settings.is_err() {
        bases.push(prefix.join("local/lib"));
        bases.extend(home.map(|home| home.join(".local/lib")));
    }
    for version in bases
        .iter()
        .flat_map(|base| entries(base))
        .filter(|path| is_fitting(&name_of(path)))
    {
        roots.push(version.join("site-packages"));
        roots.push(version.join("dist-packages"));
    }
    let value = |key: &str| -> Option<String> {
        let lines = settings.as_deref().unwrap_or_default().lines();
        let mut pairs = lines.filter_map(|line| line.split_once('='));
        let (_, value) = pairs.find(|(name, _)| name.trim() == key)?;
        Some(value.trim().to_owned())
    };
    if value("include-system-site-packages").as_deref() == Some("true") {
        let base = value("home").map(|folder| Path::new(&folder).join("python3"));
        let base = base.filter(|base| base.parent() != python.parent());
        roots.extend(base.into_iter().flat_map(|base| packages_of(&base, home)));
    }
    roots.retain(|root| root.is_dir());
    roots
}

/// Returns the names of what is installed, in one spelling.
fn distributions(roots: &[PathBuf]) -> FxHashSet<String> {
    let files = roots.iter().flat_map(|root| entries(root));
    let told = files.filter_map(|path| {
        let name = name_of(&path);
        let (stem, kind) = name.rsplit_once('.')?;
        let is_known = matches!(kind, "dist-info" | "egg-info" | "egg-link");
        let package = stem.split('-').next()?;
        is_known.then(|| normal(if kind == "egg-link" { stem } else { package }))
    });
    told.collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten();
    let mut found: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;

    /// A home folder with a project in it.
    struct Bench {
        home: tempfile::TempDir,
    }

    impl Bench {
        fn new(files: &[(&str, &str)]) -> Bench {
            let bench = Bench {
                home: tempfile::tempdir().unwrap(),
            };
            bench.write("project/tests/test_a.py", "def test_a(): pass\n");
            for (name, text) in files {
                bench.write(name, text);
            }
            bench
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn environment(&self, folder: &str, packages: &[&str]) {
            self.write(&format!("{folder}/pyvenv.cfg"), "home = /nowhere\n");
            let python = if cfg!(windows) {
                "Scripts/python.exe"
            } else {
                "bin/python"
            };
            self.write(&format!("{folder}/{python}"), "");
            for name in packages {
                self.write(
                    &format!("{folder}/lib/python3.12/site-packages/{name}-1.0.dist-info/METADATA"),
                    "",
                );
            }
        }

        #[track_caller]
        fn check(&self, active: &[&str], own: Option<&str>, on_path: &[&str], expected: &str) {
            let home = self.home.path().canonicalize().unwrap();
            let tree = SourceTree::read(&home.join("project"), None).unwrap();
            let find = |name: &str| match name {
                "python3" | "python" => on_path.iter().map(|path| home.join(path)).collect(),
                _ => Vec::new(),
            };
            let environment = SuiteEnvironment {
                python: None,
                prepared: Some(home.join("prepared")),
                active: active.iter().map(|name| home.join(name)).collect(),
                own: own.map(|name| home.join(name)),
                home: Some(home.clone()),
                find_programs: &find,
            };
            let project = Project {
                tree: &tree,
                environment: &environment,
            };
            let chosen = choose(&project, true);
            let place = chosen
                .python
                .strip_prefix(&home)
                .unwrap_or(&chosen.python)
                .display()
                .to_string();
            let place = place
                .replace('\\', "/")
                .replace("/bin/python", "")
                .replace("/Scripts/python.exe", "");
            let seen = format!(
                "{place}: {} (lacks {})",
                chosen.why,
                chosen.missing.join(" ")
            );
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn the_first_that_has_everything_is_taken() {
        let bench = Bench::new(&[("project/requirements.txt", "requests\n")]);
        bench.environment("project/.venv", &["requests"]);
        bench.environment("work", &["requests", "pytest"]);
        bench.check(
            &["work"],
            None,
            &[],
            "work: the active environment (lacks )",
        );
        bench.environment("prepared", &["pytest", "requests"]);
        bench.check(
            &["work"],
            None,
            &[],
            "prepared: prepared for this project (lacks )",
        );
    }

    #[test]
    fn the_programs_own_environment_comes_last() {
        let bench = Bench::new(&[]);
        bench.environment("own", &["local_harness"]);
        bench.environment("usual", &[]);
        let usual = if cfg!(windows) {
            "usual/Scripts/python.exe"
        } else {
            "usual/bin/python"
        };
        let own = if cfg!(windows) {
            "own/Scripts/python.exe"
        } else {
            "own/bin/python"
        };
        let path = [own, usual];
        let python = if cfg!(windows) { "python" } else { "python3" };
        bench.check(
            &["own"],
            Some("own"),
            &path,
            &format!("usual: `{python}` on the PATH (lacks pytest)"),
        );
        // With other packages in it, it is an environment like any other.
        bench.environment("own", &["pytest"]);
        bench.check(
            &["own"],
            Some("own"),
            &path,
            "own: the active environment (lacks )",
        );
    }

    #[test]
    fn what_lacks_least_is_taken_where_none_has_all() {
        let bench = Bench::new(&[("project/requirements.txt", "requests\nattrs\n")]);
        bench.environment("project/.venv", &["requests", "attrs"]);
        bench.environment("work", &["pytest", "requests"]);
        bench.check(
            &["work"],
            None,
            &[],
            "work: the active environment (lacks attrs)",
        );
    }

    #[test]
    fn project_managers_environments_are_found() {
        let bench = Bench::new(&[("project/pyproject.toml", "[project]\nname = \"My_App\"\n")]);
        bench.environment(
            ".cache/pypoetry/virtualenvs/my-app-Ab12_x9Z-py3.12",
            &["pytest"],
        );
        bench.check(
            &[],
            None,
            &[],
            ".cache/pypoetry/virtualenvs/my-app-Ab12_x9Z-py3.12: poetry's environment (lacks )",
        );
        let bench = Bench::new(&[("project/pyproject.toml", "[project]\nname = \"My_App\"\n")]);
        bench.environment(
            ".local/share/hatch/env/virtual/my-app/q1/hatch-test.py3.12",
            &["pytest"],
        );
        bench.environment(
            ".local/share/hatch/env/virtual/my-app/q1/default",
            &["pytest"],
        );
        bench.check(&[], None, &[], ".local/share/hatch/env/virtual/my-app/q1/hatch-test.py3.12: hatch's environment (lacks )");
        let bench = Bench::new(&[]);
        bench.environment(".local/share/virtualenvs/project-1", &["pytest"]);
        bench.environment(".local/share/virtualenvs/project-2", &["pytest"]);
        bench.write(".local/share/virtualenvs/project-1/.project", "/elsewhere");
        let project = bench.home.path().canonicalize().unwrap().join("project");
        bench.write(
            ".local/share/virtualenvs/project-2/.project",
            &project.display().to_string(),
        );
        bench.check(
            &[],
            None,
            &[],
            ".local/share/virtualenvs/project-2: pipenv's environment (lacks )",
        );
        let bench = Bench::new(&[]);
        bench.environment("project/.tox/py312", &["pytest"]);
        bench.environment("project/.tox/lint", &["pytest", "ruff"]);
        bench.check(
            &[],
            None,
            &[],
            "project/.tox/py312: tox's environment (lacks )",
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_version_manager_s_python_is_the_one_asked_for() {
        let bench = Bench::new(&[("project/.python-version", "3.12\n")]);
        for version in ["3.11.7", "3.12.1"] {
            bench.write(&format!(".pyenv/versions/{version}/bin/python"), "");
            bench.write(
                &format!(
                    ".pyenv/versions/{version}/lib/python3.12/site-packages/pytest-8.dist-info/M"
                ),
                "",
            );
        }
        bench.write(".pyenv/version", "3.11.7\n");
        bench.write(".pyenv/shims/python3", "");
        let shim = [".pyenv/shims/python3"];
        bench.check(
            &[],
            None,
            &shim,
            ".pyenv/versions/3.12.1: `.python-version` asks for 3.12 (lacks )",
        );
        bench.write("project/.python-version", "../../../evil\n");
        bench.check(
            &[],
            None,
            &shim,
            ".pyenv/versions/3.11.7: `python3` on the PATH (lacks )",
        );
    }

    #[test]
    fn packages_of_the_base_count_where_the_environment_says_so() {
        let bench = Bench::new(&[]);
        bench.environment("project/.venv", &[]);
        let base = bench.home.path().canonicalize().unwrap().join("base");
        bench.write("base/bin/python3", "");
        bench.write("base/lib/python3.12/site-packages/pytest-8.dist-info/M", "");
        let settings = format!(
            "home = {}\ninclude-system-site-packages = true\n",
            base.join("bin").display()
        );
        bench.write("project/.venv/pyvenv.cfg", &settings);
        bench.check(
            &[],
            None,
            &[],
            "project/.venv: the project's `.venv` (lacks )",
        );
    }
}
