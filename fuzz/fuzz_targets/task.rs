#![no_main]
//! Feeds the body `task` with what the fuzzer finds.

#[path = "../bodies.rs"]
#[expect(dead_code, reason = "each target uses one body")]
mod bodies;

use std::path::Path;
use std::sync::LazyLock;

use harness_code::tree::SourceTree;
use libfuzzer_sys::fuzz_target;

/// The project that the tasks are about: the readers' own source.
static TREE: LazyLock<SourceTree> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/harness-code/src");
    SourceTree::read(&source, None).expect("the readers' source is there")
});

fuzz_target!(|data: &[u8]| bodies::task(&TREE, data));
