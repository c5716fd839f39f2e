//! The `harness` program: hands its arguments to the command line and ends with its code.

use std::process::ExitCode;

// Syntax trees are many small pieces: reading a project costs a tenth less than with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    harness::cli::main(std::env::args_os()).into()
}
