#![no_main]
//! Feeds the body `edit` with what the fuzzer finds.

#[path = "../bodies.rs"]
#[expect(dead_code, reason = "each target uses one body")]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::edit(data));
