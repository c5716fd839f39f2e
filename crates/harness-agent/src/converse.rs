//! A conversation, turn by turn: what was said is remembered, each message is read in its light, and a turn is an
//! ordinary run with its ordinary result.

use std::time::{SystemTime, UNIX_EPOCH};

use harness_code::tree::TreeError;
use harness_hands::permit::{Access, Project};
use harness_hands::trace;
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::dialogue::{self, Meaning, Said};
use crate::options::OptionsError;
use crate::plan::Route;
use crate::run::event::Listener;
use crate::run::result::RunResult;
use crate::secret;

/// A conversation about one project.
///
/// ```
/// use harness_agent::{Agent, AgentOptions, Cancel, Nobody};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # std::fs::write(folder.path().join("cart.py"), "def total(prices):\n    return sum(prices)\n").unwrap();
/// let mut dialogue = Agent::new(AgentOptions::new(folder.path())).converse();
/// let mut say = |words| dialogue.say(words, &mut Nobody, &Cancel::default()).unwrap();
/// assert_eq!(say("rename total to subtotal").writes, ["cart.py"]);
/// assert_eq!(say("rename it to sum_up").writes, ["cart.py"]);
/// assert_eq!(say("undo that").writes, ["cart.py"]);
/// assert_eq!(say("thanks!").summary, "Any time.");
/// ```
#[derive(Clone, Debug)]
pub struct Dialogue {
    agent: Agent,
    said: Vec<Said>,
    /// Messages that were ever said; the oldest of them are forgotten.
    count: usize,
    /// What the caller's own system told the model, before anything was said.
    preface: String,
    /// The name under which it is kept in the project, when it is.
    kept: Option<String>,
    /// What the model is shown beside what was said.
    beside: String,
}

/// What a message comes to, before anything is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing is to be done; this is the reply.
    Reply(&'static str),
    /// This run is to be taken back; without a name the latest that changed something.
    Undo(Option<String>),
    /// A question about the project.
    Ask(String),
    /// A task that would change files.
    Run {
        /// The task, whole in itself.
        task: String,
        /// Whether the user is asked something first.
        asks_back: bool,
    },
}

impl Turn {
    /// Returns whether files may change.
    pub fn writes(&self) -> bool {
        match self {
            Turn::Reply(_) | Turn::Ask(_) => false,
            Turn::Undo(_) | Turn::Run { .. } => true,
        }
    }

    /// Returns the task, where there is one.
    pub fn task(&self) -> &str {
        match self {
            Turn::Reply(_) | Turn::Undo(_) => "",
            Turn::Ask(task) | Turn::Run { task, .. } => task,
        }
    }
}

/// A conversation of another program's is remembered by us no longer than this, in messages.
const MOST_REMEMBERED: usize = 400;
/// The longest message that is kept on disk, in characters.
const LONGEST_KEPT: usize = 20_000;
/// The longest preface that a model is shown, in characters.
const LONGEST_PREFACE: usize = 600;
/// The longest text that a model is shown beside what was said, in characters.
const LONGEST_BESIDE: usize = 1_000;
/// Kept conversations that are listed.
const MOST_LISTED: usize = 20;

impl Agent {
    /// Begins a conversation.
    pub fn converse(&self) -> Dialogue {
        Dialogue::of(self.clone(), Vec::new())
    }
}

impl Dialogue {
    /// Takes up a conversation after what was said.
    pub fn of(agent: Agent, said: Vec<Said>) -> Dialogue {
        Dialogue {
            agent,
            count: said.len(),
            said,
            preface: String::new(),
            kept: None,
            beside: String::new(),
        }
    }

    /// Returns the same conversation with what the model is told before anything was said.
    #[must_use]
    pub fn with_preface(mut self, preface: &str) -> Dialogue {
        self.preface = cut(preface, LONGEST_PREFACE);
        self
    }

    /// Returns the same conversation, kept in the project's `.harness/` from here on: redacted, for the user alone.
    #[must_use]
    pub fn kept(mut self) -> Dialogue {
        let name = SystemTime::now().duration_since(UNIX_EPOCH);
        let name = name.map_or(0, |since| since.as_micros());
        self.kept.get_or_insert_with(|| format!("{name:x}"));
        self
    }

