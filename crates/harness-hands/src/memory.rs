//! How much memory this machine can still give.

/// Returns the bytes that a new program can use without pushing others out; `None` where nobody says.
#[cfg(target_os = "linux")]
pub fn available() -> Option<u64> {
    let facts = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = facts
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Returns the bytes that a new program can use: three quarters of what is built in, for macOS counts memory that it
/// would give away as used.
#[cfg(target_os = "macos")]
pub fn available() -> Option<u64> {
    #![expect(
        unsafe_code,
        reason = "the size of the memory is asked for by a system call"
    )]
    let mut bytes: u64 = 0;
    let mut size = size_of::<u64>();
    // SAFETY: the buffer is as large as its size says, and the name ends with a zero.
    let answer = unsafe {
        libc::sysctlbyname(
            c"hw.memsize".as_ptr(),
            (&raw mut bytes).cast(),
            &raw mut size,
            std::ptr::null_mut(),
            0,
        )
    };
    (answer == 0).then_some(bytes / 4 * 3)
}

/// Returns nothing: this platform is not asked.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn available() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_some() {
        assert!(super::available().is_some_and(|bytes| bytes > 1 << 20));
    }
}
