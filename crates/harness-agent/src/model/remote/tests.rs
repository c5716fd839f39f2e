//! The remote engine against hosts of every kind, all on this machine or on an address of it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::cancel::Cancel;
use crate::model::fault_tests::{
    Act, Asked, Fault, chunk, chunked_head, json as answer, page, stream_head,
};
use crate::model::{Finish, Hearing, Message, Model, Reply, Shape};

pub(super) const QUICK: Limits = Limits {
    connect: Duration::from_secs(2),
    first: Duration::from_millis(900),
    between: Duration::from_millis(400),
    probe: Duration::from_millis(600),
};

pub(super) fn engine_at(base: &str, token: Option<&str>) -> Result<Remote, ModelError> {
    let environment = Environment {
        base_url: Some(base.to_owned()),
        api_key: token.map(str::to_owned),
        ..Environment::default()
    };
    let mut remote = Remote::with_limits("tiny", &environment, QUICK)?;
    remote.first_pause = Duration::from_millis(5);
    remote.cache = Cache::none();
    Ok(remote)
}

pub(super) fn engine(fault: &Fault) -> Remote {
    engine_at(&format!("http://127.0.0.1:{}/v1", fault.port), None).unwrap()
}

pub(super) fn request(content: &str) -> Request {
    let message = |role, content: &str| Message {
        role,
        content: content.to_owned(),
    };
    let messages = vec![message(Role::System, "rules"), message(Role::User, content)];
    Request {
        messages,
        max_tokens: 20,
        window: 4096,
        temperature: 0.0,
        seed: 7,
        shape: Default::default(),
    }
}

pub(super) const CHAT: &str = "/v1/chat/completions";

pub(super) fn chat(acts: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Fault {
    Fault::start(move |asked| match asked.path.as_str() {
        CHAT => acts(asked),
        _ => page(404, "text/plain", "Not Found"),
    })
}

fn delta(text: &str) -> String {
    format!(
        "data: {}\n\n",
        json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
    )
}

const STOP: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":3}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

pub(super) fn good() -> Vec<Act> {
    let whole = delta("Hel") + &delta("lo") + STOP + USAGE + DONE;
    page(200, "text/event-stream", &whole)
}

pub(super) fn told(result: Result<Reply, ModelError>, port: u16) -> String {
    match result {
        Ok(reply) => format!("{} {:?} {:?}", reply.text, reply.finish, reply.notice),
        Err(ModelError::Unusable { message, hint, .. }) => {
            format!("{message} | {hint}").replace(&port.to_string(), "PORT")
        }
        Err(other) => format!("{other:?}"),
    }
}

#[track_caller]
fn ask(fault: &Fault) -> String {
    let begun = Instant::now();
    let result = engine(fault).reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default());
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "it took {:?}",
        begun.elapsed()
    );
    told(result, fault.port)
}

#[track_caller]
fn check_stream(stream: &str, expected: &str) {
    let stream = stream.to_owned();
    let fault = chat(move |_| page(200, "text/event-stream", &stream));
    assert_eq!(ask(&fault), expected);
}

#[test]
fn a_stream_becomes_a_reply() {
    let fault = chat(|_| good());
    let reply = engine(&fault)
        .reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default())
        .unwrap();
    let expected = Reply {
        text: "Hello".to_owned(),
        prompt_tokens: 11,
        reply_tokens: 3,
        finish: Finish::Stop,
        notice: None,
    };
    assert_eq!(reply, expected);
    let sent = fault.asked_for(CHAT)[0].json();
    let expected = json!({
        "model": "tiny",
        "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "hi"}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 20,
        "temperature": 0.0,
        "seed": 7,
    });
    assert_eq!(sent, expected);
}

