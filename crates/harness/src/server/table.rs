//! What a route is: its handler, what it takes and gives, and the statuses it has.

use std::sync::Arc;

use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::server::answer::Problem;
use crate::server::{Server, body};

/// A route.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) about: &'static str,
    pub(super) handler: fn(MethodFilter) -> MethodRouter<Arc<Server>>,
    /// The body it takes, when it takes one.
    pub(super) body: Option<BodyForm>,
    pub(super) answer: Answer,
    /// The statuses it has beside 200 and those that every route has.
    pub(super) problems: &'static [u16],
}

/// What a route answers with.
#[derive(Debug)]
pub(super) enum Answer {
    /// A JSON document.
    Json(fn(&mut SchemaGenerator) -> Schema),
    /// A JSON document, or the same as events.
    JsonOrEvents(fn(&mut SchemaGenerator) -> Schema),
    /// A page.
    Html,
}

/// Returns the schema of an answer.
pub(super) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The form of a body.
#[derive(Debug)]
pub(super) struct BodyForm {
    /// Its schema, by which it is checked too.
    pub(super) schema: fn() -> Value,
    pub(super) check: fn(Map<String, Value>) -> Result<(), Problem>,
}

/// Returns the form of a body of some type.
pub(super) const fn body<T: DeserializeOwned + JsonSchema>() -> Option<BodyForm> {
    Some(BodyForm {
        schema: body::schema::<T>,
        check: |fields| body::read::<T>(fields).map(drop),
    })
}
