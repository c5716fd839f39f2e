//! A rename in a sentence: "rename A to B", "call it B instead of A", `A -> B`, with a file, a class or a place.
//!
//! Read word by word. A word such as `name` or `helper` is a kind of thing only where a name stands beside it;
//! where a sentence can be read in two ways, both readings are returned and the project decides.

mod sentence;
mod several;
mod words;

use std::sync::LazyLock;

use regex::Regex;

use crate::path::RelPath;
use crate::request::Request;
use sentence::{Mark, NameWord, words_of};
use words::{AFTER_NAMES, BEFORE_NAMES, KINDS, LEADING_ON, MOST_WORDS, NO_NAMES};

/// A rename as a sentence asks for it: what is to be renamed, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rename {
    /// The name as it is now: `name`, `Class.name`, `package.module`, or the path of a file.
    pub old: String,
    /// The name as it shall be.
    pub new: String,
    /// The file that defines it.
    pub file: Option<RelPath>,
    /// The class or function that holds it.
    pub class: Option<String>,
    /// Whether `class` is only a word behind "in", which may hold nothing.
    pub class_is_guess: bool,
    /// A line that it stands on, from 1.
    pub line: Option<u32>,
    /// The column it stands at, in characters from 1.
    pub column: Option<u32>,
    /// Whether comments and docstrings follow.
    pub in_comments: bool,
    /// What happens to places that may mean the thing and may not.
    pub doubts: Doubts,
}

/// What a rename does about places that may mean the renamed thing and may not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubts {
    /// Asks the user.
    #[default]
    Ask,
    /// Renames there too, where the whole name stands.
    Include,
    /// Leaves them as they are.
    Leave,
}

/// More questions are not asked of one task.
const MOST_ANSWERS: usize = 8;
/// What a verb acts on: a word before one of these is a verb and no name.
const OBJECTS: &str =
    "it them things this that these the a an sure everything everyone us me you our my its their";
/// Places in a sentence that hold no name: "in the whole code base".
const NO_HOLDERS: &str = "project projects code codebase base repo repository workspace tree source sources file files \
    module modules package packages place places use uses usage usages call calls caller callers test tests comment \
    comments docstring docstrings docs import imports whole entire general total advance order one go there here full \
    line lines directory folder app application program";

/// Words by which a task asks for more than the rename.
static MORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:and|then|also)\s+(?:then\s+|also\s+)?(?:add|fix|make|remove|delete|implement|write|rewrite|return|raise|document|test|extract|split|sort|convert|handle|explain|move|create|inline|drop|keep|leave)\b").ok()
});
static COMMENTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:including|also|and)\s+(?:also\s+)?(?:(?:in|the|all|its|their|update|change|every)\s+)*(?:comments?|docstrings?|docs)\b").ok()
});

/// "and leave the rest": what is not certain stays.
static LEAVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)[\s,;:-]*\b(?:(?:and|but)\s+)?(?:just\s+)?leave\s+(?:it|that|them|the\s+(?:rest|others?|strings?)|(?:all\s+|other\s+)?strings|everything\s+else)(?:\s+(?:there|alone|untouched|unchanged|as\s+(?:it\s+is|they\s+are)))*[\s.!]*$").ok()
});
/// "in strings too": what is not certain is renamed as well.
static INCLUDE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)[\s,;:-]*\b(?:(?:and\s+|also\s+|even\s+)*in\s+(?:the\s+|all\s+)?strings\s+(?:too|also|as\s+well)|(?:and\s+)?(?:also|even)\s+in\s+(?:the\s+|all\s+)?strings|(?:and\s+)?including\s+(?:the\s+|all\s+)?strings|(?:and\s+)?rename\s+(?:it|that|them)\s+(?:there\s+)?too)[\s.!]*$").ok()
});

