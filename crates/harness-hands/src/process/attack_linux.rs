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
use crate::process::sandbox::{Confinement, Sandbox};
use crate::process::{Limits, Program, start};

/// What an attempt says with its exit code.
const HELD: i32 = 0;
const GOT_THROUGH: i32 = 1;

/// How long one attempt may take; each is a handful of system calls.
const PATIENCE: Duration = Duration::from_secs(30);

/// The attempt whose end is looked at after all others.
const LEFT_BEHIND: &str = "leave a process behind";

/// What only root reads, and no test has to.
const PASSWORDS: &CStr = c"/etc/shadow";

type Attack = Box<dyn Fn() -> i32 + Send + Sync>;

/// Attacks the given walls.
pub(crate) fn attack(sandbox: Sandbox) -> SelfTest {
    let attempts = match Ground::new() {
        // Its walls stand only around a program that was started: no fork of ours is behind them.
        Ok(ground) if sandbox == Sandbox::Bubblewrap => ground.shell_attempts(sandbox),
        Ok(ground) => ground.attempts(sandbox),
        Err(_) => vec![Attempt {
            name: "lay out a place to attack from",
            answer: Answer::Untried,
        }],
    };
    SelfTest { sandbox, attempts }
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
        for name in ["project/.git", "outside"] {
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

    fn attempts(&self, sandbox: Sandbox) -> Vec<Attempt> {
        let in_world = sandbox.is_a_world();
        // Landlock cannot take back a right that the folder above gives.
        let git = if in_world { Answer::Bad } else { Answer::Known };
        let loopback = if in_world { Answer::Bad } else { Answer::Known };
        let mut attempts = Vec::new();
        let mut add = |name: &'static str, attack: Option<Attack>, otherwise: Answer| {
            let answer = match attack {
                Some(attack) => self.attempt(sandbox, attack, otherwise),
                None => Answer::Untried,
            };
            attempts.push(Attempt { name, answer });
        };
        add(
            "write a file outside the project",
            self.writes("outside/new"),
            Answer::Bad,
        );
        add(
            "change a file outside the project",
            self.changes("outside/secret"),
            Answer::Bad,
        );
        add(
            "read a file outside the project",
            self.reads("outside/secret"),
            Answer::Bad,
        );
        add(
            "reach outside through a link it makes",
            self.links(),
            Answer::Bad,
        );
        add(
            "read the table of passwords",
            Some(Box::new(|| held(!reads_something(PASSWORDS)))),
            Answer::Bad,
        );
        add("list the home folder", home_listing(), Answer::Bad);
        add(
            "read the environment of the harness",
            self.neighbours_environment(),
            Answer::Bad,
        );
        add("signal the harness", Some(signals_us()), Answer::Bad);
        add(
            "end the process that watches it",
            Some(Box::new(ends_keeper)),
            Answer::Bad,
        );
        add(
            "connect to a server of this machine",
            self.connects(),
            Answer::Bad,
        );
        add(
            "connect to another machine",
            Some(Box::new(connects_away)),
            Answer::Bad,
        );
        add("mount a file system", Some(Box::new(mounts)), Answer::Bad);
        add(
            "make namespaces of its own",
            Some(Box::new(unshares)),
            Answer::Bad,
        );
        add(
            "use calls that pass by the filter",
            Some(Box::new(passes_by)),
            Answer::Bad,
        );
        add("change `.git`", self.changes("project/.git/config"), git);
        add(LEFT_BEHIND, self.leaves_process(), Answer::Bad);
        add(
            "(needed) write in the project",
            self.needs_write(),
            Answer::Bad,
        );
        add(
            "(needed) write in /tmp or TMPDIR",
            self.needs_temporary(in_world),
            Answer::Bad,
        );
        add(
            "(needed) serve and connect on loopback",
            Some(Box::new(needs_loopback)),
            loopback,
        );
        add(
            "(needed) start another program",
            Some(Box::new(needs_exec)),
            Answer::Bad,
        );
        self.look_for_what_was_left(&mut attempts);
        attempts
    }

    /// Did the one that was left behind stay alive?
    fn look_for_what_was_left(&self, attempts: &mut [Attempt]) {
        let mut left = attempts
            .iter_mut()
            .filter(|attempt| attempt.name == LEFT_BEHIND);
        if let Some(left) = left.next()
            && self.is_beating()
        {
            left.answer = Answer::Bad;
        }
    }

    fn attempt(&self, sandbox: Sandbox, attack: Attack, otherwise: Answer) -> Answer {
        self.answer(
            &self.program("/", Vec::new()),
            sandbox,
            Payload::Call(attack),
            otherwise,
        )
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

    fn answer(
        &self,
        program: &Program,
        sandbox: Sandbox,
        payload: Payload,
        otherwise: Answer,
    ) -> Answer {
        let Ok(mut tree) = start(program, sandbox, Stdio::null(), payload) else {
            return Answer::Untried;
        };
        let ended = tree.wait(PATIENCE);
        tree.end();
        match ended {
            Some(Some(status)) if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == HELD => {
                Answer::Good
            }
            // Ended by the walls themselves.
            Some(Some(status)) if libc::WIFSIGNALED(status) => Answer::Good,
            Some(_) | None => otherwise,
        }
    }

    fn writes(&self, name: &str) -> Option<Attack> {
        let path = text(&self.path(name))?;
        Some(Box::new(move || {
            held(!opens(&path, libc::O_WRONLY | libc::O_CREAT))
        }))
    }

    fn changes(&self, name: &str) -> Option<Attack> {
        let path = text(&self.path(name))?;
        // SAFETY: the path ends in a zero byte.
        Some(Box::new(move || {
            let truncated = unsafe { libc::truncate(path.as_ptr(), 0) } == 0;
            let removed = unsafe { libc::unlink(path.as_ptr()) } == 0;
            held(!opens(&path, libc::O_WRONLY) && !truncated && !removed)
        }))
    }

    fn reads(&self, name: &str) -> Option<Attack> {
        let path = text(&self.path(name))?;
        Some(Box::new(move || held(!opens(&path, libc::O_RDONLY))))
    }

    fn links(&self) -> Option<Attack> {
        let secret = text(&self.path("outside/secret"))?;
        let (soft, hard) = (
            text(&self.path("project/soft"))?,
            text(&self.path("project/hard"))?,
        );
        // SAFETY: every path ends in a zero byte.
        Some(Box::new(move || unsafe {
            let linked = libc::link(secret.as_ptr(), hard.as_ptr()) == 0;
            libc::symlink(secret.as_ptr(), soft.as_ptr());
            let opened = opens(&soft, libc::O_RDONLY) || opens(&soft, libc::O_WRONLY);
            let moved = libc::rename(secret.as_ptr(), hard.as_ptr()) == 0;
            held(!linked && !opened && !moved)
        }))
    }

    fn neighbours_environment(&self) -> Option<Attack> {
        let path = CString::new(format!("/proc/{}/environ", std::process::id())).ok()?;
        let keeper = c"/proc/1/environ";
        // In its own process table the first process is its keeper, which holds what we had.
        Some(Box::new(move || {
            held(!reads_something(&path) && !reads_something(keeper))
        }))
    }

    fn connects(&self) -> Option<Attack> {
        let port = self.listener.local_addr().ok()?.port();
        Some(Box::new(move || held(!connects_to([127, 0, 0, 1], port))))
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
                    -1 => return HELD,
                    // The parents go at once, so that nobody waits for the last one.
                    _ => return HELD,
                }
            }
            let file = libc::open(
                beat.as_ptr(),
                libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND,
                0o600,
            );
            loop {
                libc::write(file, c"x".as_ptr().cast(), 1);
                libc::usleep(5_000);
            }
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
            held(opens(&path, libc::O_WRONLY | libc::O_CREAT))
        }))
    }

    fn needs_temporary(&self, in_world: bool) -> Option<Attack> {
        let path = match in_world {
            true => c"/tmp/made".to_owned(),
            false => text(&self.private.temporary().join("made"))?,
        };
        Some(Box::new(move || {
            held(opens(&path, libc::O_WRONLY | libc::O_CREAT))
        }))
    }
}

