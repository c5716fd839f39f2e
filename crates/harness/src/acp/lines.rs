//! Lines from and to the editor. One that is too long or no text is dropped; it does not end the connection.

use std::io;
use std::pin::Pin;

use futures::{Sink, Stream};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// The longest message: an embedded file is part of one.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Returns the lines that the editor writes.
pub(super) fn incoming(
    input: impl AsyncRead + Send + Unpin + 'static,
) -> Pin<Box<dyn Stream<Item = io::Result<String>> + Send>> {
    let input = BufReader::new(input);
    Box::pin(futures::stream::unfold(input, |mut input| async move {
        let line = next_line(&mut input).await?;
        Some((Ok(line), input))
    }))
}

/// Returns the next line that is text; none at the end.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> Option<String> {
    let (mut line, mut is_too_long) = (Vec::new(), false);
    loop {
        let read = input.fill_buf().await.ok()?;
        if read.is_empty() {
            return None;
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(read.len(), |end| end + 1);
        is_too_long |= line.len() + length > LONGEST_LINE;
        match is_too_long {
            true => line = Vec::new(),
            false => line.extend_from_slice(&read[..length]),
        }
        input.consume(length);
        if end.is_some() {
            match String::from_utf8(std::mem::take(&mut line)) {
                Ok(text) if !is_too_long && !text.trim().is_empty() => return Some(text),
                _ => is_too_long = false,
            }
        }
    }
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
