//! Suites that a language's own tool runs, each told from its manifest.

use crate::path::RelPath;
use crate::suite::{Candidate, Project, Runner, Suite};
use crate::tree::SourceFile;

/// The parts of a suite that differ from tool to tool.
struct Found<'a> {
    runner: Runner,
    command: Vec<String>,
    arguments: &'a [&'a str],
    folder: Option<RelPath>,
    why: String,
}

impl Found<'_> {
    fn candidate(self, project: &Project<'_>) -> Candidate {
        let arguments = self.arguments.iter().map(|argument| argument.to_string());
        let command = self.command.into_iter().chain(arguments).collect();
        let suite = Suite {
            runner: self.runner,
            command,
            interpreter: None,
            interpreter_why: None,
            missing: Vec::new(),
            folder: self.folder,
            why: self.why,
        };
        Candidate {
            suite,
            lines: project.lines_in(self.runner.languages()),
        }
    }
}

fn inside(folder: Option<&RelPath>, name: &str) -> String {
    folder.map_or_else(|| name.to_string(), |folder| format!("{folder}/{name}"))
}

pub(super) fn cargo(project: &Project<'_>) -> Option<Candidate> {
    let folder = project.folder_of("Cargo.toml")?;
    let manifest = inside(folder.as_ref(), "Cargo.toml");
    let text = project.text(&manifest).unwrap_or_default();
    let is_workspace = text.lines().any(|line| line.trim() == "[workspace]");
    let arguments: &[&str] = if is_workspace {
        &["test", "--workspace"]
    } else {
        &["test"]
    };
    let program = project.program("cargo");
    let why = format!("`{manifest}`");
    Some(
        Found {
            runner: Runner::Cargo,
            command: vec![program],
            arguments,
            folder,
            why,
        }
        .candidate(project),
    )
}

pub(super) fn go(project: &Project<'_>) -> Option<Candidate> {
    told(project, Runner::Go, "go.mod", &[], &["go", "test", "./..."])
}

/// Package managers of Node beside npm, with the files that they write.
const MANAGERS: &[(Runner, &str, &[&str])] = &[
    (Runner::Pnpm, "pnpm", &["pnpm-lock.yaml"]),
    (Runner::Yarn, "yarn", &["yarn.lock"]),
    (Runner::Bun, "bun", &["bun.lock", "bun.lockb"]),
];

pub(super) fn node(project: &Project<'_>) -> Option<Candidate> {
    let folder = project.folder_of("package.json")?;
    let manifest = inside(folder.as_ref(), "package.json");
    let package: serde_json::Value = serde_json::from_str(&project.text(&manifest)?).ok()?;
    let script = package["scripts"]["test"].as_str().unwrap_or_default();
    // This is what `npm init` writes when nothing was said.
    let has_script = !script.trim().is_empty() && !script.contains("no test specified");
    let declared = package["packageManager"].as_str().unwrap_or_default();
    let locked = |name: &&str| project.has(&inside(folder.as_ref(), name)) || project.has(name);
    let manager = MANAGERS
        .iter()
        .find(|(_, name, locks)| declared.starts_with(name) || locks.iter().any(locked));
    let (runner, name) = manager.map_or((Runner::Npm, "npm"), |(runner, name, _)| (*runner, name));
    let is_test = |file: &SourceFile| file.test && runner.languages().contains(&file.language);
    let arguments: &[&str] = match (runner, has_script) {
        (Runner::Bun, true) => &["run", "test"],
        (Runner::Bun, false) if project.tree.files().iter().any(is_test) => &["test"],
        (_, true) => &["test"],
        (_, false) => return None,
    };
    let why = match has_script {
        true => format!("`{manifest}` runs `{script}`"),
        false => format!("`{manifest}` is Bun's"),
    };
    Some(
        Found {
            runner,
            command: vec![project.program(name)],
            arguments,
            folder,
            why,
        }
        .candidate(project),
    )
}

pub(super) fn maven(project: &Project<'_>) -> Option<Candidate> {
    let tool = &["mvn", "-B", "test"];
    told(project, Runner::Maven, "pom.xml", MAVEN_WRAPPER, tool)
}

pub(super) fn gradle(project: &Project<'_>) -> Option<Candidate> {
    let builds = "build.gradle build.gradle.kts settings.gradle settings.gradle.kts";
    let tool = &["gradle", "test"];
    told(project, Runner::Gradle, builds, GRADLE_WRAPPER, tool)
}

pub(super) fn php(project: &Project<'_>) -> Option<Candidate> {
    let settings = "phpunit.xml phpunit.xml.dist";
    let installed = &["php", "vendor/bin/phpunit"];
    told(project, Runner::Phpunit, settings, installed, &["phpunit"])
}

const MAVEN_WRAPPER: &[&str] = if cfg!(windows) {
    &["cmd", "/c", "mvnw.cmd"]
} else {
    &["sh", "mvnw"]
};
const GRADLE_WRAPPER: &[&str] = if cfg!(windows) {
    &["cmd", "/c", "gradlew.bat"]
} else {
    &["sh", "gradlew"]
};

