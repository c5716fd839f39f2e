//! What an action would make of files: computed from text alone, all of it or a refusal. Nothing is written here.

mod definition;

use std::borrow::Cow;

use harness_code::edit::{self, ChangeSet, FileChange};
use harness_code::language::Language;
use harness_code::passage::{self, PassageProblem};
use harness_code::path::RelPath;
use harness_code::symbols;
use harness_code::text::{line_ending, with_line_ending};

use crate::action::{Action, Hunk};
use crate::history::Refusal;

/// Where the prompt looked: what a reply means that names no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Focus {
    /// The file.
    pub path: RelPath,
    /// The definition; empty means the whole file.
    pub name: String,
}

/// What an action is worked out from.
pub trait Files {
    /// Returns a file's place in the project and its content; no content means that there is no such file.
    fn open(&self, path: &str) -> Result<(RelPath, Option<String>), Refusal>;

    /// Returns the one file whose path ends like this one, for a path that is not there as it is written.
    fn ending_with(&self, path: &str) -> Option<RelPath>;

    /// Returns the one other file that defines a name at its top, if there is exactly one.
    fn home_of(&self, name: &str) -> Option<RelPath>;
}

/// Works out what an action would change: every file of it, or why none.
pub fn drafted(
    files: &dyn Files,
    focus: Option<&Focus>,
    action: &Action,
) -> Result<ChangeSet, Refusal> {
    let mut drafts: Vec<FileChange> = Vec::new();
    draft(files, focus, action, &mut drafts)?;
    drafts.retain(|draft| draft.before != draft.after);
    if drafts.is_empty() {
        let path = focus.map_or(action.path(), |focus| focus.path.as_str());
        let reason = format!("that is how `{path}` already is: write the changed definition");
        return Err(Refusal::new("draft.no_change", reason, path));
    }
    for draft in &drafts {
        let parses = |content: &str| symbols::parses(draft.language(), content);
        let breaks = draft.after.as_deref().is_some_and(|after| !parses(after))
            && draft.before.as_deref().is_none_or(parses);
        if breaks {
            return Err(misplaced(&draft.path, &PassageProblem::Broken));
        }
    }
    Ok(drafts.into())
}

fn draft(
    files: &dyn Files,
    focus: Option<&Focus>,
    action: &Action,
    drafts: &mut Vec<FileChange>,
) -> Result<(), Refusal> {
    match action {
        Action::Several { parts } => {
            for part in parts {
                draft(files, focus, part, drafts)?;
            }
        }
        Action::Patch { hunks, .. } => {
            let finds_something = hunks.iter().any(|hunk| !hunk.old.trim().is_empty());
            let at = if finds_something {
                opened_known(files, focus, action.path(), drafts)?
            } else {
                opened(files, focus, action.path(), drafts)?
            };
            let path = drafts[at].path.clone();
            let after = patched(&path, drafts[at].after.as_deref(), hunks, focus)?;
            drafts[at].after = Some(after);
        }
        Action::Edit { name, content, .. } => {
            let mut at = if name.is_empty() {
                opened(files, focus, action.path(), drafts)?
            } else {
                opened_known(files, focus, action.path(), drafts)?
            };
            // Code for another place goes there, when the reply named none and only one place has that name.
            if action.path().is_empty()
                && let Some(text) = drafts[at].after.as_deref()
                && let Some(other) =
                    definition::strangers_home(files, focus, &drafts[at].path, text, content)
            {
                at = opened(files, None, other.as_str(), drafts)?;
            }
            let focus = focus.filter(|focus| focus.path == drafts[at].path);
            let after = with_whole(&drafts[at], focus, name, content)?;
            drafts[at].after = Some(after);
        }
        Action::Remove { path } => {
            let at = opened_known(files, focus, path, drafts)?;
            if drafts[at].after.take().is_none() {
                return Err(no_such_file(&drafts[at].path));
            }
        }
        Action::Move { path, to, hunks } => {
            let from = opened_known(files, focus, path, drafts)?;
            let path = drafts[from].path.clone();
            if drafts[from].after.is_none() {
                return Err(no_such_file(&path));
            }
            let after = patched(&path, drafts[from].after.as_deref(), hunks, focus)?;
            drafts[from].after = None;
            let target = opened(files, None, to, drafts)?;
            drafts[target].after = Some(after);
        }
        Action::Read { .. }
        | Action::Search { .. }
        | Action::Map { .. }
        | Action::Run { .. }
        | Action::Ask { .. }
        | Action::Done { .. } => {}
    }
    Ok(())
}

