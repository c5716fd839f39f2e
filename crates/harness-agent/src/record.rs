//! The record of a run: one redacted JSON object a line. Enough to tell the story again, nothing that is secret.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use harness_hands::permit::Project;
use harness_hands::trace;
use serde_json::{Map, Value, json};

use crate::history::Step;
use crate::model::Message;
use crate::options::AgentOptions;
use crate::secret;

/// The version of the lines.
const VERSION: u32 = 1;
/// The longest text of one field, in characters; a trace is for reading.
const LONGEST_FIELD: usize = 20_000;

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
    said: usize,
    turn: Map<String, Value>,
}

impl Record {
    /// Opens the record that the options ask for. A run that may not write leaves none in the project.
    pub(crate) fn open(
        options: &AgentOptions,
        run: &str,
        home: Option<&std::path::Path>,
    ) -> Record {
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
            said: 0,
            turn: Map::new(),
        }
    }

    /// Writes that the run began.
    pub(crate) fn start(
        &mut self,
        project: &Project,
        task: &str,
        options: &AgentOptions,
    ) -> Result<(), String> {
        let fields = json!({"task": task, "model": options.model, "engine": options.engine.name()});
        self.line(project, "start", fields)
    }

    /// Keeps what was sent, for the line of this turn: the new messages only.
    pub(crate) fn prompt(&mut self, messages: &[Message]) {
        let new: Vec<Value> = messages[self.said.min(messages.len())..]
            .iter()
            .map(|message| json!({"role": message.role.name(), "content": message.content}))
            .collect();
        // The reply that follows becomes a message too; it has its own field.
        self.said = messages.len() + 1;
        self.turn.insert("messages".to_owned(), new.into());
    }

    /// Keeps what came back, for the line of this turn.
    pub(crate) fn reply(&mut self, text: &str) {
        self.turn.insert("reply".to_owned(), text.into());
    }

    /// Writes one turn.
    pub(crate) fn turn(&mut self, project: &Project, step: &Step) -> Result<(), String> {
        let mut fields = std::mem::take(&mut self.turn);
        if let Ok(Value::Object(step)) = serde_json::to_value(step) {
            fields.extend(step);
        }
        self.line(project, "turn", Value::Object(fields))
    }

    /// Writes how the run ended.
    pub(crate) fn end(&mut self, project: &Project, fields: Value) -> Result<(), String> {
        self.line(project, "end", fields)
    }

    /// Writes no more lines.
    pub(crate) fn give_up(&mut self) {
        self.place = Place::Nowhere;
    }

    fn line(&mut self, project: &Project, kind: &str, fields: Value) -> Result<(), String> {
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
        if let Value::Object(fields) = self.redacted(fields) {
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
        let mut clean = secret::redact(text).into_owned();
        if let Some(home) = &self.home {
            clean = clean.replace(home.as_str(), "~");
        }
        if clean.chars().count() > LONGEST_FIELD {
            clean = clean.chars().take(LONGEST_FIELD).collect();
        }
        clean
    }
}
