//! The attempts on Linux. Each runs in a forked child behind the walls, so it is made of system
//! calls on memory prepared before.
#![expect(unsafe_code, reason = "an attacker makes raw system calls")]

#[path = "attack_shell.rs"]
mod shell;

use std::ffi::{CStr, CString, OsString};
use std::io;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::process::attack::{Answer, Attempt, SelfTest};
use crate::process::platform::Payload;
use crate::process::private::Private;
use crate::process::sandbox::{Confinement, Sandbox, landlock};
use crate::process::{Limits, Program, start};

/// What an attempt says with its exit code.
const HELD: i32 = 0;
const GOT_THROUGH: i32 = 1;
/// It failed for a reason that is not the walls': it shows nothing.
const UNCLEAR: i32 = 2;

/// How long one attempt may take; each is a handful of system calls.
const PATIENCE: Duration = Duration::from_secs(30);

/// The attempt whose end is looked at after it.
const LEFT_BEHIND: &str = "leave a process behind";
const SIGNAL: &str = "signal the harness";
const END_KEEPER: &str = "end the process that watches it";
const CHANGE_GIT: &str = "change `.git`";
const LOOPBACK: &str = "(needed) serve and connect on loopback";

/// What only root reads, and no test has to.
const PASSWORDS: &CStr = c"/etc/shadow";

/// What the system says of a file that the walls close, hide or make read-only.
const NO_FILE: &[i32] = &[
    libc::EACCES,
    libc::EPERM,
    libc::EROFS,
    libc::ENOENT,
    libc::EXDEV,
    libc::EBUSY,
];
/// What it says of a process that may not be reached, or that is not in the same table.
const NO_PROCESS: &[i32] = &[libc::EPERM, libc::ESRCH];
/// What it says of sockets that may not be made, or that lead nowhere.
const NO_NETWORK: &[i32] = &[libc::EPERM, libc::ECONNREFUSED, libc::ENETUNREACH];

type Attack = Box<dyn Fn() -> i32 + Send + Sync>;

/// Makes ready what an attempt needs; nothing when it cannot be tried here.
type Prepare = fn(&Ground, Sandbox) -> Option<Attack>;

/// Every attempt, in the order in which a person reads them. None harms the machine where nothing holds it.
const ATTEMPTS: &[(&str, Prepare)] = &[
    ("write a file outside the project", |ground, _| {
        ground.writes("outside/new")
    }),
    ("change a file outside the project", |ground, _| {
        ground.changes("outside/secret")
    }),
    ("read a file outside the project", |ground, _| {
        ground.reads("outside/secret")
    }),
    ("reach outside through a link it makes", |ground, _| {
        ground.links()
    }),
    ("read the table of passwords", |_, _| {
        Some(Box::new(|| reads_something(PASSWORDS)))
    }),
    ("list the home folder", |_, _| home_listing()),
    ("read the environment of the harness", |_, _| {
        neighbours_environment()
    }),
    (SIGNAL, |_, _| Some(signals_us())),
    (END_KEEPER, |_, _| Some(Box::new(ends_keeper))),
    ("connect to a server of this machine", |ground, _| {
        ground.connects()
    }),
    ("connect to another machine", |_, _| {
        Some(Box::new(connects_away))
    }),
    ("mount a file system", |ground, _| ground.mounts()),
    ("make namespaces of its own", |_, _| {
        Some(Box::new(unshares))
    }),
    ("use calls that pass by the filter", |_, _| {
        Some(Box::new(passes_by))
    }),
    (CHANGE_GIT, |ground, _| {
        ground.changes("project/.git/config")
    }),
    (LEFT_BEHIND, |ground, _| ground.leaves_process()),
    ("(needed) write in the project", |ground, _| {
        ground.needs_write()
    }),
    ("(needed) write in /tmp or TMPDIR", |ground, sandbox| {
        ground.needs_temporary(sandbox)
    }),
    (LOOPBACK, |_, _| Some(Box::new(needs_loopback))),
    ("(needed) start another program", |_, _| {
        Some(Box::new(needs_exec))
    }),
];