/// Returns what a file would be with code that a reply gives whole.
fn with_whole(
    draft: &FileChange,
    focus: Option<&Focus>,
    name: &str,
    content: &str,
) -> Result<String, Refusal> {
    let language = draft.language();
    let opened = with_opening(language, content);
    let whole = match (focus, draft.after.as_deref()) {
        (Some(focus), Some(before)) if name.is_empty() => {
            definition::with_header(language, before, focus, &opened)
        }
        _ => None,
    };
    let code = whole.as_deref().unwrap_or(&opened);
    if let (Some(focus), Some(before)) = (focus, draft.after.as_deref())
        && let Some((rest, member)) = definition::without_stray(language, before, focus, code)
    {
        // What else came is placed first, then what was asked for.
        let after = with_whole(draft, None, "", &rest)?;
        let class = focus.name.rsplit_once('.').map(|(class, _)| class);
        if let Ok(after) = edit::add_definition(language, &after, class, &member) {
            return Ok(after);
        }
    }
    let edit = definition::Whole {
        path: &draft.path,
        language,
        focus,
        name,
        code,
    };
    let after = edit.placed(draft.after.as_deref())?;
    let is_unchanged = draft.after.as_ref() == Some(&after);
    let is_file = name.is_empty() && !definition::is_alone(language, code);
    if is_unchanged && is_file && is_shortened(&after, code) {
        // The whole file with something taken out of it.
        return Ok(with_line_ending(code, line_ending(&after)).into_owned());
    }
    Ok(after)
}

/// Returns code with what makes it code: PHP outside of its tag is text.
fn with_opening(language: Language, code: &str) -> Cow<'_, str> {
    match language == Language::Php && !code.contains("<?") {
        true => format!("<?php\n\n{code}").into(),
        false => code.into(),
    }
}

/// Says whether a text is another one without some of its lines: most of it, so that a lone definition is none.
fn is_shortened(text: &str, shorter: &str) -> bool {
    let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    let (all, kept) = (lines(text), lines(shorter));
    let mut rest = text.lines();
    let mut found = shorter.lines().filter(|line| !line.trim().is_empty());
    kept < all && 2 * kept >= all && found.all(|line| rest.any(|other| other == line))
}

/// Returns which draft is of this file; opens it when it is the first.
fn opened(
    files: &dyn Files,
    focus: Option<&Focus>,
    path: &str,
    drafts: &mut Vec<FileChange>,
) -> Result<usize, Refusal> {
    let named = match (path, focus) {
        ("", Some(focus)) => focus.path.as_str(),
        ("", None) => {
            return Err(Refusal::new(
                "draft.no_path",
                "no file is named: write its path on the line above the code",
                "",
            ));
        }
        (path, _) => path,
    };
    let (path, before) = files.open(named)?;
    if let Some(at) = drafts.iter().position(|draft| draft.path == path) {
        return Ok(at);
    }
    drafts.push(FileChange {
        path,
        after: before.clone(),
        before,
    });
    Ok(drafts.len() - 1)
}

/// Returns which draft is of a file that must be there: the one with this path, else the only one that ends like it.
fn opened_known(
    files: &dyn Files,
    focus: Option<&Focus>,
    path: &str,
    drafts: &mut Vec<FileChange>,
) -> Result<usize, Refusal> {
    let is_there = |at: usize, drafts: &[FileChange]| {
        drafts[at].before.is_some() || drafts[at].after.is_some()
    };
    let at = opened(files, focus, path, drafts);
    if at.as_ref().is_ok_and(|at| is_there(*at, drafts)) {
        return at;
    }
    let Some(meant) = files.ending_with(path) else {
        return at;
    };
    // The path as it was written is none of the project's.
    drafts.retain(|draft| draft.before.is_some() || draft.after.is_some());
    opened(files, None, meant.as_str(), drafts)
}

fn no_such_file(path: &RelPath) -> Refusal {
    let reason = format!("there is no file `{path}`: write the path as the project has it");
    Refusal::new("draft.no_such_file", reason, path.as_str())
}

fn patched(
    path: &RelPath,
    before: Option<&str>,
    hunks: &[Hunk],
    focus: Option<&Focus>,
) -> Result<String, Refusal> {
    let language = Language::of(path);
    let finds_something = hunks.iter().any(|hunk| !hunk.old.trim().is_empty());
    let Some(before) = before else {
        // A diff may bring a new file; a passage to replace needs the file it stands in.
        if finds_something {
            return Err(no_such_file(path));
        }
        let lines: String = hunks.iter().map(|hunk| hunk.new.as_str()).collect();
        return Ok(lines);
    };
    let mut text = before.to_owned();
    for hunk in hunks {
        if hunk.old.trim().is_empty() {
            text = added(language, &text, hunk);
            continue;
        }
        let focus = focus.filter(|focus| &focus.path == path);
        let done = match placed(language, &text, hunk, focus) {
            // What one passage opens, the next may close.
            Err(PassageProblem::Broken) if hunks.len() > 1 => {
                passage::replace(&text, &hunk.old, &hunk.new)
            }
            done => done,
        };
        text = match done {
            // Of several passages some may have been replaced before.
            Err(PassageProblem::Absent { .. }) if hunks.len() > 1 && is_done(&text, hunk) => text,
            done => done.map_err(|problem| misplaced(path, &problem))?,
        };
    }
    if symbols::parses(language, before) && !symbols::parses(language, &text) {
        return Err(misplaced(path, &PassageProblem::Broken));
    }
    Ok(text)
}

