//! What a started program can and cannot do, behind every kind of wall that this machine has.

use super::*;
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
    let every = [
        Sandbox::Full,
        Sandbox::Confined,
        Sandbox::Namespaces,
        Sandbox::Bubblewrap,
    ];
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

#[test]
fn the_walls_hold_against_every_attempt() {
    for sandbox in walls() {
        let test = attack::attack(sandbox);
        assert!(test.held() && test.attempts.len() > 15, "{test:#?}");
        let known = test
            .attempts
            .iter()
            .filter(|attempt| attempt.answer == attack::Answer::Known)
            .count();
        assert_eq!(
            known,
            if sandbox == Sandbox::Confined { 2 } else { 0 },
            "{test:#?}"
        );
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
    // A daemon: its own session, its parent gone, its streams still ours.
    let script = "(setsid sh -c 'trap \"\" TERM HUP; sleep 4712; echo late' &) ; exit 0";
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        let start = Instant::now();
        let finished = bench.run(sandbox, script);
        assert_eq!(finished.ended, Ended::Exit(0), "{sandbox}");
        assert!(start.elapsed() < Duration::from_secs(60), "{sandbox}");
        assert_eq!(sleepers("4712"), 0, "{sandbox}");
    }
}

pub(super) fn sleepers(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            line.split(|byte| *byte == 0)
                .any(|part| part == word.as_bytes())
        })
        .count()
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
        let stopped_in_time = (0..20).any(|_| {
            let took = stop(&bench, sandbox);
            assert_eq!(sleepers("4713"), 0, "{sandbox}");
            took < Duration::from_millis(200)
        });
        assert!(stopped_in_time, "{sandbox}");
    }
}

/// Stops a program that works with helpers; returns how long it took from the wish to the end of all.
fn stop(bench: &Bench, sandbox: Sandbox) -> Duration {
    let (cancel, wished) = (AtomicBool::new(false), std::sync::Mutex::new(None));
    let finished = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            *wished.lock().unwrap() = Some(Instant::now());
            cancel.store(true, Ordering::Relaxed);
        });
        let script = "setsid sleep 4713 & sleep 4713 & sleep 4713";
        run(&bench.shell(script), sandbox, &cancel).unwrap()
    });
    assert_eq!(finished.ended, Ended::Interrupted, "{sandbox}");
    let wished = wished.lock().unwrap().unwrap();
    wished.elapsed()
}

#[test]
fn the_table_of_passwords_is_closed() {
    let readable = std::fs::read("/etc/shadow").is_ok_and(|bytes| !bytes.is_empty());
    if !readable {
        eprintln!("skipped: whoever runs this may not read /etc/shadow in any case");
        return;
    }
    let bench = Bench::new();
    for sandbox in walls() {
        let finished = bench.run(sandbox, "cat /etc/shadow /etc/gshadow");
        assert_eq!(finished.stdout.text(), "", "{sandbox}");
    }
}

#[test]
fn git_is_read_only_behind_bubblewrap() {
    if sandbox::bubblewrap::find().is_none() {
        eprintln!("skipped: bubblewrap is not installed here");
        return;
    }
    if !platform::works(Sandbox::Bubblewrap) {
        eprintln!("skipped: bubblewrap may not make namespaces here");
        return;
    }
    let bench = Bench::new();
    std::fs::create_dir(bench.path("project/.harness")).unwrap();
    let script = "echo x >> .git/config; echo x > .harness/x; rm -r .git; mv .git away; echo x > fine; exit 5";
    let finished = bench.run(Sandbox::Bubblewrap, script);
    assert_eq!(finished.ended, Ended::Exit(5), "{finished:?}");
    // Closed while it ran, not put back afterwards.
    assert_eq!(finished.restored, Vec::<PathBuf>::new());
    assert_eq!(
        finished.sandbox.to_string(),
        "bubblewrap and seccomp (loopback only)"
    );
    let text = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap_or_default();
    assert_eq!(
        (text("project/.git/config"), text("project/fine")),
        ("[core]\n".to_string(), "x\n".to_string())
    );
    assert!(!bench.path("project/.harness/x").exists() && !bench.path("project/away").exists());
}

#[test]
fn no_secret_of_the_environment_is_handed_on() {
    let bench = Bench::new();
    let finished = bench.run(Sandbox::None, "env");
    for line in finished.stdout.text().lines() {
        let name = line.split('=').next().unwrap_or_default();
        let harmless = [
            "PWD",
            "OLDPWD",
            "SHLVL",
            "_",
            "HOME",
            "USERPROFILE",
            "TMPDIR",
            "TEMP",
            "TMP",
            "NO_COLOR",
            environment::MARK,
        ];
        assert!(
            harmless.contains(&name) || environment::is_kept(std::ffi::OsStr::new(name)),
            "{line}"
        );
    }
}

/// The same walls for somebody who is not root: the tests above, by another user.
#[test]
fn the_walls_hold_for_an_ordinary_user() {
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        return;
    }
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
            "--test-threads",
            "2",
        ])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nonexistent")
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
    assert!(
        output.status.success() && text.contains("the_walls_hold_against_every_attempt"),
        "{text}"
    );
}