/// Attacks the given walls.
pub(crate) fn attack(sandbox: Sandbox) -> SelfTest {
    let attempts = match sandbox {
        // Its walls stand only around a program that was started: no fork of ours is behind them.
        Sandbox::Bubblewrap => shell::attempts(sandbox),
        Sandbox::Full
        | Sandbox::Confined
        | Sandbox::Namespaces
        | Sandbox::Seatbelt
        | Sandbox::Restricted
        | Sandbox::Job
        | Sandbox::None => ATTEMPTS
            .iter()
            .map(|(name, prepare)| Attempt {
                name,
                answer: attempt(sandbox, name, *prepare),
            })
            .collect(),
    };
    SelfTest { sandbox, attempts }
}

/// Makes the same attempts as behind bubblewrap without it, which shows that they are attempts.
#[cfg(test)]
pub(crate) fn attack_by_shell(sandbox: Sandbox) -> Vec<Attempt> {
    shell::attempts(sandbox)
}

/// Makes one attempt, on ground that no other has touched.
fn attempt(sandbox: Sandbox, name: &str, prepare: Prepare) -> Answer {
    let Ok(ground) = Ground::new() else {
        return Answer::Untried;
    };
    let Some(attack) = prepare(&ground, sandbox) else {
        return Answer::Untried;
    };
    let program = ground.program("/", Vec::new());
    let through = got_through(sandbox, name);
    ground.answer(name, &program, sandbox, Payload::Call(attack), through)
}

/// What it means that an attempt got through: SECURITY.md says what these walls do not hold.
fn got_through(sandbox: Sandbox, name: &str) -> Answer {
    // Landlock cannot take back a right that the folder above gives, and has no network of its own.
    let is_known = match name {
        CHANGE_GIT | LOOPBACK => sandbox == Sandbox::Confined,
        SIGNAL | END_KEEPER => sandbox == Sandbox::Confined && !landlock::holds_signals(),
        _ => false,
    };
    if is_known { Answer::Known } else { Answer::Bad }
}

/// A project, something outside it, and services that nobody inside may reach.
struct Ground {
    folder: tempfile::TempDir,
    private: Private,
    listener: TcpListener,
}

