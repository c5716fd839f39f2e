//! How near one name is to another: the slips of a hand on a keyboard, told apart from names that merely look alike.

/// How near a wrong name is to a right one, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nearness {
    /// The same letters, one capital or underscore apart.
    Case,
    /// One slip: a key beside the right one, two letters swapped, one left out, one doubled.
    Slip,
    /// The same letters, written in another way (`max_size`, `MaxSize`, `MAXSIZE`).
    Written,
    /// One other change. Enough to doubt, not enough to correct.
    Alike,
}

/// Shorter names are near to too many others for a slip to say anything.
const SHORTEST: usize = 3;

/// Returns how near `wrong` is to `right`, or `None` when more than one change lies between them.
pub(crate) fn nearness(wrong: &str, right: &str) -> Option<Nearness> {
    if wrong == right || wrong.len().abs_diff(right.len()) > 8 {
        return None;
    }
    let one: Vec<char>;
    let other: Vec<char>;
    let changed = if may_be_one_change(wrong.as_bytes(), right.as_bytes()) {
        one = wrong.chars().collect();
        other = right.chars().collect();
        change(&one, &other)
    } else {
        None
    };
    let same = same_letters(wrong, right);
    let short = wrong.chars().count() < SHORTEST || right.chars().count() < SHORTEST;
    match changed {
        Some(_) if same => Some(Nearness::Case),
        None if same => Some(Nearness::Written),
        Some(_) if short => Some(Nearness::Alike),
        _ => changed,
    }
}

/// Whether two names differ in capitals and underscores only. Leading underscores count: they say who may use a name.
fn same_letters(one: &str, other: &str) -> bool {
    let leading = |name: &str| name.len() - name.trim_start_matches('_').len();
    let letters = |name: &'_ str| {
        name.chars()
            .filter(|letter| *letter != '_')
            .flat_map(char::to_lowercase)
            .collect::<Vec<_>>()
    };
    if leading(one) != leading(other) || one.trim_matches('_').is_empty() {
        return false;
    }
    // Most pairs differ in their first letter; only the others are worth taking apart.
    let first = |name: &str| {
        name.trim_start_matches('_')
            .chars()
            .next()
            .map(|letter| letter.to_ascii_lowercase())
    };
    first(one) == first(other) && letters(one) == letters(other)
}

/// Whether what differs between two names is short enough for one change; four bytes are the longest letter.
fn may_be_one_change(wrong: &[u8], right: &[u8]) -> bool {
    let shorter = wrong.len().min(right.len());
    let start = (0..shorter)
        .take_while(|&at| wrong[at] == right[at])
        .count();
    let end = (0..shorter - start)
        .take_while(|at| wrong[wrong.len() - 1 - at] == right[right.len() - 1 - at])
        .count();
    wrong.len().max(right.len()) - start - end <= 8
}

/// Says whether one change turns a wrong name into the right one, and whether it is a slip.
fn change(wrong: &[char], right: &[char]) -> Option<Nearness> {
    let start = wrong
        .iter()
        .zip(right)
        .take_while(|(one, other)| one == other)
        .count();
    let (wrong_rest, right_rest) = (&wrong[start..], &right[start..]);
    let shorter = wrong_rest.len().min(right_rest.len());
    let end = (0..shorter)
        .take_while(|at| {
            wrong_rest[wrong_rest.len() - 1 - at] == right_rest[right_rest.len() - 1 - at]
        })
        .count();
    let wrong_middle = &wrong_rest[..wrong_rest.len() - end];
    let right_middle = &right_rest[..right_rest.len() - end];
    match (wrong_middle, right_middle) {
        // Swapped.
        ([a, b], [c, d]) if a == d && b == c => slip_if(is_letter(*a) && is_letter(*b)),
        // Another letter.
        ([a], [b]) => {
            let vowels = is_vowel(*a) && is_vowel(*b) && wrong.len() >= WRITTEN_BY_EAR;
            slip_if(vowels || are_neighbours(*a, *b))
        }
        // Left out.
        ([], [missing]) => slip_if(is_letter(*missing)),
        // One too many: a slip only when the key was hit twice. The common start takes the first of the two.
        ([extra], []) => {
            let doubled = start
                .checked_sub(1)
                .is_some_and(|before| wrong[before] == *extra);
            slip_if(doubled && extra.is_alphabetic())
        }
        _ => None,
    }
}

