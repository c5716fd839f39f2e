//! A run: the rungs from cheapest to dearest, and what each leaves to the next.

pub mod event;
pub mod result;
