//! The folders that the client's user has open. They never widen what may be touched: the project is what the server was
//! started for, and a client whose folders have nothing to do with it gets no tool.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::sync::Mutex;

/// A client that says it has roots and does not list them is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The client's folders, asked for once and again when they change.
#[derive(Debug, Default)]
pub(super) struct Roots(Mutex<Option<Vec<PathBuf>>>);

impl Roots {
    /// Forgets what the client listed.
    pub(super) async fn forget(&self) {
        *self.0.lock().await = None;
    }

    /// Returns why a project may not be worked on: it lies outside of every folder that the client lists.
    pub(super) async fn refusal(
        &self,
        project: &Path,
        context: &RequestContext<RoleServer>,
    ) -> Option<String> {
        let mut known = self.0.lock().await;
        let roots = match known.as_ref() {
            Some(roots) => roots,
            None => known.insert(listed(context).await),
        };
        // A folder of the project may be open alone, and so may one that holds several projects.
        let touches = |root: &PathBuf| project.starts_with(root) || root.starts_with(project);
        let is_fine = roots.is_empty() || roots.iter().any(touches);
        (!is_fine).then(|| {
            let shown = project.display();
            format!("the project `{shown}` lies outside of the folders that the client has open")
        })
    }
}

#[expect(
    deprecated,
    reason = "newer protocols have no roots; clients of today still list theirs"
)]
async fn listed(context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
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
        .filter_map(|root| folder(&root.uri))
        .collect()
}

/// Returns the folder behind a `file:` address.
fn folder(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = unescaped(path)?;
    // `file:///C:/work` names `C:/work`.
    let path = match path.as_bytes() {
        [b'/', _, b':', ..] if cfg!(windows) => &path[1..],
        _ => &path,
    };
    std::fs::canonicalize(path).ok()
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        bytes.push(match (first, tail) {
            (b'%', [high, low, after @ ..]) => {
                rest = after;
                let digits = [*high, *low];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            _ => *first,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_in_addresses_are_read() {
        assert_eq!(unescaped("/a%20b/%C3%A4"), Some("/a b/ä".to_owned()));
        assert_eq!(unescaped("/plain"), Some("/plain".to_owned()));
        assert_eq!(unescaped("/%zz"), None);
        assert_eq!(unescaped("/%ff"), None);
    }
}
