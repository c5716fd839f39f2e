//! Understands a project: text in, facts and edits out. Never writes, never opens a socket, never starts a process.
//!
//! ```
//! use harness_code::locate::{LocateOptions, TaskOccurrences, locate};
//! use harness_code::request::Request;
//! use harness_code::tree::SourceTree;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # std::fs::write(folder.path().join("cart.py"), "def total(prices):\n    return sum(prices)\n").unwrap();
//! let tree = SourceTree::read(folder.path(), None).unwrap();
//! let occurrences = TaskOccurrences::of(&tree, &Request::read("the total is wrong"));
//! let (_, located) = locate(&tree, &occurrences, LocateOptions::default());
//! assert_eq!(located.definitions[0].name, "total");
//! ```

pub mod edit;
pub mod fix;
pub mod hidden;
pub mod imports;
pub mod language;
pub mod locate;
pub mod mention;
pub mod mutate;
mod parallel;
pub mod passage;
pub mod path;
pub mod report;
pub mod request;
pub mod scope;
pub mod search;
mod spelling;
pub mod stdlib;
pub mod suite;
pub mod symbols;
pub mod text;
pub mod tree;
