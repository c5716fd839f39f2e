//! Disk trouble on demand, for tests only: the n-th change to the disk fails, or ends the process.
//! In a real build every step is free and always succeeds.

/// Marks one point between two changes to the disk.
#[cfg(not(test))]
#[inline]
pub(crate) fn step() -> std::io::Result<()> {
    Ok(())
}

/// Marks a point behind a change, or before one that a full disk does not hinder.
#[cfg(not(test))]
#[inline]
pub(crate) fn passed() {}

#[cfg(test)]
pub(crate) use staged::{Trouble, passed, plan, step};

#[cfg(test)]
mod staged {
    use std::cell::Cell;
    use std::io;

    /// What happens at the chosen step.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Trouble {
        /// The system call fails as on a full disk, and every later one too.
        Full,
        /// The same, with the user's share of the disk used up.
        Quota,
        /// The same, with a disk that does not answer as it should.
        Broken,
        /// The process ends at once, as by a kill.
        Killed,
    }

    /// The number of an input/output error: EIO, and its like on Windows.
    const BROKEN: i32 = if cfg!(windows) { 1117 } else { 5 };

    thread_local! {
        static PLAN: Cell<Option<(u32, Trouble)>> = const { Cell::new(None) };
        static STEPS: Cell<u32> = const { Cell::new(0) };
    }

    /// Sets what happens at which step of this thread; `None` only counts.
    pub(crate) fn plan(trouble: Option<(u32, Trouble)>) {
        PLAN.set(trouble);
        STEPS.set(0);
    }

    pub(crate) fn step() -> io::Result<()> {
        match reached() {
            Some(Trouble::Full) => Err(io::ErrorKind::StorageFull.into()),
            Some(Trouble::Quota) => Err(io::ErrorKind::QuotaExceeded.into()),
            Some(Trouble::Broken) => Err(io::Error::from_raw_os_error(BROKEN)),
            Some(Trouble::Killed) => std::process::abort(),
            None => Ok(()),
        }
    }

    pub(crate) fn passed() {
        if reached() == Some(Trouble::Killed) {
            std::process::abort();
        }
    }

    fn reached() -> Option<Trouble> {
        let taken = STEPS.get() + 1;
        STEPS.set(taken);
        PLAN.get()
            .filter(|(at, _)| taken >= *at)
            .map(|(_, trouble)| trouble)
    }
}
