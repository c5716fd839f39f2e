//! Touches the world: files inside one folder, processes inside a sandbox. Holds no opinions.
//!
//! Everything that changes a file goes through a [`permit::Writer`], everything that starts a
//! program through a [`process::runner::Runner`]; a read-only project hands out neither.
//!
//! ```
//! use harness_hands::permit::{Access, Project};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! let project = Project::open(folder.path(), None, Access::ReadOnly).unwrap();
//! assert!(project.writer().is_none() && project.runner().is_none());
//! ```
#![expect(
    clippy::disallowed_methods,
    reason = "this is the room where files are written and programs are started"
)]

mod backup;
pub mod cache;
pub mod companion;
pub mod door;
pub mod environment;
mod fault;
pub mod git;
pub mod interactive;
pub mod journal;
pub mod lock;
#[cfg(all(test, target_os = "linux"))]
#[path = "../../../tests/support/marked.rs"]
mod marked;
pub mod memory;
pub mod output;
pub mod permit;
#[cfg(all(test, unix))]
#[path = "../../../tests/support/planted.rs"]
mod planted;
pub mod prepared;
pub mod process;
pub mod proposals;
pub mod runs;
pub mod scratch;
pub mod settings;
#[cfg(all(test, target_os = "linux"))]
#[path = "../../../tests/support/skip.rs"]
mod skip;
mod state;
pub mod suite;
pub mod terminal;
pub mod trace;
pub mod transaction;
pub mod undo;
pub mod user;
mod write;
