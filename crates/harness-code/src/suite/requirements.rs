//! What a Python project declares that it needs, to run and for its tests: read from its files, nothing is started.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprCall, Stmt};
use toml::{Table, Value};

use crate::path::RelPath;
use crate::suite::automation::{self, Asked};
use crate::suite::manifest::{distribution, ini, inside, keys, normal, strings, texts, with_setup};
use crate::suite::pytest::Settings;
use crate::tree::SourceTree;

/// What the files of a project ask for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Requirements {
    /// The name of the project's own package, where a file says it.
    pub package: Option<String>,
    /// Whether the project can be built and installed.
    pub is_package: bool,
    /// What it needs to run, as written; building the package brings it.
    pub runtime: Vec<String>,
    /// The extras of the package that its tests need.
    pub extras: Vec<String>,
    /// What its tests need beside the extras, as pip reads it.
    pub tests: Vec<String>,
    /// Files of requirements that pip reads itself.
    pub files: Vec<RelPath>,
    /// Files of versions that pip keeps to.
    pub constraints: Vec<RelPath>,
    /// Plugins that pytest's own settings use, whether or not a file asks for them.
    pub plugins: Vec<String>,
    /// What the extras and files ask for.
    listed: Vec<String>,
}

/// Groups and extras of this name hold what tests need; where there is none, those that have a word of such a name do, then
/// those of [`DEVELOPMENT`].
const TESTS: &[&str] = &["test", "tests", "testing", "unittest", "pytest"];
const DEVELOPMENT: &[&str] = &["dev", "develop", "development"];

/// Returns the files that list what tests need, in whatever place and spelling: those that speak of tests, else those
/// that speak of development.
pub(super) fn test_files(tree: &SourceTree) -> Vec<RelPath> {
    let mut found: Vec<RelPath> = Vec::new();
    for folder in ["", "requirements", "tests", "test", "ci"] {
        let entries = std::fs::read_dir(tree.root().join(folder))
            .into_iter()
            .flatten();
        let names = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        let listed = names.filter(|name| name.ends_with(".txt"));
        let paths = listed.map(|name| format!("{folder}/{name}"));
        found.extend(paths.filter_map(|path| RelPath::parse(path.trim_start_matches('/')).ok()));
    }
    found.retain(|path| path.as_str().contains("requirements"));
    found.sort();
    let speaking = |word: &str| -> Vec<RelPath> {
        let of = found.iter().filter(|path| path.as_str().contains(word));
        of.take(1).cloned().collect()
    };
    match speaking("test") {
        tests if !tests.is_empty() => tests,
        _ => speaking("dev"),
    }
}

impl Requirements {
    /// Reads the files of a project.
    pub fn of(tree: &SourceTree) -> Requirements {
        let text = |name: &str| -> Option<String> {
            let path = RelPath::parse(name).ok()?;
            Some(tree.text(&path).ok()?.into_content())
        };
        let mut found = Requirements::default();
        let table = |name: &str| text(name).and_then(|text| text.parse::<Table>().ok());
        let pyproject = table("pyproject.toml").unwrap_or_default();
        found.read_pyproject(&pyproject);
        if let Some(text) = text("setup.cfg") {
            found.read_setup_cfg(&text);
        }
        if let Some(text) = text("setup.py") {
            found.read_setup_py(&text);
        }
        if let Some(table) = table("Pipfile") {
            found.tests.extend(poetry_list(table.get("packages")));
            found.tests.extend(poetry_list(table.get("dev-packages")));
        }
        let has_group = !found.extras.is_empty() || !found.tests.is_empty();
        let tests = match has_group {
            true => Vec::new(),
            false => test_files(tree),
        };
        let says_nothing = !has_group && tests.is_empty();
        let runtime = RelPath::parse("requirements.txt").into_iter();
        for path in runtime.chain(tests) {
            found.read_file(path, &text);
        }
        if says_nothing {
            let mut asked = automation::tox(&text, &pyproject);
            if asked.is_empty() {
                asked = text("noxfile.py").map_or_else(Vec::new, |text| automation::nox(&text));
            }
            for asked in asked {
                found.ask(asked, &pyproject, &text);
            }
        }
        found.plugins = Settings::read(&text).plugins();
        found
    }

    /// Returns everything that is asked for, as pip reads it, without the project itself.
    pub fn without_project(&self) -> Vec<String> {
        self.foreign().cloned().collect()
    }

