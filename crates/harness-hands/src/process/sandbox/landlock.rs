//! Files by Landlock: rules are made and entered by the child itself, after its mounts are in place.
#![expect(
    unsafe_code,
    reason = "Landlock has no wrapper in the C library, let alone a safe one"
)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open};

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// Every right of the first version: reading, writing, making and removing.
const VERSION_1: u64 = (1 << 13) - 1;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
/// The rights that a rule on a single file may carry.
const ON_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
/// No signals to, and no abstract sockets of, processes outside.
const SCOPES: u64 = 1 | 2;

/// The version that knows scopes.
const SCOPED_SINCE: u32 = 6;

const CREATE_VERSION: u32 = 1;
const PATH_BENEATH: u32 = 1;

/// What a rule allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allow {
    /// Reading and executing.
    Read,
    /// Everything.
    Change,
    /// Reading and writing a device that is there.
    Device,
}

/// Rules, ready to be entered without another allocation.
#[derive(Debug)]
pub(crate) struct Rules {
    version: u32,
    places: Vec<(CString, Allow)>,
}

#[repr(C)]
struct RulesetAttribute {
    files: u64,
    network: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

/// Returns the version of Landlock that the kernel has switched on.
pub(crate) fn version() -> Option<u32> {
    let answer = create(None, 0, CREATE_VERSION);
    u32::try_from(answer).ok().filter(|version| *version > 0)
}

/// Makes a set of rules of which the kernel reads `size` bytes, or answers what `flags` ask.
fn create(rules: Option<&RulesetAttribute>, size: usize, flags: u32) -> libc::c_long {
    let rules = rules.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the structure, if any, lives through the call and is at least `size` bytes long.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, rules, size, flags) }
}

/// Says whether signals to processes outside are refused.
pub(crate) fn holds_signals() -> bool {
    version().is_some_and(|version| version >= SCOPED_SINCE)
}

impl Rules {
    pub(crate) fn new(version: u32, places: Vec<(CString, Allow)>) -> Rules {
        Rules { version, places }
    }

    /// Enters the rules, for good. Called in the child: no allocation, only system calls.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let handled = self.handled();
        let attribute = RulesetAttribute {
            files: handled,
            network: 0,
            scoped: if self.version >= SCOPED_SINCE {
                SCOPES
            } else {
                0
            },
        };
        // Older kernels know a shorter structure.
        let size: usize = match self.version {
            0..=3 => 8,
            4..=5 => 16,
            6.. => 24,
        };
        let ruleset = match i32::try_from(create(Some(&attribute), size, 0)) {
            // SAFETY: the kernel has just opened it for us.
            Ok(ruleset @ 0..) => unsafe { OwnedFd::from_raw_fd(ruleset) },
            _ => return Err(io::Error::last_os_error()),
        };
        for (path, allow) in &self.places {
            let allowed = handled
                & match allow {
                    Allow::Read => EXECUTE | READ_FILE | READ_DIR,
                    Allow::Change => u64::MAX,
                    Allow::Device => READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV,
                };
            add(&ruleset, path, allowed)?;
        }
        // SAFETY: plain numbers; the ruleset is ours.
        match unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0u32) }
        {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn handled(&self) -> u64 {
        let mut handled = VERSION_1;
        if self.version >= 2 {
            handled |= REFER;
        }
        if self.version >= 3 {
            handled |= TRUNCATE;
        }
        if self.version >= 5 {
            handled |= IOCTL_DEV;
        }
        handled
    }
}

fn add(ruleset: &OwnedFd, path: &CString, allowed: u64) -> io::Result<()> {
    let Ok(parent) = open(&**path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else {
        // What is not there needs no rule.
        return Ok(());
    };
    let rule = |allowed: u64| {
        let parent = parent.as_raw_fd();
        let beneath = PathBeneath { allowed, parent };
        // SAFETY: the structure lives through the call and has the layout of the kernel's.
        match unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                ruleset.as_raw_fd(),
                PATH_BENEATH,
                &raw const beneath,
                0u32,
            )
        } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    match rule(allowed) {
        // A rule on a single file must not speak of folders.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => rule(allowed & ON_FILES),
        outcome => outcome,
    }
}
