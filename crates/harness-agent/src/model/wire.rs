//! The socket under every model call: watches the user's stop and the silence of the server, and lets nothing
//! pass to another machine that was meant for this one. Knows no HTTP.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
};

use crate::cancel::Cancel;
use crate::model::address::{GLANCE, beside, is_loopback};

/// What the sockets of one client share: who may stop them, how long silence may last, where they may lead.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    cancel: Mutex<Cancel>,
    patience_ms: AtomicU64,
    connect_ms: AtomicU64,
    loopback_only: AtomicBool,
    pinned: Mutex<Option<(String, Vec<SocketAddr>)>>,
}

impl Wire {
    /// Says who may stop the calls that follow.
    pub(crate) fn set_cancel(&self, cancel: &Cancel) {
        *self.cancel.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
    }

    /// Says how long the server may be silent from now on.
    pub(crate) fn set_patience(&self, patience: Duration) {
        self.patience_ms
            .store(milliseconds(patience), Ordering::SeqCst);
    }

    /// Says how long a connection may take.
    pub(crate) fn set_connect_limit(&self, limit: Duration) {
        self.connect_ms.store(milliseconds(limit), Ordering::SeqCst);
    }

    /// Says whether every byte must stay on this machine; checked on the socket before each write.
    pub(crate) fn require_loopback(&self, loopback_only: bool) {
        self.loopback_only.store(loopback_only, Ordering::SeqCst);
    }

    /// Fixes the numbers behind a host, so that what was judged is what is connected to.
    pub(crate) fn pin(&self, host: &str, addresses: &[SocketAddr]) {
        *self.pinned.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((host.to_owned(), addresses.to_vec()));
    }

    fn stopped(&self) -> bool {
        self.cancel
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .stopped()
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms.load(Ordering::SeqCst))
    }

    fn check_peer(&self, peer: SocketAddr) -> io::Result<()> {
        if self.loopback_only.load(Ordering::SeqCst) && !is_loopback(peer.ip()) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the connection left this machine",
            ));
        }
        Ok(())
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Gives the pinned numbers for the pinned host, and asks the resolver for any other (a proxy).
#[derive(Debug)]
pub(crate) struct PinnedResolver(pub(crate) Arc<Wire>);

impl Resolver for PinnedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let pinned = self.0.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        if let Some((name, addresses)) = pinned.as_ref()
            && name == host
        {
            let mut found = self.empty();
            // The resolver's own type holds 16; more never answer differently.
            for address in addresses.iter().take(16) {
                found.push(*address);
            }
            return Ok(found);
        }
        drop(pinned);
        DefaultResolver::default().resolve(uri, config, timeout)
    }
}

/// Opens the sockets.
#[derive(Debug)]
pub(crate) struct SocketConnector(pub(crate) Arc<Wire>);

impl<In: Transport> Connector<In> for SocketConnector {
    type Out = Either<In, Socket>;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        if chained.is_some() {
            return Ok(chained.map(Either::A));
        }
        let stream = open(&self.0, &details.addrs)?;
        let peer = stream.peer_addr()?;
        self.0.check_peer(peer)?;
        // Prompts are one write; waiting to fill a packet only adds time.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GLANCE))?;
        stream.set_write_timeout(Some(GLANCE))?;
        let buffers = LazyBuffers::new(
            details.config.input_buffer_size(),
            details.config.output_buffer_size(),
        );
        Ok(Some(Either::B(Socket {
            stream,
            peer,
            buffers,
            wire: Arc::clone(&self.0),
        })))
    }
}

fn open(wire: &Wire, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let limit = Duration::from_millis(wire.connect_ms.load(Ordering::SeqCst)).max(GLANCE);
    let mut last = io::Error::from(io::ErrorKind::ConnectionRefused);
    for address in addresses {
        // This machine answers at once; other machines are waited for on a second thread, which ends by itself.
        let tried = if is_loopback(address.ip()) {
            TcpStream::connect_timeout(address, limit)
        } else {
            let address = *address;
            let connect = move || TcpStream::connect_timeout(&address, limit);
            beside(connect, || wire.stopped()).unwrap_or_else(|| Err(stopped()))
        };
        match tried {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
        if wire.stopped() {
            return Err(stopped());
        }
    }
    Err(last)
}

/// Not `Interrupted`: the layers above take that kind as a reason to try again.
fn stopped() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "stopped")
}

/// One open socket.
pub(crate) struct Socket {
    stream: TcpStream,
    peer: SocketAddr,
    buffers: LazyBuffers,
    wire: Arc<Wire>,
}

impl Socket {
    /// Decides what a pause means: go on waiting, or an error.
    fn pause(&self, begun: Instant, error: io::Error) -> io::Result<()> {
        let pause = matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
        );
        if !pause {
            return Err(error);
        }
        if self.wire.stopped() {
            return Err(stopped());
        }
        if begun.elapsed() >= self.wire.patience() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl Transport for Socket {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.wire.check_peer(self.peer)?;
        let begun = Instant::now();
        let mut sent = 0;
        while sent < amount {
            if self.wire.stopped() {
                return Err(stopped().into());
            }
            let written = {
                let rest = &self.buffers.output()[sent..amount];
                (&self.stream).write(rest)
            };
            match written {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Ok(count) => sent += count,
                Err(error) => self.pause(begun, error)?,
            }
        }
        Ok(())
    }

    fn await_input(&mut self, _timeout: NextTimeout) -> Result<bool, ureq::Error> {
        let begun = Instant::now();
        loop {
            if self.wire.stopped() {
                return Err(stopped().into());
            }
            let room = self.buffers.input_append_buf();
            match (&self.stream).read(room) {
                Ok(count) => {
                    self.buffers.input_appended(count);
                    return Ok(count > 0);
                }
                Err(error) => self.pause(begun, error)?,
            }
        }
    }

    fn is_open(&mut self) -> bool {
        // A kept connection is good when nothing waits in it and it is not closed: a read would block.
        if self.stream.set_nonblocking(true).is_err() {
            return false;
        }
        let quiet = matches!((&self.stream).read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        self.stream.set_nonblocking(false).is_ok() && quiet
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Socket")
            .field("peer", &self.peer)
            .finish()
    }
}