#[test]
fn streams_come_in_many_forms() {
    let hello = "Hello Stop None";
    let all = delta("Hel") + &delta("lo") + STOP + DONE;
    check_stream(&all, hello);
    check_stream(&all.replace('\n', "\r\n"), hello);
    check_stream(&all.replace("data: ", "data:"), hello);
    check_stream(&all.replace("\n\n", "\n"), hello);
    check_stream(
        &format!(": ping\n\n: ping\n\nevent: message\nid: 3\nretry: 10\n{all}"),
        hello,
    );
    check_stream(&format!("\u{feff}{all}"), hello);
    // No `[DONE]`, or nothing but `[DONE]` at the end.
    check_stream(&(delta("Hello") + STOP), hello);
    check_stream(&(delta("Hello") + DONE), hello);
    // The role alone first, and an end without words.
    check_stream(
        &format!(
            "data: {{\"choices\":[{{\"delta\":{{\"role\":\"assistant\",\"content\":null}}}}]}}\n\n{all}"
        ),
        hello,
    );
    // An event over two data lines.
    check_stream(
        &format!(
            "data: {{\"choices\":\ndata: [{{\"delta\":{{\"content\":\"Hello\"}}}}]}}\n\n{STOP}{DONE}"
        ),
        hello,
    );
    // Parts instead of a text, and an error field that is null.
    check_stream(
        &format!(
            "data: {{\"error\":null,\"choices\":[{{\"delta\":{{\"content\":[{{\"type\":\"text\",\"text\":\"Hello\"}}]}}}}]}}\n\n{STOP}"
        ),
        hello,
    );
    // Thinking beside the words.
    check_stream(
        &format!("data: {{\"choices\":[{{\"delta\":{{\"reasoning_content\":\"hm\"}}}}]}}\n\n{all}"),
        hello,
    );
    check_stream(&(delta("<think>hm</think>") + &all), hello);
    let long = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"length\"}]}\n\n";
    check_stream(long, "Hello Length None");
    let empty = delta("").repeat(3);
    check_stream(&(empty + &all), hello);
}

#[test]
fn an_answer_in_one_piece_is_understood() {
    let whole = json!({
        "choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    });
    let pretty = serde_json::to_string_pretty(&whole).unwrap();
    let fault = chat(move |_| answer(200, &whole));
    assert_eq!(ask(&fault), "Hello Stop None");
    let fault = chat(move |_| page(200, "text/plain", &pretty));
    assert_eq!(ask(&fault), "Hello Stop None");
}

#[test]
fn native_calls_are_put_together_and_passed_on() {
    let piece = |fields: Value| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"delta": {"tool_calls": [fields]}}]})
        )
    };
    let stream =
        piece(json!({"index": 0, "id": "c", "function": {"name": "read", "arguments": ""}}))
            + &piece(json!({"index": 0, "function": {"arguments": "{\"path\":"}}))
            + &piece(json!({"index": 0, "function": {"arguments": "\"a.py\"}"}}))
            + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n"
            + DONE;
    check_stream(&stream, "{\"tool\":\"read\",\"path\":\"a.py\"} Stop None");
}

#[test]
fn a_broken_answer_is_one_sentence_and_not_sent_again() {
    let event = "text/event-stream";
    let cases: Vec<(Vec<Act>, &str)> = vec![
        (
            vec![stream_head(event), Act::Send(delta("Hel").into())],
            "the reply from `127.0.0.1:PORT` broke off: ",
        ),
        (
            vec![chunked_head(event), chunk(&delta("Hel")), Act::Reset],
            "the reply from `127.0.0.1:PORT` broke off: ",
        ),
        (
            vec![chunked_head(event), chunk(&delta("Hel")), Act::Pause(2000)],
            "the reply from `127.0.0.1:PORT` broke off: it said nothing",
        ),
        (
            page(200, event, "data: {\"choi\n\n"),
            "what `127.0.0.1:PORT` answered is not",
        ),
        (
            page(200, "text/html", "<html>"),
            "what `127.0.0.1:PORT` answered is not",
        ),
        (
            page(200, event, ""),
            "what `127.0.0.1:PORT` answered is not",
        ),
        (
            page(
                200,
                event,
                &(delta("Hel") + "data: {\"error\":{\"message\":\"out of memory\"}}\n\n"),
            ),
            "`127.0.0.1:PORT` failed in the middle of a reply: out of memory",
        ),
        (
            vec![stream_head(event), Act::Endless(vec![b'x'; 1 << 20])],
            "the reply from `127.0.0.1:PORT` broke off: the answer cannot be read (a line of more than 8 MB)",
        ),
        (vec![Act::Pause(2000)], "`127.0.0.1:PORT` does not answer"),
        (
            vec![Act::Send(b"HELLO THERE\r\n\r\n".to_vec())],
            "`127.0.0.1:PORT` cannot be used",
        ),
    ];
    for (acts, sentence) in cases {
        let fault = chat(move |_| acts.clone());
        let told = ask(&fault);
        assert!(told.starts_with(sentence), "{told}\n{sentence}");
        assert_eq!(fault.asked_for(CHAT).len(), 1, "{sentence}");
    }
}

