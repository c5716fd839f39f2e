//! Finds and ends what hangs below a process on Linux, by what the kernel shows in `/proc`.

use std::io::Read;
use std::time::Duration;

/// Kills every process below `root` until none is left. New ones are found in the next round.
pub(crate) fn end_descendants(root: u32) {
    // A tree that forks faster than we kill is ended by its next rounds; this bounds the wait.
    const ROUNDS: u32 = 200;
    // One look is no snapshot: a process whose parent ends while we look hangs nowhere in it. It hangs below `root`
    // before the look is over, so the next one finds it.
    const EMPTY_LOOKS: u32 = 3;
    let mut empty = 0;
    for _ in 0..ROUNDS {
        let found = descendants(root);
        empty = if found.is_empty() { empty + 1 } else { 0 };
        if empty == EMPTY_LOOKS {
            return;
        }
        for process in found {
            kill(process);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn descendants(root: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for process in processes() {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The name in parentheses may hold anything.
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest);
        let mut fields = fields.unwrap_or_default().split_whitespace();
        let (state, parent) = (fields.next(), fields.next());
        if let (Some(state), Some(Ok(parent))) = (state, parent.map(str::parse::<u32>))
            && state != "Z"
        {
            parents.push((process, parent));
        }
    }
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        let parent = found[next];
        found.extend(
            parents
                .iter()
                .filter(|(_, above)| *above == parent)
                .map(|(process, _)| *process),
        );
        next += 1;
    }
    found.remove(0);
    found
}

/// Kills every process whose environment carries the mark, wherever it hangs in the tree.
pub(crate) fn end_marked(mark: &str) {
    for process in processes() {
        let Ok(mut file) = std::fs::File::open(format!("/proc/{process}/environ")) else {
            continue;
        };
        let mut environment = Vec::new();
        let _ = file.read_to_end(&mut environment);
        let is_ours = environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == mark.as_bytes());
        if is_ours && process != std::process::id() {
            kill(process);
        }
    }
}

fn processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn kill(process: u32) {
    let process = i32::try_from(process)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(process) = process {
        // A process that is gone is an error that does not matter.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    }
}
