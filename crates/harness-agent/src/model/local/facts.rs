//! What the server says of itself and its models.

use serde_json::Value;

use crate::model::address::Address;
use crate::model::card::Facts;
use crate::model::local::Known;
use crate::model::{Abilities, Host, TINY_PARAMETERS};
use crate::options::shown;

/// Returns what the server says of a model: window, abilities, and whether it runs elsewhere.
pub(super) fn read(told: &Value) -> Facts {
    let facts = told.get("model_info").and_then(Value::as_object);
    let window = facts.and_then(|facts| {
        let entry = facts
            .iter()
            .find(|(key, _)| key.ends_with(".context_length"));
        entry.and_then(|(_, value)| value.as_u64())
    });
    let abilities = told.get("capabilities").and_then(Value::as_array);
    let has =
        |name: &str| abilities.map(|all| all.iter().any(|ability| ability.as_str() == Some(name)));
    let elsewhere = told.get("remote_host").and_then(Value::as_str);
    Facts {
        window: window
            .and_then(|tokens| u32::try_from(tokens).ok())
            .filter(|tokens| *tokens > 0),
        thinks: has("thinking"),
        tools: has("tools").unwrap_or(false),
        parameters: facts
            .and_then(|facts| facts.get("general.parameter_count")?.as_u64())
            .filter(|count| *count > 0),
        elsewhere: elsewhere.filter(|host| !host.is_empty()).map(str::to_owned),
    }
}

/// Puts the facts of a model into what is known.
pub(super) fn learn(known: &mut Known, facts: &Facts, address: &Address) {
    if let Some(window) = facts.window {
        known.card.window = window;
    }
    if let Some(thinks) = facts.thinks {
        known.thinks = Some(thinks);
        known.card.abilities = Abilities {
            thinking: thinks,
            tools: facts.tools,
            schema: true,
            ..known.card.abilities
        };
    }
    known.card.abilities.tiny = facts
        .parameters
        .is_some_and(|count| count < TINY_PARAMETERS);
    if let Some(host) = &facts.elsewhere {
        let host = shown(host.split("://").last().unwrap_or(host));
        let name = format!("{host} through {}", address.name());
        known.card.host = Host {
            name,
            this_machine: false,
        };
    }
}

/// Returns the entry of a model in a list of them; a name without tag means `latest`.
pub(super) fn entry_for<'a>(listed: &'a Value, model: &str) -> Option<&'a Value> {
    let full = |name: &str| {
        if name.contains(':') {
            name.to_owned()
        } else {
            format!("{name}:latest")
        }
    };
    let wanted = full(model);
    listed.get("models")?.as_array()?.iter().find(|entry| {
        ["name", "model"].iter().any(|key| {
            entry
                .get(*key)
                .and_then(Value::as_str)
                .is_some_and(|name| full(name) == wanted)
        })
    })
}

pub(super) fn model_names(listed: &Value) -> Vec<String> {
    let entries = listed.get("models").and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.get("name")?.as_str().map(str::to_owned))
        .collect()
}

/// Returns the models that a server lists with the bytes of their weights.
pub(super) fn model_sizes(listed: &Value) -> Vec<(String, Option<u64>)> {
    let entries = listed.get("models").and_then(Value::as_array);
    let entry = |entry: &Value| {
        let name = entry.get("name")?.as_str()?.to_owned();
        Some((name, entry.get("size").and_then(Value::as_u64)))
    };
    entries.into_iter().flatten().filter_map(entry).collect()
}
