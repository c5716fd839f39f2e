//! What a run gives back, as frozen Python objects around the agent's own values.

use std::hash::{DefaultHasher, Hash, Hasher};

use harness_agent as agent;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::{convert, python_side};

/// Gives a class around an agent's value what all of them have beside their own methods: comparing, showing, copying,
/// pickling and `as_dict`. The class lists its fields once, in `fields`; they are what its constructor takes.
macro_rules! value_class {
    ($class:ident, { $($own:tt)* }) => {
        #[pymethods]
        impl $class {
            $($own)*

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                shown(stringify!($class), &self.fields(py)?)
            }

            fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
                other.cast::<$class>().is_ok_and(|other| other.get().0 == self.0)
            }

            fn __hash__(&self) -> u64 {
                // Equal values show equally; one of them is hashed too rarely to need more than that.
                let mut hasher = DefaultHasher::new();
                format!("{:?}", self.0).hash(&mut hasher);
                hasher.finish()
            }

            fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
                Ok((PyTuple::empty(py), self.fields(py)?))
            }

            /// The same as a dictionary, as `--json` and the server show it.
            fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                convert::as_dict(py, &self.0)
            }
        }
    };
}

/// One turn of a run.
#[pyclass(frozen, module = "harness")]
pub(crate) struct Step(agent::Step);

value_class!(Step, {
    #[new]
    #[pyo3(signature = (*, number, action, path = String::new(), result = String::new(), refused = String::new(), seconds = 0.0, tokens = 0), text_signature = "(*, number, action, path='', result='', refused='', seconds=0.0, tokens=0)")]
    fn new(
        number: u32,
        action: String,
        path: String,
        result: String,
        refused: String,
        seconds: f64,
        tokens: u64,
    ) -> Step {
        Step(agent::Step {
            number,
            action,
            path,
            result,
            refused,
            seconds,
            tokens,
        })
    }

    /// Its place in the run, from 1.
    #[getter]
    fn number(&self) -> u32 {
        self.0.number
    }

    /// What was asked for: a tool's name, or `reply` where nothing could be read from it.
    #[getter]
    fn action(&self) -> &str {
        &self.0.action
    }

    /// The file it concerned, or an empty string.
    #[getter]
    fn path(&self) -> &str {
        &self.0.path
    }

    /// What came of it, capped.
    #[getter]
    fn result(&self) -> &str {
        &self.0.result
    }

    /// The rule that refused it, or an empty string.
    #[getter]
    fn refused(&self) -> &str {
        &self.0.refused
    }

    /// How long it took.
    #[getter]
    fn seconds(&self) -> f64 {
        self.0.seconds
    }

    /// Tokens of the model's reply.
    #[getter]
    fn tokens(&self) -> u64 {
        self.0.tokens
    }
});

impl Step {
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("number", self.0.number)?;
        fields.set_item("action", &self.0.action)?;
        fields.set_item("path", &self.0.path)?;
        fields.set_item("result", &self.0.result)?;
        fields.set_item("refused", &self.0.refused)?;
        fields.set_item("seconds", self.0.seconds)?;
        fields.set_item("tokens", self.0.tokens)?;
        Ok(fields)
    }
}

/// How many tests there were, and how they ended.
#[pyclass(frozen, module = "harness")]
pub(crate) struct Counts(agent::Counts);

value_class!(Counts, {
    #[new]
    #[pyo3(signature = (*, passed = 0, failed = 0, collected = 0))]
    fn new(passed: u32, failed: u32, collected: u32) -> Counts {
        Counts(agent::Counts {
            passed,
            failed,
            collected,
        })
    }

    /// Tests that passed.
    #[getter]
    fn passed(&self) -> u32 {
        self.0.passed
    }

    /// Tests that failed or could not run.
    #[getter]
    fn failed(&self) -> u32 {
        self.0.failed
    }

    /// Tests that were found.
    #[getter]
    fn collected(&self) -> u32 {
        self.0.collected
    }
});

impl Counts {
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("passed", self.0.passed)?;
        fields.set_item("failed", self.0.failed)?;
        fields.set_item("collected", self.0.collected)?;
        Ok(fields)
    }
}

/// The project's tests, before and after the change.
#[pyclass(frozen, module = "harness")]
pub(crate) struct Tests(agent::Tests);

