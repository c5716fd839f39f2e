//! The words of a conversation: how they are put to a server without chat, and taken from its pieces.

use serde_json::Value;

use crate::model::gather::{self, Flow, Gather};
use crate::model::local::MOST_CHARACTERS_PER_TOKEN;
use crate::model::{Finish, Reply, Request, Role};

/// Returns the conversation for a server without chat: the rules, then the talk with a name before each turn.
pub(super) fn flattened(request: &Request) -> (String, String) {
    let mut system = String::new();
    let mut prompt = String::new();
    let alone = request
        .messages
        .iter()
        .filter(|one| one.role != Role::System)
        .count()
        == 1;
    for message in &request.messages {
        match message.role {
            Role::System => system.push_str(&message.content),
            Role::User if alone => prompt.push_str(&message.content),
            Role::User => prompt.push_str(&format!("User: {}\n\n", message.content)),
            Role::Assistant => prompt.push_str(&format!("Assistant: {}\n\n", message.content)),
        }
    }
    if !alone {
        prompt.push_str("Assistant:");
    }
    (system, prompt)
}

/// Takes the words out of one piece of a stream.
pub(super) fn take(piece: &Value, gather: &mut Gather<'_>) -> Flow {
    let message = piece.get("message").unwrap_or(piece);
    let word = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
    for call in message
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let function = call.get("function").unwrap_or(call);
        let name = function
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        gather.call(name, function.get("arguments").unwrap_or(&Value::Null));
    }
    if gather.think(word("thinking")) == Flow::Enough {
        return Flow::Enough;
    }
    let content = word("content");
    gather.say(if content.is_empty() {
        word("response")
    } else {
        content
    })
}

pub(super) fn finished(
    last: &Value,
    gather: Gather<'_>,
    flow: Flow,
    request: &Request,
    window: u32,
) -> Reply {
    let count = |key: &str| last.get(key).and_then(Value::as_u64);
    let gathered = gather.end();
    let flow = if gathered.satisfied { Flow::More } else { flow };
    let finish = if gathered.satisfied {
        Finish::Stop
    } else {
        gather::finish(last.get("done_reason").and_then(Value::as_str), flow)
    };
    // A reply that was ended early has no last word: then about four characters are a token.
    let guess = gathered.satisfied.then(|| request.characters() / 4);
    let prompt_tokens = count("prompt_eval_count").or(guess).unwrap_or_default();
    let reply_tokens = count("eval_count").unwrap_or(u64::from(gathered.pieces));
    let cut = prompt_tokens > 0
        && prompt_tokens < request.characters() / MOST_CHARACTERS_PER_TOKEN
        && u64::from(window) < request.characters() / 3;
    let full = finish == Finish::Length
        && reply_tokens > 0
        && reply_tokens < u64::from(request.max_tokens)
        && flow == Flow::More;
    let notice = if cut {
        Some(format!(
            "the server read only {prompt_tokens} tokens of the prompt: it was cut to fit the window of {window}"
        ))
    } else if full {
        Some(format!(
            "the window of {window} tokens was full before the reply was"
        ))
    } else if flow == Flow::Enough {
        Some(format!(
            "the reply ran past {} tokens and was cut",
            request.max_tokens
        ))
    } else if gathered.text.trim().is_empty() && gathered.thought {
        Some("the model only thought; nothing was left for an answer".to_owned())
    } else {
        None
    };
    Reply {
        text: gathered.text,
        prompt_tokens,
        reply_tokens,
        finish,
        notice,
    }
}
