//! The `harness` program.

fn main() {}
