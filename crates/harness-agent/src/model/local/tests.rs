//! The local engine against a server with every fault that a real one may have.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::model::fault_tests::{
    Act, Asked, Fault, chunk, chunked_head, json as answer, page, stream_head,
};
use crate::model::{Finish, Hearing, Message, Model, Shape};

pub(super) const QUICK: Limits = Limits {
    connect: Duration::from_secs(2),
    first: Duration::from_millis(600),
    between: Duration::from_millis(400),
    probe: Duration::from_millis(600),
};

pub(super) fn engine(fault: &Fault) -> Local {
    let environment = Environment {
        local_host: Some(format!("127.0.0.1:{}", fault.port)),
        ..Environment::default()
    };
    let mut local = Local::with_limits("tiny:1b", &environment, QUICK).unwrap();
    local.first_pause = Duration::from_millis(5);
    local.cache = Cache::none();
    local
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

fn piece(text: &str) -> String {
    json!({"message": {"role": "assistant", "content": text}, "done": false}).to_string() + "\n"
}

fn end(reason: &str) -> String {
    json!({"message": {"content": ""}, "done": true, "done_reason": reason, "prompt_eval_count": 11, "eval_count": 3})
        .to_string()
        + "\n"
}

pub(super) fn good() -> Vec<Act> {
    vec![
        chunked_head("application/x-ndjson"),
        chunk(&piece("Hel")),
        chunk(&piece("lo")),
        chunk(&end("stop")),
        Act::Send(b"0\r\n\r\n".to_vec()),
        Act::Keep,
    ]
}

/// A server that answers `/api/chat` as told and has no other route.
fn chat(acts: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Fault {
    Fault::start(move |asked| match asked.path.as_str() {
        "/api/chat" => acts(asked),
        _ => page(404, "text/plain", "404 page not found"),
    })
}

/// Asks once and returns the reply's words, or the error's sentence and hint. Nothing may take long.
#[track_caller]
pub(super) fn ask(fault: &Fault) -> String {
    let begun = Instant::now();
    let mut heard = String::new();
    let reply = engine(fault).reply(
        &request("hi"),
        &mut |piece| {
            heard.push_str(piece);
            Hearing::On
        },
        &Cancel::default(),
    );
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "it took {:?}",
        begun.elapsed()
    );
    match reply {
        Ok(reply) => {
            assert_eq!(reply.text, heard);
            format!("{} {:?} {:?}", reply.text, reply.finish, reply.notice)
        }
        Err(ModelError::Unusable { message, hint, .. }) => {
            format!("{message} | {hint}").replace(&fault.port.to_string(), "PORT")
        }
        Err(other) => format!("{other:?}"),
    }
}

#[test]
fn a_stream_becomes_a_reply() {
    let fault = chat(|_| good());
    assert_eq!(ask(&fault), "Hello Stop None");
    let asked = &fault.asked_for("/api/chat")[0];
    assert_eq!(
        (
            asked.method.as_str(),
            asked.headers["content-type"].as_str()
        ),
        ("POST", "application/json")
    );
    let sent = asked.json();
    let expected = json!({
        "model": "tiny:1b",
        "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "hi"}],
        "stream": true,
        "keep_alive": "30m",
        "truncate": false,
        "shift": false,
        "options": {"num_ctx": 4096, "num_predict": 20, "temperature": 0.0, "seed": 7},
    });
    assert_eq!(sent, expected);
}

#[test]
fn an_answer_in_one_piece_is_understood() {
    let whole = json!({"message": {"content": "Hello"}, "done": true, "done_reason": "stop"});
    let fault = chat(move |_| answer(200, &whole));
    assert_eq!(ask(&fault), "Hello Stop None");
    let fault = chat(move |_| {
        page(
            200,
            "text/plain",
            "{\n \"message\": {\n  \"content\": \"Hello\"\n },\n \"done\": true\n}\n",
        )
    });
    assert_eq!(ask(&fault), "Hello Stop None");
}

#[test]
fn a_server_without_chat_is_asked_to_generate() {
    let fault = Fault::start(|asked| match asked.path.as_str() {
        "/api/generate" => page(
            200,
            "application/x-ndjson",
            "{\"response\":\"Hel\",\"done\":false}\n{\"response\":\"lo\",\"done\":true,\"done_reason\":\"stop\"}\n",
        ),
        _ => page(404, "text/plain", "404 page not found"),
    });
    assert_eq!(ask(&fault), "Hello Stop None");
    let sent = fault.asked_for("/api/generate")[0].json();
    assert_eq!(
        (sent["system"].as_str(), sent["prompt"].as_str()),
        (Some("rules"), Some("hi"))
    );
}

#[test]
fn a_slow_first_byte_is_waited_for_and_a_silent_server_is_not() {
    let fault = chat(|_| [vec![Act::Pause(300)], good()].concat());
    assert_eq!(ask(&fault), "Hello Stop None");
    let fault = chat(|_| vec![Act::Pause(3000)]);
    assert!(
        ask(&fault)
            .starts_with("the model server at `127.0.0.1:PORT` said nothing for 0 seconds | ")
    );
    assert_eq!(fault.asked_for("/api/chat").len(), 1);
}

#[test]
fn a_stall_in_the_middle_ends_and_is_not_sent_again() {
    let fault = chat(|_| {
        vec![
            stream_head("application/x-ndjson"),
            Act::Send(piece("Hel").into()),
            Act::Pause(3000),
        ]
    });
    assert!(ask(&fault).contains("stopped in the middle of a reply"));
    assert_eq!(fault.asked_for("/api/chat").len(), 1);
}

#[test]
fn a_broken_stream_is_said_to_be_broken_and_not_sent_again() {
    let head = || stream_head("application/x-ndjson");
    for acts in [
        vec![head(), Act::Send(piece("Hel").into())],
        vec![head(), Act::Send(piece("Hel").into()), Act::Reset],
        vec![
            chunked_head("application/x-ndjson"),
            chunk(&piece("Hel")),
            Act::Send(b"ff\r\nab".to_vec()),
        ],
    ] {
        let fault = chat(move |_| acts.clone());
        assert!(
            ask(&fault).starts_with("the reply from `127.0.0.1:PORT` broke off: "),
            "{}",
            ask(&fault)
        );
        assert!(fault.asked_for("/api/chat").len() <= 2);
    }
}

#[test]
fn what_is_no_json_is_said_to_be_none() {
    for acts in [
        page(200, "text/html", "<html>hello</html>"),
        page(200, "application/x-ndjson", "{\"message\": {\"con"),
        page(200, "application/json", ""),
        page(200, "application/json", "[1]"),
        vec![
            stream_head("image/png"),
            Act::Send(vec![0xff, 0xd8, 0x00, 0x0a, 0xff]),
        ],
    ] {
        let fault = chat(move |_| acts.clone());
        assert!(
            ask(&fault).contains("is not what a model server sends"),
            "{}",
            ask(&fault)
        );
    }
}

#[test]
fn an_error_in_the_middle_is_passed_on() {
    let fault = chat(|_| {
        page(
            200,
            "application/x-ndjson",
            &(piece("Hel") + "{\"error\":\"runner died\"}\n"),
        )
    });
    assert!(ask(&fault).starts_with("the model server at `127.0.0.1:PORT` failed: runner died | "));
}

#[test]
fn a_server_in_trouble_is_asked_again_and_not_for_ever() {
    let fault = chat(|asked| {
        if asked.before < 2 {
            answer(500, &json!({"error": "busy"}))
        } else {
            good()
        }
    });
    assert_eq!(ask(&fault), "Hello Stop None");
    assert_eq!(fault.asked_for("/api/chat").len(), 3);
    let fault = chat(|_| answer(500, &json!({"error": "broken"})));
    assert!(
        ask(&fault).starts_with(
            "the model server at `127.0.0.1:PORT` answered with status 500: broken | "
        )
    );
    assert_eq!(fault.asked_for("/api/chat").len(), 4);
}

#[test]
fn a_model_that_cannot_think_is_not_asked_not_to() {
    let fault = Fault::start(|asked| match (asked.path.as_str(), asked.before) {
        ("/api/show", _) => answer(200, &json!({"capabilities": ["thinking"]})),
        ("/api/chat", 0) => answer(
            400,
            &json!({"error": "\"tiny:1b\" does not support thinking"}),
        ),
        ("/api/chat", _) => good(),
        _ => page(404, "text/plain", "no"),
    });
    assert_eq!(ask(&fault), "Hello Stop None");
    assert_eq!(fault.asked_for("/api/chat")[1].json().get("think"), None);
}

#[test]
fn thinking_is_left_out() {
    let thinking =
        json!({"message": {"content": "", "thinking": "hm"}, "done": false}).to_string() + "\n";
    let fault = chat(move |_| {
        page(
            200,
            "application/x-ndjson",
            &(thinking.clone() + &piece("Hello") + &end("stop")),
        )
    });
    assert_eq!(ask(&fault), "Hello Stop None");
}

#[test]
fn an_empty_reply_is_asked_for_once_more() {
    let fault = chat(|asked| {
        if asked.before == 0 {
            page(200, "application/x-ndjson", &end("stop"))
        } else {
            good()
        }
    });
    assert_eq!(ask(&fault), "Hello Stop None");
    let sent: Vec<Value> = fault
        .asked_for("/api/chat")
        .iter()
        .map(Asked::json)
        .collect();
    assert_eq!(
        (sent.len(), sent[1]["options"]["seed"].as_u64()),
        (2, Some(8))
    );
    let fault = chat(|_| page(200, "application/x-ndjson", &end("stop")));
    assert_eq!(ask(&fault), " Stop None");
    assert_eq!(fault.asked_for("/api/chat").len(), 2);
}

#[test]
fn an_endless_reply_is_cut() {
    let fault = chat(|_| {
        vec![
            stream_head("application/x-ndjson"),
            Act::Endless(piece("a ").into()),
        ]
    });
    let told = ask(&fault);
    assert!(
        told.ends_with("Length Some(\"the reply ran past 20 tokens and was cut\")"),
        "{told}"
    );
}

#[test]
fn an_endless_line_is_not_kept() {
    let fault = chat(|_| {
        vec![
            stream_head("application/x-ndjson"),
            Act::Endless(vec![b'x'; 1 << 20]),
        ]
    });
    assert!(
        ask(&fault).contains("a line of more than 8 MB"),
        "{}",
        ask(&fault)
    );
}

#[test]
fn a_compressed_answer_is_read() {
    // {"message":{"content":"Hello"},"done":true,"done_reason":"stop"} and a line break, through gzip.
    // One stored block: its length, and the length's complement.
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff, 1, 65, 0, !65, 0xff];
    let text = b"{\"message\":{\"content\":\"Hello\"},\"done\":true,\"done_reason\":\"stop\"}\n";
    assert_eq!(text.len(), 65);
    packed.extend_from_slice(text);
    packed.extend_from_slice(&crc32(text).to_le_bytes());
    packed.extend_from_slice(&(text.len() as u32).to_le_bytes());
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        packed.len()
    );
    let fault = chat(move |_| {
        vec![
            Act::Send(head.clone().into_bytes()),
            Act::Send(packed.clone()),
        ]
    });
    assert_eq!(ask(&fault), "Hello Stop None");
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (0_u32.wrapping_sub(crc & 1)))
        })
    })
}