#[test]
fn refusals_are_sentences_with_a_hint() {
    for (status, body, sentence) in [
        (
            401,
            json!({"error": {"message": "bad key"}}),
            "`127.0.0.1:PORT` wants a token: bad key | set HARNESS_API_KEY",
        ),
        (
            403,
            json!({"error": "no"}),
            "`127.0.0.1:PORT` does not allow this: no | check that the token",
        ),
        (
            404,
            json!({"error": {"message": "The model `tiny` does not exist"}}),
            "`127.0.0.1:PORT` does not have the model `tiny`: The model `tiny` does not exist | name another with --model",
        ),
        (
            404,
            json!({}),
            "there is no chat at `http://127.0.0.1:PORT/v1` | check HARNESS_BASE_URL",
        ),
        (
            400,
            json!({"error": {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}}),
            "the prompt is longer than the model's window: the request exceeds",
        ),
        (
            413,
            json!({}),
            "the prompt is longer than the model's window | narrow the task",
        ),
        (
            418,
            json!({"message": "teapot"}),
            "`127.0.0.1:PORT` refused the prompt (status 418): teapot | ",
        ),
        (402, json!({}), "`127.0.0.1:PORT` wants to be paid first | "),
    ] {
        let fault = chat(move |_| answer(status, &body));
        let told = ask(&fault);
        assert!(told.starts_with(sentence), "{told}\n{sentence}");
        assert_eq!(fault.asked_for(CHAT).len(), 1);
    }
}

#[test]
fn a_host_in_trouble_is_asked_again_and_not_for_ever() {
    let fault = chat(|asked| {
        if asked.before < 2 {
            answer(502, &json!({}))
        } else {
            good()
        }
    });
    assert_eq!(ask(&fault), "Hello Stop None");
    let fault = chat(|_| answer(500, &json!({"error": "broken"})));
    assert!(ask(&fault).starts_with("`127.0.0.1:PORT` is in trouble (status 500): broken | "));
    assert_eq!(fault.asked_for(CHAT).len(), 4);
}

#[test]
fn the_wait_that_a_host_asks_for_is_kept() {
    let late = |seconds: u32| {
        Act::Send(format!("HTTP/1.1 429 Slow\r\nretry-after: {seconds}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").into())
    };
    let fault = chat(move |asked| {
        if asked.before == 0 {
            vec![late(1)]
        } else {
            good()
        }
    });
    let begun = Instant::now();
    assert_eq!(ask(&fault), "Hello Stop None");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let fault = chat(move |_| vec![late(4000)]);
    assert!(ask(&fault).starts_with("`127.0.0.1:PORT` asks us to wait for 4000 seconds | "));
    assert_eq!(fault.asked_for(CHAT).len(), 1);
}

#[test]
fn a_server_that_loads_its_model_is_waited_for() {
    let fault = chat(|asked| match asked.before {
        0 => answer(
            503,
            &json!({"error": {"message": "Loading model", "type": "unavailable_error"}}),
        ),
        _ => good(),
    });
    assert_eq!(ask(&fault), "Hello Stop None");
}

#[test]
fn a_host_is_spoken_to_as_it_wants() {
    let fault = chat(|asked| {
        let body = asked.json();
        if body.get("max_tokens").is_some() {
            return answer(
                400,
                &json!({"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}),
            );
        }
        if body.get("temperature").is_some() {
            return answer(
                400,
                &json!({"error": {"message": "'temperature' is not supported"}}),
            );
        }
        good()
    });
    assert_eq!(ask(&fault), "Hello Stop None");
    let last = fault.asked_for(CHAT).pop().unwrap().json();
    assert_eq!(
        (
            last["max_completion_tokens"].as_u64(),
            last.get("temperature")
        ),
        (Some(20), None)
    );
    let fault = chat(|asked| {
        let messages = asked.json()["messages"].clone();
        if messages[0]["role"] == "system" {
            answer(500, &json!({"error": "System role not supported"}))
        } else {
            good()
        }
    });
    assert_eq!(ask(&fault), "Hello Stop None");
    let last = fault.asked_for(CHAT).pop().unwrap().json();
    assert_eq!(
        last["messages"],
        json!([{"role": "user", "content": "rules\n\nhi"}])
    );
}

#[test]
fn the_base_address_may_lack_its_version() {
    for base in ["", "/", "/v1", "/v1/", "/v1/chat/completions"] {
        let fault = chat(|_| good());
        let mut remote =
            engine_at(&format!("http://127.0.0.1:{}{base}", fault.port), None).unwrap();
        let reply = remote.reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default());
        assert_eq!(told(reply, fault.port), "Hello Stop None", "{base}");
    }
    // A host that lies elsewhere is taken at its word.
    let fault = Fault::start(|asked| match asked.path.as_str() {
        "/api/chat/completions" => good(),
        _ => page(404, "text/plain", "no"),
    });
    let mut remote = engine_at(&format!("127.0.0.1:{}/api", fault.port), None).unwrap();
    assert_eq!(
        told(
            remote.reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default()),
            fault.port
        ),
        "Hello Stop None"
    );
}

