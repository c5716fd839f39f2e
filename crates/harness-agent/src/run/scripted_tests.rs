//! What tests of a run share: a project of a few files, a model whose replies are written down, a listener that answers
//! and keeps what it hears, and what became of all of them. What a run does is tested where that lives.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use harness_code::edit::{FileChange, unified_diff};
use harness_code::locate::TaskOccurrences;
use harness_code::path::RelPath;
use harness_code::request;
use harness_hands::journal::RunId;
use harness_hands::permit::{Access, Project};
use tempfile::TempDir;

use super::runner_options;
use crate::cancel::Cancel;
use crate::config::UserConfig;
use crate::env::Environment;
use crate::history::{Refusal, Step};
use crate::model::{
    Abilities, Card, Finish, Heard, Message, Model, ModelError, Reply, Request, Role,
};
use crate::options::AgentOptions;
use crate::plan::{Plan, Spot};
use crate::question::Question;
use crate::record::{Past, Record};
use crate::run::context::{Context, LookedUp};
use crate::run::ending::Ended;
use crate::run::event::{Decision, Event, EventKind, Listener, Proposal};
use crate::run::log::Log;
use crate::run::resources::Resources;
use crate::run::strategy::{Outcome, Strategy, pursue};

#[path = "../../../../tests/support/scripted.rs"]
mod scripted;
use scripted::Scripted;

/// A discount that takes percents for money.
pub(super) const PRICING: (&str, &str) = (
    "pricing.py",
    "def discount(total, percent):\n    return total - percent\n",
);
/// Fails by it.
pub(super) const TEST_PRICING: (&str, &str) = (
    "test_pricing.py",
    "import unittest\n\nfrom pricing import discount\n\n\nclass T(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(discount(200, 10), 180)\n",
);
/// A reply that mends it.
pub(super) const RIGHT: &str =
    "```python\ndef discount(total, percent):\n    return total - total * percent / 100\n```";
/// One that does not.
pub(super) const WRONG: &str =
    "```python\ndef discount(total, percent):\n    return total + percent\n```";
/// The diff of the right one.
pub(super) const MENDED: &str = "--- a/pricing.py\n+++ b/pricing.py\n@@ -1,2 +1,2 @@\n def discount(total, percent):\n-    return total - percent\n+    return total - total * percent / 100\n";

/// The project's own folder; models are told its name.
const FOLDER: &str = "shop";

/// A reply that ends with this is cut there by the length that a reply may have.
pub(super) const CUT: &str = "<cut>";

/// A project, a task, and whoever takes part in meeting it.
pub(super) struct Stage {
    _folder: TempDir,
    task: String,
    pub(super) options: AgentOptions,
    pub(super) config: UserConfig,
    pub(super) cancel: Cancel,
    /// What the model says, one reply after the other; the last one repeats.
    pub(super) replies: Vec<String>,
    pub(super) abilities: Abilities,
    /// What is wrong with the engine, and how many replies come before that shows.
    pub(super) trouble: Option<(usize, ModelError)>,
    /// What the user answers, one question after the other.
    pub(super) answers: Vec<String>,
    /// The run of the past whose changes are made again.
    pub(super) past: Option<Past>,
    /// The user stops the run when an event of this kind is told.
    pub(super) stops_at: Option<EventKind>,
    /// What the user decides of each change that is shown.
    pub(super) decisions: Vec<Decision>,
}

