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
    let uses_unittest = |file: &SourceFile| is_test_module(file) && imports(file, "unittest");
    let Some(file) = first(&uses_unittest) else {
        return first(&has_tests)
            .and_then(|file| pytest(format!("`{}` has tests in classes", file.path)));
    };
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
    let start = folder.filter(|_| arguments.contains(" -s "));
    if let Some(file) = first(&|file| has_tests(file) && !unittest_finds(project, file, start)) {
        return pytest(format!("unittest does not find `{}`", file.path));
    }
    Some((Runner::Unittest, words(&arguments), why))
}

/// Says whether a file has tests: functions of that name in classes.
fn has_tests(file: &SourceFile) -> bool {
    let is_test = |name: &str| name.starts_with("test_");
    let mut definitions = file.facts.definitions.iter();
    is_test_module(file) && definitions.any(|one| one.kind.is_function() && is_test(one.name()))
}

/// Says whether unittest's discovery from a folder, or from the project's own, runs the tests of a file: it enters
/// packages only, reads `test*.py`, and knows its own classes.
fn unittest_finds(project: &Project<'_>, file: &SourceFile, start: Option<&str>) -> bool {
    let folders: Vec<&str> = file.path.parts().collect();
    let folders = &folders[..folders.len().saturating_sub(1)];
    let is_inside = start.is_none_or(|start| folders.first() == Some(&start));
    let above = usize::from(start.is_some());
    let mut packages = (above + 1)..=folders.len();
    is_inside
        && file.path.stem().starts_with("test")
        && packages.all(|end| project.has(&format!("{}/__init__.py", folders[..end].join("/"))))
        && !file.facts.imports.is_empty()
        && derives_from_something(project, file)
}

/// Says whether every class with tests has a base: one without is pytest's.
fn derives_from_something(project: &Project<'_>, file: &SourceFile) -> bool {
    let Some(text) = project.text(file.path.as_str()) else {
        return true;
    };
    let definitions = &file.facts.definitions;
    let tests = definitions
        .iter()
        .filter(|one| one.kind.is_function() && one.name().starts_with("test_"));
    let mut classes = tests.filter_map(|one| definitions.get(one.parent? as usize));
    classes.all(|class| {
        let head = text.get(class.header_start()..).unwrap_or_default();
        let head = head.split(':').next().unwrap_or_default();
        head.contains('(')
    })
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
