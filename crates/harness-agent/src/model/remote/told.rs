//! What servers tell about their models: lists in either shape, windows and sizes under their many names.

use serde_json::Value;

use crate::model::{Card, TINY_BYTES, TINY_PARAMETERS};

/// Returns the models of a list, in either shape: `{"data": […]}` or a bare list.
pub(super) fn entries(listed: &Value) -> Vec<Value> {
    let list = listed
        .get("data")
        .or_else(|| listed.get("models"))
        .unwrap_or(listed);
    list.as_array().cloned().unwrap_or_default()
}

/// Returns the window under whichever name a server gives it.
pub(super) fn window_in(entry: &Value) -> Option<u32> {
    const NAMES: &[&str] = &[
        "max_model_len",
        "context_length",
        "max_context_length",
        "context_window",
        "loaded_context_length",
    ];
    let direct = NAMES.iter().find_map(|name| entry.get(*name)?.as_u64());
    let trained = || {
        let meta = entry.get("meta")?;
        meta.get("n_ctx")
            .or_else(|| meta.get("n_ctx_train"))?
            .as_u64()
    };
    direct
        .or_else(trained)
        .and_then(|tokens| u32::try_from(tokens).ok())
        .filter(|tokens| *tokens > 0)
}

/// Returns whether a server tells that a model is very small.
pub(super) fn is_tiny(entry: &Value) -> bool {
    let told = |name: &str| entry.get("meta")?.get(name)?.as_u64().filter(|n| *n > 0);
    told("n_params").is_some_and(|count| count < TINY_PARAMETERS)
        || told("size").is_some_and(|bytes| bytes < TINY_BYTES)
}

/// Takes what llama.cpp's server says of itself: the window it was started with.
pub(super) fn learn_properties(card: &mut Card, properties: &Value) {
    let window = properties
        .get("default_generation_settings")
        .and_then(|settings| settings.get("n_ctx"))
        .and_then(Value::as_u64)
        .and_then(|tokens| u32::try_from(tokens).ok());
    if let Some(window) = window.filter(|tokens| *tokens > 0) {
        card.window = window;
    }
    let template = properties
        .get("chat_template")
        .and_then(Value::as_str)
        .unwrap_or_default();
    card.abilities.tools = template.contains("tools");
    card.abilities.thinking = template.contains("enable_thinking");
}

/// Returns the words of a message: a text, or a list of parts with texts in them.
pub(super) fn words(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| {
                part.get("text")
                    .and_then(Value::as_str)
                    .or_else(|| part.as_str())
            })
            .collect(),
        Some(_) | None => String::new(),
    }
}
