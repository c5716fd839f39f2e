//! Carry one action out. A tool never decides whether it may: guards and permits do.

use harness_code::path::RelPath;
use harness_hands::door::DoorError;

pub(crate) mod change;
pub(crate) mod look;

/// Gives the bytes of a file as the run would leave it, or nothing when it is not there.
pub(crate) type Contents<'a> = dyn Fn(&RelPath) -> Result<Option<Vec<u8>>, DoorError> + 'a;