/// Says whether a text has what a passage should become: whole lines that tell enough and stand there once.
fn is_done(text: &str, hunk: &Hunk) -> bool {
    /// Fewer letters stand in many places by chance.
    const LEAST: usize = 12;
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        lines.skip_while(String::is_empty).collect()
    };
    let (all, mut wanted) = (lines(text), lines(&hunk.new));
    while wanted.last().is_some_and(String::is_empty) {
        wanted.pop();
    }
    let size: usize = wanted.iter().map(|line| line.trim().len()).sum();
    let places = all.windows(wanted.len().max(1));
    size >= LEAST && places.filter(|place| *place == wanted.as_slice()).count() == 1
}

/// Places one passage: in the whole file, else in the definition that the reply or the prompt speaks of.
fn placed(
    language: Language,
    text: &str,
    hunk: &Hunk,
    focus: Option<&Focus>,
) -> Result<String, PassageProblem> {
    let problem = match passage::replace_in(language, text, &hunk.old, &hunk.new) {
        Err(problem @ PassageProblem::Several(_)) => problem,
        other => return other,
    };
    let definitions = symbols::definitions(language, text);
    let headed = definitions.iter().filter(|known| {
        let header = text.get(known.header_start()..).unwrap_or_default();
        !hunk.under.is_empty() && header.starts_with(hunk.under.trim())
    });
    let focused = definitions
        .iter()
        .filter(|known| focus.is_some_and(|focus| *known.qualified == focus.name));
    let around: Vec<_> = headed.chain(focused).collect();
    let Some(around) = around.first() else {
        return Err(problem);
    };
    // Whole lines, so that the first one keeps its indentation.
    let start = text[..around.span().start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let end = text[around.span().end..]
        .find('\n')
        .map_or(text.len(), |newline| around.span().end + newline + 1);
    let inside = passage::replace(&text[start..end], &hunk.old, &hunk.new).map_err(|_| problem)?;
    let whole = [&text[..start], &inside, &text[end..]].concat();
    if symbols::parses(language, text) && !symbols::parses(language, &whole) {
        return Err(PassageProblem::Broken);
    }
    Ok(whole)
}

/// Returns a file with lines added: behind the line that the hunk stands under, else at its end.
fn added(language: Language, text: &str, hunk: &Hunk) -> String {
    let ending = line_ending(text);
    let new = with_line_ending(&hunk.new, ending);
    let has_definitions = !symbols::definitions(language, &hunk.new).is_empty();
    if has_definitions && let Ok(whole) = edit::add_definition(language, text, None, &hunk.new) {
        return whole;
    }
    let body = text.trim_end_matches(['\r', '\n']);
    if body.is_empty() {
        return new.into_owned();
    }
    let gap = ending.as_str();
    let close = if new.ends_with('\n') { "" } else { gap };
    format!("{body}{gap}{}{close}", new.trim_start_matches(['\r', '\n']))
}

fn misplaced(path: &RelPath, problem: &PassageProblem) -> Refusal {
    let (rule, reason) = match problem {
        PassageProblem::Absent { closest } if closest.trim().is_empty() => (
            "patch.misplaced",
            format!("`{path}` has no such passage: read it first, then copy the lines exactly"),
        ),
        PassageProblem::Absent { closest } => (
            "patch.misplaced",
            format!(
                "`{path}` has no such passage: copy the lines exactly; the closest are:\n{}",
                closest.trim_end()
            ),
        ),
        PassageProblem::Several(lines) => {
            let listed: Vec<String> = lines.iter().take(6).map(usize::to_string).collect();
            (
                "patch.misplaced",
                format!(
                    "the passage stands in {} places of `{path}` (lines {}): give more lines around it",
                    lines.len(),
                    listed.join(", ")
                ),
            )
        }
        PassageProblem::InsideWords(lines) => {
            let listed: Vec<String> = lines.iter().take(6).map(usize::to_string).collect();
            (
                "patch.misplaced",
                format!(
                    "the passage is only a part of longer words in `{path}` (lines {}): copy whole lines",
                    listed.join(", ")
                ),
            )
        }
        PassageProblem::Empty => (
            "patch.misplaced",
            format!("nothing says where in `{path}`: give the lines to replace"),
        ),
        PassageProblem::Broken => (
            "draft.syntax",
            format!(
                "`{path}` would not parse any more: write the whole definition again, complete and correctly indented"
            ),
        ),
    };
    Refusal::new(rule, reason, path.as_str())
}

#[cfg(test)]
mod tests;
