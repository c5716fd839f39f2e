//! `Agent` in Python: a run on a thread of its own, while the calling thread hears events, answers and listens for Ctrl-C.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use harness_agent as agent;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::options::{self, AgentOptions};
use crate::python_side;

/// How often a waiting caller looks for Ctrl-C: far below what a person notices, and next to no work.
const LOOK_FOR_SIGNALS: Duration = Duration::from_millis(50);

/// A coding agent that works on one project folder.
///
/// One agent may run many tasks, one after the other or from several threads at once. Other Python threads go on
/// while it runs. Ctrl-C stops a run within a second with files whole and raises KeyboardInterrupt; an exception in a
/// callback stops it just so and is raised.
#[pyclass(frozen, module = "harness")]
pub(crate) struct Agent {
    options: Py<AgentOptions>,
    /// A model of the on-device engine stays loaded as long as the agent lives.
    _warmth: agent::Warmth,
}

#[pymethods]
impl Agent {
    #[new]
    fn new(options: &Bound<'_, PyAny>) -> PyResult<Agent> {
        let Ok(options) = options.cast::<AgentOptions>() else {
            let message = "must be AgentOptions";
            return Err(python_side::wrong_type(
                options.py(),
                "options",
                message,
                "write AgentOptions(project=...)",
            ));
        };
        Ok(Agent {
            options: options.clone().unbind(),
            _warmth: agent::Warmth::new(),
        })
    }

    /// The settings it works with.
    #[getter]
    fn options(&self, py: Python<'_>) -> Py<AgentOptions> {
        self.options.clone_ref(py)
    }

    /// Performs a task and returns what came of it. Without an argument the task is that of the options.
    #[pyo3(signature = (task = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        task: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.perform(py, "task", task, agent::Agent::run)
    }

    /// Answers a question and never changes a file. Without an argument the question is the options' task.
    #[pyo3(signature = (question = None))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        question: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.perform(py, "question", question, agent::Agent::ask)
    }

    /// Begins a conversation: each message is read in the light of those before it.
    fn converse(&self, py: Python<'_>) -> Dialogue {
        let worker = worker(py, self.options.get());
        Dialogue {
            options: self.options.clone_ref(py),
            held: Arc::new(Mutex::new(worker.converse())),
            _warmth: agent::Warmth::new(),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Agent({})", self.options.bind(py).repr()?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.options)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (Py<AgentOptions>,)) {
        (
            py.get_type::<Agent>().into_any(),
            (self.options.clone_ref(py),),
        )
    }
}

/// A conversation with an agent about one project folder.
///
/// It remembers what was said: "it" is what the last task was about, "the same for X" is the last task for something
/// else, "2" answers the question that was asked back, "undo that" takes the last change back. One message at a time.
#[pyclass(frozen, module = "harness")]
pub(crate) struct Dialogue {
    options: Py<AgentOptions>,
    held: Arc<Mutex<agent::Dialogue>>,
    _warmth: agent::Warmth,
}

#[pymethods]
impl Dialogue {
    /// Does what a message asks for and returns what came of it: a change, an answer, a question, a reply.
    fn say<'py>(
        &self,
        py: Python<'py>,
        message: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let message = options::text("message", message)?;
        if message.trim().is_empty() {
            let hint = "say what should be done";
            return Err(python_side::wrong_value(py, "message", "it is empty", hint));
        }
        let held = Arc::clone(&self.held);
        perform(py, self.options.get(), move |line, cancel| {
            let mut dialogue = held.lock().unwrap_or_else(PoisonError::into_inner);
            dialogue.say(&message, line, cancel)
        })
    }

    /// What was said, oldest first: pairs of "user" or "agent" and the words.
    #[getter]
    fn said<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let held = Arc::clone(&self.held);
        let said = py.detach(move || {
            let dialogue = held.lock().unwrap_or_else(PoisonError::into_inner);
            dialogue.said().to_vec()
        });
        let pairs = said.into_iter().map(|said| {
            let by = if said.by_user { "user" } else { "agent" };
            (by, said.text)
        });
        PyTuple::new(py, pairs.collect::<Vec<_>>())
    }

    /// The settings of the agent that it is held with.
    #[getter]
    fn options(&self, py: Python<'_>) -> Py<AgentOptions> {
        self.options.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let options = self.options.bind(py).repr()?;
        Ok(format!("Agent({options}).converse()"))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.options)
    }
}

/// One of the agent's two calls.
type Call = fn(&agent::Agent, Option<&str>, &mut dyn agent::Listener, &agent::Cancel) -> Outcome;
/// What such a call gives back.
type Outcome = Result<agent::RunResult, agent::OptionsError>;

impl Agent {
    fn perform<'py>(
        &self,
        py: Python<'py>,
        field: &str,
        task: Option<&Bound<'py, PyAny>>,
        call: Call,
    ) -> PyResult<Bound<'py, PyAny>> {
        let task = task.map(|task| options::text(field, task)).transpose()?;
        let worker = worker(py, self.options.get());
        perform(py, self.options.get(), move |line, cancel| {
            call(&worker, task.as_deref(), line, cancel)
        })
    }
}

/// Returns the agent that does the work.
fn worker(py: Python<'_>, options: &AgentOptions) -> agent::Agent {
    let worker = agent::Agent::new(options.plain.clone());
    match python_side::executable(py) {
        Some(python) => worker.called_by(python),
        None => worker,
    }
}

