//! How much fits: prompt and reply share one window. What does not fit is left out by plan and said; nothing overflows.

use crate::model::{Message, Role};
use crate::run::prompt::said::{MENU, go_on, masked};

/// The most that a run asks for: more costs memory that small machines do not have.
pub(super) const MOST_WINDOW: u32 = 16_384;
/// The longest prompt, in tokens: beyond it small models lose what was said, and every turn costs seconds.
const MOST_PROMPT: u32 = 4_000;
/// Before a server has counted for us: about three bytes a token is on the safe side for code.
const SAFE_BYTES: f64 = 3.0;
/// What a message costs beside its words, in tokens.
const MESSAGE: f64 = 8.0;
/// So many messages at the end are never masked: the last reply and what it brought.
const FRESH: usize = 2;

/// The window of one conversation, shared out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    window: u32,
    reply: u32,
    bytes: f64,
}

impl Room {
    /// Shares a window between prompt and reply. A reply never gets more than half of it.
    pub(super) fn new(window: u32, max_tokens: u32) -> Room {
        let window = window.max(1);
        Room {
            window,
            reply: max_tokens.min(window / 2).max(1),
            bytes: SAFE_BYTES,
        }
    }

    /// Returns the longest reply, in tokens.
    pub(super) fn reply(&self) -> u32 {
        self.reply
    }

    /// Returns how long a prompt may be, in tokens.
    fn prompt(&self) -> f64 {
        f64::from((self.window - self.reply).min(MOST_PROMPT))
    }

    /// Returns how long a first prompt may be, in bytes; the rest stays free for what follows.
    pub(super) fn opening(&self) -> usize {
        (self.prompt() * 0.6 * self.bytes) as usize
    }

    /// Returns how long one observation may be, in bytes: two of them fit beside the opening, so that the window is not
    /// full at every turn.
    pub(super) fn observation(&self, opening: &[Message]) -> usize {
        let free = self.prompt() - self.tokens(opening);
        ((free / 2.0 - 4.0 * MESSAGE).max(MESSAGE) * self.bytes) as usize
    }

    /// Returns how many tokens messages have, about, and rather more than less.
    fn tokens(&self, messages: &[Message]) -> f64 {
        let of = |message: &Message| message.content.len() as f64 / self.bytes + MESSAGE;
        messages.iter().map(of).sum()
    }

    /// Returns whether messages and the reply to them fit the window.
    pub(super) fn fits(&self, messages: &[Message]) -> bool {
        self.tokens(messages) <= self.prompt()
    }

    /// Learns from what the server counted.
    pub(super) fn learn(&mut self, messages: &[Message], counted: u64) {
        let bytes: usize = messages.iter().map(|message| message.content.len()).sum();
        let words = counted as f64 - MESSAGE * messages.len() as f64;
        // A server that reads from its cache may count the rest only: then it counts far too few.
        if words > 50.0 {
            let seen = bytes as f64 / words * 0.95;
            if seen < 6.0 {
                self.bytes = seen.max(1.0);
            }
        }
    }

