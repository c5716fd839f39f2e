//! A rename asked for by name: every reference that Python would resolve to it, or nothing and the reason.

mod by_name;
mod collision;
mod doubt;
mod family;
mod found_by_name;
mod member;
mod module;
mod parameter;
mod plain_file;
mod stub;
mod target;
mod text_files;
mod variable;
mod walk;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::FxHashMap;

use super::program::{File, Program, Sources};
use super::resolved::FileId;
use super::{Answer, Place, Proposal, Surroundings};
use crate::edit::Edit;
use crate::path::RelPath;
use crate::request::rename::{Doubts, Rename};
use crate::scope::known;
use crate::tree::SourceTree;
use target::Target;

/// Why a rename is not made.
#[derive(Debug)]
pub(super) enum Stop {
    /// It would break something, or cannot be done whole.
    Refuse(String, Vec<Place>),
    /// Several things bear the name.
    Ask(String, Vec<String>),
    /// Nothing bears the name.
    Nothing,
}

impl Stop {
    pub(super) fn because(reason: impl Into<String>) -> Stop {
        Stop::Refuse(reason.into(), Vec::new())
    }
}

pub(super) type Step<T> = Result<T, Stop>;

/// One rename under way.
pub(super) struct Renaming<'r, 's> {
    pub(super) program: &'r Program<'s>,
    pub(super) request: &'r Rename,
    surroundings: &'r Surroundings,
    /// The last part of the old name.
    pub(super) old: &'r str,
    pub(super) new: &'r str,
    /// The files whose text holds the old name; no other can refer to it.
    pub(super) holding: Vec<FileId>,
    /// The files with star imports: they give names on without holding them.
    pub(super) starring: Vec<FileId>,
    pub(super) edits: FxHashMap<FileId, BTreeSet<(usize, usize)>>,
    pub(super) moves: Vec<(RelPath, RelPath)>,
    /// What may reach the name and cannot be seen.
    doubts: Vec<doubt::Doubt>,
}

/// Does the renames that a sentence asks for, each with its readings, all of them or none.
pub fn rename_all(
    tree: &SourceTree,
    renames: &[Vec<Rename>],
    surroundings: &Surroundings,
) -> Answer {
    let mut whole: Option<Proposal> = None;
    for readings in renames {
        let next = match rename_read(tree, readings, surroundings) {
            Answer::Certain(next) => next,
            answer => return answer,
        };
        let Some(before) = &mut whole else {
            whole = Some(next);
            continue;
        };
        let meets = |one: &Edit, other: &Edit| {
            one.path == other.path
                && one.range.start <= other.range.end
                && other.range.start <= one.range.end
        };
        let is_taken = |name: &String| before.names.contains(name);
        let meet = before
            .edits
            .iter()
            .any(|one| next.edits.iter().any(|other| meets(one, other)));
        if meet
            || next.names.iter().any(is_taken)
            || !before.moves.is_empty() && !next.moves.is_empty()
        {
            let reason = "these renames get into each other's way: ask for one after the other";
            return Answer::Refuse {
                reason: reason.to_owned(),
                places: Vec::new(),
            };
        }
        before.edits.extend(next.edits);
        before.moves.extend(next.moves);
        before.names.extend(next.names);
        before.summary = format!("{}; {}", before.summary, next.summary);
    }
    whole.map_or(Answer::Nothing, Answer::Certain)
}

/// Renames what a sentence asks for, of which these are the readings; several that fit are a question.
fn rename_read(tree: &SourceTree, readings: &[Rename], surroundings: &Surroundings) -> Answer {
    let fitting: Vec<(&Rename, Answer)> = readings
        .iter()
        .map(|request| (request, rename(tree, request, surroundings)))
        .filter(|(_, answer)| *answer != Answer::Nothing)
        .collect();
    match fitting.as_slice() {
        [] => Answer::Nothing,
        [(_, answer)] => answer.clone(),
        several => Answer::Ask {
            text: "the sentence can be read in more than one way; which rename is meant?"
                .to_string(),
            options: several
                .iter()
                .take(4)
                .map(|(request, _)| format!("rename `{}` to `{}`", request.old, request.new))
                .collect(),
        },
    }
}

/// Renames what the request names, everywhere.
pub fn rename(tree: &SourceTree, request: &Rename, surroundings: &Surroundings) -> Answer {
    let Some(request) = &named(tree, request) else {
        return Answer::Nothing;
    };
    if let Some(answer) = plain_file::rename(tree, request) {
        return answer;
    }
    let sources = Sources::of(tree);
    let program = Program::of(&sources, &surroundings.installed);
    let spelled = request.old.trim_end_matches(".py").trim_end_matches('/');
    let old = spelled.rsplit(['.', '/']).next().unwrap_or(spelled);
    let new = request.new.trim_end_matches(".py");
    let new = new.rsplit(['.', '/']).next().unwrap_or(new);
    let mut renaming = Renaming {
        program: &program,
        request,
        surroundings,
        old,
        new,
        holding: sources.holding(old),
        starring: sources.holding("import *"),
        edits: FxHashMap::default(),
        moves: Vec::new(),
        doubts: Vec::new(),
    };
    match renaming.run() {
        Ok(answer) => answer,
        Err(Stop::Refuse(reason, places)) => Answer::Refuse { reason, places },
        Err(Stop::Ask(text, options)) => Answer::Ask { text, options },
        Err(Stop::Nothing) if request.class_is_guess => rename(
            tree,
            &Rename {
                class: None,
                class_is_guess: false,
                ..request.clone()
            },
            surroundings,
        ),
        Err(Stop::Nothing) => Answer::Nothing,
    }
}

