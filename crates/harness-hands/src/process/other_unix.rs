//! Starting, watching and ending a process tree on macOS and other Unix systems: a process group,
//! ended as a whole. A process that leaves its group gets away; the seatbelt still holds it.

use std::io;
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::process::Ended;
use crate::process::sandbox::{Confinement, Sandbox};

/// A started process tree.
#[derive(Debug)]
pub(crate) struct Tree {
    child: Child,
    is_over: bool,
}

/// Says whether the layers of a confinement can be mounted: only Linux can.
pub(crate) fn mounts(_confinement: &Confinement, _sandbox: Sandbox) -> bool {
    false
}

#[cfg(target_os = "macos")]
pub(crate) fn available() -> Sandbox {
    crate::process::sandbox::seatbelt::available()
}

#[cfg(not(target_os = "macos"))]
pub(crate) fn available() -> Sandbox {
    Sandbox::None
}

/// Starts a command as the leader of a group.
pub(crate) fn start(
    mut command: Command,
    _confinement: &Confinement,
    _sandbox: Sandbox,
    _mark: Option<String>,
) -> io::Result<Tree> {
    command.process_group(0);
    Ok(Tree {
        child: command.spawn()?,
        is_over: false,
    })
}

impl Tree {
    pub(crate) fn keeper(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the program: `None` when it still runs after `patience`, else its wait status.
    pub(crate) fn wait(&mut self, patience: Duration) -> Option<Option<i32>> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(Some(status.into_raw())),
                Ok(None) if start.elapsed() >= patience => return None,
                Ok(None) => std::thread::sleep(pause),
                Err(_) => return Some(None),
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// Ends every process of the group.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        if let Some(group) = i32::try_from(self.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads a wait status.
pub(crate) fn ended(status: i32) -> Ended {
    let status = std::process::ExitStatus::from_raw(status);
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, Some(signal)) => Ended::Signal(signal),
        (None, None) => Ended::Lost,
    }
}

/// Returns the temporary folder as the program sees it, where it has one of its own.
pub(crate) fn temporary_folder(_confinement: &Confinement, _sandbox: Sandbox) -> Option<PathBuf> {
    None
}
