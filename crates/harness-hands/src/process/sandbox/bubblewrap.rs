//! Walls by bubblewrap, where the kernel lets it make namespaces but not us: some systems allow them only to
//! programs that they know. The same view and filter as ours, put up by the other program.
#![expect(unsafe_code, reason = "a descriptor is handed on across exec")]

use std::ffi::{OsStr, OsString};
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::sandbox::namespace::{SHARED_TEMPORARY, World};
use crate::process::sandbox::seccomp::{Filter, Network};
use crate::process::sandbox::{Confinement, places};

/// Where systems keep it. Never looked up on the PATH, which may lead into a project.
const PLACES: &[&str] = &[
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/wrappers/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
];

/// What root keeps inside: what makes it the owner of its users' files.
const KEPT: &[&str] = &[
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_NET_BIND_SERVICE",
];

/// Returns where bubblewrap is, when the system has one that nobody but root can have put there.
pub(crate) fn find() -> Option<&'static Path> {
    let is_root_s = |path: &&Path| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.uid() == 0 && found.mode() & 0o022 == 0)
    };
    PLACES.iter().map(Path::new).find(is_root_s)
}

/// Returns a command that runs a program behind bubblewrap. Makes the empty files and folders that it needs
/// inside the program's own temporary folder.
pub(crate) fn command(
    program: &Path,
    arguments: &[OsString],
    confinement: &Confinement,
) -> io::Result<Command> {
    let absent = || io::Error::new(io::ErrorKind::NotFound, "bubblewrap is not there");
    let mut command = Command::new(find().ok_or_else(absent)?);
    let mut words = Words::default();
    for option in [
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
    ] {
        words.add([option]);
    }
    words.add(["--cap-drop", "ALL"]);
    if rustix::process::geteuid().is_root() {
        for capability in KEPT {
            words.add(["--cap-add", capability]);
        }
    }
    words.view(confinement)?;
    let filter = filter()?;
    words.add(["--seccomp", &filter.as_raw_fd().to_string()]);
    command.args(words.0).arg("--").arg(program).args(arguments);
    // SAFETY: only a system call on a descriptor that the closure keeps open.
    unsafe {
        command.pre_exec(move || {
            // It reads the filter after exec.
            if libc::fcntl(filter.as_raw_fd(), libc::F_SETFD, 0) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
    Ok(command)
}

/// Reads what bubblewrap says of a program that a signal ended: it ends with 128 and the number.
pub(crate) fn wait_status(status: i32) -> i32 {
    let code = libc::WEXITSTATUS(status);
    if libc::WIFEXITED(status) && (129..=192).contains(&code) {
        code - 128
    } else {
        status
    }
}

#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }

    fn mount(&mut self, option: &str, from: &Path, onto: &Path) {
        let words = [OsStr::new(option), from.as_os_str(), onto.as_os_str()];
        self.0.extend(words.map(OsStr::to_os_string));
    }

    /// Lays out what the program sees. What comes later covers what came before.
    fn view(&mut self, confinement: &Confinement) -> io::Result<()> {
        let reads_all = confinement
            .readable
            .iter()
            .any(|place| place.parent().is_none());
        if reads_all {
            self.mount("--ro-bind", Path::new("/"), Path::new("/"));
        } else {
            self.system(confinement)?;
        }
        self.add(["--dev", "/dev"]);
        self.add(["--proc", "/proc"]);
        if World::replaces_tmp(confinement) {
            for (index, place) in SHARED_TEMPORARY.iter().enumerate() {
                let stand_in = confinement.temporary.join(format!("shared-{index}"));
                std::fs::create_dir_all(&stand_in)?;
                self.mount("--bind", &stand_in, Path::new(place));
            }
        }
        let (readable, writable) = outermost(confinement);
        for place in readable {
            self.mount("--ro-bind-try", place, place);
        }
        for place in writable {
            self.mount("--bind-try", place, place);
        }
        for place in &confinement.unchanged {
            self.mount("--ro-bind-try", place, place);
        }
        // The folders on the way to all this are made in memory.
        if !reads_all {
            self.add(["--remount-ro", "/"]);
        }
        Ok(())
    }

    fn system(&mut self, confinement: &Confinement) -> io::Result<()> {
        for place in places::SYSTEM.iter().chain(&["/etc"]) {
            if *place != "/proc" {
                self.mount("--ro-bind-try", Path::new(place), Path::new(place));
            }
        }
        let nothing = confinement.temporary.join("no-file");
        std::fs::write(&nothing, b"")?;
        for table in places::secret_tables() {
            if table.is_dir() {
                self.0.push("--tmpfs".into());
                self.0.push(table.into_os_string());
            } else {
                self.mount("--ro-bind", &nothing, &table);
            }
        }
        Ok(())
    }
}

/// Returns the places that lie in no other of their kind; what may be changed may be read.
fn outermost(confinement: &Confinement) -> (Vec<&PathBuf>, Vec<&PathBuf>) {
    let within = |place: &PathBuf, places: &[&PathBuf]| {
        places
            .iter()
            .any(|above| *above != place && place.starts_with(above))
    };
    let (readable, writable): (Vec<&PathBuf>, Vec<&PathBuf>) = (
        confinement.readable.iter().collect(),
        confinement.writable.iter().collect(),
    );
    let is_system = |place: &PathBuf| {
        let mut system = places::SYSTEM.iter().chain(&["/etc"]);
        system.any(|above| place.starts_with(above))
    };
    let mut seen = readable.clone();
    seen.retain(|place| {
        let is_there = within(place, &readable) || within(place, &writable) || is_system(place);
        place.parent().is_some() && !writable.contains(place) && !is_there
    });
    let mut changed = writable.clone();
    changed.retain(|place| !within(place, &writable));
    (seen, changed)
}

/// Returns the filter as a file in memory.
fn filter() -> io::Result<OwnedFd> {
    let unfit = || {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "there is no filter for this processor",
        )
    };
    let filter = Filter::new(Network::Private).ok_or_else(unfit)?;
    // SAFETY: the name ends in a zero byte; a descriptor that is returned is ours.
    let file = unsafe {
        let file = libc::memfd_create(c"filter".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(file)
    };
    let mut file = std::fs::File::from(file);
    file.write_all(&filter.bytes())?;
    file.rewind()?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sandbox::landlock::{self, Rules};
    use crate::skip::skip;

    /// Why it does not stand on top of Landlock: the kernel lets nobody behind Landlock mount, whatever the rules
    /// allow, so it can only be outside, and a program of ours would have to stand between it and the tests. Our own
    /// namespaces have no such program: they are put up in the child, before Landlock is.
    #[test]
    fn the_kernel_does_not_let_it_stand_on_top_of_landlock() {
        let Some(bubblewrap) = find() else {
            return skip("bubblewrap is not installed");
        };
        let Some(version) = landlock::version() else {
            return skip("the kernel has no Landlock");
        };
        let command = || {
            let mut command = Command::new(bubblewrap);
            command.args(["--ro-bind", "/", "/", "true"]);
            command.stderr(std::process::Stdio::null());
            command
        };
        if !command().status().unwrap().success() {
            return skip("bubblewrap may not make namespaces");
        }
        let everything = Confinement {
            writable: vec![PathBuf::from("/")],
            ..Confinement::default()
        };
        let rules = Rules::new(version, places::places(&everything, false).unwrap());
        let mut behind = command();
        // SAFETY: only system calls on memory that was prepared before the fork.
        unsafe {
            behind.pre_exec(move || {
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                rules.enter()
            });
        }
        assert!(!behind.status().unwrap().success());
    }
}