impl Stage {
    /// Lays a project out. A search beside the model is left out unless a test asks for it.
    pub(super) fn new(files: &[(&str, &str)], task: &str) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let stage = Stage {
            task: task.to_owned(),
            options: AgentOptions {
                keep_no_record: true,
                ..AgentOptions::new(folder.path().join(FOLDER))
            },
            config: UserConfig {
                search: Some(false),
                ..UserConfig::default()
            },
            cancel: Cancel::default(),
            replies: Vec::new(),
            abilities: Abilities::default(),
            trouble: None,
            answers: Vec::new(),
            past: None,
            stops_at: None,
            decisions: Vec::new(),
            _folder: folder,
        };
        files
            .iter()
            .for_each(|(name, text)| stage.write(name, text));
        stage
    }

    /// Writes a file of the project.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests lay projects out in a temporary folder"
    )]
    pub(super) fn write(&self, name: &str, text: &str) {
        let place = self.options.project.join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }

    /// Lays out the project whose discount is wrong, with a test that says so.
    pub(super) fn pricing() -> Stage {
        Stage::new(&[PRICING, TEST_PRICING], "fix discount in pricing.py")
    }

    pub(super) fn replies<'r>(mut self, replies: impl IntoIterator<Item = &'r str>) -> Stage {
        self.replies = replies.into_iter().map(str::to_owned).collect();
        self
    }

    pub(super) fn answers<'r>(mut self, answers: impl IntoIterator<Item = &'r str>) -> Stage {
        self.answers = answers.into_iter().map(str::to_owned).collect();
        self
    }

    pub(super) fn read_only(mut self) -> Stage {
        self.options.allow_writes = false;
        self
    }

    pub(super) fn steps(mut self, steps: u32) -> Stage {
        self.options.steps = steps;
        self
    }

    pub(super) fn searching(mut self) -> Stage {
        self.config.search = None;
        self
    }

    pub(super) fn stopped_at(mut self, kind: EventKind) -> Stage {
        self.stops_at = Some(kind);
        self
    }

    /// Takes the engine away once it has said this many replies.
    pub(super) fn without_engine_after(mut self, replies: usize) -> Stage {
        let error = ModelError::Unusable {
            message: "no model server answers".to_owned(),
            hint: "start one".to_owned(),
            cause: None,
        };
        self.trouble = Some((replies, error));
        self
    }

    pub(super) fn without_engine(self) -> Stage {
        self.without_engine_after(0)
    }

    /// Says whether a strategy suits the plan of the task, after this was made of it.
    pub(super) fn suits_as(
        &self,
        strategy: &dyn Strategy,
        made: impl FnOnce(&Plan) -> Plan,
    ) -> bool {
        let came = self.play(|scene| strategy.suits(scene.context, &made(scene.plan)));
        came.value
    }

    pub(super) fn suits(&self, strategy: &dyn Strategy) -> bool {
        self.suits_as(strategy, Plan::clone)
    }

    /// Lets a strategy attempt the plan of the task.
    pub(super) fn attempt(&self, strategy: &dyn Strategy) -> Came<Outcome> {
        self.play(|scene| scene.attempt(strategy))
    }

    /// Lets a test do what it wants in a run that began, and keeps what became of it.
    pub(super) fn play<T>(&self, act: impl FnOnce(&mut Scene<'_, '_>) -> T) -> Came<T> {
        let checked = self.options.check().unwrap();
        let access = match self.options.allow_writes {
            true => Access::Writing,
            false => Access::ReadOnly,
        };
        let environment = environment();
        let project = Project::open(&checked.project, checked.scope.as_ref(), access).unwrap();
        let project = project.with_runner_options(runner_options(&self.options, &self.config));
        let scope = checked.scope.as_ref();
        let hidden = self.config.hidden().unwrap();
        let stop = Arc::default();
        let task = request::Request::read(&self.task);
        let read = TaskOccurrences::read_hiding(&checked.project, scope, hidden, &stop, &task);
        let (tree, occurrences) = read.unwrap();
        let plan = Plan::make(&task, &tree, &occurrences, &self.options, &environment);
        let run = RunId::new();
        let mut user = User {
            told: Vec::new(),
            answers: self.answers.iter().cloned().collect(),
            stops_at: self.stops_at.map(|kind| (kind, self.cancel.clone())),
            decisions: self.decisions.iter().cloned().collect(),
        };
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let model = Watched {
            script: Scripted::new(self.replies.clone()),
            requests: Arc::clone(&requests),
            abilities: self.abilities,
            trouble: self.trouble.clone(),
        };
        let record = Record::open(&self.options, run.as_str(), None);
        let mut log = Log::new(&mut user, &project, record);
        let context = Context {
            options: &self.options,
            environment: &environment,
            config: &self.config,
            cancel: &self.cancel,
            project: &project,
            run: &run,
            files: &checked.files,
            past: self.past.as_ref(),
            read: tree,
            without_credentials: OnceCell::new(),
            found: &LookedUp::default(),
        };
        let mut resources = Resources::new(Some(Box::new(model)), self.options.steps);
        let value = act(&mut Scene {
            context: &context,
            log: &mut log,
            plan: &plan,
            resources: &mut resources,
        });
        let staged = resources.trial.as_ref().map(|trial| trial.staged().diff());
        let (steps, refusals) = std::mem::take(&mut log.history).into_parts();
        Came {
            value,
            staged: staged.unwrap_or_default(),
            steps,
            refusals,
            told: user.told,
            requests: requests.lock().unwrap().clone(),
        }
    }

    /// Takes a file of the project away, as somebody else may.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests lay projects out in a temporary folder"
    )]
    pub(super) fn remove(&self, name: &str) {
        std::fs::remove_file(self.options.project.join(name)).unwrap();
    }

    /// Returns a file of the project as it is on disk.
    pub(super) fn on_disk(&self, name: &str) -> String {
        std::fs::read_to_string(self.options.project.join(name)).unwrap()
    }

    /// Writes a file of the project that need not be text.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests lay projects out in a temporary folder"
    )]
    pub(super) fn write_bytes(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.options.project.join(name), bytes).unwrap();
    }

    /// Asks for a word on each change, and decides like this.
    pub(super) fn deciding(mut self, decisions: impl IntoIterator<Item = Decision>) -> Stage {
        self.options.confirm = true;
        self.decisions = decisions.into_iter().collect();
        self
    }
}

