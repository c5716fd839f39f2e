#![no_main]
//! Feeds the body `protocol` with what the fuzzer finds.

#[path = "../protocol.rs"]
mod bodies;

use std::path::PathBuf;
use std::sync::LazyLock;

/// The project that conversations are about: an empty folder.
static PROJECT: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("harness-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    folder
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::conversation(&PROJECT, data));
