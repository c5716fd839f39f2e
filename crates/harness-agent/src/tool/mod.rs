//! Carry one action out. A tool never decides whether it may: guards and permits do.

pub(crate) mod change;
pub(crate) mod look;
