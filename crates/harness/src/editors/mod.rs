//! What connects an editor: files that the editor really reads, put beside what is there and taken
//! out again byte for byte. The kits are inside the program; the disk is touched by hands only.

pub mod check;
pub mod handshake;
mod home;
mod jsonc;
mod kits;
mod notation;

use std::path::Path;

use harness_code::edit::unified_diff;
use harness_code::path::RelPath;
use harness_hands::settings::{Copy, Keep, Settings, SettingsError};
use serde::Serialize;

use crate::editors::jsonc::{Ours, Rest};
use crate::editors::kits::{File, KITS, Kit, Wishes};

/// One editor, for the list.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// The word users write.
    pub name: &'static str,
    /// What it gets.
    pub about: &'static str,
    /// The files, relative to the project.
    pub files: Vec<&'static str>,
}

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Order {
    /// Whether the written configuration may change files.
    pub allow_writes: bool,
    /// The model that chat providers name.
    pub model: String,
    /// Put in or take out.
    pub direction: Direction,
    /// Whether to write at all.
    pub dry_run: bool,
}

/// Put in or take out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Write what connects the editor.
    PutIn,
    /// Take out exactly that.
    TakeOut,
}

/// What came of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It was not there, and is now.
    Created,
    /// Ours stands beside what was there.
    Merged,
    /// Ours is taken out; the rest is as it was.
    TakenOut,
    /// It held nothing but ours, and is gone.
    Removed,
    /// Nothing was to be done.
    Unchanged,
    /// It could not be changed safely; the snippet is for the person.
    LeftAlone,
}

/// One file of an editor, after the order.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The file, relative to the project.
    pub path: String,
    /// What came of it.
    pub action: Action,
    /// The change as a unified diff.
    pub diff: String,
    /// The backup copy that was made beside it.
    pub backup: Option<String>,
    /// Why it was left alone, or why there was nothing to be done where that is not plain.
    pub reason: String,
    /// What the person may put there by hand, when it was left alone.
    pub snippet: String,
}

/// Everything that came of an order.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The editor.
    pub editor: &'static str,
    /// Whether the written configuration may change files.
    pub allow_writes: bool,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// What came of each file.
    pub files: Vec<Outcome>,
    /// What is left for the person.
    pub steps: Vec<String>,
}

/// Returns every editor that is known.
pub fn list() -> Vec<Listed> {
    KITS.iter()
        .map(|kit| Listed {
            name: kit.name,
            about: kit.about,
            files: kit.files.iter().map(|file| file.path).collect(),
        })
        .collect()
}

/// Carries an order out for one editor; `None` when nobody knows the editor.
pub fn connect(name: &str, project: &Path, order: &Order) -> Result<Option<Report>, SettingsError> {
    let Some(kit) = KITS.iter().find(|kit| kit.name == name) else {
        return Ok(None);
    };
    let settings = Settings::open(project)?;
    let wishes = Wishes {
        allow_writes: order.allow_writes,
        model: order.model.clone(),
        project: project.display().to_string(),
        program: kits::program(),
    };
    let mut files = Vec::new();
    for file in kit.files {
        let other = match order.direction {
            Direction::TakeOut => other_reader(&settings, kit, file, &wishes),
            Direction::PutIn => None,
        };
        files.push(match other {
            Some(other) => unchanged(file, format!("it is kept for {other}")),
            None => settle(&settings, file, &wishes, order)?,
        });
    }
    let steps = match order.direction {
        Direction::PutIn => kit.steps(&wishes),
        Direction::TakeOut => Vec::new(),
    };
    Ok(Some(Report {
        editor: kit.name,
        allow_writes: order.allow_writes,
        dry_run: order.dry_run,
        files,
        steps,
    }))
}

