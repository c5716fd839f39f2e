//! The classes of `harness._types` and `harness._values`, found and called from here, and JSON values as Python objects.

use harness_agent::{Event, OptionsError, Question, RunResult};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;
use serde_json::{Map, Value};

/// Returns a setting of the wrong type, or one that does not exist, as an exception.
pub(crate) fn wrong_type(py: Python<'_>, field: &str, message: &str, hint: &str) -> PyErr {
    option_error(py, "OptionTypeError", field, message, hint)
}

/// Returns a setting whose value cannot be used as an exception.
pub(crate) fn wrong_value(py: Python<'_>, field: &str, message: &str, hint: &str) -> PyErr {
    option_error(py, "OptionValueError", field, message, hint)
}

/// Returns what the agent says about a setting as an exception.
pub(crate) fn from_options_error(py: Python<'_>, error: &OptionsError) -> PyErr {
    wrong_value(py, error.field, &error.message, &error.hint)
}

/// Returns a fault of our own as an exception.
pub(crate) fn fault(py: Python<'_>, message: &str) -> PyErr {
    match class(py, "HarnessError").and_then(|class| class.call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Returns what a run came to.
pub(crate) fn result<'py>(py: Python<'py>, result: &RunResult) -> PyResult<Bound<'py, PyAny>> {
    value(py, "result_from")?.call1((as_dict(py, result)?,))
}

/// Returns a question to the user.
pub(crate) fn question<'py>(py: Python<'py>, question: &Question) -> PyResult<Bound<'py, PyAny>> {
    let facts = PyDict::new(py);
    facts.set_item("text", &question.text)?;
    facts.set_item("options", &question.options)?;
    value(py, "Question")?.call((), Some(&facts))
}

/// Returns an event as the string that it is in Python.
pub(crate) fn event<'py>(py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyAny>> {
    let facts = PyDict::new(py);
    facts.set_item("kind", event.kind.name())?;
    facts.set_item("data", object(py, &event.data)?)?;
    facts.set_item("seconds", event.seconds)?;
    class(py, "Event")?.call((&event.text,), Some(&facts))
}

fn option_error(py: Python<'_>, name: &str, field: &str, message: &str, hint: &str) -> PyErr {
    let separator = if hint.is_empty() { "" } else { "; " };
    let sentence = format!("{field}: {message}{separator}{hint}");
    match class(py, name).and_then(|class| class.call1((sentence, field, hint))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

fn value<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static VALUES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let values = VALUES.get_or_try_init(py, || py.import("harness._values").map(Bound::unbind))?;
    values.bind(py).getattr(name)
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static TYPES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let types = TYPES.get_or_try_init(py, || py.import("harness._types").map(Bound::unbind))?;
    types.bind(py).getattr(name)
}

/// Returns the Python that called us; none where it is part of another program and does not know itself.
pub(crate) fn executable(py: Python<'_>) -> Option<std::path::PathBuf> {
    let path: std::path::PathBuf = py
        .import("sys")
        .ok()?
        .getattr("executable")
        .ok()?
        .extract()
        .ok()?;
    path.is_absolute().then_some(path)
}

/// Returns anything of ours as the dictionary that its JSON would be.
fn as_dict<'py, T: Serialize>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_value(value).map_err(|error| fault(py, &error.to_string()))?;
    any(py, &json)
}

/// Returns a JSON object as a dictionary.
fn object<'py>(py: Python<'py>, map: &Map<String, Value>) -> PyResult<Bound<'py, PyAny>> {
    let dictionary = PyDict::new(py);
    for (key, value) in map {
        dictionary.set_item(key, any(py, value)?)?;
    }
    Ok(dictionary.into_any())
}

fn any<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(whole), _, _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, None, real) => real.into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(any(py, value)?)?;
            }
            list.into_any()
        }
        Value::Object(map) => object(py, map)?,
    })
}