impl Ground {
    fn new() -> io::Result<Ground> {
        let folder = tempfile::Builder::new().prefix("harness-").tempdir()?;
        for name in ["project/.git", "project/mount", "outside"] {
            std::fs::create_dir_all(folder.path().join(name))?;
        }
        std::fs::write(folder.path().join("project/.git/config"), "[core]\n")?;
        std::fs::write(folder.path().join("outside/secret"), "secret\n")?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        Ok(Ground {
            folder,
            private: Private::new()?,
            listener,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        let root = self
            .folder
            .path()
            .canonicalize()
            .unwrap_or_else(|_| self.folder.path().to_path_buf());
        root.join(name)
    }

    fn program(&self, program: &str, arguments: Vec<OsString>) -> Program {
        let project = self.path("project");
        Program {
            program: PathBuf::from(program),
            arguments,
            folder: project.clone(),
            environment: Vec::new(),
            confinement: Confinement {
                overlay: None,
                writable: vec![project.clone(), self.private.temporary()],
                readable: Vec::new(),
                unchanged: vec![project.join(".git")],
                temporary: self.private.path().to_path_buf(),
            },
            limits: Limits::default(),
        }
    }

    /// Makes an attempt. No signal is a good end: the filter answers with an error, so whoever dies of one was not
    /// stopped by it.
    fn answer(
        &self,
        name: &str,
        program: &Program,
        sandbox: Sandbox,
        payload: Payload,
        through: Answer,
    ) -> Answer {
        let Ok(mut tree) = start(program, sandbox, Stdio::null(), payload) else {
            return Answer::Untried;
        };
        let ended = tree.wait(PATIENCE);
        tree.end();
        let code = match ended {
            Some(Some(status)) if libc::WIFEXITED(status) => libc::WEXITSTATUS(status),
            Some(Some(_)) => UNCLEAR,
            // Whoever watched it is gone, or it goes on and on.
            Some(None) | None => GOT_THROUGH,
        };
        let stayed = name == LEFT_BEHIND && self.is_beating();
        match code {
            HELD if stayed => Answer::Bad,
            HELD => Answer::Good,
            GOT_THROUGH => through,
            _ => Answer::Untried,
        }
    }

    fn writes(&self, name: &str) -> Option<Attack> {
        let path = text(&self.path(name))?;
        Some(Box::new(move || {
            opens(&path, libc::O_WRONLY | libc::O_CREAT)
        }))
    }

    fn changes(&self, name: &str) -> Option<Attack> {
        let path = text(&self.path(name))?;
        // SAFETY: the path ends in a zero byte.
        Some(Box::new(move || {
            worst([
                opens(&path, libc::O_WRONLY),
                tried(unsafe { libc::truncate(path.as_ptr(), 0) } == 0, NO_FILE),
                tried(unsafe { libc::unlink(path.as_ptr()) } == 0, NO_FILE),
            ])
        }))
    }

    fn reads(&self, name: &str) -> Option<Attack> {
        let path = text(&self.path(name))?;
        Some(Box::new(move || opens(&path, libc::O_RDONLY)))
    }

    fn links(&self) -> Option<Attack> {
        let secret = text(&self.path("outside/secret"))?;
        let (soft, hard) = (
            text(&self.path("project/soft"))?,
            text(&self.path("project/hard"))?,
        );
        // SAFETY: every path ends in a zero byte.
        Some(Box::new(move || unsafe {
            let linked = tried(libc::link(secret.as_ptr(), hard.as_ptr()) == 0, NO_FILE);
            if libc::symlink(secret.as_ptr(), soft.as_ptr()) != 0 {
                return UNCLEAR;
            }
            worst([
                linked,
                opens(&soft, libc::O_RDONLY),
                opens(&soft, libc::O_WRONLY),
                tried(libc::rename(secret.as_ptr(), hard.as_ptr()) == 0, NO_FILE),
            ])
        }))
    }

    fn connects(&self) -> Option<Attack> {
        let port = self.listener.local_addr().ok()?.port();
        Some(Box::new(move || connects_to([127, 0, 0, 1], port)))
    }

    fn mounts(&self) -> Option<Attack> {
        let place = text(&self.path("project/mount"))?;
        // SAFETY: every text ends in a zero byte or is null, which the calls take.
        Some(Box::new(move || unsafe {
            let kind = c"tmpfs".as_ptr();
            let nothing = std::ptr::null();
            let mounted = libc::mount(c"x".as_ptr(), place.as_ptr(), kind, 0, nothing) == 0;
            let answer = tried(mounted, &[libc::EPERM]);
            if mounted {
                libc::umount2(place.as_ptr(), libc::MNT_DETACH);
            }
            answer
        }))
    }

    /// Forks a child that leaves its session and writes a byte every few milliseconds.
    fn leaves_process(&self) -> Option<Attack> {
        let beat = text(&self.path("project/beat"))?;
        // SAFETY: raw calls on memory that lives as long as the process.
        Some(Box::new(move || unsafe {
            for _ in 0..2 {
                match libc::syscall(
                    libc::SYS_clone,
                    libc::SIGCHLD as libc::c_ulong,
                    0usize,
                    0usize,
                    0usize,
                    0usize,
                ) {
                    0 => {
                        libc::setsid();
                        libc::signal(libc::SIGTERM, libc::SIG_IGN);
                    }
                    -1 => return UNCLEAR,
                    // The parents go when the last one is at work, and nobody waits for it.
                    _ => return appears(&beat),
                }
            }
            let file = libc::open(
                beat.as_ptr(),
                libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND,
                0o600,
            );
            // A minute is enough to be seen; one that does get away ends by itself.
            for _ in 0..12_000 {
                libc::write(file, c"x".as_ptr().cast(), 1);
                libc::usleep(5_000);
            }
            GOT_THROUGH
        }))
    }

    fn is_beating(&self) -> bool {
        let length = || {
            self.path("project/beat")
                .metadata()
                .map_or(0, |found| found.len())
        };
        let first = length();
        std::thread::sleep(Duration::from_millis(60));
        length() != first
    }

    fn needs_write(&self) -> Option<Attack> {
        let path = text(&self.path("project/made"))?;
        Some(Box::new(move || {
            needed(opens(&path, libc::O_WRONLY | libc::O_CREAT) == GOT_THROUGH)
        }))
    }

    fn needs_temporary(&self, sandbox: Sandbox) -> Option<Attack> {
        let path = match sandbox.is_a_world() {
            true => c"/tmp/made".to_owned(),
            false => text(&self.private.temporary().join("made"))?,
        };
        Some(Box::new(move || {
            needed(opens(&path, libc::O_WRONLY | libc::O_CREAT) == GOT_THROUGH)
        }))
    }
}

fn home_listing() -> Option<Attack> {
    let home = text(&crate::environment::home()?)?;
    Some(Box::new(move || lists_something(&home)))
}

fn neighbours_environment() -> Option<Attack> {
    let path = CString::new(format!("/proc/{}/environ", std::process::id())).ok()?;
    let keeper = c"/proc/1/environ";
    // In its own process table the first process is its keeper, which holds what we had.
    Some(Box::new(move || {
        worst([reads_something(&path), reads_something(keeper)])
    }))
}

fn signals_us() -> Attack {
    let us = std::process::id().cast_signed();
    // SAFETY: plain numbers. In its own process table our number is nobody's.
    Box::new(move || tried(unsafe { libc::kill(us, 0) } == 0, NO_PROCESS))
}

fn ends_keeper() -> i32 {
    // SAFETY: plain numbers.
    unsafe {
        let keeper = libc::getppid();
        if libc::kill(keeper, libc::SIGKILL) != 0 {
            return tried(false, NO_PROCESS);
        }
        // The first process of a table gets no signal from inside it, and the call says nothing of that.
        for _ in 0..30 {
            if libc::getppid() != keeper {
                return GOT_THROUGH;
            }
            libc::usleep(10_000);
        }
        HELD
    }
}

/// Waits until a file is there: five seconds, for a machine with other work.
fn appears(path: &CStr) -> i32 {
    for _ in 0..500 {
        if opens(path, libc::O_RDONLY) == GOT_THROUGH {
            return HELD;
        }
        // SAFETY: a plain number.
        unsafe { libc::usleep(10_000) };
    }
    UNCLEAR
}

fn connects_away() -> i32 {
    // An address for documentation, which leads nowhere; a datagram needs only a route, and none is sent.
    connects([192, 0, 2, 1], 53, libc::SOCK_DGRAM)
}

fn connects_to(address: [u8; 4], port: u16) -> i32 {
    connects(address, port, libc::SOCK_STREAM)
}

fn connects(address: [u8; 4], port: u16, kind: i32) -> i32 {
    // SAFETY: the structure is plain data and lives through the call.
    unsafe {
        let socket = libc::socket(libc::AF_INET, kind, 0);
        if socket < 0 {
            return tried(false, NO_NETWORK);
        }
        let address = internet(address, port);
        let size = size_of_val(&address) as u32;
        let connected = libc::connect(socket, (&raw const address).cast(), size) == 0;
        let answer = tried(connected, NO_NETWORK);
        libc::close(socket);
        answer
    }
}

fn needs_loopback() -> i32 {
    // SAFETY: the structures are plain data and live through the calls.
    unsafe {
        let server = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
        let mut address = internet([127, 0, 0, 1], 0);
        let mut size = size_of_val(&address) as u32;
        let serves = server >= 0
            && libc::bind(server, (&raw const address).cast(), size) == 0
            && libc::listen(server, 1) == 0
            && libc::getsockname(server, (&raw mut address).cast(), &raw mut size) == 0;
        let port = u16::from_be(address.sin_port);
        needed(serves && connects_to([127, 0, 0, 1], port) == GOT_THROUGH)
    }
}

fn internet(address: [u8; 4], port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(address),
        },
        sin_zero: [0; 8],
    }
}

