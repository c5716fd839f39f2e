//! Connections: accepted, bounded, and ended in order when a signal comes.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::server::wire::Wire;
use crate::server::{Server, log, routes, wire};

/// A client that has not sent its headers by then is not worth a connection.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// More headers than any real client sends; past it hyper answers 431.
const MOST_HEADERS: usize = 100;
/// The request line and headers together; past it hyper answers 431.
const HEADER_BYTES: usize = 64 * 1024;
/// Open connections at once: far more than editors need, few enough for a small machine's memory.
const MOST_CONNECTIONS: usize = 4096;

/// How often a run looks whether its client is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The client of a request.
#[derive(Clone, Debug)]
pub(super) struct Peer(Arc<TcpStream>);

impl Peer {
    /// Waits until the client is gone. One that has closed its sending side counts as gone: until
    /// something is written, nobody can tell the two apart.
    pub(super) async fn gone(&self) {
        let mut next = [0u8; 1];
        loop {
            match self.0.peek(&mut next).await {
                Ok(0) | Err(_) => return,
                // The next request waits already.
                Ok(_) => tokio::time::sleep(LOOK_AGAIN).await,
            }
        }
    }
}

/// Accepts connections until a signal comes, then gives running requests their grace.
pub(super) async fn accept(listener: TcpListener, server: Arc<Server>, grace: Duration) {
    let (stop, stopped) = watch::channel(false);
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let router = routes::router(Arc::clone(&server));
    let signal = signal();
    tokio::pin!(signal);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut signal => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors: breathe, then try again.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let stream = Arc::new(stream);
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // Best effort: a client that does not read at once is not waited for.
            drop(stream.try_write(&wire::refusal(StatusCode::SERVICE_UNAVAILABLE).1));
            continue;
        };
        // Small replies should not wait for more.
        drop(stream.set_nodelay(true));
        let routes = TowerToHyperService::new(router.clone());
        let peer = Peer(Arc::clone(&stream));
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer.clone());
            routes.call(request)
        });
        let mut stopped = stopped.clone();
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIME)
                // Who only closed its sending side still wants the answer; runs look for themselves.
                .half_close(true)
                .max_headers(MOST_HEADERS)
                .max_buf_size(HEADER_BYTES)
                .serve_connection(TokioIo::new(Wire::new(Arc::clone(&stream))), service);
            tokio::pin!(connection);
            let ended = tokio::select! {
                // A broken connection is the client's business; its run is cancelled by the drop.
                ended = connection.as_mut() => ended,
                _ = stopped.changed() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if ended.is_err_and(|error| error.is_timeout()) {
                let (id, answer) = wire::refusal(StatusCode::REQUEST_TIMEOUT);
                log::line(format!(
                    "{id} (unfinished request) 408 {} ms",
                    HEADER_TIME.as_millis()
                ));
                drop(stream.try_write(&answer));
                wire::shut(&stream);
            }
            drop(place);
        });
    }
    drop(listener);
    // Nobody hears it only when no connection is left.
    stop.send_replace(true);
    let all = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
    if tokio::time::timeout(grace, places.acquire_many(all))
        .await
        .is_err()
    {
        server.queue.cancel_all();
        // Cancelled runs put their files back; that is quick, and worth waiting for.
        drop(tokio::time::timeout(Duration::from_secs(5), places.acquire_many(all)).await);
    }
    // A run whose client went away puts its files back too.
    server.queue.ended(Duration::from_secs(5)).await;
}

/// Waits for Ctrl-C or a request to end.
async fn signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            drop(tokio::signal::ctrl_c().await);
            return;
        };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    drop(tokio::signal::ctrl_c().await);
}
