//! What a started program may touch, and which walls of this machine hold it to that.

#[cfg(target_os = "linux")]
pub(crate) mod bubblewrap;
#[cfg(target_os = "linux")]
pub(crate) mod landlock;
#[cfg(target_os = "linux")]
pub(crate) mod namespace;
#[cfg(target_os = "linux")]
pub(crate) mod places;
#[cfg(target_os = "macos")]
pub(crate) mod seatbelt;
#[cfg(target_os = "linux")]
pub(crate) mod seccomp;

use std::fmt;
use std::path::PathBuf;

use crate::scratch::Overlay;

/// The walls around a program that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// Linux: files by Landlock, system calls by seccomp, and namespaces of its own for processes,
    /// mounts and the network, in which only loopback exists.
    Full,
    /// Linux where namespaces are not allowed: files by Landlock, no network sockets by seccomp.
    Confined,
    /// Linux without Landlock: namespaces with a view of the disk that holds only what may be read,
    /// and seccomp.
    Namespaces,
    /// Linux where only bubblewrap may make namespaces: its own, with such a view, and seccomp.
    Bubblewrap,
    /// macOS: the seatbelt.
    Seatbelt,
    /// Windows: a job that ends with us, and a token without privileges; files and network are not held.
    Restricted,
    /// Windows where the token cannot be cut down: the job alone.
    Job,
    /// No walls but the time limit and the end of the process tree.
    None,
}

impl Sandbox {
    /// Returns what holds the program, for a person.
    pub fn describe(self) -> &'static str {
        match self {
            Sandbox::Full => "Landlock, seccomp and namespaces (loopback only)",
            Sandbox::Confined => "Landlock and seccomp (no network)",
            Sandbox::Namespaces => "namespaces and seccomp (loopback only)",
            Sandbox::Bubblewrap => "bubblewrap and seccomp (loopback only)",
            Sandbox::Seatbelt => "seatbelt (loopback only)",
            Sandbox::Restricted => {
                "job object and restricted token (files and network are not held)"
            }
            Sandbox::Job => "job object (files and network are not held)",
            Sandbox::None => "none",
        }
    }

    /// Says whether files and the network are held, which is what `--require-sandbox` asks for.
    pub fn holds(self) -> bool {
        match self {
            Sandbox::Full
            | Sandbox::Confined
            | Sandbox::Namespaces
            | Sandbox::Bubblewrap
            | Sandbox::Seatbelt => true,
            Sandbox::Restricted | Sandbox::Job | Sandbox::None => false,
        }
    }
}

impl Sandbox {
    /// Says whether it keeps parts of a writable folder read-only.
    pub(crate) fn freezes(self) -> bool {
        match self {
            Sandbox::Full | Sandbox::Namespaces | Sandbox::Bubblewrap | Sandbox::Seatbelt => true,
            Sandbox::Confined | Sandbox::Restricted | Sandbox::Job | Sandbox::None => false,
        }
    }

    /// Says whether the program lives in a process table, mounts and a network of its own.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_a_world(self) -> bool {
        match self {
            Sandbox::Full | Sandbox::Namespaces | Sandbox::Bubblewrap => true,
            Sandbox::Confined
            | Sandbox::Seatbelt
            | Sandbox::Restricted
            | Sandbox::Job
            | Sandbox::None => false,
        }
    }
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

/// What a program may touch. Paths are absolute and free of links.
#[derive(Debug, Clone, Default)]
pub struct Confinement {
    /// Folders it may change.
    pub writable: Vec<PathBuf>,
    /// Files and folders it may read and execute, beside those of the system.
    pub readable: Vec<PathBuf>,
    /// Files and folders inside a writable folder that it may only read, where the walls can do so.
    pub unchanged: Vec<PathBuf>,
    /// A folder of its own that stands in for `/tmp` where the walls can do so.
    pub temporary: PathBuf,
    /// Layers that are mounted over the project, so that it sees changes that nobody else sees.
    pub(crate) overlay: Option<Overlay>,
}
