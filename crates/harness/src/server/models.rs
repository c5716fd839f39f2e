//! Which models there are: the configured one, and those that the engine lists soon enough.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use harness_agent::Cancel;
use harness_agent::config::UserConfig;
use harness_agent::env::Environment;
use harness_agent::model::checkup;
use serde_json::{Value, json};

use crate::server::answer::answer;
use crate::server::{Server, work};

/// An engine that has not listed its models by then lists none.
const SOON: Duration = Duration::from_secs(2);

/// `GET /v1/models`.
pub(super) async fn models(State(server): State<Arc<Server>>) -> Response {
    let mut names = vec![server.agent.model.clone()];
    for name in listed(&server).await {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let data: Vec<Value> = names
        .iter()
        .map(|name| json!({"id": name, "object": "model", "created": 0, "owned_by": "harness"}))
        .collect();
    answer(StatusCode::OK, &json!({"object": "list", "data": data}))
}

/// Returns whether the engine lists a model of this name.
pub(super) async fn engine_has(server: &Arc<Server>, name: &str) -> bool {
    listed(server).await.iter().any(|known| known == name)
}

async fn listed(server: &Arc<Server>) -> Vec<String> {
    let options = server.agent.clone();
    let cancel = Cancel::default();
    let flag = cancel.clone();
    let asked = work::blocking(move || {
        let read = Environment::read();
        let environment = match UserConfig::read() {
            Ok(config) => config.complete(read),
            Err(_) => read,
        };
        Ok(checkup::names(&options, &environment, &flag))
    });
    let answered = tokio::time::timeout(SOON, asked).await;
    cancel.stop();
    answered.ok().and_then(Result::ok).unwrap_or_default()
}
