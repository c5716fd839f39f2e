//! The Agent Client Protocol on standard input and output: an editor's sessions, each a conversation with the agent.
//! Nothing but the protocol is written to standard output.

mod buffers;
mod connection;
mod diffs;
mod editor;
mod lines;
mod prompt;
mod sessions;

use std::path::PathBuf;
use std::time::Duration;

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use harness_agent::AgentOptions;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::acp::sessions::Sessions;
use crate::exit::Exit;
use crate::protocol;
use crate::runtime::{self, Clients};
use crate::show::text::Complaint;

/// The way to the editor.
type Connection = ConnectionTo<Client>;

/// What runs get to put their files in order after the client has gone.
const GRACE: Duration = Duration::from_secs(10);

/// How to serve an editor.
#[derive(Clone, Debug)]
pub struct AcpOptions {
    /// The settings of every session.
    pub agent: AgentOptions,
    /// The one project that is served; without it each session names its own.
    pub project: Option<PathBuf>,
}

/// Serves one editor until it closes its end, or a signal comes.
pub fn serve(options: AcpOptions) -> Result<Exit, Complaint> {
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    runtime::block_on(Clients::One, converse(options, input, output))
}

/// Returns what an editor that writes these bytes and leaves is told.
pub fn answer(options: AcpOptions, input: &[u8]) -> Result<Vec<u8>, Complaint> {
    runtime::answer(input, |input, output| converse(options, input, output))
}

async fn converse(
    options: AcpOptions,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<Exit, Complaint> {
    let sessions = Sessions::new(options);
    let exit = tokio::select! {
        () = connection::serve(&sessions, input, output) => Exit::Done,
        () = protocol::signal() => Exit::Interrupted,
    };
    sessions.stop_all();
    sessions.ended(GRACE).await;
    Ok(exit)
}