/// In long words people mistake one vowel for another (`seperator`); in short ones that makes another word.
const WRITTEN_BY_EAR: usize = 7;

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u')
}

fn slip_if(is_slip: bool) -> Option<Nearness> {
    Some(match is_slip {
        true => Nearness::Slip,
        false => Nearness::Alike,
    })
}

/// `x1` and `x2` are two names; a digit is not hit by accident.
fn is_letter(sign: char) -> bool {
    !sign.is_ascii_digit() && sign != '_'
}

/// The letter rows of a keyboard; a neighbour is one key to the side, above or below.
const ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

fn are_neighbours(one: char, other: char) -> bool {
    if one.is_uppercase() != other.is_uppercase() {
        return false;
    }
    let place = |letter: char| {
        let letter = letter.to_ascii_lowercase();
        ROWS.iter()
            .enumerate()
            .find_map(|(row, keys)| keys.find(letter).map(|column| (row, column)))
    };
    let (Some((row, column)), Some((other_row, other_column))) = (place(one), place(other)) else {
        return false;
    };
    // Each row lies half a key to the right of the one above it.
    match other_row.checked_sub(row) {
        Some(0) => column.abs_diff(other_column) == 1,
        Some(1) => column == other_column || column == other_column + 1,
        Some(_) => false,
        None => row - other_row == 1 && (other_column == column || other_column == column + 1),
    }
}

/// The candidates nearest to a wrong name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Closest<'n> {
    /// Exactly one can have been meant.
    One(&'n str),
    /// Several can; the nearest first.
    Several(Vec<&'n str>),
    /// None is near.
    None,
}

impl<'n> Closest<'n> {
    /// Returns the candidates, the nearest first.
    pub(crate) fn names(&self) -> &[&'n str] {
        match self {
            Closest::One(name) => std::slice::from_ref(name),
            Closest::Several(names) => names,
            Closest::None => &[],
        }
    }
}

/// Returns the name that was meant, when exactly one of `known` can have been.
pub(crate) fn closest_name<'n>(
    wrong: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Closest<'n> {
    let known: Vec<&'n str> = known.into_iter().collect();
    let mut near: Vec<(Nearness, &'n str)> = known
        .iter()
        .filter_map(|name| Some((nearness(wrong, name)?, *name)))
        .collect();
    near.sort_unstable();
    near.dedup();
    let Some(&(best, name)) = near.first() else {
        return Closest::None;
    };
    if best == Nearness::Written {
        let rivals = as_near(wrong, name, &known);
        if !rivals.is_empty() {
            let mut names: Vec<&'n str> = near.into_iter().map(|(_, name)| name).collect();
            names.extend(rivals);
            return Closest::Several(names);
        }
    }
    let rivals = near
        .iter()
        .skip(1)
        .filter(|(rival, _)| competes(best, *rival))
        .count();
    match best {
        Nearness::Case | Nearness::Slip | Nearness::Written if rivals == 0 => Closest::One(name),
        Nearness::Case | Nearness::Slip | Nearness::Written => {
            Closest::Several(near.into_iter().map(|(_, name)| name).collect())
        }
        // A name of one or two letters is near to much; what it was meant to be only a person knows.
        Nearness::Alike
            if wrong.chars().count() < SHORTEST && wrong.chars().all(char::is_alphabetic) =>
        {
            Closest::Several(near.into_iter().map(|(_, name)| name).collect())
        }
        Nearness::Alike => Closest::None,
    }
}

/// The names that are as few letters away as `right`, which is the same name written in another way, the nearest
/// first. `_default_size` for `_DEFAULT_SIZE` differs in every letter: whoever wrote it may have meant another name.
fn as_near<'n>(wrong: &str, right: &str, known: &[&'n str]) -> Vec<&'n str> {
    let letters = strsim::levenshtein(wrong, right);
    // One word's capitals (`rangeinvalid`, `RangeInvalid`) are fewer changes than any other word is away.
    if letters <= CAPITALS {
        return Vec::new();
    }
    let mut rivals: Vec<(usize, &'n str)> = known
        .iter()
        .filter(|name| **name != right && name.len().abs_diff(wrong.len()) <= letters)
        .map(|name| (strsim::levenshtein(wrong, name), *name))
        .filter(|(distance, _)| *distance <= letters)
        .collect();
    rivals.sort_unstable();
    rivals.dedup();
    rivals.into_iter().map(|(_, name)| name).collect()
}

