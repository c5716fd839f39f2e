//! Starting, watching and ending a process tree on Linux.
//!
//! Between us and the program stands a keeper. With namespaces it is the first process of the
//! program's own process table, so the kernel ends everything when it goes; without them it adopts
//! every orphan, so that none gets away. It goes when the program ends, when we drop the lifeline,
//! and when we die.
#![expect(unsafe_code, reason = "forking, and closing what the fork inherited")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, chdir, getpid,
    kill_process, kill_process_group, pidfd_open, set_child_subreaper, set_dumpable_behavior,
    setrlimit, setsid, wait, waitpid,
};
use rustix::stdio::{dup2_stdin, dup2_stdout, stdin, stdout};
use rustix::thread::{nanosleep, set_no_new_privs};

use crate::process::Ended;
use crate::process::descendants::{end_descendants, end_marked};
use crate::process::private::Private;
use crate::process::sandbox::landlock::{self, Rules};
use crate::process::sandbox::namespace::{self, World};
use crate::process::sandbox::seccomp::{Filter, Network};
use crate::process::sandbox::{Confinement, Sandbox, places};

/// Where a process finds the numbers of its children.
const CHILDREN: &CStr = c"/proc/thread-self/children";

/// The first number for the keeper's descriptors while the low ones are filled.
const OUT_OF_THE_WAY: i32 = 100;

/// How long the keeper is given to end a tree before we help.
const KEEPERS_WORK: Duration = Duration::from_secs(3);

/// A started process tree.
#[derive(Debug)]
pub(crate) struct Tree {
    keeper: Child,
    lifeline: Option<OwnedFd>,
    status: OwnedFd,
    sandbox: Sandbox,
    /// Marks every process of this tree that did not clean its environment.
    mark: Option<String>,
}

/// Returns the walls that this machine has, found out once by trying them.
pub(crate) fn available() -> Sandbox {
    static FOUND: OnceLock<Sandbox> = OnceLock::new();
    *FOUND.get_or_init(|| {
        const STRONGEST_FIRST: [Sandbox; 3] =
            [Sandbox::Full, Sandbox::Namespaces, Sandbox::Confined];
        let working = STRONGEST_FIRST.into_iter().find(|sandbox| works(*sandbox));
        working.unwrap_or(Sandbox::None)
    })
}

/// Says whether a program behind these walls starts and its end is seen.
pub(crate) fn works(sandbox: Sandbox) -> bool {
    let lacks_landlock = sandbox.has_landlock() && landlock::version().is_none();
    if Filter::new(Network::Private).is_none() || lacks_landlock {
        return false;
    }
    let Ok(private) = Private::new() else {
        return false;
    };
    let confinement = Confinement {
        temporary: private.path().to_path_buf(),
        ..Confinement::default()
    };
    starts(&confinement, sandbox)
}

/// Says whether a program starts in this confinement and its end is seen.
fn starts(confinement: &Confinement, sandbox: Sandbox) -> bool {
    let mut command = Command::new("/bin/sh");
    let quiet = std::process::Stdio::null;
    command
        .args(["-c", "exit 42"])
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet());
    start(command, confinement, sandbox, None).is_ok_and(|mut tree| {
        let ended = tree.wait(Duration::from_secs(30));
        tree.end();
        ended == Some(Some(42 << 8))
    })
}

/// Says whether the layers of a confinement can be mounted behind these walls.
pub(crate) fn mounts(confinement: &Confinement, sandbox: Sandbox) -> bool {
    sandbox.has_namespaces() && starts(confinement, sandbox)
}

/// Starts a program behind the given walls.
pub(crate) fn start(
    mut command: Command,
    confinement: &Confinement,
    sandbox: Sandbox,
    mark: Option<String>,
) -> io::Result<Tree> {
    let (lifeline_out, lifeline_in) = pipe_with(PipeFlags::CLOEXEC)?;
    let (status_out, status_in) = pipe_with(PipeFlags::CLOEXEC)?;
    let cage = Cage::plan(&command, confinement, sandbox)?;
    // SAFETY: the closure only makes system calls on memory that was prepared before the fork.
    let keeper = unsafe {
        command.pre_exec(move || cage.enter(&lifeline_out, &status_in));
        command.spawn()
    }?;
    Ok(Tree {
        keeper,
        lifeline: Some(lifeline_in),
        status: status_out,
        sandbox,
        mark,
    })
}

impl Tree {
    pub(crate) fn keeper(&mut self) -> &mut Child {
        &mut self.keeper
    }

