//! Where a server is: reads the address as people write it, and tells by its numbers whether it is this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::options::shown;

/// How long a name may take to become numbers. Resolvers give up after 5 s a try, usually with two tries.
const LOOKUP_LIMIT: Duration = Duration::from_secs(15);
/// How often a waiting call looks whether the user stopped it: well under the 200 ms that feel immediate.
pub(crate) const GLANCE: Duration = Duration::from_millis(25);

/// The address of a server, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Whether the connection is encrypted.
    pub(crate) secure: bool,
    /// The host without brackets.
    pub(crate) host: String,
    /// The port, always known.
    pub(crate) port: u16,
    /// The path before the server's own routes, without a slash at its end.
    pub(crate) path: String,
}

/// Why an address cannot be used: a sentence and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadAddress {
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// What stands in for the parts that people leave out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    /// The port where neither port nor scheme is written; none means the scheme's own.
    pub(crate) port: Option<u16>,
    /// Whether an address without scheme is encrypted when its host is not plainly this machine.
    pub(crate) secure: bool,
}

impl Address {
    /// Reads an address: scheme, port and path may be left out, quotes and spaces around it are dropped.
    pub(crate) fn read(text: &str, defaults: Defaults) -> Result<Address, BadAddress> {
        let wrong = |message: String| BadAddress {
            message,
            hint: "write it like `http://127.0.0.1:11434`".to_owned(),
        };
        let clean = text.trim().trim_matches(['"', '\'']).trim();
        let shown_address = shown(clean);
        if clean.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(wrong(format!(
                "the address `{shown_address}` has spaces in it"
            )));
        }
        let (scheme, rest) = match clean.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, clean),
        };
        if let Some(scheme) = scheme.as_deref()
            && !matches!(scheme, "http" | "https")
        {
            return Err(wrong(format!(
                "`{}` is not a scheme that a model server speaks",
                shown(scheme)
            )));
        }
        // A query or a fragment has no meaning in a base address.
        let rest = rest.split(['?', '#']).next().unwrap_or(rest);
        let (authority, path) = match rest.find(['/', '\\']) {
            Some(at) => (&rest[..at], rest[at..].trim_end_matches('/')),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err(BadAddress {
                message: "the address holds a user name".to_owned(),
                hint: "leave out what stands before `@`; a token belongs in HARNESS_API_KEY"
                    .to_owned(),
            });
        }
        let (host, port) = host_and_port(authority)
            .ok_or_else(|| wrong(format!("`{shown_address}` is not the address of a server")))?;
        let host = this_machine_for_any(host);
        let plainly_here =
            matches!(host.as_str(), "localhost") || host.parse::<IpAddr>().is_ok_and(is_loopback);
        let secure = match scheme.as_deref() {
            Some(scheme) => scheme == "https",
            None => defaults.secure && !plainly_here,
        };
        let usual = if secure { 443 } else { 80 };
        let port = port.unwrap_or(match (scheme.is_some(), defaults.port) {
            (false, Some(port)) => port,
            (false, None) | (true, _) => usual,
        });
        Ok(Address {
            secure,
            host,
            port,
            path: path.to_owned(),
        })
    }

    /// Returns `host:port` as people know it.
    pub(crate) fn name(&self) -> String {
        if self.host.contains(':') {
            return format!("[{}]:{}", self.host, self.port);
        }
        format!("{}:{}", self.host, self.port)
    }

    /// Returns the whole address of one route below it.
    pub(crate) fn url(&self, route: &str) -> String {
        self.url_of(&format!("{}{route}", self.path))
    }

    /// Returns the whole address of a path at its host.
    pub(crate) fn url_of(&self, path: &str) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.name())
    }

    /// Returns the numbers behind the name; asks the resolver on a second thread, so that the user can stop it.
    pub(crate) fn look_up(&self, cancel: &Cancel) -> Result<Vec<SocketAddr>, LookUp> {
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(ip, self.port)]);
        }
        let (host, port) = (self.host.clone(), self.port);
        let begun = Instant::now();
        let found = beside(
            move || (host.as_str(), port).to_socket_addrs(),
            || cancel.stopped() || begun.elapsed() >= LOOKUP_LIMIT,
        );
        match found {
            Some(Ok(found)) if found.len() > 0 => Ok(found.collect()),
            None if cancel.stopped() => Err(LookUp::Interrupted),
            Some(_) | None => Err(LookUp::Unknown),
        }
    }
}

/// Does what blocks on a second thread, which ends by itself, and returns what came of it; nothing when it is not waited
/// for any longer.
pub(crate) fn beside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    is_over: impl Fn() -> bool,
) -> Option<T> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        // The asker may be gone already.
        let _ = tell.send(work());
    });
    while !is_over() {
        match told.recv_timeout(GLANCE) {
            Ok(done) => return Some(done),
            Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
    None
}

/// Why a name did not become numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookUp {
    /// Nobody knows it.
    Unknown,
    /// The user stopped it.
    Interrupted,
}

/// Returns whether an address is this machine: loopback only, also when it is written as IPv4 inside IPv6.
pub(crate) fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

