//! Changing: what `patch` and `edit` would make of a file. Computes; the trial applies.

use harness_code::edit::{self, EditProblem};
use harness_code::language::Language;
use harness_code::passage::{self, PassageProblem};
use harness_code::path::RelPath;
use harness_code::symbols::{self, Definition};
use harness_code::text::Text;
use harness_hands::door::Door;

use crate::action::{Action, Hunk};
use crate::guard::Change;
use crate::history::Refusal;
use crate::plan::Spot;
use crate::tool::look::trespass;

/// Works out what an action would change. `focus` is where the prompt looked, for replies that name no place.
pub(crate) fn proposed(
    door: &Door,
    focus: Option<&Spot>,
    action: &Action,
) -> Result<Change, Refusal> {
    let path = target(door, focus, action)?;
    let language = Language::of(&path);
    let before = content(door, &path)?;
    let after = match action {
        Action::Patch { hunks, .. } => patched(&path, before.as_deref(), hunks)?,
        Action::Edit { name, content, .. } => {
            edited(&path, language, before.as_deref(), focus, name, content)?
        }
        Action::Read { .. }
        | Action::Search { .. }
        | Action::Map { .. }
        | Action::Run { .. }
        | Action::Ask { .. }
        | Action::Done { .. } => before.clone().unwrap_or_default(),
    };
    if before.as_deref() == Some(after.as_str()) {
        let reason = format!("that is how `{path}` already is: write the changed definition");
        return Err(Refusal::new("draft.no_change", reason, path.as_str()));
    }
    Ok(Change {
        path,
        language,
        before,
        after,
    })
}

fn target(door: &Door, focus: Option<&Spot>, action: &Action) -> Result<RelPath, Refusal> {
    match (action.path(), focus) {
        ("", Some(spot)) => Ok(spot.path.clone()),
        ("", None) => Err(Refusal::new(
            "draft.no_path",
            "no file is named: write its path on the line above the code",
            "",
        )),
        (path, _) => door.request(path).map_err(trespass),
    }
}

fn content(door: &Door, path: &RelPath) -> Result<Option<String>, Refusal> {
    if !door.exists(path).map_err(|error| refused(path, &error))? {
        return Ok(None);
    }
    let bytes = door.read(path).map_err(|error| refused(path, &error))?;
    match Text::decode(&bytes) {
        Ok(text) => Ok(Some(text.into_content())),
        Err(_) => Err(Refusal::new(
            "draft.binary",
            format!("`{path}` is not text: change another file"),
            path.as_str(),
        )),
    }
}

fn refused(path: &RelPath, error: &harness_hands::door::DoorError) -> Refusal {
    match error.trespass() {
        Some(broken) => trespass(broken.clone()),
        None => Refusal::new("path.unreadable", error.to_string(), path.as_str()),
    }
}

fn patched(path: &RelPath, before: Option<&str>, hunks: &[Hunk]) -> Result<String, Refusal> {
    let mut text = before.unwrap_or_default().to_owned();
    for hunk in hunks {
        if hunk.old.trim().is_empty() {
            text = appended(&text, &hunk.new);
            continue;
        }
        text = passage::replace(&text, &hunk.old, &hunk.new)
            .map_err(|problem| misplaced(path, &problem))?;
    }
    Ok(text)
}

fn misplaced(path: &RelPath, problem: &PassageProblem) -> Refusal {
    let reason = match problem {
        PassageProblem::Absent { closest } if closest.is_empty() => {
            format!("`{path}` has no such passage: read it first, then copy the lines exactly")
        }
        PassageProblem::Absent { closest } => {
            format!(
                "`{path}` has no such passage: copy the lines exactly; the closest are:\n{}",
                closest.trim_end()
            )
        }
        PassageProblem::Several(count) => {
            format!("the passage stands in {count} places of `{path}`: give more lines around it")
        }
        PassageProblem::Empty => {
            format!("nothing says where in `{path}`: give the lines to replace")
        }
    };
    Refusal::new("patch.misplaced", reason, path.as_str())
}

