//! The doors: words and bytes in, calls; results out, words and bytes. They hold no rules.
//!
//! ```
//! use harness::exit::Exit;
//!
//! assert_eq!(harness::cli::main(["harness", "run", "--no-such-option"].map(Into::into)), Exit::Usage);
//! ```

pub mod acp;
pub mod cli;
pub mod editors;
pub mod exit;
pub mod mcp;
mod protocol;
mod request;
mod request_id;
mod runtime;
pub mod server;
pub mod show;
