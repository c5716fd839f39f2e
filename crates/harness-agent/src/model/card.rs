//! What was found out about a model, kept between runs: asked for once a model, not once a run.

use std::hash::{DefaultHasher, Hash, Hasher};

use harness_hands::cache::Cache;
use serde::{Deserialize, Serialize};

/// The part of the user's cache folder that holds them.
pub(crate) const FOLDER: &str = "models";

/// What a server said of a model. What it did not say is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The longest conversation, in tokens.
    #[serde(default)]
    pub(crate) window: Option<u32>,
    /// Whether it can think.
    #[serde(default)]
    pub(crate) thinks: Option<bool>,
    /// Whether it has calls of tools in its own form.
    #[serde(default)]
    pub(crate) tools: bool,
    /// How many parameters it has.
    #[serde(default)]
    pub(crate) parameters: Option<u64>,
    /// The host that really runs it, where the server only passes prompts on.
    #[serde(default)]
    pub(crate) elsewhere: Option<String>,
}

/// Returns the name under which the facts of a model are kept: its digest names exactly these weights.
pub(crate) fn by_digest(digest: &str) -> Option<String> {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    let fits = (12..=64).contains(&hex.len()) && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Servers that only speak the API of another give every model the same digest of zeros.
    let names_weights = fits && hex.bytes().any(|byte| byte != b'0');
    names_weights.then(|| format!("{hex}.json"))
}

/// Returns the name for a model on another machine, which is not asked for a digest before the first prompt.
pub(crate) fn by_host(host: &str, model: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (host, model).hash(&mut hasher);
    format!("host-{:016x}.json", hasher.finish())
}

/// Returns kept facts; what cannot be read was never kept.
pub(crate) fn recall(cache: &Cache, name: &str) -> Option<Facts> {
    serde_json::from_str(&cache.get(name)?).ok()
}

/// Keeps facts.
pub(crate) fn keep(cache: &Cache, name: &str, facts: &Facts) {
    if let Ok(text) = serde_json::to_string(facts) {
        cache.put(name, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_kept_under_what_cannot_lead_elsewhere() {
        assert_eq!(by_digest(&format!("sha256:{}", "0".repeat(64))), None);
        assert_eq!(
            by_digest("sha256:0123456789abcdef").as_deref(),
            Some("0123456789abcdef.json")
        );
        assert_eq!(by_digest("../../etc/passwd"), None);
        assert_eq!(by_digest(""), None);
        assert_ne!(by_host("a", "bc"), by_host("ab", "c"));
    }

    #[test]
    fn a_broken_fact_is_no_fact() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let facts = Facts {
            window: Some(8192),
            thinks: Some(true),
            parameters: Some(8_000_000_000),
            tools: true,
            elsewhere: None,
        };
        keep(&cache, "a.json", &facts);
        assert_eq!(recall(&cache, "a.json"), Some(facts));
        cache.put("a.json", "{\"window\": \"large\"");
        assert_eq!(recall(&cache, "a.json"), None);
    }
}
