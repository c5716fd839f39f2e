//! What may leave this machine and what may not, on real sockets.

use super::tests::{CHAT, QUICK, chat, engine, engine_at, good, request, told};
use super::*;
use crate::cancel::Cancel;
use crate::model::chat::UNKNOWN_WINDOW;
use crate::model::fault_tests::{Act, Fault, json};
use crate::model::local::Local;
use crate::model::{Hearing, Model};
use crate::skip::skip;

/// Returns an address of this machine that is not loopback, as another machine would use it.
fn outer_address() -> Option<std::net::IpAddr> {
    // Nothing is sent: connecting a datagram socket only asks the routing table.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!crate::model::address::is_loopback(ip) && !ip.is_unspecified()).then_some(ip)
}

#[test]
fn nothing_leaves_that_holds_a_secret() {
    let Some(ip) = outer_address() else {
        return skip("this machine has no address but loopback");
    };
    let fault = Fault::start_at(&ip.to_string(), |_| good());
    let mut remote = engine_at(&format!("http://{ip}:{}/v1", fault.port), Some("t")).unwrap();
    assert!(!remote.card(&Cancel::default()).unwrap().host.this_machine);
    let secret = format!("{}{}", "ghp_", "k7Qz2mXb9RtLw4VdYc8HsPf3GnJ6aTe5uKoB");
    for (system, content) in [
        ("", secret.as_str()),
        (secret.as_str(), "hi"),
        ("", &format!("+key = '{secret}'\n")),
    ] {
        let mut request = request(content);
        request.messages[0].content.push_str(system);
        let refused = remote
            .reply(&request, &mut |_| Hearing::On, &Cancel::default())
            .unwrap_err();
        assert!(
            matches!(
                &refused,
                ModelError::NotSent {
                    rule: "send.secret",
                    ..
                }
            ),
            "{refused:?}"
        );
        assert!(!format!("{refused:?}").contains(&secret));
    }
    let long = remote
        .reply(
            &request(&"a".repeat(200_001)),
            &mut |_| Hearing::On,
            &Cancel::default(),
        )
        .unwrap_err();
    assert!(matches!(
        long,
        ModelError::NotSent {
            rule: "send.too_long",
            ..
        }
    ));
    assert_eq!(fault.asked().len(), 0);
    assert_eq!(
        told(
            remote.reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default()),
            fault.port
        ),
        "Hello Stop None"
    );
}

/// Lays a secret into a part of a prompt.
type Lay = fn(&str) -> String;

/// Where a prompt carries what is not ours: the rules, and what files, diffs, tracebacks and tools brought.
const PLACES: [(&str, Lay); 5] = [
    ("system", str::to_owned),
    ("file excerpt", |secret| {
        let numbered = |(at, line): (usize, &str)| format!("{:>4} | {line}\n", at + 40);
        let lines: String = secret.lines().enumerate().map(numbered).collect();
        format!("shop/settings.py\n{lines}")
    }),
    ("diff", |secret| {
        let lines: String = secret.lines().map(|line| format!("+{line}\n")).collect();
        format!("--- a/settings.py\n+++ b/settings.py\n@@ -1 +1 @@\n{lines}")
    }),
    ("traceback", |secret| {
        format!(
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in load\nValueError: bad key '{secret}'\n"
        )
    }),
    ("tool result", |secret| {
        serde_json::json!({"tool": "read", "result": format!("see {secret} there")}).to_string()
    }),
];

#[test]
fn every_kind_is_refused_in_every_place_by_every_engine_that_sends() {
    let outer = outer_address();
    // Without a network an address from the documents does: what is refused is refused before anybody is called.
    let ip = outer.unwrap_or_else(|| std::net::Ipv4Addr::new(192, 0, 2, 1).into());
    let fault = outer.map(|ip| Fault::start_at(&ip.to_string(), |_| good()));
    let port = fault.as_ref().map_or(9, |fault| fault.port);
    let remote = engine_at(&format!("http://{ip}:{port}/v1"), Some("t")).unwrap();
    let environment = Environment {
        local_host: Some(format!("{ip}:{port}")),
        ..Environment::default()
    };
    let local = Local::with_limits("tiny", &environment, QUICK).unwrap();
    let mut engines: Vec<Box<dyn Model>> = vec![Box::new(remote)];
    if fault.is_some() {
        engines.push(Box::new(local));
    } else {
        skip("this machine has no address but loopback: the local engine's half");
    }
    for (kind, secret) in crate::secret::tests::samples() {
        for (place, lay) in PLACES {
            for engine in &mut engines {
                let mut request = request("what does this do?");
                let at = if place == "system" {
                    0
                } else {
                    request.messages.len() - 1
                };
                request.messages[at].content.push('\n');
                request.messages[at].content.push_str(&lay(&secret));
                let refused = engine.reply(&request, &mut |_| Hearing::On, &Cancel::default());
                let Err(ModelError::NotSent { rule, message, .. }) = &refused else {
                    panic!("{kind} in {place}: {refused:?}");
                };
                assert_eq!(*rule, "send.secret", "{kind} in {place}");
                let longest = secret
                    .lines()
                    .max_by_key(|line| line.len())
                    .unwrap_or_default();
                assert!(!message.contains(longest), "{kind} in {place}: {message}");
            }
        }
    }
    assert!(fault.is_none_or(|fault| fault.asked().is_empty()));
}

