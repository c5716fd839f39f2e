//! No process stays behind: not when we are killed, not when the program does all it can to get away.

use super::tests::{Bench, sleepers, walls};
use super::*;
use std::process::Command;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Not a test by itself: the process that the next test kills.
#[test]
fn a_harness_that_will_be_killed() {
    let Some(order) = crate::environment::value("HARNESS_TEST_TREE") else {
        return;
    };
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
    let every = walls().into_iter().chain([Sandbox::None]);
    for (index, sandbox) in every.enumerate() {
        for pause in [0, 7, 60] {
            let word = format!("48{index}{pause:03}");
            let mut us = Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "process::ending_tests::a_harness_that_will_be_killed",
                ])
                .env("HARNESS_TEST_TREE", format!("{sandbox:?} {word}"))
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            assert!(
                within_moments(|| sleepers(&word) == 3),
                "{sandbox} did not start"
            );
            std::thread::sleep(Duration::from_millis(pause));
            // SIGKILL: nothing of ours runs any more.
            us.kill().unwrap();
            us.wait().unwrap();
            assert!(
                within_moments(|| sleepers(&word) == 0),
                "{sandbox}: {} left after {pause} ms",
                sleepers(&word)
            );
        }
    }
}

fn within_moments(what: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Daemons by the dozen, each in a session of its own with its parents gone, on a machine with other work: the
/// hardest for walls without a process table of their own.
#[test]
fn daemons_by_the_dozen_are_ended_under_load() {
    let bench = Bench::new();
    let script = "i=0; while [ $i -lt 24 ]; do (setsid sh -c '(setsid sleep 4715 &) ; sleep 0.01' &); i=$((i+1)); done; exit 0";
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
                let finished = bench.run(sandbox, script);
                let left = sleepers("4715");
                if left > 0 || finished.ended != Ended::Exit(0) {
                    is_over.store(true, Ordering::Relaxed);
                }
                assert_eq!((finished.ended, left), (Ended::Exit(0), 0), "{sandbox}");
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// A process that is never there when one looks: each forks the next and goes.
#[test]
fn a_relay_of_processes_is_ended() {
    let relay = "import os, sys, time\nend = time.time() + 40\nsys.argv.append('4716')\nif os.fork():\n    os._exit(0)\nwhile time.time() < end:\n    if os.fork():\n        os._exit(0)\n    os.setsid()\n";
    for sandbox in walls().into_iter().chain([Sandbox::None]) {
        let bench = Bench::new();
        std::fs::write(bench.path("project/relay.py"), relay).unwrap();
        let begun = Instant::now();
        let python = "/usr/bin/python3";
        if !std::path::Path::new(python).exists() {
            eprintln!("skipped: there is no {python}");
            return;
        }
        let program = Program {
            program: PathBuf::from(python),
            arguments: vec!["relay.py".into(), "4716".into()],
            ..bench.shell("")
        };
        let finished = run(&program, sandbox, &GO_ON).unwrap();
        assert_eq!(finished.ended, Ended::Exit(0), "{sandbox}: {finished:?}");
        assert_eq!(sleepers("4716"), 0, "{sandbox}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{sandbox}");
    }
}
