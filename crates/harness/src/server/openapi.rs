//! The OpenAPI 3.1 document, made from the table of routes and from the types of what is taken and sent.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::server::answer::ErrorReply;
use crate::server::table::{Answer, BodyForm, Route};

/// What each status means here.
const STATUSES: &[(u16, &str)] = &[
    (
        400,
        "bad JSON, not an object, a missing or wrong field (named in `param`)",
    ),
    (401, "the server wants a bearer token"),
    (
        403,
        "`writes_disabled`, `send_refused`, or a foreign `Host`, `Origin` or site",
    ),
    (405, "another method; `Allow` says which"),
    (408, "the request did not arrive in time"),
    (409, "`busy`: another run holds the project"),
    (413, "the body is larger than 1 MiB"),
    (422, "a scope that cannot be used"),
    (
        429,
        "the queue of waiting runs is full; `Retry-After` says when to come again",
    ),
    (431, "the headers are too large"),
    (
        502,
        "the engine failed; the result so far is under `harness`",
    ),
];
/// Statuses that any route may have; those of bodies only where there is one.
const EVERYWHERE: &[u16] = &[401, 403, 408, 431];
const WITH_BODY: &[u16] = &[400, 413];

/// Returns the document.
pub(super) fn document(routes: &[Route]) -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas/".into();
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for route in routes {
        let method = route.method.as_str().to_ascii_lowercase();
        let operation = operation(route, &mut generator);
        paths.insert(route.path.to_owned(), json!({method: operation}));
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "harness",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "a coding agent for one project folder, on this machine",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
        },
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let name: String = route
        .path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && *word != "v1" && *word != "json")
        .collect::<Vec<_>>()
        .join("_");
    let mut operation = json!({
        "operationId": if name.is_empty() { "page".to_owned() } else { name },
        "summary": route.about,
        "responses": responses(route, generator),
    });
    if let Some(BodyForm { schema, .. }) = route.body {
        let schema = schema();
        operation["requestBody"] = json!({
            "required": schema["required"] != json!([]),
            "content": {"application/json": {"schema": schema}},
        });
    }
    operation
}

fn responses(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut of =
        |schema: fn(&mut SchemaGenerator) -> Schema| json!({ "schema": schema(generator) });
    let error = of(SchemaGenerator::subschema_for::<ErrorReply<'_>>);
    let text = json!({"schema": {"type": "string"}});
    let content = match &route.answer {
        Answer::Json(schema) => json!({"application/json": of(*schema)}),
        Answer::JsonOrEvents(schema) => {
            json!({"application/json": of(*schema), "text/event-stream": text})
        }
        Answer::Html => json!({"text/html": text}),
    };
    let mut responses = Map::new();
    let answer = json!({"description": route.about, "content": content});
    responses.insert("200".to_owned(), answer);
    let bodies = if route.body.is_some() { WITH_BODY } else { &[] };
    for (status, about) in STATUSES {
        let has = |list: &&[u16]| list.contains(status);
        if [EVERYWHERE, bodies, route.problems].iter().any(has) {
            let answer = json!({"description": about, "content": {"application/json": error}});
            responses.insert(status.to_string(), answer);
        }
    }
    Value::Object(responses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::routes::ROUTES;

    fn values(value: &Value, seen: &mut dyn FnMut(&Map<String, Value>)) {
        match value {
            Value::Object(fields) => {
                seen(fields);
                fields.values().for_each(|value| values(value, seen));
            }
            Value::Array(items) => items.iter().for_each(|value| values(value, seen)),
            _ => {}
        }
    }

    #[test]
    fn generators_find_what_every_list_and_reference_holds() {
        let document = document(ROUTES);
        values(&document, &mut |fields| {
            if fields.get("type") == Some(&json!("array")) {
                assert!(fields.contains_key("items"), "{fields:?}");
            }
            if let Some(Value::String(reference)) = fields.get("$ref") {
                let place = reference.trim_start_matches('#');
                assert!(document.pointer(place).is_some(), "{reference}");
            }
        });
    }
}