/// The words of a name that begin with a capital; more changes than that rewrite the name.
const CAPITALS: usize = 4;

/// Whether a second name makes the nearest one doubtful.
fn competes(best: Nearness, rival: Nearness) -> bool {
    // One capital is a smaller mistake than a whole other way of writing: `Key` was meant to be `key`, not `KEY`.
    !(best == Nearness::Case && rival == Nearness::Written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wrong: &str, known: &[&'static str], expected: &Closest<'_>) {
        assert_eq!(closest_name(wrong, known.iter().copied()), *expected);
    }

    #[test]
    fn each_kind_of_slip_is_seen() {
        check("othwr", &["other", "data"], &Closest::One("other"));
        check("avl1", &["val1", "vals"], &Closest::One("val1"));
        check("namespce", &["namespace"], &Closest::One("namespace"));
        check("neeedquote", &["needquote"], &Closest::One("needquote"));
        check("seperator", &["separator"], &Closest::One("separator"));
        check("Tablefmt", &["tablefmt"], &Closest::One("tablefmt"));
        check(
            "separatinglines",
            &["separating_lines"],
            &Closest::One("separating_lines"),
        );
        check(
            "_withsubvalidators",
            &["_WithSubValidators"],
            &Closest::One("_WithSubValidators"),
        );
    }

    #[test]
    fn two_near_names_are_never_told_apart() {
        check(
            "pot",
            &["port", "pow"],
            &Closest::Several(vec!["port", "pow"]),
        );
        check(
            "cey",
            &["key", "ckey"],
            &Closest::Several(vec!["ckey", "key"]),
        );
        check("ma", &["map", "max"], &Closest::Several(vec!["map", "max"]));
        check(
            "Rormatter",
            &["Formatter", "formatter"],
            &Closest::Several(vec!["Formatter", "formatter"]),
        );
        check(
            "valx",
            &["vals", "val"],
            &Closest::Several(vec!["vals", "val"]),
        );
    }

    #[test]
    fn a_name_in_other_capitals_throughout_competes_with_what_is_as_many_letters_away() {
        check(
            "_default_floatfmt",
            &["_DEFAULT_FLOATFMT", "_expand_numparse"],
            &Closest::Several(vec!["_DEFAULT_FLOATFMT", "_expand_numparse"]),
        );
        check(
            "default_floatfmt",
            &["DEFAULT_FLOATFMT", "x"],
            &Closest::One("DEFAULT_FLOATFMT"),
        );
    }

    #[test]
    fn a_name_two_changes_away_does_not_compete() {
        check("Key", &["key", "KEY"], &Closest::One("key"));
        check("scgema", &["schema", "Schema"], &Closest::One("schema"));
        check(
            "Preserve_whitespace",
            &["preserve_whitespace", "PRESERVE_WHITESPACE"],
            &Closest::One("preserve_whitespace"),
        );
    }

    #[test]
    fn names_that_only_look_alike_are_left_alone() {
        check("ujson", &["json"], &Closest::None);
        check("lxml", &["xml"], &Closest::None);
        check("xx2", &["xx1"], &Closest::None);
        check("value2", &["value1"], &Closest::None);
        check("encode", &["decode"], &Closest::None);
        check("_name", &["name"], &Closest::None);
        check("completely", &["different"], &Closest::None);
    }

    #[test]
    fn nearness_is_the_same_in_both_directions_for_swaps_and_keys() {
        for (one, other) in [("fucn", "func"), ("srqs", "seqs"), ("Datetime", "datetime")] {
            assert_eq!(nearness(one, other), nearness(other, one));
        }
    }
}
