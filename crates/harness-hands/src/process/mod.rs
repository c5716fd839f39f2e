//! Starts one program without a shell, bounds what it may do, keep and print, and ends it with every
//! process it started.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
pub(crate) mod platform;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "other_unix.rs"]
pub(crate) mod platform;
#[cfg(not(unix))]
#[path = "windows.rs"]
pub(crate) mod platform;
#[cfg(not(unix))]
mod windows_token;

pub mod attack;
#[cfg(target_os = "linux")]
mod descendants;
pub(crate) mod environment;
pub mod output;
pub(crate) mod private;
pub mod runner;
pub mod sandbox;
mod unchanged;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::door::reason;
use crate::process::output::{Capture, Output};
use crate::process::platform::Tree;
use crate::process::sandbox::{Confinement, Sandbox};
use crate::process::unchanged::Unchanged;

/// How often a running program is asked whether somebody wants it stopped.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How long the streams of a program that has ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A program to start: no shell, no inherited environment, no standard input.
#[derive(Debug, Clone)]
pub struct Program {
    /// The file to execute, absolute.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it starts.
    pub folder: PathBuf,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What it may touch.
    pub confinement: Confinement,
    /// How much it may take.
    pub limits: Limits,
}

/// How much a program may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// How many bytes are kept of each of its two streams.
    pub output: usize,
}

impl Default for Limits {
    /// Ten minutes, which most suites keep; enough output for the last hundred failures.
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(600),
            output: 512 * 1024,
        }
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// By us, since it outlasted its limit.
    TimedOut,
    /// By us, since somebody asked for it.
    Interrupted,
    /// Its end was not seen: somebody ended what watches it.
    Lost,
}

/// What is left of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// What it printed.
    pub stdout: Output,
    /// What it complained.
    pub stderr: Output,
    /// How long it ran.
    pub seconds: f64,
    /// The walls it ran behind.
    pub sandbox: Sandbox,
    /// What it changed although it must come out unchanged, and was put back.
    pub restored: Vec<PathBuf>,
}

/// A program that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start `{program}`: {}", reason(.source))]
pub(crate) struct StartError {
    /// The program.
    pub program: String,
    /// What the system said.
    pub source: io::Error,
}

/// Returns the walls that this machine has.
pub fn available_sandbox() -> Sandbox {
    platform::available()
}

/// Runs a program to its end, or until it is stopped.
pub(crate) fn run(
    program: &Program,
    sandbox: Sandbox,
    cancel: &AtomicBool,
) -> Result<Finished, StartError> {
    let walled = sandbox.freezes();
    let unchanged: Vec<Unchanged> = program
        .confinement
        .unchanged
        .iter()
        .map(|place| Unchanged::look(place, walled))
        .collect();
    let begun = Instant::now();
    let mut tree = start(program, sandbox, Stdio::null())?;
    let limit = program.limits.output;
    let stdout = tree
        .keeper()
        .stdout
        .take()
        .map(|stream| Capture::start(stream, limit));
    let stderr = tree
        .keeper()
        .stderr
        .take()
        .map(|stream| Capture::start(stream, limit));
    let ended = watch(&mut tree, begun, program.limits.time, cancel);
    tree.end();
    let seconds = begun.elapsed().as_secs_f64();
    let restored = unchanged.iter().flat_map(Unchanged::restore).collect();
    let collect = |capture: Option<Capture>| {
        capture
            .map(|capture| capture.finish(LAST_WORDS))
            .unwrap_or_default()
    };
    Ok(Finished {
        ended,
        stdout: collect(stdout),
        stderr: collect(stderr),
        seconds,
        sandbox,
        restored,
    })
}

/// Starts a program with piped streams.
pub(crate) fn start(program: &Program, sandbox: Sandbox, stdin: Stdio) -> Result<Tree, StartError> {
    let failed = |source| StartError {
        program: program.program.display().to_string(),
        source,
    };
    let mark = environment::mark();
    let mut command = command(program, sandbox);
    command
        .current_dir(&program.folder)
        .env_clear()
        .envs(
            program
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .env(environment::MARK, &mark)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mark = Some(format!("{}={mark}", environment::MARK));
    platform::start(command, &program.confinement, sandbox, mark).map_err(failed)
}

/// Returns the command that runs a program: only the seatbelt is another program in front of it.
fn command(program: &Program, sandbox: Sandbox) -> Command {
    let (file, arguments) = (&program.program, &program.arguments);
    #[cfg(target_os = "macos")]
    if sandbox == Sandbox::Seatbelt {
        return sandbox::seatbelt::command(file, arguments, &program.confinement);
    }
    let _ = sandbox;
    let mut command = Command::new(file);
    command.args(arguments);
    command
}

fn watch(tree: &mut Tree, begun: Instant, limit: Duration, cancel: &AtomicBool) -> Ended {
    loop {
        if let Some(status) = tree.wait(LOOK_AGAIN.min(limit.saturating_sub(begun.elapsed()))) {
            return status.map_or(Ended::Lost, platform::ended);
        }
        if cancel.load(Ordering::Relaxed) {
            return Ended::Interrupted;
        }
        if begun.elapsed() >= limit {
            return Ended::TimedOut;
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "tests.rs"]
mod tests;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod ending_tests;
