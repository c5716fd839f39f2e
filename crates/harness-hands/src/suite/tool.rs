//! Suites that a language's own tool runs: cargo, go, npm and its kin, Maven, ctest, RSpec. Offline, with
//! the tool's own downloads readable, and counted by the report that the tool itself gives.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::suite::{Runner as Framework, Suite, compiler};

use crate::process::Ended;
use crate::process::private::Private;
use crate::process::runner::{Job, Reach, Runner, RunnerError};
use crate::suite::usual::Usual;
use crate::suite::{
    COMMAND, Failure, Outcome, Selection, SuiteReport, UNBUILT, Verdict, gotest, jest, junit,
    libtest, ruby, shown_path, tap,
};
use crate::user;
use crate::{environment, prepared};

/// No honest report is larger.
const REPORT_LIMIT: u64 = 64 * 1024 * 1024;

/// Counting needs the whole output of tools that report there; a line a test is short.
const OUTPUT: usize = 16 * 1024 * 1024;

/// What differs from tool to tool.
struct Plan {
    program: String,
    arguments: Vec<String>,
    environment: Vec<(&'static str, OsString)>,
    readable: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    report: Report,
}

/// Reads what a tool tells of the tests of a project. Returns whether it is whole.
type Read = fn(&str, &Path, &mut SuiteReport) -> bool;

/// Where a tool tells what happened.
enum Report {
    /// On its standard output.
    Printed(Read),
    /// In one file.
    File(PathBuf, Read),
    /// Files of .NET's results in a folder.
    TrxFolder(PathBuf),
    /// JUnit files in folders of this name, written by this run.
    JunitFolders(&'static str),
    None,
}

const TAP: Read = |text, _, answer| tap::read(text, answer);
const JUNIT: Read = |text, _, answer| junit::read(text, answer);

/// Runs a suite with the tool that its language has.
pub(super) fn run(
    runner: &Runner,
    suite: &Suite,
    selection: &Selection,
    cancel: &AtomicBool,
) -> SuiteReport {
    let report = try_run(runner, suite, selection, cancel);
    report.unwrap_or_else(|error| SuiteReport::could_not_start(error.to_string(), runner.sandbox()))
}

fn try_run(
    runner: &Runner,
    suite: &Suite,
    selection: &Selection,
    cancel: &AtomicBool,
) -> Result<SuiteReport, RunnerError> {
    let private = Private::new()?;
    let root = runner.project();
    let folder = suite.place(root);
    let names = match selection {
        Selection::All => Vec::new(),
        Selection::Some(tests) => named(tests),
    };
    if names.is_empty() && *selection != Selection::All {
        let words = "the chosen tests cannot be named to this runner".to_string();
        return Ok(SuiteReport::empty(
            Outcome::NoTests,
            words,
            runner.sandbox(),
        ));
    }
    let plan = plan(runner, suite, &names, &folder, &private);
    let mut limits = runner.limits();
    limits.output = limits.output.max(OUTPUT);
    let usual = Usual::of(runner.origin(), suite);
    limits.time = usual.suite_limit(limits.time);
    let begun = SystemTime::now();
    let job = Job {
        program: Path::new(&plan.program),
        arguments: plan.arguments.iter().map(OsString::from).collect(),
        folder: &folder,
        environment: plan.environment,
        reach: Reach::Project {
            readable: plan.readable,
            writable: plan.writable,
        },
        limits,
    };
    let finished = runner.run(&job, &private, cancel)?;
    let mut answer = SuiteReport::of_process(&finished);
    let is_whole = match plan.report {
        Report::Printed(read) => {
            let printed = &finished.stdout;
            printed.skipped == 0 && read(&printed.text(), root, &mut answer)
        }
        Report::File(path, read) => {
            read_file(&path).is_some_and(|text| read(&text, root, &mut answer))
        }
        Report::TrxFolder(folder) => {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            read_all(entries.map(|entry| entry.path()), &mut answer)
        }
        Report::JunitFolders(name) => {
            let reports = reports_below(&runner.written(&folder), name, begun);
            read_all(reports.into_iter(), &mut answer)
        }
        Report::None => false,
    };
    shorten_paths(&mut answer, root);
    if matches!(
        suite.runner,
        Framework::Npm | Framework::Pnpm | Framework::Yarn | Framework::Bun
    ) {
        let manifest = read_file(&folder.join("package.json"));
        tell_missing_package(&manifest.unwrap_or_default(), &mut answer);
    }
    if is_whole && answer.outcome == Outcome::NoReport {
        tell_other_end(&finished.ended, &mut answer);
        answer.complete();
    }
    let is_unsaid = |failure: &Failure| failure.id == COMMAND;
    if answer.outcome == Outcome::NoReport || answer.failures.iter().any(is_unsaid) {
        answer.refused = refused(&answer.output_tail, root, suite.folder.as_ref());
    }
    if *selection == Selection::All {
        usual.keep_suite(&answer);
    }
    Ok(answer)
}

/// Returns what a compiler refused of the project's own files, where tests gave no report for it.
fn refused(output: &str, root: &Path, folder: Option<&RelPath>) -> Vec<Failure> {
    let failure = |told: compiler::Complaint| {
        let name = shown_path(&told.file, root);
        let path = RelPath::parse(&name).ok()?;
        // Compilers that start in a folder name files from there.
        let inner = folder.and_then(|folder| folder.join(&name).ok());
        let inner = inner.filter(|inner| inner.under(root).is_file());
        let path = inner.unwrap_or(path);
        // What tests print can have this form too, and a person may type the file's name.
        let is_plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
        let is_ours = path.under(root).is_file() && path.as_str().chars().all(is_plain);
        // An assertion that fails looks alike but for the word, or in Go for the column.
        let is_error = match Language::of(&path) {
            Language::Go => told.has_column(),
            Language::Python => false,
            _ => {
                told.text.starts_with("[ERROR]")
                    || told.message.starts_with("error")
                    || told.message.starts_with("fatal error")
            }
        };
        (is_ours && is_error).then(|| Failure {
            id: format!("{path}{UNBUILT}"),
            message: told.message,
            file: Some(path.to_string()),
            line: Some(told.line),
            ..Failure::default()
        })
    };
    let complaints = compiler::complaints(output).into_iter();
    complaints.filter_map(failure).collect()
}

/// Counts an end that a tool calls bad though no test of its report failed: the report is not all that there is to say.
fn tell_other_end(ended: &Ended, answer: &mut SuiteReport) {
    let told = match ended {
        Ended::Exit(0) => return,
        Ended::Exit(code) => format!("it ended with code {code}, and no test failed"),
        Ended::Signal(_) | Ended::TimedOut | Ended::Interrupted | Ended::Lost => {
            "it was stopped, and no test failed".to_owned()
        }
    };
    if answer.passed > 0 && answer.failed + answer.errors == 0 {
        let failure = Failure {
            id: COMMAND.to_owned(),
            message: told,
            traceback: answer.output_tail.clone(),
            ..Failure::default()
        };
        answer.count(Verdict::Error, failure);
    }
}

/// Names files as the project does. Node names a test by its whole path where the file cannot be loaded.
fn shorten_paths(answer: &mut SuiteReport, root: &Path) {
    let whole = format!("test.{}/", root.display());
    for failure in &mut answer.failures {
        failure.file = failure.file.take().map(|file| shown_path(&file, root));
        if let Some(rest) = failure.id.strip_prefix(&whole) {
            failure.id = rest.to_owned();
        }
    }
}

/// Tells which package is not installed, where no test passed for want of one that the project asks for. Any other name
/// may be a slip in the code.
fn tell_missing_package(manifest: &str, answer: &mut SuiteReport) {
    const ASKED: [&str; 4] = [
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
    ];
    const SAID: [&str; 3] = [
        "Cannot find module '",
        "Cannot find package '",
        "Could not resolve \"",
    ];
    let manifest: serde_json::Value = serde_json::from_str(manifest).unwrap_or_default();
    let texts = answer.failures.iter().map(|failure| &failure.message);
    let mut texts = texts.chain([&answer.output_tail]);
    let package = texts.find_map(|text| {
        let mut behind = SAID.iter().filter_map(|said| text.split_once(said));
        let name = behind.next()?.1.split(['\'', '"']).next()?;
        // `@types/node/fs` is a file of a package.
        let parts = if name.starts_with('@') { 2 } else { 1 };
        let package: Vec<&str> = name.split('/').take(parts).collect();
        let package = package.join("/");
        let is_asked = ASKED
            .iter()
            .any(|kind| manifest[kind].get(&package).is_some());
        is_asked.then_some(package)
    });
    if answer.passed == 0 && answer.failed + answer.errors > 0 {
        answer.missing_dependency = package;
    }
}

/// Lays a link to the packages that were prepared into a private version of a project that has none; returns where they
/// are.
fn lend_packages(runner: &Runner, suite: &Suite, folder: &Path) -> Option<PathBuf> {
    let packages = prepared::node_modules(runner.origin(), suite.folder.as_ref())?;
    let own = suite.place(runner.origin());
    let place = runner.written(folder);
    // Never into the project itself.
    if own.join("node_modules").exists() || place.starts_with(runner.origin()) {
        return None;
    }
    std::fs::create_dir_all(&place).ok()?;
    let link = place.join("node_modules");
    #[cfg(unix)]
    let laid = std::os::unix::fs::symlink(&packages, &link);
    #[cfg(windows)]
    let laid = std::os::windows::fs::symlink_dir(&packages, &link);
    (laid.is_ok() || link.exists()).then_some(packages)
}

/// Returns the places that a tool lies in, by name and in truth: it may be below the home folder, which is hidden. Where
/// that folder itself holds it, the tool alone is shown.
fn places_of(program: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let tool = Path::new(program);
    let real = tool.canonicalize().ok();
    let names = [Some(tool), real.as_deref()].into_iter().flatten();
    let place = |name: &Path| {
        let folder = name.parent()?;
        let holds_home = home.is_none_or(|home| home.starts_with(folder));
        Some(if holds_home { name } else { folder }.to_path_buf())
    };
    names
        .filter(|name| name.is_absolute())
        .filter_map(place)
        .collect()
}

/// Returns the tests that can be named to a runner. Where a name begins with its file, that stands for it.
fn named(tests: &[String]) -> Vec<String> {
    let names = tests
        .iter()
        .map(|test| test.split(" > ").next().unwrap_or(test));
    let mut names: Vec<String> = names
        .filter(|name| is_name(name) && *name != COMMAND && !name.ends_with(UNBUILT))
        .map(str::to_string)
        .collect();
    names.dedup();
    names
}

/// A name that cannot be an option or a path out of the project.
fn is_name(text: &str) -> bool {
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '/' | '-' | ' ' | '#');
    !text.is_empty()
        && !text.starts_with(['-', '/'])
        && !text.contains("..")
        && text.chars().all(plain)
}

fn plan(
    runner: &Runner,
    suite: &Suite,
    names: &[String],
    folder: &Path,
    private: &Private,
) -> Plan {
    let mut command = suite.command.iter().cloned();
    let program = command.next().unwrap_or_default();
    let arguments: Vec<String> = command.collect();
    let plain = Plan {
        program,
        arguments,
        environment: Vec::new(),
        readable: Vec::new(),
        writable: Vec::new(),
        report: Report::None,
    };
    let mut plan = match suite.runner {
        Framework::Cargo => cargo(plain, names),
        Framework::Go => go(plain, names),
        Framework::Npm | Framework::Pnpm | Framework::Yarn | Framework::Bun => {
            node(plain, names, folder, private)
        }
        Framework::Maven => maven(plain, names, private),
        Framework::Gradle => gradle(plain, names, private),
        Framework::Phpunit => phpunit(plain, names, private),
        Framework::Rspec => rspec(plain, names, private),
        Framework::Rake => rake(plain, names),
        Framework::Ctest => ctest(plain, names, private),
        Framework::Dotnet => dotnet(plain, names, private),
        Framework::Pytest | Framework::Unittest | Framework::Make | Framework::Other => plain,
    };
    if let (Framework::Cargo, Some(build)) = (suite.runner, runner.build_folder()) {
        plan.environment
            .push(("CARGO_TARGET_DIR", build.as_os_str().to_owned()));
    }
    if matches!(suite.runner, Framework::Npm) {
        plan.readable.extend(lend_packages(runner, suite, folder));
    }
    let home = environment::home();
    plan.readable
        .extend(places_of(&plan.program, home.as_deref()));
    plan
}

fn cargo(mut plan: Plan, names: &[String]) -> Plan {
    let is_nextest = plan.arguments.iter().any(|word| word == "nextest");
    if is_nextest {
        let words = ["--message-format", "libtest-json"];
        plan.arguments.extend(words.map(String::from));
    }
    plan.arguments
        .extend(["--offline", "--no-fail-fast", "--color=never", "--"].map(String::from));
    plan.arguments.extend(
        names
            .iter()
            .map(|name| name.rsplit(' ').next().unwrap_or(name).to_string()),
    );
    let (cargo, rustup) = (
        environment::tool_home("CARGO_HOME", ".cargo"),
        environment::tool_home("RUSTUP_HOME", ".rustup"),
    );
    // Not the whole folder: it also holds the token of the registry.
    let parts = ["bin", "registry", "git", "config.toml", "config", "env"];
    plan.readable = parts
        .iter()
        .filter_map(|part| Some(cargo.as_ref()?.join(part)))
        .collect();
    plan.readable.extend(rustup.clone());
    plan.environment = vec![
        ("CARGO_NET_OFFLINE", "true".into()),
        ("CARGO_TERM_COLOR", "never".into()),
        ("NEXTEST_EXPERIMENTAL_LIBTEST_JSON", "1".into()),
    ];
    plan.environment
        .extend(cargo.map(|home| ("CARGO_HOME", home.into_os_string())));
    plan.environment
        .extend(rustup.map(|home| ("RUSTUP_HOME", home.into_os_string())));
    plan.report = match is_nextest {
        true => Report::Printed(|text, _, answer| libtest::read_events(text, answer)),
        false => Report::Printed(|text, _, answer| libtest::read(text, answer)),
    };
    plan
}

fn go(mut plan: Plan, names: &[String]) -> Plan {
    let at = plan
        .arguments
        .iter()
        .position(|word| word == "test")
        .map_or(0, |at| at + 1);
    plan.arguments.insert(at, "-json".to_string());
    if !names.is_empty() {
        let tests = names
            .iter()
            .map(|name| name.rsplit('.').next().unwrap_or(name));
        let pattern = tests
            .map(|test| format!("^{test}$"))
            .collect::<Vec<_>>()
            .join("|");
        plan.arguments.splice(at..at, ["-run".to_string(), pattern]);
    }
    let home = environment::tool_home("GOPATH", "go");
    plan.readable.extend(home.clone());
    plan.environment = vec![("GOPROXY", "off".into()), ("GOTOOLCHAIN", "local".into())];
    plan.environment
        .extend(home.map(|home| ("GOPATH", home.into_os_string())));
    // Without one of its own that stays, every run would build the standard library again.
    if let Some(cache) = user::cache_folder().map(|folder| folder.join("go-build"))
        && std::fs::create_dir_all(&cache).is_ok()
    {
        plan.writable.push(cache.clone());
        plan.environment.push(("GOCACHE", cache.into_os_string()));
    }
    plan.report = Report::Printed(|text, _, answer| gotest::read(text, answer));
    plan
}

/// Test runners of Node that write a report as JSON, and how they are told to.
const JSON_REPORTS: &[(&str, &str)] = &[
    ("jest", "--json --outputFile=FILE --ci --no-cache"),
    ("react-scripts", "--json --outputFile=FILE --ci --no-cache"),
    ("vitest", "--run --reporter=json --outputFile=FILE"),
    ("mocha", "--reporter json --reporter-option output=FILE"),
];

/// Where programs that manage versions of Node and its tools keep them, below the user's home.
const NODE_PLACES: &str = "\
    .nvm/versions .volta .fnm .local/share/fnm .local/share/pnpm .local/share/mise/installs \
    .asdf/installs .cache/node/corepack";

fn node(mut plan: Plan, names: &[String], folder: &Path, private: &Private) -> Plan {
    let package = read_file(&folder.join("package.json")).unwrap_or_default();
    let package: serde_json::Value = serde_json::from_str(&package).unwrap_or_default();
    let script = package["scripts"]["test"].as_str().unwrap_or_default();
    let has = |tool: &str| {
        script
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .any(|word| word == tool)
    };
    plan.environment = [
        ("npm_config_offline", "true"),
        ("npm_config_update_notifier", "false"),
        ("npm_config_fund", "false"),
        ("npm_config_audit", "false"),
        ("CI", "1"),
    ]
    .map(|(name, value)| (name, OsString::from(value)))
    .to_vec();
    plan.environment.push((
        "npm_config_cache",
        private.report().join("npm").into_os_string(),
    ));
    let json = private.report().join("report.json");
    let shown = json.display();
    let with_json = JSON_REPORTS.iter().find(|(tool, _)| has(tool));
    let options = with_json.map_or("", |(_, options)| options);
    let is_plain =
        plan.program.ends_with("bun") && plan.arguments.first().is_some_and(|word| word == "test");
    let mut behind = script.split("bun test").skip(1);
    let is_bun =
        is_plain || behind.any(|rest| rest.is_empty() || rest.starts_with([' ', ';', '&']));
    let mut more: Vec<String> = options
        .split_whitespace()
        .map(|option| option.replace("FILE", &shown.to_string()))
        .collect();
    if with_json.is_some() {
        plan.report = Report::File(json, jest::read);
    } else if has("node") && script.contains("--test") {
        // The runner takes these from its environment too; behind the script they would be files.
        let xml = private.report().join("report.xml");
        // What a file that cannot be loaded printed stands in no report.
        let options = format!(
            "--test-reporter=junit --test-reporter-destination={} --test-reporter=tap --test-reporter-destination=stdout",
            xml.display()
        );
        plan.environment.push(("NODE_OPTIONS", options.into()));
        plan.report = Report::File(xml, JUNIT);
    } else if is_bun {
        let xml = private.report().join("report.xml");
        let file = format!("--reporter-outfile={}", xml.display());
        more.extend(["--reporter=junit".to_string(), file]);
        plan.report = Report::File(xml, JUNIT);
    } else if has("ava") {
        more.push("--tap".to_string());
        plan.report = Report::Printed(TAP);
    } else if has("tape") {
        plan.report = Report::Printed(TAP);
    }
    // A test whose name says no file cannot be picked: then all run.
    let files = names.iter().filter(|name| folder.join(name).is_file());
    more.extend(files.cloned());
    if !more.is_empty() {
        // These hand everything on; the others need to be told.
        let hands_on = ["yarn", "bun"]
            .iter()
            .any(|name| plan.program.ends_with(name));
        let separator = (!hands_on).then(|| "--".to_string());
        plan.arguments.extend(separator);
        plan.arguments.extend(more);
    }
    let home = environment::home();
    let places = NODE_PLACES
        .split_ascii_whitespace()
        .filter_map(|place| Some(home.as_ref()?.join(place)));
    plan.readable = places.filter(|place| place.exists()).collect();
    plan
}

fn maven(mut plan: Plan, names: &[String], private: &Private) -> Plan {
    plan.arguments
        .extend(["-o", "-B", "-fae"].map(String::from));
    if !names.is_empty() {
        plan.arguments.push(format!("-Dtest={}", names.join(",")));
    }
    if let Some(repository) = environment::home().map(|home| home.join(".m2/repository")) {
        plan.arguments
            .push(format!("-Dmaven.repo.local={}", repository.display()));
        plan.readable.push(repository);
    }
    let home = format!("-Duser.home={}", private.home().display());
    plan.environment = vec![("MAVEN_OPTS", home.into())];
    // Where the project's wrapper finds the Maven that it fetched.
    if let Some(own) = environment::tool_home("MAVEN_USER_HOME", ".m2") {
        plan.readable.push(own.join("wrapper"));
        plan.environment
            .push(("MAVEN_USER_HOME", own.into_os_string()));
    }
    plan.readable
        .extend(environment::home().map(|home| home.join(".sdkman/candidates")));
    plan.report = Report::JunitFolders("surefire-reports");
    plan
}

fn gradle(mut plan: Plan, names: &[String], private: &Private) -> Plan {
    plan.arguments
        .extend(["--offline", "--no-daemon", "--console=plain", "--continue"].map(String::from));
    for name in names {
        plan.arguments.extend(["--tests".to_string(), name.clone()]);
    }
    let private_home = private.home().join("gradle");
    if let Some(home) = environment::tool_home("GRADLE_USER_HOME", ".gradle") {
        let (caches, wrapped) = (home.join("caches"), home.join("wrapper"));
        plan.environment
            .push(("GRADLE_RO_DEP_CACHE", caches.clone().into_os_string()));
        #[cfg(unix)]
        link_files(&wrapped, &private_home.join("wrapper"), 3);
        plan.readable.extend([caches, wrapped]);
    }
    plan.environment
        .push(("GRADLE_USER_HOME", private_home.into_os_string()));
    plan.readable
        .extend(environment::home().map(|home| home.join(".sdkman/candidates")));
    plan.report = Report::JunitFolders("test-results");
    plan
}

/// Lays folders like these, `levels` deep, with links to what lies in them. Gradle's wrapper writes a lock beside the Gradle
/// that it fetched, where nothing may be written: `dists/gradle-8.5-bin/HASH/`.
#[cfg(unix)]
fn link_files(from: &Path, to: &Path, levels: usize) {
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        // What cannot be laid is told by the wrapper itself.
        if levels > 0 && path.is_dir() {
            link_files(&path, &place, levels - 1);
        } else if path.extension().is_none_or(|end| end != "lck") {
            let _ = std::fs::create_dir_all(to);
            let _ = std::os::unix::fs::symlink(path, place);
        }
    }
}

