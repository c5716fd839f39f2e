//! Python's suites: pytest, unittest, Django's; and the interpreter that has the project's packages.

use crate::language::Language;
use crate::suite::pytest::Settings;
use crate::suite::requirements::test_files;
use crate::suite::{Candidate, Project, Runner, Suite, environments};
use crate::symbols::DefinitionKind;
use crate::tree::SourceFile;

pub(super) fn detect(project: &Project<'_>) -> Option<Candidate> {
    let settings = Settings::read(&|name| project.text(name));
    let (runner, mut arguments, mut why) = runner(project, &settings)?;
    let found = environments::choose(project, runner == Runner::Pytest);
    let without = settings.without(&found.missing);
    if let Some((rest, plugins)) = without.filter(|_| runner == Runner::Pytest) {
        arguments.extend(["-o".to_owned(), format!("addopts={rest}")]);
        let plugins = plugins.join(" and ");
        why = format!("{why}, without the options of {plugins}, not installed");
    }
    let interpreter = found.python.display().to_string();
    let command = std::iter::once(interpreter.clone())
        .chain(arguments)
        .collect();
    let suite = Suite {
        runner,
        command,
        interpreter: Some(interpreter),
        interpreter_why: Some(found.why),
        missing: found.missing,
        folder: None,
        why,
    };
    Some(Candidate {
        suite,
        lines: project.lines_in(&[Language::Python]),
    })
}

fn runner(project: &Project<'_>, settings: &Settings) -> Option<(Runner, Vec<String>, String)> {
    let pytest = |why: String| Some((Runner::Pytest, words("-m pytest"), why));
    if let Some(why) = &settings.why {
        return pytest(why.clone());
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
    let start = folder.filter(|folder| !project.has(&format!("{folder}/__init__.py")));
    let is_usual = |file: &SourceFile| uses_unittest(file) && file.path.stem().starts_with("test");
    let ending = if first(&is_usual).is_some() {
        ""
    } else {
        "_test"
    };
    let mut arguments = "-m unittest discover".to_string();
    arguments.extend(start.map(|folder| format!(" -s {folder}")));
    arguments.push_str(if ending.is_empty() {
        ""
    } else {
        " -p *_test.py"
    });
    let is_found = |file: &SourceFile| unittest_finds(project, file, start, ending);
    if let Some(file) = first(&|file| has_tests(file) && !is_found(file)) {
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
/// packages only, reads `test*.py` or what ends as it is told, and knows its own classes.
fn unittest_finds(
    project: &Project<'_>,
    file: &SourceFile,
    start: Option<&str>,
    ending: &str,
) -> bool {
    let folders: Vec<&str> = file.path.parts().collect();
    let folders = &folders[..folders.len().saturating_sub(1)];
    let is_inside = start.is_none_or(|start| folders.first() == Some(&start));
    let above = usize::from(start.is_some());
    let mut packages = (above + 1)..=folders.len();
    is_inside
        && (file.path.stem().starts_with("test") && ending.is_empty()
            || file.path.stem().ends_with(ending) && !ending.is_empty())
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

/// Files where projects say what they need, beside those that list what their tests need.
const DECLARING: &str = "\
    pyproject.toml requirements.txt Pipfile setup.py setup.cfg tox.ini noxfile.py";

fn asking_for_pytest(project: &Project<'_>) -> Option<String> {
    let listed = test_files(project.tree);
    let listed = listed.iter().map(|path| path.as_str());
    let asks = |name: &&str| {
        let text = project.text(name);
        text.is_some_and(|text| text.contains("pytest"))
    };
    let mut files = DECLARING.split_ascii_whitespace().chain(listed);
    files.find(asks).map(str::to_owned)
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
