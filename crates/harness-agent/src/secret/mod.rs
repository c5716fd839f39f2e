//! What a secret looks like. One table serves the outbound check, traces and error messages.
//! Best effort by design: encoded, split or unknown secrets can pass; what is found is surely shaped like one.

mod pem;
mod token;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// A kind of secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// A stable word, as in `[redacted:github-token]`.
    pub id: &'static str,
    /// The words for a person, with an article.
    pub name: &'static str,
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it is.
    pub kind: Kind,
    /// Where it is, in bytes.
    pub range: Range<usize>,
}

/// How a rule finds the whole of a secret from the place where its literal stands.
enum Shape {
    /// A prefix, then a body of some letters.
    Token(token::Token),
    /// A private key in armour.
    Armour,
    /// A private key in armour, encoded once more.
    EncodedArmour,
    /// The private half of a PuTTY key.
    Putty,
}

/// One literal that gives a secret away.
struct Rule {
    literal: &'static str,
    kind: Kind,
    shape: Shape,
}

/// Returns every secret in a text, in order, none overlapping.
pub fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some((at, rule)) = next_literal(text, from) {
        let range = match &rule.shape {
            Shape::Token(token) => token.extent(text.as_bytes(), at, rule.literal),
            Shape::Armour => pem::extent(text, at),
            Shape::EncodedArmour => pem::encoded_extent(text.as_bytes(), at),
            Shape::Putty => pem::putty_extent(text, at),
        };
        match range {
            Some(range)
                if range.start >= found.last().map_or(0, |last: &Secret| last.range.end) =>
            {
                from = range.end.max(at + rule.literal.len());
                found.push(Secret {
                    kind: rule.kind,
                    range,
                });
            }
            Some(_) | None => from = at + rule.literal.len(),
        }
    }
    found
}

/// Returns the text with every secret replaced by `[redacted:<kind>]`.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    let secrets = find(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        clean.push_str(&text[end..secret.range.start]);
        clean.push_str("[redacted:");
        clean.push_str(secret.kind.id);
        clean.push(']');
        end = secret.range.end;
    }
    clean.push_str(&text[end..]);
    Cow::Owned(clean)
}

/// Returns every kind that is known, for the reference; each once.
pub fn kinds() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for rule in RULES.iter() {
        if !kinds.contains(&rule.kind) {
            kinds.push(rule.kind);
        }
    }
    kinds
}

/// Returns a secret of our own that nobody can guess, from the system's own source; none where it gives nothing.
pub fn unguessable() -> Option<String> {
    let mut bytes = [0; 24];
    let source = rustls::crypto::ring::default_provider().secure_random;
    source.fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    const PRIVATE_KEY: Kind = Kind {
        id: "private-key",
        name: "a private key",
    };
    let armour = [
        Rule {
            literal: "PRIVATE KEY",
            kind: PRIVATE_KEY,
            shape: Shape::Armour,
        },
        // "-----BEGIN " in base64; what follows is decoded and looked at.
        Rule {
            literal: "LS0tLS1CRUdJTi",
            kind: PRIVATE_KEY,
            shape: Shape::EncodedArmour,
        },
        Rule {
            literal: "Private-Lines:",
            kind: PRIVATE_KEY,
            shape: Shape::Putty,
        },
        // "PuTTY-User-Key-File" in base64.
        Rule {
            literal: "UHVUVFktVXNlci1LZXktRmls",
            kind: PRIVATE_KEY,
            shape: Shape::EncodedArmour,
        },
    ];
    let tokens = token::all().flat_map(|(kind, literals, token)| {
        literals.into_iter().map(move |literal| Rule {
            literal,
            kind,
            shape: Shape::Token(token),
        })
    });
    armour.into_iter().chain(tokens).collect()
});

/// All literals in one machine: the text is walked once, whatever the number of rules.
static LITERALS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(RULES.iter().map(|rule| rule.literal))
        .ok()
});