#[test]
fn a_prompt_that_was_cut_is_reported() {
    let fault = chat(|_| good());
    let long = Request {
        window: 1024,
        ..request(&"words ".repeat(2000))
    };
    let reply = engine(&fault)
        .reply(&long, &mut |_| Hearing::On, &Cancel::default())
        .unwrap();
    assert_eq!(
        reply.notice.as_deref(),
        Some("the server read only 11 tokens of the prompt: it was cut to fit the window of 1024")
    );
}

#[test]
fn a_full_window_is_reported() {
    let uncounted = json!({"done": true, "done_reason": "length"}).to_string() + "\n";
    for end in [end("length"), uncounted] {
        let fault = chat(move |_| page(200, "application/x-ndjson", &(piece("Hello") + &end)));
        assert_eq!(
            ask(&fault),
            "Hello Length Some(\"the window of 4096 tokens was full before the reply was\")"
        );
    }
}

#[test]
fn the_user_can_stop_it_at_any_moment() {
    let slow: [fn() -> Vec<Act>; 3] = [
        || vec![Act::Pause(3000)],
        || vec![stream_head("application/x-ndjson"), Act::Pause(3000)],
        || {
            vec![
                stream_head("application/x-ndjson"),
                Act::Send(piece("Hel").into()),
                Act::Pause(3000),
            ]
        },
    ];
    for acts in slow {
        let fault = chat(move |_| acts());
        let cancel = Cancel::default();
        let stopper = cancel.clone();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            stopper.stop();
            tell.send(Instant::now()).unwrap();
        });
        let result = engine(&fault).reply(&request("hi"), &mut |_| Hearing::On, &cancel);
        let ended = Instant::now();
        assert_eq!(result, Err(ModelError::Interrupted));
        assert!(ended.duration_since(told.recv().unwrap()) < Duration::from_millis(200));
    }
}