fn unshares() -> i32 {
    // SAFETY: plain numbers; the child of a clone that works ends at once.
    unsafe {
        let flags = (libc::CLONE_NEWUSER | libc::SIGCHLD) as libc::c_ulong;
        let cloned = libc::syscall(libc::SYS_clone, flags, 0usize, 0usize, 0usize, 0usize);
        if cloned == 0 {
            libc::_exit(0);
        }
        let cloned = tried(cloned > 0, &[libc::EPERM]);
        let unshared = libc::unshare(libc::CLONE_NEWUSER) == 0;
        worst([cloned, tried(unshared, &[libc::EPERM])])
    }
}

/// Calls that the filter could not judge by their arguments. Without it all of them fail too, each for a reason of
/// its own.
fn passes_by() -> i32 {
    let nothing = std::ptr::null::<u8>();
    let refused = |answer: i64, with: i32| match answer < 0 && errno() == with {
        true => HELD,
        false => GOT_THROUGH,
    };
    // SAFETY: all of these fail before they look at their arguments, or find null there.
    unsafe {
        worst([
            refused(
                libc::syscall(libc::SYS_io_uring_setup, 1, nothing),
                libc::ENOSYS,
            ),
            refused(libc::syscall(libc::SYS_bpf, -1, nothing, 0), libc::EPERM),
            refused(libc::syscall(libc::SYS_keyctl, 0, -3, 0), libc::EPERM),
            refused(
                libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0).into(),
                libc::EPERM,
            ),
        ])
    }
}