fn home_listing() -> Option<Attack> {
    let home = text(&crate::environment::home()?)?;
    Some(Box::new(move || held(!lists_something(&home))))
}

/// Says whether a folder can be read and shows anything but the ways to what is allowed.
fn lists_something(path: &CStr) -> bool {
    opens(path, libc::O_RDONLY | libc::O_DIRECTORY)
}

fn signals_us() -> Attack {
    let us = std::process::id().cast_signed();
    // SAFETY: plain numbers. In its own process table our number is nobody's.
    Box::new(move || held(unsafe { libc::kill(us, 0) } != 0))
}

fn ends_keeper() -> i32 {
    // SAFETY: plain numbers.
    unsafe {
        let keeper = libc::getppid();
        libc::kill(keeper, libc::SIGKILL);
        libc::usleep(20_000);
        held(libc::getppid() == keeper)
    }
}

fn connects_away() -> i32 {
    // An address for documentation, which leads nowhere; a datagram needs only a route.
    // SAFETY: the structure is plain data and lives through the call.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        if socket < 0 {
            return HELD;
        }
        let address = internet([192, 0, 2, 1], 53);
        let connected = libc::connect(
            socket,
            (&raw const address).cast(),
            size_of_val(&address) as u32,
        ) == 0;
        libc::close(socket);
        held(!connected)
    }
}