    /// Makes a conversation fit: code that was shown in the past is masked, all in one step, then the code of the
    /// opening where what is asked now came with code of its own, and only when that is not enough everything said
    /// around it, then old replies, and the newest words are cut. Otherwise `opening` messages at the front stay as they
    /// are. Returns whether anything that was sent before is different now; a conversation that cannot be made to fit is
    /// an error.
    pub(super) fn make_fit(
        &self,
        messages: &mut [Message],
        opening: usize,
    ) -> Result<bool, DoesNotFit> {
        if self.fits(messages) {
            return Ok(false);
        }
        let request = request_of_cut(messages);
        let old = opening..begin_of_fresh(messages).max(opening);
        let newest = messages.len().saturating_sub(1);
        let mut has_masked = false;
        let mut mask = |messages: &mut [Message], role, short: &dyn Fn(&str) -> String| {
            for message in messages.iter_mut().filter(|message| message.role == role) {
                let short = short(&message.content);
                // A word on what was left out is no longer than what it stands for.
                if message.content.len() > short.len() + masked().len() {
                    message.content = short;
                    has_masked = true;
                }
            }
        };
        let whole = |_: &str| masked().to_owned();
        // What a reply that goes on was asked for, with its code, is needed longer than all before it.
        let past = opening..request.unwrap_or(old.end).clamp(opening, old.end);
        mask(&mut messages[past], Role::User, &without_code);
        if !self.fits(messages) && request.is_some_and(|at| at >= opening) {
            mask(
                &mut messages[opening.saturating_sub(1)..opening],
                Role::User,
                &without_blocks,
            );
        }
        for (role, short) in [
            (Role::User, &without_code as &dyn Fn(&str) -> String),
            (Role::User, &whole),
            (Role::Assistant, &whole),
        ] {
            if self.fits(messages) {
                return Ok(has_masked);
            }
            mask(&mut messages[old.clone()], role, short);
        }
        if self.fits(messages) {
            return Ok(has_masked);
        }
        let most = (self.prompt() * self.bytes) as usize;
        for at in (opening..messages.len()).rev() {
            let others: usize = messages
                .iter()
                .enumerate()
                .filter(|(index, _)| *index != at)
                .map(|(_, message)| message.content.len() + (MESSAGE * self.bytes) as usize)
                .sum();
            let cap = most
                .saturating_sub(others + (2.0 * MESSAGE * self.bytes) as usize)
                .max(masked().len());
            if messages[at].content.len() > cap {
                messages[at].content = super::prompt::shortened(&messages[at].content, cap);
                has_masked |= at < newest;
            }
            if self.fits(messages) {
                return Ok(has_masked);
            }
        }
        Err(DoesNotFit)
    }
}

/// Returns where the messages begin that are never masked. A reply that was cut is one reply: who lost its first pieces
/// cannot go on with it.
fn begin_of_fresh(messages: &[Message]) -> usize {
    let mut begin = messages.len().saturating_sub(FRESH);
    while begin >= FRESH && messages[begin - 1].content == go_on() {
        begin -= FRESH;
    }
    begin
}

/// Returns which message a reply that was cut and goes on is the answer to.
fn request_of_cut(messages: &[Message]) -> Option<usize> {
    let is_cut = messages.last().is_some_and(|last| last.content == go_on());
    begin_of_fresh(messages).checked_sub(1).filter(|_| is_cut)
}

/// The longest words before and behind masked code that stay, in bytes.
const LONGEST_AROUND: usize = 700;

/// Returns an opening with its code masked, and all words around it.
fn without_blocks(content: &str) -> String {
    match code_of(content) {
        Some((head, tail)) => format!("{head}\n{}\n{tail}", masked()),
        None => content.to_owned(),
    }
}

/// Returns what stands before the first block of code and behind the last one.
fn code_of(content: &str) -> Option<(&str, &str)> {
    let fences: Vec<usize> = content.match_indices("\n```").map(|(at, _)| at).collect();
    let (first, last) = (*fences.first()?, *fences.last()?);
    let rest = content[last + 1..].split_once('\n');
    (first < last).then_some((&content[..first], rest.map_or("", |(_, rest)| rest)))
}

/// Returns a message with its code masked. What it asks for stays: the model would not know what to do any more.
fn without_code(content: &str) -> String {
    let menu = content.find(MENU.lines().next().unwrap_or_default());
    let (head, tail) = match (code_of(content), menu) {
        (Some(around), _) => around,
        (_, Some(menu)) => (content.lines().next().unwrap_or_default(), &content[menu..]),
        _ => return masked().to_owned(),
    };
    let [head, tail] =
        [head, tail].map(|part| super::prompt::shortened(part.trim(), LONGEST_AROUND));
    format!("{head}\n{}\n\n{tail}", masked()).trim().to_owned()
}

