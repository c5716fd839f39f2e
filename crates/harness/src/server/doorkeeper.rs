//! Who may come in: only programs on this machine, and our own page. Any other page in a browser here is neither.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::uri::Scheme;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::server::answer::Problem;
use crate::server::{Server, log};

/// Numbers the requests of this process.
static REQUESTS: AtomicU64 = AtomicU64::new(1);

/// Returns a name for the next request.
pub(super) fn next_id() -> String {
    format!(
        "{:x}-{}",
        std::process::id(),
        REQUESTS.fetch_add(1, Ordering::Relaxed)
    )
}

/// Checks a request, passes it on, names and logs it.
pub(super) async fn keep(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let id = next_id();
    let line = format!("{} {}", request.method(), request.uri().path());
    let checked = check(
        request.uri(),
        request.headers(),
        server.port,
        server.token.as_deref(),
    )
    .and_then(|()| check_page(&request, &server.page_token));
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("x-request-id", value);
    }
    response.headers_mut().insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    // No page of another origin may even embed an answer.
    response.headers_mut().insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    let milliseconds = began.elapsed().as_secs_f64() * 1000.0;
    log::line(format!(
        "{id} {line} {} {milliseconds:.1} ms",
        response.status().as_u16()
    ));
    response
}

fn check(target: &Uri, headers: &HeaderMap, port: u16, token: Option<&str>) -> Result<(), Problem> {
    let is_here = |authority: &str| is_own_authority(authority, port);
    let hosts: Vec<&HeaderValue> = headers.get_all(header::HOST).iter().collect();
    let host_is_here = matches!(hosts.as_slice(), [host] if host.to_str().is_ok_and(is_here));
    if !host_is_here {
        return Err(foreign(
            "the Host header does not name this server",
            "use http://127.0.0.1:PORT",
        ));
    }
    // A whole address in the request line says once more who is meant.
    let named_here = target.authority().is_none_or(|authority| {
        is_here(authority.as_str()) && target.scheme() == Some(&Scheme::HTTP)
    });
    if !named_here {
        return Err(foreign(
            "the request line names another server",
            "use http://127.0.0.1:PORT, or the path alone",
        ));
    }
    for origin in headers.get_all(header::ORIGIN) {
        // Another port of this machine is another origin: any program here may serve pages on one.
        let here = origin
            .to_str()
            .ok()
            .and_then(|text| text.strip_prefix("http://"))
            .is_some_and(|authority| {
                let own = authority
                    .rsplit_once(':')
                    .is_some_and(|(_, given)| given.parse() == Ok(port))
                    || (port == 80 && !authority.ends_with(|c: char| c.is_ascii_digit()));
                own && is_loopback_authority(authority)
            });
        if !here {
            return Err(foreign(
                "requests from other origins are refused",
                "call the server from a program, not from a page",
            ));
        }
    }
    let mut sites = headers.get_all("sec-fetch-site").iter();
    if !sites.all(|site| matches!(site.as_bytes(), b"same-origin" | b"none")) {
        return Err(foreign(
            "cross-site requests are refused",
            "call the server from a program, not from a page",
        ));
    }
    match token {
        Some(token) if !bears(headers, token) => Err(Problem {
            header: Some((header::WWW_AUTHENTICATE, "Bearer".to_owned())),
            ..Problem::new(
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "a bearer token is required",
                "send `Authorization: Bearer TOKEN`",
            )
        }),
        _ => Ok(()),
    }
}

/// Checks that a request which a page of this origin caused, and which may do something, comes from our own page: only
/// that knows the token.
fn check_page(request: &Request, token: &str) -> Result<(), Problem> {
    let headers = request.headers();
    let from_a_page =
        headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    let given = headers.get("x-page-token").map(HeaderValue::as_bytes);
    if request.method().is_safe() || !from_a_page || is_same(given.unwrap_or_default(), token) {
        return Ok(());
    }
    Err(foreign(
        "this page is not, or no longer, the server's own",
        "open the server's address again; a program sends no `Origin`",
    ))
}

fn foreign(message: &str, hint: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "foreign_request", message, hint)
}

/// Returns whether `host[:port]` names this server: a loopback name, and its port where one is given.
fn is_own_authority(authority: &str, own: u16) -> bool {
    // The last colon of `[::1]` is none of a port.
    let after = authority.rsplit(']').next().unwrap_or(authority);
    let port_fits = match after.rsplit_once(':') {
        Some((_, given)) => given.is_empty() || given.parse() == Ok(own),
        None => true,
    };
    port_fits && is_loopback_authority(authority)
}

/// Returns whether `host[:port]` is a loopback name, by its exact spelling.
fn is_loopback_authority(authority: &str) -> bool {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
            None => return false,
        },
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    let known = host.eq_ignore_ascii_case("localhost") || host == "127.0.0.1" || host == "::1";
    known && port.chars().all(|c| c.is_ascii_digit()) && port.len() <= 5
}

fn bears(headers: &HeaderMap, token: &str) -> bool {
    let given = headers
        .get(header::AUTHORIZATION)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    let given = given
        .strip_prefix(b"Bearer ")
        .or_else(|| given.strip_prefix(b"bearer "))
        .unwrap_or_default();
    is_same(given, token)
}

/// Compares in a time that tells nothing about the token: every byte is looked at, whatever the first ones were.
fn is_same(given: &[u8], token: &str) -> bool {
    let mut difference = given.len() ^ token.len();
    for (index, byte) in token.bytes().enumerate() {
        difference |= usize::from(byte ^ given.get(index).copied().unwrap_or(0));
    }
    difference == 0
}

#[cfg(test)]
mod tests {
    use super::{is_loopback_authority, is_own_authority};

    #[test]
    fn another_port_is_another_server() {
        for host in [
            "127.0.0.1",
            "localhost:8090",
            "[::1]",
            "[::1]:8090",
            "localhost:",
        ] {
            assert!(is_own_authority(host, 8090), "{host}");
        }
        for host in [
            "127.0.0.1:80",
            "localhost:8091",
            "[::1]:1",
            "localhost:08a",
            "localhost:99999",
            "evil.example:8090",
        ] {
            assert!(!is_own_authority(host, 8090), "{host}");
        }
    }

    #[test]
    fn only_loopback_names_are_this_machine() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:8090",
            "localhost",
            "LOCALHOST:1",
            "[::1]:8090",
            "[::1]",
        ] {
            assert!(is_loopback_authority(host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "127.0.0.1:80:80",
            "127.0.0.1@evil",
            "",
            "[::1",
            "0.0.0.0",
            "2130706433",
            "localhost:x",
        ] {
            assert!(!is_loopback_authority(host), "{host}");
        }
    }
}
