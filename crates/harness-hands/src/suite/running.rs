//! Which test is running, and for how long: read along from the report that the script writes.

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;

/// A test that has been running for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The runner's own name of the test.
    pub test: String,
    /// For how long.
    pub seconds: u64,
}

/// How often the report is looked at.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Nobody wonders about a test that takes less.
const WORTH_TELLING: Duration = Duration::from_secs(3);

/// Reads along in a report.
#[derive(Debug)]
pub(super) struct Follower {
    report: PathBuf,
    read: u64,
    current: Option<(String, Instant)>,
    /// It is told once it has been running for so long; doubled each time.
    next: Duration,
}

#[derive(Deserialize)]
struct Line {
    kind: String,
    #[serde(default)]
    id: String,
}

impl Follower {
    pub(super) fn new(report: PathBuf) -> Follower {
        Follower {
            report,
            read: 0,
            current: None,
            next: WORTH_TELLING,
        }
    }

    /// Returns the test that runs now, when it is time to tell of it.
    pub(super) fn look(&mut self) -> Option<Running> {
        for line in self.new_lines() {
            match line.kind.as_str() {
                "start" => {
                    self.current = Some((line.id, Instant::now()));
                    self.next = WORTH_TELLING;
                }
                "test" | "end" => self.current = None,
                _ => {}
            }
        }
        let (test, since) = self.current.as_ref()?;
        let elapsed = since.elapsed();
        if elapsed < self.next || test.is_empty() {
            return None;
        }
        self.next = elapsed * 2;
        Some(Running {
            test: test.clone(),
            seconds: elapsed.as_secs(),
        })
    }

    fn new_lines(&mut self) -> Vec<Line> {
        let mut bytes = Vec::new();
        let read = std::fs::File::open(&self.report).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.take(64 << 20).read_to_end(&mut bytes)
        });
        // A line that is not whole yet is read the next time.
        let whole = match (read, bytes.iter().rposition(|byte| *byte == b'\n')) {
            (Ok(_), Some(end)) => &bytes[..=end],
            (Ok(_), None) | (Err(_), _) => return Vec::new(),
        };
        self.read += whole.len() as u64;
        let lines = whole.split(|byte| *byte == b'\n');
        lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_takes_long_is_told_of_now_and_then() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report.jsonl");
        let mut follower = Follower::new(report.clone());
        assert_eq!(follower.look(), None);
        let begun = "{\"kind\": \"start\", \"id\": \"a\", \"limit\": 10}\n";
        std::fs::write(&report, format!("{begun}{{\"kind\"")).unwrap();
        assert_eq!(follower.look(), None);
        let mut later = |seconds| {
            let (test, _) = follower.current.clone().unwrap();
            let since = Instant::now().checked_sub(Duration::from_secs(seconds));
            follower.current = Some((test, since.unwrap()));
            follower
                .look()
                .map(|running| (running.test, running.seconds))
        };
        assert_eq!(later(4), Some(("a".to_owned(), 4)));
        assert_eq!(later(5), None);
        assert_eq!(later(9), Some(("a".to_owned(), 9)));
        let ended = "{\"kind\": \"test\", \"id\": \"a\"}\n";
        std::fs::write(&report, format!("{begun}{ended}")).unwrap();
        assert_eq!((follower.look(), follower.current), (None, None));
    }
}
