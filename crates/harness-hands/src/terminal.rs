//! The terminal on standard input: how it was set when the program began, and lines that are typed on it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Forgets what was typed before a question was shown. A Windows console keeps it.
pub fn forget_typed_ahead() {
    #[cfg(unix)]
    {
        let typed = rustix::termios::QueueSelector::IFlush;
        rustix::termios::tcflush(rustix::stdio::stdin(), typed).unwrap_or_default();
    }
}

/// Reads a line from standard input, or nothing once `stop` is set; a Windows console must send its line first.
pub fn read_line(stop: &AtomicBool) -> io::Result<Option<String>> {
    #[cfg(unix)]
    while !is_line_typed()? {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok((!stop.load(Ordering::Relaxed)).then_some(line))
}

/// Waits a moment for a line: short enough for a key to be answered at once.
#[cfg(unix)]
fn is_line_typed() -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = rustix::stdio::stdin();
    let moment = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&moment)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The settings of a terminal, taken while no line is edited.
#[derive(Clone, Debug, Default)]
pub struct TerminalSettings {
    #[cfg(unix)]
    settings: Option<rustix::termios::Termios>,
}

impl TerminalSettings {
    /// Returns the settings in force; none where standard input is no terminal.
    pub fn current() -> TerminalSettings {
        TerminalSettings {
            #[cfg(unix)]
            settings: rustix::termios::tcgetattr(rustix::stdio::stdin()).ok(),
        }
    }

    /// Puts these settings in force again. A Windows console belongs to its shell, which sets it itself.
    pub fn restore(&self) {
        #[cfg(unix)]
        if let Some(settings) = &self.settings {
            let now = rustix::termios::OptionalActions::Now;
            // The program is about to end: there is nobody left to tell.
            rustix::termios::tcsetattr(rustix::stdio::stdin(), now, settings).unwrap_or_default();
        }
    }
}
