//! Which files a model is not shown: those that the user's own list names, and those that hold credentials.
//! Knows paths only; reads nothing.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::path::RelPath;
use crate::text::is_among;

/// What is hidden in one project. Nothing is, unless somebody says so.
#[derive(Clone, Debug, Default)]
pub struct Hidden {
    listed: Option<Gitignore>,
    credentials: bool,
    /// Files with credentials that are shown all the same.
    named: Vec<RelPath>,
}

/// Why a file is hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// This pattern of the user's own list names it.
    Listed(String),
    /// Files of this name hold credentials.
    Credentials,
}

impl Hidden {
    /// Returns what a list of patterns hides, written as in a `.gitignore`. The error names the first that cannot be read.
    pub fn listed(patterns: &[String]) -> Result<Hidden, String> {
        if patterns.is_empty() {
            return Ok(Hidden::default());
        }
        let mut rules = GitignoreBuilder::new("");
        // Another spelling is the same file on some platforms.
        let _ = rules.case_insensitive(true);
        for pattern in patterns {
            // A line that says nothing would hide nothing, without a word.
            let says_nothing = pattern.trim().is_empty() || pattern.starts_with(['#', '~']);
            if says_nothing || rules.add_line(None, pattern).is_err() {
                return Err(pattern.clone());
            }
        }
        let listed = rules.build().map_err(|problem| problem.to_string())?;
        Ok(Hidden {
            listed: Some(listed),
            ..Hidden::default()
        })
    }

    /// Returns the same with files that hold credentials hidden as well, but for those that the user named.
    pub(crate) fn with_credentials(self, named: &[RelPath]) -> Hidden {
        Hidden {
            credentials: true,
            named: named.to_vec(),
            ..self
        }
    }

    /// Returns why a file or folder is hidden, when it is.
    pub fn why(&self, path: &RelPath) -> Option<Why> {
        let listed = self.listed.as_ref().and_then(|listed| {
            [false, true].into_iter().find_map(|is_folder| {
                match listed.matched_path_or_any_parents(path.as_str(), is_folder) {
                    Match::Ignore(rule) => Some(Why::Listed(rule.original().to_owned())),
                    Match::Whitelist(_) | Match::None => None,
                }
            })
        });
        let secret = self.credentials && holds_credentials(path) && !self.named.contains(path);
        listed.or(secret.then_some(Why::Credentials))
    }
}

/// Names of files that hold credentials by their meaning.
const NAMES: &str = "\
    .env .envrc .netrc _netrc .pypirc .npmrc .pgpass .htpasswd .dockercfg .git-credentials \
    credentials.json application_default_credentials.json kubeconfig id_rsa id_dsa id_ecdsa \
    id_ecdsa_sk id_ed25519 id_ed25519_sk";

/// Endings of files that hold keys.
const ENDINGS: &str = "pem key p12 pfx jks keystore ppk kdbx kubeconfig";

/// Files that hold credentials where they lie.
const PLACES: &str = ".aws/credentials .docker/config.json .git/config .kube/config";

/// Words that mark a file as one to be copied and filled in.
const SAMPLES: &str = "example sample template dist";

/// Says whether a file holds credentials, from its path alone.
pub fn holds_credentials(path: &RelPath) -> bool {
    let whole = path.as_str().to_ascii_lowercase();
    let name = whole.rsplit('/').next().unwrap_or(&whole);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let in_place = PLACES.split_ascii_whitespace().any(|place| {
        let before = whole.strip_suffix(place);
        before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    });
    let variables = name.strip_prefix(".env.").is_some_and(|rest| {
        let words = rest.split('.');
        !words.into_iter().any(|word| is_among(SAMPLES, word))
    });
    let service_account = ending == Some("json")
        && (name.replace(['-', '_'], "").contains("serviceaccount")
            || name.starts_with("client_secret"));
    is_among(NAMES, name)
        || ending.is_some_and(|ending| is_among(ENDINGS, ending))
        || in_place
        || variables
        || service_account
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    #[test]
    fn files_with_credentials_are_known_by_their_names() {
        for text in [
            ".env",
            ".ENV",
            "deploy/.env.production",
            ".env.local",
            ".envrc",
            "credentials.json",
            ".netrc",
            ".pypirc",
            "web/.npmrc",
            "keys/id_rsa",
            "id_ed25519",
            "tls/server.pem",
            "tls/server.key",
            "cert.p12",
            ".aws/credentials",
            "home/.docker/config.json",
            ".git/config",
            ".git-credentials",
            "gcp/my-service-account.json",
            "service_account_prod.json",
            "client_secret_123.json",
            "kubeconfig",
            ".kube/config",
        ] {
            assert!(holds_credentials(&path(text)), "{text}");
        }
        for text in [
            ".env.example",
            ".env.sample",
            ".env.template",
            ".env.production.example",
            "env.py",
            "environment.py",
            "credentials.py",
            "config.json",
            "git/config",
            "my.aws/credentials",
            "id_rsa.pub",
            "key.py",
            "keys.json",
            "service.py",
            "docs/kubeconfig.md",
        ] {
            assert!(!holds_credentials(&path(text)), "{text}");
        }
    }

    #[test]
    fn the_user_s_list_is_read_like_an_ignore_file() {
        let list = ["*.secret", "private/", "/plans.md", "!open.secret"].map(str::to_owned);
        let hidden = Hidden::listed(&list).unwrap();
        let why = |text: &str| hidden.why(&path(text));
        for (text, rule) in [
            ("a.secret", "*.secret"),
            ("deep/down/A.SECRET", "*.secret"),
            ("private/a/b.py", "private/"),
            ("src/private/b.py", "private/"),
            ("private", "private/"),
            ("plans.md", "/plans.md"),
        ] {
            assert_eq!(why(text), Some(Why::Listed(rule.to_owned())), "{text}");
        }
        for text in ["open.secret", "docs/plans.md", "a.py", ".env"] {
            assert_eq!(why(text), None, "{text}");
        }
        let named = [path(".env.local"), path("a.secret")];
        let hidden = hidden.clone().with_credentials(&named);
        assert_eq!(hidden.why(&path(".env")), Some(Why::Credentials));
        assert_eq!(hidden.why(&path(".env.local")), None);
        assert!(matches!(
            hidden.why(&path("a.secret")),
            Some(Why::Listed(_))
        ));
    }

    #[test]
    fn a_pattern_that_hides_nothing_is_an_error() {
        for pattern in ["", "  ", "# all", "~/keys", "a{b"] {
            let list = ["*.ok".to_owned(), pattern.to_owned()];
            let refused = Hidden::listed(&list).map(|_| ()).unwrap_err();
            assert_eq!(refused, pattern);
        }
    }
}
