//! Starting, watching and ending a process tree on Windows: a job object that takes every process
//! of the tree with it when it is closed, by us or by our end, and a token that was cut down.
#![expect(unsafe_code, reason = "job objects are calls of the Windows interface")]

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOB_OBJECT_UILIMIT_DESKTOP,
    JOB_OBJECT_UILIMIT_DISPLAYSETTINGS, JOB_OBJECT_UILIMIT_EXITWINDOWS,
    JOB_OBJECT_UILIMIT_GLOBALATOMS, JOB_OBJECT_UILIMIT_HANDLES, JOB_OBJECT_UILIMIT_READCLIPBOARD,
    JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS, JOB_OBJECT_UILIMIT_WRITECLIPBOARD,
    JOBOBJECT_BASIC_UI_RESTRICTIONS, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicUIRestrictions, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::CREATE_SUSPENDED;

use crate::process::Ended;
use crate::process::sandbox::{Confinement, Sandbox};
use crate::process::windows_token;

/// A started process tree.
#[derive(Debug)]
pub(crate) struct Tree {
    child: Child,
    job: Option<OwnedHandle>,
}

/// Says whether the layers of a confinement can be mounted: only Linux can.
pub(crate) fn mounts(_confinement: &Confinement, _sandbox: Sandbox) -> bool {
    false
}

/// Returns the walls that this machine has, found out once by trying them.
pub(crate) fn available() -> Sandbox {
    static FOUND: OnceLock<Sandbox> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let working = [Sandbox::Restricted, Sandbox::Job].into_iter().find(works);
        working.unwrap_or(Sandbox::None)
    })
}

/// Says whether a program behind these walls starts and its end is seen.
fn works(sandbox: &Sandbox) -> bool {
    let mut command = Command::new("cmd.exe");
    command
        .args(["/d", "/c", "exit 42"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let confinement = Confinement::default();
    let started = start(command, &confinement, *sandbox, None);
    started.is_ok_and(|mut tree| tree.wait(Duration::from_secs(30)) == Some(Some(42)))
}

/// Starts a program in a job of its own.
pub(crate) fn start(
    mut command: Command,
    _confinement: &Confinement,
    sandbox: Sandbox,
    _mark: Option<String>,
) -> io::Result<Tree> {
    let is_cut_down = match sandbox {
        Sandbox::Restricted => true,
        Sandbox::Job => false,
        Sandbox::Full
        | Sandbox::Confined
        | Sandbox::Namespaces
        | Sandbox::Seatbelt
        | Sandbox::None => {
            let child = command.spawn()?;
            return Ok(Tree { child, job: None });
        }
    };
    let job = job()?;
    // Windows, clipboard and session of the user are not the tests'. Older systems may not have all of these.
    let _ = close_desktop(&job);
    // It starts nothing before it is in the job.
    let mut child = command.creation_flags(CREATE_SUSPENDED).spawn()?;
    let walled = put_into(&job, &child)
        .and_then(|()| {
            if is_cut_down {
                windows_token::restrict(&child)
            } else {
                Ok(())
            }
        })
        .and_then(|()| windows_token::resume(&child));
    if let Err(error) = walled {
        let _ = child.kill();
        return Err(error);
    }
    let job = Some(job);
    Ok(Tree { child, job })
}

/// Puts a child into a job, and with it all that it starts from now on.
pub(crate) fn put_into(job: &OwnedHandle, child: &Child) -> io::Result<()> {
    // SAFETY: both handles are open and ours.
    let assigned = unsafe { AssignProcessToJobObject(job.as_raw_handle(), child.as_raw_handle()) };
    if assigned == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Makes a job that ends all that is in it when its last handle is closed, by us or by our end.
pub(crate) fn job() -> io::Result<OwnedHandle> {
    // SAFETY: both arguments may be null; a handle that is not null is ours.
    let job = unsafe {
        let handle = CreateJobObjectW(std::ptr::null(), std::ptr::null());
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        OwnedHandle::from_raw_handle(handle)
    };
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    // A crash ends the program instead of waiting for somebody to close a window.
    limits.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    // SAFETY: the structure lives through the call and has the size that is given.
    let set = unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            u32::try_from(size_of_val(&limits)).unwrap_or(0),
        )
    };
    if set == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(job)
    }
}

fn close_desktop(job: &OwnedHandle) -> io::Result<()> {
    let limits = JOBOBJECT_BASIC_UI_RESTRICTIONS {
        UIRestrictionsClass: JOB_OBJECT_UILIMIT_DESKTOP
            | JOB_OBJECT_UILIMIT_DISPLAYSETTINGS
            | JOB_OBJECT_UILIMIT_EXITWINDOWS
            | JOB_OBJECT_UILIMIT_GLOBALATOMS
            | JOB_OBJECT_UILIMIT_HANDLES
            | JOB_OBJECT_UILIMIT_READCLIPBOARD
            | JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS
            | JOB_OBJECT_UILIMIT_WRITECLIPBOARD,
    };
    // SAFETY: the structure lives through the call and has the size that is given.
    let set = unsafe {
        SetInformationJobObject(
            job.as_raw_handle(),
            JobObjectBasicUIRestrictions,
            (&raw const limits).cast(),
            u32::try_from(size_of_val(&limits)).unwrap_or(0),
        )
    };
    if set == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

impl Tree {
    pub(crate) fn keeper(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the program: `None` when it still runs after `patience`, else its exit code.
    pub(crate) fn wait(&mut self, patience: Duration) -> Option<Option<i32>> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status.code()),
                Ok(None) if start.elapsed() >= patience => return None,
                Ok(None) => std::thread::sleep(pause),
                Err(_) => return Some(None),
            }
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// Ends every process of the tree.
    pub(crate) fn end(&mut self) {
        // Closing the job ends all that is in it.
        self.job = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads an exit code.
pub(crate) fn ended(status: i32) -> Ended {
    Ended::Exit(status)
}

/// Returns the temporary folder as the program sees it, where it has one of its own.
pub(crate) fn temporary_folder(_confinement: &Confinement, _sandbox: Sandbox) -> Option<PathBuf> {
    None
}
