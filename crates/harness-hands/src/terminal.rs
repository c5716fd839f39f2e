//! The terminal on standard input: how it was set when the program began.

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
