#![no_main]
//! Feeds the body `request` with what the fuzzer finds.

#[path = "../request.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::request(data));
