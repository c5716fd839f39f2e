//! A decision by one key: keep a change, drop it, or edit it first.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use harness_hands::terminal;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, KeyEvent,
    RepeatCount,
};

use crate::runtime::locked;
use crate::show::text;

const PROMPT: &str = "keep this? [k]eep, [d]rop, [e]dit: ";

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Keep,
    Drop,
    Edit,
}

/// Asks on the terminal; a terminal that cannot read single keys is asked for a line. Anything unclear keeps nothing.
pub(super) fn about_a_change(stop: &AtomicBool) -> Option<Key> {
    // A key that was pressed before the change was shown is no word about it.
    terminal::forget_typed_ahead();
    if text::is_dumb_terminal() {
        return by_line(stop);
    }
    let config = Config::default();
    let history = MemHistory::with_config(&config);
    let mut editor: Editor<(), MemHistory> = Editor::with_history(config, history).ok()?;
    let pressed: Arc<Mutex<Option<Key>>> = Arc::default();
    let keys = [("kKyY", Key::Keep), ("dDnN", Key::Drop), ("eE", Key::Edit)];
    for (keys, meaning) in keys {
        for key in keys.chars() {
            let press = Press {
                meaning,
                pressed: Arc::clone(&pressed),
            };
            let handler = EventHandler::Conditional(Box::new(press));
            editor.bind_sequence(KeyEvent::from(key), handler);
        }
    }
    loop {
        if let Err(error) = editor.readline(PROMPT) {
            if matches!(error, ReadlineError::Interrupted) {
                // The terminal reads single keys: Ctrl-C is one of them here and no signal.
                stop.store(true, Ordering::Relaxed);
            }
            // Ctrl-C or Ctrl-D: no word is no consent.
            return Some(Key::Drop);
        }
        let pressed = *locked(&pressed);
        if pressed.is_some() {
            return pressed;
        }
    }
}

fn by_line(stop: &AtomicBool) -> Option<Key> {
    drop(write!(std::io::stderr(), "{PROMPT}"));
    drop(std::io::stderr().flush());
    let line = terminal::read_line(stop).ok()?.unwrap_or_default();
    match line.trim().to_lowercase().as_str() {
        "k" | "keep" | "y" | "yes" => Some(Key::Keep),
        "e" | "edit" => Some(Key::Edit),
        _ => Some(Key::Drop),
    }
}

/// Takes a key for the whole answer.
struct Press {
    meaning: Key,
    pressed: Arc<Mutex<Option<Key>>>,
}

impl ConditionalEventHandler for Press {
    fn handle(
        &self,
        _event: &Event,
        _count: RepeatCount,
        _positive: bool,
        _context: &EventContext<'_>,
    ) -> Option<Cmd> {
        *locked(&self.pressed) = Some(self.meaning);
        Some(Cmd::AcceptLine)
    }
}
