//! Words as identifiers and sentences share them: cut at case and underscore, lowercase, plain endings taken off.

use std::collections::BTreeSet;

use crate::text::{identifiers, is_among};

/// Calls `each` with every word of `text`: `parseHTTPBody2` gives parse, http, body, parsehttpbody2.
///
/// Words are lowercase ASCII; other letters are kept as they are. Single letters and bare numbers are left out.
pub(crate) fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut buffer = String::new();
    for identifier in identifiers(text) {
        each_part(identifier, &mut buffer, &mut each);
    }
}

/// Cuts one identifier into its words, using `buffer` as scratch.
pub(crate) fn each_part(identifier: &str, buffer: &mut String, each: &mut impl FnMut(&str)) {
    let bytes = identifier.as_bytes();
    let mut start = 0;
    for at in 0..=bytes.len() {
        let ends = at == bytes.len() || boundary(bytes, at);
        if !ends {
            continue;
        }
        let part = &bytes[start..at];
        start = at;
        let part = match part {
            [b'_', ..] => continue,
            _ => part,
        };
        let wordy = part.len() > 1 && !part[0].is_ascii_digit();
        if wordy && let Ok(part) = std::str::from_utf8(part) {
            buffer.clear();
            buffer.push_str(part);
            buffer.make_ascii_lowercase();
            each(stem(buffer));
        }
    }
    // `L027`, `PersonName3`, `tmy3`: the number makes the name, so the whole of it is a word too.
    if is_numbered(bytes) {
        buffer.clear();
        buffer.push_str(identifier);
        buffer.make_ascii_lowercase();
        each(buffer);
    }
}

/// Longer runs of letters and digits are digests and addresses.
const LONGEST_NUMBERED: usize = 24;

/// Says whether letters and digits stand together in a name, beginning with a letter.
fn is_numbered(bytes: &[u8]) -> bool {
    (2..=LONGEST_NUMBERED).contains(&bytes.len())
        && bytes[0].is_ascii_alphabetic()
        && bytes.iter().any(u8::is_ascii_digit)
}

/// Says whether a new word begins at `at`.
fn boundary(bytes: &[u8], at: usize) -> bool {
    if at == 0 {
        return false;
    }
    let (before, here) = (bytes[at - 1], bytes[at]);
    let underscore = (before == b'_') != (here == b'_');
    let digit = before.is_ascii_digit() != here.is_ascii_digit() && before != b'_';
    let rises = before.is_ascii_lowercase() && here.is_ascii_uppercase();
    // The last capital of a run belongs to the word that follows: HTTPBody.
    let last_capital = before.is_ascii_uppercase()
        && here.is_ascii_uppercase()
        && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    underscore || digit || rises || last_capital
}

/// Returns the words of a text that say something, names cut at their joints, without their endings.
pub fn stems(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each_word(text, |word| {
        found.insert(word.to_owned());
    });
    found.retain(|word| !is_everyday(word));
    found
}

/// Takes plain English endings off, so that "sorting", "sorted" and "sorts" meet "sort". Short words stay.
pub(crate) fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let plural = match word {
        _ if word.len() > 4 && word.ends_with("ies") => return &word[..word.len() - 3],
        _ if word.len() > 4
            && (word.ends_with("sses")
                || word.ends_with("xes")
                || word.ends_with("ches")
                || word.ends_with("shes")) =>
        {
            &word[..word.len() - 2]
        }
        _ if word.len() > 3
            && word.ends_with('s')
            && !word.ends_with("ss")
            && !word.ends_with("us")
            && !word.ends_with("is") =>
        {
            &word[..word.len() - 1]
        }
        _ => word,
    };
    let cut = ["ing", "ed"]
        .iter()
        .find_map(|ending| plural.strip_suffix(ending))
        .filter(|rest| rest.len() > 3 && rest.bytes().any(|b| b"aeiouy".contains(&b)));
    let bare = cut.unwrap_or(plural);
    let bytes = bare.as_bytes();
    let doubled = cut.is_some()
        && bytes.len() > 4
        && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
        && !b"ls".contains(&bytes[bytes.len() - 1]);
    if doubled {
        return &bare[..bare.len() - 1];
    }
    // "raise" and "raising", "type" and "typed", "query" and "queries" meet without their last letter.
    bare.strip_suffix(['e', 'y'])
        .filter(|rest| rest.len() > 3)
        .unwrap_or(bare)
}

/// Words that say nothing about code, because every task is full of them. Stems, as [`stem`] makes them.
const EVERYDAY: &str = "\
    a about abov actually add after again all also always am an and any are as at be becaus been befor below \
    both bug but by can cannot could did do doe does doesn don doing down each either else even ever exampl \
    expect few find for from fix further get give given go got had happen has have having he help her here him \
    his how however if in instead into is isn issue issu it its itself just know let like look mak make may \
    mayb me might more most much must my need new no nor not now of off ok on onc once one only or other our \
    out over own pleas please possibl problem rather really right run same say see seem she should show sinc \
    since so some someth something still such sur sure tak take than thank that the their them then there thes \
    these they thi this thing think thos those though through to too try tri two under until up us use used \
    using ve very wa want was way we well wer were what when wher where whether which whil while who whom why \
    will with without work would yes you your self def return import print none true fals elif pass lambda \
    https http www com org github py python";

/// Returns the stems that carry no meaning of their own in a task.
pub(crate) fn everyday() -> impl Iterator<Item = &'static str> {
    EVERYDAY.split_ascii_whitespace()
}

/// Says whether a stem carries no meaning of its own in a task.
pub(crate) fn is_everyday(stem: &str) -> bool {
    is_among(EVERYDAY, stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_meet_without_their_endings() {
        let meet = |one: &str, other: &str| stems(one).intersection(&stems(other)).count();
        assert_eq!(
            meet(
                "Preserve columns through transforms",
                "test_transform_preserves_it"
            ),
            2
        );
        assert_eq!(meet("add the total", "TestAddThe"), 0);
    }

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn identifiers_fall_into_words() {
        assert_eq!(
            words("parseHTTPBody2 get_url __init__ x"),
            [
                "pars",
                "http",
                "body",
                "parsehttpbody2",
                "get",
                "url",
                "init"
            ]
        );
        assert_eq!(words("Straße_groß"), ["straße", "groß"]);
        assert_eq!(words("fp16 L027 3d"), ["fp", "fp16", "l027"]);
    }

    #[test]
    fn endings_meet() {
        for (one, other) in [
            ("sorting", "sorted"),
            ("queries", "query"),
            ("raises", "raising"),
            ("stopped", "stop"),
            ("classes", "class"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
    }
}