/// A conversation that is too long for its window whatever is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DoesNotFit;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(role: Role, length: usize) -> Message {
        Message {
            role,
            content: "x = 1\n".repeat(length / 6 + 1),
        }
    }

    #[test]
    fn the_pieces_of_a_reply_that_goes_on_stay() {
        let room = Room::new(2048, 512);
        let mut messages = vec![message(Role::System, 600), message(Role::User, 900)];
        messages.push(message(Role::Assistant, 60));
        messages.push(message(Role::User, 1_500));
        for _ in 0..2 {
            messages.push(message(Role::Assistant, 900));
            messages.push(Message {
                role: Role::User,
                content: go_on().to_owned(),
            });
        }
        let before = messages.clone();
        assert_eq!(room.make_fit(&mut messages, 2), Ok(true));
        assert_eq!(messages[3].content, masked());
        assert_eq!(messages[4..], before[4..]);
    }

    #[test]
    fn what_a_reply_that_goes_on_was_asked_for_stays_longer_than_the_opening() {
        let room = Room::new(2048, 512);
        let code = |lines: usize| {
            format!(
                "Look:\n```python\n{}```\nWrite it.",
                "x = 1\n".repeat(lines)
            )
        };
        let said = |role, content: String| Message { role, content };
        let mut messages = vec![
            message(Role::System, 600),
            said(Role::User, code(400)),
            message(Role::Assistant, 60),
            said(Role::User, code(200)),
            message(Role::Assistant, 900),
            said(Role::User, go_on().to_owned()),
        ];
        let before = messages.clone();
        assert_eq!(room.make_fit(&mut messages, 2), Ok(true));
        assert_eq!(
            messages[1].content,
            format!("Look:\n{}\nWrite it.", masked())
        );
        assert_eq!(messages[2..], before[2..]);
    }

    #[test]
    fn old_observations_go_in_one_step_and_the_newest_stay() {
        let room = Room::new(2048, 512);
        let mut messages = vec![message(Role::System, 600), message(Role::User, 900)];
        for _ in 0..3 {
            messages.push(message(Role::Assistant, 60));
            messages.push(message(Role::User, 1_500));
        }
        let before = messages.clone();
        assert_eq!(room.make_fit(&mut messages, 2), Ok(true));
        assert!(room.fits(&messages));
        assert_eq!(messages[..2], before[..2], "the opening stays");
        assert_eq!(messages[7], before[7], "the newest stays");
        assert_eq!(
            (messages[3].content.as_str(), messages[5].content.as_str()),
            (masked(), masked())
        );
        // The next turn needs no masking again.
        messages.push(message(Role::Assistant, 60));
        messages.push(message(Role::User, 300));
        assert_eq!(room.make_fit(&mut messages, 2), Ok(false));
    }

    #[test]
    fn what_was_asked_stays_when_its_code_goes() {
        let code = "x = 1\n".repeat(300);
        let asked = format!(
            "Now `f` in a.py: as told\n\na.py, line 1:\n```python\n{code}```\n\nWrite only the lines that change there."
        );
        let read = format!("a.py, lines 1 to 300:\n{code}\n\n{MENU}");
        assert_eq!(
            without_code(&asked),
            format!(
                "Now `f` in a.py: as told\n\na.py, line 1:\n{}\n\nWrite only the lines that change there.",
                masked()
            )
        );
        assert!(without_code(&read).starts_with("a.py, lines 1 to 300:\n["));
        assert!(without_code(&read).contains("Action: patch"));
        assert_eq!(without_code(&code), masked());
    }

    #[test]
    fn a_server_that_counts_only_what_is_new_is_not_believed() {
        let mut room = Room::new(4096, 512);
        let messages = [message(Role::User, 6_000)];
        room.learn(&messages, 60);
        assert!((room.bytes - SAFE_BYTES).abs() < 1e-9);
        room.learn(&messages, 3_000);
        assert!(room.bytes < 2.1);
    }

    proptest! {
        #[test]
        fn whatever_was_said_fits_or_is_an_error(
            window in 512_u32..20_000,
            max_tokens in 1_u32..8_000,
            lengths in proptest::collection::vec(0_usize..20_000, 1..14),
        ) {
            let room = Room::new(window, max_tokens);
            let mut messages: Vec<Message> = lengths
                .iter()
                .enumerate()
                .map(|(at, length)| message(if at % 2 == 0 { Role::User } else { Role::Assistant }, *length))
                .collect();
            let opening = messages[..1].to_vec();
            match room.make_fit(&mut messages, 1) {
                Ok(_) => {
                    prop_assert!(room.fits(&messages));
                    prop_assert_eq!(&messages[..1], &opening[..]);
                }
                Err(DoesNotFit) => prop_assert!(!room.fits(&messages)),
            }
        }
    }
}