#[test]
fn native_calls_are_passed_on_as_json() {
    let call = json!({
        "message": {"content": "", "tool_calls": [{"function": {"name": "read", "arguments": {"path": "a.py"}}}]},
        "done": true, "done_reason": "stop",
    });
    let fault = chat(move |_| answer(200, &call));
    assert_eq!(
        ask(&fault),
        "{\"tool\":\"read\",\"path\":\"a.py\"} Stop None"
    );
}

#[test]
fn a_shape_is_asked_for_until_the_server_minds() {
    for (shape, field, complaint) in [
        (Shape::Object, "format", "invalid format: no schema"),
        (Shape::Calls, "tools", "tiny:1b does not support tools"),
    ] {
        let fault = chat(move |asked| match asked.before {
            0 => answer(400, &json!({ "error": complaint })),
            _ => good(),
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
            .asked_for("/api/chat")
            .iter()
            .map(|asked| asked.json().get(field).is_some())
            .collect();
        assert_eq!(sent, [true, false], "{field}");
    }
}

#[test]
fn a_reply_that_was_heard_enough_of_is_whole_and_keeps_its_counts() {
    let fault = chat(|_| good());
    let reply = engine(&fault)
        .reply(&request("hi"), &mut |_| Hearing::Enough, &Cancel::default())
        .unwrap();
    assert_eq!((reply.finish, reply.notice), (Finish::Stop, None));
    assert!("Hello".starts_with(&reply.text) && !reply.text.is_empty());
    assert!(reply.prompt_tokens > 0);
}
