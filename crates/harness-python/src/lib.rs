//! The Python face over harness-agent; pyo3 is named nowhere else. Translates, decides nothing.

mod agent;
mod options;
mod python_side;

use std::ffi::OsString;
use std::path::PathBuf;

use harness_hands::permit::{Access, Project};
use pyo3::prelude::*;

/// The native part of `harness`: what the package offers is defined here, except the classes of `harness._types`.
#[pymodule(gil_used = true)]
fn _harness(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<agent::Agent>()?;
    module.add_class::<agent::Dialogue>()?;
    module.add_class::<options::AgentOptions>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(secrets_in, module)?)?;
    module.add_function(wrap_pyfunction!(undone_runs, module)?)
}

/// Runs the command line inside this interpreter and returns its exit code. The first word names the program.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| harness::cli::main(words).code())
}

/// Returns the kinds of the secrets in a text, in the order in which they stand there.
#[pyfunction]
fn secrets_in(text: &str) -> Vec<&'static str> {
    let found = harness_agent::secret::find(text);
    found.iter().map(|secret| secret.kind.id).collect()
}

/// Returns the names of the runs in a project whose change was taken back. None where there is no record of runs.
#[pyfunction]
fn undone_runs(project: PathBuf) -> Vec<String> {
    let project = Project::open(&project, None, Access::ReadOnly).ok();
    let runs = project.and_then(|project| project.runs().ok());
    let undone = runs.into_iter().flatten().filter(|run| run.undone);
    undone.map(|run| run.id.as_str().to_owned()).collect()
}
