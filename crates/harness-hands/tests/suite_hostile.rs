//! Suites that misbehave, run for real: each is contained, and each is reported for what it is.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out projects on the disk"
)]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use harness_code::suite::{Runner as Framework, Suite};
use harness_hands::permit::{Access, Project};
use harness_hands::process::runner::RunnerOptions;
use harness_hands::process::sandbox::Sandbox;
use harness_hands::process::{Limits, available_sandbox};
use harness_hands::suite::{self, Outcome, Selection, SuiteReport};

#[path = "../../../tests/support/marked.rs"]
mod marked;
#[path = "../../../tests/support/planted.rs"]
mod planted;
#[path = "../../../tests/support/skip.rs"]
mod skip;

/// A project beside something that is not its own.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// Lays out a suite of three tests, the second of which has the given body. `OUTSIDE` in it is a folder beside the
    /// project, `HOME` the real home folder.
    fn new(body: &str) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["project", "outside/.ssh"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join("outside/.ssh/id_ed25519"), "the key\n").unwrap();
        let home = harness_hands::user::home_folder().unwrap();
        let body = body.replace('\n', "\n        ");
        let text = format!(
            "import os, socket, subprocess, sys, time, unittest\nOUTSIDE = {:?}\nHOME = {:?}\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n    def test_b(self):\n        {body}\n    def test_c(self):\n        pass\n",
            root.join("outside"),
            home
        );
        std::fs::write(root.join("project/test_x.py"), text).unwrap();
        Bench { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, seconds: u64) -> SuiteReport {
        let project = Project::open(&self.path("project"), None, Access::Writing).unwrap();
        let project = project.with_runner_options(RunnerOptions {
            limits: Limits {
                time: Duration::from_secs(seconds),
                ..Limits::default()
            },
            ..RunnerOptions::default()
        });
        let suite = Suite {
            runner: Framework::Unittest,
            command: ["python3", "-m", "unittest", "discover"]
                .map(str::to_string)
                .to_vec(),
            interpreter: Some("python3".to_string()),
            interpreter_why: None,
            missing: Vec::new(),
            folder: None,
            why: String::new(),
        };
        let cancel = AtomicBool::new(false);
        suite::run(project.runner().unwrap(), &suite, &Selection::All, &cancel)
    }
}

/// Runs a suite whose second test passes when the walls hold.
fn contained(body: &str) -> Bench {
    let bench = Bench::new(body);
    if !available_sandbox().holds() {
        skip::skip("there are no walls that hold files");
        return bench;
    }
    let report = bench.run(300);
    assert_eq!(report.outcome, Outcome::Ran, "{report:#?}");
    assert_eq!(
        (report.passed, report.collected),
        (3, 3),
        "{body}: {report:#?}"
    );
    assert!(report.sandbox.holds(), "{}", report.sandbox);
    bench
}

/// What must not work, with what the system says to it.
const REFUSED: &str =
    "\nfor attempt in attempts:\n    with self.assertRaises(OSError):\n        attempt()";

#[test]
fn keys_are_not_read() {
    let attempts = "attempts = [lambda: open(OUTSIDE + '/.ssh/id_ed25519').read(), lambda: os.listdir(OUTSIDE), lambda: open(HOME + '/.ssh/id_rsa').read(), lambda: os.symlink(OUTSIDE, 'way') or open('way/.ssh/id_ed25519').read()]";
    if !available_sandbox().holds() {
        return skip::skip("there are no walls that hold files");
    }
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".ssh")).unwrap();
    std::fs::write(home.path().join(".ssh/id_rsa"), "the key of the house\n").unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "among_secrets"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("LANG", "C.UTF-8")
        .env("HOME", home.path())
        .env(ATTEMPTS, attempts)
        .envs(
            planted::SECRETS
                .iter()
                .chain(planted::WAYS_TO_THEM)
                .map(|name| (name, planted::PLANTED)),
        )
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{words}");
    let seen = text
        .lines()
        .find_map(|line| Some(line.split_once("seen: ")?.1));
    // Those of the system, a home and a temporary folder of its own, and where tools would leave things.
    let expected = "COVERAGE_FILE HARNESS_STARTED HOME HYPOTHESIS_STORAGE_DIRECTORY LANG MYPY_CACHE_DIR NO_COLOR PATH PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUNBUFFERED PYTHONUSERBASE RUFF_CACHE_DIR TEMP TMP TMPDIR USERPROFILE";
    assert_eq!(seen, Some(expected));
}

/// What the next test tries, in the process that this one starts.
const ATTEMPTS: &str = "HARNESS_TEST_ATTEMPTS";

