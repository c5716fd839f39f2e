//! The way to the client: what comes before the handshake is not allowed to end it, and its end is heard everywhere.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{Semaphore, watch};

/// Becomes true once, when nobody is left to answer to.
#[derive(Clone, Debug)]
pub(super) struct Gone(watch::Sender<bool>);

impl Default for Gone {
    fn default() -> Gone {
        Gone(watch::Sender::new(false))
    }
}

impl Gone {
    /// Tells everybody.
    pub(super) fn tell(&self) {
        self.0.send_replace(true);
    }

    /// Waits for it.
    pub(super) async fn heard(&self) {
        let mut receiver = self.0.subscribe();
        // The sender lives as long as this does.
        drop(receiver.wait_for(|gone| *gone).await);
    }
}

/// A transport that tells when its other end has gone.
pub(super) struct Wire<T> {
    inner: T,
    gone: Gone,
    is_begun: bool,
}

impl<T> Wire<T> {
    pub(super) fn new(inner: T, gone: Gone) -> Wire<T> {
        Wire {
            inner,
            gone,
            is_begun: false,
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Wire<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await;
            match &message {
                None => self.gone.tell(),
                Some(JsonRpcMessage::Request(_)) => self.is_begun = true,
                // Only a request can begin a session; the SDK would give up at anything else.
                Some(_) if !self.is_begun => continue,
                Some(_) => {}
            }
            return message;
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}

/// Who works: one that may write, and some that only read.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) writer: Semaphore,
    pub(super) readers: Semaphore,
}

/// Calls that only read, at once; more would only make each other slow.
const MOST_READERS: u32 = 4;

impl Default for Runs {
    fn default() -> Runs {
        Runs {
            writer: Semaphore::new(1),
            readers: Semaphore::new(MOST_READERS as usize),
        }
    }
}

impl Runs {
    /// Waits until every run has put its files in order, but not for ever.
    pub(super) async fn ended(&self, patience: Duration) {
        let all = async {
            let _writer = self.writer.acquire().await;
            let _readers = self.readers.acquire_many(MOST_READERS).await;
        };
        drop(tokio::time::timeout(patience, all).await);
    }
}
