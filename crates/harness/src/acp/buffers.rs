//! Files as the editor has them: what is typed and not saved is read through it, and never overwritten.

use std::path::Path;
use std::time::Duration;

use agent_client_protocol::v1::schema::{ReadTextFileRequest, SessionId};

use crate::acp::Connection;

/// An editor that does not answer is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A larger file is no source that somebody edits, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Returns the text of a file in the editor, where it differs from the one on disk, or was never saved.
pub(super) async fn unsaved(
    connection: &Connection,
    session: &SessionId,
    path: &Path,
) -> Option<String> {
    let saved = match std::fs::symlink_metadata(path) {
        // A pipe or a device would never end.
        Ok(about) if !about.is_file() || about.len() > LARGEST => return None,
        Ok(_) => std::fs::read_to_string(path).ok()?,
        Err(_) => String::new(),
    };
    let request = ReadTextFileRequest::new(session.clone(), path);
    let reply = connection.send_request(request).block_task();
    let reply = tokio::time::timeout(PATIENCE, reply).await.ok()?.ok()?;
    let is_same = plain(&saved) == plain(&reply.content);
    (!is_same).then_some(reply.content)
}

/// Editors give lines without their endings.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}