/// Returns another editor that reads a file of this one and is still connected by a file of its own.
fn other_reader(
    settings: &Settings,
    kit: &Kit,
    file: &File,
    wishes: &Wishes,
) -> Option<&'static str> {
    let has = |kit: &Kit, path: &str| kit.files.iter().any(|file| file.path == path);
    let is_connected = |file: &&File| {
        let path = RelPath::parse(file.path).ok();
        let bytes = path.and_then(|path| settings.read(&path).ok().flatten());
        let text = bytes.and_then(|bytes| as_text(&bytes));
        text.is_some_and(|text| match base_of(&text, file, wishes, &[]) {
            Ok(Base::Absent | Base::Changed | Base::Edited(_)) => true,
            Ok(Base::Text { text: rest, .. }) => rest != text,
            Ok(Base::Foreign | Base::NamedAlike(_)) | Err(_) => false,
        })
    };
    let others = KITS.iter().filter(|other| other.name != kit.name);
    let mut readers = others.filter(|other| has(other, file.path));
    let connected = readers.find(|other| {
        let own = other.files.iter().filter(|file| !has(kit, file.path));
        own.into_iter().any(|file| is_connected(&file))
    });
    connected.map(|other| other.name)
}

fn unchanged(file: &File, reason: String) -> Outcome {
    Outcome {
        path: file.path.to_owned(),
        action: Action::Unchanged,
        diff: String::new(),
        backup: None,
        reason,
        snippet: String::new(),
    }
}

/// A settings file as it lies on disk.
struct OnDisk {
    text: String,
    copies: Vec<Copy>,
}

/// What there is before an order is carried out.
struct Before {
    disk: Option<OnDisk>,
    base: Base,
}

/// What is to become of a file.
enum Plan {
    Nothing,
    Write(String),
    Remove,
}

fn settle(
    settings: &Settings,
    file: &File,
    wishes: &Wishes,
    order: &Order,
) -> Result<Outcome, SettingsError> {
    let unknown = |path: &str| {
        SettingsError::Door(harness_hands::door::DoorError::Missing {
            path: path.to_owned(),
        })
    };
    let path = RelPath::parse(file.path).map_err(|_| unknown(file.path))?;
    let left_alone = |reason: String| Outcome {
        action: Action::LeftAlone,
        snippet: match order.direction {
            Direction::PutIn => file.text(wishes),
            Direction::TakeOut => String::new(),
        },
        ..unchanged(file, reason)
    };
    let read = match settings.read(&path) {
        Ok(read) => read,
        // A link or a folder in the way is the person's own arrangement.
        Err(error @ SettingsError::Door(_)) => return Ok(left_alone(error.to_string())),
        Err(error) => return Err(error),
    };
    let disk = match read.map(String::from_utf8) {
        Some(Ok(text)) => Some(OnDisk {
            copies: settings.copies(&path)?,
            text,
        }),
        Some(Err(_)) => return Ok(left_alone("it is not UTF-8".to_owned())),
        None => None,
    };
    // The file may hold what an order with or without writes had put there.
    let base = match &disk {
        Some(disk) => base_of(&disk.text, file, wishes, &disk.copies),
        None => Ok(Base::Absent),
    };
    let base = match base {
        Ok(base) => base,
        Err(reason) => return Ok(left_alone(reason)),
    };
    let plan = match planned(order.direction, &base, disk.is_some(), file, wishes) {
        Ok(plan) => plan,
        Err(NoPlan::LeftAlone(reason)) => return Ok(left_alone(reason)),
        Err(NoPlan::Unchanged(reason)) => return Ok(unchanged(file, reason)),
    };
    carry_out(settings, &path, &Before { disk, base }, plan, order)
}

/// Why a file stays as it is.
enum NoPlan {
    /// It is in the way of what was asked for.
    LeftAlone(String),
    /// There is nothing to do.
    Unchanged(String),
}