value_class!(Tests, {
    #[new]
    #[pyo3(signature = (*, command, before = None, after = None, sandbox = String::new(), unsteady = Vec::new()), text_signature = "(*, command, before=None, after=None, sandbox='', unsteady=())")]
    fn new(
        command: String,
        before: Option<&Bound<'_, Counts>>,
        after: Option<&Bound<'_, Counts>>,
        sandbox: String,
        unsteady: Vec<String>,
    ) -> Tests {
        let counts = |counts: &Bound<'_, Counts>| counts.get().0;
        Tests(agent::Tests {
            command,
            before: before.map(counts),
            after: after.map(counts),
            sandbox,
            unsteady,
        })
    }

    // Not a test case, whatever pytest thinks of a class with this name.
    #[classattr]
    fn __test__() -> bool {
        false
    }

    /// The command that ran them.
    #[getter]
    fn command(&self) -> &str {
        &self.0.command
    }

    /// Before the first write; None when they were not run then.
    #[getter]
    fn before(&self) -> Option<Counts> {
        self.0.before.map(Counts)
    }

    /// After the last write; None when they were not run then.
    #[getter]
    fn after(&self) -> Option<Counts> {
        self.0.after.map(Counts)
    }

    /// Which sandbox held them.
    #[getter]
    fn sandbox(&self) -> &str {
        &self.0.sandbox
    }

    /// Tests that passed and failed on the same state.
    #[getter]
    fn unsteady<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.unsteady)
    }
});

impl Tests {
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("command", &self.0.command)?;
        fields.set_item("before", self.before())?;
        fields.set_item("after", self.after())?;
        fields.set_item("sandbox", &self.0.sandbox)?;
        fields.set_item("unsteady", PyTuple::new(py, &self.0.unsteady)?)?;
        Ok(fields)
    }
}

/// What the model cost.
#[pyclass(frozen, module = "harness")]
pub(crate) struct Usage(agent::Usage);

value_class!(Usage, {
    #[new]
    #[pyo3(signature = (*, model_calls = 0, prompt_tokens = 0, reply_tokens = 0, characters_sent = 0, sent_to = String::new(), masked = 0), text_signature = "(*, model_calls=0, prompt_tokens=0, reply_tokens=0, characters_sent=0, sent_to='', masked=0)")]
    fn new(
        model_calls: u32,
        prompt_tokens: u64,
        reply_tokens: u64,
        characters_sent: u64,
        sent_to: String,
        masked: u32,
    ) -> Usage {
        Usage(agent::Usage {
            model_calls,
            prompt_tokens,
            reply_tokens,
            characters_sent,
            sent_to,
            masked,
        })
    }

    /// Model calls made.
    #[getter]
    fn model_calls(&self) -> u32 {
        self.0.model_calls
    }

    /// Tokens read by the model, as the server counts them.
    #[getter]
    fn prompt_tokens(&self) -> u64 {
        self.0.prompt_tokens
    }

    /// Tokens written by the model.
    #[getter]
    fn reply_tokens(&self) -> u64 {
        self.0.reply_tokens
    }

    /// Characters that were sent in prompts.
    #[getter]
    fn characters_sent(&self) -> u64 {
        self.0.characters_sent
    }

    /// The host they were sent to; empty when nothing was sent.
    #[getter]
    fn sent_to(&self) -> &str {
        &self.0.sent_to
    }

    /// How often old observations were masked because the window was full.
    #[getter]
    fn masked(&self) -> u32 {
        self.0.masked
    }
});

impl Usage {
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("model_calls", self.0.model_calls)?;
        fields.set_item("prompt_tokens", self.0.prompt_tokens)?;
        fields.set_item("reply_tokens", self.0.reply_tokens)?;
        fields.set_item("characters_sent", self.0.characters_sent)?;
        fields.set_item("sent_to", &self.0.sent_to)?;
        fields.set_item("masked", self.0.masked)?;
        Ok(fields)
    }
}

/// Something only the user can decide.
#[pyclass(frozen, module = "harness")]
pub(crate) struct Question(pub(crate) agent::Question);

value_class!(Question, {
    #[new]
    #[pyo3(signature = (*, text, options = Vec::new()), text_signature = "(*, text, options=())")]
    fn new(text: String, options: Vec<String>) -> Question {
        Question(agent::Question::new(text, options))
    }

    /// The question itself.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// What can be chosen, most likely first; at most four.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.options)
    }

    /// The text to show to the user: the question, then its numbered options.
    fn render(&self) -> String {
        self.0.render()
    }

    fn __str__(&self) -> String {
        self.0.render()
    }
});

impl Question {
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("text", &self.0.text)?;
        fields.set_item("options", self.options(py)?)?;
        Ok(fields)
    }
}

/// What a run came to.
#[pyclass(frozen, module = "harness")]
pub(crate) struct Result(pub(crate) agent::RunResult);