impl Request {
    /// Returns the renames that are asked for, each with every way to read it; none where something else is asked for too.
    pub fn renames(&self) -> &[Vec<Rename>] {
        self.sentence.renames.get_or_init(|| {
            let mut renames = self.read_with(|before| several::read(self.words_of(before)));
            if renames.is_empty() {
                renames = self.read_with(|before| vec![self.read_one(before)]);
            }
            renames.retain(|readings| !readings.is_empty());
            renames
        })
    }

    /// Returns every way to read the one rename that is asked for; none where it is not one.
    pub fn rename(&self) -> &[Rename] {
        match self.renames() {
            [readings] => readings,
            _ => &[],
        }
    }

    /// Returns how many new names are said: what stands behind "to" or an arrow, as far as it is a name.
    pub fn count_new_names(&self) -> usize {
        several::count_new_names(&self.words_of(self.text()))
    }

    /// Returns the words of a part of the text.
    fn words_of(&self, part: &str) -> Vec<NameWord<'_>> {
        words_of(self.tokens_of(part))
    }

    /// Reads the renames with the answers to our questions behind them.
    fn read_with(&self, read: impl Fn(&str) -> Vec<Vec<Rename>>) -> Vec<Vec<Rename>> {
        let (before, answers) = self.answers();
        let (certain, doubts) = without_doubts(before);
        if MORE.as_ref().is_some_and(|more| more.is_match(certain)) {
            return Vec::new();
        }
        let mut renames = read(certain);
        for reading in renames.iter_mut().flatten() {
            reading.doubts = doubts;
        }
        for answer in answers.iter().rev() {
            renames
                .iter_mut()
                .for_each(|readings| several::settle(readings, answer));
        }
        renames
    }

    /// Returns the text without the answers to our questions, and the answers, the last one first: each says one of its
    /// renames again on a line of its own.
    fn answers(&self) -> (&str, Vec<Rename>) {
        let (mut rest, mut answers) = (self.text().trim(), Vec::new());
        while let Some((before, answer)) = rest.rsplit_once('\n')
            && answers.len() < MOST_ANSWERS
            && let (certain, doubts) = without_doubts(answer)
            && let [chosen] = self.read_one(certain).as_slice()
        {
            let task = without_doubts(before).0;
            // What a line that was answered before says, the answer before it says too.
            let first = before.split('\n').next().unwrap_or(before);
            let mut said = Vec::new();
            for part in [task, first] {
                said.extend(several::read(self.words_of(part)));
                said.push(self.read_one(part));
            }
            if !said.iter().any(|one| several::is_same(one, chosen)) {
                break;
            }
            answers.push(Rename {
                doubts,
                ..chosen.clone()
            });
            rest = before;
        }
        (rest, answers)
    }

    fn read_one(&self, part: &str) -> Vec<Rename> {
        read(part, &self.words_of(part))
    }
}

/// Returns a task without its ending that says what happens to places in doubt.
fn without_doubts(task: &str) -> (&str, Doubts) {
    for (ending, doubts) in [(&LEAVE, Doubts::Leave), (&INCLUDE, Doubts::Include)] {
        let found = ending.as_ref().and_then(|ending| ending.find(task));
        if let Some(found) = found {
            return (task[..found.start()].trim_end(), doubts);
        }
    }
    (task, Doubts::Ask)
}

