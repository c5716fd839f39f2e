//! Prints the kind that each text of a file is read as: `kinds CASES.jsonl`, a line a case with its `id`, then a count.

use std::collections::BTreeMap;

use harness_code::request::Request;
use serde_json::Value;

#[expect(clippy::print_stdout, reason = "a measurement prints what it finds")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("a file of cases is needed")?;
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for line in std::fs::read_to_string(file)?.lines() {
        let case: Value = serde_json::from_str(line)?;
        let request = Request::read(case["text"].as_str().unwrap_or_default());
        let kind = request.kind().name();
        println!("{}\t{kind}", case["id"].as_str().unwrap_or_default());
        *counts.entry(kind).or_default() += 1;
    }
    println!("{counts:?}");
    Ok(())
}
