//! The sessions of an editor: each a conversation about one project, in one of two modes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, ContentChunk, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, NewSessionResponse, SessionId, SessionInfo, SessionMode, SessionModeState,
    SessionNotification, SessionUpdate, SetSessionModeRequest, SetSessionModeResponse,
};
use harness_agent::{Agent, AgentOptions, Cancel, Dialogue};
use serde_json::Value;
use tokio::sync::RwLock;

use crate::acp::{AcpOptions, Connection};
use crate::runtime::locked;

/// What a session may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Questions are answered, changes are only shown.
    Ask,
    /// Tasks are done; each change is shown before it is kept.
    Write,
}

impl Mode {
    const ALL: [Mode; 2] = [Mode::Write, Mode::Ask];

    fn id(self) -> &'static str {
        match self {
            Mode::Ask => "ask",
            Mode::Write => "write",
        }
    }

    fn shown(self) -> SessionMode {
        let (name, about) = match self {
            Mode::Ask => (
                "Ask",
                "Answers questions and shows what would change; writes nothing",
            ),
            Mode::Write => ("Write", "Does tasks; shows each change before it is kept"),
        };
        SessionMode::new(self.id(), name).description(about.to_owned())
    }
}

/// One session.
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) project: PathBuf,
    /// Held by the turn that is under way.
    pub(super) dialogue: Arc<tokio::sync::Mutex<Dialogue>>,
    mode: Mutex<Mode>,
    cancel: Mutex<Cancel>,
    /// The user wants to be asked no more.
    pub(super) keeps_all: AtomicBool,
}

impl Session {
    pub(super) fn mode(&self) -> Mode {
        *locked(&self.mode)
    }

    /// Returns the flag that stops the turn that begins now.
    pub(super) fn begin_turn(&self) -> Cancel {
        let cancel = Cancel::default();
        *locked(&self.cancel) = cancel.clone();
        cancel
    }
}

/// All sessions of one editor.
pub(super) struct Sessions {
    agent: Agent,
    /// The one project that is served; without it each session names its own.
    project: Option<PathBuf>,
    can_read: AtomicBool,
    open: Mutex<HashMap<SessionId, Arc<Session>>>,
    /// Read by every turn under way.
    pub(super) turns: Arc<RwLock<()>>,
}

impl Sessions {
    pub(super) fn new(options: AcpOptions) -> Arc<Sessions> {
        Arc::new(Sessions {
            agent: Agent::new(options.agent),
            project: options.project,
            can_read: AtomicBool::new(false),
            open: Mutex::default(),
            turns: Arc::default(),
        })
    }

    /// Remembers what the editor can do.
    pub(super) fn meet(&self, capabilities: &ClientCapabilities) {
        let can_read = capabilities.fs.read_text_file;
        self.can_read.store(can_read, Ordering::Relaxed);
    }

    /// Returns whether files can be read through the editor.
    pub(super) fn can_read(&self) -> bool {
        self.can_read.load(Ordering::Relaxed)
    }

    /// Returns an open session.
    pub(super) fn get(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        let found = locked(&self.open).get(id).cloned();
        found.ok_or_else(|| problem("there is no such session", "begin one with session/new"))
    }

    /// Begins a session about a folder.
    pub(super) async fn begin(&self, folder: &Path) -> Result<NewSessionResponse, Error> {
        let agent = self.agent(folder)?;
        let dialogue = agent.converse().kept();
        let name = dialogue.name().unwrap_or_default().to_owned();
        let session = self.add(SessionId::new(name), dialogue);
        Ok(NewSessionResponse::new(session.id.clone()).modes(modes(session.mode())))
    }

    /// Takes up a session of before, and tells the editor what was said in it.
    pub(super) async fn load(
        &self,
        request: &LoadSessionRequest,
        connection: &Connection,
    ) -> Result<LoadSessionResponse, Error> {
        let known = self.get(&request.session_id).ok();
        let session = match known {
            Some(session) => session,
            None => {
                let agent = self.agent(&request.cwd)?;
                let found = Dialogue::named(agent, &request.session_id.0);
                let found = found.map_err(|error| problem(&error.message, &error.hint))?;
                let Some(dialogue) = found else {
                    let hint = "session/list says which there are";
                    return Err(problem("there is no such session", hint));
                };
                self.add(request.session_id.clone(), dialogue)
            }
        };
        // A turn may wait for the editor's answer, which comes over the same line as this.
        let Ok(dialogue) = session.dialogue.try_lock() else {
            let hint = "wait for its end, or cancel it";
            return Err(problem("a turn of this session is under way", hint));
        };
        for said in dialogue.said() {
            let chunk = ContentChunk::new(said.text.clone().into());
            let update = match said.by_user {
                true => SessionUpdate::UserMessageChunk(chunk),
                false => SessionUpdate::AgentMessageChunk(chunk),
            };
            drop(
                connection.send_notification(SessionNotification::new(session.id.clone(), update)),
            );
        }
        Ok(LoadSessionResponse::new().modes(modes(session.mode())))
    }

