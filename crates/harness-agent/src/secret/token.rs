//! Tokens: a prefix that only they have, then a body of a known alphabet and length.

use std::ops::Range;

use crate::secret::Kind;

/// The letters that a body has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Letters {
    /// Capital letters and digits.
    Upper,
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Web,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// Letters, digits, `+`, `/` and `=`.
    Base64,
    /// Letters, digits, `_`, `-`, `+`, `/` and `=`.
    Signed,
    /// Digits and a to f.
    Hex,
}

impl Letters {
    fn has(self, byte: u8) -> bool {
        match self {
            Letters::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Letters::Plain => byte.is_ascii_alphanumeric(),
            Letters::Web => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Letters::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Letters::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Letters::Signed => Letters::Web.has(byte) || Letters::Base64.has(byte),
            Letters::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f' | b'A'..=b'F'),
        }
    }
}

/// What the literal is to the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Its beginning.
    Prefix,
    /// A mark in its middle: the body goes on to both sides.
    Mark,
    /// A name before it: `name = "secret"`.
    Label,
}

/// The shape of a token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    place: Place,
    letters: Letters,
    least: usize,
    most: usize,
    /// The prefix stands out even in the middle of a word.
    anywhere: bool,
}

const fn prefix(letters: Letters, least: usize, most: usize) -> Token {
    Token {
        place: Place::Prefix,
        letters,
        least,
        most,
        anywhere: false,
    }
}

const fn anywhere(letters: Letters, least: usize, most: usize) -> Token {
    Token {
        anywhere: true,
        ..prefix(letters, least, most)
    }
}

/// No token in use is longer; a longer run is data.
const LONGEST: usize = 4096;

const fn kind(id: &'static str, name: &'static str) -> Kind {
    Kind { id, name }
}

