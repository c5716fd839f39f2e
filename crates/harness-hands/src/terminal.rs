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
        if let Some(settings) = self.settings.as_ref().filter(|_| is_in_foreground()) {
            let now = rustix::termios::OptionalActions::Now;
            // The program is about to end: there is nobody left to tell.
            rustix::termios::tcsetattr(rustix::stdio::stdin(), now, settings).unwrap_or_default();
        }
    }
}

/// Says whether the terminal listens to this program: one in the background would be stopped by changing its settings.
#[cfg(unix)]
fn is_in_foreground() -> bool {
    let theirs = rustix::termios::tcgetpgrp(rustix::stdio::stdin());
    theirs.is_ok_and(|group| group == rustix::process::getpgrp())
}

/// Single keys of the terminal on standard input, for as long as it lives: not echoed, read without an end of line.
/// Ctrl-C is no such key. A Windows console has none.
#[derive(Debug)]
pub struct Keys {
    before: TerminalSettings,
}

impl Keys {
    /// Begins to listen; nothing where standard input is no terminal.
    pub fn listen() -> Option<Keys> {
        let before = TerminalSettings::current();
        #[cfg(unix)]
        {
            use rustix::termios::{LocalModes, OptionalActions, tcsetattr};
            let mut settings = before.settings.clone().filter(|_| is_in_foreground())?;
            settings.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &settings).ok()?;
            Some(Keys { before })
        }
        #[cfg(not(unix))]
        {
            drop(before);
            None
        }
    }

    /// Returns whether this key was pressed since it was asked last; other keys are forgotten.
    pub fn was_pressed(&self, key: u8) -> bool {
        #[cfg(unix)]
        {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            let stdin = rustix::stdio::stdin();
            let at_once = Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            let waits = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&at_once));
            let mut typed = [0; 64];
            match waits {
                Ok(1..) => {
                    let read = rustix::io::read(stdin, &mut typed).unwrap_or(0);
                    typed[..read].contains(&key)
                }
                Ok(0) | Err(_) => false,
            }
        }
        #[cfg(not(unix))]
        {
            let _ = key;
            false
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.before.restore();
    }
}
