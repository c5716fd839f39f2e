//! What an editor sees of a turn while it goes on: thoughts, tool calls with their places, the plan, and a change before
//! it is kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use agent_client_protocol::v1::schema::{
    Content, ContentChunk, PermissionOption, PermissionOptionKind, Plan, PlanEntry,
    PlanEntryPriority, PlanEntryStatus, RequestPermissionOutcome, RequestPermissionRequest,
    SessionNotification, SessionUpdate, ToolCall, ToolCallContent, ToolCallId, ToolCallLocation,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use harness_agent::{Cancel, Decision, Event, EventKind, Goal, Listener, Proposal, Question};
use serde_json::Value;
use tokio::runtime::Handle;

use crate::acp::Connection;
use crate::acp::buffers;
use crate::acp::diffs;
use crate::acp::sessions::Session;

/// How much of what a tool said is shown.
const LONGEST_RESULT: usize = 4_000;
const KEEP: &str = "keep";
const KEEP_ALL: &str = "keep_all";
const DROP: &str = "drop";

/// Listens to a turn for the editor.
pub(super) struct Editor {
    pub(super) session: Arc<Session>,
    pub(super) connection: Connection,
    pub(super) cancel: Cancel,
    pub(super) handle: Handle,
    pub(super) can_read: bool,
    /// What was shown of the answer already.
    pub(super) spoken: String,
    pub(super) calls: u32,
    /// The call that is under way: what is told next is how it ended.
    pub(super) running: Option<ToolCallId>,
    /// Tells the calls of one turn from those of others.
    pub(super) turn: usize,
}

impl Editor {
    /// Shows the editor something. One that has gone hears nothing.
    pub(super) fn show(&self, update: SessionUpdate) {
        let notification = SessionNotification::new(self.session.id.clone(), update);
        drop(self.connection.send_notification(notification));
    }

    /// Says something in the conversation.
    pub(super) fn say(&self, words: &str) {
        let chunk = ContentChunk::new(words.to_owned().into());
        self.show(SessionUpdate::AgentMessageChunk(chunk));
    }

    /// Says what is going on beside the conversation.
    pub(super) fn think(&self, words: &str) {
        let chunk = ContentChunk::new(format!("{words}\n").into());
        self.show(SessionUpdate::AgentThoughtChunk(chunk));
    }

    /// Shows what the task asks for, and what is done of it; before the turn has ended the first is worked on.
    pub(super) fn show_goals(&self, goals: &[Goal], has_ended: bool) {
        let mut worked_on = !has_ended;
        let entry = |goal: &Goal| {
            let status = match goal.met {
                true => PlanEntryStatus::Completed,
                false if std::mem::take(&mut worked_on) => PlanEntryStatus::InProgress,
                false => PlanEntryStatus::Pending,
            };
            PlanEntry::new(goal.text.clone(), PlanEntryPriority::Medium, status)
        };
        let entries: Vec<PlanEntry> = goals.iter().map(entry).collect();
        if !entries.is_empty() {
            self.show(SessionUpdate::Plan(Plan::new(entries)));
        }
    }

    /// Returns the text of a file in the editor, where it is not saved.
    pub(super) fn unsaved(&self, path: &Path) -> Option<String> {
        if !self.can_read {
            return None;
        }
        let found = buffers::unsaved(&self.connection, &self.session.id, path);
        self.handle.block_on(found)
    }

    fn next_call(&mut self, title: &str, kind: ToolKind) -> ToolCall {
        self.calls += 1;
        let id = format!("{}-{}-{}", self.session.id.0, self.turn, self.calls);
        ToolCall::new(id, title).kind(kind)
    }

    /// Shows something that is done, or begins, as a call of a tool.
    fn show_call(&mut self, event: &Event, kind: ToolKind) {
        let call = self.next_call(&event.text, kind);
        let places = places(event, &self.session.project);
        let shown = event.data.get("result").and_then(Value::as_str);
        let content = shown.filter(|text| !text.trim().is_empty()).map(|text| {
            let text: String = text.chars().take(LONGEST_RESULT).collect();
            ToolCallContent::Content(Content::new(text))
        });
        let status = match event.data.contains_key("begins") {
            true => ToolCallStatus::InProgress,
            false => ToolCallStatus::Completed,
        };
        let call = call
            .status(status)
            .locations(places)
            .content(content.into_iter().collect());
        if status == ToolCallStatus::InProgress {
            self.running = Some(call.tool_call_id.clone());
        }
        self.show(SessionUpdate::ToolCall(call));
    }

