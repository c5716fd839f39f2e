//! What the servers share that a client starts: the word to stop, and addresses of files.

use std::path::PathBuf;

/// Waits for the word to stop.
pub(crate) async fn signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    drop(tokio::signal::ctrl_c().await);
}

/// Returns the file or folder behind a `file:` address, links resolved, where it exists.
pub(crate) fn path_of(uri: &str) -> Option<PathBuf> {
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
