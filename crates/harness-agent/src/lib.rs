//! One run, from a task to a result: decides, asks the model, accepts only what is proven.

pub mod action;
mod agent;
pub mod cancel;
pub mod config;
pub mod doctor;
pub mod draft;
pub mod env;
pub mod guard;
pub mod history;
pub mod model;
pub mod options;
pub mod plan;
mod record;
pub mod reply;
pub mod run;
pub mod secret;
pub mod skill;
#[cfg(test)]
#[path = "../../../tests/support/skip.rs"]
mod skip;
pub mod task;
mod tool;

pub use agent::Agent;
pub use cancel::Cancel;
pub use history::{Refusal, Step};
pub use model::on_device::warmth::Warmth;
pub use options::{AgentOptions, Engine, OptionsError};
pub use run::event::{Event, EventKind, Listener, Nobody};
pub use run::result::{Counts, RunResult, Stopped, Tests, Usage};
pub use task::question::Question;