    /// Takes up the conversation that was kept last in the project; a new one where there is none.
    pub fn resumed(agent: Agent) -> Result<Dialogue, OptionsError> {
        let last = kept_lines(&agent)?.pop().map(|(name, _)| name);
        let taken_up = match &last {
            Some(name) => Dialogue::named(agent.clone(), name)?,
            None => None,
        };
        Ok(taken_up.unwrap_or_else(|| Dialogue::of(agent, Vec::new()).kept()))
    }

    /// Returns what was said, oldest first.
    pub fn said(&self) -> &[Said] {
        &self.said
    }

    /// Returns the agent that it is held with.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Goes on with an agent of other settings.
    pub fn change_agent(&mut self, agent: Agent) {
        self.agent = agent;
    }

    /// Reads a message and finds out what it asks for. Nothing is changed.
    pub fn read(&self, message: &str) -> Result<Turn, OptionsError> {
        self.read_planned(message).map(|(turn, _)| turn)
    }

    /// The same, with where a task would lead.
    pub fn read_planned(&self, message: &str) -> Result<(Turn, Option<Route>), OptionsError> {
        self.turn(message, self.agent.stop())?
            .map_err(|error| OptionsError::unreadable("project", error))
    }

    /// The same, unless it is stopped while the project is read.
    fn turn(
        &self,
        message: &str,
        cancel: &Cancel,
    ) -> Result<Result<(Turn, Option<Route>), TreeError>, OptionsError> {
        let task = match dialogue::read(&self.said, message) {
            Meaning::Task(task) => task,
            Meaning::Reply(words) => return Ok(Ok((Turn::Reply(words), None))),
            Meaning::Undo(run) => return Ok(Ok((Turn::Undo(run), None))),
        };
        let route = self.agent.route_unless_stopped(&task, cancel)?;
        Ok(route.map(|route| {
            let turn = match route.writes {
                true => Turn::Run {
                    task,
                    asks_back: route.question.is_some(),
                },
                false => Turn::Ask(task),
            };
            (turn, Some(route))
        }))
    }

    /// Does what a message asks for, and remembers both.
    pub fn say(
        &mut self,
        message: &str,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        let turn = match self.turn(message, cancel)? {
            Ok((turn, _)) => turn,
            Err(TreeError::Stopped) => return Ok(RunResult::interrupted()),
            Err(error) => return Err(OptionsError::unreadable("project", error)),
        };
        self.perform(message, &turn, listener, cancel)
    }

    /// Answers a message as a question, whatever it asks for, and remembers both.
    pub fn ask(
        &mut self,
        message: &str,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        let question = match dialogue::read(&self.said, message) {
            Meaning::Task(task) => task,
            Meaning::Reply(_) | Meaning::Undo(_) => message.to_owned(),
        };
        self.perform(message, &Turn::Ask(question), listener, cancel)
    }

    /// Returns whether the last reply asks the user something.
    pub fn waits_for_answer(&self) -> bool {
        dialogue::waits_for_answer(&self.said)
    }

    /// Returns how many messages were ever said.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Remembers what was said in a conversation that went on beside this one, since it had so many messages.
    pub fn hear_since(&mut self, count: usize, other: &Dialogue) {
        let new = other.count.saturating_sub(count);
        let begin = other.said.len().saturating_sub(new);
        let new = other.said[begin..].to_vec();
        new.into_iter().for_each(|said| self.remember(said));
    }

    /// Does what a message was found to ask for, and remembers both.
    pub fn perform(
        &mut self,
        message: &str,
        turn: &Turn,
        listener: &mut dyn Listener,
        cancel: &Cancel,
    ) -> Result<RunResult, OptionsError> {
        let mut options = self.agent.options().clone();
        options.context = self.context();
        let agent = self.agent.with_options(options);
        let result = match turn {
            Turn::Reply(words) => RunResult::said(*words),
            Turn::Undo(run) => agent.undo_telling(run.as_deref(), listener, cancel)?,
            Turn::Ask(task) => agent.ask(Some(task), listener, cancel)?,
            Turn::Run { task, .. } => agent.run(Some(task), listener, cancel)?,
        };
        self.remember(Said::by_user(message));
        self.remember(Said::by_agent(result.in_words()));
        Ok(result)
    }

