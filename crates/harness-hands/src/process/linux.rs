//! Starting, watching and ending a process tree on Linux.
//!
//! Between us and the program stands a keeper. With namespaces it is the first process of the
//! program's own process table, so the kernel ends everything when it goes; without them it adopts
//! every orphan, so that none gets away. It goes when the program ends, when we drop the lifeline,
//! and when we die.
#![expect(
    unsafe_code,
    reason = "what happens between fork and exec is raw system calls"
)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::process::Ended;
use crate::process::descendants::{end_descendants, end_marked};
use crate::process::sandbox::landlock::{self, Rules};
use crate::process::sandbox::namespace::{self, World};
use crate::process::sandbox::seccomp::{Filter, Network};
use crate::process::sandbox::{Confinement, Sandbox, places};

/// What the child does once it is confined.
pub(crate) enum Payload {
    /// Becomes the program.
    Program,
    /// Calls this and exits with its answer. It must not allocate: the process was forked.
    Call(Box<dyn Fn() -> i32 + Send + Sync>),
}

/// A started process tree.
#[derive(Debug)]
pub(crate) struct Tree {
    keeper: Child,
    lifeline: Option<OwnedFd>,
    status: OwnedFd,
    has_own_table: bool,
    /// Marks every process of this tree that did not clean its environment.
    mark: Option<String>,
}

/// Returns the walls that this machine has, found out once by trying them.
pub(crate) fn available() -> Sandbox {
    static FOUND: OnceLock<Sandbox> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let has_landlock = landlock::version().is_some();
        let has_filter = Filter::new(Network::Private).is_some();
        let works = |sandbox: Sandbox| {
            let confinement = Confinement::default();
            let started = start(
                Command::new("/"),
                &confinement,
                sandbox,
                Payload::Call(Box::new(|| 42)),
                None,
            );
            started.is_ok_and(|mut tree| {
                let ended = tree.wait(Duration::from_secs(30));
                tree.end();
                ended == Some(Some(42 << 8))
            })
        };
        if !has_filter {
            return Sandbox::None;
        }
        match has_landlock {
            true if works(Sandbox::Full) => Sandbox::Full,
            true if works(Sandbox::Confined) => Sandbox::Confined,
            false if works(Sandbox::Namespaces) => Sandbox::Namespaces,
            true | false => Sandbox::None,
        }
    })
}

