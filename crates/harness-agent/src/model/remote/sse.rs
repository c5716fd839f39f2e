//! Reads a chat-completions answer: a stream of events with every irregularity seen in the wild, or one JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::model::gather::{self, Flow, Gather};
use crate::model::http::{Answer, Limits, Trouble};
use crate::model::trouble::said;
use crate::model::{Finish, Reply, Request};

/// How long the count of tokens may take after the last word; it is worth no more.
const AFTERWORD: Duration = Duration::from_secs(2);

/// What ended a reply too early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The connection.
    Trouble(Trouble),
    /// The server, with its own words.
    Failed(String),
    /// What came is no chat.
    Garbled,
}

/// What is known at the end of an answer.
#[derive(Debug, Default)]
pub(crate) struct End {
    finish: Option<String>,
    prompt_tokens: u64,
    reply_tokens: u64,
    enough: bool,
    calls: BTreeMap<u64, (String, String)>,
}

/// Reads an answer to its end.
pub(crate) fn read(
    answer: &mut Answer,
    gather: &mut Gather<'_>,
    limits: Limits,
) -> Result<End, Cut> {
    let mut end = End::default();
    let mut pending = String::new();
    let mut done = false;
    'lines: while (!end.enough || gather.lingers()) && !done {
        let line = match answer.line() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            // The last word was said; only the count is missing.
            Err(Trouble::Silent(_) | Trouble::Broken) if end.finish.is_some() => break,
            Err(trouble) => return Err(Cut::Trouble(trouble)),
        };
        // A lone carriage return ends a line too.
        for line in line.split(|byte| *byte == b'\r') {
            let line = String::from_utf8_lossy(line);
            let line = line.trim_start_matches('\u{feff}');
            let data = match field(line) {
                Field::Data(data) => data,
                Field::Other => continue,
                Field::Blank if pending.is_empty() => continue,
                Field::Blank => return Err(Cut::Garbled),
                // An answer in one piece, or one JSON a line.
                Field::Json if gather.is_empty() && end.finish.is_none() && pending.is_empty() => {
                    if let Ok(value) = serde_json::from_str::<Value>(line) {
                        end.take(&value, gather)?;
                        continue;
                    }
                    let rest = answer.whole().map_err(Cut::Trouble)?;
                    let value = serde_json::from_str(&format!("{line}\n{rest}"))
                        .map_err(|_| Cut::Garbled)?;
                    end.take(&value, gather)?;
                    break 'lines;
                }
                Field::Json => line,
                Field::Strange => return Err(Cut::Garbled),
            };
            if data == "[DONE]" {
                done = true;
                break;
            }
            pending.push_str(data);
            match serde_json::from_str::<Value>(&pending) {
                Ok(value) => {
                    end.take(&value, gather)?;
                    pending.clear();
                }
                // An event may be spread over several data lines.
                Err(error) if error.is_eof() => pending.push('\n'),
                Err(_) => return Err(Cut::Garbled),
            }
            answer.wait_for(if end.finish.is_some() {
                AFTERWORD.min(limits.between)
            } else {
                limits.between
            });
        }
    }
    let nothing = gather.is_empty() && end.calls.is_empty() && end.finish.is_none() && !done;
    if nothing {
        return Err(Cut::Garbled);
    }
    if end.finish.is_none() && !done && !end.enough {
        return Err(Cut::Trouble(Trouble::Broken));
    }
    Ok(end)
}

enum Field<'a> {
    Data(&'a str),
    /// A comment, a keep-alive, or a field that says nothing to us.
    Other,
    Blank,
    Json,
    Strange,
}

fn field(line: &str) -> Field<'_> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Field::Blank;
    }
    if let Some(data) = trimmed.strip_prefix("data:") {
        let data = data.trim();
        return if data.is_empty() {
            Field::Other
        } else {
            Field::Data(data)
        };
    }
    if trimmed.starts_with(['{', '[']) {
        return Field::Json;
    }
    let known = trimmed.starts_with(':')
        || ["event", "id", "retry", "data"].iter().any(|name| {
            trimmed
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        });
    if known { Field::Other } else { Field::Strange }
}

