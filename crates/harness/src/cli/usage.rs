//! Wrong calls: clap's own sentence, with its tip or the way to the help as the hint.

use clap::error::{ContextKind, ContextValue};

use crate::show::text::Complaint;

/// Returns what to tell the user about a call that clap could not read.
pub(super) fn complaint(error: &clap::Error, program: &str, command: Option<&str>) -> Complaint {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n");
    let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = words(paragraphs.next().unwrap_or_default());
    let rest: Vec<String> = paragraphs.map(words).collect();
    let tip = rest.iter().find_map(|part| part.strip_prefix("tip: "));
    let command = command.map_or(String::new(), |word| format!("{word} "));
    let help = || format!("`{program} {command}--help` shows how");
    let complaint = Complaint::usage(
        in_plain_words(message.trim_start_matches("error: ")),
        tip.map_or_else(help, str::to_owned),
    );
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => complaint.about(argument.clone()),
        _ => complaint,
    }
}

/// Says of a number that cannot be one what it should be.
fn in_plain_words(message: &str) -> String {
    let Some((value, why)) = message.rsplit_once(": ") else {
        return message.to_owned();
    };
    if let Some((_, range)) = why.split_once(" is not in ") {
        let (first, last) = range.split_once("..=").unwrap_or((range, ""));
        // The largest number that a computer counts to is no limit that a person meant.
        let to = if last == u32::MAX.to_string() {
            ""
        } else {
            last
        };
        return match to {
            "" => format!("{value}: it is a whole number from {first}"),
            to => format!("{value}: it is a whole number from {first} to {to}"),
        };
    }
    match why {
        "invalid digit found in string"
        | "cannot parse integer from empty string"
        | "number too large to fit in target type"
        | "number too small to fit in target type" => format!("{value}: it is a whole number"),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_plain_words;

    #[test]
    fn a_wrong_number_is_told_what_it_should_be() {
        let cases = [
            (
                "invalid value '9' for '--port <N>': 9 is not in 0..=5",
                "invalid value '9' for '--port <N>': it is a whole number from 0 to 5",
            ),
            (
                "invalid value '0' for '--steps <N>': 0 is not in 1..=4294967295",
                "invalid value '0' for '--steps <N>': it is a whole number from 1",
            ),
            (
                "invalid value 'x' for '--steps <N>': invalid digit found in string",
                "invalid value 'x' for '--steps <N>': it is a whole number",
            ),
            (
                "unexpected argument '--x' found",
                "unexpected argument '--x' found",
            ),
        ];
        for (message, words) in cases {
            assert_eq!(in_plain_words(message), words);
        }
    }
}
