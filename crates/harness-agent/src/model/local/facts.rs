//! What the server says of itself and its models.

use serde_json::Value;

use crate::model::card::Facts;

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

/// Returns the models of a list.
pub(super) fn entries(listed: &Value) -> impl Iterator<Item = &Value> {
    let entries = listed.get("models").and_then(Value::as_array);
    entries.into_iter().flatten()
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
    entries(listed).find(|entry| {
        ["name", "model"].iter().any(|key| {
            entry
                .get(*key)
                .and_then(Value::as_str)
                .is_some_and(|name| full(name) == wanted)
        })
    })
}