/// The request with its file as the project has it, and with its name, which a place alone tells too.
fn named(tree: &SourceTree, request: &Rename) -> Option<Rename> {
    let mut request = request.clone();
    if let Some(file) = &request.file
        && tree.file(file).is_none()
        && let Some(meant) = tree.ending_with(file.as_str())
    {
        request.file = Some(meant.clone());
    }
    if request.old.is_empty() {
        let text = tree.text(request.file.as_ref()?).ok()?;
        request.old = name_at(text.content(), request.line?, request.column)?;
    }
    Some(request)
}

/// The name that stands at a place: at the column, else the one that the line defines.
fn name_at(content: &str, line: u32, column: Option<u32>) -> Option<String> {
    let number = usize::try_from(line).ok()?.checked_sub(1)?;
    let text = content.lines().nth(number)?;
    let Some(column) = column else {
        let defined = DEFINED.as_ref()?.captures(text)?;
        return Some(
            defined
                .get(1)
                .or_else(|| defined.get(2))?
                .as_str()
                .to_string(),
        );
    };
    let letters: Vec<char> = text.chars().collect();
    let at = usize::try_from(column).ok()?.saturating_sub(1);
    let is_part = |letter: &char| *letter == '_' || letter.is_alphanumeric();
    if !letters.get(at).is_some_and(is_part) {
        return None;
    }
    let start = letters[..at]
        .iter()
        .rposition(|letter| !is_part(letter))
        .map_or(0, |before| before + 1);
    Some(
        letters[start..]
            .iter()
            .copied()
            .take_while(is_part)
            .collect(),
    )
}

static DEFINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:(?:async\s+)?(?:def|class)\s+(\w+)|(\w+)\s*(?::[^=]+)?=(?:[^=]|$))").ok()
});

