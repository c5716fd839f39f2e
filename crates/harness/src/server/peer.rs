//! The client of a request: whether it is still there.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

/// How often a run looks whether its client is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The client of a request.
#[derive(Clone, Debug)]
pub(super) struct Peer(Arc<TcpStream>);

impl Peer {
    pub(super) fn of(stream: &Arc<TcpStream>) -> Peer {
        Peer(Arc::clone(stream))
    }

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
