//! Which test suite a project has, how it is run and with which interpreter: from its files and an environment handed in.
//! Nothing is started here.

mod automation;
pub mod compiler;
mod environments;
pub(crate) mod manifest;
mod pytest;
mod python;
mod requirements;
mod tool;
pub mod weaken;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::language::Language;
use crate::path::RelPath;
use crate::tree::SourceTree;

pub use environments::{PREPARED, base_python, packages_of};
pub use requirements::Requirements;

/// How a project's tests are run.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Suite {
    /// The tool that runs them.
    pub runner: Runner,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The Python interpreter, for Python suites.
    pub interpreter: Option<String>,
    /// Why that interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter_why: Option<String>,
    /// What the project's files ask for and the interpreter has not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The folder to start in, when it is not the project folder.
    pub folder: Option<RelPath>,
    /// What this was told from, for a person.
    pub why: String,
}

impl Suite {
    /// Returns why this command, and why this interpreter, in one line.
    pub fn reason(&self) -> String {
        let reasons = [Some(&self.why), self.interpreter_why.as_ref()];
        let mut reasons: Vec<&str> = reasons.into_iter().flatten().map(String::as_str).collect();
        reasons.retain(|reason| !reason.is_empty());
        reasons.dedup();
        reasons.join("; ")
    }

    /// Returns the folder that the tests run in, of a project or a copy of it at `root`.
    pub fn place(&self, root: &Path) -> PathBuf {
        let folder = self.folder.as_ref();
        folder.map_or_else(|| root.to_path_buf(), |folder| folder.under(root))
    }

    /// Returns the Python that runs the tests.
    pub fn python(&self) -> &str {
        self.interpreter.as_deref().unwrap_or("python3")
    }
}

/// A tool that runs tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    /// pytest.
    Pytest,
    /// Python's own unittest.
    Unittest,
    /// `cargo test`.
    Cargo,
    /// `go test`.
    Go,
    /// `npm test`.
    Npm,
    /// `pnpm test`.
    Pnpm,
    /// `yarn test`.
    Yarn,
    /// Bun, by a script of the project or by itself.
    Bun,
    /// Maven.
    Maven,
    /// Gradle.
    Gradle,
    /// PHPUnit.
    Phpunit,
    /// RSpec.
    Rspec,
    /// Ruby's `rake test`, with minitest.
    Rake,
    /// CMake's ctest, after a build.
    Ctest,
    /// `dotnet test`.
    Dotnet,
    /// A make target.
    Make,
    /// Anything else that the project's own files declare.
    Other,
}

/// Each runner with its name, the programs that start it, and the languages whose code it tests.
const RUNNERS: &[(Runner, &str, &str, &[Language])] = &[
    (Runner::Pytest, "pytest", "pytest", &[Language::Python]),
    (
        Runner::Unittest,
        "unittest",
        "unittest",
        &[Language::Python],
    ),
    (Runner::Cargo, "cargo", "cargo", &[Language::Rust]),
    (Runner::Go, "go", "go", &[Language::Go]),
    (Runner::Npm, "npm", "npm", SCRIPTS),
    (Runner::Pnpm, "pnpm", "pnpm", SCRIPTS),
    (Runner::Yarn, "yarn", "yarn", SCRIPTS),
    (Runner::Bun, "bun", "bun", SCRIPTS),
    (Runner::Maven, "maven", "mvn mvnw", &[Language::Java]),
    (
        Runner::Gradle,
        "gradle",
        "gradle gradlew",
        &[Language::Java],
    ),
    (Runner::Phpunit, "phpunit", "phpunit", &[Language::Php]),
    (Runner::Rspec, "rspec", "rspec", &[Language::Ruby]),
    (Runner::Rake, "rake", "rake", &[Language::Ruby]),
    // A command that names `ctest` is any command: the build in front of it may be all of it.
    (Runner::Ctest, "ctest", "", &[Language::C, Language::Cpp]),
    (Runner::Dotnet, "dotnet", "dotnet", &[Language::CSharp]),
    (Runner::Make, "make", "make", &[]),
];
const SCRIPTS: &[Language] = &[Language::JavaScript, Language::TypeScript, Language::Tsx];

