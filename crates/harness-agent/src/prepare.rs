//! `prepare`: what must be installed so that a project's tests run, in an environment outside the project.

use std::path::{Path, PathBuf};

use harness_code::path::RelPath;
use harness_code::suite::{Requirements, Runner, Suite};
use harness_code::tree::SourceTree;
use harness_hands::permit::Project;
use harness_hands::prepared::{Preparation, PrepareError, PrepareStep};
use serde::Serialize;

use crate::cancel::Cancel;
use crate::env::Environment;

/// Words by which pip and uv say that the index cannot be reached.
const OFFLINE: [&str; 4] = [
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "dns error",
    "tcp connect error",
];

/// What would be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreparePlan {
    /// The folder that all of it goes to; nothing appears in the project.
    pub folder: PathBuf,
    /// The commands, as one would type them.
    pub commands: Vec<String>,
    /// What is tried in this order where the last of them fails.
    pub otherwise: Vec<String>,
    /// What to do where there is nothing that `prepare` could do.
    pub hint: String,
    #[serde(skip)]
    place: Preparation,
    #[serde(skip)]
    steps: Vec<PrepareStep>,
    #[serde(skip)]
    instead: Vec<PrepareStep>,
    /// The folder of the project whose packages for Node are kept.
    #[serde(skip)]
    packages: Option<Option<RelPath>>,
    /// The versions that the project's lock file settles.
    #[serde(skip)]
    constraints: Vec<String>,
}

impl PreparePlan {
    /// Says what to install for a suite.
    pub(crate) fn of(
        tree: &SourceTree,
        suite: Option<&Suite>,
        python: Option<PathBuf>,
        environment: &Environment,
    ) -> Option<PreparePlan> {
        let place = Preparation::of(tree.root())?;
        let mut plan = PreparePlan {
            folder: place.folder().to_path_buf(),
            place: place.clone(),
            commands: Vec::new(),
            otherwise: Vec::new(),
            hint: String::new(),
            steps: Vec::new(),
            instead: Vec::new(),
            packages: None,
            constraints: Vec::new(),
        };
        let folder = suite.and_then(|suite| suite.folder.clone());
        match suite.map(|suite| suite.runner) {
            Some(Runner::Cargo) => {
                plan.add("fetch the crates that the tests need", &["cargo", "fetch"]);
            }
            Some(Runner::Go) => {
                plan.add("fetch the modules that the tests need", &["go", "mod", "download"]);
            }
            Some(Runner::Npm | Runner::Pnpm | Runner::Yarn | Runner::Bun) => plan.add_node(tree, &place, suite),
            Some(Runner::Maven | Runner::Gradle) => {
                plan.hint = "the build tool fetches what the tests need when it runs with the network: start them once by hand".to_owned();
            }
            _ if is_python(tree, suite) => plan.add_python(tree, &place, suite, (python, environment)),
            _ => plan.hint = "no suite was found whose needs are known; `[[project]] tests` in the user's config names a command".to_owned(),
        }
        for step in &mut plan.steps {
            step.folder = folder.clone();
        }
        plan.commands = plan.steps.iter().map(PrepareStep::typed).collect();
        plan.otherwise = plan.instead.iter().map(PrepareStep::typed).collect();
        Some(plan)
    }

