//! Looks at this machine: settings, folders, sandbox, engine. Reports; mends nothing.

use harness_hands::process::attack::{self, Answer};
use harness_hands::user;
use serde::Serialize;

use crate::cancel::Cancel;
use crate::config::UserConfig;
use crate::env::Environment;
use crate::model::checkup;
use crate::options::AgentOptions;

/// How one check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// All is well.
    Good,
    /// It works, but not as well as it could.
    Weak,
    /// It does not work.
    Bad,
}

/// One check and what it showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// How it came out.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// What to do about it; empty when there is nothing to do.
    pub hint: String,
}

/// What the doctor found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Examination {
    /// Whether nothing is bad.
    pub ok: bool,
    /// Every check, in order.
    pub checks: Vec<Check>,
}

/// Looks at everything.
pub fn examine(options: &AgentOptions, cancel: &Cancel) -> Examination {
    let mut checks = Vec::new();
    let config = UserConfig::read();
    checks.push(settings(&config));
    checks.extend(sandbox());
    let environment = config.unwrap_or_default().complete(Environment::read());
    checks.extend(engines(options, &environment, cancel));
    let ok = checks.iter().all(|check| check.health != Health::Bad);
    Examination { ok, checks }
}

fn check(name: &str, health: Health, found: impl Into<String>, hint: impl Into<String>) -> Check {
    Check {
        name: name.to_owned(),
        health,
        found: found.into(),
        hint: hint.into(),
    }
}

fn settings(config: &Result<UserConfig, crate::options::OptionsError>) -> Check {
    let Some(folder) = user::config_folder() else {
        return check(
            "settings",
            Health::Weak,
            "there is no home folder",
            "set HOME",
        );
    };
    let file = folder.join("config.toml");
    match config {
        Err(error) => check(
            "settings",
            Health::Bad,
            error.message.clone(),
            error.hint.clone(),
        ),
        Ok(_) if file.exists() => check("settings", Health::Good, file.display().to_string(), ""),
        Ok(_) => check(
            "settings",
            Health::Good,
            "no config file; defaults are used",
            "",
        ),
    }
}

/// The walls around a project's tests, attacked from inside.
fn sandbox() -> Vec<Check> {
    let result = attack::self_test();
    let health = match (result.sandbox.holds(), result.held()) {
        (true, true) => Health::Good,
        (false, true) => Health::Weak,
        (_, false) => Health::Bad,
    };
    let hint = if health == Health::Good {
        ""
    } else {
        "tests run with less protection here; --require-sandbox refuses to run them"
    };
    let mut checks = vec![check("sandbox", health, result.sandbox.describe(), hint)];
    for attempt in &result.attempts {
        let (health, found) = match attempt.answer {
            Answer::Good if attempt.name.starts_with("(needed)") => (Health::Good, "works"),
            Answer::Good => (Health::Good, "held"),
            Answer::Bad => (Health::Bad, "got through"),
            Answer::Known => (Health::Weak, "gets through, as SECURITY.md says"),
            Answer::Untried => (Health::Weak, "could not be tried here"),
        };
        checks.push(check(attempt.name, health, found, ""));
    }
    checks
}

/// Every engine, the chosen one first. What is missing for the others is no fault.
fn engines(options: &AgentOptions, environment: &Environment, cancel: &Cancel) -> Vec<Check> {
    checkup::examine(options, environment, cancel)
        .into_iter()
        .map(|finding| {
            let name = format!("engine {}: {}", finding.engine, finding.topic);
            let chosen = finding.engine == options.engine;
            match (finding.good, chosen) {
                (true, _) => check(&name, Health::Good, finding.text, finding.hint),
                (false, true) => check(&name, Health::Bad, finding.text, finding.hint),
                (false, false) => {
                    let found = format!("not set up, nor chosen: {}", finding.text);
                    check(&name, Health::Good, found, finding.hint)
                }
            }
        })
        .collect()
}
