//! How often is the right change among the suspects, and how early? Reads pairs of a function before and after its
//! fix (bench/bugs/commits.py), prints one line a pair.

use harness_code::language::Language;
use harness_code::{mutate, symbols};
use serde_json::Value;

/// Returns a definition with its own indentation.
fn piece(content: &str, span: &std::ops::Range<usize>) -> String {
    let start = content
        .get(..span.start)
        .and_then(|text| text.rfind('\n'))
        .map_or(0, |at| at + 1);
    content.get(start..span.end).unwrap_or_default().to_owned()
}

#[expect(clippy::print_stdout, reason = "a measurement prints what it finds")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args()
        .nth(1)
        .ok_or("one file of pairs is needed")?;
    let (mut pairs, mut among, mut early) = (0, 0, 0);
    for line in std::fs::read_to_string(file)?.lines() {
        let pair: Value = serde_json::from_str(line)?;
        let text = |name: &str| pair.get(name).and_then(Value::as_str).unwrap_or_default();
        let at = pair.get("line").and_then(Value::as_u64).unwrap_or_default() as u32;
        let (before, after, name) = (text("before"), text("after"), text("name"));
        let near = |content: &str| {
            symbols::definitions(Language::Python, content)
                .into_iter()
                .filter(|known| known.name() == name && known.kind.is_function())
                .min_by_key(|known| known.line.abs_diff(at))
                .map(|known| known.span())
        };
        let (Some(old), Some(new)) = (near(before), near(after)) else {
            continue;
        };
        let wanted = mutate::fingerprint(&piece(after, &new));
        pairs += 1;
        let found = mutate::mutations(before, old.clone(), |_| 1.0);
        let place = found.iter().position(|mutation| {
            let changed = mutation.applied(before).unwrap_or_default();
            let longer = old.end + mutation.text.len() - mutation.range.len();
            let text = piece(&changed, &(old.start..longer));
            mutate::fingerprint(&text) == wanted || mutate::fingerprint(text.trim_end()) == wanted
        });
        among += usize::from(place.is_some());
        early += usize::from(place.is_some_and(|at| at < 500));
        let won = place.and_then(|at| found.get(at));
        let change = won.map_or_else(String::new, |mutation| {
            let old = before.get(mutation.range.clone()).unwrap_or_default();
            format!("{}: {old:?} => {:?}", mutation.kind.name(), mutation.text)
        });
        println!(
            "{place:?} of {} in {} {name} {} {change}",
            found.len(),
            text("repository"),
            text("commit")
        );
    }
    println!("{pairs} pairs, {among} among the suspects, {early} among the first 500");
    Ok(())
}