    fn foreign(&self) -> impl Iterator<Item = &String> {
        let own = self.package.as_deref().map(normal);
        let all = [&self.runtime, &self.listed, &self.tests, &self.plugins];
        let is_foreign = move |text: &&String| own.is_none() || distribution(text) != own;
        all.into_iter().flatten().filter(is_foreign)
    }

    /// Returns the versions that the project's lock file settles, as pip's constraints, without the project itself.
    pub fn locked(tree: &SourceTree) -> Vec<String> {
        let table = |name: &&str| {
            let text = tree.text(&RelPath::parse(name).ok()?).ok()?;
            text.content().parse::<Table>().ok()
        };
        let Some(lock) = ["uv.lock", "poetry.lock", "pdm.lock"]
            .iter()
            .find_map(table)
        else {
            return Vec::new();
        };
        let mut versions: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let packages = lock.get("package").and_then(Value::as_array);
        for package in packages.into_iter().flatten().filter_map(Value::as_table) {
            let text = |key: &str| package.get(key).and_then(Value::as_str);
            // What comes from a folder or a repository has no version that an index knows.
            let source = package.get("source").and_then(Value::as_table);
            let is_index = source.is_none_or(|source| source.contains_key("registry"));
            // A line of its own would be an option of pip's.
            let is_plain = |text: &&str| {
                let plain = |c: char| c.is_ascii_alphanumeric() || "._-+!".contains(c);
                text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(plain)
            };
            let text = |key: &str| text(key).filter(is_plain);
            if let (Some(name), Some(version), true) = (text("name"), text("version"), is_index) {
                versions.entry(normal(name)).or_default().push(version);
            }
        }
        // Where there are several, the newest is the one for newer Pythons.
        let settled = versions.into_iter().filter_map(|(name, known)| {
            let version = known.into_iter().max_by_key(|version| numbers(version))?;
            Some(format!("{name}=={version}"))
        });
        settled.collect()
    }

