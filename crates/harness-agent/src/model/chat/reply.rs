//! Reads a reply: one JSON a line, a stream of events with every irregularity seen in the wild, or one JSON in all.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::model::chat::Protocol;
use crate::model::gather::Gather;
use crate::model::http::{Limits, Response, Trouble};
use crate::model::trouble::said;
use crate::model::{Finish, Heard, Reply, Request};

/// How long the count of tokens may take after the last word; it is worth no more.
const AFTERWORD: Duration = Duration::from_secs(2);
/// No text or code in use has more characters a token; fewer tokens than that means that the prompt was cut.
const MOST_CHARACTERS_PER_TOKEN: u64 = 8;
/// The longest arguments of a call that are kept, in bytes.
const LONGEST_ARGUMENTS: usize = 1 << 20;

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

/// A reply that is still coming, with what its server says of it.
pub(crate) struct Incoming<'a> {
    gather: Gather<'a>,
    /// Why it ended, in the server's word.
    finish: Option<String>,
    /// Nothing follows.
    done: bool,
    prompt_tokens: u64,
    reply_tokens: u64,
    calls: BTreeMap<u64, (String, String)>,
}

impl<'a> Incoming<'a> {
    /// Returns an empty reply of at most `max_tokens`.
    pub(crate) fn new(max_tokens: u32, heard: &'a mut Heard<'a>) -> Incoming<'a> {
        Incoming {
            gather: Gather::new(max_tokens, heard),
            finish: None,
            done: false,
            prompt_tokens: 0,
            reply_tokens: 0,
            calls: BTreeMap::new(),
        }
    }

    /// Reads an answer to its end.
    pub(crate) fn read(
        &mut self,
        protocol: &impl Protocol,
        answer: &mut Response,
        limits: Limits,
    ) -> Result<(), Cut> {
        let mut pending = String::new();
        while (!self.gather.is_enough() || self.gather.lingers()) && !self.done {
            let line = match answer.line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(Trouble::Interrupted) => return Err(Cut::Trouble(Trouble::Interrupted)),
                // The last word was said; only the count is missing.
                Err(_) if self.finish.is_some() || self.gather.is_enough() => break,
                Err(trouble) => return Err(Cut::Trouble(trouble)),
            };
            // A lone carriage return ends a line too.
            for line in line.split(|byte| *byte == b'\r') {
                let line = String::from_utf8_lossy(line);
                let line = line.trim_start_matches('\u{feff}');
                let (data, is_bare) = match field(line) {
                    Field::Data(data) => (data, false),
                    Field::Json => (line, true),
                    Field::Other => continue,
                    Field::Blank if pending.is_empty() => continue,
                    Field::Blank | Field::Strange => return Err(Cut::Garbled),
                };
                if data == "[DONE]" {
                    self.done = true;
                    break;
                }
                let is_first = is_bare && pending.is_empty() && self.is_empty();
                pending.push_str(data);
                match serde_json::from_str::<Value>(&pending) {
                    Ok(value) => {
                        self.take(protocol, &value)?;
                        pending.clear();
                    }
                    // An answer in one piece may be spread over lines.
                    Err(error) if error.is_eof() && is_first => {
                        let rest = answer.whole().map_err(Cut::Trouble)?;
                        let whole = serde_json::from_str(&format!("{pending}\n{rest}"));
                        self.take(protocol, &whole.map_err(|_| Cut::Garbled)?)?;
                        return self.end();
                    }
                    // An event may be spread over several data lines.
                    Err(error) if error.is_eof() => pending.push('\n'),
                    Err(_) => return Err(Cut::Garbled),
                }
                answer.wait_for(if self.finish.is_some() {
                    AFTERWORD.min(limits.between)
                } else {
                    limits.between
                });
            }
        }
        self.end()
    }

    fn is_empty(&self) -> bool {
        self.gather.is_empty() && self.calls.is_empty() && self.finish.is_none()
    }

    fn end(&self) -> Result<(), Cut> {
        let is_whole = self.finish.is_some() || self.done || self.gather.is_enough();
        match is_whole {
            true => Ok(()),
            false if self.is_empty() => Err(Cut::Garbled),
            false => Err(Cut::Trouble(Trouble::Broken)),
        }
    }

    fn take(&mut self, protocol: &impl Protocol, value: &Value) -> Result<(), Cut> {
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            return Err(Cut::Failed(said(&error.to_string())));
        }
        protocol.take(value, self);
        Ok(())
    }

    /// Adds thinking, which is counted and dropped.
    pub(crate) fn think(&mut self, piece: &str) {
        self.gather.think(piece);
    }

    /// Adds words.
    pub(crate) fn say(&mut self, piece: &str) {
        self.gather.say(piece);
    }

    /// Adds a part of a native call: its name and arguments come at once or in pieces.
    pub(crate) fn call(&mut self, index: u64, call: &Value) {
        let function = call.get("function").unwrap_or(call);
        let (name, arguments) = self.calls.entry(index).or_default();
        name.push_str(
            function
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        );
        match function.get("arguments") {
            Some(Value::String(piece)) if arguments.len() < LONGEST_ARGUMENTS => {
                arguments.push_str(piece);
            }
            Some(Value::Object(whole)) => *arguments = Value::Object(whole.clone()).to_string(),
            Some(_) | None => {}
        }
    }

    /// Takes how many tokens were read and written, where the server says so.
    pub(crate) fn count(&mut self, prompt_tokens: Option<u64>, reply_tokens: Option<u64>) {
        self.prompt_tokens = prompt_tokens.unwrap_or(self.prompt_tokens);
        self.reply_tokens = reply_tokens.unwrap_or(self.reply_tokens);
    }

    /// Takes why the reply ended, where the server says so.
    pub(crate) fn finish(&mut self, why: Option<&str>) {
        if let Some(why) = why {
            self.finish = Some(why.to_owned());
        }
    }

    /// Says that these were the last words; the counts may follow.
    pub(crate) fn last_words(&mut self) {
        self.finish.get_or_insert_with(|| "stop".to_owned());
    }

    /// Says that nothing follows.
    pub(crate) fn done(&mut self) {
        self.last_words();
        self.done = true;
    }

    /// Returns the number that the next call gets where the server gives none.
    pub(crate) fn next_call(&self) -> u64 {
        self.calls.len() as u64
    }

    /// Returns the reply; with the window, where we chose it.
    pub(crate) fn reply(mut self, request: &Request, window: Option<u32>) -> Reply {
        for (name, arguments) in self.calls.values() {
            self.gather.call(name, &Value::String(arguments.clone()));
        }
        let gathered = self.gather.end();
        let ran_past = gathered.ran_past;
        let finish = match self.finish.as_deref() {
            _ if gathered.satisfied => Finish::Stop,
            _ if ran_past => Finish::Length,
            Some("length" | "max_tokens" | "model_length") => Finish::Length,
            Some(_) | None => Finish::Stop,
        };
        // A reply that was ended early has no last word: then about four characters are a token.
        let prompt_tokens = if gathered.satisfied && self.prompt_tokens == 0 {
            request.characters() / 4
        } else {
            self.prompt_tokens
        };
        let reply_tokens = if self.reply_tokens > 0 {
            self.reply_tokens
        } else {
            u64::from(gathered.pieces)
        };
        let is_full = finish == Finish::Length
            && !ran_past
            // Whose window is known to be ours, its pieces are count enough.
            && (self.reply_tokens > 0 || window.is_some())
            && reply_tokens < u64::from(request.max_tokens);
        let was_cut = window.is_some_and(|window| {
            prompt_tokens > 0
                && prompt_tokens < request.characters() / MOST_CHARACTERS_PER_TOKEN
                && u64::from(window) < request.characters() / 3
        });
        let notice = match window {
            Some(window) if was_cut => Some(format!(
                "the server read only {prompt_tokens} tokens of the prompt: it was cut to fit the window of {window}"
            )),
            Some(window) if is_full => Some(format!(
                "the window of {window} tokens was full before the reply was"
            )),
            Some(_) | None if ran_past => Some(format!(
                "the reply ran past {} tokens and was cut",
                request.max_tokens
            )),
            None if is_full => Some("the model's window was full before the reply was".to_owned()),
            Some(_) | None if self.finish.as_deref() == Some("content_filter") => {
                Some("the host's filter ended the reply".to_owned())
            }
            Some(_) | None if gathered.text.trim().is_empty() && gathered.thought => {
                Some("the model only thought; nothing was left for an answer".to_owned())
            }
            Some(_) | None => None,
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
