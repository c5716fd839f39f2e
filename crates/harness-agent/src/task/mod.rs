//! The task: a sentence, read.

pub mod question;