/// The table: kind, literals, shape. Lengths are those the issuers document or their tokens have.
pub(crate) const TOKENS: &[(Kind, &[&str], Token)] = &[
    (
        kind("aws-access-key", "an AWS access key"),
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        prefix(Letters::Upper, 16, 16),
    ),
    (
        kind("aws-secret-key", "an AWS secret key"),
        &[
            "secret_access_key",
            "SECRET_ACCESS_KEY",
            "SecretAccessKey",
            "secretAccessKey",
            "secret-access-key",
        ],
        Token {
            place: Place::Label,
            letters: Letters::Base64,
            least: 40,
            most: 40,
            anywhere: true,
        },
    ),
    (
        kind("anthropic-key", "an Anthropic key"),
        &["sk-ant-"],
        anywhere(Letters::Web, 16, LONGEST),
    ),
    (
        kind("github-token", "a GitHub token"),
        &["ghp_", "gho_", "ghu_", "ghr_"],
        anywhere(Letters::Plain, 36, 255),
    ),
    // Tokens of installed apps may carry a signed part with dots since 2026.
    (
        kind("github-token", "a GitHub token"),
        &["ghs_"],
        anywhere(Letters::Dotted, 36, LONGEST),
    ),
    (
        kind("github-token", "a GitHub token"),
        &["github_pat_"],
        anywhere(Letters::Web, 30, 255),
    ),
    (
        kind("openai-key", "an OpenAI key"),
        &["T3BlbkFJ"],
        Token {
            place: Place::Mark,
            letters: Letters::Web,
            least: 40,
            most: LONGEST,
            anywhere: true,
        },
    ),
    (
        kind("openai-key", "an OpenAI key"),
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        anywhere(Letters::Web, 40, LONGEST),
    ),
    (
        kind("openrouter-key", "an OpenRouter key"),
        &["sk-or-v1-"],
        anywhere(Letters::Hex, 64, 64),
    ),
    (
        kind("groq-key", "a Groq key"),
        &["gsk_"],
        prefix(Letters::Plain, 48, 64),
    ),
    (
        kind("xai-key", "an xAI key"),
        &["xai-"],
        prefix(Letters::Plain, 70, 100),
    ),
    (
        kind("perplexity-key", "a Perplexity key"),
        &["pplx-"],
        prefix(Letters::Plain, 40, 64),
    ),
    (
        kind("replicate-token", "a Replicate token"),
        &["r8_"],
        prefix(Letters::Plain, 37, 37),
    ),
    (
        kind("hugging-face-token", "a Hugging Face token"),
        &["hf_", "api_org_"],
        prefix(Letters::Plain, 34, 40),
    ),
    (
        kind("slack-token", "a Slack token"),
        &[
            "xoxb-",
            "xoxp-",
            "xoxa-",
            "xoxr-",
            "xoxs-",
            "xoxe-",
            "xoxe.xoxp-",
            "xoxe.xoxb-",
            "xapp-1-",
        ],
        anywhere(Letters::Web, 24, LONGEST),
    ),
    (
        kind("google-key", "a Google API key"),
        &["AIza"],
        prefix(Letters::Web, 35, 35),
    ),
    (
        kind("google-secret", "a Google client secret"),
        &["GOCSPX-"],
        prefix(Letters::Web, 28, 28),
    ),
    (
        kind("google-token", "a Google access token"),
        &["ya29."],
        prefix(Letters::Dotted, 40, LONGEST),
    ),
    (
        kind("stripe-key", "a Stripe key"),
        &["sk_live_", "rk_live_"],
        anywhere(Letters::Plain, 24, 255),
    ),
    (
        kind("stripe-secret", "a Stripe webhook secret"),
        &["whsec_"],
        prefix(Letters::Base64, 32, 64),
    ),
    (
        kind("gitlab-token", "a GitLab token"),
        &[
            "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glagent-",
        ],
        anywhere(Letters::Dotted, 20, 255),
    ),
    (
        kind("npm-token", "an npm token"),
        &["npm_"],
        prefix(Letters::Plain, 36, 36),
    ),
    (
        kind("pypi-token", "a PyPI token"),
        &["pypi-AgE"],
        prefix(Letters::Web, 50, LONGEST),
    ),
    (
        kind("rubygems-key", "a RubyGems key"),
        &["rubygems_"],
        prefix(Letters::Hex, 48, 48),
    ),
    (
        kind("docker-token", "a Docker Hub token"),
        &["dckr_pat_", "dckr_oat_"],
        prefix(Letters::Web, 27, 40),
    ),
    (
        kind("sendgrid-key", "a SendGrid key"),
        &["SG."],
        prefix(Letters::Dotted, 66, 66),
    ),
    (
        kind("digitalocean-token", "a DigitalOcean token"),
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        prefix(Letters::Hex, 64, 64),
    ),
    (
        kind("shopify-token", "a Shopify token"),
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        prefix(Letters::Hex, 32, 32),
    ),
    (
        kind("atlassian-token", "an Atlassian token"),
        &["ATATT3xFfGF0", "ATCTT3xFfGN0"],
        prefix(Letters::Signed, 60, 300),
    ),
    (
        kind("databricks-token", "a Databricks token"),
        &["dapi"],
        prefix(Letters::Hex, 32, 32),
    ),
    (
        kind("linear-key", "a Linear key"),
        &["lin_api_"],
        prefix(Letters::Plain, 40, 40),
    ),
    (
        kind("grafana-token", "a Grafana token"),
        &["glsa_"],
        prefix(Letters::Web, 41, 41),
    ),
    (
        kind("vault-token", "a Vault token"),
        &["hvs.", "hvb."],
        prefix(Letters::Web, 24, 300),
    ),
    (
        kind("newrelic-key", "a New Relic key"),
        &["NRAK-"],
        prefix(Letters::Upper, 27, 27),
    ),
    (
        kind("sentry-token", "a Sentry token"),
        &["sntrys_", "sntryu_"],
        prefix(Letters::Signed, 60, LONGEST),
    ),
    (
        kind("supabase-token", "a Supabase token"),
        &["sbp_"],
        prefix(Letters::Hex, 40, 40),
    ),
    (
        kind("postman-key", "a Postman key"),
        &["PMAK-"],
        prefix(Letters::Web, 59, 59),
    ),
    (
        kind("figma-token", "a Figma token"),
        &["figd_"],
        prefix(Letters::Web, 40, 40),
    ),
    (
        kind("square-token", "a Square token"),
        &["sq0atp-", "sq0csp-"],
        prefix(Letters::Web, 22, 43),
    ),
    (
        kind("age-key", "an age key"),
        &["AGE-SECRET-KEY-1"],
        prefix(Letters::Upper, 58, 58),
    ),
    (
        kind("azure-key", "an Azure storage key"),
        &["AccountKey="],
        prefix(Letters::Base64, 88, 88),
    ),
    (
        kind("telegram-token", "a Telegram bot token"),
        &[":AA"],
        Token {
            place: Place::Mark,
            letters: Letters::Web,
            least: 41,
            most: 48,
            anywhere: true,
        },
    ),
];