/// Does work on a thread of its own while this one hears of it.
fn perform<'py>(
    py: Python<'py>,
    options: &AgentOptions,
    work: impl FnOnce(&mut Line, &agent::Cancel) -> Outcome + Send + 'static,
) -> PyResult<Bound<'py, PyAny>> {
    let cancel = agent::Cancel::default();
    let (say, hear) = mpsc::channel();
    let mut line = Line {
        say: say.clone(),
        listens: options.on_event.is_some(),
        answers: options.on_question.is_some(),
    };
    let watched = cancel.clone();
    let thread = thread::Builder::new()
        .name("harness run".to_owned())
        .spawn(move || {
            let outcome = work(&mut line, &watched);
            // Nobody hears it only when the caller is gone, and then nobody needs it.
            drop(say.send(Message::Ended(Box::new(outcome))));
        });
    thread
        .map_err(|error| python_side::fault(py, &format!("a thread cannot be started: {error}")))?;
    match attend(py, options, hear, &cancel)? {
        Ok(result) => python_side::result(py, &result),
        Err(error) => Err(python_side::from_options_error(py, &error)),
    }
}

/// What the run says to the caller.
enum Message {
    Event(agent::Event, Sender<()>),
    Question(agent::Question, Sender<Option<String>>),
    Ended(Box<Outcome>),
}

/// The run's end of the line. Each call waits until the caller has dealt with it, as a plain call would.
struct Line {
    say: Sender<Message>,
    listens: bool,
    answers: bool,
}

impl agent::Listener for Line {
    fn event(&mut self, event: &agent::Event) {
        if !self.listens {
            return;
        }
        let (heard, wait) = mpsc::channel();
        if self.say.send(Message::Event(event.clone(), heard)).is_ok() {
            // An error means that the caller dropped it unheard, which is an answer too.
            let _ = wait.recv();
        }
    }

    fn question(&mut self, question: &agent::Question) -> Option<String> {
        if !self.answers {
            return None;
        }
        let (answer, wait) = mpsc::channel();
        self.say
            .send(Message::Question(question.clone(), answer))
            .ok()?;
        wait.recv().ok().flatten()
    }
}

/// The caller's end: calls the callbacks here, on the calling thread, and passes Ctrl-C on. Returns when the run has
/// ended, so that no file is written after it.
fn attend(
    py: Python<'_>,
    options: &AgentOptions,
    mut hear: Receiver<Message>,
    cancel: &agent::Cancel,
) -> PyResult<Outcome> {
    let mut caller = Caller {
        py,
        options,
        cancel,
        stopped_by: None,
    };
    loop {
        let line = &mut hear;
        match py.detach(move || line.recv_timeout(LOOK_FOR_SIGNALS)) {
            Ok(Message::Ended(outcome)) => {
                caller.look_for_signals();
                return caller.stopped_by.map_or(Ok(*outcome), Err);
            }
            Ok(Message::Event(event, heard)) => {
                caller.tell(&event);
                // A run that speaks without pause must not drown Ctrl-C.
                caller.look_for_signals();
                // The run may be gone already; then there is nobody to wake.
                let _ = heard.send(());
            }
            Ok(Message::Question(question, answer)) => drop(answer.send(caller.put(&question))),
            Err(RecvTimeoutError::Timeout) => caller.look_for_signals(),
            Err(RecvTimeoutError::Disconnected) => {
                let fault = || {
                    python_side::fault(py, "the run broke off; this is a fault of harness itself")
                };
                return Err(caller.stopped_by.unwrap_or_else(fault));
            }
        }
    }
}

/// The calling thread, and why it wants the run to stop.
struct Caller<'py, 'a> {
    py: Python<'py>,
    options: &'a AgentOptions,
    cancel: &'a agent::Cancel,
    stopped_by: Option<PyErr>,
}

impl<'py> Caller<'py, '_> {
    fn look_for_signals(&mut self) {
        if let Err(error) = self.py.check_signals() {
            self.stop(error);
        }
    }

    fn tell(&mut self, event: &agent::Event) {
        let Some(on_event) = self.callback(self.options.on_event.as_ref()) else {
            return;
        };
        if let Err(error) =
            python_side::event(self.py, event).and_then(|event| on_event.call1((event,)))
        {
            self.stop(error);
        }
    }

    fn put(&mut self, question: &agent::Question) -> Option<String> {
        let on_question = self.callback(self.options.on_question.as_ref())?;
        let answer =
            python_side::question(self.py, question).and_then(|asked| on_question.call1((asked,)));
        match answer.and_then(|answer| options::text("on_question", &answer)) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.stop(error);
                None
            }
        }
    }

    /// Returns the callable, unless the run is to stop: then nobody is called any more.
    fn callback(&self, callable: Option<&Py<PyAny>>) -> Option<Bound<'py, PyAny>> {
        callable
            .filter(|_| self.stopped_by.is_none())
            .map(|callable| callable.bind(self.py).clone())
    }

    /// Asks the run to stop. The first reason counts: a second Ctrl-C while it winds down adds nothing.
    fn stop(&mut self, error: PyErr) {
        self.cancel.stop();
        self.stopped_by.get_or_insert(error);
    }
}
