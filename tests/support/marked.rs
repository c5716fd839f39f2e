//! Processes that a test started, told apart from all others of the machine by a word of their own.

use std::sync::atomic::{AtomicU32, Ordering};

/// Returns a number that no other test has, in this process or in one beside it: ten
/// minutes and a little for a `sleep` that nobody waits for, so that one that gets away ends by itself.
pub(crate) fn marker() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("600.{:08}{count:04}", std::process::id())
}

/// Returns how many processes have the word among their arguments.
#[expect(clippy::unwrap_used, reason = "without a list nothing was counted")]
pub(crate) fn processes_with(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let has_word = |line: &Vec<u8>| {
        line.split(|byte| *byte == 0)
            .any(|part| part == word.as_bytes())
    };
    lines.filter(has_word).count()
}
