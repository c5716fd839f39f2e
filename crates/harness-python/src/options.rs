//! `AgentOptions` in Python: reads keywords into the agent's own settings and names the field that is wrong.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use harness_agent as agent;
use pyo3::exceptions::{PyAttributeError, PyException};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyString, PyTuple};

use crate::python_side;

/// The settings of an agent. Keyword arguments only; immutable; `project` is the only one without a default.
///
/// Every setting is checked at once: a wrong type, a name that does not exist, a project that is no folder or a scope
/// outside it raise an OptionsError whose message begins with the name of the field.
///
/// Args:
///     project: the folder the agent may read and write inside; `~` is expanded.
///     task: what is asked for, when `run` or `ask` is called without an argument.
///     model: the model's name for the engine.
///     engine: `local` (a local model server), `on-device` (a runtime started for you) or `remote` (any
///         chat-completions host).
///     scope: a subfolder to stay inside; empty means the whole project.
///     skills: skills to load; empty means choose from the task.
///     steps: the most model turns before a run stops.
///     max_tokens: the greatest length of one model reply.
///     allow_writes: when False, nothing is changed and no test is run.
///     record: the file to which redacted turns are appended; None means `.harness/traces.jsonl` inside the project.
///     keep_no_record: when True, no trace is written.
///     on_event: called with an Event for every piece of progress, on the thread that called `run`.
///     on_question: called with a Question when only the user can decide; returns the answer.
#[pyclass(frozen, module = "harness")]
pub(crate) struct AgentOptions {
    pub(crate) plain: agent::AgentOptions,
    /// Called with an Event for every piece of progress.
    #[pyo3(get)]
    pub(crate) on_event: Option<Py<PyAny>>,
    /// Called with a Question when only the user can decide.
    #[pyo3(get)]
    pub(crate) on_question: Option<Py<PyAny>>,
}

/// Every field, in the order that users see them.
const FIELDS: [&str; 13] = [
    "project",
    "task",
    "model",
    "engine",
    "scope",
    "skills",
    "steps",
    "max_tokens",
    "allow_writes",
    "record",
    "keep_no_record",
    "on_event",
    "on_question",
];

#[pymethods]
impl AgentOptions {
    #[new]
    #[pyo3(signature = (*words, **settings), text_signature = "(*, project, task='', model='qwen3:8b', engine='local', scope='', skills=(), steps=20, max_tokens=700, allow_writes=True, record=None, keep_no_record=False, on_event=None, on_question=None)")]
    fn new(
        py: Python<'_>,
        words: &Bound<'_, PyTuple>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<AgentOptions> {
        if !words.is_empty() {
            return Err(python_side::wrong_type(
                py,
                "project",
                "settings are given by name",
                "write AgentOptions(project=...)",
            ));
        }
        let options = read(py, settings)?;
        options
            .plain
            .check()
            .map_err(|error| python_side::from_options_error(py, &error))?;
        Ok(options)
    }

    /// The folder the agent may read and write inside.
    #[getter]
    fn project(&self) -> &Path {
        &self.plain.project
    }

    /// What is asked for, when a call names no task of its own.
    #[getter]
    fn task(&self) -> &str {
        &self.plain.task
    }

    /// The model's name.
    #[getter]
    fn model(&self) -> &str {
        &self.plain.model
    }