fn phpunit(mut plan: Plan, names: &[String], private: &Private) -> Plan {
    let xml = private.report().join("report.xml");
    plan.arguments
        .extend(["--log-junit".to_string(), xml.display().to_string()]);
    if !names.is_empty() {
        // App.Tests.CalcTest.testAdd, which the runner knows as App\Tests\CalcTest::testAdd.
        let test = |name: &String| {
            let mut parts = name.rsplit('.');
            let (test, class) = (parts.next()?, parts.next()?);
            Some(format!("{class}::{test}$"))
        };
        let tests: Vec<String> = names.iter().filter_map(test).collect();
        plan.arguments
            .extend(["--filter".to_string(), tests.join("|")]);
    }
    plan.report = Report::File(xml, JUNIT);
    plan
}

fn rspec(mut plan: Plan, names: &[String], private: &Private) -> Plan {
    let json = private.report().join("report.json");
    let words = [
        "--no-color",
        "--format",
        "progress",
        "--format",
        "json",
        "--out",
    ];
    plan.arguments.extend(words.map(String::from));
    plan.arguments.push(json.display().to_string());
    plan.arguments.extend(names.iter().cloned());
    plan.report = Report::File(json, ruby::read_rspec);
    plan
}

fn rake(mut plan: Plan, names: &[String]) -> Plan {
    let mut options = "--verbose".to_string();
    if !names.is_empty() {
        // CalcTest#test_add; rake hands the options to a shell.
        options.push_str(&format!(" --name='/^({})$/'", names.join("|")));
    }
    plan.environment = vec![("TESTOPTS", options.into())];
    plan.report = Report::Printed(ruby::read_minitest);
    plan
}

