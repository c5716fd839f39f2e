//! How long a model took to answer the last time, for whoever waits. Remembered in the user's cache.

use harness_hands::cache::Cache;

use crate::model::Card;

/// What takes less is no wait, in seconds.
const WORTH_TELLING: f64 = 3.0;
/// The longest name of a file in the cache.
const LONGEST_NAME: usize = 100;

/// Returns how many seconds the last reply took, where that is worth a word.
pub(crate) fn last_seconds(card: &Card) -> Option<u64> {
    let seconds: f64 = cache().get(&name(card))?.trim().parse().ok()?;
    (seconds >= WORTH_TELLING).then_some(seconds.round() as u64)
}

/// Remembers how long a reply took. What was never slow leaves nothing.
pub(crate) fn remember(card: &Card, seconds: f64) {
    let (cache, name) = (cache(), name(card));
    if seconds >= WORTH_TELLING || cache.get(&name).is_some() {
        cache.put(&name, &format!("{seconds:.1}"));
    }
}

fn cache() -> Cache {
    Cache::of_user("replies")
}

fn name(card: &Card) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let both = format!("{} {}", card.host.name, card.model);
    both.chars().map(plain).take(LONGEST_NAME).collect()
}
