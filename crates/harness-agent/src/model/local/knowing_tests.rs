//! What the local engine finds out about its server and model, and keeps.

use serde_json::{Value, json};

use super::tests::{ask, engine, good, request};
use super::*;
use crate::model::fault_tests::{Asked, Fault, json as answer, page};
use crate::model::{Abilities, Hearing, Model};

#[test]
fn the_model_is_looked_at_once_and_its_window_kept() {
    let fault = Fault::start(|asked| match asked.path.as_str() {
        "/api/show" => answer(
            200,
            &json!({"model_info": {"tiny.context_length": 2048, "general.parameter_count": 134_515_008_u64}, "capabilities": ["completion", "thinking", "tools"]}),
        ),
        "/api/ps" => answer(200, &json!({"models": []})),
        _ => good(),
    });
    let mut local = engine(&fault);
    let card = local.card(&Cancel::default()).unwrap();
    assert_eq!((card.window, card.host.this_machine), (2048, true));
    assert_eq!(
        card.abilities,
        Abilities {
            thinking: true,
            tools: true,
            schema: true,
            tiny: true
        }
    );
    local
        .reply(&request("a"), &mut |_| Hearing::On, &Cancel::default())
        .unwrap();
    let larger = Request {
        window: 8192,
        ..request("b")
    };
    local
        .reply(&larger, &mut |_| Hearing::On, &Cancel::default())
        .unwrap();
    let sent: Vec<Value> = fault
        .asked_for("/api/chat")
        .iter()
        .map(Asked::json)
        .collect();
    assert_eq!(
        (
            sent[0]["options"]["num_ctx"].as_u64(),
            sent[1]["options"]["num_ctx"].as_u64()
        ),
        (Some(2048), Some(2048))
    );
    assert_eq!(sent[0]["think"], json!(false));
    assert_eq!(fault.asked_for("/api/show").len(), 1);
}

#[test]
fn a_loaded_model_is_not_loaded_anew() {
    let fault = Fault::start(|asked| match asked.path.as_str() {
        "/api/ps" => answer(
            200,
            &json!({"models": [{"name": "tiny:1b", "context_length": 16384}]}),
        ),
        "/api/chat" => good(),
        _ => page(404, "text/plain", "no"),
    });
    ask(&fault);
    assert_eq!(
        fault.asked_for("/api/chat")[0].json()["options"]["num_ctx"],
        json!(16384)
    );
}

#[test]
fn a_model_that_must_be_loaded_first_is_told_once() {
    let told = |models: Value| {
        let fault = Fault::start(move |asked| match asked.path.as_str() {
            "/api/ps" => answer(200, &json!({"models": models.clone()})),
            "/api/chat" => good(),
            _ => page(404, "text/plain", "no"),
        });
        let mut local = engine(&fault);
        let mut told = Vec::new();
        for _ in 0..2 {
            let mut tell = |words: &str| told.push(words.to_owned());
            local.prepare(4096, &mut tell, &Cancel::default()).unwrap();
        }
        told
    };
    let loads = ["the server loads tiny:1b before it answers"];
    assert_eq!(told(json!([{"name": "other:8b"}])), loads);
    assert_eq!(
        told(json!([{"name": "tiny:1b", "context_length": 2048}])),
        loads
    );
    let empty: [&str; 0] = [];
    assert_eq!(
        told(json!([{"name": "tiny:1b", "context_length": 4096}])),
        empty
    );
}

#[test]
fn a_missing_model_names_the_line_that_gets_it() {
    let fault = Fault::start(|asked| match asked.path.as_str() {
        "/api/tags" => answer(200, &json!({"models": [{"name": "other:8b"}]})),
        _ => answer(404, &json!({"error": "model 'tiny:1b' not found"})),
    });
    assert_eq!(
        ask(&fault),
        "the model server at `127.0.0.1:PORT` does not have `tiny:1b` | get it with `ollama pull tiny:1b`; it has `other:8b`"
    );
}

#[test]
fn a_model_in_the_cloud_is_announced_as_leaving_and_its_prompts_are_checked() {
    let fault = Fault::start(|asked| match asked.path.as_str() {
        "/api/show" => answer(
            200,
            &json!({"remote_host": "https://ollama.example:443", "remote_model": "big"}),
        ),
        "/api/chat" => good(),
        _ => page(404, "text/plain", "no"),
    });
    let mut local = engine(&fault);
    let card = local.card(&Cancel::default()).unwrap();
    assert!(
        !card.host.this_machine
            && card
                .host
                .name
                .starts_with("ollama.example:443 through 127.0.0.1:")
    );
    let secret = format!("{}{}", "AKIA", "J4QZ7WMX2KRT5VBN");
    let refused = local.reply(&request(&secret), &mut |_| Hearing::On, &Cancel::default());
    assert!(matches!(
        refused,
        Err(ModelError::NotSent {
            rule: "send.secret",
            ..
        })
    ));
    assert_eq!(fault.asked_for("/api/chat").len(), 0);
    assert!(
        local
            .reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default())
            .is_ok()
    );
}

#[test]
fn a_model_is_asked_about_once_and_not_once_a_run() {
    let fault = Fault::start(|asked| match asked.path.as_str() {
        "/api/tags" => answer(
            200,
            &json!({"models": [{"name": "tiny:1b", "digest": "0123456789abcdef"}]}),
        ),
        "/api/show" => answer(200, &json!({"model_info": {"tiny.context_length": 2048}})),
        "/api/chat" => good(),
        _ => page(404, "text/plain", "no"),
    });
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let mut local = engine(&fault);
        local.cache = Cache::at(folder.path());
        assert_eq!(local.card(&Cancel::default()).unwrap().window, 2048);
    }
    assert_eq!(fault.asked_for("/api/show").len(), 1);
}

#[test]
fn nobody_there_says_how_to_start_it() {
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let environment = Environment {
        local_host: Some(format!(":{free}")),
        ..Environment::default()
    };
    let error = Local::new("m", &environment)
        .unwrap()
        .card(&Cancel::default())
        .unwrap_err();
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    assert_eq!(cause.as_deref(), Some("nothing listens there"));
    let ModelError::Unusable { message, hint, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        message,
        format!("no model server answers at `127.0.0.1:{free}`")
    );
    assert!(hint.contains("ollama serve"));
}
