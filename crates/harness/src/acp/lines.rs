//! Lines from and to the editor. One that cannot be read is answered here; it does not end the connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use futures::{Sink, Stream};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use crate::protocol::{self, Incoming};

/// The lines that the editor writes, and where lines to it go.
pub(super) type Incomings = Pin<Box<dyn Stream<Item = io::Result<String>> + Send>>;
pub(super) type Outgoings = Pin<Box<dyn Sink<String, Error = io::Error> + Send>>;

/// Returns both ways of a connection to an editor.
pub(super) fn both<R, W>(input: R, output: W) -> (Outgoings, Incomings)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let output = Arc::new(Mutex::new(output));
    let answers = Arc::clone(&output);
    let state = (BufReader::new(input), answers);
    let incoming = futures::stream::unfold(state, |(mut input, answers)| async move {
        loop {
            match protocol::next_message(&mut input).await? {
                Incoming::Line(line) => return Some((Ok(line), (input, answers))),
                Incoming::Unreadable(request) => {
                    let error = json!({"code": request.code, "message": request.reason});
                    let answer = json!({"jsonrpc": "2.0", "id": request.id, "error": error});
                    write(&answers, answer.to_string()).await.ok()?;
                }
            }
        }
    });
    let outgoing = futures::sink::unfold(output, |output, line| async move {
        write(&output, line).await?;
        Ok(output)
    });
    (Box::pin(outgoing), Box::pin(incoming))
}

async fn write(output: &Mutex<impl AsyncWrite + Unpin>, mut line: String) -> io::Result<()> {
    line.push('\n');
    let mut output = output.lock().await;
    output.write_all(line.as_bytes()).await?;
    output.flush().await
}
