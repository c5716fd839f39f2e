//! The record of a run: one redacted JSON object a line. Enough to tell the story again, nothing that is secret.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use harness_code::path::RelPath;
use harness_hands::journal::{self, RunId};
use harness_hands::permit::Project;
use harness_hands::proposals;
use harness_hands::trace;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::history::Step;
use crate::model::{Message, Role};
use crate::options::{AgentOptions, Cause};
use crate::plan::Plan;
use crate::secret;

/// The version of the lines.
const VERSION: u32 = 1;
/// The longest text of one field, in characters; a trace is for reading.
const LONGEST_FIELD: usize = 20_000;

/// One file that a run left changed: enough to make the change again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedChange {
    /// The file.
    pub(crate) path: String,
    /// The digest of its bytes before the run; none for a new file.
    pub(crate) before: Option<String>,
    /// Its content afterwards; none for a file that went.
    pub(crate) after: Option<String>,
}

/// What a record says of a run that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Past {
    /// Its name.
    pub(crate) run: String,
    /// What was asked for.
    pub(crate) task: String,
    /// What it changed, or would have.
    pub(crate) changes: Vec<RecordedChange>,
    /// It proposed that, and did not keep it.
    pub(crate) is_new: bool,
}

/// Why a run cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PastError {
    /// No line of the record is of this run.
    #[error("the record has no run `{0}`")]
    Unknown(String),
    /// The run did not come to its end, or left nothing changed.
    #[error("run `{0}` left nothing to replay")]
    Nothing(String),
    /// What it changed held something that a record does not keep.
    #[error("run `{0}` cannot be replayed: its changes were redacted in the record")]
    Redacted(String),
    /// It proposed nothing, or nobody kept it.
    #[error("run `{0}` left no change that could be applied")]
    NoProposal(String),
    /// Another project's dry run.
    #[error("run `{0}` was about another folder")]
    Elsewhere(String),
    /// The record cannot be read.
    #[error("the record cannot be read: {0}")]
    Unreadable(#[source] Cause),
}

/// Reads a run from the record that the options name, or from the project's own.
pub(crate) fn past(
    options: &AgentOptions,
    project: &Project,
    run: &str,
) -> Result<Past, PastError> {
    let place = options
        .record
        .clone()
        .unwrap_or_else(|| trace::place_in_project(project.door()));
    let lines = trace::lines(&place).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => PastError::Unknown(run.to_owned()),
        _ => PastError::Unreadable(Cause::of(error)),
    })?;
    // A torn line is no line.
    let parsed = lines
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["run"] == run);
    let (mut task, mut end) = (None, None);
    for line in parsed {
        match line["kind"].as_str() {
            Some("start") => task = line["task"].as_str().map(str::to_owned),
            Some("end") => end = Some(line),
            Some(_) | None => {}
        }
    }
    let task = task.ok_or_else(|| PastError::Unknown(run.to_owned()))?;
    let end = end.ok_or_else(|| PastError::Nothing(run.to_owned()))?;
    if end["redacted"] == true {
        return Err(PastError::Redacted(run.to_owned()));
    }
    let changes: Vec<RecordedChange> =
        serde_json::from_value(end["changes"].clone()).unwrap_or_default();
    if changes.is_empty() {
        return Err(PastError::Nothing(run.to_owned()));
    }
    Ok(Past {
        run: run.to_owned(),
        task,
        changes,
        is_new: false,
    })
}

/// What a dry run would have changed, as it is kept for later.
#[derive(Serialize, Deserialize)]
struct Proposed {
    project: PathBuf,
    task: String,
    changes: Vec<RecordedChange>,
}

/// Keeps what a dry run would have changed, outside the project. Says whether it could.
pub(crate) fn keep_proposal(
    project: &Project,
    run: &RunId,
    task: &str,
    changes: &[RecordedChange],
) -> bool {
    let proposed = Proposed {
        project: project.door().root().to_owned(),
        task: task.to_owned(),
        changes: changes.to_vec(),
    };
    let Ok(bytes) = serde_json::to_vec(&proposed) else {
        return false;
    };
    proposals::keep(run, &bytes).is_ok()
}

/// A dry run whose change can still be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptProposal {
    /// The run's id.
    pub run: String,
    /// What was asked for.
    pub task: String,
    /// The files that it would change.
    pub files: Vec<String>,
}

/// Returns what dry runs of a project proposed and what still fits its files, the newest first.
pub fn proposals(project: &Project) -> Vec<KeptProposal> {
    let door = project.door();
    let fits = |change: &RecordedChange| {
        let path = RelPath::parse(&change.path).ok();
        let now = path.and_then(|path| door.find(&path).ok());
        now.is_some_and(|now| now.as_deref().map(journal::digest) == change.before)
    };
    let kept = proposals::all().into_iter().filter_map(|(run, bytes)| {
        let kept: Proposed = serde_json::from_slice(&bytes).ok()?;
        let is_open = kept.project == door.root() && kept.changes.iter().all(fits);
        is_open.then(|| KeptProposal {
            run: run.to_string(),
            task: kept.task,
            files: kept.changes.into_iter().map(|change| change.path).collect(),
        })
    });
    kept.collect()
}

