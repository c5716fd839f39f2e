//! How results look: text for people, JSON for programs. Everything printed passes through here.

pub(crate) mod annotations;
mod answer;
pub(crate) mod findings;
pub mod json;
pub mod text;
mod workflow;
mod wrap;