/// Starts a program behind the given walls.
pub(crate) fn start(
    mut command: Command,
    confinement: &Confinement,
    sandbox: Sandbox,
    payload: Payload,
    mark: Option<String>,
) -> io::Result<Tree> {
    let (lifeline_out, lifeline_in) = pipe()?;
    let (status_out, status_in) = pipe()?;
    let cage = Cage::plan(&command, confinement, sandbox)?;
    let keeper_pipes = (lifeline_out.as_raw_fd(), status_in.as_raw_fd());
    let has_own_table = cage.world.is_some();
    // SAFETY: the closure only makes system calls on memory that was prepared before the fork.
    let keeper = unsafe {
        command.pre_exec(move || {
            cage.enter(keeper_pipes)?;
            match &payload {
                Payload::Program => Ok(()),
                Payload::Call(call) => {
                    // Whoever started us waits until this end of its pipe is closed.
                    close_from(3);
                    libc::_exit(call())
                }
            }
        });
        command.spawn()
    }?;
    Ok(Tree {
        keeper,
        lifeline: Some(lifeline_in),
        status: status_out,
        has_own_table,
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
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
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
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Some(None),
            }
        }
        let mut word = [0; 4];
        let mut told = 0;
        while told < word.len() {
            match rustix::io::read(&self.status, &mut word[told..]) {
                Ok(0) => return Some(None),
                Ok(count) => told += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Some(None),
            }
        }
        Some(Some(i32::from_ne_bytes(word)))
    }

    /// Ends every process of the tree, to the last, and waits until they are gone.
    pub(crate) fn end(&mut self) {
        let keeper = self.keeper.id();
        if !self.has_own_table {
            // While the keeper lives, nobody can leave its tree.
            end_descendants(keeper);
        }
        self.lifeline = None;
        // The keeper has nothing left to do but to go; a stuck disk can hold it for a while.
        let start = Instant::now();
        while matches!(self.keeper.try_wait(), Ok(None)) {
            if start.elapsed() > Duration::from_secs(5) {
                let _ = self.keeper.kill();
                let _ = self.keeper.wait();
                break;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        if let Some(mark) = self.mark.take().filter(|_| !self.has_own_table) {
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
        let (in_world, with_rules) = match sandbox {
            Sandbox::Full => (true, true),
            Sandbox::Namespaces => (true, false),
            Sandbox::Confined => (false, true),
            Sandbox::Seatbelt | Sandbox::Job | Sandbox::None => {
                return Ok(Cage {
                    world: None,
                    rules: None,
                    filter: None,
                    folder,
                });
            }
        };
        let world = if in_world {
            Some(World::plan(confinement, with_rules)?)
        } else {
            None
        };
        let network = if in_world {
            Network::Private
        } else {
            Network::Shared
        };
        let rules = match landlock::version().filter(|_| with_rules) {
            Some(version) => Some(Rules::new(version, places::places(confinement, in_world)?)),
            None => None,
        };
        Ok(Cage {
            world,
            rules,
            filter: Filter::new(network),
            folder,
        })
    }

    /// Runs in the forked child; returns only in the process that becomes the program.
    fn enter(&self, (lifeline, status): (RawFd, RawFd)) -> io::Result<()> {
        // SAFETY: plain system calls; every pointer is to memory that outlives the call.
        unsafe {
            libc::setsid();
            if let Some(world) = &self.world {
                world.leave()?;
                let first = fork()?;
                if first != 0 {
                    wait_for(first);
                }
                world.arrange()?;
            } else {
                libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
            }
            let program = fork()?;
            if program != 0 {
                keep(program, lifeline, status, self.world.is_some());
            }
            libc::setsid();
            if libc::chdir(self.folder.as_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            let no_core = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
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

/// Forks without the handlers that libraries hang on it: the child only makes system calls.
unsafe fn fork() -> io::Result<libc::pid_t> {
    // SAFETY: without flags this is a plain fork.
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
    Ok(libc::pid_t::try_from(child).unwrap_or(-1))
}

/// The process outside the new world: goes when its first process has gone.
unsafe fn wait_for(first: libc::pid_t) -> ! {
    // SAFETY: plain system calls; nothing of ours is used after the descriptors are closed.
    unsafe {
        close_from(0);
        let mut status = 0;
        while libc::waitpid(first, &raw mut status, 0) < 0 && errno() == libc::EINTR {}
        libc::_exit(0)
    }
}

/// The keeper: reaps orphans, tells how the program ended, goes with its lifeline.
unsafe fn keep(program: libc::pid_t, lifeline: RawFd, status: RawFd, has_own_table: bool) -> ! {
    // SAFETY: plain system calls on our own descriptors and on memory of this frame.
    unsafe {
        // Nobody inside may look into the keeper or at what it inherited.
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        // High enough to be out of the way while the low numbers are filled.
        let lifeline = libc::fcntl(lifeline, libc::F_DUPFD, 100);
        let status = libc::fcntl(status, libc::F_DUPFD, 100);
        libc::dup2(lifeline, 0);
        libc::dup2(status, 1);
        close_from(2);
        let watch = libc::syscall(libc::SYS_pidfd_open, program, 0);
        let watch = RawFd::try_from(watch).unwrap_or(-1);
        let mut told = false;
        loop {
            let mut watched = [
                libc::pollfd {
                    fd: 0,
                    events: libc::POLLIN,
                    revents: 0,
                },
                libc::pollfd {
                    fd: if told { -1 } else { watch },
                    events: libc::POLLIN,
                    revents: 0,
                },
            ];
            // Often enough that orphans do not pile up; without a watch, that the end is seen.
            let patience = if watch < 0 && !told { 5 } else { 200 };
            libc::poll(watched.as_mut_ptr(), 2, patience);
            let mut word = 0i32;
            loop {
                let gone = libc::waitpid(-1, &raw mut word, libc::WNOHANG);
                if gone <= 0 {
                    break;
                }
                if gone == program {
                    libc::write(1, (&raw const word).cast(), 4);
                    told = true;
                }
            }
            let cut = watched[0].revents != 0;
            if cut && !has_own_table && !told {
                // We died: the least that can be done without us.
                libc::kill(-program, libc::SIGKILL);
            }
            if cut || (told && has_own_table) {
                libc::_exit(0);
            }
        }
    }
}

unsafe fn close_from(first: u32) {
    // SAFETY: closes descriptors of this process only, which uses none of them again.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, u32::MAX, 0u32) != 0 {
            for descriptor in first..4096 {
                libc::close(descriptor.cast_signed());
            }
        }
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for both ends.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both are open, and nobody else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
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
    let in_world = matches!(sandbox, Sandbox::Full | Sandbox::Namespaces);
    (in_world && World::replaces_tmp(confinement)).then(|| PathBuf::from("/tmp"))
}
