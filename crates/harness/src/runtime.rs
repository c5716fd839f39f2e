//! Where async code runs: one set-up for the server and the protocol front ends.

use std::io::Cursor;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harness_agent::Warmth;
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::runtime::Builder;

use crate::show::text::Complaint;

/// Threads for work that blocks: the runs that may be under way at once, and some reports beside them. Each costs a
/// stack and pieces of memory kept at hand, 34 MB of address space; the rest of a crowd waits its turn.
const MOST_BLOCKING: usize = 16;
/// Threads for connections, which do little: more cores would only cost memory.
const MOST_WORKERS: usize = 4;
/// What is still under way then is not waited for: a run that ignored its cancel flag for the whole grace, or the
/// thread that reads standard input.
const PATIENCE: Duration = Duration::from_millis(200);
/// What a pipe between two programs holds on Linux.
const PIPE: usize = 64 * 1024;

/// Who is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clients {
    /// The program that started us.
    One,
    /// Whoever connects.
    Many,
}

/// Takes a lock. What a thread that panicked left behind is as good as ever: every holder leaves whole values.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves until the work ends. A model of the on-device engine stays loaded meanwhile.
pub(crate) fn block_on<T>(
    clients: Clients,
    work: impl Future<Output = Result<T, Complaint>>,
) -> Result<T, Complaint> {
    let mut builder = match clients {
        Clients::One => Builder::new_current_thread(),
        Clients::Many => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(cores.min(MOST_WORKERS));
            builder
        }
    };
    let runtime = builder
        .max_blocking_threads(MOST_BLOCKING)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| {
        Complaint::usage(
            format!("the server cannot start: {error}"),
            "check the machine's limits",
        )
    })?;
    let warmth = Warmth::new();
    let done = runtime.block_on(work);
    drop(warmth);
    runtime.shutdown_timeout(PATIENCE);
    done
}

/// Serves a client that writes these bytes and then closes its end. Returns what it was told.
pub(crate) fn answer<T, F: Future<Output = Result<T, Complaint>>>(
    input: &[u8],
    serve: impl FnOnce(Cursor<Vec<u8>>, DuplexStream) -> F,
) -> Result<Vec<u8>, Complaint> {
    block_on(Clients::One, async {
        let (output, mut listener) = tokio::io::duplex(PIPE);
        let mut told = Vec::new();
        let served = serve(Cursor::new(input.to_vec()), output);
        let (served, heard) = tokio::join!(served, listener.read_to_end(&mut told));
        // Memory cannot fail to be read.
        drop(heard);
        served.map(|_| told)
    })
}