    /// Where the model runs: `local`, `on-device` or `remote`.
    #[getter]
    fn engine(&self) -> &'static str {
        self.plain.engine.name()
    }

    /// A subfolder to stay inside; empty means the whole project.
    #[getter]
    fn scope(&self) -> &str {
        &self.plain.scope
    }

    /// Skills to load; empty means choose from the task. A new list each time.
    #[getter]
    fn skills(&self) -> &[String] {
        &self.plain.skills
    }

    /// The most model turns before a run stops.
    #[getter]
    fn steps(&self) -> u32 {
        self.plain.steps
    }

    /// The greatest length of one model reply.
    #[getter]
    fn max_tokens(&self) -> u32 {
        self.plain.max_tokens
    }

    /// Whether files may change and the project's tests may run.
    #[getter]
    fn allow_writes(&self) -> bool {
        self.plain.allow_writes
    }

    /// The file to which redacted turns are appended; None means `.harness/traces.jsonl` inside the project.
    #[getter]
    fn record(&self) -> Option<&Path> {
        self.plain.record.as_deref()
    }

    /// Whether to write no trace at all.
    #[getter]
    fn keep_no_record(&self) -> bool {
        self.plain.keep_no_record
    }

    /// The same settings with some of them changed.
    #[pyo3(signature = (**changes))]
    fn replace(
        slf: &Bound<'_, Self>,
        changes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<AgentOptions> {
        let settings = fields(slf)?;
        if let Some(changes) = changes {
            settings.update(changes.as_mapping())?;
        }
        AgentOptions::new(slf.py(), &PyTuple::empty(slf.py()), Some(&settings))
    }

    #[pyo3(signature = (**changes))]
    fn __replace__(
        slf: &Bound<'_, Self>,
        changes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<AgentOptions> {
        AgentOptions::replace(slf, changes)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown("AgentOptions", &fields(slf)?)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<AgentOptions>() else {
            return Ok(false);
        };
        let other = other.get();
        Ok(self.plain == other.plain
            && same(py, self.on_event.as_ref(), other.on_event.as_ref())?
            && same(py, self.on_question.as_ref(), other.on_question.as_ref())?)
    }

    fn __hash__(&self) -> u64 {
        // Callables need not be hashable; equal settings hash equally without them.
        let mut hasher = DefaultHasher::new();
        format!("{:?}", self.plain).hash(&mut hasher);
        hasher.finish()
    }

    fn __getnewargs_ex__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(slf.py()), fields(slf)?))
    }

    // A callback is often a method of the object that holds these settings: the collector must see the circle.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.on_event)?;
        visit.call(&self.on_question)
    }

    fn __setattr__(&self, name: &str, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(unchangeable(name))
    }

    fn __delattr__(&self, name: &str) -> PyResult<()> {
        Err(unchangeable(name))
    }
}

fn fields<'py>(options: &Bound<'py, AgentOptions>) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(options.py());
    for name in FIELDS {
        fields.set_item(name, options.getattr(name)?)?;
    }
    Ok(fields)
}

