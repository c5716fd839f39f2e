//! Chat completions: the last user message is the task, read in the light of what was said before; the reply is a result
//! in the chat shape.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use harness_agent::dialogue::{self, Meaning, Said};
use harness_agent::{Agent, Nobody, RunResult, Stopped};
use serde_json::{Value, json};

use crate::server::answer::{Problem, answer};
use crate::server::fields::Fields;
use crate::server::peer::Peer;
use crate::server::work::{self, Job, Work};
use crate::server::{Server, body, models, table};

/// What was said before is shown from its end, at most so many characters.
const LONGEST_CONTEXT: usize = 4_000;

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
    let result = match chat.wanted {
        Wanted::Said(result) => *result,
        Wanted::Done(job) => work::perform(server, peer, *job, Nobody).await?,
    };
    if let Some(problem) = work::stopped_problem(&result) {
        return Err(problem);
    }
    let completion = completion(&result, &chat.model, &chat.notes);
    Ok(answer(StatusCode::OK, &completion))
}

/// What a chat request comes to.
pub(super) struct Chat {
    pub(super) wanted: Wanted,
    /// A client looks for the name it asked for; which model it was stands in the notes.
    pub(super) model: String,
    pub(super) notes: Vec<String>,
}

/// What is to be done for a chat request.
pub(super) enum Wanted {
    /// It is done, or there was nothing to do.
    Said(Box<RunResult>),
    /// This.
    Done(Box<Job>),
}

impl Chat {
    /// Reads a request and finds out what it asks for. Nothing is changed yet, unless something is to be taken back.
    pub(super) async fn read(server: &Arc<Server>, mut fields: Fields) -> Result<Chat, Problem> {
        let mut notes: Vec<String> = WITHOUT_EFFECT
            .iter()
            .filter(|(name, _)| fields.has(name))
            .map(|(_, note)| (*note).to_owned())
            .collect();
        let conversation = Conversation::read(&fields.list("messages"), &mut notes)?;
        let asked_model = fields.text("model").filter(|name| !name.is_empty());
        let mut options = server.agent.clone();
        let told = asked_model.clone().unwrap_or(options.model.clone());
        let said = |result: RunResult, model, notes| {
            let wanted = Wanted::Said(Box::new(result));
            Ok(Chat {
                wanted,
                model,
                notes,
            })
        };
        let task = match conversation.meaning {
            Meaning::Task(task) => task,
            Meaning::Reply(words) => return said(RunResult::said(words), told, notes),
            Meaning::Undo => return said(work::undo(server).await?, told, notes),
        };
        let longest = fields.count("max_completion_tokens");
        options.max_tokens = fields
            .count("max_tokens")
            .or(longest)
            .unwrap_or(options.max_tokens);
        options.keep_no_record |= !server.agent.allow_writes && options.record.is_none();
        options.context = conversation.context;
        let (plan_options, plan_task) = (options.clone(), task.clone());
        let (writes, asks_back) = work::blocking(move || {
            Agent::new(plan_options)
                .route(&plan_task)
                .map(|plan| (plan.writes, plan.question.is_some()))
                .map_err(work::options_problem)
        })
        .await?;
        if writes && !server.agent.allow_writes {
            return Err(work::writes_disabled());
        }
        if let Some(name) = &asked_model
            && *name != options.model
        {
            if models::engine_has(server, name).await {
                options.model.clone_from(name);
            } else {
                notes.push(format!(
                    "the engine has no `{name}`; `{}` was used",
                    options.model
                ));
            }
        }
        let work = match (writes, asks_back) {
            (true, true) => Work::Look,
            (true, false) => Work::Run,
            (false, _) => Work::Ask,
        };
        let model = asked_model.unwrap_or(options.model.clone());
        let wanted = Wanted::Done(Box::new(Job {
            work,
            options,
            task,
        }));
        Ok(Chat {
            wanted,
            model,
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
            "message": {"role": "assistant", "content": content(result)},
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

/// Returns what a client reads: the summary, and for a change its diff and how to take it back.
pub(super) fn content(result: &RunResult) -> String {
    if result.writes.is_empty() || result.diff.is_empty() {
        return result.summary.clone();
    }
    // A diff may hold fences of its own.
    let longest = result.diff.lines().map(|line| {
        let line = line.trim_start_matches(['+', '-', ' ']);
        line.len() - line.trim_start_matches('`').len()
    });
    let fence = "`".repeat(longest.max().unwrap_or(0).max(2) + 1);
    let (summary, diff, run) = (&result.summary, result.diff.trim_end(), &result.run_id);
    format!(
        "{summary}\n\n{fence}diff\n{diff}\n{fence}\n\nTo take it back say \"undo that\", or type `harness undo {run}`."
    )
}

/// What a client said: what it asks for, and what came before it.
struct Conversation {
    meaning: Meaning,
    context: String,
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
        let Some(task) = text_of(&messages[last], notes) else {
            return Err(wrong("the last user message of `messages` has no text"));
        };
        if task.trim().is_empty() {
            return Err(wrong("the last user message of `messages` is empty"));
        }
        let turns: Vec<Said> = messages[..last]
            .iter()
            .filter(|message| matches!(role(message).as_str(), "user" | "assistant"))
            .filter_map(|message| {
                let text = text_of(message, &mut Vec::new())?;
                let by_user = role(message) == "user";
                Some(Said { by_user, text })
            })
            .collect();
        let said = messages[..last].iter().filter_map(|message| {
            let text = text_of(message, &mut Vec::new())?;
            let role = match role(message).as_str() {
                "system" | "developer" => "system",
                "assistant" => "assistant",
                "user" => "user",
                // Replies of tools that we do not have.
                _ => return None,
            };
            (!text.trim().is_empty()).then(|| format!("{role}: {}", text.trim()))
        });
        let said: Vec<String> = said.collect();
        let said = said.join("\n");
        let too_long = said.chars().count().saturating_sub(LONGEST_CONTEXT);
        Ok(Conversation {
            meaning: dialogue::read(&turns, &task),
            context: said.chars().skip(too_long).collect(),
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