/// Returns what a run proposed and did not write: a dry run, or one that took its change back.
pub(crate) fn proposed(project: &Project, run: &str) -> Result<Past, PastError> {
    let nothing = || PastError::NoProposal(run.to_owned());
    let id = RunId::parse(run).ok_or_else(nothing)?;
    if let Some(bytes) = project.attempt(&id) {
        let changes: Vec<RecordedChange> = serde_json::from_slice(&bytes).unwrap_or_default();
        let runs = project.runs().unwrap_or_default();
        let task = runs.into_iter().find(|one| one.id == id);
        let task = task.map(|run| run.task).ok_or_else(nothing)?;
        return some_changes(run, task, changes).ok_or_else(nothing);
    }
    let bytes = proposals::read(&id).ok_or_else(nothing)?;
    let kept: Proposed = serde_json::from_slice(&bytes).map_err(|_| nothing())?;
    if kept.project != project.door().root() {
        return Err(PastError::Elsewhere(run.to_owned()));
    }
    some_changes(run, kept.task, kept.changes).ok_or_else(nothing)
}

fn some_changes(run: &str, task: String, changes: Vec<RecordedChange>) -> Option<Past> {
    let run = run.to_owned();
    let is_new = true;
    let past = Past {
        run,
        task,
        changes,
        is_new,
    };
    (!past.changes.is_empty()).then_some(past)
}

/// Returns a plan as a line tells it: how the work is done, and where.
fn planned(plan: &Plan) -> Value {
    let spots = plan.spots().iter();
    let places =
        spots.map(|spot| json!({"path": spot.path.as_str(), "name": spot.name, "line": spot.line}));
    json!({"rung": plan.rung.name(), "places": places.collect::<Vec<_>>()})
}

/// Where the lines go.
enum Place {
    Nowhere,
    Project,
    File(PathBuf),
}

/// Writes the lines of one run.
pub(crate) struct Record {
    place: Place,
    run: String,
    number: u32,
    home: Option<String>,
    hosts: Vec<String>,
    /// The conversation as the line of the last turn tells it.
    told: Vec<Message>,
    /// The conversation as it stands.
    said: Vec<Message>,
    turn: Map<String, Value>,
}

impl Record {
    /// Opens the record that the options ask for. A run that may not write leaves none in the project.
    pub(crate) fn open(options: &AgentOptions, run: &str, home: Option<&Path>) -> Record {
        let place = match &options.record {
            _ if options.keep_no_record => Place::Nowhere,
            Some(file) => Place::File(file.clone()),
            None if options.allow_writes => Place::Project,
            None => Place::Nowhere,
        };
        let home = home
            .map(|home| home.to_string_lossy().into_owned())
            .filter(|home| home.len() > 1);
        Record {
            place,
            run: run.to_owned(),
            number: 0,
            home,
            hosts: Vec::new(),
            told: Vec::new(),
            said: Vec::new(),
            turn: Map::new(),
        }
    }

    /// Writes that the run began, and by which plan.
    pub(crate) fn start(
        &mut self,
        project: &Project,
        plan: &Plan,
        options: &AgentOptions,
    ) -> Result<(), String> {
        let (task, engine) = (plan.task.text(), options.engine.name());
        let fields =
            json!({"task": task, "model": options.model, "engine": engine, "plan": planned(plan)});
        self.line(project, "start", fields)
    }

    /// Keeps the plan that is gone by from here on, for the line that comes next.
    pub(crate) fn plan(&mut self, plan: &Plan) {
        self.turn.insert("plan".to_owned(), planned(plan));
    }

    /// Learns of a host that is not this machine: its name stays out of every line from here on.
    pub(crate) fn hide_host(&mut self, name: &str) {
        // An address with its port, and the bare name.
        let bare = name.rsplit_once(':').map_or(name, |(host, _)| host);
        for known in [name, bare] {
            if known.len() > 3 && !self.hosts.iter().any(|host| host == known) {
                self.hosts.push(known.to_owned());
            }
        }
        self.hosts.sort_by_key(|host| std::cmp::Reverse(host.len()));
    }