/// Configures, builds and tests in one command, in a folder of its own.
fn ctest(mut plan: Plan, names: &[String], private: &Private) -> Plan {
    let (build, xml) = (
        private.home().join("build"),
        private.report().join("report.xml"),
    );
    let (build, xml) = (build.display().to_string(), xml.display().to_string());
    let test = plan.program.clone();
    let words = [
        "--build-and-test",
        ".",
        &build,
        "--build-generator",
        "Unix Makefiles",
        "--build-noclean",
        "--test-command",
        &test,
        "--output-junit",
        &xml,
        "--output-on-failure",
    ];
    plan.arguments = words.map(String::from).to_vec();
    if !names.is_empty() {
        let tests = names.join("|").replace('.', "\\.");
        plan.arguments
            .extend(["-R".to_string(), format!("^({tests})$")]);
    }
    plan.report = Report::File(PathBuf::from(xml), JUNIT);
    plan
}

fn dotnet(mut plan: Plan, names: &[String], private: &Private) -> Plan {
    let results = private.report().join("results");
    let words = ["--nologo", "--logger", "trx", "--results-directory"];
    plan.arguments.extend(words.map(String::from));
    plan.arguments.push(results.display().to_string());
    if !names.is_empty() {
        let tests = names
            .iter()
            .map(|name| format!("FullyQualifiedName~{name}"));
        let filter = tests.collect::<Vec<_>>().join("|");
        plan.arguments.extend(["--filter".to_string(), filter]);
    }
    plan.environment = [
        ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
        // A server that stays would keep the sandbox open.
        ("MSBUILDDISABLENODEREUSE", "1"),
        ("UseSharedCompilation", "false"),
    ]
    .map(|(name, value)| (name, OsString::from(value)))
    .to_vec();
    if let Some(packages) = environment::tool_home("NUGET_PACKAGES", ".nuget/packages") {
        plan.readable.push(packages.clone());
        plan.environment
            .push(("NUGET_PACKAGES", packages.into_os_string()));
    }
    plan.report = Report::TrxFolder(results);
    plan
}

