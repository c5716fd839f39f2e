//! The client of bench/server: many connections, one request after the other on each, every answer read whole.
//!
//!     load PORT PATH CONNECTIONS SECONDS [BODY]      prints one JSON line
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring tool prints its figures and stops where its ground is missing"
)]

use std::time::{Duration, Instant};

use tokio::net::TcpStream;

/// What one connection saw.
#[derive(Default)]
struct Seen {
    times: Vec<u32>,
    errors: u64,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [port, path, connections, seconds, body @ ..] = words.as_slice() else {
        println!("usage: load PORT PATH CONNECTIONS SECONDS [BODY]");
        return;
    };
    let port: u16 = port.parse().unwrap();
    let connections: usize = connections.parse().unwrap();
    let length = Duration::from_secs_f64(seconds.parse().unwrap());
    let body = body.first().map(String::as_str).unwrap_or_default();
    let method = if body.is_empty() { "GET" } else { "POST" };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let began = Instant::now();
    let seen = runtime.block_on(async move {
        let tasks: Vec<_> = (0..connections)
            .map(|_| tokio::spawn(knock(port, request.clone(), began + length)))
            .collect();
        let mut seen = Vec::new();
        for task in tasks {
            seen.push(task.await.unwrap());
        }
        seen
    });
    let taken = began.elapsed().as_secs_f64();
    let errors: u64 = seen.iter().map(|one| one.errors).sum();
    let mut times: Vec<u32> = seen.into_iter().flat_map(|one| one.times).collect();
    times.sort_unstable();
    let at = |part: f64| {
        let index = (times.len() as f64 * part) as usize;
        f64::from(
            times
                .get(index.min(times.len().saturating_sub(1)))
                .copied()
                .unwrap_or(0),
        ) / 1000.0
    };
    println!(
        "{{\"requests\": {}, \"errors\": {errors}, \"per_second\": {:.1}, \"p50_ms\": {:.3}, \"p99_ms\": {:.3}}}",
        times.len(),
        times.len() as f64 / taken,
        at(0.5),
        at(0.99)
    );
}

async fn knock(port: u16, request: String, end: Instant) -> Seen {
    let mut seen = Seen::default();
    let mut open: Option<TcpStream> = None;
    while Instant::now() < end {
        let began = Instant::now();
        let limit = Duration::from_secs(10);
        match tokio::time::timeout(limit, once(port, &request, open.take())).await {
            Ok(Ok(stream)) => {
                seen.times
                    .push(began.elapsed().as_micros().try_into().unwrap_or(u32::MAX));
                open = stream;
            }
            Ok(Err(_)) | Err(_) => seen.errors += 1,
        }
    }
    seen
}

/// Sends one request and reads its answer; returns the connection when it may be used again.
async fn once(
    port: u16,
    request: &str,
    open: Option<TcpStream>,
) -> std::io::Result<Option<TcpStream>> {
    let mut stream = match open {
        Some(stream) => stream,
        None => TcpStream::connect(("127.0.0.1", port)).await?,
    };
    stream.set_nodelay(true)?;
    write(&mut stream, request.as_bytes()).await?;
    let mut data = Vec::with_capacity(8192);
    let wrong = || std::io::Error::other("no such answer");
    let (head, length) = loop {
        if read(&mut stream, &mut data).await? == 0 {
            return Err(wrong());
        }
        let Some(at) = data.windows(4).position(|window| window == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&data[..at]).to_ascii_lowercase();
        if head.split(' ').nth(1) != Some("200") {
            return Err(wrong());
        }
        let length = head.lines().find_map(|line| {
            line.strip_prefix("content-length:")?
                .trim()
                .parse::<usize>()
                .ok()
        });
        break (head, length.map(|length| at + 4 + length));
    };
    match length {
        Some(length) => {
            while data.len() < length {
                if read(&mut stream, &mut data).await? == 0 {
                    return Err(wrong());
                }
            }
        }
        None => while read(&mut stream, &mut data).await? > 0 {},
    }
    let closes =
        head.starts_with("http/1.0") || head.contains("connection: close") || length.is_none();
    Ok((!closes).then_some(stream))
}

async fn write(stream: &mut TcpStream, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn read(stream: &mut TcpStream, data: &mut Vec<u8>) -> std::io::Result<usize> {
    let mut part = [0u8; 16384];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut part) {
            Ok(count) => {
                data.extend_from_slice(&part[..count]);
                return Ok(count);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}
