//! What front ends share: messages of a client, the word to stop, and addresses of files.

use std::io;
use std::path::PathBuf;

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::request_id::RequestId;

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

/// A message of a client, on a line of its own.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// A message as it came, with its end.
    Line(String),
    /// A request that nobody can read, which has to be answered all the same.
    Unreadable(Unreadable),
}

/// A request that cannot be read: its id, the code of JSON-RPC, and why.
#[derive(Debug, PartialEq)]
pub(crate) struct Unreadable {
    pub(crate) id: Value,
    pub(crate) code: i32,
    pub(crate) reason: String,
}

impl Unreadable {
    /// The codes of JSON-RPC.
    const NO_JSON: i32 = -32700;
    const NO_REQUEST: i32 = -32600;

    fn of(id: Option<Value>, code: i32, reason: &str) -> Option<Incoming> {
        let reason = reason.to_owned();
        id.map(|id| Incoming::Unreadable(Unreadable { id, code, reason }))
    }
}

/// Returns the next message; none at the end of the input. What is neither a message nor a request that could be answered
/// is left out.
pub(crate) async fn next_message(input: &mut (impl AsyncBufRead + Unpin)) -> Option<Incoming> {
    let (mut line, mut too_long) = (Vec::new(), None);
    loop {
        let read = input.fill_buf().await.ok()?;
        let is_last = read.is_empty();
        let end = read.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(read.len(), |end| end + 1);
        if too_long.is_none() && line.len() + length > LONGEST_LINE {
            let mut search = RequestId::default();
            search.read(&std::mem::take(&mut line));
            too_long = Some(search);
        }
        match &mut too_long {
            Some(search) => search.read(&read[..length]),
            None => line.extend_from_slice(&read[..length]),
        }
        input.consume(length);
        if end.is_none() && !is_last {
            continue;
        }
        let found = match too_long.take() {
            Some(search) => {
                let reason = "the message is longer than 16 MiB";
                Unreadable::of(search.found(), Unreadable::NO_REQUEST, reason)
            }
            None => message(std::mem::take(&mut line)),
        };
        if found.is_some() || is_last {
            return found;
        }
    }
}

fn message(line: Vec<u8>) -> Option<Incoming> {
    let unreadable =
        |line: &[u8], reason| Unreadable::of(RequestId::of(line), Unreadable::NO_JSON, reason);
    match String::from_utf8(line) {
        Err(error) => unreadable(error.as_bytes(), "the message is not UTF-8"),
        Ok(text) if text.trim().is_empty() => None,
        Ok(text) => {
            // Only what is nested too deeply has an id and is no JSON to this.
            let is_json = serde_json::from_str::<Value>(&text).is_ok();
            let found = match is_json {
                true => None,
                false => unreadable(text.as_bytes(), "the message is no JSON that can be read"),
            };
            Some(found.unwrap_or(Incoming::Line(text)))
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

/// Calls `listener` for every signal, on a thread of its own, from now on.
pub(crate) fn on_signal(mut listener: impl FnMut(Signal) + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::catch()?
    };
    std::thread::Builder::new().spawn(move || {
        runtime.block_on(async {
            loop {
                listener(signals.next().await);
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
    std::fs::canonicalize(written_path(uri)?).ok()
}

/// Returns the file behind a `file:` address, links resolved, which need not be there yet; its folder is.
pub(crate) fn new_path_of(uri: &str) -> Option<PathBuf> {
    let path = written_path(uri)?;
    std::fs::canonicalize(&path).ok().or_else(|| {
        let folder = std::fs::canonicalize(path.parent()?).ok()?;
        Some(folder.join(path.file_name()?))
    })
}

fn written_path(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = unescaped(path)?;
    // `file:///C:/work` names `C:/work`.
    let path = match path.as_bytes() {
        [b'/', _, b':', ..] if cfg!(windows) => &path[1..],
        _ => &path,
    };
    Some(PathBuf::from(path))
}

/// Returns a part of an address without its escapes.
pub(crate) fn unescaped(text: &str) -> Option<String> {
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
    use serde_json::json;

    use super::{Incoming, LONGEST_LINE, next_message, unescaped};

    #[tokio::test]
    async fn a_request_that_cannot_be_read_is_found_and_the_next_one_is_read() {
        let long = "x".repeat(LONGEST_LINE);
        let deep = "[".repeat(100_000);
        let mut bytes = format!(
            "\n{{\"method\":\"{long}\",\"id\":1}}\n{{\"id\":2,\"method\":{deep}\n{long}y\n"
        )
        .into_bytes();
        bytes.extend_from_slice(b"\xff\n{\"id\":3,\"method\":\"\xff\"}\nnothing\n{}");
        let mut input = tokio::io::BufReader::new(bytes.as_slice());
        let mut found = Vec::new();
        while let Some(message) = next_message(&mut input).await {
            found.push(match message {
                Incoming::Line(line) => json!(line),
                Incoming::Unreadable(request) => json!([request.id, request.code]),
            });
        }
        let expected = json!([[1, -32600], [2, -32700], [3, -32700], "nothing\n", "{}"]);
        assert_eq!(json!(found), expected);
    }

    #[test]
    fn escapes_in_addresses_are_read() {
        assert_eq!(unescaped("/a%20b/%C3%A4"), Some("/a b/ä".to_owned()));
        assert_eq!(unescaped("/plain"), Some("/plain".to_owned()));
        assert_eq!(unescaped("/%zz"), None);
        assert_eq!(unescaped("/%ff"), None);
    }
}
