//! The filter alone, by a list of its own: what each call is answered with, and what stays allowed.
#![expect(unsafe_code, reason = "the calls are made for real, in a child")]

use super::*;
use std::os::unix::process::CommandExt;

/// A call, with arguments that harm nobody where no filter answers.
struct Call {
    name: &'static str,
    number: libc::c_long,
    arguments: [usize; 5],
    answer: i32,
}

/// An address where nothing is.
const NOWHERE: usize = 8;
/// No descriptor, no clock, no flag, no size.
const NONE: usize = usize::MAX;

const fn call(name: &'static str, number: libc::c_long, arguments: [usize; 5]) -> Call {
    Call {
        name,
        number,
        arguments,
        answer: libc::EPERM,
    }
}

const fn unknown(name: &'static str, number: libc::c_long, arguments: [usize; 5]) -> Call {
    Call {
        answer: libc::ENOSYS,
        ..call(name, number, arguments)
    }
}

/// Everything that the filter refuses, wherever the program's network is.
#[rustfmt::skip]
const REFUSED: &[Call] = &[
    call("mount", libc::SYS_mount, [NOWHERE, NOWHERE, NOWHERE, 0, NOWHERE]),
    call("umount2", libc::SYS_umount2, [NOWHERE, NONE, 0, 0, 0]),
    call("mount_setattr", libc::SYS_mount_setattr, [NONE, NOWHERE, NONE, NOWHERE, NONE]),
    call("move_mount", libc::SYS_move_mount, [NONE, NOWHERE, NONE, NOWHERE, NONE]),
    call("open_tree", libc::SYS_open_tree, [NONE, NOWHERE, NONE, 0, 0]),
    call("fsopen", libc::SYS_fsopen, [NOWHERE, NONE, 0, 0, 0]),
    call("fsconfig", libc::SYS_fsconfig, [NONE, NONE, NOWHERE, NOWHERE, NONE]),
    call("fsmount", libc::SYS_fsmount, [NONE, NONE, NONE, 0, 0]),
    call("fspick", libc::SYS_fspick, [NONE, NOWHERE, NONE, 0, 0]),
    call("pivot_root", libc::SYS_pivot_root, [NOWHERE, NOWHERE, 0, 0, 0]),
    call("chroot", libc::SYS_chroot, [NOWHERE, 0, 0, 0, 0]),
    call("swapon", libc::SYS_swapon, [NOWHERE, NONE, 0, 0, 0]),
    call("swapoff", libc::SYS_swapoff, [NOWHERE, 0, 0, 0, 0]),
    call("reboot", libc::SYS_reboot, [0, 0, 0, 0, 0]),
    call("kexec_load", libc::SYS_kexec_load, [0, NONE, NOWHERE, NONE, 0]),
    call("init_module", libc::SYS_init_module, [NOWHERE, 0, NOWHERE, 0, 0]),
    call("finit_module", libc::SYS_finit_module, [NONE, NOWHERE, NONE, 0, 0]),
    call("delete_module", libc::SYS_delete_module, [NOWHERE, 0, 0, 0, 0]),
    call("bpf", libc::SYS_bpf, [NONE, NOWHERE, 0, 0, 0]),
    call("perf_event_open", libc::SYS_perf_event_open, [NOWHERE, NONE, NONE, NONE, NONE]),
    call("userfaultfd", libc::SYS_userfaultfd, [NONE, 0, 0, 0, 0]),
    call("keyctl", libc::SYS_keyctl, [NONE, 0, 0, 0, 0]),
    call("add_key", libc::SYS_add_key, [NOWHERE, NOWHERE, NOWHERE, 0, 0]),
    call("request_key", libc::SYS_request_key, [NOWHERE, NOWHERE, NOWHERE, 0, 0]),
    call("open_by_handle_at", libc::SYS_open_by_handle_at, [NONE, NOWHERE, 0, 0, 0]),
    call("acct", libc::SYS_acct, [NOWHERE, 0, 0, 0, 0]),
    call("quotactl", libc::SYS_quotactl, [NONE, NOWHERE, 0, NOWHERE, 0]),
    call("settimeofday", libc::SYS_settimeofday, [NOWHERE, 0, 0, 0, 0]),
    call("clock_settime", libc::SYS_clock_settime, [NONE, NOWHERE, 0, 0, 0]),
    call("clock_adjtime", libc::SYS_clock_adjtime, [NONE, NOWHERE, 0, 0, 0]),
    call("sethostname", libc::SYS_sethostname, [NOWHERE, NONE, 0, 0, 0]),
    call("setdomainname", libc::SYS_setdomainname, [NOWHERE, NONE, 0, 0, 0]),
    call("vhangup", libc::SYS_vhangup, [0, 0, 0, 0, 0]),
    call("syslog", libc::SYS_syslog, [NONE, NOWHERE, 0, 0, 0]),
    call("setns", libc::SYS_setns, [NONE, 0, 0, 0, 0]),
    call("unshare", libc::SYS_unshare, [0, 0, 0, 0, 0]),
    call("fanotify_init", libc::SYS_fanotify_init, [NONE, NONE, 0, 0, 0]),
    call("pidfd_getfd", libc::SYS_pidfd_getfd, [NONE, NONE, 0, 0, 0]),
    call("clone in a new namespace", libc::SYS_clone, [(libc::CLONE_NEWUSER | libc::CLONE_FS) as usize, 0, 0, 0, 0]),
    call("ioctl TIOCSTI", libc::SYS_ioctl, [NONE, 0x5412, NOWHERE, 0, 0]),
    call("ioctl TIOCLINUX", libc::SYS_ioctl, [NONE, 0x541c, NOWHERE, 0, 0]),
    call("socket of packets", libc::SYS_socket, [17, NONE, 0, 0, 0]),
    call("socket to a virtual machine", libc::SYS_socket, [40, NONE, 0, 0, 0]),
    call("socket of the kernel's cryptography", libc::SYS_socket, [38, NONE, 0, 0, 0]),
    unknown("clone3", libc::SYS_clone3, [NOWHERE, 0, 0, 0, 0]),
    unknown("io_uring_setup", libc::SYS_io_uring_setup, [0, NOWHERE, 0, 0, 0]),
    unknown("io_uring_enter", libc::SYS_io_uring_enter, [NONE, 0, 0, 0, 0]),
    unknown("io_uring_register", libc::SYS_io_uring_register, [NONE, 0, 0, 0, 0]),
];