impl Runner {
    fn row(self) -> Option<&'static (Runner, &'static str, &'static str, &'static [Language])> {
        RUNNERS.iter().find(|(runner, ..)| *runner == self)
    }

    /// Returns the name a person uses.
    pub fn name(self) -> &'static str {
        self.row().map_or("other", |(_, name, ..)| name)
    }

    /// Returns the languages whose code it tests.
    fn languages(self) -> &'static [Language] {
        self.row().map_or(&[], |(.., languages)| languages)
    }

    /// Returns what the words of a command start.
    pub fn of_command(command: &[String]) -> Runner {
        let stems: Vec<_> = command
            .iter()
            .filter_map(|word| Path::new(word).file_stem())
            .collect();
        let is_there = |program: &str| stems.iter().any(|stem| *stem == program);
        let mut known = RUNNERS.iter();
        let known =
            known.find(|(_, _, programs, _)| programs.split_ascii_whitespace().any(is_there));
        known.map_or(Runner::Other, |(runner, ..)| *runner)
    }

    /// Says whether it runs tests of a language; a script of the project may run any.
    pub fn runs(self, language: Language) -> bool {
        match self {
            Runner::Make | Runner::Other => true,
            Runner::Maven | Runner::Gradle => !matches!(
                language,
                Language::Python | Language::Rust | Language::Go | Language::JavaScript
            ),
            _ => self.languages().contains(&language),
        }
    }
}

/// What the caller knows of the machine; nothing is looked up here.
pub struct SuiteEnvironment<'a> {
    /// The Python that the user named for the project.
    pub python: Option<PathBuf>,
    /// The environment that was prepared for the project.
    pub prepared: Option<PathBuf>,
    /// The active environments.
    pub active: Vec<PathBuf>,
    /// The environment that this program is installed in.
    pub own: Option<PathBuf>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// Finds the programs of a name on the search path, in its order.
    pub find_programs: &'a dyn Fn(&str) -> Vec<PathBuf>,
}

/// A suite that the project may have, with how much of the project's code is in its language.
struct Candidate {
    suite: Suite,
    lines: u64,
}

/// What the detectors look at.
struct Project<'a> {
    tree: &'a SourceTree,
    environment: &'a SuiteEnvironment<'a>,
}

