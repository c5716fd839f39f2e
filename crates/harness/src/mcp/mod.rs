//! The Model Context Protocol on standard input and output: the same calls as the command line, offered as tools.
//! Nothing but the protocol is written to standard output.

mod client;
mod handler;
mod prompts;
mod questions;
mod resources;
mod roots;
mod tools;
mod wire;

use std::time::Duration;

use harness_agent::AgentOptions;
use rmcp::service::ServerInitializeError;
use rmcp::{ServiceExt, transport};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::exit::Exit;
use crate::mcp::handler::Handler;
use crate::mcp::wire::Gone;
use crate::protocol;
use crate::runtime::{self, Clients};
use crate::show::text::Complaint;

/// What runs get to put their files in order after the client has gone.
const GRACE: Duration = Duration::from_secs(10);

/// Serves one client until it closes its end, or a signal comes.
pub fn serve(options: AgentOptions) -> Result<Exit, Complaint> {
    let work = async {
        let (input, output) = transport::stdio_pipes();
        converse(options, input, output).await
    };
    runtime::block_on(Clients::One, work)
}

/// Returns what a client that writes these bytes and leaves is told.
pub fn answer(options: AgentOptions, input: &[u8]) -> Result<Vec<u8>, Complaint> {
    runtime::answer(input, |input, output| converse(options, input, output))
}

async fn converse(
    options: AgentOptions,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<Exit, Complaint> {
    let gone = Gone::default();
    let handler = Handler::new(options, gone.clone());
    let runs = handler.runs();
    let service = match handler.serve(wire::wire(input, output, gone.clone())).await {
        Ok(service) => service,
        // A client that left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(Exit::Done),
        Err(error) => {
            let complaint = Complaint::usage(
                format!("the client does not speak the protocol: {error}"),
                "`harness mcp` is started by an editor or another MCP client",
            );
            return Err(complaint);
        }
    };
    let exit = tokio::select! {
        _ = service.waiting() => Exit::Done,
        () = protocol::signal() => Exit::Interrupted,
    };
    gone.tell();
    runs.ended(GRACE).await;
    Ok(exit)
}
