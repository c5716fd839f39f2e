//! A program that works beside us and never outlives us: started with its output in a log, ended when it is
//! dropped, and ended too when we are killed, crash or lose our terminal.
//!
//! On Unix a small keeper stands between: a process of ours that does nothing but hold the end of a pipe. When
//! we go, however we go, the kernel closes the other end, and the keeper takes the program with it. (A signal on
//! the parent's death would follow the thread that started it, and macOS has none.) The program's standard
//! input is a second such pipe, so that a runtime of ours can watch it by itself on every platform. On Windows a job
//! object does what the keeper does.

use std::ffi::OsString;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// How long the end of a program is waited for after it was killed: the kernel takes milliseconds.
const LAST_WAIT: Duration = Duration::from_secs(3);
/// Logs older than this are taken away when a new one is begun.
const OLD: Duration = Duration::from_secs(7 * 24 * 3600);
/// Parts of names of variables that hold what is secret; such a variable is not handed on.
const SECRET_NAMES: &str = "\
    TOKEN SECRET PASSWORD PASSWD API_KEY ACCESS_KEY PRIVATE_KEY CREDENTIAL AUTH";

/// A program to start beside us.
#[derive(Clone, Debug)]
pub struct CompanionOrder {
    /// The file to execute.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables that it gets besides the user's own; secrets of the user are left out.
    pub variables: Vec<(OsString, OsString)>,
    /// The folder for its log, made when it is not there; it starts in it too.
    pub logs: PathBuf,
    /// The beginning of the log's name.
    pub name: String,
}

/// What ends the program when it is closed, by us or by our end: a pipe to its keeper, or a job.
#[cfg(unix)]
type Leash = io::PipeWriter;
#[cfg(not(unix))]
type Leash = std::os::windows::io::OwnedHandle;

/// A program that works beside us. Dropping it ends it.
#[derive(Debug)]
pub struct Companion {
    child: Child,
    leash: Option<Leash>,
    log: PathBuf,
}

impl Companion {
    /// Starts a program. An error says that it could not be executed.
    pub fn start(order: &CompanionOrder) -> io::Result<Companion> {
        let log = order
            .logs
            .join(format!("{}-{}.log", order.name, std::process::id()));
        let output = begin_log(&order.logs, &log)?;
        let mut command = Command::new(&order.program);
        command
            .args(&order.arguments)
            .current_dir(&order.logs)
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(output);
        for (name, _) in crate::environment::all() {
            let upper = name.to_string_lossy().to_ascii_uppercase();
            if SECRET_NAMES
                .split_ascii_whitespace()
                .any(|part| upper.contains(part))
            {
                command.env_remove(&name);
            }
        }
        command.envs(order.variables.iter().map(|(name, value)| (name, value)));
        let (child, leash) = start_on_a_leash(command)?;
        Ok(Companion { child, leash, log })
    }

    /// Returns how it ended when it has ended by itself.
    pub fn ended(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(Some(status)) => Some(status.to_string()),
            Ok(None) => None,
            Err(error) => Some(error.to_string()),
        }
    }

    /// Returns the file that holds what it printed.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Returns what it printed since `from`, in bytes, at most the last 64 KiB of it.
    pub fn printed(&self, from: u64) -> String {
        const MOST: u64 = 64 << 10;
        let read = || -> io::Result<Vec<u8>> {
            let mut file = std::fs::File::open(&self.log)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(from.max(length.saturating_sub(MOST))))?;
            let mut bytes = Vec::new();
            file.take(MOST).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
    }

    /// Ends it and waits until it is gone.
    pub fn end(&mut self) {
        // The keeper or the job ends the program when the leash is gone.
        drop(self.child.stdin.take());
        let kept = self.leash.take().is_some();
        if !kept {
            let _ = self.child.kill();
        }
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < LAST_WAIT {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.end();
    }
}

fn begin_log(folder: &Path, log: &Path) -> io::Result<std::fs::File> {
    std::fs::create_dir_all(folder)?;
    let now = SystemTime::now();
    for entry in std::fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let is_log = path.extension().is_some_and(|ending| ending == "log");
        let age = entry
            .metadata()
            .and_then(|facts| facts.modified())
            .map(|then| now.duration_since(then));
        if is_log && age.is_ok_and(|age| age.is_ok_and(|age| age > OLD)) {
            // Somebody else may have taken it away already.
            let _ = std::fs::remove_file(path);
        }
    }
    // A log of the same process is begun anew: only the last start is of interest.
    let _ = std::fs::remove_file(log);
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(log)
}

#[cfg(unix)]
fn start_on_a_leash(mut command: Command) -> io::Result<(Child, Option<Leash>)> {
    let (end, leash) = io::pipe()?;
    keeper::stand_between(&mut command, end);
    let child = command.spawn()?;
    Ok((child, Some(leash)))
}

