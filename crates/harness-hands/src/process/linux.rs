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

use std::ffi::{CStr, CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::process::Ended;
use crate::process::descendants::{end_descendants, end_marked};
use crate::process::private::Private;
use crate::process::sandbox::landlock::{self, Rules};
use crate::process::sandbox::namespace::{self, World};
use crate::process::sandbox::seccomp::{Filter, Network};
use crate::process::sandbox::{Confinement, Sandbox, bubblewrap, places};

/// Where a process finds the numbers of its children.
const CHILDREN: &CStr = c"/proc/thread-self/children";

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
        // The strongest first. Bubblewrap does for us what the kernel does not let us do ourselves.
        const STRONGEST_FIRST: [Sandbox; 4] = [
            Sandbox::Full,
            Sandbox::Namespaces,
            Sandbox::Bubblewrap,
            Sandbox::Confined,
        ];
        let working = STRONGEST_FIRST.into_iter().find(|sandbox| works(*sandbox));
        working.unwrap_or(Sandbox::None)
    })
}

/// Says whether a program behind these walls starts and its end is seen.
pub(crate) fn works(sandbox: Sandbox) -> bool {
    let needs_landlock = matches!(sandbox, Sandbox::Full | Sandbox::Confined);
    if Filter::new(Network::Private).is_none() || needs_landlock && landlock::version().is_none() {
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
    let arguments = ["-c", "exit 42"].map(OsString::from);
    if sandbox == Sandbox::Bubblewrap && bubblewrap::find().is_none() {
        return false;
    }
    let command = command(Path::new("/bin/sh"), &arguments, confinement, sandbox);
    let started = command.and_then(|mut command| {
        let quiet = std::process::Stdio::null;
        command.stdin(quiet()).stdout(quiet()).stderr(quiet());
        start(command, confinement, sandbox, None)
    });
    started.is_ok_and(|mut tree| {
        let ended = tree.wait(Duration::from_secs(30));
        tree.end();
        ended == Some(Some(42 << 8))
    })
}

/// Says whether the layers of a confinement can be mounted behind these walls.
pub(crate) fn mounts(confinement: &Confinement, sandbox: Sandbox) -> bool {
    match sandbox {
        Sandbox::Full | Sandbox::Namespaces => starts(confinement, sandbox),
        Sandbox::Confined
        | Sandbox::Bubblewrap
        | Sandbox::Seatbelt
        | Sandbox::Restricted
        | Sandbox::Job
        | Sandbox::None => false,
    }
}

/// Returns the command that runs a program behind the given walls.
pub(crate) fn command(
    program: &Path,
    arguments: &[OsString],
    confinement: &Confinement,
    sandbox: Sandbox,
) -> io::Result<Command> {
    match sandbox {
        Sandbox::Bubblewrap => bubblewrap::command(program, arguments, confinement),
        // Their walls are put up between fork and exec.
        Sandbox::Full
        | Sandbox::Confined
        | Sandbox::Namespaces
        | Sandbox::Seatbelt
        | Sandbox::Restricted
        | Sandbox::Job
        | Sandbox::None => {
            let mut command = Command::new(program);
            command.args(arguments);
            Ok(command)
        }
    }
}

/// Starts a program behind the given walls.
pub(crate) fn start(
    mut command: Command,
    confinement: &Confinement,
    sandbox: Sandbox,
    mark: Option<String>,
) -> io::Result<Tree> {
    let (lifeline_out, lifeline_in) = pipe()?;
    let (status_out, status_in) = pipe()?;
    let cage = Cage::plan(&command, confinement, sandbox)?;
    let keeper_pipes = (lifeline_out.as_raw_fd(), status_in.as_raw_fd());
    // SAFETY: the closure only makes system calls on memory that was prepared before the fork.
    let keeper = unsafe {
        command.pre_exec(move || cage.enter(keeper_pipes));
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
        let status = i32::from_ne_bytes(word);
        Some(Some(if self.sandbox == Sandbox::Bubblewrap {
            bubblewrap::wait_status(status)
        } else {
            status
        }))
    }

    /// Ends every process of the tree, to the last, and waits until they are gone.
    pub(crate) fn end(&mut self) {
        let keeper_sees = CHILDREN.to_str().is_ok_and(|list| Path::new(list).exists());
        if !self.has_own_table() && !keeper_sees {
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
        let is_safe = self.has_own_table();
        if let Some(mark) = self.mark.take().filter(|_| !is_safe) {
            end_marked(&mark);
        }
    }

    /// Says whether the keeper is the first process of a process table, which ends with it.
    fn has_own_table(&self) -> bool {
        matches!(self.sandbox, Sandbox::Full | Sandbox::Namespaces)
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
    /// Whether the program may gain privileges when it starts: only bubblewrap, which some systems give them
    /// and which gives them up itself.
    may_be_raised: bool,
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
            Sandbox::Bubblewrap
            | Sandbox::Seatbelt
            | Sandbox::Restricted
            | Sandbox::Job
            | Sandbox::None => {
                return Ok(Cage {
                    world: None,
                    rules: None,
                    filter: None,
                    folder,
                    may_be_raised: sandbox == Sandbox::Bubblewrap,
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
            may_be_raised: false,
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
            if !self.may_be_raised && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
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
            if cut && !has_own_table {
                end_children(program);
            }
            if cut || (told && has_own_table) {
                libc::_exit(0);
            }
        }
    }
}

/// Ends every process below the keeper. Orphans become its children, so killing children until there are none
/// ends the whole tree, however it forks meanwhile.
unsafe fn end_children(program: libc::pid_t) {
    let mut list = [0u8; 4096];
    let mut status = 0;
    // SAFETY: plain system calls on memory of this frame.
    unsafe {
        loop {
            let file = libc::open(CHILDREN.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            if file < 0 {
                // The least that can be done without this list; what is left is looked for from outside.
                libc::kill(-program, libc::SIGKILL);
                return;
            }
            let count = libc::read(file, list.as_mut_ptr().cast(), list.len());
            libc::close(file);
            let count = usize::try_from(count).unwrap_or(0);
            kill_all(&list[..count]);
            loop {
                match libc::waitpid(-1, &raw mut status, libc::WNOHANG) {
                    // None is left, nor can come back.
                    -1 if errno() != libc::EINTR => return,
                    0 => break,
                    _ => {}
                }
            }
            // They are on their way.
            libc::usleep(200);
        }
    }
}

/// Kills the processes of a list of numbers; one that is cut off at the end is found in the next list.
unsafe fn kill_all(list: &[u8]) {
    let mut process: libc::pid_t = 0;
    for byte in list {
        if byte.is_ascii_digit() {
            let digit = libc::pid_t::from(byte - b'0');
            process = process.saturating_mul(10).saturating_add(digit);
        } else {
            if process > 1 {
                // SAFETY: plain numbers; children of ours keep their number until we ask how they ended.
                unsafe { libc::kill(process, libc::SIGKILL) };
            }
            process = 0;
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
    (sandbox.is_a_world() && World::replaces_tmp(confinement)).then(|| PathBuf::from("/tmp"))
}
