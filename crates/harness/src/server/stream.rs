//! Chat completions as server-sent events, for clients that only stream: what is going on while it goes on, then the
//! reply.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use harness_agent::{Event, Listener, Question, RunResult};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::runtime::locked;
use crate::server::Server;
use crate::server::answer::Problem;
use crate::server::body::Fields;
use crate::server::chat::{self, Chat, ChatBody, ChatUsage};
use crate::server::peer::Peer;
use crate::server::work::{self, Job};

/// A connection on which nothing was said for so long may be closed by what lies between.
const SILENCE: Duration = Duration::from_secs(15);

/// `POST /v1/stream/chat/completions`.
pub(super) async fn completions(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    Fields(body): Fields<ChatBody>,
) -> Result<Response, Problem> {
    let is_streamed = body.stream.unwrap_or_default();
    let with_usage = body.others.get("stream_options").is_some_and(|options| {
        // What a streamed reply cost is told to whoever wants to know.
        options["include_usage"] == true
    });
    let chat = Chat::read(&server, body).await?;
    if !is_streamed {
        let whole = chat::whole(&server, &peer, chat).await?;
        return Ok(whole.into_response());
    }
    let (sender, receiver) = unbounded_channel();
    let chunks = Chunks {
        sender,
        id: format!("chatcmpl-{:x}", chat::now().as_nanos()),
        model: chat.model,
        notes: chat.notes,
        with_usage,
        spoken: Arc::default(),
    };
    chunks.delta(&json!({"role": "assistant", "content": ""}));
    tokio::spawn(perform(server, peer, chat.job, chunks));
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let events = futures::stream::unfold(receiver, |mut receiver| async {
        let event = receiver.recv().await?;
        Some((Ok::<_, Infallible>(event), receiver))
    });
    let body = Body::from_stream(events);
    Ok((StatusCode::OK, headers, body).into_response())
}

/// Does the work and tells how it goes. The run is stopped when the client goes away.
async fn perform(server: Arc<Server>, peer: Peer, job: Job, chunks: Chunks) {
    let work = work::perform(&server, &peer, job, chunks.clone());
    tokio::pin!(work);
    let ended = loop {
        tokio::select! {
            ended = &mut work => break ended,
            () = chunks.sender.closed() => return,
            () = tokio::time::sleep(SILENCE) => chunks.send(": still working\n\n".to_owned()),
        }
    };
    match ended.and_then(work::served) {
        Ok(result) => chunks.end(&result),
        Err(problem) => {
            chunks.send(format!("data: {}\n\n", json!(problem.told())));
            chunks.send(DONE.to_owned());
        }
    }
}

/// What ends a stream.
const DONE: &str = "data: [DONE]\n\n";

/// Writes the events of one reply.
#[derive(Clone)]
struct Chunks {
    sender: UnboundedSender<String>,
    id: String,
    model: String,
    notes: Vec<String>,
    with_usage: bool,
    /// The words of the answer that were sent as the model wrote them.
    spoken: Arc<Mutex<String>>,
}

impl Chunks {
    /// Sends as long as somebody listens.
    fn send(&self, event: String) {
        drop(self.sender.send(event));
    }

    fn chunk(&self, choices: &Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": chat::now().as_secs(),
            "model": self.model,
            "choices": choices,
        })
    }

    fn delta(&self, delta: &Value) {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
        self.send(format!("data: {}\n\n", self.chunk(&choices)));
    }

    /// Sends the reply and ends the stream.
    fn end(&self, result: &RunResult) {
        let (content, spoken) = (result.in_markdown(), locked(&self.spoken));
        // What was sent already is not sent again; a reply that turned out to be no answer is followed by the result.
        let rest = match content.strip_prefix(spoken.trim_end()) {
            Some(rest) => rest.to_owned(),
            None => format!("\n\n{content}"),
        };
        drop(spoken);
        if !rest.is_empty() {
            self.delta(&json!({"content": rest}));
        }
        let reason = chat::finish_reason(result);
        let choices = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
        let mut last = self.chunk(&choices);
        last["notes"] = json!(self.notes);
        last["harness"] = json!(result);
        self.send(format!("data: {last}\n\n"));
        if self.with_usage {
            let mut usage = self.chunk(&json!([]));
            usage["usage"] = json!(ChatUsage::of(result));
            self.send(format!("data: {usage}\n\n"));
        }
        self.send(DONE.to_owned());
    }
}

impl Listener for Chunks {
    fn event(&mut self, event: &Event) {
        let told = format!("{}\n", event.text);
        self.delta(&json!({"reasoning_content": told}));
    }

    fn answer(&mut self, piece: &str) {
        locked(&self.spoken).push_str(piece);
        self.delta(&json!({"content": piece}));
    }

    fn question(&mut self, _question: &Question) -> Option<String> {
        None
    }
}