/// Returns an environment in which Python and nothing else is found.
fn environment() -> Environment {
    let path = Environment::read().path;
    Environment {
        path,
        ..Environment::default()
    }
}

/// A run that began.
pub(super) struct Scene<'s, 'a> {
    pub(super) context: &'s Context<'a>,
    pub(super) log: &'s mut Log<'a>,
    pub(super) plan: &'s Plan,
    pub(super) resources: &'s mut Resources,
}

impl Scene<'_, '_> {
    pub(super) fn attempt(&mut self, strategy: &dyn Strategy) -> Outcome {
        strategy.attempt(self.context, self.log, self.plan, self.resources)
    }

    /// Goes through all strategies, as a run does.
    pub(super) fn pursue(&mut self) -> Outcome {
        let plan = self.plan.clone();
        Outcome::Ended(pursue(self.context, self.log, plan, self.resources).1)
    }
}

/// What became of it.
pub(super) struct Came<T> {
    pub(super) value: T,
    /// What would change, as a diff.
    pub(super) staged: String,
    pub(super) steps: Vec<Step>,
    pub(super) refusals: Vec<Refusal>,
    pub(super) told: Vec<(EventKind, String)>,
    pub(super) requests: Vec<Request>,
}

impl<T> Came<T> {
    /// Returns what was told of one kind.
    pub(super) fn told(&self, kind: EventKind) -> Vec<&str> {
        let of_it = self.told.iter().filter(|(told, _)| *told == kind);
        of_it.map(|(_, text)| text.as_str()).collect()
    }

    /// Returns the rules by which something was refused.
    pub(super) fn rules(&self) -> Vec<&str> {
        let refusals = self.refusals.iter();
        refusals.map(|refusal| refusal.rule.as_str()).collect()
    }

    /// Returns what was asked for in each step.
    pub(super) fn actions(&self) -> Vec<&str> {
        self.steps.iter().map(|step| step.action.as_str()).collect()
    }

    /// Returns the last thing that the model was told before each of its replies.
    pub(super) fn asked(&self) -> Vec<&str> {
        let last = |request: &'_ Request| request.messages.len() - 1;
        let requests = self.requests.iter();
        requests
            .map(|request| request.messages[last(request)].content.as_str())
            .collect()
    }
}

impl Came<Outcome> {
    /// Returns the outcome in a line or more: what it is, how it ended, the hint and the goals.
    pub(super) fn outcome(&self) -> String {
        shown(&self.value)
    }

