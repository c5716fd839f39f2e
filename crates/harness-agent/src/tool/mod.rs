//! Carry one action out. A tool never decides whether it may: guards and permits do.

use harness_code::hidden::Why;
use harness_code::path::RelPath;
use harness_code::tree::SourceTree;
use harness_hands::door::{Door, DoorError, Trespass};

use crate::history::Refusal;

pub(crate) mod change;
pub(crate) mod look;

/// Gives the bytes of a file as the run would leave it, or nothing when it is not there.
pub(crate) type Contents<'a> = dyn Fn(&RelPath) -> Result<Option<Vec<u8>>, DoorError> + 'a;

/// Returns the path that a model asks for, when it may be used and is not hidden from this model.
pub(crate) fn requested(tree: &SourceTree, door: &Door, written: &str) -> Result<RelPath, Refusal> {
    let path = door.request(written).map_err(trespass)?;
    match tree.hides(&path) {
        None => Ok(path),
        Some(Why::Listed(pattern)) => Err(Refusal::new(
            "path.never_show",
            format!(
                "`{path}` is never shown: the user's `never_show` has `{pattern}`; go on without it"
            ),
            path.as_str(),
        )),
        Some(Why::Credentials) => Err(Refusal::new(
            "path.credentials",
            format!(
                "`{path}` holds credentials, which a model on another machine is not shown unless the user names it with `--file`; go on without it"
            ),
            path.as_str(),
        )),
    }
}

/// Returns the refusal of a path that may not be used.
pub(crate) fn trespass(trespass: Trespass) -> Refusal {
    Refusal::new(trespass.rule, trespass.sentence, trespass.path)
}

/// Returns the refusal of a file that cannot be read.
pub(crate) fn unreadable(path: &RelPath, error: &DoorError) -> Refusal {
    match error.trespass() {
        Some(broken) => trespass(broken.clone()),
        None => Refusal::new("path.unreadable", error.to_string(), path.as_str()),
    }
}