#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const REFUSED_HERE: &[Call] = &[
    call("iopl", libc::SYS_iopl, [NONE, 0, 0, 0, 0]),
    call("ioperm", libc::SYS_ioperm, [0, 0, 0, 0, 0]),
    call("kexec_file_load", libc::SYS_kexec_file_load, [NONE, NONE, NONE, NOWHERE, NONE]),
    // The same calls under other numbers.
    unknown("getpid of another interface", 0x4000_0000 + libc::SYS_getpid, [0, 0, 0, 0, 0]),
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[Call] = &[];

/// Sockets that lead somewhere only where the network is the machine's own. A type that there is not: nothing is made.
#[rustfmt::skip]
const INTERNET: &[Call] = &[
    call("internet socket", libc::SYS_socket, [2, NONE, 0, 0, 0]),
    call("internet socket, version 6", libc::SYS_socket, [10, NONE, 0, 0, 0]),
    call("socket to the kernel's tables", libc::SYS_socket, [16, NONE, 0, 0, 0]),
];

/// What every program does.
#[rustfmt::skip]
const ALLOWED: &[Call] = &[
    call("getpid", libc::SYS_getpid, [0, 0, 0, 0, 0]),
    call("local socket", libc::SYS_socket, [1, NONE, 0, 0, 0]),
    call("ioctl", libc::SYS_ioctl, [NONE, 0x5401, NOWHERE, 0, 0]),
    // Threads without a shared memory: refused by the kernel for what it is.
    call("clone", libc::SYS_clone, [libc::CLONE_THREAD as usize, 0, 0, 0, 0]),
];

/// Makes the calls in a child that has only the filter, or none. Returns what each was answered with, zero for a
/// call that worked.
fn answers(filter: Option<Filter>, calls: &[&Call]) -> Vec<i32> {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    let (mut ours, theirs) = io::pipe().unwrap();
    let plan: Vec<(libc::c_long, [usize; 5])> = calls
        .iter()
        .map(|call| (call.number, call.arguments))
        .collect();
    let told = theirs.as_raw_fd();
    let mut command = std::process::Command::new("/bin/true");
    // SAFETY: only system calls on memory that was prepared before the fork; their arguments point nowhere.
    unsafe {
        command.pre_exec(move || {
            // No terminal to hang up.
            libc::setsid();
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            if let Some(filter) = &filter {
                filter.enter()?;
            }
            for (number, [a, b, c, d, e]) in &plan {
                let failed = libc::syscall(*number, *a, *b, *c, *d, *e) < 0;
                let answer: i32 = match failed {
                    true => *libc::__errno_location(),
                    false => 0,
                };
                libc::write(told, (&raw const answer).cast(), 4);
            }
            Ok(())
        });
    }
    assert!(command.status().unwrap().success());
    drop(theirs);
    let mut bytes = Vec::new();
    ours.read_to_end(&mut bytes).unwrap();
    let words = bytes.chunks(4);
    words
        .map(|word| i32::from_ne_bytes(word.try_into().unwrap()))
        .collect()
}