fn next_literal(text: &str, from: usize) -> Option<(usize, &'static Rule)> {
    let rest = text.as_bytes().get(from..)?;
    if let Some(machine) = LITERALS.as_ref() {
        let found = machine.find(rest)?;
        return Some((from + found.start(), RULES.get(found.pattern().as_usize())?));
    }
    // The machine is built from constants and cannot fail; a slow search is still better than none.
    let text = text.get(from..)?;
    RULES
        .iter()
        .filter_map(|rule| Some((from + text.find(rule.literal)?, rule)))
        .min_by_key(|(at, _)| *at)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Letters and digits without a pattern, so that no test holds a secret that scanners would report.
    fn random(count: usize) -> String {
        "k7Qz2mXb9RtLw4VdYc8HsPf3GnJ6aTe5uKoB1iCrDqWxEyMvSjNhFpZgUlA0"
            .chars()
            .cycle()
            .take(count)
            .collect()
    }

    fn upper(count: usize) -> String {
        "J4QZ7WMX2KRT5VBNC3HY6PLDGSFA"
            .chars()
            .cycle()
            .take(count)
            .collect()
    }

    fn hex(count: usize) -> String {
        "9f3c0a7be15d8426".chars().cycle().take(count).collect()
    }

    fn key(kind: &str) -> String {
        let body: Vec<String> = (0..6).map(|n| random(64 + n)[n..].to_owned()).collect();
        format!(
            "-----BEGIN {kind}PRIVATE KEY-----\n{}\n-----END {kind}PRIVATE KEY-----",
            body.join("\n")
        )
    }

    fn with_headers(kind: &str, headers: &str) -> String {
        let whole = key(kind);
        let (first, rest) = whole.split_once('\n').unwrap();
        format!("{first}\n{headers}\n{rest}")
    }

    const ENCRYPTED: &str =
        "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C3D4E5F60718293A4B5C6D7E8F9\n";

    fn putty(version: u8) -> String {
        let derived = match version {
            3 => "Key-Derivation: Argon2id\nArgon2-Memory: 8192\nArgon2-Salt: 0a1b2c3d\n",
            _ => "",
        };
        format!(
            "PuTTY-User-Key-File-{version}: ssh-ed25519\nEncryption: aes256-cbc\nComment: work\nPublic-Lines: 2\n{}\n{}\n{derived}Private-Lines: 2\n{}\n{}\nPrivate-MAC: {}",
            random(64),
            &random(24)[4..],
            &random(70)[6..],
            &random(30)[2..],
            hex(64)
        )
    }

    /// Every kind, assembled here.
    pub(crate) fn samples() -> Vec<(&'static str, String)> {
        vec![
            ("aws-access-key", format!("{}{}", "AKIA", upper(16))),
            ("aws-access-key", format!("{}{}", "ASIA", upper(16))),
            (
                "aws-secret-key",
                format!("{} = \"{}\"", "aws_secret_access_key", random(40)),
            ),
            (
                "anthropic-key",
                format!("{}{}-{}", "sk-ant-", "api03", random(93)),
            ),
            ("github-token", format!("{}{}", "ghp_", random(36))),
            ("github-token", format!("{}{}", "gho_", random(36))),
            ("github-token", format!("{}{}", "ghu_", random(36))),
            ("github-token", format!("{}{}", "ghs_", random(36))),
            ("github-token", format!("{}{}", "ghr_", random(76))),
            (
                "github-token",
                format!("{}{}_{}", "github_pat_", random(22), random(59)),
            ),
            ("private-key", key("")),
            ("private-key", key("RSA ")),
            ("private-key", key("EC ")),
            ("private-key", key("DSA ")),
            ("private-key", key("OPENSSH ")),
            ("private-key", key("ENCRYPTED ")),
            ("private-key", with_headers("RSA ", ENCRYPTED)),
            ("private-key", with_headers("EC ", ENCRYPTED)),
            ("private-key", with_headers("DSA ", ENCRYPTED)),
            ("private-key", with_headers("", ENCRYPTED)),
            ("private-key", with_headers("ENCRYPTED ", ENCRYPTED)),
            ("private-key", putty(2)),
            ("private-key", putty(3)),
            (
                "openai-key",
                format!("{}{}{}{}", "sk-proj-", random(40), "T3BlbkFJ", random(40)),
            ),
            (
                "openai-key",
                format!("{}{}{}{}", "sk-", random(20), "T3BlbkFJ", random(20)),
            ),
            (
                "slack-token",
                format!(
                    "{}{}-{}-{}",
                    "xoxb-",
                    123_456_789_012_u64,
                    345_678_901_234_u64,
                    random(24)
                ),
            ),
            ("google-key", format!("{}{}", "AIza", random(35))),
            ("stripe-key", format!("{}{}", "sk_live_", random(24))),
            ("gitlab-token", format!("{}{}", "glpat-", random(20))),
            ("npm-token", format!("{}{}", "npm_", random(36))),
            (
                "pypi-token",
                format!("{}{}", "pypi-AgEIcHlwaS5vcmc", random(90)),
            ),
            ("hugging-face-token", format!("{}{}", "hf_", random(34))),
            (
                "sendgrid-key",
                format!("{}{}.{}", "SG.", random(22), random(43)),
            ),
            ("digitalocean-token", format!("{}{}", "dop_v1_", hex(64))),
            ("openrouter-key", format!("{}{}", "sk-or-v1-", hex(64))),
            ("groq-key", format!("{}{}", "gsk_", random(52))),
            ("vault-token", format!("{}{}", "hvs.", random(90))),
        ]
    }

    #[test]
    fn secrets_of_our_own_are_long_and_differ() {
        let (one, other) = (unguessable().unwrap(), unguessable().unwrap());
        assert!(one.len() == 48 && one != other);
    }

    #[test]
    fn every_row_of_the_table_is_read() {
        let rows = include_str!("tokens.txt").lines();
        let rows = rows.filter(|line| !line.starts_with('#')).count();
        assert_eq!((token::all().count(), rows), (42, 42));
    }

    #[test]
    fn every_kind_is_found_in_every_place() {
        let places: [fn(&str) -> String; 10] = [
            |secret| secret.to_owned(),
            |secret| format!("key = \"{secret}\"\n"),
            |secret| format!("KEY={secret}\nOTHER=1\n"),
            |secret| format!("before {secret}, after"),
            |secret| secret.lines().map(|line| format!("+{line}\n")).collect(),
            |secret| secret.lines().map(|line| format!("-{line}\n")).collect(),
            |secret| {
                secret
                    .lines()
                    .enumerate()
                    .map(|(n, line)| format!("{:>4} | {line}\n", n + 1))
                    .collect()
            },
            |secret| format!("  File \"a.py\", line 3, in load\nValueError: bad key '{secret}'\n"),
            |secret| serde_json::json!({"content": format!("see {secret} there")}).to_string(),
            |secret| secret.replace('\n', "\r\n"),
        ];
        for (kind, sample) in samples() {
            for (number, place) in places.iter().enumerate() {
                let text = place(&sample);
                let found: Vec<&str> = find(&text).iter().map(|secret| secret.kind.id).collect();
                assert_eq!(found, vec![kind], "place {number}: {kind}");
            }
        }
    }

    #[test]
    fn redaction_leaves_nothing_of_the_secret() {
        for (kind, sample) in samples() {
            let text = format!("a = '{sample}' # é\nb");
            let clean = redact(&text);
            assert!(clean.contains(&format!("[redacted:{kind}]")), "{kind}");
            assert!(
                clean.starts_with("a = '") && clean.ends_with(" # é\nb"),
                "{kind}"
            );
            // The public half of a PuTTY key may stay.
            let secret = sample.split("Private-Lines").last().unwrap();
            let longest = secret
                .split(['\n', '-', '.', '"'])
                .max_by_key(|part| part.len())
                .unwrap();
            assert!(!clean.contains(longest), "{kind}");
        }
    }

    #[test]
    fn documented_examples_and_look_alikes_are_not_secrets() {
        for text in [
            format!("{}IOSFODNN7EXAMPLE", "AKIA"),
            "AKIA or ASIA, then 16 letters".to_owned(),
            format!("{}{}", "AKIA", "X".repeat(16)),
            "AKIAlower7case2letters".to_owned(),
            "xAKIAJ4QZ7WMX2KRT5VBN".to_owned(),
            format!("{}{}", "ghp_", "x".repeat(36)),
            "ghp_tooshort".to_owned(),
            "the prefix `github_pat_` marks a token".to_owned(),
            "sk-ant-your-api-key-goes-here".to_owned(),
            "sk-ant-... is a key".to_owned(),
            "-----BEGIN PRIVATE KEY-----".to_owned(),
            "if text.startswith('-----BEGIN RSA PRIVATE KEY-----'):".to_owned(),
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----".to_owned(),
            "-----BEGIN PRIVATE KEY-----\n<your key here>\n-----END PRIVATE KEY-----".to_owned(),
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{ENCRYPTED}\n...\n-----END RSA PRIVATE KEY-----"
            ),
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nis the first header"
                .to_owned(),
            "-----BEGIN PRIVATE KEY----- is the line that opens an armoured key".to_owned(),
            "Private-Lines: 14\nis followed by the private half".to_owned(),
            "the field Private-Lines: counts lines".to_owned(),
            "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----".to_owned(),
            "-----BEGIN PUBLIC KEY-----\nMIIC\n-----END PUBLIC KEY-----".to_owned(),
            "BEGIN_MARK = b'-----BEGIN ' + kind + b' PRIVATE KEY-----'".to_owned(),
            "npm_config_registry=https://example.com".to_owned(),
            "hf_hub_download(repo_id, filename)".to_owned(),
            "aws_secret_access_key=os.environ['AWS_SECRET_ACCESS_KEY']".to_owned(),
            format!(
                "aws_secret_access_key = {}/bPxRfiCYEXAMPLEKEY",
                "wJalrXUtnFEMI/K7MDENG"
            ),
        ] {
            assert_eq!(find(&text), vec![], "{text}");
        }
    }

    #[test]
    fn a_key_in_other_clothes_is_found() {
        let plain = key("RSA ");
        let escaped = plain.replace('\n', "\\n");
        assert_eq!(find(&escaped).len(), 1);
        let joined: String = plain
            .lines()
            .map(|line| format!("    \"{line}\\n\"\n"))
            .collect();
        assert_eq!(find(&joined).len(), 1);
        let short = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----";
        assert_eq!(find(short).len(), 1);
        let encoded = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTg==";
        assert_eq!(find(encoded).len(), 1);
        let one_line = plain.replace('\n', " ");
        assert_eq!(find(&one_line)[0].range, 0..one_line.len());
        let pgp = key("PGP ").replace("KEY-----", "KEY BLOCK-----");
        let (first, rest) = pgp.split_once('\n').unwrap();
        let pgp = format!("{first}\nVersion: GnuPG v2.4\nComment: \"work\"\n\n{rest}");
        assert_eq!(find(&pgp)[0].range, 0..pgp.len());
        let ssh2 = key("SSH2 ENCRYPTED ")
            .replace("-----", "----")
            .replace("---BEGIN", "--- BEGIN");
        let (first, rest) = ssh2.split_once('\n').unwrap();
        let ssh2 = format!("{first}\nSubject: me\nComment: \"a long \\\nline\"\n{rest}");
        assert_eq!(find(&ssh2).len(), 1);
        let escaped = with_headers("RSA ", ENCRYPTED).replace('\n', "\\n");
        assert_eq!(find(&escaped)[0].range, 0..escaped.len());
        let encoded = "UHVUVFktVXNlci1LZXktRmlsZS0zOiBzc2gtZWQyNTUxOQpFbmNyeXB0aW9uOiBub25l";
        assert_eq!(find(encoded).len(), 1);
        let certificate = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUV2UUlCQURBTg==";
        assert_eq!(find(certificate).len(), 0);
    }

    proptest::proptest! {
        #[test]
        fn a_key_is_redacted_whatever_its_headers_and_lines(
            headers in proptest::collection::vec("[A-Z][A-Za-z0-9-]{0,12}: ?[ -!#-&(-\\[\\]-~]{0,60}", 0..6),
            width in 20_usize..100,
            kind in "(RSA |EC |ENCRYPTED |OPENSSH |)",
            before in "[ -~\\n]{0,30}",
            line in proptest::sample::select(vec!["", "+", "-", "    ", "> ", "  7 | "]),
        ) {
            let body = random(300);
            let rows = body.as_bytes().chunks(width).map(|row| String::from_utf8_lossy(row).into_owned());
            let headers = if headers.is_empty() { String::new() } else { format!("{}\n\n", headers.join("\n")) };
            let rows: Vec<String> = rows.collect();
            let key = format!(
                "-----BEGIN {kind}PRIVATE KEY-----\n{headers}{}\n-----END {kind}PRIVATE KEY-----",
                rows.join("\n")
            );
            let key: String = key.lines().map(|text| format!("{line}{text}\n")).collect();
            let text = format!("{before}\n{key}after\n");
            let clean = redact(&text);
            proptest::prop_assert!(!clean.contains(rows[0].as_str()), "{clean}");
            proptest::prop_assert!(!clean.contains(&body[280..]), "{clean}");
            proptest::prop_assert!(clean.ends_with("after\n"), "{clean}");
        }
    }

    #[test]
    fn strange_texts_do_no_harm() {
        for text in [
            "",
            "\u{0}",
            "ghp_é",
            "PRIVATE KEY",
            "-----BEGIN PRIVATE KEY-----é",
            "sk-ant-\u{200b}",
        ] {
            assert_eq!(find(text), vec![], "{text}");
        }
        for hostile in [
            "-----BEGIN PRIVATE KEY-----\nAAAA",
            "-----BEGIN PRIVATE KEY-----\nA: b\nC: d\\\n",
            "Private-Lines: 1\nAAAA\n",
        ] {
            let hostile = hostile.repeat(20_000);
            let begun = std::time::Instant::now();
            find(&hostile);
            assert!(begun.elapsed().as_secs() < 5);
        }
    }

    #[test]
    fn kinds_have_their_own_words() {
        let kinds = kinds();
        assert!(kinds.len() > 20);
        for kind in &kinds {
            assert!(
                kind.name.starts_with("a ") || kind.name.starts_with("an "),
                "{}",
                kind.name
            );
            assert_eq!(
                kinds.iter().filter(|other| other.id == kind.id).count(),
                1,
                "{}",
                kind.id
            );
        }
    }
}
