//! Carry one action out. A tool never decides whether it may: guards and permits do.

pub mod change;
pub mod look;