    /// Returns the names that must be installed, in one spelling: those that hold everywhere, without the project itself.
    pub fn names(&self) -> Vec<String> {
        let everywhere = self.foreign().filter(|text| !text.contains(';'));
        let mut names: Vec<String> = everywhere.filter_map(|text| distribution(text)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn read_file(&mut self, path: RelPath, text: &dyn Fn(&str) -> Option<String>) {
        let Some(text) = text(path.as_str()).filter(|_| !self.files.contains(&path)) else {
            return;
        };
        self.listed.extend(lines_of(&text));
        self.files.push(path);
    }

    /// Takes over what a tool that automates tests installs for them.
    fn ask(&mut self, asked: Asked, pyproject: &Table, text: &dyn Fn(&str) -> Option<String>) {
        match asked {
            Asked::Package(requirement) => self.tests.push(requirement),
            Asked::File(path) => self.read_file(path, text),
            Asked::Constraints(path) => {
                let is_there = text(path.as_str()).is_some();
                self.constraints.extend(is_there.then_some(path));
            }
            Asked::Extra(name) => {
                let path = format!("project.optional-dependencies.{name}");
                self.listed.extend(strings(inside(pyproject, &path)));
                self.extras.push(name);
            }
            Asked::Group(name) => {
                let groups = inside(pyproject, "dependency-groups").and_then(Value::as_table);
                self.tests.extend(group(groups, &name, &mut Vec::new()));
            }
        }
    }

    fn read_pyproject(&mut self, table: &Table) {
        let project = table.get("project").and_then(Value::as_table);
        let poetry = inside(table, "tool.poetry").and_then(Value::as_table);
        self.is_package |=
            table.contains_key("build-system") || project.is_some() || poetry.is_some();
        let name = project.or(poetry).and_then(|table| table.get("name"));
        self.package = name.and_then(Value::as_str).map(str::to_owned);
        if let Some(project) = project {
            self.runtime.extend(strings(project.get("dependencies")));
            let extras = project
                .get("optional-dependencies")
                .and_then(Value::as_table);
            for name in chosen(extras) {
                self.listed
                    .extend(strings(extras.and_then(|extras| extras.get(name))));
                self.extras.push(name.to_owned());
            }
        }
        let groups = table.get("dependency-groups").and_then(Value::as_table);
        for name in chosen(groups) {
            self.tests.extend(group(groups, name, &mut Vec::new()));
        }
        if let Some(poetry) = poetry {
            self.runtime.extend(poetry_list(poetry.get("dependencies")));
            let groups = poetry.get("group").and_then(Value::as_table);
            let mut names = chosen(groups);
            // Poetry's own habit is one group `dev` beside others.
            names.extend(
                DEVELOPMENT
                    .iter()
                    .filter(|name| groups.is_some_and(|groups| groups.contains_key(**name))),
            );
            names.dedup();
            for name in names {
                let group = groups
                    .and_then(|groups| groups.get(name))
                    .and_then(Value::as_table);
                self.tests.extend(poetry_list(
                    group.and_then(|group| group.get("dependencies")),
                ));
            }
            self.tests
                .extend(poetry_list(poetry.get("dev-dependencies")));
        }
        self.tests
            .extend(strings(inside(table, "tool.uv.dev-dependencies")));
        let pdm = inside(table, "tool.pdm.dev-dependencies").and_then(Value::as_table);
        for name in chosen(pdm) {
            self.tests
                .extend(strings(pdm.and_then(|groups| groups.get(name))));
        }
        for environment in ["hatch-test", "test", "tests", "default"] {
            for key in ["dependencies", "extra-dependencies"] {
                self.tests.extend(strings(inside(
                    table,
                    &format!("tool.hatch.envs.{environment}.{key}"),
                )));
            }
        }
    }

    fn read_setup_cfg(&mut self, text: &str) {
        self.is_package |= text.contains("[metadata]") || text.contains("[options]");
        let name = plain(ini(text, "metadata", "name")).into_iter().next();
        self.package = self.package.take().or(name);
        self.runtime
            .extend(plain(ini(text, "options", "install_requires")));
        self.tests
            .extend(plain(ini(text, "options", "tests_require")));
        let names = keys(text, "options.extras_require");
        for name in picked(names.iter().map(String::as_str)) {
            self.listed
                .extend(plain(ini(text, "options.extras_require", name)));
            self.extras.push(name.to_owned());
        }
    }

    /// Reads what is written as plain lists; what `setup.py` computes is found out by building it.
    fn read_setup_py(&mut self, text: &str) {
        self.is_package = true;
        with_setup(text, |body, call| self.read_setup_call(body, call));
    }

    fn read_setup_call(&mut self, body: &[Stmt], call: &ExprCall) {
        let assigned = |name: &str| {
            body.iter().find_map(|statement| match statement {
                Stmt::Assign(assign) => match assign.targets.first() {
                    Some(Expr::Name(target)) if target.id.as_str() == name => Some(&*assign.value),
                    _ => None,
                },
                _ => None,
            })
        };
        let resolved = |value: &'_ Expr| -> Vec<String> {
            match value {
                Expr::Name(name) => assigned(name.id.as_str()).map(texts).unwrap_or_default(),
                other => texts(other),
            }
        };
        for keyword in &call.arguments.keywords {
            match keyword.arg.as_ref().map(|name| name.as_str()) {
                Some("name") if self.package.is_none() => {
                    self.package = texts(&keyword.value).into_iter().next();
                }
                Some("install_requires") => self.runtime.extend(resolved(&keyword.value)),
                Some("tests_require") => self.tests.extend(resolved(&keyword.value)),
                Some("extras_require") => {
                    let value = match &keyword.value {
                        Expr::Name(name) => assigned(name.id.as_str()),
                        other => Some(other),
                    };
                    self.read_extras(value, &resolved);
                }
                _ => {}
            }
        }
    }

    fn read_extras(&mut self, value: Option<&Expr>, resolved: &dyn Fn(&Expr) -> Vec<String>) {
        let Some(Expr::Dict(extras)) = value else {
            return;
        };
        let name = |key: &Option<Expr>| key.as_ref().map(texts).unwrap_or_default().concat();
        let named = extras.items.iter().map(|item| (name(&item.key), item));
        let named: Vec<_> = named.collect();
        let names = picked(named.iter().map(|(name, _)| name.as_str()));
        for (name, item) in named.iter().filter(|(name, _)| names.contains(&&**name)) {
            self.listed.extend(resolved(&item.value));
            self.extras.push(name.clone());
        }
    }
}

/// Returns the groups that hold what tests need.
fn chosen(groups: Option<&Table>) -> Vec<&str> {
    let keys = groups.into_iter().flat_map(Table::keys);
    picked(keys.map(String::as_str))
}

/// Returns the names that speak of tests, else those that speak of development; those that say nothing else first.
fn picked<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let names: Vec<&str> = names.collect();
    let rank = |name: &&str| {
        let name = normal(name);
        let has = |known: &[&str]| name.split('-').any(|word| known.contains(&word));
        match () {
            () if TESTS.contains(&&*name) => 0,
            () if has(TESTS) => 1,
            () if DEVELOPMENT.contains(&&*name) => 2,
            () if has(DEVELOPMENT) => 3,
            () => u8::MAX,
        }
    };
    let best = names.iter().map(rank).min();
    let is_best = |name: &&str| Some(rank(name)) == best && rank(name) < u8::MAX;
    names.into_iter().filter(is_best).collect()
}

