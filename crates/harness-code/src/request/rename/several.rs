//! Several renames in one sentence: "rename a to b and c to d", "a -> b, c -> d", "rename a and b to c and d", one a line.
//!
//! Either every word of a sentence has its part in this, or nothing is read here: a rename that is left out would be
//! called done with the others.

use super::Rename;
use super::sentence::NameWord;
use super::words::{AFTER_NAMES, BEFORE_NAMES, KINDS, LEADING_ON, MOST_WORDS, NO_NAMES};
use crate::path::RelPath;

/// More is no sentence that somebody wrote.
const MOST: usize = 40;
/// Kinds of several things.
const MANY: &str =
    "functions methods classes variables parameters arguments attributes fields constants modules";
/// Words before the first rename.
const POLITE: &str = "please kindly can could you would we i want need like to also now just let lets should hi hello first";
/// Words behind the last one.
const ENDING: &str = "please everywhere globally respectively thanks too throughout in across the whole entire \
    project code codebase base repo repository for me";

/// Verbs behind "to" that say what a rename is for: "rename them to follow PEP 8".
const PURPOSES: &str =
    "follow match use avoid reflect comply conform fit agree allow prevent help keep show say";

/// Returns the renames of a sentence that asks for two or more and for nothing else.
pub(super) fn read(words: Vec<NameWord<'_>>) -> Vec<Vec<Rename>> {
    if words.len() > MOST_WORDS {
        return Vec::new();
    }
    let pairs = Reader {
        words: &words,
        at: 0,
    }
    .pairs()
    .unwrap_or_default();
    if !(2..=MOST).contains(&pairs.len()) {
        return Vec::new();
    }
    pairs.into_iter().map(|pair| vec![pair]).collect()
}

/// Returns how many new names these words say.
pub(super) fn count_new_names(words: &[NameWord<'_>]) -> usize {
    let names = words.windows(2).filter(|two| {
        let is_named = may_be_name(&two[1]) || two[1].text.starts_with('-');
        is_joint(&two[0]) && is_named && !two[1].is(PURPOSES)
    });
    names.count()
}

/// Puts the answer to a question in the place of the readings of the rename that it is about.
pub(super) fn settle(readings: &mut Vec<Rename>, answer: &Rename) {
    if !is_same(readings, answer) {
        return;
    }
    let mut chosen = answer.clone();
    chosen.in_comments |= readings.iter().any(|one| one.in_comments);
    if chosen.file.is_none() && chosen.class.is_none() {
        chosen.file = readings.first().and_then(|one| one.file.clone());
    }
    *readings = vec![chosen];
}

/// Says whether a rename is one of these readings.
pub(super) fn is_same(readings: &[Rename], other: &Rename) -> bool {
    let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let same =
        |one: &Rename| last(&one.old) == last(&other.old) && last(&one.new) == last(&other.new);
    readings.iter().any(same)
}

/// What is left of a sentence.
struct Reader<'w, 't> {
    words: &'w [NameWord<'t>],
    at: usize,
}

