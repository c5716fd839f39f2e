//! `undo`, `last`, `replay`, `doctor`: what happened before, and how this machine is.

use crate::cli::args::{DoctorArguments, LastArguments, ReplayArguments, UndoArguments};
use crate::cli::not_built_yet;
use crate::exit::Exit;
use crate::show::text::Complaint;

/// Takes a run back.
pub(super) fn undo(_arguments: &UndoArguments) -> Result<Exit, Complaint> {
    Err(not_built_yet("undo"))
}

/// Shows the latest runs.
pub(super) fn last(_arguments: &LastArguments) -> Result<Exit, Complaint> {
    Err(not_built_yet("last"))
}

/// Judges a recorded run again.
pub(super) fn replay(_arguments: &ReplayArguments) -> Result<Exit, Complaint> {
    Err(not_built_yet("replay"))
}

/// Checks this machine.
pub(super) fn doctor(_arguments: &DoctorArguments) -> Result<Exit, Complaint> {
    Err(not_built_yet("doctor"))
}
