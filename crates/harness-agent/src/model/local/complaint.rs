//! What the local engine says when something goes wrong: one sentence, and what to do.

use crate::model::ModelError;
use crate::model::http::Trouble;
use crate::model::local::Local;
use crate::model::trouble::{after_colon, unusable};
use crate::options::shown;

impl Local {
    /// Returns the error of a model that is not among those the server has.
    pub(crate) fn missing(&self, there: &[String]) -> ModelError {
        let model = shown(&self.model);
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
        let address = self.client.address().name();
        unusable(
            format!("the model server at `{address}` does not have `{model}`"),
            format!("get it with `ollama pull {model}`{others}"),
        )
    }

    pub(super) fn broken(&self, trouble: &Trouble) -> ModelError {
        let name = self.client.address().name();
        match trouble {
            Trouble::Interrupted => ModelError::Interrupted,
            Trouble::Refused | Trouble::UnknownHost | Trouble::Unreachable => unusable(
                format!("no model server answers at `{name}`"),
                "start it with `ollama serve`, or set OLLAMA_HOST to where it runs",
            ),
            Trouble::Silent(seconds) => unusable(
                format!("the model server at `{name}` said nothing for {seconds} seconds"),
                "see whether it is busy with `ollama ps`, or choose a smaller model with --model",
            ),
            Trouble::Broken
            | Trouble::Tls(_)
            | Trouble::Elsewhere
            | Trouble::Proxy(_)
            | Trouble::Garbled(_) => unusable(
                format!("the model server at `{name}` cannot be used: {trouble}"),
                "check that OLLAMA_HOST is the address of a model server, and look into its log",
            ),
        }
    }

    pub(super) fn cut_off(&self, trouble: &Trouble) -> ModelError {
        let name = self.client.address().name();
        match trouble {
            Trouble::Interrupted => ModelError::Interrupted,
            Trouble::Silent(seconds) => unusable(
                format!(
                    "the model server at `{name}` stopped in the middle of a reply and said nothing for {seconds} seconds"
                ),
                "look into the server's log, then try again",
            ),
            other => unusable(
                format!("the reply from `{name}` broke off: {other}"),
                "look into the server's log, then try again",
            ),
        }
    }

    pub(super) fn garbled(&self) -> ModelError {
        unusable(
            format!(
                "what `{}` answered is not what a model server sends",
                self.client.address().name()
            ),
            "check that OLLAMA_HOST is the address of a server with Ollama's API",
        )
    }

    pub(super) fn failed_midway(&self, sentence: &str) -> ModelError {
        unusable(
            format!(
                "the model server at `{}` failed{}",
                self.client.address().name(),
                after_colon(sentence)
            ),
            "look into the server's log, or choose a smaller model with --model",
        )
    }
}
