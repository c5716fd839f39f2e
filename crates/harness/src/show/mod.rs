//! How results look: text for people, JSON for programs. Everything printed passes through here.

pub mod json;
pub mod text;
