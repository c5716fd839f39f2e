//! Understands a project: text in, facts and edits out. Never writes, never opens a socket, never starts a process.

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
pub mod scope;
pub mod search;
pub mod spelling;
pub mod stdlib;
pub mod suite;
pub mod symbols;
pub mod text;
pub mod tree;
