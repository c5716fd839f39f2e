//! What a program prints: the beginning and the end are kept, the middle is counted.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What was kept of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// How many bytes between the two were dropped.
    pub skipped: u64,
}

impl Output {
    fn push(&mut self, mut bytes: &[u8], limit: usize) {
        let half = limit / 2;
        let room = half.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        bytes = &bytes[room..];
        self.tail.extend(bytes);
        let over = self.tail.len().saturating_sub(limit - half);
        self.tail.drain(..over);
        self.skipped += over as u64;
    }

    /// Returns the kept text, with a line that says how much is missing.
    pub fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.skipped == 0 {
            let whole = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let (head, tail) = (
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(&tail),
        );
        format!("{head}\n[{} bytes left out]\n{tail}", self.skipped)
    }

    /// Returns the end, and before it the errors of a compiler that many warnings have pushed out of it.
    pub fn end_with_errors(&self, limit: usize) -> String {
        let end = self.end(limit);
        let text = self.text();
        let earlier = text.strip_suffix(&end).unwrap_or_default();
        let mut is_error = false;
        let mut errors = String::new();
        for line in earlier.lines() {
            // An error of Rust goes on up to a blank line.
            is_error = line.starts_with("error") || is_error && !line.trim().is_empty();
            if (is_error || line.contains(": error")) && errors.len() + line.len() < limit {
                errors.push_str(line);
                errors.push('\n');
            }
        }
        errors + &end
    }

    /// Returns at most `limit` bytes of the end, from the beginning of a line where there is one.
    pub fn end(&self, limit: usize) -> String {
        let text = self.text();
        if text.len() <= limit {
            return text;
        }
        let mut from = text.len() - limit;
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let cut = &text[from..];
        cut.split_once('\n')
            .map_or(cut, |(_, rest)| rest)
            .to_string()
    }
}

/// Reads a stream in the background until it ends, so that a program never waits for us.
#[derive(Debug)]
pub(crate) struct Capture {
    kept: Arc<Mutex<Output>>,
    reader: JoinHandle<()>,
}

impl Capture {
    pub(crate) fn start(mut stream: impl Read + Send + 'static, limit: usize) -> Capture {
        let kept = Arc::new(Mutex::new(Output::default()));
        let shared = Arc::clone(&kept);
        let reader = std::thread::spawn(move || {
            // As much as a pipe holds.
            let mut buffer = vec![0; 64 * 1024];
            loop {
                match stream.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => {
                        let mut output = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        output.push(&buffer[..count], limit);
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        });
        Capture { kept, reader }
    }

    /// Returns what was kept. The program is over; a stream that somebody else still holds open is
    /// not waited for beyond `patience`.
    pub(crate) fn finish(self, patience: Duration) -> Output {
        let start = Instant::now();
        while !self.reader.is_finished() && start.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let mut output = Output::default();
        for part in ["abcd", "efgh", "ijkl", "mnop"] {
            output.push(part.as_bytes(), 8);
        }
        assert_eq!(output.text(), "abcd\n[8 bytes left out]\nmnop");
        assert_eq!(Output::default().text(), "");
    }

    #[test]
    fn errors_before_the_end_are_kept_with_it() {
        let error = "error[E1]: y\n --> a.rs:1:2\n";
        let text = format!(
            "{error}\na.c:1: error: q\n{}last\n",
            "warning: z\n".repeat(20)
        );
        let mut output = Output::default();
        output.push(text.as_bytes(), 1000);
        let kept = format!("{error}a.c:1: error: q\n{}", output.end(60));
        assert_eq!(output.end_with_errors(60), kept);
        assert_eq!(output.end_with_errors(1000), text);
    }

    #[test]
    fn the_end_starts_at_a_line() {
        let mut output = Output::default();
        output.push("one\ntwo\nthr\u{e9}e\n".as_bytes(), 100);
        assert_eq!(output.end(11), "thr\u{e9}e\n");
        assert_eq!(output.end(100), "one\ntwo\nthr\u{e9}e\n");
    }
}