/// What the kernel would do with a call, by running the filter's steps as it does. It tells what the kernel alone would
/// refuse too, which nobody can see from outside.
fn judged(filter: &Filter, architecture: u32, call: &Call) -> u32 {
    let field = |at: u32| match at {
        NUMBER => number(call.number),
        ARCHITECTURE => architecture,
        _ => call.arguments[((at - 16) / 8) as usize] as u32,
    };
    let (mut loaded, mut at) = (0, 0);
    loop {
        let step = filter.program[at];
        at += 1;
        let is_true = match step.code {
            LOAD => {
                loaded = field(step.k);
                continue;
            }
            RETURN => return step.k,
            EQUAL => loaded == step.k,
            AT_LEAST => loaded >= step.k,
            ANY_BIT => loaded & step.k != 0,
            other => panic!("a step that no filter of ours has: {other}"),
        };
        at += usize::from(if is_true { step.jt } else { step.jf });
    }
}

fn refused() -> Vec<&'static Call> {
    REFUSED.iter().chain(REFUSED_HERE).collect()
}

fn shown(calls: &[&Call], answers: impl Iterator<Item = i32>) -> Vec<String> {
    let line = |(call, answer): (&&Call, i32)| format!("{}: {answer}", call.name);
    calls.iter().zip(answers).map(line).collect()
}

#[test]
fn every_call_on_the_list_is_refused_by_the_kernel() {
    for network in [Network::Private, Network::Shared, Network::Open] {
        let mut calls = refused();
        if network == Network::Shared {
            calls.extend(INTERNET);
        }
        let expected = calls.iter().map(|call| call.answer);
        let told = answers(Filter::new(network), &calls);
        assert_eq!(
            shown(&calls, told.into_iter()),
            shown(&calls, expected),
            "{network:?}"
        );
    }
}

#[test]
fn every_call_on_the_list_is_refused_by_the_filter_itself() {
    let here = THIS_ARCHITECTURE.unwrap();
    for network in [Network::Private, Network::Shared, Network::Open] {
        let filter = Filter::new(network).unwrap();
        for call in refused() {
            let expected = libc::SECCOMP_RET_ERRNO | call.answer.unsigned_abs();
            assert_eq!(judged(&filter, here, call), expected, "{}", call.name);
        }
        for call in INTERNET {
            let expected = match network {
                Network::Private | Network::Open => libc::SECCOMP_RET_ALLOW,
                Network::Shared => libc::SECCOMP_RET_ERRNO | call.answer.unsigned_abs(),
            };
            assert_eq!(judged(&filter, here, call), expected, "{}", call.name);
        }
        for call in ALLOWED {
            let expected = libc::SECCOMP_RET_ALLOW;
            assert_eq!(judged(&filter, here, call), expected, "{}", call.name);
            // A program for another processor has other numbers for its calls.
            let foreign = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
            assert_eq!(judged(&filter, 0x4000_0003, call), foreign, "{}", call.name);
        }
    }
}

/// The kernel alone answers otherwise, so that it is the filter that answers above.
#[test]
fn without_the_filter_the_calls_are_answered_otherwise() {
    let calls: Vec<&Call> = refused().into_iter().chain(INTERNET).collect();
    let told = answers(None, &calls);
    let pairs = calls.iter().zip(&told);
    let same: Vec<&str> = pairs
        .filter(|(call, told)| call.answer == **told)
        .map(|(call, _)| call.name)
        .collect();
    if rustix::process::geteuid().is_root() {
        assert_eq!(same, KERNEL_SAYS_THE_SAME);
    } else {
        crate::skip::skip(
            "an ordinary user runs this: the kernel refuses many of the calls by itself",
        );
    }
}

/// An interface that most kernels are built without.
const KERNEL_SAYS_THE_SAME: &[&str] = &["getpid of another interface"];

#[test]
fn what_every_program_does_is_allowed() {
    let calls: Vec<&Call> = ALLOWED.iter().chain(INTERNET).collect();
    let told = answers(Filter::new(Network::Private), &calls);
    let free = answers(None, &calls);
    assert_eq!(
        shown(&calls, told.into_iter()),
        shown(&calls, free.into_iter())
    );
}
