//! A reply that came in pieces: what was cut is asked for, at most five times, and put together.

use crate::reply;

/// A reply that came in pieces.
#[derive(Default)]
pub(super) struct CutReply {
    pieces: u32,
    text: String,
    /// How long it was with the piece before.
    length: usize,
}

impl CutReply {
    /// So many more make a file of some hundred lines; a runaway reply ends here.
    const MOST_PIECES: u32 = 5;

    /// Returns a reply with the pieces that came before it.
    pub(super) fn whole(&mut self, next: &str) -> String {
        match self.pieces {
            0 => next.to_owned(),
            _ => reply::joined(&std::mem::take(&mut self.text), next),
        }
    }

    /// Returns whether the model is asked for the rest; keeps what there is.
    pub(super) fn may_go_on(&mut self, text: &str) -> bool {
        // A piece that brings nothing new will not end either.
        let is_more = self.pieces == 0 || text.len() > self.length;
        let goes_on = is_more && self.pieces < Self::MOST_PIECES && reply::is_cut(text);
        self.length = text.len();
        self.pieces = if goes_on { self.pieces + 1 } else { 0 };
        text.clone_into(&mut self.text);
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::CutReply;

    #[test]
    fn a_reply_goes_on_while_it_grows() {
        let mut cut = CutReply::default();
        let mut text = cut.whole("```python\ndef f():\n    a = 0\n");
        for number in 1..=CutReply::MOST_PIECES {
            assert!(cut.may_go_on(&text), "{number}");
            text = cut.whole(&format!("    b = {number}\n"));
        }
        assert!(!cut.may_go_on(&text));
        assert!(text.ends_with("b = 4\n    b = 5\n"), "{text}");
        let mut cut = CutReply::default();
        let text = cut.whole("```python\ndef f():\n    a = 0\n");
        assert!(cut.may_go_on(&text));
        let same = cut.whole("");
        assert!(!cut.may_go_on(&same));
    }
}
