//! What the remote engine says when something goes wrong: one sentence, and what to do.

use crate::cancel::Cancel;
use crate::model::ModelError;
use crate::model::http::Trouble;
use crate::model::remote::{Remote, sse};
use crate::model::trouble::{after_colon, unusable};
use crate::options::shown;

impl Remote {
    pub(super) fn no_such_model(&self, sentence: &str, cancel: &Cancel) -> ModelError {
        let there = self.list(cancel).unwrap_or_default();
        match self.missing(&there) {
            ModelError::Unusable { message, hint } => {
                unusable(format!("{message}{}", after_colon(sentence)), hint)
            }
            other @ (ModelError::NotSent { .. } | ModelError::Interrupted) => other,
        }
    }

    /// Returns the error of a model that is not among those the host has.
    pub(crate) fn missing(&self, there: &[String]) -> ModelError {
        let others = if there.is_empty() {
            String::new()
        } else {
            let listed: Vec<String> = there
                .iter()
                .take(8)
                .map(|name| format!("`{}`", shown(name)))
                .collect();
            format!("; it has {}", listed.join(", "))
        };
        unusable(
            format!(
                "`{}` does not have the model `{}`",
                self.base.name(),
                shown(&self.model)
            ),
            format!("name another with --model{others}"),
        )
    }

    pub(super) fn broken(&self, trouble: &Trouble) -> ModelError {
        let name = self.base.name();
        match trouble {
            Trouble::Interrupted => ModelError::Interrupted,
            Trouble::Refused | Trouble::UnknownHost | Trouble::Unreachable => unusable(
                format!("no model server answers at `{name}`: {trouble}"),
                "check HARNESS_BASE_URL and the network",
            ),
            Trouble::Silent(_) => unusable(
                format!("`{name}` does not answer: {trouble}"),
                "try again later, or choose a smaller model with --model",
            ),
            Trouble::Tls(_) => unusable(
                format!("`{name}` cannot be trusted: {trouble}"),
                "check the address; a private authority must be among the system's trusted ones",
            ),
            Trouble::Proxy(_) => unusable(
                format!("`{name}` cannot be reached: {trouble}"),
                "check HTTPS_PROXY and NO_PROXY",
            ),
            Trouble::Broken | Trouble::Elsewhere | Trouble::Garbled(_) => unusable(
                format!("`{name}` cannot be used: {trouble}"),
                "check that HARNESS_BASE_URL is the address of a chat-completions server",
            ),
        }
    }

    pub(super) fn cut_off(&self, cut: &sse::Cut) -> ModelError {
        let name = self.base.name();
        match cut {
            sse::Cut::Trouble(Trouble::Interrupted) => ModelError::Interrupted,
            sse::Cut::Trouble(trouble) => unusable(
                format!("the reply from `{name}` broke off: {trouble}"),
                "try again",
            ),
            sse::Cut::Failed(sentence) => unusable(
                format!(
                    "`{name}` failed in the middle of a reply{}",
                    after_colon(sentence)
                ),
                "try again",
            ),
            sse::Cut::Garbled => unusable(
                format!("what `{name}` answered is not what a chat server sends"),
                "check that HARNESS_BASE_URL is the address of a chat-completions server",
            ),
        }
    }
}