fn host_and_port(authority: &str) -> Option<(String, Option<u16>)> {
    // A bare IPv6 address has colons but no port.
    if let Ok(ip) = authority.parse::<Ipv6Addr>() {
        return Some((ip.to_string(), None));
    }
    if let Some(rest) = authority.strip_prefix('[') {
        let (inside, after) = rest.split_once(']')?;
        let ip = inside.parse::<Ipv6Addr>().ok()?;
        return Some((ip.to_string(), port_of(after)?));
    }
    let (host, after) = match authority.find(':') {
        Some(at) => (&authority[..at], &authority[at..]),
        None => (authority, ""),
    };
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    let plain = host
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
    if !plain || host.len() > 253 {
        return None;
    }
    Some((host.to_ascii_lowercase(), port_of(after)?))
}

/// Reads `:1234`; nothing and a lone colon mean that no port is written. `None` is a port that cannot be.
fn port_of(text: &str) -> Option<Option<u16>> {
    match text.strip_prefix(':') {
        None if text.is_empty() => Some(None),
        None => None,
        Some("") => Some(None),
        Some(digits) => digits
            .parse::<u16>()
            .ok()
            .filter(|port| *port > 0)
            .map(Some),
    }
}

/// `0.0.0.0` and `::` mean "every address" to a server; people copy them into clients, where they mean this machine.
fn this_machine_for_any(host: String) -> String {
    match host.parse::<IpAddr>() {
        Ok(ip) if ip == IpAddr::V4(Ipv4Addr::UNSPECIFIED) => "127.0.0.1".to_owned(),
        Ok(ip) if ip == IpAddr::V6(Ipv6Addr::UNSPECIFIED) => "::1".to_owned(),
        Ok(_) | Err(_) => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: Defaults = Defaults {
        port: Some(11434),
        secure: false,
    };
    const REMOTE: Defaults = Defaults {
        port: None,
        secure: true,
    };

    #[track_caller]
    fn check(text: &str, defaults: Defaults, url: &str) {
        assert_eq!(
            Address::read(text, defaults).map(|address| address.url("/x")),
            Ok(url.to_owned())
        );
    }

    #[test]
    fn the_local_host_is_read_in_every_form_people_write() {
        check("127.0.0.1", LOCAL, "http://127.0.0.1:11434/x");
        check("127.0.0.1:8080", LOCAL, "http://127.0.0.1:8080/x");
        check(":8080", LOCAL, "http://127.0.0.1:8080/x");
        check("0.0.0.0", LOCAL, "http://127.0.0.1:11434/x");
        check("http://0.0.0.0:11434/", LOCAL, "http://127.0.0.1:11434/x");
        check(
            " \"http://localhost:1234\" ",
            LOCAL,
            "http://localhost:1234/x",
        );
        check("HTTP://LocalHost", LOCAL, "http://localhost:80/x");
        check(
            "https://models.example",
            LOCAL,
            "https://models.example:443/x",
        );
        check("::1", LOCAL, "http://[::1]:11434/x");
        check("[::1]:9", LOCAL, "http://[::1]:9/x");
        check("[::]", LOCAL, "http://[::1]:11434/x");
        check("box:11434/ollama/", LOCAL, "http://box:11434/ollama/x");
        check("box:", LOCAL, "http://box:11434/x");
    }

    #[test]
    fn a_remote_base_address_keeps_its_path() {
        check(
            "https://api.example/v1/",
            REMOTE,
            "https://api.example:443/v1/x",
        );
        check(
            "api.example/v1?key=1",
            REMOTE,
            "https://api.example:443/v1/x",
        );
        check("localhost:8000/v1", REMOTE, "http://localhost:8000/v1/x");
        check("http://10.0.0.2:8000", REMOTE, "http://10.0.0.2:8000/x");
    }

    #[test]
    fn what_is_no_address_is_said_to_be_none() {
        for text in [
            "http://127.0.0.1@evil.example",
            "ftp://box",
            "box:99999",
            "box:0",
            "a b",
            "[::1",
            "http://ho\tst",
            "a_b!c",
        ] {
            assert!(Address::read(text, LOCAL).is_err(), "{text}");
        }
    }

    #[test]
    fn only_loopback_numbers_are_this_machine() {
        for (text, here) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("10.0.0.1", false),
            ("192.168.0.1", false),
            ("0.0.0.0", false),
            ("::ffff:10.0.0.1", false),
            ("169.254.1.1", false),
        ] {
            assert_eq!(is_loopback(text.parse().unwrap()), here, "{text}");
        }
    }

    #[test]
    fn spelling_does_not_make_a_host_this_machine() {
        let look = |text: &str| {
            let found = Address::read(text, LOCAL)
                .unwrap()
                .look_up(&Cancel::default());
            found.map(|all| all.iter().all(|one| is_loopback(one.ip())))
        };
        assert_eq!(look("localhost"), Ok(true));
        assert_eq!(look("127.0.0.1.evil.invalid"), Err(LookUp::Unknown));
        assert_eq!(look("localhost.evil.invalid"), Err(LookUp::Unknown));
        // The resolver reads decimal and octal forms as numbers where the platform does; spelling never decides.
        for text in ["2130706433", "0177.0.0.1"] {
            assert!(
                matches!(look(text), Ok(true) | Err(LookUp::Unknown)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_stopped_look_up_ends_at_once() {
        let cancel = Cancel::default();
        cancel.stop();
        let address = Address::read("some.name.invalid", LOCAL).unwrap();
        assert_eq!(address.look_up(&cancel), Err(LookUp::Interrupted));
    }
}