fn connects_to(address: [u8; 4], port: u16) -> bool {
    // SAFETY: the structure is plain data and lives through the call.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
        if socket < 0 {
            return false;
        }
        let address = internet(address, port);
        let connected = libc::connect(
            socket,
            (&raw const address).cast(),
            size_of_val(&address) as u32,
        ) == 0;
        libc::close(socket);
        connected
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
        held(serves && connects_to([127, 0, 0, 1], u16::from_be(address.sin_port)))
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

fn mounts() -> i32 {
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: every text ends in a zero byte or is null, which the calls take.
    unsafe {
        let mounted = libc::mount(
            c"x".as_ptr(),
            c"/mnt".as_ptr(),
            c"tmpfs".as_ptr(),
            0,
            nothing,
        ) == 0;
        let unmounted = libc::umount2(c"/proc".as_ptr(), libc::MNT_DETACH) == 0;
        held(!mounted && !unmounted)
    }
}

fn unshares() -> i32 {
    // SAFETY: plain numbers; the child of a clone that works ends at once.
    unsafe {
        let unshared = libc::unshare(libc::CLONE_NEWUSER) == 0;
        let flags = (libc::CLONE_NEWUSER | libc::SIGCHLD) as libc::c_ulong;
        let cloned = libc::syscall(libc::SYS_clone, flags, 0usize, 0usize, 0usize, 0usize);
        if cloned == 0 {
            libc::_exit(0);
        }
        held(!unshared && cloned < 0)
    }
}

fn passes_by() -> i32 {
    let nothing = std::ptr::null::<u8>();
    // SAFETY: all of these fail before they look at their arguments, or find null there.
    unsafe {
        let ring = libc::syscall(libc::SYS_io_uring_setup, 1, nothing);
        let ring_is_there = ring >= 0 || errno() != libc::ENOSYS;
        let table = libc::syscall(libc::SYS_bpf, 0, nothing, 0);
        let table_is_there = table >= 0 || errno() != libc::EPERM;
        let keys = libc::syscall(libc::SYS_keyctl, 0, -3, 0);
        let machine = libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0);
        held(!ring_is_there && !table_is_there && keys < 0 && machine < 0)
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
        held(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7)
    }
}

fn held(good: bool) -> i32 {
    if good { HELD } else { GOT_THROUGH }
}

fn opens(path: &CStr, flags: i32) -> bool {
    // SAFETY: the path ends in a zero byte.
    unsafe {
        let file = libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o600);
        if file >= 0 {
            libc::close(file);
        }
        file >= 0
    }
}

fn reads_something(path: &CStr) -> bool {
    let mut buffer = [0u8; 64];
    // SAFETY: the path ends in a zero byte, the buffer has the size that is given.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let count = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
        libc::close(file);
        count > 0
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn text(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}