#[cfg(not(unix))]
fn start_on_a_leash(mut command: Command) -> io::Result<(Child, Option<Leash>)> {
    use crate::process::platform::{job, put_into};
    let child = command.spawn()?;
    // A system that refuses a job still has the program's standard input, which it watches by itself.
    let leash = job().and_then(|job| put_into(&job, &child).map(|()| job));
    Ok((child, leash.ok()))
}

#[cfg(unix)]
mod keeper {
    //! The keeper: forked before the program starts, never becomes another program, calls only what is safe
    //! in a fork of a process with threads, and holds nothing open but the pipe.
    #![expect(unsafe_code, reason = "forking, and closing what the fork inherited")]

    use std::io;
    use std::os::fd::{AsRawFd, RawFd};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{
        Pid, Signal, WaitOptions, kill_process, kill_process_group, setpgid, setsid, waitpid,
    };

    /// How often the keeper looks whether the program ended by itself.
    const LOOK_AGAIN: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 200_000_000,
    };

    /// Makes a command start its program behind a keeper that holds `end`.
    pub(super) fn stand_between(command: &mut Command, end: io::PipeReader) {
        // SAFETY: the closure only makes system calls that are safe after a fork; it allocates nothing.
        unsafe {
            command.pre_exec(move || split(&end));
        }
    }

    /// Runs in the forked child: becomes the keeper, or returns in the process that becomes the program.
    fn split(end: &io::PipeReader) -> io::Result<()> {
        // A session of its own: Ctrl-C and a closed terminal reach us, and only we decide.
        let _ = setsid();
        // SAFETY: a process of one thread forks, since it was forked itself; the keeper ends here.
        unsafe {
            match libc::fork() {
                -1 => return Err(io::Error::last_os_error()),
                0 => {}
                program => {
                    libc::_exit(Pid::from_raw(program).map_or(1, |program| keep(program, end)))
                }
            }
        }
        let _ = setpgid(None, None);
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        Ok(())
    }

    /// Waits until the pipe or the program ends, ends the other, and returns what to end with.
    fn keep(program: Pid, end: &io::PipeReader) -> i32 {
        let _ = setpgid(Some(program), Some(program));
        #[cfg(target_os = "linux")]
        let _ = rustix::thread::set_name(c"harness-keeper");
        close_all_but(end.as_raw_fd());
        loop {
            let mut watched = [PollFd::new(end, PollFlags::IN)];
            let woken = poll(&mut watched, Some(&LOOK_AGAIN)).unwrap_or(0);
            if woken > 0 && !watched[0].revents().is_empty() {
                let _ = kill_process_group(program, Signal::KILL);
                let _ = kill_process(program, Signal::KILL);
                let _ = waitpid(Some(program), WaitOptions::empty());
                return 0;
            }
            if let Ok(Some((_, status))) = waitpid(Some(program), WaitOptions::NOHANG) {
                // What it started itself goes with it.
                let _ = kill_process_group(program, Signal::KILL);
                let by_signal = status.terminating_signal().map(|signal| 128 + signal);
                return status.exit_status().or(by_signal).unwrap_or(1);
            }
        }
    }

    /// Closes every descriptor but one, so that the keeper holds nothing of ours open: no file, no socket, and not
    /// the pipe by which the start of a program is reported.
    fn close_all_but(kept: RawFd) {
        // SAFETY: plain numbers. What Rust owns of these descriptors belongs to frames that never go on.
        unsafe {
            let most = libc::sysconf(libc::_SC_OPEN_MAX).clamp(256, 65_536);
            let most = RawFd::try_from(most).unwrap_or(65_536);
            #[cfg(target_os = "linux")]
            {
                let below = kept == 0 || libc::syscall(libc::SYS_close_range, 0, kept - 1, 0) == 0;
                if below && libc::syscall(libc::SYS_close_range, kept + 1, RawFd::MAX, 0) == 0 {
                    return;
                }
            }
            for descriptor in 0..most {
                if descriptor != kept {
                    libc::close(descriptor);
                }
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    #[cfg(target_os = "linux")]
    use crate::marked::{marker, processes_with};

    fn order(script: &str, logs: &Path) -> CompanionOrder {
        CompanionOrder {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            variables: vec![("GREETING".into(), "hello".into())],
            logs: logs.to_owned(),
            name: "test".to_owned(),
        }
    }

    #[cfg(target_os = "linux")]
    fn alive(process: &str) -> bool {
        // A zombie is gone too: it only waits for its parent to ask.
        let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let state = status
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .chars()
            .next();
        matches!(state, Some(state) if state != 'Z' && state != 'X')
    }

    /// For what comes at once on a machine that has no other work.
    const LONG_ENOUGH: Duration = Duration::from_secs(60);

    fn wait_for(what: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < LONG_ENOUGH {
            if what() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    #[test]
    fn it_is_started_with_its_variables_and_its_output_is_kept() {
        let logs = tempfile::tempdir().unwrap();
        let companion =
            Companion::start(&order("echo $GREETING; echo oh >&2; sleep 9", logs.path())).unwrap();
        assert!(wait_for(|| companion.printed(0) == "hello\noh\n"));
        assert_eq!(companion.printed(6), "oh\n");
    }

    #[test]
    fn its_own_end_is_seen() {
        let logs = tempfile::tempdir().unwrap();
        let mut companion = Companion::start(&order("exit 3", logs.path())).unwrap();
        let begun = Instant::now();
        let mut ended = companion.ended();
        while ended.is_none() && begun.elapsed() < LONG_ENOUGH {
            std::thread::sleep(Duration::from_millis(5));
            ended = companion.ended();
        }
        assert_eq!(ended.as_deref(), Some("exit status: 3"));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let logs = tempfile::tempdir().unwrap();
        let nowhere = CompanionOrder {
            program: PathBuf::from("/no/such/program"),
            ..order("", logs.path())
        };
        assert_eq!(
            Companion::start(&nowhere).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn dropping_it_ends_it_and_what_it_started() {
        let logs = tempfile::tempdir().unwrap();
        let script = "trap '' TERM HUP INT; sleep 60 & echo $! $$; wait";
        let companion = Companion::start(&order(script, logs.path())).unwrap();
        assert!(wait_for(|| companion.printed(0).ends_with('\n')));
        let processes: Vec<String> = companion
            .printed(0)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        assert!(processes.iter().all(|process| alive(process)));
        drop(companion);
        assert!(
            wait_for(|| !processes.iter().any(|process| alive(process))),
            "{processes:?}"
        );
    }

    /// Not a test by itself: the process that the next test kills.
    #[cfg(target_os = "linux")]
    #[test]
    #[ignore = "the process that the next test kills"]
    fn a_process_that_will_be_killed() {
        let logs = crate::environment::value("HARNESS_TEST_COMPANION").unwrap();
        let word = crate::environment::value("HARNESS_TEST_COMPANION_WORD").unwrap();
        let script = format!("echo begun; exec sleep {}", word.to_str().unwrap());
        let companion = Companion::start(&order(&script, Path::new(&logs))).unwrap();
        std::thread::sleep(Duration::from_secs(60));
        drop(companion);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_does_not_outlive_us_even_when_we_are_killed() {
        for pause in [0, 3, 40, 250] {
            let (logs, word) = (tempfile::tempdir().unwrap(), marker());
            let mut us = Command::new(std::env::current_exe().unwrap())
                .args([
                    "--ignored",
                    "--exact",
                    "companion::tests::a_process_that_will_be_killed",
                ])
                .env("HARNESS_TEST_COMPANION", logs.path())
                .env("HARNESS_TEST_COMPANION_WORD", &word)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let log = logs.path().join(format!("test-{}.log", us.id()));
            // At the first pause it may not have begun, at the others it has.
            assert!(wait_for(
                || log.exists() && (pause == 0 || processes_with(&word) == 1)
            ));
            std::thread::sleep(Duration::from_millis(pause));
            // SIGKILL: nothing of ours runs any more.
            us.kill().unwrap();
            us.wait().unwrap();
            // One that had only been forked would show itself a little later.
            std::thread::sleep(Duration::from_millis(100));
            assert!(wait_for(|| processes_with(&word) == 0), "after {pause} ms");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_killed_keeper_takes_the_program_along() {
        let logs = tempfile::tempdir().unwrap();
        let mut companion = Companion::start(&order("echo $$; sleep 60", logs.path())).unwrap();
        assert!(wait_for(|| companion.printed(0).ends_with('\n')));
        let program = companion.printed(0).trim().to_owned();
        companion.child.kill().unwrap();
        assert!(wait_for(|| !alive(&program)));
    }

    /// Not a test by itself: starts a companion from an environment with secrets in it.
    #[test]
    #[ignore = "started by the next test, with secrets in its environment"]
    fn started_among_secrets() {
        let logs = crate::environment::value("HARNESS_TEST_COMPANION").unwrap();
        let script = "env; echo end; sleep 9";
        let companion = Companion::start(&order(script, Path::new(&logs))).unwrap();
        assert!(wait_for(|| companion.printed(0).ends_with("end\n")));
        std::fs::write(Path::new(&logs).join("seen"), companion.printed(0)).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn secrets_of_the_user_are_not_handed_on() {
        use crate::planted::{PLANTED, SECRETS, WAYS_TO_THEM};
        let logs = tempfile::tempdir().unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact"])
            .arg("companion::tests::started_among_secrets")
            .envs(
                SECRETS
                    .iter()
                    .chain(WAYS_TO_THEM)
                    .map(|name| (name, PLANTED)),
            )
            .env("HARNESS_TEST_COMPANION", logs.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let seen = std::fs::read_to_string(logs.path().join("seen")).unwrap();
        let names: Vec<&str> = seen
            .lines()
            .filter(|line| line.contains(PLANTED))
            .map(|line| line.split('=').next().unwrap())
            .filter(|name| SECRETS.contains(name))
            .collect();
        assert_eq!(names, Vec::<&str>::new());
        // A model's runtime is the user's own program: it may need a proxy or a bus.
        assert!(seen.contains("HTTPS_PROXY="), "{seen}");
    }
}
