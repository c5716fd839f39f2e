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
            environment: environment::scrubbed(&private.join("home"), Path::new("/tmp"), &[]),
            confinement: Confinement {
                writable: vec![project.clone(), private.join("home")],
                readable: Vec::new(),
                unchanged: vec![project.join(".git"), project.join(".harness")],
                temporary: private,
            },
            limits: Limits {
                time: Duration::from_secs(20),
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