/// Asked in this order; where several answer, the one with most code in its language wins.
const DETECTORS: &[fn(&Project<'_>) -> Option<Candidate>] = &[
    python::detect,
    tool::cargo,
    tool::go,
    tool::node,
    tool::maven,
    tool::gradle,
    tool::ruby,
    tool::php,
    tool::dotnet,
    tool::ctest,
];

/// Returns how the project's tests are run, or `None` when it has none that we can tell.
pub fn detect(tree: &SourceTree, environment: &SuiteEnvironment<'_>) -> Option<Suite> {
    let project = Project { tree, environment };
    // Of equals the last one is taken.
    let candidates = DETECTORS.iter().rev().filter_map(|detect| detect(&project));
    candidates
        .max_by_key(|candidate| candidate.lines)
        .map(|candidate| candidate.suite)
        .or_else(|| tool::make(&project))
}

impl Project<'_> {
    /// Returns the text of a file directly under the project folder or deeper; also outside the scope.
    fn text(&self, name: &str) -> Option<String> {
        let path = RelPath::parse(name).ok()?;
        Some(self.tree.text(&path).ok()?.into_content())
    }

    fn has(&self, name: &str) -> bool {
        RelPath::parse(name).is_ok_and(|path| path.under(self.tree.root()).is_file())
    }

    fn root(&self) -> &Path {
        self.tree.root()
    }

    fn lines_in(&self, languages: &[Language]) -> u64 {
        let files = self
            .tree
            .sources()
            .filter(|file| languages.contains(&file.language));
        files.map(|file| u64::from(file.lines)).sum()
    }

    /// Returns the folder that holds `manifest`: the project folder, else the one folder nearest to it.
    fn folder_of(&self, manifest: &str) -> Option<Option<RelPath>> {
        if self.has(manifest) {
            return Some(None);
        }
        let found = self
            .tree
            .files()
            .iter()
            .filter(|file| file.path.file_name() == manifest && !file.test);
        let nearest = found.min_by_key(|file| file.path.parts().count())?;
        Some(nearest.path.parent())
    }

    fn program(&self, name: &str) -> String {
        let found = (self.environment.find_programs)(name).into_iter().next();
        found.map_or_else(|| name.to_string(), |path| path.display().to_string())
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;
    use std::fs;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: Option<&str>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tree = SourceTree::read(folder.path(), None).unwrap();
        let find = |name: &str| vec![PathBuf::from(format!("/bin/{name}"))];
        let environment = SuiteEnvironment {
            python: None,
            prepared: None,
            active: Vec::new(),
            own: None,
            home: None,
            find_programs: &find,
        };
        let root = tree.root().display().to_string();
        let seen = detect(&tree, &environment).map(|suite| {
            let folder = suite
                .folder
                .map_or(String::new(), |folder| format!(" in {folder}"));
            format!(
                "{}{folder}: {} ({})",
                suite.runner.name(),
                suite.command.join(" "),
                suite.why
            )
            .replace(&root, "ROOT")
        });
        assert_eq!(seen.as_deref(), expected);
    }

    const UNITTEST: &str =
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n";

    #[test]
    fn pytest_is_told_from_its_configuration_and_use() {
        check(
            &[("pytest.ini", ""), ("test_a.py", UNITTEST)],
            Some("pytest: /bin/python3 -m pytest (`pytest.ini`)"),
        );
        check(
            &[
                ("pyproject.toml", "[tool.pytest.ini_options]\n"),
                ("tests/test_a.py", ""),
            ],
            Some("pytest: /bin/python3 -m pytest (`pyproject.toml` configures pytest)"),
        );
        check(
            &[("tox.ini", "[pytest]\n"), ("test_a.py", "")],
            Some("pytest: /bin/python3 -m pytest (`tox.ini` configures pytest)"),
        );
        check(
            &[("tests/conftest.py", ""), ("tests/test_a.py", "")],
            Some("pytest: /bin/python3 -m pytest (`tests/conftest.py`)"),
        );
        check(
            &[("tests/test_a.py", "def test_a(): pass\n")],
            Some(
                "pytest: /bin/python3 -m pytest (`tests/test_a.py` has test functions outside classes)",
            ),
        );
        check(
            &[
                ("requirements-dev.txt", "pytest>=7\n"),
                ("tests/test_a.py", UNITTEST),
            ],
            Some("pytest: /bin/python3 -m pytest (`requirements-dev.txt` asks for pytest)"),
        );
    }

    #[test]
    fn unittest_is_what_remains() {
        check(
            &[("tests/__init__.py", ""), ("tests/test_a.py", UNITTEST)],
            Some("unittest: /bin/python3 -m unittest discover (`tests/test_a.py` uses unittest)"),
        );
        check(
            &[("tests/test_a.py", UNITTEST)],
            Some(
                "unittest: /bin/python3 -m unittest discover -s tests (`tests/test_a.py` uses unittest)",
            ),
        );
        check(
            &[("test_a.py", UNITTEST)],
            Some("unittest: /bin/python3 -m unittest discover (`test_a.py` uses unittest)"),
        );
        check(
            &[
                ("manage.py", ""),
                ("app/tests.py", "from django.test import TestCase\n"),
            ],
            Some("other: /bin/python3 manage.py test (`manage.py`)"),
        );
    }

    #[test]
    fn pytest_runs_what_unittest_would_leave_out() {
        let plain = "from a import b\n\n\nclass TestB:\n    def test_b(self):\n        assert b\n";
        for (path, text) in [
            ("tests/test_b.py", plain),
            ("tests/b_test.py", UNITTEST),
            ("tests/unit/test_b.py", UNITTEST),
        ] {
            check(
                &[
                    ("tests/__init__.py", ""),
                    ("tests/test_a.py", UNITTEST),
                    (path, text),
                ],
                Some(&format!(
                    "pytest: /bin/python3 -m pytest (unittest does not find `{path}`)"
                )),
            );
        }
        check(
            &[("test_b.py", plain)],
            Some("pytest: /bin/python3 -m pytest (`test_b.py` has tests in classes)"),
        );
    }

    #[test]
    fn the_projects_own_environment_is_used() {
        let python = if cfg!(windows) {
            "venv/Scripts/python.exe"
        } else {
            "venv/bin/python"
        };
        check(
            &[
                ("venv/pyvenv.cfg", ""),
                (python, ""),
                ("pytest.ini", ""),
                ("test_a.py", ""),
            ],
            Some(&format!("pytest: ROOT/{python} -m pytest (`pytest.ini`)")),
        );
    }

    #[test]
    fn unittest_is_told_where_its_files_end_otherwise() {
        check(
            &[("tests/__init__.py", ""), ("tests/b_test.py", UNITTEST)],
            Some(
                "unittest: /bin/python3 -m unittest discover -p *_test.py (`tests/b_test.py` uses unittest)",
            ),
        );
    }

    #[test]
    fn ruby_and_cmake_are_told_from_their_files() {
        check(
            &[(".rspec", ""), ("lib/a.rb", "")],
            Some("rspec: /bin/rspec (`.rspec`)"),
        );
        check(
            &[
                (".rspec", ""),
                ("Gemfile", ""),
                ("Gemfile.lock", ""),
                ("lib/a.rb", ""),
            ],
            Some("rspec: /bin/bundle exec rspec (`.rspec`)"),
        );
        check(
            &[("Rakefile", "Rake::TestTask.new\n"), ("lib/a.rb", "")],
            Some("rake: /bin/rake test (`Rakefile` has the task `test`)"),
        );
        check(
            &[
                ("CMakeLists.txt", "project(a C)\nenable_testing()\n"),
                ("a.c", ""),
            ],
            Some("ctest: /bin/ctest (`CMakeLists.txt` has tests)"),
        );
        check(&[("CMakeLists.txt", "project(a C)\n"), ("a.c", "")], None);
    }

    #[test]
    fn other_tools_are_told_from_their_manifests() {
        check(
            &[("Cargo.toml", "[package]\nname='a'\n"), ("src/lib.rs", "")],
            Some("cargo: /bin/cargo test (`Cargo.toml`)"),
        );
        check(
            &[
                ("Cargo.toml", "[workspace]\nmembers=['a']\n"),
                ("a/src/lib.rs", ""),
            ],
            Some("cargo: /bin/cargo test --workspace (`Cargo.toml`)"),
        );
        check(
            &[("go.mod", "module x\n"), ("a.go", "package a\n")],
            Some("go: /bin/go test ./... (`go.mod`)"),
        );
        let script = r#"{"scripts": {"test": "jest"}}"#;
        check(
            &[("package.json", script)],
            Some("npm: /bin/npm test (`package.json` runs `jest`)"),
        );
        check(
            &[("package.json", script), ("pnpm-lock.yaml", "")],
            Some("pnpm: /bin/pnpm test (`package.json` runs `jest`)"),
        );
        check(
            &[("package.json", script), ("yarn.lock", "")],
            Some("yarn: /bin/yarn test (`package.json` runs `jest`)"),
        );
        check(
            &[("package.json", script), ("bun.lock", "")],
            Some("bun: /bin/bun run test (`package.json` runs `jest`)"),
        );
        check(
            &[("package.json", "{}"), ("bun.lockb", ""), ("a.test.ts", "")],
            Some("bun: /bin/bun test (`package.json` is Bun's)"),
        );
        check(&[("package.json", "{}"), ("bun.lockb", "")], None);
        check(
            &[(
                "package.json",
                r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
            )],
            None,
        );
        check(
            &[("pom.xml", ""), ("A.java", "")],
            Some("maven: /bin/mvn -B test (`pom.xml`)"),
        );
        check(
            &[("build.gradle", "")],
            Some("gradle: /bin/gradle test (`build.gradle`)"),
        );
        let wrapped = |end: &str| {
            let (reader, ending) = match cfg!(windows) {
                true => ("/bin/cmd /c", end),
                false => ("/bin/sh", ""),
            };
            (reader, ending.to_owned())
        };
        let (reader, ending) = wrapped(".cmd");
        check(
            &[("a/pom.xml", ""), (&format!("a/mvnw{ending}"), "")],
            Some(&format!(
                "maven in a: {reader} mvnw{ending} -B test (`a/pom.xml`)"
            )),
        );
        let (reader, ending) = wrapped(".bat");
        check(
            &[("build.gradle", ""), (&format!("gradlew{ending}"), "")],
            Some(&format!(
                "gradle: {reader} gradlew{ending} test (`build.gradle`)"
            )),
        );
        check(
            &[("phpunit.xml", ""), ("vendor/bin/phpunit", "")],
            Some("phpunit: /bin/php vendor/bin/phpunit (`phpunit.xml`)"),
        );
        let project = "<ItemGroup><PackageReference Include=\"Microsoft.NET.Test.Sdk\" />";
        check(
            &[
                ("Shop/Shop.csproj", "<Project />"),
                ("Tests/Tests.csproj", project),
                ("Tests/A.cs", ""),
            ],
            Some("dotnet in Tests: /bin/dotnet test (`Tests/Tests.csproj`)"),
        );
        check(
            &[("Shop.sln", ""), ("Tests/Tests.csproj", project)],
            Some("dotnet: /bin/dotnet test (`Shop.sln`)"),
        );
        check(&[("Shop.csproj", "<Project />"), ("A.cs", "")], None);
        check(
            &[("Makefile", "all:\n\ntest: all\n\t./run\n")],
            Some("make: /bin/make test (`Makefile` has the target `test`)"),
        );
        check(
            &[("web/package.json", script)],
            Some("npm in web: /bin/npm test (`web/package.json` runs `jest`)"),
        );
    }

    #[test]
    fn the_language_with_most_code_decides() {
        check(
            &[
                ("Cargo.toml", "[package]\n"),
                ("src/lib.rs", "a\nb\nc\n"),
                ("pytest.ini", ""),
                ("test_a.py", "x=1\n"),
            ],
            Some("cargo: /bin/cargo test (`Cargo.toml`)"),
        );
        check(&[("a.py", "x = 1\n")], None);
    }
}
