//! What a turn costs beyond the server's own time: asks a server that answers at once, and beside it the same bytes
//! over a bare socket. Prints one JSON line an engine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use harness_agent::env::Environment;
use harness_agent::model::{self, Hearing, Message, Request, Role};
use harness_agent::{AgentOptions, Cancel, Engine};

/// Enough for the quickest of them to be undisturbed.
const ROUNDS: usize = 300;
/// A long prompt: 40,000 characters, about 10,000 tokens.
const CHARACTERS: usize = 40_000;

fn main() {
    for engine in [Engine::Local, Engine::Remote] {
        measure(engine);
    }
}

fn answer(engine: Engine) -> String {
    let body = match engine {
        Engine::Local | Engine::OnDevice => {
            "{\"message\":{\"content\":\"ok\"},\"done\":true,\"done_reason\":\"stop\"}\n".to_owned()
        }
        Engine::Remote => {
            "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".to_owned()
        }
    };
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[expect(clippy::print_stdout, reason = "this is a program for measurements")]
#[expect(
    clippy::expect_used,
    reason = "a measurement that cannot run has nothing to tell"
)]
fn measure(engine: Engine) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let canned = answer(engine);
    let sent = canned.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sent = sent.clone();
            std::thread::spawn(move || serve(&stream, &sent));
        }
    });
    let mut options = AgentOptions::new(".");
    options.engine = engine;
    let environment = Environment {
        local_host: Some(format!("127.0.0.1:{port}")),
        base_url: Some(format!("http://127.0.0.1:{port}/v1")),
        ..Environment::default()
    };
    let mut model = model::open(&options, &environment).expect("an engine");
    let message = Message {
        role: Role::User,
        content: "word ".repeat(CHARACTERS / 5),
    };
    let request = Request {
        messages: vec![message],
        max_tokens: 32,
        window: 16384,
        temperature: 0.0,
        seed: 1,
        shape: Default::default(),
    };
    let turns = times(|| {
        model
            .reply(&request, &mut |_| Hearing::On, &Cancel::default())
            .expect("a reply");
    });
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    let body = "x".repeat(CHARACTERS + 200);
    let asked = format!(
        "POST / HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut heard = vec![0; canned.len()];
    let bare = times(|| {
        stream.write_all(asked.as_bytes()).expect("a write");
        stream.read_exact(&mut heard).expect("a read");
    });
    let row = serde_json::json!({
        "engine": engine.name(),
        "turn_ms": { "best": turns.0, "median": turns.1 },
        "bare_socket_ms": { "best": bare.0, "median": bare.1 },
    });
    println!("{row}");
}

/// Returns the best and the median, in milliseconds.
fn times(mut turn: impl FnMut()) -> (f64, f64) {
    let mut all: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            turn();
            begun.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    all.sort_by(f64::total_cmp);
    (all[0], all[ROUNDS / 2])
}

fn serve(stream: &TcpStream, sent: &str) {
    let Ok(copy) = stream.try_clone() else { return };
    let mut reader = BufReader::new(copy);
    let mut out = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() || out.write_all(sent.as_bytes()).is_err() {
            return;
        }
    }
}
