//! What a signal does to a conversation: the first Ctrl-C stops the run or clears the line, the next one leaves.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};

use harness_agent::Cancel;
use harness_hands::terminal::TerminalSettings;

use crate::exit::Exit;
use crate::protocol::{self, Signal};
use crate::runtime::locked;
use crate::show::text;

/// What ends bracketed paste, which a line editor turns on.
const END_OF_PASTES: &[u8] = b"\x1b[?2004l\r\n";

/// What is under way, as the thread that hears signals sees it.
#[derive(Clone, Default)]
pub(super) struct Interrupts(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The run that is working, while there is one.
    run: Option<Cancel>,
    /// The terminal, where a person edits lines.
    edited: Option<TerminalSettings>,
    /// Whether Ctrl-C was pressed at this prompt before.
    warned: bool,
}

/// What comes of Ctrl-C at the prompt.
pub(super) enum AtPrompt {
    /// The conversation goes on; the user has been told how to leave.
    Stay,
    /// The conversation ends.
    Leave,
}

impl Interrupts {
    /// Hears signals from now on.
    pub(super) fn hear(&self) {
        let heard = self.clone();
        // Without a handler Ctrl-C still ends the program, and the journal can put files back.
        drop(protocol::on_signal(move |signal| heard.signal(signal)));
    }

    /// Says that a person edits the lines on the terminal as it is set now.
    pub(super) fn lines_are_edited(&self) {
        self.state().edited = Some(TerminalSettings::current());
    }

    /// Says that a new line is waited for.
    pub(super) fn new_line(&self) {
        self.state().warned = false;
    }

    /// Says that Ctrl-C was pressed at the prompt.
    pub(super) fn at_prompt(&self) -> AtPrompt {
        self.state().at_prompt()
    }

    /// Returns a run that Ctrl-C stops, for as long as it lives.
    pub(super) fn run(&self) -> Running<'_> {
        let cancel = Cancel::default();
        self.state().run = Some(cancel.clone());
        Running {
            interrupts: self,
            cancel,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.0)
    }

    fn signal(&self, signal: Signal) {
        let mut state = self.state();
        let Some(exit) = state.answer(signal) else {
            return;
        };
        if let Some(settings) = &state.edited {
            settings.restore();
            drop(std::io::stdout().write_all(END_OF_PASTES));
        }
        std::process::exit(i32::from(exit.code()));
    }
}

impl State {
    /// Returns how the program ends, if it does.
    fn answer(&mut self, signal: Signal) -> Option<Exit> {
        match (signal, &self.run) {
            (_, Some(cancel)) if !cancel.stopped() => {
                cancel.stop();
                None
            }
            // Between two lines the terminal makes a signal of the key.
            (Signal::Interrupt, None) if self.edited.is_some() => match self.at_prompt() {
                AtPrompt::Stay => None,
                AtPrompt::Leave => Some(Exit::Done),
            },
            (Signal::Interrupt | Signal::Terminate, _) => Some(Exit::Interrupted),
        }
    }

    fn at_prompt(&mut self) -> AtPrompt {
        if self.warned {
            return AtPrompt::Leave;
        }
        self.warned = true;
        text::notice("press Ctrl-C again to leave");
        AtPrompt::Stay
    }
}

/// A run that is working.
pub(super) struct Running<'a> {
    interrupts: &'a Interrupts,
    pub(super) cancel: Cancel,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.interrupts.state().run = None;
    }
}

#[cfg(test)]
mod tests {
    use harness_agent::Cancel;
    use harness_hands::terminal::TerminalSettings;

    use super::State;
    use crate::exit::Exit;
    use crate::protocol::Signal;

    #[track_caller]
    fn check(mut state: State, signals: [Signal; 2], ends: [Option<Exit>; 2]) {
        assert_eq!(signals.map(|signal| state.answer(signal)), ends);
    }

    fn edited() -> State {
        State {
            edited: Some(TerminalSettings::default()),
            ..State::default()
        }
    }

    fn working() -> State {
        State {
            run: Some(Cancel::default()),
            ..edited()
        }
    }

    #[test]
    fn a_signal_between_two_lines_is_a_key_at_the_prompt() {
        let twice = [Signal::Interrupt; 2];
        check(edited(), twice, [None, Some(Exit::Done)]);
    }

    #[test]
    fn the_second_signal_ends_what_does_not_stop() {
        let twice = [Signal::Interrupt; 2];
        check(working(), twice, [None, Some(Exit::Interrupted)]);
        let other = [Signal::Terminate; 2];
        check(working(), other, [None, Some(Exit::Interrupted)]);
    }

    #[test]
    fn the_system_ends_it_at_once_and_so_does_ctrl_c_without_a_person() {
        let ended = [Some(Exit::Interrupted); 2];
        check(edited(), [Signal::Terminate; 2], ended);
        check(State::default(), [Signal::Interrupt; 2], ended);
    }
}
