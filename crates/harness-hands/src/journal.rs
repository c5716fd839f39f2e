//! What a run did to the disk, written before it was done: `.harness/runs/<id>/`.
//!
//! `run.json` says what the run is, `journal.jsonl` has one line a change, `before/` the bytes that
//! the changes replaced, `end.json` how it ended. A torn last line is a change that never happened.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use harness_code::path::RelPath;
use serde::{Deserialize, Serialize};

use crate::door::folder::Folder;
use crate::door::{Door, DoorError, Kind};
use crate::fault;
use crate::state;
use crate::write::{self, Place};

pub(crate) const RUNS: &str = "runs";
pub(crate) const HEADER: &str = "run.json";
pub(crate) const LINES: &str = "journal.jsonl";
pub(crate) const ENDING: &str = "end.json";
pub(crate) const IMAGES: &str = "before";
/// A change that was not kept, for people.
pub const PATCH: &str = "attempt.patch";
/// The same with whole files, to be applied later.
pub const ATTEMPT: &str = "attempt.json";

/// The name of one run: when it began, and a little chance, so that names sort by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// Makes the name of a run that begins now.
    #[expect(clippy::new_without_default, reason = "every call gives another name")]
    pub fn new() -> RunId {
        // Two runs of one process never share a moment, so that the order of names is the order
        // of runs; the chance at the end is for two processes.
        static LAST: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let now = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        let later = |last: u64| Some(now.max(last + 1));
        let last = LAST
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, later)
            .unwrap_or(now);
        let moment = now.max(last + 1);
        let chance = blake3::hash(format!("{moment} {}", std::process::id()).as_bytes()).to_hex();
        let (seconds, fraction) = (moment / 1_000_000, moment % 1_000_000);
        RunId(format!("{}-{fraction:06}{}", stamp(seconds), &chance[..2]))
    }

    /// Reads the name of a run as a person gives it.
    pub fn parse(text: &str) -> Option<RunId> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = !text.is_empty() && text.len() <= 40 && text.bytes().all(plain);
        fits.then(|| RunId(text.to_string()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns when the run began, as `YYYY-MM-DD HH:MM:SS` in universal time.
    pub fn began(&self) -> String {
        let digits = &self.0;
        let is_stamped = digits.len() > 15
            && digits
                .bytes()
                .take(15)
                .enumerate()
                .all(|(at, byte)| match at {
                    8 => byte == b'-',
                    _ => byte.is_ascii_digit(),
                });
        match is_stamped {
            true => {
                format!(
                    "{}-{}-{} {}:{}:{}",
                    &digits[0..4],
                    &digits[4..6],
                    &digits[6..8],
                    &digits[9..11],
                    &digits[11..13],
                    &digits[13..15]
                )
            }
            false => self.0.clone(),
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<RunId> for String {
    fn from(run: RunId) -> String {
        run.0
    }
}

impl TryFrom<String> for RunId {
    type Error = &'static str;
    fn try_from(text: String) -> Result<RunId, &'static str> {
        RunId::parse(&text).ok_or("not the name of a run")
    }
}

/// `20261115-025616`, by the proleptic Gregorian calendar (Hinnant's days-to-civil algorithm).
pub(crate) fn stamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

/// What a name stood for at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Was {
    /// Nothing.
    Absent,
    /// A folder.
    Folder,
    /// A file with these bytes and this mode.
    File {
        digest: String,
        bytes: u64,
        mode: u32,
    },
}

impl Was {
    pub(crate) fn file(bytes: &[u8], mode: u32) -> Was {
        Was::File {
            digest: digest(bytes),
            bytes: bytes.len() as u64,
            mode,
        }
    }

    /// Says whether both have the same bytes; where a platform keeps no mode, it does not count.
    pub(crate) fn same_bytes(&self, other: &Was) -> bool {
        match (self, other) {
            (Was::File { digest: mine, .. }, Was::File { digest: theirs, .. }) => mine == theirs,
            (mine, theirs) => mine == theirs,
        }
    }
}

/// Returns the name that stands for these bytes, also the name of their image.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().as_str()[..32].to_string()
}

/// One name that a change touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Effect {
    pub(crate) path: RelPath,
    pub(crate) before: Was,
    pub(crate) after: Was,
    /// A copy kept beside the file, not a change that was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) backup: bool,
}

