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
            match engine {
                Engine::Local => local(model, environment, cancel),
                Engine::OnDevice => on_device(model, environment),
                Engine::Remote => remote(model, chosen, environment, cancel),
            }
        })
        .collect()
}

/// Returns the names of the models that the chosen engine lists; none where it does not answer soon.
pub fn names(options: &AgentOptions, environment: &Environment, cancel: &Cancel) -> Vec<String> {
    match options.engine {
        Engine::Local => {
            Local::with_limits(&options.model, environment, SOON).map(|local| local.list(cancel))
        }
        Engine::Remote => {
            Remote::with_limits(&options.model, environment, SOON).map(|remote| remote.list(cancel))
        }
        Engine::OnDevice => Ok(Ok(on_device::names())),
    }
    .ok()
    .and_then(Result::ok)
    .unwrap_or_default()
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
    let (listed, is_here) = match options.engine {
        Engine::Local => {
            let local = Local::with_limits(&options.model, environment, SOON)?;
            (local.sizes(cancel)?, true)
        }
        Engine::Remote => {
            let remote = Remote::with_limits(&options.model, environment, SOON)?;
            let names = remote.list(cancel)?.into_iter();
            (names.map(|name| (name, None)).collect(), false)
        }
        Engine::OnDevice => (on_device::sizes(), true),
    };
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

fn good(engine: Engine, topic: &'static str, text: String) -> Finding {
    Finding {
        engine,
        topic,
        good: true,
        text,
        hint: String::new(),
    }
}

fn bad(engine: Engine, topic: &'static str, error: &ModelError) -> Finding {
    let hint = match error {
        ModelError::Unusable { hint, .. } | ModelError::NotSent { hint, .. } => hint.clone(),
        ModelError::Interrupted => String::new(),
    };
    Finding {
        engine,
        topic,
        good: false,
        text: error.to_string(),
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

fn local(model: &str, environment: &Environment, cancel: &Cancel) -> Vec<Finding> {
    let engine = Engine::Local;
    let mut local = match Local::with_limits(model, environment, SOON) {
        Ok(local) => local,
        Err(error) => return vec![bad(engine, "server", &error)],
    };
    let listed = match local.list(cancel) {
        Ok(listed) => listed,
        Err(error) => return vec![bad(engine, "server", &error)],
    };
    let card = match local.card(cancel) {
        Ok(card) => card,
        Err(error) => return vec![bad(engine, "server", &error)],
    };
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
        good(engine, "model", format!("{}; {context}", about(&card)))
    } else {
        bad(engine, "model", &local.unknown_model(model, &listed, ""))
    };
    vec![
        good(engine, "server", server),
        good(engine, "models there", listing(&listed)),
        found,
    ]
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

fn remote(model: &str, chosen: bool, environment: &Environment, cancel: &Cancel) -> Vec<Finding> {
    let engine = Engine::Remote;
    let mut remote = match Remote::with_limits(model, environment, SOON) {
        Ok(remote) => remote,
        Err(error) => return vec![bad(engine, "host", &error)],
    };
    if !chosen {
        return vec![good(
            engine,
            "host",
            "an address is set; choose it with --engine remote".to_owned(),
        )];
    }
    let card = match remote.card(cancel) {
        Ok(card) => card,
        Err(error) => return vec![bad(engine, "host", &error)],
    };
    let host = good(
        engine,
        "host",
        format!("{} ({})", card.host.name, place(&card)),
    );
    let mut findings = vec![host];
    match remote.list(cancel) {
        Ok(listed) => {
            let there = listed.is_empty() || listed.contains(&card.model);
            if !listed.is_empty() {
                findings.push(good(engine, "models there", listing(&listed)));
            }
            findings.push(if there {
                good(engine, "model", about(&card))
            } else {
                bad(
                    engine,
                    "model",
                    &remote.unknown_model(&card.model, &listed, ""),
                )
            });
        }
        Err(error) => findings.push(bad(engine, "model", &error)),
    }
    findings
}

fn on_device(model: &str, environment: &Environment) -> Vec<Finding> {
    let engine = Engine::OnDevice;
    let model = match OnDevice::new(model, environment) {
        Ok(model) => model,
        Err(error) => return vec![bad(engine, "weights and runtime", &error)],
    };
    let (runtime, weights) = model.described();
    let mut findings = vec![
        good(engine, "runtime", runtime),
        good(engine, "weights", weights),
    ];
    findings.push(match model.memory() {
        Ok(text) => good(engine, "memory", text),
        Err(error) => bad(engine, "memory", &error),
    });
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::fault::{Fault, json as answer, page};

    fn seen(findings: &[Finding], engine: Engine) -> Vec<String> {
        let own = findings.iter().filter(|one| one.engine == engine);
        own.map(|one| format!("{} {}: {} | {}", one.good, one.topic, one.text, one.hint))
            .collect()
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
        assert_eq!(
            names(&options, &environment, &Cancel::default()),
            ["tiny:1b", "other:latest"]
        );
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
        assert!(names(&options, &environment, &Cancel::default()).is_empty());
    }
}