fn read(task: &str, words: &[NameWord<'_>]) -> Vec<Rename> {
    if words.len() > MOST_WORDS {
        return Vec::new();
    }
    let Some(form) = Form::of(words) else {
        return Vec::new();
    };
    let old = OldPhrase::read(form.old);
    let Some((news, behind)) = read_new(form.new, old.kind) else {
        return Vec::new();
    };
    // "rename a to b c to d": no one says what belongs together.
    let is_torn = form.old.windows(3).any(|three| {
        let is_name = three[1].is_name() && !three[1].is(AFTER_NAMES) && !three[1].is(BEFORE_NAMES);
        (three[0].is_arrow() || three[0].is("to into")) && is_name && !three[2].is(OBJECTS)
    });
    if is_torn || asks_for_another(form.new, behind) || are_lists(&old, form.new, behind) {
        return Vec::new();
    }
    let mut request = Rename {
        in_comments: COMMENTS
            .as_ref()
            .is_some_and(|comments| comments.is_match(task)),
        ..Rename::default()
    };
    if let Some(place) = words.iter().find(|word| word.line.is_some()) {
        request.file = RelPath::parse(place.text).ok();
        (request.line, request.column) = (place.line, place.column);
    }
    if let Some(test) = old.names.iter().find_map(|name| name.file) {
        request.file = RelPath::parse(test).ok();
    }
    request.class = old.holder.map(str::to_owned);
    for phrase in [old.rest, behind, form.before] {
        read_places(phrase, &mut request);
    }
    let names: Vec<&str> = old.names.iter().map(|word| word.text).collect();
    // A place alone says what stands there.
    let only_kinds = old.names.iter().all(|word| word.is(KINDS));
    let olds = if only_kinds && request.line.is_some() {
        vec![""]
    } else {
        names
    };
    let mut readings = Vec::new();
    for old in olds {
        for new in &news {
            if old != *new {
                readings.push(Rename {
                    old: old.to_owned(),
                    new: (*new).to_owned(),
                    ..request.clone()
                });
            }
        }
    }
    readings
}

/// The parts of a sentence that ask for a rename.
struct Form<'w, 't> {
    before: &'w [NameWord<'t>],
    old: &'w [NameWord<'t>],
    new: &'w [NameWord<'t>],
}

impl<'w, 't> Form<'w, 't> {
    fn of(words: &'w [NameWord<'t>]) -> Option<Form<'w, 't>> {
        let verb = |any: &str| words.iter().position(|word| word.is(any));
        if let Some(at) = verb("rename renames renaming renamed re-name") {
            let negated = words[..at]
                .iter()
                .any(|word| word.is("not don't dont never"));
            return Form::renaming(words, at).filter(|_| !negated);
        }
        if let Some(at) = verb("called named").filter(|at| *at > 0 && words[at - 1].is("be been")) {
            return Some(Form::two(
                before_auxiliaries(&words[..at]),
                &words[at + 1..],
            ));
        }
        if let Some(at) = verb("call") {
            return Form::calling(&words[at + 1..]);
        }
        if let Some(at) = verb("change replace use") {
            return Form::naming(&words[at + 1..]);
        }
        // `old -> new` says all of it; a kind or a word such as "please" may stand before.
        let at = words
            .iter()
            .position(NameWord::is_arrow)
            .filter(|at| (1..4).contains(at))?;
        Some(Form::two(&words[..at], &words[at + 1..]))
    }

    fn two(old: &'w [NameWord<'t>], new: &'w [NameWord<'t>]) -> Form<'w, 't> {
        Form {
            before: &[],
            old,
            new,
        }
    }

    /// "rename A to B", "rename A so it is called B", "A should be renamed to B", "rename to B the function A".
    fn renaming(words: &'w [NameWord<'t>], at: usize) -> Option<Form<'w, 't>> {
        let (before, rest) = (&words[..at], &words[at + 1..]);
        let to = |word: &NameWord<'_>| word.is_arrow() || word.is("to into");
        let joint = (0..rest.len())
            .find(|at| to(&rest[*at]) && read_new(&rest[at + 1..], None).is_some())
            .or_else(|| rest.iter().position(|word| word.is("called named")))
            .or_else(|| rest.iter().position(|word| word.is("as with by")));
        // "to B, rename A".
        let Some(joint) = joint else {
            let new = &before[before.iter().position(to)? + 1..];
            return Some(Form::two(rest, new));
        };
        let (old, new) = (&rest[..joint], &rest[joint + 1..]);
        if joint > 0 {
            return Some(Form { before, old, new });
        }
        let named = before_auxiliaries(before);
        if !OldPhrase::read(named).names.is_empty() {
            return Some(Form::two(named, new));
        }
        let starts_old = |word: &NameWord<'_>| word.is("the from my our this");
        let at = new.iter().skip(1).position(starts_old)? + 1;
        Some(Form {
            before,
            old: &new[at..],
            new: &new[..at],
        })
    }

    /// "call it B instead of A", "call A B instead", "call A B from now on".
    fn calling(rest: &'w [NameWord<'t>]) -> Option<Form<'w, 't>> {
        if let Some(at) = instead_of(rest) {
            let skipped = rest
                .iter()
                .take_while(|word| word.is("it this that"))
                .count();
            return Some(Form::two(&rest[at + 2..], rest.get(skipped..at)?));
        }
        let from_now = |at: &usize| {
            let words = rest[*at..].iter().map(|word| word.text).take(3);
            words.eq(["from", "now", "on"])
        };
        let instead = rest.iter().position(|word| word.is("instead"));
        let end = instead.or_else(|| (0..rest.len()).find(from_now))?;
        let (new, old) = rest[..end].split_last()?;
        // "call a b and c d from now on" is about two.
        let is_one = !old.iter().any(|word| word.is("and"));
        is_one.then(|| Form::two(old, std::slice::from_ref(new)))
    }

    /// "change the name of A to B", "change A's name to B", "replace the name A with B", "use the name B instead of A".
    fn naming(rest: &'w [NameWord<'t>]) -> Option<Form<'w, 't>> {
        let name = rest.iter().position(|word| word.is("name"))?;
        let (owner, behind) = (&rest[..name], &rest[name + 1..]);
        if let Some(at) = instead_of(behind) {
            return Some(Form::two(&behind[at + 2..], &behind[..at]));
        }
        let joint = behind
            .iter()
            .position(|word| word.is_arrow() || word.is("to into with by"))?;
        let (old, new) = (&behind[..joint], &behind[joint + 1..]);
        match old.first() {
            None if owner.last().is_some_and(|word| word.possessive) => Some(Form::two(owner, new)),
            // "change the name field to optional" is about a field.
            Some(first) if !first.is(KINDS) => Some(Form::two(old, new)),
            None | Some(_) => None,
        }
    }
}

