//! The Python face over harness-agent; pyo3 is named nowhere else. Translates, decides nothing.

mod agent;
mod options;
mod python_side;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The native part of `harness`: what the package offers is defined here, except the classes of `harness._types`.
#[pymodule(gil_used = true)]
fn _harness(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<agent::Agent>()?;
    module.add_class::<agent::Dialogue>()?;
    module.add_class::<options::AgentOptions>()?;
    module.add_function(wrap_pyfunction!(main, module)?)
}

/// Runs the command line inside this interpreter and returns its exit code. The first word names the program.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| harness::cli::main(words).code())
}
