//! The way to the client: what comes before the handshake is not allowed to end it, and its end is heard everywhere.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::protocol::{self, Incoming};

/// What waits between the client and the SDK.
const PIPE: usize = 64 * 1024;
/// Requests that cannot be read and wait for their answers; a client that reads none of these is not read on.
const MOST_WAITING: usize = 16;
/// What a client that has closed its end gets to read the last of them.
const LAST_WORDS: Duration = Duration::from_secs(1);

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

/// A request that the SDK cannot read: its id, and what it is answered.
struct Unreadable {
    id: RequestId,
    error: ErrorData,
}

/// A transport that tells when its other end has gone.
pub(super) struct WatchedTransport<T> {
    inner: T,
    gone: Gone,
    is_begun: bool,
    unreadable: Receiver<Unreadable>,
    /// Answers on their way to the client.
    answers: JoinSet<()>,
}

/// Returns the way to a client.
pub(super) fn wire<R, W>(
    input: R,
    output: W,
    gone: Gone,
) -> WatchedTransport<AsyncRwTransport<RoleServer, DuplexStream, W>>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (sender, unreadable) = mpsc::channel(MOST_WAITING);
    let (lines, passed_on) = tokio::io::duplex(PIPE);
    tokio::spawn(pass_on(input, lines, sender));
    WatchedTransport {
        inner: AsyncRwTransport::new_server(passed_on, output),
        gone,
        is_begun: false,
        unreadable,
        answers: JoinSet::new(),
    }
}

/// Passes lines on to the SDK. It would answer a request that it cannot read without the request's id, and the client
/// would wait: such a request is taken out and answered here.
async fn pass_on(
    input: impl AsyncRead + Unpin,
    mut lines: DuplexStream,
    unreadable: Sender<Unreadable>,
) {
    let mut input = BufReader::new(input);
    while let Some(message) = protocol::next_message(&mut input).await {
        let (line, request) = match message {
            Incoming::Unreadable(request) => {
                let id = serde_json::from_value(request.id).ok();
                let error = ErrorData::new(ErrorCode(request.code), request.reason, None);
                (String::new(), id.map(|id| Unreadable { id, error }))
            }
            Incoming::Line(mut line) => {
                let request = unreadable_request(&line);
                // The last one may lack its end.
                line.push('\n');
                (line, request)
            }
        };
        let is_passed_on = match request {
            Some(request) => unreadable.send(request).await.is_ok(),
            None => lines.write_all(line.as_bytes()).await.is_ok(),
        };
        if !is_passed_on {
            return;
        }
    }
}

/// Returns the request on a line when the SDK cannot read it.
fn unreadable_request(line: &str) -> Option<Unreadable> {
    let error = match serde_json::from_str::<RxJsonRpcMessage<RoleServer>>(line) {
        // A method that is known with parameters that are not its own counts as an unknown method.
        Ok(JsonRpcMessage::Request(request)) => match request.request {
            ClientRequest::CustomRequest(custom) if is_known(&custom.method) => {
                let message = format!("the parameters are none of `{}`", custom.method);
                ErrorData::invalid_params(message, None)
            }
            _ => return None,
        },
        Ok(_) => return None,
        Err(error) => {
            ErrorData::invalid_request(format!("the request cannot be read: {error}"), None)
        }
    };
    let message: Value = serde_json::from_str(line).ok()?;
    message.get("method")?;
    let id = serde_json::from_value(message.get("id")?.clone()).ok()?;
    Some(Unreadable { id, error })
}

fn is_known(method: &str) -> bool {
    matches!(
        method,
        "tools/call" | "resources/read" | "prompts/get" | "initialize" | "completion/complete"
    )
}

impl<T: Transport<RoleServer>> WatchedTransport<T> {
    fn refuse(&mut self, request: Unreadable) {
        let answer = self.inner.send(TxJsonRpcMessage::<RoleServer>::error(
            request.error,
            Some(request.id),
        ));
        // Not awaited here: whoever receives may stop to do so at any time.
        self.answers.spawn(async move { drop(answer.await) });
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for WatchedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = tokio::select! {
                Some(_) = self.answers.join_next() => continue,
                Some(request) = self.unreadable.recv(), if self.answers.len() < MOST_WAITING => {
                    self.refuse(request);
                    continue;
                }
                message = self.inner.receive() => message,
            };
            match &message {
                None => {
                    self.gone.tell();
                    while let Ok(request) = self.unreadable.try_recv() {
                        self.refuse(request);
                    }
                    let sent = async { while self.answers.join_next().await.is_some() {} };
                    drop(tokio::time::timeout(LAST_WORDS, sent).await);
                }
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
