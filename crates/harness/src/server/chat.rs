//! Chat completions: the last user message is the task, read in the light of what was said before; the reply is a result
//! in the chat shape.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Extension;
use axum::extract::State;
use harness_agent::dialogue::{self, Said};
use harness_agent::{Dialogue, Nobody, RunResult, Stopped, Turn};
use schemars::{JsonSchema, Schema};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::server::answer::{Document, Problem};
use crate::server::body::Fields;
use crate::server::peer::Peer;
use crate::server::work::{self, Job, Lane, Work};
use crate::server::{Server, models};

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

/// What the chat routes take. Other fields are ignored: chat clients send many that mean nothing here.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ChatBody {
    /// The conversation; the last user message is the task.
    #[schemars(extend("contains" = {
        "type": "object",
        "properties": {"role": {"const": "user"}},
        "required": ["role", "content"],
    }))]
    messages: Vec<ChatMessage>,
    /// A model that the engine has; any other name means the one the server was started with.
    model: Option<String>,
    /// The longest reply of the model, in tokens.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    max_tokens: Option<u32>,
    /// The newer name of `max_tokens`.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    max_completion_tokens: Option<u32>,
    /// Whether the reply comes as server-sent events.
    pub(super) stream: Option<bool>,
    #[serde(flatten)]
    pub(super) others: Map<String, Value>,
}

/// The same where replies come in one piece.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = never_streams)]
pub(super) struct WholeChat(ChatBody);

