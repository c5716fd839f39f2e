//! Wrong calls: clap's own sentence, with its tip or the way to the help as the hint.

use clap::error::{ContextKind, ContextValue};

use crate::show::text::Complaint;

/// Returns what to tell the user about a call that clap could not read.
pub(super) fn complaint(error: &clap::Error, program: &str) -> Complaint {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n");
    let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = words(paragraphs.next().unwrap_or_default());
    let rest: Vec<String> = paragraphs.map(words).collect();
    let tip = rest.iter().find_map(|part| part.strip_prefix("tip: "));
    let command = rest
        .iter()
        .find_map(|part| part.strip_prefix("Usage: harness "))
        .and_then(|usage| usage.split(' ').next())
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase()))
        .map(|word| format!("{word} "))
        .unwrap_or_default();
    let help = || format!("`{program} {command}--help` shows how");
    let complaint = Complaint::usage(
        message.trim_start_matches("error: ").to_owned(),
        tip.map_or_else(help, str::to_owned),
    );
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => complaint.about(argument.clone()),
        _ => complaint,
    }
}