    /// Says whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn add(&mut self, about: &str, words: &[&str]) {
        let command = words.iter().map(|word| (*word).to_owned()).collect();
        self.steps.push(PrepareStep {
            about: about.to_owned(),
            command,
            variables: Vec::new(),
            folder: None,
        });
    }

    /// npm installs into the copy, whose packages are kept and lent to the tests. Links to parts of the project itself
    /// would lead nowhere then.
    fn add_node(&mut self, tree: &SourceTree, place: &Preparation, suite: Option<&Suite>) {
        let folder = suite.and_then(|suite| suite.folder.clone());
        let text = |name: &str| {
            let path = match &folder {
                Some(folder) => folder.join(name).ok()?,
                None => RelPath::parse(name).ok()?,
            };
            Some(tree.text(&path).ok()?.into_content())
        };
        let is_npm = suite.is_some_and(|suite| suite.runner == Runner::Npm);
        let is_plain = text("package.json").is_some_and(|text| !text.contains("\"workspaces\""));
        if !is_npm || !is_plain {
            self.hint = node_hint(tree);
            return;
        }
        let copy = place.copy();
        let copy = folder
            .as_ref()
            .map_or(copy.clone(), |folder| folder.under(&copy));
        let copy = copy.display().to_string();
        let quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
        let words: Vec<&str> =
            match text("package-lock.json").or_else(|| text("npm-shrinkwrap.json")) {
                Some(_) => vec!["npm", "--prefix", &copy, "ci"],
                None => vec!["npm", "--prefix", &copy, "install", "--no-package-lock"],
            };
        let words: Vec<&str> = words.into_iter().chain(quiet).collect();
        self.add("install the packages that the tests need", &words);
        self.packages = Some(folder);
    }

    fn add_python(
        &mut self,
        tree: &SourceTree,
        place: &Preparation,
        suite: Option<&Suite>,
        (python, environment): (Option<PathBuf>, &Environment),
    ) {
        let Some(base) = crate::suite::base_python(tree, python, environment) else {
            self.hint = "there is no Python on the PATH: install one, or name it with `--python`"
                .to_owned();
            return;
        };
        let (folder, base) = (place.environment(), base.display().to_string());
        let target = folder.display().to_string();
        let own = folder.join(if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        });
        let own = own.display().to_string();
        let uv = environment
            .find_program("uv")
            .map(|uv| uv.display().to_string());
        let install: Vec<String> = match &uv {
            Some(uv) => {
                self.add(
                    "make an environment",
                    &[uv, "venv", "--quiet", "--clear", "--python", &base, &target],
                );
                [uv, "pip", "install", "--quiet", "--python", &own]
                    .map(ToString::to_string)
                    .to_vec()
            }
            None => {
                self.add(
                    "make an environment",
                    &[&base, "-m", "venv", "--clear", &target],
                );
                [&own, "-m", "pip", "install", "--quiet"]
                    .map(ToString::to_string)
                    .to_vec()
            }
        };
        let needs = Requirements::of(tree);
        let variables = told_versions(tree, &needs);
        let installing = |about: &str, words: Vec<String>| PrepareStep {
            about: about.to_owned(),
            command: install.iter().cloned().chain(words).collect(),
            variables: variables.clone(),
            folder: None,
        };
        let whole = with_runner(wanted(&needs, place), &needs, suite);
        let mut ways = Vec::new();
        self.constraints = Requirements::locked(tree);
        if !self.constraints.is_empty() {
            let file = place.constraints().display().to_string();
            let words = ["-c".to_owned(), file].into_iter().chain(whole.clone());
            let about =
                "install what the project and its tests ask for, as its lock file settles it";
            ways.push(installing(about, words.collect()));
        }
        let about = "install what the project and its tests ask for";
        ways.push(installing(about, whole));
        if needs.is_package {
            // What cannot be built or does not fit together may be tested all the same.
            let words = with_runner(without_options(needs.without_project()), &needs, suite);
            let about = "install what they ask for, without building the project";
            ways.push(installing(about, words));
        }
        self.steps.push(ways.remove(0));
        self.instead = ways;
    }

    /// Carries it out, saying each step before it begins.
    pub(crate) fn perform(
        &self,
        project: &Project,
        say: &mut dyn FnMut(&PrepareStep),
        cancel: &Cancel,
    ) -> Result<(), PrepareError> {
        let place = &self.place;
        let runner = project
            .runner()
            .ok_or_else(|| PrepareError::Start("the project is read-only".to_owned()))?;
        let _held = place.begin(project.door())?;
        place.settle(&self.constraints)?;
        let mut attempt = |step: &PrepareStep| {
            say(step);
            place.perform(runner, step, &cancel.flag())
        };
        let Some((last, first)) = self.steps.split_last() else {
            return place.finish(&[]);
        };
        for step in first {
            attempt(step)?;
        }
        let mut done = attempt(last);
        for step in &self.instead {
            // Without a network nothing else can be had either.
            let goes_on = |said: &str| !OFFLINE.iter().any(|words| said.contains(words));
            if !matches!(&done, Err(PrepareError::Failed { said, .. }) if goes_on(said)) {
                break;
            }
            match attempt(step) {
                // The first failure says most.
                Err(PrepareError::Failed { .. }) => {}
                other => done = other,
            }
        }
        done?;
        if let Some(folder) = &self.packages {
            place.keep_packages(folder.as_ref())?;
        }
        place.finish(&self.steps)
    }
}

