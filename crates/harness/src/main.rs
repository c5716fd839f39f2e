//! The `harness` program: hands its arguments to the command line and ends with its code.

use std::process::ExitCode;

fn main() -> ExitCode {
    harness::cli::main(std::env::args_os()).into()
}
