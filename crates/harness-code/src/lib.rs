//! Understands a project: text in, facts and edits out. Never writes, never opens a socket, never starts a process.

pub mod edit;
pub mod fix;
pub mod language;
pub mod path;
pub mod scope;
pub mod search;
pub mod spelling;
pub mod stdlib;
pub mod symbols;
pub mod text;
pub mod tree;