/// One change, as it stands in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) n: u32,
    pub(crate) effects: Vec<Effect>,
    /// The temporary file that a kill would leave behind, beside the first effect's path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) temp: Option<String>,
}

/// What a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) id: RunId,
    pub(crate) task: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undoes: Option<RunId>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct Ending {
    /// The reason for stopping, such as `done`.
    pub outcome: String,
    /// Its closing sentence.
    pub summary: String,
    /// What the tests said, in the shape the result has.
    #[serde(default)]
    pub tests: serde_json::Value,
}

/// The journal of the run that is going on.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: Folder,
    images: Folder,
    lines: File,
    pub(crate) changes: Vec<Change>,
}

impl Journal {
    /// Begins the journal of a run.
    pub(crate) fn begin(door: &Door, header: &Header) -> Result<Journal, DoorError> {
        let path = state::path(&format!("{RUNS}/{}", header.id))?;
        let broken = |error: io::Error| DoorError::from_io(&path, error);
        let runs = state::subfolder(&state::open(door)?, RUNS)?;
        runs.make_folder(header.id.as_str(), 0o700)
            .map_err(broken)?;
        runs.sync().map_err(broken)?;
        let folder = open_run(&runs, &header.id)?;
        let images = state::subfolder(&folder, IMAGES)?;
        let text = serde_json::to_vec(header).map_err(|error| broken(error.into()))?;
        place(&folder, HEADER, &text).map_err(broken)?;
        let lines = folder.create_new(LINES, 0o600).map_err(broken)?;
        folder.sync().map_err(broken)?;
        Ok(Journal {
            folder,
            images,
            lines,
            changes: Vec::new(),
        })
    }

    /// Keeps bytes that are about to be replaced. The same bytes are kept once.
    pub(crate) fn keep(&self, bytes: &[u8]) -> io::Result<()> {
        let name = digest(bytes);
        if self.images.metadata(&name)?.is_some() {
            return Ok(());
        }
        place(&self.images, &name, bytes)
    }

    /// Writes down one change that is about to be made, to the platter.
    pub(crate) fn record(&mut self, effects: Vec<Effect>, temp: Option<String>) -> io::Result<()> {
        let change = Change {
            n: self.next(),
            effects,
            temp,
        };
        let mut line = serde_json::to_vec(&change)?;
        line.push(b'\n');
        fault::step()?;
        // A line that was torn by an earlier full disk must not swallow this one.
        let (first, rest) = line.split_at(line.len() / 2);
        self.lines.write_all(b"\n")?;
        self.lines.write_all(first)?;
        fault::step()?;
        self.lines.write_all(rest)?;
        fault::step()?;
        self.lines.sync_data()?;
        self.changes.push(change);
        Ok(())
    }

    /// Returns the number of the next change.
    pub(crate) fn next(&self) -> u32 {
        self.changes.last().map_or(1, |change| change.n + 1)
    }

    /// Returns bytes that were kept.
    pub(crate) fn image(&self, digest: &str) -> Result<Vec<u8>, DoorError> {
        read_image(&self.images, digest)
    }

    /// Puts a file of the run beside its journal, such as the attempt as a patch.
    pub(crate) fn attach(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        place(&self.folder, name, bytes)
    }

    /// Writes down how the run ended.
    pub(crate) fn end(&self, ending: &Ending) -> io::Result<()> {
        place(&self.folder, ENDING, &serde_json::to_vec(ending)?)
    }
}

/// What was read back of a run.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) header: Header,
    pub(crate) changes: Vec<Change>,
    pub(crate) ending: Option<Ending>,
    images: Option<Folder>,
}

