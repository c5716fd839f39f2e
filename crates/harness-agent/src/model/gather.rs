//! Puts a streamed reply together: thinking is left out, a reply that runs away is cut.

use std::time::{Duration, Instant};

use crate::model::{Finish, Heard, Hearing};

/// Servers may count a token or two differently at the ends of a reply.
const SLACK: u32 = 16;
/// No tokeniser in use makes longer tokens than this on average, in bytes; a longer reply has run away.
const BYTES_PER_TOKEN: usize = 32;

/// How long the end of a reply is waited for that was ended early.
const LINGER: Duration = Duration::from_millis(25);

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Whether to read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// More may come.
    More,
    /// The reply has its length; the connection can be ended.
    Enough,
}

/// A reply that is still coming.
pub(crate) struct Gather<'a> {
    heard: &'a mut Heard<'a>,
    satisfied: Option<Instant>,
    text: String,
    /// How much of `text` was told already.
    told: usize,
    thought: usize,
    pieces: u32,
    max_tokens: u32,
    calls: Vec<String>,
}

/// A reply put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gathered {
    /// The words, without thinking.
    pub(crate) text: String,
    /// Whether the model also thought.
    pub(crate) thought: bool,
    /// How many pieces came: at least that many tokens were written.
    pub(crate) pieces: u32,
    /// Whether whoever listened had heard enough.
    pub(crate) satisfied: bool,
}

impl<'a> Gather<'a> {
    /// Returns an empty reply of at most `max_tokens`.
    pub(crate) fn new(max_tokens: u32, heard: &'a mut Heard<'a>) -> Gather<'a> {
        Gather {
            heard,
            satisfied: None,
            text: String::new(),
            told: 0,
            thought: 0,
            pieces: 0,
            max_tokens,
            calls: Vec::new(),
        }
    }

    /// Returns whether a reply that is wanted no longer is listened to for another moment: a server that is done already
    /// tells how many tokens it read.
    pub(crate) fn lingers(&self) -> bool {
        self.satisfied.is_some_and(|since| since.elapsed() < LINGER)
    }

    /// Returns whether anything came yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces == 0 && self.calls.is_empty()
    }

    /// Adds words.
    pub(crate) fn say(&mut self, piece: &str) -> Flow {
        if self.satisfied.is_some() {
            return Flow::Enough;
        }
        if piece.is_empty() {
            return Flow::More;
        }
        self.text.push_str(piece);
        self.tell();
        match (self.count(), self.satisfied) {
            (_, Some(_)) | (Flow::Enough, _) => Flow::Enough,
            (Flow::More, None) => Flow::More,
        }
    }

    /// Adds thinking, which is counted and dropped.
    pub(crate) fn think(&mut self, piece: &str) -> Flow {
        if piece.is_empty() {
            return Flow::More;
        }
        self.thought += piece.len();
        self.count()
    }

    /// Adds a native tool call, as the JSON that replies are understood in.
    pub(crate) fn call(&mut self, name: &str, arguments: &serde_json::Value) {
        let mut call = serde_json::Map::new();
        call.insert("tool".to_owned(), name.into());
        // Some servers send the arguments as an object, some as the text of one.
        let parsed = match arguments {
            serde_json::Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
            other => other.clone(),
        };
        if let serde_json::Value::Object(fields) = parsed {
            call.extend(fields.into_iter().filter(|(key, _)| key != "tool"));
        }
        self.calls.push(serde_json::Value::Object(call).to_string());
    }

    /// Ends it.
    pub(crate) fn end(self) -> Gathered {
        let (answer, thought_aloud) = spoken(&self.text);
        let mut answer = answer.to_owned();
        // What a model wrote beside a native call is its reasoning; the first call is the action.
        if answer.trim().is_empty()
            && let Some(call) = self.calls.first()
        {
            answer.clone_from(call);
            let _: Hearing = (self.heard)(&answer);
        } else if let Some(call) = self.calls.first() {
            answer.push_str("\n\n");
            answer.push_str(call);
        }
        Gathered {
            text: answer,
            thought: self.thought > 0 || thought_aloud,
            pieces: self.pieces,
            satisfied: self.satisfied.is_some(),
        }
    }

    fn count(&mut self) -> Flow {
        self.pieces = self.pieces.saturating_add(1);
        let longest = (self.max_tokens as usize)
            .saturating_mul(BYTES_PER_TOKEN)
            .saturating_add(1024);
        if self.text.len() > longest {
            let mut end = longest;
            while !self.text.is_char_boundary(end) {
                end -= 1;
            }
            self.text.truncate(end);
            return Flow::Enough;
        }
        let too_long =
            self.pieces > self.max_tokens.saturating_add(SLACK) || self.thought > longest;
        if too_long { Flow::Enough } else { Flow::More }
    }

    /// Tells what is surely not thinking.
    fn tell(&mut self) {
        let start = self.text.trim_start();
        let may_think = OPEN
            .starts_with(&start[..start.len().min(OPEN.len()).min(floor(start, OPEN.len()))])
            || start.starts_with(OPEN);
        if may_think && !start.contains(CLOSE) {
            return;
        }
        let (answer, _) = spoken(&self.text);
        let begin = self.text.len() - answer.len();
        let from = self.told.max(begin);
        if from < self.text.len() {
            if (self.heard)(&self.text[from..]) == Hearing::Enough {
                self.satisfied.get_or_insert_with(Instant::now);
            }
            self.told = self.text.len();
        }
    }
}