/// How many groups one may lead to; real projects have a dozen.
const MOST_GROUPS: usize = 100;

/// Returns what a group asks for, with the groups that it includes, each once.
fn group<'a>(groups: Option<&'a Table>, name: &'a str, seen: &mut Vec<&'a str>) -> Vec<String> {
    let items = groups
        .and_then(|groups| groups.get(name))
        .and_then(Value::as_array);
    let mut found = Vec::new();
    if seen.contains(&name) || seen.len() == MOST_GROUPS {
        return found;
    }
    seen.push(name);
    for item in items.into_iter().flatten() {
        let included = item.as_table().and_then(|item| item.get("include-group"));
        match (item.as_str(), included.and_then(Value::as_str)) {
            (Some(text), _) => found.push(text.to_owned()),
            (None, Some(other)) => found.extend(group(groups, other, seen)),
            (None, None) => {}
        }
    }
    found
}

/// Returns a table of names and versions, as poetry and pipenv write it, as pip reads it. Optional ones are left out.
fn poetry_list(value: Option<&Value>) -> Vec<String> {
    let table = value.and_then(Value::as_table).into_iter().flatten();
    let asked = table.filter(|(name, value)| {
        let table = value.as_table();
        let says = |key: &str| table.and_then(|table| table.get(key));
        let is_elsewhere = ["path", "git", "url", "python", "markers"]
            .iter()
            .any(|key| says(key).is_some());
        name.as_str() != "python"
            && says("optional").and_then(Value::as_bool) != Some(true)
            && !is_elsewhere
    });
    asked
        .map(|(name, value)| {
            let version = value
                .as_table()
                .map_or(Some(value), |table| table.get("version"));
            format!(
                "{name}{}",
                pip_version(version.and_then(Value::as_str).unwrap_or("*"))
            )
        })
        .collect()
}

/// Returns a version as pip reads it: `^1.2` is `>=1.2,<2`, `~1.2` is `>=1.2,<1.3`, `*` is any.
fn pip_version(text: &str) -> String {
    let text = text.trim();
    if let Some(least) = text.strip_prefix('^') {
        let first = numbers(least).iter().position(|number| *number > 0);
        return up_to_next(least, first.map_or(usize::MAX, |first| first + 1));
    }
    if let Some(least) = text.strip_prefix('~').filter(|rest| !rest.starts_with('=')) {
        return up_to_next(least, 2);
    }
    match text {
        "*" | "" => String::new(),
        _ if text.starts_with(|c: char| c.is_ascii_digit()) => format!("=={text}"),
        _ => text.to_owned(),
    }
}

/// Returns the versions from one on in which this many numbers stay, the last of them aside.
fn up_to_next(least: &str, kept: usize) -> String {
    let mut next = numbers(least);
    next.truncate(kept);
    if let Some(last) = next.last_mut() {
        *last += 1;
    }
    let next: Vec<String> = next.iter().map(u64::to_string).collect();
    format!(">={least},<{}", next.join("."))
}

fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split('.');
    parts.map_while(|part| part.parse().ok()).collect()
}

/// Returns the requirements of a file of requirements; options and other files are pip's affair.
fn lines_of(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split(" #").next().unwrap_or_default().trim());
    let wanted = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '-', '.', '/']));
    wanted
        .filter(|line| !line.contains("://"))
        .map(str::to_owned)
        .collect()
}

