//! System calls by seccomp: what no test suite needs and an escape would.
#![expect(unsafe_code, reason = "installing a filter is a raw system call")]

use std::io;

/// Whether the program lives in a network of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    /// A namespace with nothing but loopback: internet sockets are harmless.
    Private,
    /// The machine's own: no internet sockets.
    Shared,
    /// The machine's own, to be used.
    Open,
}

/// A filter, ready to be entered without another allocation.
#[derive(Debug)]
pub(crate) struct Filter {
    program: Vec<libc::sock_filter>,
}

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Where things lie in what the kernel shows a filter.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const fn argument(index: u32) -> u32 {
    // The low half of a 64-bit argument on a little-endian machine.
    16 + index * 8
}

#[cfg(target_arch = "x86_64")]
const THIS_ARCHITECTURE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const THIS_ARCHITECTURE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const THIS_ARCHITECTURE: Option<u32> = None;

/// Calls that change the machine, its clock, its kernel or its mounts, that reach other processes'
/// secrets, or that get around the other walls.
const FORBIDDEN: &[libc::c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_open_by_handle_at,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_syslog,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_fanotify_init,
    libc::SYS_pidfd_getfd,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
];

/// Calls that programs try and do without: they are told that the kernel is too old. The filter
/// cannot see the flags of the first, and the others would pass by it.
const UNKNOWN: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

const NEW_NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32;

impl Filter {
    /// Builds the filter; `None` on a processor that it was not written for.
    pub(crate) fn new(network: Network) -> Option<Filter> {
        let architecture = THIS_ARCHITECTURE?;
        let mut program = vec![
            step(LOAD, ARCHITECTURE),
            jump(EQUAL, architecture, 1, 0),
            refuse(libc::EPERM),
            step(LOAD, NUMBER),
        ];
        if cfg!(target_arch = "x86_64") {
            // The same calls under other numbers.
            program.extend([jump(AT_LEAST, 0x4000_0000, 0, 1), refuse(libc::ENOSYS)]);
        }
        for call in FORBIDDEN {
            program.extend([jump(EQUAL, number(*call), 0, 1), refuse(libc::EPERM)]);
        }
        for call in UNKNOWN {
            program.extend([jump(EQUAL, number(*call), 0, 1), refuse(libc::ENOSYS)]);
        }
        program.extend([
            jump(EQUAL, number(libc::SYS_clone), 0, 4),
            step(LOAD, argument(0)),
            jump(ANY_BIT, NEW_NAMESPACES, 0, 1),
            refuse(libc::EPERM),
            allow(),
        ]);
        // Typing into somebody's terminal.
        program.extend([
            jump(EQUAL, number(libc::SYS_ioctl), 0, 5),
            step(LOAD, argument(1)),
            jump(EQUAL, libc::TIOCSTI as u32, 1, 0),
            jump(EQUAL, 0x541c, 0, 1),
            refuse(libc::EPERM),
            allow(),
        ]);
        program.extend(sockets(network));
        program.push(allow());
        Some(Filter { program })
    }

    /// Enters the filter, for good. Called in the child: no allocation, only system calls.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let program = libc::sock_fprog {
            len: u16::try_from(self.program.len()).unwrap_or(0),
            filter: self.program.as_ptr().cast_mut(),
        };
        // SAFETY: the program lives through the call; the kernel copies it.
        let entered = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                0u32,
                &raw const program,
            )
        };
        if entered == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

/// Local sockets always; internet sockets only where they lead nowhere or are meant to be used.
fn sockets(network: Network) -> Vec<libc::sock_filter> {
    let mut families = vec![libc::AF_UNIX];
    if network != Network::Shared {
        families.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    let mut checks = vec![step(LOAD, argument(0))];
    for family in families {
        checks.extend([jump(EQUAL, family.unsigned_abs(), 0, 1), allow()]);
    }
    checks.push(refuse(libc::EPERM));
    let beyond = u8::try_from(checks.len()).unwrap_or(u8::MAX);
    let mut steps = vec![jump(EQUAL, number(libc::SYS_socket), 0, beyond)];
    steps.extend(checks);
    steps
}

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn step(code: u16, value: u32) -> libc::sock_filter {
    libc::sock_filter {
        code,
        jt: 0,
        jf: 0,
        k: value,
    }
}

fn jump(code: u16, value: u32, when_true: u8, when_false: u8) -> libc::sock_filter {
    libc::sock_filter {
        code,
        jt: when_true,
        jf: when_false,
        k: value,
    }
}

fn allow() -> libc::sock_filter {
    step(RETURN, libc::SECCOMP_RET_ALLOW)
}

fn refuse(errno: i32) -> libc::sock_filter {
    step(RETURN, libc::SECCOMP_RET_ERRNO | errno.unsigned_abs())
}

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;