fn needs_exec() -> i32 {
    // SAFETY: the arrays end in null and live until the call replaces the process.
    unsafe {
        let child = libc::syscall(
            libc::SYS_clone,
            libc::SIGCHLD as libc::c_ulong,
            0usize,
            0usize,
            0usize,
            0usize,
        );
        if child == 0 {
            let arguments = [
                c"sh".as_ptr(),
                c"-c".as_ptr(),
                c"exit 7".as_ptr(),
                std::ptr::null(),
            ];
            libc::execv(c"/bin/sh".as_ptr(), arguments.as_ptr());
            libc::_exit(1);
        }
        let mut status = 0;
        libc::waitpid(child as libc::pid_t, &raw mut status, 0);
        needed(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7)
    }
}

/// What a call shows: it worked, or it failed as the walls make it fail, or for another reason.
fn tried(worked: bool, refusals: &[i32]) -> i32 {
    match worked {
        true => GOT_THROUGH,
        false if refusals.contains(&errno()) => HELD,
        false => UNCLEAR,
    }
}

/// What should work works.
fn needed(works: bool) -> i32 {
    if works { HELD } else { GOT_THROUGH }
}

/// Walls hold when they hold everywhere.
fn worst<const N: usize>(answers: [i32; N]) -> i32 {
    let any = |wanted| answers.contains(&wanted);
    if any(GOT_THROUGH) {
        GOT_THROUGH
    } else if any(UNCLEAR) {
        UNCLEAR
    } else {
        HELD
    }
}

fn opens(path: &CStr, flags: i32) -> i32 {
    // SAFETY: the path ends in a zero byte.
    unsafe {
        let file = libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o600);
        let answer = tried(file >= 0, NO_FILE);
        if file >= 0 {
            libc::close(file);
        }
        answer
    }
}

/// An empty folder in the place of a closed one holds too.
fn lists_something(path: &CStr) -> i32 {
    // As the kernel lays out an entry: its length lies before its kind, its name behind.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let mut buffer = [0u8; 4096];
    // SAFETY: the path ends in a zero byte, the buffer has the size that is given.
    let filled = unsafe {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        let folder = libc::open(path.as_ptr(), flags);
        if folder < 0 {
            return tried(false, NO_FILE);
        }
        let size = buffer.len();
        let filled = libc::syscall(libc::SYS_getdents64, folder, buffer.as_mut_ptr(), size);
        libc::close(folder);
        filled
    };
    let Ok(filled) = usize::try_from(filled) else {
        return tried(false, NO_FILE);
    };
    let mut at = 0;
    while let Some([low, high]) = buffer
        .get(at + LENGTH..at + LENGTH + 2)
        .filter(|_| at < filled)
    {
        let name = buffer.get(at + NAME..).unwrap_or_default();
        if !name.starts_with(b".\0") && !name.starts_with(b"..\0") {
            return GOT_THROUGH;
        }
        at += usize::from(u16::from_ne_bytes([*low, *high])).max(NAME);
    }
    HELD
}

/// An empty file in the place of a closed one holds too.
fn reads_something(path: &CStr) -> i32 {
    let mut buffer = [0u8; 64];
    // SAFETY: the path ends in a zero byte, the buffer has the size that is given.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return tried(false, NO_FILE);
        }
        let count = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
        let answer = match count {
            0 => HELD,
            _ => tried(count > 0, NO_FILE),
        };
        libc::close(file);
        answer
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn text(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}