fn edited(
    path: &RelPath,
    language: Language,
    before: Option<&str>,
    focus: Option<&Spot>,
    name: &str,
    code: &str,
) -> Result<String, Refusal> {
    let empty = || {
        Refusal::new(
            "draft.empty",
            "the code is empty: write the whole definition",
            path.as_str(),
        )
    };
    if code.trim().is_empty() {
        return Err(empty());
    }
    let Some(before) = before else {
        return Ok(code.to_owned());
    };
    let unplaced = |problem: &EditProblem| {
        Refusal::new(
            "draft.misplaced",
            format!("{problem} in `{path}`: name the definition as it is written there"),
            path.as_str(),
        )
    };
    if !name.is_empty() {
        return match edit::replace_definition(language, before, name, code) {
            Err(EditProblem::NoSuchDefinition(_)) => Ok(appended(before, code)),
            other => other.map_err(|problem| unplaced(&problem)),
        };
    }
    let old = symbols::definitions(language, before);
    let new = symbols::definitions(language, code);
    let new_top: Vec<&Definition> = new.iter().filter(|known| known.parent.is_none()).collect();
    let keeps_all = old
        .iter()
        .all(|known| new.iter().any(|other| other.qualified == known.qualified));
    // The whole file came back, or code that is no definition at all: then it stands for the file.
    if new_top.is_empty() || (keeps_all && !old.is_empty() && old.len() > 1) {
        return Ok(edit_line_endings(before, code));
    }
    let mut text = before.to_owned();
    for definition in new_top {
        let piece = code.get(definition.span()).ok_or_else(empty)?;
        let wanted = place_of(&old, focus, path, definition.name());
        text = match wanted {
            Some(qualified) => edit::replace_definition(language, &text, &qualified, piece)
                .map_err(|problem| unplaced(&problem))?,
            None => appended(&text, piece),
        };
    }
    Ok(merged_imports(language, &text, before, code))
}

/// Returns which definition of the file a reply means by this name: the one that was shown, else the only one.
fn place_of(
    old: &[Definition],
    focus: Option<&Spot>,
    path: &RelPath,
    name: &str,
) -> Option<String> {
    let shown =
        focus.filter(|spot| &spot.path == path && spot.name.rsplit('.').next() == Some(name));
    if let Some(spot) = shown {
        return Some(spot.name.clone());
    }
    let top = old
        .iter()
        .find(|known| known.parent.is_none() && known.name() == name);
    let any = || old.iter().find(|known| known.name() == name);
    top.or_else(any).map(|known| known.qualified.to_string())
}

/// Returns a file with code added at its end, two blank lines above it.
fn appended(text: &str, code: &str) -> String {
    let body = text.trim_end_matches(['\r', '\n']);
    let gap = if body.is_empty() { "" } else { "\n\n\n" };
    let whole = format!("{body}{gap}{}\n", code.trim_matches(['\r', '\n']));
    edit_line_endings(text, &whole)
}

fn edit_line_endings(before: &str, text: &str) -> String {
    harness_code::text::with_line_ending(text, harness_code::text::line_ending(before)).into_owned()
}

/// Returns a file with the imports that came with the code, where it does not have them yet.
fn merged_imports(language: Language, text: &str, before: &str, code: &str) -> String {
    if language != Language::Python {
        return text.to_owned();
    }
    let is_import = |line: &&str| {
        line.starts_with("import ") || (line.starts_with("from ") && line.contains(" import "))
    };
    let missing: Vec<&str> = code
        .lines()
        .filter(is_import)
        .filter(|line| {
            !before
                .lines()
                .any(|known| known.trim_end() == line.trim_end())
        })
        .collect();
    if missing.is_empty() {
        return text.to_owned();
    }
    let last = text
        .lines()
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len() + 1;
            Some((start, line))
        })
        .filter(|(_, line)| is_import(line))
        .last();
    let Some((_, last_line)) = last else {
        return text.to_owned();
    };
    let ending = harness_code::text::line_ending(before).as_str();
    text.replacen(
        last_line,
        &format!("{last_line}{ending}{}", missing.join(ending)),
        1,
    )
}
