//! The last look at a prompt before it leaves this machine: no secrets, not too much. Nothing is sent that it refuses.
//! Best effort on secrets that were encoded or split; said so in the docs.

use std::num::ParseIntError;

use crate::model::{ModelError, Request};
use crate::secret;

/// The most characters that one prompt to another machine may have.
pub(crate) const DEFAULT_MAX_SEND: u64 = 200_000;

/// Checks the exact words of a request and the exact bytes of its body.
pub(crate) fn check(request: &Request, body: &str, limit: u64) -> Result<(), ModelError> {
    let characters = request.characters();
    if characters > limit {
        return Err(ModelError::NotSent {
            rule: "send.too_long",
            message: format!(
                "the prompt has {characters} characters; at most {limit} may leave this machine"
            ),
            hint: "narrow the task with --scope, or raise HARNESS_MAX_SEND".to_owned(),
        });
    }
    for message in &request.messages {
        if let Some(secret) = secret::find(&message.content).first() {
            let place = match part(&message.content, secret.range.start) {
                Some(part) => Place::Part(part),
                None => Place::File(place(&message.content, secret.range.start)),
            };
            return Err(secret_found(secret.kind.name, &place));
        }
    }
    // The body holds the same words once more, and all else that is sent: a net below the net.
    if let Some(secret) = secret::find(body).first() {
        return Err(secret_found(secret.kind.name, &Place::File(String::new())));
    }
    Ok(())
}

/// Reads the limit as users write it; what cannot be read is an error, so that a slip never lifts the limit.
pub(crate) fn limit(written: Option<&str>) -> Result<u64, ModelError> {
    let Some(written) = written else {
        return Ok(DEFAULT_MAX_SEND);
    };
    written
        .trim()
        .replace(['_', ','], "")
        .parse()
        .map_err(|error: ParseIntError| {
            let written = crate::options::shown(written);
            ModelError::unusable(
                format!("HARNESS_MAX_SEND is `{written}`, which is no number"),
                format!("set it to a number of characters such as {DEFAULT_MAX_SEND}, or unset it"),
            )
            .because(error)
        })
}

/// Where a secret stands.
enum Place {
    /// In a part of the prompt that is no file.
    Part(&'static str),
    /// In a file, as far as that can be told.
    File(String),
}

fn secret_found(name: &str, place: &Place) -> ModelError {
    let (place, hint) = match place {
        Place::Part(part) => (
            format!(" in {part}"),
            format!("take it out of {part}, or use a model on this machine"),
        ),
        Place::File(place) => (
            place.clone(),
            "take it out of the file, leave the file out with --scope, or use a model on this machine"
                .to_owned(),
        ),
    };
    ModelError::NotSent {
        rule: "send.secret",
        message: format!("the prompt holds {name}{place}; nothing was sent"),
        hint,
    }
}

/// How the parts of a prompt begin that show no file, and what they are.
const PARTS: &[(&str, &str)] = &[
    ("Task: ", "the task"),
    ("Question: ", "the question"),
    ("Said before:", "what was said before"),
    ("Rules of this project:", "the rules of the project"),
    ("A test fails:", "what a failing test says"),
];

/// Returns the part of a prompt that a secret stands in, where it is none that shows a file.
fn part(content: &str, at: usize) -> Option<&'static str> {
    // What a tool shows is one file from its first line on.
    if content
        .lines()
        .next()
        .is_some_and(|line| line.contains(", lines ") && line.ends_with(':'))
    {
        return None;
    }
    let (mut current, mut in_code) = (None, false);
    for line in content.get(..at)?.split('\n') {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let begun = PARTS.iter().find(|(words, _)| line.starts_with(words));
        // The task is the last part; whatever it quotes belongs to it.
        let is_last = matches!(current, Some("the task" | "the question"));
        if let Some((_, part)) = begun {
            current = Some(*part);
        } else if !is_last && path_in(line).is_some() {
            current = None;
        }
    }
    current
}

/// Returns ` in `file`, line n` as far as the words before the secret tell: prompts name the file, and mostly the
/// line, above what they show.
fn place(content: &str, at: usize) -> String {
    let before = content.get(..at).unwrap_or_default();
    let mut since = 0;
    for line in before.rsplit('\n').skip(1) {
        if let Some((path, lines)) = line.split_once(", lines ") {
            // What a tool shows begins right below its heading.
            let digits: String = lines.chars().take_while(char::is_ascii_digit).collect();
            if let (Some(path), Ok(first)) = (path_in(path), digits.parse::<u32>()) {
                return format!(" in `{path}`, line {}", first as usize + since);
            }
        }
        if let Some(path) = path_in(line) {
            return match first_line(line) {
                // The line after the heading opens a fence; the one after that is the first that is shown.
                Some(first) => format!(
                    " in `{path}`, line {}",
                    first + since - usize::from(since > 0)
                ),
                None => format!(" in `{path}`, about line {since} of what is shown"),
            };
        }
        since += 1;
    }
    format!(", in line {} of a message", since + 1)
}