/// Returns the lines that are requirements; options and other files are pip's affair.
fn plain(lines: Vec<String>) -> Vec<String> {
    let is_plain = |line: &String| !line.is_empty() && !line.starts_with(['#', '-', '{', '.']);
    // `tox.ini` says for which environments a line holds: `py312: numpy`.
    lines
        .into_iter()
        .filter(is_plain)
        .filter(|line| !line.contains(": "))
        .collect()
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests lay out projects in a temporary folder"
)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Requirements {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        Requirements::of(&SourceTree::read(folder.path(), None).unwrap())
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], names: &str, extras: &str, tests: &str) {
        let found = read(files);
        assert_eq!(found.names().join(" "), names);
        assert_eq!(found.extras.join(" "), extras);
        assert_eq!(found.tests.join(" "), tests);
    }

    #[test]
    fn a_pyproject_says_what_it_needs_and_what_its_tests_need() {
        let text = "[project]\nname = \"My.App\"\ndependencies = [\"Requests>=2\", \"tomli; python_version<'3.11'\"]\n\
            [project.optional-dependencies]\ndocs = [\"sphinx\"]\ntest = [\"pytest_mock\", \"my-app[docs]\"]\n";
        check(
            &[("pyproject.toml", text)],
            "pytest-mock requests",
            "test",
            "",
        );
        let text = "[project]\nname = \"a\"\n[dependency-groups]\ntest = [\"pytest\"]\n\
            dev = [{include-group = \"test\"}, \"ruff\"]\n";
        check(&[("pyproject.toml", text)], "pytest", "", "pytest");
        let text = "[dependency-groups]\nbase = [\"mock\"]\ndev = [{include-group = \"base\"}, \"pytest\"]\n";
        check(
            &[("pyproject.toml", text)],
            "mock pytest",
            "",
            "mock pytest",
        );
        let text = "[dependency-groups]\ndev = [{include-group = \"dev\"}, \"pytest\"]\n";
        assert!(
            read(&[("pyproject.toml", text)]).names() == ["pytest"],
            "a circle ends"
        );
    }

    #[test]
    fn poetry_s_versions_are_read_as_pip_reads_them() {
        let text = "[tool.poetry]\nname = \"a\"\n[tool.poetry.dependencies]\npython = \"^3.9\"\nattrs = \"^23.1\"\n\
            fast = {version = \"^1\", optional = true}\n[tool.poetry.group.dev.dependencies]\npytest = \"^7.1.2\"\n\
            black = \"*\"\nmock = \"~4.0.1\"\nold = \"^0.3.2\"\nfixed = \"1.2\"\nhere = {path = \"../here\"}\n";
        let tests = "black fixed==1.2 mock>=4.0.1,<4.1 old>=0.3.2,<0.4 pytest>=7.1.2,<8";
        let found = read(&[("pyproject.toml", text)]);
        let mut seen = found.tests.clone();
        seen.sort();
        assert_eq!(seen.join(" "), tests);
        assert_eq!(found.names().join(" "), "attrs black fixed mock old pytest");
    }

    #[test]
    fn older_files_are_read_too() {
        let setup = "from setuptools import setup\nprint('a')\nneeds = ['six']\nsetup(name='a', install_requires=needs,\n    \
            extras_require={'tests': ['pytest', 'mock>=2']})\n";
        check(&[("setup.py", setup)], "mock pytest six", "tests", "");
        let setup = "from setuptools import setup as _setup\n_setup(install_requires=['six'])\n";
        check(&[("setup.py", setup)], "six", "", "");
        let cfg = "[metadata]\nname = a\n[options]\ninstall_requires =\n    click>=8  # ui\n    attrs; python_version<'3'\n\
            [options.extras_require]\ndev =\n    pytest\n";
        check(&[("setup.cfg", cfg)], "click pytest", "dev", "");
        check(
            &[(
                "tox.ini",
                "[testenv]\ndeps =\n    -rx.txt\n\n# why\n    pytest\n    py39: mock\ncommands = pytest\n",
            )],
            "pytest",
            "",
            "pytest",
        );
        let cfg = "[options.extras_require]\nunit_tests =\n    pytest\ndocs =\n    sphinx\ntests-gpu = torch\n";
        check(
            &[("setup.cfg", cfg)],
            "pytest torch",
            "unit_tests tests-gpu",
            "",
        );
        let files = [
            ("requirements.txt", "flask==2\n"),
            ("requirements/test.txt", "-r ../requirements.txt\npytest\n"),
        ];
        check(&files, "flask pytest", "", "");
        assert_eq!(read(&files).files.len(), 2);
        check(
            &[
                ("dev.requirements.txt", "pytest\n"),
                ("notes.txt", "flask\n"),
            ],
            "pytest",
            "",
            "",
        );
        check(
            &[(
                "Pipfile",
                "[packages]\nflask = \"*\"\n[dev-packages]\npytest = \">=7\"\n",
            )],
            "flask pytest",
            "",
            "flask pytest>=7",
        );
    }

    #[test]
    fn an_extra_whose_name_has_other_words_is_found() {
        let project = "[project]\nname = \"a\"\n[project.optional-dependencies]\n";
        for (extras, chosen) in [
            ("dev_tools = []\nunit-test = []\nlatest = []\n", "unit-test"),
            ("test = []\ntest-gpu = []\n", "test"),
            ("latest = []\ndev-extra = []\n", "dev-extra"),
            ("latest = []\ndevice = []\n", ""),
        ] {
            let text = format!("{project}{extras}");
            check(&[("pyproject.toml", &text)], "", chosen, "");
        }
    }

    #[test]
    fn what_tox_and_nox_install_is_asked_for() {
        let project = "[project]\nname = \"a\"\n[project.optional-dependencies]\nfast = [\"attrs\"]\n[dependency-groups]\nci = [\"mock\"]\n";
        let tox = "[testenv]\ndeps =\n    -r{toxinidir}/ci/needs.txt\n    -c ci/pins.txt\n    pytest>=7\n\
            extras = fast\ndependency_groups =\n    ci\n";
        let files = [
            ("pyproject.toml", project),
            ("tox.ini", tox),
            ("requirements.txt", "flask\n"),
            ("ci/needs.txt", "hypothesis\n"),
            ("ci/pins.txt", "attrs==23.1\n"),
        ];
        check(
            &files,
            "attrs flask hypothesis mock pytest",
            "fast",
            "pytest>=7 mock",
        );
        let found = read(&files);
        let shown = |paths: &[RelPath]| -> String {
            let paths = paths.iter().map(ToString::to_string);
            paths.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(&found.files), "requirements.txt ci/needs.txt");
        assert_eq!(shown(&found.constraints), "ci/pins.txt");
        let native = "[tool.tox.env_run_base]\ndeps = [\"pytest\"]\nextras = [\"fast\"]\n";
        let text = format!("{project}{native}");
        check(
            &[("pyproject.toml", &text)],
            "attrs pytest",
            "fast",
            "pytest",
        );
        let nox = "import nox\n@nox.session\ndef lint(session):\n    session.install('ruff')\n\
            @nox.session\ndef tests(session):\n    if session.posargs:\n        session.install('-r', 'ci/needs.txt', 'pytest', '-e', '.[fast]')\n    \
            session.install('-U', 'sure; python_version>\"3\"')\n    session.install('-t', 'somewhere', 'six')\n    session.run('pytest')\n";
        let files = [
            ("pyproject.toml", project),
            ("noxfile.py", nox),
            ("ci/needs.txt", "hypothesis\n"),
        ];
        let tests = "pytest sure; python_version>\"3\"";
        check(&files, "attrs hypothesis pytest", "fast", tests);
    }

    #[test]
    fn a_lock_file_settles_versions() {
        let folder = tempfile::tempdir().unwrap();
        let lock = "version = 1\n[[package]]\nname = \"pytest\"\nversion = \"8.4.1\"\nsource = { registry = \"https://index.test\" }\n\
            [[package]]\nname = \"shop\"\nversion = \"1.0\"\nsource = { editable = \".\" }\n\
            [[package]]\nname = \"numpy\"\nversion = \"2.1\"\n[[package]]\nname = \"numpy\"\nversion = \"1.26\"\n\
            [[package]]\nname = \"evil\"\nversion = \"1\\n--index-url http://127.0.0.1\"\n[[package]]\nname = \"-r x\"\nversion = \"1\"\n";
        std::fs::write(folder.path().join("uv.lock"), lock).unwrap();
        std::fs::write(folder.path().join("a.py"), "").unwrap();
        let tree = SourceTree::read(folder.path(), None).unwrap();
        assert_eq!(Requirements::locked(&tree), ["numpy==2.1", "pytest==8.4.1"]);
    }

    #[test]
    fn nonsense_asks_for_nothing() {
        check(
            &[
                ("pyproject.toml", "dependencies = {"),
                ("setup.py", "setup("),
                ("a.py", ""),
            ],
            "",
            "",
            "",
        );
        check(
            &[("pyproject.toml", "project = 3\ndependency-groups = []\n")],
            "",
            "",
            "",
        );
    }
}
