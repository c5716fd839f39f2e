//! Turns what went wrong at a server into a sentence with a hint, and decides how long to wait before asking again.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cancel::Cancel;
use crate::model::ModelError;
use crate::model::address::GLANCE;
use crate::options::shown;
use crate::secret;

/// Returns the sentence inside an error page: JSON in the shapes that servers use, or the first line of a text.
/// Secrets are blotted out: a server may quote the token it was sent.
pub(crate) fn said(page: &str) -> String {
    let sentence = match serde_json::from_str::<Value>(page) {
        Ok(value) => sentence_in(&value).unwrap_or_default(),
        Err(_) if page.trim_start().starts_with('<') => String::new(),
        Err(_) => page
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default()
            .to_owned(),
    };
    shown(secret::redact(sentence.trim()).trim())
}

fn sentence_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => ["error", "message", "detail", "msg", "error_description"]
            .iter()
            .find_map(|key| sentence_in(fields.get(*key)?)),
        Value::Array(items) => items.first().and_then(sentence_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Returns `: sentence` or nothing, to end a message with.
pub(crate) fn after_colon(sentence: &str) -> String {
    if sentence.is_empty() {
        String::new()
    } else {
        format!(": {sentence}")
    }
}

/// Waits between tries: half a second, doubled each time, at most three times; or what the server asks for.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    left: u32,
}

/// The longest wait that a server may ask for; beyond it the user should decide.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Backoff {
    /// Returns a fresh count of tries.
    pub(crate) fn new(first: Duration) -> Backoff {
        Backoff {
            next: first,
            left: 3,
        }
    }

    /// Waits and returns true, or returns false when it has been tried often enough.
    pub(crate) fn wait(&mut self, asked: Option<u64>, cancel: &Cancel) -> Result<bool, ModelError> {
        let pause = asked.map_or(self.next, Duration::from_secs);
        if self.left == 0 || pause > LONGEST_WAIT {
            return Ok(false);
        }
        self.left -= 1;
        self.next *= 2;
        sleep(pause, cancel)?;
        Ok(true)
    }
}

/// Sleeps, unless the user stops it.
pub(crate) fn sleep(pause: Duration, cancel: &Cancel) -> Result<(), ModelError> {
    let begun = Instant::now();
    while begun.elapsed() < pause {
        if cancel.stopped() {
            return Err(ModelError::Interrupted);
        }
        std::thread::sleep(GLANCE.min(pause.saturating_sub(begun.elapsed())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_is_found_in_every_shape() {
        for (page, sentence) in [
            (r#"{"error":"model not found"}"#, "model not found"),
            (
                r#"{"error":{"message":"bad key","type":"auth"}}"#,
                "bad key",
            ),
            (r#"{"detail":[{"msg":"field required"}]}"#, "field required"),
            (r#"{"object":"error","message":"too long"}"#, "too long"),
            (r#"[{"error":{"message":"quota"}}]"#, "quota"),
            ("404 page not found\n", "404 page not found"),
            ("<html><body>no</body></html>", ""),
            ("", ""),
            ("{\"ok\":true}", ""),
        ] {
            assert_eq!(said(page), sentence, "{page}");
        }
    }

    #[test]
    fn a_quoted_token_is_blotted_out() {
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0);
        let told = said(&format!(
            "{{\"error\":\"Incorrect API key provided: {token}\"}}"
        ));
        assert!(
            !told.contains(&token) && told.contains("[redacted:"),
            "{told}"
        );
    }

    #[test]
    fn waiting_ends_after_three_tries_or_a_long_request() {
        let cancel = Cancel::default();
        let mut backoff = Backoff::new(Duration::ZERO);
        let waited: Vec<_> = (0..4).map(|_| backoff.wait(None, &cancel)).collect();
        assert_eq!(waited, vec![Ok(true), Ok(true), Ok(true), Ok(false)]);
        assert_eq!(
            Backoff::new(Duration::ZERO).wait(Some(3600), &cancel),
            Ok(false)
        );
        cancel.stop();
        assert_eq!(
            Backoff::new(Duration::from_secs(9)).wait(None, &cancel),
            Err(ModelError::Interrupted)
        );
    }
}
