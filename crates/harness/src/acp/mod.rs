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
use harness_agent::{AgentOptions, Warmth};

use crate::acp::sessions::Sessions;
use crate::exit::Exit;
use crate::protocol;
use crate::show::text::Complaint;

/// The way to the editor.
type Connection = ConnectionTo<Client>;

/// Threads for turns under way at once, and some for those that end.
const MOST_BLOCKING: usize = 16;
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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(MOST_BLOCKING)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| {
        Complaint::usage(
            format!("the server cannot start: {error}"),
            "check the machine's limits",
        )
    })?;
    // A model of the on-device engine stays loaded between turns.
    let warmth = Warmth::new();
    let exit = runtime.block_on(async {
        let sessions = Sessions::new(options);
        let exit = tokio::select! {
            () = connection::serve(&sessions) => Exit::Done,
            () = protocol::signal() => Exit::Interrupted,
        };
        sessions.stop_all();
        sessions.ended(GRACE).await;
        exit
    });
    drop(warmth);
    // The thread that reads standard input may still wait for it.
    runtime.shutdown_timeout(Duration::from_millis(200));
    Ok(exit)
}
