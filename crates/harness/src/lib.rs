//! The doors: words and bytes in, calls; results out, words and bytes. They hold no rules.

pub mod cli;
pub mod editors;
pub mod exit;
pub mod server;
pub mod show;