fn planned(
    direction: Direction,
    base: &Base,
    is_there: bool,
    file: &File,
    wishes: &Wishes,
) -> Result<Plan, NoPlan> {
    Ok(match (direction, base) {
        (Direction::TakeOut, Base::Absent) if !is_there => Plan::Nothing,
        (Direction::TakeOut, Base::Foreign) => Plan::Nothing,
        (Direction::TakeOut, Base::NamedAlike(reason)) => {
            return Err(NoPlan::Unchanged(reason.clone()));
        }
        (_, Base::Edited(reason)) | (Direction::PutIn, Base::NamedAlike(reason)) => {
            return Err(NoPlan::LeftAlone(reason.clone()));
        }
        (Direction::TakeOut, Base::Absent) => Plan::Remove,
        (Direction::TakeOut, Base::Changed) => {
            let reason = "it was changed since it was written";
            return Err(NoPlan::LeftAlone(reason.to_owned()));
        }
        (Direction::TakeOut, Base::Text { text, .. }) => Plan::Write(text.clone()),
        (Direction::PutIn, Base::Absent | Base::Changed) => Plan::Write(file.text(wishes)),
        (Direction::PutIn, Base::Foreign) => {
            let reason = "a file of this name is there, and it is not ours";
            return Err(NoPlan::LeftAlone(reason.to_owned()));
        }
        (Direction::PutIn, Base::Text { text, .. }) => {
            Plan::Write(put_in(file, wishes, text).map_err(NoPlan::LeftAlone)?)
        }
    })
}

fn carry_out(
    settings: &Settings,
    path: &RelPath,
    Before { disk, base }: &Before,
    plan: Plan,
    order: &Order,
) -> Result<Outcome, SettingsError> {
    let before = disk.as_ref().map(|disk| disk.text.as_str());
    let after = match &plan {
        Plan::Write(text) => Some(text.as_str()),
        Plan::Nothing => before,
        Plan::Remove => None,
    };
    let mut outcome = Outcome {
        path: path.to_string(),
        action: Action::Unchanged,
        diff: unified_diff(path.as_str(), before, after),
        backup: None,
        reason: String::new(),
        snippet: String::new(),
    };
    if before == after {
        return Ok(outcome);
    }
    outcome.action = match (before, after, order.direction) {
        (None, _, _) => Action::Created,
        (Some(_), None, _) => Action::Removed,
        (Some(_), Some(_), Direction::PutIn) => Action::Merged,
        (Some(_), Some(_), Direction::TakeOut) => Action::TakenOut,
    };
    if order.dry_run {
        return Ok(outcome);
    }
    match (disk.as_ref(), after) {
        (None, Some(text)) => settings.create(path, text.as_bytes())?,
        (Some(disk), None) => settings.remove(path, disk.text.as_bytes())?,
        (Some(disk), Some(text)) => {
            let copy = match base {
                Base::Text { copy, .. } => copy.as_ref(),
                Base::Absent
                | Base::Changed
                | Base::Foreign
                | Base::Edited(_)
                | Base::NamedAlike(_) => None,
            };
            let is_taken_out = order.direction == Direction::TakeOut;
            // An original that is kept already, or a file that is ours alone, needs no copy.
            let keep = match is_taken_out || copy.is_some() || matches!(base, Base::Absent) {
                true => Keep::Nothing,
                false => Keep::Backup,
            };
            let bytes = disk.text.as_bytes();
            outcome.backup = settings.replace(path, bytes, text.as_bytes(), keep)?;
            if let Some(copy) = copy.filter(|_| is_taken_out) {
                // It holds what the file holds again.
                settings.remove_copy(path, copy)?;
            }
        }
        (None, None) => {}
    }
    Ok(outcome)
}

/// A file without anything of ours.
enum Base {
    /// Nothing is left of it: it was ours alone, or is not there.
    Absent,
    /// It is ours, and somebody changed it since.
    Changed,
    /// It is somebody else's.
    Foreign,
    /// Somebody changed what we put into it; this says what.
    Edited(String),
    /// It holds nothing of ours, and something of the same name; this says what.
    NamedAlike(String),
    /// This is left; the copy is the backup that holds exactly that.
    Text { text: String, copy: Option<Copy> },
}

