//! A reply that came in pieces: what was cut is asked for, at most twice, and put together.

use crate::reply;

/// What a model is told whose reply ended in the middle.
pub(super) const CONTINUE: &str =
    "Your reply was cut. Continue exactly where it stopped, without repeating anything.";

/// A reply that came in pieces.
#[derive(Default)]
pub(super) struct Cut {
    pieces: u32,
    text: String,
}

impl Cut {
    /// Twice more is enough for the longest definition that a prompt shows; a runaway reply ends here.
    const MOST_PIECES: u32 = 2;

    /// Returns a reply with the pieces that came before it.
    pub(super) fn whole(&mut self, next: &str) -> String {
        match self.pieces {
            0 => next.to_owned(),
            _ => reply::joined(&std::mem::take(&mut self.text), next),
        }
    }

    /// Returns whether the model is asked for the rest; keeps what there is.
    pub(super) fn may_go_on(&mut self, text: &str) -> bool {
        let goes_on = self.pieces < Self::MOST_PIECES && reply::is_cut(text);
        self.pieces = if goes_on { self.pieces + 1 } else { 0 };
        text.clone_into(&mut self.text);
        goes_on
    }
}