impl Past {
    /// Reads the journal of a run; what was torn by a crash is left out.
    pub(crate) fn read(runs: &Folder, id: &RunId) -> Result<Past, DoorError> {
        let path = state::path(&format!("{RUNS}/{id}"))?;
        let folder = open_run(runs, id)?;
        let named = |name: &str| path.join(name).unwrap_or_else(|_| path.clone());
        let header = folder
            .read(HEADER, &named(HEADER))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Header>(&bytes).ok())
            .unwrap_or_else(|| Header {
                id: id.clone(),
                task: String::new(),
                undoes: None,
            });
        let changes = match folder.open_file(LINES, &named(LINES)) {
            Ok((file, _)) => read_changes(file),
            Err(DoorError::Missing { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let ending = folder
            .read(ENDING, &named(ENDING))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let images = images_of(&folder);
        Ok(Past {
            header: Header {
                id: id.clone(),
                ..header
            },
            changes,
            ending,
            images,
        })
    }

    /// Returns bytes that the run replaced.
    pub(crate) fn image(&self, digest: &str) -> Result<Vec<u8>, DoorError> {
        match &self.images {
            Some(images) => read_image(images, digest),
            None => Err(DoorError::Missing {
                path: digest.to_string(),
            }),
        }
    }
}

fn read_changes(file: File) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
        if let Ok(change) = serde_json::from_slice::<Change>(&line) {
            changes.push(change);
        }
    }
    changes
}

/// Opens the folder of all runs, when there is one.
pub(crate) fn runs_folder(door: &Door) -> Result<Option<Folder>, DoorError> {
    let Some(state) = state::find(door)? else {
        return Ok(None);
    };
    match state
        .metadata(RUNS)
        .map_err(|error| DoorError::from_io(RUNS, error))?
    {
        Some(found) if found.kind == Kind::Folder => Ok(Some(state::subfolder(&state, RUNS)?)),
        Some(_) | None => Ok(None),
    }
}

pub(crate) fn open_run(runs: &Folder, id: &RunId) -> Result<Folder, DoorError> {
    let name = RelPath::parse(id.as_str()).map_err(|_| DoorError::Missing {
        path: id.to_string(),
    })?;
    runs.enter(&name)
}

/// Opens the folder of kept bytes of a run, when there is one.
pub(crate) fn images_of(run: &Folder) -> Option<Folder> {
    RelPath::parse(IMAGES)
        .ok()
        .and_then(|name| run.enter(&name).ok())
}

fn read_image(images: &Folder, name: &str) -> Result<Vec<u8>, DoorError> {
    let path = RelPath::parse(name).map_err(|_| DoorError::Missing {
        path: name.to_string(),
    })?;
    let bytes = images.read(path.file_name(), &path)?;
    if digest(&bytes) == name {
        return Ok(bytes);
    }
    let source = io::Error::new(io::ErrorKind::InvalidData, "the kept bytes are damaged");
    Err(DoorError::Io {
        path: name.to_string(),
        source,
    })
}

pub(crate) fn place(folder: &Folder, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temp = format!("{name}.new");
    // What an earlier attempt left behind.
    if folder.metadata(&temp)?.is_some() {
        folder.remove(&temp)?;
    }
    write::put(folder, name, &temp, bytes, &Place::Exact { mode: 0o600 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_when_it_began() {
        assert_eq!(stamp(0), "19700101-000000");
        assert_eq!(stamp(951_826_554), "20000229-121554");
        assert_eq!(stamp(1_794_711_376), "20261115-025616");
        let id = RunId::parse("20261115-025616-123456cd").unwrap();
        assert_eq!(id.began(), "2026-11-15 02:56:16");
        assert_eq!(RunId::parse("../x"), None);
        let several: Vec<RunId> = (0..100).map(|_| RunId::new()).collect();
        assert!(several.is_sorted() && several.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