    /// Lists the sessions of a folder, or of the one project that is served.
    pub(super) async fn list(&self, folder: Option<&Path>) -> Result<ListSessionsResponse, Error> {
        let folders: Vec<PathBuf> = match folder.or(self.project.as_deref()) {
            Some(folder) => vec![self.agent(folder)?.options().project.clone()],
            None => {
                let open = locked(&self.open);
                let mut folders: Vec<PathBuf> = open
                    .values()
                    .map(|session| session.project.clone())
                    .collect();
                folders.sort();
                folders.dedup();
                folders
            }
        };
        let mut found = Vec::new();
        for folder in folders {
            let kept = Dialogue::listed(&self.agent(&folder)?);
            let kept = kept.map_err(|error| problem(&error.message, &error.hint))?;
            found.extend(kept.into_iter().map(|kept| {
                SessionInfo::new(SessionId::new(kept.name), folder.clone()).title(kept.about)
            }));
        }
        Ok(ListSessionsResponse::new(found))
    }

    /// Changes what a session may do, from its next turn on.
    pub(super) fn set_mode(
        &self,
        request: &SetSessionModeRequest,
    ) -> Result<SetSessionModeResponse, Error> {
        let session = self.get(&request.session_id)?;
        let wanted = |mode: &Mode| mode.id() == &*request.mode_id.0;
        let Some(mode) = Mode::ALL.into_iter().find(wanted) else {
            return Err(problem("there is no such mode", "modes are ask and write"));
        };
        *locked(&session.mode) = mode;
        Ok(SetSessionModeResponse::new())
    }

    /// Stops the turn of a session.
    pub(super) fn stop(&self, id: &SessionId) {
        if let Ok(session) = self.get(id) {
            locked(&session.cancel).stop();
        }
    }

    /// Stops every turn.
    pub(super) fn stop_all(&self) {
        let open = locked(&self.open);
        open.values()
            .for_each(|session| locked(&session.cancel).stop());
    }

    /// Waits until every turn has put its files in order, but not for ever.
    pub(super) async fn ended(&self, patience: Duration) {
        drop(tokio::time::timeout(patience, self.turns.write()).await);
    }

    fn add(&self, id: SessionId, dialogue: Dialogue) -> Arc<Session> {
        let session = Arc::new(Session {
            id: id.clone(),
            project: dialogue.agent().options().project.clone(),
            dialogue: Arc::new(tokio::sync::Mutex::new(dialogue)),
            mode: Mutex::new(Mode::Write),
            cancel: Mutex::default(),
            keeps_all: AtomicBool::new(false),
        });
        locked(&self.open).insert(id, Arc::clone(&session));
        session
    }

    /// Returns the agent for a session's folder: the one project that is served, or that folder.
    fn agent(&self, folder: &Path) -> Result<Agent, Error> {
        let mut options = AgentOptions {
            project: folder.to_owned(),
            ..self.agent.options().clone()
        };
        let checked = options.check();
        let found = checked.map_err(|error| problem(&error.message, &error.hint))?;
        options.project = found.project;
        if let Some(only) = &self.project {
            if !options.project.starts_with(only) {
                let message = format!("this server is for `{}` alone", only.display());
                let hint = "start `harness acp` without a folder to serve every project";
                return Err(problem(&message, hint));
            }
            options.project.clone_from(only);
        }
        Ok(self.agent.with_options(options))
    }
}

fn modes(current: Mode) -> SessionModeState {
    SessionModeState::new(current.id(), Mode::ALL.map(Mode::shown).to_vec())
}

/// Returns an error that says what is wrong and what to do.
pub(super) fn problem(message: &str, hint: &str) -> Error {
    let mut error = Error::invalid_params().data(Value::from(format!("hint: {hint}")));
    error.message = message.to_owned();
    error
}
