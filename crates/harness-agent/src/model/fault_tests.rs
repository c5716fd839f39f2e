//! A server for tests that answers as it is told, with every fault that a real one may have.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One thing the server does with a connection.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Says nothing for some milliseconds.
    Pause(u64),
    /// Sends the same bytes until the client goes.
    Endless(Vec<u8>),
    /// Goes on to the next request on this connection instead of closing it.
    Keep,
    /// Drops the connection so that the client sees a reset.
    Reset,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
    /// How many requests for this path came before.
    pub(crate) before: usize,
}

impl Asked {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// A running server. It lives until the test ends.
pub(crate) struct Fault {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fault {
    pub(crate) fn start(answer: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Fault {
        Fault::start_at("127.0.0.1", answer)
    }

    pub(crate) fn start_at(
        host: &str,
        answer: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static,
    ) -> Fault {
        let listener = TcpListener::bind((host, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let _ = serve(&stream, &seen, answer.as_ref());
                });
            }
        });
        Fault { port, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the requests for one path.
    pub(crate) fn asked_for(&self, path: &str) -> Vec<Asked> {
        self.asked()
            .into_iter()
            .filter(|asked| asked.path == path)
            .collect()
    }
}

fn serve(
    stream: &TcpStream,
    seen: &Mutex<Vec<Asked>>,
    answer: &(dyn Fn(&Asked) -> Vec<Act> + Send + Sync),
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let Some(mut asked) = read_request(&mut reader)? else {
            return Ok(());
        };
        {
            let mut seen = seen.lock().unwrap();
            asked.before = seen.iter().filter(|one| one.path == asked.path).count();
            seen.push(asked.clone());
        }
        let mut keep = false;
        let mut out = stream;
        for act in answer(&asked) {
            match act {
                Act::Send(bytes) => out.write_all(&bytes)?,
                Act::Pause(milliseconds) => std::thread::sleep(Duration::from_millis(milliseconds)),
                Act::Endless(bytes) => loop {
                    out.write_all(&bytes)?;
                },
                Act::Keep => keep = true,
                Act::Reset => {
                    // A socket closed with unread bytes in it is reset; the client's next write finds out.
                    stream.shutdown(std::net::Shutdown::Read)?;
                    return Ok(());
                }
            }
        }
        if !keep {
            return Ok(());
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Asked>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().to_owned();
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(Asked {
        method,
        path,
        headers,
        body,
        before: 0,
    }))
}

/// Returns a whole answer in one piece.
pub(crate) fn page(status: u16, kind: &str, body: &str) -> Vec<Act> {
    let head = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    vec![
        Act::Send(head.into_bytes()),
        Act::Send(body.as_bytes().to_vec()),
    ]
}

/// Returns an answer of JSON.
pub(crate) fn json(status: u16, body: &serde_json::Value) -> Vec<Act> {
    page(status, "application/json", &body.to_string())
}

/// Returns the head of a stream whose end is the end of the connection.
pub(crate) fn stream_head(kind: &str) -> Act {
    Act::Send(
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n")
            .into_bytes(),
    )
}

/// Returns one chunk of a chunked stream.
pub(crate) fn chunk(text: &str) -> Act {
    Act::Send(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes())
}

/// Returns the head of a chunked stream.
pub(crate) fn chunked_head(kind: &str) -> Act {
    Act::Send(
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n")
            .into_bytes(),
    )
}