impl End {
    /// Takes one event, or a whole answer.
    fn take(&mut self, value: &Value, gather: &mut Gather<'_>) -> Result<(), Cut> {
        let failed = value.get("error").filter(|error| !error.is_null());
        if let Some(error) = failed {
            return Err(Cut::Failed(said(&error.to_string())));
        }
        if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
            let count = |key: &str| usage.get(key).and_then(Value::as_u64);
            self.prompt_tokens = count("prompt_tokens").unwrap_or(self.prompt_tokens);
            self.reply_tokens = count("completion_tokens").unwrap_or(self.reply_tokens);
        }
        let Some(choice) = value
            .get("choices")
            .and_then(Value::as_array)
            .and_then(|choices| choices.first())
        else {
            return Ok(());
        };
        let message = choice
            .get("delta")
            .or_else(|| choice.get("message"))
            .unwrap_or(choice);
        let mut flow = Flow::More;
        for key in ["reasoning_content", "reasoning"] {
            if flow == Flow::More {
                flow = gather.think(&words(message.get(key)));
            }
        }
        for key in ["content", "text", "refusal"] {
            if flow == Flow::More {
                flow = gather.say(&words(message.get(key)));
            }
        }
        self.enough |= flow == Flow::Enough;
        self.take_calls(message);
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        } else if choice.get("message").is_some() {
            self.finish.get_or_insert_with(|| "stop".to_owned());
        }
        Ok(())
    }

    fn take_calls(&mut self, message: &Value) {
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for (place, call) in calls.into_iter().flatten().enumerate() {
            let index = call
                .get("index")
                .and_then(Value::as_u64)
                .unwrap_or(place as u64);
            let function = call.get("function").unwrap_or(call);
            let (name, arguments) = self.calls.entry(index).or_default();
            name.push_str(
                function
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default(),
            );
            match function.get("arguments") {
                Some(Value::String(piece)) if arguments.len() < (1 << 20) => {
                    arguments.push_str(piece);
                }
                Some(Value::Object(whole)) => *arguments = Value::Object(whole.clone()).to_string(),
                Some(_) | None => {}
            }
        }
    }

    /// Returns the reply.
    pub(crate) fn reply(self, mut gather: Gather<'_>, request: &Request) -> Reply {
        for (name, arguments) in self.calls.values() {
            gather.call(name, &Value::String(arguments.clone()));
        }
        let gathered = gather.end();
        let flow = if self.enough && !gathered.satisfied {
            Flow::Enough
        } else {
            Flow::More
        };
        // A reply that was ended early has no last word: then about four characters are a token.
        let prompt_tokens = if gathered.satisfied && self.prompt_tokens == 0 {
            request.characters() / 4
        } else {
            self.prompt_tokens
        };
        let finish = if gathered.satisfied {
            Finish::Stop
        } else {
            gather::finish(self.finish.as_deref(), flow)
        };
        let reply_tokens = if self.reply_tokens > 0 {
            self.reply_tokens
        } else {
            u64::from(gathered.pieces)
        };
        let full = finish == Finish::Length
            && flow == Flow::More
            && self.reply_tokens > 0
            && self.reply_tokens < u64::from(request.max_tokens);
        let notice = if flow == Flow::Enough {
            Some(format!(
                "the reply ran past {} tokens and was cut",
                request.max_tokens
            ))
        } else if full {
            Some("the model's window was full before the reply was".to_owned())
        } else if self.finish.as_deref() == Some("content_filter") {
            Some("the host's filter ended the reply".to_owned())
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
}

/// Returns the words of a message: a text, or a list of parts with texts in them.
fn words(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| {
                part.get("text")
                    .and_then(Value::as_str)
                    .or_else(|| part.as_str())
            })
            .collect(),
        Some(_) | None => String::new(),
    }
}
