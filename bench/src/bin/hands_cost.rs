//! What safety costs: a sandboxed test run against a bare one, an edit against a plain write, a try
//! of the reused test process. Prints one JSON object; `bench/hands/run.py` makes the table.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement lays out files, starts the bare program beside ours, and prints"
)]

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use harness_code::path::RelPath;
use harness_code::suite::{Runner as Framework, Suite};
use harness_hands::journal::{Ending, RunId};
use harness_hands::lock::Waiting;
use harness_hands::permit::{Access, Project};
use harness_hands::suite::quick::Quick;
use harness_hands::suite::tried::{Tried, Wanted};
use harness_hands::suite::{self, Selection};

static GO_ON: AtomicBool = AtomicBool::new(false);

const TEST: &str = "import unittest\nfrom app import one\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(one(), 1)\n";
const APP: &str = "def one():\n    return 1\n";

fn main() {
    let python = std::env::args().nth(1).unwrap_or_else(|| "python3".into());
    let rounds: u32 = std::env::args()
        .nth(2)
        .and_then(|text| text.parse().ok())
        .unwrap_or(20);
    let folder = tempfile::tempdir_in(".").unwrap();
    std::fs::write(folder.path().join("test_app.py"), TEST).unwrap();
    std::fs::write(folder.path().join("app.py"), APP).unwrap();
    let (bare, sandboxed) = (
        bare(&python, folder.path(), rounds),
        sandboxed(&python, folder.path(), rounds),
    );
    let tries = tries(&python, folder.path(), rounds * 5);
    let (in_place, trial) = trials(&python, rounds);
    let (small_plain, small_edit) = edits(folder.path(), 2_000, rounds);
    let (large_plain, large_edit) = edits(folder.path(), 10_000_000, rounds.min(10));
    let shown = serde_json::json!({
        "rounds": rounds,
        "bare_test": bare, "sandboxed_test": sandboxed, "try": tries,
        "in_place": in_place, "trial": trial,
        "small_plain": small_plain, "small_edit": small_edit,
        "large_plain": large_plain, "large_edit": large_edit,
    });
    println!("{shown}");
}

/// Wall and CPU seconds of one round.
fn cost(rounds: u32, mut round: impl FnMut()) -> [f64; 2] {
    let (start, used) = (Instant::now(), children_seconds());
    for _ in 0..rounds {
        round();
    }
    let each = |seconds: f64| seconds / f64::from(rounds);
    [
        each(start.elapsed().as_secs_f64()),
        each(children_seconds() - used),
    ]
}

/// CPU time of children that have ended, and of this process, as the kernel counts it.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks: f64 = fields[11..15]
        .iter()
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    // The tick that Linux shows to programs.
    ticks / 100.0
}

fn bare(python: &str, folder: &Path, rounds: u32) -> [f64; 2] {
    cost(rounds, || {
        let mut command = std::process::Command::new(python);
        command
            .args(["-m", "unittest", "-q"])
            .current_dir(folder)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        assert!(command.output().unwrap().status.success());
    })
}

fn unittest(python: &str) -> Suite {
    Suite {
        runner: Framework::Unittest,
        command: [python, "-m", "unittest"].map(str::to_string).to_vec(),
        interpreter: Some(python.to_string()),
        interpreter_why: None,
        missing: Vec::new(),
        folder: None,
        why: String::new(),
    }
}

fn sandboxed(python: &str, folder: &Path, rounds: u32) -> [f64; 2] {
    let project = Project::open(folder, None, Access::Writing).unwrap();
    cost(rounds, || {
        let report = suite::run(
            project.runner().unwrap(),
            &unittest(python),
            &Selection::All,
            &GO_ON,
        );
        assert_eq!(report.passed, 1, "{report:#?}");
    })
}