    /// Returns the plan that a strategy made.
    #[track_caller]
    pub(super) fn next_plan(&self) -> &Plan {
        match &self.value {
            Outcome::Replanned(plan) => plan,
            other => panic!("no other plan: {}", shown(other)),
        }
    }

    /// Returns how it ended, whether something else may go on from there or not.
    #[track_caller]
    pub(super) fn ended(&self) -> &Ended {
        match &self.value {
            Outcome::Ended(ended) | Outcome::GaveUp(ended) => ended,
            other => panic!("no end: {}", shown(other)),
        }
    }
}

/// Returns an outcome as a person reads it.
pub(super) fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ended(ended) => format!("ended, {}", end_shown(ended)),
        Outcome::GaveUp(ended) => format!("gave up, {}", end_shown(ended)),
        Outcome::Passed => "passed".to_owned(),
        Outcome::Replanned(plan) => {
            let places: Vec<String> = plan.spots().iter().map(place_shown).collect();
            format!("replanned, {}: {}", plan.rung.name(), places.join(", "))
        }
    }
}

/// Returns an end as a person reads it.
pub(super) fn end_shown(ended: &Ended) -> String {
    let mut text = format!("{}: {}", ended.stopped.name(), ended.summary);
    if !ended.hint.is_empty() {
        write!(text, "\nhint: {}", ended.hint).unwrap();
    }
    for goal in &ended.goals {
        let met = if goal.met { "met" } else { "open" };
        write!(text, "\n{met}: {} ({})", goal.text, goal.why).unwrap();
    }
    text
}

/// Returns a place as a person reads it.
pub(super) fn place_shown(spot: &Spot) -> String {
    format!("{}:{} {}", spot.path, spot.line, spot.name)
        .trim_end()
        .to_owned()
}

/// Returns messages as a person reads them: who says it, then the words.
pub(super) fn messages_shown(messages: &[Message]) -> String {
    let shown = messages.iter().map(|message| {
        let role = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        format!("# {role}\n\n{}\n", message.content)
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Returns the diff of one file.
pub(super) fn diff(path: &str, before: &str, after: &str) -> String {
    unified_diff(path, Some(before), Some(after))
}

pub(super) fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

/// Returns a file as it is and as it would be.
pub(super) fn change(name: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
    FileChange {
        path: path(name),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    }
}

/// Plays a script, keeps what it was asked, and fails where the script says so.
struct Watched {
    script: Scripted,
    requests: Arc<Mutex<Vec<Request>>>,
    abilities: Abilities,
    trouble: Option<(usize, ModelError)>,
}

impl Model for Watched {
    fn card(&mut self, cancel: &Cancel) -> Result<Card, ModelError> {
        match &self.trouble {
            Some((0, error)) => Err(error.clone()),
            Some(_) | None => Ok(Card {
                abilities: self.abilities,
                ..self.script.card(cancel)?
            }),
        }
    }

    fn reply(
        &mut self,
        request: &Request,
        heard: &mut Heard<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        self.requests.lock().unwrap().push(request.clone());
        match &self.trouble {
            Some((replies, error)) if self.script.requests.len() == *replies => {
                return Err(error.clone());
            }
            Some(_) | None => {}
        }
        let reply = self.script.reply(request, heard, cancel)?;
        Ok(match reply.text.strip_suffix(CUT) {
            Some(text) => Reply {
                text: text.to_owned(),
                finish: Finish::Length,
                ..reply
            },
            None => reply,
        })
    }
}

/// Answers what it is asked as long as it has answers, and keeps what it is told.
struct User {
    told: Vec<(EventKind, String)>,
    answers: VecDeque<String>,
    stops_at: Option<(EventKind, Cancel)>,
    decisions: VecDeque<Decision>,
}

impl Listener for User {
    fn event(&mut self, event: &Event) {
        self.told.push((event.kind, event.text.clone()));
        if let Some((kind, cancel)) = &self.stops_at
            && *kind == event.kind
        {
            cancel.stop();
        }
    }

    fn question(&mut self, _question: &Question) -> Option<String> {
        self.answers.pop_front()
    }

    fn decide(&mut self, _proposal: &Proposal<'_>) -> Option<Decision> {
        self.decisions.pop_front()
    }
}
