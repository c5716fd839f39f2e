//! How a chat-completions host wants to be spoken to. Learned from its refusals, one change a refusal.

use crate::model::trouble::said;

/// The ways in which hosts differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// `/v1` is missing in the base address and wanted by the host.
    pub(crate) versioned: bool,
    /// The whole path that the host sent us on to.
    pub(crate) path: Option<String>,
    /// How often it did.
    pub(crate) sent_on: u8,
    /// The field that bounds a reply.
    pub(crate) length: &'static str,
    /// The host streams.
    pub(crate) stream: bool,
    /// The host counts tokens at the end of a stream when asked to.
    pub(crate) usage: bool,
    /// The host lets us choose how freely to sample.
    pub(crate) temperature: bool,
    /// The host lets us choose a seed.
    pub(crate) seed: bool,
    /// The host knows messages with rules.
    pub(crate) system: bool,
    /// The host hands settings to the model's template.
    pub(crate) template: bool,
    /// The host takes schemas and tools.
    pub(crate) shapes: bool,
}

impl Default for Dialect {
    fn default() -> Dialect {
        Dialect {
            versioned: false,
            path: None,
            sent_on: 0,
            length: "max_tokens",
            stream: true,
            usage: true,
            temperature: true,
            seed: true,
            system: true,
            template: false,
            shapes: true,
        }
    }
}

/// Words of a host that minds something in a request.
const COMPLAINTS: &[&str] = &[
    "unsupported",
    "not support",
    "unrecognized",
    "unknown",
    "extra",
    "unexpected",
    "additional",
    "not permitted",
    "not allowed",
    "invalid",
];
/// Words of a host that minds schemas and tools.
const SHAPES: &[&str] = &["response_format", "json_schema", "grammar", "tool"];

/// What a refusal asks of us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Ask again in other words.
    SpeakOtherwise(Dialect),
    /// Ask again later.
    Wait,
    /// The host has no such model.
    UnknownModel,
    /// Asking again will not help.
    Final,
}

impl Dialect {
    /// Returns a route below the base address.
    pub(crate) fn below(&self, route: &str) -> String {
        let version = if self.versioned { "/v1" } else { "" };
        format!("{version}{route}")
    }

    /// Judges a refusal by its status and its words.
    pub(crate) fn judge(&self, status: u16, page: &str, base_has_version: bool) -> Advice {
        let sentence = said(page).to_ascii_lowercase();
        let page = page.to_ascii_lowercase();
        let speaks_of_model = sentence.contains("model") || page.contains("model_not_found");
        match status {
            404 if speaks_of_model => Advice::UnknownModel,
            404 | 405 if !self.versioned && !base_has_version => Advice::SpeakOtherwise(Dialect {
                versioned: true,
                ..self.clone()
            }),
            400 | 422 if too_long(status, &page) => Advice::Final,
            400 | 422 | 501 => match self.adapted(&page) {
                Some(dialect) => Advice::SpeakOtherwise(dialect),
                None if status == 400 && is_unknown_model(&page) => Advice::UnknownModel,
                None => Advice::Final,
            },
            408 | 425 | 429 | 500 | 502..=599 => {
                // Some templates raise an error, which the server passes on as its own.
                match self.without_rules(&page) {
                    Some(dialect) => Advice::SpeakOtherwise(dialect),
                    None => Advice::Wait,
                }
            }
            _ => Advice::Final,
        }
    }

    /// Returns the dialect with the one thing changed that the host complains about.
    fn adapted(&self, page: &str) -> Option<Dialect> {
        let names = |word: &str| page.contains(word);
        let complains = COMPLAINTS.iter().any(|word| names(word));
        let mut next = self.clone();
        if self.length == "max_tokens" && names("max_completion_tokens") {
            next.length = "max_completion_tokens";
        } else if let Some(dialect) = self.without_rules(page) {
            return Some(dialect);
        } else if self.template && (names("chat_template_kwargs") || names("enable_thinking")) {
            next.template = false;
        } else if self.shapes && SHAPES.iter().any(|word| names(word)) {
            next.shapes = false;
        } else if self.usage && (names("stream_options") || names("include_usage")) {
            next.usage = false;
        } else if self.temperature && names("temperature") {
            next.temperature = false;
        } else if self.seed && names("seed") {
            next.seed = false;
        } else if self.stream && names("stream") && complains {
            next.stream = false;
        } else if complains && !is_unknown_model(page) {
            // It does not say what it minds: leave out all that is not needed, once.
            next.usage = false;
            next.seed = false;
            next.template = false;
            next.shapes = false;
        }
        (next != *self).then_some(next)
    }