#[test]
fn this_machine_may_hear_everything() {
    let fault = chat(|_| good());
    let secret = format!("{}{}", "ghp_", "k7Qz2mXb9RtLw4VdYc8HsPf3GnJ6aTe5uKoB");
    let content = secret + &"a".repeat(200_001);
    assert!(
        engine(&fault)
            .reply(&request(&content), &mut |_| Hearing::On, &Cancel::default())
            .is_ok()
    );
}

#[test]
fn a_proxied_host_is_never_this_machine_and_this_machine_is_never_proxied() {
    let proxy = Fault::start(|asked| match asked.method.as_str() {
        "CONNECT" => vec![Act::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Act::Keep],
        _ => good(),
    });
    let environment = |base: String| Environment {
        base_url: Some(base),
        api_key: Some("t".to_owned()),
        http_proxy: Some(format!("http://127.0.0.1:{}", proxy.port)),
        ..Environment::default()
    };
    let far = environment("http://model.host.invalid/v1".to_owned());
    let mut remote = Remote::with_limits("tiny", &far, QUICK).unwrap();
    remote.cache = Cache::none();
    assert!(!remote.card(&Cancel::default()).unwrap().host.this_machine);
    assert_eq!(
        told(
            remote.reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default()),
            proxy.port
        ),
        "Hello Stop None"
    );
    assert_eq!(proxy.asked()[0].path, "model.host.invalid:80");
    let through_proxy = proxy.asked().len();
    let here = chat(|_| good());
    let near = environment(format!("http://127.0.0.1:{}/v1", here.port));
    let mut remote = Remote::with_limits("tiny", &near, QUICK).unwrap();
    assert!(remote.card(&Cancel::default()).unwrap().host.this_machine);
    remote
        .reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default())
        .unwrap();
    assert_eq!(
        (proxy.asked().len(), here.asked_for(CHAT).len()),
        (through_proxy, 1)
    );
}

#[test]
fn another_machine_is_asked_about_its_model_after_the_first_prompt_and_never_again() {
    let Some(ip) = outer_address() else {
        return skip("this machine has no address but loopback");
    };
    let fault = Fault::start_at(&ip.to_string(), |asked| match asked.path.as_str() {
        "/v1/models" => json(
            200,
            &serde_json::json!({"data": [{"id": "tiny", "max_model_len": 4096}]}),
        ),
        _ => good(),
    });
    let folder = tempfile::tempdir().unwrap();
    let windows: Vec<u32> = (0..3)
        .map(|_| {
            let mut remote =
                engine_at(&format!("http://{ip}:{}/v1", fault.port), Some("t")).unwrap();
            remote.cache = Cache::at(folder.path());
            let window = remote.card(&Cancel::default()).unwrap().window;
            remote
                .reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default())
                .unwrap();
            window
        })
        .collect();
    assert_eq!(windows, [UNKNOWN_WINDOW, 4096, 4096]);
    let paths: Vec<String> = fault.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(paths, [CHAT, "/v1/models", CHAT, CHAT]);
}

#[test]
fn facts_of_one_protocol_are_none_of_the_other() {
    let environment = Environment {
        local_host: Some("http://box:11434".to_owned()),
        base_url: Some("http://box:11434".to_owned()),
        ..Environment::default()
    };
    let local = Local::new("m", &environment).unwrap();
    let remote = Remote::new("m", &environment).unwrap();
    assert_ne!(local.name_in_cache(), remote.name_in_cache());
}
