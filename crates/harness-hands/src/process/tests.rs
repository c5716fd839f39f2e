//! What a started program can and cannot do, behind every kind of wall that this machine has.

use super::*;
use crate::marked::{marker, processes_with};
use crate::planted::{PLANTED, SECRETS, WAYS_TO_THEM};
use crate::skip::skip;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

static GO_ON: AtomicBool = AtomicBool::new(false);

pub(super) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub(super) fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project/.git", "private/home", "outside"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("project/.git/config"), "[core]\n").unwrap();
        std::fs::write(folder.path().join("outside/secret"), "secret\n").unwrap();
        Bench { folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn shell(&self, script: &str) -> Program {
        let (project, private) = (self.path("project"), self.path("private"));
        Program {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            folder: project.clone(),
            environment: environment::scrubbed(&private.join("home"), Path::new("/tmp"), &[], &[]),
            confinement: Confinement {
                network: false,
                overlay: None,
                writable: vec![project.clone(), private.join("home")],
                readable: Vec::new(),
                unchanged: vec![project.join(".git"), project.join(".harness")],
                temporary: private,
            },
            limits: Limits {
                time: Duration::from_secs(120),
                output: 64 * 1024,
            },
        }
    }

    pub(super) fn run(&self, sandbox: Sandbox, script: &str) -> Finished {
        run(&self.shell(script), sandbox, &GO_ON).unwrap()
    }
}

/// The walls to test: every kind that works on this machine, alone.
pub(super) fn walls() -> Vec<Sandbox> {
    static WORKING: std::sync::OnceLock<Vec<Sandbox>> = std::sync::OnceLock::new();
    let every = [Sandbox::Full, Sandbox::Confined, Sandbox::Namespaces];
    let working = || every.into_iter().filter(|walls| platform::works(*walls));
    WORKING.get_or_init(|| working().collect()).clone()
}

#[test]
fn a_program_runs_and_its_end_is_seen() {
    let bench = Bench::new();
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        let finished = bench.run(sandbox, "echo out; echo err >&2; pwd; exit 3");
        assert_eq!(finished.ended, Ended::Exit(3), "{sandbox}: {finished:?}");
        let folder = bench.path("project");
        assert_eq!(
            finished.stdout.text(),
            format!("out\n{}\n", folder.display()),
            "{sandbox}"
        );
        assert_eq!(finished.stderr.text(), "err\n", "{sandbox}");
        assert_eq!(
            bench.run(sandbox, "kill -9 $$").ended,
            Ended::Signal(9),
            "{sandbox}"
        );
    }
}

/// Every attempt behind walls with a process table, mounts and a network of their own.
const IN_A_WORLD: &str = "\
write a file outside the project: Good
change a file outside the project: Good
read a file outside the project: Good
reach outside through a link it makes: Good
read the table of passwords: Good
list the home folder: Good
read the environment of the harness: Good
signal the harness: Good
end the process that watches it: Good
connect to a server of this machine: Good
connect to another machine: Good
mount a file system: Good
make namespaces of its own: Good
change `.git`: Good
leave a process behind: Good
(needed) write in the project: Good
(needed) write in /tmp or TMPDIR: Good
(needed) reach loopback: Good
(needed) start another program: Good
";

/// The same where nothing holds: each must get through, or it would show nothing behind walls. Every process is ended
/// without walls too.
const WITHOUT_WALLS: &str = "\
write a file outside the project: Bad
change a file outside the project: Bad
read a file outside the project: Bad
reach outside through a link it makes: Bad
read the table of passwords: Bad
list the home folder: Bad
read the environment of the harness: Bad
signal the harness: Bad
end the process that watches it: Bad
connect to a server of this machine: Bad
connect to another machine: Bad
mount a file system: Bad
make namespaces of its own: Bad
change `.git`: Bad
leave a process behind: Good
(needed) write in the project: Good
(needed) write in /tmp or TMPDIR: Good
(needed) reach loopback: Good
(needed) start another program: Good
";

fn shown(attempts: &[attack::Attempt]) -> String {
    let line = |attempt: &attack::Attempt| format!("{}: {:?}\n", attempt.name, attempt.answer);
    attempts.iter().map(line).collect()
}

/// Changes the answer of one line.
fn but(text: &str, name: &str, answer: &str) -> String {
    let line = |line: &str| match line.rsplit_once(": ") {
        Some((found, _)) if found == name => format!("{name}: {answer}\n"),
        _ => format!("{line}\n"),
    };
    assert!(text.contains(&format!("{name}: ")), "{name}");
    text.lines().map(line).collect()
}