impl<'t> Reader<'_, 't> {
    /// Reads all of the sentence; nothing where a word of it has no part in a rename.
    fn pairs(&mut self) -> Option<Vec<Rename>> {
        let is_verb = |word: &&NameWord<'_>| word.is("rename");
        let is_one_order = self.words.iter().filter(is_verb).count() < 2;
        self.skip(|word| word.is(POLITE));
        let has_verb = self.skip(|word| word.is("rename")) == 1;
        let mut found: Vec<Rename> = Vec::new();
        while self.at < self.words.len() && !self.only(ENDING) {
            if !found.is_empty() {
                let joins = self.skip(|word| word.is("and then also plus rename"));
                let is_parted = self.words[self.at - joins - 1].stop;
                if joins == 0 && !is_parted {
                    return None;
                }
            }
            let (olds, own) = self.names()?;
            let joint = self.next()?;
            if !(joint.is_arrow() || has_verb && joint.is("to into")) {
                return None;
            }
            let (news, behind) = match olds.len() {
                1 => {
                    let new = self.name()?;
                    (vec![new], self.place()?)
                }
                _ => self.names()?,
            };
            if olds.len() != news.len() {
                return None;
            }
            for (old, new) in olds.iter().zip(&news) {
                let file = old.file.and_then(|file| RelPath::parse(file).ok());
                found.push(Rename {
                    old: old.text.to_owned(),
                    new: new.text.to_owned(),
                    file: file.or_else(|| own.clone()).or_else(|| behind.clone()),
                    ..Rename::default()
                });
            }
            // "rename a to b and c to d in shop.py" means both.
            if is_one_order && (self.at == self.words.len() || self.only(ENDING)) {
                for one in found.iter_mut().filter(|one| one.file.is_none()) {
                    one.file.clone_from(&behind);
                }
            }
        }
        Some(found)
    }

    /// Reads the names of "the functions a, b and c in shop.py", and the file.
    fn names(&mut self) -> Option<(Vec<NameWord<'t>>, Option<RelPath>)> {
        let mut names = vec![self.name()?];
        loop {
            let before = self.at;
            let is_parted = self.words[before - 1].stop;
            let joins = self.skip(|word| word.is("and"));
            // Another pair begins where a joint follows the next name.
            let next = Reader {
                words: self.words,
                at: self.at,
            }
            .name();
            if joins == 0 && !is_parted || next.is_none() {
                self.at = before;
                break;
            }
            let name = self.name()?;
            names.push(name);
        }
        Some((names, self.place()?))
    }

    /// Reads one name, with its kind before or behind it.
    fn name(&mut self) -> Option<NameWord<'t>> {
        self.skip(|word| word.is("the a an our my"));
        let is_kind = |word: &NameWord<'_>| word.is(KINDS) || word.is(MANY);
        let first = *self.words.get(self.at)?;
        let second = self.words.get(self.at + 1);
        let is_named = |word: &&NameWord<'_>| may_be_name(word) && !is_joint(word);
        if is_kind(&first)
            && !first.stop
            && second.filter(is_named).is_some_and(|next| !is_kind(next))
        {
            self.at += 1;
        }
        let name = self.next().filter(may_be_name)?;
        if !name.stop && self.words.get(self.at).is_some_and(is_kind) {
            self.at += 1;
        }
        Some(name)
    }

    /// Reads "in shop.py". Nothing of that kind is no fault, any other place is.
    fn place(&mut self) -> Option<Option<RelPath>> {
        if self.words[self.at - 1].stop
            || self.only(ENDING)
            || !self
                .words
                .get(self.at)
                .is_some_and(|word| word.is("in of from"))
        {
            return Some(None);
        }
        self.at += 1;
        self.skip(|word| word.is("the file module"));
        let path = self
            .next()
            .filter(|word| word.is_path() && word.line.is_none())?;
        Some(Some(RelPath::parse(path.text).ok()?))
    }

    fn next(&mut self) -> Option<NameWord<'t>> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(*word)
    }

    /// Passes words; returns how many.
    fn skip(&mut self, passed: fn(&NameWord<'_>) -> bool) -> usize {
        let count = self.words[self.at..]
            .iter()
            .take_while(|word| passed(word))
            .count();
        self.at += count;
        count
    }

    /// Whether nothing but these words is left.
    fn only(&self, any: &str) -> bool {
        self.words[self.at..].iter().all(|word| word.is(any))
    }
}

fn is_joint(word: &NameWord<'_>) -> bool {
    word.is_arrow() || word.is("to into")
}

fn may_be_name(word: &NameWord<'_>) -> bool {
    let is_other = [AFTER_NAMES, BEFORE_NAMES, NO_NAMES, LEADING_ON];
    word.is_name() && !word.possessive && !is_other.iter().any(|any| word.is(any))
}