/// Returns what pip is given.
fn wanted(needs: &Requirements, place: &Preparation) -> Vec<String> {
    let copy = place.copy();
    let inside = |path: &RelPath| path.under(&copy).display().to_string();
    let mut files: Vec<String> = Vec::new();
    for (option, named) in [("-r", &needs.files), ("-c", &needs.constraints)] {
        files.extend(
            named
                .iter()
                .flat_map(|file| [option.to_owned(), inside(file)]),
        );
    }
    let mut words: Vec<String> = Vec::new();
    if needs.is_package {
        let extras = match needs.extras.is_empty() {
            true => String::new(),
            false => format!("[{}]", needs.extras.join(",")),
        };
        words.push(format!("{}{extras}", copy.display()));
    } else {
        words.extend(needs.runtime.iter().cloned());
    }
    words.extend(needs.tests.iter().cloned());
    words.extend(needs.plugins.iter().cloned());
    files.extend(without_options(words));
    files
}

/// A project's file may ask for packages and not for options.
fn without_options(mut words: Vec<String>) -> Vec<String> {
    let is_option = |word: &String| word.trim_start().starts_with('-');
    words.retain(|word| !is_option(word));
    words
}

/// Adds what runs the tests where no file asks for it.
fn with_runner(mut words: Vec<String>, needs: &Requirements, suite: Option<&Suite>) -> Vec<String> {
    let is_pytest = suite.is_none_or(|suite| suite.runner == Runner::Pytest);
    let has_pytest = needs.names().iter().any(|name| name == "pytest");
    if (is_pytest && !has_pytest) || words.is_empty() {
        words.push("pytest".to_owned());
    }
    words
}

/// Returns variables that tell the project's version to builds that read it from git's history, which the copy has not.
fn told_versions(tree: &SourceTree, needs: &Requirements) -> Vec<(String, String)> {
    const ANY: &str = "9999";
    // A source distribution says which version it is.
    let said = RelPath::parse("PKG-INFO")
        .ok()
        .and_then(|path| tree.text(&path).ok());
    let said = said.map(|text| text.into_content()).unwrap_or_default();
    let said = said.lines().find_map(|line| line.strip_prefix("Version: "));
    let version = said.map_or(ANY, str::trim);
    let files = ["pyproject.toml", "setup.cfg", "setup.py"];
    let texts = files
        .iter()
        .filter_map(|name| tree.text(&RelPath::parse(name).ok()?).ok());
    let text: String = texts.map(|text| text.into_content()).collect();
    // setuptools_scm and hatch-vcs can be told for one package alone.
    let package = needs.package.as_deref().unwrap_or_default();
    let package = package.replace(['-', '.'], "_").to_uppercase();
    let mut names = vec![format!("SETUPTOOLS_SCM_PRETEND_VERSION_FOR_{package}")];
    for (word, variable) in [
        ("pbr", "PBR_VERSION"),
        ("pdm", "PDM_BUILD_SCM_VERSION"),
        (
            "poetry-dynamic-versioning",
            "POETRY_DYNAMIC_VERSIONING_BYPASS",
        ),
    ] {
        names.extend(text.contains(word).then(|| variable.to_owned()));
    }
    names
        .into_iter()
        .map(|name| (name, version.to_owned()))
        .collect()
}

fn is_python(tree: &SourceTree, suite: Option<&Suite>) -> bool {
    let is_suite = suite.is_some_and(|suite| suite.interpreter.is_some());
    let named = [
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "requirements.txt",
    ];
    is_suite || suite.is_none() && named.iter().any(|name| tree.root().join(name).is_file())
}