    /// Shows how the tests go: one call from their beginning to what they said.
    fn show_tests(&mut self, event: &Event) {
        let is_running = event.data.contains_key("running");
        let call = match is_running {
            true => self.running.clone(),
            false => self.running.take(),
        };
        let Some(call) = call.filter(|_| !event.data.contains_key("begins")) else {
            return self.show_call(event, ToolKind::Execute);
        };
        let fields = ToolCallUpdateFields::new().title(event.text.clone());
        let fields = match is_running {
            true => fields,
            false if self.cancel.stopped() => fields.status(ToolCallStatus::Failed),
            false => fields.status(ToolCallStatus::Completed),
        };
        self.show(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(
            call, fields,
        )));
    }

    fn permitted(&self, call: &ToolCall) -> Decision {
        let options = [
            (KEEP, "Keep it", PermissionOptionKind::AllowOnce),
            (
                KEEP_ALL,
                "Keep it and ask no more in this session",
                PermissionOptionKind::AllowAlways,
            ),
            (DROP, "Drop it", PermissionOptionKind::RejectOnce),
        ];
        let options = options.map(|(id, name, kind)| PermissionOption::new(id, name, kind));
        let fields = ToolCallUpdateFields::new()
            .title(call.title.clone())
            .kind(call.kind)
            .status(ToolCallStatus::Pending)
            .content(call.content.clone())
            .locations(call.locations.clone());
        let update = ToolCallUpdate::new(call.tool_call_id.clone(), fields);
        let id = self.session.id.clone();
        let request = RequestPermissionRequest::new(id, update, options.to_vec());
        let reply = async {
            let reply = self.connection.send_request(request).block_task();
            tokio::select! {
                reply = reply => reply.ok(),
                () = stopped(&self.cancel) => None,
            }
        };
        let reply = self.handle.block_on(reply);
        // A turn that was cancelled writes nothing, whatever was answered meanwhile.
        let Some(reply) = reply.filter(|_| !self.cancel.stopped()) else {
            return Decision::Drop;
        };
        match reply.outcome {
            RequestPermissionOutcome::Selected(chosen) => match &*chosen.option_id.0 {
                KEEP => Decision::Keep,
                KEEP_ALL => {
                    self.session.keeps_all.store(true, Ordering::Relaxed);
                    Decision::Keep
                }
                _ => Decision::Drop,
            },
            // The editor answers so when the turn is cancelled.
            _ => {
                self.cancel.stop();
                Decision::Drop
            }
        }
    }
}

/// Waits until a flag is set. Only a question to a person waits so long.
async fn stopped(cancel: &Cancel) {
    while !cancel.stopped() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

impl Listener for Editor {
    fn event(&mut self, event: &Event) {
        let named = event.data.get("action").and_then(Value::as_str);
        match event.kind {
            EventKind::Located => self.show_call(event, ToolKind::Search),
            EventKind::Action => match named.unwrap_or_default() {
                "read" => self.show_call(event, ToolKind::Read),
                "search" | "map" => self.show_call(event, ToolKind::Search),
                _ => self.show_call(event, ToolKind::Think),
            },
            EventKind::Tests => self.show_tests(event),
            EventKind::Wrote if event.data.contains_key("path") => {
                self.show_call(event, ToolKind::Edit);
            }
            // Both are told by the result.
            EventKind::Question | EventKind::Finished => {}
            EventKind::Started
            | EventKind::Wrote
            | EventKind::Fixed
            | EventKind::Engine
            | EventKind::Sent
            | EventKind::Reply
            | EventKind::Refused
            | EventKind::Undone => self.think(&event.text),
        }
    }

    fn answer(&mut self, piece: &str) {
        self.spoken.push_str(piece);
        self.say(piece);
    }

    fn decide(&mut self, proposal: &Proposal<'_>) -> Option<Decision> {
        let (files, project) = (proposal.files, self.session.project.clone());
        let unsaved = files
            .iter()
            .find(|file| self.unsaved(&diffs::place(file, &project)).is_some());
        if let Some(file) = unsaved {
            self.say(&save_first(file.path.as_str()));
            return Some(Decision::Drop);
        }
        let title = proposal.summary.lines().next().unwrap_or_default();
        let shown = |file| ToolCallContent::Diff(diffs::shown(file, &project));
        let place = |file| diffs::location(file, &project);
        let call = self
            .next_call(title, ToolKind::Edit)
            .status(ToolCallStatus::Pending)
            .content(files.iter().map(shown).collect())
            .locations(files.iter().map(place).collect());
        self.show(SessionUpdate::ToolCall(call.clone()));
        let decision = match self.session.keeps_all.load(Ordering::Relaxed) {
            true => Decision::Keep,
            false => self.permitted(&call),
        };
        let status = match decision {
            Decision::Keep => ToolCallStatus::Completed,
            Decision::Drop | Decision::Edit(_) => ToolCallStatus::Failed,
        };
        let fields = ToolCallUpdateFields::new().status(status);
        let update = ToolCallUpdate::new(call.tool_call_id, fields);
        self.show(SessionUpdate::ToolCallUpdate(update));
        Some(decision)
    }

    fn question(&mut self, _question: &Question) -> Option<String> {
        // The question ends the turn; what the user says next is read as the answer.
        None
    }
}

/// Returns what the user is told of a file that is not saved.
pub(super) fn save_first(path: &str) -> String {
    format!("`{path}` has changes in the editor that are not saved: save it, then say it again.\n")
}

/// Returns the places that an event speaks of: one path, or a list of `name (path:line)`.
fn places(event: &Event, project: &Path) -> Vec<ToolCallLocation> {
    let path = event.data.get("path").and_then(Value::as_str);
    let listed = event.data.get("places").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(Value::as_str);
    let all = path.into_iter().chain(listed);
    all.filter_map(|text| place(text, project)).collect()
}

fn place(text: &str, project: &Path) -> Option<ToolCallLocation> {
    let inner = text.rsplit_once('(').map_or(text, |(_, inner)| inner);
    let inner = inner.trim_end_matches(')');
    let (path, line) = match inner.rsplit_once(':') {
        Some((path, line)) => (path, line.parse::<u32>().ok()),
        None => (inner, None),
    };
    let full: PathBuf = project.join(path);
    let place = ToolCallLocation::new(full.clone());
    full.is_file().then(|| match line {
        Some(line) => place.line(line),
        None => place,
    })
}
