//! Chat completions: the last user message is the task, read in the light of what was said before; the reply is a result
//! in the chat shape.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use harness_agent::dialogue::{self, Said};
use harness_agent::{Agent, Dialogue, Nobody, RunResult, Stopped, Turn};
use serde_json::{Value, json};

use crate::server::answer::{Problem, answer};
use crate::server::fields::Fields;
use crate::server::peer::Peer;
use crate::server::work::{self, Job, Lane, Work};
use crate::server::{Server, body, models, table};

/// Fields that mean something elsewhere and nothing here; a client that sends them is told.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("tools", "`tools` are ignored: harness has its own"),
    (
        "functions",
        "`functions` are ignored: harness has its own tools",
    ),
    ("tool_choice", "`tool_choice` is ignored"),
    (
        "response_format",
        "`response_format` is ignored: the reply is text",
    ),
];

/// `POST /v1/chat/completions`.
pub(super) async fn completions(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let shape = table::shape("/v1/chat/completions");
    let fields = Fields::check(shape, body::object(&headers, request).await?)?;
    whole(&server, &peer, Chat::read(&server, fields).await?).await
}

/// Answers in one piece.
pub(super) async fn whole(
    server: &Arc<Server>,
    peer: &Peer,
    chat: Chat,
) -> Result<Response, Problem> {
    let result = work::perform(server, peer, chat.job, Nobody).await?;
    if let Some(problem) = work::stopped_problem(&result) {
        return Err(problem);
    }
    let completion = completion(&result, &chat.model, &chat.notes);
    Ok(answer(StatusCode::OK, &completion))
}

/// What a chat request comes to.
pub(super) struct Chat {
    pub(super) job: Job,
    /// A client looks for the name it asked for; which model it was stands in the notes.
    pub(super) model: String,
    pub(super) notes: Vec<String>,
}

impl Chat {
    /// Reads a request and finds out what it asks for. Nothing is changed yet.
    pub(super) async fn read(server: &Arc<Server>, mut fields: Fields) -> Result<Chat, Problem> {
        let mut notes: Vec<String> = WITHOUT_EFFECT
            .iter()
            .filter(|(name, _)| fields.has(name))
            .map(|(_, note)| (*note).to_owned())
            .collect();
        let conversation = Conversation::read(&fields.list("messages"), &mut notes)?;
        let asked_model = fields.text("model").filter(|name| !name.is_empty());
        let mut options = server.agent.clone();
        let longest = fields.count("max_completion_tokens");
        options.max_tokens = fields
            .count("max_tokens")
            .or(longest)
            .unwrap_or(options.max_tokens);
        options.keep_no_record |= !server.agent.allow_writes && options.record.is_none();
        let Conversation {
            said,
            preface,
            message,
        } = conversation;
        let agent = Agent::new(options.clone());
        let mut dialogue = Dialogue::of(agent, said).with_preface(&preface);
        let (reader, words) = (dialogue.clone(), message.clone());
        let turn =
            work::blocking(move || reader.read(&words).map_err(work::options_problem)).await?;
        if turn.writes() && !server.agent.allow_writes {
            return Err(work::writes_disabled());
        }
        let needs_model = matches!(turn, Turn::Ask(_) | Turn::Run { .. });
        if let Some(name) = asked_model.as_ref().filter(|_| needs_model)
            && *name != options.model
        {
            if models::engine_has(server, name).await {
                options.model.clone_from(name);
                dialogue.change_agent(Agent::new(options.clone()));
            } else {
                notes.push(format!(
                    "the engine has no `{name}`; `{}` was used",
                    options.model
                ));
            }
        }
        let lane = match &turn {
            Turn::Run {
                asks_back: false, ..
            }
            | Turn::Undo(_) => Lane::Writing,
            Turn::Run {
                asks_back: true, ..
            }
            | Turn::Ask(_) => Lane::Reading,
            Turn::Reply(_) => Lane::None,
        };
        Ok(Chat {
            job: Job {
                lane,
                task: turn.task().to_owned(),
                work: Work::Turn(Box::new(dialogue), message, turn),
            },
            model: asked_model.unwrap_or(options.model),
            notes,
        })
    }
}

fn completion(result: &RunResult, model: &str, notes: &[String]) -> Value {
    json!({
        "id": format!("chatcmpl-{}", result.run_id),
        "object": "chat.completion",
        "created": now().as_secs(),
        "model": model,
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": result.in_markdown()},
            "finish_reason": finish_reason(result),
        }],
        "usage": usage(result),
        "notes": notes,
        "harness": result,
    })
}

/// Returns the time since 1970.
pub(super) fn now() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

/// Returns why a reply ends, in the words of the protocol.
pub(super) fn finish_reason(result: &RunResult) -> &'static str {
    match result.stopped {
        Stopped::Steps => "length",
        _ => "stop",
    }
}

/// Returns what a reply cost.
pub(super) fn usage(result: &RunResult) -> Value {
    let (prompt, reply) = (result.usage.prompt_tokens, result.usage.reply_tokens);
    json!({"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply})
}

/// What a client said: its last message, what came before it, and what its own system says.
struct Conversation {
    said: Vec<Said>,
    preface: String,
    message: String,
}

impl Conversation {
    fn read(messages: &[Value], notes: &mut Vec<String>) -> Result<Conversation, Problem> {
        let wrong = |message: &str| Problem::field("messages", message);
        let role = |message: &Value| {
            let role = message.get("role").and_then(Value::as_str);
            role.unwrap_or_default().to_owned()
        };
        let Some(last) = messages.iter().rposition(|message| role(message) == "user") else {
            return Err(wrong("`messages` has no user message"));
        };
        let Some(message) = text_of(&messages[last], notes) else {
            return Err(wrong("the last user message of `messages` has no text"));
        };
        let message = dialogue::unwrapped(&message);
        if message.trim().is_empty() {
            return Err(wrong("the last user message of `messages` is empty"));
        }
        let (mut said, mut preface) = (Vec::new(), Vec::new());
        for message in &messages[..last] {
            let text = text_of(message, &mut Vec::new()).unwrap_or_default();
            match role(message).as_str() {
                _ if text.trim().is_empty() => {}
                "user" => said.push(Said::by_user(dialogue::unwrapped(&text))),
                "assistant" => said.push(Said::by_agent(text)),
                "system" | "developer" => preface.push(text.trim().to_owned()),
                // Replies of tools that we do not have.
                _ => {}
            }
        }
        Ok(Conversation {
            said,
            preface: preface.join("\n"),
            message,
        })
    }
}

/// Returns the text of a message: a string, or its text parts joined.
fn text_of(message: &Value, notes: &mut Vec<String>) -> Option<String> {
    match message.get("content") {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()))
                .collect();
            if texts.len() < parts.len() {
                notes.push("parts that are not text were ignored".to_owned());
            }
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}
