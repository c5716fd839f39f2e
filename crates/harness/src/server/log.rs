//! The access log: one line a request on stderr, written by a thread of its own. A reader that is slow
//! or gone never holds a request up: lines that find no room are counted, and the count is told.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::show::text;

/// Lines that may wait for a slow reader: a second of a busy server.
const ROOM: usize = 4096;

static LOG: OnceLock<Log> = OnceLock::new();

struct Log {
    lines: SyncSender<String>,
    lost: Arc<AtomicUsize>,
    waiting: Arc<AtomicUsize>,
}

/// Writes one line, now or very soon.
pub(super) fn line(text: String) {
    let log = LOG.get_or_init(start);
    log.waiting.fetch_add(1, Ordering::Relaxed);
    match log.lines.try_send(text) {
        Ok(()) => {}
        Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
            log.waiting.fetch_sub(1, Ordering::Relaxed);
            log.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Gives the last lines a moment to be written.
pub(super) fn settle() {
    let Some(log) = LOG.get() else { return };
    for _ in 0..20 {
        if log.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn start() -> Log {
    let (lines, waiting_lines) = sync_channel(ROOM);
    let lost = Arc::new(AtomicUsize::new(0));
    let waiting = Arc::new(AtomicUsize::new(0));
    let (lost_here, waiting_here) = (Arc::clone(&lost), Arc::clone(&waiting));
    // Without the thread there is no log, and requests are served all the same.
    drop(
        std::thread::Builder::new()
            .name("access log".to_owned())
            .spawn(move || write(&waiting_lines, &lost_here, &waiting_here)),
    );
    Log {
        lines,
        lost,
        waiting,
    }
}

fn write(lines: &Receiver<String>, lost: &AtomicUsize, waiting: &AtomicUsize) {
    while let Ok(line) = lines.recv() {
        let missing = lost.swap(0, Ordering::Relaxed);
        if missing > 0 {
            text::notice(&format!("{missing} lines of this log were lost"));
        }
        text::unbroken_notice(&line);
        waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