    /// Returns what a model is told of the conversation: a few lines.
    fn context(&self) -> String {
        let mut said = dialogue::context(&self.said);
        if !self.beside.is_empty() {
            said = format!("{}\n{said}", self.beside);
        }
        match self.preface.trim() {
            "" => said,
            preface => format!("system: {preface}\n{said}"),
        }
    }

    fn remember(&mut self, said: Said) {
        if let Some(chat) = &self.kept {
            // What was said is a help for later; a folder that cannot be written is told of by the run itself.
            drop(self.keep(chat, &said));
        }
        self.said.push(said);
        self.count += 1;
        let too_many = self.said.len().saturating_sub(MOST_REMEMBERED);
        self.said.drain(..too_many);
    }

    fn keep(&self, chat: &str, said: &Said) -> Result<(), OptionsError> {
        let options = self.agent.options();
        if options.keep_no_record || !options.allow_writes {
            return Ok(());
        }
        let mut text = cut(&said.text, LONGEST_KEPT);
        if let Some(home) = self.agent.home().filter(|home| home.len() > 1) {
            text = text.replace(&home, "~");
        }
        let by = if said.by_user { "user" } else { "agent" };
        let line = json!({"v": 1, "chat": chat, "by": by, "text": text}).to_string();
        let project = open(&self.agent, Access::Writing)?;
        drop(trace::append_chat_in_project(project.door(), &line));
        Ok(())
    }
}

/// Returns the beginning of a text. Half a secret is none that would be seen: it goes first.
fn cut(text: &str, length: usize) -> String {
    secret::redact(text).chars().take(length).collect()
}

/// A conversation that is kept in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptDialogue {
    /// Its name.
    pub name: String,
    /// The first words that the user said.
    pub about: String,
}

impl Dialogue {
    /// Returns the name under which it is kept, when it is.
    pub fn name(&self) -> Option<&str> {
        self.kept.as_deref()
    }

    /// Shows the model a text beside what was said, from here on; empty shows nothing.
    pub fn show_beside(&mut self, text: &str) {
        self.beside = cut(text, LONGEST_BESIDE);
    }

    /// Takes up the conversation that is kept under a name, where there is one.
    pub fn named(agent: Agent, name: &str) -> Result<Option<Dialogue>, OptionsError> {
        let lines = kept_lines(&agent)?;
        let said: Vec<Said> = lines
            .into_iter()
            .filter(|(chat, _)| chat == name)
            .map(|(_, said)| said)
            .collect();
        let dialogue = |said| Dialogue {
            kept: Some(name.to_owned()),
            ..Dialogue::of(agent, said)
        };
        Ok((!said.is_empty()).then(|| dialogue(said)))
    }

    /// Lists the conversations that are kept in an agent's project, newest first.
    pub fn listed(agent: &Agent) -> Result<Vec<KeptDialogue>, OptionsError> {
        let mut found: Vec<KeptDialogue> = Vec::new();
        for (name, said) in kept_lines(agent)? {
            if !found.iter().any(|known| known.name == name) {
                let about = said.text.lines().next().unwrap_or_default();
                let about = about.chars().take(80).collect();
                found.push(KeptDialogue { name, about });
            }
        }
        found.reverse();
        found.truncate(MOST_LISTED);
        Ok(found)
    }
}

/// Returns what was said in an agent's project, with the name of the conversation. A line that cannot be read is none.
fn kept_lines(agent: &Agent) -> Result<Vec<(String, Said)>, OptionsError> {
    let project = open(agent, Access::ReadOnly)?;
    let lines = trace::chat_lines(project.door());
    let read = |line: &String| {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = line["text"].as_str()?.to_owned();
        let by_user = line["by"] == "user";
        Some((line["chat"].as_str()?.to_owned(), Said { by_user, text }))
    };
    Ok(lines.iter().filter_map(read).collect())
}

fn open(agent: &Agent, access: Access) -> Result<Project, OptionsError> {
    let checked = agent.options().check()?;
    Project::open(&checked.project, checked.scope.as_ref(), access)
        .map_err(|error| OptionsError::unreadable("project", error))
}
