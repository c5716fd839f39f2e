//! One run, from a task to a result: decides, asks the model, accepts only what is proven.
//!
//! ```
//! use harness_agent::{Agent, AgentOptions, Cancel, Nobody};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # std::fs::write(folder.path().join("cart.py"), "def total(prices):\n    return sum(prices)\n").unwrap();
//! let agent = Agent::new(AgentOptions::new(folder.path()));
//! let result = agent.run(Some("rename total to subtotal"), &mut Nobody, &Cancel::default()).unwrap();
//! assert_eq!(result.writes, ["cart.py"]);
//! assert!(result.ok && result.summary.contains("the project has no tests"));
//! ```

// A file of tests that those of this crate and of others include speaks of it by its name.
#[cfg(test)]
extern crate self as harness_agent;

pub mod action;
mod agent;
mod cancel;
pub mod commit;
pub mod config;
mod converse;
pub mod dialogue;
pub mod doctor;
pub mod draft;
pub mod env;
mod goal;
pub mod guard;
mod history;
pub mod model;
mod options;
mod plan;
mod prepare;
mod question;
mod record;
pub mod reply;
mod run;
pub mod secret;
mod skill;
#[cfg(test)]
#[path = "../../../tests/support/skip.rs"]
mod skip;
mod suite;
mod tool;

pub use agent::Agent;
pub use cancel::Cancel;
pub use converse::{Dialogue, KeptDialogue, Turn};
pub use goal::Goal;
pub use history::{Refusal, Step};
pub use model::on_device::warmth::Warmth;
pub use options::{AgentOptions, Cause, Engine, OptionsError};
pub use plan::Route;
pub use prepare::PreparePlan;
pub use question::Question;
pub use record::{KeptProposal, proposals};
pub use run::event::{Decision, Event, EventKind, Listener, Nobody, Proposal};
pub use run::result::{Counts, FailedTest, RunResult, Stopped, Tests, Usage};
pub use run::suite_run::TestResult;
pub use skill::skill_names;
