//! Python's suites: pytest, unittest, Django's; and the interpreter that has the project's packages.

use std::path::Path;

use crate::language::Language;
use crate::suite::{Candidate, Project, Runner, Suite};
use crate::symbols::DefinitionKind;
use crate::tree::SourceFile;

pub(super) fn detect(project: &Project<'_>) -> Option<Candidate> {
    let (runner, arguments, why) = runner(project)?;
    let interpreter = interpreter(project);
    let command = std::iter::once(interpreter.clone())
        .chain(arguments)
        .collect();
    let suite = Suite {
        runner,
        command,
        interpreter: Some(interpreter),
        folder: None,
        why,
    };
    Some(Candidate {
        suite,
        lines: project.lines_in(&[Language::Python]),
    })
}

fn runner(project: &Project<'_>) -> Option<(Runner, Vec<String>, String)> {
    let pytest = |why: String| Some((Runner::Pytest, words("-m pytest"), why));
    if let Some(why) = configured(project) {
        return pytest(why);
    }
    for script in ["tests/runtests.py", "runtests.py"] {
        if project.has(script) {
            return Some((
                Runner::Other,
                vec![script.to_string()],
                format!("`{script}`"),
            ));
        }
    }
    let tests: Vec<&SourceFile> = project
        .tree
        .files()
        .iter()
        .filter(|file| file.test && file.language == Language::Python)
        .collect();
    let first = |wanted: &dyn Fn(&SourceFile) -> bool| tests.iter().find(|file| wanted(file));
    if let Some(file) = first(&|file| file.path.file_name() == "conftest.py") {
        return pytest(format!("`{}`", file.path));
    }
    if let Some(file) = first(&|file| imports(file, "pytest")) {
        return pytest(format!("`{}` imports pytest", file.path));
    }
    if tests.is_empty() {
        return None;
    }
    if let Some(name) = asking_for_pytest(project) {
        return pytest(format!("`{name}` asks for pytest"));
    }
    if project.has("manage.py") {
        return Some((
            Runner::Other,
            words("manage.py test"),
            "`manage.py`".to_string(),
        ));
    }
    if let Some(file) = first(&has_test_functions) {
        return pytest(format!(
            "`{}` has test functions outside classes",
            file.path
        ));
    }
    let file = first(&|file| is_test_module(file) && imports(file, "unittest"))?;
    let why = format!("`{}` uses unittest", file.path);
    // Discovery from the project folder enters only packages.
    let folder = file
        .path
        .parts()
        .next()
        .filter(|_| file.path.parent().is_some());
    let arguments = match folder {
        Some(folder) if !project.has(&format!("{folder}/__init__.py")) => {
            format!("-m unittest discover -s {folder}")
        }
        Some(_) | None => "-m unittest discover".to_string(),
    };
    Some((Runner::Unittest, words(&arguments), why))
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_string).collect()
}

/// Returns which file configures pytest.
fn configured(project: &Project<'_>) -> Option<String> {
    for name in ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"] {
        if project.has(name) {
            return Some(format!("`{name}`"));
        }
    }
    for (name, section) in [
        ("pyproject.toml", "[tool.pytest"),
        ("tox.ini", "[pytest]"),
        ("setup.cfg", "[tool:pytest]"),
    ] {
        let text = project.text(name).unwrap_or_default();
        if text
            .lines()
            .any(|line| line.trim_start().starts_with(section))
        {
            return Some(format!("`{name}` configures pytest"));
        }
    }
    None
}

/// Files where projects list what their tests need.
const REQUIREMENTS: &[&str] = &[
    "pyproject.toml",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "requirements-tests.txt",
    "test-requirements.txt",
    "requirements/dev.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
    "requirements.txt",
    "Pipfile",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "noxfile.py",
];

fn asking_for_pytest(project: &Project<'_>) -> Option<&'static str> {
    let asks = |name: &&&str| {
        project
            .text(name)
            .is_some_and(|text| text.contains("pytest"))
    };
    REQUIREMENTS.iter().find(asks).copied()
}

fn imports(file: &SourceFile, module: &str) -> bool {
    let inside = |name: &str| {
        name == module
            || name
                .strip_prefix(module)
                .is_some_and(|rest| rest.starts_with('.'))
    };
    file.facts
        .imports
        .iter()
        .any(|import| import.level == 0 && inside(&import.module))
}

/// Says whether pytest and unittest would look into this file; a `test` folder also holds the product's own helpers.
fn is_test_module(file: &SourceFile) -> bool {
    let stem = file.path.stem();
    stem.starts_with("test") || stem.ends_with("_test")
}

fn has_test_functions(file: &SourceFile) -> bool {
    let is_test = |name: &str| name.starts_with("test_");
    is_test_module(file)
        && file
            .facts
            .definitions
            .iter()
            .any(|d| d.kind == DefinitionKind::Function && d.parent.is_none() && is_test(d.name()))
}

/// The project's own environment comes first: the active one is often the one that this program was installed in.
fn interpreter(project: &Project<'_>) -> String {
    for folder in [".venv", "venv", "env", ".env"] {
        if let Some(python) = python_of(&project.root().join(folder)) {
            return python;
        }
    }
    if let Some(python) = project
        .environment
        .virtual_env
        .as_deref()
        .and_then(python_of)
    {
        return python;
    }
    let names: &[&str] = if cfg!(windows) {
        &["python", "py"]
    } else {
        &["python3", "python"]
    };
    let found = names
        .iter()
        .find_map(|name| (project.environment.find_program)(name));
    found.map_or_else(|| names[0].to_string(), |path| path.display().to_string())
}

fn python_of(environment: &Path) -> Option<String> {
    if !environment.join("pyvenv.cfg").is_file() {
        return None;
    }
    let inside = if cfg!(windows) {
        ["Scripts/python.exe", "bin/python"]
    } else {
        ["bin/python", "bin/python3"]
    };
    let found = inside
        .iter()
        .map(|name| environment.join(name))
        .find(|path| path.is_file())?;
    Some(found.display().to_string())
}
