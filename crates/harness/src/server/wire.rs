//! The socket under hyper: lets two hands hold it, and gives the answers that hyper makes by itself
//! (for requests it cannot read) the error shape that every other answer has.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use crate::server::answer::Problem;
use crate::server::{doorkeeper, log};
use crate::show::json;

/// A connection as hyper sees it.
#[derive(Debug)]
pub(super) struct Wire {
    stream: Arc<TcpStream>,
    /// What was taken from hyper and is not on the socket yet.
    pending: Vec<u8>,
    /// How long a client may take nothing.
    stalled: Duration,
    /// Runs while the client takes nothing.
    clock: Option<Pin<Box<Sleep>>>,
}

impl Wire {
    /// Returns a wire over a connection that somebody else holds too.
    pub(super) fn new(stream: Arc<TcpStream>, stalled: Duration) -> Wire {
        Wire {
            stream,
            pending: Vec::new(),
            stalled,
            clock: None,
        }
    }

    /// Waits until the client takes more, but not for ever.
    fn ready_to_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(ready) = self.stream.poll_write_ready(context) {
            self.clock = None;
            return Poll::Ready(ready);
        }
        let stalled = self.stalled;
        let clock = self
            .clock
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(stalled)));
        ready!(clock.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.pending.is_empty() {
            ready!(self.ready_to_write(context))?;
            match self.stream.try_write(&self.pending) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            match self.stream.try_read(buffer.initialize_unfilled()) {
                Ok(read) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.drain(context))?;
        if let Some((before, status)) = own_answer(bytes) {
            let (id, answer) = refusal(status);
            log::line(format!(
                "{id} (unreadable request) {} 0.0 ms",
                status.as_u16()
            ));
            self.pending.extend_from_slice(&bytes[..before]);
            self.pending.extend_from_slice(&answer);
            // What the socket does not take now goes with the flush.
            if let Poll::Ready(Err(error)) = self.drain(context) {
                return Poll::Ready(Err(error));
            }
            return Poll::Ready(Ok(bytes.len()));
        }
        loop {
            ready!(self.ready_to_write(context))?;
            match self.stream.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.drain(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.drain(context))?;
        shut(&self.stream);
        Poll::Ready(Ok(()))
    }
}

/// Tells the client that nothing more comes.
pub(super) fn shut(stream: &TcpStream) {
    // A client that is gone already needs no telling.
    drop(socket2::SockRef::from(stream).shutdown(std::net::Shutdown::Write));
}

/// Reads and drops what a client still sends.
pub(super) async fn heard_out(stream: &TcpStream) {
    let mut rest = [0; 4096];
    while stream.readable().await.is_ok() {
        match stream.try_read(&mut rest) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

/// Returns where in the bytes an answer of hyper's own begins, and its status: ours all have a request id.
fn own_answer(bytes: &[u8]) -> Option<(usize, StatusCode)> {
    let head = bytes.strip_suffix(b"\r\n\r\n")?;
    let start = head
        .windows(9)
        .rposition(|window| window == b"HTTP/1.1 " || window == b"HTTP/1.0 ")?;
    let head = std::str::from_utf8(&head[start..]).ok()?;
    let status = StatusCode::from_bytes(head.get(9..12)?.as_bytes()).ok()?;
    let ours = head.to_ascii_lowercase().contains("\r\nx-request-id:");
    (status.is_client_error() && !ours).then_some((start, status))
}

/// Returns a whole answer, from status line to body, for a request that never became one.
pub(super) fn refusal(status: StatusCode) -> (String, Vec<u8>) {
    let (code, message, hint) = match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => (
            "headers_too_large",
            "the headers are too large",
            "at most 100 headers and 64 KiB",
        ),
        StatusCode::URI_TOO_LONG => (
            "uri_too_long",
            "the address is too long",
            "the routes are short; put data into the body",
        ),
        StatusCode::REQUEST_TIMEOUT => (
            "slow_request",
            "the request did not arrive in time",
            "send the whole request at once",
        ),
        StatusCode::SERVICE_UNAVAILABLE => (
            "too_many_connections",
            "too many connections are open",
            "close some, or use one for many requests",
        ),
        _ => (
            "invalid_request",
            "the request is not HTTP/1.1",
            "send a request line, headers, a blank line and the body",
        ),
    };
    let id = doorkeeper::next_id();
    let body = json::document(&Problem::new(status, code, message, hint).told());
    let head = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\nx-request-id: {id}\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n\r\n",
        status.as_u16(),
        status.canonical_reason().unwrap_or("Error"),
        body.len()
    );
    (id, [head.into_bytes(), body.into_bytes()].concat())
}