/// Returns the suite of a tool that the first of some manifests tells. The project's own script starts it where there is
/// one, else the tool itself. A program of the system reads the script, since none is started that lies in the project.
fn told(
    project: &Project<'_>,
    runner: Runner,
    manifests: &str,
    own: &[&str],
    tool: &[&str],
) -> Option<Candidate> {
    let mut manifests = manifests.split_ascii_whitespace();
    let (name, folder) = manifests.find_map(|name| Some((name, project.folder_of(name)?)))?;
    let (tool, arguments) = tool.split_first()?;
    let command = match own {
        [reader, words @ .., script] if project.has(&inside(folder.as_ref(), script)) => {
            let words = words.iter().chain([script]).map(|word| (*word).to_owned());
            std::iter::once(project.program(reader))
                .chain(words)
                .collect()
        }
        _ => vec![project.program(tool)],
    };
    let found = Found {
        runner,
        command,
        arguments,
        why: format!("`{}`", inside(folder.as_ref(), name)),
        folder,
    };
    Some(found.candidate(project))
}

pub(super) fn ruby(project: &Project<'_>) -> Option<Candidate> {
    let folder = ["Gemfile", "Rakefile", ".rspec"]
        .iter()
        .find_map(|name| project.folder_of(name))?;
    let rakefile = inside(folder.as_ref(), "Rakefile");
    let has_task = |text: String| text.contains("TestTask") || text.contains("task :test");
    let is_bundled = project.has(&inside(folder.as_ref(), "Gemfile.lock"));
    let (runner, program, why) = if project.has(&inside(folder.as_ref(), ".rspec")) {
        (Runner::Rspec, "rspec", "`.rspec`".to_string())
    } else if project.text(&rakefile).is_some_and(has_task) {
        (
            Runner::Rake,
            "rake",
            format!("`{rakefile}` has the task `test`"),
        )
    } else {
        return None;
    };
    let arguments: &[&str] = match (runner, is_bundled) {
        (Runner::Rspec, true) => &["exec", "rspec"],
        (Runner::Rspec, false) => &[],
        (_, true) => &["exec", "rake", "test"],
        (_, false) => &["test"],
    };
    let program = project.program(if is_bundled { "bundle" } else { program });
    Some(
        Found {
            runner,
            command: vec![program],
            arguments,
            folder,
            why,
        }
        .candidate(project),
    )
}

/// Packages that make a project of .NET one of tests.
const DOTNET_TESTS: [&str; 4] = ["Microsoft.NET.Test.Sdk", "MSTest", "xunit", "NUnit"];

/// A solution knows its projects; where there is none, the first project of tests is taken.
pub(super) fn dotnet(project: &Project<'_>) -> Option<Candidate> {
    let files = project.tree.files();
    let ends = |file: &SourceFile, known: &[&str]| {
        let extension = file.path.extension();
        extension.is_some_and(|extension| known.contains(&extension))
    };
    let has_tests = |file: &&SourceFile| {
        let names_one = |text: String| DOTNET_TESTS.iter().any(|name| text.contains(name));
        ends(file, &["csproj", "fsproj", "vbproj"])
            && project.text(file.path.as_str()).is_some_and(names_one)
    };
    let solution = files.iter().find(|file| ends(file, &["sln", "slnx"]));
    let file = solution.or_else(|| files.iter().find(has_tests))?;
    let why = format!("`{}`", file.path);
    let (program, folder) = (project.program("dotnet"), file.path.parent());
    Some(
        Found {
            runner: Runner::Dotnet,
            command: vec![program],
            arguments: &["test"],
            folder,
            why,
        }
        .candidate(project),
    )
}

pub(super) fn ctest(project: &Project<'_>) -> Option<Candidate> {
    let folder = project.folder_of("CMakeLists.txt")?;
    let manifest = inside(folder.as_ref(), "CMakeLists.txt");
    let text = project.text(&manifest)?.to_lowercase();
    let has_tests = text.contains("enable_testing") || text.contains("include(ctest)");
    let program = project.program("ctest");
    let found = Found {
        runner: Runner::Ctest,
        command: vec![program],
        arguments: &[],
        folder,
        why: format!("`{manifest}` has tests"),
    };
    has_tests.then(|| found.candidate(project))
}

/// A makefile is asked last: its `test` target usually starts one of the others.
pub(super) fn make(project: &Project<'_>) -> Option<Suite> {
    let name = ["GNUmakefile", "makefile", "Makefile"]
        .into_iter()
        .find(|name| project.has(name))?;
    let text = project.text(name)?;
    let has_target = |target: &&&str| {
        text.lines().any(|line| {
            line.strip_prefix(**target)
                .is_some_and(|rest| rest.trim_start().starts_with(':') && !rest.contains(":="))
        })
    };
    let target = ["test", "tests", "check"].iter().find(has_target)?;
    let why = format!("`{name}` has the target `{target}`");
    let program = project.program("make");
    Some(
        Found {
            runner: Runner::Make,
            command: vec![program],
            arguments: &[target],
            folder: None,
            why,
        }
        .candidate(project)
        .suite,
    )
}
