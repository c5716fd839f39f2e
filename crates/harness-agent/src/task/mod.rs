//! The task: a sentence, read.

pub mod kind;
pub mod question;
mod words;