#[test]
fn the_walls_hold_against_every_attempt() {
    for sandbox in walls() {
        let expected = match sandbox {
            Sandbox::Confined => confined(sandbox::landlock::version().unwrap()),
            _ => IN_A_WORLD.to_owned(),
        };
        let attacked = attack::attack(sandbox);
        assert_eq!(shown(&attacked.attempts), expected, "{sandbox}");
        assert!(attacked.held(), "{sandbox}");
    }
}

/// What SECURITY.md says that Landlock and seccomp alone do not hold.
fn confined(landlock: u32) -> String {
    let text = but(IN_A_WORLD, "change `.git`", "Known");
    let text = but(&text, "(needed) reach loopback", "Known");
    if landlock >= 6 {
        return text;
    }
    let text = but(&text, "signal the harness", "Known");
    but(&text, "end the process that watches it", "Known")
}

#[test]
fn every_attempt_gets_through_where_nothing_holds() {
    let mut unheld = WITHOUT_WALLS.to_owned();
    let mut held = |name: &str, why: &str, applies: bool| {
        if applies {
            skip(why);
            unheld = but(&unheld, name, "Good");
        }
    };
    let root = "an ordinary user runs this: the kernel refuses it by itself";
    let may_read = std::fs::read("/etc/shadow").is_ok_and(|bytes| !bytes.is_empty());
    held("read the table of passwords", root, !may_read);
    held("mount a file system", root, !may_mount());
    let route = "no route leads to another machine";
    let has_route = std::net::UdpSocket::bind("0.0.0.0:0")
        .and_then(|socket| socket.connect("192.0.2.1:53"))
        .is_ok();
    held("connect to another machine", route, !has_route);
    let closed = "this machine lets nobody make namespaces";
    let is_open = walls().iter().any(|sandbox| sandbox.has_namespaces());
    held("make namespaces of its own", closed, !is_open);
    assert_eq!(shown(&attack::attack(Sandbox::None).attempts), unheld);
}

/// Says whether this process has the capability to mount (the 21st).
fn may_mount() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    u64::from_str_radix(line.unwrap().trim(), 16).unwrap() & 1 << 21 != 0
}

/// What is not tried is not known: where nobody looks, the strongest walls have to be there. A kernel that has them has
/// each of their parts too.
#[test]
fn the_strongest_walls_are_among_those_that_are_tried() {
    if walls().contains(&Sandbox::Full) {
        let three = [Sandbox::Full, Sandbox::Confined, Sandbox::Namespaces];
        assert_eq!(walls()[..3], three);
    } else {
        skip(&format!("of the walls this machine has only {:?}", walls()));
    }
}

#[test]
fn git_comes_out_unchanged_behind_any_walls() {
    let script =
        "echo evil >> .git/config; mkdir -p .git/hooks .harness; echo evil > .git/hooks/x; exit 0";
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        let bench = Bench::new();
        let finished = bench.run(sandbox, script);
        assert!(!finished.restored.is_empty(), "{sandbox}: {finished:?}");
        assert_eq!(
            std::fs::read_to_string(bench.path("project/.git/config")).unwrap(),
            "[core]\n",
            "{sandbox}"
        );
        assert!(!bench.path("project/.git/hooks").exists(), "{sandbox}");
        assert!(!bench.path("project/.harness").exists(), "{sandbox}");
    }
}

#[test]
fn nothing_stays_behind() {
    let bench = Bench::new();
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        let word = marker();
        // A daemon: its own session, its parent gone, its streams still ours. Its parent goes when it is at work.
        let script = format!(
            "(setsid sh -c 'trap \"\" TERM HUP; echo x > begun; sleep {word}; echo late' &); until test -s begun; do sleep 0.01; done; rm begun; exit 0"
        );
        let finished = bench.run(sandbox, &script);
        assert_eq!(finished.ended, Ended::Exit(0), "{sandbox}");
        assert_eq!(processes_with(&word), 0, "{sandbox}");
    }
}

/// Waits for what comes at once on a machine that has no other work.
pub(super) fn within_moments(what: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn a_flood_of_output_is_bounded() {
    let bench = Bench::new();
    let finished = bench.run(
        available_sandbox(),
        "echo first; head -c 300000000 /dev/zero; echo last",
    );
    assert_eq!(finished.ended, Ended::Exit(0));
    assert!(finished.stdout.skipped > 299_000_000);
    let text = finished.stdout.text();
    assert!(text.starts_with("first") && text.ends_with("last\n") && text.len() < 70_000);
}

#[test]
fn a_program_is_stopped_within_200_milliseconds() {
    let bench = Bench::new();
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        // A machine that does other work is slow now and then: one of these must be in time.
        let stopped_in_time = (0..20).any(|_| stop(&bench, sandbox) < Duration::from_millis(200));
        assert!(stopped_in_time, "{sandbox}");
    }
}

