//! What a started program can and cannot do, behind every kind of wall that this machine has.

use super::*;
use std::path::Path;
use std::sync::atomic::AtomicBool;

static GO_ON: AtomicBool = AtomicBool::new(false);

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        for name in ["project/.git", "private/home", "outside"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("project/.git/config"), "[core]\n").unwrap();
        std::fs::write(folder.path().join("outside/secret"), "secret\n").unwrap();
        Bench { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn shell(&self, script: &str) -> Program {
        let (project, private) = (self.path("project"), self.path("private"));
        Program {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            folder: project.clone(),
            environment: environment::scrubbed(&private.join("home"), Path::new("/tmp"), &[], &[]),
            confinement: Confinement {
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

    fn run(&self, sandbox: Sandbox, script: &str) -> Finished {
        run(&self.shell(script), sandbox, &GO_ON).unwrap()
    }
}

/// The walls to test: those that hold on this machine.
fn walls() -> Vec<Sandbox> {
    match available_sandbox() {
        Sandbox::Full => vec![Sandbox::Full, Sandbox::Confined],
        Sandbox::None => Vec::new(),
        other => vec![other],
    }
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
            if sandbox == Sandbox::Full { 0 } else { 2 },
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

fn sleepers(word: &str) -> usize {
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
fn a_program_is_stopped_within_moments() {
    let bench = Bench::new();
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        let cancel = AtomicBool::new(false);
        let start = Instant::now();
        let finished = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                cancel.store(true, Ordering::Relaxed);
            });
            run(&bench.shell("sleep 4713"), sandbox, &cancel).unwrap()
        });
        assert_eq!(finished.ended, Ended::Interrupted, "{sandbox}");
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{sandbox}: {:?}",
            start.elapsed()
        );
        assert_eq!(sleepers("4713"), 0, "{sandbox}");
    }
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
