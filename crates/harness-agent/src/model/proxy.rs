//! Which proxy stands between us and a host, from the environment. Never asked for this machine.

use ureq::{Proxy, ProxyProtocol};

use crate::env::Environment;
use crate::model::ModelError;
use crate::model::address::Address;

/// Returns the proxy for a host; none where `NO_PROXY` names it.
pub(crate) fn for_host(
    address: &Address,
    environment: &Environment,
) -> Result<Option<Proxy>, ModelError> {
    let own = if address.secure {
        &environment.https_proxy
    } else {
        &environment.http_proxy
    };
    let Some(written) = own.as_deref().or(environment.all_proxy.as_deref()) else {
        return Ok(None);
    };
    if environment
        .no_proxy
        .as_deref()
        .is_some_and(|names| spared(&address.host, names))
    {
        return Ok(None);
    }
    let wrong = |message: &str| {
        ModelError::unusable(
            format!("the proxy cannot be used: {message}"),
            "set HTTPS_PROXY like `http://host:port`, or name the host in NO_PROXY",
        )
    };
    let proxy = Proxy::new(written.trim())
        .map_err(|error| wrong("its address cannot be read").because(error))?;
    match proxy.protocol() {
        ProxyProtocol::Http | ProxyProtocol::Https => Ok(Some(proxy)),
        _ => Err(wrong("it speaks SOCKS")),
    }
}

/// Whether `NO_PROXY` names a host: `*`, a name, or a domain with or without a dot before it.
fn spared(host: &str, names: &str) -> bool {
    names
        .split(',')
        .map(|name| name.trim().to_ascii_lowercase())
        .any(|name| {
            let name = name
                .split(':')
                .next()
                .unwrap_or_default()
                .trim_start_matches("*.")
                .trim_start_matches('.')
                .to_owned();
            let domain = format!(".{name}");
            !name.is_empty() && (name == "*" || name == host || host.ends_with(&domain))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::address::Defaults;

    #[track_caller]
    fn check(url: &str, no_proxy: &str, expected: Option<&str>) {
        let environment = Environment {
            https_proxy: Some("http://proxy:3128".to_owned()),
            no_proxy: Some(no_proxy.to_owned()),
            ..Environment::default()
        };
        let address = Address::read(
            url,
            Defaults {
                port: None,
                secure: true,
            },
        )
        .unwrap();
        let proxy = for_host(&address, &environment).unwrap();
        assert_eq!(
            proxy.map(|proxy| proxy.host().to_owned()).as_deref(),
            expected
        );
    }

    #[test]
    fn the_environment_decides() {
        check("https://api.example", "", Some("proxy"));
        check("http://api.example", "", None);
        check("https://api.example", "other.example, .example", None);
        check("https://api.example", "api.example", None);
        check("https://api.example", "pi.example", Some("proxy"));
        check("https://api.example", "*", None);
    }

    #[test]
    fn a_proxy_that_we_do_not_speak_is_said_to_be_one() {
        let environment = Environment {
            all_proxy: Some("socks5://p:1".to_owned()),
            ..Environment::default()
        };
        let address = Address::read(
            "https://api.example",
            Defaults {
                port: None,
                secure: true,
            },
        )
        .unwrap();
        assert!(for_host(&address, &environment).is_err());
    }
}