    /// Keeps what was sent, for the line of this turn: the digest of all messages, how many of them are known from the
    /// turn before, and the others.
    pub(crate) fn prompt(&mut self, messages: &[Message]) {
        let whole: String = messages
            .iter()
            .map(|message| format!("{}\0{}\0", message.role.name(), message.content))
            .collect();
        self.turn.insert(
            "prompt".to_owned(),
            journal::digest(whole.as_bytes()).into(),
        );
        // Another conversation may begin, and old observations may be left out: what differs is told again.
        let kept = self.told.iter().zip(messages);
        let kept = kept.take_while(|(told, message)| told == message).count();
        let new: Vec<Value> = messages[kept..]
            .iter()
            .map(|message| json!({"role": message.role.name(), "content": message.content}))
            .collect();
        self.turn.insert("kept".to_owned(), kept.into());
        self.turn.insert("messages".to_owned(), new.into());
        self.said = messages.to_vec();
    }

    /// Keeps what came back, for the line of this turn.
    pub(crate) fn reply(&mut self, text: &str) {
        self.turn.insert("reply".to_owned(), text.into());
        self.said.push(Message {
            role: Role::Assistant,
            content: text.to_owned(),
        });
    }

    /// Keeps which files stand as this turn's reply wrote them, for its line. Later turns may write them again.
    pub(crate) fn stands(&mut self, paths: Vec<String>) {
        self.turn.insert("stands".to_owned(), paths.into());
    }

    /// Writes one turn.
    pub(crate) fn turn(&mut self, project: &Project, step: &Step) -> Result<(), String> {
        let mut fields = std::mem::take(&mut self.turn);
        self.told.clone_from(&self.said);
        if let Ok(Value::Object(step)) = serde_json::to_value(step) {
            fields.extend(step);
        }
        self.line(project, "turn", Value::Object(fields))
    }

    /// Writes how the run ended, and what it changed. A change that holds a secret is not kept whole, and says so.
    pub(crate) fn end(
        &mut self,
        project: &Project,
        mut fields: Value,
        changes: &[RecordedChange],
    ) -> Result<(), String> {
        let whole = |change: &RecordedChange| {
            let after = change.after.as_deref().unwrap_or_default();
            self.clean(after) == after
        };
        let kept = changes.iter().all(whole);
        if let (Some(fields), false) = (fields.as_object_mut(), kept) {
            fields.insert("redacted".to_owned(), true.into());
        }
        if let (Some(fields), Some(plan)) = (fields.as_object_mut(), self.turn.remove("plan")) {
            fields.insert("plan".to_owned(), plan);
        }
        let mut line = self.redacted(fields);
        // What can be made again is kept as it is, however long: there is nothing in it to hide.
        if let (Some(line), true, false) = (line.as_object_mut(), kept, changes.is_empty()) {
            let changes = serde_json::to_value(changes).unwrap_or_default();
            line.insert("changes".to_owned(), changes);
        }
        self.write(project, "end", line)
    }

    /// Writes no more lines.
    pub(crate) fn give_up(&mut self) {
        self.place = Place::Nowhere;
    }

    fn line(&mut self, project: &Project, kind: &str, fields: Value) -> Result<(), String> {
        let fields = self.redacted(fields);
        self.write(project, kind, fields)
    }

    /// Writes a line whose fields are redacted already.
    fn write(&mut self, project: &Project, kind: &str, fields: Value) -> Result<(), String> {
        if matches!(self.place, Place::Nowhere) {
            return Ok(());
        }
        let at = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |time| time.as_secs_f64());
        let mut line = Map::new();
        line.insert("v".to_owned(), VERSION.into());
        line.insert("run".to_owned(), self.run.clone().into());
        line.insert("n".to_owned(), self.number.into());
        line.insert("at".to_owned(), ((at * 1000.0).round() / 1000.0).into());
        line.insert("kind".to_owned(), kind.into());
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        self.number += 1;
        let text = Value::Object(line).to_string();
        match &self.place {
            Place::Nowhere => Ok(()),
            Place::Project => {
                trace::append_in_project(project.door(), &text).map_err(|error| error.to_string())
            }
            Place::File(path) => trace::append(path, &text)
                .map_err(|error| format!("cannot write the record `{}`: {error}", path.display())),
        }
    }

    /// Returns a value with every text in it redacted.
    fn redacted(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redacted_text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.redacted(item)).collect(),
            Value::Object(fields) => Value::Object(
                fields
                    .into_iter()
                    .map(|(name, value)| (name, self.redacted(value)))
                    .collect(),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    fn redacted_text(&self, text: &str) -> String {
        let clean = self.clean(text);
        match clean.char_indices().nth(LONGEST_FIELD) {
            Some((end, _)) => clean[..end].to_owned(),
            None => clean,
        }
    }

    /// Returns a text without what a record does not keep.
    fn clean(&self, text: &str) -> String {
        let mut clean = secret::redact(text).into_owned();
        if let Some(home) = &self.home {
            clean = clean.replace(home.as_str(), "~");
        }
        for host in &self.hosts {
            clean = clean.replace(host.as_str(), "[host]");
        }
        clean
    }
}
