//! Connections: accepted, bounded, and ended in order when a signal comes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::protocol;
use crate::server::peer::Peer;
use crate::server::wire::Wire;
use crate::server::{Server, log, wire};

/// How many clients there may be, and how long they are waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Open connections at once: far more than editors need, few enough for a small machine's memory.
    connections: u32,
    /// A client that has not sent its headers by then is not worth a connection.
    headers: Duration,
    /// A client that takes nothing of its answer for so long is gone, or means harm.
    stalled: Duration,
    /// What running requests get after a signal.
    grace: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            connections: 4096,
            headers: Duration::from_secs(10),
            stalled: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}

/// How long is heard what a refused client still sends: an answer is lost where bytes are left unread.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// More headers than any real client sends; past it hyper answers 431.
const MOST_HEADERS: usize = 100;
/// The request line and headers together; past it hyper answers 431.
const HEADER_BYTES: usize = 64 * 1024;

/// Accepts connections until a signal comes, then gives running requests their grace.
pub(super) async fn accept(
    listener: TcpListener,
    server: Arc<Server>,
    router: Router,
    bounds: Bounds,
) {
    let (stop, stopped) = watch::channel(false);
    let places = Arc::new(Semaphore::new(bounds.connections as usize));
    let signal = protocol::signal();
    tokio::pin!(signal);
    loop {
        // The signal first: who was answered may send one at once, and it is caught only once it was waited for.
        let accepted = tokio::select! {
            biased;
            () = &mut signal => break,
            accepted = listener.accept() => accepted,
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
        let (router, stopped) = (router.clone(), stopped.clone());
        tokio::spawn(async move {
            serve(stream, router, bounds, stopped).await;
            drop(place);
        });
    }
    drop(listener);
    // Nobody hears it only when no connection is left.
    stop.send_replace(true);
    let all = bounds.connections;
    if tokio::time::timeout(bounds.grace, places.acquire_many(all))
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

/// Answers the requests of one connection.
async fn serve(
    stream: Arc<TcpStream>,
    router: Router,
    bounds: Bounds,
    mut stopped: watch::Receiver<bool>,
) {
    let routes = TowerToHyperService::new(router);
    let peer = Peer::of(&stream);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        routes.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.headers)
        // Who only closed its sending side still wants the answer; runs look for themselves.
        .half_close(true)
        .max_headers(MOST_HEADERS)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(
            TokioIo::new(Wire::new(Arc::clone(&stream), bounds.stalled)),
            service,
        );
    tokio::pin!(connection);
    let ended = tokio::select! {
        // A broken connection is the client's business; its run is cancelled by the drop.
        ended = connection.as_mut() => ended,
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    match ended {
        Err(error) if error.is_timeout() => {
            let (id, answer) = wire::refusal(StatusCode::REQUEST_TIMEOUT);
            let waited = bounds.headers.as_millis();
            log::line(format!("{id} (unfinished request) 408 {waited} ms"));
            drop(stream.try_write(&answer));
            wire::shut(&stream);
        }
        // To a client of HTTP/2 hyper itself says nothing.
        Err(error) if error.is_parse_version_h2() => {
            let (id, answer) = wire::refusal(StatusCode::BAD_REQUEST);
            log::line(format!("{id} (HTTP/2) 400 0.0 ms"));
            drop(stream.try_write(&answer));
            wire::shut(&stream);
            drop(tokio::time::timeout(LAST_WORDS, wire::heard_out(&stream)).await);
        }
        Ok(()) | Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};

    use harness_agent::{Agent, AgentOptions};

    use super::*;
    use crate::server::routes;
    use crate::server::work::Queue;

    const SHORT: Bounds = Bounds {
        connections: 2,
        headers: Duration::from_millis(200),
        stalled: Duration::from_millis(200),
        grace: Duration::from_millis(200),
    };

    /// Connects to a server of short patience and returns what it says until it closes the connection.
    fn heard(talk: impl FnOnce(&mut TcpStream)) -> String {
        heard_beside(0, talk)
    }

    /// The same while other connections are open.
    fn heard_beside(others: usize, talk: impl FnOnce(&mut TcpStream)) -> String {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let listener = runtime
            .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Server {
            agent: Agent::new(AgentOptions::new(".")),
            port,
            token: None,
            page_token: String::new(),
            queue: Queue::default(),
            routes: routes::ROUTES,
        };
        let server = Arc::new(server);
        let router = routes::router(Arc::clone(&server));
        runtime.spawn(accept(listener, server, router, SHORT));
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let others: Vec<TcpStream> = (0..others).map(|_| connect()).collect();
        let mut client = connect();
        // Only so that a server that never closes does not hang the test.
        client
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        client
            .set_write_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        talk(&mut client);
        let mut said = Vec::new();
        match client.read_to_end(&mut said) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
            Err(error) => panic!("the connection stays open: {error}"),
        }
        drop(others);
        String::from_utf8_lossy(&said).into_owned()
    }

    #[test]
    fn one_connection_too_many_is_told() {
        let said = heard_beside(2, |_| {});
        assert!(said.starts_with("HTTP/1.1 503 "), "{said}");
        assert!(said.contains("too many connections are open"), "{said}");
    }

    const HEALTH: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";

    #[test]
    fn silent_connections_are_closed() {
        let said = heard(|_| {});
        assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
        let said = heard(|client| client.write_all(b"GET /hea").unwrap());
        assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
        let said = heard(|client| client.write_all(HEALTH).unwrap());
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
    }

    #[test]
    fn a_client_that_takes_no_answer_is_left() {
        heard(|client| {
            // Asks and never listens, until the server takes no more: the buffers between the two are full.
            let mut asked = 0;
            while asked < 200_000 && client.write_all(HEALTH).is_ok() {
                asked += 1;
            }
            assert!(asked < 200_000, "every request was taken");
        });
    }

    #[test]
    fn a_client_of_http_2_is_told() {
        let said = heard(|client| {
            let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
            client.write_all(preface).unwrap();
        });
        assert!(said.starts_with("HTTP/1.1 400 "), "{said}");
        assert!(said.contains("the request is not HTTP/1.1"), "{said}");
    }
}
