//! What front ends share: lines of a client, the word to stop, and addresses of files.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Who wants the program to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Somebody pressed Ctrl-C.
    Interrupt,
    /// The system, or the terminal is gone.
    Terminate,
}

/// The longest message: an embedded file is part of one.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Returns the next line that is text, with its end; none at the end of the input. A line that is too long is dropped.
pub(crate) async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> Option<String> {
    let (mut line, mut is_too_long) = (Vec::new(), false);
    loop {
        let read = input.fill_buf().await.ok()?;
        if read.is_empty() {
            return None;
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(read.len(), |end| end + 1);
        is_too_long |= line.len() + length > LONGEST_LINE;
        match is_too_long {
            true => line = Vec::new(),
            false => line.extend_from_slice(&read[..length]),
        }
        input.consume(length);
        if end.is_some() {
            match String::from_utf8(std::mem::take(&mut line)) {
                Ok(text) if !is_too_long && !text.trim().is_empty() => return Some(text),
                _ => is_too_long = false,
            }
        }
    }
}

/// Waits for the word to stop.
pub(crate) async fn signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    drop(tokio::signal::ctrl_c().await);
}

/// How many listeners there were.
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

/// Calls `listener` for every signal, on a thread of its own, from now on and until there is a later listener.
pub(crate) fn on_signal(mut listener: impl FnMut(Signal) + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::catch()?
    };
    let number = LISTENERS.fetch_add(1, Ordering::SeqCst) + 1;
    std::thread::Builder::new().spawn(move || {
        runtime.block_on(async {
            loop {
                let signal = signals.next().await;
                if LISTENERS.load(Ordering::SeqCst) == number {
                    listener(signal);
                }
            }
        });
    })?;
    Ok(())
}

/// The signals that end programs, caught from its making on.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn catch() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hang_up.recv() => Signal::Terminate,
        }
    }
}

/// The console's events that end programs, caught from its making on.
#[cfg(windows)]
struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
    terminate: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
}

#[cfg(windows)]
impl Signals {
    fn catch() -> io::Result<Signals> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};
        Ok(Signals {
            interrupt: ctrl_c()?,
            terminate: ctrl_break()?,
            close: ctrl_close()?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.close.recv() => Signal::Terminate,
        }
    }
}

/// Returns the file or folder behind a `file:` address, links resolved, where it exists.
pub(crate) fn path_of(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = unescaped(path)?;
    // `file:///C:/work` names `C:/work`.
    let path = match path.as_bytes() {
        [b'/', _, b':', ..] if cfg!(windows) => &path[1..],
        _ => &path,
    };
    std::fs::canonicalize(path).ok()
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        bytes.push(match (first, tail) {
            (b'%', [high, low, after @ ..]) => {
                rest = after;
                let digits = [*high, *low];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            _ => *first,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_in_addresses_are_read() {
        assert_eq!(unescaped("/a%20b/%C3%A4"), Some("/a b/ä".to_owned()));
        assert_eq!(unescaped("/plain"), Some("/plain".to_owned()));
        assert_eq!(unescaped("/%zz"), None);
        assert_eq!(unescaped("/%ff"), None);
    }
}