/// Reads reports of parts of a project. All of them must be whole.
fn read_all(paths: impl Iterator<Item = PathBuf>, answer: &mut SuiteReport) -> bool {
    let (mut found, mut whole) = (0, true);
    for text in paths.filter_map(|path| read_file(&path)) {
        found += 1;
        whole &= junit::read(&text, answer);
    }
    found > 0 && whole
}

fn read_file(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    let fits = found.is_file() && found.len() <= REPORT_LIMIT;
    fits.then(|| std::fs::read(path).ok())
        .flatten()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns every report below a folder of this name that this run wrote.
fn reports_below(root: &Path, name: &str, begun: SystemTime) -> Vec<PathBuf> {
    let mut folders = vec![(root.to_path_buf(), false, 0)];
    let mut reports = Vec::new();
    while let Some((folder, is_report, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, file_name) = (
                entry.path(),
                entry.file_name().to_string_lossy().into_owned(),
            );
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let is_skipped = file_name.starts_with('.') || file_name == "node_modules";
            // Modules of modules; deeper trees are no build layout.
            if kind.is_dir() && !is_skipped && depth < 8 {
                folders.push((path, is_report || file_name == name, depth + 1));
            } else if is_report && file_name.starts_with("TEST-") && file_name.ends_with(".xml") {
                let is_new = entry
                    .metadata()
                    .and_then(|seen| seen.modified())
                    .is_ok_and(|time| time >= begun);
                reports.extend(is_new.then_some(path));
            }
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sandbox::Sandbox;

    fn plain() -> Plan {
        Plan {
            program: "tool".to_string(),
            arguments: Vec::new(),
            environment: Vec::new(),
            readable: Vec::new(),
            writable: Vec::new(),
            report: Report::None,
        }
    }

    #[test]
    fn tests_are_picked_in_each_tool_s_own_words() {
        let private = Private::new().unwrap();
        let names = |text: &str| -> Vec<String> { text.split(' ').map(str::to_string).collect() };
        let last = |plan: Plan| plan.arguments.last().cloned().unwrap_or_default();
        let php = phpunit(
            plain(),
            &names("App.Tests.CalcTest.testAdd CalcTest.testZero"),
            &private,
        );
        assert_eq!(last(php), "CalcTest::testAdd$|CalcTest::testZero$");
        let cmake = ctest(plain(), &names("math.adds zero"), &private);
        assert_eq!(last(cmake), r"^(math\.adds|zero)$");
        let ruby = rake(plain(), &names("CalcTest#test_add CalcTest#test_zero"));
        let expected = "--verbose --name='/^(CalcTest#test_add|CalcTest#test_zero)$/'";
        assert_eq!(ruby.environment, [("TESTOPTS", OsString::from(expected))]);
    }

    #[cfg(unix)]
    #[test]
    fn a_wrapper_finds_what_it_fetched_beside_a_lock_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (own, private) = (folder.path().join("own"), folder.path().join("private"));
        let fetched = "dists/gradle-8.5-bin/abc";
        std::fs::create_dir_all(own.join(fetched).join("gradle-8.5/bin")).unwrap();
        for name in ["gradle-8.5-bin.zip.ok", "gradle-8.5-bin.zip.lck"] {
            std::fs::write(own.join(fetched).join(name), "").unwrap();
        }
        link_files(&own, &private, 3);
        let laid = private.join(fetched);
        assert!(laid.join("gradle-8.5/bin").is_dir());
        assert!(laid.join("gradle-8.5-bin.zip.ok").is_file());
        assert!(!laid.join("gradle-8.5-bin.zip.lck").exists());
        assert!(!laid.symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    fn a_bad_end_without_a_failed_test_is_no_green_suite() {
        let errors = |ended: Ended, verdict: Verdict| {
            let mut answer = SuiteReport::default();
            let failure = |id: &str| Failure {
                id: id.to_owned(),
                message: String::new(),
                traceback: String::new(),
                file: None,
                line: None,
                hung: None,
            };
            answer.count(Verdict::Passed, failure("a"));
            answer.count(verdict, failure("b"));
            tell_other_end(&ended, &mut answer);
            answer.errors
        };
        assert_eq!(errors(Ended::Exit(0), Verdict::Passed), 0);
        assert_eq!(errors(Ended::Exit(1), Verdict::Passed), 1);
        assert_eq!(errors(Ended::Exit(1), Verdict::Failed), 0);
    }

    #[test]
    fn what_a_compiler_refuses_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["web/src/A.java", "src/a.ts", "a.c", "a_test.go", "a$(b).c"] {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let root = folder.path().display();
        // The rest is not the project's, not there, no name to type, or what a test said.
        let said = format!(
            "[ERROR] {root}/web/src/A.java:[3,16] cannot find symbol\n/usr/include/x.h:1:2: error: y\n\
             src/a.ts(3,7): error TS2322: no\ngone.c:1:2: error: z\na$(b).c:1:2: error: z\n\
             a.c:12: main: Assertion `x' failed.\na_test.go:12: got 3, want 4\nsrc/a.ts:3:5: AssertionError: no\n"
        );
        let refused = refused(&said, folder.path(), None);
        let shown: Vec<String> = refused.iter().map(Failure::shown).collect();
        let expected = [
            "web/src/A.java [build failed] (web/src/A.java:3): cannot find symbol",
            "src/a.ts [build failed] (src/a.ts:3): error TS2322: no",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_test_in_a_file_is_named_by_the_file() {
        let tests = [
            "a.test.js > adds (2, 3)",
            "a.test.js > zero",
            "--watch > x",
            "tests::adds",
        ];
        let tests = tests.map(String::from);
        assert_eq!(named(&tests), ["a.test.js", "tests::adds"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_home_folder_is_not_shown_for_a_tool_in_it() {
        let places = |tool: &str| places_of(tool, Some(Path::new("/nobody/home")));
        assert_eq!(
            places("/nobody/home/tools/rake"),
            [Path::new("/nobody/home/tools")]
        );
        assert_eq!(
            places("/nobody/home/rake"),
            [Path::new("/nobody/home/rake")]
        );
        assert_eq!(places("/rake"), [Path::new("/rake")]);
        assert!(places("rake").is_empty());
    }

    #[test]
    fn a_package_that_is_not_installed_is_told() {
        let told = |passed, said: &str| {
            let mut report = SuiteReport::could_not_start(String::new(), Sandbox::None);
            (report.passed, report.failed) = (passed, 1);
            report.output_tail = said.to_owned();
            let manifest = r#"{"dependencies": {"tiny": "1"}, "devDependencies": {"@a/b": "1"}}"#;
            tell_missing_package(manifest, &mut report);
            report.missing_dependency
        };
        let tiny = Some("tiny".to_owned());
        assert_eq!(
            told(0, "# Error: Cannot find module 'tiny'\n# Require"),
            tiny
        );
        assert_eq!(
            told(0, "Cannot find package '@a/b' imported from /x"),
            Some("@a/b".to_owned())
        );
        assert_eq!(told(0, "Cannot find module 'tiny/lib/x.js'"), tiny);
        assert_eq!(told(0, "Cannot find module './shop.js'"), None);
        assert_eq!(told(0, "Cannot find module '/p/shop.js'"), None);
        assert_eq!(told(0, "Cannot find module 'tyni'"), None);
        assert_eq!(told(1, "Cannot find module 'tiny'"), None);
    }
}
