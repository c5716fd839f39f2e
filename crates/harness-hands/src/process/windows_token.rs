//! What a program started on Windows may do in the user's name: its token loses its privileges and is no
//! administrator's by its integrity, before the first instruction of the program runs.
#![expect(
    unsafe_code,
    reason = "tokens and threads are calls of the Windows interface"
)]

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::Child;

use windows_sys::Win32::Foundation::{
    ERROR_SUCCESS, GetLastError, HANDLE, INVALID_HANDLE_VALUE, LUID,
};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, CreateWellKnownSid, GetSidSubAuthority, GetSidSubAuthorityCount,
    GetTokenInformation, LUID_AND_ATTRIBUTES, LookupPrivilegeValueW, SE_CHANGE_NOTIFY_NAME,
    SE_PRIVILEGE_REMOVED, SECURITY_MAX_SID_SIZE, SID_AND_ATTRIBUTES, SetTokenInformation,
    TOKEN_ADJUST_DEFAULT, TOKEN_ADJUST_PRIVILEGES, TOKEN_INFORMATION_CLASS, TOKEN_MANDATORY_LABEL,
    TOKEN_PRIVILEGES, TOKEN_QUERY, TokenIntegrityLevel, TokenPrivileges, WinMediumLabelSid,
};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::SystemServices::{
    SE_GROUP_INTEGRITY, SECURITY_MANDATORY_MEDIUM_RID,
};
use windows_sys::Win32::System::Threading::{
    OpenProcessToken, OpenThread, ResumeThread, THREAD_SUSPEND_RESUME,
};

/// Restricts the token of a child that has not begun to run. What it loses, neither it nor what it starts gets
/// back: removed privileges cannot be enabled, and integrity only sinks.
pub(super) fn restrict(child: &Child) -> io::Result<()> {
    let mut handle: HANDLE = std::ptr::null_mut();
    let access = TOKEN_QUERY | TOKEN_ADJUST_PRIVILEGES | TOKEN_ADJUST_DEFAULT;
    // SAFETY: the child's handle is open; the handle that is written is ours.
    let token = unsafe {
        if OpenProcessToken(child.as_raw_handle(), access, &raw mut handle) == 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedHandle::from_raw_handle(handle)
    };
    remove_privileges(&token)?;
    lower_integrity(&token)
}

/// Removes every privilege but the one without which folders cannot be walked through.
fn remove_privileges(token: &OwnedHandle) -> io::Result<()> {
    let mut kept = LUID::default();
    // SAFETY: the name is a constant that ends in zero; the value is written into our own.
    if unsafe { LookupPrivilegeValueW(std::ptr::null(), SE_CHANGE_NOTIFY_NAME, &raw mut kept) } == 0
    {
        return Err(io::Error::last_os_error());
    }
    let mut words = information(token, TokenPrivileges)?;
    let list: *mut TOKEN_PRIVILEGES = words.as_mut_ptr().cast();
    // SAFETY: the system filled the list, and its count says how many entries follow each other in it; the
    // memory is aligned for them and outlives the calls.
    unsafe {
        let count = usize::try_from((*list).PrivilegeCount).unwrap_or(0);
        let first: *mut LUID_AND_ATTRIBUTES = (&raw mut (*list).Privileges).cast();
        for entry in std::slice::from_raw_parts_mut(first, count) {
            let is_kept =
                entry.Luid.LowPart == kept.LowPart && entry.Luid.HighPart == kept.HighPart;
            if !is_kept {
                entry.Attributes = SE_PRIVILEGE_REMOVED;
            }
        }
        let (nothing, token) = (std::ptr::null_mut(), token.as_raw_handle());
        let adjusted = AdjustTokenPrivileges(token, 0, list, 0, nothing, std::ptr::null_mut());
        // It says yes also where it could not adjust all of them.
        if adjusted == 0 || GetLastError() != ERROR_SUCCESS {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Takes a token that is higher than an ordinary user's down to that. Lower would close the project itself.
fn lower_integrity(token: &OwnedHandle) -> io::Result<()> {
    let mut words = information(token, TokenIntegrityLevel)?;
    let label: *mut TOKEN_MANDATORY_LABEL = words.as_mut_ptr().cast();
    // SAFETY: the system filled the label; its identifier lies in the same memory and has the parts that it says.
    let level = unsafe {
        let identifier = (*label).Label.Sid;
        let parts = u32::from(*GetSidSubAuthorityCount(identifier));
        *GetSidSubAuthority(identifier, parts.saturating_sub(1))
    };
    if level <= SECURITY_MANDATORY_MEDIUM_RID.cast_unsigned() {
        return Ok(());
    }
    // As words of eight bytes, for their alignment.
    let mut medium = [0u64; (SECURITY_MAX_SID_SIZE as usize).div_ceil(8)];
    let mut size = SECURITY_MAX_SID_SIZE;
    let identifier = medium.as_mut_ptr().cast();
    // SAFETY: there is room for the largest identifier; the label and what it points to outlive the calls.
    unsafe {
        let none = std::ptr::null_mut();
        if CreateWellKnownSid(WinMediumLabelSid, none, identifier, &raw mut size) == 0 {
            return Err(io::Error::last_os_error());
        }
        let label = TOKEN_MANDATORY_LABEL {
            Label: SID_AND_ATTRIBUTES {
                Sid: identifier,
                Attributes: SE_GROUP_INTEGRITY.cast_unsigned(),
            },
        };
        let length = u32::try_from(size_of_val(&label)).unwrap_or(0) + size;
        let (token, label) = (token.as_raw_handle(), (&raw const label).cast());
        if SetTokenInformation(token, TokenIntegrityLevel, label, length) == 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Asks a token about itself. As words of eight bytes, for the alignment of what is in them.
fn information(token: &OwnedHandle, class: TOKEN_INFORMATION_CLASS) -> io::Result<Vec<u64>> {
    let mut size = 0;
    let token = token.as_raw_handle();
    // SAFETY: asked without room, it only tells how much it needs.
    unsafe { GetTokenInformation(token, class, std::ptr::null_mut(), 0, &raw mut size) };
    let mut words = vec![0u64; usize::try_from(size).unwrap_or(0).div_ceil(8).max(8)];
    let room = u32::try_from(words.len() * 8).unwrap_or(u32::MAX);
    let place = words.as_mut_ptr().cast();
    // SAFETY: there is as much room as is said.
    if unsafe { GetTokenInformation(token, class, place, room, &raw mut size) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(words)
}

/// Lets a child run that was started suspended.
pub(super) fn resume(child: &Child) -> io::Result<()> {
    // SAFETY: a handle that is valid is ours.
    let threads = unsafe {
        let handle = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
        if handle == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        OwnedHandle::from_raw_handle(handle)
    };
    let mut entry = THREADENTRY32 {
        dwSize: u32::try_from(size_of::<THREADENTRY32>()).unwrap_or(0),
        ..THREADENTRY32::default()
    };
    let mut resumed = false;
    // SAFETY: the entry has the size that it says; thread handles that are opened are ours and closed.
    unsafe {
        let mut found = Thread32First(threads.as_raw_handle(), &raw mut entry);
        while found != 0 {
            if entry.th32OwnerProcessID == child.id() {
                let handle = OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID);
                if !handle.is_null() {
                    let thread = OwnedHandle::from_raw_handle(handle);
                    resumed |= ResumeThread(thread.as_raw_handle()) != u32::MAX;
                }
            }
            found = Thread32Next(threads.as_raw_handle(), &raw mut entry);
        }
    }
    if resumed {
        Ok(())
    } else {
        Err(io::Error::other("its first thread is not found"))
    }
}
