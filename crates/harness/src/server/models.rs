//! Which models there are: the configured one, and those that the engine lists soon enough.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use harness_agent::Cancel;
use schemars::JsonSchema;
use serde::Serialize;

use crate::server::answer::Document;
use crate::server::{Server, work};

/// An engine that has not listed its models by then lists none.
const SOON: Duration = Duration::from_secs(2);

/// What `/v1/models` answers.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Models {
    #[schemars(extend("const" = "list"))]
    object: &'static str,
    data: Vec<ListedModel>,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(inline)]
struct ListedModel {
    id: String,
    #[schemars(extend("const" = "model"))]
    object: &'static str,
    created: u64,
    owned_by: &'static str,
}

/// `GET /v1/models`.
pub(super) async fn models(State(server): State<Arc<Server>>) -> Document<Models> {
    let mut names = vec![server.options().model.clone()];
    for name in listed(&server).await {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let data = names.into_iter().map(|id| ListedModel {
        id,
        object: "model",
        created: 0,
        owned_by: "harness",
    });
    Document(Models {
        object: "list",
        data: data.collect(),
    })
}

/// Returns whether the engine lists a model of this name.
pub(super) async fn engine_has(server: &Arc<Server>, name: &str) -> bool {
    listed(server).await.iter().any(|known| known == name)
}

async fn listed(server: &Arc<Server>) -> Vec<String> {
    let agent = server.agent.clone();
    let cancel = Cancel::default();
    let flag = cancel.clone();
    let asked = work::blocking(move || Ok(agent.models(&flag)));
    let answered = tokio::time::timeout(SOON, asked).await;
    cancel.stop();
    let models = answered.ok().and_then(Result::ok).and_then(Result::ok);
    let models = models.unwrap_or_default().into_iter();
    models.map(|model| model.name).collect()
}