#[test]
fn the_token_goes_as_a_bearer() {
    let fault = chat(|_| good());
    let mut remote = engine_at(
        &format!("http://127.0.0.1:{}/v1", fault.port),
        Some(" secret-1 \n"),
    )
    .unwrap();
    remote
        .reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default())
        .unwrap();
    assert_eq!(
        fault.asked_for(CHAT)[0].headers["authorization"],
        "Bearer secret-1"
    );
    assert!(engine_at("http://127.0.0.1:1/v1", Some("two words")).is_err());
}

#[test]
fn a_redirect_is_followed_on_the_same_host_only() {
    let sent_on = |status: u16, location: String| {
        vec![Act::Send(format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").into())]
    };
    let fault = Fault::start(move |asked| match asked.path.as_str() {
        CHAT => sent_on(307, "/new/v1/chat/completions".to_owned()),
        "/v1/new/v1/chat/completions" => page(500, "text/plain", "wrong place"),
        "/new/v1/chat/completions" => good(),
        _ => page(404, "text/plain", "no"),
    });
    let told_here = ask(&fault);
    let elsewhere = chat(|_| good());
    let port = elsewhere.port;
    for status in [301, 302, 303, 307, 308] {
        let fault = chat(move |_| sent_on(status, format!("http://127.0.0.1:{port}{CHAT}")));
        let told = ask(&fault);
        assert!(
            told.contains("sends us on to") && told.contains("which we do not follow"),
            "{told}"
        );
    }
    assert_eq!(elsewhere.asked().len(), 0);
    assert_eq!(told_here, "Hello Stop None");
}

#[test]
fn what_is_missing_is_said() {
    let error = Remote::new("tiny", &Environment::default()).unwrap_err();
    assert!(
        matches!(error, ModelError::Unusable { hint, .. } if hint.contains("HARNESS_BASE_URL"))
    );
    let error = engine_at("http://192.0.2.1/v1", None)
        .unwrap()
        .card(&Cancel::default())
        .unwrap_err();
    assert!(matches!(error, ModelError::Unusable { hint, .. } if hint.contains("HARNESS_API_KEY")));
    let error = engine_at("http://user:pass@host/v1", None).unwrap_err();
    assert!(!format!("{error:?}").contains("pass"));
}

#[test]
fn a_server_on_this_machine_is_asked_what_it_has() {
    let fault = Fault::start(|asked| match asked.path.as_str() {
        "/v1/models" => answer(
            200,
            &json!({"data": [{"id": "only", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192, "n_params": 134_515_008}}]}),
        ),
        "/props" => answer(
            200,
            &json!({"default_generation_settings": {"n_ctx": 2048}, "chat_template": "{% if tools %}"}),
        ),
        CHAT => good(),
        _ => page(404, "text/plain", "no"),
    });
    let environment = Environment {
        base_url: Some(format!("http://127.0.0.1:{}/v1", fault.port)),
        ..Environment::default()
    };
    let mut remote = Remote::with_limits(DEFAULT_MODEL, &environment, QUICK).unwrap();
    let card = remote.card(&Cancel::default()).unwrap();
    assert_eq!(
        (card.model.as_str(), card.window, card.host.this_machine),
        ("only", 2048, true)
    );
    assert!(card.abilities.tools && card.abilities.schema && card.abilities.tiny);
    remote
        .reply(&request("hi"), &mut |_| Hearing::On, &Cancel::default())
        .unwrap();
    let sent = fault.asked_for(CHAT)[0].json();
    assert_eq!(
        (sent["model"].as_str(), &sent["chat_template_kwargs"]),
        (Some("only"), &json!({"enable_thinking": false}))
    );
}

#[test]
fn a_shape_is_asked_for_until_the_host_minds() {
    for (shape, field) in [(Shape::Object, "response_format"), (Shape::Calls, "tools")] {
        let fault = chat(move |asked| match asked.before {
            0 => page(400, "text/plain", &format!("`{field}` is not supported")),
            _ => page(200, "text/event-stream", &(delta("Hello") + STOP + DONE)),
        });
        let shaped = Request {
            shape,
            ..request("hi")
        };
        let reply = engine(&fault)
            .reply(&shaped, &mut |_| Hearing::On, &Cancel::default())
            .unwrap();
        assert_eq!(reply.text, "Hello");
        let sent: Vec<bool> = fault
            .asked_for(CHAT)
            .iter()
            .map(|asked| asked.json().get(field).is_some())
            .collect();
        assert_eq!(sent, [true, false], "{field}");
    }
}
