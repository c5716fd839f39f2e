//! How the engines are: what `doctor` shows, and which models there are. Looks only; asks no model anything.

use std::time::Duration;

use crate::cancel::Cancel;
use crate::env::Environment;
use crate::model::http::Limits;
use crate::model::local::Local;
use crate::model::on_device::{self, OnDevice};
use crate::model::remote::Remote;
use crate::model::{Card, Model, ModelError};
use crate::options::{AgentOptions, Engine, shown};

/// A question about a server is answered soon or not at all.
const SOON: Limits = Limits {
    connect: Duration::from_secs(2),
    first: Duration::from_secs(2),
    between: Duration::from_secs(2),
    probe: Duration::from_secs(2),
};

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The engine it belongs to.
    pub engine: Engine,
    /// What was looked at.
    pub topic: &'static str,
    /// Whether it can be used as it is.
    pub good: bool,
    /// What was found.
    pub text: String,
    /// What to do about it; empty where nothing is to be done.
    pub hint: String,
}

/// Looks at every engine, the chosen one first. Another machine is asked only when its engine is the chosen one.
pub fn examine(options: &AgentOptions, environment: &Environment, cancel: &Cancel) -> Vec<Finding> {
    let mut engines = Engine::ALL.to_vec();
    engines.sort_by_key(|engine| *engine != options.engine);
    engines
        .into_iter()
        .flat_map(|engine| {
            let chosen = engine == options.engine;
            // A model's name means something to the engine it was chosen for.
            let model = if chosen {
                options.model.as_str()
            } else {
                crate::options::DEFAULT_MODEL
            };
            let (topic, found) = match engine {
                Engine::Local => ("server", local(model, environment, cancel)),
                Engine::OnDevice => ("weights and runtime", on_device(model, environment)),
                Engine::Remote => ("host", remote(model, chosen, environment, cancel)),
            };
            found.unwrap_or_else(|error| vec![finding(engine, topic, Err(error))])
        })
        .collect()
}

/// Returns the names of the models that the chosen engine lists, with the bytes of their weights where it tells them.
fn listed(
    options: &AgentOptions,
    environment: &Environment,
    cancel: &Cancel,
) -> Result<Vec<(String, Option<u64>)>, ModelError> {
    match options.engine {
        Engine::Local => Local::with_limits(&options.model, environment, SOON)?.sizes(cancel),
        Engine::Remote => Remote::with_limits(&options.model, environment, SOON)?.sizes(cancel),
        Engine::OnDevice => Ok(on_device::sizes()),
    }
}

/// A model that an engine has.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Available {
    /// Its name.
    pub name: String,
    /// The bytes of its weights, where the engine tells them.
    pub bytes: Option<u64>,
    /// Whether it fits into the memory that is free now; none where one of the two is not known.
    pub fits: Option<bool>,
    /// Whether it is the one that the settings name.
    pub chosen: bool,
}

/// What a model needs beside its weights, as a part of them: its window and the runtime.
const BESIDE_WEIGHTS: f64 = 1.2;

/// Returns the models that the chosen engine has, in its own order.
pub fn available(
    options: &AgentOptions,
    environment: &Environment,
    cancel: &Cancel,
) -> Result<Vec<Available>, ModelError> {
    let listed = listed(options, environment, cancel)?;
    let is_here = options.engine != Engine::Remote;
    let memory = harness_hands::memory::available().filter(|_| is_here);
    let model = |(name, bytes): (String, Option<u64>)| Available {
        chosen: name == options.model,
        fits: bytes
            .zip(memory)
            .map(|(bytes, memory)| bytes as f64 * BESIDE_WEIGHTS <= memory as f64),
        name,
        bytes,
    };
    Ok(listed.into_iter().map(model).collect())
}

/// Returns what was found of one thing: that it is good, or what is wrong with it.
fn finding(engine: Engine, topic: &'static str, found: Result<String, ModelError>) -> Finding {
    let good = found.is_ok();
    let (text, hint) = match found {
        Ok(text) => (text, String::new()),
        Err(error) => (error.to_string(), error.hint().to_owned()),
    };
    Finding {
        engine,
        topic,
        good,
        text,
        hint,
    }
}

fn about(card: &Card) -> String {
    let mut words = format!("{}: window of {} tokens", card.model, card.window);
    for (has, word) in [
        (card.abilities.thinking, "can think (asked not to)"),
        (card.abilities.tools, "has tools of its own"),
        (card.abilities.schema, "can be held to a schema"),
    ] {
        if has {
            words.push_str(", ");
            words.push_str(word);
        }
    }
    words
}

fn place(card: &Card) -> &'static str {
    if card.host.this_machine {
        "this machine"
    } else {
        "another machine: prompts leave, and are checked first"
    }
}