/// Stops a program that works with helpers; returns how long it took from the wish to the end of all.
fn stop(bench: &Bench, sandbox: Sandbox) -> Duration {
    let (cancel, wished) = (AtomicBool::new(false), std::sync::Mutex::new(None));
    let word = marker();
    let finished = std::thread::scope(|scope| {
        scope.spawn(|| {
            let all_work = within_moments(|| processes_with(&word) == 3);
            *wished.lock().unwrap() = all_work.then(Instant::now);
            cancel.store(true, Ordering::Relaxed);
        });
        let script = format!("setsid sleep {word} & sleep {word} & sleep {word}");
        run(&bench.shell(&script), sandbox, &cancel).unwrap()
    });
    let took = wished.lock().unwrap().unwrap().elapsed();
    assert_eq!(finished.ended, Ended::Interrupted, "{sandbox}");
    assert_eq!(processes_with(&word), 0, "{sandbox}");
    took
}

#[test]
fn the_table_of_passwords_is_closed() {
    let readable = std::fs::read("/etc/shadow").is_ok_and(|bytes| !bytes.is_empty());
    if !readable {
        return skip("an ordinary user runs this: /etc/shadow is closed to them in any case");
    }
    let bench = Bench::new();
    for sandbox in walls() {
        let finished = bench.run(sandbox, "cat /etc/shadow /etc/gshadow");
        assert_eq!(finished.stdout.text(), "", "{sandbox}");
    }
}

/// Not a test by itself: prints the names that a program sees behind each kind of walls.
#[test]
#[ignore = "started by the next test, with secrets in its environment"]
fn started_among_secrets() {
    let bench = Bench::new();
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        let program = Program {
            program: PathBuf::from("/usr/bin/env"),
            arguments: Vec::new(),
            ..bench.shell("")
        };
        let finished = run(&program, sandbox, &GO_ON).unwrap();
        assert_eq!(finished.ended, Ended::Exit(0), "{sandbox}: {finished:?}");
        let text = finished.stdout.text();
        assert!(!text.contains(PLANTED), "{sandbox}: {text}");
        let mut names: Vec<&str> = text
            .lines()
            .map(|line| &line[..line.find('=').unwrap()])
            .collect();
        names.sort_unstable();
        println!("seen {sandbox:?} {}", names.join(" "));
    }
}

#[test]
fn no_secret_of_the_environment_is_handed_on() {
    // What the user has: these, and the secrets.
    let kept = ["CI", "LANG", "LC_ALL", "PATH", "PYTHONPATH", "TZ", "USER"];
    // What a program sees: those, and what we set ourselves.
    let seen = "CI HARNESS_STARTED HOME LANG LC_ALL NO_COLOR PATH PYTHONPATH TEMP TMP TMPDIR TZ USER USERPROFILE";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("process::tests::started_among_secrets")
        .env_clear()
        .envs(kept.iter().map(|name| (name, "/usr/bin")))
        .env("LANG", "C")
        .env("LC_ALL", "C")
        .envs(
            SECRETS
                .iter()
                .chain(WAYS_TO_THEM)
                .map(|name| (name, PLANTED)),
        )
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines = text
        .lines()
        .filter_map(|line| Some(line.split_once("seen ")?.1));
    let expected = walls().into_iter().chain([Sandbox::None]);
    let expected = expected.map(|sandbox| format!("{sandbox:?} {seen}"));
    assert_eq!(lines.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

/// The same walls for somebody who is not root: the tests above, by another user.
#[test]
fn the_walls_hold_for_an_ordinary_user() {
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        return skip("an ordinary user runs this: the tests above were theirs");
    }
    // A home of their own with something in it, as everybody has one.
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".profile"), "").unwrap();
    std::os::unix::fs::chown(home.path(), Some(65534), Some(65534)).unwrap();
    // Where the build lies may be closed to others.
    let program = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempfile()
        .unwrap();
    std::fs::copy(std::env::current_exe().unwrap(), program.path()).unwrap();
    let program = program.into_temp_path();
    let mut command = Command::new(&program);
    command
        .args([
            "process::tests",
            "--skip",
            "ordinary_user",
            "--skip",
            "flood",
            "--nocapture",
            "--test-threads",
            "2",
        ])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", home.path())
        .envs(crate::environment::value("CI").map(|value| ("CI", value)))
        .current_dir("/")
        .uid(65534)
        .gid(65534);
    let output = loop {
        match command.output() {
            // Another test forked while the copy was open for writing.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(50));
            }
            done => break done.unwrap(),
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{words}");
    for name in [
        "the_walls_hold_against_every_attempt",
        "every_attempt_gets_through_where_nothing_holds",
        "the_strongest_walls_are_among_those_that_are_tried",
        "no_secret_of_the_environment_is_handed_on",
        "nothing_stays_behind",
    ] {
        let passed = format!("test process::tests::{name} ... ok");
        assert!(text.contains(&passed), "{name}: {text}\n{words}");
    }
}