fn instead_of(words: &[NameWord<'_>]) -> Option<usize> {
    let pairs = words.windows(2);
    pairs
        .into_iter()
        .position(|pair| pair[0].is("instead") && pair[1].is("of"))
}

/// Returns what is spoken of before "should be renamed", "needs to be called" and the like.
fn before_auxiliaries<'w, 't>(words: &'w [NameWord<'t>]) -> &'w [NameWord<'t>] {
    const AUXILIARIES: &str = "should must needs need to has have had is are be been being gets get got ought will \
        would shall please better";
    let end = words
        .iter()
        .rposition(|word| !word.is(AUXILIARIES))
        .map_or(0, |last| last + 1);
    &words[..end]
}

/// What is said of the thing that gets another name.
#[derive(Default)]
struct OldPhrase<'w, 't> {
    /// What its name may be; a word of kind only where there is no other.
    names: Vec<NameWord<'t>>,
    /// The word of kind beside the name.
    kind: Option<&'t str>,
    /// Whose it is: "Cart's method total".
    holder: Option<&'t str>,
    /// What is said behind the name.
    rest: &'w [NameWord<'t>],
}

impl<'w, 't> OldPhrase<'w, 't> {
    fn read(words: &'w [NameWord<'t>]) -> OldPhrase<'w, 't> {
        let is_place = |at: usize| words.get(at).is_some_and(|word| word.line.is_some());
        let mut start = 0;
        while let Some(word) = words.get(start)
            && (word.is(BEFORE_NAMES)
                || is_place(start)
                || word.is("in at") && words.get(start + 1).is_some_and(NameWord::is_path)
                || start > 0 && word.is_path() && words[start - 1].is("in at"))
        {
            start += 1;
        }
        // "rename old to new": a word that often stands before a name can be one.
        if start == words.len() {
            start = words
                .iter()
                .rposition(|word| !is_no_name(word))
                .unwrap_or(start);
        }
        let mut holder = None;
        if let [first, _, ..] = &words[start..]
            && first.possessive
        {
            holder = Some(first.text);
            start += 1;
        }
        let goes_on = |at: &usize| {
            let after_stop = *at > start && words[at - 1].stop;
            !after_stop && (*at == start || !words[*at].is(AFTER_NAMES))
        };
        let end = (start..words.len())
            .take_while(goes_on)
            .last()
            .map_or(start, |last| last + 1);
        let head = &words[start..end];
        let named = |word: &&NameWord<'t>| word.is_name() && !is_no_name(word);
        let quoted = |word: &&NameWord<'t>| word.mark == Mark::Quoted;
        let kind = head
            .iter()
            .find(|word| word.is(KINDS))
            .map(|word| word.text);
        let choose = |chosen: &dyn Fn(&&NameWord<'t>) -> bool| -> Vec<NameWord<'t>> {
            head.iter().filter(named).filter(chosen).copied().collect()
        };
        let mut names = choose(&quoted);
        if names.is_empty() {
            names = choose(&|word| !word.is(KINDS));
        }
        if names.is_empty() {
            names = choose(&|_| true);
        }
        OldPhrase {
            names,
            kind,
            holder,
            rest: &words[end..],
        }
    }
}

