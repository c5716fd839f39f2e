//! A whole definition, several, or a whole file: which of them a reply is, and where each goes.

use std::collections::BTreeSet;

use harness_code::edit::{self, EditProblem};
use harness_code::language::Language;
use harness_code::path::RelPath;
use harness_code::symbols::{self, Definition, DefinitionKind};
use harness_code::text::{line_ending, whole_words, with_line_ending};

use super::{Files, Focus};
use crate::history::Refusal;

/// Code that a reply gives whole.
pub(super) struct Whole<'a> {
    pub(super) path: &'a RelPath,
    pub(super) language: Language,
    pub(super) focus: Option<&'a Focus>,
    /// The definition that the reply names; empty where it names none.
    pub(super) name: &'a str,
    pub(super) code: &'a str,
}

/// Says whether code is one definition and nothing else: no file, but a piece of one.
pub(super) fn is_alone(language: Language, code: &str) -> bool {
    let definitions = symbols::definitions(language, code);
    let mut tops = definitions.iter().filter(|one| one.parent.is_none());
    match (tops.next(), tops.next()) {
        (Some(only), None) => {
            code.trim().len() == code.get(only.span()).unwrap_or_default().trim().len()
        }
        _ => false,
    }
}

/// Returns the lines of the definition that was shown which stand above a reply, where the reply is that definition
/// without its first lines.
pub(super) fn with_header(
    language: Language,
    before: &str,
    focus: &Focus,
    code: &str,
) -> Option<String> {
    let old = symbols::definitions(language, before);
    let shown = old.iter().find(|one| *one.qualified == *focus.name)?;
    let is_it = |new: &Definition| new.name() == shown.name();
    if !shown.kind.is_function() || symbols::definitions(language, code).iter().any(is_it) {
        return None;
    }
    let start = before[..shown.span().start]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let whole = before.get(start..shown.span().end)?;
    let mut lines = code.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    let same = |line: &&str| whole.lines().any(|known| known.trim() == line.trim());
    let at = whole.lines().position(|line| line.trim() == first.trim())?;
    let times = whole.lines().filter(|line| line.trim() == first.trim());
    let is_once = times.count() == 1;
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    // A piece out of its middle does not reach to its end.
    let (end, old_end) = (code.trim_end().lines().last()?, whole.lines().last()?);
    let depth = |first: &str, last: &str| indent(last).checked_sub(indent(first));
    let ends = is_once
        && end.trim() == old_end.trim()
        && depth(first, end) == depth(whole.lines().nth(at)?, old_end);
    let (known, all) = (lines.clone().filter(same).count(), lines.count());
    if at == 0 || !ends || known * 2 < all {
        return None;
    }
    let (wanted, has) = (indent(whole.lines().nth(at)?), indent(first));
    let moved = |line: &str| {
        let line = match wanted.checked_sub(has) {
            Some(more) if !line.trim().is_empty() => format!("{}{line}", " ".repeat(more)),
            Some(_) => line.to_owned(),
            None => line[(has - wanted).min(indent(line))..].to_owned(),
        };
        format!("{line}\n")
    };
    let header = whole.split_inclusive('\n').take(at).collect::<String>();
    Some(header + &code.lines().map(moved).collect::<String>())
}

/// Returns a reply without the new method that was asked for, and that method, where it came behind a new class as if it
/// were a member of that one: models indent a method as it will stand.
pub(super) fn without_stray(
    language: Language,
    before: &str,
    focus: &Focus,
    code: &str,
) -> Option<(String, String)> {
    let (class, name) = focus.name.rsplit_once('.')?;
    let old = symbols::definitions(language, before);
    let new = symbols::definitions(language, code);
    let has = |all: &[Definition], name: &str| all.iter().any(|one| *one.qualified == *name);
    let mut called = new
        .iter()
        .filter(|one| one.name() == name && one.kind.is_function());
    let stray = called.next().filter(|_| called.next().is_none())?;
    let (around, _) = stray.qualified.rsplit_once('.')?;
    let is_last = code[stray.span().end..].trim().is_empty();
    let is_new = !has(&old, around) && !has(&new, class) && !has(&old, &focus.name);
    if language != Language::Python || !is_last || !is_new || !has(&old, class) {
        return None;
    }
    let lines: Vec<&str> = code[..stray.span().start].split_inclusive('\n').collect();
    // Its indentation stands before it, and comments right above it belong to it.
    let own = lines.iter().rev().skip(1);
    let own = own.take_while(|line| line.trim_start().starts_with('#'));
    let above = lines.len() - 1 - own.count();
    let start: usize = lines[..above].iter().map(|line| line.len()).sum();
    let rest = format!("{}\n", code[..start].trim_end());
    Some((rest, code[start..].to_owned()))
}

