//! Chat completions: the last user message is the task; the reply is a result in the chat shape.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use harness_agent::{Agent, RunResult, Stopped};
use serde_json::{Value, json};

use crate::server::answer::{Problem, answer};
use crate::server::fields::Fields;
use crate::server::work::{self, Work};
use crate::server::{Server, body, routes};

/// `POST /v1/chat/completions`.
pub(super) async fn completions(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let mut fields = Fields(body::object(&headers, request).await?);
    if fields.flag("stream")?.unwrap_or(false) {
        let problem = Problem::field("stream", "`stream` is not possible here");
        return Err(Problem {
            hint: "set `stream` to false".to_owned(),
            ..problem
        });
    }
    let task = last_user_message(fields.0.remove("messages"))?;
    let asked_model = fields.text("model")?;
    let mut options = server.agent.clone();
    options.max_tokens = fields.count("max_tokens")?.unwrap_or(options.max_tokens);
    options.keep_no_record |= !server.agent.allow_writes && options.record.is_none();
    let (plan_options, plan_task) = (options.clone(), task.clone());
    let writes = work::blocking(move || {
        Agent::new(plan_options)
            .route(&plan_task)
            .map(|plan| plan.writes)
            .map_err(work::options_problem)
    })
    .await?;
    if writes && !server.agent.allow_writes {
        return Err(routes::writes_disabled());
    }
    let work = if writes { Work::Run } else { Work::Ask };
    let result = work::perform(&server, work, options, task).await?;
    if let Some(problem) = work::stopped_problem(&result) {
        return Err(problem);
    }
    Ok(answer(
        StatusCode::OK,
        &completion(
            &result,
            asked_model.as_deref().unwrap_or(&server.agent.model),
        ),
    ))
}

fn completion(result: &RunResult, model: &str) -> Value {
    let created = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    let finish = if result.stopped == Stopped::Steps {
        "length"
    } else {
        "stop"
    };
    let (prompt, reply) = (result.usage.prompt_tokens, result.usage.reply_tokens);
    json!({
        "id": format!("chatcmpl-{}", result.run_id),
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": result.summary},
            "finish_reason": finish,
        }],
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
        "harness": result,
    })
}

/// Returns the text of the last user message: a string, or its text parts joined.
fn last_user_message(messages: Option<Value>) -> Result<String, Problem> {
    let wrong = |message: &str| Problem::field("messages", message);
    let Some(Value::Array(messages)) = messages else {
        return Err(wrong("`messages` must be a list of messages"));
    };
    if !messages.iter().all(Value::is_object) {
        return Err(wrong("every one of `messages` must be an object"));
    }
    let last = messages
        .iter()
        .rev()
        .find(|message| message.get("role").and_then(Value::as_str) == Some("user"));
    let text = match last.and_then(|message| message.get("content")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part.get("text")?.as_str())
                .collect();
            texts.join("\n")
        }
        _ => return Err(wrong("`messages` has no user message with text")),
    };
    if text.trim().is_empty() {
        return Err(wrong("the last user message of `messages` is empty"));
    }
    Ok(text)
}
