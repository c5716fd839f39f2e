//! The folders that the client's user has open. They never widen what may be touched: the project is what the server was
//! started for, and a client whose folders have nothing to do with it gets no tool.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::sync::Mutex;

use crate::protocol;

/// A client that says it has roots and does not list them is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The client's folders, asked for once and again when they change.
#[derive(Debug, Default)]
pub(super) struct Roots(Mutex<Option<Vec<Root>>>);

/// A folder of the client; none where its address leads to no folder of this machine.
type Root = Option<PathBuf>;

impl Roots {
    /// Forgets what the client listed.
    pub(super) async fn forget(&self) {
        *self.0.lock().await = None;
    }

    /// Returns why a project may not be worked on: it lies outside of every folder that the client lists. Where only a
    /// part of it is open it may be read, but a change could be one that the user does not see.
    pub(super) async fn refusal(
        &self,
        project: &Path,
        writes: bool,
        context: &RequestContext<RoleServer>,
    ) -> Option<String> {
        let mut known = self.0.lock().await;
        let roots = match known.as_ref() {
            Some(roots) => roots,
            None => known.insert(listed(context).await),
        };
        // A folder of the project may be open alone, and so may one that holds several projects.
        let roots_are = |fits: &dyn Fn(&PathBuf) -> bool| roots.iter().flatten().any(fits);
        let shown = project.display();
        if roots.is_empty() || roots_are(&|root| project.starts_with(root)) {
            None
        } else if !roots_are(&|root| root.starts_with(project)) {
            let words = "lies outside of the folders that the client has open";
            Some(format!("the project `{shown}` {words}"))
        } else if writes {
            Some(format!("the client has only a part of `{shown}` open"))
        } else {
            None
        }
    }
}

#[expect(
    deprecated,
    reason = "newer protocols have no roots; clients of today still list theirs"
)]
async fn listed(context: &RequestContext<RoleServer>) -> Vec<Root> {
    // A newer protocol lets a server send no requests.
    let info = context.peer.peer_info();
    if info.is_none_or(|info| info.capabilities.roots.is_none()) {
        return Vec::new();
    }
    let reply = tokio::time::timeout(PATIENCE, context.peer.list_roots()).await;
    let Ok(Ok(reply)) = reply else {
        return Vec::new();
    };
    reply
        .roots
        .iter()
        .map(|root| protocol::path_of(&root.uri))
        .collect()
}
