//! A diff that is longer than the screen is read in the user's pager, where a person reads it.

use std::io::IsTerminal;

use harness_agent::env::Environment;
use harness_hands::interactive;

use crate::show::text;

/// What is used where the user names nothing.
const DEFAULT: &str = "less -R";

/// Whether a pager may take the terminal over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paging {
    /// Where the text is longer than the screen.
    WhenLong,
    /// Not here.
    Never,
}

impl Paging {
    /// Returns whether a pager may be used in a conversation with a person.
    pub(super) fn unless(no_pager: bool) -> Paging {
        let is_read = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        match is_read && !no_pager && !text::is_dumb_terminal() {
            true => Paging::WhenLong,
            false => Paging::Never,
        }
    }
}

/// Shows a diff, in the pager where it is longer than the screen.
pub(super) fn diff(diff: &str, paging: Paging) {
    let named = Environment::read().pager;
    let pager = shlex::split(named.as_deref().unwrap_or(DEFAULT)).unwrap_or_default();
    let is_none =
        matches!(pager.as_slice(), [] | [_]) && pager.first().is_none_or(|one| one == "cat");
    let is_paged = paging == Paging::WhenLong && !is_none && text::is_longer_than_screen(diff);
    // Where there is no such pager the diff is shown all the same.
    if !is_paged || interactive::page(&pager, &text::coloured_diff(diff)).is_err() {
        text::diff(diff);
    }
}
