//! No process stays behind: not when we are killed, not when the program does all it can to get away.

use super::tests::{Bench, walls, within_moments};
use super::*;
use crate::marked::{marker, processes_with};
use std::process::Command;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Not a test by itself: the process that the next test kills.
#[test]
#[ignore = "the process that the next test kills"]
fn a_harness_that_will_be_killed() {
    let order = crate::environment::value("HARNESS_TEST_TREE").unwrap();
    let order = order.into_string().unwrap();
    let (sandbox, word) = order.split_once(' ').unwrap();
    let every = walls().into_iter().chain([Sandbox::None]);
    let sandbox = every
        .into_iter()
        .find(|known| format!("{known:?}") == sandbox);
    let script = format!("(setsid sleep {word} &); setsid sleep {word} & sleep {word}");
    Bench::new().run(sandbox.unwrap(), &script);
}

#[test]
fn the_tree_ends_when_the_harness_is_killed() {
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        for pause in [0, 7, 60] {
            let word = marker();
            let mut us = Command::new(std::env::current_exe().unwrap())
                .args([
                    "--ignored",
                    "--exact",
                    "process::ending_tests::a_harness_that_will_be_killed",
                ])
                .env("HARNESS_TEST_TREE", format!("{sandbox:?} {word}"))
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            assert!(
                within_moments(|| processes_with(&word) == 3),
                "{sandbox} did not start"
            );
            std::thread::sleep(Duration::from_millis(pause));
            // SIGKILL: nothing of ours runs any more.
            us.kill().unwrap();
            us.wait().unwrap();
            assert!(
                within_moments(|| processes_with(&word) == 0),
                "{sandbox}: {} left after {pause} ms",
                processes_with(&word)
            );
        }
    }
}

/// Daemons by the dozen, each in a session of its own with its parents gone, on a machine with other work: the
/// hardest for walls without a process table of their own.
#[test]
fn daemons_by_the_dozen_are_ended_under_load() {
    let bench = Bench::new();
    let word = marker();
    let script = format!(
        "i=0; while [ $i -lt 24 ]; do (setsid sh -c '(setsid sleep {word} &) ; sleep 0.01' &); i=$((i+1)); done; exit 0"
    );
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for sandbox in walls().into_iter().chain([Sandbox::None]) {
            for _ in 0..4 {
                let finished = bench.run(sandbox, &script);
                let left = processes_with(&word);
                if left > 0 || finished.ended != Ended::Exit(0) {
                    is_over.store(true, Ordering::Relaxed);
                }
                assert_eq!((finished.ended, left), (Ended::Exit(0), 0), "{sandbox}");
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// A process that is never there when one looks: each forks the next and goes. It leaves a byte for each, and a file
/// when it comes to its own end.
#[test]
fn a_relay_of_processes_is_ended() {
    let relay = "import os, time\nend = time.time() + 40\nif os.fork():\n    while not os.path.exists('beat'):\n        time.sleep(0.01)\n    os._exit(0)\nwhile time.time() < end:\n    if os.fork():\n        os._exit(0)\n    os.setsid()\n    os.write(os.open('beat', os.O_WRONLY | os.O_CREAT | os.O_APPEND), b'x')\nopen('over', 'w').close()\n";
    let python = "/usr/bin/python3";
    if !std::path::Path::new(python).exists() {
        return crate::skip::skip("there is no /usr/bin/python3");
    }
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        let bench = Bench::new();
        std::fs::write(bench.path("project/relay.py"), relay).unwrap();
        let program = Program {
            program: PathBuf::from(python),
            arguments: vec!["relay.py".into()],
            ..bench.shell("")
        };
        let finished = run(&program, sandbox, &GO_ON).unwrap();
        assert_eq!(finished.ended, Ended::Exit(0), "{sandbox}: {finished:?}");
        let beats = || bench.path("project/beat").metadata().unwrap().len();
        let at_the_end = beats();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(beats(), at_the_end, "{sandbox}");
        assert!(!bench.path("project/over").exists(), "{sandbox}");
    }
}