/// Returns the number in a heading such as `src/a.py, line 12:`.
fn first_line(heading: &str) -> Option<usize> {
    let (_, after) = heading.rsplit_once(", line ")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|line| *line < 10_000_000)
}

/// Returns the path that a heading line names: a word with an ending, on a short line of few words.
fn path_in(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.len() > 160 || line.split_whitespace().count() > 6 {
        return None;
    }
    let is_heading = line.starts_with(['#', '`', '=', '-', '+', '<', '[', '@'])
        || line.ends_with(':')
        || !line.contains(['(', '=', '"']);
    if !is_heading {
        return None;
    }
    line.split(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '`' | '"' | '\'' | '<' | '>' | '(' | ')' | '[' | ']' | ',' | '='
            )
    })
    .map(|word| word.trim_end_matches([':', '.']))
    .map(|word| {
        word.strip_prefix("a/")
            .or_else(|| word.strip_prefix("b/"))
            .unwrap_or(word)
    })
    .find(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let Some((stem, ending)) = name.rsplit_once('.') else {
            return false;
        };
        let short =
            (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
        let named = stem.chars().any(char::is_alphabetic) || (stem.is_empty() && word.len() > 1);
        short && named && ending.chars().any(char::is_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Message, Role};

    fn request(content: &str) -> Request {
        let message = Message {
            role: Role::User,
            content: content.to_owned(),
        };
        Request {
            messages: vec![message],
            max_tokens: 10,
            window: 4096,
            temperature: 0.0,
            seed: 1,
            shape: Default::default(),
        }
    }

    fn key() -> String {
        format!("{}{}", "AKIA", "J4QZ7WMX2KRT5VBN")
    }

    #[track_caller]
    fn check_refused(content: &str, sentence: &str) {
        let refused = check(&request(content), "", DEFAULT_MAX_SEND).unwrap_err();
        let text = format!("{refused:?}");
        assert!(text.contains(sentence), "{text}");
        assert!(!text.contains(&key()), "{text}");
    }

    #[test]
    fn a_refusal_names_kind_and_place_and_never_the_value() {
        check_refused(
            &key(),
            "holds an AWS access key, in line 1 of a message; nothing was sent",
        );
        check_refused(
            &format!("File: config/prod.py\n```\na = 1\nKEY = '{}'\n```", key()),
            "in `config/prod.py`, about line 2 of",
        );
        check_refused(
            &format!(
                "config/prod.py, line 40:\n```python\na = 1\nKEY = '{}'\n```",
                key()
            ),
            "in `config/prod.py`, line 41;",
        );
        check_refused(
            &format!("+++ b/settings.toml\n@@ -1 +1 @@\n+key = '{}'", key()),
            "in `settings.toml`",
        );
    }

    #[test]
    fn a_secret_of_the_task_is_said_to_be_there() {
        let code = "app/orders.py, line 12:\n```python\ndef total():\n    Task: here\n```";
        check_refused(
            &format!("{code}\n\nTask: fix total\napp/orders.py:\nKEY = {}", key()),
            "holds an AWS access key in the task; nothing was sent",
        );
        check_refused(
            &format!("{code}\n\nQuestion: what is {} for?", key()),
            "take it out of the question, or",
        );
        check_refused(
            &format!("Said before:\nuse {}\n\n{code}\n\nTask: fix total", key()),
            "in what was said before;",
        );
        check_refused(
            &format!(
                "Rules of this project:\nbe kind\n\na.py, line 3:\n```\nTask: 1\nKEY = '{}'\n```\n\nTask: fix",
                key()
            ),
            "in `a.py`, line 4;",
        );
        check_refused(
            &format!("notes.txt, lines 1 to 2 of 2:\nTask: mine\n{}", key()),
            "in `notes.txt`, line 2;",
        );
    }

    #[test]
    fn the_limit_counts_characters_not_bytes() {
        assert_eq!(check(&request(&"é".repeat(10)), "", 10), Ok(()));
        let refused = check(&request(&"e".repeat(11)), "", 10).unwrap_err();
        assert!(matches!(
            refused,
            ModelError::NotSent {
                rule: "send.too_long",
                ..
            }
        ));
    }

    #[test]
    fn the_limit_is_read_as_written() {
        assert_eq!(limit(None), Ok(200_000));
        assert_eq!(limit(Some(" 1_000 ")), Ok(1000));
        assert!(limit(Some("much")).is_err());
        assert!(limit(Some("-1")).is_err());
    }

    #[test]
    fn a_secret_outside_the_messages_is_seen_too() {
        assert!(
            check(
                &request("hello"),
                &format!("{{\"model\":\"{}\"}}", key()),
                100
            )
            .is_err()
        );
    }
}