impl Token {
    /// Returns where the whole secret is, when what stands at `at` is one.
    pub(crate) fn extent(&self, text: &[u8], at: usize, literal: &str) -> Option<Range<usize>> {
        let after = at + literal.len();
        match self.place {
            Place::Prefix => self.after_prefix(text, at, after),
            Place::Mark => self.around_mark(text, at, after, literal),
            Place::Label => self.after_label(text, after),
        }
    }

    fn after_prefix(&self, text: &[u8], at: usize, after: usize) -> Option<Range<usize>> {
        // A prefix inside a longer word is that word's: base64 and hashes hold every short prefix.
        let inside_word = !self.anywhere
            && at > 0
            && text.get(at - 1).is_some_and(u8::is_ascii_alphanumeric)
            && !escaped(text, at);
        if inside_word {
            return None;
        }
        let body = self.run(text, after);
        self.judge(text, after..body).then_some(at..body)
    }

    fn around_mark(
        &self,
        text: &[u8],
        at: usize,
        after: usize,
        literal: &str,
    ) -> Option<Range<usize>> {
        let before = text
            .get(..at)?
            .iter()
            .rev()
            .take(LONGEST)
            .take_while(|byte| self.letters.has(**byte))
            .count();
        let mut start = at - before;
        if literal == ":AA" {
            // The number of the bot, 8 to 10 digits, and nothing else.
            let digits = text
                .get(..at)?
                .iter()
                .rev()
                .take(11)
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            if !(8..=10).contains(&digits) || digits != before {
                return None;
            }
            start = at - digits;
        } else {
            // The sign of a line that a diff takes away.
            let body = text.get(start..at)?;
            start += body.iter().take_while(|byte| **byte == b'-').count();
            if !text.get(start..at)?.starts_with(b"sk-") {
                return None;
            }
        }
        let end = self.run(text, after);
        self.judge(text, start..end).then_some(start..end)
    }

    fn after_label(&self, text: &[u8], after: usize) -> Option<Range<usize>> {
        // `name = "value"`, `"name": "value"`, `name=value`: a few signs, then the value.
        let gap = text
            .get(after..)?
            .iter()
            .take(8)
            .take_while(|byte| {
                matches!(
                    byte,
                    b' ' | b'"' | b'\'' | b'=' | b':' | b'\t' | b'\\' | b'>'
                )
            })
            .count();
        if gap == 0 {
            return None;
        }
        let start = after + gap;
        let end = self.run(text, start);
        self.judge(text, start..end).then_some(start..end)
    }

    fn run(&self, text: &[u8], from: usize) -> usize {
        let rest = text.get(from..).unwrap_or_default();
        from + rest
            .iter()
            .take(LONGEST + 1)
            .take_while(|byte| self.letters.has(**byte))
            .count()
    }

    fn judge(&self, text: &[u8], body: Range<usize>) -> bool {
        let Some(body) = text.get(body) else {
            return false;
        };
        // A sentence may end right after a token.
        let body = body.strip_suffix(b".").unwrap_or(body);
        (self.least..=self.most).contains(&body.len()) && !placeholder(body)
    }
}

/// Whether the letter before a place belongs to an escape such as `\n`, as JSON and source code have it.
fn escaped(text: &[u8], at: usize) -> bool {
    at >= 2
        && text.get(at - 2) == Some(&b'\\')
        && matches!(text.get(at - 1), Some(b'n' | b't' | b'r'))
}

/// Whether a body is what documentation writes in place of a secret.
fn placeholder(body: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "example",
        "xxxxxx",
        "your",
        "placeholder",
        "changeme",
        "redacted",
        "insert",
        "goes-here",
    ];
    let small = String::from_utf8_lossy(body).to_ascii_lowercase();
    WORDS.iter().any(|word| small.contains(word))
}