/// Node looks for packages in the project and nowhere else, and nothing is written there.
fn node_hint(tree: &SourceTree) -> String {
    let has = |name: &str| Path::new(tree.root()).join(name).is_file();
    let command = match () {
        () if has("pnpm-lock.yaml") => "pnpm install --frozen-lockfile",
        () if has("yarn.lock") => "yarn install --frozen-lockfile",
        () if has("bun.lock") || has("bun.lockb") => "bun install --frozen-lockfile",
        () if has("package-lock.json") => "npm ci",
        () => "npm install",
    };
    format!(
        "Node reads packages from the project's own `node_modules`, where nothing is written: type `{command}` there"
    )
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let programs = tempfile::tempdir().unwrap();
        let python = programs.path().join(if cfg!(windows) {
            "python.exe"
        } else {
            "python3"
        });
        std::fs::write(&python, "").unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let environment = Environment::default();
        let suite = crate::suite::told_by_files(&tree, Some(python.clone()), &environment);
        let plan =
            PreparePlan::of(&tree, suite.as_ref(), Some(python.clone()), &environment).unwrap();
        let shown = |text: &String| {
            let text = text.replace(&python.display().to_string(), "PYTHON");
            text.replace(&plan.folder.display().to_string(), "FOLDER")
                .replace('\\', "/")
        };
        let mut seen: Vec<String> = plan.commands.iter().map(shown).collect();
        seen.extend(
            plan.otherwise
                .iter()
                .map(|step| format!("or {}", shown(step))),
        );
        seen.extend(Some(plan.hint.clone()).filter(|hint| !hint.is_empty()));
        assert_eq!(seen, expected);
    }

    #[cfg(unix)]
    #[test]
    fn what_a_project_asks_for_is_installed_beside_it() {
        let text = "[build-system]\nrequires = []\n[project]\nname = \"a\"\n[project.optional-dependencies]\ntest = [\"pytest\"]\n\
            [tool.pytest.ini_options]\naddopts = \"--cov\"\n";
        check(
            &[
                ("pyproject.toml", text),
                ("tests/test_a.py", "def test_a(): pass\n"),
            ],
            &[
                "PYTHON -m venv --clear FOLDER/a/python",
                "FOLDER/a/python/bin/python -m pip install --quiet 'FOLDER/source[test]' pytest-cov",
                "or FOLDER/a/python/bin/python -m pip install --quiet pytest pytest-cov",
            ],
        );
        check(
            &[
                (
                    "pyproject.toml",
                    "[dependency-groups]\ntest = [\"pytest\"]\n",
                ),
                (
                    "poetry.lock",
                    "[[package]]\nname = \"pytest\"\nversion = \"8.0\"\n",
                ),
                ("tests/test_a.py", "def test_a(): pass\n"),
            ],
            &[
                "PYTHON -m venv --clear FOLDER/a/python",
                "FOLDER/a/python/bin/python -m pip install --quiet -c FOLDER/constraints.txt pytest",
                "or FOLDER/a/python/bin/python -m pip install --quiet pytest",
            ],
        );
        check(
            &[
                ("requirements.txt", "requests\n"),
                ("tests/test_a.py", "def test_a(): pass\n"),
            ],
            &[
                "PYTHON -m venv --clear FOLDER/a/python",
                "FOLDER/a/python/bin/python -m pip install --quiet -r FOLDER/source/requirements.txt pytest",
            ],
        );
    }

    #[cfg(unix)]
    #[test]
    fn files_that_tox_names_are_read_from_the_copy() {
        let tox = "[testenv]\ndeps =\n    -r ci/needs.txt\n    -c ci/pins.txt\n    pytest\n";
        check(
            &[
                ("tox.ini", tox),
                ("ci/needs.txt", "mock\n"),
                ("ci/pins.txt", "mock==5\n"),
                ("tests/test_a.py", "def test_a(): pass\n"),
            ],
            &[
                "PYTHON -m venv --clear FOLDER/a/python",
                "FOLDER/a/python/bin/python -m pip install --quiet -r FOLDER/source/ci/needs.txt -c FOLDER/source/ci/pins.txt pytest",
            ],
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_project_cannot_hand_options_to_pip() {
        let text = "[dependency-groups]\ntest = [\"--index-url=http://127.0.0.1\", \" -t/\", \"-r\", \"mock\"]\n";
        check(
            &[
                ("pyproject.toml", text),
                ("tests/test_a.py", "def test_a(): pass\n"),
            ],
            &[
                "PYTHON -m venv --clear FOLDER/a/python",
                "FOLDER/a/python/bin/python -m pip install --quiet mock pytest",
            ],
        );
    }

    #[cfg(unix)]
    #[test]
    fn other_tools_fetch_and_npm_installs_into_the_copy() {
        check(
            &[
                ("Cargo.toml", "[package]\nname = \"a\"\n"),
                ("src/lib.rs", "fn a() {}\n"),
            ],
            &["cargo fetch"],
        );
        let package = "{\"scripts\": {\"test\": \"jest\"}}";
        let npm = "npm --prefix FOLDER/source";
        let quiet = "--no-audit --no-fund --loglevel=error";
        check(
            &[
                ("package.json", package),
                ("package-lock.json", "{}"),
                ("a.js", "let a;\n"),
            ],
            &[&format!("{npm} ci {quiet}")],
        );
        check(
            &[("web/package.json", package), ("web/a.js", "let a;\n")],
            &[&format!(
                "cd web && {npm}/web install --no-package-lock {quiet}"
            )],
        );
        let node = "Node reads packages from the project's own `node_modules`, where nothing is written: type `npm install` there";
        let parts = "{\"workspaces\": [\"a\"], \"scripts\": {\"test\": \"jest\"}}";
        check(&[("package.json", parts), ("a.js", "let a;\n")], &[node]);
    }
}
