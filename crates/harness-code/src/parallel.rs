//! Threads that read files side by side. A process that was forked has none of its parent's, so each process has its own.

use std::sync::{Arc, Mutex};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads of a process, by its number.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Does work whose parallel iterators run on the threads of this process.
pub(crate) fn side_by_side<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match pool() {
        Some(pool) => pool.install(work),
        // No thread can be had here; rayon knows what else to do.
        None => work(),
    }
}

fn pool() -> Option<Arc<ThreadPool>> {
    let make = || ThreadPoolBuilder::new().build().ok().map(Arc::new);
    // Never waits: who held the lock while the process was forked will not let go of it in the child.
    let Ok(mut known) = POOL.try_lock() else {
        return make();
    };
    let process = std::process::id();
    if let Some((owner, pool)) = &*known
        && *owner == process
    {
        return Some(Arc::clone(pool));
    }
    let pool = make()?;
    if let Some(of_parent) = known.replace((process, Arc::clone(&pool))) {
        // Its threads are not here to be told that it ends.
        std::mem::forget(of_parent);
    }
    Some(pool)
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn work_is_done_inside_work() {
        let sum: u32 = side_by_side(|| {
            let numbers = 0..100_u32;
            numbers
                .into_par_iter()
                .map(|number| side_by_side(|| [number].par_iter().sum::<u32>()))
                .sum()
        });
        assert_eq!(sum, 4950);
    }

    #[test]
    fn one_process_has_one_pool() {
        // Another test may hold the lock at this moment.
        let same = || Some(Arc::ptr_eq(&pool()?, &pool()?));
        assert!((0..1000).any(|_| same() == Some(true)));
    }
}
