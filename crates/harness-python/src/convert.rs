//! JSON values as Python objects: one shape for `as_dict()`, `--json` and HTTP.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::python_side;

/// Returns anything of ours as the dictionary that its JSON would be.
pub(crate) fn as_dict<'py, T: Serialize>(
    py: Python<'py>,
    value: &T,
) -> PyResult<Bound<'py, PyAny>> {
    let json =
        serde_json::to_value(value).map_err(|error| python_side::fault(py, &error.to_string()))?;
    any(py, &json)
}

/// Returns a JSON object as a dictionary.
pub(crate) fn object<'py>(
    py: Python<'py>,
    map: &Map<String, Value>,
) -> PyResult<Bound<'py, PyAny>> {
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