/// Finds what a file was before anything of ours came into it.
fn base_of(now: &str, file: &File, wishes: &Wishes, copies: &[Copy]) -> Result<Base, String> {
    let versions = versions(now, file, wishes);
    // A checkout may have other line endings, and an editor may end the file in its own way.
    let plain = |text: &str| text.replace("\r\n", "\n").trim_end().to_owned();
    let is_ours_alone = versions
        .iter()
        .any(|wishes| plain(&file.text(wishes)) == plain(now));
    if !file.is_shared() {
        return Ok(match (is_ours_alone, now.contains(OURS)) {
            (true, _) => Base::Absent,
            (false, true) => Base::Changed,
            (false, false) => Base::Foreign,
        });
    }
    let ours = Ours {
        templates: &file.templates(),
        program: &wishes.program,
    };
    let text = match take_out(&ours, now)? {
        Rest::Text(text) => text,
        Rest::Changed(reason) => return Ok(Base::Edited(reason)),
        Rest::NamedAlike(reason) => return Ok(Base::NamedAlike(reason)),
    };
    // The copy that makes this very file when ours is put in is what the file was, to the byte.
    for copy in copies {
        let Some(original) = as_text(&copy.bytes) else {
            continue;
        };
        let made_this = text != now
            && versions
                .iter()
                .any(|wishes| put_in(file, wishes, &original).is_ok_and(|made| made == now));
        if made_this {
            return Ok(Base::Text {
                text: original,
                copy: Some(copy.clone()),
            });
        }
    }
    if is_ours_alone {
        return Ok(Base::Absent);
    }
    let copy = copies
        .iter()
        .find(|copy| copy.bytes == text.as_bytes())
        .cloned();
    Ok(Base::Text { text, copy })
}

/// Returns the orders that may have made a file: with writes and without, for the model that it names, for the program
/// and the project of today and for those that it names.
fn versions(now: &str, file: &File, wishes: &Wishes) -> Vec<Wishes> {
    let today = (wishes.program.clone(), wishes.project.clone());
    let named = file.named_in(now, &wishes.program);
    let named = named.map(|(program, project)| (program, project.unwrap_or(today.1.clone())));
    let named = named.filter(|named| *named != today);
    let model = file.model_in(now).unwrap_or_else(|| wishes.model.clone());
    let programs = [Some(today), named].into_iter().flatten();
    let version = |(program, project): (String, String)| {
        [false, true].map(|allow_writes| Wishes {
            allow_writes,
            program: program.clone(),
            project: project.clone(),
            model: model.clone(),
        })
    };
    programs.flat_map(version).collect()
}

fn as_text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

const BOM: char = '\u{feff}';

/// What every file of ours says of itself.
const OURS: &str = "`harness editors` wrote this file; ";

fn put_in(file: &File, wishes: &Wishes, before: &str) -> Result<String, String> {
    let body = before.strip_prefix(BOM).unwrap_or(before);
    let mark = &before[..before.len() - body.len()];
    let after = match body.trim().is_empty() {
        // An editor takes an empty file for one that is not there.
        true => file.text(wishes),
        false => jsonc::put_in(body, &file.text(wishes))?,
    };
    Ok(format!("{mark}{after}"))
}

fn take_out(ours: &Ours<'_>, before: &str) -> Result<Rest, String> {
    let body = before.strip_prefix(BOM).unwrap_or(before);
    if body.trim().is_empty() {
        return Ok(Rest::Text(before.to_owned()));
    }
    let mark = &before[..before.len() - body.len()];
    Ok(match jsonc::take_out(body, ours)? {
        Rest::Text(text) => Rest::Text(format!("{mark}{text}")),
        other @ (Rest::Changed(_) | Rest::NamedAlike(_)) => other,
    })
}

#[cfg(test)]
#[path = "editors_tests.rs"]
mod tests;