fn never_streams(schema: &mut Schema) {
    if let Some(stream) = schema.pointer_mut("/properties/stream") {
        *stream = json!({
            "type": "boolean",
            "const": false,
            "description": "Must be false: replies come in one piece here, and in many at `/v1/stream/chat/completions`.",
        });
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ChatMessage {
    /// A role that is no text is nobody's: such a message is passed over.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    role: Value,
    content: Option<Content>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
    #[schemars(skip)]
    Other(IgnoredAny),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Part {
    #[schemars(skip)]
    Bare(String),
    Text {
        text: String,
    },
    Other(#[schemars(with = "Map<String, Value>")] IgnoredAny),
}

/// `POST /v1/chat/completions`.
pub(super) async fn completions(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    Fields(WholeChat(body)): Fields<WholeChat>,
) -> Result<Document<ChatCompletion>, Problem> {
    if body.stream == Some(true) {
        let message = "`stream` is not possible here: replies come in one piece";
        let hint =
            "set `stream` to false, or use the base address /v1/stream, where it may be true";
        return Err(Problem {
            hint: hint.to_owned(),
            ..Problem::field("stream", message)
        });
    }
    whole(&server, &peer, Chat::read(&server, body).await?).await
}

/// Answers in one piece.
pub(super) async fn whole(
    server: &Arc<Server>,
    peer: &Peer,
    chat: Chat,
) -> Result<Document<ChatCompletion>, Problem> {
    let result = work::served(work::perform(server, peer, chat.job, Nobody).await?)?;
    Ok(Document(ChatCompletion {
        id: format!("chatcmpl-{}", result.run_id),
        object: "chat.completion",
        created: now().as_secs(),
        model: chat.model,
        choices: vec![Choice {
            index: 0,
            message: AssistantMessage {
                role: "assistant",
                content: result.in_markdown(),
            },
            finish_reason: finish_reason(&result),
        }],
        usage: ChatUsage::of(&result),
        notes: chat.notes,
        harness: result,
    }))
}

/// A reply of the chat protocol.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ChatCompletion {
    id: String,
    #[schemars(extend("const" = "chat.completion"))]
    object: &'static str,
    created: u64,
    model: String,
    choices: Vec<Choice>,
    usage: ChatUsage,
    notes: Vec<String>,
    harness: RunResult,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(inline)]
struct Choice {
    index: u32,
    message: AssistantMessage,
    #[schemars(extend("enum" = ["stop", "length"]))]
    finish_reason: &'static str,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(inline)]
struct AssistantMessage {
    #[schemars(extend("const" = "assistant"))]
    role: &'static str,
    content: String,
}

/// What a reply cost.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(inline)]
pub(super) struct ChatUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

impl ChatUsage {
    /// Returns what a run cost.
    pub(super) fn of(result: &RunResult) -> ChatUsage {
        let (prompt, reply) = (result.usage.prompt_tokens, result.usage.reply_tokens);
        ChatUsage {
            prompt_tokens: prompt,
            completion_tokens: reply,
            total_tokens: prompt + reply,
        }
    }
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
    pub(super) async fn read(server: &Arc<Server>, body: ChatBody) -> Result<Chat, Problem> {
        let says_something = |name: &str| match body.others.get(name) {
            None | Some(Value::Null) => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(_) => true,
        };
        let mut notes: Vec<String> = WITHOUT_EFFECT
            .iter()
            .filter(|(name, _)| says_something(name))
            .map(|(_, note)| (*note).to_owned())
            .collect();
        let conversation = Conversation::read(body.messages, &mut notes)?;
        let asked_model = body.model.filter(|name| !name.is_empty());
        let mut options = server.options().clone();
        let longest = body.max_tokens.or(body.max_completion_tokens);
        options.max_tokens = longest.unwrap_or(options.max_tokens);
        options.keep_no_record |= !server.options().allow_writes && options.record.is_none();
        let Conversation {
            said,
            preface,
            message,
        } = conversation;
        let agent = server.agent.with_options(options.clone());
        let mut dialogue = Dialogue::of(agent, said).with_preface(&preface);
        let (reader, words) = (dialogue.clone(), message.clone());
        let turn = work::blocking(move || Ok(reader.read(&words)?)).await?;
        if turn.writes() && !server.options().allow_writes {
            return Err(work::writes_disabled());
        }
        let needs_model = matches!(turn, Turn::Ask(_) | Turn::Run { .. });
        if let Some(name) = asked_model.as_ref().filter(|_| needs_model)
            && *name != options.model
        {
            if models::engine_has(server, name).await {
                options.model.clone_from(name);
                dialogue.change_agent(server.agent.with_options(options.clone()));
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

/// What a client said: its last message, what came before it, and what its own system says.
struct Conversation {
    said: Vec<Said>,
    preface: String,
    message: String,
}

impl Conversation {
    fn read(
        mut messages: Vec<ChatMessage>,
        notes: &mut Vec<String>,
    ) -> Result<Conversation, Problem> {
        let wrong = |message: &str| Problem::field("messages", message);
        let Some(last) = messages.iter().rposition(|message| message.role == "user") else {
            return Err(wrong("`messages` has no user message"));
        };
        messages.truncate(last + 1);
        let Some(message) = messages.pop().and_then(|message| message.text(notes)) else {
            return Err(wrong("the last user message of `messages` has no text"));
        };
        let message = dialogue::unwrapped(&message);
        if message.trim().is_empty() {
            return Err(wrong("the last user message of `messages` is empty"));
        }
        let (mut said, mut preface) = (Vec::new(), Vec::new());
        for mut message in messages {
            let role = std::mem::take(&mut message.role);
            let text = message.text(&mut Vec::new()).unwrap_or_default();
            match role.as_str() {
                _ if text.trim().is_empty() => {}
                Some("user") => said.push(Said::by_user(dialogue::unwrapped(&text))),
                Some("assistant") => said.push(Said::by_agent(text)),
                Some("system" | "developer") => preface.push(text.trim().to_owned()),
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

impl ChatMessage {
    /// Returns the text of a message: a string, or its text parts joined.
    fn text(self, notes: &mut Vec<String>) -> Option<String> {
        match self.content? {
            Content::Text(text) => Some(text),
            Content::Parts(parts) => {
                let count = parts.len();
                let texts = parts.into_iter().filter_map(|part| match part {
                    Part::Bare(text) | Part::Text { text } => Some(text),
                    Part::Other(_) => None,
                });
                let texts: Vec<String> = texts.collect();
                if texts.len() < count {
                    notes.push("parts that are not text were ignored".to_owned());
                }
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
            Content::Other(_) => None,
        }
    }
}
