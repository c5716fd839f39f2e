//! Request bodies: bounded in size and time, JSON whatever the content type says, checked by the schema that is published.

use std::fmt;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value, json};

use crate::server::answer::Problem;

/// The largest body: a task and its settings are far smaller.
const MOST_BYTES: usize = 1024 * 1024;
/// A client that has not sent its body by then is not going to.
const BODY_TIME: Duration = Duration::from_secs(10);

/// The body of a request, read as what the route takes.
pub(super) struct Fields<T>(pub(super) T);

impl<S: Sync, T: DeserializeOwned + JsonSchema> FromRequest<S> for Fields<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Fields<T>, Problem> {
        read(object(request).await?).map(Fields)
    }
}

/// Reads a body as what a route takes: every wrong field is named.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(
    fields: Map<String, Value>,
) -> Result<T, Problem> {
    check(&schema::<T>(), &fields)?;
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| bad(&format!("the body cannot be read: {error}")))
}

/// Returns the schema of a body, whole and in itself.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    if let Some(fields) = schema.as_object_mut() {
        // Generators of clients would name types by it.
        fields.remove("title");
        fields.entry("required").or_insert_with(|| json!([]));
    }
    schema
}

/// Checks fields by a schema. Null is as good as absent.
fn check(schema: &Value, fields: &Map<String, Value>) -> Result<(), Problem> {
    let known = schema["properties"].as_object();
    for (name, property) in known.into_iter().flatten() {
        let required = schema["required"].as_array();
        let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
        let wrong = match fields.get(name) {
            None | Some(Value::Null) => is_required.then_some("is missing"),
            Some(value) => mismatch(property, value),
        };
        if let Some(wrong) = wrong {
            return Err(Problem::field(name, format!("`{name}` {wrong}")));
        }
    }
    let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
    // A misspelled field must not be lost in silence.
    match fields.keys().find(|name| !is_known(name)) {
        Some(name) if schema["additionalProperties"] == false => Err(Problem::field(
            name,
            format!("there is no field `{name}` here"),
        )),
        _ => Ok(()),
    }
}

/// Returns what is wrong with a value, where it does not fit its schema.
fn mismatch(schema: &Value, value: &Value) -> Option<&'static str> {
    let all = |fits: fn(&Value) -> bool| value.as_array().is_some_and(|all| all.iter().all(fits));
    // Beside null there is one type.
    let kind = &schema["type"];
    let (fits, wrong) = match kind.as_str().or(kind[0].as_str()).unwrap_or_default() {
        "integer" => {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            (number > Some(0), "must be a whole number from 1")
        }
        "boolean" => (value.is_boolean(), "must be true or false"),
        "array" if schema["items"]["type"] == "string" => {
            (all(Value::is_string), "must be a list of strings")
        }
        "array" => (all(Value::is_object), "must be a list of messages"),
        _ => (value.is_string(), "must be a string"),
    };
    let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
    let is_empty = is_blank && schema.get("pattern").is_some();
    (!fits).then_some(wrong).or(is_empty.then_some("is empty"))
}

/// Reads the one JSON object of a request. An empty body is an empty object.
async fn object(request: Request) -> Result<Map<String, Value>, Problem> {
    let length = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(too_large());
    }
    let Ok(read) = tokio::time::timeout(BODY_TIME, to_bytes(request.into_body(), MOST_BYTES)).await
    else {
        let hint = "send the whole body at once";
        return Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "slow_request",
            "the body did not arrive in time",
            hint,
        ));
    };
    let bytes = read.map_err(|error| {
        // The limit is the only error of axum's own; all others are the client's connection.
        let limited = std::error::Error::source(&error)
            .is_some_and(|source| source.to_string().contains("length limit"));
        if limited {
            too_large()
        } else {
            bad("the body could not be read")
        }
    })?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    parse(&bytes)
}

/// Reads the one JSON object that bytes are. Never panics, whatever they are.
pub(super) fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    match serde_json::from_slice::<Once>(bytes) {
        Ok(Once(Value::Object(fields))) => Ok(fields),
        Ok(_) => Err(bad("the body is not a JSON object")),
        Err(error) => Err(bad(&format!("the body is not JSON: {error}"))),
    }
}

/// A JSON value in which no name stands twice: of two equal names one would be lost in silence.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Once, D::Error> {
        deserializer.deserialize_any(OnceVisitor).map(Once)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Once(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!("`{name}` stands twice")));
            }
            let Once(value) = fields.next_value()?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

fn bad(message: &str) -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "invalid_body",
        message,
        "send one JSON object in UTF-8",
    )
}

fn too_large() -> Problem {
    let hint = "send the part that matters";
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "body_too_large",
        "the body is larger than 1 MiB",
        hint,
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{parse, read};
    use crate::request::RunInput;

    fn message(text: &str) -> String {
        parse(text.as_bytes()).map_or_else(|problem| problem.message, |_| "fine".to_owned())
    }

    #[test]
    fn one_object_and_every_name_once() {
        assert_eq!(
            message(r#"{"a": [1, 2.5, null, true, "x", {"b": -1}]}"#),
            "fine"
        );
        assert!(message(r#"{"a": 1, "a": 2}"#).contains("`a` stands twice"));
        assert!(message(r#"{"a": {"b": 1, "b": 2}}"#).contains("`b` stands twice"));
        assert!(message("[]").contains("not a JSON object"));
        let deep = "[".repeat(100_000);
        assert!(message(&format!(r#"{{"a": {deep}"#)).contains("recursion limit"));
    }

    #[test]
    fn every_wrong_field_is_named() {
        for (body, told) in [
            ("{}", "`task` is missing"),
            (r#"{"task": null, "x": 1}"#, "`task` is missing"),
            (r#"{"task": 3}"#, "`task` must be a string"),
            (r#"{"task": " "}"#, "`task` is empty"),
            (
                r#"{"task": "x", "steps": 0}"#,
                "`steps` must be a whole number from 1",
            ),
            (
                r#"{"task": "x", "dry_run": 1}"#,
                "`dry_run` must be true or false",
            ),
            (
                r#"{"task": "x", "skills": ["a", 1]}"#,
                "`skills` must be a list of strings",
            ),
            (r#"{"task": "x", "y": null}"#, "there is no field `y` here"),
        ] {
            let problem = read::<RunInput>(parse(body.as_bytes()).unwrap()).unwrap_err();
            assert_eq!(
                (problem.status.as_u16(), problem.message.as_str()),
                (400, told)
            );
            assert!(told.contains(&problem.param.unwrap()), "{body}");
        }
        let body = r#"{"task": "fix f", "steps": 3, "scope": null, "dry_run": true}"#;
        let run: RunInput = read(parse(body.as_bytes()).unwrap()).unwrap();
        assert_eq!((run.settings.steps, run.dry_run), (Some(3), Some(true)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_body_or_a_400(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Err(problem) = parse(&bytes) {
                prop_assert_eq!(problem.status.as_u16(), 400);
            }
        }

        #[test]
        fn almost_json_is_a_body_or_a_400(text in r#"[\{\}\[\]",:a\\u0-9eE+\-. ]{0,60}"#) {
            drop(parse(text.as_bytes()));
        }
    }
}