impl Whole<'_> {
    /// Returns what the file would be.
    pub(super) fn placed(&self, before: Option<&str>) -> Result<String, Refusal> {
        if self.code.trim().is_empty() {
            let reason = "the code is empty: write the whole definition";
            return Err(Refusal::new("draft.empty", reason, self.path.as_str()));
        }
        let Some(before) = before else {
            let close = if self.code.ends_with('\n') { "" } else { "\n" };
            return Ok(format!("{}{close}", self.code));
        };
        let old = symbols::definitions(self.language, before);
        let new = symbols::definitions(self.language, self.code);
        // Overloads come with the function that they are of.
        let is_own = |known: &&Definition| {
            let all = edit::overloads(&new, &known.qualified);
            known.parent.is_none() && all.is_none_or(|all| all.end == known.span().end)
        };
        let tops: Vec<&Definition> = new.iter().filter(is_own).collect();
        let keeps_all = old
            .iter()
            .all(|known| new.iter().any(|other| other.qualified == known.qualified));
        // Imports go to the others; a file that is nothing else came back as a whole.
        if tops.is_empty()
            && edit::is_only_imports(self.language, self.code)
            && !edit::is_only_imports(self.language, before)
        {
            return Ok(edit::with_companions(self.language, before, self.code));
        }
        // The whole file came back, or code that is no definition at all: then it stands for the file.
        let is_file =
            keeps_all && (old.len() > 1 && tops.len() > 1 || self.keeps_statements(before, &old));
        if !(self.name.is_empty() && is_file)
            && let Some(placed) = self.with_trait_blocks(before)
        {
            return placed;
        }
        if self.name.is_empty() && (tops.is_empty() || is_file) {
            return self.whole_file(before, &old);
        }
        let mut text = before.to_owned();
        // A name and a piece without its header, or one definition: the name says where.
        if !self.name.is_empty() && tops.len() < 2 {
            let piece = tops.first().map(|one| self.piece(one));
            text = self.replaced(&text, self.name, piece.unwrap_or(self.code))?;
            return Ok(edit::with_companions(self.language, &text, self.code));
        }
        let mut last_class = None;
        for definition in tops {
            let piece = self.piece(definition);
            text = match self.meant(&old, definition) {
                Some(known) if self.is_part(&old, known, &new, definition) => {
                    let members = self.members(before, known, &new, definition)?;
                    members.into_iter().try_fold(text, |text, (name, piece)| {
                        self.replaced(&text, &name, piece)
                    })?
                }
                Some(known) => self.replaced(&text, &known.qualified, piece)?,
                None => {
                    let own = definition.qualified.rsplit_once('.');
                    let class = match own {
                        Some((class, _)) => Some(class),
                        // What stands indented behind a method belongs to its class.
                        None if last_class.is_some()
                            && piece.starts_with([' ', '\t'])
                            && definition.kind == DefinitionKind::Variable =>
                        {
                            last_class
                        }
                        None => self.class_of(before, &old, definition)?,
                    };
                    last_class = class;
                    edit::add_definition(self.language, &text, class, piece)
                        .map_err(|problem| self.unplaced(&problem))?
                }
            };
        }
        Ok(edit::with_companions(self.language, &text, self.code))
    }

    /// Places a reply of Rust that has whole blocks by which types implement traits.
    fn with_trait_blocks(&self, before: &str) -> Option<Result<String, Refusal>> {
        if self.language != Language::Rust {
            return None;
        }
        let (text, rest) = edit::with_trait_blocks(before, self.code)?;
        if rest.trim().is_empty() {
            return Some(Ok(text));
        }
        let rest = Whole {
            code: &rest,
            ..*self
        };
        Some(rest.placed(Some(&text)))
    }

    /// Returns a definition of the reply as its lines stand there: with its indentation, its overloads, the comment that
    /// documents it, and one behind it.
    fn piece(&self, definition: &Definition) -> &str {
        let all = symbols::definitions(self.language, self.code);
        let all = edit::overloads(&all, &definition.qualified);
        let mut span = all.unwrap_or_else(|| definition.span());
        if let Some(start) = edit::documentation(self.language, self.code, definition) {
            span.start = start;
        }
        let start = self.code[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let rest = self.code[span.end..].lines().next().unwrap_or_default();
        let is_comment = rest.trim_start().starts_with(['#', '/']);
        let end = if is_comment { rest.len() } else { 0 };
        let start = match self.code[start..span.start].trim().is_empty() {
            true => start,
            false => span.start,
        };
        &self.code[start..span.end + end]
    }

    /// Says whether the code has every line of the file that lies outside of definitions, and there are some.
    fn keeps_statements(&self, before: &str, old: &[Definition]) -> bool {
        let mut at = 0;
        let mut lines = before.split_inclusive('\n').filter_map(|line| {
            let start = at;
            at += line.len();
            let is_inside = old.iter().any(|one| one.span().contains(&start));
            let counts = !line.trim().is_empty() && !is_inside;
            counts.then(|| line.trim())
        });
        let is_kept = |line: &str| self.code.lines().any(|known| known.trim() == line);
        let mut lines = lines.by_ref().peekable();
        lines.peek().is_some() && lines.all(is_kept)
    }

    /// Code without a definition, or with all of them, stands for the file, unless it is plainly a piece of it.
    fn whole_file(&self, before: &str, old: &[Definition]) -> Result<String, Refusal> {
        let same = |line: &&str| before.lines().any(|known| known.trim() == line.trim());
        let lines: Vec<&str> = self
            .code
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let familiar = lines.iter().filter(|line| same(line)).count();
        let is_piece = !old.is_empty() && symbols::definitions(self.language, self.code).is_empty();
        if is_piece {
            let name = self.focus.map(|focus| focus.name.as_str());
            let name = name.filter(|name| !name.is_empty());
            let name = name.map_or_else(|| "the file".to_owned(), |name| format!("`{name}`"));
            let what = if familiar > 0 {
                "only a part of it"
            } else {
                "no definition"
            };
            let reason = format!(
                "the code holds {what}: write the whole of {name}, from its first line to its last"
            );
            return Err(Refusal::new("draft.fragment", reason, self.path.as_str()));
        }
        Ok(with_line_ending(self.code, line_ending(before)).into_owned())
    }

    /// Replaces a definition by name, or adds it where its name says.
    fn replaced(&self, text: &str, name: &str, piece: &str) -> Result<String, Refusal> {
        let replaced = edit::replace_definition(self.language, text, name, piece);
        match replaced {
            Err(EditProblem::NoSuchDefinition(_)) => {
                let parent = name.rsplit_once('.').map(|(parent, _)| parent);
                edit::add_definition(self.language, text, parent, piece)
                    .map_err(|problem| self.unplaced(&problem))
            }
            other => other.map_err(|problem| self.unplaced(&problem)),
        }
    }

    /// Returns the class that a new definition goes to: the one before the dot of what was asked for, and for a method
    /// the one that was shown, or the only one.
    fn class_of<'d>(
        &'d self,
        text: &str,
        old: &'d [Definition],
        new: &Definition,
    ) -> Result<Option<&'d str>, Refusal> {
        let focus = self.focus.filter(|focus| focus.path == *self.path);
        let shown = focus.and_then(|focus| focus.name.rsplit_once('.'));
        let shown = shown.filter(|(class, _)| old.iter().any(|known| *known.qualified == **class));
        let signature = new.signature.replace(' ', "");
        let takes_self = match self.language {
            Language::Python => ["(self)", "(self,", "(cls)", "(cls,"]
                .iter()
                .any(|first| signature.contains(first)),
            Language::Rust => takes_self(&new.signature),
            _ => false,
        };
        let is_method = new.kind.is_function() && takes_self;
        match shown {
            Some((class, member)) if is_method || member == new.name() => return Ok(Some(class)),
            _ if !is_method => return Ok(None),
            _ => {}
        }
        let is_class =
            |known: &&Definition| known.kind == DefinitionKind::Class && known.parent.is_none();
        let classes: Vec<&str> = old
            .iter()
            .filter(is_class)
            .map(|one| &*one.qualified)
            .collect();
        let asked = focus.map(|focus| focus.name.as_str());
        let asked = asked.and_then(|name| classes.iter().find(|class| **class == name));
        // In Rust one reply may bring methods of several types.
        let kin = || self.kin(text, old, new);
        match (asked, classes.as_slice()) {
            (Some(_), _)
                if self.language == Language::Rust
                    && let Some(class) = kin() =>
            {
                Ok(Some(class))
            }
            (Some(class), _) => Ok(Some(class)),
            (None, []) => Ok(None),
            (None, [only]) => Ok(Some(only)),
            (None, _) if let Some(class) = kin() => Ok(Some(class)),
            (None, _) => {
                let name = new.name();
                let reason = format!(
                    "`{name}` is a method, and of which class is not said: write it with the first line of its class above it"
                );
                Err(Refusal::new("draft.method", reason, self.path.as_str()))
            }
        }
    }

    /// Returns the one class that has what a method takes from `self`, where no other has as much of it.
    fn kin<'d>(&self, text: &str, old: &'d [Definition], new: &Definition) -> Option<&'d str> {
        let own = |code: &str| -> BTreeSet<String> {
            let behind = code.match_indices("self.").map(|(at, _)| &code[at + 5..]);
            let is_sign = |sign: char| !(sign.is_alphanumeric() || sign == '_');
            let names = behind.filter_map(|rest| rest.split(is_sign).next());
            names.map(str::to_owned).collect()
        };
        let wanted = own(self.piece(new));
        let is_class =
            |known: &&Definition| known.kind == DefinitionKind::Class && known.parent.is_none();
        let has = |class: &Definition| {
            let is_member = |one: &&Definition| {
                let parent = one.qualified.rsplit_once('.').map(|(parent, _)| parent);
                parent == Some(&*class.qualified)
            };
            let members = old.iter().filter(is_member);
            let mut names = BTreeSet::new();
            for one in members.chain([class]) {
                let code = text.get(one.span()).unwrap_or_default();
                names.insert(one.name().to_owned());
                names.extend(own(code));
                if self.language == Language::Rust {
                    let fields = code.lines().filter_map(|line| line.split_once(':'));
                    let names_of = fields.filter_map(|(field, _)| field.split_whitespace().last());
                    names.extend(names_of.map(str::to_owned));
                }
            }
            names.intersection(&wanted).count()
        };
        let mut classes: Vec<(usize, &Definition)> = old
            .iter()
            .filter(is_class)
            .map(|class| (has(class), class))
            .collect();
        classes.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        match classes.as_slice() {
            [(most, class), (next, _), ..] if most > next => Some(&class.qualified),
            _ => None,
        }
    }

    /// Returns which definition of the file is meant by one of the reply: the one that was shown, else the only one. A
    /// function and a method of one name are two things.
    fn meant<'d>(&self, old: &'d [Definition], new: &Definition) -> Option<&'d Definition> {
        let name = new.name();
        // In Go a method says whose it is, and a function that it is none.
        let says_all = self.language == Language::Go || new.qualified.contains('.');
        let may_be = |known: &&Definition| match says_all {
            true => known.qualified == new.qualified,
            false => known.name() == name,
        };
        let asked = self.focus.filter(|focus| {
            focus.path == *self.path && focus.name.rsplit('.').next() == Some(name)
        });
        if let Some(focus) = asked {
            let mut known = old.iter().filter(may_be);
            let shown = known.find(|known| *known.qualified == focus.name);
            // What was asked for and is not there is new, whatever else is called like it.
            if shown.is_some() || !says_all {
                return shown;
            }
        }
        let known: Vec<&Definition> = old.iter().filter(may_be).collect();
        let top = known
            .iter()
            .find(|known| says_all || !known.qualified.contains('.'));
        match (top, known.as_slice()) {
            (Some(top), _) => Some(top),
            (None, [one]) if new.kind.is_function() => Some(one),
            (None, _) => None,
        }
    }

    /// Returns whether the reply gives a class with some of its members left out.
    fn is_part(
        &self,
        old: &[Definition],
        known: &Definition,
        new: &[Definition],
        given: &Definition,
    ) -> bool {
        let both_classes =
            known.kind == DefinitionKind::Class && given.kind == DefinitionKind::Class;
        let members = |all: &[Definition], of: &Definition| -> Vec<String> {
            let at = all.iter().position(|one| std::ptr::eq(one, of));
            all.iter()
                .filter(|one| one.parent.map(|parent| parent as usize) == at)
                .map(|one| one.name().to_owned())
                .collect()
        };
        let (had, has) = (members(old, known), members(new, given));
        both_classes && !has.is_empty() && had.iter().any(|name| !has.contains(name))
    }

    /// Returns the members of a class given in part, each with its name in the class as it stands.
    fn members(
        &self,
        before: &str,
        known: &Definition,
        new: &[Definition],
        given: &Definition,
    ) -> Result<Vec<(String, &str)>, Refusal> {
        let at = new.iter().position(|one| std::ptr::eq(one, given));
        let class_text = before.get(known.span()).unwrap_or_default();
        let is_there = |words: &str| class_text.lines().any(|known| known.trim() == words.trim());
        // One that the given part uses has to stand where it is given.
        let whole = self.code.get(given.span()).unwrap_or_default();
        let is_new_attribute = |one: &Definition| {
            !is_there(self.piece(one)) && whole_words(whole, one.name()).count() == 1
        };
        let members: Vec<&Definition> = new
            .iter()
            .filter(|one| one.parent.map(|parent| parent as usize) == at)
            .filter(|one| one.kind != DefinitionKind::Variable || is_new_attribute(one))
            .collect();
        // What stands in the class beside its members must be there already: nothing is dropped in silence.
        let inside = |line_start: usize| {
            members.iter().any(|member| {
                let start = self.code[..member.span().start]
                    .rfind('\n')
                    .map_or(0, |newline| newline + 1);
                (start..member.span().end).contains(&line_start)
            })
        };
        let mut line_start = given.span().start;
        let given_text = self.code.get(given.span()).unwrap_or_default();
        for line in given_text.split_inclusive('\n') {
            let words = line.trim();
            let counts = !words.is_empty() && !words.starts_with('#') && words != "...";
            if counts && !inside(line_start) && !is_there(words) {
                let reason = format!(
                    "`{}` is given in part and `{words}` is new in it: write the whole class, or only one method",
                    known.qualified
                );
                return Err(Refusal::new(
                    "draft.partial_class",
                    reason,
                    self.path.as_str(),
                ));
            }
            line_start += line.len();
        }
        let named = |member: &Definition| {
            let name = format!("{}.{}", known.qualified, member.name());
            (name, self.piece(member))
        };
        Ok(members.into_iter().map(named).collect())
    }

    fn unplaced(&self, problem: &EditProblem) -> Refusal {
        let path = self.path;
        let reason = format!("{problem} in `{path}`: name the definition as it is written there");
        Refusal::new("draft.misplaced", reason, path.as_str())
    }
}

/// Returns the file that code belongs to when none of its definitions stands in the one that was shown.
pub(super) fn strangers_home(
    files: &dyn Files,
    focus: Option<&Focus>,
    path: &RelPath,
    shown: &str,
    code: &str,
) -> Option<RelPath> {
    let language = Language::of(path);
    let old = symbols::definitions(language, shown);
    let new = symbols::definitions(language, code);
    let tops: Vec<&Definition> = new.iter().filter(|known| known.parent.is_none()).collect();
    let [only] = tops.as_slice() else {
        return None;
    };
    // What was asked for in this file is new in it, whoever else has the name.
    let asked = focus.and_then(|focus| focus.name.rsplit('.').next());
    let is_asked = asked == Some(only.name());
    if is_asked || old.iter().any(|known| known.name() == only.name()) {
        return None;
    }
    files.home_of(only.name()).filter(|home| home != path)
}

/// Says whether the first parameter of a function of Rust is `self`.
fn takes_self(signature: &str) -> bool {
    let first = signature.split_once('(').map_or("", |(_, rest)| rest);
    let first = first.split([',', ')', ':']).next().unwrap_or_default();
    first.rsplit([' ', '&', '\'']).next() == Some("self")
}