fn read(py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<AgentOptions> {
    let mut options = AgentOptions {
        plain: agent::AgentOptions::new(""),
        on_event: None,
        on_question: None,
    };
    let mut project = None;
    let empty = PyDict::new(py);
    for (name, value) in settings.unwrap_or(&empty) {
        let name: String = name.extract()?;
        let plain = &mut options.plain;
        match name.as_str() {
            "project" => project = Some(path(&name, &value)?),
            "task" => plain.task = text(&name, &value)?,
            "model" => plain.model = text(&name, &value)?,
            "engine" => plain.engine = engine(&name, &value)?,
            "scope" => plain.scope = scope(&name, &value)?,
            "skills" => plain.skills = texts(&name, &value)?,
            "steps" => plain.steps = number(&name, &value)?,
            "max_tokens" => plain.max_tokens = number(&name, &value)?,
            "allow_writes" => plain.allow_writes = truth(&name, &value)?,
            "record" => plain.record = optional(&value, |value| path(&name, value))?,
            "keep_no_record" => plain.keep_no_record = truth(&name, &value)?,
            "on_event" => options.on_event = optional(&value, |value| callable(&name, value))?,
            "on_question" => {
                options.on_question = optional(&value, |value| callable(&name, value))?;
            }
            _ => {
                let hint = format!("settings are {}", FIELDS.join(", "));
                return Err(python_side::wrong_type(
                    py,
                    &name,
                    "there is no such setting",
                    &hint,
                ));
            }
        }
    }
    options.plain.project = project.ok_or_else(|| {
        python_side::wrong_type(
            py,
            "project",
            "no project folder is named",
            "write AgentOptions(project=\".\")",
        )
    })?;
    Ok(options)
}

fn wrong(field: &str, value: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let kind = value.get_type();
    let kind = kind
        .name()
        .map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    python_side::wrong_type(
        value.py(),
        field,
        &format!("must be {wanted}, not {kind}"),
        "",
    )
}

/// Reads text. A string with halves of characters in it (from undecodable bytes) cannot be sent to anyone.
pub(crate) fn text(field: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let Ok(string) = value.cast::<PyString>() else {
        return Err(wrong(field, value, "a string"));
    };
    string.extract().map_err(|_| {
        python_side::wrong_value(
            value.py(),
            field,
            "holds characters that cannot be encoded as UTF-8",
            "",
        )
    })
}

fn texts(field: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let lone = value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>();
    let Some(members) = (!lone).then(|| value.try_iter().ok()).flatten() else {
        return Err(wrong(field, value, "a list of strings"));
    };
    members.map(|member| text(field, &member?)).collect()
}

/// Reads a path as `pathlib` would, with `~` expanded.
fn path(field: &str, value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let py = value.py();
    if value.is_instance_of::<PyBytes>() {
        return Err(wrong(field, value, "a path"));
    }
    // `pathlib` takes an empty string for this folder; who passes one has lost a path on the way.
    if value
        .cast::<PyString>()
        .is_ok_and(|text| text.len().is_ok_and(|length| length == 0))
    {
        return Err(python_side::wrong_value(
            py,
            field,
            "the path is empty",
            "write `.` for this folder",
        ));
    }
    let path = py
        .import("pathlib")?
        .getattr("Path")?
        .call1((value,))
        .map_err(|error| unless_stopped(py, error, wrong(field, value, "a path")))?;
    let expanded = path.call_method0("expanduser").map_err(|error| {
        let message = "its home folder cannot be found";
        let hint = "write the path out in full";
        unless_stopped(
            py,
            error,
            python_side::wrong_value(py, field, message, hint),
        )
    })?;
    expanded.extract()
}

/// Returns what to raise in place of an error. Ctrl-C and `sys.exit` stay what they are.
fn unless_stopped(py: Python<'_>, error: PyErr, ours: PyErr) -> PyErr {
    match error.is_instance_of::<PyException>(py) {
        true => ours,
        false => error,
    }
}

fn scope(field: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    // A folder of the project may come as a path; it is text with forward slashes all the same.
    let as_posix = value.getattr("as_posix").and_then(|method| method.call0());
    text(field, as_posix.as_ref().unwrap_or(value))
        .map(|scope| if scope == "." { String::new() } else { scope })
}

fn engine(field: &str, value: &Bound<'_, PyAny>) -> PyResult<agent::Engine> {
    let name = text(field, value)?;
    name.parse()
        .map_err(|error| python_side::from_options_error(value.py(), &error))
}

fn number(field: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let whole = !value.is_instance_of::<PyBool>() && value.hasattr("__index__")?;
    if !whole {
        return Err(wrong(field, value, "a whole number"));
    }
    value.extract().map_err(|_| {
        let message = format!("must be a whole number from 1 to {}", u32::MAX);
        python_side::wrong_value(value.py(), field, &message, "")
    })
}

fn truth(field: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value
        .extract()
        .map_err(|_| wrong(field, value, "True or False"))
}

fn callable(field: &str, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if value.is_callable() {
        Ok(value.clone().unbind())
    } else {
        Err(wrong(field, value, "callable or None"))
    }
}

fn optional<'py, T>(
    value: &Bound<'py, PyAny>,
    read: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Option<T>> {
    if value.is_none() {
        Ok(None)
    } else {
        read(value).map(Some)
    }
}

fn same(py: Python<'_>, one: Option<&Py<PyAny>>, other: Option<&Py<PyAny>>) -> PyResult<bool> {
    match (one, other) {
        (None, None) => Ok(true),
        (Some(one), Some(other)) => one.bind(py).eq(other),
        (None, Some(_)) | (Some(_), None) => Ok(false),
    }
}

fn unchangeable(name: &str) -> PyErr {
    PyAttributeError::new_err(format!(
        "settings cannot be changed; make new ones with options.replace({name}=...)"
    ))
}

/// Returns an object as Python would show it: its class and its fields.
fn shown(class: &str, fields: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut words = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        words.push(format!("{name}={}", value.repr()?));
    }
    Ok(format!("{class}({})", words.join(", ")))
}