/// Returns the largest boundary of a character up to `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns what is said after the thinking that some models write into their answer, and whether there was any.
/// Only a block at the beginning is thinking: code may hold the word.
fn spoken(text: &str) -> (&str, bool) {
    let start = text.trim_start();
    if start.starts_with(OPEN) {
        return match start.find(CLOSE) {
            Some(at) => (start[at + CLOSE.len()..].trim_start(), true),
            None => ("", true),
        };
    }
    // Templates that open the block themselves leave a lone end.
    if let Some(at) = text.find(CLOSE)
        && !text[..at].contains(OPEN)
        && !text[..at].contains("```")
    {
        return (text[at + CLOSE.len()..].trim_start(), true);
    }
    (text, false)
}

/// Returns why a reply ended, from the server's own word for it.
pub(crate) fn finish(word: Option<&str>, flow: Flow) -> Finish {
    match (word, flow) {
        (_, Flow::Enough) | (Some("length" | "max_tokens" | "model_length"), Flow::More) => {
            Finish::Length
        }
        (Some(_) | None, Flow::More) => Finish::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], text: &str, heard: &str) {
        let mut told = String::new();
        let mut hear = |piece: &str| {
            told.push_str(piece);
            Hearing::On
        };
        let mut gather = Gather::new(700, &mut hear);
        for piece in pieces {
            gather.say(piece);
        }
        let gathered = gather.end();
        assert_eq!((gathered.text.as_str(), told.as_str()), (text, heard));
    }

    #[test]
    fn words_come_through_as_they_are() {
        check(&["Hel", "lo\n", "ünd"], "Hello\nünd", "Hello\nünd");
        check(&["<", "b> is bold"], "<b> is bold", "<b> is bold");
        check(&["<thé"], "<thé", "<thé");
    }

    #[test]
    fn thinking_aloud_is_left_out() {
        check(&["<thi", "nk>hm", "m</th", "ink>\n\nyes"], "yes", "yes");
        check(&["  <think></think>", "yes"], "yes", "yes");
        check(&["<think>never ends"], "", "");
        check(&["so, hm</think>yes"], "yes", "yes");
    }

    #[test]
    fn code_that_speaks_of_thinking_stays() {
        check(
            &["```\nx = '</think>'\n```"],
            "```\nx = '</think>'\n```",
            "```\nx = '</think>'\n```",
        );
    }

    #[test]
    fn a_reply_that_runs_away_is_cut() {
        let mut hear = |_: &str| Hearing::On;
        let mut gather = Gather::new(10, &mut hear);
        let pieces = (1..).find(|_| gather.say("a ") == Flow::Enough);
        assert_eq!(pieces, Some(10 + SLACK + 1));
        let mut gather = Gather::new(10, &mut hear);
        assert_eq!(gather.say(&"é".repeat(100_000)), Flow::Enough);
        assert!(gather.end().text.len() <= 10 * BYTES_PER_TOKEN + 1024);
    }

    #[test]
    fn a_native_call_becomes_the_json_that_replies_have() {
        let mut hear = |_: &str| Hearing::On;
        let mut gather = Gather::new(10, &mut hear);
        gather.call("read", &serde_json::json!({"path": "a.py"}));
        assert_eq!(gather.end().text, r#"{"tool":"read","path":"a.py"}"#);
        let mut gather = Gather::new(10, &mut hear);
        gather.call("read", &serde_json::json!("{\"path\": \"a.py\"}"));
        assert_eq!(gather.end().text, r#"{"tool":"read","path":"a.py"}"#);
    }
}
