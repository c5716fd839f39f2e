//! The names by which `run` knows the sentence and what comes of it.

pub(crate) use crate::{goal, question};
pub(crate) use harness_code::request::{Request as Task, kind, order, role, wish};