fn local(
    model: &str,
    environment: &Environment,
    cancel: &Cancel,
) -> Result<Vec<Finding>, ModelError> {
    let mut local = Local::with_limits(model, environment, SOON)?;
    let listed = local.list(cancel)?;
    let card = local.card(cancel)?;
    let version = local
        .version(cancel)
        .map_or_else(String::new, |version| format!(", version {version}"));
    let server = format!("{}{version} ({})", card.host.name, place(&card));
    let there = listed
        .iter()
        .any(|name| name == model || *name == format!("{model}:latest"));
    let found = if there {
        let context = match local.loaded(cancel) {
            Some(tokens) => format!("loaded now with num_ctx {tokens}"),
            None => "num_ctx is chosen once a run, to fit its prompt".to_owned(),
        };
        Ok(format!("{}; {context}", about(&card)))
    } else {
        Err(local.unknown_model(model, &listed, ""))
    };
    let finding = |topic, found| finding(Engine::Local, topic, found);
    Ok(vec![
        finding("server", Ok(server)),
        finding("models there", Ok(listing(&listed))),
        finding("model", found),
    ])
}

/// Returns names for a person; a long list is cut.
fn listing(names: &[String]) -> String {
    const MOST: usize = 12;
    let mut words: Vec<String> = names.iter().take(MOST).map(|name| shown(name)).collect();
    if names.len() > MOST {
        words.push(format!("and {} more", names.len() - MOST));
    }
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(", ")
    }
}

fn remote(
    model: &str,
    chosen: bool,
    environment: &Environment,
    cancel: &Cancel,
) -> Result<Vec<Finding>, ModelError> {
    let finding = |topic, found| finding(Engine::Remote, topic, found);
    let mut remote = Remote::with_limits(model, environment, SOON)?;
    if !chosen {
        let text = "an address is set; choose it with --engine remote";
        return Ok(vec![finding("host", Ok(text.to_owned()))]);
    }
    let card = remote.card(cancel)?;
    let host = format!("{} ({})", card.host.name, place(&card));
    let mut findings = vec![finding("host", Ok(host))];
    let listed = remote.list(cancel);
    if let Ok(listed) = &listed
        && !listed.is_empty()
    {
        findings.push(finding("models there", Ok(listing(listed))));
    }
    let found = listed.and_then(|listed| {
        if listed.is_empty() || listed.contains(&card.model) {
            Ok(about(&card))
        } else {
            Err(remote.unknown_model(&card.model, &listed, ""))
        }
    });
    findings.push(finding("model", found));
    Ok(findings)
}

fn on_device(model: &str, environment: &Environment) -> Result<Vec<Finding>, ModelError> {
    let finding = |topic, found| finding(Engine::OnDevice, topic, found);
    let model = OnDevice::new(model, environment)?;
    let (runtime, weights) = model.described();
    Ok(vec![
        finding("runtime", Ok(runtime)),
        finding("weights", Ok(weights)),
        finding("memory", model.memory()),
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::fault_tests::{Fault, json as answer, page};

    fn seen(findings: &[Finding], engine: Engine) -> Vec<String> {
        let own = findings.iter().filter(|one| one.engine == engine);
        own.map(|one| format!("{} {}: {} | {}", one.good, one.topic, one.text, one.hint))
            .collect()
    }

    fn names(options: &AgentOptions, environment: &Environment) -> Vec<String> {
        let found = available(options, environment, &Cancel::default());
        let found = found.unwrap_or_default().into_iter();
        found.map(|model| model.name).collect()
    }

    #[test]
    fn a_server_and_its_model_are_shown() {
        let fault = Fault::start(|asked| match asked.path.as_str() {
            "/api/version" => answer(200, &json!({"version": "0.13.1"})),
            "/api/tags" => answer(
                200,
                &json!({"models": [{"name": "tiny:1b"}, {"name": "other:latest"}]}),
            ),
            "/api/show" => answer(
                200,
                &json!({"model_info": {"t.context_length": 2048}, "capabilities": ["thinking"]}),
            ),
            _ => page(404, "text/plain", "no"),
        });
        let environment = Environment {
            local_host: Some(format!(":{}", fault.port)),
            ..Environment::default()
        };
        let mut options = AgentOptions {
            model: "tiny:1b".to_owned(),
            ..AgentOptions::new(".")
        };
        let findings = examine(&options, &environment, &Cancel::default());
        assert_eq!(
            seen(&findings, Engine::Local),
            [
                format!(
                    "true server: 127.0.0.1:{}, version 0.13.1 (this machine) | ",
                    fault.port
                ),
                "true models there: tiny:1b, other:latest | ".to_owned(),
                "true model: tiny:1b: window of 2048 tokens, can think (asked not to), can be held to a schema; num_ctx is chosen once a run, to fit its prompt | ".to_owned(),
            ]
        );
        assert_eq!(names(&options, &environment), ["tiny:1b", "other:latest"]);
        options.model = "absent".to_owned();
        let findings = examine(&options, &environment, &Cancel::default());
        assert!(seen(&findings, Engine::Local)[2].contains("ollama pull absent"));
    }

    #[test]
    fn what_is_not_there_has_a_hint() {
        let environment = Environment {
            local_host: Some("127.0.0.1:9".to_owned()),
            ..Environment::default()
        };
        let options = AgentOptions::new(".");
        let findings = examine(&options, &environment, &Cancel::default());
        assert!(
            findings
                .iter()
                .filter(|one| !one.good)
                .all(|one| !one.hint.is_empty())
        );
        assert_eq!(findings[0].engine, Engine::Local);
        assert!(seen(&findings, Engine::Remote)[0].contains("HARNESS_BASE_URL"));
        assert!(names(&options, &environment).is_empty());
    }
}