/// Not a test by itself: a suite that is started from an environment with secrets in it and a home with a key.
#[test]
#[ignore = "started by another test, with secrets in its environment"]
fn among_secrets() {
    let attempts = std::env::var(ATTEMPTS).unwrap();
    let see = "open('seen.txt', 'w').write(' '.join(sorted(os.environ)) + '\\n' + '\\n'.join(os.environ.values()))";
    let bench = contained(&format!("{attempts}{REFUSED}\n{see}"));
    let seen = std::fs::read_to_string(bench.path("project/seen.txt")).unwrap();
    assert!(!seen.contains(planted::PLANTED), "{seen}");
    println!("seen: {}", seen.lines().next().unwrap());
}

#[test]
fn nothing_is_written_to_the_home_folder_or_beside_the_project() {
    let name = format!("harness-test-{}", std::process::id());
    let attempts = format!(
        "attempts = [lambda: open(OUTSIDE + '/{name}', 'w'), lambda: open('/usr/{name}', 'w'), lambda: os.remove(OUTSIDE + '/.ssh/id_ed25519')]"
    );
    let bench = contained(&format!(
        "{attempts}{REFUSED}\nopen(os.path.expanduser('~/{name}'), 'w').close()\nopen('../{name}', 'w').close() if os.access('..', os.W_OK) else None\nopen('/tmp/{name}', 'w').close() if os.access('/tmp', os.W_OK) else None\ntry:\n    open(HOME + '/{name}', 'w').close()\nexcept OSError:\n    pass"
    ));
    let home = harness_hands::user::home_folder().unwrap();
    for place in [
        home.join(&name),
        Path::new("/tmp").join(&name),
        Path::new("/usr").join(&name),
        bench.path(&name),
        bench.path("outside").join(&name),
    ] {
        assert!(!place.exists(), "{}", place.display());
    }
    assert!(bench.path("outside/.ssh/id_ed25519").exists());
}

#[test]
fn no_socket_leads_out() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    contained(&format!(
        "attempts = [lambda: socket.create_connection(('127.0.0.1', {port}), 5), lambda: socket.create_connection(('192.0.2.1', 80), 5), lambda: socket.getaddrinfo('example.com', 80)]{REFUSED}"
    ));
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err(), "somebody knocked");
}

#[test]
fn a_gigabyte_of_output_is_bounded() {
    let bench = Bench::new(
        "block = 'x' * (1 << 20)\nfor _ in range(1024):\n    sys.stdout.write(block)\nsys.stdout.write('\\nthe end\\n')",
    );
    let report = bench.run(600);
    assert_eq!(
        (report.outcome, report.passed),
        (Outcome::Ran, 3),
        "{:?}",
        report.outcome
    );
    assert!(report.output_tail.len() < 64 * 1024);
    assert!(report.output_tail.contains("the end"));
}

#[test]
fn its_parent_outlives_it() {
    // A signal to everything is sent only where the body sees for itself that it is in a process table of its own:
    // elsewhere it would reach every process of whoever runs this test.
    let mut decoy = Decoy::start();
    let own_table = format!(
        "own_table = os.readlink('/proc/self/ns/pid') != {:?}",
        std::fs::read_link("/proc/self/ns/pid").unwrap()
    );
    let body = format!(
        "{own_table}\nfor process in (os.getppid(), 1, -1) if own_table else ({},):\n    try:\n        os.kill(process, 9)\n    except OSError:\n        pass\ntime.sleep(0.1)",
        decoy.process.id()
    );
    let report = Bench::new(&body).run(300);
    // Sent to all that it may signal it ends itself at the most: no pass, and we are told.
    assert!(
        report.outcome == Outcome::NoReport || report.passed == 3,
        "{report:#?}"
    );
    if available_sandbox() == Sandbox::Full {
        assert!(decoy.is_alive(), "a signal left the process table");
    }
    let body = format!("{own_table}\nif own_table:\n    os.kill(os.getppid(), 9)\ntime.sleep(0.1)");
    let report = Bench::new(&body).run(300);
    assert_ne!(report.outcome, Outcome::TimedOut, "{report:#?}");
}

/// A process of the test's own, beside the suite, that a stray signal may hit without harm.
struct Decoy {
    process: std::process::Child,
}

impl Decoy {
    fn start() -> Decoy {
        let process = std::process::Command::new("sleep").arg("600").spawn();
        Decoy {
            process: process.unwrap(),
        }
    }

    fn is_alive(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Decoy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn daemons_go_with_the_suite() {
    let word = marked::marker();
    let body = format!(
        "for _ in range(10):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            os.execvp('sleep', ['sleep', '{word}'])\n        os._exit(0)"
    );
    let report = Bench::new(&body).run(300);
    assert_eq!(
        (report.outcome, report.passed),
        (Outcome::Ran, 3),
        "{report:#?}"
    );
    assert_eq!(marked::processes_with(&word), 0);
}
