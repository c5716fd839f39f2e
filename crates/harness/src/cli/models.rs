//! `models`: what the engine has, how large it is, and whether it fits this machine.

use harness_agent::Agent;
use harness_agent::model::ModelError;
use harness_agent::model::checkup::Available;
use serde_json::json;

use crate::cli::args::ModelsArguments;
use crate::cli::{agent, settings, show};
use crate::exit::Exit;
use crate::show::text::Complaint;

/// Lists the models of the chosen engine.
pub(super) fn models(arguments: &ModelsArguments) -> Result<Exit, Complaint> {
    let common = &arguments.common;
    let options = settings::options(None, common, None)?;
    let found = Agent::new(options.clone()).models(&agent::cancel_on_signal());
    let models = found.map_err(|error| not_listed(&error))?;
    let value = json!({"engine": options.engine.name(), "model": options.model, "models": models});
    show(common, &value, || match models.as_slice() {
        [] => format!("the {} engine has no model\n", options.engine),
        models => models.iter().map(row).collect(),
    })
}

fn row(model: &Available) -> String {
    let mark = if model.chosen { "*" } else { " " };
    let size = model
        .bytes
        .map(|bytes| format!("{:.1} GB", bytes as f64 / 1e9))
        .unwrap_or_default();
    let fits = match model.fits {
        Some(true) => "fits",
        Some(false) => "larger than the free memory",
        None => "",
    };
    let row = format!("{mark} {:<28} {size:>8}  {fits}", model.name);
    format!("{}\n", row.trim_end())
}

fn not_listed(error: &ModelError) -> Complaint {
    let exit = match error {
        ModelError::Unusable { .. } => Exit::Engine,
        ModelError::NotSent { .. } => Exit::NotSent,
        ModelError::Interrupted => Exit::Interrupted,
    };
    Complaint::ending(exit, error.to_string(), error.hint())
}
