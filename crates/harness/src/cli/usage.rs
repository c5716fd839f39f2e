//! Wrong calls: clap's findings in our own words, one sentence and a hint.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::show::text::Complaint;

/// Returns what to tell the user about a call that clap could not read.
pub(super) fn complaint(error: &clap::Error, program: &str) -> Complaint {
    let invalid = context(error, ContextKind::InvalidArg);
    let value = context(error, ContextKind::InvalidValue);
    let help = match context(error, ContextKind::InvalidSubcommand) {
        Some(_) => format!("`{program}` alone lists the commands"),
        None => format!("`{program} {}--help` shows how", command_of(error)),
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = context(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let near = context(error, ContextKind::SuggestedSubcommand);
            let hint = near.map_or(help, |near| format!("did you mean `{program} {near}`?"));
            Complaint::usage(format!("there is no command `{word}`"), hint)
        }
        ErrorKind::UnknownArgument => {
            let word = invalid.unwrap_or_default();
            let near = context(error, ContextKind::SuggestedArg);
            let hint = near.map_or(help, |near| format!("did you mean `{near}`?"));
            Complaint::usage(format!("`{word}` is not an option here"), hint).about(word)
        }
        ErrorKind::MissingRequiredArgument => {
            let names = invalid.unwrap_or_default();
            Complaint::usage(missing(&names), help)
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let option = invalid.unwrap_or_default();
            let hint = match context(error, ContextKind::ValidValue) {
                Some(values) => format!("it can be {values}"),
                None if option.contains("<N>") => "it is a whole number, such as 20".to_owned(),
                None => help,
            };
            let value = value.unwrap_or_default();
            if value.is_empty() {
                return Complaint::usage(format!("`{option}` needs a value"), hint).about(option);
            }
            Complaint::usage(format!("`{value}` cannot be used for `{option}`"), hint).about(option)
        }
        ErrorKind::ArgumentConflict => {
            let other = context(error, ContextKind::PriorArg).unwrap_or_default();
            Complaint::usage(
                format!(
                    "`{}` and `{other}` cannot stand together",
                    invalid.unwrap_or_default()
                ),
                help,
            )
        }
        ErrorKind::InvalidUtf8 => {
            Complaint::usage("an argument is not valid UTF-8", "write it in UTF-8")
        }
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or("the call cannot be read");
            Complaint::usage(first.trim_start_matches("error: ").to_owned(), help)
        }
    }
}

fn missing(names: &str) -> String {
    if names.contains("QUESTION") {
        return "the question is missing".to_owned();
    }
    if names.contains("TASK") {
        return "the task is missing".to_owned();
    }
    format!(
        "{} is missing",
        if names.is_empty() { "something" } else { names }
    )
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let text = match error.get(kind)? {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join(", "),
        ContextValue::StyledStr(text) => text.to_string(),
        ContextValue::StyledStrs(texts) => texts
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Returns the command that was being read, with a space after it, from the usage line clap made.
fn command_of(error: &clap::Error) -> String {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return String::new();
    };
    let usage = usage.to_string();
    let words = usage
        .split_whitespace()
        .skip_while(|word| *word != "harness")
        .skip(1);
    words
        .take(1)
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase()))
        .map(|word| format!("{word} "))
        .collect()
}