/// Returns what the new name may be, and the words behind it.
fn read_new<'w, 't>(
    words: &'w [NameWord<'t>],
    old_kind: Option<&str>,
) -> Option<(Vec<&'t str>, &'w [NameWord<'t>])> {
    let ends = |at: usize| {
        at == 0 || words[at - 1].stop || words.get(at).is_none_or(|word| word.is(AFTER_NAMES))
    };
    let mut at = 0;
    while words
        .get(at)?
        .is("the a an new just simply be called named")
        && !ends(at + 1)
    {
        at += 1;
    }
    let has_article = words[..at].iter().any(|word| word.is("the a an"));
    let word = words
        .get(at)
        .filter(|word| word.is_name() && !is_no_name(word))?;
    let rest = &words[at + 1..];
    let only = Some((vec![word.text], rest));
    // "to make it clearer" says what the rename is for.
    let is_verb = !word.stop && rest.first().is_some_and(|next| next.is(OBJECTS));
    if word.mark == Mark::Plain && is_verb {
        return None;
    }
    if word.mark != Mark::Plain || ends(at + 1) {
        return only;
    }
    let next = rest.first()?;
    let is_adverb = next.text.ends_with("ly") || next.text.ends_with("wide");
    if !word.is(KINDS) {
        // "to total function" says the kind behind the name; "to total price" is no name at all.
        return only.filter(|_| next.is(KINDS) && ends(at + 2) || is_adverb);
    }
    if !next.is_name() {
        return only;
    }
    let behind = &rest[1..];
    // Said of the old name too, it is the kind of the new one; behind an article it is, unless another kind follows.
    let is_kind = next.mark != Mark::Plain
        || word.is("class")
        || has_article && word.is("name")
        || old_kind == Some(word.text)
        || has_article && !next.is(KINDS);
    if is_kind && !is_adverb {
        return Some((vec![next.text], behind));
    }
    Some((vec![word.text, next.text], behind))
}

fn is_no_name(word: &NameWord<'_>) -> bool {
    word.is(NO_NAMES)
}

/// Whether a second rename follows, behind the new name of the first: "rename a to b and c to d".
fn asks_for_another(new: &[NameWord<'_>], behind: &[NameWord<'_>]) -> bool {
    let joins = |word: &NameWord<'_>| word.is_arrow() || word.is("to into");
    let leads = |word: &NameWord<'_>| word.is("in of on at from inside within");
    let is_stopped = |at: usize| match at.checked_sub(1) {
        Some(before) => behind[before].stop,
        None => new[..new.len() - behind.len()]
            .last()
            .is_some_and(|word| word.stop),
    };
    let as_well = |at: usize| {
        let words = behind[at..].iter().take(3).map(|word| word.text);
        words.eq(["as", "well", "as"])
    };
    let is_start =
        |at: &usize| behind[*at].is("and then plus but or") || is_stopped(*at) || as_well(*at);
    (0..behind.len()).filter(is_start).any(|start| {
        let words = &behind[start..];
        let verbs = words
            .iter()
            .take_while(|word| word.is("and then plus but or as well also rename change"));
        let words = &words[verbs.count()..];
        let is_before = |at: &usize| {
            let word = &words[*at];
            let goes_on = |next: &NameWord<'_>| joins(next) || leads(next);
            (word.is(BEFORE_NAMES) || word.is(KINDS)) && !words.get(at + 1).is_some_and(goes_on)
        };
        let old = (0..words.len()).take_while(is_before).count();
        let mut joint = old + 1;
        joint += usize::from(words.get(joint).is_some_and(|word| word.is(KINDS)));
        // "c in shop.py to d".
        while words.get(joint).is_some_and(leads) {
            let is_kind = |at: &usize| {
                let is_last = words.get(at + 1).is_some_and(joins);
                !is_last && (words[*at].is("the") || words[*at].is(KINDS))
            };
            joint += 2 + (joint + 1..words.len()).take_while(is_kind).count();
        }
        let is_old = |word: &NameWord<'_>| word.is_name() && !word.is(LEADING_ON);
        let is_new = |word: &NameWord<'_>| word.is_name() && !word.is(AFTER_NAMES);
        words.get(old).is_some_and(is_old)
            && words.get(joint + 1).is_some_and(is_new)
            && words.get(joint).is_some_and(|word| {
                joins(word) || !is_stopped(start) && word.is("as") && !words[joint + 1].is("well")
            })
    })
}

/// Whether both sides of a rename are lists, as far as that can be told: "rename a, b to c, d".
fn are_lists(old: &OldPhrase<'_, '_>, new: &[NameWord<'_>], behind: &[NameWord<'_>]) -> bool {
    let is_name = |word: &NameWord<'_>| word.is_name() && !word.is(AFTER_NAMES);
    let goes_on = |last: Option<&NameWord<'_>>, rest: &[NameWord<'_>]| match rest {
        [and, next, rest @ ..] if and.is("and") => {
            let ends = rest
                .first()
                .is_none_or(|word| word.is("in of on to and") || word.is(KINDS));
            is_name(next) && (next.stop || ends) || next.is("the")
        }
        [next, ..] => last.is_some_and(|word| word.stop) && is_name(next),
        [] => false,
    };
    let named = &new[..new.len() - behind.len()];
    goes_on(old.names.last(), old.rest) && goes_on(named.last(), behind)
}

/// Reads where the thing is: "in shop/cart.py", "of the class Cart", "in f".
fn read_places(words: &[NameWord<'_>], request: &mut Rename) {
    const HOLDING: &str = "class function method";
    for (at, _) in words
        .iter()
        .enumerate()
        .filter(|(_, word)| word.is("in of on at from inside within"))
    {
        let mut rest = words[at + 1..].iter().peekable();
        let mut says_kind = false;
        while let Some(word) = rest.next_if(|word| word.is("the file module") || word.is(HOLDING)) {
            says_kind |= word.is(HOLDING);
        }
        let Some(word) = rest.next() else { continue };
        if word.is_path() {
            if request.file.is_none() {
                request.file = RelPath::parse(word.text).ok();
            }
        } else if request.class.is_none()
            && word.is_name()
            && !word.is(AFTER_NAMES)
            && !word.is(NO_HOLDERS)
        {
            says_kind |= !word.stop && rest.next().is_some_and(|word| word.is(HOLDING));
            request.class = Some(word.text.to_owned());
            request.class_is_guess = !says_kind && word.mark == Mark::Plain;
        }
    }
}