    /// Waits for the program: `None` when it still runs after `patience`, else its wait status, or
    /// `Some(None)` when its keeper is gone without a word.
    pub(crate) fn wait(&mut self, patience: Duration) -> Option<Option<i32>> {
        let start = Instant::now();
        loop {
            let left = patience.saturating_sub(start.elapsed());
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            match poll(
                &mut [PollFd::new(&self.status, PollFlags::IN)],
                Some(&timeout),
            ) {
                Ok(0) => return None,
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(_) => return Some(None),
            }
        }
        let mut word = [0; 4];
        let mut told = 0;
        while told < word.len() {
            match rustix::io::read(&self.status, &mut word[told..]) {
                Ok(0) => return Some(None),
                Ok(count) => told += count,
                Err(Errno::INTR) => {}
                Err(_) => return Some(None),
            }
        }
        Some(Some(i32::from_ne_bytes(word)))
    }

    /// Ends every process of the tree, to the last, and waits until they are gone.
    pub(crate) fn end(&mut self) {
        let keeper_sees = CHILDREN.to_str().is_ok_and(|list| Path::new(list).exists());
        // With namespaces the keeper is the first process of a process table, which ends with it.
        let is_safe = self.sandbox.has_namespaces();
        if !is_safe && !keeper_sees {
            // While the keeper lives, nobody can leave its tree.
            end_descendants(self.keeper.id());
        }
        // The keeper ends what is left and goes.
        self.lifeline = None;
        let start = Instant::now();
        let is_kept = |keeper: &mut Child| matches!(keeper.try_wait(), Ok(None));
        let mut pause = Duration::from_micros(100);
        while is_kept(&mut self.keeper) && start.elapsed() < KEEPERS_WORK {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        if is_kept(&mut self.keeper) {
            // A tree that forks faster than one process kills, or a stuck disk.
            end_descendants(self.keeper.id());
            let _ = self.keeper.kill();
            let _ = self.keeper.wait();
        }
        // Who killed the keeper may have got away from it.
        if let Some(mark) = self.mark.take().filter(|_| !is_safe) {
            end_marked(&mark);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.end();
    }
}

/// Everything the child needs, prepared before the fork.
struct Cage {
    world: Option<World>,
    rules: Option<Rules>,
    filter: Option<Filter>,
    folder: CString,
}

impl Cage {
    fn plan(command: &Command, confinement: &Confinement, sandbox: Sandbox) -> io::Result<Cage> {
        let folder = command
            .get_current_dir()
            .map_or(&b"/"[..], |path| path.as_os_str().as_bytes());
        let folder = CString::new(folder)?;
        let (namespaces, landlock) = (sandbox.has_namespaces(), sandbox.has_landlock());
        let world = match namespaces {
            true => Some(World::plan(confinement, landlock)?),
            false => None,
        };
        let rules = match landlock::version().filter(|_| landlock) {
            Some(version) => {
                let own_tmp = namespaces && World::replaces_tmp(confinement);
                Some(Rules::new(version, places::places(confinement, own_tmp)?))
            }
            None => None,
        };
        let network = match (namespaces, confinement.network) {
            (_, true) => Network::Open,
            (true, false) => Network::Private,
            (false, false) => Network::Shared,
        };
        let filter = match sandbox {
            Sandbox::None => None,
            _ => Filter::new(network),
        };
        Ok(Cage {
            world,
            rules,
            filter,
            folder,
        })
    }

    /// Runs in the forked child; returns only in the process that becomes the program.
    fn enter(&self, lifeline: &OwnedFd, status: &OwnedFd) -> io::Result<()> {
        let _ = setsid();
        if let Some(world) = &self.world {
            world.leave()?;
            if let Some(first) = fork()? {
                wait_for(first);
            }
            world.arrange()?;
        } else {
            let _ = set_child_subreaper(Some(getpid()));
        }
        if let Some(program) = fork()? {
            keep(program, lifeline, status, self.world.is_some());
        }
        let _ = setsid();
        chdir(&*self.folder)?;
        let nothing = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _ = setrlimit(Resource::Core, nothing);
        set_no_new_privs(true)?;
        if let Some(rules) = &self.rules {
            rules.enter()?;
        }
        if let Some(filter) = &self.filter {
            namespace::drop_capabilities()?;
            filter.enter()?;
        }
        Ok(())
    }
}

/// Forks without the handlers that libraries hang on it: the child only makes system calls. Returns the child's
/// number to its parent.
fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: without flags this is a plain fork, in a process of one thread, since it was forked itself.
    let child = unsafe {
        libc::syscall(
            libc::SYS_clone,
            libc::SIGCHLD as libc::c_ulong,
            0usize,
            0usize,
            0usize,
            0usize,
        )
    };
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::try_from(child).ok().and_then(Pid::from_raw))
}

