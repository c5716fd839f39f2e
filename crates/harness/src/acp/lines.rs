//! Lines from and to the editor. One that is too long or no text is dropped; it does not end the connection.

use std::io;
use std::pin::Pin;

use futures::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use crate::protocol;

/// Returns the lines that the editor writes.
pub(super) fn incoming(
    input: impl AsyncRead + Send + Unpin + 'static,
) -> Pin<Box<dyn Stream<Item = io::Result<String>> + Send>> {
    let input = BufReader::new(input);
    Box::pin(futures::stream::unfold(input, |mut input| async move {
        let line = protocol::next_line(&mut input).await?;
        Some((Ok(line), input))
    }))
}

/// Returns where lines to the editor go.
pub(super) fn outgoing<W: AsyncWrite + Send + Unpin + 'static>(
    output: W,
) -> Pin<Box<dyn Sink<String, Error = io::Error> + Send>> {
    let write = |mut output: W, mut line: String| async move {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
        Ok(output)
    };
    Box::pin(futures::sink::unfold(output, write))
}
