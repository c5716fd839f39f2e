//! The OpenAPI 3.1 document, made from the table that requests are checked by.

use harness_agent::{Engine, Stopped};
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

fn schemas() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let flag = json!({"type": "boolean"});
    let count = json!({"type": "integer", "minimum": 0});
    let number = json!({"type": "number"});
    let perhaps_text = json!({"type": ["string", "null"]});
    let stopped: Vec<&str> = Stopped::ALL.iter().map(|stopped| stopped.name()).collect();
    let engines: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
    let error = object(json!({
        "message": text, "type": text, "code": text, "param": perhaps_text, "hint": text,
    }));
    let step = object(json!({
        "number": count, "action": text, "path": text, "result": text, "refused": text,
        "seconds": number, "tokens": count,
    }));
    let refusal = object(json!({"rule": text, "reason": text, "step": count, "path": text}));
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
        "Brief": object(json!({
            "name": text, "about": text,
            "languages": list(object(json!({"name": text, "files": count, "lines": count}))),
            "files": count, "lines": count, "entry_points": {"type": "array"},
            "tests": {"type": ["object", "null"]},
            "modules": list(object(json!({"path": text, "about": text, "imported_by": count}))),
            "rules": {}, "size": {"enum": ["small", "medium", "large"]},
        })),
        "LayoutReply": object(json!({"layout": text, "data": reference("Layout")})),
        "Layout": object(json!({
            "findings": list(object(json!({"kind": text, "path": text, "line": {"type": ["integer", "null"]}, "text": text, "weight": number}))),
            "next": {}, "tree": {"type": "array"},
        })),
        "RouteReply": object(json!({"route": text, "data": reference("Route")})),
        "Route": object(json!({
            "kind": {"enum": ["question", "fix", "rename", "add", "remove", "move", "tests", "change"]},
            "goals": list(object(json!({"text": text}))),
            "writes": flag,
            "rung": {"enum": ["question", "fix", "rewrite", "loop", "answer"]},
            "question": {"type": ["object", "null"]}, "fix": {"type": ["object", "null"]},
            "files": list(object(json!({"path": text, "score": number, "why": text}))),
            "definitions": list(object(json!({"path": text, "name": text, "line": count, "score": number, "why": text}))),
            "skills": texts, "model": text, "prompt_tokens": count,
        })),
        "Result": object(json!({
            "ok": flag, "summary": text, "writes": texts, "steps": list(step), "refusals": list(refusal),
            "stopped": {"enum": stopped},
            "goals": list(object(json!({"text": text, "met": flag, "why": text}))),
            "run_id": text, "tests": {"type": ["object", "null"]},
            "diff": text, "usage": {"type": "object"}, "hint": text,
        })),
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