/// The process outside the new world: goes when its first process has gone.
fn wait_for(first: Pid) -> ! {
    close_from(0);
    while let Err(Errno::INTR) = waitpid(Some(first), WaitOptions::empty()) {}
    exit()
}

/// The keeper: reaps orphans, tells how the program ended, goes with its lifeline.
fn keep(program: Pid, lifeline: &OwnedFd, status: &OwnedFd, has_own_table: bool) -> ! {
    // Nobody inside may look into the keeper or at what it inherited.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let moved = fcntl_dupfd_cloexec(lifeline, OUT_OF_THE_WAY).and_then(|lifeline| {
        let status = fcntl_dupfd_cloexec(status, OUT_OF_THE_WAY)?;
        dup2_stdin(lifeline)?;
        dup2_stdout(status)
    });
    if moved.is_err() {
        exit();
    }
    close_from(2);
    let (lifeline, status) = (stdin(), stdout());
    let watch = pidfd_open(program, PidfdFlags::empty()).ok();
    let mut told = false;
    loop {
        // Often enough that orphans do not pile up; without a watch, that the end is seen.
        let (milliseconds, watch) = match (&watch, told) {
            (Some(watch), false) => (200, watch.as_fd()),
            (None, false) => (5, lifeline),
            (_, true) => (200, lifeline),
        };
        let patience = Timespec {
            tv_sec: 0,
            tv_nsec: milliseconds * 1_000_000,
        };
        let mut watched = [lifeline, watch].map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN));
        let _ = poll(&mut watched, Some(&patience));
        while let Ok(Some((gone, word))) = wait(WaitOptions::NOHANG) {
            if gone == program {
                let _ = rustix::io::write(status, &word.as_raw().to_ne_bytes());
                told = true;
            }
        }
        let cut = !watched[0].revents().is_empty();
        if cut && !has_own_table {
            end_children(program);
        }
        if cut || (told && has_own_table) {
            exit();
        }
    }
}

/// Ends every process below the keeper. Orphans become its children, so killing children until there are none
/// ends the whole tree, however it forks meanwhile.
fn end_children(program: Pid) {
    let mut list = [0u8; 4096];
    loop {
        let Ok(file) = open(CHILDREN, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else {
            // The least that can be done without this list; what is left is looked for from outside.
            let _ = kill_process_group(program, Signal::KILL);
            return;
        };
        let count = rustix::io::read(&file, &mut list).unwrap_or(0);
        kill_all(&list[..count]);
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                // None is left, nor can come back.
                Err(_) => return,
            }
        }
        // They are on their way.
        let _ = nanosleep(&Timespec {
            tv_sec: 0,
            tv_nsec: 200_000,
        });
    }
}

/// Kills the processes of a list of numbers; one that is cut off at the end is found in the next list.
fn kill_all(list: &[u8]) {
    let mut process = 0_i32;
    for byte in list {
        if byte.is_ascii_digit() {
            let digit = i32::from(byte - b'0');
            process = process.saturating_mul(10).saturating_add(digit);
        } else {
            // Children of ours keep their number until we ask how they ended.
            if let Some(process) = Pid::from_raw(process).filter(|process| !process.is_init()) {
                let _ = kill_process(process, Signal::KILL);
            }
            process = 0;
        }
    }
}

/// Closes every descriptor from this number on. Only for a process that uses none of them again.
fn close_from(first: u32) {
    // SAFETY: plain numbers. What Rust owns of these descriptors belongs to frames that never go on.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, u32::MAX, 0u32) != 0 {
            for descriptor in first..4096 {
                libc::close(descriptor.cast_signed());
            }
        }
    }
}

/// Ends this process without running anything that was registered for its end.
fn exit() -> ! {
    // SAFETY: takes nothing but a number and does not return.
    unsafe { libc::_exit(0) }
}

/// Reads a wait status.
pub(crate) fn ended(status: i32) -> Ended {
    if libc::WIFEXITED(status) {
        Ended::Exit(libc::WEXITSTATUS(status))
    } else {
        Ended::Signal(libc::WTERMSIG(status))
    }
}

/// Returns the temporary folder as the program sees it, where it has one of its own.
pub(crate) fn temporary_folder(confinement: &Confinement, sandbox: Sandbox) -> Option<PathBuf> {
    (sandbox.has_namespaces() && World::replaces_tmp(confinement)).then(|| PathBuf::from("/tmp"))
}