value_class!(Result, {
    #[new]
    #[pyo3(signature = (*, ok, summary, stopped, writes = Vec::new(), steps = Vec::new(), refusals = Vec::new(), run_id = String::new(), tests = None, diff = String::new(), usage = None, hint = String::new()), text_signature = "(*, ok, summary, stopped, writes=(), steps=(), refusals=(), run_id='', tests=None, diff='', usage=None, hint='')")]
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a named field, given by keyword"
    )]
    fn new(
        py: Python<'_>,
        ok: bool,
        summary: String,
        stopped: &str,
        writes: Vec<String>,
        steps: Vec<Bound<'_, Step>>,
        refusals: Vec<Bound<'_, PyAny>>,
        run_id: String,
        tests: Option<&Bound<'_, Tests>>,
        diff: String,
        usage: Option<&Bound<'_, Usage>>,
        hint: String,
    ) -> PyResult<Result> {
        let known = agent::Stopped::ALL
            .into_iter()
            .find(|known| known.name() == stopped);
        let stopped = known.ok_or_else(|| {
            let names: Vec<&str> = agent::Stopped::ALL
                .iter()
                .map(|known| known.name())
                .collect();
            python_side::wrong_value(
                py,
                "stopped",
                "no run ends so",
                &format!("it is one of {}", names.join(", ")),
            )
        })?;
        Ok(Result(agent::RunResult {
            ok,
            summary,
            writes,
            steps: steps.into_iter().map(|step| step.get().0.clone()).collect(),
            refusals: refusals
                .into_iter()
                .map(|refusal| refusal_from(&refusal))
                .collect::<PyResult<_>>()?,
            stopped,
            run_id,
            tests: tests.map(|tests| tests.get().0.clone()),
            diff,
            usage: usage.map(|usage| usage.get().0.clone()).unwrap_or_default(),
            hint,
        }))
    }

    /// True when the agent finished the task.
    #[getter]
    fn ok(&self) -> bool {
        self.0.ok
    }

    /// Its closing sentence; when `stopped` is `question`, the question and its options.
    #[getter]
    fn summary(&self) -> &str {
        &self.0.summary
    }

    /// Files it changed: relative to the project, with forward slashes, sorted, each once.
    #[getter]
    fn writes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.writes)
    }

    /// Every turn, in order.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let steps: PyResult<Vec<_>> = self
            .0
            .steps
            .iter()
            .map(|step| Bound::new(py, Step(step.clone())))
            .collect();
        PyTuple::new(py, steps?)
    }

    /// What the harness stopped, and why. Each is a string, the reason.
    #[getter]
    fn refusals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let refusals: PyResult<Vec<_>> = self
            .0
            .refusals
            .iter()
            .map(|refusal| python_side::refusal(py, refusal))
            .collect();
        PyTuple::new(py, refusals?)
    }

    /// Why it stopped: `done`, `question`, `steps`, `stuck`, `broke`, `engine`, `refused`, `busy` or `interrupted`.
    #[getter]
    fn stopped(&self) -> &'static str {
        self.0.stopped.name()
    }

    /// The run's id, for `harness undo` and `harness last`.
    #[getter]
    fn run_id(&self) -> &str {
        &self.0.run_id
    }

    /// The project's tests, before and after; None when they were not run.
    #[getter]
    fn tests(&self) -> Option<Tests> {
        self.0.tests.clone().map(Tests)
    }

    /// The change as a unified diff.
    #[getter]
    fn diff(&self) -> &str {
        &self.0.diff
    }

    /// What the model cost.
    #[getter]
    fn usage(&self) -> Usage {
        Usage(self.0.usage.clone())
    }

    /// What to do next where the run could not go on; empty otherwise.
    #[getter]
    fn hint(&self) -> &str {
        &self.0.hint
    }
});

impl Result {
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("ok", self.0.ok)?;
        fields.set_item("summary", &self.0.summary)?;
        fields.set_item("writes", self.writes(py)?)?;
        fields.set_item("steps", self.steps(py)?)?;
        fields.set_item("refusals", self.refusals(py)?)?;
        fields.set_item("stopped", self.stopped())?;
        fields.set_item("run_id", &self.0.run_id)?;
        fields.set_item("tests", self.tests())?;
        fields.set_item("diff", &self.0.diff)?;
        fields.set_item("usage", self.usage())?;
        fields.set_item("hint", &self.0.hint)?;
        Ok(fields)
    }
}

fn refusal_from(refusal: &Bound<'_, PyAny>) -> PyResult<agent::Refusal> {
    Ok(agent::Refusal {
        rule: refusal.getattr("rule")?.extract()?,
        reason: refusal.extract()?,
        step: refusal.getattr("step")?.extract()?,
        path: refusal.getattr("path")?.extract()?,
    })
}

/// Returns an object as Python would show it: its class and its fields.
pub(crate) fn shown(class: &str, fields: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut words = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        words.push(format!("{name}={}", value.repr()?));
    }
    Ok(format!("{class}({})", words.join(", ")))
}