impl<'s> Renaming<'_, 's> {
    fn run(&mut self) -> Step<Answer> {
        self.check_names()?;
        let target = self.find_target()?;
        let what = self.describe(&target);
        match target {
            Target::Variable(file, symbol) => self.rename_variable(file, symbol)?,
            Target::Member(class) => self.rename_member(class)?,
            Target::Module(module) => self.rename_module(&module)?,
        }
        if self.request.in_comments {
            self.rename_in_comments();
        }
        self.check_scope()?;
        if !self.doubts.is_empty() && self.request.doubts == Doubts::Ask {
            let edits: usize = self.edits.values().map(BTreeSet::len).sum();
            return Ok(self.ask(edits + self.moves.len()));
        }
        Ok(self.proposal(&what))
    }

    fn check_names(&self) -> Step<()> {
        let (old, new) = (self.old, self.new);
        if known::is_keyword(new) {
            return Err(Stop::because(format!("`{new}` is a keyword of Python")));
        }
        if !known::is_identifier(new) {
            return Err(Stop::because(format!(
                "`{new}` is not a name that Python allows"
            )));
        }
        if !known::is_identifier(old) {
            return Err(Stop::Nothing);
        }
        if old == new {
            return Err(Stop::because(format!("`{old}` has that name already")));
        }
        let special = |name: &str| name.starts_with("__") && name.ends_with("__") && name.len() > 4;
        if special(old) || special(new) {
            return Err(Stop::because(
                "names with two underscores on both sides belong to Python itself",
            ));
        }
        Ok(())
    }

    /// A file that holds the old name, when it can be parsed.
    pub(super) fn files(&self) -> Vec<std::rc::Rc<File<'s>>> {
        self.holding
            .iter()
            .filter_map(|id| self.program.file(*id))
            .collect()
    }

    /// The files that can import the old name from another: those that hold it, and those with star imports.
    pub(super) fn importers(&self) -> Vec<std::rc::Rc<File<'s>>> {
        let more = self.starring.iter().filter(|id| !self.holding.contains(id));
        let all = self.holding.iter().chain(more);
        all.filter_map(|id| self.program.file(*id)).collect()
    }

    /// Notes that the bytes of `span` become the new name.
    pub(super) fn edit(&mut self, file: &File<'s>, span: impl Into<Range<usize>>) -> Step<()> {
        let span: Range<usize> = span.into();
        if file.text(span.clone()) != self.old {
            let reason = format!(
                "`{}` stands in a string that is put together from pieces",
                self.old
            );
            return self.refused_at(reason, file, span);
        }
        if self.program.path(file.id).is_none() {
            return Err(Stop::because(format!(
                "`{}` is defined outside the project",
                self.old
            )));
        }
        self.edits
            .entry(file.id)
            .or_default()
            .insert((span.start, span.end));
        Ok(())
    }

    /// Notes that the name inside a string literal becomes the new name.
    pub(super) fn edit_string(
        &mut self,
        file: &File<'s>,
        literal: impl Into<Range<usize>>,
    ) -> Step<()> {
        let literal: Range<usize> = literal.into();
        match file.text(literal.clone()).find(self.old) {
            Some(at) => self.edit(
                file,
                literal.start + at..literal.start + at + self.old.len(),
            ),
            None => self.edit(file, literal),
        }
    }

    /// Whether a rename inside this span is noted already: of an annotation in a string, of a slot, of `__all__`.
    pub(super) fn is_edited(&self, file: FileId, span: &Range<usize>) -> bool {
        self.edits.get(&file).is_some_and(|edits| {
            edits
                .iter()
                .any(|(start, end)| span.start <= *start && *end <= span.end)
        })
    }

    /// Refuses for what stands at a place.
    pub(super) fn refused_at(
        &self,
        reason: String,
        file: &File<'s>,
        span: impl Into<Range<usize>>,
    ) -> Step<()> {
        Err(Stop::Refuse(reason, self.places(file, [span.into()])))
    }

    pub(super) fn places(
        &self,
        file: &File<'s>,
        spans: impl IntoIterator<Item = Range<usize>>,
    ) -> Vec<Place> {
        let place = |span: Range<usize>| self.program.place(file.id, span.start);
        spans.into_iter().filter_map(place).collect()
    }

    fn check_scope(&self) -> Step<()> {
        let Some(scope) = &self.surroundings.scope else {
            return Ok(());
        };
        let top_of = |path: &RelPath| Place {
            path: path.clone(),
            line: 1,
            text: String::new(),
        };
        let edits = self.all_edits();
        let outside = edits.iter().filter(|edit| !edit.path.starts_with(scope));
        let mut places: Vec<Place> = outside
            .map(|edit| {
                let file = self.program.id(&edit.path);
                let place = file.and_then(|file| self.program.place(file, edit.range.start));
                place.unwrap_or_else(|| top_of(&edit.path))
            })
            .collect();
        for (from, to) in &self.moves {
            if !from.starts_with(scope) || !to.starts_with(scope) {
                places.push(top_of(from));
            }
        }
        if places.is_empty() {
            return Ok(());
        }
        Err(Stop::Refuse(
            format!("`{}` is used outside the scope `{scope}`", self.old),
            places,
        ))
    }

    /// Everything that gets the new name, in order.
    fn all_edits(&self) -> Vec<Edit> {
        let noted = self.edits.iter().filter_map(|(id, spans)| {
            let path = self.program.path(*id)?;
            Some(
                spans
                    .iter()
                    .map(move |(start, end)| (path.clone(), *start..*end)),
            )
        });
        let mut edits: Vec<Edit> = noted
            .flatten()
            .chain(self.wanted_too())
            .map(|(path, range)| Edit {
                path,
                range,
                text: self.new.to_string(),
            })
            .collect();
        edits.sort_by(|one, other| {
            (&one.path, one.range.start).cmp(&(&other.path, other.range.start))
        });
        edits.dedup();
        edits
    }

    fn proposal(&self, what: &str) -> Answer {
        let edits = self.all_edits();
        let mut paths: Vec<&RelPath> = edits.iter().map(|edit| &edit.path).collect();
        paths.dedup();
        let files = paths.len();
        let count = edits.len();
        let plural = |count: usize, one: &str| {
            if count == 1 {
                format!("1 {one}")
            } else {
                format!("{count} {one}s")
            }
        };
        let mut summary = format!(
            "renamed {what} to `{}`: {} in {}",
            self.new,
            plural(count, "place"),
            plural(files, "file")
        );
        if !self.moves.is_empty() {
            summary.push_str(&format!(", {} moved", plural(self.moves.len(), "file")));
        }
        if self.request.in_comments {
            summary.push_str(", comments and docstrings of those files included");
        }
        let left: usize = self.doubts.iter().map(|doubt| doubt.places.len()).sum();
        if left > 0 && self.request.doubts == Doubts::Leave {
            summary.push_str(&format!(
                ", {} left that may mean it too",
                plural(left, "place")
            ));
        }
        let names = vec![self.new.to_string()];
        Answer::Certain(Proposal {
            kind: "rename",
            edits,
            moves: self.moves.clone(),
            summary,
            names,
        })
    }
}

#[cfg(test)]
mod doubt_tests;
#[cfg(test)]
mod more_tests;
#[cfg(test)]
mod tests;