    fn without_rules(&self, page: &str) -> Option<Dialect> {
        let minds = page.contains("system role not supported")
            || page.contains("system role is not supported")
            || page.contains("roles must alternate")
            || (page.contains("system") && page.contains("role") && page.contains("support"));
        (self.system && minds).then(|| Dialect {
            system: false,
            ..self.clone()
        })
    }
}

/// Returns whether a refusal says that the prompt does not fit.
pub(crate) fn too_long(status: u16, page: &str) -> bool {
    const WORDS: &[&str] = &[
        "context length",
        "context_length",
        "exceed_context_size",
        "context size",
        "context window",
        "maximum context",
        "too many tokens",
        "prompt is too long",
        "reduce the length",
        "input is too long",
    ];
    let page = page.to_ascii_lowercase();
    matches!(status, 400 | 413 | 422)
        && (status == 413 || WORDS.iter().any(|word| page.contains(word)))
}

fn is_unknown_model(page: &str) -> bool {
    page.contains("model")
        && [
            "not exist",
            "not found",
            "invalid model",
            "not a valid model",
            "unknown model",
            "no such model",
        ]
        .iter()
        .any(|word| page.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, page: &str, expected: &Advice) {
        assert_eq!(
            &Dialect::default().judge(status, page, true),
            expected,
            "{page}"
        );
    }

    #[test]
    fn one_thing_is_changed_at_a_time() {
        let usual = Dialect::default();
        let otherwise = Advice::SpeakOtherwise;
        check(
            400,
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}"#,
            &otherwise(Dialect {
                length: "max_completion_tokens",
                ..usual.clone()
            }),
        );
        check(
            400,
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model."}}"#,
            &otherwise(Dialect {
                temperature: false,
                ..usual.clone()
            }),
        );
        check(
            422,
            r#"{"detail":"extra field stream_options"}"#,
            &otherwise(Dialect {
                usage: false,
                ..usual.clone()
            }),
        );
        check(
            400,
            "streaming is not supported",
            &otherwise(Dialect {
                stream: false,
                ..usual.clone()
            }),
        );
        check(
            400,
            "System role not supported",
            &otherwise(Dialect {
                system: false,
                ..usual.clone()
            }),
        );
        check(
            400,
            "unknown field",
            &otherwise(Dialect {
                usage: false,
                seed: false,
                shapes: false,
                ..usual
            }),
        );
    }

    #[test]
    fn a_refusal_that_no_words_can_change_is_final() {
        check(
            400,
            r#"{"error":{"message":"bad request"}}"#,
            &Advice::Final,
        );
        check(400, "maximum context length is 4096 tokens", &Advice::Final);
        check(
            404,
            r#"{"error":{"message":"The model `x` does not exist"}}"#,
            &Advice::UnknownModel,
        );
        check(
            400,
            r#"{"error":"x is not a valid model id"}"#,
            &Advice::UnknownModel,
        );
        check(404, "nothing here", &Advice::Final);
        check(401, "no", &Advice::Final);
        check(429, "slow down", &Advice::Wait);
        check(503, "overloaded", &Advice::Wait);
    }

    #[test]
    fn a_missing_version_is_tried_once() {
        let usual = Dialect::default();
        let versioned = Dialect {
            versioned: true,
            ..usual.clone()
        };
        assert_eq!(
            usual.judge(404, "Not Found", false),
            Advice::SpeakOtherwise(versioned.clone())
        );
        assert_eq!(versioned.judge(404, "Not Found", false), Advice::Final);
        assert_eq!(versioned.below("/chat"), "/v1/chat");
    }

    #[test]
    fn learning_ends() {
        // Whatever a host says, each refusal takes something away, so the asking ends.
        let mut dialect = Dialect::default();
        let mut turns = 0;
        let page = "unsupported: stream seed temperature stream_options max_completion_tokens system role support";
        while let Advice::SpeakOtherwise(next) = dialect.judge(400, page, true) {
            dialect = next;
            turns += 1;
            if turns > 20 {
                break;
            }
        }
        assert!(turns < 20, "{dialect:?}");
    }
}
