//! Exit codes: what scripts may rely on.

use std::process::ExitCode;

use harness_agent::Stopped;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Ended without success.
    Failed,
    /// Usage or bad input.
    Usage,
    /// A question needs an answer.
    Question,
    /// The engine cannot be used.
    Engine,
    /// Refused to send.
    NotSent,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// Every code, in the order that the reference shows them.
    pub const ALL: [Exit; 7] = [
        Exit::Done,
        Exit::Failed,
        Exit::Usage,
        Exit::Question,
        Exit::Engine,
        Exit::NotSent,
        Exit::Interrupted,
    ];

    /// Returns the number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Question => 3,
            Exit::Engine => 4,
            Exit::NotSent => 5,
            Exit::Interrupted => 130,
        }
    }

    /// Returns what it means, for the reference.
    pub fn about(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::Failed => "ended without success",
            Exit::Usage => "usage or bad input: no such folder, unknown skill, unknown engine",
            Exit::Question => "a question needs an answer",
            Exit::Engine => {
                "the engine cannot be used: unreachable, no such model, no base address or token, bad reply"
            }
            Exit::NotSent => "refused to send",
            Exit::Interrupted => "interrupted",
        }
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
