//! The OpenAPI 3.1 document, made from the table that requests are checked by.

use harness_agent::{Engine, Route as PlannedRoute, RunResult};
use harness_code::report::brief::Brief;
use harness_code::report::layout::Layout;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::server::table::{Field, Kind, Need, Others, ROUTES, Route, Shape};

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
pub(super) fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let method = route.method.to_ascii_lowercase();
        paths.insert(route.path.to_owned(), json!({method: operation(route)}));
    }
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
            "schemas": schemas(),
        },
    })
}

fn operation(route: &Route) -> Value {
    let name: String = route
        .path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && *word != "v1" && *word != "json")
        .collect::<Vec<_>>()
        .join("_");
    let mut operation = json!({
        "operationId": if name.is_empty() { "page".to_owned() } else { name },
        "summary": route.about,
        "responses": responses(route),
    });
    if let (Some(shape), Some(fields)) = (route.body, operation.as_object_mut()) {
        let required = shape
            .fields
            .iter()
            .any(|field| field.need == Need::Required);
        let body = json!({
            "required": required,
            "content": {"application/json": {"schema": schema_of(shape)}},
        });
        fields.insert("requestBody".to_owned(), body);
    }
    operation
}

fn responses(route: &Route) -> Value {
    let mut responses = Map::new();
    let content = match route.answer {
        "Page" => json!({"text/html": {"schema": {"type": "string"}}}),
        "OpenApi" => json!({"application/json": {"schema": {"type": "object"}}}),
        name if route.path.starts_with("/v1/stream/chat") => json!({
            "application/json": {"schema": reference(name)},
            "text/event-stream": {"schema": {"type": "string"}},
        }),
        name => json!({"application/json": {"schema": reference(name)}}),
    };
    responses.insert(
        "200".to_owned(),
        json!({"description": route.about, "content": content}),
    );
    let bodies = if route.body.is_some() { WITH_BODY } else { &[] };
    for (status, about) in STATUSES {
        if [EVERYWHERE, bodies, route.problems]
            .iter()
            .any(|list| list.contains(status))
        {
            let content = json!({"application/json": {"schema": reference("Error")}});
            let answer = json!({"description": about, "content": content});
            responses.insert(status.to_string(), answer);
        }
    }
    Value::Object(responses)
}

fn schema_of(shape: &Shape) -> Value {
    let properties: Map<String, Value> = shape
        .fields
        .iter()
        .map(|field| (field.name.to_owned(), schema_of_field(field)))
        .collect();
    let required: Vec<&str> = shape
        .fields
        .iter()
        .filter(|field| field.need == Need::Required)
        .map(|field| field.name)
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": shape.others == Others::Ignored,
    })
}

fn schema_of_field(field: &Field) -> Value {
    let mut schema = match field.kind {
        Kind::Task => json!({"type": "string", "pattern": "\\S"}),
        Kind::Text => json!({"type": "string"}),
        Kind::Count => json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Never => json!({"const": false, "type": "boolean"}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Messages => json!({
            "type": "array",
            "contains": {
                "type": "object",
                "properties": {"role": {"const": "user"}},
                "required": ["role", "content"],
            },
            "items": {
                "type": "object",
                "properties": {
                    "role": {"type": "string"},
                    "content": {"anyOf": [
                        {"type": "string"},
                        {"type": "array", "items": {"type": "object"}},
                        {"type": "null"},
                    ]},
                },
            },
        }),
    };
    let optional = field.need == Need::Optional && field.kind != Kind::Never;
    if optional && let Some(kind) = schema.get("type").cloned() {
        // Null is as good as absent.
        schema["type"] = json!([kind, "null"]);
    }
    schema["description"] = json!(field.about);
    schema
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn object(properties: Value) -> Value {
    let required: Vec<String> = properties
        .as_object()
        .map(|fields| fields.keys().cloned().collect())
        .unwrap_or_default();
    json!({"type": "object", "properties": properties, "required": required})
}

/// Returns every schema: those of results are derived from the types that are printed.
fn schemas() -> Value {
    let mut all = derived();
    let written = written_here();
    all.extend(written.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}

/// Returns the schemas of what the agent returns, and of what those refer to.
fn derived() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    generator.subschema_for::<Brief>();
    generator.subschema_for::<Layout>();
    generator.subschema_for::<PlannedRoute>();
    generator.subschema_for::<RunResult>();
    let mut found = generator.take_definitions(true);
    // The names that clients know; nothing else refers to these two.
    for (from, to) in [("RunResult", "Result")] {
        if let Some(schema) = found.remove(from) {
            found.insert(to.to_owned(), schema);
        }
    }
    found
}

fn written_here() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let flag = json!({"type": "boolean"});
    let count = json!({"type": "integer", "minimum": 0});
    let perhaps_text = json!({"type": ["string", "null"]});
    let engines: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
    let error = object(json!({
        "message": text, "type": text, "code": text, "param": perhaps_text, "hint": text,
    }));
    let usage =
        object(json!({"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}));
    let list = |of: Value| json!({"type": "array", "items": of});
    json!({
        "Error": {"type": "object", "properties": {"error": error, "harness": reference("Result")}, "required": ["error"]},
        "Health": object(json!({
            "ok": {"const": true}, "status": {"const": "ok"}, "version": text, "project": text,
            "allow_writes": flag, "engine": {"enum": engines}, "model": text, "routes": texts,
            "runs": object(json!({"running": count, "waiting": count})),
        })),
        "Models": object(json!({
            "object": {"const": "list"},
            "data": list(object(json!({"id": text, "object": {"const": "model"}, "created": count, "owned_by": text}))),
        })),
        "Runs": object(json!({
            "runs": list(object(json!({
                "run": text, "at": text, "task": text, "outcome": text, "summary": text, "files": texts,
                "tests": {"type": ["object", "null"]}, "undoes": {"type": ["string", "null"]}, "undone": flag,
            }))),
        })),
        "BriefReply": object(json!({"brief": text, "data": reference("Brief")})),
        "LayoutReply": object(json!({"layout": text, "data": reference("Layout")})),
        "RouteReply": object(json!({"route": text, "data": reference("Route")})),
        "ChatCompletion": object(json!({
            "id": text, "object": {"const": "chat.completion"}, "created": count, "model": text,
            "choices": list(object(json!({
                "index": count,
                "message": object(json!({"role": {"const": "assistant"}, "content": text})),
                "finish_reason": {"enum": ["stop", "length"]},
            }))),
            "usage": usage, "notes": texts, "harness": reference("Result"),
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let document = document();
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
