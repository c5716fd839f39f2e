//! Exit codes: what scripts may rely on.

use std::process::ExitCode;

use harness_agent::Stopped;
use strum::VariantArray;

/// How the program ends, with the number that a shell sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Ended without success.
    Failed = 1,
    /// Usage or bad input.
    Usage = 2,
    /// A question needs an answer.
    Question = 3,
    /// The engine cannot be used.
    Engine = 4,
    /// Refused to send.
    NotSent = 5,
    /// Interrupted.
    Interrupted = 130,
}

impl Exit {
    /// Returns the number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the code for the way a run stopped.
    pub fn of(stopped: Stopped) -> Exit {
        match stopped {
            Stopped::Done => Exit::Done,
            Stopped::Question => Exit::Question,
            Stopped::Engine => Exit::Engine,
            Stopped::Refused => Exit::NotSent,
            Stopped::Interrupted => Exit::Interrupted,
            Stopped::Steps | Stopped::Stuck | Stopped::Broke | Stopped::Busy => Exit::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
