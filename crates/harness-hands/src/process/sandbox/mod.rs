//! What a started program may touch, and which walls of this machine hold it to that.

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Linux: files by Landlock, system calls by seccomp, and namespaces of its own for processes,
    /// mounts and the network, in which only loopback exists.
    Full,
    /// Linux where namespaces are not allowed: files by Landlock, no network sockets by seccomp.
    Confined,
    /// Linux without Landlock: namespaces with a view of the disk that holds only what may be read,
    /// and seccomp.
    Namespaces,
    /// macOS: the seatbelt.
    Seatbelt,
    /// Windows: a job that ends with us, and a token without privileges; files and network are not held.
    Restricted,
    /// Windows where the token cannot be cut down: the job alone.
    Job,
    /// No walls but the time limit and the end of the process tree.
    #[default]
    None,
}

impl Sandbox {
    /// Returns how it is described to a person; whether files and the network are held; whether parts of a
    /// writable folder are kept read-only; whether processes, mounts and the network are its own; and whether it
    /// uses Landlock.
    const fn traits(self) -> (&'static str, bool, bool, bool, bool) {
        #[rustfmt::skip]
        let row = match self {
            //                   described                                                            held   frozen own    Landlock
            Sandbox::Full       => ("Landlock, seccomp and namespaces (loopback only)",                 true,  true,  true,  true),
            Sandbox::Namespaces => ("namespaces and seccomp (loopback only)",                           true,  true,  true,  false),
            Sandbox::Confined   => ("Landlock and seccomp (no network)",                                true,  false, false, true),
            Sandbox::Seatbelt   => ("seatbelt (loopback only)",                                         true,  true,  false, false),
            Sandbox::Restricted => ("job object and restricted token (files and network are not held)", false, false, false, false),
            Sandbox::Job        => ("job object (files and network are not held)",                      false, false, false, false),
            Sandbox::None       => ("none",                                                             false, false, false, false),
        };
        row
    }

    /// Returns what holds the program, for a person.
    pub fn describe(self) -> &'static str {
        self.traits().0
    }

    /// Says whether files and the network are held, which is what `--require-sandbox` asks for.
    pub fn holds(self) -> bool {
        self.traits().1
    }

    /// Says whether it keeps parts of a writable folder read-only.
    pub(crate) fn freezes(self) -> bool {
        self.traits().2
    }

    /// Says whether the program has a process table, mounts and a network of its own.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_namespaces(self) -> bool {
        self.traits().3
    }

    /// Says whether Landlock holds the files.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_landlock(self) -> bool {
        self.traits().4
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
    /// Whether it reaches the network: what installs packages does, tests never do.
    pub network: bool,
}
