//! Puts a streamed reply together: thinking is left out, a reply that runs away is cut.

use std::time::{Duration, Instant};

use crate::model::{Heard, Hearing};

/// Servers may count a token or two differently at the ends of a reply.
const SLACK: u32 = 16;
/// No tokeniser in use makes longer tokens than this on average, in bytes; a longer reply has run away.
const BYTES_PER_TOKEN: usize = 32;

/// How long the end of a reply is waited for that was ended early.
const LINGER: Duration = Duration::from_millis(25);

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

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
    ran_past: bool,
    call: Option<String>,
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
    /// Whether it went on beyond its length.
    pub(crate) ran_past: bool,
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
            ran_past: false,
            call: None,
        }
    }

    /// Returns whether a reply that is wanted no longer is listened to for another moment: a server that is done already
    /// tells how many tokens it read.
    pub(crate) fn lingers(&self) -> bool {
        self.satisfied.is_some_and(|since| since.elapsed() < LINGER)
    }

    /// Returns whether anything came yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces == 0 && self.call.is_none()
    }

    /// Returns whether it has its length, or its listener heard enough: the connection can be ended.
    pub(crate) fn is_enough(&self) -> bool {
        self.ran_past || self.satisfied.is_some()
    }

    /// Adds words.
    pub(crate) fn say(&mut self, piece: &str) {
        if !self.is_enough() && !piece.is_empty() {
            self.text.push_str(piece);
            self.tell();
            self.count();
        }
    }

    /// Adds thinking, which is counted and dropped.
    pub(crate) fn think(&mut self, piece: &str) {
        if !self.is_enough() && !piece.is_empty() {
            self.thought += piece.len();
            self.count();
        }
    }

    /// Adds a native tool call, as the JSON that replies are understood in; the first one counts.
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
        self.call
            .get_or_insert_with(|| serde_json::Value::Object(call).to_string());
    }

    /// Ends it.
    pub(crate) fn end(self) -> Gathered {
        let (answer, thought_aloud) = spoken(&self.text);
        let mut answer = answer.to_owned();
        // What a model wrote beside a native call is its reasoning; the call is the action.
        match self.call {
            Some(call) if answer.trim().is_empty() => {
                answer = call;
                let _: Hearing = (self.heard)(&answer);
            }
            Some(call) => answer.push_str(&format!("\n\n{call}")),
            None => {}
        }
        Gathered {
            text: answer,
            thought: self.thought > 0 || thought_aloud,
            pieces: self.pieces,
            satisfied: self.satisfied.is_some(),
            ran_past: self.ran_past && self.satisfied.is_none(),
        }
    }

    fn count(&mut self) {
        self.pieces = self.pieces.saturating_add(1);
        let longest = (self.max_tokens as usize)
            .saturating_mul(BYTES_PER_TOKEN)
            .saturating_add(1024);
        self.ran_past = self.text.len() > longest
            || self.thought > longest
            || self.pieces > self.max_tokens.saturating_add(SLACK);
        self.text.truncate(self.text.floor_char_boundary(longest));
    }

    /// Tells what is surely not thinking.
    fn tell(&mut self) {
        let start = self.text.trim_start();
        let may_think = OPEN.starts_with(&start[..start.floor_char_boundary(OPEN.len())])
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
        while !gather.is_enough() {
            gather.say("a ");
        }
        assert_eq!(gather.end().pieces, 10 + SLACK + 1);
        let mut gather = Gather::new(10, &mut hear);
        gather.say(&"é".repeat(100_000));
        let gathered = gather.end();
        assert!(gathered.ran_past && gathered.text.len() <= 10 * BYTES_PER_TOKEN + 1024);
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