/// One test in a project of 3,000 files: in the project itself, and in a private version with one file changed, with a
/// look at what the run touched.
fn trials(python: &str, rounds: u32) -> ([f64; 2], [f64; 2]) {
    let folder = tempfile::tempdir_in(".").unwrap();
    std::fs::write(folder.path().join("test_app.py"), TEST).unwrap();
    std::fs::write(folder.path().join("app.py"), APP).unwrap();
    for number in 0..3_000 {
        let place = folder.path().join(format!("package{}", number / 50));
        std::fs::create_dir_all(&place).unwrap();
        let text = format!("VALUE = {number}\n").repeat(200);
        std::fs::write(place.join(format!("module{number}.py")), text).unwrap();
    }
    let in_place = sandboxed(python, folder.path(), rounds);
    let project = Project::open(folder.path(), None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let path = RelPath::parse("app.py").unwrap();
    let trial = cost(rounds, || {
        let mut version = runner.trial(project.door(), None).unwrap();
        version
            .put(&path, b"def one():\n    return 2 - 1\n")
            .unwrap();
        let runner = runner.in_scratch(&version);
        let report = suite::run(&runner, &unittest(python), &Selection::All, &GO_ON);
        assert_eq!(report.passed, 1, "{report:#?}");
        assert!(version.touched().is_empty());
    });
    (in_place, trial)
}

/// The process ends with the measurement, so that its CPU time is seen.
fn tries(python: &str, folder: &Path, rounds: u32) -> [f64; 2] {
    let project = Project::open(folder, None, Access::Writing).unwrap();
    let runner = project.runner().unwrap();
    let path = RelPath::parse("app.py").unwrap();
    let limit = Duration::from_secs(60);
    let wanted = Wanted {
        first: &["test_app.T.test_one".to_owned()],
        red: &[],
        near: &[],
        rest: false,
        limit,
        waiting: limit,
        rest_limit: limit,
    };
    let run = |count: u32| {
        let scratch = runner.scratch(project.door()).unwrap();
        let mut quick = Quick::start(runner, &unittest(python), scratch, &GO_ON).unwrap();
        let start = Instant::now();
        let used = children_seconds();
        for _ in 0..count {
            let tried = quick.try_change(&path, APP.as_bytes(), &wanted, &GO_ON);
            assert!(matches!(tried.unwrap(), Tried::Passed { tests: 1, .. }));
        }
        let wall = start.elapsed().as_secs_f64();
        drop(quick);
        [wall, children_seconds() - used]
    };
    // The start of the process is taken out of the CPU time by a run with a single try.
    let (one, many) = (run(1), run(rounds + 1));
    [0, 1].map(|at| (many[at] - one[at]) / f64::from(rounds))
}

fn edits(folder: &Path, bytes: usize, rounds: u32) -> ([f64; 2], [f64; 2]) {
    let file = folder.join("edited.txt");
    let text = |round: u32| -> Vec<u8> {
        let line = format!("line of round {round}\n");
        line.bytes().cycle().take(bytes).collect()
    };
    std::fs::write(&file, text(0)).unwrap();
    let mut round = 0;
    let plain = cost(rounds, || {
        round += 1;
        let mut new = tempfile::NamedTempFile::new_in(folder).unwrap();
        new.write_all(&text(round)).unwrap();
        new.as_file().sync_all().unwrap();
        new.persist(&file).unwrap();
    });
    let project = Project::open(folder, None, Access::Writing).unwrap();
    let path = RelPath::parse("edited.txt").unwrap();
    let waiting = &mut Waiting {
        patience: Duration::ZERO,
        cancel: &GO_ON,
        on_wait: &mut |_| {},
    };
    let mut run = project
        .writer()
        .unwrap()
        .begin(&RunId::new(), "bench", waiting)
        .unwrap();
    let mut was = text(round);
    let edit = cost(rounds, || {
        round += 1;
        let now = text(round);
        run.settle(&path, Some(&was), Some(&now)).unwrap();
        was = now;
    });
    run.finish(&Ending::default()).unwrap();
    (plain, edit)
}
